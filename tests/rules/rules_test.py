"""The rules themselves: each is run on a little tree that breaks it, and must say so, and on one that keeps it."""

import os
import subprocess
import sys
import tempfile

import attributes_page
import errors_page
import folder_pages
import passes_page

HERE = os.path.dirname(os.path.abspath(__file__))
ORDER = open(os.path.join(HERE, "include_order.txt")).read()
GOOD = "// For a test.\n"
PAGE = f"# compiler/ir/\n\nWhat it takes.\n\n{folder_pages.MARK}\n\n| | |\n|---|---|\n| `b.h` | For a test. |\n"
ATTRIBUTE = 'SVM_ATTRIBUTE(keep, "svm.keep", Flag, Move, Logical | Placed, "the copy "\n "stays", "svm.keep")\n'
ROWS = "| term | what it is | example | elsewhere |\n|---|---|---|---|\n| {} | a copy | `a` | copy |\n| {} | an end | `b` | event |\n"

PASS = ('// ---- logical programs ----\nSVM_PASS(Fold, kernel, "fold", Logical | Placed, "folds", "any "\n "thing", "less", "first")\n'
        'FIGURE_OPTION(Fold, line, "line", lineBytes, "bytes")\n')
FIGURES = GOOD + "struct Figures {\n  uint64_t lineBytes = 64;\n};\n"
PASSES = passes_page.INTRODUCTION + """
## Logical programs

### fold

Folds.

| | |
|---|---|
| stages | logical, placed |
| takes | any thing |
| leaves | less |
| stands | first |
| option | `line`, 64 without a machine: bytes |
| from | `compiler/kernel/` |
"""

# rule, files of the tree that breaks it, what the rule must say
CASES = [
    ("include_order", {"compiler/ir/a.cpp": GOOD + '#include "compiler/driver/b.h"\n'}, "compiler/ir/a.cpp:2: includes compiler/driver/b.h"),
    ("include_order", {"compiler/hpvm/a.h": GOOD + '#include "compiler/sequoia/b.h"\n'}, "includes compiler/sequoia/b.h"),
    ("include_order", {"compiler/target/gpu/a.h": GOOD + '#include "compiler/target/host/b.h"\n'}, "includes compiler/target/host/b.h"),
    ("include_order", {"compiler/other/a.h": GOOD}, "is not in tests/rules/include_order.txt"),
    ("include_order", {"compiler/sequoia/syntax/a.h": GOOD + '#include "compiler/sequoia/check/b.h"\n'}, "syntax/a.h:2: includes compiler/sequoia/check/b.h"),
    ("include_order", {"compiler/hbir/lower/a.h": GOOD + '#include "compiler/hbir/draw/b.h"\n'}, "lower/a.h:2: includes compiler/hbir/draw/b.h"),
    ("include_order", {"compiler/hbir/check/a.h": GOOD + '#include "compiler/sequoia/syntax/b.h"\n'}, "includes compiler/sequoia/syntax/b.h"),
    ("include_order", {"compiler/sequoia/other/a.h": GOOD}, "is not in tests/rules/include_order.txt"),
    ("folder_pages", {"compiler/ir/a.h": GOOD}, "compiler/ir/README.md:1: lacks: | `a.h` | For a test. |"),
    ("folder_pages", {"compiler/ir/a.h": GOOD, "compiler/ir/README.md": PAGE.replace("What it takes.", "").replace("b.h", "a.h")},
     "compiler/ir/README.md:1: says nothing, above the mark"),
    ("folder_pages", {"compiler/ir/a.h": GOOD, "compiler/ir/README.md": PAGE.replace("# compiler/ir/", "#compiler / ir /").replace("b.h", "a.h")},
     "compiler/ir/README.md:1: has another title than: # compiler/ir/"),
    ("folder_pages", {"compiler/ir/a.h": GOOD, "compiler/ir/README.md": PAGE.replace("# compiler/ir/", "# compiler/irs/").replace("b.h", "a.h")},
     "compiler/ir/README.md:1: has another title than: # compiler/ir/"),
    ("folder_pages", {"compiler/ir/a.h": GOOD, "compiler/ir/README.md": PAGE.replace("b.h", "a.h").replace("<!-- From", "< !--From") + PAGE.split("takes.")[1].replace("b.h", "a.h")},
     "compiler/ir/README.md:5: is a second mark, or a broken one"),
    ("folder_pages", {"compiler/ir/a.h": GOOD, "compiler/ir/README.md": PAGE.replace("b.h", "a.h") + PAGE.split("takes.")[1].replace("b.h", "a.h")},
     "compiler/ir/README.md:12: is a second mark, or a broken one"),
    ("folder_pages", {"compiler/ir/a.h": GOOD, "compiler/ir/README.md": PAGE}, "README.md:9: is not what the files say: | `b.h` | For a test. |"),
    ("named_folders", {"compiler/ir/a.h": GOOD, "compiler/README.md": "`ir/`\n"}, "docs/architecture.md:1: does not name `compiler/ir/`"),
    ("named_folders", {"compiler/ir/a.h": GOOD, "docs/architecture.md": "`compiler/ir/`\n"}, "compiler/README.md:1: does not name `ir/`"),
    ("named_folders", {"compiler/README.md": GOOD + "`old/`\n"}, "compiler/README.md:2: there is no old/ in compiler/"),
    ("named_folders", {"docs/a.md": "`compiler/ir/absent.h`\n"}, "docs/a.md:1: there is no compiler/ir/absent.h"),
    ("diagnostic_codes", {"base/a.cpp": GOOD + 'STRATA_DIAGNOSTIC(a, Error, "x-y", "z");\n', "base/a_test.cpp": GOOD + '"x-y-z"'}, "no test names 'x-y'"),
    ("diagnostic_codes", {"base/a.cpp": GOOD + 'STRATA_DIAGNOSTIC(a, Error, "Xy", "z");\n'}, "kebab case"),
    ("diagnostic_codes", {"base/a.cpp": GOOD + 'STRATA_DIAGNOSTIC(a, Error, "x-y", "z");\n', "base/b.cpp": GOOD + 'STRATA_DIAGNOSTIC(a, Error, "x-z", "z");\n',
                          "base/a_test.cpp": GOOD + '"x-y", "x-z"'}, "the name a is declared at base/a.cpp:2 too"),
    ("threads", {"runtime/host/a.cpp": GOOD + "std::thread worker(f);\n"}, "runtime/host/a.cpp:2"),
    ("llvm_ir", {"compiler/driver/a.cpp": GOOD + "llvm::IRBuilder<> builder(c);\n"}, "compiler/driver/a.cpp:2"),
    ("promises", {"compiler/hbir/a.cpp": GOOD + "auto flags = arith::IntegerOverflowFlags::nsw;\n"}, "compiler/hbir/a.cpp:2: IntegerOverflowFlags::nsw"),
    ("promises", {"compiler/kernel/a.cpp": GOOD + "if (isPure(op)) {}\n"}, "compiler/kernel/a.cpp:2: isPure("),
    ("promises", {"compiler/target/a.cpp": GOOD + "gep(base, /*inbounds=*/true);\n"}, "compiler/target/a.cpp:2: inbounds"),
    ("promises", {"compiler/kernel/a.cpp": GOOD + "if (scope.getDisjoint()) {}\n"}, "compiler/kernel/a.cpp:2: getDisjoint()"),
    ("promises", {"compiler/sequoia/a.cpp": GOOD + "loop->setAttr(SvmDialect::parallelAttr, unit);\n"}, "compiler/sequoia/a.cpp:2: parallelAttr"),
    ("attribute_names", {"compiler/kernel/a.cpp": GOOD + 'op->hasAttr("svm.keep");\n'}, 'compiler/kernel/a.cpp:2: "svm.keep"'),
    ("attribute_names", {"compiler/kernel/a.cpp": GOOD + 'name == "svm.run";\n'}, 'compiler/kernel/a.cpp:2: "svm.run"'),
    ("attribute_names", {"compiler/kernel/a_test.cpp": GOOD + 'f.getArgAttrOfType<StringAttr>(0, "svm.name");\n'}, 'a_test.cpp:2: "svm.name"'),
    ("attribute_names", {"compiler/kernel/a_test.cpp": GOOD + 'op->hasAttr("svm.keep");\n'}, 'compiler/kernel/a_test.cpp:2: "svm.keep"'),
    ("attributes_page", {"compiler/ir/attributes.def": ATTRIBUTE}, "docs/dialect.md:1: lacks: | `svm.keep` | `svm.move` | logical, placed |"),
    ("attributes_page", {"docs/dialect.md": f"{attributes_page.BEGIN}\n| `svm.gone` |\n{attributes_page.END}\n"},
     "docs/dialect.md:2: is no longer defined so: | `svm.gone` |"),
    ("passes_page", {"compiler/ir/passes.def": PASS, "base/machine/figures.h": FIGURES}, "docs/passes.md:1: lacks: | option | `line`, 64 without a machine"),
    ("passes_page", {"compiler/ir/passes.def": PASS, "base/machine/figures.h": FIGURES}, "passes.def:1: no test runs fold"),
    ("passes_page", {"docs/passes.md": PASSES}, "is no longer defined so: ### fold"),
    ("passes_page", {"compiler/kernel/a.cpp": GOOD + 'StringRef getArgument() const final { return "fold"; }\n'}, "a.cpp:2: getArgument() of a pass"),
    ("machine_names", {"compiler/kernel/a.cpp": GOOD + 'if (name == "cell") {}\n'}, 'compiler/kernel/a.cpp:2: "cell"'),
    ("targets", {"compiler/driver/a.cpp": GOOD + '#include "compiler/target/host/lower.h"\n'}, 'compiler/driver/a.cpp:2: "compiler/target/host/'),
    ("targets", {"compiler/mapping/a.cpp": GOOD + "host::optimize(code);\n"}, "compiler/mapping/a.cpp:2: host::optimize"),
    ("hardware_figures", {"compiler/kernel/a.cpp": GOOD + "constexpr int64_t near = 8, line = 64; // bytes\n"}, "compiler/kernel/a.cpp:2: line"),
    ("hardware_figures", {"compiler/transform/a.cpp": GOOD + "bool isFar = stride >= 4096;\n"}, "compiler/transform/a.cpp:2: 4096"),
    ("hardware_figures", {"compiler/target/host/a.cpp": GOOD + "limit = int64_t(32) << 10;\n"}, "compiler/target/host/a.cpp:2: 32) << 10"),
    ("hardware_figures", {"compiler/mapping/a.h": GOOD + "auto lines = (bytes + 63) / 64;\n"}, "compiler/mapping/a.h:2: / 64"),
    ("hardware_figures", {"compiler/sequoia/tuning/tune.cpp": GOOD + "constexpr uint64_t cache{uint64_t(1) << 19};\n"}, "compiler/sequoia/tuning/tune.cpp:2: cache"),
    ("hardware_figures", {"tests/rules/hardware_figures.txt": "a.cpp page: a reason\n"}, "tests/rules/hardware_figures.txt:1: a.cpp page is nowhere"),
    ("hardware_figures", {"tests/rules/hardware_figures.txt": "a.cpp page\n"}, "hardware_figures.txt:1: is not 'FILE NUMBER: reason'"),
    ("notations", {"compiler/driver/a.cpp": GOOD + 'if (name.ends_with(".sq")) {}\n'}, "compiler/driver/a.cpp:2: .sq"),
    ("notations", {"compiler/mapping/a.cpp": GOOD + 'help("HBIR programs have layouts");\n'}, "compiler/mapping/a.cpp:2: HBIR"),
    ("notations", {"runtime/host/a.cpp": GOOD + '#include "include/sequoia.h"\n'}, "runtime/host/a.cpp:2: sequoia"),
    ("notations", {"compiler/target/host/a.cpp": GOOD + "define(&sqFreeArray);\n"}, "compiler/target/host/a.cpp:2: sqFreeArray"),
    ("notations", {"compiler/pla/notation.cpp": GOOD + 'is.ending = ".dfg";\n', "compiler/driver/a.cpp": GOOD + 'use(".dfg");\n'}, "compiler/driver/a.cpp:2: .dfg"),
    ("file_length", {"base/a.cpp": GOOD * 701}, "base/a.cpp:1: 701 lines"),
    ("file_openings", {"base/a.cpp": "int x;\n"}, "base/a.cpp:1: int x;"),
    ("errors_page", {"base/a.cpp": GOOD + 'STRATA_DIAGNOSTIC(a, Error, "x-y", "z");\n'}, "docs/errors.md:1: lacks: | `x-y`"),
    ("errors_page", {"docs/errors.md": errors_page.page([("base", "x-y", "Error", "z")])}, "is no longer declared so: | `x-y`"),
    ("sequoia_rules", {"compiler/sequoia/check_blocks.cpp": GOOD + 'STRATA_DIAGNOSTIC(a, Error, "x-y", "z");\n'},
     "tests/sequoia/rules/x-y.breaks.sq:1: is missing"),
    ("hpvm_rules", {"tests/hpvm/rules/edge.c": "// Edges join nodes.\n// expected hpvm-edge 3\n"},
     "tests/hpvm/rules/edge.c:1: is one of a pair, whose other program is missing"),
    ("formatting", {"base/a.cpp": GOOD + "int   x;\n"}, "base/a.cpp:2: is not formatted"),
    ("glossary", {"docs/glossary.md": ROWS.format("Move", "block")}, "docs/glossary.md:4: 'block' stands behind 'move'"),
    ("glossary", {"docs/glossary.md": ROWS.format("move", "move")}, "docs/glossary.md:4: 'move' stands there twice"),
    ("glossary", {"docs/glossary.md": ROWS.format("move", "token"), "base/a.h": "// Moves.\n"}, "docs/glossary.md:4: 'token' is used nowhere"),
    ("glossary", {"docs/glossary.md": "| move | a copy | | copy |\n"}, "docs/glossary.md:1: 'move' has 3 cells"),
    ("glossary", {}, "docs/glossary.md:1: is missing"),
    ("documented_commands", {"README.md": "./dev frobnicate and examples/absent.sq\n"}, "./dev has no job 'frobnicate'"),
]
KEPT = {
    "compiler/driver/a.cpp": GOOD + '#include "compiler/ir/b.h"\n\n#include <thread>\n// std::thread worker(f);\n// Sequoia, .sq\nsquare(x.sqrt);\n',
    "base/a.cpp": GOOD + 'STRATA_DIAGNOSTIC(a, Error, "x-y", "z");\n',
    "base/a_test.cpp": GOOD + '// "x-y"\n',
    "compiler/kernel/k.cpp": GOOD + "constexpr unsigned deepest = 8, pieces = 64; // of 4096\nOp word = constant(builder, 0, 64);\n",
    "tests/rules/hardware_figures.txt": "# Reviewed.\nk.cpp pieces: is counted\n",
    "README.md": "./dev test\n",
    "compiler/ir/attributes.def": ATTRIBUTE,
    "compiler/ir/passes.def": PASS,
    "base/machine/figures.h": FIGURES,
    "base/machine/README.md": PAGE.replace("compiler/ir", "base/machine").replace("b.h", "figures.h"),
    "base/README.md": "`machine/`\n",
    "docs/passes.md": PASSES,
    "tests/kernel/fold.mlir": "// RUN: strata-opt --fold %s\n",
    "compiler/ir/b.cpp": GOOD + 'bool a = f("svm.keep");\n',
    "compiler/kernel/b_test.cpp": GOOD + 'bool a = name == "svm.run" || parse("svm.keep");\n',
    "docs/dialect.md": "\n".join([attributes_page.BEGIN, "", "| attribute | on | at stages | meaning | example |", "|---|---|---|---|---|",
                                  "| `svm.keep` | `svm.move` | logical, placed | the copy stays | `svm.keep` |", "", attributes_page.END, ""]),
    "docs/glossary.md": ROWS.format("memory fence", "Move"),
    "base/fence.h": "// Takes a memory\n// fence, and moves.\n",
    "docs/errors.md": errors_page.page([("base", "x-y", "Error", "z")]),
    "compiler/ir/b.h": GOOD,
    "compiler/ir/README.md": PAGE.replace("`b.h`", "`b.h` `.cpp`"),
    "compiler/driver/README.md": PAGE.replace("compiler/ir", "compiler/driver").replace("b.h", "a.cpp"),
    "compiler/kernel/README.md": PAGE.replace("compiler/ir", "compiler/kernel").replace("| `b.h` | For a test. |", "| `b_test.cpp` | For a test. |\n| `k.cpp` | For a test. |"),
    "compiler/README.md": "`driver/` `ir/` `kernel/` `sequoia/lower/`\n",
    "compiler/sequoia/lower/c.h": GOOD + '#include "compiler/sequoia/syntax/d.h"\n',
    "compiler/sequoia/lower/README.md": PAGE.replace("compiler/ir", "compiler/sequoia/lower").replace("b.h", "c.h"),
    "docs/architecture.md": "`base/machine/` `compiler/driver/` `compiler/ir/` `compiler/kernel/` `compiler/sequoia/lower/`, `compiler/NAME/`\n",
}


def run(rule, files):
    with tempfile.TemporaryDirectory() as folder:
        base = {"tests/rules/include_order.txt": ORDER + "base\n", "dev": open(os.path.join(HERE, "../../dev")).read(),
                ".clang-format": open(os.path.join(HERE, "../../.clang-format")).read()}
        for name, text in {**base, **files}.items():
            path = os.path.join(folder, name)
            os.makedirs(os.path.dirname(path), exist_ok=True)
            with open(path, "w") as file:
                file.write(text)
        command = [sys.executable, os.path.join(HERE, rule + ".py"), folder]
        completed = subprocess.run(command, capture_output=True, text=True)
        return completed.returncode, completed.stdout + completed.stderr


def times_with_no_reader():
    """What ./dev test --times prints to a reader that has gone, as head does."""
    with tempfile.TemporaryDirectory() as folder:
        with open(os.path.join(folder, "tests.log"), "w") as file:
            for number in range(20):
                file.write(f"    Start  {number}: name{number}\n {number}/20 Test #{number}: name{number} ....   Passed    1.00 sec\n")
        reader, writer = os.pipe()
        os.close(reader)
        command = [sys.executable, os.path.join(HERE, "../times.py"), folder]
        completed = subprocess.run(command, stdout=writer, stderr=subprocess.PIPE, text=True)
        os.close(writer)
        return completed.returncode, completed.stderr


failures = 0
if (ended := times_with_no_reader()) != (0, ""):
    failures += 1
    print(f"times.py: should end quietly when nobody reads: {ended}")
for rule, files, expected in CASES:
    status, text = run(rule, files)
    if status != 1 or expected not in text:
        failures += 1
        print(f"{rule}: should say {expected!r}, ended with {status}:\n{text}")
for rule in sorted({rule for rule, *_ in CASES}):
    status, text = run(rule, KEPT)
    if rule == "documented_commands":
        # ./dev --help of the little tree names examples that it does not have.
        text = "\n".join(line for line in text.splitlines() if line.startswith("README"))
        status = 1 if text else 0
    if status != 0:
        failures += 1
        print(f"{rule}: should be kept:\n{text}")
sys.exit(1 if failures else 0)
