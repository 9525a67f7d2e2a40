"""Runs over several processes (--nodes) that something ends: each of their processes, at random moments; a disk or a memory that is full; commands that
do not belong together. The run ends with one message, and leaves neither files nor processes. By day a dozen runs are ended so, the same on every
computer up to what takes how long there; STRATA_FAULTS says how many, STRATA_SEED which."""

import os
import random
import re
import shutil
import signal
import subprocess
import time

import harness
import numpy as np
from several_processes import AS_ROOT, MPIRUN, require_mpi

EXAMPLES = os.path.join(harness.ROOT, "examples")
MATMUL = os.path.join(EXAMPLES, "sequoia/matmul/matmul.sq")
VECTADD = os.path.join(EXAMPLES, "sequoia/vectadd/vectadd.sq")
NODES = 3


def content(path):
    try:
        with open(path, "rb") as file:
            return file.read()
    except OSError:  # the process has ended
        return b""


class NodesFaults(harness.Case):
    def setUp(self):
        super().setUp()
        self.temporary = self.path("tmp")
        self.work = self.path("work")
        os.mkdir(self.temporary)
        os.mkdir(self.work)
        self.environment = {key: value for key, value in os.environ.items() if not key.startswith("STRATA_")}
        self.environment.update(AS_ROOT, TMPDIR=self.temporary)
        require_mpi(self, self.environment)

    def processes(self):
        """The processes that work in the folder, by what they are: 0, 1, … for ranks, "mpirun", "strata" for what starts it."""
        found = {}
        for pid in sorted(map(int, filter(str.isdigit, os.listdir("/proc")))):
            try:
                if os.readlink(f"/proc/{pid}/cwd") != os.path.realpath(self.work):
                    continue
            except OSError:
                continue
            environment = content(f"/proc/{pid}/environ")
            rank = re.search(rb"\0OMPI_COMM_WORLD_RANK=(\d+)", environment)
            job = re.search(rb"\0OMPI_MCA_ess_base_jobid=(\d+)", environment)
            if job:
                self.jobs.add(f"{int(job[1]):x}")
            name = content(f"/proc/{pid}/comm").strip().decode(errors="replace")
            found.setdefault(int(rank[1]) if rank else "mpirun" if name == "mpirun" else "strata", []).append(pid)
        return found

    def run_and(self, words, act, limit):
        """Starts a run, acts, and waits until it and all of its processes have ended. Gives its status, what it said, and the seconds from what
        was done on; a status of None: it did not end."""
        run = subprocess.Popen(words, cwd=self.work, env=self.environment, stdin=subprocess.DEVNULL, stdout=subprocess.PIPE, stderr=subprocess.PIPE)
        act(run)
        begin = time.monotonic()
        status = None
        try:
            told = run.communicate(timeout=limit)[1].decode(errors="replace")
            status = run.returncode
        except subprocess.TimeoutExpired:
            told = f"no end: {self.processes()}"
        left = []
        while status is not None and (left := self.processes()) and time.monotonic() - begin < limit:
            time.sleep(0.02)
        seconds = time.monotonic() - begin
        if status is None or left:
            for pids in self.processes().values():
                for pid in pids:
                    os.kill(pid, signal.SIGKILL)
            run.communicate()
        return status, told, left, seconds

    def test_processes_that_are_ended(self):
        rng = np.random.default_rng(8)
        size = 400
        for name in ("a", "b"):
            np.save(os.path.join(self.work, name + ".npy"), rng.random((size, size), dtype="f4"))
        words = [harness.options.strata, "run", MATMUL, "--machine", "cluster", "--in", "A=a.npy", "--in", "B=b.npy", "--out", "C=c.npy", "--nodes",
                 str(NODES), "--repeat", "20"]
        result = os.path.join(self.work, "c.npy")
        self.jobs = set()
        usual = []
        for _ in range(2):
            status, told, left, _ = self.run_and(words, lambda run: usual.append(time.monotonic()), 600)
            usual[-1] = time.monotonic() - usual[-1]
            self.assertEqual((status, left), (0, {}), told)
        usual = min(usual)
        expected = content(result)
        os.remove(result)
        count, seed = int(os.environ.get("STRATA_FAULTS", harness.less("6", "12"))), int(os.environ.get("STRATA_SEED", "1"))
        targets = [*range(NODES), "mpirun", "strata", "watcher"]
        wrong, slowest, ended = [], (0, ""), 0
        for number in range(count):
            pick = random.Random(seed * 100003 + number)
            target, kind = targets[number % len(targets)], pick.choice((signal.SIGKILL, signal.SIGKILL, signal.SIGTERM))
            moment = pick.choice((0, pick.random() * usual, pick.random() * usual, pick.random() * 0.2 * usual, usual * (0.8 + 0.3 * pick.random())))
            called = f"seed {seed}, run {number}: {target} by {kind.name} after {moment:.3f} s of {usual:.3f} s"
            self.jobs = set()

            def act(run):
                time.sleep(moment)  # this is the moment; what comes of it is waited for
                while run.poll() is None:
                    found = self.processes()
                    those = found.get("strata" if target == "watcher" else target, [])
                    victim = [pid for pid in those if (pid == run.pid) == (target == "strata")]
                    if victim:
                        try:
                            os.kill(victim[0], kind)
                        except ProcessLookupError:
                            pass
                        return

            status, told, left, seconds = self.run_and(words, act, max(60, 20 * usual))
            problems = []
            if status is None:
                problems.append("hangs")
            elif left:
                problems.append(f"processes left: {left}")
            files = sorted(os.listdir(self.work))
            if os.path.exists(result):
                if content(result) != expected:
                    problems.append("half-written")
                os.remove(result)
                files.remove("c.npy")
            elif status == 0:
                problems.append("nothing written")
            if files != ["a.npy", "b.npy"]:
                problems.append(f"files left: {files}")
                for name in set(files) - {"a.npy", "b.npy"}:
                    os.remove(os.path.join(self.work, name))
            remains = [os.path.join(folder, name) for folder, folders, names in os.walk(self.temporary) for name in names + folders
                       if not name.startswith("ompi.")]
            remains += [name for name in os.listdir("/dev/shm") if any(f".{job}." in name for job in self.jobs)]
            if remains:
                problems.append(f"temporary files left: {remains[:4]}")
                shutil.rmtree(self.temporary)
                os.mkdir(self.temporary)
            ended += status not in (0, None)
            if status not in (0, None) and target != "strata":
                messages = len(re.findall(r"(?:^|: )error(?:\[[^\]]*\])?: ", told, re.MULTILINE))
                if messages != 1 or status != 1:
                    problems.append(f"status {status}, {messages} messages")
            if seconds > slowest[0]:
                slowest = (seconds, called)
            if problems:
                wrong.append(f"{called}: {'; '.join(problems)}\n{told}")
                print(wrong[-1], flush=True)
        print(f"{count} runs, {ended} of them ended, {len(wrong)} wrong; at most {slowest[0]:.1f} s until all was over ({slowest[1]})", flush=True)
        self.assertEqual(wrong, [])

    def ends(self, words, code, within=(), **environment):
        """A command that is refused: status 1, one message, and nothing is left of it."""
        before = sorted(os.listdir(self.work))
        self.jobs = set()
        self.environment.update(environment)
        status, told, left, _ = self.run_and(list(map(str, words)), lambda run: None, 600)
        for name in environment:
            del self.environment[name]
        messages = re.findall(r"(?:^|: )error(?:\[([^\]]*)\])?: ", told, re.MULTILINE)
        self.assertEqual((status, messages, left), (1, [code] if code else [], {}), told)
        for text in within:
            self.assertIn(text, told)
        self.assertEqual(sorted(os.listdir(self.work)), before)

    def vectadd(self, size, *more):
        return [harness.options.strata, "run", VECTADD, "--machine", "cluster", "--size", f"N={size}", "--in", "A=1", "--in", "B=2", *more]

    def together(self, *commands):
        words = [MPIRUN, "-q", "--oversubscribe", "-x", "STRATA_MPI_ONLY"]
        for number, (count, command) in enumerate(commands):
            words += ([":"] if number else []) + ["-n", str(count), *command]
        return words

    def test_commands_that_do_not_belong_together(self):
        run, check = self.vectadd(500, "--out", "C=c.npy"), [harness.options.strata, "check", VECTADD]
        self.ends(self.together((1, run), (1, self.vectadd(501, "--out", "C=c.npy"))), "nodes-other-command", ["process 1 another than process 0"])
        self.ends(self.together((2, run), (1, [*run, "--repeat", "2"])), "nodes-other-command", ["process 2 another than process 0"])
        self.ends(self.together((1, run), (1, check)), "nodes-one-process", ["'strata check' is one process"])
        self.ends(self.together((1, check), (2, run)), "nodes-one-process", ["mpirun -n 2 strata run"])
        for others in harness.less([self.together((1, run), (1, ["true"]))], [self.together((1, run), (1, ["true"])), self.together((1, ["true"]), (2, run))]):
            self.ends(others, "nodes-not-joined")
        self.ends(self.together((1, run), (1, ["false"])), None)  # which mpirun itself tells of, without -q
        self.ends(self.together((2, [*self.vectadd(500)[:4], "host", *self.vectadd(500)[5:]])), "nodes-machine")
        # Nearly: the same words from two parts of mpirun's line; a command that is one process by itself.
        nearly = self.together((1, run), (2, run))
        self.assertEqual(subprocess.run(nearly, cwd=self.work, env=self.environment, capture_output=True, timeout=600).returncode, 0)
        self.assertTrue((np.load(os.path.join(self.work, "c.npy")) == 3).all())
        nearly = self.together((2, check))
        self.assertEqual(subprocess.run(nearly, cwd=self.work, env=self.environment, capture_output=True, timeout=600).returncode, 0)

    def test_another_program(self):
        """Another version of strata, or a program that was built: their code differs."""
        folder = os.path.dirname(os.path.dirname(os.path.realpath(harness.options.strata)))
        other = self.path("other")
        os.makedirs(os.path.join(other, "bin"))
        os.makedirs(os.path.join(other, "lib"))
        run = self.vectadd(500, "--out", "C=c.npy")
        shutil.copy(harness.options.strata, os.path.join(other, "bin/strata"))
        copy = os.path.join(other, "lib/strata-compiler")
        shutil.copy(os.path.join(folder, "lib/strata-compiler"), copy)
        for name in os.listdir(os.path.join(folder, "lib")):
            if not os.path.exists(os.path.join(other, "lib", name)):
                os.symlink(os.path.join(folder, "lib", name), os.path.join(other, "lib", name))
        environment = {"STRATA_MACHINES": os.path.join(harness.ROOT, "machines")}
        mixed = self.together((1, run), (1, [os.path.join(other, "bin/strata"), *run[1:]]))
        self.environment.update(environment)
        same = subprocess.run(mixed, cwd=self.work, env=self.environment, capture_output=True, text=True, timeout=600)
        self.assertEqual(same.returncode, 0, same.stderr)
        os.remove(os.path.join(self.work, "c.npy"))
        # One byte behind the last function.
        readelf = shutil.which("readelf") or shutil.which("llvm-readelf-19")
        if not readelf:
            self.skipTest("needs readelf")
        listed = subprocess.run([readelf, "-lW", copy], capture_output=True, text=True, check=True).stdout
        offset, size = next((int(row[1], 16), int(row[4], 16)) for row in map(str.split, listed.splitlines()) if row[:1] == ["LOAD"] and "E" in row[6:-1])
        with open(copy, "r+b") as file:
            file.seek(offset + size - 1)
            last = file.read(1)[0]
            file.seek(offset + size - 1)
            file.write(bytes([last ^ 1]))
        self.ends(mixed, "nodes-other-program", ["process 1 another than process 0"])

    def test_no_memory(self):
        limited = ["bash", "-c", "ulimit -d 700000; exec \"$@\"", "bash"]
        run = self.vectadd(200000000, "--out", "C=c.npy")
        self.ends([*limited, *run, "--nodes", "2"], "runtime-out-of-memory")
        self.ends(self.together((1, run), (1, [*limited, *run])), "runtime-out-of-memory", ["process 1: no memory"])

    def test_no_disk(self):
        """A result for which there is no place, and one for which there nearly is none."""
        mounted = "mkdir out && mount -t tmpfs -o size=SIZE none out || exit 77; \"$@\"; status=$?; ls -A out; umount out; rmdir out; exit $status"
        if subprocess.run(["unshare", "-m", "bash", "-c", mounted.replace("SIZE", "1m"), "bash", "true"], cwd=self.work, capture_output=True).returncode:
            self.skipTest("may mount nothing")
        for only in ("0", "1"):
            run = [*self.vectadd(1000000, "--out", "C=out/c.npy"), "--nodes", "2"]
            self.ends(["unshare", "-m", "bash", "-c", mounted.replace("SIZE", "3m"), "bash", *run], "run-disk-array", ["No space left on device"],
                      STRATA_MPI_ONLY=only)
            done = subprocess.run(["unshare", "-m", "bash", "-c", mounted.replace("SIZE", "5m"), "bash", *run], cwd=self.work, capture_output=True,
                                  env=dict(self.environment, STRATA_MPI_ONLY=only), text=True, timeout=600)
            self.assertEqual((done.returncode, done.stdout.splitlines()[-1]), (0, "c.npy"), done.stderr)

    def test_a_folder_that_another_process_may_not_write(self):
        locked = ["unshare", "-m", "bash", "-c", "mount --bind out out && mount -o remount,ro,bind out || exit 77; exec \"$@\"", "bash"]
        os.mkdir(os.path.join(self.work, "out"))
        if subprocess.run([*locked, "true"], cwd=self.work, capture_output=True).returncode:
            self.skipTest("may mount nothing")
        run = self.vectadd(500, "--out", "C=out/c.npy")
        words = self.together((1, run), (1, [*locked, *run]))
        self.ends(words, "runtime-ranks-data", ["process 1 does not reach the data of 'C'", "Read-only file system"], STRATA_MPI_ONLY="1")
        self.assertEqual(os.listdir(os.path.join(self.work, "out")), [])
        # Nearly: on one computer it writes the file that process 0 has opened.
        done = subprocess.run(words, cwd=self.work, env=self.environment, capture_output=True, text=True, timeout=600)
        self.assertEqual((done.returncode, os.listdir(os.path.join(self.work, "out"))), (0, ["c.npy"]), done.stderr)


if __name__ == "__main__":
    harness.main()
