"""Random parallel loops for the programs of generate.py: of one to three dimensions, distributed in parts of each or not at all, with a
reduction or none. What an iteration writes is its own: the dimensions of the loop number tiles along those of a block."""
import kernels
from generate_tree import CONTROL, MAIN, STORE, WORKER, WORKERS, Statement, View

BELOW = 2  # how far below zero some loops begin
ITERATIONS = 1500  # of nested loops together, about


class ParallelLoops:
    """What Program does about them."""

    def parallel(self, context):
        """Parallel iterations, each with its own part of what they write, and perhaps a reduction."""
        lines, inside = [], []
        dimensions = self.random.choice([1, 1, 1, 2, 2, 2, 3])
        variables, label = [self.name("%i") for _ in range(dimensions)], self.name("p")
        here, is_placed = context.here, not context.dealt
        if is_placed and self.chance(0.7):
            here = WORKER
        reduces = [v for v in context.views if v.mode == "rw"]
        copies = [v for v in context.views if v.mode not in ("rw", "r")]
        target = combiner = None
        if self.chance(0.45) and (reduces or copies) and len(self.plain(context)) > (not copies):
            target = self.random.choice(copies or reduces)
            combiner = target.mode if copies else self.random.choice(list(kernels.COMBINERS))
        is_ordered = bool(combiner) and not kernels.COMBINERS[combiner]
        # There is one control processor, and it is numbered, since the workers' stores are below it.
        parts = self.parts(dimensions, WORKERS if here == WORKER else 1, is_ordered) if is_placed else []
        chunk = self.chunks(parts, is_ordered)
        ways = 1
        for each in parts:
            ways *= each
        loop = self.bounds(context, lines, target, dimensions)
        views = []
        for view in context.views:
            if view is target or view.mode not in ("rw", "r"):
                continue
            if view.mode == "r" or view.rank == 0 or self.chance(0.3 if view in loop.tiles else 0.4):
                views.append(View(view.name, view.rank, view.bounds, "r", view.memory))
            else:
                views.append(self.own_part(lines, inside, variables, loop, view))
        context.function.loops[label] = {"on": here, "parts": parts, "chunk": chunk, "dimensions": dimensions, "ordered": is_ordered,
                                         "flat": loop.is_constant and ways == 1}
        if here == WORKER and ways > 1 and self.chance(0.15):  # some of the workers, from one of them on
            width = self.random.randint(ways, WORKERS)
            context.function.loops[label]["subset"] = [self.random.randint(0, WORKERS - width), width]
        reduction, private = "", None
        if target:
            self.kernel(f"combine_{combiner}", [target.rank] * 2)
            shared = target.memory if ways <= 1 else STORE if here == WORKER else MAIN
            private = View(self.name("%p"), target.rank, target.bounds, combiner, shared if shared == target.memory else "either")
            reduction = (f" reduce({private.name} = {target.name} : {self.type(target.rank)} with "
                         f'#svm.combiner<@combine_{combiner}_{target.rank}{target.rank}, "{label}.c">)')
            # A worker cannot hand its combiner to the control processor.
            by = WORKER if context.here == WORKER or self.chance(0.5) else CONTROL
            context.function.calls[f"{label}.c"] = {"on": by, "in": STORE if by == WORKER else MAIN}
            views.append(private)
        lines.append(f'svm.parallel "{label}" ({", ".join(variables)}) = ({", ".join(loop.lower)}) to ({", ".join(loop.upper)}){reduction} {{')
        inner = context.inner(views=views, here=here, variables=context.variables + variables, state=None, delays=[], work=context.work * loop.work,
                              dealt=context.dealt or here == WORKER or ways > 1)
        body = self.statements(inner, 1, 3)
        # Private copies take their bounds from the blocks that they are moved to.
        for number in range(self.random.randint(1, 2) if private else 0):
            body.insert(self.random.randint(0, len(body)), self.step(inner, private, number == 0))
        return Statement(lines + ["  " + line for line in inside], body, ["}"])

    # ---- how iterations are distributed ----
    def parts(self, dimensions, most, is_ordered):
        """Numbers of parts, at most so many together; none: the loop is not distributed. The last dimensions may be left out."""
        if self.chance(0.2):
            return []
        made = []
        for dimension in range(dimensions):
            # Parts are combined in their order, which is that of the iterations where only the first dimension is divided.
            fits = [n for n in (1, 2, 3, 4, 5, most) if n <= most and not (is_ordered and dimension)]
            made.append(self.random.choice(fits or [1]))
            most //= made[-1]
        self.random.shuffle(made) if not is_ordered else None
        while len(made) > 1 and made[-1] == 1 and self.chance(0.5):
            made.pop()
        return made

    def chunks(self, parts, is_ordered):
        made = [0 if is_ordered else self.random.choice([0, 0, 1, 2, 3]) for _ in parts]
        while len(made) > 1 and made[-1] == 0 and self.chance(0.5):
            made.pop()
        return made or [0]

    def bounds(self, context, lines, target, dimensions):
        """From where to where the iterations go, as many as a block has tiles, or any number."""
        loop = Bounds()
        blocks = [v for v in context.views if v.rank and v is not target and v.mode == "rw"]
        for dimension in range(dimensions):
            most = max(ITERATIONS // (context.work * loop.work), 1)
            view = self.random.choice(blocks) if blocks and self.chance(0.8) else None
            size = self.random.choice([1, 1, 2, 3, 4] if dimensions == 1 else [1, 2, 3, 4, 9])
            lower = self.random.choice(["%c0"] * 6 + ["%c1", "%c2", "%below"])
            along = self.random.randrange(view.rank) if view else 0
            bound = -(-view.bounds[along] // size) + 1 if view else 4
            if bound > most:
                view, bound = None, min(most, 2)
            if view:
                count = self.let(lines, f"arith.ceildivui {self.extents(lines, view)[along]}, %c{size} : index")
                loop.tiles.setdefault(view, {})[dimension] = (along, size)
                if self.chance(0.3):  # beyond the last part iterations have empty ones
                    count = self.let(lines, f"arith.addi {count}, %c1 : index")
                loop.is_constant = False
            else:
                count = f"%c{self.random.choice([n for n in (0, 1, 2, 2, 3, 4) if n <= bound])}"
            if lower == "%below" or (lower != "%c0" and self.chance(0.5)):
                count = self.let(lines, f"arith.addi {count}, {lower} : index")
            loop.lower.append(lower)
            loop.upper.append(count)
            loop.work *= bound
        return loop

    def own_part(self, lines, inside, variables, loop, view):
        """The part of a view that one iteration owns."""
        along = [[] for _ in range(view.rank)]  # the loop's dimensions that number the tiles of each of the view's
        sizes = [self.random.choice([1, 1, 2, 3, 4]) for _ in range(view.rank)]
        for dimension in range(len(variables)):
            at, size = loop.tiles.get(view, {}).get(dimension, (self.random.randrange(view.rank), None))
            along[at].append(dimension)
            sizes[at] = size or sizes[at]
        extents = self.extents(lines, view)
        offsets, lengths, bounds = ["%c0"] * view.rank, list(extents), list(view.bounds)
        for at, (numbers, size) in enumerate(zip(along, sizes)):
            if not numbers:
                continue
            tile = None
            for dimension in numbers:
                index, lower = variables[dimension], loop.lower[dimension]
                if lower == "%below" or (lower != "%c0" and self.chance(0.5)):
                    index = self.let(inside, f"arith.subi {index}, {lower} : index")
                if tile is not None:
                    span = loop.upper[dimension]
                    if lower == "%below":
                        span = self.let(inside, f"arith.subi {span}, {lower} : index")
                    tile = self.let(inside, f"arith.muli {tile}, {span} : index")
                    index = self.let(inside, f"arith.addi {tile}, {index} : index")
                tile = index
            begin = self.let(inside, f"arith.muli {tile}, %c{size} : index")
            begin = self.let(inside, f"arith.minui {begin}, {extents[at]} : index")
            left = self.let(inside, f"arith.subi {extents[at]}, {begin} : index")
            offsets[at], bounds[at] = begin, min(size, view.bounds[at])
            lengths[at] = self.let(inside, f"arith.minui {left}, %c{size} : index")
        name = self.subview(inside, view, offsets, lengths, [1] * view.rank, view.rank)
        return View(name, view.rank, bounds, "rw", view.memory)

    def step(self, context, private, in_blocks):
        """Takes some data into a private copy."""
        lines = []
        source = self.random.choice(self.plain(context))
        kind = f"step_{private.mode}"
        if not in_blocks and context.touches(private) and context.touches(source) and self.chance(0.4):
            self.run(lines, context, kind, [(source.name, source.rank), (private.name, private.rank)])
            return Statement(lines)
        part, extents = self.part(lines, context, source)
        label, here = self.name("t"), context.here
        if here == CONTROL and self.chance(0.3):
            here = WORKER
            context.function.calls[label] = {"on": WORKER}
        memory = STORE if here == WORKER else MAIN
        context.function.blocks[f"{label}.0"] = context.function.blocks[f"{label}.1"] = memory
        x, y = self.name("%b"), self.name("%b")
        inner = self.extents(lines, private)
        lines += [f'svm.scope "{label}"{" disjoint" if self.chance(0.7) else ""} {{',
                  f'{x} = svm.block "{label}.0"({", ".join(extents)}) max [{", ".join(map(str, part.bounds))}] : {self.type(part.rank)}',
                  f'{y} = svm.block "{label}.1"({", ".join(inner)}) max [{", ".join(map(str, private.bounds))}] : {self.type(private.rank)}',
                  self.move(part.name, x, part.rank), self.move(private.name, y, private.rank)]
        self.run(lines, context, kind, [(x, part.rank), (y, private.rank)])
        lines += [self.move(y, private.name, private.rank), "}"]
        return Statement(lines)


class Bounds:
    """Of a loop, as text. `tiles`: by view, the dimensions of the loop that go along one of its own, and the elements in a tile."""

    def __init__(self):
        self.lower, self.upper, self.tiles, self.work, self.is_constant = [], [], {}, 1, True
