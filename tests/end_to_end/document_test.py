"""Programs of the kinds that Sequoia's document shows, in our own words: nothing is said of any of them, each computes what NumPy does, and --check
warns only of those that take a tunable to divide a size, which it tells in so many words."""

import harness
import numpy as np

ADD = """void task Add(in float p[N], in float q[N], out float r[N]);
void task<leaf> Add::Each(in float p[N], in float q[N], out float r[N]) { for (unsigned int k = 0; k < N; k++) r[k] = p[k] + q[k]; }
void task<inner> Add::Parts(in float p[N], in float q[N], out float r[N]) { tunable share; %s }
"""
SCALE = """void task Scale(in float v[N], in float by, %s float w[N]);
void task<leaf> Scale::Each(in float v[N], in float by, %s float w[N]) { for (int k = 0; k < N; k++) { %s } }
void task<inner> Scale::Parts(in float v[N], in float by, %s float w[N]) { tunable share; %s }
"""
IMAGE = """void task Blend(in float image[M+U-1][N+V-1], in float mask[U][V], out float made[M][N]);
void task<leaf> Blend::Each(in float image[M+U-1][N+V-1], in float mask[U][V], out float made[M][N])
{
  for (unsigned int y = 0; y < M; y++)
    for (unsigned int x = 0; x < N; x++) {
      made[y][x] = 0;
      for (unsigned int u = 0; u < U; u++)
        for (unsigned int v = 0; v < V; v++)
          made[y][x] += mask[u][v] * image[y + u][x + v];
    }
}
void task<inner> Blend::Tiles(in float image[M+U-1][N+V-1], in float mask[U][V], out float made[M][N])
{
  tunable high, wide;
  mappar (unsigned int i = 0 : (M + high - 1) / high) {
    mappar (unsigned int j = 0 : (N + wide - 1) / wide) {
      Blend(image[i * high; high + U - 1][j * wide; wide + V - 1], mask, made[i * high; high][j * wide; wide]);
    }
  }
}
"""
COUNT = """void task Count(in int data[N], inout int bins[B], inout int sum);
void task AddBins(in int from[B], inout int to[B]);
void task AddSum(in int from, inout int to);
void task<leaf> AddBins::Each(in int from[B], inout int to[B]) { for (int k = 0; k < B; k++) to[k] += from[k]; }
void task<leaf> AddSum::One(in int from, inout int to) { to += from; }
void task<leaf> Count::Each(in int data[N], inout int bins[B], inout int sum) { for (int k = 0; k < N; k++) { bins[data[k]]++; sum += data[k]; } }
void task<inner> Count::Parts(in int data[N], inout int bins[B], inout int sum)
{
  tunable share;
  unsigned int parts = (N + share - 1) / share;
  mapreduce (int i = 0 : parts) { Count(data[i * share; share], reducearg<bins, AddBins>, reducearg<sum, AddSum>); }
}
"""
PRODUCT = """void task Product(in double a[M][P], in double b[P][N], inout double c[M][N]);
void task Plus(in double from[M][N], inout double to[M][N]);
void task<leaf> Plus::Each(in double from[M][N], inout double to[M][N]) { for (int i = 0; i < M; i++) for (int j = 0; j < N; j++) to[i][j] += from[i][j]; }
void task<leaf> Product::Each(in double a[M][P], in double b[P][N], inout double c[M][N])
{
  for (int i = 0; i < M; i++) for (int k = 0; k < P; k++) for (int j = 0; j < N; j++) c[i][j] += a[i][k] * b[k][j];
}
void task<inner> Product::Blocks(in double a[M][P], in double b[P][N], inout double c[M][N])
{
  tunable high, deep, wide;
  mappar (int i = 0 : M / high, int j = 0 : N / wide) {
    mapreduce (int k = 0 : P / deep) {
      Product(a[i * high; high][k * deep; deep], b[k * deep; deep][j * wide; wide], reducearg<c[i * high; high][j * wide; wide], Plus>);
    }
  }
}
"""
# Halves of halves, and a pass over both halves before: the shape of a recursive transform.
HALVES = """typedef struct { float re; float im; } pair;
void task Turn(inout pair z[N], in pair w[N-1]);
void task Cross(inout pair low[N], inout pair high[N], in pair w[N]);
void task<inner> Turn::Halves(inout pair z[N], in pair w[N-1])
{
  Cross(z[0:N/2;], z[N/2:N;], w[0:N/2;]);
  for (int i = 0; i < 2; i++) { Turn(z[i*N/2;N/2], w[N/2:N-1;]); }
}
void task<leaf> Turn::Rest(inout pair z[N], in pair w[N-1])
{
  for (int half = N / 2, at = 0; half > 0; at += half, half /= 2)
    for (int begin = 0; begin < N; begin += 2 * half)
      for (int k = begin; k < begin + half; k++) {
        pair a = z[k], b = z[k + half], c = w[at + k - begin];
        z[k].re = a.re + b.re; z[k].im = a.im + b.im;
        float re = a.re - b.re, im = a.im - b.im;
        z[k + half].re = re * c.re - im * c.im; z[k + half].im = re * c.im + im * c.re;
      }
}
void task<inner> Cross::Parts(inout pair low[N], inout pair high[N], in pair w[N])
{
  tunable share;
  for (int i = 0; i < N/share; i++) { Cross(low[i*share;share], high[i*share;share], w[i*share;share]); }
}
void task<leaf> Cross::Each(inout pair low[N], inout pair high[N], in pair w[N])
{
  for (int k = 0; k < N; k++) {
    pair a = low[k], b = high[k], c = w[k];
    low[k].re = a.re + b.re; low[k].im = a.im + b.im;
    float re = a.re - b.re, im = a.im - b.im;
    high[k].re = re * c.re - im * c.im; high[k].im = re * c.im + im * c.re;
  }
}
"""
COPIES = """void task Place(in int a[4][6], inout int b[8][12], out int c[3], in int index[3], in int d[N]);
void task<inner> Place::All(in int a[4][6], inout int b[8][12], out int c[3], in int index[3], in int d[N])
{
  copy(b[0:4;][0:6;], a);
  copy(b[4:8:2;][0:12:3;], a[1:3;][2:6;]);
  copy(c, d[index]);
}
"""


class Documented(harness.Case):
    def check(self, text, entry, arrays, wanted, divides=False, sizes=""):
        """Nothing is said by `strata check` and `strata run`, and of what `wanted` names the values are right."""
        program = self.write("p.sq", text)
        quiet = self.succeeds("check", program)
        self.assertEqual(quiet.err, "", str(quiet))
        words = ["run", program, "--entry", entry] + (["--size", sizes] if sizes else [])
        for name, array in arrays.items():
            words += ["--in", f"{name}={self.save(name + '.npy', array)}" if isinstance(array, np.ndarray) else f"{name}={array}"]
        for name in wanted:
            words += ["--out", f"{name}={self.path(name + '.out.npy')}"]
        checked = self.succeeds(*words, "--check")
        if divides:
            self.assertIn("warning[check-mapping-decides]", checked.err, str(checked))
            self.assertEqual(checked.err.count("warning["), 1, str(checked))
        else:
            self.assertEqual(checked.err, "", str(checked))
        quiet = self.succeeds(*words)
        self.assertEqual(quiet.err, "", str(quiet))
        for name, values in wanted.items():
            np.testing.assert_allclose(np.load(self.path(name + ".out.npy")), values, rtol=1e-4, atol=1e-4, err_msg=name)

    def test_sums_of_vectors(self):
        for size in (1, 60, 97):
            p, q = np.arange(size, dtype="f4"), np.full(size, 0.5, "f4")
            call = "mappar (unsigned int i = 0 : {0}) {{ Add(p[{1}], q[{1}], r[{1}]); }}"
            exact = call.format("N/share", "i*share:(i+1)*share;share")
            self.check(ADD % call.format("(N+share-1)/share", "i*share;share"), "Add", {"p": p, "q": q}, {"r": p + q})
            self.check(ADD % exact, "Add", {"p": p, "q": q}, {"r": p + q}, divides=True)

    def test_scaled_vectors(self):
        v, w = np.arange(50, dtype="f4"), np.ones(50, "f4")
        loops = ("for (unsigned int i = 0; i < parts; i++) {", "mappar (unsigned int i = 0 : parts) {", "mapseq (unsigned int i = 0 : parts) {")
        for loop in loops:
            body = "unsigned int parts = (N+share-1)/share; " + loop + " Scale(v[i*share;share], by, w[i*share;share]); }"
            self.check(SCALE % ("out", "out", "w[k] = by * v[k];", "out", body), "Scale", {"v": v, "by": 3}, {"w": 3 * v})
            self.check(SCALE % ("inout", "inout", "w[k] += by * v[k];", "inout", body), "Scale", {"v": v, "by": 3, "w": w}, {"w": 3 * v + 1})

    def test_images(self):
        image, mask = np.arange(17 * 23, dtype="f4").reshape(17, 23) % 7, np.arange(15, dtype="f4").reshape(3, 5)
        wanted = sum(mask[u, v] * image[u:u + 15, v:v + 19] for u in range(3) for v in range(5))
        self.check(IMAGE, "Blend", {"image": image, "mask": mask}, {"made": wanted})

    def test_counts(self):
        data = (np.arange(1000) * 7 % 11).astype("i4")
        self.check(COUNT, "Count", {"data": data, "bins": np.zeros(11, "i4"), "sum": 0}, {"bins": np.bincount(data, minlength=11), "sum": data.sum()})

    def test_products(self):
        a, b, c = np.arange(12 * 8.0).reshape(12, 8), np.arange(8 * 20.0).reshape(8, 20) - 50, np.ones((12, 20))
        self.check(PRODUCT, "Product", {"a": a, "b": b, "c": c}, {"c": a @ b + c}, divides=True)

    def test_halves(self):
        size = 64
        z = np.zeros(size, [("re", "<f4"), ("im", "<f4")])
        z["re"], z["im"] = np.cos(np.arange(size)), np.arange(size) % 5
        roots = np.concatenate([np.exp(-2j * np.pi * np.arange(half) / (2 * half)) for half in (32, 16, 8, 4, 2, 1)])
        w = np.zeros(size - 1, z.dtype)
        w["re"], w["im"] = roots.real, roots.imag
        program = self.write("p.sq", HALVES)
        run = ("run", program, "--entry", "Turn", "--in", f"z={self.save('z.npy', z)}", "--in", f"w={self.save('w.npy', w)}", "--out", f"z={self.path('o.npy')}")
        self.assertEqual(self.succeeds("check", program).err, "")
        quiet = self.succeeds(*run)
        self.assertEqual(quiet.err, "", str(quiet))
        self.assertNotIn("error", self.succeeds(*run, "--check").err)
        order = [int(f"{k:06b}"[::-1], 2) for k in range(size)]  # results stand in the order of their numbers' bits reversed
        made = np.load(self.path("o.npy"))
        np.testing.assert_allclose((made["re"] + 1j * made["im"])[order], np.fft.fft(z["re"] + 1j * z["im"]), atol=1e-3)

    def test_copies(self):
        a, index, d = np.arange(24, dtype="i4").reshape(4, 6), np.array([5, 0, 3], "i4"), np.arange(7, dtype="i4") * 10
        b = np.full((8, 12), -1, "i4")
        wanted = b.copy()
        wanted[0:4, 0:6] = a
        wanted[4:8:2, 0:12:3] = a[1:3, 2:6]
        self.check(COPIES, "Place", {"a": a, "b": b, "index": index, "d": d}, {"b": wanted, "c": d[index]})


if __name__ == "__main__":
    harness.main()
