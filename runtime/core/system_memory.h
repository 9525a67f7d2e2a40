// What the runtime asks of the operating system's virtual memory, behind an interface so that a test can make it fail.
// All functions may be called from any thread.
#pragma once

#include <cstddef>
#include <cstdint>

namespace strata::runtime {

class SystemMemory {
public:
  virtual ~SystemMemory() = default;
  /// Readable and writable zeroed pages, or null.
  virtual void* map(size_t bytes) = 0;
  /// Address space that faults when touched, or null.
  virtual void* reserve(size_t bytes) = 0;
  /// The same at an address that is the same in every process that a machine is spread over, which ask for it in one
  /// order.
  virtual void* reserveAlike(size_t bytes) { return reserve(bytes); }
  /// Makes reserved pages readable and writable.
  virtual bool commit(void* base, size_t bytes) = 0;
  virtual void unmap(void* base, size_t bytes) = 0;
  /// Asks for large pages where the system has them.
  virtual void preferLargePages(void* base, size_t bytes) = 0;
  /// Bytes that could be used now without making the computer swap or the system end a process.
  virtual uint64_t available() = 0;
  /// Bytes of memory in all.
  virtual uint64_t total() = 0;
};

/// The computer's own memory unless a test has put another in its place.
SystemMemory& systemMemory();
/// Null restores the computer's own. REQUIRES: nothing runs meanwhile.
void setSystemMemory(SystemMemory* memory);

size_t pageBytes();

} // namespace strata::runtime
