"""What the random programs of generate.py are trees of: views of blocks, statements, functions, and what the code at one place sees."""

SIZES = [0, 1, 1, 2, 3, 4, 5, 7, 8, 12, 13, 16, 17]
MOST, SHORT = 17, 4  # elements in a dimension, and in the third one
CONTROL, WORKER, MAIN, STORE = "ppe", "spe", "main", "ls"
WORKERS = 8


class View:
    """Something to read or write: a block, an argument or a part of one. `mode`: "rw", "r" or a combiner's name (a private copy)."""

    def __init__(self, name, rank, bounds, mode, memory):
        self.name, self.rank, self.bounds, self.mode, self.memory = name, rank, bounds, mode, memory


class Context:
    """What the code at one place sees. `here` executes it; `dealt`: it is a part of a loop distributed to workers; `delays`: streams that hold some
    elements, which code that runs in order pushes to and pops from; `work`: how often it is executed, about."""

    def __init__(self, function, views, here, depth, variables=(), dealt=False, state=None):
        self.function, self.views, self.here, self.depth = function, views, here, depth
        self.variables, self.dealt, self.state = list(variables), dealt, state
        self.delays, self.work = [], 1

    def inner(self, **changes):
        other = Context(self.function, self.views, self.here, self.depth + 1, self.variables, self.dealt, self.state)
        other.delays, other.work = self.delays, self.work
        vars(other).update(changes)
        return other

    def touches(self, view):
        return view.memory == (STORE if self.here == WORKER else MAIN)


class Statement:
    """Lines with statements between them."""

    def __init__(self, before, inner=None, after=()):
        self.before, self.inner, self.after = list(before), inner, list(after)

    def render(self, indent="  "):
        yield from (indent + line for line in self.before)
        for statement in self.inner or ():
            yield from statement.render(indent + "  ")
        yield from (indent + line for line in self.after)


class Function:
    def __init__(self, name, control):
        self.name, self.control, self.arguments, self.body = name, control, [], []
        self.delays = []  # streams that it is given, behind the blocks
        self.blocks, self.loops, self.calls, self.streams = {}, {}, {}, {}
