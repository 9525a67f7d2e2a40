"""Tasks of random Sequoia programs that fold arrays: into scalars and arrays, by combiners of every kind, with strides and indices, and matrix
products."""
import re

from sequoia_tasks import Tasks
from sequoia_text import INTEGERS, REALS, Parameter, Step, Task


class Reductions(Tasks):
    """`reorders`: whether real numbers are added along trees that mappings set."""
    reorders = False

    def combiner(self, type, operation, dims):
        """The task that adds one private copy to another."""
        name = f"Join{operation}{type.replace(' ', '')}{len(dims)}"
        for task in self.tasks:
            if task.name == name:
                return task
        task = Task(name, [Parameter("in", type, "x", dims), Parameter("inout", type, "y", dims)])
        at = "".join(f"[i{d}]" for d in range(len(dims)))
        self.leaf_over(task, dims, [self.fold(type, operation, f"y{at}", f"x{at}")]) if dims else task.leaf([self.fold(type, operation, "y", "x")])
        if dims:
            lines, named = self.nest([("i", "(B + t - 1) / t")], [self.pick("mappar", "mapseq")],
                                     f"{name}(x[i * t;t], y[i * t;t]);")
            task.inner("Cut", [Step(lines, named, [(name, False)])], ["t"])
        self.tasks.append(task)
        return task

    @staticmethod
    def fold(type, operation, into, value):
        """The statement that adds a value. 'Keep' has no identity, but combining a value with itself gives it; 'Wrap' has neither."""
        return {"Sum": f"{into} += {value};", "Most": f"{into} = {value} > {into} ? {value} : {into};",
                "Least": f"{into} = {value} < {into} ? {value} : {into};", "Or": f"{into} |= {value};", "Xor": f"{into} ^= {value};",
                "And": f"{into} &= {value};", "Wrap": f"{into} = ({into} + {value}) & 65535;",
                "Members": f"{into}.u += {value}.u; {into}.rest |= {value}.rest; {into}.v ^= {value}.v;",
                "Keep": f"if ({value}.value > {into}.value || ({value}.value == {into}.value && {value}.place < {into}.place)) {into} = {value};"}[operation]

    def result(self, number, source):
        """(name, type, operation, shape) of something that an array of a type is folded into."""
        shape = ["B"] if self.chance(0.6) else []
        if source in INTEGERS and self.chance(0.2):
            kind, operation = self.pick(("Both", "Members"), ("Best", "Keep"))
            return f"r{number}", self.record(kind), operation, shape
        type = source if self.chance(0.6) else self.pick("unsigned", "long", "int")
        if source in REALS:
            type = source
        operation = self.pick("Sum", "Most", "Least", *([] if type in REALS else ["Or", "Xor", "And"]))
        if operation == "Sum" and type == "unsigned" and self.chance(0.3):
            operation = "Wrap"
        if type in ("int", "short") and operation == "Sum":
            type = "long"
        self.reorders |= type in REALS and operation == "Sum"
        return f"r{number}", type, operation, shape

    def folding(self, source, dims, results):
        """Statements of a leaf that fold an element of `a`."""
        at, body = "".join(f"[i{d}]" for d in range(len(dims))), []
        for name, type, operation, shape in results:
            value, before = f"a{at}" if type == source else f"({type})a{at}", ""
            if type == "Both":
                before, value = f"Both one{name}; one{name}.u = a{at} & 4095; one{name}.rest = a{at} & 15; one{name}.v = a{at} * 3L;", f"one{name}"
            if type == "Best":
                before, value = f"Best one{name}; one{name}.value = a{at} & 1023; one{name}.place = (a{at} >> 3) & 63;", f"one{name}"
            into = name
            if shape:
                into += f"[(long)a{at} % B]" if source not in REALS else f"[(long)(a{at} * 100.0) % B]"
            guard = f"if (B > 0 && a{at} >= 0) " if shape else ""
            body.append(f"{guard}{{ {before} {self.fold(type, operation, into, value)} }}")
        return body

    def reduction(self):
        """Folds an array into several results: arrays of B elements and scalars."""
        source = self.pick("int", "unsigned", "float", "double", "long")
        dims = self.pick(["N"], ["N"], ["N", "M"])
        results = [self.result(number, source) for number in range(self.pick(1, 1, 2, 2, 3))]
        task = Task(self.name("Fold"), [Parameter("in", source, "a", dims)] + [Parameter("inout", t, n, d) for n, t, _, d in results])
        self.leaf_over(task, dims, self.folding(source, dims, results))
        for number in range(self.random.randint(1, 2)):
            self.reduction_inner(task, dims, results, f"Cut{number}")
        if any(shape for _, _, _, shape in results) and self.chance(0.25):
            return self.reduction_spaced(task, source, dims, results)
        return task

    def reduction_inner(self, task, dims, results, name):
        loops, ranges, tunables = self.cuts(dims)
        reduces = self.chance(0.67)
        kinds = ["mapreduce" if reduces else "mapseq"] * len(loops)
        if reduces and len(loops) > 1:  # it has one range only; another loop around it runs in order, for results are shared
            if self.chance(0.5):
                loops, ranges, tunables = self.cuts(dims, only=1)
                kinds = ["mapreduce"]
            else:
                kinds = ["mapseq"] * (len(loops) - 1) + ["mapreduce"]
        arguments, calls = {}, [(task.name, False)]
        for result, type, operation, shape in results:
            arguments[result] = result
            if "mapreduce" in kinds:
                join = self.combiner(type, operation, shape)
                whole = result + (self.range("0", "B", "B") if shape and self.chance(0.3) else "")
                arguments[result] = f"reducearg<{whole}, {join.name}>"
                calls.append((join.name, True))
        lines, named = self.nest(loops, kinds, self.call(task, ranges, arguments))
        task.inner(name, [Step(self.guarded(lines), named, calls)], tunables)

    def reduction_spaced(self, below, source, dims, results):
        """The same into every second element, or into elements that an index array names."""
        indexed = self.chance(0.5)
        spaced = ["2 * B"] if not indexed else ["B"]
        parameters = [Parameter("in", source, "a", dims)]
        if indexed:
            parameters.append(Parameter("in", "int", "I", ["B"]))
        else:
            parameters.append(Parameter("in", "char", "unit", ["B"]))
        parameters += [Parameter("inout", t, n, spaced if d else []) for n, t, _, d in results]
        task = Task(self.name("Spaced"), parameters)
        at = (lambda index: f"[I[{index}]]") if indexed else (lambda index: f"[2 * ({index})]")
        body = [re.sub(r"(r\d)\[((?:[^][]|\[[^][]*\])*)\]", lambda m: m[1] + at(m[2]), line) for line in self.folding(source, dims, results)]
        self.leaf_over(task, dims, body)
        self.tasks.append(below)
        loops, ranges, tunables = self.cuts(dims, only=1)
        arguments, calls = {}, [(below.name, False)]
        for name, type, operation, shape in results:
            join = self.combiner(type, operation, shape)
            block = name if not shape else self.pick(f"{name}[I]", f"{name}[I[0;B]]") if indexed else self.pick(f"{name}[0:2 * B:2;]", f"{name}[0:2 * B:2;B]")
            arguments[name] = f"reducearg<{block}, {join.name}>"
            calls.append((join.name, True))
        lines, named = self.nest(loops, ["mapreduce"], self.call(below, ranges, arguments))
        task.inner("Cut", [Step(self.guarded(lines), named, calls)], tunables)
        return task

    def product(self):
        type = self.pick("int", "unsigned", "float", "double")
        self.reorders |= type in REALS
        result = "unsigned" if type == "int" else type
        task = Task(self.name("Product"), [Parameter("in", type, "A", ["N", "K"]), Parameter("in", type, "B", ["K", "M"]),
                                           Parameter("inout", result, "C", ["N", "M"])])
        mask = (lambda e: f"({e} & 255)") if type in INTEGERS else (lambda e: e)
        self.leaf_over(task, ["N", "M", "K"], [f"C[i0][i1] += {mask('A[i0][i2]')} * {mask('B[i2][i1]')};"])
        cut = lambda v, t, s: self.range(f"{v} * {t}", t, s)
        for number in range(self.random.randint(1, 2)):
            block = f"C{cut('i', 'bn', 'N')}{cut('j', 'bm', 'M')}"
            calls, kinds = [(task.name, False)], [self.pick("mappar", "mapseq"), self.pick("mappar", "mapseq"), "mapseq"]
            if self.chance(0.6):
                join = self.product_join(result)
                block = f"reducearg<C[i * bn;bn][j * bm;bm], {join.name}>"
                kinds[2] = "mapreduce"
                calls.append((join.name, True))
            call = f"{task.name}(A{cut('i', 'bn', 'N')}{cut('k', 'bk', 'K')}, B{cut('k', 'bk', 'K')}{cut('j', 'bm', 'M')}, {block});"
            loops = [(v, f"({s} + {t} - 1) / {t}") for v, t, s in (("i", "bn", "N"), ("j", "bm", "M"), ("k", "bk", "K"))]
            lines, named = self.nest(loops, kinds, call)
            task.inner(f"Cut{number}", [Step(lines, named, calls)], ["bn", "bm", "bk"])
        return task

    def product_join(self, type):
        for task in self.tasks:
            if task.name == "JoinTiles" + type:
                return task
        task = Task("JoinTiles" + type, [Parameter("in", type, "x", ["N", "M"]), Parameter("inout", type, "y", ["N", "M"])])
        self.leaf_over(task, ["N", "M"], ["y[i0][i1] += x[i0][i1];"])
        self.tasks.append(task)
        return task
