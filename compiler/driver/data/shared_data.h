// Data of arguments that each of several processes reaches by itself, so that no process holds an array as a whole: a
// part of a file that all see, or generated data, which every process generates where it needs them. Described by rank
// 0 (runtime::openEverywhere), opened in the others by that description.
#pragma once

#include "base/data/generate.h"
#include "runtime/core/window.h"

#include <memory>
#include <optional>
#include <string>
#include <string_view>

namespace strata::driver {

/// Bytes of a file.
struct SharedFile {
  std::string path; // as every process finds it
  uint64_t at = 0, bytes = 0;
  bool isWritten = false;
  bool isFar = false; // processes are on several computers
  std::string called; // by messages
};

std::string describe(const SharedFile& file);
/// Elements of a type, generated; what is written there is forgotten. REQUIRES: the spec is no path and fits the type.
std::string describe(const ElementType& type, const InputSpec& spec);

/// The backend of an open file, which it closes.
std::unique_ptr<runtime::WindowBackend> backendOf(const SharedFile& file, int opened);
/// The backend of what a description says. Null, and why, where a file cannot be opened or is too short.
std::unique_ptr<runtime::WindowBackend> openShared(std::string_view description, std::string& error);

} // namespace strata::driver
