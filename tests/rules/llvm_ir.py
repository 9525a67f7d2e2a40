"""LLVM IR is generated in compiler/kernel/ and compiler/target/ only."""

import re

import tree

PATTERN = re.compile(r"IRBuilder\s*<|llvm/IR/IRBuilder\.h|translateModuleToLLVMIR|mlir/Target/LLVMIR/(Export|ModuleTranslation)|"
                     r"mlir/Conversion/\w+ToLLVM/|populate\w+ToLLVM\w*Patterns|create\w*ConvertTo?\w*ToLLVM\w*Pass")
breaches = []
for path in tree.files(".cpp", ".h", folders=("base", "runtime", "compiler")):
    if path.startswith(("compiler/kernel/", "compiler/target/")) or tree.is_test(path):
        continue
    text = tree.without_comments(tree.read(path))
    for match in PATTERN.finditer(text):
        breaches.append(f"{path}:{tree.line_of(text, match.start())}: {match[0].strip()}")
tree.report(breaches, __doc__, """Say it in the svm dialect or in MLIR's structured dialects; the kernel compiler and the targets lower it.""")
