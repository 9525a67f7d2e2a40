/* Steps of a stencil of seven points on a box: each inner point becomes a mean of itself and its neighbours. The two
 * grids change places from launch to launch. Arguments: the sides of the box, and the steps. */
#include <hpvm.h>
#include <math.h>
#include <stdio.h>
#include <stdlib.h>

void point(float* from, size_t fromBytes, float* to, size_t toBytes, int nx, int ny, int nz) {
  __hpvm__hint(CPU_TARGET);
  __hpvm__attributes(1, from, 1, to);
  void* node = __hpvm__getNode();
  int x = (int)__hpvm__getNodeInstanceID_x(node);
  int y = (int)__hpvm__getNodeInstanceID_y(node);
  int z = (int)__hpvm__getNodeInstanceID_z(node);
  int at = (z * ny + y) * nx + x;
  if (x > 0 && x < nx - 1 && y > 0 && y < ny - 1 && z > 0 && z < nz - 1)
    to[at] = 0.25f * from[at] + 0.125f * (from[at - 1] + from[at + 1] + from[at - nx] + from[at + nx] +
                                          from[at - nx * ny] + from[at + nx * ny]);
  else
    to[at] = from[at];
  __hpvm__return(1, toBytes);
}

void step(float* from, size_t fromBytes, float* to, size_t toBytes, int nx, int ny, int nz) {
  __hpvm__hint(CPU_TARGET);
  __hpvm__attributes(1, from, 1, to);
  void* node = __hpvm__createNodeND(3, point, (size_t)nx, (size_t)ny, (size_t)nz);
  __hpvm__bindIn(node, 0, 0, 0);
  __hpvm__bindIn(node, 1, 1, 0);
  __hpvm__bindIn(node, 2, 2, 0);
  __hpvm__bindIn(node, 3, 3, 0);
  __hpvm__bindIn(node, 4, 4, 0);
  __hpvm__bindIn(node, 5, 5, 0);
  __hpvm__bindIn(node, 6, 6, 0);
  __hpvm__bindOut(node, 0, 0, 0);
}

struct __attribute__((packed)) arguments {
  float* from;
  size_t fromBytes;
  float* to;
  size_t toBytes;
  int nx, ny, nz;
  size_t result;
};

/* One step again, in doubles: every point gives its parts to those around it. */
static void given(const double* from, double* to, int nx, int ny, int nz) {
  const int away[] = {-nx * ny, -nx, -1, 0, 1, nx, nx * ny};
  int count = nx * ny * nz;
  for (int i = 0; i < count; i++)
    to[i] = 0;
  for (int i = 0; i < count; i++)
    for (int k = 0; k < 7; k++) {
      int at = i + away[k], x = at % nx, y = at / nx % ny, z = at / nx / ny;
      if (at > 0 && x > 0 && x < nx - 1 && y > 0 && y < ny - 1 && z > 0 && z < nz - 1)
        to[at] += from[i] / (away[k] ? 8 : 4);
      else if (at == i)
        to[at] = from[i];
    }
}

int main(int argc, char** argv) {
  int nx = argc > 1 ? atoi(argv[1]) : 40, ny = argc > 2 ? atoi(argv[2]) : nx, nz = argc > 3 ? atoi(argv[3]) : nx;
  int steps = argc > 4 ? atoi(argv[4]) : 4;
  size_t count = (size_t)nx * ny * nz, bytes = count * sizeof(float);
  float *grid = malloc(bytes), *other = malloc(bytes);
  double *now = malloc(count * sizeof(double)), *next = malloc(count * sizeof(double));
  for (size_t i = 0; i < count; i++)
    now[i] = grid[i] = (float)(i * i % 251);
  __hpvm__init();
  llvm_hpvm_track_mem(grid, bytes);
  llvm_hpvm_track_mem(other, bytes);
  for (int i = 0; i < steps; i++) {
    struct arguments arguments = {i % 2 ? other : grid, bytes, i % 2 ? grid : other, bytes, nx, ny, nz, 0};
    __hpvm__wait(__hpvm__launch(0, step, &arguments));
  }
  float* last = steps % 2 ? other : grid;
  llvm_hpvm_request_mem(last, bytes);
  int wrong = 0;
  double sum = 0;
  for (int i = 0; i < steps; i++) {
    given(now, next, nx, ny, nz);
    double* written = next;
    next = now;
    now = written;
  }
  for (size_t i = 0; i < count; i++) {
    wrong += !(fabs(last[i] - now[i]) < 1e-3);
    sum += last[i];
  }
  printf("%d x %d x %d, %d steps: the points sum up to %.2f\n", nx, ny, nz, steps, sum);
  if (wrong)
    fprintf(stderr, "%d points are wrong\n", wrong);
  llvm_hpvm_untrack_mem(grid);
  llvm_hpvm_untrack_mem(other);
  __hpvm__cleanup();
  free(grid);
  free(other);
  free(now);
  free(next);
  return wrong ? 1 : 0;
}
