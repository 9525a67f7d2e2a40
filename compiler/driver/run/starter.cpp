// What happens is seen in /proc, and waited for through files of processes (pidfd_open), a moment at most. Open MPI 4.1
// does not always end when its processes have: where one is killed while MPI begins in it, PMIx uses what it has freed.
#include "compiler/driver/run/starter.h"

#include "runtime/cluster/beginning.h"
#include "runtime/cluster/processes.h"

#include "llvm/ADT/STLExtras.h"
#include "llvm/ADT/StringRef.h"

#include <algorithm>
#include <cerrno>
#include <chrono>
#include <csignal>
#include <cstdio>
#include <cstring>
#include <fcntl.h>
#include <filesystem>
#include <map>
#include <poll.h>
#include <sys/prctl.h>
#include <sys/syscall.h>
#include <sys/wait.h>
#include <unistd.h>

namespace strata::driver {
namespace {

using namespace cluster;
using Clock = std::chrono::steady_clock;

constexpr int endings[] = {SIGINT, SIGTERM, SIGHUP};
constexpr int notStarted = 127;
/// In the environment of the starter's processes: its number.
constexpr const char* jobName = "OMPI_MCA_ess_base_jobid";
/// How long what has no reason to stay may stay. Open MPI itself waits a second for its processes.
constexpr auto grace = std::chrono::seconds(2);

/// The process that this one waits for, and the signal that this one was sent last: for a handler.
volatile sig_atomic_t childProcess = 0, sentSignal = 0;

void sendOn(int signal) {
  sentSignal = signal;
  if (childProcess)
    kill(static_cast<pid_t>(childProcess), signal);
}

/// Starts a process that runs `body` and ends when this one does: by SIGTERM.
template <typename Body>
pid_t startBelow(Body body) {
  sigset_t held, before;
  sigemptyset(&held);
  for (const int signal : endings)
    sigaddset(&held, signal);
  sigprocmask(SIG_BLOCK, &held, &before); // a signal that comes meanwhile goes on to the process
  const pid_t parent = getpid();
  fflush(nullptr);
  const pid_t child = fork();
  if (child == 0) {
    childProcess = 0;
    sentSignal = 0;
    prctl(PR_SET_PDEATHSIG, SIGTERM);
    if (getppid() != parent)
      _exit(1);
    body(before);
    _exit(notStarted);
  }
  childProcess = std::max(child, 0);
  sigprocmask(SIG_SETMASK, &before, nullptr);
  return child;
}

void takeSignals() {
  struct sigaction onward = {};
  onward.sa_handler = sendOn;
  for (const int signal : endings)
    sigaction(signal, &onward, nullptr);
}

/// A process as a file, which can be read when the process has ended; -1: there is none.
int fileOf(pid_t process) {
  return static_cast<int>(syscall(SYS_pidfd_open, process, 0));
}

/// Ends what this process has started, and what has come to it since.
void endChildren() {
  for (std::vector<pid_t> left = childrenOf(getpid()); !left.empty(); left = childrenOf(getpid())) {
    for (const pid_t child : left)
      kill(child, SIGKILL);
    if (waitpid(-1, nullptr, 0) < 0 && errno == ECHILD)
      return;
  }
}

std::string nameOfSignal(int signal) {
  return strsignal(signal);
}

/// Files that a starter cannot remove when it is killed: its folder, and memory that processes share. Of the latter it
/// does not know either what a process has made that is ended before it could tell.
void removeWhatIsLeft(pid_t starter, const std::string& its, const std::string& jobText) {
  namespace fs = std::filesystem;
  std::error_code ignored;
  const std::string own = "pid." + std::to_string(starter);
  if (llvm::StringRef(its).ends_with("/" + own))
    fs::remove_all(its, ignored);
  // Where it was killed before it had started any.
  for (const fs::directory_entry& each : fs::directory_iterator(fs::temp_directory_path(ignored), ignored))
    if (each.path().filename().string().starts_with("ompi."))
      fs::remove_all(each.path() / own, ignored);
  uint64_t job = 0;
  if (llvm::StringRef(jobText).getAsInteger(10, job))
    return;
  char name[32];
  std::snprintf(name, sizeof name, ".%llx.", static_cast<unsigned long long>(job));
  for (const fs::directory_entry& each : fs::directory_iterator("/dev/shm", ignored))
    if (const std::string file = each.path().filename().string();
        (file.starts_with("vader_segment.") || file.starts_with("osc_rdma.")) && file.find(name) != std::string::npos)
      fs::remove(each.path(), ignored);
}

/// One run of the starter, in the watcher.
class Watch {
public:
  /// `told`: a pipe by which processes say that they have told of a failure; -1: they may fail and say nothing.
  Watch(pid_t starter, int told) : starter_(starter), starterFile_(fileOf(starter)), told_(told) {}

  StarterEnd run() {
    int status = 0;
    while (true) {
      const pid_t ended = waitpid(starter_, &status, WNOHANG);
      if (ended == starter_ || (ended < 0 && errno != EINTR))
        break;
      look();
      if (isToEnd() && !forced_) {
        forced_ = true;
        kill(starter_, SIGKILL);
      }
      wait();
    }
    const bool isFine = WIFEXITED(status) && WEXITSTATUS(status) <= 128 && !forced_ && !sentSignal;
    if (!isFine)
      endChildren();
    if (status != 0)
      removeWhatIsLeft(starter_, folder_, job_);
    return told(status);
  }

private:
  struct Process {
    std::string rank; // empty: it has none yet, or starts others elsewhere
    int file = -1;
    bool isAlive = true;
  };

  /// Finds the starter's processes, and which of them have ended.
  void look() {
    for (const pid_t child : childrenOf(starter_)) {
      Process& process = processes_[child];
      if (process.file < 0)
        process.file = fileOf(child);
      if (process.rank.empty())
        process.rank = environmentOf(child, "OMPI_COMM_WORLD_RANK");
      if (folder_.empty())
        folder_ = environmentOf(child, "OMPI_MCA_orte_jobfam_session_dir");
      if (job_.empty())
        job_ = environmentOf(child, jobName);
    }
    std::vector<std::string> ended;
    for (auto& [id, process] : processes_) {
      if (!process.isAlive || isAlive(id))
        continue;
      process.isAlive = false;
      if (const int how = endOf(id); how > 0 && (ends_.empty() || WIFSIGNALED(how)))
        ends_.push_back(how);
      ended.push_back(process.rank);
    }
    if (!ended.empty() && first_.empty())
      first_ = ended;
    const bool isOver =
        !processes_.empty() && llvm::none_of(processes_, [](const auto& each) { return each.second.isAlive; });
    // It may still have to write what they have printed, for somebody who reads slowly.
    if (!sentSignal && !(isOver && waitsForLock(starter_)))
      over_ = Clock::time_point::max();
    else if (over_ == Clock::time_point::max())
      over_ = Clock::now();
  }

  /// Nothing is left to do for the starter, or it was asked to end, and it stays.
  bool isToEnd() const { return over_ != Clock::time_point::max() && Clock::now() - over_ > grace; }

  /// Until one of the processes ends, or for a moment.
  void wait() const {
    std::vector<pollfd> files = {{starterFile_, POLLIN, 0}};
    for (const auto& [id, process] : processes_)
      if (process.isAlive && process.file >= 0)
        files.push_back({process.file, POLLIN, 0});
    poll(files.data(), files.size(), Clock::now() - begin_ < std::chrono::seconds(2) ? 20 : 200);
  }

  StarterEnd told(int status) const {
    StarterEnd end;
    const std::string process =
        first_.size() == 1 && !first_[0].empty() ? "process " + first_[0] : "one of the processes";
    const int first = ends_.empty() ? 0 : ends_.front();
    const bool isTold = wasTold(); // once: it takes what says so
    if (forced_) {
      if (WIFSIGNALED(first))
        end.problem = process + " was ended by the system: " + nameOfSignal(WTERMSIG(first));
      else if (first)
        end.status = WEXITSTATUS(first);
      else
        end.problem = "mpirun did not end after its processes had";
    } else if (WIFSIGNALED(status)) {
      end.problem = "mpirun was ended by the system: " + nameOfSignal(WTERMSIG(status));
    } else if (WEXITSTATUS(status) == notStarted) {
      end.isMissing = true;
    } else if (WEXITSTATUS(status) > 128) {
      end.problem = process + " was ended by the system: " + nameOfSignal(WEXITSTATUS(status) - 128);
    } else if (WEXITSTATUS(status) && sentSignal) {
      end.problem = "the process that watches them was ended by the system: " + nameOfSignal(sentSignal);
    } else if (WEXITSTATUS(status) && first_.size() == 1 && WIFSIGNALED(first) && !isTold) {
      end.problem = process + " was ended by the system: " + nameOfSignal(WTERMSIG(first));
    } else if (WEXITSTATUS(status) && !isTold) {
      end.problem = "mpirun was asked to end them, or has ended by itself";
    } else {
      end.status = WEXITSTATUS(status);
    }
    return end;
  }

  /// Whether a process has said why the run fails. One on another computer cannot.
  bool wasTold() const {
    char byte = 0;
    const auto has = [&](bool (*isThat)(const std::string& rank)) {
      return llvm::any_of(processes_, [&](const auto& each) { return isThat(each.second.rank); });
    };
    const bool isFirstElsewhere = has([](const std::string& rank) { return !rank.empty(); }) &&
                                  !has([](const std::string& rank) { return rank == "0"; });
    return told_ < 0 || read(told_, &byte, 1) == 1 || isFirstElsewhere;
  }

  const pid_t starter_;
  const int starterFile_, told_;
  const Clock::time_point begin_ = Clock::now();
  std::map<pid_t, Process> processes_;
  std::vector<std::string> first_; // the ranks that ended first
  std::vector<int> ends_;          // how processes ended, as wait() tells it, as far as that was seen
  Clock::time_point over_ = Clock::time_point::max();
  bool forced_ = false;
  std::string folder_, job_; // of the starter, as it tells its processes
};

/// In the watcher: what it has to tell goes through a pipe.
void watchStarter(const std::vector<const char*>& words, bool doTell, const sigset_t& mask, int out) {
  takeSignals();
  prctl(PR_SET_CHILD_SUBREAPER, 1);
  int toldBy[2] = {-1, -1};
  if (pipe2(toldBy, O_CLOEXEC | O_NONBLOCK) == 0)
    setenv(toldName, ("/proc/" + std::to_string(getpid()) + "/fd/" + std::to_string(toldBy[1])).c_str(), 1);
  const pid_t starter = startBelow([&](const sigset_t&) {
    for (const int signal : endings)
      ::signal(signal, SIG_DFL);
    sigprocmask(SIG_SETMASK, &mask, nullptr);
    execv(words[0], const_cast<char* const*>(words.data()));
  });
  sigprocmask(SIG_SETMASK, &mask, nullptr);
  StarterEnd end;
  end.isMissing = true;
  if (starter > 0)
    end = Watch(starter, doTell ? toldBy[0] : -1).run();
  const std::string told = std::to_string(end.status) + " " + (end.isMissing ? "1" : "0") + " " + end.problem;
  if (write(out, told.data(), told.size()) < 0)
    _exit(1);
  _exit(0);
}

} // namespace

StarterEnd runWatched(const std::vector<std::string>& given, bool doTell) {
  std::vector<const char*> words;
  for (const std::string& word : given)
    words.push_back(word.c_str());
  words.push_back(nullptr);
  StarterEnd end;
  end.isMissing = true;
  int ends[2];
  if (pipe2(ends, O_CLOEXEC) != 0)
    return end;
  takeSignals();
  prctl(PR_SET_CHILD_SUBREAPER, 1);
  const pid_t watcher = startBelow([&](const sigset_t& mask) {
    close(ends[0]);
    watchStarter(words, doTell, mask, ends[1]);
  });
  close(ends[1]);
  std::string told;
  char piece[256];
  for (ssize_t count = 1; watcher > 0 && count != 0;) {
    count = read(ends[0], piece, sizeof piece);
    told.append(piece, static_cast<size_t>(std::max<ssize_t>(count, 0)));
    if (count < 0 && errno != EINTR)
      break;
  }
  close(ends[0]);
  int status = 0;
  while (watcher > 0 && waitpid(watcher, &status, 0) < 0 && errno == EINTR)
    ;
  if (watcher > 0 && told.empty()) {
    std::vector<std::pair<pid_t, std::string>> left; // and the job, as its processes have it
    for (const pid_t child : childrenOf(getpid())) {
      left.emplace_back(child, "");
      for (const pid_t process : childrenOf(child))
        if (left.back().second.empty())
          left.back().second = environmentOf(process, jobName);
    }
    // The starter was sent a signal when that happened, and has come here with what it has started.
    for (const Clock::time_point begin = Clock::now(); Clock::now() - begin < grace && !childrenOf(getpid()).empty();)
      if (waitpid(-1, nullptr, WNOHANG) <= 0)
        usleep(10000);
    endChildren();
    for (const auto& [starter, job] : left)
      removeWhatIsLeft(starter, "", job);
    end.isMissing = false;
    end.problem = "the process that watches them was ended" +
                  (WIFSIGNALED(status) ? " by the system: " + nameOfSignal(WTERMSIG(status)) : std::string());
  }
  if (sentSignal) { // as it would have ended without
    ::signal(sentSignal, SIG_DFL);
    raise(sentSignal);
  }
  const auto [number, rest] = llvm::StringRef(told).split(' ');
  if (number.getAsInteger(10, end.status) || rest.size() < 2)
    return end;
  end.isMissing = rest[0] == '1';
  end.problem = rest.drop_front(2).str();
  return end;
}

} // namespace strata::driver
