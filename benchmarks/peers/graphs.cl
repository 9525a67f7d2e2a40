// The leaves of programs/graphs.c as kernels of OpenCL.
kernel void product(global const float* a, global const float* b, global float* c, long n, long k) {
  long x = get_global_id(0), y = get_global_id(1);
  float sum = 0;
  for (long i = 0; i < k; ++i)
    sum += a[y * k + i] * b[i * n + x];
  c[y * n + x] = sum;
}

kernel void convolve(global const float* image, global const float* filter, global float* result, long width, long size) {
  long x = get_global_id(0), y = get_global_id(1);
  float sum = 0;
  for (long v = 0; v < size; ++v)
    for (long u = 0; u < size; ++u)
      sum += image[(y + v) * width + x + u] * filter[v * size + u];
  result[y * get_global_size(0) + x] = sum;
}

kernel void point(global const float* from, global float* to, int nx, int ny, int nz) {
  int x = (int)get_global_id(0) + 1, y = (int)get_global_id(1) + 1, z = (int)get_global_id(2) + 1;
  if (x < nx - 1 && y < ny - 1 && z < nz - 1) {
    int at = (z * ny + y) * nx + x;
    to[at] = 0.4f * from[at] + 0.1f * (from[at - 1] + from[at + 1] + from[at - nx] + from[at + nx] + from[at - nx * ny] +
                                       from[at + nx * ny]);
  }
}

kernel void sparse(global const float* values, global const int* columns, global const int* starts,
                   global const float* x, global float* y) {
  long row = get_global_id(0);
  float sum = 0;
  for (int k = starts[row]; k < starts[row + 1]; ++k)
    sum += values[k] * x[columns[k]];
  y[row] = sum;
}

kernel void jagged(global const float* values, global const int* columns, global const int* starts,
                   global const int* lengths, global const float* x, global float* y) {
  int row = (int)get_global_id(0);
  float sum = 0;
  for (int k = 0; k < lengths[row]; ++k) {
    int at = starts[k] + row;
    sum += values[at] * x[columns[at]];
  }
  y[row] = sum;
}

kernel void lattice(global const float* from, global float* to, global const unsigned char* solid, int width, int height,
                    float rate) {
  bench_lattice_cell(from, to, solid, width, height, rate, (int)get_global_id(0) + 1, (int)get_global_id(1) + 1);
}
