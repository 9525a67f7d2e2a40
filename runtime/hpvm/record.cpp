// The environment is asked at each call: a program may change it before it launches a graph.
#include "runtime/hpvm/record.h"

#include <cstdio>
#include <cstdlib>
#include <fstream>
#include <string_view>
#include <unistd.h>

namespace strata::hpvm {
namespace {

constexpr std::string_view jsonToFile = "json:";

/// A variable of the environment, with the number of the process for %p; empty: it is not set.
std::string environment(const char* variable) {
  const char* const given = std::getenv(variable);
  std::string value = given ? given : "";
  for (size_t at = value.find("%p"); at != value.npos; at = value.find("%p", at))
    value.replace(at, 2, std::to_string(getpid()));
  return value;
}

std::string recordFile() {
  return environment("STRATA_RECORD");
}
std::string statsForm() {
  return environment("STRATA_STATS");
}

std::string amount(int64_t count, const char* what) {
  return std::to_string(count) + " " + what + (count == 1 ? "" : what == std::string_view("launch") ? "es" : "s");
}

std::string duration(int64_t nanoseconds) {
  const double seconds = static_cast<double>(nanoseconds) * 1e-9;
  char text[40];
  if (seconds < 1e-3)
    std::snprintf(text, sizeof text, "%.1f us", seconds * 1e6);
  else if (seconds < 1)
    std::snprintf(text, sizeof text, "%.2f ms", seconds * 1e3);
  else
    std::snprintf(text, sizeof text, "%.3f s", seconds);
  return text;
}

std::string field(const char* name, int64_t value) {
  return std::string("\"") + name + "\":" + std::to_string(value) + ",";
}

std::string secondsField(int64_t nanoseconds) {
  char text[40];
  std::snprintf(text, sizeof text, "\"seconds\":%.9f", static_cast<double>(nanoseconds) * 1e-9);
  return text;
}

} // namespace

bool isStatsFormKnown() {
  const std::string form = statsForm();
  return form.empty() || form == "text" || form == "json" ||
         (form.starts_with(jsonToFile) && form.size() > jsonToFile.size());
}

void Record::add(const std::string& graph, int64_t items, int64_t nanoseconds, const std::vector<std::string>& stages) {
  int64_t number = 0;
  {
    const std::lock_guard guard(lock_);
    number = ++launches_;
    Figures& figures = graphs_[graph];
    ++figures.launches;
    figures.items += items;
    figures.nanoseconds += nanoseconds;
    if (!statsForm().empty())
      for (const auto& [name, own] : runtime::spanTotals()) {
        runtime::SpanTotal& total = figures.nodes[name];
        total.runs += own.runs;
        total.instances += own.instances;
        total.nanoseconds += own.nanoseconds;
      }
  }
  if (!recordFile().empty())
    trace_.add(graph + " " + std::to_string(number) + ", ", stages);
}

void Record::write() {
  if (const std::string file = recordFile(); !file.empty())
    writeTrace(file);
  if (const std::string form = statsForm(); !form.empty())
    writeFigures(form);
}

void Record::writeTrace(const std::string& file) {
  if (trace_.calls() == 0)
    std::fprintf(stderr,
                 "warning: '%s' is not written: the program's graphs are not linked to record [hpvm-record]\n"
                 "  help: link it with strata cc --record\n",
                 file.c_str());
  else if (!trace_.write(file))
    std::fprintf(stderr, "warning: '%s' cannot be written [hpvm-record]\n", file.c_str());
  else if (trace_.kept() < trace_.calls())
    std::fprintf(stderr, "warning: '%s' has the first %zu of %zu launches [hpvm-record]\n", file.c_str(), trace_.kept(),
                 trace_.calls());
}

void Record::writeFigures(const std::string& form) {
  if (graphs_.empty()) {
    std::fprintf(stderr, "warning: there are no figures: the program's graphs are not linked to record [hpvm-record]\n"
                         "  help: link it with strata cc --record\n");
    return;
  }
  const std::string all = form == "text" ? text() : json();
  if (!form.starts_with(jsonToFile)) {
    std::fputs(all.c_str(), stderr);
    return;
  }
  const std::string path = form.substr(jsonToFile.size());
  std::ofstream file(path);
  file << all;
  file.close();
  if (!file)
    std::fprintf(stderr, "warning: '%s' cannot be written [hpvm-record]\n", path.c_str());
}

std::string Record::text() const {
  const std::lock_guard guard(lock_);
  std::string all;
  for (const auto& [graph, figures] : graphs_) {
    all += graph + ": " + amount(figures.launches, "launch") + ", " + amount(figures.items, "item") + ", " +
           duration(figures.nanoseconds) + "\n";
    for (const auto& [node, total] : figures.nodes)
      all += "  " + node + ": " + amount(total.runs, "run") + ", " + amount(total.instances, "instance") + ", " +
             duration(total.nanoseconds) + "\n";
  }
  return all;
}

std::string Record::json() const {
  const std::lock_guard guard(lock_);
  std::string all;
  for (const auto& [graph, figures] : graphs_) {
    std::string nodes;
    for (const auto& [node, total] : figures.nodes)
      nodes += (nodes.empty() ? "" : ",") + std::string("{\"node\":") + runtime::quotedInJson(node) + "," +
               field("runs", total.runs) + field("instances", total.instances) + secondsField(total.nanoseconds) + "}";
    all += (all.empty() ? "" : ",") + std::string("{\"graph\":") + runtime::quotedInJson(graph) + "," +
           field("launches", figures.launches) + field("items", figures.items) + secondsField(figures.nanoseconds) +
           ",\"nodes\":[" + nodes + "]}";
  }
  return "{" + field("threads", runtime::threads()) + "\"graphs\":[" + all + "]}\n";
}

} // namespace strata::hpvm
