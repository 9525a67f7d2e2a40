// Reads Chrome's trace format as far as --trace writes it: complete events, names of processes and threads. Events of
// other kinds are passed over.
#include "compiler/driver/pages/timeline.h"

#include "base/source/natural_order.h"
#include "compiler/driver/pages/read_json.h"

#include <algorithm>
#include <array>
#include <cmath>
#include <map>
#include <tuple>

namespace strata::driver {

STRATA_DIAGNOSTIC(cannotReadTrace, Error, "show-cannot-read", "cannot read trace '{0}': {1}");
STRATA_DIAGNOSTIC(notATrace, Error, "show-not-a-trace", "'{0}' is no trace of a run: {1}");

namespace {

using Json = nlohmann::json;
using Interval = std::pair<double, double>;

constexpr double mostMicroseconds = 1e15; // more than a lifetime
constexpr int64_t mostProcesses = 65536;  // of a run

std::string_view wordOf(const Json& object, const char* key) {
  auto found = object.find(key);
  return found != object.end() && found->is_string() ? std::string_view(found->get_ref<const std::string&>())
                                                     : std::string_view();
}

/// A number of an event; nothing where there is none, or one that no trace holds.
std::optional<double> numberOf(const Json& object, const char* key) {
  auto found = object.find(key);
  if (found == object.end() || !found->is_number())
    return std::nullopt;
  double value = found->get<double>();
  return std::abs(value) <= mostMicroseconds ? std::optional(value) : std::nullopt;
}

int64_t wholeOf(const Json& object, const char* key, int64_t otherwise) {
  return static_cast<int64_t>(numberOf(object, key).value_or(static_cast<double>(otherwise)));
}

class Reader {
public:
  std::optional<Timeline> read(const Json& json) {
    const Json* events = json.is_object() && json.contains("traceEvents") ? &json["traceEvents"] : &json;
    if (!events->is_array())
      return std::nullopt;
    for (const Json& event : *events)
      if (event.is_object() && wordOf(event, "ph") == "M")
        readName(event);
    for (const Json& event : *events)
      if (event.is_object() && wordOf(event, "ph") == "X")
        readSpan(event);
    if (rows_.empty())
      return std::nullopt;
    for (const Json& event : *events)
      if (event.is_object() && (wordOf(event, "ph") == "s" || wordOf(event, "ph") == "f"))
        readArrowEnd(event);
    if (json.is_object() && json.contains("processes"))
      readTraffic(json["processes"]);
    return finish();
  }

private:
  using ThreadId = std::pair<int64_t, int64_t>;
  /// Processors by name, their instances, then the rows of their moves.
  using Key = std::tuple<std::string, int64_t, bool, int64_t>;
  struct Before {
    bool operator()(const Key& a, const Key& b) const {
      if (std::get<0>(a) != std::get<0>(b))
        return naturalLess(std::get<0>(a), std::get<0>(b));
      return a < b;
    }
  };

  size_t nameNumber(std::string_view text) {
    if (text.empty())
      return 0;
    auto [at, isNew] = numbers_.try_emplace(std::string(text), timeline_.names.size());
    if (isNew)
      timeline_.names.emplace_back(text);
    return at->second;
  }

  /// Of a message: where and when it was sent, or came.
  struct ArrowEnd {
    std::string name; // of the processor
    int64_t instance = 0;
    double time = 0;
  };

  void readArrowEnd(const Json& event) {
    const auto time = numberOf(event, "ts");
    const auto process = processes_.find(wholeOf(event, "pid", 0));
    if (!time || process == processes_.end())
      return;
    auto& ends = arrows_[wholeOf(event, "id", -1)];
    ends[wordOf(event, "ph") == "f"] =
        ArrowEnd{process->second == "caller" ? "" : process->second, wholeOf(event, "tid", 0), *time};
  }

  /// Messages whose both ends have a row. `numbers`: of the rows.
  void addArrows(const std::map<std::pair<std::string, int64_t>, size_t>& numbers, double first) {
    for (const auto& [id, ends] : arrows_) {
      if (!ends[0] || !ends[1])
        continue;
      const auto from = numbers.find({ends[0]->name, ends[0]->instance}),
                 to = numbers.find({ends[1]->name, ends[1]->instance});
      if (from != numbers.end() && to != numbers.end())
        timeline_.arrows.push_back({from->second, to->second, ends[0]->time - first, ends[1]->time - first});
    }
  }

  void readTraffic(const Json& ways) {
    for (const Json& way : ways.is_array() ? ways : Json::array()) {
      if (!way.is_object())
        continue;
      TimelineTraffic traffic{wholeOf(way, "from", -1), wholeOf(way, "to", -1), wholeOf(way, "bytes", 0),
                              wholeOf(way, "copies", 0), wholeOf(way, "messages", 0)};
      const auto isProcess = [](int64_t number) { return number >= 0 && number < mostProcesses; };
      if (isProcess(traffic.from) && isProcess(traffic.to) && traffic.bytes >= 0)
        timeline_.traffic.push_back(traffic);
    }
  }

  void readName(const Json& event) {
    auto arguments = event.find("args");
    if (arguments == event.end() || !arguments->is_object())
      return;
    const int64_t process = wholeOf(event, "pid", 0);
    if (wordOf(event, "name") == "process_name")
      processes_[process] = wordOf(*arguments, "name");
    else if (auto part = arguments->find("part"); part != arguments->end() && part->is_boolean() && part->get<bool>())
      parts_[{process, wholeOf(event, "tid", 0)}] = wordOf(*arguments, "name");
  }

  void readSpan(const Json& event) {
    auto start = numberOf(event, "ts"), length = numberOf(event, "dur");
    if (!start || !length || *length < 0)
      return;
    TimelineSpan span;
    span.start = *start;
    span.length = *length;
    std::string label(wordOf(event, "name"));
    std::string_view category = wordOf(event, "cat");
    if (category == "state") // of a stream program's kernels, whose processors have rows
      return;
    // A move that a processor makes itself stands in the processor's own row.
    bool isMove = category == "move" || (category != "wait" && wordOf(event, "name").starts_with("move "));
    span.kind = isMove ? SpanKind::Move : category == "wait" ? SpanKind::Wait : SpanKind::Run;
    const int64_t process = wholeOf(event, "pid", 0);
    auto named = processes_.find(process);
    std::string name = named != processes_.end() ? named->second : "process " + std::to_string(process);
    const bool ownRow = name.ends_with(" moves"); // of moves, which may wait too
    if (ownRow)
      name.resize(name.size() - 6);
    const int64_t thread = wholeOf(event, "tid", 0);
    int64_t instance = thread, rank = -1;
    if (auto arguments = event.find("args"); arguments != event.end() && arguments->is_object()) {
      rank = wholeOf(*arguments, "process", -1);
      span.bytes = wholeOf(*arguments, "bytes", 0);
      span.way = nameNumber(wordOf(*arguments, "way"));
      if (const int64_t times = wholeOf(*arguments, "times", 1); times > 1) // several that are drawn as one
        label += " ×" + std::to_string(times);
      if (isMove || ownRow)
        instance = wholeOf(*arguments, "instance", thread);
    }
    span.name = nameNumber(label);
    // Code that runs as no processor comes first: it is what everything else was called by.
    const Key key{name == "caller" ? "" : name, instance, ownRow, thread};
    rows_[key].push_back(span);
    if (rank >= 0)
      ranks_[key] = rank;
    if (const auto part = parts_.find({process, thread}); part != parts_.end() && !part->second.empty())
      partNames_[key] = part->second;
  }

  Timeline finish() {
    double first = mostMicroseconds, last = -mostMicroseconds;
    for (const auto& [key, spans] : rows_)
      for (const TimelineSpan& span : spans) {
        first = std::min(first, span.start);
        last = std::max(last, span.start + span.length);
      }
    std::map<std::string, size_t> instances;
    for (const auto& [key, spans] : rows_)
      instances[std::get<0>(key)] = std::max<size_t>(instances[std::get<0>(key)], std::get<1>(key) != 0 ? 2 : 1);
    std::map<std::pair<std::string, int64_t>, size_t> numbers; // of rows, by processor
    std::string before;
    size_t move = 0;
    bool hasOwnRow = false;
    for (auto& [key, spans] : rows_) {
      const auto& [name, instance, moves, thread] = key;
      TimelineRow row;
      row.processor = name.empty() ? "caller" : name;
      if (instances[name] > 1)
        row.processor += " " + std::to_string(instance);
      if (const auto part = partNames_.find(key); part != partNames_.end()) {
        row.processor = part->second;
        row.isPart = true;
      }
      if (const auto rank = ranks_.find(key); rank != ranks_.end())
        row.processor += " (process " + std::to_string(rank->second) + ")";
      if (row.processor != before) {
        move = 0;
        hasOwnRow = !moves;
        before = row.processor;
      }
      row.moves = moves;
      // Moves without a row of their processor above them say whose they are.
      row.name = moves ? (hasOwnRow ? "" : row.processor + " ") + "moves " + std::to_string(++move) : row.processor;
      row.spans = std::move(spans);
      for (TimelineSpan& span : row.spans)
        span.start -= first;
      // An enclosing span comes before those that it encloses.
      std::sort(row.spans.begin(), row.spans.end(), [](const TimelineSpan& a, const TimelineSpan& b) {
        return std::make_tuple(a.start, -a.length, a.name) < std::make_tuple(b.start, -b.length, b.name);
      });
      if (!moves)
        numbers.try_emplace({name, instance}, timeline_.rows.size());
      timeline_.rows.push_back(std::move(row));
    }
    addArrows(numbers, first);
    timeline_.length = last - first;
    return std::move(timeline_);
  }

  Timeline timeline_;
  std::map<std::string, size_t> numbers_;
  std::map<int64_t, std::string> processes_;
  std::map<ThreadId, std::string> parts_; // of the program, which a thread of the trace stands for
  std::map<Key, std::string, Before> partNames_;
  std::map<int64_t, std::array<std::optional<ArrowEnd>, 2>> arrows_; // by number: sent, came
  std::map<Key, int64_t, Before> ranks_;                             // the processes, of several
  std::map<Key, std::vector<TimelineSpan>, Before> rows_;
};

/// Intervals sorted and joined where they meet.
std::vector<Interval> joined(std::vector<Interval> intervals) {
  std::sort(intervals.begin(), intervals.end());
  std::vector<Interval> result;
  for (const Interval& each : intervals) {
    if (!result.empty() && each.first <= result.back().second)
      result.back().second = std::max(result.back().second, each.second);
    else
      result.push_back(each);
  }
  return result;
}

double lengthOf(const std::vector<Interval>& intervals) {
  double sum = 0;
  for (const auto& [begin, end] : intervals)
    sum += end - begin;
  return sum;
}

/// How long both hold.
double common(const std::vector<Interval>& a, const std::vector<Interval>& b) {
  double sum = 0;
  for (size_t i = 0, k = 0; i < a.size() && k < b.size();) {
    sum += std::max(0.0, std::min(a[i].second, b[k].second) - std::max(a[i].first, b[k].first));
    ++(a[i].second < b[k].second ? i : k);
  }
  return sum;
}

/// What is in the first and not in the second.
std::vector<Interval> without(const std::vector<Interval>& a, const std::vector<Interval>& b) {
  std::vector<Interval> result;
  size_t k = 0;
  for (auto [begin, end] : a) {
    while (k < b.size() && b[k].second <= begin)
      ++k;
    for (size_t at = k; at < b.size() && b[at].first < end && begin < end; ++at) {
      if (b[at].first > begin)
        result.emplace_back(begin, b[at].first);
      begin = std::max(begin, b[at].second);
    }
    if (begin < end)
      result.emplace_back(begin, end);
  }
  return result;
}

} // namespace

std::optional<Timeline> readTrace(BufferId text, DiagnosticEngine& diagnostics) {
  const SourceBuffer& buffer = diagnostics.sources().buffer(text);
  JsonText json = readJson(text, diagnostics.sources());
  if (json.value) {
    if (auto timeline = Reader().read(*json.value))
      return timeline;
    json.where = Location{text, 0, 0};
    json.what = "it holds no spans";
  }
  diagnostics.report(notATrace, json.where, buffer.name(), json.what)
      .help("'strata run PROGRAM --trace FILE.json' writes one");
  return std::nullopt;
}

BufferId loadTrace(const std::string& path, DiagnosticEngine& diagnostics) {
  std::string error;
  BufferId text = diagnostics.sources().load(path, SourceKind::Data, error);
  if (!text.valid())
    diagnostics.report(cannotReadTrace, {}, path, error);
  return text;
}

std::vector<TimelineShare> sharesOf(const Timeline& timeline) {
  std::vector<TimelineShare> shares;
  const double whole = timeline.length > 0 ? timeline.length : 1;
  for (size_t first = 0; first < timeline.rows.size();) {
    TimelineShare share;
    share.processor = timeline.rows[first].processor;
    share.isPart = timeline.rows[first].isPart;
    std::vector<Interval> run, wait, move;
    std::map<std::string, double> waits; // by name
    for (; first < timeline.rows.size() && timeline.rows[first].processor == share.processor; ++first)
      for (const TimelineSpan& span : timeline.rows[first].spans) {
        Interval interval(span.start, span.start + span.length);
        (span.kind == SpanKind::Run ? run : span.kind == SpanKind::Wait ? wait : move).push_back(interval);
        if (span.kind == SpanKind::Wait)
          waits[timeline.names[span.name]] += span.length;
        share.runs += span.kind == SpanKind::Run;
        share.moves += span.kind == SpanKind::Move;
        share.bytes += span.bytes;
      }
    double longest = 0;
    for (const auto& [name, length] : waits)
      if (length > longest) {
        longest = length;
        share.waitsFor = name;
      }
    wait = joined(std::move(wait));
    run = without(joined(std::move(run)), wait);
    move = joined(std::move(move));
    share.waiting = lengthOf(wait) / whole;
    share.running = lengthOf(run) / whole;
    share.moving = lengthOf(move) / whole;
    share.hidden = common(move, run) / whole;
    shares.push_back(share);
  }
  return shares;
}

} // namespace strata::driver
