// What strata run prints when a program has ended: for people, or as JSON. Figures come by their names from targets.
#include "compiler/driver/run/run.h"
#include "compiler/driver/run/traffic.h"

#include "compiler/target/registry/registry.h"
#include "runtime/core/progress.h"
#include "runtime/core/runtime.h"

#include <nlohmann/json.hpp>

#include <algorithm>

namespace strata::driver {

namespace {

/// The name of a figure that counts thousandths, without that; empty for others.
std::string shareOf(const std::string& name) {
  const std::string end = " in thousandths";
  return name.ends_with(end) ? name.substr(0, name.size() - end.size()) : "";
}

/// "utilisation of alu in thousandths" becomes {"utilisation": {"alu": 0.5}}, other names are taken as they are.
void addArrayFigure(nlohmann::ordered_json& json, const std::string& name, int64_t amount) {
  const std::string share = shareOf(name);
  if (share.empty()) {
    json[name] = amount;
    return;
  }
  const size_t of = share.find(" of ");
  json[share.substr(0, of)][share.substr(of + 4)] = static_cast<double>(amount) / 1000;
}

/// The value of an array of one element, which is worth more than its shape.
std::string valueText(const Array& array) {
  if (array.elements() != 1 || !array.data())
    return "";
  char text[64] = "";
  using Kind = ElementType::Kind;
  if (array.type().kind == Kind::Float)
    snprintf(text, sizeof text, " = %.9g", array.type().bytes == 4 ? *array.as<float>() : *array.as<double>());
  else if (array.type().kind == Kind::SignedInteger && array.type().bytes == 4)
    snprintf(text, sizeof text, " = %d", *array.as<int32_t>());
  else if (array.type().kind == Kind::SignedInteger && array.type().bytes == 8)
    snprintf(text, sizeof text, " = %lld", static_cast<long long>(*array.as<int64_t>()));
  return text;
}

nlohmann::ordered_json jsonOf(const Options& options, const EntryPoint& entry, const Binding& binding,
                              const Machine& machine, const RunFigures& figures) {
  const double median = figures.seconds[figures.seconds.size() / 2], least = figures.seconds.front();
  nlohmann::ordered_json json;
  json["program"] = options.compile.program;
  json["entry"] = entry.name;
  json["machine"] = machine.name;
  json["target"] = figures.target->name().str();
  json["sizes"] = nlohmann::json::object();
  for (const auto& sizes : {options.compile.sizes, binding.sizes})
    for (const auto& [name, value] : sizes)
      json["sizes"][name] = value;
  json["threads"] = runtime::threads();
  if (!options.compile.mapping.empty())
    json["mapping"] = options.compile.mapping;
  json["seconds"] = {{"median", median}, {"minimum", least}, {"repetitions", figures.seconds.size()}};
  json["bytes"] = nlohmann::json::object();
  json["accesses"] = nlohmann::json::object();
  json["moves"] = 0;
  json["moves_elided"] = 0;
  json["moves_hoisted"] = 0;
  json["runs"] = nlohmann::json::object();
  json["starts"] = nlohmann::json::object();
  for (const auto& [name, amount] : figures.counters) {
    if (isOfProcesses(name))
      continue;
    if (name.rfind("bytes ", 0) == 0)
      json["bytes"][name.substr(6)] = amount;
    else if (name.rfind("read ", 0) == 0 || name.rfind("write ", 0) == 0)
      json["accesses"][name] = amount;
    else if (name.rfind("starts ", 0) == 0)
      json["starts"][name.substr(7)] = amount;
    else if (name.rfind("runs ", 0) == 0)
      json["runs"][name.substr(5)] = amount;
    else if (name.rfind("array ", 0) == 0)
      addArrayFigure(json["array"], name.substr(6), amount);
    else if (name.rfind("peak memory of process ", 0) == 0)
      json["peak_memory"][name.substr(23)] = amount; // by process, bytes
    else if (name == "moves")
      json["moves"] = amount;
    else if (name == "moves elided")
      json["moves_elided"] = amount;
    else if (name == "moves hoisted")
      json["moves_hoisted"] = amount;
  }
  if (auto traffic = trafficOf(figures.counters); !traffic.empty())
    json["processes"] = std::move(traffic);
  if (auto waits = waitsOf(figures.counters); !waits.empty())
    json["waits"] = std::move(waits);
  json["paths"] = figures.paths;
  json["kernels"] = nlohmann::json::array();
  for (const KernelFigures& kernel : figures.kernels) {
    nlohmann::ordered_json entry = {{"name", kernel.name}, {"path", kernel.path}, {"loops", nlohmann::json::array()}};
    for (const KernelFigures::Loop& loop : kernel.loops)
      if (loop.lanes)
        entry["loops"].push_back(
            {{"place", loop.place}, {"rows", loop.rows}, {"registers", loop.registers}, {"lanes", loop.lanes}});
      else
        entry["loops"].push_back({{"place", loop.place}, {"why", loop.why}});
    json["kernels"].push_back(std::move(entry));
  }
  return json;
}

void writeJson(Session& session, const nlohmann::ordered_json& json) {
  const std::string& stats = session.options.stats;
  // A file's name may hold bytes that are no UTF-8; JSON may not.
  const std::string text = json.dump(-1, ' ', false, nlohmann::json::error_handler_t::replace);
  if (stats.size() > 5)
    writeText(session, stats.substr(5), text + "\n");
  else
    fprintf(stderr, "%s\n", text.c_str());
}

void printFigures(const std::map<std::string, int64_t>& counters) {
  for (const auto& [name, amount] : counters)
    if (const std::string share = shareOf(name); !share.empty())
      printf("  %s: %.1f %%\n", share.c_str(), static_cast<double>(amount) / 10);
    else
      printf("  %s: %lld\n", name.c_str(), static_cast<long long>(amount));
}

/// `place` is behind the machine's name.
void printRun(const Options& options, const EntryPoint& entry, const Binding& binding, const DataOptions& data,
              const Machine& machine, const RunFigures& figures, const std::string& place) {
  const double median = figures.seconds[figures.seconds.size() / 2], least = figures.seconds.front();
  const bool isUsual = figures.target == target::allTargets().front();
  const std::string on = machine.name + (isUsual ? "" : ", " + figures.target->name().str()) + place;
  printf("%s on %s: %s", entry.name.c_str(), on.c_str(), timeText(median).c_str());
  if (figures.seconds.size() > 1)
    printf(" median, %s least of %zu", timeText(least).c_str(), figures.seconds.size());
  printf("\n");
  for (size_t position = 0; position < entry.arguments.size(); ++position) {
    const EntryArgument& argument = entry.arguments[position];
    if (!argument.written)
      continue;
    const Array& array = binding.arrays[position];
    std::string where;
    for (const OutputOption& output : data.outputs)
      if (output.name == argument.name)
        where = " -> " + output.path;
    printf("  %s: %s %s%s%s\n", argument.name.c_str(), array.type().text().c_str(), shapeText(array.shape()).c_str(),
           valueText(array).c_str(), where.c_str());
  }
  if (options.isTuned)
    printf("  mapping: %s, found by strata tune\n", options.compile.mapping.c_str());
  if (options.stats.empty())
    return;
  printFigures(figures.counters);
  for (const KernelFigures& kernel : figures.kernels)
    printf("  kernel %s: %s\n", kernel.name.c_str(), kernel.path.c_str());
}

} // namespace

std::string timeText(double seconds) {
  char text[32];
  if (seconds < 1e-3)
    snprintf(text, sizeof text, "%.1f us", seconds * 1e6);
  else if (seconds < 1)
    snprintf(text, sizeof text, "%.2f ms", seconds * 1e3);
  else
    snprintf(text, sizeof text, "%.3f s", seconds);
  return text;
}

void reportRun(Session& session, const EntryPoint& entry, const Binding& binding, const DataOptions& data,
               const Machine& machine, RunFigures& figures) {
  const Options& options = session.options;
  runtime::tellProgress("");
  std::sort(figures.seconds.begin(), figures.seconds.end());
  if (options.stats.starts_with("json"))
    writeJson(session, jsonOf(options, entry, binding, machine, figures));
  else
    printRun(options, entry, binding, data, machine, figures, "");
}

void reportPrograms(Session& session, const std::vector<ProgramRun>& programs, const Machine& machine, int64_t cycles,
                    const std::map<std::string, int64_t>& counters) {
  const std::string& stats = session.options.stats;
  runtime::tellProgress("");
  for (const ProgramRun& each : programs)
    std::sort(each.figures->seconds.begin(), each.figures->seconds.end());
  if (stats.starts_with("json")) {
    nlohmann::ordered_json json;
    json["machine"] = machine.name;
    for (const ProgramRun& each : programs)
      json["programs"].push_back(jsonOf(*each.options, *each.entry, *each.binding, machine, *each.figures));
    for (const auto& [name, amount] : counters)
      addArrayFigure(json["array"], name.substr(6), amount);
    return writeJson(session, json);
  }
  for (const ProgramRun& each : programs) {
    printf("== %s\n", each.options->compile.program.c_str());
    printRun(*each.options, *each.entry, *each.binding, *each.data, machine, *each.figures, ", " + each.place);
  }
  printf("== %s\n%zu programs at once: %lld cycles\n", machine.name.c_str(), programs.size(),
         static_cast<long long>(cycles));
  if (!stats.empty())
    printFigures(counters);
}

} // namespace strata::driver
