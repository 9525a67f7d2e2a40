/* A fluid on a lattice, nine directions a cell (D2Q9): in each step a cell takes what flows to it from its neighbours,
 * and lets it collide. The lattice is a ring both ways, with some solid cells that throw everything back. One launch a
 * step. Arguments: the width, the height and the steps. */
#include <hpvm.h>
#include <math.h>
#include <stdio.h>
#include <stdlib.h>

enum { directions = 9 };

static const int across[directions] = {0, 1, 0, -1, 0, 1, -1, -1, 1};
static const int down[directions] = {0, 0, 1, 0, -1, 1, 1, -1, -1};
static const int opposite[directions] = {0, 3, 4, 1, 2, 7, 8, 5, 6};
static const double weight[directions] = {4. / 9, 1. / 9, 1. / 9, 1. / 9, 1. / 9, 1. / 36, 1. / 36, 1. / 36, 1. / 36};

/* What goes into direction q when nothing changes any more. */
static double equilibrium(int q, double density, double u, double v) {
  double along = across[q] * u + down[q] * v;
  return weight[q] * density * (1 + 3 * along + 4.5 * along * along - 1.5 * (u * u + v * v));
}

void cell(double* from, size_t fromBytes, double* to, size_t toBytes, unsigned char* solid, size_t solidBytes,
          int width, int height, double rate) {
  __hpvm__hint(CPU_TARGET);
  __hpvm__attributes(2, from, solid, 1, to);
  void* node = __hpvm__getNode();
  int x = (int)__hpvm__getNodeInstanceID_x(node);
  int y = (int)__hpvm__getNodeInstanceID_y(node);
  int cells = width * height;
  int here = y * width + x;
  double flow[directions], density = 0, u = 0, v = 0;
  for (int q = 0; q < directions; q++) {
    int nx = (x - across[q] + width) % width;
    int ny = (y - down[q] + height) % height;
    int there = ny * width + nx;
    flow[q] = solid[there] ? from[opposite[q] * cells + here] : from[q * cells + there];
    density += flow[q];
    u += across[q] * flow[q];
    v += down[q] * flow[q];
  }
  for (int q = 0; q < directions; q++) {
    double rest = equilibrium(q, density, u / density, v / density);
    to[q * cells + here] = solid[here] ? from[q * cells + here] : flow[q] + rate * (rest - flow[q]);
  }
  __hpvm__return(1, toBytes);
}

void step(double* from, size_t fromBytes, double* to, size_t toBytes, unsigned char* solid, size_t solidBytes,
          int width, int height, double rate) {
  __hpvm__hint(CPU_TARGET);
  __hpvm__attributes(2, from, solid, 1, to);
  void* node = __hpvm__createNodeND(2, cell, (size_t)width, (size_t)height);
  __hpvm__bindIn(node, 0, 0, 0);
  __hpvm__bindIn(node, 1, 1, 0);
  __hpvm__bindIn(node, 2, 2, 0);
  __hpvm__bindIn(node, 3, 3, 0);
  __hpvm__bindIn(node, 4, 4, 0);
  __hpvm__bindIn(node, 5, 5, 0);
  __hpvm__bindIn(node, 6, 6, 0);
  __hpvm__bindIn(node, 7, 7, 0);
  __hpvm__bindIn(node, 8, 8, 0);
  __hpvm__bindOut(node, 0, 0, 0);
}

struct __attribute__((packed)) arguments {
  double* from;
  size_t fromBytes;
  double* to;
  size_t toBytes;
  unsigned char* solid;
  size_t solidBytes;
  int width, height;
  double rate;
  size_t result;
};

/* The same step from the other side: each cell pushes what it has to its neighbours, with its nine values together. */
static void pushed(double (*now)[directions], double (*next)[directions], const unsigned char* solid, int width,
                   int height, double rate) {
  for (int i = 0; i < width * height; i++)
    for (int q = 0; q < directions; q++) {
      int x = (i % width + across[q] + width) % width, y = (i / width + down[q] + height) % height;
      int there = y * width + x;
      if (solid[i])
        next[i][q] = now[i][q];
      else if (solid[there])
        next[i][opposite[q]] = now[i][q];
      else
        next[there][q] = now[i][q];
    }
  for (int i = 0; i < width * height; i++) {
    const double* f = next[i];
    double density = f[0] + f[1] + f[2] + f[3] + f[4] + f[5] + f[6] + f[7] + f[8];
    double u = (f[1] - f[3] + f[5] - f[6] - f[7] + f[8]) / density;
    double v = (f[2] - f[4] + f[5] + f[6] - f[7] - f[8]) / density;
    double relaxed[directions];
    for (int q = 0; q < directions; q++)
      relaxed[q] = (1 - rate) * f[q] + rate * equilibrium(q, density, u, v);
    for (int q = 0; q < directions && !solid[i]; q++)
      next[i][q] = relaxed[q];
  }
}

int main(int argc, char** argv) {
  int width = argc > 1 ? atoi(argv[1]) : 48, height = argc > 2 ? atoi(argv[2]) : argc > 1 ? width : 32;
  int steps = argc > 3 ? atoi(argv[3]) : 20;
  int cells = width * height;
  double rate = 1.25;
  size_t bytes = (size_t)cells * directions * sizeof(double);
  double *grid = malloc(bytes), *other = malloc(bytes);
  double(*now)[directions] = malloc(bytes), (*next)[directions] = malloc(bytes);
  unsigned char* solid = malloc((size_t)cells);
  for (int i = 0; i < cells; i++) {
    int x = i % width - width / 3, y = i / width - height / 2;
    solid[i] = cells > 1 && x * x + y * y <= height * height / 64;
    for (int q = 0; q < directions; q++)
      now[i][q] = grid[q * cells + i] = equilibrium(q, 1, 0.1, 0.01 * (i % 3));
  }
  __hpvm__init();
  llvm_hpvm_track_mem(grid, bytes);
  llvm_hpvm_track_mem(other, bytes);
  llvm_hpvm_track_mem(solid, (size_t)cells);
  for (int i = 0; i < steps; i++) {
    struct arguments arguments = {grid, bytes, other, bytes, solid, (size_t)cells, width, height, rate, 0};
    __hpvm__wait(__hpvm__launch(0, step, &arguments));
    double* written = other;
    other = grid;
    grid = written;
  }
  llvm_hpvm_request_mem(grid, bytes);
  llvm_hpvm_untrack_mem(grid);
  llvm_hpvm_untrack_mem(other);
  llvm_hpvm_untrack_mem(solid);
  __hpvm__cleanup();
  for (int i = 0; i < steps; i++) {
    pushed(now, next, solid, width, height, rate);
    double(*written)[directions] = next;
    next = now;
    now = written;
  }
  double mass = 0, drift = 0;
  int wrong = 0;
  for (int i = 0; i < cells; i++)
    for (int q = 0; q < directions; q++) {
      mass += grid[q * cells + i];
      drift += across[q] * grid[q * cells + i];
      wrong += !(fabs(grid[q * cells + i] - now[i][q]) < 1e-12);
    }
  printf("%d x %d, %d steps: a mass of %.6f drifts by %.6f\n", width, height, steps, mass, drift / mass);
  if (wrong)
    fprintf(stderr, "%d of %d values are wrong\n", wrong, cells * directions);
  free(grid);
  free(other);
  free(now);
  free(next);
  free(solid);
  return wrong ? 1 : 0;
}
