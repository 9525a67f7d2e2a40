"""Every HBIR example on one machine (--machine), at three sizes, with 1, 2 and 7 threads: right by NumPy's account, and the same bits
whatever the number of threads; the same as the interpreter's (--check), and with a mapping file that moves its arrays and groups
elsewhere; and the same again from its form in the dialect. With --brief: the first form at every size and the others at the middle one,
where 1 and 7 threads, the interpreter and the mapping are tried; elsewhere 7 threads."""

import harness
from hbir_programs import check, options_of, programs, run


class HbirExamples(harness.Case):
    def bits(self, got):
        return {name: (array.dtype.str, array.tobytes()) for name, array in got.items()}


def test_of(program, size):
    def test(self):
        given = program.make(size)
        machine = ("--machine", harness.options.machine)
        reference = None
        whole = size is program.sizes[1] or not harness.options.brief
        for threads in harness.thread_counts()[not whole:]:
            what = f"{program.path} {size} on {harness.options.machine} with {threads} threads"
            got = run(self, program, given, size, *machine, "--threads", threads, "--werror")
            check(self, program, given, size, got, what)
            reference = reference or self.bits(got)
            self.assertEqual(self.bits(got) == reference, True, f"{what}: other bits than with 1 thread")
        if not whole:
            return
        got = run(self, program, given, size, *machine, "--check", "--werror")
        self.assertEqual(self.bits(got) == reference, True, f"{program.path} {size}: other bits with --check")
        moved = self.write("moved.map", program.moved)
        got = run(self, program, given, size, *machine, "--map", moved)
        self.assertEqual(self.bits(got) == reference, True, f"{program.path} {size}: other bits with another mapping")
    return test


def replay_of(program):
    def test(self):
        size = program.sizes[1]
        given = program.make(size)
        machine = ("--machine", harness.options.machine)
        direct = run(self, program, given, size, *machine)
        options = options_of(self, given, size)
        self.succeeds("run", program.path, *options, *machine, "--emit=svm", "-o", self.path("p.mlir"))
        outputs = [word for name in direct for word in ("--out", f"{name}={self.path(f'again-{name}.npy')}")]
        self.succeeds("run", self.path("p.mlir"), *options[2:], *outputs, *machine)
        for name, array in direct.items():
            with open(self.path(f"out-{name}.npy"), "rb") as one, open(self.path(f"again-{name}.npy"), "rb") as other:
                self.assertEqual(one.read() == other.read(), True, f"{program.path}: {name} differs when run from the dialect")
    return test


first_forms = {}
for program in programs():
    label = f"{program.name}_{program.form}"
    for size in program.sizes:
        always = first_forms.setdefault(program.name, program.form) == program.form or size == program.sizes[1]
        setattr(HbirExamples, f"test_{label}_{'x'.join(map(str, size.values()))}", harness.unless_brief(not always, test_of(program, size)))
    setattr(HbirExamples, f"test_replay_{label}", replay_of(program))

if __name__ == "__main__":
    harness.main()
