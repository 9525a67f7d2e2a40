"""Random leaves in graphs against the same code called in plain loops: the node's instances, raised to tiles of lanes and rows or run one
by one, have to give what the loops give, to the last bit, at 1, 2 and 7 threads, and on another machine. The loops are compiled by Clang alone.

    random_leaves.py --strata build/bin/strata --seconds 60          as many programs as there is time for
    random_leaves.py --strata build/bin/strata --seed 17 --count 1   one of them, the seventeenth
    random_leaves.py … --keep FOLDER                                 where programs that fail are written"""

import os
import random
import subprocess
import sys

import idioms
import many
from leaf_bodies import Body

ROOT = os.path.dirname(os.path.dirname(os.path.dirname(os.path.abspath(__file__))))
LEAVES = 8  # in a program
MACHINES = ("cell", "cluster", "smp-2level", "cell-disk")
QUERIES = ("x", "y", "z")
SIZES = {"float": 4, "double": 8, "int": 4, "long": 8, "unsigned": 4, "short": 2, "unsigned char": 1, "unsigned long": 8}


def graph(body, dimensions, pick):
    """The leaf, its graph and the function that launches it."""
    arrays, scalars = body.parameters()
    outs = {name for name, _, _ in body.out}
    given = ", ".join([f"{type} *{name}, size_t {name}Bytes" for name, type in arrays] + [f"{type} {name}" for name, type in scalars])
    attributes = lambda names: ", ".join([str(len(names)), *names])
    ins = [name for name, _ in arrays if name not in outs] + [name for name in sorted(outs)]
    hint = f"  __hpvm__hint(CPU_TARGET);\n  __hpvm__attributes({attributes(ins)}, {attributes(sorted(outs))});\n"
    names = ", ".join([name for name, _ in arrays] + [name for name, _ in scalars])
    ids = [f"(long)__hpvm__getNodeInstanceID_{QUERIES[d]}(node)" if d < dimensions else "0" for d in range(3)]
    extents = [f"(long)__hpvm__getNumNodeInstances_{QUERIES[d]}(node)" if d < dimensions else "1" for d in range(3)]
    node = "  void *node = __hpvm__getNode();\n" if dimensions else ""
    text = f"void leaf_{body.name}({given}) {{\n{hint}{node}  {body.name}({names}, {', '.join(ids + extents)});\n  __hpvm__return(1, limit);\n}}\n"
    text += f"void graph_{body.name}({given}, long nx, long ny, long nz) {{\n{hint}"
    sizes = "".join(f", (size_t)n{QUERIES[d]}" for d in range(dimensions))
    text += f"  void *node = __hpvm__createNodeND({dimensions}, leaf_{body.name}{sizes});\n"
    for number in range(2 * len(arrays) + len(scalars)):
        text += f"  __hpvm__bindIn(node, {number}, {number}, 0);\n"
    text += "  __hpvm__bindOut(node, 0, 0, 0);\n}\n"
    fields = "".join(f" {type} *{name}; size_t {name}Bytes;" for name, type in arrays) + "".join(f" {type} {name};" for name, type in scalars)
    values = ", ".join([f"{name}, {name}Bytes" for name, _ in arrays] + [name for name, _ in scalars])
    text += f"void launch_{body.name}({given}, long nx, long ny, long nz) {{\n  struct __attribute__((packed)) {{{fields} long nx, ny, nz; int result; }} "
    text += f"arguments = {{{values}, nx, ny, nz, 0}};\n  __hpvm__wait(__hpvm__launch(0, graph_{body.name}, &arguments));\n}}\n"
    return text


def loops(body):
    arrays, scalars = body.parameters()
    given = ", ".join([f"{type} *{name}" for name, type in arrays] + [f"{type} {name}" for name, type in scalars])
    names = ", ".join([name for name, _ in arrays] + [name for name, _ in scalars])
    return (f"void loops_{body.name}({given}, long nx, long ny, long nz) {{\n  for (long z = 0; z < nz; ++z)\n    for (long y = 0; y < ny; ++y)\n"
            f"      for (long x = 0; x < nx; ++x)\n        {body.name}({names}, x, y, z, nx, ny, nz);\n}}\n")


def trial(body, sizes, pick):
    """A function of main that runs both and compares."""
    nx, ny, nz = sizes
    arrays, scalars = body.parameters()
    total, own = (nx + 3) * (ny + 3) * (nz + 3) + 64, nx * ny * nz
    text = f"static int try_{body.name}(void) {{\n  long wrong = 0;\n"
    outs = {name: how for name, _, how in body.out}
    for name, type in arrays:
        elements = {"own": own, "double": 2 * own + 1, "placed": own}.get(outs.get(name), total)
        text += f"  static {type} {name}[{elements}], {name}_mine[{elements}];\n  size_t {name}Bytes = sizeof {name};\n"
        if name == "at":
            text += f"  for (long i = 0; i < {total}; ++i) at[i] = i < {own} ? (int)((i * {pick.choice([1, 1, 7, 11])} + 3) % {own}) : (int)(i % {max(own, 1)});\n"
            if any(how == "placed" for how in outs.values()):  # a permutation
                text += f"  for (long i = 0; i < {own}; ++i) at[i] = (int)({own} - 1 - i);\n"
            text += f"  for (long i = 0; i < {total}; ++i) at_mine[i] = at[i];\n"
        elif type in ("float", "double"):
            text += f"  for (long i = 0; i < {elements}; ++i) {name}[i] = {name}_mine[i] = ({type})((double)(next() % 2001) / 100 - 10);\n"
        else:
            text += f"  for (long i = 0; i < {elements}; ++i) {name}[i] = {name}_mine[i] = ({type})(next() % 97);\n"
    values = []
    for name, type in scalars:
        values.append(str(pick.choice([0, 1, 4, 7])) if name == "limit" else pick.choice(["2.5f", "-1.0f"]) if type == "float" else str(pick.choice([0, 1, 3, 12])))
    for name, _ in arrays:
        text += f"  llvm_hpvm_track_mem({name}_mine, {name}Bytes);\n"
    mine = ", ".join([f"{name}_mine, {name}Bytes" for name, _ in arrays] + values)
    theirs = ", ".join([name for name, _ in arrays] + values)
    text += f"  launch_{body.name}({mine}, {nx}, {ny}, {nz});\n  loops_{body.name}({theirs}, {nx}, {ny}, {nz});\n"
    for name, _ in arrays:
        text += f"  llvm_hpvm_request_mem({name}_mine, {name}Bytes);\n  llvm_hpvm_untrack_mem({name}_mine);\n"
    for name, type in arrays:
        if name in outs:
            same = f"{name}[i] == {name}_mine[i]" + (f" || ({name}[i] != {name}[i] && {name}_mine[i] != {name}_mine[i])" if type in ("float", "double") else "")
            text += f"  for (long i = 0; i < (long)(sizeof {name} / sizeof *{name}); ++i)\n    if (!({same}) && !wrong++)\n"
            text += f"      printf(\"{body.name}: {name}[%ld] is %.9g, and %.9g in loops\\n\", i, (double){name}_mine[i], (double){name}[i]);\n"
    return text + "  return wrong != 0;\n}\n"


def program(seed):
    pick = random.Random(seed)
    bodies = [Body(f"body{number}", pick) for number in range(LEAVES)]
    head = "#include <stddef.h>\n" + idioms.HEADER
    texts, graphs, calls, tries, declared = [], [], [], [], []
    for body in bodies:
        dimensions = pick.choice([1, 1, 2, 2, 2, 3])
        sizes = [pick.choice([1, 2, 3, 5, 16, 17, 33, 40, 70] if d == 0 else [1, 2, 3, 7, 13, 30]) if d < dimensions else 1 for d in range(3)]
        texts.append(body.text())
        graphs.append(graph(body, dimensions, pick))
        calls.append(loops(body))
        tries.append(trial(body, sizes, pick))
        arrays, scalars = body.parameters()
        plain = ", ".join([f"{type} *" for _, type in arrays] + [type for _, type in scalars] + ["long"] * 3)
        full = ", ".join([f"{type} *, size_t" for _, type in arrays] + [type for _, type in scalars] + ["long"] * 3)
        declared.append(f"void launch_{body.name}({full});\nvoid loops_{body.name}({plain});\n")
    main = ("#include <hpvm.h>\n#include <stdio.h>\n" + "".join(declared) +
            "static unsigned state = %uu;\nstatic unsigned next(void) { state = state * 1103515245u + 12345u; return state >> 8; }\n" % (seed % 2**32) + "".join(tries) +
            "int main(void) {\n  int wrong = 0;\n  __hpvm__init();\n" + "".join(f"  wrong |= try_{body.name}();\n" for body in bodies) +
            "  __hpvm__cleanup();\n  return wrong;\n}\n")
    return {"graphs.c": "#include <hpvm.h>\n" + head + "".join(texts) + "".join(graphs), "loops.c": head + "".join(texts) + "".join(calls), "main.c": main}


def run(strata, clang, seed, folder, sanitize=()):
    """What is wrong with a program; nothing where all is well."""
    for name, text in program(seed).items():
        with open(os.path.join(folder, name), "w") as file:
            file.write(text)
    pick = random.Random(seed + 1)
    # Fused alike or not at all: both without, since Clang's target has no multiply-adds and ours may have.
    flags = ["-w", "-D_GNU_SOURCE", "-ffp-contract=off", "-fwrapv" if pick.random() < 0.3 else "-fno-strict-aliasing", *sanitize]
    link = [strata, "cc", "-O0", *flags, "graphs.o", "loops.o", "main.c", "-lm", "-o"]
    machine = pick.choice(MACHINES)
    commands = [[strata, "cc", pick.choice(["-O0", "-O1", "-O2", "-O2", "-O3"]), *flags, "-c", "graphs.c"], [clang, "-O1", *flags, "-c", "loops.c"],
                [*link, "program"], [*link, machine, "--machine=" + machine]]
    try:
        for command in commands:
            done = subprocess.run(command, cwd=folder, capture_output=True, text=True, errors="replace", timeout=600)
            if done.returncode:
                return f"{' '.join(command)} ended with {done.returncode}\n{done.stdout}{done.stderr}"
        for name, threads in (("program", "1"), ("program", "2"), ("program", "7"), (machine, pick.choice("127"))):
            done = subprocess.run(["./" + name], cwd=folder, capture_output=True, text=True, errors="replace", timeout=600, env={**os.environ, "STRATA_THREADS": threads})
            if done.returncode:
                return f"{name} with {threads} threads ended with {done.returncode}\n{done.stdout}{done.stderr}"
    except subprocess.TimeoutExpired as late:
        return f"no end: {' '.join(late.cmd)}"
    return None


def main():
    return many.try_many(many.options(__doc__), run, f"{LEAVES} leaves")


if __name__ == "__main__":
    sys.exit(main())
