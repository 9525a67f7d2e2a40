"""Random programs, mapped at random, against the interpreter: every result has to be the same to the last bit.

  run.py --strata build/bin/strata --seconds 60           as many programs as there is time for
  run.py --strata build/bin/strata --seed 17 --count 1    one program, the seventeenth
  run.py … --keep FOLDER                                  where programs that fail are written, as small as they could be made

A program runs on a machine with one memory (as it is, and mapped at random) and on one with local stores (mapped at random, the same
with loops pipelined, unrolled and flattened, and the same with streams through FIFOs), with a random number of threads. `strata run --check` makes the comparison and refuses programs that use what nobody wrote."""

import argparse
import concurrent.futures
import os
import pathlib
import sys
import tempfile
import time

import kernels
import records
from generate import Program
from sequoia import Server, code_of

FIFOS = str(pathlib.Path(__file__).resolve().parent / "fifos.yaml")
VARIANTS = {"host": ("host", lambda program: []), "host mapped": ("host", records.dealt_at_random), "cell": ("cell", records.as_made),
            "cell pipelined": ("cell", records.transformed), "fifos": (FIFOS, records.through_fifos)}
REDUCTION_SECONDS = 60


class Case:
    """One program in one variant."""

    def __init__(self, strata, folder, seed, variant):
        self.strata, self.seed, self.variant = strata, seed, variant
        self.program = Program(seed)
        self.machine, record = VARIANTS[variant]
        self.record = record(self.program)
        self.threads = 1 + seed * 7 % 4
        self.path = pathlib.Path(folder) / f"{seed}-{variant.replace(' ', '-')}.mlir"

    def command(self, path):
        sizes = ",".join(f"{name}={value}" for name, value in self.program.sizes.items())
        inputs = []
        for number in range(len(self.program.entry.arguments)):
            inputs += ["--in", f"a{number}=random:{self.seed + number}"]
        return [self.strata, "run", str(path), "--size", sizes, *inputs, "--machine", self.machine, "--threads", str(self.threads), "--check"]

    def run(self, path=None):
        """What is wrong, or nothing."""
        path = path or self.path
        path.write_text("\n".join(self.program.render(self.record)) + "\n")
        status, said = Server.execute(self.command(path), self.seed % 8 == 0)
        if status == 0 or self.is_rightly_refused(said):
            path.unlink()
            return None
        return f"it ended with {status}\n{said[-2000:]}"

    def is_rightly_refused(self, said):
        """A loop that becomes too many copies of its body, or a combiner that is seen not to commute and does not."""
        ordered = any(name.startswith(f"combine_{combiner}_") for name in self.program.kernels
                      for combiner, is_free in kernels.COMBINERS.items() if not is_free)
        return (code_of(said) == "mapping-flatten" and "copies of" in said) or (code_of(said) == "check-combiner" and ordered)

    def reduce(self, wrong):
        """Takes statements out as long as the program fails in the same way."""
        def kind(text):
            return text.split("[")[0] + text.split("[")[1].split("]")[0] if "error[" in (text or "") else (text or "").split("\n")[0]
        wanted, end = kind(wrong), time.monotonic() + REDUCTION_SECONDS
        smaller = True
        while smaller and time.monotonic() < end:
            smaller = False
            for body in self.bodies():
                for position in range(len(body) - 1, -1, -1):
                    if time.monotonic() > end:
                        break
                    taken = body.pop(position)
                    again = self.run(self.path.with_suffix(".try.mlir"))
                    if again and kind(again) == wanted:
                        smaller, wrong = True, again
                    else:
                        body.insert(position, taken)
        self.run()
        self.path.with_suffix(".try.mlir").unlink(missing_ok=True)
        return wrong

    def bodies(self):
        """Every list of statements, outer ones first."""
        work = [function.body for function in self.program.functions]
        for body in work:
            yield body
            work += [statement.inner for statement in body if statement.inner]


def main(description=__doc__, make=Case, variants=tuple(VARIANTS)):
    parser = argparse.ArgumentParser(description=description, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--strata", required=True, help="the command to test")
    parser.add_argument("--server", help="differential_server, which saves most of the time")
    parser.add_argument("--seed", type=int, default=1, help="the first program")
    parser.add_argument("--count", type=int, help="so many programs")
    parser.add_argument("--seconds", type=float, help="so long")
    parser.add_argument("--variant", action="append", choices=list(variants), help="only this one; may be repeated")
    parser.add_argument("--keep", default=os.path.join(tempfile.gettempdir(), "strata-differential"), help="folder for programs that fail")
    parser.add_argument("--failures", type=int, default=3, help="stop after so many")
    parser.add_argument("--workers", type=int, default=os.cpu_count(), help="processes at a time")
    options = parser.parse_args()
    if options.count is None and options.seconds is None:
        options.count = 1000
    os.makedirs(options.keep, exist_ok=True)
    Server.path = options.server
    strata = os.path.abspath(options.strata)
    end = time.monotonic() + (options.seconds or 1e9)
    runs, failures = 0, []

    def cases():
        seed = options.seed
        while options.count is None or seed < options.seed + options.count:
            for variant in options.variant or variants:
                if time.monotonic() > end or len(failures) >= options.failures:
                    return
                yield make(strata, options.keep, seed, variant)
            seed += 1

    with concurrent.futures.ThreadPoolExecutor(options.workers) as pool:
        waiting = {}

        def collect(done):
            nonlocal runs
            for future in done:
                case, wrong = waiting.pop(future), future.result()
                runs += 1
                if wrong:
                    failures.append((case, wrong))

        for case in cases():
            waiting[pool.submit(case.run)] = case
            if len(waiting) >= 2 * options.workers:
                collect(concurrent.futures.wait(waiting, return_when=concurrent.futures.FIRST_COMPLETED).done)
        collect(list(concurrent.futures.wait(waiting).done))
    for case, wrong in failures:
        wrong = case.reduce(wrong)
        print(f"FAIL program {case.seed}, {case.variant}: {wrong}\n  {' '.join(case.command(case.path))}")
    print(f"{runs} runs of programs {options.seed} and up, {len(failures)} failed")
    return 1 if failures or not runs else 0


if __name__ == "__main__":
    sys.exit(main())
