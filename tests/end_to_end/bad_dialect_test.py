"""Programs in the dialect that are wrong: in form, which is told before they run, and in what they do, which is told when they do it.
Each ends with status 1 and one error with a place, and nothing of it reaches memory that is not the program's."""


import harness

VIEW = "memref<?xf32, strided<[1], offset: ?>>"
SIZES = 'svm.entry, svm.sizes = ["N"], svm.extents = [affine_map<()[s0] -> (s0)>]'
ARRAY = '%a: !b {svm.name = "A", svm.access = "readwrite"}'

FLAT = """
!m = memref<?x?xf32, strided<[?, 1], offset: ?>>
!flat = memref<?xf32, strided<[1], offset: ?>>
module {
  svm.kernel @sum(%a: !m {svm.access = "read"}, %s: memref<f32, strided<[], offset: ?>> {svm.access = "write"}, %n: index) {
    %buffer, %offset, %sizes:2, %strides:2 = memref.extract_strided_metadata %a : !m -> memref<f32>, index, index, index, index, index
    %v = memref.reinterpret_cast %a to offset: [%offset], sizes: [%n], strides: [1] : !m to !flat
    %zero = arith.constant 0 : index
    %one = arith.constant 1 : index
    %start = arith.constant 0.0 : f32
    %sum = scf.for %i = %zero to %n step %one iter_args(%all = %start) -> f32 {
      %x = memref.load %v[%i] : !flat
      %next = arith.addf %all, %x : f32
      scf.yield %next : f32
    }
    memref.store %sum, %s[] : memref<f32, strided<[], offset: ?>>
    svm.return
  }
  func.func @main(%a: !m {svm.access = "read", svm.name = "A"}, %s: memref<f32, strided<[], offset: ?>> {svm.access = "write", svm.name = "sum"}, %n: i64 {svm.name = "n"})
      attributes {svm.entry, svm.sizes = ["M", "N"], svm.extents = [affine_map<()[m, n] -> (m, n)>, affine_map<()[m, n] -> ()>, affine_map<()[m, n] -> ()>]} {
    %count = arith.index_cast %n : i64 to index
    svm.run @sum(%a, %s, %count) : (!m, memref<f32, strided<[], offset: ?>>, index) -> ()
    return
  }
}
"""


class BadDialect(harness.Case):
    def program(self, body, arguments=ARRAY, attributes=SIZES, before=""):
        text = f"!b = {VIEW}\n{before}\nfunc.func @f({arguments}) attributes {{{attributes}}} {{\n{body}\n  return\n}}\n"
        return self.write("p.mlir", text)

    def refuse(self, body, *mentions, code="dialect-error", job="run", place=True, **keywords):
        path = self.program(body, **keywords)
        data = ["--size", "N=8", "--in", "A=iota"] if job == "run" and keywords.get("arguments") is None else []
        result = self.is_refused(job, path, *data, code=code, mentions=mentions, timeout=600)
        if place:
            self.assertRegex(result.err, r"--> .*p\.mlir:\d+:\d+", str(result))
        return result

    # ---- form ----
    def test_not_the_dialect(self):
        for text in ("", "modul {", "module {", "module { svm.nonsense }", '"tosa.add"() : () -> ()', "#a = #a", "!t = !t", "\0"):
            with self.subTest(text=text):
                result = self.strata("run", self.write("p.mlir", text))
                self.assertEqual(result.status, 1, str(result))
                self.assertEqual(result.err.count("error["), 1, str(result))

    def test_nested_too_deeply(self):
        for opening, closing in ("()", "[]", "{}", "<>"):
            text = opening * 200000 + closing * 200000
            self.is_refused("run", self.write("p.mlir", text), code="driver-nested-too-deeply", mentions="p.mlir:1:")

    def test_expressions_too_long(self):
        for expression in ("-" * 100000 + "s0", " + ".join(["s0"] * 100000), " mod ".join(["s0"] * 100000)):
            self.refuse("", code="driver-nested-too-deeply", attributes=SIZES.replace("(s0)>", f"({expression})>"))

    def test_values_used_before_they_are_defined(self):
        loop = "%z = arith.constant 0 : index\nscf.for %i = %z to %n step %z {\n  %n = arith.constant 1 : index\n}"
        self.refuse(loop, "'%n'", code="driver-used-before-defined")
        self.refuse("svm.count \"n\" by %absent : index", "'%absent' is defined nowhere", code="dialect-undefined-value")

    def test_operations_nested_too_deeply(self):
        self.refuse("svm.scope {\n" * 300 + "}\n" * 300, "is nested more than")

    def test_other_stages(self):
        for stage in ("placed", "scheduled"):
            self.is_refused("run", self.write("p.mlir", f'module attributes {{svm.stage = "{stage}"}} {{}}'), code="driver-not-logical")

    def test_no_entry_and_several(self):
        self.is_refused("run", self.write("p.mlir", "module {}"), code="driver-no-entry")
        text = "func.func @f() attributes {svm.entry} { return }\nfunc.func @g() attributes {svm.entry} { return }"
        self.is_refused("run", self.write("p.mlir", text), code="driver-several-entries", mentions=("f", "g"))
        self.is_refused("run", self.write("p.mlir", text), "--entry", "h", code="driver-unknown-entry", mentions=["f, g", "--> command line:1:"])

    def test_elements_that_are_not_as_described(self):
        for described in ("[('a', '<f8')]", "[('a', '<f4'), ('b', '<f4')]", "'<f4'", "[", ""):
            argument = ARRAY.replace("{", "{" + f'svm.element = "{described}", ')
            self.refuse("", "'A'", code="run-element-description", arguments=argument)
        for words, code, about in (("3 : i64", "run-element-description", "'A'"), ("-1 : i64", "dialect-error", "'svm.words' is an integer"),
                                   ("1 : i32", "dialect-error", "'svm.words' is an integer")):
            argument = ARRAY.replace("{", "{" + f"svm.element = \"[('a', '<f4')]\", svm.words = {words}, ")
            self.refuse("", about, code=code, arguments=argument)

    def test_no_syntax_tree(self):
        self.is_refused("run", self.program(""), "--emit=ast", code="driver-no-tree")

    def test_mapping_attribute(self):
        for mapping in ("{f = 1 : i64}", '{f = {arguments = "main"}}', "{f = {loops = {i = {parts = \"x\"}}}}"):
            text = f"module attributes {{svm.mapping = {mapping}}} {{\nfunc.func @f() attributes {{svm.entry}} {{ return }}\n}}"
            self.is_refused("run", self.write("p.mlir", text), code="driver-bad-mapping-attribute")

    def test_machine_described_otherwise_now(self):
        text = ('module attributes {svm.machine = "cell", svm.machine_hash = "0123456789abcdef", svm.mapping = {}} {\n'
                "func.func @f() attributes {svm.entry} { return }\n}")
        result = self.succeeds("run", self.write("p.mlir", text))
        self.assertIn("warning[driver-other-machine]", result.err)
        self.is_refused("run", self.path("p.mlir"), "--werror", code="driver-other-machine")

    def test_structure(self):
        memory = '#svm.mem<@ls>'
        cases = {
            "memref.alloc() : memref<4xf32>": "not part of the dialect's logical programs",
            "%n = arith.constant 4 : index\n%b = memref.alloca(%n) : memref<?xf32>": "not fixed",
            "%b = memref.alloca() : memref<100000000xf32>": "more than a stack holds",
            "%c = arith.constant dense<0> : vector<4xi32>": "vector<4xi32>",
            "%c = arith.constant 0 : i128": "i128",
            f'%n = arith.constant 4 : index\n%b = svm.block (%n) : memref<?xf32, strided<[1], offset: ?>, {memory}>': "named memory",
            "%n = arith.constant 4 : index\n%b = svm.block (%n) at 0 : !b": "where on a machine",
            "%c = arith.constant 1 : index\nsvm.parallel (%i) = (%c) to (%c) on @spe {}": "where on a machine",
            "%c = arith.constant true\n%b = arith.select %c, %a, %a : !b": "without running the program",
            "%c = arith.constant true\n%b = scf.if %c -> (!b) { scf.yield %a : !b } else { scf.yield %a : !b }": "without running",
            "%c = arith.constant 5 : index\n%d = memref.dim %a, %c : !b": "dimension",
            "%c = memref.cast %a : !b to memref<8xf32, strided<[1]>>": "casts go to",
            "%s = arith.constant 0 : index\n%d = affine.apply affine_map<()[s0] -> (8 mod s0)>()[%s]": "positive constant",
            "builtin.module {}": "not part of",
        }
        for body, text in cases.items():
            with self.subTest(body=body):
                self.refuse(body, text)

    def test_entry_points(self):
        for arguments, text in (("%a: (i32) -> i32", "(i32) -> i32"), ("%a: memref<*xf32>", "memref<*xf32>"), ("%a: memref<4xf32>", "entry point"),
                                ("%a: !svm.token", "token"), ("%a: !svm.stream<i32>", "stream"), ("%a: i7", "i7"), ("%a: none", "none"),
                                ('%a: i32 {svm.name = "A"}, %b: i32 {svm.name = "A"}', "another argument's"),
                                ('%a: !b {svm.name = "A", svm.access = "wrong"}', "svm.access")):
            with self.subTest(arguments=arguments):
                self.refuse("", text, arguments=arguments, attributes="svm.entry")
        for attributes, text in (("svm.entry, svm.sizes = 5", "svm.sizes"), ('svm.entry, svm.sizes = ["N", "N"]', "svm.sizes"),
                                 ("svm.entry, svm.extents = []", "svm.extents"), ("svm.entry, svm.extents = [affine_map<()[s0] -> (s0)>]", "extents")):
            with self.subTest(attributes=attributes):
                self.refuse("", text, attributes=attributes)

    def test_functions(self):
        for before, text in (("func.func private @g(i32)", "no body"), ("func.func @g() -> !svm.token {\n ub.poison }", "dialect"),
                             ("func.func @g() {\n return\n^b:\n return\n}", "several blocks"), ("module {}", "does not belong"),
                             ("memref.global @g : memref<4xf32>", "does not belong"), ("func.func @strata_fail() { return }", "names that begin"),
                             ("svm.kernel @k(%x: !b) { svm.return }", "svm.access"),
                             ("svm.kernel @k(%x: i32) { svm.return }\nsvm.kernel @k(%x: i32) { svm.return }", "redefinition")):
            with self.subTest(before=before):
                self.refuse("", before=before)

    def test_combiners(self):
        text = "%c = arith.constant 1 : index\nsvm.parallel (%i) = (%c) to (%c) reduce(%p = %a : !b with #svm.combiner<@k, \"k\">) {}"
        self.refuse(text, "no kernel or function")
        self.refuse(text, "does not take two of them", before='svm.kernel @k(%x: !b {svm.access = "read"}) { svm.return }')

    def test_attributes_that_mean_nothing(self):
        """Each is told before anything runs, at its place."""
        index = "%n = arith.constant 4 : index\n"
        cases = {
            '%c = arith.constant false\nsvm.check %c, "", "x"': "kebab case",
            '%c = arith.constant false\nsvm.check %c, "a-b", ""': "message or help that is empty",
            index + '%c = arith.constant false\nsvm.check %c, "a-b", "{0} of {1}" (%n : index)': "has {1} in its message and gives 1 values",
            index + 'svm.index %n in %n of "x", -4': "dimension -4",
            index + 'svm.count "" by %n : index': "a counter that is empty",
            'svm.span "" { }': "a name that is empty",
            '%n = arith.constant -1 : index\nsvm.span "s" of %n { }': "is of -1 instances",
            'svm.scope "" { }': "a label that is empty",
            index + 'svm.parallel "" (%i) = (%n) to (%n) { }': "a label that is empty",
            index + 'svm.parallel "i{0}" (%i) = (%n) to (%n) { }': "a label that has a number in braces",
        }
        for body, text in cases.items():
            with self.subTest(body=body):
                self.refuse(body, text, job="check")
        self.refuse("", "a string that is not empty", job="check", arguments='%a: !b {svm.name = ""}')
        self.refuse("", "has a name that is empty", job="check", before='func.func private @""() { return }')

    def test_llvm_sources(self):
        """Their text is read before anything runs."""
        good = "define void @k(i32 %a) { ret void }"
        for source, function, text in (
                ("define nonsense", "@s::@k", "does not read as LLVM IR: line 1, column 8"),
                ("define void @k(i32 %a) { ret i32 1 }", "@s::@k", "does not read as LLVM IR"),
                (good + " define void @f() { ret void }", "@s::@k", "defines 'f', which the program defines elsewhere"),
                ("[" * 100000, "@s::@k", "nested more than"),
                (good, "@t::@k", "no 'svm.llvm_source'"), (good, "@s::@absent", "defines no such function")):
            with self.subTest(source=source[:100]):
                before = f'svm.llvm_source @s "{source}"\nsvm.kernel private @q(%x: i32) attributes {{llvm = {function}}}'
                for job in ("check", "run"):
                    self.refuse("%c = arith.constant 1 : i32\nsvm.run @q(%c) : (i32) -> ()", text, job=job, before=before)

    # ---- data ----
    def test_extents(self):
        self.is_refused("run", self.program("", attributes="svm.entry"), "--in", "A=iota", code="run-missing-extent", mentions="'A'")
        shorter = SIZES.replace("(s0)>", "(s0 - 9)>")
        self.is_refused("run", self.program("", attributes=shorter), "--size", "N=8", "--in", "A=iota", code="run-negative-extent", mentions="-1")

    # ---- what happens when it runs ----
    def test_several_dimensions_as_one(self):
        """In a kernel; the view stays within its block."""
        program = self.write("flat.mlir", FLAT)
        for machine in ("host", "cell"):
            data = ("run", program, "--machine", machine, "--in", "A=iota")
            self.assertIn("sum: float32 () = 66", self.succeeds(*data, "--size", "M=3,N=4", "--in", "n=12", "--check").out)
            self.assertIn("sum: float32 () = 0", self.succeeds(*data, "--size", "M=3,N=0", "--in", "n=0").out)
            self.is_refused(*data, "--size", "M=3,N=4", "--in", "n=13", code="view-out-of-range", mentions=["from 0 to 12", "flat.mlir:7:"])
        view = "memref.reinterpret_cast %a to offset: [%count], sizes: [%count], strides: [1] : !m to !flat"
        for text in (FLAT.replace("    svm.run", f"    %v = {view}\n    svm.run"),
                     FLAT.replace("sizes: [%n], strides: [1] : !m to !flat", "sizes: [%n, %n], strides: [%n, 1] : !m to !m").replace("%v[%i] : !flat", "%v[%i, %i] : !m")):
            self.is_refused("check", self.write("flat.mlir", text), code="dialect-error", mentions=["in a kernel one of several as one"])

    def test_accesses(self):
        cases = {
            "%c = arith.constant 8 : index\n%v = memref.load %a[%c] : !b\nmemref.store %v, %a[%c] : !b": "index-out-of-range",
            "%c = arith.constant -1 : index\n%v = arith.constant 1.0 : f32\nmemref.store %v, %a[%c] : !b": "index-out-of-range",
            "%v = arith.constant 1.0 : f32\naffine.store %v, %a[8] : !b": "index-out-of-range",
            "%n = arith.constant 9 : index\n%v = memref.subview %a[0] [%n] [1] : !b to !b\nsvm.move %v to %v : !b to !b": "view-out-of-range",
            "%n = arith.constant -1 : index\n%v = memref.subview %a[%n] [%n] [1] : !b to !b\nsvm.move %v to %v : !b to !b": "view-out-of-range",
            "%n = arith.constant 9 : index\n%x = svm.block (%n) : !b\nsvm.move %a to %x : !b to !b\nsvm.move %x to %a : !b to !b": "move-extents",
            "%n = arith.constant -1 : index\n%x = svm.block (%n) : !b\nsvm.move %x to %a : !b to !b": "block-extent",
            "%n = arith.constant 4611686018427387904 : index\n%x = svm.block (%n) : !b\nsvm.move %x to %a : !b to !b": "block-extent",
            "%n = arith.constant 1000000000000 : index\n%x = svm.block \"x\"(%n) : !b\n%c = arith.constant 0 : index\n"
            "%v = memref.load %x[%c] : !b\nmemref.store %v, %a[%c] : !b": "runtime-out-of-memory",
            "%z = arith.constant 0 : index\n%q = svm.stream (%z) : !svm.stream<f32>\nsvm.end %q : !svm.stream<f32>": "runtime-stream-size",
            "%z = arith.constant 0 : index\n%d = memref.dim %a, %z : !b\n%s = arith.subi %d, %d : index\n%q = arith.divsi %d, %s : index\n"
            "svm.count \"q\" by %q : index": "division-by-zero",
            "%z = arith.constant 0 : index\n%n = arith.constant 8 : index\nscf.for %i = %z to %n step %z { svm.count \"q\" by %n : index }": "loop-step",
        }
        for body, code in cases.items():
            for machine in ("host", "cell"):
                with self.subTest(body=body, machine=machine):
                    if machine == "cell" and code == "runtime-out-of-memory":
                        continue
                    result = self.is_refused("run", self.program(body), "--size", "N=8", "--in", "A=iota", "--machine", machine,
                                             "--out", f"A={self.path('out.npy')}", code=code, timeout=600)
                    if not code.startswith("runtime"):
                        self.assertRegex(result.err, r"--> .*p\.mlir:\d+:\d+", str(result))

    def test_accesses_in_parallel_threads(self):
        kernel = ('svm.kernel @k(%x: !b {svm.access = "readwrite"}, %i: index) {\n  %v = arith.constant 1.0 : f32\n'
                  "  memref.store %v, %x[%i] : !b\n  svm.return\n}")
        body = ("%z = arith.constant 0 : index\n%n = arith.constant 100 : index\nsvm.parallel (%i) = (%z) to (%n) {\n"
                "svm.run @k(%a, %i) : (!b, index) -> ()\n}")
        for threads in (1, 7):
            result = self.is_refused("run", self.program(body, before=kernel), "--size", "N=8", "--in", "A=iota", "--threads", threads,
                                     "--out", f"A={self.path('out.npy')}", code="index-out-of-range")
            self.assertRegex(result.err, r"--> .*p\.mlir:4:3", str(result))

    def test_kernel_extents(self):
        kernel = ('svm.kernel @k(%x: !b {svm.access = "read"}, %y: !b {svm.access = "readwrite"}) attributes '
                  "{extents = [affine_map<()[s0] -> (s0)>, affine_map<()[s0] -> (s0)>]} { svm.return }")
        body = "%n = arith.constant 5 : index\n%x = svm.block (%n) : !b\nsvm.run @k(%x, %a) : (!b, !b) -> ()"
        self.refuse(body, "'A'", code="kernel-extents", before=kernel)

    def test_recursion_without_end(self):
        before = "func.func @g(%x: !b) {\n  func.call @g(%x) : (!b) -> ()\n  %c = arith.constant 0 : index\n  %v = memref.load %x[%c] : !b\n" \
                 "  %w = arith.addf %v, %v : f32\n  memref.store %w, %x[%c] : !b\n  return\n}"
        body = "func.call @g(%a) : (!b) -> ()"
        if not harness.sanitizer():  # which reports it itself
            self.refuse(body, code="runtime-stack-overflow", before=before, place=False)
        result = self.is_refused("run", self.program(body, before=before), "--size", "N=8", "--in", "A=iota", "--interpret")
        self.assertIn("p.mlir", result.err)

    # ---- kernels that are code ----
    def test_llvm_kernels(self):
        good = "define void @k(i32 %a) { ret void }"
        for source, function, code in (
                ("define void @k(i64 %a) { ret void }", "@s::@k", "host-llvm-link"),
                ("declare void @absent(i32) define void @k(i32 %a) { call void @absent(i32 %a) ret void }", "@s::@k", "host-missing-code"),
                ("define void @k(i32 %a) { call void asm sideeffect \\\"nonsense\\\", \\\"\\\"() ret void }", "@s::@k", "host-code-generation"),
                ):
            with self.subTest(source=source):
                before = f'svm.llvm_source @s "{source}"\nsvm.kernel private @q(%x: i32) attributes {{llvm = {function}}}'
                self.refuse("%c = arith.constant 1 : i32\nsvm.run @q(%c) : (i32) -> ()", code=code, before=before, place=False)

    def test_black_box_that_the_machine_lacks(self):
        before = 'svm.kernel private @q(%x: i32) attributes {blackbox = "fourier"}'
        self.refuse("%c = arith.constant 1 : i32\nsvm.run @q(%c) : (i32) -> ()", "fourier", code="host-black-box", before=before)
        result = self.is_refused("run", self.program("%c = arith.constant 1 : i32\nsvm.run @q(%c) : (i32) -> ()", before=before), "--size", "N=8",
                                 "--in", "A=iota", "--target", "interpreter", code="interpreter-black-box")
        self.assertIn("p.mlir:", result.err)


if __name__ == "__main__":
    harness.main()
