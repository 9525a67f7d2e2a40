// What is printed comes out sorted, whoever printed it when; equal numbers in the order of time.
// prints: "begin\n" + "".join(f"tile {i}: {i * i - 3:>4} 0x{i:x} {i / 4:.2f} 100%\ntile {i} ends {chr(65 + i)}\n" for i in range(20)) + "end\n"
svm.kernel @line(%tile: index {svm.instance}) {
  %c3 = arith.constant 3 : i64
  %c65 = arith.constant 65 : i64
  %quarter = arith.constant 0.25 : f64
  %i = arith.index_cast %tile : index to i64
  %square = arith.muli %i, %i : i64
  %less = arith.subi %square, %c3 : i64
  %real = arith.sitofp %i : i64 to f64
  %part = arith.mulf %real, %quarter : f64
  %letter = arith.addi %i, %c65 : i64
  svm.print %tile, "tile %d: %4d 0x%x %.2f 100%%\0A" (%i, %less, %i, %part : i64, i64, i64, f64)
  svm.print %tile, "tile %i ends %c\0A" (%i, %letter : i64, i64)
  svm.return
}
func.func @main() attributes {svm.entry} {
  %c0 = arith.constant 0 : index
  %c20 = arith.constant 20 : index
  %before = arith.constant -1 : index
  %after = arith.constant 1000 : index
  svm.print %after, "end\0A"
  svm.parallel "tiles" (%i) = (%c0) to (%c20) concurrent {
    %c19 = arith.constant 19 : index
    %number = arith.subi %c19, %i : index
    svm.run @line(%number) : (index) -> ()
  }
  svm.print %before, "begin\0A"
  return
}
