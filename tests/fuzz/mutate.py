"""Changes programs in both notations, mappings, machines and programs in the dialect at random and gives them to the strata command, which has to end in
time with status 0 or 1, say what is wrong, and leave nothing behind. Runs from one seed are the same: python3 mutate.py --strata
build/bin/strata --seconds 60 --seed 1. What fails is kept in the folder given with --keep, with the command that does it.

A program that runs for ever, because a changed number made it so, is the user's own: time-outs count only for `strata check`."""

import argparse
import glob
import os
import random
import re
import resource
import shutil
import subprocess
import sys
import tempfile
import time

ROOT = os.path.dirname(os.path.dirname(os.path.dirname(os.path.abspath(__file__))))
NUMBERS = ["0", "1", "-1", "2", "3", "7", "255", "256", "65536", "2147483647", "2147483648", "-2147483648", "4294967296",
           "4611686018427387904", "9223372036854775807", "-9223372036854775808", "18446744073709551616", "1e400", "1.5"]
TOKEN = re.compile(r'"[^"\n]*"|[\w.]+|%\w+|[@!#^]\w+|->|\s+|.', re.DOTALL)
SIZES = ["N=10", "N=0", "N=1", "N=37", "M=5", "P=6", "B=4", "U=3", "V=2"]
CRASHES = ["Assertion", "Stack dump", "PLEASE submit", "Sanitizer", "terminate called", "LLVM ERROR", "JIT session error",
           "UNREACHABLE", "runtime error:"]
MEMORY = 6 << 30
HANGS = 300  # seconds after which a command that runs no program is taken to hang


class Mutator:
    def __init__(self, seed, pool):
        self.random, self.pool = random.Random(seed), pool

    def tokens(self, text):
        return TOKEN.findall(text)

    def mutate(self, text):
        if self.random.random() < 0.06:
            return self.bytes(text.encode())
        tokens = self.tokens(text)
        for _ in range(self.random.choice([1, 1, 1, 2, 3, 6])):
            tokens = self.step(tokens)
        return "".join(tokens).encode(errors="replace")

    def bytes(self, data):
        data = bytearray(data)
        if self.random.random() < 0.4:
            return bytes(data[: self.random.randrange(len(data) + 1)])
        for _ in range(self.random.choice([1, 3, 20])):
            at = self.random.randrange(len(data) + 1)
            data[at:at + self.random.randrange(3)] = bytes(self.random.randrange(256) for _ in range(self.random.randrange(4)))
        return bytes(data)

    def pick(self, tokens, accept=lambda token: not token.isspace()):
        places = [place for place, token in enumerate(tokens) if accept(token)]
        return self.random.choice(places) if places else None

    def step(self, tokens):
        at = self.pick(tokens)
        if at is None:
            return tokens
        kind = self.random.randrange(13)
        word = tokens[at]
        if kind == 0:
            return tokens[:at] + tokens[at + 1:]
        if kind == 1:
            return tokens[:at] + [word, " ", word] + tokens[at + 1:]
        if kind in (2, 3, 4):
            number = self.pick(tokens, lambda token: re.fullmatch(r"\d[\w.]*", token))
            if number is not None:
                tokens = list(tokens)
                tokens[number] = self.random.choice(NUMBERS)
            return tokens
        if kind in (5, 6, 7):  # another word of the same file, of the same sort
            sort = lambda token: (token[0] if token[0] in "%@!#^\"" else "w" if token[0].isalnum() else token)
            other = self.pick(tokens, lambda token: not token.isspace() and sort(token) == sort(word))
            tokens = list(tokens)
            tokens[at] = tokens[other]
            return tokens
        if kind == 8:  # a word of another file
            tokens = list(tokens)
            tokens[at] = self.random.choice(self.tokens(self.random.choice(self.pool)))
            return tokens
        lines = "".join(tokens).split("\n")
        line = self.random.randrange(len(lines))
        if kind == 9:
            del lines[line]
        elif kind == 10:
            lines.insert(self.random.randrange(len(lines) + 1), lines[line])
        elif kind == 11:
            other = self.random.randrange(len(lines))
            lines[line], lines[other] = lines[other], lines[line]
        else:
            depth = self.random.choice([3, 300, 20000])
            opening, closing = self.random.choice([("(", ")"), ("{", "}"), ("[", "]"), ("-", ""), ("!", ""), ("<", ">"), ("*", "")])
            return self.tokens("".join(tokens[:at] + [opening * depth, word, closing * depth] + tokens[at + 1:]))
        return self.tokens("\n".join(lines))


class Fuzzer:
    def __init__(self, options):
        self.options = options
        self.folder = tempfile.mkdtemp(prefix="strata-mutate-")
        self.seeds = {"sq": [], "hbir": [], "map": [], "yaml": [], "mlir": []}
        for pattern in ("examples/sequoia/*/*.sq", "examples/hbir/*/*.hbir", "examples/sequoia/*/*.map", "examples/sequoia/*/*.xml", "machines/*/*.yaml", "tests/conformance/programs/*.mlir"):
            for path in sorted(glob.glob(os.path.join(ROOT, pattern))):
                ending = path.rsplit(".", 1)[1]
                self.seeds["map" if ending == "xml" else ending].append(path)
        self.programs = {}  # what a mapping file is for
        for path in self.seeds["map"]:
            self.programs[path] = glob.glob(os.path.join(os.path.dirname(path), "*.sq"))[0]
        self.mapped()
        self.emitted()
        pool = [open(path, errors="replace").read() for paths in self.seeds.values() for path in paths]
        self.mutator = Mutator(options.seed, pool)
        self.random = self.mutator.random
        self.runs = self.failures = self.late = self.fine = 0

    def mapped(self):
        """Mapping files of the HBIR examples, as the command writes them."""
        for path in self.seeds["hbir"]:
            name = os.path.join(self.folder, f"{os.path.basename(path)}.map")
            subprocess.run([self.options.strata, "map", path, "-o", name], capture_output=True, timeout=600)
            if os.path.exists(name):
                self.seeds["map"].append(name)
                self.programs[name] = path

    def emitted(self):
        """The examples in the dialect, as the command writes them."""
        cases = [(path, machine) for path in self.seeds["sq"] for machine in ("host", "cell")]
        cases += [(path, "host") for path in self.seeds["hbir"] if not path.endswith(("_b.hbir", "_c.hbir"))]
        for path, machine in cases:
            name = os.path.join(self.folder, f"{os.path.basename(path)}-{machine}.mlir")
            subprocess.run([self.options.strata, "run", path, "--machine", machine, "--emit=svm", "-o", name],
                           capture_output=True, timeout=600)
            if os.path.exists(name):
                self.seeds["mlir"].append(name)

    def case(self):
        """A command with the files it needs: (arguments, files by name)."""
        kind = self.random.choice(["sq", "hbir", "hbir", "map", "map", "yaml", "mlir", "mlir", "mlir"])
        path = self.random.choice(self.seeds[kind])
        with open(path, errors="replace") as file:
            text = file.read()
        changed = {f"changed.{kind}": self.mutator.mutate(text)}
        if kind == "yaml":
            if self.random.random() < 0.5:
                return [self.random.choice(["machine", "show"]), "changed.yaml"], changed
            arguments = [self.random.choice(self.seeds["sq"] + self.seeds["hbir"]), "--machine", "./changed.yaml"]
        elif kind == "map":
            arguments = [self.programs[path], "--machine", self.random.choice(["host", "cell"]), "--map", "changed.map"]
        else:
            arguments = [f"changed.{kind}", "--machine", self.random.choice(["host", "cell"])]
        job = self.random.choice(["check", "run", "run", "run", "map", "show"])
        if job in ("map", "show") and kind == "mlir":
            job = "run"
        if job == "run":
            with open(arguments[0] if os.path.isabs(arguments[0]) else path, errors="replace") as file:
                arguments += self.data(file.read())
            arguments += self.random.choice([[], [], ["--check"], ["--interpret"], ["--stats"], ["--threads", "7"]])
        return [job, *arguments], changed

    def data(self, text):
        """Small sizes, and data for every argument that the original names."""
        arguments, seen = [], set()
        for size in self.random.sample(SIZES, len(SIZES)):
            if "config {" in text:  # HBIR, whose constants may be given
                size = size.lower()
            name = size.split("=")[0]
            if name not in seen and re.search(rf"\b{name} = \d" if size[0].islower() else rf"\b{name}\b", text):
                seen.add(name)
                arguments += ["--size", size]
        read = re.findall(r'svm\.access = "(?:read|readwrite)", svm\.name = "(\w+)"|svm\.name = "(\w+)", svm\.access = "(?:read|readwrite)"', text)
        host = re.findall(r"\bin (\w+) :|(\w+) : \w+[^;{]*\{[^}]*\bhost\b", text)
        names = [a or b for a, b in read] or [a or b for a, b in host] or re.findall(r"\b(?:in|inout) \w+ (\w+)", text.split(";")[0])
        for name in dict.fromkeys(names):
            arguments += ["--in", f"{name}={self.random.choice(['zeros', '1', 'iota', '3'])}"]
        written = re.findall(r'svm\.name = "(\w+)"', text)
        if written and self.random.random() < 0.5:
            arguments += ["--out", f"{written[-1]}=out.npy"]
        return arguments

    def problem(self, arguments, folder, before):
        """What is wrong with how a command ended, or nothing."""
        limit = lambda: (resource.setrlimit(resource.RLIMIT_AS, (MEMORY, MEMORY)) if not self.options.no_limit else None,
                         resource.setrlimit(resource.RLIMIT_CORE, (0, 0)))
        environment = {key: value for key, value in os.environ.items() if not key.startswith("STRATA_")}
        environment["ASAN_OPTIONS"] = "allocator_may_return_null=1:detect_leaks=0"
        try:
            done = subprocess.run([self.options.strata, *arguments], cwd=folder, capture_output=True, stdin=subprocess.DEVNULL,
                                  timeout=self.options.limit if arguments[0] == "run" else HANGS, preexec_fn=limit, env=environment)
        except subprocess.TimeoutExpired:
            self.late += 1
            return None if arguments[0] == "run" else "no end in time", ""
        err = done.stderr.decode(errors="replace")
        self.fine += done.returncode == 0
        if done.returncode not in (0, 1):
            return f"status {done.returncode}", err
        for text in CRASHES:
            if text in err:
                return f"says '{text}'", err
        if done.returncode == 1:
            errors = re.findall(r"^error(\[[\w-]+\])?: .*\n((?: +--> )?)", err, re.MULTILINE)
            if not errors:
                return "fails without an error", err
            if any(not code for code, _ in errors):
                return "has an error without a code", err
            left = sorted(set(os.listdir(folder)) - before)
            if left:
                return f"leaves {', '.join(left)}", err
            if "this is an error of Strata" in err:
                return "blames Strata", err
        elif re.search(r"^error", err, re.MULTILINE):
            return "reports an error and succeeds", err
        return None, err

    def run(self):
        end = time.monotonic() + self.options.seconds
        while time.monotonic() < end and self.runs < self.options.count and self.failures < self.options.failures:
            arguments, changed = self.case()
            folder = tempfile.mkdtemp(dir=self.folder)
            for name, content in changed.items():
                with open(os.path.join(folder, name), "wb") as file:
                    file.write(content)
            problem, err = self.problem(arguments, folder, set(changed))
            self.runs += 1
            if problem:
                self.failures += 1
                print(f"{problem}: strata {' '.join(arguments)}\n{err[-1500:]}", flush=True)
                if self.options.keep:
                    kept = os.path.join(self.options.keep, f"{self.options.seed}-{self.runs}")
                    os.makedirs(kept, exist_ok=True)
                    for name in changed:
                        shutil.copy(os.path.join(folder, name), kept)
                    with open(os.path.join(kept, "command"), "w") as file:
                        file.write(f"{problem}\n{' '.join(arguments)}\n{err}")
            shutil.rmtree(folder, True)
        shutil.rmtree(self.folder, True)
        print(f"{self.runs} commands, {self.fine} succeeded, {self.late} did not end, {self.failures} failed")
        return 1 if self.failures else 0


def parser(description):
    """Of the command lines of this and other fuzzers."""
    made = argparse.ArgumentParser(description=description, formatter_class=argparse.RawDescriptionHelpFormatter)
    made.add_argument("--strata", default=os.path.join(ROOT, "build/bin/strata"))
    made.add_argument("--seconds", type=int, default=10**9)
    made.add_argument("--count", type=int, default=10**9, help="so many commands")
    made.add_argument("--seed", type=int, default=1)
    made.add_argument("--limit", type=float, default=5, help="seconds after which a program that runs is ended, without a failure")
    made.add_argument("--failures", type=int, default=20, help="end after so many")
    made.add_argument("--keep", help="a folder for what fails")
    made.add_argument("--no-limit", action="store_true", help="no limit of memory, which address sanitizers need")
    return made


def parsed(made):
    options = made.parse_args()
    options.strata = os.path.abspath(options.strata)
    return options


if __name__ == "__main__":
    sys.exit(Fuzzer(parsed(parser(__doc__))).run())
