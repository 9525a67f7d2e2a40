// Implements the memory interface over mmap, /proc/meminfo and the memory limit of the process's control group.
#include "runtime/core/system_memory.h"

#include <algorithm>
#include <atomic>
#include <cstdio>
#include <cstring>
#include <sys/mman.h>
#include <unistd.h>

namespace strata::runtime {
namespace {

/// The number that a one-line file holds; `otherwise` when there is no file or no number in it.
uint64_t readNumber(const char* path, uint64_t otherwise) {
  FILE* file = std::fopen(path, "r");
  if (!file)
    return otherwise;
  unsigned long long value = 0;
  const int fields = std::fscanf(file, "%llu", &value);
  std::fclose(file);
  return fields == 1 ? value : otherwise;
}

/// A field of /proc/meminfo, in bytes.
uint64_t memoryField(const char* name) {
  FILE* file = std::fopen("/proc/meminfo", "r");
  if (!file)
    return ~uint64_t(0);
  char line[128];
  uint64_t result = ~uint64_t(0);
  const size_t length = std::strlen(name);
  while (std::fgets(line, sizeof line, file)) {
    unsigned long long kilobytes = 0;
    if (std::strncmp(line, name, length) == 0 && std::sscanf(line + length, ": %llu", &kilobytes) == 1) {
      result = kilobytes << 10;
      break;
    }
  }
  std::fclose(file);
  return result;
}

class ComputerMemory final : public SystemMemory {
public:
  void* map(size_t bytes) override { return mapPages(bytes, PROT_READ | PROT_WRITE, 0); }
  void* reserve(size_t bytes) override { return mapPages(bytes, PROT_NONE, MAP_NORESERVE); }
  bool commit(void* base, size_t bytes) override { return mprotect(base, bytes, PROT_READ | PROT_WRITE) == 0; }
  void unmap(void* base, size_t bytes) override { munmap(base, bytes); }
  void preferLargePages(void* base, size_t bytes) override { madvise(base, bytes, MADV_HUGEPAGE); }

  uint64_t available() override {
    const uint64_t used = readNumber("/sys/fs/cgroup/memory.current", 0);
    const uint64_t limit = readNumber("/sys/fs/cgroup/memory.max", ~uint64_t(0));
    return std::min(memoryField("MemAvailable"), limit > used ? limit - used : 0);
  }
  uint64_t total() override {
    return std::min(memoryField("MemTotal"), readNumber("/sys/fs/cgroup/memory.max", ~uint64_t(0)));
  }

private:
  static void* mapPages(size_t bytes, int protection, int flags) {
    void* base = mmap(nullptr, bytes, protection, MAP_PRIVATE | MAP_ANONYMOUS | flags, -1, 0);
    return base == MAP_FAILED ? nullptr : base;
  }
};

std::atomic<SystemMemory*> replacement{nullptr};

} // namespace

SystemMemory& systemMemory() {
  static auto* computer = new ComputerMemory;
  SystemMemory* other = replacement.load(std::memory_order_acquire);
  return other ? *other : *computer;
}

void setSystemMemory(SystemMemory* memory) {
  replacement.store(memory, std::memory_order_release);
}

size_t pageBytes() {
  static const size_t bytes = static_cast<size_t>(sysconf(_SC_PAGESIZE));
  return bytes;
}

} // namespace strata::runtime
