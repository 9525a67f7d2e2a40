"""Changes attributes of programs in the dialect, each in its generic form, where every one has a name and a value: takes one away, or gives it
another value (negative, zero, the greatest there is, empty, of another kind, another program's). `strata check` has to end with status 0 or 1
and say what is wrong, and so has `strata run` for what was found right: python3 attributes.py --strata build/bin/strata --opt
build/bin/strata-opt --count 60 --seed 1. The other options are mutate.py's."""

import glob
import os
import re
import subprocess
import sys
import tempfile

import mutate

BEGIN = re.compile(r'(?:(?<=\{)|(?<=, ))("?)([A-Za-z_][\w.]*)\1(?= = | ?[,}])')
TEXTS = ['""', '"{0}"', '"a\\00b"', '"' + "x" * 5000 + '"', '"\\FF"', '"read"', '"a-b"']
NUMBERS = ["-1", "0", "-2147483649", "9223372036854775807", "-9223372036854775808"]
OTHERS = ["unit", "true", "[]", "{}", "array<i64>", "@nothing", "@a::@b::@c", "affine_map<() -> ()>", "affine_map<(i)[n] -> (i * n)>",
          "[affine_map<()[n] -> (n)>]", "#svm.atomic_kind<compare_exchange>", "dense<0> : tensor<1xi64>", "i32", "-1 : i32", "1.0 : f32"]


def entries(text):
    """(begin, name, begin of the value, end) of each entry of a dictionary of attributes; the value of a mark is empty."""
    found = []
    for match in BEGIN.finditer(text):
        if not text.startswith(" = ", match.end()):
            found.append((match.start(), match[2], match.end(), match.end()))
            continue
        at, depth = match.end() + 3, 0
        while at < len(text) and (depth or text[at] not in ",}"):
            if text[at] == '"':
                at = re.compile(r'"(?:[^"\\]|\\.)*"').match(text, at).end()
                continue
            if text.startswith("->", at):
                at += 2
                continue
            depth += (text[at] in "([{<") - (text[at] in ")]}>")
            at += 1
        found.append((match.start(), match[2], match.end() + 3, at))
    return found


class AttributeFuzzer(mutate.Fuzzer):
    def __init__(self, options):
        self.options = options
        self.folder = tempfile.mkdtemp(prefix="strata-attributes-")
        self.mutator = mutate.Mutator(options.seed, [])
        self.random = self.mutator.random
        self.programs, self.values = [], {}
        for path in sorted(glob.glob(os.path.join(mutate.ROOT, "tests/conformance/programs/*.mlir"))):
            with open(path) as file:
                text = file.read()
            if "svm.memory_at" in text:  # the program answers for addresses
                continue
            done = subprocess.run([options.opt, path, "--mlir-print-op-generic"], capture_output=True, text=True, check=True)
            header = [line[2:].strip() for line in text.splitlines() if line.startswith("//")]
            self.programs.append((done.stdout, self.given(header)))
            for _, name, begin, end in entries(done.stdout):
                self.values.setdefault(name, []).append(done.stdout[begin:end])
        self.runs = self.failures = self.late = self.fine = 0
        self.left = None  # to run once it has been checked

    def given(self, header):
        """Sizes and data for a run, from the comments that conformance programs begin with."""
        arguments = []
        for line in header:
            if line.startswith("size:"):
                arguments += ["--size", ",".join(line[5:].split())]
            elif match := re.match(r"(\w+): (in|inout|scalar) ", line):
                arguments += ["--in", f"{match[1]}={'1' if match[2] == 'scalar' else 'iota'}"]
        return arguments

    def other(self, name, value):
        if self.random.random() < 0.2:
            return self.random.choice(OTHERS)
        if self.random.random() < 0.15:
            return self.random.choice(self.values[name])
        if value.startswith('"'):
            return self.random.choice(TEXTS)
        numbers = list(re.finditer(r"(?<![\w.])-?\d+", value))
        if not numbers:
            return self.random.choice(OTHERS + TEXTS)
        at = self.random.choice(numbers)
        return value[:at.start()] + self.random.choice(NUMBERS) + value[at.end():]

    def change(self, text):
        begin, name, value, end = self.random.choice(entries(text))
        if self.random.random() < 0.2:  # with the comma on one of its sides
            if text.startswith(", ", end):
                return text[:begin] + text[end + 2:]
            return (text[:begin - 2] if text[:begin].endswith(", ") else text[:begin]) + text[end:]
        if value == end:
            return text[:end] + " = " + self.random.choice(OTHERS + TEXTS) + text[end:]
        return text[:value] + self.other(name, text[value:end]) + text[end:]

    def case(self):
        if self.left:
            case, self.left = self.left, None
            return case
        text, given = self.random.choice(self.programs)
        for _ in range(self.random.choice([1, 1, 1, 2])):
            text = self.change(text)
        changed = {"changed.mlir": text.encode()}
        way = self.random.choice([["--interpret"], ["--machine", "host"], ["--machine", "cell"], ["--check"]])
        self.left = ["run", "changed.mlir", *given, *way], changed
        return ["check", "changed.mlir"], changed

    def problem(self, arguments, folder, before):
        fine = self.fine
        found = super().problem(arguments, folder, before)
        if arguments[0] == "check" and self.fine == fine:
            self.left = None  # a run would say the same
        return found


if __name__ == "__main__":
    parser = mutate.parser(__doc__)
    parser.add_argument("--opt", default=os.path.join(mutate.ROOT, "build/bin/strata-opt"))
    sys.exit(AttributeFuzzer(mutate.parsed(parser)).run())
