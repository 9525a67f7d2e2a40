"""Programs with graphs under Clang's sanitizers, the code that is generated for the graphs included: the examples, the programs of
tests/hpvm/rules/ that break nothing, those of tests/end_to_end/hpvm_raised_test.py, and random graphs and leaves. A sanitizer that says
anything is a failure. Where the runtime has to be watched too, as the thread sanitizer wants it, --runtime names the folder of
libraries that were built with it; the compiler itself may be any."""

import argparse
import glob
import os
import shutil
import subprocess
import sys
import tempfile
from concurrent.futures import ThreadPoolExecutor

HERE = os.path.dirname(os.path.abspath(__file__))
ROOT = os.path.dirname(os.path.dirname(HERE))
sys.path += [HERE, os.path.join(ROOT, "tests", "end_to_end")]
import hpvm_raised_test
import random_graphs
import random_leaves
import rules

SIZES = {"edges": ["33", "17", "9"], "lattice_boltzmann": ["17", "5", "3"], "stencil3d": ["17", "5", "9", "3"], "matrix_product": ["37", "5", "64"]}
ENDS = {"ASAN_OPTIONS": "detect_stack_use_after_return=0", "TSAN_OPTIONS": "halt_on_error=1", "UBSAN_OPTIONS": "halt_on_error=1:print_stacktrace=1"}


def with_runtime(strata, runtime, folder):
    """A folder like that of a build, with another runtime: the strata in it."""
    build = os.path.dirname(os.path.dirname(os.path.realpath(strata)))
    for part in ("bin", "lib", "include"):
        os.mkdir(os.path.join(folder, part))
    shutil.copy(os.path.realpath(strata), os.path.join(folder, "bin", "strata"))
    for include in (os.path.join(ROOT, "include"), os.path.join(build, "include")):
        for file in glob.glob(os.path.join(include, "*")):
            os.symlink(file, os.path.join(folder, "include", os.path.basename(file)))
    for file in glob.glob(os.path.join(build, "lib", "*")):
        source = os.path.join(runtime, os.path.basename(file))
        if os.path.exists(source):
            os.symlink(source, os.path.join(folder, "lib", os.path.basename(file)))
        elif not file.endswith(".a"):
            shutil.copy(os.path.realpath(file), os.path.join(folder, "lib", os.path.basename(file)))
    os.symlink(os.path.join(ROOT, "machines"), os.path.join(folder, "machines"))
    return os.path.join(folder, "bin", "strata")


def command(words, folder, **environment):
    done = subprocess.run(words, cwd=folder, capture_output=True, text=True, errors="replace", stdin=subprocess.DEVNULL, timeout=600,
                          env={**os.environ, **ENDS, **environment})
    return None if done.returncode == 0 and "Sanitizer" not in done.stderr else f"{' '.join(words)} ended with {done.returncode}\n{done.stdout}{done.stderr}"


def runs(program, folder, *arguments):
    for threads in ("1", "2", "7"):
        wrong = command([os.path.join(folder, program), *arguments], folder, STRATA_THREADS=threads)
        if wrong:
            return f"{threads} threads: {wrong}"
    return None


def one_file(strata, path, sanitizers, name):
    with tempfile.TemporaryDirectory(prefix="strata-sanitized-") as folder:
        compiler = "c++" if path.endswith(".cpp") else "cc"
        words = [strata, compiler, "-O2", "-g", f"-fsanitize={sanitizers}", path, "-o", "program", "-lm"]
        return command(words, folder) or runs("program", folder, *SIZES.get(name, []))


def camera(strata, sanitizers):
    with tempfile.TemporaryDirectory(prefix="strata-sanitized-") as folder:
        built = os.path.join(folder, "camera")
        shutil.copytree(os.path.join(ROOT, "examples/hpvm/camera"), built)
        words = ["make", f"CC={strata} cc -fsanitize={sanitizers}", f"CXX={strata} c++ -fsanitize={sanitizers}"]
        return command(words, built) or runs("./camera", built)


def text_of(strata, text, sanitizers):
    with tempfile.TemporaryDirectory(prefix="strata-sanitized-") as folder:
        path = os.path.join(folder, "text.c")
        with open(path, "w", encoding="utf-8") as file:
            file.write(text)
        return one_file(strata, path, sanitizers, "")


def random_program(module, strata, seed, sanitizers):
    with tempfile.TemporaryDirectory(prefix="strata-sanitized-") as folder:
        return module.run(strata, "clang-19", seed, folder, [f"-fsanitize={sanitizers}"])


def cases(strata, sanitizers, seed, count, brief):
    """Names, and what tells what is wrong."""
    for path in sorted(glob.glob(os.path.join(ROOT, "examples/hpvm/*/*.c*"))):
        name = os.path.basename(os.path.dirname(path))
        if name != "camera":
            yield name, lambda path=path, name=name: one_file(strata, path, sanitizers, name)
    yield "camera", lambda: camera(strata, sanitizers)
    for name in ("STREAM", "GROUPS", "TABLES"):
        yield name.lower(), lambda name=name: text_of(strata, getattr(hpvm_raised_test, name), sanitizers)
    for path in [] if brief else sorted(glob.glob(os.path.join(HERE, "rules", "*.nearly.c*"))):
        yield os.path.basename(path), lambda path=path: rules.problem(strata, path, [f"-fsanitize={sanitizers}"])
    for number in range(seed, seed + count):
        yield f"random graphs {number}", lambda number=number: random_program(random_graphs, strata, number, sanitizers)
        yield f"random leaves {number}", lambda number=number: random_program(random_leaves, strata, number, sanitizers)


def main():
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--strata", required=True)
    parser.add_argument("--sanitizers", default="address", help="as -fsanitize= takes them; several runs are separated by a space")
    parser.add_argument("--runtime", help="a folder of libraries that were built with them")
    parser.add_argument("--seed", type=int, default=1)
    parser.add_argument("--count", type=int, default=2, help="random programs of each kind")
    parser.add_argument("--brief", action="store_true", help="without those of tests/hpvm/rules/")
    parser.add_argument("names", nargs="*", help="only these")
    options = parser.parse_args()
    os.environ.update(ENDS)
    with tempfile.TemporaryDirectory(prefix="strata-sanitized-") as folder:
        strata = os.path.abspath(options.strata)
        if options.runtime:
            strata = with_runtime(strata, os.path.abspath(options.runtime), folder)
        failed, tried = 0, 0
        for sanitizers in options.sanitizers.split():
            chosen = [case for case in cases(strata, sanitizers, options.seed, options.count, options.brief) if not options.names or case[0] in options.names]
            with ThreadPoolExecutor(2) as pool:
                for (name, _), wrong in zip(chosen, pool.map(lambda case: case[1](), chosen)):
                    tried += 1
                    if wrong:
                        failed += 1
                        print(f"FAIL {name} with {sanitizers}: {wrong[:3000]}", flush=True)
    print(f"{tried} programs, {failed} failed")
    return failed != 0 or not tried


if __name__ == "__main__":
    sys.exit(main())
