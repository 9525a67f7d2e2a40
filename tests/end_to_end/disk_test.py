"""Arrays on a machine's disk: input files used in place and in every form that .npy has, scratch files and their folder, outputs that are
whole or absent, memory that stays bounded, both ways of reading and writing files, and what is said when a disk fails."""

import os
import re
import subprocess
import tempfile
import unittest

import harness
import numpy as np
from programs import PROGRAMS, check, run

VECTADD = os.path.join(harness.ROOT, "examples/sequoia/vectadd/vectadd.sq")
MACHINE = os.path.join(harness.ROOT, "machines/cell-disk/machine.yaml")
ON_DISK = ("--machine", "cell-disk")

# Adds to an array in place; a local array and the number of rounds, which control code reads, are on the disk too.
ROUNDS = """
void task Rounds(in int rounds[R], inout int data[N]);
void task Step(in int from[N], out int to[N]);
void task<inner> Rounds::Loop(in int rounds[R], inout int data[N])
{
  tunable block;
  int other[N];
  mapseq (long r = 0 : rounds[R - 1]) {
    Twice(data, other);
  }
}
void task Twice(inout int data[N], inout int other[N]);
void task<inner> Twice::Both(inout int data[N], inout int other[N])
{
  tunable block;
  mappar (long i = 0 : (N + block - 1) / block) {
    Step(data[i * block; block], other[i * block; block]);
  }
  mappar (long i = 0 : (N + block - 1) / block) {
    Step(other[i * block; block], data[i * block; block]);
  }
}
void task<leaf> Step::Increment(in int from[N], out int to[N])
{
  for (long i = 0; i < N; i++)
    to[i] = from[i] + 1;
}
"""

GATHER = """
void task Gather(in int where[M], in float A[N], out float B[M]);
void task Copy(in float from[N], out float to[N]);
void task<inner> Gather::Blocks(in int where[M], in float A[N], out float B[M])
{
  tunable block;
  mappar (long i = 0 : (M + block - 1) / block) {
    Copy(A[where[i * block; block]], B[i * block; block]);
  }
}
void task<leaf> Copy::All(in float from[N], out float to[N])
{
  for (long i = 0; i < N; i++)
    to[i] = from[i];
}
"""

GATHER_MAP = """
#include "cell-disk"
task Gather: entrypoint(Gather_Blocks) {
  instance Gather_Blocks::Blocks(level 3) {
    tunable block = 1000;
    control(level 3) {
      loop i(level 3) { }
      callsite Copy() { target Copy_All() { } }
    }
  }
}
task Copy { instance Copy_All::All(level 0) { } }
"""

CHECKED = """
void task Pick(in int index[N], in float A[M], out float B[N]);
void task<inner> Pick::Blocks(in int index[N], in float A[M], out float B[N])
{
  tunable block;
  mappar (long i = 0 : (N + block - 1) / block) {
    Pick(index[i * block; block], A, B[i * block; block]);
  }
}
void task<leaf> Pick::One(in int index[N], in float A[M], out float B[N])
{
  for (long i = 0; i < N; i++)
    B[i] = A[index[i]];
}
"""


def described(main):
    """The machine's description with main memory of another size."""
    with open(MACHINE) as file:
        text = re.sub(r"(?m)\s*#.*$", "", file.read())
    return text.replace("capacity: 256M", f"capacity: {main}")


def mounted(size):
    """A small file system, or nothing where none can be mounted."""
    folder = tempfile.mkdtemp(prefix="strata-small-")
    done = subprocess.run(["mount", "-t", "tmpfs", "-o", f"size={size}", "none", folder], capture_output=True)
    if done.returncode:
        os.rmdir(folder)
        return None
    return folder


def unmount(folder):
    subprocess.run(["umount", folder], check=True)
    os.rmdir(folder)


class Disk(harness.Case):
    def vectors(self, n, dtype="f4"):
        random = np.random.default_rng(5)
        return random.random(n).astype(dtype), random.random(n).astype(dtype)

    def test_the_same_bits_on_every_engine_and_any_threads(self):
        a, b = self.vectors(100003)
        self.save("A.npy", a)
        self.save("B.npy", b)
        for engine in ("uring", "threads"):
            for threads in (1, 2, 7):
                self.succeeds("run", VECTADD, *ON_DISK, "--in", "A=A.npy", "--in", "B=B.npy", "--out", "C=C.npy",
                              "--threads", threads, "--repeat", 2, STRATA_IO=engine)
                np.testing.assert_array_equal(np.load(self.path("C.npy")), a + b)
        self.is_refused("run", VECTADD, *ON_DISK, "--in", "A=A.npy", "--in", "B=B.npy", STRATA_IO="tape",
                        code="runtime-io-engine")

    def test_every_form_of_npy(self):
        a, b = self.vectors(5003)
        for name, array in (("native", a), ("big", a.astype(">f4"))):
            self.save("A.npy", array)
            self.save("B.npy", b)
            self.succeeds("run", VECTADD, *ON_DISK, "--in", "A=A.npy", "--in", "B=B.npy", "--out", "C=C.npy")
            np.testing.assert_array_equal(np.load(self.path("C.npy")), a + b, err_msg=name)
        matrix = np.random.default_rng(1).random((301, 203)).astype("f4")
        other = np.random.default_rng(2).random((203, 157)).astype("f4")
        matmul = os.path.join(harness.ROOT, "examples/sequoia/matmul/matmul.sq")
        results = []
        for name, first, second in (("rows", matrix, other), ("columns", np.asfortranarray(matrix), np.asfortranarray(other)),
                                    ("big columns", np.asfortranarray(matrix.astype(">f4")), other)):
            self.save("A.npy", first)
            self.save("B.npy", second)
            self.succeeds("run", matmul, *ON_DISK, "--in", "A=A.npy", "--in", "B=B.npy", "--out", "C=C.npy")
            results.append(np.load(self.path("C.npy")))
            np.testing.assert_array_equal(results[0], results[-1], err_msg=name)
        np.testing.assert_allclose(results[0], matrix @ other, rtol=1e-4)
        # From a pipe, and to a device.
        np.save(self.path("A.npy"), a)
        script = f"cat A.npy | {harness.options.strata} run {VECTADD} --machine cell-disk --in A=/dev/stdin --in B=1 --out C=C.npy --repeat 2"
        done = subprocess.run(["sh", "-c", script], cwd=self.folder, capture_output=True)
        self.assertEqual(done.returncode, 0, done.stderr)
        np.testing.assert_array_equal(np.load(self.path("C.npy")), a + np.float32(1))
        self.succeeds("run", VECTADD, *ON_DISK, "--in", "A=A.npy", "--in", "B=1", "--out", "C=/dev/null")

    def test_generated_data_are_the_same_as_in_memory(self):
        for spec in ("random", "random:9:-1:1", "iota", "2.5"):
            data = ("--size", "N=3000017", "--in", f"A={spec}", "--in", "B=random:3")
            self.succeeds("run", VECTADD, *data, "--out", "C=memory.npy")
            self.succeeds("run", VECTADD, *data, "--out", "C=disk.npy", *ON_DISK)
            np.testing.assert_array_equal(np.load(self.path("memory.npy")), np.load(self.path("disk.npy")), err_msg=spec)

    def test_arrays_that_change_local_arrays_and_elements_that_control_reads(self):
        self.write("rounds.sq", ROUNDS)
        data = np.arange(50021, dtype="i4")
        self.save("data.npy", data)
        self.save("rounds.npy", np.array([9, 3], "i4"))
        for extra in ((), ("--repeat", "3", "--stats"), ("--check",)):
            self.succeeds("run", "rounds.sq", *ON_DISK, "--entry", "Rounds", "--in", "rounds=rounds.npy", "--in", "data=data.npy",
                          "--out", "data=out.npy", *extra)
            np.testing.assert_array_equal(np.load(self.path("out.npy")), data + 6)
            np.testing.assert_array_equal(np.load(self.path("data.npy")), data)
        # In place of its own input.
        self.succeeds("run", "rounds.sq", *ON_DISK, "--entry", "Rounds", "--in", "rounds=rounds.npy", "--in", "data=data.npy",
                      "--out", "data=data.npy")
        np.testing.assert_array_equal(np.load(self.path("data.npy")), data + 6)

    def test_gathered_blocks(self):
        self.write("gather.sq", GATHER)
        random = np.random.default_rng(4)
        a, where = random.random(3001).astype("f4"), random.integers(0, 3001, 5003).astype("i4")
        self.save("A.npy", a)
        self.save("where.npy", where)
        self.write("gather.map", GATHER_MAP)
        self.succeeds("run", "gather.sq", "--map", "gather.map", "--check", "--in", "A=A.npy", "--in", "where=where.npy", "--out", "B=B.npy")
        np.testing.assert_array_equal(np.load(self.path("B.npy")), a[where])

    def test_an_output_is_whole_or_absent(self):
        self.write("pick.sq", CHECKED)
        index = np.zeros(100000, "i4")
        index[-1] = 77
        self.save("index.npy", index)
        self.save("A.npy", np.ones(10, "f4"))
        arguments = ("run", "pick.sq", *ON_DISK, "--entry", "Pick", "--in", "index=index.npy", "--in", "A=A.npy", "--out")
        self.is_refused(*arguments, "B=B.npy", code="index-out-of-range")
        self.save("B.npy", np.full(3, 8, "f4"))
        self.is_refused(*arguments, "B=B.npy", code="index-out-of-range")
        np.testing.assert_array_equal(np.load(self.path("B.npy")), np.full(3, 8, "f4"))

    def test_wrong_files_and_folders(self):
        self.save("A.npy", np.ones(10, "f4"))
        self.save("B.npy", np.ones(11, "f4"))
        self.save("D.npy", np.ones(10, "f8"))
        self.is_refused("run", VECTADD, *ON_DISK, "--in", "A=A.npy", "--in", "B=B.npy", code="run-size-conflict")
        self.is_refused("run", VECTADD, *ON_DISK, "--in", "A=A.npy", "--in", "B=D.npy", code="data-element-type")
        with open(self.path("A.npy"), "rb") as file:
            self.write("cut.npy", file.read()[:-4])
        self.is_refused("run", VECTADD, *ON_DISK, "--in", "A=A.npy", "--in", "B=cut.npy", code="data-npy-truncated")
        self.is_refused("run", VECTADD, *ON_DISK, "--in", "A=A.npy", "--in", "B=1", "--out", "C=no/such/C.npy", code="data-cannot-write")
        self.is_refused("run", VECTADD, *ON_DISK, "--in", "A=A.npy", "--in", "B=1", "--scratch", "no/such",
                        code="run-disk-array", mentions=("array 'B'", "'no/such'", "--scratch"))
        self.is_refused("run", VECTADD, *ON_DISK, "--in", "A=A.npy", "--in", "B=1", code="run-disk-array", mentions="/nowhere",
                        TMPDIR="/nowhere")

    def test_a_full_disk(self):
        small = mounted("1M")
        if not small:
            self.skipTest("file systems cannot be mounted here")
        self.addCleanup(unmount, small)
        data = ("--size", "N=300000", "--in", "A=random", "--in", "B=random")
        self.is_refused("run", VECTADD, *ON_DISK, *data, "--scratch", small, code="run-disk-array", mentions="No space left")
        self.is_refused("run", VECTADD, *ON_DISK, *data, "--out", f"C={small}/C.npy", code="run-disk-array", mentions="No space left")
        self.assertEqual(os.listdir(small), [])
        # A local array, made while the program runs.
        self.write("rounds.sq", ROUNDS)
        self.save("data.npy", np.zeros(300000, "i4"))
        self.save("rounds.npy", np.array([1], "i4"))
        self.is_refused("run", "rounds.sq", *ON_DISK, "--entry", "Rounds", "--in", "rounds=rounds.npy", "--in", "data=data.npy",
                        "--out", "data=out.npy", "--scratch", small, code="runtime-scratch-file")
        self.assertEqual(os.listdir(small), [])

    def test_scratch_files_have_no_names(self):
        os.mkdir(self.path("scratch"))
        self.succeeds("run", VECTADD, *ON_DISK, "--size", "N=100000", "--in", "A=random", "--in", "B=random", "--scratch", "scratch")
        self.assertEqual(os.listdir(self.path("scratch")), [])

    def test_memory_is_bounded(self):
        """Vectors of eight times main memory each take little more of this computer's memory than short ones."""
        self.write("m.yaml", described("8M"))

        def peak(n):
            read, written = os.pipe()
            child = os.fork()
            if child == 0:
                os.chdir(self.folder)
                os.dup2(os.open("/dev/null", os.O_WRONLY), 1)
                os.execv(harness.options.strata, [harness.options.strata, "run", VECTADD, "--machine", "./m.yaml", "--size", f"N={n}",
                                                  "--in", "A=random", "--in", "B=random", "--out", "C=C.npy", "--threads", "2"])
            os.close(read)
            os.close(written)
            _, status, usage = os.wait4(child, 0)
            self.assertEqual(status, 0)
            return usage.ru_maxrss * 1024
        small = peak(1000)
        large = peak(16 << 20)  # three arrays of 64 MiB
        self.assertLess(large - small, 64 << 20, f"{small} and {large} bytes")
        self.assertEqual(np.load(self.path("C.npy"), mmap_mode="r").shape, (16 << 20,))

    def test_a_recursion_that_holds_more_than_fits_is_told(self):
        fft = os.path.join(harness.ROOT, "examples/sequoia/fft/fft")
        with open(MACHINE) as file:
            text = file.read()
        options = ("run", fft + ".sq", "--map", os.path.join(os.path.dirname(fft), "cell-disk.map"), "--machine", self.path("small.yaml"), "--in", "x=random")
        self.write("small.yaml", text.replace("256M", "1100K"))
        self.succeeds(*options, "--size", "N=32768")
        refused = self.is_refused(*options, "--size", "N=65536", code="runtime-store-full", mentions="memory 'main' holds 1126400 bytes")
        self.assertRegex(refused.err, "'FFT#0/0.w' of a task that calls itself wants 131072 more")
        # A block that does not fit by itself is known before the program runs.
        self.write("small.yaml", text.replace("256M", "200K"))
        self.is_refused(*options, "--size", "N=65536", code="does-not-fit")

    def test_kernels_do_not_touch_a_disk(self):
        self.write("p.map", """#include "cell-disk"
task AddVectors: entrypoint(AddVectors_Add) { instance AddVectors_Add::Add(level 3) { } }
""")
        self.is_refused("run", VECTADD, "--map", "p.map", "--in", "A=random", "--in", "B=random", "--size", "N=10",
                        code="sequoia-mapping-leaf-level")


def other_machine_of(program):
    def test(self):
        with open(MACHINE) as file:
            text = re.sub(r"(?m)\s*#.*$", "", file.read())
        for old, new in (("cell-disk", "barn"), (r"\bdisk\b", "pond"), (r"\bmain\b", "depot"), (r"\bls\b", "shelf"), (r"\bppe\b", "clerk"),
                         (r"\bspe\b", "porter"), ("256M", "300K"), ("256K", "40K"), ("count: 8", "count: 3"), ("alignment: 16", "alignment: 64")):
            text = re.sub(old, new, text)
        machine = self.write("barn.yaml", re.sub(r"(?m)^about:.*$", "about: a test", text))
        given = program.make(program.sizes[1])
        check(self, program, given, run(self, program, given, "--machine", machine), f"{program.name} on a machine with other names")
    return test


# What cannot run on one machine with a disk cannot run on another.
for program in [program for program in PROGRAMS if "cell-disk" not in program.but_not]:
    setattr(Disk, f"test_other_machine_{program.name}", other_machine_of(program))

if __name__ == "__main__":
    harness.main()
