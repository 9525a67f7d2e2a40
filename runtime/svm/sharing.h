// Finds streams that share storage by mistake, in checked mode. The document lets streams and blocks share storage.
// When two of them overlap and both are in use, that is taken for a mistake unless the program says that it is meant:
// by a block over the place, by one kernel that has both, by a dependence between their kernels, or by a stream that
// takes exactly the place of one that begins with data.
//
// REQUIRES of all functions: the program's lock is held.
#pragma once

#include <cstdint>
#include <map>
#include <vector>

namespace strata::svm {

class Program;
struct BlockRecord;
struct KernelRecord;
struct StreamRecord;

/// The storage of a stream or block, and when it was used, on the program's clock.
struct Storage {
  StreamRecord* stream = nullptr; // one of the two
  BlockRecord* block = nullptr;
  uintptr_t begin = 0, end = 0;
  bool withData = false; // what lies there is its
  uint64_t since = 0;    // its initialisation
  uint64_t used = 0, written = 0;
  std::vector<Storage*> sharers; // those that were there when it was initialised, or came later
};

/// Who was initialised last at each place.
class Owners {
public:
  /// Whoever has part of the storage, which now is another's.
  std::vector<Storage*> take(Storage& storage);

private:
  struct Owned {
    uintptr_t end;
    Storage* storage;
  };
  std::map<uintptr_t, Owned> owned_; // by where each begins; they do not overlap
};

/// After the initialisation of a stream in a memory, or of a block. Error: svm-unaliased where one of two that share is
/// STREAM_UNALIASED_RAM, and the other is about to be used or holds something.
void noteStorage(Program& program, Storage& storage, const char* begin, uint64_t bytes, bool withData = false);

/// A kernel, or control (null), begins to use it. Error: svm-unaliased; warning: svm-shared-storage.
void noteStorageUse(Program& program, Storage& storage, const KernelRecord* kernel, bool writes);

} // namespace strata::svm
