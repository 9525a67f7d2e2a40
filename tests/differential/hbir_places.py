"""The targets, groups and places of random HBIR programs: which tiles a code block names, how its path is written, and where a mapping
file may put groups and arrays."""

import itertools
import math

from hbir_tree import binary, index_variable, literal


class Variable:
    """One index of a group: `names` are what a block may call it besides a name in the path."""

    def __init__(self, extent, names):
        self.extent, self.names = extent, names


class Leaf:
    """A group that has tiles. `parts` are the names in its path with the numbers of their variables that the path may index;
    `tile` gives the tile by the values of the variables, from the corner of the box; `number` numbers that box's tiles."""

    def __init__(self, top, parts, variables, tile, number):
        self.top, self.parts, self.variables, self.tile, self.number = top, parts, variables, tile, number


class Top:
    """A group that stands in no other, in a box of tiles: `covers` are sets of leaves that each name every tile once."""

    def __init__(self, name, box):
        self.name, self.box, self.base, self.covers, self.text, self.first = name, box, 0, [], [], None

    def tiles(self):
        return math.prod(length for _, length in self.box)


def mixed(lengths, values):
    """The number of a place by rows, as an expression."""
    result = values[0]
    for length, value in zip(lengths[1:], values[1:]):
        result = binary("+", binary("*", result, literal(length)), value)
    return result


class Places:
    def __init__(self, random, form):
        self.random, self.form = random, form
        rank = random.choice([1, 2, 2, 3]) if form == "A" else 2
        while True:
            self.extents = [random.randint(1, 5) for _ in range(rank)]
            if math.prod(self.extents) <= 20:
                break
        self.globals, self.locals = random.randint(1, 4), random.randint(1, 2)
        self.tops, self.leaves = [], []
        boxes = [[(0, extent) for extent in self.extents]]
        for _ in range(random.randint(0, 3)):
            box = boxes.pop(random.randrange(len(boxes)))
            axis = random.randrange(rank)
            begin, length = box[axis]
            cut = random.randint(1, length - 1) if length > 1 else 0
            halves = [(begin, cut), (begin + cut, length - cut)] if cut else [(begin, length)]
            boxes += [box[:axis] + [half] + box[axis + 1:] for half in halves]
        random.shuffle(boxes)
        keep = boxes if random.random() < 0.5 else boxes[:max(1, len(boxes) - 1)]
        base = 0
        for number, box in enumerate(keep):
            top = Top(f"g{number}", box)
            top.base, base = base, base + top.tiles()
            self.tops.append(top)
            (self.in_form_a if form == "A" else self.in_form_b if form == "B" else self.in_form_c)(top)
        self.tiles = base

    def leaf(self, *arguments):
        self.leaves.append(Leaf(*arguments))
        return self.leaves[-1]

    # ---- form A ----
    def in_form_a(self, top):
        rank, lengths, begins = len(top.box), [length for _, length in top.box], [begin for begin, _ in top.box]
        kind = self.random.choice(["plain", "plain", "flat", "nested", "nested"])
        if kind == "flat" and rank == 2:
            top.text = [f"group {top.name}[{lengths[0] * lengths[1]}] {{ tile target.t[x / {lengths[1]} + {begins[0]}][{begins[1]} + x % {lengths[1]}]; }};"]
            width = lengths[1]
            leaf = self.leaf(top, [(top.name, [0])], [Variable(top.tiles(), [f"{top.name}.x", "x"])],
                             lambda v: (v[0] // width, v[0] % width), lambda v: v[0])
            top.covers, top.first = [[leaf]], (0, 0)
            return
        if kind == "nested" and rank >= 2:
            self.nested(top, lengths, begins)
            return
        order = list(range(rank))
        self.random.shuffle(order)  # index k counts along dimension order[k]
        backwards = [self.random.random() < 0.3 for _ in range(rank)]
        coordinates = []
        for axis in range(rank):
            letter = "xyz"[order.index(axis)]
            coordinates.append(f"[{begins[axis] + lengths[axis] - 1} - {letter}]" if backwards[axis] else
                               self.random.choice([f"[{letter} + {begins[axis]}]", f"[{begins[axis]} + 1 * {letter}]"]))
        extents = "".join(f"[{lengths[axis]}]" for axis in order)
        top.text = [f"group {top.name}{extents} {{ tile target.t{''.join(coordinates)}; }};"]
        variables = [Variable(lengths[axis], [f"{top.name}.{'xyz'[k]}", "xyz"[k]]) for k, axis in enumerate(order)]

        def tile(values):
            return tuple(lengths[axis] - 1 - values[order.index(axis)] if backwards[axis] else values[order.index(axis)]
                         for axis in range(rank))
        leaf = self.leaf(top, [(top.name, list(range(rank)))], variables, tile, lambda v: mixed([x.extent for x in variables], v))
        top.covers, top.first = [[leaf]], tile([0] * rank)

    def nested(self, top, lengths, begins):
        """The first dimension is the outer group's; the rest is one inner group's, or two share the second dimension."""
        inner = list(range(1, len(lengths)))
        cut = self.random.randint(1, lengths[1] - 1) if lengths[1] > 1 and self.random.random() < 0.4 else 0
        halves = [("p", 0, cut), ("q", cut, lengths[1] - cut)] if cut else [("row", 0, lengths[1])]
        lines, cover = [f"group {top.name}[{lengths[0]}] {{"], []
        for name, offset, length in halves:
            sizes = [length] + lengths[2:]
            starts = [begins[1] + offset] + begins[2:]
            own = "".join(f"[{size}]" for size in sizes)
            at = "".join(f"[{'xyz'[k]} + {start}]" for k, start in enumerate(starts))
            lines.append(f"  group {name}{own} {{ tile target.t[{top.name}.x + {begins[0]}]{at}; }};")
            variables = [Variable(lengths[0], [f"{top.name}.x", "x"])]
            variables += [Variable(size, [f"{name}.{'xyz'[k]}", "xyzw"[k + 1]]) for k, size in enumerate(sizes)]
            cover.append(self.leaf(top, [(top.name, [0]), (name, inner)], variables,
                                   lambda v, offset=offset: (v[0], v[1] + offset, *v[2:]),
                                   lambda v, offset=offset: mixed(lengths, [v[0], binary("+", v[1], literal(offset)), *v[2:]])))
        top.text = lines + ["};"]
        top.covers, top.first = [cover], (0,) * len(lengths)

    # ---- forms B and C ----
    def box_text(self, top):
        ranges = []
        for (begin, length), whole in zip(top.box, self.extents):
            texts = [f"{begin}:{begin + length}", f"{begin} : {begin} + {length}"]
            if length == 1:
                texts.append(str(begin))
            if begin + length == whole:
                texts.append(f"{begin}:")
            if begin == 0:
                texts.append(f":{length}")
            ranges.append(self.random.choice(texts))
        return f"({', '.join(ranges)})"

    def whole_box(self, top):
        lengths = [length for _, length in top.box]
        leaf = self.leaf(top, [(top.name, [0, 1])], [Variable(lengths[0], [f"{top.name}.x", "x"]), Variable(lengths[1], [f"{top.name}.y", "y"])],
                         tuple, lambda v: mixed(lengths, v))
        top.covers, top.first = [[leaf]], (0, 0)

    def in_form_b(self, top):
        self.whole_box(top)
        top.text = [f"group {top.name} at {self.box_text(top)};"]

    def in_form_c(self, top):
        self.whole_box(top)
        (rows, columns), name = [length for _, length in top.box], top.name
        head = f"group {name}(r, c) at {self.box_text(top)}"
        kind = self.random.choice(["plain", "rows", "cells", "pairs", "beside"])
        grid = [rows, columns]
        if kind == "rows" or kind == "cells":
            row = self.leaf(top, [(name, []), ("row", [0, 1, 2])],
                            [Variable(rows, ["i", "row.i"]), Variable(1, ["x"]), Variable(columns, ["y"])],
                            lambda v: (v[0], v[2]), lambda v: mixed(grid, [v[0], v[2]]))
            row.repeats = {1: 1}
            top.covers.append([row])
            top.text = [head + " {", "  group[i in r] row(p, q) at (i, 0:c);" if kind == "rows" else "  group[i in r] row(p, q) at (i, 0:c) {", "}"]
            if kind == "cells":
                cell = self.leaf(top, [(name, []), ("row", [0]), ("col", [1, 2, 3])],
                                 [Variable(rows, ["i", "row.i"]), Variable(columns, ["j", "col.j"]), Variable(1, ["x"]), Variable(1, ["y"])],
                                 lambda v: (v[0], v[1]), lambda v: mixed(grid, [v[0], v[1]]))
                cell.repeats = {1: 1, 2: 1}
                top.covers.append([cell])
                top.text[2:2] = ["    group[j in q] col at (0, j);", "  }"]
        elif kind == "pairs" and rows % 2 == 0:
            pair = self.leaf(top, [(name, []), ("pair", [0, 1, 2])],
                             [Variable(rows // 2, ["i", "pair.i"]), Variable(2, ["x"]), Variable(columns, ["y"])],
                             lambda v: (2 * v[0] + v[1], v[2]),
                             lambda v: mixed(grid, [binary("+", binary("*", literal(2), v[0]), v[1]), v[2]]))
            pair.repeats = {1: 1}
            top.covers.append([pair])
            top.text = [head + " {", "  group[i in r / 2] pair at (2 * i : 2 * i + 2, 0:c);", "}"]
        elif kind == "beside" and columns > 1:
            cut, both = self.random.randint(1, columns - 1), []
            for half, begin, length in (("a", 0, cut), ("b", cut, columns - cut)):
                both.append(self.leaf(top, [(name, []), (half, [0, 1])], [Variable(rows, ["x", f"{half}.x"]), Variable(length, ["y", f"{half}.y"])],
                                      lambda v, begin=begin: (v[0], v[1] + begin),
                                      lambda v, begin=begin: mixed(grid, [v[0], binary("+", v[1], literal(begin))])))
                both[-1].repeats = {}
            top.covers.append(both)
            top.text = [head + " {", f"  group a at (0:r, 0:{cut});", f"  group b at (:r, {cut}:c);", "}"]
        else:
            top.text = [head + ";"]

    # ---- text ----
    def target(self):
        form_b = self.form == "B"
        def field(size):
            return f"size : {size}, width : 8" if form_b else f"size {size}; width 8B;"
        extents = "".join(f"[{extent}]" for extent in self.extents)
        return ["target {", f"  memory g[{self.globals}] {{ {field('64M')} }};",
                f"  tile t{extents} {{ memory l{'[2]' if self.locals == 2 else ''} {{ {field('256K')} }}; }};", "}"]

    def config(self):
        lines = [line for top in self.tops for line in top.text]
        if self.form == "A":
            return ["config {"] + ["  " + line for line in lines] + ["}"]
        head = "arrange t as {" if self.form == "B" else "arrange t(rows, cols) as {"
        return ["config {", "  " + head] + ["    " + line for line in lines] + ["  }", "}"]

    def path(self, leaf):
        return (["config"] if self.form == "A" else ["t"]) + [name for name, _ in leaf.parts]

    # ---- mappings ----
    def moved(self):
        """Other corners for the groups, by name: disjoint, and in the target."""
        for _ in range(20):
            corners, taken, fits = {}, set(), True
            for top in self.tops:
                corners[top.name] = tuple(self.random.randint(0, extent - length)
                                          for extent, (_, length) in zip(self.extents, top.box))
                tiles = set(itertools.product(*(range(corner, corner + length)
                                                for corner, (_, length) in zip(corners[top.name], top.box))))
                fits &= not taken & tiles
                taken |= tiles
            if fits:
                return corners
        return {top.name: tuple(begin for begin, _ in top.box) for top in self.tops}

    def home(self, local_only=False):
        """A place for an array, and a number of pieces where it has indices; both as text, the pieces as numbers."""
        tiles = "target.t" if self.form == "A" else "t"
        kinds = ["tiles"] if local_only else ["globals", "dealt globals", "tiles", "dealt tiles", "group"]
        kind = self.random.choice(kinds)
        if kind == "globals":
            return [self.globals], "target.g[x]"
        if kind == "dealt globals":
            return [self.random.randint(1, 6)], "target.g"
        if kind == "dealt tiles":
            return [self.random.randint(1, 7)], "target.t.l"
        if kind == "group":
            return None, ".".join(self.path(self.random.choice(self.leaves)))
        return None, tiles
