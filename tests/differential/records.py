"""Mapping records of random programs, as the text of the attribute svm.mapping (compiler/mapping/record.h)."""


def as_made(program):
    """The mapping that the program was made with, onto a machine with local stores."""
    return ", ".join(function_record(f, f.control, [v.memory for v in f.arguments], f.blocks, f.loops, f.calls)
                     for f in program.functions)


def transformed(program):
    """The same, with loops pipelined and unrolled."""
    parts = []
    for f in program.functions:
        loops = {label: dict(loop, stages=program.random.choice([1, 2, 2, 3, 4]), unroll=program.random.choice([1, 1, 2, 3]))
                 for label, loop in f.loops.items()}
        parts.append(function_record(f, f.control, [v.memory for v in f.arguments], f.blocks, loops, f.calls))
    return ", ".join(parts)


def dealt_at_random(program, processor="core", memory="main"):
    """One for a machine with one memory: loops are distributed to other numbers of processors."""
    parts = []
    for f in program.functions:
        loops = {label: {"on": processor, "parts": program.random.choice([0, 1, 2, 3, 7, 16]), "chunk": loop["chunk"]}
                 for label, loop in f.loops.items() if label.startswith("p")}
        parts.append(function_record(f, processor, [memory] * len(f.arguments), {}, loops, {}))
    return ", ".join(parts)


def function_record(function, control, arguments, blocks, loops, calls):
    def entries(items):
        return "{" + ", ".join(f'"{label}" = {text}' for label, text in items) + "}"

    def loop(p):
        more = "".join(f", {name} = {p[name]} : i64" for name in ("stages", "unroll") if p.get(name, 1) > 1)
        parts = f'parts = {p["parts"]} : i64, ' if p["parts"] else ""
        return f'{{on = "{p["on"]}", {parts}chunk = {p["chunk"]} : i64{more}}}'

    fields = [f'control = "{control}"']
    if arguments:
        fields.append("arguments = [" + ", ".join(f'"{a}"' for a in arguments) + "]")
    fields.append("blocks = " + entries((label, f'"{memory}"') for label, memory in blocks.items()))
    fields.append("loops = " + entries((label, loop(p)) for label, p in loops.items()))
    fields.append("calls = " + entries((label, "{" + ", ".join(f'{key} = "{value}"' for key, value in p.items()) + "}")
                                       for label, p in calls.items()))
    return f"{function.name} = {{{', '.join(fields)}}}"
