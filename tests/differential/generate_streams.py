"""Random streams for the programs of generate.py: between kernels that run at once, in control code, kept over iterations of loops that run in
order, and between concurrent iterations. No program waits for ever: what is pushed has room, or is popped by what runs at once with it."""
import stream_kernels
from generate_tree import CONTROL, MAIN, STORE, WORKER, Statement, View

CAPACITIES = [1, 1, 1, 2, 2, 3, 5, 9]


class Streams:
    """What Program does about them."""

    # ---- what all of them need ----
    def stream(self, lines, context, name, least=1):
        """Makes one for elements of the type `name`."""
        made, label = self.name("%q"), self.name("q")
        capacity = self.random.choice([c for c in CAPACITIES if c >= least])
        # A name is what the record refers to it by.
        text = f' "{label}"' if self.chance(0.85) else ""
        if text:
            context.function.streams[label] = [None, MAIN] + [STORE] * (context.here == WORKER)
        lines.append(f"{made} = svm.stream{text}(%c{capacity}) : {stream_kernels.stream_type(self.elements, name)}")
        return made, capacity

    def element_type(self):
        return self.random.choice(stream_kernels.TYPES[self.elements.name])

    def start_stream(self, kind, name, streams, block=None, after=(), beside=True):
        """The run of a kernel of stream_kernels.py, as a line, and its token."""
        kernel = stream_kernels.name_of(kind, block.rank if block else None, name)
        self.kernels[kernel] = stream_kernels.kernel(self.elements, kind, block.rank if block else None, name)
        arguments = ([block.name] if block else []) + streams
        types = ([self.type(block.rank)] if block else []) + [stream_kernels.stream_type(self.elements, name)] * len(streams)
        token = self.name("%k") if beside else None
        behind = f" after({', '.join(after)})" if after else ""
        return (f"{token + ' = ' if token else ''}svm.run @{kernel}({', '.join(arguments)}){behind} : ({', '.join(types)}) -> "
                + ("!svm.token" if token else "()")), token

    def copy_of(self, lines, context, label, number, view, moves):
        """A block for a part of a view, moved in."""
        part, extents = self.part(lines, context, view)
        block = View(self.name("%b"), part.rank, part.bounds, "rw", STORE if context.here == WORKER else MAIN)
        context.function.blocks[f"{label}.{number}"] = block.memory
        moves += [f'{block.name} = svm.block "{label}.{number}"({", ".join(extents)}) max [{", ".join(map(str, part.bounds))}] : {self.type(part.rank)}']
        return part, block

    # ---- kernels at once ----
    def graph(self, context):
        """Kernels joined by streams: a line, a fan, a join, or several one after another at an end of one."""
        targets = self.plain(context, True)
        pairs = [(s, t) for t in targets for s in self.plain(context) if s is not t]
        if not pairs:
            return None
        source, target = self.random.choice(pairs)
        more = [t for t in targets if t is not source and t is not target]
        lines, head, name, label = [], [], self.element_type(), self.name("t")
        here = self.callers(context, label)
        inner = context.inner(here=here)
        part, x = self.copy_of(lines, inner, label, 0, source, head)
        to, y = self.copy_of(lines, inner, label, 1, target, head)
        head.append(self.move(part.name, x.name, x.rank))
        shape = self.random.choice(["line", "line", "fan", "join", "relay", "before"])
        runs, tail = [], [self.move(y.name, to.name, y.rank)]

        def run(*arguments, **named):
            line, token = self.start_stream(*arguments, **named)
            runs.append((line, token))
            return token
        q, _ = self.stream(head, inner, name, 2 if shape == "line" else 1)
        if shape == "line":
            run("give1", name, [q], x)
            for _ in range(self.random.choice([0, 0, 1, 2])):
                kind = self.random.choice(["pass", "ahead"])
                following, _ = self.stream(head, inner, name, 2)
                run(kind, name, [q, following])
                q = following
            run("drain", name, [q], y)
        elif shape == "fan":
            r, _ = self.stream(head, inner, name)
            run("give2", name, [q, r], x)
            run("drain", name, [q], y)
            other, z = self.copy_of(lines, inner, label, 2, self.random.choice(more) if more else source, head)
            run("drain", name, [r], z)
            if more:
                tail.append(self.move(z.name, other.name, z.rank))
        elif shape == "join":
            r, _ = self.stream(head, inner, name)
            s, _ = self.stream(head, inner, name)
            t, _ = self.stream(head, inner, name)
            run("give2", name, [q, r], x)
            run("pass", name, [r, s])
            run("join", name, [q, s, t])
            run("drain", name, [t], y)
        else:  # two push one after another, or two pop
            again, z = self.copy_of(lines, inner, label, 2, source, head)
            head.append(self.move(again.name, z.name, z.rank))
            if shape == "relay":
                first = run("part1", name, [q], x)
                run("give1", name, [q], z, after=[first])
                run("drain", name, [q], y)
            else:
                run("give1", name, [q], x)
                first = run("exact", name, [q], z)
                run("drain", name, [q], y, after=[first])
                if source.mode == "rw" and self.chance(0.5):
                    tail.append(self.move(z.name, again.name, z.rank))
        if shape not in ("relay", "before"):
            self.random.shuffle(runs)
            if self.chance(0.3):  # its starter waits for the last one
                line, token = runs.pop()
                runs.append((line.replace(f"{token} = ", "").replace("-> !svm.token", "-> ()"), None))
        waits = [token for _, token in runs if token]
        self.random.shuffle(waits)
        body = [*head, *(line for line, _ in runs)]
        body += [f"svm.wait {', '.join(waits)}"] if self.chance(0.6) or not waits else [f"svm.wait {token}" for token in waits]
        return Statement([*lines, f'svm.scope "{label}" {{', *body, *tail, "}"])

    # ---- control code ----
    def loaded(self, lines, context, name):
        """An element for a stream, from what is there, or made of a number."""
        views = self.plain(context, touchable=True)
        number = self.random.choice(context.variables + ["%c1", "%c3"])

        def made(into):
            def one(type):
                return self.let(into, f"arith.index_cast {number} : index to {type}")
            if not self.elements.fields:
                return one(self.elements.type)
            fields = [one(field) for field in self.elements.fields]
            return self.let(into, f"svm.record({', '.join(fields)}) : ({', '.join(self.elements.fields)}) -> {self.elements.type}")
        if not views or self.chance(0.3):
            value = made(lines)
        else:
            view = self.random.choice(views)
            some, (place,) = self.places(lines, context, [view])
            value = self.name("%v")
            lines.append(f"{value} = scf.if {some} -> ({self.elements.type}) {{")
            found = self.let(lines, f"memref.load {view.name}[{place}] : {self.type(view.rank)}")
            lines += [f"scf.yield {found} : {self.elements.type}", "} else {"]
            otherwise = made(lines)
            lines += [f"scf.yield {otherwise} : {self.elements.type}", "}"]
        return stream_kernels.to_stream(self.elements, lambda text: self.let(lines, text), name, value)

    def stored(self, lines, context, name, value, more):
        """Keeps an element of a stream somewhere; one that there was, mostly."""
        views = self.plain(context, True, True)
        if not views:
            return
        view = self.random.choice(views)
        value = stream_kernels.from_stream(self.elements, lambda text: self.let(lines, text), name, value)
        some, (place,) = self.places(lines, context, [view])
        if self.chance(0.5):
            some = self.let(lines, f"arith.andi {some}, {more} : i1")
        lines += [f"scf.if {some} {{", f"  memref.store {value}, {view.name}[{place}] : {self.type(view.rank)}", "}"]

    def pushed(self, lines, context, name, streams):
        value = self.loaded(lines, context, name)
        type_, text = stream_kernels.stream_type(self.elements, name), stream_kernels.text_of(self.elements, name)
        lines.append(f"svm.push {value} to {', '.join(streams)} : {text} to {', '.join([type_] * len(streams))}")

    def taken(self, lines, context, name, stream, peek=None):
        value, more = self.name("%v"), self.name("%v")
        what = f"svm.peek {stream}[%c{peek}]" if peek is not None else f"svm.pop {stream}"
        lines.append(f"{value}, {more} = {what} : {stream_kernels.stream_type(self.elements, name)} -> {stream_kernels.text_of(self.elements, name)}")
        self.stored(lines, context, name, value, more)

    def queue(self, context):
        """Control code that pushes to a stream and pops from it, once or several times in a loop."""
        lines, name = [], self.element_type()
        label = self.name("t")
        inner = context.inner(here=self.callers(context, label))
        lines.append(f'svm.scope "{label}" {{')
        q, capacity = self.stream(lines, inner, name)
        held, ended = 0, False
        for _ in range(self.random.randint(2, 7)):
            room = capacity - held
            kind = self.random.choice(["push"] * 3 + ["pop"] * 2 + ["peek", "end", "loop", "both"])
            if kind == "push" and room and not ended:
                self.pushed(lines, inner, name, [q])
                held += 1
            elif kind == "pop" and (held or ended):
                self.taken(lines, inner, name, q)
                held = max(held - 1, 0)
            elif kind == "peek" and (held or ended):
                self.taken(lines, inner, name, q, self.random.randrange(capacity if ended else held))
            elif kind == "end" and self.chance(0.3):
                lines.append(f"svm.end {q} : {stream_kernels.stream_type(self.elements, name)}")
                ended = True
            elif kind in ("loop", "both") and room and not ended:
                count, variable = self.random.randint(0, min(room, 4) if kind == "loop" else 4), self.name("%i")
                lines.append(f"scf.for {variable} = %c0 to %c{count} step %c1 {{")
                again = inner.inner(variables=inner.variables + [variable])
                self.pushed(lines, again, name, [q])
                if kind == "both":
                    self.taken(lines, again, name, q)
                else:
                    held += count
                lines.append("}")
        return Statement([*lines, "}"])

    # ---- streams that are kept ----
    def delay(self, context):
        """A stream that holds some elements, for what runs in order within."""
        lines, name, label = [], self.element_type(), self.name("t")
        inner = context.inner(here=self.callers(context, label))
        inner.dealt = context.dealt or inner.here == WORKER
        lines.append(f'svm.scope "{label}" {{')
        q, capacity = self.stream(lines, inner, name)
        for _ in range(self.random.randint(0, min(capacity - 1, 3))):
            self.pushed(lines, inner, name, [q])
        inner.delays = [*context.delays, (q, name)]
        return Statement(lines, [*self.statements(inner, 1, 3), *filter(None, [self.shift(inner)])], ["}"])

    def shift(self, context):
        """An element goes in, another one comes out."""
        if not context.delays:
            return None
        lines, (q, name) = [], self.random.choice(context.delays)
        views = self.plain(context, True, True)
        if views and self.chance(0.5):
            view = self.random.choice(views)
            line, token = self.start_stream("shift", name, [q], view, beside=self.chance(0.3))
            return Statement([line, f"svm.wait {token}"] if token else [line])
        self.pushed(lines, context, name, [q])
        self.taken(lines, context, name, q)
        return Statement(lines)

    # ---- concurrent iterations ----
    def sides(self, context):
        """Iterations that wait for each other: one gives, one takes, and perhaps one stands between them."""
        targets = self.plain(context, True)
        pairs = [(s, t) for t in targets for s in self.plain(context) if s is not t]
        if context.dealt or not pairs:
            return None
        source, target = self.random.choice(pairs)
        lines, name, label = [], self.element_type(), self.name("c")
        shape = self.random.choice([[2], [3], [2, 1], [1, 2], [2, 2], [1, 2, 2]])
        sides = 1
        for extent in shape:
            sides *= extent
        here = self.random.choice([CONTROL, WORKER])
        # Instances of one processor, or as many as there are processors.
        context.function.loops[label] = {"on": here, "parts": self.parts(len(shape), 8 if here == WORKER else 1, False), "chunk": [0],
                                         "dimensions": len(shape), "ordered": False, "flat": False, "concurrent": True}
        q, _ = self.stream(lines, context, name)
        r = self.stream(lines, context, name)[0] if sides > 2 else q
        inner = context.inner(here=here, dealt=True, delays=[], state=None)
        variables = [self.name("%i") for _ in shape]
        inner.variables = context.variables + variables
        lines.append(f'svm.parallel "{label}" ({", ".join(variables)}) = ({", ".join(["%c0"] * len(shape))}) to '
                     f'({", ".join(f"%c{n}" for n in shape)}) concurrent {{')
        number = "%c0"
        for variable, extent in zip(variables, shape):
            number = self.let(lines, f"arith.muli {number}, %c{extent} : index")
            number = self.let(lines, f"arith.addi {number}, {variable} : index")
        order = self.random.sample(range(sides), sides)
        bodies = []
        for kind, streams, view in (("give1", [q], source), ("drain", [r], target), ("pass", [q, r], None))[:min(sides, 3)]:
            side = []
            which = self.let(side, f"arith.cmpi eq, {number}, %c{order[len(bodies)]} : index")
            side.append(f"scf.if {which} {{")
            at, head, tail, block = self.name("t"), [], [], None
            if view:
                part, block = self.copy_of(side, inner, at, 0, view, head)
                (tail if kind == "drain" else head).append(self.move(block.name, part.name, part.rank) if kind == "drain"
                                                           else self.move(part.name, block.name, part.rank))
            line, token = self.start_stream(kind, name, streams, block, beside=self.chance(0.2))
            bodies.append([*side, f'svm.scope "{at}" {{', *head, line, *([f"svm.wait {token}"] if token else []), *tail, "}", "}"])
        self.random.shuffle(bodies)
        return Statement(lines + [line for body in bodies for line in body] + ["}"])
