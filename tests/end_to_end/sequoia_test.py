"""Every Sequoia example on one machine (--machine), at three sizes, with 1, 2 and 7 threads: right by NumPy's account, and the same
bits whatever the number of threads and however often it runs; and the same as the interpreter's (--check), also with the mapping file
that stands beside the example. With --brief: 7 threads, and at the middle size 1 thread too and the interpreter, with one of the two
mappings; elsewhere than on host the smallest or the largest size is left out, in turn."""

import os

import harness
from programs import PROGRAMS, check, run


class SequoiaExamples(harness.Case):
    pass


def test_of(number, program, size):
    def test(self):
        if harness.options.machine in program.but_not:
            self.skipTest(f"{program.name} is not for {harness.options.machine}")
        given = program.make(size)
        reference = None
        is_middle = size is program.sizes[1]
        if harness.options.brief and harness.options.machine != "host" and size is program.sizes[0 if number % 2 else -1]:
            self.skipTest("by night")
        for threads in harness.thread_counts()[not is_middle and harness.options.brief:]:
            what = f"{program.name} {size} on {harness.options.machine} with {threads} threads"
            got = run(self, program, given, "--machine", harness.options.machine, "--threads", threads)
            check(self, program, given, got, what)
            bits = {name: (array.dtype.str, array.tobytes()) for name, array in got.items()}
            reference = reference or bits
            self.assertEqual(bits == reference, True, f"{what}: other bits than with 1 thread")
        mapping = os.path.join(os.path.dirname(program.path), f"{harness.options.machine}.map")
        for extra in harness.in_turn(((), ("--map", mapping)), number) if is_middle or not harness.options.brief else ():
            what = f"{program.name} {size} on {harness.options.machine}, {' '.join(extra) or 'default mapping'}, checked"
            check(self, program, given, run(self, program, given, "--machine", harness.options.machine, "--check", *extra), what)
    return test


for number, program in enumerate(PROGRAMS):
    for size in program.sizes:
        setattr(SequoiaExamples, f"test_{program.name}_{'x'.join(map(str, size))}", test_of(number, program, size))

if __name__ == "__main__":
    harness.main()
