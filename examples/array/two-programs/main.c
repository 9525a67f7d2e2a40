/* Two programs at once on one array of four by four elements: a filter (fir) in the northern row and a product of a
 * matrix and a vector (matvec) in the southern one. The second is loaded and placed while the first runs. README.md
 * says how the symbolic configurations are made and how this is linked.
 *
 *     two-programs MACHINE.yaml FIR.sym MATVEC.sym */
#include "strata_array.h"

#include <stdio.h>
#include <stdlib.h>

enum { N = 200, T = 8, M = 12, K = 40, textBytes = 1024 };

static char text[textBytes];

static void fail(const char* what) {
  fprintf(stderr, "%s: %s\n", what, text);
  exit(1);
}

static void check(strata_array_status status, const char* what) {
  if (status != STRATA_ARRAY_OK)
    fail(what);
}

/* A symbolic configuration from a file. */
static strata_array_program* load(strata_array* array, const char* path) {
  static char bytes[1 << 20];
  FILE* file = fopen(path, "rb");
  if (!file) {
    perror(path);
    exit(1);
  }
  const size_t size = fread(bytes, 1, sizeof bytes, file);
  fclose(file);
  strata_array_program* program = strata_array_load(array, bytes, size, text, textBytes);
  if (!program)
    fail(path);
  return program;
}

static float h[T], x[N], y[N];
static double a[M][K], v[K], w[M];

/* How many results differ from those of plain loops, which add in the same order. */
static int differences(void) {
  int count = 0;
  for (int i = 0; i < N; ++i) {
    float sum = h[0] * x[i];
    for (int k = 1; k < T && k <= i; ++k)
      sum = sum + h[k] * x[i - k];
    count += y[i] != sum;
  }
  for (int i = 0; i < M; ++i) {
    double sum = 0;
    for (int k = 0; k < K; ++k)
      sum += a[i][k] * v[k];
    count += w[i] != sum;
  }
  return count;
}

int main(int argc, char** argv) {
  if (argc != 4) {
    fprintf(stderr, "usage: %s MACHINE.yaml FIR.sym MATVEC.sym\n", argv[0]);
    return 1;
  }
  /* Small whole numbers: their sums are exact however they are rounded. */
  for (int i = 0; i < N; ++i)
    x[i] = (float)(i * 7 % 23 - 11);
  for (int i = 0; i < T; ++i)
    h[i] = (float)(i % 5 + 1);
  for (int i = 0; i < M; ++i)
    for (int k = 0; k < K; ++k)
      a[i][k] = (i * 13 + k * 5) % 17 - 8;
  for (int i = 0; i < K; ++i)
    v[i] = i % 9 - 4;

  strata_array* array = strata_array_open(argv[1], text, textBytes);
  if (!array)
    fail(argv[1]);

  /* The filter: the northern row, steered from the north west. */
  const strata_array_number firSizes[] = {{"N", N}, {"T", T}};
  strata_array_request north = {0};
  north.rows = 1;
  north.columns = 4;
  north.corner = STRATA_ARRAY_NORTH_WEST;
  north.sizes = firSizes;
  north.size_count = 2;
  strata_array_program* program = load(array, argv[2]);
  strata_array_placement* fir = strata_array_place(array, program, &north, text, textBytes);
  if (!fir)
    fail("placing fir");
  check(strata_array_bind(fir, "x", x, sizeof x, text, textBytes), "x");
  check(strata_array_bind(fir, "h", h, sizeof h, text, textBytes), "h");
  check(strata_array_bind(fir, "y", y, sizeof y, text, textBytes), "y");
  check(strata_array_start(fir, text, textBytes), "starting fir");
  printf("fir starts at cycle %lld\n", (long long)strata_array_cycles(array));

  /* The product, 100 cycles later: the southern row, steered from the south east. */
  check(strata_array_advance(array, 100, text, textBytes), "advancing");
  const strata_array_number matvecSizes[] = {{"M", M}, {"N", K}};
  strata_array_request south = {0};
  south.row = 3;
  south.rows = 1;
  south.columns = 4;
  south.corner = STRATA_ARRAY_SOUTH_EAST;
  south.sizes = matvecSizes;
  south.size_count = 2;
  program = load(array, argv[3]);
  strata_array_placement* matvec = strata_array_place(array, program, &south, text, textBytes);
  if (!matvec)
    fail("placing matvec");
  check(strata_array_bind(matvec, "a", a, sizeof a, text, textBytes), "a");
  check(strata_array_bind(matvec, "x", v, sizeof v, text, textBytes), "x");
  check(strata_array_bind(matvec, "y", w, sizeof w, text, textBytes), "y");
  check(strata_array_start(matvec, text, textBytes), "starting matvec");
  printf("matvec starts at cycle %lld\n", (long long)strata_array_cycles(array));

  int64_t firCycles = 0, matvecCycles = 0;
  check(strata_array_wait(fir, &firCycles, text, textBytes), "waiting for fir");
  check(strata_array_wait(matvec, &matvecCycles, text, textBytes), "waiting for matvec");
  printf("fir takes %lld cycles, matvec %lld; both have ended at cycle %lld\n", (long long)firCycles,
         (long long)matvecCycles, (long long)strata_array_cycles(array));
  strata_array_close(array);

  const int wrong = differences();
  printf("%d of %d results are wrong\n", wrong, N + M);
  return wrong == 0 ? 0 : 1;
}
