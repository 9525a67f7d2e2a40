"""What LLVM and MLIR believe without looking is said in few places: no overflow, within an object, no other pointer to it, no trap."""

import re

import tree

# What is promised, and where it may be: the file that proves it, or has it from those who check it.
PROMISES = {
    r"IntegerOverflowFlags::n[su]w|setHasNo(Un)?[sS]ignedWrap|Create(NSW|NUW)\w+|\bhasNo(Un)?[sS]ignedWrap\b":
        {"compiler/transform/prove_no_overflow.cpp": "proved by the range analysis",
         "compiler/ir/canonicalize.cpp": "looks at what is said",
         "compiler/raise/indices.cpp": "looks at what a program in C promises, which has no meaning where it breaks that",
         "compiler/raise/counted_loops.cpp": "looks at what a program in C promises",
         "compiler/mapping/footprint.cpp": "looks at what was proved or a program in C promises, before placement drops what was not"},
    r"\binbounds\b|[iI]nBounds|GEPNoWrapFlags": {},
    r"create<[\w:]*Assume\w*Op>|CreateAssumption|CreateAlignmentAssumption|Intrinsic::assume": {"compiler/raise/body_calls.cpp": "drops what a program in C says so"},
    r"llvm\.noalias|llvm\.readonly|NoAlias\b":
        {"compiler/kernel/convention.cpp": "arguments of kernels, which the verifiers and checks of runs hold apart",
         "compiler/hpvm/lower/raise_leaf.cpp": "arrays of a graph, which are compared at each launch (lower/host_code.cpp)",
         "compiler/sequoia/external/raise_external.cpp": "arguments of kernels, as in convention.cpp"},
    r"llvm\.(nonnull|noundef|dereferenceable\w*|range)|Attribute::(NonNull|NoUndef|Dereferenceable\w*|Range)|MD_(range|nonnull|noundef)\b": {},
    r"mustprogress|MustProgress|WillReturn|willreturn": {},
    # Whether an operation may be executed where the program would not have come to it.
    r"\bisPure\(|(?<!can)(?<!\w)isSpeculatable\(|createLoopInvariantCodeMotionPass|\bmoveLoopInvariantCode\(":
        {"compiler/ir/speculation.cpp": "the one place that decides it",
         "compiler/sequoia/lower/check_sharing.cpp": "compares expressions, moves none",
         "compiler/transform/combiner_identity.cpp": "looks at a body, moves nothing"},
    # What an attribute of the dialect says: checked where it stands, or made so by the passes that set it.
    r"getDisjoint\(\)|setDisjoint\(":
        {"compiler/transform/guard_overlaps.cpp": "checks it in programs in the dialect, for which no front end vouches",
         "compiler/transform/mirror.cpp": "of moves that are checked to be apart",
         "compiler/transform/hoist_copies.cpp": "of moves that are checked to be apart",
         "compiler/transform/pipeline_plan.cpp": "of moves that are checked to be apart"},
    r"\b(parallelAttr|nonEmptyAttr)\b|\"svm\.(parallel|nonempty)\"":
        {"compiler/transform/distribute_iterations.cpp": "sets them on loops that it distributes",
         "compiler/transform/distribute.cpp": "sets one on loops that it distributes",
         "compiler/transform/hoist_copies.cpp": "of distributed loops: a program cannot state them (ir/verify_logical.cpp)",
         "compiler/transform/pipeline_loops.cpp": "of distributed loops: a program cannot state them",
         "compiler/interpret/resolve_control.cpp": "words of messages"},
    r"\bkernel_?(\.|->)getExtents\(\)":
        {"compiler/equations/dialect/from_dialect.cpp": "to check indices for all sizes; runs are checked to keep them",
         "compiler/equations/dialect/lower_equations.cpp": "keeps them as they are when arguments are added",
         "compiler/equations/extract/read_kernel.cpp": "of kernels whose runs are checked",
         "compiler/transform/guard_accesses.cpp": "compares them with what every run is given",
         "compiler/transform/range_analysis.cpp": "of kernels whose runs are checked",
         "compiler/transform/range_values.cpp": "of kernels whose runs are checked"},
}
breaches = []
for path in tree.files(".cpp", ".h", folders=("compiler",)):
    if tree.is_test(path):
        continue
    # A promise may stand in the name of an argument.
    text = tree.without_comments(tree.read(path).replace("/*inbounds=*/true", "inbounds      true"))
    for pattern, places in PROMISES.items():
        if path in places:
            continue
        for match in re.finditer(pattern, text):
            breaches.append(f"{path}:{tree.line_of(text, match.start())}: {match[0].strip()}")
tree.report(breaches, __doc__, """Have it proved (transform/prove_no_overflow.h), check it when the program runs, or leave it out; ask compiler/ir/speculation.h
whether something may move. A place that proves what it promises is listed in tests/rules/promises.py with its reason.""")
