"""Random gathers and scatters for the programs of generate.py: on copies and on what is there, with lists of indices that kernels or control
code make, of views with strides, with tokens or without."""
import index_kernels
from generate_tree import CONTROL, MAIN, STORE, WORKER, Statement, View

ENTRIES = [0, 1, 2, 3, 4, 9]
TIMES = 9  # how often the indices of a list go through what they name, at most


class List:
    """Indices: of a type of index_kernels, every second element of a block or all."""

    def __init__(self, name, element, spaced=False):
        self.name, self.type = name, index_kernels.list_type(element, spaced)


class IndexedMoves:
    """What Program does about them."""

    def gathered(self, context):
        """A call on a copy of the parts that indices name, which may go back to where they came from, or elsewhere."""
        sources = [v for v in self.plain(context) if v.rank]
        if not sources:
            return None
        lines, label = [], self.name("t")
        here = self.callers(context, label)
        source = self.random.choice(sources)
        part, extents = self.part(lines, context, source)
        others = [v for v in self.plain(context, True) if v.rank == source.rank and v is not source]
        back, target, across = None, None, extents
        if source.mode == "rw" and self.chance(0.5):
            target = part
        elif others and self.chance(0.8):
            back = self.random.choice(others)
            target, across = self.part(lines, context, back)
            part, target, extents, across = self.alike(lines, part, target, extents, across)
        count, bound = self.entries(lines, part, extents[0], across[0])
        disjoint = self.chance(0.7)
        lines.append(f'svm.scope "{label}"{" disjoint" if disjoint else ""} {{')
        # What a disjoint scope moves is touched by nothing else in it.
        inner = context.inner(here=here, views=[] if disjoint else context.views)
        inner.dealt = context.dealt or here == WORKER
        x = View(self.name("%b"), part.rank, [bound, *part.bounds[1:]], "rw", STORE if here == WORKER else MAIN)
        context.function.blocks[f"{label}.0"] = x.memory
        lines.append(f'{x.name} = svm.block "{label}.0"({", ".join([count, *extents[1:]])}) max [{", ".join(map(str, x.bounds))}] : {self.type(x.rank)}')
        chain = self.chance(0.2)
        list_, made = self.indices(lines, inner, f"{label}.1", count, bound, extents[0], chain)
        again, also = list_, made
        if back or (target and self.chance(0.3)):
            again, also = self.indices(lines, inner, f"{label}.2", count, bound, across[0], chain)
        inner.views = [x]
        whole = self.type(part.rank)
        if chain:
            here_gathered = self.indexed(lines, "gather", part.name, x.name, list_, whole, whole, made, True)
            worked = self.name("%k")
            kernel = self.kernel("scan", [x.rank])
            lines.append(f"{worked} = svm.run @{kernel}({x.name}, %c2) after({here_gathered}) : ({self.type(x.rank)}, index) -> !svm.token")
            last = worked
            if target:
                last = self.indexed(lines, "scatter", x.name, target.name, again, whole, whole, [worked, *also], True)
            return Statement([*lines, f"svm.wait {last}"], self.statements(inner, 0, 1), ["}"])
        token = self.indexed(lines, "gather", part.name, x.name, list_, whole, whole, [], self.chance(0.2))
        if token:
            lines.append(f"svm.wait {token}")
        body = [Statement([self.call(inner, [x])])] if self.chance(0.15) and context.depth < 4 else self.statements(inner, 1, 2)
        tail = []
        if target:
            token = self.indexed(tail, "scatter", x.name, target.name, again, whole, whole, [], self.chance(0.2))
            if token and self.chance(0.5):
                tail.append(f"svm.wait {token}")
        return Statement(lines, [*body, Statement(tail)], ["}"])

    def gather_between(self, context):
        """From one thing that is there to another."""
        pairs = [(s, t) for t in self.plain(context, True) for s in self.plain(context) if s is not t and s.rank == t.rank > 0]
        if not pairs:
            return None
        source, target = self.random.choice(pairs)
        kind = self.random.choice(["gather", "scatter"])
        lines, sizes, steps = [], [[], []], [[], []]
        for dimension, both in enumerate(zip(self.extents(lines, source), self.extents(lines, target))):
            last = dimension == source.rank - 1
            lengths = []
            for side, extent in enumerate(both):
                step = self.random.choice([1, 1, 2] if last else [1, 1, 1, 2])
                lengths.append(extent if step == 1 else self.let(lines, f"arith.ceildivui {extent}, %c2 : index"))
                steps[side].append(step)
            if dimension:
                lengths = [self.let(lines, f"arith.minui {lengths[0]}, {lengths[1]} : index")] * 2
            for side in (0, 1):
                sizes[side].append(lengths[side])
        # The parts that are not named lie one after another; there are as many as indices.
        named, plain = (0, 1) if kind == "gather" else (1, 0)
        count, bound = self.entries(lines, target if kind == "gather" else source, sizes[named][0], sizes[named][0])
        count = self.let(lines, f"arith.minui {count}, {sizes[plain][0]} : index")
        sizes[plain][0] = count
        label = self.name("t")
        lines.append(f'svm.scope "{label}" {{')
        list_, made = self.indices(lines, context, f"{label}.0", count, bound, sizes[named][0], False)
        views = [self.spaced_part(lines, view, sizes[side], steps[side]) for side, view in enumerate((source, target))]
        token = self.indexed(lines, kind, views[0][0], views[1][0], list_, views[0][1], views[1][1], made, self.chance(0.3))
        if token and self.chance(0.6):
            lines.append(f"svm.wait {token}")
        return Statement([*lines, "}"])

    # ---- parts of statements ----
    def callers(self, context, label):
        """Who executes a scope; the record says so where it is another one."""
        if context.here == CONTROL and self.chance(0.5):
            context.function.calls[label] = {"on": WORKER}
            return WORKER
        return context.here

    def alike(self, lines, part, target, extents, across):
        """Both, cut to the same extents in all dimensions but the first."""
        if part.rank == 1:
            return part, target, extents, across
        common = [self.let(lines, f"arith.minui {a}, {b} : index") for a, b in zip(extents[1:], across[1:])]
        bounds = [min(a, b) for a, b in zip(part.bounds[1:], target.bounds[1:])]
        made = []
        for view, first in ((part, extents[0]), (target, across[0])):
            name = self.subview(lines, view, ["%c0"] * view.rank, [first, *common], [1] * view.rank, view.rank)
            made.append(View(name, view.rank, [view.bounds[0], *bounds], view.mode, view.memory))
        return *made, [extents[0], *common], [across[0], *common]

    def entries(self, lines, part, extent, other):
        """How many indices a list has, and at most; none where there is nothing that they could name."""
        bound = self.random.choice(ENTRIES + [part.bounds[0]] * 3)
        if bound == part.bounds[0] and bound > TIMES:
            count = extent
        else:
            bound = min(bound, TIMES)
            most = self.let(lines, f"arith.muli {extent}, %c{TIMES} : index")
            count = self.let(lines, f"arith.minui %c{bound}, {most} : index")
        if other != extent:
            most = self.let(lines, f"arith.muli {other}, %c{TIMES} : index")
            count = self.let(lines, f"arith.minui {count}, {most} : index")
        return count, bound

    def indices(self, lines, context, label, count, bound, extent, beside):
        """A list that control code or a kernel makes, and the tokens after which it is there."""
        element, kind = self.random.choice(index_kernels.ELEMENTS), self.random.choice(index_kernels.KINDS)
        memory = STORE if context.here == WORKER else MAIN
        whole, spaced = index_kernels.list_type(element), self.chance(0.2)
        size = self.let(lines, f"arith.muli {count}, %c2 : index") if spaced else count
        name = self.name("%l")
        context.function.blocks[label] = memory
        lines.append(f'{name} = svm.block "{label}"({size}) max [{max(2 * bound if spaced else bound, 1)}] : {whole}')
        number, tokens = self.random.choice(context.variables + ["%c2"]), []
        data = [v for v in self.plain(context, touchable=True)]
        if kind == "data" and not data:
            kind = "wrap"
        if not beside and kind != "data" and self.chance(0.3):
            place = self.name("%i")
            lines.append(f"scf.for {place} = %c0 to {size} step %c1 {{")
            value = index_kernels.formula(lambda text: self.let(lines, text), kind, element, place, extent, number)
            lines += [f"memref.store {value}, {name}[{place}] : {whole}", "}"]
        else:
            view = self.random.choice(data) if kind == "data" else None
            kernel = index_kernels.name_of(kind, element, view.rank if view else None)
            self.kernels[kernel] = index_kernels.kernel(self.elements, kind, element, view.rank if view else None)
            arguments, types = [name, extent, number], [whole, "index", "index"]
            if view:
                arguments, types = [view.name, *arguments], [self.type(view.rank), *types]
            tokens = [self.name("%k")] if beside else []
            made = "".join(f"{token} = " for token in tokens)
            lines.append(f"{made}svm.run @{kernel}({', '.join(arguments)}) : ({', '.join(types)}) -> {'!svm.token' if tokens else '()'}")
        list_ = List(name, element)
        if not beside and self.chance(0.2):  # a copy of it, perhaps elsewhere
            copy = self.name("%l")
            context.function.blocks[f"{label}.copy"] = self.random.choice([memory, MAIN])
            lines += [f'{copy} = svm.block "{label}.copy"({size}) max [{max(2 * bound if spaced else bound, 1)}] : {whole}',
                      f"svm.move {name} to {copy} : {whole} to {whole}"]
            list_ = List(copy, element)
        if spaced:
            wide = List("", element, True)
            wide.name = self.let(lines, f"memref.subview {list_.name}[%c0] [{count}] [%c2] : {whole} to {wide.type}")
            list_ = wide
        return list_, tokens

    def spaced_part(self, lines, view, sizes, steps):
        """The value and type of a view from the beginning on. A type that says nothing of the last step goes with one that is a value."""
        rank, whole = view.rank, self.type(view.rank)
        last = steps[-1] != 1
        type_ = whole.replace("1], offset", "?], offset") if last else whole
        texts = [*map(str, steps[:-1]), f"%c{steps[-1]}" if last else "1"]
        name = self.let(lines, f"memref.subview {view.name}[{', '.join(['%c0'] * rank)}] [{', '.join(sizes)}] [{', '.join(texts)}] : {whole} to {type_}")
        return name, type_

    def indexed(self, lines, kind, source, target, list_, from_type, to_type, after, with_token):
        """A gather or scatter; its token, if it has one."""
        token = self.name("%k") if with_token else None
        made = f"{token} = " if token else ""
        behind = f" after({', '.join(after)})" if after else ""
        gives = " -> !svm.token" if token else ""
        if kind == "gather":
            lines.append(f"{made}svm.gather {source}[{list_.name}] to {target}{behind} : {from_type}[{list_.type}] to {to_type}{gives}")
        else:
            lines.append(f"{made}svm.scatter {source} to {target}[{list_.name}]{behind} : {from_type} to {to_type}[{list_.type}]{gives}")
        return token
