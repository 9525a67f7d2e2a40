// The operation of a loop that waits for what other instances do, with all that decides whether it can go on. Few passes
// know it, so that it has a file of its own.
include "svm.td"

def Svm_PollOp : Svm_Op<"poll", [AttrSizedOperandSegments]> {
  let summary = "lets other concurrent instances go on, and says what this one waits with";
  let description = [{
    Ends a round of a loop that waits, as svm.pause does. `changed`: since its last poll the instance may have given what others read another
    value, or done what nobody can tell. `state` holds every value of its own that decides how it goes on. An instance that comes back to a poll
    with the same state goes in circles until another one changes something; when all that have not ended do so, the program
    cannot go on, which is the error "runtime-deadlock". `instance` is its number for messages.
  }];
  let arguments = (ins Optional<Index>:$instance, I1:$changed, Variadic<AnyTypeOf<[Index, AnyInteger, AnyFloat]>>:$state);
  let assemblyFormat = "(`of` $instance^)? `changed` $changed (`state` `(` $state^ `:` type($state) `)`)? attr-dict";
}
