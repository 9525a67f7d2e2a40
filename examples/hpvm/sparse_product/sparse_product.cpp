// y = A x with a sparse matrix in compressed rows, one instance a row, and behind it a node that scales y: the size of
// y travels on an edge from the first to the second. Argument: the rows.
#include <hpvm.h>

#include <cstdio>
#include <cstdlib>
#include <vector>

static void row(const int* starts, size_t startBytes, const int* columns, size_t columnBytes, const double* values,
                size_t valueBytes, const double* x, size_t xBytes, double* y, size_t yBytes) {
  __hpvm__hint(hpvm::CPU_TARGET);
  __hpvm__attributes(4, starts, columns, values, x, 1, y);
  const long i = __hpvm__getNodeInstanceID_x(__hpvm__getNode());
  double sum = 0;
  for (int k = starts[i]; k < starts[i + 1]; ++k)
    sum += values[k] * x[columns[k]];
  y[i] = sum;
  __hpvm__return(2, y, yBytes);
}

static void scale(double* y, size_t yBytes, double factor) {
  __hpvm__hint(hpvm::CPU_TARGET);
  __hpvm__attributes(1, y, 1, y);
  y[__hpvm__getNodeInstanceID_x(__hpvm__getNode())] *= factor;
  __hpvm__return(1, yBytes);
}

static void graph(const int* starts, size_t startBytes, const int* columns, size_t columnBytes, const double* values,
                  size_t valueBytes, const double* x, size_t xBytes, double* y, size_t yBytes, double factor) {
  __hpvm__hint(hpvm::CPU_TARGET);
  __hpvm__attributes(4, starts, columns, values, x, 1, y);
  void* rows = __hpvm__createNodeND(1, row, yBytes / sizeof(double));
  void* scales = __hpvm__createNodeND(1, scale, yBytes / sizeof(double));
  __hpvm__bindIn(rows, 0, 0, 0);
  __hpvm__bindIn(rows, 1, 1, 0);
  __hpvm__bindIn(rows, 2, 2, 0);
  __hpvm__bindIn(rows, 3, 3, 0);
  __hpvm__bindIn(rows, 4, 4, 0);
  __hpvm__bindIn(rows, 5, 5, 0);
  __hpvm__bindIn(rows, 6, 6, 0);
  __hpvm__bindIn(rows, 7, 7, 0);
  __hpvm__bindIn(rows, 8, 8, 0);
  __hpvm__bindIn(rows, 9, 9, 0);
  __hpvm__edge(rows, scales, 1, 0, 0, 0);
  __hpvm__edge(rows, scales, 1, 1, 1, 0);
  __hpvm__bindIn(scales, 10, 2, 0);
  __hpvm__bindOut(scales, 0, 0, 0);
}

struct __attribute__((packed)) Arguments {
  const int* starts;
  size_t startBytes;
  const int* columns;
  size_t columnBytes;
  const double* values;
  size_t valueBytes;
  const double* x;
  size_t xBytes;
  double* y;
  size_t yBytes;
  double factor;
  size_t result;
};

int main(int argc, char** argv) {
  const int n = argc > 1 ? std::atoi(argv[1]) : 1000;
  std::vector<int> starts{0}, columns;
  std::vector<double> values, x(n), y(n);
  // Row i has i % 5 elements, i + k in column 3 i + 7 k.
  for (int i = 0; i < n; ++i) {
    x[i] = i;
    for (int k = 0; k < i % 5; ++k) {
      columns.push_back(int((3L * i + 7 * k) % n));
      values.push_back(i + k);
    }
    starts.push_back(int(columns.size()));
  }
  columns.push_back(0); // so that there is one
  values.push_back(0);
  Arguments arguments{starts.data(),
                      starts.size() * sizeof(int),
                      columns.data(),
                      columns.size() * sizeof(int),
                      values.data(),
                      values.size() * sizeof(double),
                      x.data(),
                      x.size() * sizeof(double),
                      y.data(),
                      y.size() * sizeof(double),
                      0.5,
                      0};
  __hpvm__init();
  llvm_hpvm_track_mem(starts.data(), arguments.startBytes);
  llvm_hpvm_track_mem(columns.data(), arguments.columnBytes);
  llvm_hpvm_track_mem(values.data(), arguments.valueBytes);
  llvm_hpvm_track_mem(x.data(), arguments.xBytes);
  llvm_hpvm_track_mem(y.data(), arguments.yBytes);
  __hpvm__wait(__hpvm__launch(0, graph, &arguments));
  llvm_hpvm_request_mem(y.data(), arguments.yBytes);
  __hpvm__cleanup();
  int wrong = 0;
  double all = 0;
  for (int i = 0; i < n; ++i) {
    double wanted = 0;
    for (int k = 0; k < i % 5; ++k)
      wanted += double(i + k) * double((3L * i + 7 * k) % n) * 0.5;
    wrong += y[i] != wanted;
    all += y[i];
  }
  std::printf("%d rows: the elements sum up to %.1f\n", n, all);
  if (wrong)
    std::fprintf(stderr, "%d rows are wrong\n", wrong);
  return wrong ? 1 : 0;
}
