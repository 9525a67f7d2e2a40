// Implements tracing: spans as complete events, one Chrome process a class of processors and one Chrome thread an
// instance; moves in a process "CLASS moves", where each instance has as many threads as it ever had moves at once.
#include "runtime/core/trace.h"

#include "base/machine/instance_range.h"
#include "runtime/core/figures.h"
#include "runtime/core/run_context.h"
#include "runtime/core/runtime.h"

#include <algorithm>
#include <atomic>
#include <cstdio>
#include <ctime>
#include <fstream>
#include <map>
#include <string_view>
#include <tuple>

namespace strata::runtime {

std::string quotedInJson(std::string_view text) {
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

namespace {

constexpr const char* callerName = "caller"; // stands for code that runs as no processor

/// Chrome counts in microseconds.
std::string microseconds(int64_t nanoseconds) {
  char text[40];
  std::snprintf(text, sizeof text, "%lld.%03d", static_cast<long long>(nanoseconds / 1000),
                static_cast<int>(nanoseconds % 1000));
  return text;
}

std::string processOf(const Span& span) {
  return std::string(span.process ? span.process : callerName) + (span.kind == Span::Move ? " moves" : "");
}

std::string_view categoryOf(const Span& span) {
  return span.kind == Span::Move ? "move" : span.kind == Span::Wait ? "wait" : "run";
}

/// The rows of one processor's moves: a move takes the first that is free.
class MoveRows {
public:
  size_t place(const Span& span) {
    auto row = std::find_if(ends_.begin(), ends_.end(), [&](int64_t end) { return end <= span.start; });
    if (row == ends_.end())
      row = ends_.insert(ends_.end(), 0);
    *row = span.end;
    return static_cast<size_t>(row - ends_.begin());
  }

private:
  std::vector<int64_t> ends_;
};

constexpr int64_t mostRows = 64; // rows of one instance's moves

/// `isPart`: the name is of a part of the program, and not of a processor.
std::string metadata(const char* what, int process, int64_t thread, const std::string& name, bool isPart = false) {
  return std::string("{\"ph\":\"M\",\"name\":\"") + what + "\",\"pid\":" + std::to_string(process) +
         ",\"tid\":" + std::to_string(thread) + ",\"args\":{\"name\":" + quotedInJson(name) +
         (isPart ? ",\"part\":true" : "") + "}}";
}

/// The name of an entry of one of a machine's tables; empty for strata_none.
template <typename Entry>
std::string_view nameIn(const Entry* table, uint32_t count, uint32_t number) {
  return number < count ? table[number].name : "";
}

std::string wayOf(const Span& span) {
  if (!span.machine || !span.way)
    return " -> ";
  const auto name = [&](uint32_t memory) { return nameIn(span.machine->memories, span.machine->memory_count, memory); };
  return std::string(name(span.way->from)).append(" -> ").append(name(span.way->to));
}

/// The links that a move passes through, in order: "bus, ring".
std::string linksOf(const Span& span) {
  std::string names;
  for (uint32_t i = 0; span.machine && span.way && i < span.way->link_count; ++i)
    names.append(names.empty() ? "" : ", ")
        .append(nameIn(span.machine->links, span.machine->link_count, span.way->links[i]));
  return names;
}

/// `hasRanks`: some of the spans are other processes'.
std::string eventOf(const Span& span, int process, int64_t thread, int64_t origin, bool hasRanks) {
  std::string event = "{\"ph\":\"X\",\"cat\":\"" + std::string(categoryOf(span)) +
                      "\",\"name\":" + quotedInJson(span.name) + ",\"pid\":" + std::to_string(process) +
                      ",\"tid\":" + std::to_string(thread) + ",\"ts\":" + microseconds(span.start - origin) +
                      ",\"dur\":" + microseconds(span.end - span.start);
  const std::string rank = hasRanks ? "\"process\":" + std::to_string(span.rank) : "";
  if (span.kind != Span::Move && hasRanks)
    event += ",\"args\":{" + rank + "}";
  if (span.kind == Span::Move)
    event += ",\"args\":{" + rank + (hasRanks ? "," : "") + "\"bytes\":" + std::to_string(span.bytes) +
             ",\"way\":" + quotedInJson(wayOf(span)) + ",\"links\":" + quotedInJson(linksOf(span)) +
             ",\"instance\":" + std::to_string(span.instance) + "}";
  return event + "}";
}

Span spanOf(const Execution& execution, Span::Kind kind, const char* name, int64_t begin, int64_t end) {
  const StrataMachine* machine = execution.runContext->machine();
  const bool acts = machine && execution.processor < machine->processor_count;
  return {kind,  name, acts ? machine->processors[execution.processor].name : nullptr, acts ? execution.instance : 0,
          begin, end};
}

void beginSpan(const char* name, bool waits, int64_t instances = 0) {
  Execution& me = *current();
  me.runContext->figures().tracing.store(true, std::memory_order_relaxed);
  me.spans.push_back({name, traceClock(), waits, instances});
}

void addSpan(Thread& thread, const Span& span) {
  thread.running->runContext->figures().of(thread).trace.add(span);
}

} // namespace

int64_t traceClock() {
  timespec time;
  clock_gettime(CLOCK_MONOTONIC, &time);
  return int64_t(time.tv_sec) * 1000000000 + time.tv_nsec;
}

bool isTracing(const Execution& execution) {
  const ContextFigures* figures = execution.runContext->figuresIfAny();
  return figures && figures->tracing.load(std::memory_order_relaxed);
}

void traceMove(const Role& role, const StrataWay& way, int64_t bytes, int64_t begin, int64_t end) {
  const StrataMachine* machine = role.context->machine();
  const bool acts = machine && role.processor < machine->processor_count;
  ContextFigures& figures = role.context->figures();
  figures.tracing.store(true, std::memory_order_relaxed);
  figures.shared.add({Span::Move, way.block, acts ? machine->processors[role.processor].name : nullptr,
                      acts ? role.instance : 0, begin, end, machine, &way, bytes});
}

void traceWait(const Execution& execution, const char* name, int64_t begin, int64_t end) {
  addSpan(thisThread(), spanOf(execution, Span::Wait, name, begin, end));
}

WaitedMove::WaitedMove(const StrataWay& way, int64_t bytes) : way_(way), bytes_(bytes), begin_(traceClock()) {}

WaitedMove::~WaitedMove() {
  const int64_t end = traceClock();
  const Execution& me = *current();
  traceMove(roleOf(me), way_, bytes_, begin_, end);
  traceWait(me, way_.block, begin_, end);
}

void addSpans(const std::vector<Span>& spans, const std::vector<Arrow>& arrows) {
  ContextFigures& figures = current()->runContext->figures();
  for (const Span& span : spans)
    figures.shared.add(span);
  figures.arrows.insert(figures.arrows.end(), arrows.begin(), arrows.end());
}

std::vector<Span> spansInOrder() {
  std::vector<Span> spans;
  if (ContextFigures* figures = current()->runContext->figuresIfAny()) {
    figures->forEachThread([&](ContextFigures::OfThread& own) { own.trace.copyTo(spans); });
    figures->shared.copyTo(spans);
  }
  std::sort(spans.begin(), spans.end(), [](const Span& a, const Span& b) {
    return std::make_tuple(a.start, -a.end, a.instance, std::string_view(a.name)) <
           std::make_tuple(b.start, -b.end, b.instance, std::string_view(b.name));
  });
  return spans;
}

/// What an instance of a processor does where the parts of a program run at once, distributed over a class; empty:
/// nothing that has a name.
static std::string partOf(const Span& span, const std::vector<std::string>& parts) {
  const StrataMachine* table = current()->runContext->machine();
  if (parts.empty() || !table || !span.process || span.kind == Span::Move)
    return "";
  for (uint32_t number = 0; number < table->processor_count; ++number) {
    if (std::string_view(table->processors[number].name) != span.process)
      continue;
    const auto all = machine::InstanceRange::all(table->processors[number].count);
    const int64_t each = all.partWidth(static_cast<int64_t>(parts.size())), within = span.instance % each;
    const auto part = static_cast<uint64_t>(span.instance / each);
    if (part >= parts.size())
      return "";
    return parts[part] + (within ? std::string(", ") + span.process + " " + std::to_string(within) : "");
  }
  return "";
}

/// The two ends of a message, by the numbers of the rows' processes.
static std::string arrowEvents(const Arrow& arrow, size_t number, const std::map<std::string, int>& processes,
                               int64_t origin) {
  const auto end = [&](const char* phase, const char* process, int64_t instance, int64_t time) {
    const auto row = processes.find(process ? process : callerName);
    return std::string("{\"ph\":\"") + phase + "\",\"cat\":\"message\",\"name\":" + quotedInJson(arrow.name) +
           ",\"id\":" + std::to_string(number) +
           ",\"pid\":" + std::to_string(row == processes.end() ? 0 : row->second) +
           ",\"tid\":" + std::to_string(instance) + ",\"ts\":" + microseconds(time - origin) + "}";
  };
  return end("s", arrow.from, arrow.fromInstance, arrow.begin) + ",\n" +
         end("f\",\"bp\":\"e", arrow.to, arrow.toInstance, arrow.end);
}

static std::string eventsOf(const std::vector<Span>& spans, const std::string& heading,
                            const std::vector<std::string>& parts, int& number, int64_t origin) {
  std::map<std::string, int> processes;
  for (const Span& span : spans)
    processes.emplace(processOf(span), 0);
  std::string events;
  for (auto& [name, id] : processes) {
    id = ++number;
    events += (events.empty() ? "" : ",\n") + metadata("process_name", id, 0, heading + name);
  }
  const bool hasRanks = std::any_of(spans.begin(), spans.end(), [](const Span& span) { return span.rank > 0; });
  std::map<std::pair<int, int64_t>, MoveRows> rows;
  std::map<std::pair<int, int64_t>, std::string> rowNames, partNames;
  for (const Span& span : spans) {
    const int process = processes.find(processOf(span))->second;
    int64_t thread = span.instance;
    if (const std::string part = partOf(span, parts); !part.empty())
      partNames[{process, thread}] = part;
    if (span.kind == Span::Move) {
      const int64_t row = std::min(static_cast<int64_t>(rows[{process, span.instance}].place(span)), mostRows - 1);
      thread = span.instance * mostRows + row;
      rowNames[{process, thread}] = std::string(span.process ? span.process : callerName) + " " +
                                    std::to_string(span.instance) + ", move " + std::to_string(row);
    }
    events += ",\n" + eventOf(span, process, thread, origin, hasRanks);
  }
  if (const ContextFigures* figures = current()->runContext->figuresIfAny())
    for (size_t i = 0; i < figures->arrows.size(); ++i)
      events += ",\n" + arrowEvents(figures->arrows[i], i, processes, origin);
  for (const auto& [row, name] : rowNames)
    events += ",\n" + metadata("thread_name", row.first, row.second, heading + name);
  for (const auto& [row, name] : partNames)
    events += ",\n" + metadata("thread_name", row.first, row.second, heading + name, true);
  return events;
}

static std::string documentOf(const std::string& events, std::string_view more = {}) {
  return "{\"traceEvents\":[\n" + events + "\n]," + std::string(more) + (more.empty() ? "" : ",\n") +
         "\"displayTimeUnit\":\"ns\"}\n";
}

std::string traceJson(std::string_view more) {
  const std::vector<Span> spans = spansInOrder();
  int processes = 0;
  return documentOf(eventsOf(spans, "", {}, processes, spans.empty() ? 0 : spans.front().start), more);
}

std::map<std::string, SpanTotal> spanTotals() {
  std::map<std::string, SpanTotal> totals;
  for (const Span& span : spansInOrder()) {
    if (span.kind != Span::Run)
      continue;
    SpanTotal& total = totals[span.name];
    ++total.runs;
    total.instances += span.instances;
    total.nanoseconds += span.end - span.start;
  }
  return totals;
}

void TraceOfCalls::add(const std::string& heading, const std::vector<std::string>& parts) {
  const std::vector<Span> spans = spansInOrder();
  if (spans.empty())
    return;
  const std::lock_guard guard(lock_);
  if (calls_ == 0)
    origin_ = spans.front().start;
  if (++calls_ > mostCalls || events_.size() > mostBytes)
    return;
  const std::string events = eventsOf(spans, heading, parts, processes_, origin_);
  events_ += (events_.empty() ? "" : ",\n") + events;
  ++kept_;
}

bool TraceOfCalls::write(const std::string& path) {
  const std::lock_guard guard(lock_);
  std::ofstream file(path);
  file << documentOf(events_);
  file.close();
  return bool(file);
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
  ContextFigures* figures = current()->runContext->figuresIfAny();
  if (!figures)
    return;
  figures->forEachThread([](ContextFigures::OfThread& own) { own.trace.clear(); });
  figures->shared.clear();
  figures->arrows.clear();
}

} // namespace strata::runtime

using namespace strata::runtime;

void strata_trace_begin(const char* name) {
  beginSpan(name, false);
}

void strata_trace_begin_instances(const char* name, int64_t instances) {
  beginSpan(name, false, std::max<int64_t>(instances, 0));
}

void strata_trace_wait_begin(const char* name) {
  beginSpan(name, true);
}

void strata_trace_end() {
  Thread& thread = thisThread();
  Execution& execution = *thread.running;
  if (execution.spans.empty())
    return;
  const OpenSpan open = execution.spans.back();
  execution.spans.pop_back();
  Span span = spanOf(execution, open.waits ? Span::Wait : Span::Run, open.name, open.start, traceClock());
  span.instances = open.instances;
  addSpan(thread, span);
}
