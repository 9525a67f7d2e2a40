"""Random programs in the svm dialect whose instances run at the same time, and what they give, known by construction.

A program is a tree of steps in one order. Each step belongs to one instance. Where two instances touch one element and one of them writes it, the
later one waits for the earlier one: for a number in an array of flags, or for an element of a stream. Everything else goes on at once. What the
program gives is therefore what its steps give one after another, and `expected` computes that with NumPy.

A copy holds its elements while other instances, in order, write the array that it was made from: such copies may not be left out, nor leave a loop.
"""
import itertools
import random

import numpy as np

TYPES = {"i32": np.int32, "i64": np.int64, "i8": np.int8}
KERNELS = {"set": "w", "map": "rw", "update": "x", "two": "rrx"}  # of each block: read, write, or both


class Loop:
    """A loop that several instances go through together, each for itself: {instance: "for", or "spmd" where its iterations are independent}."""

    def __init__(self, variable, count):
        self.variable, self.count, self.body, self.how = variable, count, [], {}


class Scope:
    """A copy of a view that its owner works on: moved in, out, or both."""

    def __init__(self, owner, block, view, moves, near, disjoint):
        self.owner, self.block, self.view, self.moves, self.near, self.disjoint = owner, block, view, moves, near, disjoint
        self.body = []
        self.begin = Step(owner, "move", [view, Whole(block)]) if "in" in moves else None
        self.end = Step(owner, "move", [Whole(block), view]) if "out" in moves else None


class Block:
    """Storage: an array of the program, or a copy."""

    def __init__(self, name, shape, owner=None):
        self.name, self.shape, self.owner = name, shape, owner


class View:
    """A part of a block: in each dimension an offset, which loops may add to, a number of elements and a step."""

    def __init__(self, block, offsets, sizes, steps, slopes):
        self.block, self.offsets, self.sizes, self.steps, self.slopes = block, offsets, sizes, steps, slopes
        self.shape = tuple(sizes)

    def index(self, iteration):
        """As NumPy writes it. `slopes`: for each dimension, how far a step of a loop's variable goes."""
        begins = [offset + sum(iteration[v] * by for v, by in slope.items()) for offset, slope in zip(self.offsets, self.slopes)]
        return tuple(slice(b, b + (s - 1) * step + 1 if s else b, step) for b, s, step in zip(begins, self.sizes, self.steps))

    def elements(self, iteration):
        numbers = np.arange(int(np.prod(self.block.shape))).reshape(self.block.shape)
        return frozenset(numbers[self.index(iteration)].flat)

    def variables(self):
        return {v for slope in self.slopes for v in slope}

    def is_spaced(self):
        return self.steps[-1] != 1


class Whole(View):
    def __init__(self, block):
        super().__init__(block, [0] * len(block.shape), list(block.shape), [1] * len(block.shape), [{} for _ in block.shape])


class Step:
    """A run or a move of one instance. `when`: (variable, remainder of its division by 2) under which alone it is made; `token`: it goes on beside
    its starter, after other tokens, until the step in `ended_by`."""

    def __init__(self, instance, kind, views, when=None):
        self.instance, self.kind, self.views, self.when = instance, kind, views, when
        self.token, self.after, self.waits = None, [], []
        self.loops, self.place, self.ended_by = [], 0, self
        self.tells, self.awaits = [], []  # edges, told behind it and awaited before it
        self.style = ""

    def accesses(self):
        """[(view, is written)]"""
        if self.kind == "move":
            return [(self.views[0], False), (self.views[1], True)]
        if self.kind in KERNELS:
            return [(view, how != "r") for view, how in zip(self.views, KERNELS[self.kind])]
        return []


class Edge:
    """`source` happens before `target`, in the same iteration of the loops around both, or, where `is_back`, in the one before."""

    def __init__(self, number, source, target, loops, is_back, stream):
        self.number, self.source, self.target, self.loops, self.is_back, self.stream = number, source, target, loops, is_back, stream

    def total(self):
        return int(np.prod([loop.count for loop in self.loops], dtype=int))


class Program:
    def __init__(self, seed):
        self.random = random.Random(seed)
        self.type = self.random.choice(["i32", "i32", "i64", "i8"])
        self.instances = self.random.choice([2, 2, 2, 3, 4])
        self.count, self.budget, self.loops, self.scopes = 0, self.random.randint(4, 16), [], []
        self.arrays = []
        for number in range(self.random.choice([1, 2, 2, 3, 3])):
            shape = self.random.choice([(8,), (13,), (16,), (4, 5), (6, 4), (5, 8)])
            self.arrays.append(Block(f"a{number}", shape))
        self.pending = []
        self.body = self.sequence([], [], list(range(self.instances)), 0)
        self.order()
        self.connect()
        self.settle_loops()

    def chance(self, probability):
        return self.random.random() < probability

    def name(self, stem):
        self.count += 1
        return f"{stem}{self.count}"

    # ---- the tree ----
    def sequence(self, loops, blocks, among, depth):
        made, begun = [], len(self.pending)
        for _ in range(self.random.randint(2, 5) if depth else self.random.randint(3, 8)):
            if self.budget <= 0:
                break
            self.budget -= 1
            kind = self.random.random()
            if kind < 0.15 and not loops and len(among) > 1 and not self.pending:
                made += self.feed(among)
            elif kind < 0.2 and depth < 3 and len(loops) < 2:
                made.append(self.loop(loops, blocks, among, depth))
            elif kind < 0.55 and depth < 4:
                made += self.scope(loops, blocks, among, depth)
            else:
                made += self.step(loops, blocks, among, made, begun)
        for step in self.pending[begun:]:
            made.append(self.end_of([step]))
        del self.pending[begun:]
        return made

    def end_of(self, steps):
        end = Step(steps[0].instance, "wait", [])
        end.waits = [step.token for step in steps]
        for step in steps:
            step.ended_by = end
        return end

    def loop(self, loops, blocks, among, depth):
        loop = Loop(self.name("k"), self.random.choice([1, 2, 2, 3, 4, 0]))
        inside = among if self.chance(0.6) else [self.random.choice(among)]
        self.loops.append(loop)
        loop.body = self.sequence([*loops, loop], blocks, inside, depth + 1)
        return loop

    def feed(self, among):
        """One instance makes parts of an array, another copies each once it is there and works on the copy."""
        pairs = [(a, b) for a in self.arrays for b in self.arrays if a is not b and len(a.shape) == len(b.shape)]
        if not pairs:
            return []
        source, target = self.random.choice(pairs)
        loop = Loop(self.name("k"), self.random.choice([2, 3, 4]))
        rows = min(source.shape[0], target.shape[0]) // loop.count
        if not rows:
            return []
        giver, taker = self.random.sample(among, 2)
        shape = [rows, *(min(a, b) for a, b in zip(source.shape[1:], target.shape[1:]))]

        def part(block):
            slopes = [{loop.variable: rows}] + [{} for _ in shape[1:]]
            return View(block, [0] * len(shape), list(shape), [1] * len(shape), slopes)
        self.loops.append(loop)
        copy = Scope(taker, Block(self.name("x"), tuple(shape), taker), part(source), ("in",), self.chance(0.8), False)
        self.scopes.append(copy)
        copy.body = [Step(taker, "map", [Whole(copy.block), part(target)])]
        loop.body = [Step(giver, "update", [part(source)]), copy]
        return [loop]

    def scope(self, loops, blocks, among, depth):
        owner = self.random.choice(among)
        view = self.view(self.random.choice(self.arrays + [b for b in blocks if b.owner == owner]), loops)
        moves = self.random.choice([("in",), ("in", "out"), ("in", "out"), ("out",)])
        block = Block(self.name("x"), view.shape, owner)
        scope = Scope(owner, block, view, moves, self.chance(0.5), False)
        if any(self.clashes(step) for step in (scope.begin, scope.end) if step):
            return []
        self.scopes.append(scope)
        if not scope.begin:  # what is moved out has been written
            scope.body.append(Step(owner, "set", [Whole(block)]))
        scope.body += self.sequence(loops, [*blocks, block], among, depth + 1)
        if scope.end and self.clashes(scope.end):
            scope.end = None
        # It holds nothing but the copy and its uses: nothing else of its owner touches the array meanwhile.
        others = [view for step in self.steps_of(scope.body) if step.instance == owner for view, _ in step.accesses()
                  if view.block.owner is None]
        scope.disjoint = not others and view.block.owner is None and self.chance(0.7)
        return [scope]

    def steps_of(self, body):
        for node in body:
            if isinstance(node, Step):
                yield node
            else:
                if isinstance(node, Scope) and node.begin:
                    yield node.begin
                yield from self.steps_of(node.body)
                if isinstance(node, Scope) and node.end:
                    yield node.end

    def view(self, block, loops, shape=None, may_space=False):
        """A part of a block, or all of it; of a shape, where one is given: then None where there is none."""
        if shape is None and self.chance(0.3):
            return Whole(block)
        if shape and (len(shape) != len(block.shape) or any(s > b for s, b in zip(shape, block.shape))):
            return None
        offsets, sizes, steps, slopes = [], [], [], []
        for dimension, extent in enumerate(block.shape):
            size = shape[dimension] if shape else self.random.randint(1, extent)
            is_last = dimension == len(block.shape) - 1
            step = 2 if size and (size - 1) * 2 < extent and self.chance(0.25) and (may_space or not is_last) else 1
            room = extent - ((size - 1) * step + 1 if size else 0)
            slope = {}
            for loop in loops:
                if loop.count > 1 and room >= loop.count - 1 and self.chance(0.5):
                    slope[loop.variable] = self.random.randint(1, room // (loop.count - 1))
                    room -= slope[loop.variable] * (loop.count - 1)
            offsets.append(self.random.randint(0, room))
            sizes.append(size), steps.append(step), slopes.append(slope)
        return View(block, offsets, sizes, steps, slopes)

    def step(self, loops, blocks, among, made, begun):
        """One step, and before it what waits for those under way that it would meet."""
        instance = self.random.choice(among)
        own = [b for b in blocks if b.owner == instance]
        kind = self.random.choice(["map", "map", "update", "update", "two", "set", "move", "move"])
        target = self.view(self.random.choice(self.arrays + own * 2), loops, may_space=kind == "move")
        views = [target]
        for _ in range({"map": 1, "two": 2, "move": 1}.get(kind, 0)):
            candidates = [self.view(b, loops, target.shape, kind == "move") for b in self.arrays + own * 2 for _ in range(2)]
            candidates = [v for v in candidates if v and not self.overlap(v, target, loops)]
            if not candidates:
                return []
            views.insert(0, self.random.choice(candidates))
        when = (self.random.choice(loops).variable, self.random.randint(0, 1)) if loops and self.chance(0.15) else None
        step = Step(instance, kind, views, when)
        step.style = self.random.choice(["plain", "plain", "plain", "function", "large"])
        met = self.clashes(step)
        may_token = when is None and kind in ("map", "update", "move")
        if may_token and self.chance(0.25) and all(other.instance == instance and other in self.pending[begun:] for other in met):
            step.token, step.after, step.style = self.name("t"), [other.token for other in met], "plain"
            self.pending.append(step)
            return [step]
        if not all(other in self.pending[begun:] for other in met):
            return []  # one that was started outside is still under way
        before = [self.end_of([other]) for other in met]
        for other in met:
            self.pending.remove(other)
        return [*before, step]

    def iterations(self, variables):
        names = sorted(variables)
        counts = {loop.variable: loop.count for loop in self.loops}
        return [dict(zip(names, values)) for values in itertools.product(*(range(counts[n]) for n in names))]

    def overlap(self, a, b, loops):
        """Whether two views of one iteration share elements."""
        if a.block is not b.block:
            return False
        return any(a.elements(i) & b.elements(i) for i in self.iterations(a.variables() | b.variables()))

    def reach(self, view):
        return frozenset().union(*(view.elements(i) for i in self.iterations(view.variables())))

    def conflict(self, a, b):
        return any((w or v) and x.block is y.block and self.reach(x) & self.reach(y)
                   for x, w in a.accesses() for y, v in b.accesses())

    def meet_later(self, source, target):
        """Whether a step in one iteration of a loop may meet another in a later one."""
        if source.loops != target.loops or len(source.loops) != 1:
            return True
        variable = source.loops[0].variable
        return any((w or v) and x.block is y.block and x.elements({variable: i}) & y.elements({variable: j})
                   for i, j in itertools.combinations(range(source.loops[0].count), 2)
                   for x, w in source.accesses() for y, v in target.accesses())

    def clashes(self, step):
        return [other for other in self.pending if self.conflict(step, other)]

    # ---- what waits for what ----
    def order(self):
        """Numbers the steps, and tells each the loops around it."""
        self.steps = []

        def number(step, loops):
            step.loops, step.place = list(loops), len(self.steps)
            self.steps.append(step)

        def walk(body, loops):
            for node in body:
                if isinstance(node, Step):
                    number(node, loops)
                elif isinstance(node, Loop):
                    walk(node.body, [*loops, node])
                else:
                    if node.begin:
                        number(node.begin, loops)
                    walk(node.body, loops)
                    if node.end:
                        number(node.end, loops)
        walk(self.body, [])

    def connect(self):
        """An edge for each two steps of different instances that meet; where one implies another, mostly only that."""
        self.edges, known = [], {}
        self.anchored = {}  # loops: edges told behind, and awaited before all of it, by instance
        for target in self.steps:
            chosen = {}
            for source in self.steps:
                if source.instance == target.instance or not self.conflict(source, target):
                    continue
                common = [loop for loop in source.loops if loop in target.loops]
                if any(loop.count == 0 for loop in source.loops + target.loops):
                    continue
                is_back = source.place > target.place
                if is_back and (not common or not self.meet_later(source, target)):
                    continue
                # The last one of an instance stands for those before it.
                key = (source.instance, is_back, tuple(loop.variable for loop in common))
                if key not in chosen or chosen[key].ended_by.place < source.ended_by.place:
                    chosen[key] = source
            for (instance, is_back, _), source in chosen.items():
                end = source.ended_by
                common = [loop for loop in end.loops if loop in target.loops]
                plain = not common and end.loops == [] and target.loops == []
                if plain and known.get((target.instance, instance), -1) >= end.place and self.chance(0.8):
                    continue
                if plain:
                    known[target.instance, instance] = end.place
                edge = Edge(len(self.edges), end, target, common, is_back, self.chance(0.15))
                self.edges.append(edge)
                self.anchor(end, common).setdefault((end.instance, "tell"), []).append(edge)
                self.anchor(target, common).setdefault((target.instance, "await"), []).append(edge)

    def anchor(self, step, common):
        """Where an edge is told or awaited: at the step, or at the outermost loop around it that the two do not share."""
        inner = [loop for loop in step.loops if loop not in common]
        node = inner[0] if inner else step
        return self.anchored.setdefault(id(node), {})

    def at(self, node, instance, what):
        return self.anchored.get(id(node), {}).get((instance, what), [])

    def settle_loops(self):
        """A loop of an instance whose iterations are independent, and only wait for others, may be a parallel one."""
        for loop in self.loops:
            inside = list(self.steps_of(loop.body))
            inner = [other for other in self.loops if other is not loop and any(loop in s.loops and other in s.loops for s in inside)]
            for instance in {step.instance for step in inside}:
                own = [step for step in inside if step.instance == instance]
                edges = [e for e in self.edges if loop in e.loops and instance in (e.source.instance, e.target.instance)]
                fine = all(e.target.instance == instance and not e.is_back for e in edges) and not inner
                fine = fine and not any(step.token or step.when for step in own) and not any(step.loops[:-1] for step in own)
                for i, j in itertools.combinations(range(loop.count), 2):
                    fine = fine and not self.iterations_meet(own, loop, i, j)
                if fine:
                    for edge in edges:
                        edge.stream = False
                loop.how[instance] = "spmd" if fine and self.chance(0.8) else "for"

    def iterations_meet(self, steps, loop, i, j):
        accesses = [(v, w) for step in steps for v, w in step.accesses()
                    if v.block.owner is None or any(self.is_outside(s, loop) for s in self.scopes if s.block is v.block)]
        for (x, w), (y, v) in itertools.product(accesses, repeat=2):
            if (w or v) and x.block is y.block and x.elements({loop.variable: i}) & y.elements({loop.variable: j}):
                return True
        return False

    def is_outside(self, scope, loop):
        def holds(body):
            return any(node is scope or (not isinstance(node, Step) and holds(node.body)) for node in body)
        return not holds(loop.body)

    # ---- what it gives ----
    def start_values(self, seed):
        numbers = np.random.default_rng(seed)
        return {array.name: numbers.integers(-100, 100, array.shape).astype(TYPES[self.type]) for array in self.arrays}

    def expected(self, values):
        """The arrays after the steps have been done one after another, and the flags."""
        self.values = {name: value.copy() for name, value in values.items()}
        with np.errstate(over="ignore"):
            self.execute(self.body, {})
        flags = np.zeros(len(self.edges) + 1, np.int32)
        for edge in self.edges:
            if not edge.stream:
                flags[edge.number] = edge.total()
        return {**{array.name: self.values[array.name] for array in self.arrays}, "F": flags}

    def execute(self, body, iteration):
        for node in body:
            if isinstance(node, Step):
                self.do(node, iteration)
            elif isinstance(node, Loop):
                for number in range(node.count):
                    self.execute(node.body, {**iteration, node.variable: number})
            else:
                self.values[node.block.name] = np.full(node.block.shape, 77, TYPES[self.type])
                if node.begin:
                    self.do(node.begin, iteration)
                self.execute(node.body, iteration)
                if node.end:
                    self.do(node.end, iteration)

    def do(self, step, iteration):
        if step.kind == "wait" or (step.when and iteration[step.when[0]] % 2 != step.when[1]):
            return
        parts = [self.values[view.block.name][view.index(iteration)] for view in step.views]
        one = TYPES[self.type](1)
        if step.kind == "move":
            parts[1][...] = parts[0].copy()
        elif step.kind == "set":
            parts[0][...] = 5
        elif step.kind == "map":
            parts[1][...] = parts[0] * TYPES[self.type](3) + one
        elif step.kind == "update":
            parts[0][...] = parts[0] * TYPES[self.type](5) + one
        elif step.kind == "two":
            parts[2][...] = parts[2] * TYPES[self.type](2) + parts[0] - parts[1]
