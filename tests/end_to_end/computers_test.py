"""Programs over two computers, which only a network joins: two network namespaces with names of their own, and a link of limited bandwidth
between them. mpirun starts processes in both, which reach each other by TCP alone. The same bits as in one process. Needs root."""

import contextlib
import os
import shutil
import signal
import subprocess
import time

import harness
import numpy as np
from several_processes import ENVIRONMENT, MPIRUN, PICK, require_mpi

EXAMPLES = os.path.join(harness.ROOT, "examples/sequoia")
ADDRESSES = ("10.213.0.1", "10.213.0.2")
TIMEOUT = 600  # what ends a hang


def require_computers(case):
    """Skips a test where no network namespaces can be made: by who is not root, say."""
    require_mpi(case)
    if os.geteuid() != 0:
        case.skipTest("needs root")
    for tool in ("unshare", "nsenter", "ip"):
        if not shutil.which(tool):
            if os.environ.get("CI"):
                case.fail(f"{tool} is missing")
            case.skipTest(f"needs {tool}")
    if subprocess.run(["unshare", "-nu", "true"], capture_output=True).returncode:
        case.skipTest("needs network namespaces")


class Computers:
    """Two of them, as long as the block lasts. `run` starts a command on the first, with mpirun before it."""

    def __init__(self, folder):
        self.folder = folder

    def __enter__(self):
        self.stack = contextlib.ExitStack()
        # Each is there as long as this process of it, which ends when the test does, however that ends.
        self.inits = [subprocess.Popen(["unshare", "-nu", "sh", "-c", f"hostname computer{number} && echo ready && exec cat"],
                                       stdin=subprocess.PIPE, stdout=subprocess.PIPE, text=True) for number in (0, 1)]
        for init in self.inits:
            self.stack.callback(init.stdout.close)
            self.stack.callback(init.stdin.close)
            self.stack.callback(init.wait)
            self.stack.callback(init.kill)
        for init in self.inits:
            assert init.stdout.readline() == "ready\n", "no network namespace"
        names = [f"strata{number}-{os.getpid() % 100000}" for number in (0, 1)]
        self.command("ip", "link", "add", names[0], "type", "veth", "peer", "name", names[1])
        for number, (init, name, address) in enumerate(zip(self.inits, names, ADDRESSES)):
            self.command("ip", "link", "set", name, "netns", str(init.pid))
            for words in (("link", "set", "lo", "up"), ("address", "add", f"{address}/24", "dev", name), ("link", "set", name, "up")):
                self.command(*self.on(number), "ip", *words)
            # Where the system has it.
            subprocess.run([*self.on(number), "tc", "qdisc", "add", "dev", name, "root", "tbf", "rate", "1gbit", "burst", "128kb", "latency", "50ms"],
                           capture_output=True)
        self.agent = os.path.join(self.folder, "agent")
        with open(self.agent, "w") as file:  # what ssh would do
            file.write(f"#!/bin/sh\nhost=$1; shift\ncase $host in {ADDRESSES[1]}) exec {' '.join(self.on(1))} sh -c \"$*\";; esac\n"
                       f"exec {' '.join(self.on(0))} sh -c \"$*\"\n")
        os.chmod(self.agent, 0o755)
        self.hosts = os.path.join(self.folder, "hosts")
        with open(self.hosts, "w") as file:
            file.write("".join(f"{address} slots=8\n" for address in ADDRESSES))
        return self

    def __exit__(self, *_):
        self.stack.close()

    def on(self, number):
        return ["nsenter", "-t", str(self.inits[number].pid), "-n", "-u"]

    @staticmethod
    def command(*words):
        done = subprocess.run(words, capture_output=True, text=True)
        assert done.returncode == 0, f"{words}: {done.stderr}"

    def options(self):
        network = "10.213.0.0/24"
        return ["--mca", "plm_rsh_agent", self.agent, "--mca", "btl_tcp_if_include", network, "--mca", "oob_tcp_if_include", network, "--hostfile", self.hosts,
                "--map-by", "node", "--bind-to", "none"]

    def start(self, count, *words, by_strata=False):
        """A command in so many processes, started by mpirun or by strata."""
        starter = [MPIRUN, "-q", *self.options(), "-n", str(count)]
        if by_strata:
            starter, words = [], [*words, "--nodes", str(count), "--starter", f"mpirun {' '.join(self.options())}"]
        return subprocess.Popen([*self.on(0), *starter, *words], stdin=subprocess.DEVNULL, stdout=subprocess.PIPE, stderr=subprocess.PIPE, text=True, cwd=self.folder,
                                env=ENVIRONMENT, start_new_session=True)

    def run(self, count, *words, by_strata=False):
        process = self.start(count, *words, by_strata=by_strata)
        try:
            out, err = process.communicate(timeout=TIMEOUT)
        except subprocess.TimeoutExpired:
            os.killpg(process.pid, signal.SIGKILL)
            raise
        return process.returncode, out, err


class OverTwoComputers(harness.Case):
    def setUp(self):
        super().setUp()
        require_computers(self)

    def test_the_same_bits(self):
        vectadd, matmul, heat = (os.path.join(EXAMPLES, each, each + ".sq") for each in ("vectadd", "matmul", "heat"))
        self.save("a.npy", np.random.default_rng(7).random(100003, dtype="f4"))
        with Computers(self.folder) as computers:
            for program, arguments, out, machines, counts in (
                    (vectadd, ("--in", "A=a.npy", "--in", "B=random:2"), "C", ("cluster",), (2, 3)),
                    (matmul, ("--size", "M=70,N=90,P=130", "--in", "A=random", "--in", "B=random:2", "--in", "C=random:3"), "C", ("cluster", "ranks"), (4,)),
                    (heat, ("--size", "M=515,N=300", "--in", "pairs=3", "--in", "a=random", "--in", "b=random:2", "--map", os.path.join(EXAMPLES, "heat/ranks.map")),
                     "a", ("ranks",), (2, 4))):
                for machine in machines:
                    words = ("run", program, "--machine", machine, *arguments, "--out", f"{out}=out.npy")
                    self.succeeds(*words)
                    expected = np.load(self.path("out.npy")).tobytes()
                    for count in counts:
                        with self.subTest(program=program, machine=machine, count=count):
                            os.remove(self.path("out.npy"))
                            status, printed, said = computers.run(count, harness.options.strata, *words, "--stats", by_strata=count == 2)
                            self.assertEqual((status, said), (0, ""))
                            self.assertEqual(np.load(self.path("out.npy")).tobytes() == expected, True)
                            self.assertIn("bytes process 0 -> 1", printed)

    def test_a_failure_on_the_other(self):
        self.write("pick.sq", PICK)
        at = np.zeros(4000, "i4")
        at[3999] = 100
        self.save("at.npy", at)
        with Computers(self.folder) as computers:
            status, _, said = computers.run(2, harness.options.strata, "run", "pick.sq", "--machine", "ranks", "--in", "at=at.npy", "--in", "x=iota", "--in",
                                            "y=1", "--size", "M=100", "--out", "y=y.npy")
            self.assertEqual(status, 1, said)
            self.assertIn("error[index-out-of-range]: index 100", said)
            self.assertFalse(os.path.exists(self.path("y.npy")))

    def test_a_killed_process_ends_all(self):
        words = ("run", os.path.join(EXAMPLES, "heat/heat.sq"), "--machine", "ranks", "--size", "M=515,N=300", "--in", "pairs=100000000", "--in", "a=random", "--in",
                 "b=random", "--out", "a=a.npy")
        for by_strata in (False, True):
            with self.subTest(by_strata=by_strata), Computers(self.folder) as computers:
                self.kill_one_of(computers, words, by_strata)
            self.assertFalse([name for name in os.listdir(self.folder) if name.endswith(".npy")])

    def kill_one_of(self, computers, words, by_strata):
        process = computers.start(2, harness.options.strata, *words, by_strata=by_strata)
        # The result takes its place on the disk when both have come together.
        before = set(os.listdir(self.folder))
        while not any("a.npy" in name for name in set(os.listdir(self.folder)) - before):
            self.assertIsNone(process.poll(), "ended by itself")
            time.sleep(0.1)
        there = [pid for pid in self.of_computer(computers.inits[1].pid) if b"pairs=100000000" in self.command_of(pid)]
        self.assertEqual(len(there), 1)
        os.kill(there[0], signal.SIGKILL)
        told = process.communicate(timeout=TIMEOUT)[1]
        self.assertNotEqual(process.returncode, 0)
        if by_strata:
            self.assertEqual((process.returncode, told.count("error[nodes-ended]")), (1, 1), told)
        left = [pid for number in (0, 1) for pid in self.of_computer(computers.inits[number].pid) if b"pairs=100000000" in self.command_of(pid)]
        self.assertEqual(left, [])

    @staticmethod
    def of_computer(init):
        """The processes of a namespace."""
        own = os.readlink(f"/proc/{init}/ns/net")
        found = []
        for name in os.listdir("/proc"):
            with contextlib.suppress(OSError):
                if name.isdigit() and os.readlink(f"/proc/{name}/ns/net") == own:
                    found.append(int(name))
        return found

    @staticmethod
    def command_of(pid):
        with contextlib.suppress(OSError), open(f"/proc/{pid}/cmdline", "rb") as file:
            return file.read()
        return b""


class ByMessages(harness.Case):
    """One computer whose MPI is told to have no one-sided operations: what goes between two processes is the same."""

    def setUp(self):
        super().setUp()
        require_mpi(self)

    def test_the_same_bits(self):
        for name, sizes, inputs, out in (("matmul", "M=301,N=200,P=77", ("A=random", "B=random:2", "C=random:3"), "C"),
                                         ("heat", "M=515,N=300", ("pairs=2", "a=random", "b=random:4"), "b")):
            words = ["run", os.path.join(EXAMPLES, name, name + ".sq"), "--machine", "ranks", "--size", sizes, "--out", f"{out}=out.npy"]
            for each in inputs:
                words += ["--in", each]
            self.succeeds(*words)
            expected = np.load(self.path("out.npy")).tobytes()
            for count, threads in ((2, 1), (3, 2)):
                with self.subTest(program=name, count=count):
                    os.remove(self.path("out.npy"))
                    self.succeeds(*words, "--nodes", str(count), "--threads", str(threads), STRATA_MPI_ONLY="1", STRATA_MPI_MESSAGES="1")
                    self.assertEqual(np.load(self.path("out.npy")).tobytes() == expected, True)


if __name__ == "__main__":
    harness.main()
