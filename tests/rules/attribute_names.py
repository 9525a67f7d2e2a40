"""An attribute of the dialect is named by SvmDialect, not by a literal: only compiler/ir/ spells one. The text of a test's program is
text, and a test may look for an operation by its name."""

import re

import tree

LITERAL = re.compile(r'"svm\.\w+"')
# How a test asks an operation or argument for one.
ASKED = re.compile(r'Attr(?:OfType)?(?:<[^;()]*>)?\(\s*(?:\w+,\s*)?("svm\.\w+")')

breaches = []
for path in tree.files(".cpp", ".h", folders=("compiler", "tests")):
    if path.startswith("compiler/ir/"):
        continue
    text = tree.without_comments(tree.read(path))
    for match in (ASKED if tree.is_test(path) else LITERAL).finditer(text):
        breaches.append(f"{path}:{tree.line_of(text, match.start())}: {match[match.re.groups]}")
tree.report(breaches, __doc__, """Use the name that SvmDialect has of it (compiler/ir/attributes.def defines them all), or ask for the operation by
its class.""")
