// Finds a machine by name or file and hands back one that is valid. The file system is read here and nowhere else in
// this folder.
#include "base/machine/machine.h"

#include <algorithm>
#include <filesystem>

namespace strata {

STRATA_DIAGNOSTIC(unknownMachine, Error, "machine-not-found", "no machine named '{0}'");
STRATA_DIAGNOSTIC(unreadable, Error, "machine-unreadable", "cannot read the machine description '{0}': {1}");

namespace {

constexpr const char* hostName = "host";
constexpr const char* fileName = "machine.yaml";

bool isPath(const std::string& text) {
  return text.find('/') != std::string::npos || text.ends_with(".yaml") || text.ends_with(".yml");
}

std::optional<Machine> readAndValidate(const std::string& path, DiagnosticEngine& diagnostics, const Location& where) {
  std::string reason;
  const BufferId file = diagnostics.sources().load(path, SourceKind::Machine, reason);
  if (!file.valid()) {
    diagnostics.report(unreadable, where, path, reason);
    return std::nullopt;
  }
  std::optional<Machine> machine = readMachine(diagnostics, file);
  if (!machine || !validate(*machine, diagnostics))
    return std::nullopt;
  return machine;
}

std::string pathOf(const std::string& directory, const std::string& name) {
  return (std::filesystem::path(directory) / name / fileName).string();
}

} // namespace

std::vector<std::string> machineNames(const std::vector<std::string>& searchPath) {
  std::vector<std::string> names = {hostName};
  for (const std::string& directory : searchPath) {
    std::error_code error;
    std::filesystem::directory_iterator entry(directory, error), end;
    for (; !error && entry != end; entry.increment(error)) {
      std::error_code ignored;
      if (std::filesystem::is_regular_file(entry->path() / fileName, ignored))
        names.push_back(entry->path().filename().string());
    }
  }
  std::sort(names.begin(), names.end());
  names.erase(std::unique(names.begin(), names.end()), names.end());
  return names;
}

std::optional<Machine> loadMachine(const std::string& nameOrPath, const std::vector<std::string>& searchPath,
                                   DiagnosticEngine& diagnostics, Location where) {
  if (isPath(nameOrPath))
    return readAndValidate(nameOrPath, diagnostics, where);
  // Mapping files name machines as "cell.xml": only the stem counts.
  const std::string name = nameOrPath.substr(0, nameOrPath.rfind('.'));
  if (name == hostName)
    return describeHost();
  const std::vector<std::string> names = machineNames(searchPath);
  if (std::find(names.begin(), names.end(), name) != names.end())
    for (const std::string& directory : searchPath) {
      std::error_code ignored;
      if (std::filesystem::is_regular_file(pathOf(directory, name), ignored))
        return readAndValidate(pathOf(directory, name), diagnostics, where);
    }
  DiagnosticBuilder message = diagnostics.report(unknownMachine, where, nameOrPath);
  const std::string near = nearestName(name, names);
  if (!near.empty())
    message.help("did you mean '" + near + "'?");
  std::string all;
  for (const std::string& each : names)
    all += (all.empty() ? "'" : ", '") + each + "'";
  message.note("the machines are " + all);
  message.help("a file is named by a path that holds a '/' or ends in .yaml");
  return std::nullopt;
}

} // namespace strata
