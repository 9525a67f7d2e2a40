// C = A B, one instance an element of C. Argument: the rows and columns of the three matrices (three numbers, or one
// for all).
#include <hpvm.h>

#include <cstdio>
#include <cstdlib>
#include <vector>

/// One element: a row of A times a column of B.
static void element(float* A, size_t bytesA, float* B, size_t bytesB, float* C, size_t bytesC, int inner, int columns) {
  __hpvm__hint(hpvm::CPU_TARGET);
  __hpvm__attributes(2, A, B, 1, C);
  void* node = __hpvm__getNode();
  const long column = __hpvm__getNodeInstanceID_x(node), row = __hpvm__getNodeInstanceID_y(node);
  float sum = 0;
  for (int k = 0; k < inner; ++k)
    sum += A[row * inner + k] * B[k * columns + column];
  C[row * columns + column] = sum;
  __hpvm__return(1, bytesC);
}

static void product(float* A, size_t bytesA, float* B, size_t bytesB, float* C, size_t bytesC, int rows, int inner,
                    int columns) {
  __hpvm__hint(hpvm::CPU_TARGET);
  __hpvm__attributes(2, A, B, 1, C);
  void* node = __hpvm__createNodeND(2, element, size_t(columns), size_t(rows));
  __hpvm__bindIn(node, 0, 0, 0);
  __hpvm__bindIn(node, 1, 1, 0);
  __hpvm__bindIn(node, 2, 2, 0);
  __hpvm__bindIn(node, 3, 3, 0);
  __hpvm__bindIn(node, 4, 4, 0);
  __hpvm__bindIn(node, 5, 5, 0);
  __hpvm__bindIn(node, 7, 6, 0);
  __hpvm__bindIn(node, 8, 7, 0);
  __hpvm__bindOut(node, 0, 0, 0);
}

struct __attribute__((packed)) Arguments {
  float* A;
  size_t bytesA;
  float* B;
  size_t bytesB;
  float* C;
  size_t bytesC;
  int rows, inner, columns;
  size_t result;
};

int main(int argc, char** argv) {
  const int rows = argc > 1 ? std::atoi(argv[1]) : 200, inner = argc > 2 ? std::atoi(argv[2]) : rows,
            columns = argc > 3 ? std::atoi(argv[3]) : rows;
  // Small integers, so that sums in any order are equal.
  std::vector<float> A(size_t(rows) * inner), B(size_t(inner) * columns), C(size_t(rows) * columns);
  for (size_t i = 0; i < A.size(); ++i)
    A[i] = float(i * 7 % 11);
  for (size_t i = 0; i < B.size(); ++i)
    B[i] = float(i * 5 % 13);
  __hpvm__init();
  Arguments arguments{A.data(), A.size() * 4, B.data(), B.size() * 4, C.data(), C.size() * 4, rows, inner, columns, 0};
  for (std::vector<float>* each : {&A, &B, &C})
    llvm_hpvm_track_mem(each->data(), each->size() * 4);
  __hpvm__wait(__hpvm__launch(0, product, &arguments));
  llvm_hpvm_request_mem(C.data(), C.size() * 4);
  for (std::vector<float>* each : {&A, &B, &C})
    llvm_hpvm_untrack_mem(each->data());
  __hpvm__cleanup();
  // C x is A (B x).
  double all = 0;
  for (float each : C)
    all += each;
  std::vector<double> Bx(inner);
  for (int k = 0; k < inner; ++k)
    for (int j = 0; j < columns; ++j)
      Bx[k] += double(B[size_t(k) * columns + j]) * (j % 17 + 1);
  int wrong = 0;
  for (int i = 0; i < rows; ++i) {
    double left = 0, right = 0;
    for (int j = 0; j < columns; ++j)
      left += double(C[size_t(i) * columns + j]) * (j % 17 + 1);
    for (int k = 0; k < inner; ++k)
      right += A[size_t(i) * inner + k] * Bx[k];
    wrong += left != right;
  }
  std::printf("%d x %d x %d: the elements sum up to %.0f\n", rows, inner, columns, all);
  if (wrong)
    std::fprintf(stderr, "%d rows are wrong\n", wrong);
  return wrong ? 1 : 0;
}
