"""Runs the programs of programs/ on every machine and target, with several numbers of threads, and through the interpreter, and
compares the results with NumPy's.

A program says in comments at its beginning what it is run with and what it gives:
  size: N=100 M=3              the sizes, also names in the expressions below
  python: f = lambda x: …      anything else that the expressions use
  A: in float32 (N, M) = EXPRESSION             the argument's element type (a NumPy type), shape and data
  B: out float32 (N,) = EXPRESSION              … and what it is afterwards
  C: inout float32 (N,) = EXPRESSION => EXPRESSION
  k: scalar int32 = EXPRESSION                  a scalar passed by value
  error: TEXT | TEXT           the run fails, and says one of these; several such lines all hold
  prints: EXPRESSION           what the run writes to the standard output before it says anything else
  only: interpreter            the interpreter's own tool, which checks everything; or "only: machines"
Arguments stand in the order of the entry point's. Expressions see all input data, as it is before the run.
"""
import argparse
import pathlib
import re
import subprocess
import sys
import tempfile

sys.path.append(str(pathlib.Path(__file__).parent.parent))
import need_numpy
import numpy as np


def rec(**fields):
    """Columns of an array of structs; fields that are not named are zero."""
    return fields


class Argument:
    def __init__(self, name, how, type, shape, before, after):
        self.name, self.how, self.type, self.shape, self.before, self.after = name, how, type, shape, before, after


def make(value, type, shape):
    if isinstance(value, dict):
        array = np.zeros(shape, type)
        for field, column in value.items():
            array[field] = column
        return array
    return np.ascontiguousarray(np.broadcast_to(np.asarray(value), shape)).astype(type).reshape(shape)


class Program:
    def __init__(self, path):
        self.path = path
        self.sizes, self.arguments, self.errors = {}, [], []
        self.prints, self.only = "", ""
        names = {"np": np, "rec": rec}
        for line in path.read_text().splitlines():
            if not line.startswith("//"):
                break
            words = line[2:].strip()
            if words.startswith("size:"):
                self.sizes = {k: int(v) for k, v in (item.split("=") for item in words[5:].split())}
                names.update(self.sizes)
            elif words.startswith("python:"):
                exec(words[7:].strip(), names)
            elif words.startswith("prints:"):
                self.prints = eval(words[7:].strip(), names)
            elif words.startswith("only:"):
                self.only = words[5:].strip()
            elif words.startswith("error:"):
                self.errors.append([text.strip() for text in words[6:].split("|")])
            elif match := re.match(r"(\w+): (in|out|inout|scalar) (.*?)(?: (\([^()]*\)))? = (.*)$", words):
                self.add(names, *match.groups())
        for argument in self.arguments:
            if argument.after is not None:
                value = eval(argument.after, names)
                argument.after = make(value, argument.type, argument.shape)

    def add(self, names, name, how, type, shape, expression):
        type = eval(type, names) if "(" in type or "[" in type else type
        type = np.dtype(type)
        shape = tuple(eval(shape, names)) if shape else ()
        before, after = expression, None
        if how == "out":
            before, after = "0", expression
        elif how == "inout":
            before, after = (part.strip() for part in expression.split("=>"))
        data = make({} if how == "out" and type.names else eval(before, names), type, shape)
        if how != "out":
            names[name] = data
        self.arguments.append(Argument(name, how, type, shape, data, after))

    def compare(self, results):
        wrong = []
        for argument in self.arguments:
            if argument.after is None:
                continue
            result = results[argument.name]
            if result.shape != argument.after.shape or not np.array_equal(result.astype(argument.type), argument.after):
                wrong.append(f"{argument.name} is\n{result}\nbut should be\n{argument.after}")
        return wrong


def execute(command, program, collect):
    try:
        done = subprocess.run(command, capture_output=True, text=True, timeout=600)
    except subprocess.TimeoutExpired:
        return ["it has not ended after 120 seconds"]
    if program.errors:
        if done.returncode != 1:
            return [f"it ended with {done.returncode} where it should fail\n{done.stderr}"]
        said = all(any(text in done.stderr for text in texts) for texts in program.errors)
        return [] if said else ["the error is another one:\n" + done.stderr]
    if done.returncode:
        return [f"it ended with {done.returncode}\n{done.stderr}"]
    if not done.stdout.startswith(program.prints):
        return [f"it prints\n{done.stdout}\nwhere it should print\n{program.prints}"]
    return program.compare(collect())


def run_parts(strata, program, folder, machine):
    """On a machine with processors of another target, which runs no kernels that share more than blocks: those are refused."""
    text = program.path.read_text()
    if re.search(r"svm\.shared|svm\.print|svm\.barrier|svm\.kernel @\w+\([^)]*!svm\.stream", text):
        program = Program(program.path)
        program.errors = [["target-part-kernel"]]
    return run_strata(strata, program, folder, ["--machine", machine])


def run_strata(strata, program, folder, options):
    """Through the command: data as .npy files."""
    command = [strata, "run", str(program.path), *options]
    if program.sizes:
        command += ["--size", ",".join(f"{k}={v}" for k, v in program.sizes.items())]
    outputs = {}
    for argument in program.arguments:
        if argument.how == "scalar":
            command += ["--in", f"{argument.name}={argument.before.item()}"]
            continue
        if argument.how != "out":
            np.save(folder / f"{argument.name}.in.npy", argument.before)
            command += ["--in", f"{argument.name}={folder / argument.name}.in.npy"]
        if argument.how != "in":
            outputs[argument.name] = folder / f"{argument.name}.out.npy"
            command += ["--out", f"{argument.name}={outputs[argument.name]}"]
    return execute(command, program, lambda: {name: np.load(path) for name, path in outputs.items()})


def run_interpreter(tool, program, folder):
    """Through the interpreter's own tool: data as raw bytes."""
    command = [tool, str(program.path)]
    for argument in program.arguments:
        if argument.how == "scalar":
            bits = int.from_bytes(argument.before.tobytes(), "little")
            command.append(f"{argument.name}={bits}")
            continue
        path = folder / f"{argument.name}.raw"
        path.write_bytes(argument.before.tobytes())
        command.append(f"{argument.name}={path}:{','.join(map(str, argument.shape))}")

    def collect():
        return {a.name: np.frombuffer((folder / f"{a.name}.raw").read_bytes(), a.type).reshape(a.shape)
                for a in program.arguments if a.how in ("out", "inout")}

    return execute(command, program, collect)


def main():
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--strata", help="the command to test")
    parser.add_argument("--interpreter", help="the tool that interprets one program (interpret_program)")
    parser.add_argument("--machine", action="append", default=[], help="run on this machine; may be repeated")
    parser.add_argument("--threads", type=int, action="append", default=[], help="numbers of threads to run with")
    parser.add_argument("--in-turn", action="store_true", help="each program with one of these numbers, in turn: for the day")
    parser.add_argument("--interpret", action="store_true", help="also run with strata run --interpret")
    parser.add_argument("--target", action="append", default=[], help="run on this target; may be repeated")
    parser.add_argument("--parts", help="run on this machine, which has processors of several targets")
    parser.add_argument("program", nargs="*", help="names of programs; all without any")
    options = parser.parse_args()
    folder = pathlib.Path(__file__).parent / "programs"
    paths = [folder / f"{name}.mlir" for name in options.program] or sorted(folder.glob("*.mlir"))
    ways = []
    if options.interpreter:
        ways.append(("interpreter", "interpreter", lambda program, scratch: run_interpreter(options.interpreter, program, scratch)))
    if options.strata and options.interpret:
        ways.append(("command", "strata run --interpret", lambda p, s: run_strata(options.strata, p, s, ["--interpret"])))
    for target in options.target if options.strata else []:
        ways.append(("command", f"--target {target}", lambda p, s, target=target: run_strata(options.strata, p, s, ["--target", target])))
    if options.strata and options.parts:
        ways.append(("machines", f"--machine {options.parts}", lambda p, s: run_parts(options.strata, p, s, options.parts)))
    threaded = []
    for machine in options.machine if options.strata else []:
        for threads in options.threads or [1, 2, 5]:
            words = ["--machine", machine, "--threads", str(threads)]
            threaded.append(("machines", " ".join(words), lambda p, s, words=words: run_strata(options.strata, p, s, words)))
    runs = failures = 0
    for number, path in enumerate(paths):
        program = Program(path)
        turn = [threaded[number % len(threaded)]] if options.in_turn and threaded else threaded
        for kind, name, way in ways + turn:
            if program.only not in ("", kind):
                continue
            with tempfile.TemporaryDirectory() as scratch:
                wrong = way(program, pathlib.Path(scratch))
            runs += 1
            failures += bool(wrong)
            for text in wrong:
                print(f"FAIL {path.stem}, {name}: {text}")
    print(f"{runs} runs of {len(paths)} programs, {failures} failed")
    return 1 if failures or not runs else 0


if __name__ == "__main__":
    sys.exit(main())
