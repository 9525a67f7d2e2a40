"""Small kernels for random programs. A kernel's name says all of it (its kind and the ranks of its blocks), so that a program
holds each once. Kernels read outside no block and write every element that they say they write."""

# Kinds: what each argument's access is. "step" and "combine" kernels belong to a combiner (see COMBINERS).
ACCESS = {
    "set": ["write"],
    "map": ["read", "write"],
    "update": ["read", "readwrite"],
    "scan": ["readwrite"],
    "two": ["read", "read", "readwrite"],
}

# Combiners by name: whether parts may be combined in any order (else only in the order of the iterations).
COMBINERS = {"add": True, "mul": True, "xor": True, "or": True, "and": True, "max": True, "min": True, "umax": True,
             "saturate": True, "first": False, "farthest": False, "leader": False}
SATURATED = 90


class Elements:
    """Arithmetic on the element type: integers, or a record of two of them (done field by field)."""

    def __init__(self, name):
        self.name = name
        self.fields = ["i32", "i16"] if name == "pair" else None
        self.type = '!svm.record<"pair", a: i32, b: i16>' if self.fields else name

    def block(self, rank):
        if rank == 0:
            return f"memref<{self.type}, strided<[], offset: ?>>"
        return f"memref<{'?x' * rank}{self.type}, strided<[{'?, ' * (rank - 1)}1], offset: ?>>"


class Body:
    """The text of one kernel."""

    def __init__(self, elements, ranks):
        self.elements, self.ranks, self.lines, self.count = elements, ranks, [], 0
        self.add("%c0 = arith.constant 0 : index")
        self.add("%c1 = arith.constant 1 : index")

    def add(self, line):
        self.lines.append("  " + line)

    def let(self, expression):
        self.count += 1
        self.add(f"%v{self.count} = {expression}")
        return f"%v{self.count}"

    def constant(self, value, type=None):
        return self.let(f"arith.constant {value} : {type or 'index'}")

    def extents(self, argument):
        result = []
        for dimension in range(self.ranks[argument]):
            at = self.constant(dimension)
            result.append(self.let(f"memref.dim %b{argument}, {at} : {self.elements.block(self.ranks[argument])}"))
        return result

    def load(self, argument, indices):
        return self.let(f"memref.load %b{argument}[{', '.join(indices)}] : {self.elements.block(self.ranks[argument])}")

    def store(self, value, argument, indices):
        self.add(f"memref.store {value}, %b{argument}[{', '.join(indices)}] : {self.elements.block(self.ranks[argument])}")

    def number(self, index, add=0):
        """An element made of an index."""
        def one(type):
            value = self.let(f"arith.index_cast {index} : index to {type}")
            return self.let(f"arith.addi {value}, {self.constant(add, type)} : {type}")
        return self.each(one)

    def each(self, make, *elements):
        """make(type, values…) for the element, or for every field of it."""
        if not self.elements.fields:
            return make(self.elements.type, *elements)
        made = []
        for position, type in enumerate(self.elements.fields):
            fields = [self.let(f"svm.field {e}[{position}] : {self.elements.type} -> {type}") for e in elements]
            made.append(make(type, *fields))
        types = ", ".join(self.elements.fields)
        return self.let(f"svm.record({', '.join(made)}) : ({types}) -> {self.elements.type}")

    def op(self, name, a, b):
        return self.each(lambda type, x, y: self.let(f"arith.{name} {x}, {y} : {type}"), a, b)

    def affine(self, value, factor, more):
        def one(type, x):
            scaled = self.let(f"arith.muli {x}, {self.constant(factor, type)} : {type}")
            return self.let(f"arith.addi {scaled}, {self.constant(more, type)} : {type}")
        return self.each(one, value)

    def loops(self, extents):
        """Opens a nest of loops; returns the indices. close() ends them."""
        indices = []
        for extent in extents:
            self.count += 1
            indices.append(f"%i{self.count}")
            self.add(f"scf.for {indices[-1]} = %c0 to {extent} step %c1 {{")
        return indices

    def close(self, count):
        for _ in range(count):
            self.add("}")

    def fitted(self, argument, indices):
        """The element of another block nearest in meaning to `indices`, or a number where it has none."""
        rank = self.ranks[argument]
        at = (indices + ["%c0"] * rank)[:rank]
        if rank == 0:
            return self.load(argument, [])
        inside = self.let("arith.constant true")
        for index, extent in zip(at, self.extents(argument)):
            fine = self.let(f"arith.cmpi slt, {index}, {extent} : index")
            inside = self.let(f"arith.andi {inside}, {fine} : i1")
        self.count += 1
        name = f"%v{self.count}"
        self.add(f"{name} = scf.if {inside} -> ({self.elements.type}) {{")
        self.add(f"scf.yield {self.load(argument, at)} : {self.elements.type}")
        self.add("} else {")
        self.add(f"scf.yield {self.number(at[0], 7)} : {self.elements.type}")
        self.add("}")
        return name

    def first_index(self, indices):
        total = "%c0"
        for index in indices:
            total = self.let(f"arith.addi {total}, {index} : index")
        return total


def combine_elements(body, combiner, a, b):
    """combine(a, b), b being what has been combined so far: an elementwise combiner."""
    simple = {"add": "addi", "mul": "muli", "xor": "xori", "or": "ori", "and": "andi", "max": "maxsi", "min": "minsi", "umax": "maxui"}
    if combiner in simple:
        return body.op(simple[combiner], b, a)

    def one(type, x, y):
        if combiner == "saturate":
            total = body.let(f"arith.addi {x}, {y} : {type}")
            return body.let(f"arith.minsi {total}, {body.constant(SATURATED, type)} : {type}")
        if combiner == "first":
            none = body.let(f"arith.cmpi eq, {y}, {body.constant(0, type)} : {type}")
            return body.let(f"arith.select {none}, {x}, {y} : {type}")
        # farthest: the larger of the magnitudes, the earlier of equal ones
        zero = body.constant(0, type)
        magnitudes = []
        for value in (x, y):
            negative = body.let(f"arith.subi {zero}, {value} : {type}")
            magnitudes.append(body.let(f"arith.maxsi {value}, {negative} : {type}"))
        more = body.let(f"arith.cmpi ugt, {magnitudes[0]}, {magnitudes[1]} : {type}")
        return body.let(f"arith.select {more}, {x}, {y} : {type}")
    return body.each(one, a, b)


def take_leader(body, step):
    """The block whose first element is larger replaces the other, whole."""
    into = body.extents(1)
    if body.ranks[1] == 0:
        candidate, old = body.fitted(0, []), body.load(1, [])
        body.store(combine_elements(body, "max", candidate, old), 1, [])
        return
    some = body.let(f"arith.cmpi sgt, {into[0]}, %c0 : index")
    for extent in into[1:]:
        more = body.let(f"arith.cmpi sgt, {extent}, %c0 : index")
        some = body.let(f"arith.andi {some}, {more} : i1")
    body.add(f"scf.if {some} {{")
    first = ["%c0"] * body.ranks[1]
    candidate, old = body.fitted(0, first), body.load(1, first)
    if body.elements.fields:
        candidate = body.let(f"svm.field {candidate}[0] : {body.elements.type} -> i32")
        old = body.let(f"svm.field {old}[0] : {body.elements.type} -> i32")
    type = "i32" if body.elements.fields else body.elements.type
    larger = body.let(f"arith.cmpi sgt, {candidate}, {old} : {type}")
    body.add(f"scf.if {larger} {{")
    indices = body.loops(into)
    body.store(body.fitted(0, indices), 1, indices)
    body.close(len(indices) + 2)


def step(body, combiner):
    """Takes the elements of block 0 into block 1."""
    if combiner == "leader":
        return take_leader(body, True)
    into = body.extents(1)
    some = body.let("arith.constant true")
    for extent in into:
        more = body.let(f"arith.cmpi sgt, {extent}, %c0 : index")
        some = body.let(f"arith.andi {some}, {more} : i1")
    body.add(f"scf.if {some} {{")
    indices = body.loops(body.extents(0))
    at = []
    for extent, index in zip(into, indices + ["%c0"] * len(into)):
        at.append(body.let(f"arith.remui {index}, {extent} : index"))
    value = body.load(0, indices)
    if combiner == "saturate":
        value = body.each(lambda type, x: body.let(f"arith.andi {x}, {body.constant(15, type)} : {type}"), value)
    body.store(combine_elements(body, combiner, value, body.load(1, at)), 1, at)
    body.close(len(indices) + 1)


def combine(body, combiner):
    if combiner == "leader":
        return take_leader(body, False)
    indices = body.loops(body.extents(1))
    value = combine_elements(body, combiner, body.load(0, indices), body.load(1, indices))
    body.store(value, 1, indices)
    body.close(len(indices))


def name_of(kind, ranks):
    return f"{kind}_{''.join(map(str, ranks))}"


def access_of(kind):
    return ACCESS.get(kind, ["read", "readwrite"])


def kernel(elements, kind, ranks):
    """The text of a kernel. Kinds of ACCESS take a number behind their blocks; step_X and combine_X do not."""
    body = Body(elements, ranks)
    access = access_of(kind)
    if kind in ACCESS:
        last = len(ranks) - 1
        indices = body.loops(body.extents(last))
        place = body.let(f"arith.addi {body.first_index(indices)}, %n : index")
        if kind == "set":
            value = body.affine(body.number(place), 3, 1)
        elif kind == "map":
            value = body.affine(body.fitted(0, indices), 3, 2)
        elif kind == "update":
            value = body.op("addi", body.affine(body.load(1, indices), 3, 1), body.op("xori", body.fitted(0, indices), body.number(place)))
        elif kind == "two":
            product = body.op("muli", body.fitted(0, indices), body.affine(body.fitted(1, indices), 2, 1))
            value = body.op("addi", body.load(2, indices), product)
        else:
            before = indices[:]
            if before:
                back = body.let(f"arith.subi {before[0]}, %c1 : index")
                before[0] = body.let(f"arith.maxsi {back}, %c0 : index")
            value = body.op("addi", body.affine(body.load(0, indices), 5, 1), body.load(0, before))
        body.store(value, last, indices)
        body.close(len(indices))
    elif kind.startswith("step_"):
        step(body, kind[5:])
    else:
        combine(body, kind[8:])
    arguments = [f'%b{n}: {elements.block(rank)} {{svm.access = "{a}"}}' for n, (rank, a) in enumerate(zip(ranks, access))]
    if kind in ACCESS:
        arguments.append("%n: index")
    return [f"svm.kernel @{name_of(kind, ranks)}({', '.join(arguments)}) {{", *body.lines, "  svm.return", "}"]
