// Memory of other processes on this computer: the system copies from and to it directly, many pieces at a time,
// whatever those processes are doing (process_vm_readv of Linux).
#pragma once

#include <cstdint>
#include <mutex>
#include <sys/types.h>
#include <sys/uio.h>
#include <vector>

namespace strata::cluster {

/// Elements at even distances on both sides, in bytes.
struct NearCopy {
  char* here;
  int64_t hereStep;
  char* there;
  int64_t thereStep;
  int64_t elements, bytes; // of each
};

/// The memory of one process. Any thread.
class NearMemory {
public:
  explicit NearMemory(pid_t process) : process_(process) {}
  /// Lets every process of this user reach this one's memory, where the system asks for that.
  static void permit();
  /// Whether the system lets this process read there: tries with a word that holds `value`.
  bool reaches(const int64_t* there, int64_t value) const;

  /// Begin copies; they are done when flush() returns, those into the other process in the order of the calls.
  void get(const NearCopy& copy) { add(reads_, copy); }
  void put(const NearCopy& copy) { add(writes_, copy); }
  void flush();

private:
  struct Pending {
    bool isWrite;
    std::vector<iovec> here, there;
  };

  void add(Pending& pending, const NearCopy& copy);
  void carryOut(Pending& pending) const;

  const pid_t process_;
  std::mutex lock_; // of what follows
  Pending reads_{false, {}, {}}, writes_{true, {}, {}};
};

} // namespace strata::cluster
