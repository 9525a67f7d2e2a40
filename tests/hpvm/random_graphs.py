"""Random dataflow graphs against a plain sequential evaluation of the same nodes: hierarchies of replicated nodes of 0 to 4 dimensions, edges of
both kinds with scalars and pointers, results through binds, barriers, atomics, memory of leaves, leaves with several returns; launched once, twice at a time, or streaming. What
nodes compute is one header that both sides include; the evaluation is loops, compiled by Clang alone. All arrays and results have to be equal, at 1,
2 and 7 threads, and on another machine. Graphs that are structured kernels throughout also run through the interpreter, every access checked,
and have to agree with their code.

    random_graphs.py --strata build/bin/strata --seconds 60          as many programs as there is time for
    random_graphs.py --strata build/bin/strata --seed 17 --count 1   one of them
    random_graphs.py … --keep FOLDER                                 where programs that fail are written"""

import os
import random
import re
import subprocess
import sys

import many

sys.path.append(os.path.dirname(os.path.dirname(os.path.abspath(__file__))))
import need_numpy
import numpy as np

GRAPHS = 12      # in a program
MOST = 1 << 10   # instances of a leaf, over all nodes around
MACHINES = ("cell", "cluster", "smp-2level")
SCALARS = ("int", "long", "float", "double")
QUERIES = ("x", "y", "z")


class Node:
    """Inputs and outputs are lists of (type, name); a pointer is followed by its size. An output that is a name gives that input on."""

    def __init__(self, name):
        self.name, self.inputs, self.outputs, self.children = name, [], [], []

    def need(self, type, name):
        if (type, name) not in self.inputs:
            self.inputs.append((type, name))

    def pointer(self, type, name):
        self.need(type + " *", name)
        self.need("size_t", name + "Bytes")

    def position(self, name):
        return [each for _, each in self.inputs].index(name)


class Leaf(Node):
    phases, barrier, carries, allocates, atomic = 1, "", False, False, None
    returns, condition = "", ""  # how several returns are written, and which instances take the first of two


class Child:
    def __init__(self, node, extents):
        self.node, self.extents, self.used = node, extents, set()  # outputs that an edge has
        self.sources = {}  # input: ("own", name) or ("edge", child, output, replication)


class Graph:
    def __init__(self, pick, number):
        self.pick, self.prefix, self.counter = pick, f"g{number}", 0
        self.arrays, self.scalars, self.leaves, self.internals = {}, {}, [], []
        self.isStream = pick.random() < 0.3
        self.root = self.internal(0, [], 1)

    def fresh(self, stem):
        self.counter += 1
        return f"{self.prefix}{stem}{self.counter}"

    # ---- inputs of the root ----

    def array(self, type):
        name = self.fresh("a")
        self.arrays[name] = type
        return name

    def scalar(self, type, values):
        name = self.fresh("s")
        self.scalars[name] = (type, values)
        return name

    def extents(self, most):
        """Of a node, with the greatest number of instances."""
        extents, count = [], 1
        for _ in range(self.pick.choice([0, 1, 1, 1, 2, 2, 3, 4])):
            limit = max(1, min(7, most // count))
            kind = self.pick.random()
            if kind < 0.5 or limit < 3:
                extents.append((str(self.pick.randint(1, limit)), None))
                count *= int(extents[-1][0])
            else:
                name = self.scalar("long", list(range(0 if self.pick.random() < 0.3 else 1, limit)))
                extents.append((name, name) if kind < 0.75 else (f"{name} + 1", name))
                count *= limit
        return extents, count

    # ---- nodes ----

    def internal(self, depth, around, count):
        node = Node(self.fresh("n"))
        for _ in range(self.pick.randint(1, 4)):
            self.child(node, depth, around, count)
        self.bind(node)
        self.internals.append(node)
        return node

    def child(self, parent, depth, around, count):
        isInternal = depth < 3 and self.pick.random() < 0.3
        # Each output feeds one edge at most.
        earlier = [(child, output) for child in parent.children for output in range(len(child.node.outputs)) if output not in child.used]
        linked, extents = None, None
        # One-to-one: with a grid equal to that of an earlier node. All edges of streaming nodes have to be of one kind.
        if earlier and self.pick.random() < 0.4 and not isInternal:
            linked = self.pick.choice([child for child, _ in earlier])
            extents, most = linked.extents, linked.most
        if extents is None:
            extents, most = self.extents(max(MOST // count, 1) if depth else MOST // 8)
        inside = [*around, len(extents)]
        if isInternal:
            node = self.internal(depth + 1, inside, count * most)
        else:
            node = self.leaf(inside, earlier, linked)
        child = Child(node, extents)
        child.most = most
        for type, name in node.inputs:
            child.sources[name] = self.source(child, type, name, earlier, linked)
            if child.sources[name][0] == "own":
                parent.need(type, name)
        for _, name in extents:
            if name:
                parent.need("long", name)
        parent.children.append(child)

    def source(self, child, type, name, earlier, linked):
        if name in getattr(child.node, "wanted", {}):
            other, output = child.node.wanted[name]
            return ("edge", other, output, 0 if other is linked and child.extents is other.extents else 1)
        return ("own", name)

    def leaf(self, around, earlier, linked):
        pick, leaf = self.pick, Leaf(self.fresh("l"))
        self.leaves.append(leaf)
        leaf.around, leaf.wanted = around, {}
        leaf.own, leaf.type = None, pick.choice(["int", "float", "long", "double"])
        leaf.own = self.array(leaf.type)
        leaf.pointer(leaf.type, leaf.own)
        leaf.reads, leaf.values, leaf.only = [], [], set()
        for _ in range(pick.randint(0, 2)):
            leaf.reads.append(self.array(pick.choice(["int", "float"])))
            leaf.pointer(self.arrays[leaf.reads[-1]], leaf.reads[-1])
        for _ in range(pick.randint(0, 2)):
            type = pick.choice(SCALARS)
            leaf.values.append((type, self.scalar(type, [0, 1, 3, 7])))
            leaf.need(*leaf.values[-1])
        # What other nodes give: values, and arrays that they have written.
        pick.shuffle(earlier)
        for other, output in earlier[:pick.randint(0, 3)]:
            type, what = other.node.outputs[output]
            if "*" in type:
                name = self.fresh("p")
                leaf.pointer(type[:-2], name)
                leaf.wanted[name], leaf.wanted[name + "Bytes"] = (other, output), (other, output + 1)
                other.used |= {output, output + 1}
                # Other instances of the nodes around may be writing to their parts of it.
                if len(around) == 1:
                    leaf.reads.append(name)
                elif other is linked and not other.node.children:  # elements are numbered alike
                    leaf.reads.append(name)
                    leaf.only.add(name)
            elif type != "size_t":
                name = self.fresh("e")
                leaf.need(type, name)
                leaf.wanted[name] = (other, output)
                other.used.add(output)
                leaf.values.append((type, name))
        if around[-1] and pick.random() < 0.3:
            leaf.phases = pick.randint(2, 3)
            leaf.barrier = pick.choice(["plain", "plain", "loop", "branch"]) if leaf.phases == 2 else "plain"
            leaf.shared = self.array("int")
            leaf.pointer("int", leaf.shared)
            leaf.carries = pick.random() < 0.6
        if pick.random() < 0.2:
            leaf.allocates = True
        if pick.random() < 0.3:
            leaf.atomic = (pick.choice(["add", "sub", "and", "or", "xor", "min", "max", "umin", "umax", "inc", "dec"]), self.array("int"))
            leaf.pointer("int", leaf.atomic[1])
        for _ in range(pick.choice([0, 1, 1, 2, 3])):
            if pick.random() < 0.25:
                leaf.outputs += [(leaf.type + " *", leaf.own), ("size_t", leaf.own + "Bytes")]
            else:
                leaf.outputs.append((pick.choice(SCALARS), None))
        if leaf.outputs and pick.random() < 0.4:
            leaf.returns = pick.choice(["else", "twice", "flag", "loop", "leave", *(["early"] * 3 if leaf.phases == 1 and not leaf.atomic else [])])
            what = pick.choice(["own", "lane", *(f"(long){name}" for _, name in leaf.values)])
            leaf.condition = pick.choice([f"{what} % 3 == {pick.randint(0, 2)}", f"{what} > {pick.randint(0, 4)}", f"({what} & 1)"])
        return leaf

    def bind(self, node):
        """Outputs of an internal node: each output of a child at most once."""
        node.bound = []
        for child in node.children:
            skip = False
            for output, (type, what) in enumerate(child.node.outputs):
                if skip:
                    skip = False
                    continue
                take = self.pick.random() < 0.4
                if "*" in type:
                    skip = True
                    if take and not any(name == what for _, name in node.outputs):
                        node.bound += [(child, output), (child, output + 1)]
                        node.outputs += [(type, what), ("size_t", what + "Bytes")]
                elif take and type != "size_t":
                    node.bound.append((child, output))
                    node.outputs.append((type, None))

    # ---- what leaves compute: shared ----

    def expression(self, leaf, depth=0):
        pick = self.pick
        kind = pick.random()
        if depth > 2 or kind < 0.3:
            return pick.choice([f"(long)({pick.randint(0, 9)})", "own", "lane", *(f"(long){name}" for _, name in leaf.values)])
        if kind < 0.5 and leaf.reads:
            name = pick.choice(leaf.reads)
            return f"(long){name}[{'own' if name in leaf.only else pick.choice(['own', 'lane', str(pick.randint(0, 5)), '(own * 3 + 1) % 64'])}]"
        left, right = self.expression(leaf, depth + 1), self.expression(leaf, depth + 1)
        if kind < 0.6:
            return f"(({left}) > ({right}) ? ({left}) : ({self.expression(leaf, 3)}))"
        if kind < 0.7:
            return f"(({left}) % 17 + 3)"
        return f"(({left}) {pick.choice(['+', '-', '*', '^', '+', '-'])} ({right})) % 1009"

    def body(self, leaf):
        """Functions that one instance calls: a phase after the other. `at` is its first element of what it shares, `many` how many it shares with."""
        given = ", ".join(f"{type} {name}" for type, name in leaf.inputs)
        carry, text = "long *carry", ""
        for phase in range(leaf.phases):
            text += f"static inline void {leaf.name}_{phase}({given}, long own, long lane, long many, long round, {carry}) {{\n"
            text += "  long value = " + self.expression(leaf) + ";\n"
            if leaf.barrier:
                if phase:
                    text += f"  value += {leaf.shared}[own - lane + (lane + {self.pick.randint(0, 3)} + round) % many];\n"
                if leaf.carries and phase:
                    text += "  value += 3 * *carry;\n"
                if phase == 0 or leaf.phases == 3 and phase == 1:
                    pass
            if self.pick.random() < 0.3:
                text += f"  for (long k = 0; k < lane % 3 + 1; ++k)\n    value += k * ({self.expression(leaf, 2)});\n"
            if leaf.carries:
                text += "  *carry = value % 101;\n"
            if leaf.barrier and phase == 0:
                text += f"  {leaf.shared}[own] = (int)(value % 1000);\n"
            if phase + 1 == leaf.phases:
                text += f"  {leaf.own}[own] {'+=' if leaf.barrier == 'loop' else '='} ({leaf.type})(value % 100003);\n"
            text += "}\n"
        if leaf.returns == "early":
            text += f"static inline int left_{leaf.name}({given}, long own, long lane) {{\n  return {leaf.condition};\n}}\n"
        for number, (type, what) in enumerate(leaf.outputs):
            if what is None:
                head = lambda suffix: f"static inline {type} {leaf.name}_out{number}{suffix}({given}, long own, long lane) {{\n  return "
                for suffix in ("_0", "_1") if leaf.returns else ("",):
                    text += head(suffix) + f"({type})({self.expression(leaf)});\n}}\n"
                if leaf.returns:
                    call = lambda suffix: f"{leaf.name}_out{number}{suffix}({', '.join(name for _, name in leaf.inputs)}, own, lane)"
                    text += head("") + f"{leaf.condition} ? {call('_0')} : {call('_1')};\n}}\n"
        return text

    def steps(self, leaf):
        """The order of phases, with barriers in between, as (phase, round); None: a barrier."""
        if leaf.barrier == "loop":
            return [step for round in range(3) for step in ((0, round), None, (1, round), None)][:-1]
        return [step for phase in range(leaf.phases) for step in ((phase, 0), None)][:-1]

    # ---- as a graph ----

    def attributes(self, node, written):
        pointers = [name for type, name in node.inputs if "*" in type]
        reads = ", ".join([str(len(pointers)), *pointers])
        writes = [name for name in pointers if name in written]
        return f"  __hpvm__hint(CPU_TARGET);\n  __hpvm__attributes({reads}, {', '.join([str(len(writes)), *writes])});\n"

    def written(self, leaf):
        return {leaf.own, *([leaf.shared] if leaf.barrier else []), *([leaf.atomic[1]] if leaf.atomic else [])}

    def leaf_text(self, leaf):
        names = ", ".join(name for _, name in leaf.inputs)
        text = f"void {leaf.name}({', '.join(f'{type} {name}' for type, name in leaf.inputs)}) {{\n" + self.attributes(leaf, self.written(leaf))
        text += "  void *node0 = __hpvm__getNode();\n"
        for level in range(1, len(leaf.around)):
            text += f"  void *node{level} = __hpvm__getParentNode(node{level - 1});\n"
        text += "  long own = 0, lane = 0, many = 1, carry = 0;\n"
        for level in reversed(range(len(leaf.around))):
            dimensions = leaf.around[len(leaf.around) - 1 - level]
            if level == 0:
                text += "  long outside = own;\n"
            for d in reversed(range(dimensions)):
                if d < 3 and self.pick.random() < 0.7:
                    id, extent = f"__hpvm__getNodeInstanceID_{QUERIES[d]}(node{level})", f"__hpvm__getNumNodeInstances_{QUERIES[d]}(node{level})"
                else:
                    id, extent = f"__hpvm__getNodeInstanceID(node{level}, {d})", f"__hpvm__getNumNodeInstances(node{level}, {d})"
                text += f"  own = own * {extent} + {id};\n"
                if level == 0:
                    text += f"  lane = lane * {extent} + {id}, many *= {extent};\n"
        if leaf.allocates:
            text += f"  long *kept = (long *)__hpvm__malloc({self.pick.choice([8, 64])});\n  *kept = own;\n  own = *kept;\n"
        given = lambda suffix="": ", ".join([str(len(leaf.outputs)), *(f"{leaf.name}_out{number}{suffix}({names}, own, lane)" if what is None else what
                                                                       for number, (_, what) in enumerate(leaf.outputs))])
        if leaf.returns == "early":
            text += f"  if ({leaf.condition}) {{\n    __hpvm__return({given('_0')});\n    return;\n  }}\n"
        call = lambda phase, round: f"{leaf.name}_{phase}({names}, own, lane, many, {round}, &carry);\n"
        if leaf.barrier == "loop":
            text += f"  for (int round = 0; round < 3; ++round) {{\n    {call(0, 'round')}    __hpvm__barrier();\n    {call(1, 'round')}"
            text += "    if (round < 2)\n      __hpvm__barrier();\n  }\n"
        elif leaf.barrier == "branch":
            text += f"  if ({leaf.own}Bytes > 1) {{\n    {call(0, 0)}    __hpvm__barrier();\n    {call(1, 0)}  }}\n"
        else:
            for step in self.steps(leaf):
                text += "  __hpvm__barrier();\n" if step is None else "  " + call(*step)
        if leaf.atomic:
            how, array = leaf.atomic
            value = "" if how in ("inc", "dec") else ", (int)(own * 7 % 53)"
            text += f"  __hpvm__atomic_{how}(&{array}[own % 5]{value});\n"
        first, second = f"__hpvm__return({given('_0')});", f"__hpvm__return({given('_1')});"
        if leaf.returns:
            text += {"early": f"  {second}\n",
                     "else": f"  if ({leaf.condition})\n    {first}\n  else\n    {second}\n",
                     "twice": f"  if ({leaf.condition})\n    {first}\n  if (!({leaf.condition}))\n    {second}\n",
                     "flag": f"  int done = 0;\n  if ({leaf.condition}) {{\n    {first}\n    done = 1;\n  }}\n  if (!done)\n    {second}\n",
                     "loop": f"  int done = 0;\n  for (int k = 0; k < 3 && !done; ++k)\n    if ({leaf.condition} && k == 1) {{\n      {first}\n      done = 1;\n    }}\n"
                             f"  if (!done)\n    {second}\n",
                     "leave": f"  if ({leaf.condition})\n    goto first;\n  {second}\n  return;\nfirst:\n  {first}\n"}[leaf.returns]
        elif leaf.outputs:
            text += f"  __hpvm__return({given()});\n"
        elif self.pick.random() < 0.5:
            text += "  __hpvm__return(0);\n"
        return text + "  (void)outside;\n}\n" if not leaf.outputs else text.replace("  long outside = own;\n", "") + "}\n"

    def all_written(self, node):
        if not node.children:
            return self.written(node)
        return set().union(*(self.all_written(child.node) for child in node.children))

    def internal_text(self, node):
        text = f"void {node.name}({', '.join(f'{type} {name}' for type, name in node.inputs)}) {{\n" + self.attributes(node, self.all_written(node))
        for number, child in enumerate(node.children):
            extents = "".join(f", (size_t)({expression})" for expression, _ in child.extents)
            text += f"  void *child{number} = __hpvm__createNodeND({len(child.extents)}, {child.node.name}{extents});\n"
        for number, child in enumerate(node.children):
            for position, (_, name) in enumerate(child.node.inputs):
                source = child.sources[name]
                if source[0] == "own":
                    text += f"  __hpvm__bindIn(child{number}, {node.position(name)}, {position}, {int(self.isStream)});\n"
                else:
                    other = node.children.index(source[1])
                    text += f"  __hpvm__edge(child{other}, child{number}, {source[3]}, {source[2]}, {position}, {int(self.isStream)});\n"
        for output, (child, inner) in enumerate(node.bound):
            text += f"  __hpvm__bindOut(child{node.children.index(child)}, {inner}, {output}, {int(self.isStream)});\n"
        return text + "}\n"

    # ---- as loops ----

    def loops_text(self, node):
        """One instance of an internal node: what it is given, and its number among all, as code."""
        outs = "".join(f", {type} *out{number}" for number, (type, _) in enumerate(node.outputs))
        given = ", ".join(f"{type} {name}" for type, name in node.inputs)
        text = f"static void loops_{node.name}({given}{', ' if given else ''}long outside{outs}) {{\n"
        index = {id(child): number for number, child in enumerate(node.children)}
        for number, child in enumerate(node.children):
            count = " * ".join(f"({expression})" for expression, _ in child.extents) or "1"
            text += f"  long many{number} = {count};\n"
            for output, (type, _) in enumerate(child.node.outputs):
                text += f"  {type} *each{number}_{output} = ({type} *)calloc(many{number} + 1, sizeof({type}));\n"
        for number, child in enumerate(node.children):
            values = []
            for type, name in child.node.inputs:
                source = child.sources[name]
                if source[0] == "own":
                    values.append(name)
                else:
                    other = index[id(source[1])]
                    # Without instances nothing is given but zero.
                    where = "i" if source[3] == 0 else f"(many{other} ? many{other} - 1 : 0)"
                    values.append(f"({type})each{other}_{source[2]}[{where}]")
            given, many = ", ".join(values), f"many{number}"
            for output, (type, what) in enumerate(child.node.outputs):
                if what:  # what is given on is given on without instances too
                    text += f"  each{number}_{output}[0] = {values[child.node.position(what)]};\n"
            if child.node.children:
                outs = "".join(f", &each{number}_{output}[i]" for output in range(len(child.node.outputs)))
                text += f"  for (long i = 0; i < {many}; ++i)\n    loops_{child.node.name}({given}{', ' if given else ''}outside * {many} + i{outs});\n"
                continue
            leaf = child.node
            text += f"  long *carry{number} = (long *)calloc({many} + 1, sizeof(long));\n"
            for step in self.steps(leaf):
                if step:
                    left = f"if (!left_{leaf.name}({given}, outside * {many} + i, i)) " if leaf.returns == "early" else ""
                    text += (f"  for (long i = 0; i < {many}; ++i)\n    {left}{leaf.name}_{step[0]}({given}, outside * {many} + i, i, {many}, {step[1]}, "
                             f"&carry{number}[i]);\n")
            if leaf.atomic:
                how, array = leaf.atomic
                value = "(int)((outside * %s + i) * 7 %% 53)" % many
                cell = f"{values[leaf.position(array)]}[(outside * {many} + i) % 5]"
                change = {"add": f"{cell} += {value}", "sub": f"{cell} -= {value}", "and": f"{cell} &= {value}", "or": f"{cell} |= {value}",
                          "xor": f"{cell} ^= {value}", "inc": f"{cell} += 1", "dec": f"{cell} -= 1",
                          "min": f"{cell} = {cell} < {value} ? {cell} : {value}", "max": f"{cell} = {cell} > {value} ? {cell} : {value}",
                          "umin": f"{cell} = (unsigned){cell} < (unsigned){value} ? {cell} : {value}",
                          "umax": f"{cell} = (unsigned){cell} > (unsigned){value} ? {cell} : {value}"}[how]
                text += f"  for (long i = 0; i < {many}; ++i)\n    {change};\n"
            for output, (type, what) in enumerate(leaf.outputs):
                value = f"{leaf.name}_out{output}({given}, outside * {many} + i, i)" if what is None else values[leaf.position(what)]
                text += f"  for (long i = 0; i < {many}; ++i)\n    each{number}_{output}[i] = {value};\n"
            text += f"  free(carry{number});\n"
        for output, (child, inner) in enumerate(node.bound):
            number = index[id(child)]
            text += f"  *out{output} = each{number}_{inner}[many{number} ? many{number} - 1 : 0];\n"
        for number, child in enumerate(node.children):
            for output in range(len(child.node.outputs)):
                text += f"  free(each{number}_{output});\n"
        return text + "}\n"

    # ---- the host ----

    def trial(self):
        """Functions of main: makes inputs, runs both, compares."""
        root, pick = self.root, self.pick
        fields = "".join(f" {type} {name};" for type, name in root.inputs)
        results = "".join(f" {type} result{number};" for number, (type, _) in enumerate(root.outputs))
        pack = f"struct __attribute__((packed)) {root.name}_arguments {{{fields}{results or ' char none;'} }};\n"
        pack += f"struct __attribute__((packed)) {root.name}_item {{{fields or ' char none;'} }};\n"
        pack += f"struct __attribute__((packed)) {root.name}_result {{{results or ' char none;'} }};\n"
        arrays = [(name, self.arrays[name]) for type, name in root.inputs if name in self.arrays]
        text = pack + f"static int try_{root.name}(int seed) {{\n  enum {{ items = {pick.randint(1, 9) if self.isStream else pick.randint(1, 2)} }};\n"
        text += f"  int wrong = 0;\n  static struct {root.name}_arguments arguments[items], mine[items];\n"
        text += "  for (int item = 0; item < items; ++item) {\n"
        for name, type in arrays:
            size = 3 * MOST + 64
            text += f"    arguments[item].{name} = ({type} *)calloc({size}, sizeof({type}));\n    mine[item].{name} = ({type} *)calloc({size}, sizeof({type}));\n"
            text += f"    for (int i = 0; i < {size}; ++i)\n      arguments[item].{name}[i] = mine[item].{name}[i] = ({type})((i * 7 + item * 3 + seed) % 31 - 9);\n"
            text += f"    arguments[item].{name}Bytes = mine[item].{name}Bytes = {size} * sizeof({type});\n"
            text += f"    llvm_hpvm_track_mem(arguments[item].{name}, {size} * sizeof({type}));\n"
        for type, name in root.inputs:
            if name in self.scalars:
                values = self.scalars[name][1]
                choice = ", ".join(map(str, [pick.choice(values) for _ in range(4)]))
                text += f"    static const {type} {name}_values[] = {{{choice}}};\n    arguments[item].{name} = mine[item].{name} = {name}_values[(item + seed) % 4];\n"
        text += "  }\n"
        given = ", ".join(f"mine[item].{name}" for _, name in root.inputs)
        outs = []
        for number, (type, _) in enumerate(root.outputs):
            outs.append(f"&out{number}")
        text += "  for (int item = 0; item < items; ++item) {\n"
        for number, (type, _) in enumerate(root.outputs):
            text += f"    {type} out{number} = 0;\n"
        text += f"    loops_{root.name}_start({', '.join(filter(None, [given, *outs]))});\n"
        for number in range(len(root.outputs)):
            text += f"    mine[item].result{number} = out{number};\n"
        text += "  }\n"
        if self.isStream:
            inputs = "".join(f"    memcpy(&item_.{name}, &arguments[item].{name}, sizeof item_.{name});\n" for _, name in root.inputs)
            text += f"  void *graph = __hpvm__launch(1, (void *){root.name}, NULL);\n"
            ahead = pick.randint(1, 2)
            text += f"  int popped = 0;\n  for (int item = 0; item < items; ++item) {{\n    struct {root.name}_item item_;\n{inputs}    __hpvm__push(graph, &item_);\n"
            take = f"struct {root.name}_result *result = (struct {root.name}_result *)__hpvm__pop(graph);\n"
            for number in range(len(root.outputs)):
                take += f"    memcpy(&arguments[popped].result{number}, &result->result{number}, sizeof result->result{number});\n"
            take += "    free(result);\n    ++popped;\n"
            if root.outputs:
                text += f"    if (item - popped + 1 >= {ahead}) {{\n    {take}    }}\n  }}\n  while (popped < items) {{\n    {take}"
            text += "  }\n  __hpvm__wait(graph);\n"
        else:
            text += "  void *graphs[items];\n  for (int item = 0; item < items; ++item)\n"
            text += f"    graphs[item] = __hpvm__launch(0, (void *){root.name}, &arguments[item]);\n"
            text += "  for (int item = 0; item < items; ++item)\n    __hpvm__wait(graphs[item]);\n"
        text += "  for (int item = 0; item < items; ++item) {\n"
        for name, type in arrays:
            text += f"    llvm_hpvm_request_mem(arguments[item].{name}, arguments[item].{name}Bytes);\n"
            text += f"    for (int i = 0; i < {3 * MOST + 64}; ++i)\n      if (memcmp(&arguments[item].{name}[i], &mine[item].{name}[i], sizeof({type})) && !wrong++)\n"
            text += f"        printf(\"{root.name}: {name}[%d] of item %d is %g and not %g\\n\", i, item, (double)arguments[item].{name}[i], (double)mine[item].{name}[i]);\n"
        for number, (type, what) in enumerate(root.outputs):
            if "*" in type:
                test = f"arguments[item].result{number} != (mine[item].result{number} ? arguments[item].{what} : 0)"
                text += f"    if ({test} && !wrong++)\n      printf(\"{root.name}: result {number} of item %d is another pointer\\n\", item);\n"
            else:
                text += f"    if (memcmp(&arguments[item].result{number}, &mine[item].result{number}, sizeof({type})) && !wrong++)\n"
                text += (f"      printf(\"{root.name}: result {number} of item %d is %g and not %g\\n\", item, (double)arguments[item].result{number}, "
                         f"(double)mine[item].result{number});\n")
        for name, type in arrays:
            text += f"    llvm_hpvm_untrack_mem(arguments[item].{name});\n    free(arguments[item].{name});\n    free(mine[item].{name});\n"
        return text + "  }\n  return wrong;\n}\n"

    def start(self, isDefinition):
        root = self.root
        given = ", ".join([f"{type} {name}" for type, name in root.inputs] + [f"{type} *out{number}" for number, (type, _) in enumerate(root.outputs)])
        text = f"void loops_{root.name}_start({given})"
        if not isDefinition:
            return text + ";\n"
        names = ", ".join([name for _, name in root.inputs] + ["0"] + [f"out{number}" for number in range(len(root.outputs))])
        return text + f" {{\n  loops_{root.name}({names});\n}}\n"


def make(seed):
    pick = random.Random(seed)
    return [Graph(pick, number) for number in range(GRAPHS)]


def program(graphs):
    """The files of a program."""
    bodies = "#include <stddef.h>\n#include <stdlib.h>\n" + "".join(graph.body(leaf) for graph in graphs for leaf in graph.leaves)
    nodes = '#include "bodies.h"\n#include <hpvm.h>\n'
    loops = '#include "bodies.h"\n'
    main = "#include <hpvm.h>\n#include <stdio.h>\n#include <stdlib.h>\n#include <string.h>\n"
    for graph in graphs:
        nodes += "".join(map(graph.leaf_text, graph.leaves)) + "".join(map(graph.internal_text, graph.internals))
        loops += "".join(map(graph.loops_text, graph.internals)) + graph.start(True)
        root = graph.root
        main += f"void {root.name}({', '.join(f'{type} {name}' for type, name in root.inputs)});\n" + graph.start(False) + graph.trial()
    main += "int main(void) {\n  int wrong = 0;\n  __hpvm__init();\n  for (int seed = 0; seed < 3; ++seed) {\n"
    main += "".join(f"    wrong += try_{graph.root.name}(seed) != 0;\n" for graph in graphs) + "  }\n  __hpvm__cleanup();\n  return wrong != 0;\n}\n"
    return {"bodies.h": bodies, "nodes.c": nodes, "loops.c": loops, "main.c": main}


NUMPY = {"int": "i4", "long": "i8", "float": "f4", "double": "f8"}
INTERPRETED = 2  # graphs of a program


def interpret(strata, graphs, folder, pick):
    """What is wrong with graphs that the interpreter can execute; nothing where it agrees, or there are none."""
    with open(os.path.join(folder, "graphs.mlir")) as file:
        text = file.read()
    # Each graph with its kernels is a program of its own.
    head, *parts = re.split(r"(?m)^  (?=func\.func|svm\.kernel|svm\.llvm_source)", text)
    kernels = {part.split("(")[0].split("@")[1]: part for part in parts if part.startswith("svm.kernel")}
    tail = "".join(re.findall(r"(?m)^}.*(?:\n#.*)*", parts[-1]))
    found = []
    for part in parts:
        entry = re.match(r"func\.func @graph_(\d+)\((.*?)\) attributes", part, re.DOTALL)
        runs = set(re.findall(r"svm\.run @([\w.]+)", part))
        if not entry or any(" llvm = @" in kernels[name].split("{", 2)[-1] or "llvm = @leaves" in kernels[name] for name in runs):
            continue
        types = dict((name, type) for type, name in re.findall(r"%arg\d+: ([^{]*?) \{[^}]*svm\.name = \"(\w+)\"", entry[2]))
        graph = next((graph for graph in graphs if any(name in graph.arrays for name in types)), None)
        if graph:
            found.append((entry[1], graph, types, len(re.findall(r"%arg\d+:", entry[2])), [part, *(kernels[name] for name in sorted(runs))]))
    for number, graph, types, arguments, own in pick.sample(found, min(INTERPRETED, len(found))):
        with open(os.path.join(folder, "graph.mlir"), "w") as file:
            file.write(re.sub(r"svm\.mapping = \{.*\}, (?=svm\.program)", "", head) + "".join("  " + part for part in own) + ("" if own[-1] is parts[-1] else tail))
        words = [strata, "run", "graph.mlir", "--check", "--in", f"arg{arguments - 1}=0"]
        for type, name in graph.root.inputs:
            if name in graph.arrays:
                dtype = NUMPY[graph.arrays[name]]
                values = (np.arange(3 * MOST + 64) * 7 % 31 - 9).astype(dtype)
                np.save(os.path.join(folder, name + ".npy"), values.view("i1") if "?xi8," in types.get(name, "") else values)
                words += ["--in", f"{name}={name}.npy", "--in", f"{name}Bytes={values.nbytes}"]
            elif name in graph.scalars:
                words += ["--in", f"{name}={pick.choice(graph.scalars[name][1])}"]
        done = subprocess.run(words, cwd=folder, capture_output=True, text=True, errors="replace", timeout=300)
        if done.returncode:
            return f"{' '.join(words)} ended with {done.returncode}\n{done.stdout}{done.stderr}"
    return None


def run(strata, clang, seed, folder, sanitize=()):
    """What is wrong with a program; nothing where all is well."""
    graphs = make(seed)
    for name, text in program(graphs).items():
        with open(os.path.join(folder, name), "w") as file:
            file.write(text)
    pick = random.Random(seed + 1)
    flags = ["-w", "-ffp-contract=off", "-fwrapv", *sanitize]
    machine = pick.choice(MACHINES)
    link = [strata, "cc", *flags, "nodes.o", "loops.o", "main.o", "-lm", "-o"]
    commands = [[strata, "cc", pick.choice(["-O0", "-O1", "-O2"]), *flags, "-c", "nodes.c"], [clang, "-O1", *flags, "-c", "loops.c"],
                [strata, "cc", "-O0", *flags, "-c", "main.c"], [*link, "program", "--graphs=graphs.mlir"], [*link, machine, "--machine=" + machine]]
    try:
        for command in commands:
            done = subprocess.run(command, cwd=folder, capture_output=True, text=True, errors="replace", timeout=600)
            if done.returncode:
                return f"{' '.join(command)} ended with {done.returncode}\n{done.stdout}{done.stderr}"
        for name, threads in (("program", "1"), ("program", "2"), ("program", "7"), (machine, pick.choice("127"))):
            done = subprocess.run(["./" + name], cwd=folder, capture_output=True, text=True, errors="replace", timeout=600, env={**os.environ, "STRATA_THREADS": threads})
            if done.returncode:
                return f"{name} with {threads} threads ended with {done.returncode}\n{done.stdout}{done.stderr}"
        return interpret(strata, graphs, folder, pick)
    except subprocess.TimeoutExpired as late:
        return f"no end: {' '.join(late.cmd)}"


def main():
    return many.try_many(many.options(__doc__), run, f"{GRAPHS} graphs")


if __name__ == "__main__":
    sys.exit(main())
