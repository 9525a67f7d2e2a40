// Implements it with glibc's backtrace and one call of addr2line.
#include "runtime/core/source_line.h"

#include <algorithm>
#include <csetjmp>
#include <csignal>
#include <cstdint>
#include <cstdio>
#include <cstdlib>
#include <cstring>
#include <dlfcn.h>
#include <execinfo.h>
#include <iterator>
#include <link.h>
#include <string_view>
#include <ucontext.h>
#include <unistd.h>

namespace strata::runtime {

namespace {

/// Where the program's own code lies; the libraries' is elsewhere.
struct OwnCode {
  uintptr_t base = 0, begin = UINTPTR_MAX, end = 0;

  OwnCode() {
    dl_iterate_phdr(
        [](dl_phdr_info* info, size_t, void* out) {
          auto& own = *static_cast<OwnCode*>(out);
          own.base = info->dlpi_addr;
          for (int i = 0; i < info->dlpi_phnum; ++i)
            if (const ElfW(Phdr)& part = info->dlpi_phdr[i]; part.p_type == PT_LOAD && (part.p_flags & PF_X)) {
              own.begin = std::min<uintptr_t>(own.begin, own.base + part.p_vaddr);
              own.end = std::max<uintptr_t>(own.end, own.base + part.p_vaddr + part.p_memsz);
            }
          return 1; // the program itself comes first
        },
        this);
  }
  bool has(const void* address) const {
    return reinterpret_cast<uintptr_t>(address) >= begin && reinterpret_cast<uintptr_t>(address) < end;
  }
};

bool isOurs(const std::string& file) {
  const auto endsWith = [&](std::string_view end) { return file.ends_with(end); };
  return endsWith("svm.h") || endsWith("svm_kernels.h") || file.find("/runtime/svm/") != file.npos ||
         file.find("/runtime/core/") != file.npos;
}

sigjmp_buf unwinding;

void stopUnwinding(int) {
  siglongjmp(unwinding, 1);
}

} // namespace

std::vector<const void*> faultAddresses(const void* context) {
  std::vector<const void*> addresses;
  const auto& state = static_cast<const ucontext_t*>(context)->uc_mcontext;
#if defined(__x86_64__)
  const auto at = static_cast<uintptr_t>(state.gregs[REG_RIP]);
#elif defined(__aarch64__)
  const auto at = static_cast<uintptr_t>(state.pc);
#else
  const uintptr_t at = 0;
#endif
  addresses.push_back(reinterpret_cast<const void*>(at)); // NOLINT(performance-no-int-to-ptr)
  // A stack that has been written over may lead anywhere.
  struct sigaction stop{}, before{};
  stop.sa_handler = stopUnwinding;
  stop.sa_flags = SA_NODEFER | SA_ONSTACK;
  sigaction(SIGSEGV, &stop, &before);
  sigset_t faults, blocked;
  sigemptyset(&faults);
  sigaddset(&faults, SIGSEGV);
  pthread_sigmask(SIG_UNBLOCK, &faults, &blocked);
  if (sigsetjmp(unwinding, 1) == 0) {
    void* frames[64];
    const int count = backtrace(frames, static_cast<int>(std::size(frames)));
    bool isBehind = false; // behind the frames of the handler itself
    for (int i = 0; i < count; ++i) {
      if (isBehind)
        addresses.push_back(static_cast<const char*>(frames[i]) - 1); // in the call, not behind it
      isBehind |= frames[i] == addresses.front();
    }
  }
  sigaction(SIGSEGV, &before, nullptr);
  pthread_sigmask(SIG_SETMASK, &blocked, nullptr);
  return addresses;
}

SourceLine sourceLine(const std::vector<const void*>& addresses) {
  SourceLine found;
  const OwnCode own;
  if (Dl_info info{}; !addresses.empty() && !own.has(addresses.front()))
    found.within = dladdr(addresses.front(), &info) && info.dli_sname ? info.dli_sname : "a library";
  char path[4096];
  const ssize_t length = readlink("/proc/self/exe", path, sizeof path - 1);
  if (length <= 0)
    return found;
  std::string file = "'";
  for (const char c : std::string_view(path, static_cast<size_t>(length)))
    file += c == '\'' ? "'\\''" : std::string(1, c);
  std::string command = "addr2line -i -e " + file + "'";
  bool any = false;
  for (const void* address : addresses)
    if (own.has(address)) {
      char text[32];
      std::snprintf(text, sizeof text, " 0x%zx", reinterpret_cast<uintptr_t>(address) - own.base);
      command += text;
      any = true;
    }
  FILE* answer = any ? popen((command + " 2>/dev/null").c_str(), "r") : nullptr;
  if (!answer)
    return found;
  char text[4096];
  while (found.file.empty() && std::fgets(text, sizeof text, answer)) {
    const std::string line = text;
    const size_t colon = line.rfind(':');
    if (colon == line.npos || line.starts_with("??") || isOurs(line.substr(0, colon)))
      continue;
    if (const int number = std::atoi(line.c_str() + colon + 1); number > 0) {
      found.file = line.substr(0, colon);
      found.line = static_cast<unsigned>(number);
    }
  }
  pclose(answer);
  return found;
}

} // namespace strata::runtime
