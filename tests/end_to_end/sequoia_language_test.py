"""Constructs of the Sequoia language on one machine (--machine), against NumPy, with the interpreter (--check) and at several numbers of threads:
unions, structs with large arrays, reductions of blocks with strides and indices, blocks of nine dimensions, and iterations at the limits of 64
bits."""

import harness
import numpy as np

UNIONS = """
union bits { float f; int i; unsigned char b[4]; };
struct tagged { short tag; union { double d; struct { float x, y; } p; } v; };
void task Mark(in float x[N], inout union bits u[N], out struct tagged t[N]);
void task<inner> Mark::Cut(in float x[N], inout union bits u[N], out struct tagged t[N])
{
  tunable block;
  mappar (long i = 0 : (N + block - 1) / block) {
    Mark(x[i * block; block], u[i * block; block], t[i * block; block]);
  }
}
void task<leaf> Mark::Each(in float x[N], inout union bits u[N], out struct tagged t[N])
{
  for (long i = 0; i < N; i++) {
    u[i].f = x[i];
    u[i].b[i & 1] ^= 0x80;
    struct tagged one = {i};
    one.v.p.x = x[i];
    one.v.p.y = -x[i];
    if (i % 3 == 0)
      one.v.d = 2 * x[i];
    t[i] = one;
  }
}
"""

LIMITS = """
void task Mark(in long lo, in long hi, inout long c[N]);
void task One(in long i, inout long c[N]);
void task<inner> Mark::All(in long lo, in long hi, inout long c[N])
{
  mappar (long i = lo : hi) { One(i, c[(i & 15) : (i & 15) + 1;]); }
}
void task<leaf> One::Each(in long i, inout long c[N]) { c[0] = i; }
"""

LARGE = """
typedef struct { float w[100]; double d; char c[500]; } big;
inline big next(big b, int k) { b.w[k] += k; b.d = b.w[0]; return b; }
void task Step(inout big A[N], in big first, out double total[N]);
void task<inner> Step::Cut(inout big A[N], in big first, out double total[N])
{
  tunable block;
  big seed = first;
  seed.d = 42;
  mapseq (long i = 0 : (N + block - 1) / block) {
    Step(A[i * block; block], seed, total[i * block; block]);
  }
}
void task<leaf> Step::Each(inout big A[N], in big first, out double total[N])
{
  for (long i = 0; i < N; i++) {
    const long number = A[i].w[0]; // of the element in the whole array, however it is cut
    A[i] = next(A[i], number % 100);
    A[i].c[(5 * number) % 500] = 'x';
    total[i] = first.d;
    for (long k = 0; k < 100; k++)
      total[i] += A[i].w[k];
  }
}
"""

REDUCTIONS = """
void task Sum(in float A[N], inout float s[K]);
void task<leaf> Sum::Each(in float A[N], inout float s[K])
{
  for (long k = 0; k < K; k++)
    for (long i = 0; i < N; i++)
      s[k] += A[i] * (k + 1);
}
void task Add(in float a[K], inout float b[K]);
void task<leaf> Add::Each(in float a[K], inout float b[K])
{
  for (long i = 0; i < K; i++)
    b[i] += a[i];
}
void task Rows(in float A[N], inout float s[K][L]);
void task<leaf> Rows::Each(in float A[N], inout float s[K][L])
{
  for (long k = 0; k < K; k++)
    for (long j = 0; j < L; j++)
      for (long i = 0; i < N; i++)
        s[k][j] += A[i] * (k + 1) + j;
}
void task AddRows(in float a[K][L], inout float b[K][L]);
void task<inner> AddRows::Cut(in float a[K][L], inout float b[K][L])
{
  mappar (long k = 0 : K) {
    AddRows(a[k : k + 1; 1][0 : L;], b[k : k + 1; 1][0 : L;]);
  }
}
void task<leaf> AddRows::Each(in float a[K][L], inout float b[K][L])
{
  for (long i = 0; i < K; i++)
    for (long j = 0; j < L; j++)
      b[i][j] += a[i][j];
}
void task All(in float A[N], in int I[K], inout float s[M], inout float t[M], inout float g[P][Q]);
void task<inner> All::Cut(in float A[N], in int I[K], inout float s[M], inout float t[M], inout float g[P][Q])
{
  tunable block;
  mapreduce (long i = 0 : (N + block - 1) / block) {
    Sum(A[i * block; block], reducearg<s[I], Add>);
  }
  mapreduce (long i = 0 : (N + block - 1) / block) {
    Sum(A[i * block; block], reducearg<t[1 : M : 2;], Add>);
  }
  for (int half = 0; half < 2; half++)
    mappar (long k = half * P / 4 : (half + 1) * P / 4) {
      mapreduce (long i = 0 : (N + block - 1) / block) {
        Rows(A[i * block; block], reducearg<g[2 * k; 2][0 : Q : 3;], AddRows>);
      }
    }
}
"""

NINE = """
void task Twice(in int A[B][C][D][E][F][G][H][I][J], inout int R[B][C][D][E][F][G][H][I][J]);
void task<leaf> Twice::Each(in int A[B][C][D][E][F][G][H][I][J], inout int R[B][C][D][E][F][G][H][I][J])
{
  for (int b = 0; b < B; b++) for (int c = 0; c < C; c++) for (int d = 0; d < D; d++)
  for (int e = 0; e < E; e++) for (int f = 0; f < F; f++) for (int g = 0; g < G; g++)
  for (int h = 0; h < H; h++) for (int i = 0; i < I; i++) for (int j = 0; j < J; j++)
    R[b][c][d][e][f][g][h][i][j] = 2 * A[b][c][d][e][f][g][h][i][j];
}
void task Part(in int A[B][C][D][E][F][G][H][I][J], inout int R[B][C][D][E][F][G][H][I][J]);
void task<inner> Part::Cut(in int A[B][C][D][E][F][G][H][I][J], inout int R[B][C][D][E][F][G][H][I][J])
{
  Twice(A[0 : 2 : 1; 2][0 : C;][1; 1][0;][0 : F : 2;][0 : G; G][1 : H;][0; I][0 : J : 2; J],
        R[1 : 3 : 1; 2][0 : C;][0; 1][0;][1 : F : 2;][0 : G; G][0 : H - 1;][0; I][0 : J : 2; J]);
  copy(R[0; 1][0;][0;][0;][0;][0;][0;][0;][0;], A[B - 1; 1][0;][0;][0;][0;][0;][0;][0;][0;]);
}
"""


class Language(harness.Case):
    def outcome(self, text, inputs, sizes, outputs):
        """The outputs, which have to be the same with the interpreter and at any number of threads."""
        path, results = self.write("p.sq", text), []
        for extra in (["--check"], ["--threads", "1"], ["--threads", "7"]):
            command = ["run", path, "--machine", harness.options.machine, *extra]
            for name, value in sizes.items():
                command += ["--size", f"{name}={value}"]
            for name, array in inputs.items():
                command += ["--in", f"{name}={self.save(name + '.npy', array)}"]
            for name in outputs:
                command += ["--out", f"{name}={self.path(name + '.out.npy')}"]
            self.succeeds(*command)
            results.append([np.load(self.path(name + ".out.npy")) for name in outputs])
        for other in results[1:]:
            self.assertEqual([a.tobytes() for a in results[0]], [a.tobytes() for a in other])
        return results[0]

    def test_unions_are_their_bytes(self):
        x = np.arange(1, 38, dtype="f4") / 8
        u = np.zeros(37, [("bits", "<u4")])
        got_u, got_t = self.outcome(UNIONS, {"x": x, "u": u}, {}, ["u", "t"])
        wanted = x.view("u4") ^ np.where(np.arange(37) & 1, 0x8000, 0x80).astype("u4")
        self.assertEqual(got_u["bits"].tolist(), wanted.tolist())
        self.assertEqual(got_t["tag"].tolist(), list(range(37)))
        parts = np.stack([x, -x], axis=1).copy().view("u8")[:, 0]
        whole = (2 * x.astype("f8")).view("u8")
        self.assertEqual(got_t["v"]["bits"].tolist(), np.where(np.arange(37) % 3 == 0, whole, parts).tolist())

    def test_iterations_at_the_limits_of_their_type(self):
        most, c = (1 << 63) - 1, np.zeros(16, "i8")
        for lo, hi in ((most - 12, most), (-most - 1, -most + 9), (most - 1, most), (5, -most - 1), (most, -most - 1), (0, -most), (-3, 12)):
            got, = self.outcome(LIMITS, {"c": c, "lo": np.array(lo, "i8"), "hi": np.array(hi, "i8")}, {"N": 16}, ["c"])
            wanted = c.copy()
            for i in range(lo, hi):
                wanted[i & 15] = i
            self.assertEqual(got.tolist(), wanted.tolist())

    def test_structs_with_large_arrays(self):
        kind = np.dtype({"names": ["w", "d", "c"], "formats": [("<f4", (100,)), "<f8", ("i1", (500,))], "offsets": [0, 400, 408], "itemsize": 912})
        a, first = np.zeros(230, kind), np.zeros((), kind)
        a["w"] = np.arange(230)[:, None]
        first["d"] = 41
        got, total = self.outcome(LARGE, {"A": a, "first": first}, {}, ["A", "total"])
        index = np.arange(230)
        want = a["w"].copy()
        want[index, index % 100] += index % 100
        self.assertEqual(got["w"].tolist(), want.tolist())
        self.assertEqual(got["d"].tolist(), want[:, 0].tolist())
        self.assertEqual(got["c"][index, 5 * index % 500].tolist(), [ord("x")] * 230)
        self.assertEqual(total.tolist(), (42 + want.astype("f8").sum(axis=1)).tolist())

    def test_reductions_of_blocks_of_every_form(self):
        a, index = np.arange(19, dtype="f4"), np.array([7, 0, 4], "i4")
        s, t, g = np.ones(9, "f4"), np.arange(9, dtype="f4"), np.arange(28, dtype="f4").reshape(4, 7)
        got = self.outcome(REDUCTIONS, {"A": a, "I": index, "s": s, "t": t, "g": g}, {}, ["s", "t", "g"])
        for k in range(3):
            s[index[k]] += a.sum() * (k + 1)
        for number, k in enumerate(range(1, 9, 2)):
            t[k] += a.sum() * (number + 1)
        for row in range(4):
            for number, column in enumerate(range(0, 7, 3)):
                g[row, column] += (a * (row % 2 + 1) + number).sum()
        self.assertEqual([array.tolist() for array in got], [s.tolist(), t.tolist(), g.tolist()])

    def test_nine_dimensions_in_all_styles(self):
        shape = (3, 2, 2, 2, 4, 2, 3, 2, 3)
        a = np.arange(np.prod(shape), dtype="i4").reshape(shape)
        r = -a
        got, = self.outcome(NINE, {"A": a, "R": r}, {}, ["R"])
        r[1:3, :, 0:1, :, 1::2, :, 0:2, :, 0::2] = 2 * a[0:2, :, 1:2, :, 0::2, :, 1:, :, 0::2]
        r[0:1] = a[2:3]
        self.assertEqual(got.tolist(), r.tolist())


if __name__ == "__main__":
    harness.main()
