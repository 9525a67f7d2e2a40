// Carries a random graph out through the interface of stream programs, and compares. Objects that the interface knows
// live as long as the process, as those of a program would. The calling thread is that of control.
#pragma once

#include "tests/svm/graph.h"

#include <atomic>
#include <mutex>
#include <random>
#include <string>

namespace strata::graphs {

enum class Mode {
  Plain,
  Pauses,      // kernels are paused and let go on again at random
  OthersPause, // so they are, by another thread than that of control
  Ends, // at some moment all kernels are ended; what is in the streams then is the beginning of what would have come
};

class Performance {
public:
  explicit Performance(const Graph& graph);
  Performance(const Performance&) = delete;
  Performance& operator=(const Performance&) = delete;

  /// What differs; empty when nothing does. May be called again: everything is initialised anew.
  std::string perform(Mode mode, uint64_t seed);

private:
  struct Things;
  struct Worker;

  /// As long as the process lives.
  static Things& keep(Things* things);
  static void work(Worker* worker);
  void act(const Action& action);
  void initStream(const Action& action);
  void start(uint32_t execution);
  void pauseSome(std::mt19937_64& random);
  void setUnderWay(uint32_t execution, bool on);
  /// Until control sets `over_`.
  void keepPausing(uint64_t seed);
  std::string endAll();
  std::string compare();
  void complain(const std::string& text);

  const Graph& graph_;
  Things& things_;
  std::mt19937_64 random_;
  uint64_t control_ = 0;
  std::vector<uint64_t> results_;  // of executions
  std::mutex underWayLock_;        // held by who pauses, who sees only kernels that control does not initialise
  std::vector<uint32_t> underWay_; // executions that control has started and not waited for
  std::atomic<bool> over_{false};
  bool pausedByOthers_ = false;
  std::vector<uint32_t> initialised_; // how often a stream has been
  std::string wrong_;
};

/// The machine's description, for svmMachine.
extern const char* const fieldPath;

} // namespace strata::graphs
