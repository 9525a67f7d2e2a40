// An example's files, and what its mapping states: example.h.
#include "benchmarks/example.h"

#include <fstream>
#include <regex>
#include <sstream>

namespace strata::bench {

std::string exampleFolder(const char* name) {
  return std::string(STRATA_SOURCE_DIR "/examples/sequoia/") + name + "/";
}

std::string mappingDiffers(const std::string& path, const std::vector<std::pair<std::string, int64_t>>& stated) {
  std::ifstream file(path);
  std::stringstream text;
  text << file.rdbuf();
  std::string mapping = text.str();
  for (const auto& [name, value] : stated) {
    std::smatch match;
    if (!std::regex_search(mapping, match, std::regex("\\b" + name + " = (\\d+);")) || std::stoll(match[1]) != value)
      return path + " does not state " + name + " = " + std::to_string(value) + ", with which the peer is compiled";
  }
  return "";
}

} // namespace strata::bench
