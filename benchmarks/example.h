// A Sequoia example with its mapping for this computer, against the same loops in C. The peer is compiled with blocks
// of its own; that the mapping states the same is checked here. Used from one thread.
#pragma once

#include "benchmarks/bench.h"

namespace strata::bench {

/// The folder of an example, with a slash at its end.
std::string exampleFolder(const char* name);

/// What the peer was compiled with and the mapping states otherwise; empty when they agree. `stated` pairs names with
/// the peer's numbers.
std::string mappingDiffers(const std::string& path, const std::vector<std::pair<std::string, int64_t>>& stated);

struct Argument {
  const char* name;
  void* data;
  std::vector<int64_t> extents;
};

/// Compiles an example with its mapping for this computer, binds, and holds the contest.
template <typename T>
Row against(Bench& bench, const char* name, Contest<T> contest,
            const std::vector<std::pair<std::string, int64_t>>& sizes,
            const std::vector<std::pair<std::string, int64_t>>& stated, const std::vector<Argument>& arguments,
            const std::function<void()>& peer) {
  contest.row.peer = Bench::loopPeer() + ", same blocks";
  std::string folder = exampleFolder(name), mapping = folder + "host.map", error = mappingDiffers(mapping, stated);
  if (!error.empty())
    return failed(contest.row, error);
  auto program = Program::compile({folder + name + ".sq", mapping, sizes}, error);
  if (!program)
    return failed(contest.row, error);
  for (const Argument& argument : arguments)
    if (!program->bind(argument.name, argument.data, argument.extents))
      return failed(contest.row, "the program has no argument '" + std::string(argument.name) + "' of this form");
  return hold(bench, std::move(contest), [&] { program->call(); }, peer);
}

} // namespace strata::bench
