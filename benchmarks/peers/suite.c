/* The peers of the suite's other programs: matrix by vector, a three-dimensional Fourier transform, gravity and
 * Viterbi's algorithm, as the same loops in C with OpenMP and with the blocks of the examples' mappings. */
#include "benchmarks/peers/peers.h"

#include <math.h>
#include <stdlib.h>

static int64_t least(int64_t a, int64_t b) {
  return a < b ? a : b;
}

static int64_t blocks_of(int64_t n, int64_t block) {
  return (n + block - 1) / block;
}

void bench_sgemv(const float* restrict a, const float* restrict x, float* restrict y, int64_t m, int64_t n) {
  enum { lanes = 16 };
#pragma omp parallel for
  for (int64_t i0 = 0; i0 < m; i0 += bench_sgemv_rows)
    for (int64_t j0 = 0; j0 < n; j0 += bench_sgemv_columns) {
      int64_t i1 = least(m, i0 + bench_sgemv_rows), count = least(n - j0, bench_sgemv_columns);
      for (int64_t i = i0; i < i1; i++) {
        const float *row = a + i * n + j0, *part = x + j0;
        float partial[lanes] = {0};
        int64_t even = count - count % lanes;
        for (int64_t j = 0; j < even; j += lanes)
          for (int64_t lane = 0; lane < lanes; lane++)
            partial[lane] += row[j + lane] * part[j + lane];
        for (int64_t j = even; j < count; j++)
          partial[j - even] += row[j] * part[j];
        float sum = 0;
        for (int64_t lane = 0; lane < lanes; lane++)
          sum += partial[lane];
        y[i] += sum;
      }
    }
}

typedef struct {
  float re, im;
} number;

static void roots_of(int64_t n, number* restrict w) {
  for (int64_t k = 0; k < n; k++) {
    double angle = -6.283185307179586 * (double)k / (double)n;
    w[k].re = (float)cos(angle);
    w[k].im = (float)sin(angle);
  }
}

/* Lines j0 … j0+n-1 of row m, of `l` elements each, to b[row][line][element]. */
static void transform_lines(const number* restrict a, int64_t apart, const number* restrict w, number* restrict b,
                            int64_t l, int64_t n) {
  float re[l][n], im[l][n];
  int64_t power = 1, place = 0;
  while (2 * power <= l && l % (2 * power) == 0)
    power *= 2;
  int64_t odd = l / power;
  for (int64_t first = 0; first < power; first++) {
    for (int64_t k = 0; k < odd; k++) {
      int64_t to = place * odd + k;
      for (int64_t j = 0; j < n; j++) {
        re[to][j] = a[first * apart + j].re;
        im[to][j] = a[first * apart + j].im;
      }
      for (int64_t i = 1; i < odd; i++) {
        number root = w[i * k % odd * power];
        const number* from = a + (first + i * power) * apart;
        for (int64_t j = 0; j < n; j++) {
          re[to][j] += from[j].re * root.re - from[j].im * root.im;
          im[to][j] += from[j].re * root.im + from[j].im * root.re;
        }
      }
    }
    int64_t bit = power / 2;
    while (place & bit) {
      place -= bit;
      bit /= 2;
    }
    place += bit;
  }
  for (int64_t half = odd; half < l; half *= 2)
    for (int64_t base = 0; base < l; base += 2 * half)
      for (int64_t k = 0; k < half; k++) {
        number root = w[k * (l / (2 * half))];
        int64_t low = base + k, high = base + k + half;
        for (int64_t j = 0; j < n; j++) {
          float x = re[high][j] * root.re - im[high][j] * root.im;
          float y = re[high][j] * root.im + im[high][j] * root.re;
          re[high][j] = re[low][j] - x;
          im[high][j] = im[low][j] - y;
          re[low][j] += x;
          im[low][j] += y;
        }
      }
  for (int64_t j = 0; j < n; j++)
    for (int64_t i = 0; i < l; i++) {
      b[j * l + i].re = re[i][j];
      b[j * l + i].im = im[i][j];
    }
}

/* From a[l][m][n], along the first dimension, to b[m][n][l]. */
static void turn(const number* restrict a, number* restrict b, int64_t l, int64_t m, int64_t n, number* restrict w) {
  roots_of(l, w);
#pragma omp parallel for collapse(2)
  for (int64_t i0 = 0; i0 < m; i0 += bench_fft3d_rows)
    for (int64_t j0 = 0; j0 < n; j0 += bench_fft3d_columns) {
      int64_t i1 = least(m, i0 + bench_fft3d_rows), count = least(n - j0, bench_fft3d_columns);
      for (int64_t i = i0; i < i1; i++)
        transform_lines(a + i * n + j0, m * n, w, b + (i * n + j0) * l, l, count);
    }
}

void bench_fft3d(const float* a, float* b, float* scratch, int64_t l, int64_t m, int64_t n) {
  int64_t size = l * m * n;
  number *once = (number*)scratch, *twice = once + size, *w = twice + size;
  turn((const number*)a, once, l, m, n, w);
  turn(once, twice, m, n, l, w);
  turn(twice, (number*)b, n, l, m, w);
}

void bench_gravity(const float* restrict at, const float* restrict from, float soft, float* restrict a, int64_t n,
                   int64_t p) {
#pragma omp parallel for
  for (int64_t i0 = 0; i0 < n; i0 += bench_gravity_pulled)
    for (int64_t j0 = 0; j0 < p; j0 += bench_gravity_pulling) {
      int64_t i1 = least(n, i0 + bench_gravity_pulled), j1 = least(p, j0 + bench_gravity_pulling);
      for (int64_t i = i0; i < i1; i++) {
        float ax = 0, ay = 0, az = 0;
        for (int64_t j = j0; j < j1; j++) {
          float dx = from[j] - at[i], dy = from[p + j] - at[n + i], dz = from[2 * p + j] - at[2 * n + i];
          float square = dx * dx + dy * dy + dz * dz + soft * soft;
          float strength = from[3 * p + j] / (square * sqrtf(square));
          ax += strength * dx;
          ay += strength * dy;
          az += strength * dz;
        }
        a[i] += ax;
        a[n + i] += ay;
        a[2 * n + i] += az;
      }
    }
}

enum {
  match_match,
  match_insert,
  match_delete,
  insert_match,
  insert_insert,
  delete_match,
  delete_delete,
  enter,
  leave
};

static int32_t most(int32_t a, int32_t b) {
  return a > b ? a : b;
}

/* One sequence; the rows of the model's arrays have k elements. */
static int32_t viterbi(const int8_t* restrict residues, int32_t length, const int32_t* restrict match,
                       const int32_t* restrict insert, const int32_t* restrict step, int64_t nodes) {
  const int32_t never = -100000000;
  int32_t matched[nodes], inserted[nodes], deleted[nodes], next[nodes], best = never;
  for (int64_t k = 0; k < nodes; k++)
    matched[k] = inserted[k] = deleted[k] = next[k] = never;
  for (int32_t t = 0; t < length; t++) {
    const int32_t *emit = match + residues[t] * nodes, *wait = insert + residues[t] * nodes;
    for (int64_t k = 1; k < nodes; k++) {
      int32_t before = most(matched[k - 1] + step[match_match * nodes + k - 1],
                            inserted[k - 1] + step[insert_match * nodes + k - 1]);
      before = most(before, most(deleted[k - 1] + step[delete_match * nodes + k - 1], step[enter * nodes + k]));
      next[k] = before + emit[k];
      best = most(best, next[k] + step[leave * nodes + k]);
    }
    for (int64_t k = 1; k < nodes; k++)
      inserted[k] =
          most(matched[k] + step[match_insert * nodes + k], inserted[k] + step[insert_insert * nodes + k]) + wait[k];
    int32_t passed = never;
    for (int64_t k = 1; k < nodes; k++) {
      passed = most(next[k - 1] + step[match_delete * nodes + k - 1], passed + step[delete_delete * nodes + k - 1]);
      deleted[k] = passed;
    }
    for (int64_t k = 1; k < nodes; k++)
      matched[k] = next[k];
  }
  return best;
}

void bench_hmmer(const int8_t* restrict residues, const int32_t* restrict length, const int32_t* restrict match,
                 const int32_t* restrict insert, const int32_t* restrict step, int32_t* restrict score, int64_t count,
                 int64_t longest, int64_t nodes) {
#pragma omp parallel for
  for (int64_t batch = 0; batch < blocks_of(count, bench_hmmer_batch); batch++) {
    int64_t end = least(count, (batch + 1) * bench_hmmer_batch);
    for (int64_t s = batch * bench_hmmer_batch; s < end; s++)
      score[s] = viterbi(residues + s * longest, length[s], match, insert, step, nodes);
  }
}
