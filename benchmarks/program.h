// A program compiled in this process, for this computer, as `strata run` does it, with its arguments bound to arrays of
// the caller's. The caller owns the arrays; the code lives as long as the Program. Made and called from one thread.
#pragma once

#include <cstdint>
#include <memory>
#include <string>
#include <vector>

namespace strata::bench {

struct ProgramOptions {
  std::string program;
  std::string mapping;                                // empty: the default mapping
  std::vector<std::pair<std::string, int64_t>> sizes; // known when the program is mapped
  bool opaqueKernels = false;                         // kernels are called, not inlined
  std::string machine = {};                           // a file; empty: what the mapping names
};

/// What compiled code takes for a block that is dense and in C order: its address, extents and strides.
inline std::vector<int64_t> describeBlock(void* data, const std::vector<int64_t>& extents) {
  std::vector<int64_t> words = {reinterpret_cast<int64_t>(data)};
  words.insert(words.end(), extents.begin(), extents.end());
  words.resize(1 + 2 * extents.size());
  int64_t stride = 1;
  for (size_t dimension = extents.size(); dimension-- > 0; stride *= extents[dimension])
    words[1 + extents.size() + dimension] = stride;
  return words;
}

class Program {
public:
  /// Null when the program does not compile; `error` then holds the diagnostics.
  static std::unique_ptr<Program> compile(const ProgramOptions& options, std::string& error);
  ~Program();

  /// Binds an argument to an array with these extents, dense and in C order; an argument that is a scalar by value
  /// takes a pointer to it and no extents. False when the entry point has no such argument.
  bool bind(const std::string& argument, void* data, const std::vector<int64_t>& extents);
  /// Calls the entry point. REQUIRES: every argument is bound.
  void call();

private:
  Program();
  struct Impl;
  std::unique_ptr<Impl> impl_;
};

} // namespace strata::bench
