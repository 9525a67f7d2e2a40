"""strata show: pages and drawings of programs, mappings, machines and runs. They are well-formed, name what they show, fetch nothing,
and their scripts run without an error where a browser is there to try it."""

import base64
import html
import json
import os
import re
import shutil
import subprocess
import xml.etree.ElementTree

import harness
import numpy as np
from harness import ROOT

VECTADD = os.path.join(ROOT, "examples/sequoia/vectadd")
PROGRAM = os.path.join(VECTADD, "vectadd.sq")
SUM = os.path.join(ROOT, "examples/hbir/sum/sum.hbir")
BROWSER = next(filter(None, map(shutil.which, ("chromium-headless-shell", "chromium", "google-chrome"))), None)


def rows_of(page):
    """The rows of a timeline's page, each with its spans as (start, time, kind, name, way, bytes)."""
    rows = json.loads(re.search(r"const data = (.*);\n", page)[1])["rows"]
    for row in rows:
        columns = [np.frombuffer(base64.b64decode(row["packed"][name]), kind) for name, kind in
                   (("start", "f8"), ("time", "f8"), ("kind", "u1"), ("name", "u4"), ("way", "u4"), ("bytes", "f8"))]
        row["spans"] = list(zip(*columns))
    return rows


class Pages(harness.Case):
    """What a page and a drawing have to be."""

    def read(self, name):
        with open(self.path(name), encoding="utf-8") as file:
            return file.read()

    def is_page(self, name, *words):
        """Well-formed but for the document type and the script, which are HTML's own."""
        text = self.read(name)
        self.assertTrue(text.startswith("<!DOCTYPE html>\n"), name)
        markup = re.sub(r"<script>.*?</script>", "", text[len("<!DOCTYPE html>"):], flags=re.S)
        xml.etree.ElementTree.fromstring(markup)
        for word in words:
            self.assertTrue(word in text, f"{word!r} is not in what was drawn")
        for fetched in re.findall(r'(?:src|href)="([^"]*)"', text):
            self.fail(f"{name} fetches {fetched}")
        return text

    def is_drawing(self, text, *words):
        root = xml.etree.ElementTree.fromstring(text)
        self.assertTrue(root.tag.endswith("svg"))
        for word in words:
            self.assertTrue(word in text, f"{word!r} is not in what was drawn")

    def browses(self, name):
        """The page as a browser leaves it once its script has run."""
        if not BROWSER:
            self.assertNotIn("CI", os.environ, "cmake/packages-ci.txt names a browser")
            self.skipTest("there is no chromium to open the page with")
        done = subprocess.run([BROWSER, "--headless", "--no-sandbox", "--disable-gpu", "--virtual-time-budget=5000", "--enable-logging=stderr",
                               f"--user-data-dir={self.path('browser')}", "--dump-dom", "file://" + self.path(name)],
                              capture_output=True, text=True, timeout=600)
        console = [line for line in done.stderr.splitlines() if ":CONSOLE" in line]
        self.assertEqual(console, [])
        return done.stdout

    def asked(self, page, script):
        """What a script that is added to a page answers, as JSON, when a browser runs it."""
        text = self.read(page)
        at = text.rindex("</script>")
        self.write("asked.html", text[:at] + "document.body.dataset.answer = JSON.stringify((() => {" + script + "})());\n" + text[at:])
        answer = re.search(r'data-answer="([^"]*)"', self.browses("asked.html"))
        return json.loads(html.unescape(answer[1]))


class ShowTest(Pages):
    def test_a_program_with_its_mapping(self):
        self.succeeds("show", PROGRAM, "--map", os.path.join(VECTADD, "cell-pull.map"), "-o", "pull.html")
        self.is_page("pull.html", "tasks of vectadd.sq", "AddVectors_Split of vectadd.sq on cell", "level 2: main", ">spmd 8<", ">swp 2<", ">16 KiB<",
                     "tunable block = 4096;")
        self.succeeds("show", PROGRAM, "--machine", "cell", "--size", "N=100000", "-o", "default.html")
        self.is_page("default.html", "The mapping, made by Strata", "on cell")
        self.succeeds("show", PROGRAM, "-o", "host.html")
        self.is_page("host.html", "on host")
        self.assertIn("AddVectors_Split", self.browses("pull.html"))

    def test_records_have_the_names_that_the_program_gives_them(self):
        fft = os.path.join(ROOT, "examples/sequoia/fft3d/fft3d.sq")
        self.succeeds("show", fft, "-o", "fft3d.html")
        self.assertNotIn("unnamed", self.is_page("fft3d.html", "in complex a[L][M][N]", "local complex once"))
        self.write("bad.sq", "typedef struct { float re; float im; } complex, again;\nvoid task T(in complex a[N], out float b[N]);\n"
                             "void task<leaf> T::L(in complex a[N], out float b[N])\n{\n  b[0] = a[0];\n}\n")
        self.is_refused("check", "bad.sq", mentions="complex")

    def test_drawings_follow_the_reader_and_fit_the_window(self):
        for thing in ("pca", "cell", SUM, PROGRAM):
            self.succeeds("show", thing, "-o", "page.html")
            text = self.is_page("page.html", "prefers-color-scheme:dark", "--least:")
            self.assertNotRegex(text, r'fill="#fff|fill:#fff(?![0-9a-f]*;fill:var\(--)|stroke="#222')

    def test_every_end_of_a_fifo_is_drawn(self):
        self.succeeds("show", "pca", "-o", "pca.svg")
        self.is_drawing(self.read("pca.svg"), "memories and processors", ">PROC →<", ">→ SINK<", ">→ CONTROL<", "64 KiB each", "8 × FIFO, 1 KiB each",
                        "kind stream")

    def test_what_is_nothing_to_draw(self):
        self.is_refused("show", os.path.join(VECTADD, "cell.map"), code="show-unknown-thing", mentions=["behind --map", ".yaml"])

    def test_push_and_pull_differ(self):
        where = {}
        for way in ("push", "pull"):
            self.succeeds("show", PROGRAM, "--map", os.path.join(VECTADD, f"cell-{way}.map"), "--picture", "instances", "-o", f"{way}.svg")
            text = self.read(f"{way}.svg")
            self.is_drawing(text, "mappar i", "level 0: 8 × ls")
            y = {word: float(re.search(r'y="([0-9.]+)"[^>]*>(?:<title>[^<]*</title>)?' + word, text)[1]) for word in ("mappar i", "level 1", "level 0")}
            where[way] = "outer" if y["mappar i"] < y["level 1"] else "inner" if y["mappar i"] > y["level 0"] else "between"
        self.assertEqual(where, {"push": "outer", "pull": "inner"})

    def test_pictures_alone(self):
        result = self.succeeds("show", PROGRAM, "--machine", "cell", "--picture", "tasks")
        self.is_drawing(result.out, "tasks of vectadd.sq", ">Split<", ">Add<")
        self.succeeds("show", PROGRAM, "--machine", "cell", "-o", "last.svg")
        self.is_drawing(self.read("last.svg"), "level 0: 8 × ls")
        self.succeeds("show", PROGRAM, "--machine", "cell", "--picture", "mapping", "-o", "m.html")
        self.is_page("m.html", "entrypoint")
        self.is_refused("show", PROGRAM, "--machine", "cell", "--picture", "mapping", "-o", "m.svg", code="show-no-drawing")
        self.is_refused("show", PROGRAM, "--picture", "task", code="show-unknown-picture", mentions="'tasks'")

    def test_machines_and_hbir_as_before_and_as_pages(self):
        self.is_drawing(self.succeeds("show", "cell").out, "machine cell")
        self.is_drawing(self.succeeds("show", SUM).out)
        self.succeeds("show", "cell", "-o", "cell.html")
        self.is_page("cell.html", "machine cell")
        self.succeeds("show", SUM, "-o", "sum.html")
        self.is_page("sum.html", "sum.hbir")

    def traced(self, way, *options):
        self.succeeds("run", PROGRAM, "--map", os.path.join(VECTADD, f"cell-{way}.map"), "--size", "N=200000", "--in", "A=iota", "--in", "B=1", *options)

    def test_a_run(self):
        self.traced("pull", "--trace", "run.json", "--timeline", "direct.html")
        self.succeeds("show", "run.json", "-o", "run.html")
        for name in ("run.html", "direct.html"):
            text = self.is_page(name, "<canvas", "moving data", ">spe 0<", ">spe 7<", "AddVectors_Add",
                                "AddVectors#0.A is argument A of call 0 of AddVectors")
            self.assertRegex(text, r"<td>\d{1,3}\u202f\d{3}</td></tr>")
            rows = rows_of(text)
            self.assertEqual({row["processor"] for row in rows if row["processor"].startswith("spe")}, {f"spe {i}" for i in range(8)})
            # Every block is moved: three for each of 49 iterations.
            moves = [span for row in rows for span in row["spans"] if span[2] == 1]
            self.assertEqual((len(moves), sum(span[5] for span in moves)), (3 * 49, 3 * 4 * 200000))
        page = self.browses("run.html")
        self.assertRegex(page, r'data-drawn="\d+"')

    def test_push_and_pull_run_differently(self):
        waiting = {}
        for way in ("push", "pull"):
            self.traced(way, "--timeline", way + ".html")
            rows = rows_of(self.read(way + ".html"))
            waiting[way] = {row["processor"] for row in rows if any(span[2] == 1 for span in row["spans"])}
        self.assertEqual(waiting["pull"], {f"spe {i}" for i in range(8)})
        self.assertNotEqual(waiting["push"], waiting["pull"])

    def trace(self, rows):
        """A trace of processors pe 0, pe 1, … with lists of (kind, start, length)."""
        events = ['{"ph":"M","name":"process_name","pid":1,"tid":0,"args":{"name":"pe"}}']
        for number, spans in enumerate(rows):
            events += [f'{{"ph":"X","cat":"{kind}","name":"leaf","pid":1,"tid":{number},"ts":{start:.4f},"dur":{time:.4f}}}'
                       for kind, start, time in spans]
        return self.write("run.json", "[" + ",\n".join(events) + "]")

    def test_a_timeline_is_as_full_as_its_table_says(self):
        # Run in 2% of the time, in half of it, and in 2% with waits within one long run; many short spans and few long ones.
        rows = [[("run", 10 * i, 0.2) for i in range(1000)], [("run", 10 * i, 5) for i in range(1000)],
                [("run", 0, 10000)] + [("wait", 10 * i + 0.2, 9.8) for i in range(1000)], [("run", 2000 * i, 1000) for i in range(5)]]
        self.succeeds("show", self.trace(rows), "-o", "run.html")
        self.is_page("run.html", ">2.0%<", ">50.0%<", ">98.0%<")
        filled = self.asked("run.html", """
            const ratio = window.devicePixelRatio || 1, answers = [];
            for (const [begin, much] of [[0, length], [1000, 997], [4000, 40], [6000, 10]]) {
              from = begin, shown = much;
              draw();
              const copy = document.createElement("canvas").getContext("2d", { willReadFrequently: true });
              [copy.canvas.width, copy.canvas.height] = [canvas.width, canvas.height];
              copy.drawImage(canvas, 0, 0);
              answers.push(rows.map((row) => {
                const [x, y, wide, high] = [labels, row.y, width(), height(row)].map((value) => Math.round(value * ratio));
                const pixels = copy.getImageData(x, y, wide, high).data;
                let green = 0, red = 0;
                for (let at = 0; at < pixels.length; at += 4) {
                  green += pixels[at + 1] - pixels[at] > 12;
                  red += pixels[at] - pixels[at + 1] > 12;
                }
                return [green / wide / high, red / wide / high];
              }));
            }
            return answers;
        """)
        # Outlines of long spans are two of a row's 26 pixels, and the letters of their names hide what is below.
        for zoomed in filled:
            for (green, red), (running, waiting) in zip(zoomed, ((0.02, 0), (0.5, 0), (0.02, 0.98), (None, 0))):
                if running is not None:
                    self.assertAlmostEqual(green, running, delta=0.09, msg=str(filled))
                self.assertAlmostEqual(red, waiting, delta=0.09, msg=str(filled))
        self.assertAlmostEqual(filled[0][3][0], 0.5, delta=0.09)  # five long spans
        self.assertAlmostEqual(filled[2][3][0], 1, delta=0.02)  # within one of them

    def test_a_timeline_of_many_rows_and_spans(self):
        self.succeeds("show", self.trace([[("run", 10 * i, 4 + row % 5) for i in range(250)] for row in range(2000)]), "-o", "run.html")
        answer = self.asked("run.html", """
            const before = rows.slice(0, 12).map((row) => row.name), high = canvas.height;
            find.value = "pe 199";
            place();
            const found = rows.map((row) => row.name);
            find.value = "";
            place();
            box.scrollTop = 30000;
            const unpacked = () => data.rows.filter((row) => row.start).length, few = unpacked();
            draw();
            return { before, high, found, few, more: unpacked() };
        """)
        self.assertEqual(answer["before"][9:12], ["pe 9", "pe 10", "pe 11"])
        self.assertEqual(answer["found"], ["pe 199", "pe 1199"] + [f"pe 199{n}" for n in range(10)])
        self.assertLess(answer["high"], 4000)  # of the window, not of all rows
        self.assertLess(answer["more"], 200)  # only what has been seen is unpacked

    def test_drawings_are_zoomed_and_searched(self):
        self.succeeds("show", PROGRAM, "--machine", "cell", "--size", "N=100000", "-o", "page.html")
        answer = self.asked("page.html", """
            const bar = document.querySelectorAll(".viewer")[1], svg = bar.nextElementSibling.querySelector("svg"), wide = () => svg.getBoundingClientRect().width;
            const before = wide();
            bar.querySelector("button").click();
            const closer = wide(), find = bar.querySelector("input");
            find.value = "addvectors";
            find.dispatchEvent(new Event("input"));
            const found = [bar.querySelector(".matches").textContent, document.querySelectorAll(".found").length, document.querySelectorAll(".here").length];
            find.dispatchEvent(new KeyboardEvent("keydown", { key: "Enter" }));
            const next = bar.querySelector(".matches").textContent;
            find.value = "nowhere";
            find.dispatchEvent(new Event("input"));
            return { ratio: closer / before, found, next, none: bar.querySelector(".matches").textContent };
        """)
        self.assertAlmostEqual(answer["ratio"], 1.4, delta=0.01)
        count = answer["found"][1]
        self.assertGreaterEqual(count, 2)
        self.assertEqual(answer["found"], [f"1 of {count}", count, 1])
        self.assertEqual((answer["next"], answer["none"]), (f"2 of {count}", "nothing here"))

    def tasks(self, count, name):
        """A program of tasks of which each calls three others."""
        text = "".join(f"void task T{i}(in float a[N], out float b[N]);\n" for i in range(count))
        for i in range(count):
            calls = "".join(f"  mappar (int i = 0 : (N + t - 1) / t) {{ T{k}(a[i * t; t], b[i * t; t]); }}\n"
                            for k in range(3 * i + 1, 3 * i + 4) if k < count)
            head = "(in float a[N], out float b[N]) {\n"
            text += (f"void task<inner> T{i}::Split{head}  tunable t;\n{calls}}}\n" if calls else
                     f"void task<leaf> T{i}::Leaf{head}  for (int i = 0; i < N; i++) b[i] = a[i];\n}}\n")
        return self.write(name, text)

    # What a page's first picture shows: sheet, groups, words of boxes, and whether the shape that it begins with is in the window.
    SHOWN = """
        const [tasks, instances] = document.querySelectorAll(".sheets"), shown = (set) => {
          const start = set.querySelector(".picture [data-start]"), window = set.querySelector(".picture").getBoundingClientRect();
          const place = start ? start.getBoundingClientRect() : { left: 0, right: 0 };
          return { open: set.querySelector(".trail .open").textContent,
                   groups: [...set.querySelectorAll(".picture .group")].map((each) => each.dataset.sheet),
                   names: [...set.querySelectorAll(".picture .head, .picture .name")].map((each) => each.textContent),
                   outside: [...set.querySelectorAll(".picture .outside")].map((each) => each.dataset.sheet),
                   inWindow: place.right > window.left && place.left < window.right };
        };
        const click = (set, name) => {
          const shape = [...set.querySelectorAll(".picture [data-sheet]")].find((each) => each.dataset.sheet === name);
          shape.scrollIntoView({ block: "center", inline: "center" });
          const place = shape.getBoundingClientRect();
          const at = { clientX: place.left + place.width / 2, clientY: place.top + place.height / 2, bubbles: true };
          shape.dispatchEvent(new MouseEvent("click", at));
        };
        const look = (set, words) => {
          const find = set.querySelector("input");
          find.value = words;
          find.dispatchEvent(new Event("input"));
        };
    """

    def test_many_tasks_are_shown_in_groups(self):
        self.succeeds("show", self.tasks(500, "many.sq"), "--machine", "cell", "-o", "many.html")
        self.is_page("many.html", "T499", "by name", "by who calls them", "by level and processor", "by task")
        answer = self.asked("many.html", self.SHOWN + """
            const first = shown(tasks);
            click(tasks, first.groups[3]);
            const inside = shown(tasks);
            click(tasks, inside.outside[0]);
            const beside = shown(tasks);
            look(tasks, "T333");
            tasks.querySelector(".elsewhere button").click();
            const found = tasks.querySelector(".here").textContent;
            const of = (name) => {
              [...instances.querySelectorAll(".trail button")].find((each) => each.textContent === name).click();
              return shown(instances);
            };
            const calls = shown(instances), levels = of("by level and processor");
            click(instances, levels.groups[0]);
            return { first, inside, beside, found, calls, levels, within: shown(instances), task: of("by task") };
        """)
        # What is opened can be read: some boxes, the first in the window, and no more than fit a sheet.
        for name in ("first", "inside", "calls", "levels", "within", "task"):
            self.assertTrue(1 < len(answer[name]["names"]) < 200, (name, len(answer[name]["names"])))
            self.assertTrue(answer[name]["inWindow"], name)
        self.assertIn("T0 and below", answer["first"]["names"])
        self.assertTrue(answer["inside"]["outside"])
        self.assertNotEqual(answer["beside"]["open"], answer["inside"]["open"])
        self.assertEqual(answer["found"], "T333")
        self.assertTrue(all(each.startswith("level ") for each in answer["levels"]["names"]), answer["levels"])
        self.succeeds("show", self.tasks(50, "few.sq"), "--machine", "cell", "--picture", "tasks", "-o", "few.html")
        self.assertNotIn("data-sheet=", self.is_page("few.html", "T49").split("<script>")[0])

    def test_the_interpreter_has_no_timeline(self):
        self.is_refused("run", PROGRAM, "--size", "N=8", "--in", "A=iota", "--in", "B=1", "--interpret", "--timeline", "t.html", code="driver-usage")

    def test_what_is_no_trace(self):
        self.is_refused("show", self.write("a.json", "{"), code="show-not-a-trace", mentions="a.json:1:2")
        self.is_refused("show", "absent.json", code="show-cannot-read")
        trace = self.write("b.json", '[{"ph":"X","ts":1,"dur":1,"name":"x","pid":1,"tid":1}]')
        self.is_refused("show", trace, "-o", "b.svg", code="show-no-drawing")
        self.is_refused("show", trace, "--machine", "cell", code="driver-not-a-program", mentions="trace")
        self.succeeds("show", trace, "-o", "b.html")


if __name__ == "__main__":
    harness.main()
