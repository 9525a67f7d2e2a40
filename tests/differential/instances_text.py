"""The text of random concurrent programs (instances_generate.py) in the svm dialect, in one of the ways in which each can be said: waiting in kernels,
in control code, in functions or by streams; instances as branches of one function or as functions; copies in the main memory or in a near one;
loops unrolled or in stages."""

from instances_generate import KERNELS, Loop, Scope, Step

ACCESS = {"r": "read", "w": "write", "x": "readwrite"}
FLAGS = "memref<?xi32, strided<[1], offset: ?>>"


def block_type(rank, element, spaced=False):
    strides = ["?"] * rank
    if not spaced:
        strides[-1] = "1"
    return f"memref<{'?x' * rank}{element}, strided<[{', '.join(strides)}], offset: ?>>"


class Body:
    """The lines of a function, whose constants stand first."""

    def __init__(self, text, head, hides):
        self.text, self.head, self.lines, self.constants, self.indent, self.hides = text, head, [], set(), 1, hides

    def add(self, line, indent=0):
        self.indent += min(indent, 0)
        self.lines.append("  " * self.indent + line)
        self.indent += max(indent, 0)

    def let(self, expression):
        name = self.text.program.name("%v")
        self.add(f"{name} = {expression}")
        return name

    def constant(self, number):
        """A number, which the compiler may or may not know."""
        self.constants.add(number)
        if self.hides and self.text.chance(0.4):
            return self.let(f"arith.addi %c{number}, %z : index")
        return f"%c{number}"

    def render(self):
        yield self.head
        for number in sorted(self.constants | {0, 1}):
            yield f"  %c{number} = arith.constant {number} : index"
        yield from self.lines
        yield "  return"
        yield "}"


class Text:
    """REQUIRES: what is asked of the machine: {"name": …, "near": whether there is a memory near the processors}, or None for any."""

    def __init__(self, program, machine, fault=None):
        self.program, self.machine, self.fault = program, machine, fault
        reached = [step for step in program.steps if not step.when and all(loop.count for loop in step.loops) and step.kind != "wait"]
        self.planted = program.random.choice(reached) if reached and fault in FAULTS else None
        self.kernels, self.functions, self.records = {}, [], {}
        self.is_refused = False  # for what it says of an operation
        self.random = program.random
        self.styles = {edge.number: self.random.choice(["kernel", "kernel", "control", "function", "joined"]) for edge in program.edges}
        self.blocks, self.transformed, self.arguments = {}, {}, {}

    def chance(self, probability):
        return self.random.random() < probability

    def lines(self):
        program = self.program
        parameters = [f'%{a.name}: {block_type(len(a.shape), program.type)}' for a in program.arrays] + [f"%F: {FLAGS}", "%z: index"]
        names = [a.name for a in program.arrays] + ["F", "z"]
        attributes = [f' {{svm.name = "{name}"' + (', svm.access = "readwrite"}' if name != "z" else "}") for name in names]
        shapes = [", ".join(map(str, a.shape)) for a in program.arrays] + [str(len(program.edges) + 1), ""]
        extents = ", ".join(f"affine_map<() -> ({shape})>" for shape in shapes)
        head = (f"func.func @main({', '.join(p + a for p, a in zip(parameters, attributes))}) attributes {{svm.entry, svm.sizes = [], "
                f"svm.extents = [{extents}]}} {{")
        main = Body(self, head, True)
        self.current = "main"
        streams = [edge for edge in program.edges if edge.stream]
        for edge in streams:
            main.add(f'%q{edge.number} = svm.stream "q{edge.number}"({main.constant(edge.total() + 1)}) : !svm.stream<i32>')
        main.add(f'svm.parallel "side" (%side) = (%c0) to ({main.constant(program.instances)}) concurrent {{', 1)
        separate = self.chance(0.4)
        if self.chance(0.5):
            main.add("scf.index_switch %side")
            for instance in range(program.instances - 1):
                main.add(f"case {instance} {{", 1)
                self.instance(main, instance, separate, parameters)
                main.add("scf.yield", 0)
                main.add("}", -1)
            main.add("default {", 1)
            self.instance(main, program.instances - 1, separate, parameters)
            main.add("}", -1)
        else:
            for instance in range(program.instances):
                here = main.let(f"arith.cmpi eq, %side, {main.constant(instance)} : index")
                main.add(f"scf.if {here} {{", 1)
                self.instance(main, instance, separate, parameters)
                main.add("}", -1)
        main.add("}", -1)
        lines = [line for body in [*self.functions, main] for line in body.render()]
        if self.fault == "attribute":
            self.lie(lines)
        yield f"module attributes {{{self.module_attributes()}}} {{"
        for name in sorted(self.kernels):
            yield from self.kernels[name]
        yield from lines
        yield "}"

    def module_attributes(self):
        if not self.machine:
            return 'svm.stage = "logical"'
        records = []
        for function in {**self.blocks, **self.transformed, **self.arguments}:
            blocks = ", ".join(f'{label} = "{memory}"' for label, memory in self.blocks.get(function, {}).items())
            loops = ", ".join(f"{label} = {{{', '.join(f'{what} = {n} : i64' for what, n in how.items())}}}"
                              for label, how in self.transformed.get(function, {}).items())
            arguments = ", ".join(f'"{memory}"' for memory in self.arguments.get(function, []))
            records.append(f"{function} = {{{f'arguments = [{arguments}], ' if arguments else ''}blocks = {{{blocks}}}, loops = {{{loops}}}}}")
        return f'svm.stage = "logical", svm.machine = "{self.machine}", svm.mapping = {{{", ".join(records)}}}'

    def instance(self, main, instance, separate, parameters):
        body = main
        if separate:
            streams = [e.number for e in self.program.edges if e.stream]
            parameters = parameters + [f"%q{number}: !svm.stream<i32>" for number in streams]
            values, types = zip(*(p.split(": ", 1) for p in parameters))
            main.add(f"func.call @side{instance}({', '.join(values)}) : ({', '.join(types)}) -> ()")
            body = Body(self, f"func.func @side{instance}({', '.join(parameters)}) {{", True)
            self.functions.append(body)
            self.current = f"side{instance}"
        self.body(body, self.program.body, instance)
        self.current = "main"

    # ---- steps ----
    def body(self, out, body, instance):
        for node in body:
            if isinstance(node, Step):
                if node.instance == instance:
                    self.step(out, node)
            elif isinstance(node, Loop):
                if any(step.instance == instance for step in self.program.steps_of(node.body)):
                    self.loop(out, node, instance)
            elif node.owner == instance:
                self.scope(out, node)
            else:
                self.body(out, node.body, instance)

    def loop(self, out, loop, instance):
        self.waits(out, loop, instance, "await")
        to, label = out.constant(loop.count), f"{loop.variable}_{instance}"
        if loop.how.get(instance) == "spmd":
            out.add(f'svm.parallel "{label}" (%{loop.variable}) = (%c0) to ({to}) {{', 1)
            how = {"stages": self.random.choice([1, 2, 2, 3])}
        else:
            out.add(f"scf.for %{loop.variable} = %c0 to {to} step %c1 {{", 1)
            how = {}
        if self.chance(0.3):
            how["unroll"] = self.random.choice([2, 3])
        how = {what: n for what, n in how.items() if n > 1}
        self.body(out, loop.body, instance)
        out.add("}" if loop.how.get(instance) == "spmd" else f'}} {{svm.label = "{label}"}}', -1)
        if how and self.machine:
            self.transformed.setdefault(self.current, {})[label] = how
        self.waits(out, loop, instance, "tell")

    def scope(self, out, scope):
        out.add(f'svm.scope "{scope.block.name}_scope"{" disjoint" if scope.disjoint else ""} {{', 1)
        extents = [out.constant(extent) for extent in scope.block.shape]
        name, rank = scope.block.name, len(scope.block.shape)
        out.add(f'%{name} = svm.block "{name}"({", ".join(extents)}) max {list(scope.block.shape)} : {block_type(rank, self.program.type)}')
        if scope.near and self.machine:
            self.blocks.setdefault(self.current, {})[name] = "near"
        outside = self.view(out, scope.view)  # the same value on the way in and out
        if scope.begin:
            self.step(out, scope.begin, outside)
        self.body(out, scope.body, scope.owner)
        if scope.end:
            self.step(out, scope.end, outside, True)
        out.add("}", -1)

    def view(self, out, view):
        """The value and type of a view."""
        rank = len(view.shape)
        whole = block_type(rank, self.program.type)
        if type(view).__name__ == "Whole":
            return f"%{view.block.name}", whole
        offsets = []
        for offset, slope in zip(view.offsets, view.slopes):
            at = out.constant(offset)
            for variable, by in slope.items():
                part = out.let(f"arith.muli %{variable}, {out.constant(by)} : index")
                at = out.let(f"arith.addi {at}, {part} : index")
            offsets.append(at)
        sizes = [out.constant(size) for size in view.sizes]
        type_ = block_type(rank, self.program.type, view.is_spaced())
        # A type that says nothing of the last dimension's step goes with one that is a value.
        steps = [str(step) for step in view.steps[:-1]] + [out.constant(view.steps[-1]) if view.is_spaced() else "1"]
        return out.let(f"memref.subview %{view.block.name}[{', '.join(offsets)}] [{', '.join(sizes)}] [{', '.join(steps)}] : {whole} to {type_}"), type_

    def step(self, out, step, scope_view=None, at_end=False):
        awaits, tells = self.program.at(step, step.instance, "await"), self.program.at(step, step.instance, "tell")
        joins = step.kind in KERNELS and not step.token and not step.when
        waited = [e for e in awaits if joins and self.styles[e.number] == "joined" and not e.stream][-1:]
        told = [e for e in tells if joins and self.styles[e.number] == "joined" and not e.stream][:1]
        for edge in awaits:
            if edge not in waited:
                self.one_edge(out, edge, "await")
        if step.when:
            remainder = out.let(f"arith.remui %{step.when[0]}, {out.constant(2)} : index")
            out.add(f"scf.if {out.let(f'arith.cmpi eq, {remainder}, {out.constant(step.when[1])} : index')} {{", 1)
        views = [scope_view if scope_view and view is not step.views[0 if at_end else 1] else self.view(out, view)
                 for view in step.views]
        token = f"%{step.token} = " if step.token else ""
        after = f" after({', '.join('%' + t for t in step.after)})" if step.after else ""
        gives = "!svm.token" if step.token else "()"
        if step.kind == "wait":
            out.add(f"svm.wait {', '.join('%' + t for t in step.waits)}")
        elif step.kind == "move":
            out.add(f"{token}svm.move {views[0][0]} to {views[1][0]}{after} : {views[0][1]} to {views[1][1]}" + (f" -> {gives}" if token else ""))
        else:
            kernel = self.kernel(step.kind, len(step.views[0].shape), bool(waited), bool(told),
                                 variable=self.random.choice([200, 2000, 70000, 2**20]) if step.style == "large" else 0)
            values, types = [v for v, _ in views], [t for _, t in views]
            if waited or told:
                values, types = [*values, "%F"], [*types, FLAGS]
            for edges, what in ((waited, "await"), (told, "tell")):
                for edge in edges:
                    values += [out.constant(edge.number), self.number(out, edge, what)]
                    types += ["index", "index"]
            if step.style == "function":
                callee = self.calling(kernel, types, [self.memory(view.block) for view in step.views])
                out.add(f"func.call @{callee}({', '.join(values)}) : ({', '.join(types)}) -> ()")
            else:
                out.add(f"{token}svm.run @{kernel}({', '.join(values)}){after} : ({', '.join(types)}) -> {gives}")
        if step.when:
            out.add("}", -1)
        if step is self.planted:
            self.plant(out)
        for edge in tells:
            if edge not in told:
                self.one_edge(out, edge, "tell")

    # ---- faults ----
    def plant(self, out):
        """One fault, of which FAULTS says how the program ends."""
        array = self.random.choice(self.program.arrays)
        rank, whole = len(array.shape), block_type(len(array.shape), self.program.type)
        dimension = self.random.randrange(rank)
        size = self.random.randint(2, array.shape[dimension] - 1)
        distance = self.random.randint(1, min(size - 1, array.shape[dimension] - size)) * self.random.choice([1, -1])
        begin = self.random.randint(max(0, -distance), array.shape[dimension] - size - max(0, distance))
        shape = list(array.shape)
        shape[dimension] = size

        def part(at):
            offsets = ["0"] * rank
            offsets[dimension] = out.constant(at)
            sizes = [out.constant(n) for n in shape]
            ones = ", ".join(["1"] * rank)
            return out.let(f"memref.subview %{array.name}[{', '.join(offsets)}] [{', '.join(sizes)}] [{ones}] : {whole} to {whole}")

        if self.fault == "move-overlap":
            out.add(f"svm.move {part(begin)} to {part(begin + distance)} : {whole} to {whole}")
        elif self.fault == "argument-overlap":
            out.add(f"svm.run @{self.kernel('map', rank)}({part(begin)}, {part(begin + distance)}) : ({whole}, {whole}) -> ()")
        elif self.fault == "scope-overlap":
            views, name = [part(begin), part(begin + distance)], self.program.name("%w")
            out.add("svm.scope disjoint {", 1)
            out.add(f"{name} = svm.block({', '.join(out.constant(n) for n in shape)}) max {shape} : {whole}")
            out.add(f"svm.move {views[0]} to {name} : {whole} to {whole}")
            out.add(f"svm.move {name} to {views[1]} : {whole} to {whole}")
            out.add("}", -1)
        elif self.fault == "one block twice":
            out.add(f"svm.run @{self.kernel('map', rank)}(%{array.name}, %{array.name}) : ({whole}, {whole}) -> ()")
        elif self.fault == "stores to read":
            out.add(f"svm.run @{self.kernel('update', rank, reads=True)}(%{array.name}) : ({whole}) -> ()")
        elif self.fault == "index-out-of-range":
            at = ["%c0"] * rank
            at[dimension] = out.constant(self.random.choice([array.shape[dimension], 2**40, 2**63 - 1]))
            value = out.let(f"memref.load %{array.name}[{', '.join(at)}] : {whole}")
            out.add(f"memref.store {value}, %{array.name}[{', '.join(['%c0'] * rank)}] : {whole}")
        elif self.fault == "large variable":
            out.add(f"svm.run @{self.kernel('update', rank, variable=2**20 + 1)}(%{array.name}) : ({whole}) -> ()")

    def lie(self, lines):
        """Says of an operation what nobody has proved. What only passes may say is refused; with the rest the program gives what it gave."""
        loops = [n for n, line in enumerate(lines) if line.strip().startswith("} {svm.label")]
        others = [n for n, line in enumerate(lines) if " = arith.addi " in line or "svm.run @" in line or "svm.move " in line]
        number = self.random.choice(loops if loops and (not others or self.chance(0.6)) else others)
        line, said = lines[number], self.random.choice(LIES if self.chance(0.5) else LIES[:2])
        if "arith.addi" in line:
            lines[number] = line.replace(" : index", f" overflow<{self.random.choice(['nsw', 'nuw', 'nsw, nuw'])}> : index")
        elif "svm.run" in line or "svm.move" in line:
            lines[number] = line.replace(" : ", f" {{{said}}} : ", 1)
        else:
            lines[number] = line[:-1] + f", {said}}}"
        self.is_refused = "arith.addi" not in line and (said not in STATED or STATED[said] not in line)

    def memory(self, block):
        """Where a block lies, as the mapping has it."""
        return next((where[block.name] for where in self.blocks.values() if block.name in where), "main")

    def calling(self, kernel, types, memories=()):
        """A function that runs a kernel on its arguments, the first of which lie in these memories."""
        name = f"call_{kernel}" + "_near" * ("near" in memories) + "".join("01"[m == "near"] for m in memories if "near" in memories)
        if "near" in memories:
            memories = [*memories, *("main" if "memref" in type_ else "" for type_ in types[len(memories):])]
            self.arguments[name] = memories
        if all(not body.head.startswith(f"func.func @{name}(") for body in self.functions):
            names = [f"%p{number}" for number in range(len(types))]
            body = Body(self, f"func.func @{name}({', '.join(f'{n}: {t}' for n, t in zip(names, types))}) {{", False)
            body.add(f"svm.run @{kernel}({', '.join(names)}) : ({', '.join(types)}) -> ()")
            self.functions.append(body)
        return name

    # ---- waiting and telling ----
    def waits(self, out, node, instance, what):
        for edge in self.program.at(node, instance, what):
            self.one_edge(out, edge, what)

    def number(self, out, edge, what):
        """What the flag of an edge is set to, or awaited to be: the iteration of the loops around both, counted from 1, or from 0 where the one
        before is awaited."""
        flat = None
        for loop in edge.loops:
            if flat is None:
                flat = f"%{loop.variable}"
            else:
                flat = out.let(f"arith.muli {flat}, {out.constant(loop.count)} : index")
                flat = out.let(f"arith.addi {flat}, %{loop.variable} : index")
        if flat is None:
            return out.constant(1)
        return flat if edge.is_back and what == "await" else out.let(f"arith.addi {flat}, {out.constant(1)} : index")

    def one_edge(self, out, edge, what):
        style, at = self.styles[edge.number], out.constant(edge.number)
        if edge.stream:
            self.stream(out, edge, what, style)
            return
        value = self.number(out, edge, what)
        if style == "control":
            value = out.let(f"arith.index_cast {value} : index to i32")
            for line in ACCESSES[what]:
                out.add(line.replace("%f", "%F").replace("%v32", value).replace("%at", at))
            return
        kernel, types = self.flag_kernel(what), [FLAGS, "index", "index"]
        if style == "function":
            out.add(f"func.call @{self.calling(kernel, types)}(%F, {at}, {value}) : ({', '.join(types)}) -> ()")
        else:
            out.add(f"svm.run @{kernel}(%F, {at}, {value}) : ({', '.join(types)}) -> ()")

    def flag_kernel(self, what):
        self.kernels[what] = [f'svm.kernel @{what}(%f: {FLAGS} {{svm.access = "readwrite"}}, %at: index, %v: index) attributes {{svm.shared}} {{',
                              "  %v32 = arith.index_cast %v : index to i32", *("  " + line for line in ACCESSES[what]), "  svm.return", "}"]
        return what

    def stream(self, out, edge, what, style):
        stream = f"%q{edge.number}"
        guard = edge.is_back and what == "await"
        if guard:
            some = out.let(f"arith.cmpi ne, {self.number(out, edge, what)}, {out.constant(0)} : index")
            out.add(f"scf.if {some} {{", 1)
        if style == "control":
            if what == "tell":
                one = out.let("arith.constant 1 : i32")
                out.add(f"svm.push {one} to {stream} : i32 to !svm.stream<i32>")
            else:
                out.add(f"{self.program.name('%e')}, {self.program.name('%m')} = svm.pop {stream} : !svm.stream<i32> -> i32")
        else:
            name = f"stream_{what}"
            lines = (["  %one = arith.constant 1 : i32", "  svm.push %one to %q : i32 to !svm.stream<i32>"] if what == "tell" else
                     ["  %e, %m = svm.pop %q : !svm.stream<i32> -> i32"])
            self.kernels[name] = [f"svm.kernel @{name}(%q: !svm.stream<i32>) {{", *lines, "  svm.return", "}"]
            if style == "function":
                out.add(f"func.call @{self.calling(name, ['!svm.stream<i32>'])}({stream}) : (!svm.stream<i32>) -> ()")
            else:
                out.add(f"svm.run @{name}({stream}) : (!svm.stream<i32>) -> ()")
        if guard:
            out.add("}", -1)

    # ---- kernels ----
    def kernel(self, kind, rank, awaits=False, tells=False, reads=False, variable=0):
        """A kernel that may wait for a flag before it works, and set one behind that. `reads`: it says "read" of what it writes; `variable`: it
        has one of so many bytes, through which what it writes goes."""
        name = f"{kind}{rank}{'_await' * awaits}{'_tell' * tells}{'_reads' * reads}{f'_{variable}' * bool(variable)}"
        element, type_ = self.program.type, block_type(rank, self.program.type)
        access = KERNELS[kind]
        parameters = [f'%x{n}: {type_} {{svm.access = "{"read" if reads else ACCESS[how]}"}}' for n, how in enumerate(access)]
        before, behind = [], []
        if awaits or tells:
            parameters.append(f'%f: {FLAGS} {{svm.access = "readwrite"}}')
        for what, lines, used in (("await", before, awaits), ("tell", behind, tells)):
            if used:
                parameters += [f"%{what}_at: index", f"%{what}_v: index"]
                lines.append(f"%{what}_v32 = arith.index_cast %{what}_v : index to i32")
                lines += [line.replace("%v32", f"%{what}_v32").replace("%at", f"%{what}_at") for line in ACCESSES[what]]
        index = ", ".join(f"%i{d}" for d in range(rank))
        loads = [f"%l{n} = memref.load %x{n}[{index}] : {type_}" for n, how in enumerate(access) if how != "w"]
        one, three, five, two = (f"%n{n}" for n in (1, 3, 5, 2))
        work = {"set": [], "map": [f"%m = arith.muli %l0, {three} : {element}", f"%r = arith.addi %m, {one} : {element}"],
                "update": [f"%m = arith.muli %l0, {five} : {element}", f"%r = arith.addi %m, {one} : {element}"],
                "two": [f"%m = arith.muli %l2, {two} : {element}", f"%s = arith.addi %m, %l0 : {element}", f"%r = arith.subi %s, %l1 : {element}"]}[kind]
        target, result = len(access) - 1, "%r" if kind != "set" else five
        large = []
        if variable:
            held = f"memref<{variable // int(element[1:]) * 8 + 1 if variable > 2**20 else variable * 8 // int(element[1:])}x{element}>"
            large = [f"  %held = memref.alloca() : {held}"]
            work += [f"memref.store {result}, %held[%i{rank - 1}] : {held}", f"%again = memref.load %held[%i{rank - 1}] : {held}"]
            result = "%again"
        loops = [f"scf.for %i{d} = %c0 to %d{d} step %c1 {{" for d in range(rank)]
        # Two blocks may share what one instance writes and another reads, or where the kernel waits.
        shared = " attributes {svm.shared}" if awaits or tells else ""
        self.kernels[name] = [
            f"svm.kernel @{name}({', '.join(parameters)}){shared} {{", "  %c0 = arith.constant 0 : index", "  %c1 = arith.constant 1 : index",
            *(f"  %n{n} = arith.constant {n} : {element}" for n in (1, 2, 3, 5)),
            *(f"  %k{d} = arith.constant {d} : index" for d in range(rank)),
            *(f"  %d{d} = memref.dim %x{target}, %k{d} : {type_}" for d in range(rank)),
            *large, *("  " + line for line in before), *loops, *loads, *work,
            f"memref.store {result}, %x{target}[{index}] : {type_}", *["}"] * rank,
            *("  " + line for line in behind), "  svm.return", "}"]
        return name


# What is planted, and the codes of the errors with which the program then ends.
FAULTS = {"move-overlap": {"move-overlap"}, "argument-overlap": {"argument-overlap"}, "scope-overlap": {"scope-overlap"},
          "one block twice": {"dialect-error"}, "stores to read": {"dialect-error"}, "index-out-of-range": {"index-out-of-range"},
          "large variable": {"dialect-error"}}
LIES = ["svm.parallel", "svm.nonempty", "svm.guard", "svm.disjoint", 'svm.shares = "x1"', "svm.stages = 2 : i64", "svm.subset = array<i64: 0, 1>",
        "svm.buffers = 2 : i64", "svm.reduces", "svm.keep", "svm.dynamic", "svm.disjoint_operands", "svm.grid = array<i64: 2>", "svm.instance", "svm.shared"]
# Those that a program may say itself, and what of.
STATED = {"svm.keep": "svm.move ", "svm.dynamic": "svm.run "}

ACCESSES = {
    "tell": ["svm.fence", f"memref.store %v32, %f[%at] : {FLAGS}"],
    "await": ["scf.while : () -> () {", f"  %u = memref.load %f[%at] : {FLAGS}", "  %b = arith.cmpi slt, %u, %v32 : i32",
              "  scf.condition(%b)", "} do {", "  svm.pause", "  scf.yield", "}", "svm.fence"],
}
