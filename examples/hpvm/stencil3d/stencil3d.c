/* Steps of a stencil of seven points on a box: each inner point becomes a mean of itself and its neighbours. The two
 * grids change places from launch to launch. Arguments: the sides of the box, and the steps. */
#include <hpvm.h>
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

int main(int argc, char** argv) {
  int nx = argc > 1 ? atoi(argv[1]) : 40, ny = argc > 2 ? atoi(argv[2]) : nx, nz = argc > 3 ? atoi(argv[3]) : nx;
  int steps = argc > 4 ? atoi(argv[4]) : 4;
  size_t count = (size_t)nx * ny * nz, bytes = count * sizeof(float);
  float *grid = malloc(bytes), *other = malloc(bytes);
  /* Planes: a sum of the three indices is its own mean, so that nothing changes. */
  for (size_t i = 0; i < count; i++)
    grid[i] = (float)(i % nx + i / nx % ny + i / nx / ny);
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
  for (size_t i = 0; i < count; i++)
    wrong += last[i] != (float)(i % nx + i / nx % ny + i / nx / ny);
  printf("%d x %d x %d, %d steps: %d points have changed\n", nx, ny, nz, steps, wrong);
  llvm_hpvm_untrack_mem(grid);
  llvm_hpvm_untrack_mem(other);
  __hpvm__cleanup();
  free(grid);
  free(other);
  return wrong ? 1 : 0;
}
