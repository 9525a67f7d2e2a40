"""Random Sequoia programs under random mappings on random machines: every run agrees with the interpreter (--check), and all mappings of a
program give the same bits, except where floating-point numbers are reduced: those are within the bound of their reduction, which --check knows.
What strata estimate counts is what a run counts, where no data decides it.

  sequoia.py --strata build/bin/strata --seconds 60           as many programs as there is time for
  sequoia.py --strata build/bin/strata --seed 17 --count 1    one program, the seventeenth
  sequoia.py … --keep FOLDER                                  where programs that fail are written, as small as they could be made
  sequoia.py … --feature swp=1 --feature spmd=0               how often mappings ask for something (FEATURES in sequoia_map.py)
  sequoia.py … --variant "nodes 0" --variant "nodes 1"        over several processes, on cluster, ranks and random machines: the bits of one process"""

import argparse
import collections
import concurrent.futures
import json
import os
import pathlib
import re
import signal
import subprocess
import sys
import tempfile
import threading
import time

from sequoia_generate import Program
from sequoia_machine import Machine, Random
from sequoia_map import FEATURES, Mapping

# Mappings that a machine cannot carry out are refused by name; they are counted.
REFUSED = {"sequoia-does-not-fit", "schedule-does-not-fit", "runtime-store-full", "mapping-flatten"}
TIMEOUT = 600  # what ends a hang: a hundred times what a program takes
SHIPPED = ("cell", "cell-disk", "smp-2level", "cluster", "ranks", "host")
VARIANTS = ("default", "random 0", "random 1", "random 2", "shipped 0", "shipped 1", "made", "estimated")
NODES = ("nodes 0", "nodes 1")  # need MPI
# What cannot be spread over several processes is refused, too.
APART = {"runtime-ranks-apart", "machine-process"}


class Server:
    """Executes commands: through build/tests/differential_server where it is given, which saves each the time of the loader, else one process
    each. One server for each thread. Native code is not optimised, but for every eighth program."""

    threads = threading.local()
    path = None

    @classmethod
    def execute(cls, command, optimise):
        """(status, what it said on standard error)"""
        environment = {**os.environ, "STRATA_OPTIMIZATION": "3" if optimise else "0"}
        if not cls.path:
            try:
                done = subprocess.run(command, capture_output=True, text=True, errors="replace", timeout=TIMEOUT, env=environment)
            except subprocess.TimeoutExpired:
                return -signal.SIGALRM, ""
            return done.returncode, done.stderr
        servers = cls.threads.__dict__.setdefault("servers", {})
        if optimise not in servers:
            # The children of a server that is bound to its libraries need not be.
            servers[optimise] = subprocess.Popen([cls.path, command[0], str(TIMEOUT)], stdin=subprocess.PIPE, stdout=subprocess.PIPE, text=True,
                                                 env={**environment, "LD_BIND_NOW": "1"})
        server = servers[optimise]
        server.stdin.write(json.dumps(command[1:]) + "\n")
        server.stdin.flush()
        answer = json.loads(server.stdout.readline())
        return answer["status"], answer["error"]


def code_of(text):
    return text.split("error[")[1].split("]")[0] if "error[" in text else None


class Case:
    """One program in all its mappings."""

    def __init__(self, strata, folder, seed, features, variants=VARIANTS):
        self.strata, self.seed, self.features, self.variants = strata, seed, features, list(variants)
        self.program = Program(seed)
        self.folder = pathlib.Path(folder) / str(seed)
        self.refused, self.used, self.runs = collections.Counter(), collections.Counter(), 0
        self.commands = {}

    def command(self, variant):
        """Writes what a variant needs and gives its command."""
        self.folder.mkdir(parents=True, exist_ok=True)
        program = self.folder / "program.sq"
        program.write_text("\n".join(self.program.render()) + "\n")
        words = [self.strata, "run", str(program), "--entry", "Main", "--threads", str(1 + self.seed * 7 % 4)]
        if self.program.sizes:
            words += ["--size", ",".join(f"{name}={value}" for name, value in self.program.sizes.items())]
        for p in self.program.main.parameters:
            words += ["--in", f"{p.name}={'3' if p.name == 'p' else f'random:{self.seed}'}"]
            if p.direction != "in":
                words += ["--out", f"{p.name}={self.folder / p.name}.npy"]
        self.mapping = self.conversion = None
        if variant == "default":
            return words + ["--check"]
        words += self.mapped(variant)
        return words

    def mapped(self, variant):
        """A random mapping onto one of two machines that ship, or a machine made at random, with a random mapping or the one that is made."""
        kind, number = (variant + " 0").split()[:2]
        if kind == "shipped":
            machine = Machine.named(SHIPPED[(self.seed + 2 * int(number)) % len(SHIPPED)])
        elif kind == "nodes":
            machine = self.spread(number)
        else:
            machine = Random(f"{self.seed}{number}", self.features).make(f"machine{self.seed}{number}")
        words = []
        if machine.text:
            yaml = self.folder / f"{machine.name}.yaml"
            yaml.write_text(machine.text)
            words += ["--machine", str(yaml)]
        if kind == "made":
            return words + ["--check"]
        mapping = self.mapping = Mapping(self.program, machine, f"{self.seed}:{variant}", self.features)
        path = self.folder / f"{variant.replace(' ', '-')}.map"
        path.write_text("\n".join(mapping.render()) + "\n")
        for name, text in mapping.files.items():
            (self.folder / name).write_text(text)
        if mapping.chance(mapping.random, "xml"):
            self.conversion = [self.strata, "map", str(self.folder / "program.sq"), *words, "--map", str(path), "--format=xml", "-o"]
            path = path.with_suffix(".xml")
            self.conversion.append(str(path))
        return words + ["--map", str(path), "--check"]

    def spread(self, number):
        """A machine of which one class of processors is of processes; self.processes: how many there are to be."""
        machine, count = (Machine.named("ranks"), 8) if self.seed % 2 else (Machine.named("cluster"), 4)
        if number == "1":
            machine = Random(f"{self.seed}n", self.features).make(f"machine{self.seed}n")
            classes = [name for name, count in machine.count.items() if count > 1]
            if classes:
                # Mostly the outermost: what others belong to.
                name = classes[-1] if self.seed % 3 else classes[self.seed // 3 % len(classes)]
                count = machine.count[name]
                machine.text = re.sub(rf"(  - name: {name}\n    kind: \w+\n)", r"\1    process: true\n", machine.text)
            else:
                machine = Machine.named("cluster")
        self.processes = 2 + self.seed % (min(count, 4) - 1)
        return machine

    def results(self):
        return {p.name: (self.folder / f"{p.name}.npy").read_bytes() for p in self.program.main.parameters if p.direction != "in"}

    def compare_nodes(self, command):
        """What is wrong with a run over several processes, or nothing."""
        command.remove("--check")
        wrong = self.execute(command)
        if wrong:
            return wrong
        alone = self.results()
        self.runs += 1
        wrong = self.execute(command + ["--nodes", str(self.processes)])
        differing = [name for name, bits in self.results().items() if bits != alone[name]]
        return wrong or (f"{', '.join(differing)} differs between one process and {self.processes}" if differing else None)

    def compare_estimate(self, command):
        """What is wrong with the figures of an estimate, or nothing: they are those of a run, and no part of a machine does more than there is time for."""
        command.remove("--check")
        wrong = self.execute([*command, f"--stats=json:{self.folder}/run.json"])
        if wrong:
            return wrong
        words = [command[0], "estimate", *command[2:], f"--stats=json:{self.folder}/estimate.json", "--json"]
        for option in ("--out", "--threads"):
            while option in words:
                del words[words.index(option):words.index(option) + 2]
        status, said = Server.execute(words, False)
        if status:
            return f"the estimate ended with {status}\n{said[-3000:]}"
        run, estimate = (json.loads((self.folder / name).read_text()) for name in ("run.json", "estimate.json"))
        for name, carrier in estimate["carriers"].items():
            if carrier["busy"] > carrier["count"] * estimate["cycles"] * (1 + 1e-9):
                return f"'{name}' is busy for longer than the program takes: {estimate}"
        for name, all_of in estimate["processors"].items():
            if all_of["computing"] + all_of["waiting"] + all_of["starting"] > all_of["used"] * estimate["cycles"] * (1 + 1e-9):
                return f"'{name}' does more than there is time for: {estimate}"
        if "estimate-assumed" in said:
            return None
        counted = {"moves": run["moves"], "moves elided": run["moves_elided"], "moves hoisted": run["moves_hoisted"], **{f"{kind} {name}": count for kind in ("bytes", "runs", "starts") for name, count in run[kind].items()}}
        seen = {"across", "within"}  # only as it runs
        differing = [name for name in {**counted, **estimate["counters"]} if name.split()[0] in ("moves", "bytes", "runs", "starts")
                     and not seen & set(name.split())
                     and counted.get(name, 0) != estimate["counters"].get(name, 0)]
        return f"the estimate counts other {', '.join(differing)}: {estimate['counters']}, a run {counted}" if differing else None

    def run(self):
        """What is wrong, as (variant, text), or nothing."""
        expected = None
        for variant in self.variants:
            command = self.commands[variant] = self.command(variant)
            is_spread = variant in NODES
            compare = self.compare_nodes if is_spread else self.compare_estimate if variant == "estimated" else self.execute
            wrong = (self.conversion and self.execute(self.conversion)) or compare(command)
            self.runs += 1
            if wrong and code_of(wrong) in REFUSED | (APART if is_spread else set()) and "ended with 1" in wrong:
                self.refused[code_of(wrong)] += 1
                continue
            if wrong:
                return variant, wrong
            self.used.update(self.mapping.used.keys() if self.mapping else [])
            if self.program.reorders:
                continue
            results = self.results()
            if expected is None:
                expected = results
            elif results != expected:
                differing = [name for name in results if results[name] != expected[name]]
                return variant, f"{', '.join(differing)} differs between {self.variants[0]} and {variant}"
        self.clean()
        return None

    def execute(self, command):
        status, said = Server.execute(command, self.seed % 8 == 0)
        if status == -signal.SIGALRM:
            return f"it has not ended after {TIMEOUT} seconds"
        # Programs are made so that no order of a reduction and no mapping decides anything.
        for code in ("check-order-decides", "check-mapping-decides", "check-other-mapping"):
            if not status and f"warning[{code}]" in said:
                return f"its runs differ\n{said[-3000:]}"
        return f"it ended with {status}\n{said[-3000:]}" if status else None

    def clean(self):
        for file in self.folder.iterdir():
            file.unlink()
        self.folder.rmdir()

    def reduce(self, failed, seconds):
        """Takes steps, variants and directives out as long as the program fails in the same way."""
        variant, wrong = failed
        keep = [v for v in self.variants if v == variant]
        if "differs between" in wrong:
            keep.insert(0, self.variants[0])
        self.variants = keep
        wanted, end = code_of(wrong) or wrong.split("\n")[0], time.monotonic() + seconds

        def still_fails():
            nonlocal wrong
            if time.monotonic() > end:
                return False
            again = self.run()
            if again and (code_of(again[1]) or again[1].split("\n")[0]) == wanted:
                wrong = again[1]
                return True
            return False

        smaller = True
        while smaller and time.monotonic() < end:
            smaller = False
            for name in [name for name, value in self.features.items() if value]:
                before, self.features = self.features, {**self.features, name: 0.0}
                if not still_fails():
                    self.features = before
                else:
                    smaller = True
            lists = [task.variants for task in self.program.tasks if task is not self.program.main] + [self.program.main.variants[0].steps]
            for items in lists:
                for position in range(len(items) - 1, -1, -1):
                    if len(items) == 1 or getattr(items[position], "kind", "") == "leaf":
                        continue
                    taken = items.pop(position)
                    if still_fails():
                        smaller = True
                    else:
                        items.insert(position, taken)
        self.run()
        return variant, wrong


def main():
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--strata", required=True, help="the command to test")
    parser.add_argument("--server", help="differential_server, which runs commands in less time")
    parser.add_argument("--seed", type=int, default=1, help="the first program")
    parser.add_argument("--count", type=int, help="so many programs")
    parser.add_argument("--seconds", type=float, help="so long")
    parser.add_argument("--variant", action="append", choices=VARIANTS + NODES, help="only this mapping; may be repeated")
    parser.add_argument("--feature", action="append", default=[], help="NAME=PROBABILITY of something in mappings and machines")
    parser.add_argument("--keep", default=os.path.join(tempfile.gettempdir(), "strata-differential-sequoia"), help="folder for programs that fail")
    parser.add_argument("--failures", type=int, default=3, help="stop after so many")
    parser.add_argument("--reduce", type=float, default=60, help="how many seconds to spend on making a program that fails smaller")
    parser.add_argument("--workers", type=int, default=os.cpu_count(), help="processes at a time")
    options = parser.parse_args()
    if options.count is None and options.seconds is None:
        options.count = 250
    features = dict(FEATURES)
    for text in options.feature:
        name, value = text.split("=")
        if name not in features:
            parser.error(f"there is no feature '{name}'; there are {', '.join(features)}")
        features[name] = float(value)
    stopped = threading.Event()  # asked to end, it says what it has done until then
    for number in (signal.SIGINT, signal.SIGTERM):
        signal.signal(number, lambda *_: stopped.set())
    Server.path = options.server and os.path.abspath(options.server)
    strata, end = os.path.abspath(options.strata), time.monotonic() + (options.seconds or 1e9)
    runs, programs, refused, used, failures, waiting = 0, 0, collections.Counter(), collections.Counter(), [], {}
    seed = options.seed
    with concurrent.futures.ThreadPoolExecutor(options.workers) as pool:
        while True:
            more = (options.count is None or seed < options.seed + options.count) and time.monotonic() < end
            more = more and len(failures) < options.failures and not stopped.is_set()
            if more and len(waiting) < 2 * options.workers:
                case = Case(strata, options.keep, seed, dict(features), options.variant or VARIANTS)
                waiting[pool.submit(case.run)] = case
                seed += 1
                continue
            if not waiting:
                break
            for future in concurrent.futures.wait(waiting, return_when=concurrent.futures.FIRST_COMPLETED).done:
                case, wrong = waiting.pop(future), future.result()
                programs, runs, refused, used = programs + 1, runs + case.runs, refused + case.refused, used + case.used
                if wrong:
                    variant, wrong = case.reduce(wrong, options.reduce)
                    print(f"FAIL program {case.seed}, {variant}: {wrong}\n  {' '.join(case.commands[variant])}", flush=True)
                    failures.append(case)
    said = "".join(f", {count} refused by {code}" for code, count in sorted(refused.items()))
    print(f"{programs} programs from {options.seed} on, {runs} runs{said}, {len(failures)} failed")
    print("runs that agree, with a mapping that asks for " + ", ".join(f"{name}: {count}" for name, count in used.most_common()))
    return 1 if failures or not programs else 0


if __name__ == "__main__":
    sys.exit(main())
