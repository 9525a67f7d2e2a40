// What the tests of this folder share: a folder that goes away, an engine, and the codes that were reported.
#pragma once

#include "base/data/npy.h"

#include <cstring>
#include <filesystem>
#include <fstream>
#include <gtest/gtest.h>
#include <unistd.h>

namespace strata {

class DataTest : public testing::Test {
protected:
  DataTest() {
    char name[] = "/tmp/strata-data-XXXXXX";
    folder_ = ::mkdtemp(name);
  }
  ~DataTest() override { std::filesystem::remove_all(folder_); }

  std::string path(const std::string& name) const { return folder_ + "/" + name; }

  std::string write(const std::string& name, const std::string& bytes) const {
    std::ofstream(path(name), std::ios::binary) << bytes;
    return path(name);
  }
  static std::string bytesOf(const std::string& path) {
    std::ifstream file(path, std::ios::binary);
    return {std::istreambuf_iterator<char>(file), {}};
  }
  /// A .npy file of version 1 with this dictionary and these data bytes.
  static std::string npy(const std::string& dictionary, const std::string& data = "") {
    std::string bytes = std::string("\x93NUMPY\x01\x00", 8);
    bytes += static_cast<char>(dictionary.size() & 0xFF);
    bytes += static_cast<char>(dictionary.size() >> 8);
    return bytes + dictionary + data;
  }
  template <typename T>
  static std::string raw(const std::vector<T>& values) {
    return {reinterpret_cast<const char*>(values.data()), values.size() * sizeof(T)};
  }
  template <typename T>
  static std::vector<T> values(const Array& array) {
    return {array.as<T>(), array.as<T>() + array.bytes() / sizeof(T)};
  }
  /// The code of the only error so far, forgotten afterwards; "none" or "several" otherwise.
  std::string code() {
    const auto& all = diagnostics_.all();
    const std::string code = all.size() == 1 ? all[0].kind->code : all.empty() ? "none" : "several";
    message_ = all.empty() ? "" : all[0].message;
    rendered_ = diagnostics_.render({});
    diagnostics_.clear();
    return code;
  }

  std::string folder_;
  SourceManager sources_;
  DiagnosticEngine diagnostics_{sources_};
  std::string message_, rendered_;
};

/// struct { float re, im; }
inline ElementType floatPair() {
  return ElementType::structure({{"re", 0, ElementType::floating(4), {}}, {"im", 4, ElementType::floating(4), {}}}, 8);
}

} // namespace strata
