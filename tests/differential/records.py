"""Mapping records of random programs (compiler/mapping/record.h): a list of what function_record takes, and their text as the attribute
svm.mapping."""

import re

FIFOS = ["bytes", "words", "wide"]  # of fifos.yaml


def as_made(program, fifos=False):
    """The mapping that the program was made with, onto a machine with local stores."""
    return [record_of(program, f, f.loops, fifos) for f in program.functions]


def through_fifos(program):
    """The same, with streams through FIFOs."""
    return as_made(program, True)


def transformed(program):
    """The same, with loops pipelined, unrolled and flattened."""
    parts = []
    for f in program.functions:
        loops = {label: loop if loop.get("concurrent") else dict(loop, **transformation(program, loop)) for label, loop in f.loops.items()}
        parts.append(record_of(program, f, loops))
    return parts


def transformation(program, loop):
    if loop["flat"] and program.chance(0.3):
        return {"flatten": True}
    return {"stages": program.random.choice([1, 2, 2, 3, 4]), "unroll": program.random.choice([1, 1, 2, 3])}


def dealt_at_random(program, processor="core", memory="main"):
    """One for a machine with one memory: loops are distributed to other numbers of processors."""
    parts = []
    for f in program.functions:
        loops = {}
        for label, loop in f.loops.items():
            if label.startswith("p"):
                ways = [program.random.choice([1, 2, 3, 7, 16] if not number else [1] if loop["ordered"] else [1, 2, 2, 3, 5])
                        for number in range(loop["dimensions"])]
                more = transformation(program, dict(loop, flat=False)) if program.chance(0.3) else {}
                loops[label] = {"on": processor, "parts": ways if program.chance(0.85) else [], "chunk": loop["chunk"], **more}
        parts.append((f, processor, [memory] * len(f.arguments), {}, loops, {}, {}))
    return parts


def record_of(program, function, loops, fifos=False):
    streams = {}
    for label, places in function.streams.items():
        place = program.random.choice(places)
        if fifos and program.chance(0.7):
            streams[label] = f'fifo = "{program.random.choice(FIFOS)}"'
        elif place:
            streams[label] = f'in = "{place}"'
    return function, function.control, [v.memory for v in function.arguments], function.blocks, loops, function.calls, streams


def numbers(values):
    """One number for a list of one."""
    return f"{values[0]} : i64" if len(values) == 1 else str(values)


def text(record, lines):
    """Of the labels that a program has."""
    labels = set(re.findall(r'"([\w.]+)"', "\n".join(lines)))
    return ", ".join(function_record(*part, labels) for part in record)


def function_record(function, control, arguments, blocks, loops, calls, streams, labels):
    def entries(items):
        return "{" + ", ".join(f'"{label}" = {text}' for label, text in items if label in labels) + "}"

    def loop(p):
        more = "".join(f", {name} = {p[name]} : i64" for name in ("stages", "unroll") if p.get(name, 1) > 1)
        parts = f'parts = {numbers(p["parts"])}, ' if p["parts"] else ""
        more += f', subset = {p["subset"]}' if p.get("subset") else ""
        more += ", flatten = true" if p.get("flatten") else ""
        return f'{{on = "{p["on"]}", {parts}chunk = {numbers(p["chunk"])}{more}}}'

    fields = [f'control = "{control}"']
    if arguments or function.delays:
        fields.append("arguments = [" + ", ".join(f'"{a}"' for a in [*arguments, *[""] * len(function.delays)]) + "]")
    fields.append("blocks = " + entries((label, f'"{memory}"') for label, memory in blocks.items()))
    fields.append("streams = " + entries((label, "{" + text + "}") for label, text in streams.items()))
    fields.append("loops = " + entries((label, loop(p)) for label, p in loops.items()))
    fields.append("calls = " + entries((label, "{" + ", ".join(f'{key} = "{value}"' for key, value in p.items()) + "}")
                                       for label, p in calls.items()))
    return f"{function.name} = {{{', '.join(fields)}}}"
