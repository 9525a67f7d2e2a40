// Implements tracing: spans as complete events, one Chrome process a class of processors and one Chrome thread an
// instance.
#include "runtime/core/trace.h"

#include "runtime/core/runtime.h"
#include "runtime/core/scheduler.h"
#include "runtime/core/thread.h"

#include <algorithm>
#include <cstdio>
#include <ctime>
#include <map>
#include <string_view>
#include <tuple>

namespace strata::runtime {
namespace {

constexpr const char* callerName = "caller"; // stands for code that runs as no processor

int64_t now() {
  timespec time;
  clock_gettime(CLOCK_MONOTONIC, &time);
  return int64_t(time.tv_sec) * 1000000000 + time.tv_nsec;
}

std::string quoted(std::string_view text) {
  std::string out = "\"";
  for (const char c : text) {
    if (c == '"' || c == '\\')
      out += '\\';
    if (static_cast<unsigned char>(c) < 0x20) {
      char escape[8];
      std::snprintf(escape, sizeof escape, "\\u%04x", c);
      out += escape;
    } else {
      out += c;
    }
  }
  return out + '"';
}

/// Chrome counts in microseconds.
std::string microseconds(int64_t nanoseconds) {
  char text[40];
  std::snprintf(text, sizeof text, "%lld.%03d", static_cast<long long>(nanoseconds / 1000),
                static_cast<int>(nanoseconds % 1000));
  return text;
}

std::string_view processOf(const Span& span) {
  return span.process ? span.process : callerName;
}

} // namespace

std::string traceJson() {
  std::vector<Span> spans;
  for (uint32_t i = 0; i < threadSlots(); ++i)
    threadSlot(i).trace.copyTo(spans);
  // An enclosing span comes before those that it encloses.
  std::sort(spans.begin(), spans.end(), [](const Span& a, const Span& b) {
    return std::make_tuple(a.start, -a.end, a.instance, std::string_view(a.name)) <
           std::make_tuple(b.start, -b.end, b.instance, std::string_view(b.name));
  });
  std::map<std::string, int> processes;
  for (const Span& span : spans)
    processes.emplace(processOf(span), 0);
  std::string events;
  int number = 0;
  for (auto& [name, id] : processes) {
    id = ++number;
    events += (events.empty() ? "" : ",\n") + std::string("{\"ph\":\"M\",\"name\":\"process_name\",\"pid\":") +
              std::to_string(id) + ",\"tid\":0,\"args\":{\"name\":" + quoted(name) + "}}";
  }
  const int64_t origin = spans.empty() ? 0 : spans.front().start;
  for (const Span& span : spans)
    events += ",\n{\"ph\":\"X\",\"name\":" + quoted(span.name) +
              ",\"pid\":" + std::to_string(processes.find(std::string(processOf(span)))->second) +
              ",\"tid\":" + std::to_string(span.instance) + ",\"ts\":" + microseconds(span.start - origin) +
              ",\"dur\":" + microseconds(span.end - span.start) + "}";
  return "{\"traceEvents\":[\n" + events + "\n],\"displayTimeUnit\":\"ns\"}\n";
}

bool writeTrace(const std::string& path) {
  const std::string text = traceJson();
  FILE* file = std::fopen(path.c_str(), "w");
  if (!file)
    return false;
  const bool written = std::fwrite(text.data(), 1, text.size(), file) == text.size();
  return std::fclose(file) == 0 && written;
}

void clearTrace() {
  for (uint32_t i = 0; i < threadSlots(); ++i)
    threadSlot(i).trace.clear();
}

} // namespace strata::runtime

using namespace strata::runtime;

void strata_trace_begin(const char* name) {
  current()->spans.push_back({name, now()});
}

void strata_trace_end() {
  Thread& thread = thisThread();
  Execution& execution = *thread.running;
  if (execution.spans.empty())
    return;
  const OpenSpan open = execution.spans.back();
  execution.spans.pop_back();
  const StrataMachine* machine = execution.machine;
  const bool acts = machine && execution.processor < machine->processor_count;
  thread.trace.add({open.name, acts ? machine->processors[execution.processor].name : nullptr,
                    acts ? execution.instance : 0, open.start, now()});
}
