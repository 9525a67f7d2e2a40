"""Threads are made and fibres switched in runtime/core/ only; the compiler's own work goes through LLVM's pool, in the files named here."""

import re

import tree

PATTERN = re.compile(r"std::j?thread\s*[({]|std::j?thread\s+\w+\s*[({;]|vector<std::j?thread>|std::async\b|pthread_create|"
                     r"boost/context|boost::context|make_fcontext|jump_fcontext|swapcontext|makecontext|#\s*pragma\s+omp|llvm::(Default)?ThreadPool\b")
# What these do at the same time is compiling; no program runs meanwhile.
COMPILING = {"compiler/driver/command/link.cpp", "compiler/target/host/emit_in_parts.cpp"}
breaches = []
for path in tree.files(".cpp", ".h", ".c", folders=("base", "runtime", "compiler", "include")):
    if path.startswith("runtime/core/") or tree.is_test(path):
        continue
    text = tree.without_comments(tree.read(path))
    for match in PATTERN.finditer(text):
        if path in COMPILING and match[0] == "llvm::DefaultThreadPool":
            continue
        breaches.append(f"{path}:{tree.line_of(text, match.start())}: {match[0].strip()}")
tree.report(breaches, __doc__, """Use what runtime/core/ offers, or add to it what is missing there.""")
