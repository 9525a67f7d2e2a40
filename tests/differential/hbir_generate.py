"""Random HBIR programs from a seed. A tile writes the elements that it owns: along one dimension of every array that tiles write,
they are distributed to the tiles by number. What all tiles write is read after a barrier of flags, if at all; everything else is
read only. So no order of the tiles matters, and what a program computes follows from its text."""

import itertools
import random

import numpy as np

from hbir_places import Places
from hbir_tree import (RANGES, Elements, Barrier, Break, Compound, Finish, If, Loop, Range, Simple, STEPS, Undefined, assign, binary, call, conditional,
                       declare, element, execute, index_variable, jump, literal, named, printf, unary, variable)


class Array:
    """`role`: in (read only), owned (elements distributed to tiles), start (written by the code outside of blocks), copies (each tile's own)."""

    def __init__(self, name, type, extents, role, direction):
        self.name, self.type, self.extents, self.role, self.direction = name, type, extents, role, direction
        self.axis, self.contiguous, self.shared, self.declaration, self.replicated, self.pieces = 0, False, False, "", False, None


    def made(self):
        """Elements that nobody has written yet, unlike those of variables."""
        return Elements(np.zeros(self.extents, RANGES[self.type]), np.zeros(self.extents, bool))


class Context:
    """What code at one place may use: variables (name, type, extents, least and most value or None, whether it may be assigned),
    the index variables of the path, variables that run over owned elements."""

    def __init__(self, block=None):
        self.block, self.variables, self.owned, self.depth, self.loops = block, [], [], 0, 0
        self.after, self.may_finish, self.filled = True, False, set()

    def inner(self):
        other = Context()
        vars(other).update(vars(self))
        other.variables, other.owned, other.depth = list(self.variables), list(self.owned), self.depth + 1
        return other


class Block:
    def __init__(self, leaf):
        self.leaf, self.path, self.body, self.fixed, self.free, self.known, self.main = leaf, "", [], {}, [], [], False


class Env:
    """The state of one tile, or of the code outside of blocks."""

    def __init__(self, program, tile=None):
        self.program, self.tile, self.variables, self.indices, self.printed = program, tile, program.shared, {}, []

    def array(self, name):
        if name in self.program.copies:
            return self.program.copies[name].setdefault(self.tile, self.program.named[name].made())
        return self.variables[name]

    def step(self):
        self.program.steps += 1
        if self.program.steps > STEPS:
            raise Undefined("it takes too long")


class Scope(dict):
    """A tile's variables before those of all."""

    def __init__(self, outer):
        super().__init__()
        self.outer = outer

    def __missing__(self, name):
        return self.outer[name]

    def __setitem__(self, name, value):
        if name in self.outer:
            self.outer[name] = value
        else:
            super().__setitem__(name, value)

    def __contains__(self, name):
        return super().__contains__(name) or name in self.outer


class Program:
    def __init__(self, seed):
        self.seed, self.random, self.count = seed, random.Random(seed), 0
        self.form = self.random.choice("ABC")
        self.places = Places(self.random, self.form)
        self.barrier = self.chance(0.25)
        self.constants, self.arrays, self.blocks, self.start, self.filled, self.wide = [], [], [], [], set(), []
        for number in range(self.random.randint(0, 3)):
            self.constants.append((f"k{number}", self.random.randint(1, 9)))
        self.make_arrays()
        self.globals = Context()
        self.make_start()
        self.make_blocks()

    # ---- small things ----
    def chance(self, probability):
        return self.random.random() < probability

    def name(self, stem):
        self.count += 1
        return f"{stem}{self.count}"

    # ---- data ----
    def make_arrays(self):
        for number in range(self.random.randint(2, 6)):
            role = "in" if number == 0 else "owned" if number == 1 else self.random.choice(["in", "owned", "owned", "start", "copies"])
            rank = self.random.choice([1, 1, 2, 2, 3])
            extents = tuple(self.random.choice([1, 2, 3, 4, 5, 7]) for _ in range(rank))
            direction = "in" if role == "in" else "out" if number == 1 or self.chance(0.7) else ""
            array = Array(f"{'ABCDEF'[number]}", self.random.choice(["int", "int", "float", "bool"]), extents, role, direction)
            if role == "owned":
                array.axis = self.random.randrange(rank)
                longest = self.random.randint(1, 2 * self.places.tiles + 2)
                array.extents = extents[:array.axis] + (longest,) + extents[array.axis + 1:]
                array.contiguous = self.chance(0.4)
            self.place(array)
            self.arrays.append(array)

    def place(self, array):
        shown = []
        for extent in array.extents:
            known = [name for name, value in self.constants if value == extent]
            shown.append(self.random.choice(known) if known and self.chance(0.7) else str(extent))
        array.replicated = array.role == "copies" or array.role == "in" and self.chance(0.3)
        layouts = ["replicated"] if array.replicated else ["block", "chunked", "striped", "strided"]
        layout = self.random.choice(layouts)
        if array.role == "copies":
            place, pieces = "target.t.l" if self.chance(0.5) else "t", None
        else:
            pieces, place = self.places.home()
        extents = "".join(f"[{each}]" for each in shown)
        array.layout, array.place = layout, place
        if self.form != "A" or pieces is None or self.chance(0.3):
            place = place.split("[")[0]
            array.declaration = f"{array.direction} {array.name} : {array.type}{extents} {{ location : {place}, layout : {layout} }}".strip()
            return
        flags = [layout] if layout != "block" or self.chance(0.5) else []
        flags += [{"in": "host", "out": "device"}[array.direction]] if array.direction else []
        self.random.shuffle(flags)
        array.pieces = pieces
        array.declaration = (f"{array.name} : {array.type}{extents} = block{''.join(f'[{each}]' for each in pieces)} "
                             f"{{ {'; '.join([place] + flags)}; }};")

    def inputs(self):
        given = np.random.default_rng(self.seed)
        made = {}
        for array in self.arrays:
            if array.direction != "in":
                continue
            if array.type == "int":
                small = given.integers(-20, 20, array.extents)
                made[array.name] = np.where(given.random(array.extents) < 0.8, small, given.integers(-2**31, 2**31, array.extents)).astype("i4")
            elif array.type == "float":
                made[array.name] = ((given.random(array.extents) - 0.5) * 20).astype("f4")
            else:
                made[array.name] = given.random(array.extents) < 0.5
        return made

    # ---- expressions ----
    def index(self, context, extent, depth=1):
        """An int in [0, extent)."""
        ready = [v for v in context.variables if v[3] is not None and v[3] >= 0 and v[4] < extent]
        choice = self.random.random()
        if ready and choice < 0.5:
            return variable(self.random.choice(ready)[0], "int")
        if choice < 0.65 or depth <= 0:
            return literal(self.random.randrange(extent))
        given = self.expression(context, "int", depth)
        if choice < 0.75:
            mask = (1 << (extent.bit_length() - 1)) - 1
            return binary("&", given, literal(mask))
        if choice < 0.88:
            return call("min", call("max", given, literal(0)), literal(extent - 1))
        return binary("%", binary("+", binary("%", given, literal(extent)), literal(extent)), literal(extent))

    def leaf(self, context, type):
        choices = [(variable, v[0]) for v in context.variables if v[1] == type and not v[2]]
        arrays = [(v[0], v[2]) for v in context.variables if v[1] == type and v[2]]
        for array in self.arrays:
            if array.type == type and self.readable(context, array):
                arrays.append((array, array.extents))
        if arrays and self.chance(0.35):
            array, extents = self.random.choice(arrays)
            if isinstance(array, str):
                return element(array, type, [self.index(context, extent, 0) for extent in extents])
            return element(array.name, type, self.indices(context, array, 0))
        if type == "int" and context.block and self.chance(0.4):
            return self.random.choice(context.block.known)[0]
        if type == "int" and self.constants and self.chance(0.2):
            return named(*self.random.choice(self.constants))
        if choices and self.chance(0.7):
            return variable(self.random.choice(choices)[1], type)
        if type == "int":
            return literal(self.random.choice([0, 1, 2, 3, 5, -1, -7, 100, 65536, 2147483647, -2147483647, self.random.randint(-50, 50)]))
        if type == "float":
            return literal(self.random.choice([0.5, 1.0, -2.25, 0.1, 3.0, -1e-3, 12345.5, 0.0]))
        return literal(self.chance(0.5))

    def readable(self, context, array):
        if array.role == "in":
            return True
        if array not in self.filled and array not in context.filled:
            return False
        if array.role in ("start", "copies"):
            return True
        if array.role == "owned" and context.block:
            return any(owned is array for _, owned in context.owned) or (self.barrier and context.after and array.shared)
        return True

    def indices(self, context, array, depth=1):
        result = [self.index(context, extent, depth) for extent in array.extents]
        owners = [name for name, owned in context.owned if owned is array]
        if array.role == "owned" and context.block and owners:
            result[array.axis] = variable(self.random.choice(owners), "int")
        return result

    def expression(self, context, type, depth=2):
        if depth <= 0 or self.chance(0.15):
            return self.leaf(context, type)
        part = lambda kind: self.expression(context, kind, depth - 1)
        if type == "bool":
            kind = self.random.choice(["int", "int", "float", "bool"])
            choice = self.random.random()
            if choice < 0.6:
                return binary(self.random.choice(["==", "!=", "<", "<=", ">", ">="]), part(kind), part(kind))
            if choice < 0.85:
                return binary(self.random.choice(["&&", "||"]), part(kind), part("bool"))
            return unary("!", part(self.random.choice(["bool", "int"])))
        shown = self.shows_width(context) if type != "bool" and self.chance(0.25) else None
        if shown:
            return shown if type == "int" else binary("*", shown, part("float"))
        choice = self.random.random()
        if choice < 0.06:
            return conditional(part(self.random.choice(["bool", "int"])), part(type), part(type))
        if type == "float":
            if choice < 0.65:
                other = "int" if self.chance(0.2) else "float"
                pair = [part("float"), part(other)]
                self.random.shuffle(pair)
                return binary(self.random.choice("++--**/"), *pair)
            if choice < 0.75:
                return unary("-", part("float"))
            if choice < 0.85:
                return call(self.random.choice(["sqrt", "floor", "fabs", "abs"]), part("float"))
            if choice < 0.95:
                return call(self.random.choice(["min", "max"]), part("float"), part(self.random.choice(["float", "int"])))
            return self.leaf(context, "float")
        if choice < 0.5:
            return binary(self.random.choice("++--**&|^"), part(self.random.choice(["int", "int", "int", "bool"])), part("int"))
        if choice < 0.62:
            divisor = self.random.choice([lambda: literal(self.random.choice([2, 3, 7, -3, 64])), lambda: binary("+", binary("&", part("int"), literal(7)), literal(1)),
                                          lambda: binary("|", part("int"), literal(1))])()
            return binary(self.random.choice("/%"), part("int"), divisor)
        if choice < 0.68:
            guard = self.leaf(context, "int")
            if guard.constant:  # a zero that is written there is refused
                return guard
            return conditional(binary("!=", guard, literal(0)), binary(self.random.choice("/%"), part("int"), guard), part("int"))
        if choice < 0.78:
            amount = literal(self.random.choice([0, 1, 3, 8, 31, 40])) if self.chance(0.6) else binary("&", part("int"), literal(self.random.choice([7, 31, 63])))
            return binary(self.random.choice(["<<", ">>"]), part("int"), amount)
        if choice < 0.86:
            return unary(self.random.choice("-~"), part("int"))
        return call("abs", part("int")) if self.chance(0.3) else call(self.random.choice(["min", "max"]), part("int"), part(self.random.choice(["int", "bool"])))

    def value(self, context, type, depth=3):
        """Of this type, or now and then of another that is converted."""
        return self.expression(context, type if self.chance(0.85) else self.random.choice(["int", "float", "bool"]), depth)

    # ---- statements ----
    def statements(self, context, least, most):
        result = []
        for _ in range(self.random.randint(least, most)):
            kinds = [self.declaration] * 2 + [self.assignment] * 5
            if context.depth < 4:
                kinds += [self.choice, self.counting, self.counting, self.general, self.compound, self.owned_loop, self.owned_loop]
            if context.loops and self.chance(0.5):
                kinds.append(self.leave)
            if context.may_finish and self.chance(0.15):
                kinds.append(self.finish)
            if self.chance(0.4):
                kinds.append(self.print)
            made = self.random.choice(kinds)(context)
            if made:
                result.append(made)
        return result

    def declaration(self, context):
        if self.chance(0.25):
            return self.stored_once(context)
        type, name = self.random.choice(["int", "int", "float", "bool"]), self.name("v")
        extents = tuple(self.random.choice([1, 2, 3, 5]) for _ in range(self.random.randint(1, 2))) if self.chance(0.25) else ()
        value = self.value(context, type) if not extents and self.chance(0.8) else None
        context.variables.append((name, type, extents, None, None, True))
        return declare(type, name, extents, value)

    def stored_once(self, context):
        """An int that nothing assigns again, with what hardly fits its 32 bits: what it is used for shows whether it was cut to them."""
        name = self.name("w")
        large = literal(self.random.choice([65536, 1000003, 1073741824, 1103515245, 2147483647, -2147483647]))
        value = binary(self.random.choice("***+-"), self.expression(context, "int", 1), large)
        if self.chance(0.3):
            value = binary("<<", self.expression(context, "int", 1), literal(self.random.choice([16, 24, 31, 33])))
        context.variables.append((name, "int", (), None, None, False))
        self.wide.append(name)
        return declare("int", name, (), value)

    def shows_width(self, context):
        """What depends on the bits of an int beyond the lower 32; nothing where there is none that could have them."""
        wide = [v[0] for v in context.variables if v[0] in self.wide]
        if not wide:
            return None
        return binary(self.random.choice(["/", "%", ">>"]), variable(self.random.choice(wide), "int"), literal(self.random.choice([3, 7, 16, 29])))

    def target(self, context):
        """(name, type, indices) of something that may be written here."""
        arrays = [owned for _, owned in context.owned]
        if context.block:
            arrays += [array for array in self.arrays if array.role == "copies"]
        else:
            arrays += [array for array in self.arrays if array.role in ("owned", "start")]
        if arrays and self.chance(0.6):
            array = self.random.choice(arrays)
            return array.name, array.type, self.indices(context, array)
        local = [v for v in context.variables if v[5]]
        if not local:
            return None
        name, type, extents, *_ = self.random.choice(local)
        return name, type, [self.index(context, extent) for extent in extents]

    def assignment(self, context):
        target = self.target(context)
        if not target:
            return None
        name, type, indices = target
        op = None
        if self.chance(0.35):
            op = self.random.choice(["+", "-", "*"] if type == "float" else ["+", "-", "*", "&", "|", "^"])
            if type == "int" and self.chance(0.2):
                op, value = self.random.choice([("/", literal(3)), ("%", literal(-5)), ("<<", literal(2)), (">>", literal(1)), ("++", literal(1))])
                return assign(name, type, indices, op, value)
        kind = type if op in ("&", "|", "^") else None
        return assign(name, type, indices, op, self.expression(context, kind, 3) if kind else self.value(context, type))

    def fill(self, context, array):
        """Writes all of an array."""
        names, inner = [self.name("f") for _ in array.extents], context.inner()
        inner.variables += [(name, "int", (), 0, extent - 1, False) for name, extent in zip(names, array.extents)]
        body = [assign(array.name, array.type, [variable(name, "int") for name in names], None, self.value(inner, array.type, 2))]
        for name, extent in reversed(list(zip(names, array.extents))):
            count = assign(name, "int", [], "++", literal(1))
            body = [Loop(declare("int", name, (), literal(0)), binary("<", variable(name, "int"), literal(extent)), count, body, True)]
        context.filled = context.filled | {array}
        return body[0]

    def choice(self, context):
        condition = self.expression(context, self.random.choice(["bool", "bool", "int"]), 2)
        yes = self.statements(context.inner(), 1, 3)
        no = None
        if self.chance(0.5):
            no = [self.choice(context.inner())] if self.chance(0.3) and context.depth < 3 else self.statements(context.inner(), 0, 2)
        return If(condition, yes, no)

    def counting(self, context):
        """Loops that count by a constant."""
        name, low, count, step = self.name("i"), self.random.choice([0, 0, 0, 1, -2]), self.random.randint(0, 4), self.random.choice([1, 1, 1, 2, 3])
        inner = context.inner()
        inner.loops += 1
        end = literal(low + count * step - self.random.randrange(step) if count else low)
        last = low + max(count * step - 1, 0)
        if self.chance(0.3):
            end, last = binary("+", literal(low), binary("&", self.expression(context, "int", 1), literal(3))), low + 3
        if self.form != "A" and self.chance(0.4):
            inner.variables.append((name, "int", (), low, max(last, low), False))
            return Range(name, literal(low), end, self.statements(inner, 1, 3))
        up, outlives = self.chance(0.7), self.chance(0.2)
        if outlives:
            outer = [v for v in context.variables if v[1] == "int" and v[5] and not v[2] and v[0][0] == "v"]
            outlives = bool(outer)
        if outlives:
            name = self.random.choice(outer)[0]
            inner.variables = [v for v in inner.variables if v[0] != name]
        inner.variables.append((name, "int", (), low, max(last, low), False))
        start, bound = (literal(low), end) if up else (binary("-", end, literal(1)), literal(low))
        first = assign(name, "int", [], None, start) if outlives else declare("int", name, (), start)
        me = variable(name, "int")
        test = binary("<" if up else ">=", me, bound) if self.chance(0.8) else binary(">" if up else "<=", bound, me)
        amount = literal(step)
        next = self.random.choice([lambda: assign(name, "int", [], None, binary("+" if up else "-", me, amount)),
                                   lambda: assign(name, "int", [], "+" if up else "-", amount)])()
        if step == 1 and up and self.chance(0.3):
            next = assign(name, "int", [], "++", literal(1))
        return Loop(first, test, next, self.statements(inner, 1, 3), True)

    def general(self, context):
        """Loops that end because a counter of their own does, besides whatever else ends them."""
        name = self.name("w")
        inner = context.inner()
        inner.loops += 1
        inner.variables.append((name, "int", (), None, None, False))
        test = binary("<", variable(name, "int"), literal(self.random.randint(1, 5)))
        if self.chance(0.4):
            test = binary("&&", test, self.expression(inner, "bool", 2))
        count = assign(name, "int", [], "+", literal(1))
        if self.chance(0.5):
            return Loop(declare("int", name, (), literal(0)), test, count, self.statements(inner, 1, 3), True)
        inner.variables.pop()
        inner.variables.append((name, "int", (), None, None, False))
        return Compound([declare("int", name, (), literal(0)), Loop(None, test, None, [count] + self.statements(inner, 1, 2), False)])

    def compound(self, context):
        return Compound(self.statements(context.inner(), 1, 3))

    def owned_loop(self, context):
        """A loop over the elements that the tile owns along one dimension of an array."""
        arrays = [array for array in self.arrays if array.role == "owned" and not any(array is owned for _, owned in context.owned)]
        if self.barrier and context.after:
            arrays = [array for array in arrays if not array.shared]
        elif self.barrier:
            arrays = [array for array in arrays if array.shared]
        if not context.block or not arrays:
            return None
        array, name, me = self.random.choice(arrays), self.name("o"), variable("me", "int")
        extent, tiles = array.extents[array.axis], self.places.tiles
        inner = context.inner()
        inner.loops += 1
        inner.owned.append((name, array))
        inner.variables.append((name, "int", (), 0, extent - 1, False))
        piece = (extent + tiles - 1) // tiles
        if array.contiguous:
            start, end, step = binary("*", me, literal(piece)), call("min", binary("*", binary("+", me, literal(1)), literal(piece)), literal(extent)), 1
        else:
            start, end, step = me, literal(extent), tiles
        body = self.statements(inner, 0, 2)
        body.append(assign(array.name, array.type, self.indices(inner, array), None, self.value(inner, array.type)))
        body += self.statements(inner, 0, 1)
        if self.form != "A" and array.contiguous and self.chance(0.5):
            return Range(name, start, end, body)
        count = assign(name, "int", [], None, binary("+", variable(name, "int"), literal(step)))
        return Loop(declare("int", name, (), start), binary("<", variable(name, "int"), end), count, body, True)

    def leave(self, context):
        return If(self.expression(context, "bool", 2), self.statements(context.inner(), 0, 1) + [jump("break", Break)], None)

    def finish(self, context):
        return If(self.expression(context, "bool", 2), [jump("bsg_finish()", Finish)], None)

    def print(self, context):
        pieces = [self.name("p") + ":"]
        for _ in range(self.random.randint(0, 3)):
            value = self.expression(context, self.random.choice(["int", "int", "float", "bool"]), 2)
            ints = ["%d", "%i", "%5d", "%-4d", "%u", "%x", "%08x", "%+d", "%03d"]
            conversion = "%d" if value.type == "bool" else self.random.choice(["%g", "%.3f", "%e", "%10.4g", "%f"] if value.type == "float" else ints)
            pieces += [" ", (conversion, value)]
        return printf(pieces + ["\n"])

    # ---- code ----
    def make_start(self):
        context = self.globals
        for _ in range(self.random.randint(0, 4)):
            self.start.append(self.declaration(context))
        for array in self.arrays:
            if array.role == "start" or array.role == "owned" and self.chance(0.8):
                self.start.append(self.fill(context, array))
                self.filled.add(array)
        if self.chance(0.6):
            inner = context.inner()
            self.start += self.statements(inner, 1, 4)
            kept = {name for name, *_ in context.variables}
            # What was declared on the way is global as well.
            context.variables += [v for v in inner.variables if v[0] not in kept]
        if self.barrier:
            self.start.append(declare("int", "ready", (self.places.tiles,), None))
        self.global_variables = [(name, type, extents, None, None, False) for name, type, extents, *_ in context.variables]

    def make_blocks(self):
        if self.barrier:
            for array in self.arrays:
                array.shared = self.chance(0.6)
            for top in self.places.tops:
                for leaf in self.random.choice(top.covers):
                    self.blocks.append(self.block(leaf, main=True))
        for _ in range(self.random.randint(0 if self.barrier else 1, 4)):
            early = self.barrier and self.chance(0.5)
            block = self.block(self.random.choice(self.places.leaves), early=early)
            self.blocks.insert(0, block) if early else self.blocks.append(block)

    def block(self, leaf, main=False, early=False):
        block = Block(leaf)
        block.main = main
        parts = []
        for number, (name, positions) in enumerate(leaf.parts):
            last = number == len(leaf.parts) - 1
            given = list(positions)
            repeats = getattr(leaf, "repeats", {}).get(number)
            if repeats is not None and last and self.chance(0.5):
                given = given[:repeats]
            elif self.chance(0.25):
                given = []
            text = name
            for position in given:
                if not main and self.chance(0.25):
                    block.fixed[position] = self.random.randrange(leaf.variables[position].extent)
                    text += f"[{block.fixed[position]}]"
                else:
                    shadow = leaf.variables[position].names[-1]
                    bound = shadow if len(shadow) == 1 and shadow in "xyzw" and self.chance(0.4) and f"[{shadow}]" not in "".join(parts) + text else self.name("q")
                    block.free.append((position, bound))
                    text += f"[{bound}]"
            parts.append(text)
        block.path = ".".join(self.places.path(leaf)[:1] + parts)
        taken = {bound for _, bound in block.free}
        values = []
        for position, each in enumerate(leaf.variables):
            bound = [name for at, name in block.free if at == position]
            names = bound or [name for name in each.names if name not in taken]
            if position in block.fixed:
                values.append(named(names[0], block.fixed[position]) if names and self.chance(0.5) else literal(block.fixed[position]))
            else:
                values.append(index_variable(self.random.choice(names), position))
            block.known.append((values[-1],))
            if each.names[-1] in "xyzw":
                block.known.append((named(f"{each.names[-1]}_max", each.extent),))
        block.known.append((index_variable("tile_id", "tile_id"),))
        number = leaf.number(values)
        context = Context(block)
        context.variables = list(self.global_variables) + [("me", "int", (), 0, self.places.tiles - 1, False)]
        me = binary("+", literal(leaf.top.base), number) if leaf.top.base else number
        block.body.append(declare("int", "me", (), me))
        context.after = not early and not main
        context.may_finish = not self.barrier or context.after
        for array in self.arrays:
            if array.role == "copies" and self.chance(0.4):
                block.body.append(self.fill(context, array))
        block.body += self.statements(context, 2, 6)
        if main:
            tile = self.name("t")
            block.body.append(Barrier(["ready[me] = 1;", f"for (int {tile} = 0; {tile} < {self.places.tiles}; {tile} = {tile} + 1)",
                                       f"  while (ready[{tile}] == 0) {{ }}"]))
            context.after = True
            block.body += self.statements(context, 1, 5)
        return block

    # ---- text ----
    def render(self):
        lines = self.places.target() + self.places.config() + ["data {"]
        for number, (name, value) in enumerate(self.constants):
            lines.append(f"  {['', 'const ', 'int '][(self.seed + number) % 3]}{name} = {value};")
        lines += ["  " + array.declaration for array in self.arrays] + ["}", "code {"]
        for statement in self.start:
            lines += statement.render("  ")
        for block in self.blocks:
            lines.append(f"  {block.path} {{")
            for statement in block.body:
                lines += statement.render("    ")
            lines.append("  }")
        return "\n".join(lines + ["}"]) + "\n"

    def bodies(self):
        work = [self.blocks, self.start] + [block.body for block in self.blocks]
        yield self.arrays
        for body in work:
            yield body
            for statement in body:
                if not isinstance(statement, Block):
                    work += statement.lists

    # ---- meaning ----
    def tiles_of(self, block):
        """Every tile of a block: where, and the values of the variables there."""
        leaf, free = block.leaf, [k for k in range(len(block.leaf.variables)) if k not in block.fixed]
        for number, chosen in enumerate(itertools.product(*(range(leaf.variables[k].extent) for k in free))):
            values = [block.fixed.get(k) for k in range(len(leaf.variables))]
            for k, value in zip(free, chosen):
                values[k] = value
            yield (leaf.top.name, leaf.tile(values)), {**dict(enumerate(values)), "tile_id": number}

    def evaluate(self):
        """Executes all: what it leaves in arrays, what the code outside prints, and what tiles do, by their places in outermost groups."""
        self.steps, self.shared, self.copies = 0, {}, {}
        self.named = {array.name: array for array in self.arrays}
        given = self.inputs()
        for array in self.arrays:
            if array.role == "copies":
                self.copies[array.name] = {}
            else:
                self.shared[array.name] = given.get(array.name, array.made())
        with np.errstate(all="ignore"):
            self.execute()

    def execute(self):
        outside = Env(self)
        execute(self.start, outside)
        work = {}
        for block in self.blocks:
            for tile, indices in self.tiles_of(block):
                parts = [[]]
                for statement in block.body:
                    parts.append([]) if isinstance(statement, Barrier) else parts[-1].append(statement)
                work.setdefault(tile, []).append((indices, parts))
        tiles = {tile: Env(self, tile) for tile in work}
        for tile in work:
            self.until_barrier(tiles[tile], work[tile])
        for tile in work:
            self.until_barrier(tiles[tile], work[tile])
        self.outside = "".join(outside.printed)
        self.by_tile = {tile: "".join(env.printed) for tile, env in tiles.items()}

    def until_barrier(self, env, work):
        """Runs a tile's blocks up to and with the next part that a barrier ends."""
        try:
            while work:
                indices, parts = work[0]
                if env.indices is not indices:
                    env.indices, env.variables = indices, Scope(self.shared)
                execute(parts.pop(0), env)
                if parts:
                    return
                work.pop(0)
        except Finish:
            work.clear()

    def results(self, corners):
        """The output arrays where the groups stand at these corners. Of copies the first tile's goes back."""
        made = {}
        for array in self.arrays:
            if array.direction == "out" and array.role != "copies":
                made[array.name] = self.shared[array.name]
            elif array.direction == "out":
                at_origin = [copy for tile, copy in self.copies[array.name].items() if not any(self.coordinates(tile, corners))]
                made[array.name] = at_origin[0] if at_origin else array.made()
        return made

    def printed(self, corners):
        """All that is printed: the tiles' in the order of their numbers."""
        return self.outside + "".join(self.by_tile[tile] for tile in sorted(self.by_tile, key=lambda tile: self.coordinates(tile, corners)))

    def coordinates(self, tile, corners):
        return tuple(a + b for a, b in zip(corners[tile[0]], tile[1]))
