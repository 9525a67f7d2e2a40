"""An installation in a prefix of its own, moved elsewhere, and the project of examples/project built against it: by CMake and by
pkg-config, with gcc and clang, in C and C++; likewise the program of streams in examples/stream-project and the one with two programs on
a processor array in examples/array/two-programs. Nothing of the source tree is used but the examples."""

import os
import shutil
import subprocess
import time
import unittest

import harness
from harness import ROOT

PROJECT = os.path.join(ROOT, "examples", "project")
STREAMS = os.path.join(ROOT, "examples", "stream-project")
TWO_PROGRAMS = os.path.join(ROOT, "examples", "array", "two-programs")
WARNINGS = ["-Wall", "-Wextra", "-Wpedantic", "-Werror"]


def compilers(older_cxx):
    """What is there to compile main.c and main.cpp with, and by which standard."""
    found = [("clang-19", "main.c", "-std=c11"), ("clang++-19", "main.cpp", f"-std={older_cxx}"), ("clang++-19", "main.cpp", "-std=c++20")]
    if shutil.which("gcc"):
        found += [("gcc", "main.c", "-std=c11"), ("gcc", "main.c", "-std=c17")]
    if shutil.which("g++"):
        found += [("g++", "main.cpp", f"-std={older_cxx}"), ("g++", "main.cpp", "-std=c++20")]
    return found


class InstallTest(harness.Case):
    @classmethod
    def setUpClass(cls):
        build = os.path.dirname(os.path.dirname(harness.options.strata))
        cls.base = harness.tempfile.mkdtemp(prefix="strata-install-")
        cls.addClassCleanup(shutil.rmtree, cls.base, True)
        first = os.path.join(cls.base, "first place")
        subprocess.run(["cmake", "--install", build, "--prefix", first], check=True, capture_output=True)
        cls.prefix = os.path.join(cls.base, "moved")
        os.rename(first, cls.prefix)

    def setUp(self):
        super().setUp()
        for name in os.listdir(PROJECT):
            shutil.copy(os.path.join(PROJECT, name), self.folder)

    def does(self, *command, **environment):
        if not shutil.which("cc"):  # a machine that has no other compiler than Strata's
            environment = {"CC": "clang-19", "CXX": "clang++-19", **environment}
        done = subprocess.run(command, cwd=self.folder, env=dict(os.environ, **environment), capture_output=True, text=True, timeout=300)
        self.assertEqual(done.returncode, 0, f"{' '.join(command)}\n{done.stdout}{done.stderr}")
        return done.stdout

    def runs(self, program, *environment):
        out = self.does(program, "40", "300")
        self.assertIn("smoothed 40 x 300 pixels", out)
        self.assertIn("refused: sequoia-", out)

    def test_what_is_installed(self):
        for path in ("bin/strata", "include/sequoia.h", "include/strata.h", "lib/libstrata.a", "lib/pkgconfig/strata.pc", "lib/cmake/Strata/StrataConfig.cmake",
                     "include/svm.h", "include/svm/pca.h", "lib/libstrata-svm.a", "lib/libstrata-svm-checked.a", "lib/pkgconfig/strata-svm.pc",
                     "include/strata_array.h", "lib/libstrata-array.a", "lib/pkgconfig/strata-array.pc",
                     "share/strata/machines/cell/machine.yaml", "share/doc/strata/command.md", "share/man/man1/strata-run.1",
                     "share/bash-completion/completions/strata", "share/zsh/site-functions/_strata",
                     "share/fish/vendor_completions.d/strata.fish"):
            self.assertTrue(os.path.exists(os.path.join(self.prefix, path)), path)
        # The machines are those of the installation.
        self.assertIn("cell", self.does(os.path.join(self.prefix, "bin/strata"), "machine", "--list"))

    def test_help_cites_what_is_installed(self):
        told = self.does(os.path.join(self.prefix, "bin/strata"), "run", "--help")
        self.assertIn(os.path.join(self.prefix, "share/doc/strata/command.md"), told)
        first = next(line.split() for line in told.splitlines() if line.startswith("  strata run "))
        self.does(os.path.join(self.prefix, "bin/strata"), *first[1:])
        self.assertTrue(os.path.exists(self.path("C.npy")))

    def test_a_cmake_project(self):
        self.does("cmake", "-S", ".", "-B", "build", "-G", "Ninja", f"-DCMAKE_PREFIX_PATH={self.prefix}")
        self.does("cmake", "--build", "build")
        self.runs(self.path("build/smooth_image"))
        self.assertIn("no work to do", self.does("cmake", "--build", "build"))

        # Built anew when the mapping changes, the program, or what the program includes.
        built = self.path("build/smooth.strata/smooth.o")

        def is_rebuilt(name, change):
            before = os.stat(built).st_mtime_ns
            time.sleep(0.01)
            with open(self.path(name)) as file:
                text = file.read()
            self.write(name, change(text))
            self.does("cmake", "--build", "build")
            self.assertGreater(os.stat(built).st_mtime_ns, before, name)
            self.runs(self.path("build/smooth_image"))

        is_rebuilt("smooth.map", lambda text: text.replace("= 256", "= 128"))
        self.write("means.h", "#define MEAN(a, b, c) ((a + b + c) / 3)\n")
        is_rebuilt("smooth.sq", lambda text: '#include "means.h"\n' + text.replace(
            "(image[i][j] + image[i][j + 1] + image[i][j + 2]) / 3", "MEAN(image[i][j], image[i][j + 1], image[i][j + 2])"))
        is_rebuilt("means.h", lambda text: text + "/* changed */\n")

    def test_containers_in_a_cmake_project(self):
        """The same program with plain arrays, from C++20."""
        with open(self.path("CMakeLists.txt")) as file:
            text = file.read()
        self.write("CMakeLists.txt", text.replace("main.c)", "plain.cpp)").replace("LANGUAGES C)", "LANGUAGES C CXX)\nset(CMAKE_CXX_STANDARD 20)")
                   .replace("MACHINE cell", "MACHINE cell INTERFACE plain"))
        self.write("plain.cpp", """#include "smooth.h"
#include <cstdio>
#include <vector>
int main() {
  std::vector<float> image(4 * 10, 3), smooth(4 * 8);
  smooth_image({image, 4, 10}, {smooth, 4, 8});
  std::printf("%g\\n", static_cast<double>(smooth[31]));
}
""")
        self.does("cmake", "-S", ".", "-B", "build", "-G", "Ninja", f"-DCMAKE_PREFIX_PATH={self.prefix}")
        self.does("cmake", "--build", "build")
        self.assertEqual(self.does(self.path("build/smooth_image")), "3\n")

    @unittest.skipUnless(shutil.which("make"), "there is no make")
    def test_a_cmake_project_with_make_and_a_machine_of_its_own(self):
        shutil.copy(os.path.join(ROOT, "machines/cell/machine.yaml"), self.path("own.yaml"))
        with open(self.path("CMakeLists.txt")) as file:
            text = file.read()
        self.write("CMakeLists.txt", text.replace("MACHINE cell", "MACHINE own.yaml ENTRY smooth_image"))
        self.does("cmake", "-S", ".", "-B", "build", "-G", "Unix Makefiles", f"-DCMAKE_PREFIX_PATH={self.prefix}")
        self.does("cmake", "--build", "build")
        self.runs(self.path("build/smooth_image"))

    def test_pkg_config(self):
        strata = os.path.join(self.prefix, "bin", "strata")
        self.does(strata, "build", "smooth.sq", "--map", "smooth.map", "-o", "smooth.o")
        flags = self.does("pkg-config", "--cflags", "--libs", "strata",
                          PKG_CONFIG_PATH=os.path.join(self.prefix, "lib/pkgconfig")).split()
        self.does("cp", "main.c", "main.cpp")
        with open(self.path("main.cpp")) as file:
            text = file.read()
        # C++ converts no void pointers by itself.
        self.write("main.cpp", text.replace("float *row = sqElmt2D(", "float *row = (float *)sqElmt2D(")
                   .replace("*from = sqElmt2D(", "*from = (float *)sqElmt2D(").replace("*to = sqElmt2D(", "*to = (float *)sqElmt2D("))
        for number, (compiler, main, standard) in enumerate(compilers("c++11")):
            with self.subTest(compiler=compiler, standard=standard):
                self.does(compiler, standard, *WARNINGS, main, "smooth.o", *flags, "-o", f"app{number}")
                self.runs(self.path(f"app{number}"))

    def test_one_command(self):
        strata = os.path.join(self.prefix, "bin", "strata")
        self.does(strata, "build", "smooth.sq", "--map", "smooth.map", "--main", "main.c", "-o", "app")
        self.runs(self.path("app"))
        self.assertIn("smoothed 8 x 9 pixels", self.does(strata, "run", "smooth.sq", "main.c", "--map", "smooth.map", "--", "8", "9"))

    def streams(self):
        for name in os.listdir(STREAMS):
            shutil.copy(os.path.join(STREAMS, name), self.folder)
        shutil.copy(self.path("main.c"), self.path("main.cpp"))

    def finds_means(self, program):
        self.assertEqual(self.does(program, "3000"), "3000 means of 12000 samples\n")

    def test_streams_in_a_cmake_project(self):
        self.streams()
        self.does("cmake", "-S", ".", "-B", "build", "-G", "Ninja", f"-DCMAKE_PREFIX_PATH={self.prefix}")
        self.does("cmake", "--build", "build")
        self.finds_means(self.path("build/mean"))
        self.finds_means(self.path("build/mean_checked"))

    def test_streams_with_pkg_config(self):
        self.streams()
        for package in ("strata-svm", "strata-svm-checked"):
            flags = self.does("pkg-config", "--cflags", "--libs", package, PKG_CONFIG_PATH=os.path.join(self.prefix, "lib/pkgconfig")).split()
            for number, (compiler, main, standard) in enumerate(compilers("c++20")):
                with self.subTest(package=package, compiler=compiler, standard=standard):
                    self.does(compiler, standard, "-O2", *WARNINGS, main, *flags, "-o", f"app{number}")
                    self.finds_means(self.path(f"app{number}"))

    def test_programs_on_an_array(self):
        strata = os.path.join(self.prefix, "bin", "strata")
        for name in ("fir", "matvec"):
            self.does(strata, "map", os.path.join(ROOT, "examples", "pla", name, f"{name}.pla"), "--machine", "array-4x4", "-o", f"{name}.sym")
        shutil.copy(os.path.join(TWO_PROGRAMS, "main.c"), self.folder)
        machine = os.path.join(self.prefix, "share/strata/machines/array-4x4/machine.yaml")
        flags = self.does("pkg-config", "--cflags", "--libs", "strata-array",
                          PKG_CONFIG_PATH=os.path.join(self.prefix, "lib/pkgconfig")).split()
        for number, compiler in enumerate(filter(shutil.which, ("clang-19", "gcc"))):
            with self.subTest(compiler=compiler):
                self.does(compiler, "-std=c11", *WARNINGS, "main.c", *flags, "-o", f"app{number}")
                self.assertIn("0 of 212 results are wrong", self.does(self.path(f"app{number}"), machine, "fir.sym", "matvec.sym"))
        self.write("CMakeLists.txt", """cmake_minimum_required(VERSION 3.20)
project(Two LANGUAGES C)
find_package(Strata REQUIRED)
add_executable(two main.c)
target_link_libraries(two PRIVATE Strata::array)
""")
        self.does("cmake", "-S", ".", "-B", "build", "-G", "Ninja", f"-DCMAKE_PREFIX_PATH={self.prefix}")
        self.does("cmake", "--build", "build")
        self.assertIn("0 of 212 results are wrong", self.does(self.path("build/two"), machine, "fir.sym", "matvec.sym"))

    def test_streams_with_one_command(self):
        self.streams()
        strata = os.path.join(self.prefix, "bin", "strata")
        self.does(strata, "cc", "-O2", *WARNINGS, "main.c", "-o", "app")
        self.finds_means(self.path("app"))
        self.does(strata, "c++", "--svm=checked", "-std=c++20", *WARNINGS, "main.cpp", "-o", "checked")
        self.finds_means(self.path("checked"))


if __name__ == "__main__":
    harness.main()
