// Code is where the system has mapped it, processes are what it lists in /proc: the children of the process that has
// started this one, as far as MPI's starter gave them a rank.
#include "runtime/cluster/beginning.h"

#include "runtime/cluster/processes.h"
#include "runtime/cluster/started.h"

#include <algorithm>
#include <csignal>
#include <cstdlib>
#include <cstring>
#include <fcntl.h>
#include <link.h>
#include <sched.h>
#include <string_view>
#include <sys/prctl.h>
#include <unistd.h>

namespace strata::cluster {
namespace {

constexpr uint64_t fnvBegin = 14695981039346656037u, fnvFactor = 1099511628211u; // FNV-1a, of words of 8 bytes

uint64_t withBytes(uint64_t made, const char* bytes, size_t count) {
  for (size_t at = 0; at < count; at += sizeof(uint64_t)) {
    uint64_t word = 0;
    std::memcpy(&word, bytes + at, std::min(sizeof word, count - at));
    made = (made ^ word) * fnvFactor;
    made ^= made >> 32; // the factor carries upwards only
  }
  return made;
}

} // namespace

uint64_t codeFingerprint() {
  uint64_t hash = fnvBegin;
  dl_iterate_phdr(
      [](dl_phdr_info* info, size_t, void* into) {
        auto& made = *static_cast<uint64_t*>(into);
        for (int i = 0; i < info->dlpi_phnum; ++i) {
          const ElfW(Phdr)& part = info->dlpi_phdr[i];
          if (part.p_type == PT_LOAD && (part.p_flags & PF_X))
            made = withBytes(made, reinterpret_cast<const char*>(info->dlpi_addr + part.p_vaddr), part.p_filesz);
        }
        return 1; // the first is the program itself
      },
      &hash);
  return hash;
}

uint64_t fingerprintOf(const std::vector<std::string>& words) {
  uint64_t hash = fnvBegin;
  for (const std::string& word : words) // with the zero at its end, so that two words are not one
    hash = withBytes(hash, word.c_str(), word.size() + 1);
  return hash;
}

void becomeOneOfSeveral() {
  setenv("OMPI_MCA_opal_signal", "", 0); // faults of a program are told of by the program
  const pid_t starter = getppid();
  prctl(PR_SET_PDEATHSIG, SIGKILL); // where the starter is killed, nobody else ends this process
  if (getppid() != starter)         // it was killed before that
    std::_Exit(1);
}

void tellStarter() {
  const char* const path = std::getenv(toldName);
  const int file = path ? open(path, O_WRONLY | O_NONBLOCK | O_CLOEXEC) : -1;
  if (file < 0)
    return;
  (void)!write(file, "1", 1); // a byte that says so is there already if not
  close(file);
}

static size_t startedHere() {
  const char* const count = std::getenv("OMPI_COMM_WORLD_LOCAL_SIZE");
  return count ? std::strtoul(count, nullptr, 10) : 0;
}

uint32_t shareOfCores(uint32_t cores, uint32_t ofComputer, uint32_t processes) {
  // Bound to cores of its own, or among others.
  const bool isApart = uint64_t(cores) * processes <= ofComputer;
  return std::max<uint32_t>(1, isApart || processes == 0 ? cores : std::min(cores, ofComputer / processes));
}

uint32_t threadsOfProcess() {
  const auto ofComputer = static_cast<uint32_t>(std::max<long>(1, sysconf(_SC_NPROCESSORS_ONLN)));
  cpu_set_t own;
  const bool isKnown = sched_getaffinity(0, sizeof own, &own) == 0;
  return shareOfCores(isKnown ? static_cast<uint32_t>(CPU_COUNT(&own)) : ofComputer, ofComputer,
                      static_cast<uint32_t>(startedHere()));
}

bool hasCoreOfItsOwn() {
  return startedHere() <= static_cast<size_t>(std::max<long>(1, sysconf(_SC_NPROCESSORS_ONLN)));
}

BeginningWatch::BeginningWatch(std::function<void()> ended)
    : ended_(std::move(ended)), starter_(getppid()), count_(startedHere()) {
  // Behind a shell, say, the others are not where this process could see them.
  const std::string parent = processName(starter_);
  for (const std::string_view starter : {"mpirun", "mpiexec", "orterun", "orted", "prterun", "prted"})
    if (parent == starter)
      looking_.emplace(std::chrono::milliseconds(50), [this] { look(); });
}

void BeginningWatch::look() {
  // The starter sees it too, and ends everything for most reasons: it goes first. It may still be starting some, on a
  // computer that has much else to do.
  constexpr auto untilEnded = std::chrono::seconds(1), untilStarted = std::chrono::seconds(10);
  std::set<pid_t> now;
  for (const pid_t child : childrenOf(starter_))
    if (isAlive(child) && (seen_.contains(child) || !environmentOf(child, "OMPI_COMM_WORLD_RANK").empty()))
      now.insert(child);
  if (now != alive_)
    changed_ = Clock::now();
  alive_ = now;
  seen_.insert(now.begin(), now.end());
  if (now.size() >= count_ || now.empty() ||
      Clock::now() - changed_ < (seen_.size() > now.size() ? untilEnded : untilStarted))
    return;
  if (*now.begin() != getpid()) // one of them tells it
    sleep(5);
  else if (!std::getenv(toldName))
    ended_();
  std::_Exit(1);
}

} // namespace strata::cluster
