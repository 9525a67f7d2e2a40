"""Random logical programs in the svm dialect, with records that map them, from a seed. A program is a tree of statements; every
statement makes the values that it uses, so that any of them can be taken out of a program that fails.

Meaning is always defined: parallel iterations write parts of their own; a scope is said to be disjoint only when its moves are of
different arrays or of none that it writes, and nothing in it touches what they move; indices and extents are kept in range.

On a machine with local stores, code on their owner touches blocks in its store, all other code blocks in main memory, and
both move between the two. The same program runs on a machine with one memory, where nothing of that matters."""
import random

import kernels
import records
import stream_kernels
from generate_gathers import IndexedMoves
from generate_parallel import BELOW, ParallelLoops
from generate_streams import Streams
from generate_tree import CONTROL, MAIN, MOST, SHORT, SIZES, STORE, WORKER, Context, Function, Statement, View


class Program(ParallelLoops, IndexedMoves, Streams):
    def __init__(self, seed, budget=14):
        self.random = random.Random(seed)
        self.seed = seed
        self.elements = kernels.Elements(self.random.choice(["i32", "i32", "i64", "i8", "pair"]))
        self.kernels, self.functions, self.count, self.budget = {}, [], 0, self.random.randint(2, budget)
        self.sizes = {"N": self.random.choice(SIZES), "M": self.random.choice(SIZES), "K": self.random.randint(0, SHORT)}
        self.entry = Function("main", CONTROL)
        self.functions.append(self.entry)
        views = []
        for number in range(self.random.randint(2, 4)):
            rank = self.random.choice([0, 1, 1, 1, 2, 2, 2, 3])
            mode = "rw" if number == 0 or self.chance(0.6) else "r"
            views.append(View(f"%a{number}", rank, [MOST, MOST, SHORT][:rank], mode, MAIN))
            self.entry.arguments.append(views[-1])
        context = Context(self.entry, views, CONTROL, 0, state="%state")
        self.entry.body = [Statement(["%state = memref.alloca() : memref<i32>", "memref.store %zero, %state[] : memref<i32>"])]
        self.entry.body += self.statements(context, 1, 4)

    # ---- small things ----
    def chance(self, probability):
        return self.random.random() < probability

    def name(self, stem):
        self.count += 1
        return f"{stem}{self.count}"

    def type(self, rank):
        return self.elements.block(rank)

    def kernel(self, kind, ranks):
        name = kernels.name_of(kind, ranks)
        if name not in self.kernels:
            self.kernels[name] = kernels.kernel(self.elements, kind, ranks)
        return name

    def run(self, lines, context, kind, blocks):
        """Runs a kernel on (name, rank) pairs, and waits for it where it goes on beside its starter."""
        token = self.start(lines, context, kind, blocks)
        if token:
            lines.append(f"svm.wait {token}")

    def start(self, lines, context, kind, blocks, beside=0.07):
        ranks = [rank for _, rank in blocks]
        name = self.kernel(kind, ranks)
        arguments, types = [block for block, _ in blocks], [self.type(rank) for rank in ranks]
        if kind in kernels.ACCESS:
            arguments.append(self.random.choice(context.variables + ["%c2"]))
            types.append("index")
        token = self.name("%k") if self.chance(beside) else None
        lines.append(f"{token + ' = ' if token else ''}svm.run @{name}({', '.join(arguments)}) : ({', '.join(types)}) -> "
                     + ("!svm.token" if token else "()"))
        return token

    def extents(self, lines, view):
        result = []
        for dimension in range(view.rank):
            result.append(self.name("%d"))
            lines.append(f"{result[-1]} = memref.dim {view.name}, %c{dimension} : {self.type(view.rank)}")
        return result

    def let(self, lines, expression):
        name = self.name("%v")
        lines.append(f"{name} = {expression}")
        return name

    def part(self, lines, context, view):
        """A part of a view, or the view: (View, extents). Parts may overlap those of other iterations."""
        extents = self.extents(lines, view)
        if view.rank == 0 or self.chance(0.3):
            return view, extents
        offsets, lengths, bounds, strides = [], [], [], []
        for dimension, extent in enumerate(extents):
            if self.chance(0.3):
                offsets.append("%c0"), lengths.append(extent), bounds.append(view.bounds[dimension]), strides.append(1)
                continue
            start = self.random.choice(["%c0", "%c1", "%c3"] + context.variables * 3)
            scale, length = self.random.choice([1, 1, 2, 3]), self.random.choice([1, 2, 3, 4, 9])
            offset = self.let(lines, f"arith.muli {start}, %c{scale} : index")
            offset = self.let(lines, f"arith.minui {offset}, {extent} : index")
            left = self.let(lines, f"arith.subi {extent}, {offset} : index")
            stride = 2 if dimension < view.rank - 1 and self.chance(0.2) else 1
            if stride == 2:
                left = self.let(lines, f"arith.ceildivui {left}, %c2 : index")
            offsets.append(offset), strides.append(stride)
            lengths.append(self.let(lines, f"arith.minui {left}, %c{length} : index"))
            bounds.append(min(length, view.bounds[dimension]))
        name = self.subview(lines, view, offsets, lengths, strides, view.rank)
        return View(name, view.rank, bounds, view.mode, view.memory), lengths

    def subview(self, lines, view, offsets, lengths, strides, rank):
        return self.let(lines, f"memref.subview {view.name}[{', '.join(offsets)}] [{', '.join(lengths)}] [{', '.join(map(str, strides))}] : "
                               f"{self.type(view.rank)} to {self.type(rank)}")

    def move(self, source, target, rank, token=None, attributes=""):
        made = f"{token} = " if token else ""
        return f"{made}svm.move {source} to {target}{attributes} : {self.type(rank)} to {self.type(rank)}" + (" -> !svm.token" if token else "")

    # ---- statements ----
    def statements(self, context, least, most):
        made = []
        for _ in range(self.random.randint(least, most)):
            if self.budget > 0:
                self.budget -= 1
                statement = self.statement(context)
                if statement:
                    made.append(statement)
        return made

    def statement(self, context):
        kinds = ["task"] * 6 + ["control", "direct", "move_between", "choice", "state", "beside"]
        kinds += ["gathered"] * 2 + ["gather_between", "graph", "queue"] + ["shift"] * 3 * bool(context.delays)
        if context.depth < 5:
            kinds += ["loop"] * 3 + ["parallel"] * 4 + ["delay"] + ["sides"] * (not context.dealt)
        return getattr(self, self.random.choice(kinds))(context)

    def plain(self, context, writable=False, touchable=False):
        """Views that are no private copies."""
        return [v for v in context.views if v.mode in (("rw",) if writable else ("rw", "r")) and (not touchable or context.touches(v))]

    def task(self, context):
        """A call: blocks, moves in, work, moves out."""
        if not self.plain(context):
            return None
        lines, params = [], []
        here = context.here
        label = self.name("t")
        if here == CONTROL and self.chance(0.5):
            here = WORKER
            context.function.calls[label] = {"on": WORKER}
        elif self.chance(0.1):
            context.function.calls[label] = {"on": here}
        outside = self.chance(0.15)
        for _ in range(self.random.randint(1, 3)):
            view = self.random.choice(self.plain(context))
            mode = self.random.choice(["in", "inout", "inout", "out"]) if view.mode == "rw" else "in"
            part, extents = self.part(lines, context, view)
            params.append((view, part, extents, mode))
        written = [view for view, _, _, mode in params if mode != "in"]
        apart = all(sum(view is other for other, _, _, _ in params) == 1 for view in written)
        disjoint = apart and not outside and self.chance(0.8)
        head = [f'svm.scope "{label}"{" disjoint" if disjoint else ""} {{']
        blocks, tokens, tail, fill = [], [], [], []
        memory = STORE if here == WORKER else MAIN
        for number, (view, part, extents, mode) in enumerate(params):
            block = View(self.name("%b"), part.rank, part.bounds, "rw", memory)
            blocks.append(block)
            context.function.blocks[f"{label}.{number}"] = memory
            keep = " {svm.keep}" if self.chance(0.07) else ""
            head.append(f'{block.name} = svm.block "{label}.{number}"({", ".join(extents)}) max [{", ".join(map(str, part.bounds))}]'
                        f' : {self.type(part.rank)}')
            if mode in ("in", "inout"):
                token = self.name("%k") if self.chance(0.07) else None
                fill.append(self.move(part.name, block.name, part.rank, token, keep))
                tokens += [token] if token else []
            else:
                whole = []
                self.run(whole, context, "set", [(block.name, block.rank)])
                fill.append("\n".join(whole))
            if mode in ("out", "inout"):
                tail.append(self.move(block.name, part.name, part.rank, None, keep))
        self.random.shuffle(fill)
        self.random.shuffle(tail) if apart else None
        if tokens:
            fill.append(f"svm.wait {', '.join(tokens)}")
        keeps = {block: mode for block, (_, _, _, mode) in zip(blocks, params)}
        for block in blocks:
            if keeps[block] == "in" and self.chance(0.8):
                block.mode = "r"
        seen = blocks + ([v for v in context.views if v.memory == MAIN] if outside else [])
        inner = context.inner(views=seen, here=here, variables=context.variables, dealt=context.dealt or here == WORKER)
        inside = lines + head + fill
        if not outside and self.chance(0.25) and context.depth < 4:
            body = [Statement([self.call(inner, blocks)])]
        elif self.chance(0.5):
            body = [s for s in (self.direct(inner) for _ in range(self.random.randint(1, 2))) if s]
        else:
            body = self.statements(inner, 1, 3)
        body += [Statement([line]) for line in tail]
        if self.chance(0.1):  # a block lives on behind its move out
            body += self.statements(inner, 1, 2)
        return Statement(inside, body, ["}"])

    def call(self, context, blocks):
        """A control function of its own that works on the blocks."""
        function = Function(self.name("f"), context.here)
        self.functions.append(function)
        views = [View(f"%a{n}", block.rank, block.bounds, block.mode, block.memory) for n, block in enumerate(blocks)]
        function.arguments = views
        delays = [delay for delay in context.delays if self.chance(0.7)]
        function.delays = [stream_kernels.stream_type(self.elements, name) for _, name in delays]
        inside = Context(function, views, context.here, context.depth, dealt=context.dealt)
        inside.delays, inside.work = [(f"%s{n}", name) for n, (_, name) in enumerate(delays)], context.work
        function.body = self.statements(inside, 1, 3)
        types = ", ".join([self.type(block.rank) for block in blocks] + function.delays)
        return f"func.call @{function.name}({', '.join([block.name for block in blocks] + [stream for stream, _ in delays])}) : ({types}) -> ()"

    def direct(self, context):
        """A kernel on what is there."""
        targets = self.plain(context, True, True)
        if not targets:
            return None
        target = self.random.choice(targets)
        sources = [v for v in self.plain(context, False, True) if v is not target]
        kind = self.random.choice(["set", "map", "update", "two", "scan"] if sources else ["set", "scan"])
        lines, chosen = [], []
        for _ in kernels.ACCESS[kind][:-1]:
            source = self.random.choice(sources)
            chosen.append(self.part(lines, context, source)[0] if self.chance(0.3) else source)
        chosen.append(self.part(lines, context, target)[0] if self.chance(0.3) else target)
        self.run(lines, context, kind, [(view.name, view.rank) for view in chosen])
        return Statement(lines)

    def beside(self, context):
        """Two kernels at once, on different blocks."""
        targets = self.plain(context, True, True)
        if len(targets) < 2:
            return None
        lines, tokens = [], []
        for target in self.random.sample(targets, 2):
            tokens.append(self.start(lines, context, "scan", [(target.name, target.rank)], 1))
        if self.chance(0.5):
            return Statement(lines + [f"svm.wait {', '.join(tokens)}"])
        # The end of a region waits as well.
        around = []
        begin = self.random.choice(["svm.scope {", "if", f"scf.for {self.name('%i')} = %c0 to %c{self.random.choice([1, 2])} step %c1 {{"])
        if begin == "if":
            begin = f"scf.if {self.let(around, 'arith.constant true') if self.chance(0.5) else self.condition(context, around)} {{"
        return Statement([*around, begin, *lines, "}"])

    def move_between(self, context):
        targets = self.plain(context, True)
        pairs = [(s, t) for t in targets for s in self.plain(context) if s is not t and s.rank == t.rank]
        if not pairs:
            return None
        source, target = self.random.choice(pairs)
        lines, lengths = [], []
        for a, b in zip(self.extents(lines, source), self.extents(lines, target)):
            lengths.append(self.let(lines, f"arith.minui {a}, {b} : index"))
        zeros, ones = ["%c0"] * source.rank, [1] * source.rank
        from_, to = (self.subview(lines, v, zeros, lengths, ones, v.rank) if v.rank else v.name for v in (source, target))
        lines.append(self.move(from_, to, source.rank))
        return Statement(lines)

    def control(self, context):
        """Control code that loads an element and stores it elsewhere."""
        targets, sources = self.plain(context, True, True), self.plain(context, False, True)
        if not targets:
            return None
        source, target = self.random.choice(sources), self.random.choice(targets)
        lines = []
        some, places = self.places(lines, context, (source, target))
        value = self.name("%v")
        lines += [f"scf.if {some} {{", f"  {value} = memref.load {source.name}[{places[0]}] : {self.type(source.rank)}",
                  f"  memref.store {value}, {target.name}[{places[1]}] : {self.type(target.rank)}", "}"]
        return Statement(lines)

    def places(self, lines, context, views):
        """Whether there is an element of each, and the indices of some one."""
        some = self.let(lines, "arith.constant true")
        places = []
        for view in views:
            place = []
            for extent in self.extents(lines, view):
                fine = self.let(lines, f"arith.cmpi sgt, {extent}, %c0 : index")
                some = self.let(lines, f"arith.andi {some}, {fine} : i1")
                last = self.let(lines, f"arith.subi {extent}, %c1 : index")
                last = self.let(lines, f"arith.maxsi {last}, %c0 : index")
                place.append(self.let(lines, f"arith.minui {self.random.choice(context.variables + ['%c1', '%c0'])}, {last} : index"))
            places.append(", ".join(place))
        return some, places

    def condition(self, context, lines):
        if context.state and self.chance(0.5):
            value = self.let(lines, f"memref.load {context.state}[] : memref<i32>")
            odd = self.let(lines, f"arith.andi {value}, %one : i32")
            return self.let(lines, f"arith.cmpi eq, {odd}, %zero : i32")
        value = self.random.choice(context.variables + ["%c1"])
        return self.let(lines, f"arith.cmpi {self.random.choice(['slt', 'sge', 'eq'])}, {value}, %c{self.random.randint(0, 4)} : index")

    def choice(self, context):
        lines = []
        lines.append(f"scf.if {self.condition(context, lines)} {{")
        return Statement(lines, self.statements(context.inner(), 1, 2), ["}"])

    def state(self, context):
        if not context.state:
            return None
        lines = []
        value = self.let(lines, f"memref.load {context.state}[] : memref<i32>")
        value = self.let(lines, f"arith.addi {value}, %one : i32")
        lines.append(f"memref.store {value}, {context.state}[] : memref<i32>")
        return Statement(lines)

    def count_of(self, context, lines):
        """How often a loop runs: a constant, or as often as a view has blocks."""
        views = [v for v in context.views if v.rank]
        if not views or self.chance(0.4):
            return f"%c{self.random.choice([0, 1, 2, 3, 4])}"
        extent = self.random.choice(self.extents(lines, self.random.choice(views)))
        return self.let(lines, f"arith.ceildivui {extent}, %c{self.random.choice([1, 2, 3, 4])} : index")

    def loop(self, context):
        lines = []
        count, variable, label = self.count_of(context, lines), self.name("%i"), self.name("l")
        here = context.here
        attribute = ""
        if self.chance(0.5):
            attribute = f' {{svm.label = "{label}"}}'
            if here == CONTROL and self.chance(0.3):
                here = WORKER
            context.function.loops[label] = {"on": here, "parts": [], "chunk": [0], "flat": count.startswith("%c")}
        lines.append(f"scf.for {variable} = {self.random.choice(['%c0', '%c0', '%c1'])} to {count} step {self.random.choice(['%c1', '%c1', '%c2'])} {{")
        inner = context.inner(variables=context.variables + [variable], here=here, dealt=context.dealt or here == WORKER, work=context.work * 4)
        return Statement(lines, self.statements(inner, 1, 3), ["}" + attribute])

    # ---- text ----
    def render(self, record):
        body = [line for name in sorted(self.kernels) for line in self.kernels[name]]
        body += [line for function in self.functions for line in self.render_function(function)]
        mapping = f", svm.mapping = {{{records.text(record, body)}}}" if record else ""
        return [f'module attributes {{svm.stage = "logical"{mapping}}} {{', *body, "}"]

    def render_function(self, function):
        arguments, extents = [], []
        for number, view in enumerate(function.arguments):
            access = "readwrite" if view.mode == "rw" else "read"
            name = f'svm.name = "a{number}", ' if function is self.entry else ""
            arguments.append(f'{view.name}: {self.type(view.rank)} {{{name}svm.access = "{access}"}}')
            shape = {0: "", 1: "s0" if number % 2 else "s1", 2: "s0, s1", 3: "s0, s1, s2"}[view.rank]
            extents.append(f"affine_map<()[s0, s1, s2] -> ({shape})>")
        arguments += [f"%s{number}: {type_}" for number, type_ in enumerate(function.delays)]
        entry = f' attributes {{svm.entry, svm.sizes = ["N", "M", "K"], svm.extents = [{", ".join(extents)}]}}' if function is self.entry else ""
        yield f"func.func @{function.name}({', '.join(arguments)}){entry} {{"
        for number in range(10):
            yield f"  %c{number} = arith.constant {number} : index"
        yield f"  %below = arith.constant {-BELOW} : index"
        yield "  %zero = arith.constant 0 : i32"
        yield "  %one = arith.constant 1 : i32"
        for statement in function.body:
            yield from statement.render()
        yield "  return"
        yield "}"
