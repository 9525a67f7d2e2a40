"""Kernels of random programs that push to streams and pop from them, and the conversions between elements of blocks and of streams, which
lose nothing that is not lost in the same way everywhere."""
from kernels import Body

# What goes through a stream, by the element of the blocks that it comes from.
TYPES = {"i32": ["i32", "i32", "i64", "i8", "i1", "index", "f64"], "i64": ["i64", "i64", "i32", "i1", "index"],
         "i8": ["i8", "i8", "i32", "i64", "i1", "index", "f32", "f64"], "pair": ["pair", "pair", "i32", "i16"]}


def text_of(elements, name):
    return elements.type if name == "pair" else name


def stream_type(elements, name):
    return f"!svm.stream<{text_of(elements, name)}>"


def width(type):
    return {"index": 64, "f32": 32, "f64": 64}.get(type) or int(type[1:])


def convert(let, source, target, value):
    """A number of another type. Floating-point ones come from integers that they hold."""
    if source == target:
        return value
    if "index" in (source, target):
        if source[0] == "f" or target[0] == "f" or "i1" in (source, target):
            return convert(let, "i32", target, convert(let, source, "i32", value))
        return let(f"arith.index_cast {value} : {source} to {target}")
    if source[0] == "f":
        if target == "i1":
            return convert(let, "i32", "i1", convert(let, source, "i32", value))
        return let(f"arith.fptosi {value} : {source} to i32") if target == "i32" else convert(let, "i32", target, convert(let, source, "i32", value))
    if target[0] == "f":
        return let(f"arith.sitofp {value} : {source} to {target}")
    if width(target) < width(source):
        return let(f"arith.trunci {value} : {source} to {target}")
    return let(f"arith.{'extui' if source == 'i1' else 'extsi'} {value} : {source} to {target}")


def to_stream(elements, let, name, value):
    if name == "pair":
        return value
    if elements.fields:
        value = let(f"svm.field {value}[{elements.fields.index(name)}] : {elements.type} -> {name}")
        return value
    return convert(let, elements.type, name, value)


def from_stream(elements, let, name, value):
    if name == "pair":
        return value
    if elements.fields:
        fields = [convert(let, name, field, value) for field in elements.fields]
        return let(f"svm.record({', '.join(fields)}) : ({', '.join(elements.fields)}) -> {elements.type}")
    return convert(let, name, elements.type, value)


def changed(elements, body, name, value):
    """Another element of the same type; none that a number of the block's type could not be."""
    if name[0] == "f":
        return value
    if name == "i1":
        return body.let(f"arith.xori {value}, {body.let('arith.constant true')} : i1")
    return body.affine(value, 3, 1) if name == "pair" else body.let(f"arith.addi {value}, {body.constant(5, name)} : {name}")


def both(elements, body, name, a, b):
    if name[0] == "f":
        return b
    return body.op("addi", a, b) if name == "pair" else body.let(f"arith.addi {a}, {b} : {name}")


def popped(body, elements, name, stream, peek=None):
    body.count += 1
    value, more = f"%e{body.count}", f"%m{body.count}"
    what = f"svm.peek {stream}[{peek}]" if peek else f"svm.pop {stream}"
    body.add(f"{value}, {more} = {what} : {stream_type(elements, name)} -> {text_of(elements, name)}")
    return value, more


def push(body, elements, name, value, streams):
    body.add(f"svm.push {value} to {', '.join(streams)} : {text_of(elements, name)} to {', '.join([stream_type(elements, name)] * len(streams))}")


def end(body, elements, name, streams):
    for stream in streams:
        body.add(f"svm.end {stream} : {stream_type(elements, name)}")


def until_end(body, elements, name, work):
    """A loop that `work` says of whether it goes on."""
    body.add("scf.while : () -> () {")
    body.add(f"scf.condition({work()})")
    body.add("} do {")
    body.add("scf.yield")
    body.add("}")


def kernel(elements, kind, rank, name):
    """give1, give2, part1 (without the end): pushes a block to so many streams. exact, drain: pops as many elements as a block has, and then the
    rest. shift: each element goes in, and another one comes out. pass, ahead, join: from streams to the last one."""
    body = Body(elements, [rank] if rank is not None else [])
    blocks, streams = [], ["%q0"]
    if kind in ("give1", "give2", "part1"):
        blocks, streams = ["read"], [f"%q{n}" for n in range(int(kind[-1]))]
        indices = body.loops(body.extents(0))
        push(body, elements, name, to_stream(elements, body.let, name, body.load(0, indices)), streams)
        body.close(len(indices))
        if kind != "part1":
            end(body, elements, name, streams)
    elif kind in ("exact", "drain"):
        blocks = ["write"]
        extents = body.extents(0)
        indices = body.loops(extents)
        value, _ = popped(body, elements, name, "%q0")
        body.store(from_stream(elements, body.let, name, value), 0, indices)
        body.close(len(indices))
        if kind == "drain":
            drain(body, elements, name, extents)
    elif kind == "shift":
        blocks = ["readwrite"]
        indices = body.loops(body.extents(0))
        push(body, elements, name, to_stream(elements, body.let, name, body.load(0, indices)), streams)
        value, _ = popped(body, elements, name, "%q0")
        body.store(from_stream(elements, body.let, name, value), 0, indices)
        body.close(len(indices))
    else:
        streams = ["%q0", "%q1", "%q2"][:3 if kind == "join" else 2]

        def work():
            further = popped(body, elements, name, "%q0", "%c1") if kind == "ahead" else None
            value, more = popped(body, elements, name, "%q0")
            other = popped(body, elements, name, "%q1") if kind == "join" else further
            goes_on = body.let(f"arith.ori {more}, {other[1]} : i1") if kind == "join" else more
            body.add(f"scf.if {goes_on} {{")
            made = both(elements, body, name, value, other[0]) if other else changed(elements, body, name, value)
            push(body, elements, name, made, streams[-1:])
            body.add("}")
            return goes_on
        until_end(body, elements, name, work)
        end(body, elements, name, streams[-1:])
    arguments = [f'%b0: {elements.block(rank)} {{svm.access = "{blocks[0]}"}}'] if blocks else []
    arguments += [f"{stream}: {stream_type(elements, name)}" for stream in streams]
    return [f"svm.kernel @{name_of(kind, rank, name)}({', '.join(arguments)}) {{", *body.lines, "  svm.return", "}"]


def name_of(kind, rank, name):
    return f"{kind}_{'' if rank is None else rank}{name}"


def drain(body, elements, name, extents):
    """What is left is made one number, which the first element takes."""
    start = body.constant(1, "i32")
    body.add("%left = scf.while (%so = " + start + ") : (i32) -> (i32) {")
    value, more = popped(body, elements, name, "%q0")
    if name == "pair":
        value = body.let(f"svm.field {value}[0] : {elements.type} -> i32")
    number = convert(body.let, "i32" if name == "pair" else name, "i32", value)
    scaled = body.let(f"arith.muli %so, {body.constant(7, 'i32')} : i32")
    total = body.let(f"arith.addi {scaled}, {number} : i32")
    kept = body.let(f"arith.select {more}, {total}, %so : i32")
    body.add(f"scf.condition({more}) {kept} : i32")
    body.add("} do {")
    body.add("^bb0(%next: i32):")
    body.add("scf.yield %next : i32")
    body.add("}")
    some = body.let("arith.constant true")
    for extent in extents:
        fine = body.let(f"arith.cmpi sgt, {extent}, %c0 : index")
        some = body.let(f"arith.andi {some}, {fine} : i1")
    body.add(f"scf.if {some} {{")
    first = ["%c0"] * len(extents)
    if elements.fields:
        narrow = body.let("arith.trunci %left : i32 to i16")
        left = body.let(f"svm.record(%left, {narrow}) : (i32, i16) -> {elements.type}")
    else:
        left = convert(body.let, "i32", elements.type, "%left")
    body.store(body.op("addi", body.load(0, first), left), 0, first)
    body.add("}")
