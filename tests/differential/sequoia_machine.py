"""Machines for random mappings: those that ship, and machines of our own making, of one to four levels with memories in a tree, virtual levels
between and above them, processors that are told apart or shared by levels, and disks. A machine here is its levels, innermost first, and the
text of its description where it does not ship."""
import random


class Level:
    """`memories`: instances of its memory. `processor`: the class that runs its control, of which there are `processors`; a virtual level
    may have none. `joined`: how many instances each one of a virtual memory joins; 0 where the level is not virtual."""

    def __init__(self, memory, memories, processor, processors, store=True, joined=0):
        self.memory, self.memories, self.processor, self.processors = memory, memories, processor, processors
        self.store, self.joined = store and not joined, joined  # store: of a stated capacity, managed by the program


class Span:
    """Which processors control has: a class, how many of it, for each distributed loop around the class it is distributed to and the
    distance of its parts' numbers, and whether one of them has only some of the processors. Immutable."""

    def __init__(self, machine, on=None, width=1, loops=(), some=False):
        self.machine, self.on, self.width, self.loops, self.some = machine, on, width, loops, some

    def width_of(self, processor):
        wanted = self.machine.count[processor]
        if self.on is None or not (self.loops or self.some):
            return wanted
        own = self.machine.count[self.on]
        if self.on == processor:
            return self.width
        return self.width * (wanted // own) if wanted >= own else max(self.width // (own // wanted), 1)

    def enter(self, processor, ways=1, among=None):
        width = among or self.width_of(processor)
        step = max(width // ways, 1)
        some = self.some or among is not None
        if ways == 1:
            return Span(self.machine, processor, width, self.loops, some)
        return Span(self.machine, processor, step, self.loops + ((processor, step),), some)

    def can_make(self, level):
        """Whether a block at this level is its maker's own."""
        at = self.machine.levels[level]
        return not (at.store or at.joined) or all(step * at.memories >= self.machine.count[who] for who, step in self.loops)


class Machine:
    def __init__(self, name, levels, text=None):
        self.name, self.levels, self.text = name, levels, text
        self.top = len(levels) - 1
        self.count = {level.processor: level.processors for level in levels if level.processor}

    def controller(self, level):
        return next(above.processor for above in self.levels[level:] if above.processor)

    @staticmethod
    def named(name):
        main = lambda processor, processors=1: Level("main", 1, processor, processors, store=False)
        cell = [Level("ls", 8, "spe", 8), Level("stores", 1, None, 0, joined=8), main("ppe")]
        levels = {"host": lambda: [main("core", 4)], "cell": lambda: cell,
                  "cell-disk": lambda: cell[:2] + [Level("main", 1, "ppe", 1, store=True), Level("disk", 1, "ppe", 1, store=False)],
                  "smp-2level": lambda: [Level("l1", 2, "cpu", 2), Level("l2", 2, "cpu", 2), main("cpu", 2)],
                  "cluster": lambda: [Level("store", 8, "core", 8), Level("memory", 4, "node", 4), Level("space", 1, "front", 1, joined=4)],
                  "ranks": lambda: [Level("memory", 8, "rank", 8), Level("space", 1, "front", 1, joined=8)]}
        return Machine(name, levels[name]())


class Random:
    """Makes a machine at random."""

    def __init__(self, seed, features):
        self.random = random.Random(f"machine {seed}")
        self.features = features
        self.memories, self.processors, self.levels, self.ends = [], [], [], []
        counts = self.counts()
        local = self.classes(counts)
        for number, (count, processor) in enumerate(zip(counts, local)):
            self.real(number, count, processor, len(counts) - number)
            if self.chance("virtual"):
                self.virtual(count, counts[number + 1] if number + 1 < len(counts) else 1)
        self.outermost(counts, local)
        for name in dict.fromkeys(level.processor for level in self.levels if level.processor):
            count = next(level.processors for level in self.levels if level.processor == name)
            own = [f"near{n}" for n, processor in enumerate(local) if processor == name] + (["home"] if name == "front" else [])
            kind = "control" if name in ("chief", "front") else self.random.choice(["core", "stream", "control"])
            if name == local[0] and kind == "control":
                kind = "stream"
            masters = dict.fromkeys([name, self.levels[-1].processor])
            self.processors.append("\n    ".join([f"  - name: {name}", f"kind: {kind}", f"count: {count}", f"masters: [{', '.join(masters)}]"] +
                                                 ([f"local: [{', '.join(own)}]"] if own else [])))
            self.ends.append(name)

    def chance(self, name):
        return self.random.random() < self.features[name]

    def counts(self):
        """Of the levels below the outermost one, innermost first."""
        r = self.random
        if not self.chance("three_levels"):
            return [r.choice([1, 2, 3, 4, 8])]
        counts = [r.choice([1, 2, 2, 3, 4])]
        if r.random() < 0.25:
            counts.insert(0, counts[0] * r.choice([1, 2, 2]))
        return [counts[0] * r.choice([1, 1, 2, 3])] + counts

    def classes(self, counts):
        """The processors of each of these levels: its own, or those of the level inside where there are as many."""
        names = []
        for number, count in enumerate(counts):
            same = names and counts[number - 1] == count and self.random.random() < 0.35
            names.append(names[-1] if same else f"worker{number}")
        return names

    def memory(self, name, lines):
        self.memories.append("\n    ".join([f"  - name: {name}", *lines]))

    def real(self, number, count, processor, outwards):
        capacity = self.random.choice(["8K", "16K", "64K", "256K"] if number == 0 else ["64K", "256K", "1M"])
        self.memory(f"near{number}", [f"count: {count}", f"capacity: {capacity}", f"alignment: {self.random.choice([4, 8, 16, 64, 128])}",
                                      "explicit: true"])
        self.ends.append(f"near{number}")
        self.levels.append(Level(f"near{number}", count, processor, count))

    def virtual(self, count, instances):
        name = f"over_{self.levels[-1].memory}"
        self.memory(name, [f"count: {instances}", f"over: {self.levels[-1].memory}"])
        self.levels.append(Level(name, instances, None, 0, joined=count // instances))

    def outermost(self, counts, local):
        r = self.random
        if self.chance("front"):
            if not self.levels[-1].joined:
                self.virtual(counts[-1], 1)
            self.levels[-1].processor, self.levels[-1].processors = "front", 1
            self.memory("home", ["capacity: available", f"alignment: {r.choice([4, 16, 64])}"])
            self.ends.append("home")
            return
        explicit = [] if self.chance("coherent") else ["explicit: true"]
        self.memory("main", ["capacity: available", f"alignment: {r.choice([4, 16, 64])}", *explicit])
        self.ends.append("main")
        chief, many = ("chief", 1) if r.random() < 0.8 else (local[-1], counts[-1])
        self.levels.append(Level("main", 1, chief, many, store=False))
        if self.chance("disk"):
            self.memory("disk", ["files: true"])
            self.ends.append("disk")
            self.levels.append(Level("disk", 1, chief, many, store=False))

    def make(self, name):
        levels = [f"  - level: {n}\n    memory: {level.memory}" + (f"\n    processor: {level.processor}" if level.processor else "")
                  for n, level in enumerate(self.levels)]
        text = "\n".join([f"machine: {name}", "memories:", *self.memories, "processors:", *self.processors, "links:",
                          f"  - name: bus\n    ends: [{', '.join(self.ends)}]", "levels:", *levels]) + "\n"
        return Machine(name, self.levels, text)
