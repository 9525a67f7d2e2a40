"""The record of a stream program (STRATA_RECORD) and its pictures: the counts are those of the program, the file is whole whenever it is
read, and strata show draws it, or has tables where it is too large."""

import json
import os
import random
import re
import signal
import subprocess
import time

import harness
from harness import ROOT
from show_test import Pages

EXAMPLES = os.path.join(ROOT, "examples")

# Control feeds the first of two kernels and takes what the second makes; the second is paused for a while and run twice.
CONTROL = r"""
#include <svm/pca.h>
typedef struct { Kernel kernel; IStream* in; OStream* out; } Adder;
static void add(void* data) {
  Adder* adder = (Adder*)data;
  int x;
  for (int i = 0; i < 100; ++i) {
    streamPop(adder->in, &x);
    ++x;
    streamPush(adder->out, &x);
  }
}
int main(void) {
  static Stream first, second, third;
  static Adder one, two;
  int sum = 0;
  for (int round = 0; round < 2; ++round) {
    streamInitRAM(&first, LOCALMEM1, 0, 8, sizeof(int), 0);
    streamInitFIFO(&second, FIFO1, sizeof(int), 0);
    streamInitRAM(&third, LOCALMEM2, 0, 8, sizeof(int), 0);
    kernelInit(&one.kernel, PROC1, NULL, &one, sizeof one, add);
    one.in = &first;
    one.out = &second;
    kernelInit(&two.kernel, PROC2, NULL, &two, sizeof two, add);
    two.in = &second;
    two.out = &third;
    kernelAddDependence(&two, &one);
    kernelRun(&one);
    kernelRun(&two);
    kernelPause(&two);
    kernelWait(&two);
    kernelRun(&two);
    for (int i = 0; i < 100; ++i) {
      int x = i;
      streamPush(&first, &x);
      streamPop(&third, &x);
      sum += x;
    }
    kernelWait(&two);
  }
  return sum != 2 * (4950 + 200);
}
"""

ENDLESS = r"""
#include <svm/pca.h>
#include <unistd.h>
typedef struct { Kernel kernel; IStream* in; OStream* out; } Worker;
static void make(void* data) { for (int i = 0;; ++i) streamPush(((Worker*)data)->out, &i); }
static void take(void* data) { for (int i;;) streamPop(((Worker*)data)->in, &i); }
int main(void) {
  static Stream between;
  static Worker maker, taker;
  streamInitRAM(&between, LOCALMEM1, 0, 64, sizeof(int), 0);
  kernelInit(&maker.kernel, PROC1, NULL, &maker, sizeof maker, make);
  maker.out = &between;
  kernelInit(&taker.kernel, PROC2, NULL, &taker, sizeof taker, take);
  taker.in = &between;
  kernelRun(&maker);
  kernelRun(&taker);
  sleep(60);
  return 0;
}
"""

LONELY = r"""
#include <svm/pca.h>
typedef struct { Kernel kernel; IStream* in; } Reader;
static void read(void* data) { float x; streamPop(((Reader*)data)->in, &x); }
int main(void) {
  static Stream nothing;
  static Reader reader;
  streamInitRAM(&nothing, LOCALMEM1, 0, 8, sizeof(float), 0);
  kernelInit(&reader.kernel, PROC1, NULL, &reader, sizeof reader, read);
  reader.in = &nothing;
  kernelRun(&reader);
  kernelWait(&reader);
  return 0;
}
"""

# A chain of so many kernels on one processor, one after the other.
CHAIN = r"""
#include <svm/pca.h>
typedef struct { Kernel kernel; IStream* in; OStream* out; } Worker;
static Stream streams[COUNT + 1];
static Worker workers[COUNT];
static void work(void* data) {
  Worker* worker = (Worker*)data;
  for (int i = 0; i < 4; ++i) {
    int x;
    streamPop(worker->in, &x);
    streamPush(worker->out, &x);
  }
}
int main(void) {
  for (int i = 0; i <= COUNT; ++i)
    streamInitRAMWithData(&streams[i], GLOBALMEM1, 4 * i, 4, sizeof(int), i ? 0 : 4, FALSE, 0);
  for (int i = 0; i < COUNT; ++i) {
    kernelInit(&workers[i], PROC1, NULL, &workers[i], sizeof workers[i], work);
    workers[i].in = &streams[i];
    workers[i].out = &streams[i + 1];
    kernelRun(&workers[i]);
  }
  kernelWait(&workers[COUNT - 1]);
  return 0;
}
"""


# One kernel reads a block and then writes it, one writes and then reads it while the first has it too, one does one of both.
BLOCKS = r"""
#include <svm/pca.h>
#include <svm_kernels.h>
typedef struct { Kernel kernel; IStream* in; OStream* out; Block* block; } Worker;
static void add(void* data) {
  Worker* worker = (Worker*)data;
  int x, go = 1;
  for (int i = 0; i < 8; ++i) {
    blockRead(worker->block, i, &x);
    ++x;
    blockWrite(worker->block, i, &x);
  }
  streamPush(worker->out, &go);
  streamPop(worker->in, &go); /* the other has been there */
  blockRead(worker->block, 0, &x);
}
static void put(void* data) {
  Worker* worker = (Worker*)data;
  int x;
  streamPop(worker->in, &x);
  blockWrite(worker->block, 0, &x);
  blockRead(worker->block, 1, &x);
  streamPush(worker->out, &x);
}
static void look(void* data) { int x; for (int i = 0; i < 8; ++i) blockRead(((Worker*)data)->block, i, &x); }
static void fill(void* data) { for (int i = 0; i < 8; ++i) blockWrite(((Worker*)data)->block, i, &i); }
static Stream there, back;
static Block block, a, b, c;
static Worker adder, putter, looker, filler;
static MatrixProduct product;
static void init(Worker* worker, int processor, ExtKernelWork work, Stream* in, Stream* out) {
  kernelInit(&worker->kernel, processor, NULL, worker, sizeof *worker, work);
  worker->in = in;
  worker->out = out;
  worker->block = &block;
}
static void goes(Worker* worker) { kernelRun(worker); kernelWait(worker); }
int main(void) {
  for (int round = 0; round < 2; ++round) {
    streamInitRAM(&there, LOCALMEM1, 0, 8, sizeof(int), 0);
    streamInitRAM(&back, LOCALMEM1, 8, 8, sizeof(int), 0);
    blockInit(&block, LOCALMEM1, 16, 8, sizeof(int));
    init(&adder, PROC1, add, &back, &there);
    init(&putter, PROC2, put, &there, &back);
    init(&looker, PROC3, look, NULL, NULL);
    init(&filler, PROC4, fill, NULL, NULL);
    goes(&filler);
    goes(&looker);
    kernelRun(&adder);
    kernelRun(&putter);
    kernelWait(&adder);
    kernelWait(&putter);
  }
  blockInit(&a, LOCALMEM1, 32, 4, sizeof(float));
  blockInit(&b, LOCALMEM1, 36, 4, sizeof(float));
  blockInit(&c, LOCALMEM1, 40, 4, sizeof(float));
  matrixProductInit(&product, PROC1, &a, &b, &c, 2, 2, 2);
  kernelRun(&product);
  kernelWait(&product);
  return 0;
}
"""


class RecordTest(Pages):
    def compile(self, name, text, *options):
        if not os.path.isabs(text):
            text = self.write(name + ".c", text)
        self.succeeds("cc", "-g", "-O2", text, *options, "-lm", "-o", name)

    def environment(self, **more):
        return dict({key: value for key, value in os.environ.items() if not key.startswith("STRATA_")}, **more)

    def record(self, name, *arguments, status=0, **environment):
        """What a program wrote down, as read from JSON."""
        file = f"{name}.json"
        done = subprocess.run([self.path(name), *arguments], cwd=self.folder, env=self.environment(STRATA_RECORD=file, **environment),
                              capture_output=True, text=True, timeout=600)
        self.assertEqual(done.returncode, status, done.stdout + done.stderr)
        self.assertEqual([each for each in os.listdir(self.folder) if ".part" in each], [])
        with open(self.path(file), encoding="utf-8") as text:
            return json.load(text)

    def use(self, graph, stream, kernel, pushes):
        found = next(each for each in graph["streams"] if each["name"] == stream)
        names = [each["name"] for each in graph["kernels"]] + ["control"]
        return next(use for use in found["uses"] if names[use["kernel"]] == kernel and use["pushes"] == pushes)

    def test_counts_are_those_of_the_program(self):
        self.compile("mean", os.path.join(EXAMPLES, "stream-project/main.c"))
        for environment in ({"STRATA_THREADS": "1"}, {"STRATA_THREADS": "2"}, {"STRATA_THREADS": "7"}, {"STRATA_SVM": "checked"}):
            graph = self.record("mean", "30000", **environment)["streams"]
            self.assertEqual((graph["program"], graph["machine"], graph["ended"], graph["failure"]), ("mean", "pca", True, ""))
            kernels = {each["name"]: each for each in graph["kernels"]}
            self.assertEqual({name: (each["processor"], each["kind"], each["status"], each["runs"]) for name, each in kernels.items()},
                             {"fetch": ("DMA1", "move", "FINISHED", 1), "averager": ("PROC1", "user", "FINISHED", 1),
                              "store": ("DMA1", "move", "FINISHED", 1)})
            streams = {each["name"]: each for each in graph["streams"]}
            found = {name: tuple(each[key] for key in ("memory", "capacity", "initial", "pushed", "popped", "inside"))
                     for name, each in streams.items()}
            self.assertEqual(found, {"signal": ("GLOBALMEM1", 120000, 120000, 0, 120000, 0), "samples": ("LOCALMEM1", 256, 0, 120000, 120000, 0),
                                     "means": ("LOCALMEM1", 64, 0, 30000, 30000, 0), "results": ("GLOBALMEM2", 30000, 0, 30000, 0, 30000)})
            for stream, kernel, pushes, count in (("signal", "fetch", False, 120000), ("samples", "fetch", True, 120000),
                                                  ("samples", "averager", False, 120000), ("means", "averager", True, 30000)):
                self.assertEqual(self.use(graph, stream, kernel, pushes)["elements"], count)
            for each in kernels.values():
                self.assertLessEqual(each["running"], graph["nanoseconds"])

    def test_control_pauses_and_runs_are_counted(self):
        self.compile("control", CONTROL)
        for threads in ("1", "2"):
            graph = self.record("control", STRATA_THREADS=threads)["streams"]
            kernels = {each["name"]: each for each in graph["kernels"]}
            self.assertEqual([kernels[name]["runs"] for name in ("one", "two")], [2, 2])
            self.assertGreater(kernels["two"]["waiting"] + kernels["two"]["paused"], 0)
            self.assertEqual(self.use(graph, "first", "control", True)["elements"], 200)
            self.assertEqual(self.use(graph, "third", "control", False)["elements"], 200)
            second = next(each for each in graph["streams"] if each["name"] == "second")
            self.assertEqual((second["fifo"], second["memory"], second["pushed"], second["popped"]), (True, "FIFO1", 200, 200))
            self.assertEqual(graph["dependences"], [[1, 0]])

    def users(self, graph):
        """Of each block who does what: "r" and "w"."""
        names = [each["name"] for each in graph["kernels"]]
        return {block["name"]: {(names[user["kernel"]], "rw"[user["writes"]]) for user in block["users"]} for block in graph["blocks"]}

    def test_blocks_are_read_and_written(self):
        self.compile("blocks", BLOCKS)
        for environment in ({"STRATA_THREADS": "1"}, {"STRATA_THREADS": "2"}, {"STRATA_SVM": "checked"}):
            found = self.users(self.record("blocks", **environment)["streams"])
            self.assertEqual(found, {"block": {("adder", "r"), ("adder", "w"), ("putter", "r"), ("putter", "w"), ("looker", "r"), ("filler", "w")},
                                     "a": {("product", "r")}, "b": {("product", "r")}, "c": {("product", "r"), ("product", "w")}})
        self.succeeds("show", "blocks.json", "-o", "blocks.svg")
        self.is_drawing(self.read("blocks.svg"), "adder reads and writes block", "looker reads block", "filler writes block",
                        "product reads and writes c")
        self.compile("matmul", os.path.join(EXAMPLES, "svm/matmul/matmul.c"))
        found = self.users(self.record("matmul")["streams"])
        tiles = {how for name, users in found.items() if name.startswith("tileC") for _, how in users}
        self.assertEqual(tiles, {"r", "w"}, found)
        for name, users in found.items():
            if name.startswith("tileC"):
                self.assertTrue({who for who, how in users if how == "r"} & {who for who, how in users if how == "w"}, (name, users))

    def test_the_timeline_is_a_trace(self):
        self.compile("heat", os.path.join(EXAMPLES, "svm/heat/heat.c"))
        record = self.record("heat")
        graph, events = record["streams"], record["traceEvents"]
        processes = {event["pid"]: event["args"]["name"] for event in events if event["ph"] == "M" and event["name"] == "process_name"}
        self.assertTrue({"kernels", "PROC1", "PROC2", "DMA1 moves"} <= set(processes.values()), processes)
        for kernel in graph["kernels"]:
            spans = [event for event in events if event["ph"] == "X" and event["name"] == kernel["name"] and event["cat"] in ("run", "move")]
            runs = sum(event["args"].get("times", 1) for event in spans)
            # Spans near each other are drawn as one, which knows how many they are and how long all together.
            ran = sum(event["args"].get("microseconds", event["dur"]) for event in spans)
            self.assertEqual(runs, kernel["runs"], kernel["name"])
            self.assertAlmostEqual(ran, kernel["running"] / 1000, delta=kernel["running"] / 1e4 + runs)
        self.assertLess(len(events), 80000)
        self.assertTrue({(block["name"], block["memory"]) for block in graph["blocks"]} >= {("odd", "LOCALMEM1"), ("even", "LOCALMEM1")})

    def test_pictures(self):
        self.compile("beams", os.path.join(EXAMPLES, "svm/beamformer/beamformer.c"))
        graph = self.record("beams")["streams"]
        self.succeeds("show", "beams.json", "-o", "beams.svg")
        drawing = self.read("beams.svg")
        self.is_drawing(drawing, "beams on pca", ">PROC7<", "kernel former3 on PROC7")
        for each in graph["kernels"] + graph["streams"] + graph["blocks"]:
            self.assertTrue(f">{each['name']}</text>" in drawing, each["name"])
        self.succeeds("show", "beams.json", "-o", "beams.html")
        self.is_page("beams.html", "<canvas", "The graph", "Kernels", "Streams", "Memories", "Processors", "LOCALMEM7", '"DMA1 moves 1"', '"PROC7"')
        page = self.browses("beams.html")
        self.assertTrue(re.search(r'data-drawn="\d+"', page))
        shown = re.search(r"<tr[^>]*><td>PROC7</td>(.*?)</tr>", page)
        self.assertIn("<td>1</td>", shown[0])

    def test_a_large_graph_is_shown_in_groups(self):
        self.compile("chain", CHAIN, "-DCOUNT=250")
        self.record("chain")
        self.succeeds("show", "chain.json", "-o", "chain.svg")
        self.is_drawing(self.read("chain.svg"), "workers[249]")
        self.compile("longer", CHAIN, "-DCOUNT=900")
        self.record("longer")
        self.is_refused("show", "longer.json", "-o", "longer.svg", code="show-no-drawing", mentions=["900 kernels", "page"])
        self.succeeds("show", "longer.json", "-o", "longer.html")
        self.is_page("longer.html", "workers[899]", "streams[900]", "by processor")
        answer = self.asked("longer.html", """
            const find = document.querySelector(".viewer input"), shown = () => document.body.dataset.sheet;
            const boxes = (name) => [...document.querySelectorAll(".picture text.name")].map((text) => text.textContent).filter((text) => text.startsWith(name));
            const groups = boxes("workers"), first = shown();
            find.value = "workers[333]";
            find.dispatchEvent(new Event("input"));
            document.querySelector(".elsewhere button").click();
            const here = document.querySelector(".here").textContent, kernels = boxes("workers"), streams = boxes("streams");
            const outside = document.querySelector(".picture .outside").dataset.sheet, inside = shown();
            document.querySelector(".trail button").click();
            return { groups, first, here, kernels, streams, outside, inside, other: shown() };
        """)
        # Groups of at most 80 in the order of the numbers, and each kernel in one of them.
        self.assertEqual(answer["first"], "kernels")
        ends = [list(map(int, re.findall(r"\d+", group))) for group in answer["groups"]]
        self.assertEqual([n for begin, end in ends for n in range(begin, end + 1)], list(range(900)))
        self.assertLessEqual(max(end - begin for begin, end in ends), 80)
        # One group: its kernels, one more at each end, and the streams between.
        self.assertEqual(answer["here"], "workers[333]")
        begin, end = next(each for each in ends if each[0] <= 333 <= each[1])
        self.assertEqual(set(answer["kernels"]), {f"workers[{n}]" for n in range(begin - 1, end + 2)})
        self.assertEqual(set(answer["streams"]), {f"streams[{n}]" for n in range(begin, end + 2)})
        self.assertNotEqual(answer["outside"], answer["inside"])
        self.assertEqual(answer["other"], "processors")

    def test_a_program_that_runs(self):
        self.compile("endless", ENDLESS)
        running = subprocess.Popen([self.path("endless")], cwd=self.folder, env=self.environment(STRATA_RECORD="live.json"))
        self.addCleanup(running.kill)
        counts, end = [0], time.monotonic() + 30
        while len(counts) < 4 and time.monotonic() < end:
            time.sleep(0.02)
            if not os.path.exists(self.path("live.json")):
                continue
            graph = json.loads(self.read("live.json"))["streams"]  # whole at all times
            self.assertFalse(graph["ended"])
            pushed = graph["streams"][0]["pushed"] if graph["streams"] else 0
            if pushed > counts[-1]:
                counts.append(pushed)
                self.assertEqual({each["status"] for each in graph["kernels"]}, {"RUNNING"})
        self.assertEqual(len(counts), 4, counts)
        self.succeeds("show", "live.json", "-o", "live.html")
        self.is_page("live.html", "Still running", "RUNNING")
        running.send_signal(signal.SIGKILL)
        running.wait()
        self.succeeds("show", "live.json", "-o", "live.svg")

    def test_a_deadlock(self):
        self.compile("lonely", LONELY)
        graph = self.record("lonely", status=1)["streams"]
        self.assertIn("nothing can run any more\n  control waits for kernel 'reader'\n  kernel 'reader' on PROC1 waits", graph["failure"])
        self.assertIn("svm-deadlock", graph["failure"])
        self.assertTrue(self.use(graph, "nothing", "reader", False)["stalls_now"])
        self.succeeds("show", "lonely.json", "-o", "lonely.html")
        self.is_page("lonely.html", ": nothing can run any more.", "<pre>nothing can run any more\n  control waits", "waits now", "empty 1 times")

    def test_where_it_is_written(self):
        self.compile("mean", os.path.join(EXAMPLES, "stream-project/main.c"))
        done = subprocess.run([self.path("mean")], cwd=self.folder, env=self.environment(STRATA_RECORD="absent/record.json"), capture_output=True,
                              text=True, timeout=600)
        self.assertEqual(done.returncode, 1)
        self.assertIn("[svm-record]", done.stderr)
        self.assertIn("absent/record.json' cannot be written: No such file", done.stderr)
        before = set(os.listdir(self.folder))
        for value in ("run-%p.json", ""):
            subprocess.run([self.path("mean")], cwd=self.folder, env=self.environment(STRATA_RECORD=value), check=True, timeout=600,
                           stdout=subprocess.DEVNULL)
        new = set(os.listdir(self.folder)) - before
        self.assertEqual(len(new), 1, new)
        self.assertRegex(new.pop(), r"^run-\d+\.json$")

    def test_records_that_are_none(self):
        for text, *words in (('{"streams":', "not JSON here"), ('{"streams":{"version":1e999}}', "bad.json:1:27", "number that ends here is too large"), ('{"streams":[]}', "no object"), ('{"streams":{"version":2}}', "another version"),
                            ('{"streams":{"version":1,"kernels":{}}}', "'kernels' is no list"), ('{"streams":{"version":1,"kernels":[3]}}', "objects"),
                            ('{"streams":{"version":1,"streams":[{"pushed":-1}]}}', "'pushed' is no count"),
                            ('{"streams":{"version":1,"streams":[{"uses":[{"kernel":0}]}]}}', "does not list"),
                            ('{"streams":{"version":1,"streams":[{"uses":[{}]}]}}', "incomplete"),
                            ('{"streams":{"version":1,"blocks":[{"users":[7]}]}}', "incomplete"),
                            ('{"streams":{"version":1,"dependences":[[0,1]]}}', "does not list"),
                            ('{"streams":{"version":1,"dependences":[[0]]}}', "two kernels")):
            self.is_refused("show", self.write("bad.json", text), "-o", "bad.html", code="show-not-a-record", mentions=["bad.json", *words])
        self.succeeds("show", self.write("empty.json", '{"streams":{"version":1}}'), "-o", "empty.html")
        self.succeeds("show", "empty.json", "-o", "empty.svg")
        self.is_refused("show", "empty.json", "--machine", "cell", code="driver-not-a-program")

    def test_changed_records_never_crash(self):
        self.compile("control", CONTROL)
        self.record("control")
        text = self.read("control.json")
        rng = random.Random(5)
        for number in range(60):
            at, length = rng.randrange(min(len(text), 4000)), rng.randrange(1, 12)
            piece = rng.choice(["", "0", "-1", '"', "[", "}", "99999999999999999999", "1e300", "null", "\udc80".encode("utf-8", "surrogateescape").decode("latin-1")])
            self.write("changed.json", text[:at] + piece + text[at + length:])
            result = self.strata("show", "changed.json", "-o", rng.choice(["changed.html", "changed.svg"]))
            self.assertIn(result.status, (0, 1), f"{number}: {result}")


if __name__ == "__main__":
    harness.main()
