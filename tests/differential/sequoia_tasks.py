"""Tasks of random Sequoia programs: elementwise, stencil, sequence, permutation and lookup, each with a leaf or several and inner variants that cut its
arrays differently. Leaves do not use their local indices, so all variants of a task mean the same."""
from sequoia_text import BYTES, INTEGERS, MASKS, RECORDS, Parameter, Step, Task, Variant, Writer


class Tasks(Writer):
    """`externals`: how often a task has a variant in C."""
    externals = 0.15

    def __init__(self, seed, records):
        super().__init__(seed, records)
        self.tasks, self.permutation, self.placing = [], None, {}
        self.helpers = set()  # types that have an inline function

    def elementwise(self):
        """c[i] from arrays' elements at i."""
        rank = self.pick(1, 1, 1, 1, 2, 2, 2, 3, 3, 4)
        dims = ["N", "M", "K", "2"][:rank]
        target = self.type()
        direction = self.pick("out", "inout", "inout")
        sources = [(f"a{n}", target if target in RECORDS else self.pick(target, target, self.type(False))) for n in range(self.random.randint(1, 2))]
        parameters = [Parameter("in", type, name, dims) for name, type in sources]
        scalar = target in INTEGERS and self.chance(0.4)
        if scalar:
            parameters.append(Parameter("in", "int", "s"))
        parameters.append(Parameter(direction, target, "c", dims))
        self.random.shuffle(parameters)
        task = Task(self.name("Each"), parameters)
        at = "".join(f"[i{d}]" for d in range(rank))

        def value(field, type):
            given = [f"{name}{at}{field}" if target in RECORDS else self.convert(f"{name}{at}", t, type) for name, t in sources]
            return given + ([f"c{at}{field}"] if direction == "inout" else []) + (["s"] if scalar else [])
        # Arrays of which an element is read only before the same one of `c` is written.
        alike = [(name, "c") for name, type in sources if target in BYTES and BYTES.get(type) == BYTES[target] and direction == "out"]
        if target in RECORDS:
            body = self.record_body(target, at, value, sources)
        else:
            expression = self.expression(target, value("", target))
            body = [f"c{at} = {expression};"]
            if rank == 1 and self.chance(0.25):  # by way of an array of its own, and an inline function
                self.helpers.add(target)
                plain = self.leaf_over(task, dims, [f"t[i0] = {expression};"], name="Staging")
                lines = task.variants[-1].steps[0].lines
                lines.insert(0, f"{target} t[N];")
                lines.append(f"for (int i = 0; i < N; i++) c[i] = same_{target.replace(' ', '_')}(t[i]);")
                if plain and direction == "out":
                    task.variants[-1].shares = [("t", "c")] + [(name, "t") for name, _ in alike]
        if self.leaf_over(task, dims, body) and target not in RECORDS:
            task.variants[-1].shares = alike
        for number in range(self.random.randint(1, 2)):
            self.elementwise_inner(task, dims, f"Cut{number}")
        if self.chance(0.3):
            self.elementwise_staged(task, dims)
        if rank == 1 and self.chance(0.4):
            self.elementwise_indexed(task)
        if rank == 1 and self.chance(0.25):
            self.elementwise_twice(task)
        if target in INTEGERS and all(type in INTEGERS for _, type in sources) and rank <= 3 and self.chance(self.externals):
            self.external(task, dims, expression)
        return task

    def record_body(self, target, at, value, sources):
        """Member by member, or by way of a variable."""
        into = self.pick(f"c{at}", "it")
        body = [f"{target} it = {self.random.choice(sources)[0]}{at};"] if into == "it" else []
        body += [f"{into}{field} = {self.expression(type, value(field, type))};" for field, type in RECORDS[target][1]]
        if target == "Word":
            body.append(self.pick(f"{into}.bytes[{self.random.randint(0, 3)}] = {into}.halves[1] & 63;", f"{into}.halves[0] = {into}.bytes[0] * 3;",
                                  f"{into}.bytes[1] = {sources[0][0]}{at}.bytes[3];"))
        if target == "Deep":
            body.append(f"{into}.word.bytes[{self.random.randint(0, 3)}] = {into}.tag & 31;")
        return body + ([f"c{at} = it;"] if into == "it" else [])

    def external(self, task, dims, expression):
        """The leaf as a C function, with an array of bytes of its own."""
        rank, types = len(dims), {p.name: p.type for p in task.arrays()}
        index = ", ".join(f"i{d}" for d in range(rank))
        at = "".join(f"[i{d}]" for d in range(rank))
        element = lambda name: f"(*({types[name].replace('char', 'signed char') if types[name] == 'char' else types[name]} *)sqElmt{rank}D({name}, {index}))"
        text = f"c{at} = {expression};"
        for name in types:
            text = text.replace(name + at, element(name))

        def function(name, scratch):
            parameters = ", ".join(f"sqArray_t *{p.name}" if p.dims else f"{p.type} {p.name}" for p in task.parameters)
            lines = ['#include "sequoia_ext.h"', f"void {name}({parameters}) {{"]
            if scratch:
                lines += [f"  char *space = (char *)sqLocalSpace({name});", f"  for (int i = 0; i < {scratch}; i++) space[i] = (char)i;"]
            lines += ["  " + "  " * d + f"for (long i{d} = 0; i{d} < (long)c->numElmts[{d}]; i{d}++)" for d in range(rank)]
            return "\n".join([*lines, "    " + "  " * rank + text, "}"]) + "\n"
        task.variants.append(Variant("Extern", "ext", [], function=function))

    def leaf_over(self, task, dims, body, name="Leaf"):
        """Adds a leaf that runs a body for all indices. Whether its loops are plain ones of C's."""
        plain = True
        loops = [f"for (int i{d} = 0; i{d} < {size}; i{d}++)" for d, size in enumerate(dims)]
        if self.chance(0.2):
            last, plain = len(dims) - 1, False
            loops[-1] = f"{{ int i{last} = 0; while (i{last} < {dims[-1]})"
            body = body + [f"i{last}++;", "}"]
        if self.chance(0.2):
            if "while" not in loops[0]:
                loops[0] = f"for (int i0 = {dims[0]} - 1; i0 >= 0; i0--)"
        task.leaf(loops + ["{"] + body + ["}"], name)
        return plain

    def call(self, task, ranges, arguments=None):
        """A call with the same block of every array, or with what `arguments` says for a parameter."""
        given = []
        for p in task.parameters:
            if arguments and p.name in arguments:
                given.append(arguments[p.name])
            elif p.dims:
                given.append(p.name + "".join(r() for r in ranges))
            else:
                given.append(p.name)
        return f"{task.name}({', '.join(given)});"

    def elementwise_inner(self, task, dims, name):
        loops, ranges, tunables = self.cuts(dims)
        kinds = [self.pick("mappar", "mappar", "mapseq") for _ in loops]
        if self.chance(0.25):  # two halves of the first dimension
            rest = "".join("[0;]" for _ in dims[1:])
            half = lambda r: self.call(task, [], {p.name: p.name + r() + rest for p in task.arrays()})
            step = Step([half(lambda: self.pick("[0:N/2;]", "[0:N/2;N]")), half(lambda: self.pick("[N/2:N;]", "[N/2;]", "[N/2:N:1;N]"))],
                        calls=[(task.name, False)] * 2)
            return task.inner(name, [step], halves=task.arrays()[0])
        lines, named = self.nest(loops, kinds, self.call(task, ranges))
        task.inner(name, [Step(self.guarded(lines), named, [(task.name, False)])], tunables)

    def elementwise_staged(self, task, dims):
        whole = "".join(f"[{d}]" for d in dims)
        lines, replaced, after = [], {}, []
        for p in task.arrays():
            if self.chance(0.5):
                local = "t" + p.name
                replaced[p.name] = local
                lines.append(f"{p.type} {local}{whole};")
                if p.direction != "out":
                    lines.append(f"copy({local}, {p.name});" if self.chance(0.5) else
                                 f"copy({local}{''.join(self.range('0', d, d) for d in dims)}, {p.name}{''.join(self.range('0', d, d) for d in dims)});")
                if p.direction != "in":
                    after.append(f"copy({p.name}, {local});")
        call = self.call(task, [lambda d=d: self.range("0", d, d) for d in dims], replaced)
        task.inner("Staged", [Step(lines + [call] + after, calls=[(task.name, False)], locals=list(replaced.values()))])

    def elementwise_twice(self, task):
        """Blocks of blocks: what the inner loop runs over depends on the outer one's variable."""
        inner_end = "((i + 1) * b1 < (N + b0 - 1) / b0 ? (i + 1) * b1 : (N + b0 - 1) / b0)"
        kinds = [self.pick("mappar", "mapseq"), self.pick("mappar", "mapseq")]
        call = self.call(task, [lambda: self.range("j * b0", "b0", "N")])
        lines = [f"{kinds[0]} (long i = 0 : (N + b0 * b1 - 1) / (b0 * b1)) {{", f"  {kinds[1]} (long j = i * b1 : {inner_end}) {{ {call} }}", "}"]
        task.inner("Twice", [Step(self.guarded(lines), list(zip("ij", kinds)), [(task.name, False)])], ["b0", "b1"])

    def elementwise_indexed(self, task):
        perm = self.permuting()
        block = lambda: self.range("i * b0", "b0", "N")
        arguments = {}
        for p in task.arrays():
            arguments[p.name] = f"{p.name}[P{block()}]"
        lines, named = self.nest([("i", "(N + b0 - 1) / b0")], [self.pick("mappar", "mappar", "mapseq")], self.call(task, [], arguments))
        begin = ["int P[N];", f"{perm.name}({self.random.randint(0, 9)}, N, P);"]
        if self.chance(0.3):  # all of it by one gather and one scatter
            lines, named = [self.call(task, [], {p.name: f"{p.name}[P]" for p in task.arrays()})], []
            return task.inner("Indexed", [Step(begin + lines, named, [(perm.name, False), (task.name, False)], ["P"])])
        task.inner("Indexed", [Step(begin + lines, named, [(perm.name, False), (task.name, False)], ["P"])], ["b0"])

    def permuting(self):
        if not self.permutation:
            task = Task("Permute", [Parameter("in", "int", "k"), Parameter("in", "long", "all"), Parameter("out", "int", "P", ["N"])])
            task.leaf([f"for (int i = 0; i < N; i++) P[i] = k % 2 ? (int)(all - 1 - i) : (int)((i + k) % all);"])
            self.permutation = task
            self.tasks.append(task)
        return self.permutation

    def stencil(self):
        """c[i] from a[f * i], …, a[f * i + e]: size expressions."""
        type = self.type(False)
        factor, extra = self.pick((1, 2), (1, 1), (2, 1), (3, 2))
        two = self.chance(0.4)
        dims = ["N", "M"] if two else ["N"]
        arrays = [self.scaled(d, factor, extra) for d in dims]
        task = Task(self.name("Near"), [Parameter("in", type, "a", arrays), Parameter("out", type, "c", dims)])
        at = lambda e: "".join(f"[{self.times(factor, f'i{d}')} + {e}]" for d in range(len(dims)))
        here = "".join(f"[i{d}]" for d in range(len(dims)))
        self.leaf_over(task, dims, [f"c{here} = {self.expression(type, ['a' + at(0), 'a' + at(extra)])};"])
        for number in range(self.random.randint(1, 2)):
            loops, ranges, tunables = self.cuts(dims, forced=True)
            arguments = {"a": "a" + "".join(r(factor, extra) for r in ranges), "c": "c" + "".join(r() for r in ranges)}
            lines, named = self.nest(loops, [self.pick("mappar", "mappar", "mapseq") for _ in loops], self.call(task, [], arguments))
            task.inner(f"Cut{number}", [Step(self.guarded(lines), named, [(task.name, False)])], tunables)
        return task

    def sequence(self):
        """A state that goes through an array in order."""
        type = self.pick("int", "long", "unsigned")
        m = MASKS[type]
        direction = self.pick("in", "inout")
        task = Task(self.name("Walk"), [Parameter(direction, type, "a", ["N"]), Parameter("inout", type, "s")])
        body = [f"s = (s * 5 + a[i0]) & {m};"] + ([f"a[i0] = (a[i0] ^ s) & {m};"] if direction == "inout" else [])
        task.leaf(["for (int i0 = 0; i0 < N; i0++) {"] + body + ["}"])
        for number in range(self.random.randint(1, 2)):
            block = self.range("i * b0", "b0", "N")
            lines, named = self.nest([("i", "(N + b0 - 1) / b0")], ["mapseq"], f"{task.name}(a{block}, s);")
            task.inner(f"Cut{number}", [Step(lines, named, [(task.name, False)])], ["b0"])
        return task

    def lookup(self):
        """c[i] from the element of a table that an index array names; indices repeat."""
        type = self.type(False)
        below = Task(self.name("Take"), [Parameter("in", type, "a", ["N"]), Parameter("out", type, "c", ["N"])])
        expression = self.expression(type, ["a[i0]"])
        self.leaf_over(below, ["N"], [f"c[i0] = {expression};"])
        self.elementwise_inner(below, ["N"], "Cut")
        task = Task(self.name("Lookup"), [Parameter("in", type, "a", ["M"]), Parameter("in", self.pick("int", "long"), "I", ["N"]),
                                          Parameter("out", type, "c", ["N"])])
        self.leaf_over(task, ["N"], [f"c[i0] = {expression.replace('a[i0]', 'a[I[i0]]')};"])
        self.tasks.append(below)
        block = self.range("i * b0", "b0", "N")
        lines, named = self.nest([("i", "(N + b0 - 1) / b0")], [self.pick("mappar", "mappar", "mapseq")],
                                 f"{below.name}(a[I{block}], c{self.range('i * b0', 'b0', 'N')});")
        task.inner("Gather", [Step(self.guarded(lines), named, [(below.name, False)])], ["b0"])
        if self.chance(0.4):
            task.inner("Once", [Step([f"{below.name}(a[I], c);"], calls=[(below.name, False)])])
        if self.chance(0.4):  # by way of a copy
            lines = [f"{type} t[N];", self.pick("copy(t, a[I]);", "copy(t, a[I[0;N]]);", "copy(t[0:N;], a[I]);"), f"{below.name}(t, c);"]
            task.inner("Copied", [Step(lines, calls=[(below.name, False)], locals=["t"])])
        return task

    def places(self, type):
        """The task that fills an index array of a type, for tables of some size."""
        if type not in self.placing:
            task = Task("Places" + type, [Parameter("in", "int", "k"), Parameter("in", "long", "size"), Parameter("out", type, "P", ["N"])])
            task.leaf(["for (int i = 0; i < N; i++) P[i] = size > 0 ? (i * 7 + k) % size : 0;"])
            self.placing[type] = task
            self.tasks.append(task)
        return self.placing[type]
