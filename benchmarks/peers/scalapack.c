/* A product by ScaLAPACK. Its matrices lie column by column: ours are their transposes to it, and so is the result. */
#include "benchmarks/peers/nodes.h"

#include <mpi.h>
#include <stdlib.h>

void Cblacs_pinfo(int* own, int* count);
void Cblacs_get(int context, int what, int* value);
void Cblacs_gridinit(int* context, const char* order, int rows, int columns);
void Cblacs_gridinfo(int context, int* rows, int* columns, int* row, int* column);
void Cpsgemr2d(int m, int n, const float* a, int ia, int ja, const int* desca, float* b, int ib, int jb,
               const int* descb, int context);
int numroc_(const int* n, const int* block, const int* own, const int* first, const int* count);
void descinit_(int* desc, const int* m, const int* n, const int* mb, const int* nb, const int* row, const int* column,
               const int* context, const int* leading, int* info);
void psgemm_(const char* transa, const char* transb, const int* m, const int* n, const int* k, const float* alpha,
             const float* a, const int* ia, const int* ja, const int* desca, const float* b, const int* ib,
             const int* jb, const int* descb, const float* beta, float* c, const int* ic, const int* jc,
             const int* descc);

static int grid = -1, single = -1, rows, columns, row, column;

/* A matrix in blocks over the grid, and as a whole in process 0. */
struct matrix {
  int high, wide;
  int shared[9], whole[9];
  float* share;
};

static const int zero = 0, one = 1;

static struct matrix make(int high, int wide, int block) {
  struct matrix made = {high, wide, {0}, {0}, NULL};
  const int own_rows = numroc_(&high, &block, &row, &zero, &rows),
            own_columns = numroc_(&wide, &block, &column, &zero, &columns);
  const int leading = own_rows > 1 ? own_rows : 1;
  int info = 0;
  descinit_(made.shared, &high, &wide, &block, &block, &zero, &zero, &grid, &leading, &info);
  if (single >= 0)
    descinit_(made.whole, &high, &wide, &high, &wide, &zero, &zero, &single, &high, &info);
  else
    made.whole[1] = -1; /* not of this process */
  made.share = calloc((size_t)leading * (size_t)(own_columns > 1 ? own_columns : 1), sizeof(float));
  if (!made.share)
    MPI_Abort(MPI_COMM_WORLD, 1);
  return made;
}

double bench_nodes_scalapack(const float* a, const float* b, float* c, int64_t m, int64_t n, int64_t k, int64_t block) {
  /* What is kept belongs to one form, which the first call states. */
  static struct matrix at, bt, ct;
  if (grid < 0) {
    int own = 0, count = 0, system = 0;
    Cblacs_pinfo(&own, &count);
    Cblacs_get(-1, 0, &system);
    grid = single = system;
    Cblacs_gridinit(&grid, "Row", 1, count);
    Cblacs_gridinit(&single, "Row", 1, 1); /* -1 in all but process 0 */
    Cblacs_gridinfo(grid, &rows, &columns, &row, &column);
    at = make((int)k, (int)m, (int)block);
    bt = make((int)n, (int)k, (int)block);
    ct = make((int)n, (int)m, (int)block);
  }
  MPI_Barrier(MPI_COMM_WORLD);
  const double begin = MPI_Wtime();
  Cpsgemr2d(at.high, at.wide, a, 1, 1, at.whole, at.share, 1, 1, at.shared, grid);
  Cpsgemr2d(bt.high, bt.wide, b, 1, 1, bt.whole, bt.share, 1, 1, bt.shared, grid);
  Cpsgemr2d(ct.high, ct.wide, c, 1, 1, ct.whole, ct.share, 1, 1, ct.shared, grid);
  const float alpha = 1, beta = 1;
  psgemm_("N", "N", &ct.high, &ct.wide, &at.high, &alpha, bt.share, &one, &one, bt.shared, at.share, &one, &one,
          at.shared, &beta, ct.share, &one, &one, ct.shared);
  Cpsgemr2d(ct.high, ct.wide, ct.share, 1, 1, ct.shared, c, 1, 1, ct.whole, grid);
  return MPI_Wtime() - begin;
}
