// The command: compile as for a counted run, settle sizes, estimate, tell. See estimate.h.
#include "compiler/driver/run/estimate.h"

#include "compiler/driver/compile/part_code.h"
#include "compiler/driver/pages/timeline.h"
#include "compiler/driver/run/run.h"
#include "compiler/driver/session/output_files.h"
#include "compiler/driver/session/prepare.h"
#include "compiler/driver/session/tuned.h"
#include "compiler/ir/locations.h"
#include "runtime/core/progress.h"

#include "llvm/ADT/StringExtras.h"

#include <nlohmann/json.hpp>

namespace strata::driver {

STRATA_DIAGNOSTIC(notPlaced, Error, "estimate-not-placed",
                  "target '{0}' of machine '{1}' runs a program as it is written: there are no costs in it");
STRATA_DIAGNOSTIC(partsElsewhere, Error, "estimate-array",
                  "kernels of '{0}' run on a processor array of machine '{1}', whose cycles are counted as it runs");
STRATA_DIAGNOSTIC(assumed, Warning, "estimate-assumed", "{0}");

std::optional<Estimated> estimateProgram(Session& session, bool keepsEvents) {
  DataOptions data;
  if (!prepare(session, data))
    return std::nullopt;
  CompilerSession compilation(session);
  Compiler& compiler = compilation.compiler;
  auto program = compiler.logical();
  const std::string name = program ? compiler.entryName(*program->module) : std::string();
  if (name.empty())
    return std::nullopt;
  auto function = program->module->lookupSymbol<mlir::func::FuncOp>(name);
  const auto entry = readEntry(function, session.diagnostics);
  if (!entry)
    return std::nullopt;
  const CompileOptions& options = session.options.compile;
  if (program->target->maps(*program->module) || PartCode::isNeeded(*program)) {
    session.diagnostics.report(partsElsewhere, options.programPlace, options.program, program->machine.name)
        .help("strata run with --stats tells them");
    return std::nullopt;
  }
  if (program->target->takes() != svm::Stage::Scheduled) {
    session.diagnostics.report(notPlaced, options.machinePlace, program->target->name().str(), program->machine.name)
        .help("choose a machine with memories and processors: strata machine --list");
    return std::nullopt;
  }
  if (compiler.hasFixedSizes())
    data.sizes.clear();
  const auto shapes = settleShapes(*entry, data, session.diagnostics);
  if (!shapes || !compiler.place(*program, Instrumentation::Count) ||
      !compiler.schedule(*program, Instrumentation::Count))
    return std::nullopt;
  runtime::tellProgress("estimating " + name);
  std::vector<cost::Known> arguments;
  for (size_t position = 0; position < entry->arguments.size(); ++position)
    if (entry->arguments[position].isBlock)
      arguments.push_back(cost::Known::block(shapes->blocks[position]));
    else if (const auto scalar = shapes->scalars[position])
      arguments.push_back(cost::Known::number(*scalar));
    else
      arguments.emplace_back();
  auto estimate = cost::estimate(*program->module, program->machine, name, arguments, session.diagnostics, keepsEvents);
  runtime::clearProgress();
  if (!estimate)
    return std::nullopt;
  Estimated made{entry->name, program->machine.name, shapes->sizes, std::move(*estimate), {}, {}};
  for (const cost::Assumption& each : made.estimate.assumptions)
    made.assumptions.emplace_back(sourceLocation(session.sources, each.at), each.text);
  made.estimate.assumptions.clear();
  for (const machine::Processor& each : program->machine.processors)
    made.processors.push_back(each.name);
  return made;
}

namespace {

using Json = nlohmann::ordered_json;

std::string cyclesText(const cost::Estimate& estimate) {
  if (estimate.seconds)
    return timeText(*estimate.seconds);
  char text[32];
  snprintf(text, sizeof text, "%.0f cycles", estimate.cycles);
  return text;
}

/// "62%"
std::string shareText(double part, double whole) {
  char text[16];
  snprintf(text, sizeof text, "%.0f%%", whole > 0 ? 100 * part / whole : 0.0);
  return text;
}

void print(const Estimated& estimated) {
  const cost::Estimate& estimate = estimated.estimate;
  printf("%s on %s: %s, estimated\n", estimated.entry.c_str(), estimated.machine.c_str(), cyclesText(estimate).c_str());
  for (const cost::Estimate::Processors& each : estimate.processors) {
    const double whole = static_cast<double>(each.used) * estimate.cycles;
    printf("  %s: ", each.name.c_str());
    if (each.count > 1)
      printf("%llu of %llu, ", static_cast<unsigned long long>(each.used), static_cast<unsigned long long>(each.count));
    printf("computing %s, waiting %s, starting %s\n", shareText(each.computing, whole).c_str(),
           shareText(each.waiting, whole).c_str(), shareText(each.starting, whole).c_str());
  }
  for (const cost::Estimate::Carrier& each : estimate.carriers)
    printf("  %s: busy %s\n", each.name.c_str(),
           shareText(each.busy, static_cast<double>(each.count) * estimate.cycles).c_str());
  for (const auto& [name, count] : estimate.counters)
    printf("  %s: %lld\n", name.c_str(), static_cast<long long>(count));
  if (estimate.isSampled)
    printf("  of long loops a few iterations stand for the others\n");
}

Json jsonOf(const Estimated& estimated) {
  const cost::Estimate& estimate = estimated.estimate;
  Json json = {{"entry", estimated.entry},
               {"machine", estimated.machine},
               {"sizes", estimated.sizes},
               {"cycles", estimate.cycles}};
  if (estimate.seconds)
    json["seconds"] = *estimate.seconds;
  json["processors"] = Json::object();
  for (const cost::Estimate::Processors& each : estimate.processors)
    json["processors"][each.name] = {{"count", each.count},
                                     {"used", each.used},
                                     {"computing", each.computing},
                                     {"waiting", each.waiting},
                                     {"starting", each.starting}};
  json["carriers"] = Json::object();
  for (const cost::Estimate::Carrier& each : estimate.carriers)
    json["carriers"][each.name] = {{"count", each.count}, {"busy", each.busy}};
  json["counters"] = estimate.counters;
  json["sampled"] = estimate.isSampled;
  return json;
}

/// What happened as rows of a timeline: of each processor, and of its moves, as many as are under way at once.
Timeline timelineOf(const Estimated& estimated) {
  const cost::Estimate& estimate = estimated.estimate;
  const double microseconds = 1e6 * estimated.seconds() / std::max(estimate.cycles, 1.0);
  Timeline timeline;
  timeline.length = estimate.cycles * microseconds;
  std::map<std::string, size_t> names;
  using Event = cost::Estimate::Event;
  std::map<std::pair<uint32_t, uint64_t>, std::vector<const Event*>> byProcessor;
  std::map<uint32_t, uint64_t> instances;
  for (const Event& each : estimate.events) {
    byProcessor[{each.processor, each.instance}].push_back(&each);
    instances[each.processor] = std::max(instances[each.processor], each.instance + 1);
  }
  for (const auto& [processor, events] : byProcessor) {
    TimelineRow own;
    own.processor = own.name = estimated.processors[processor.first] +
                               (instances[processor.first] > 1 ? " " + std::to_string(processor.second) : "");
    std::vector<TimelineRow> moves;
    std::vector<double> free; // when each of these rows is
    for (const Event* each : events) {
      const bool isMove = each->kind == Event::Kind::Move, waits = each->kind == Event::Kind::Wait;
      const std::string label =
          waits ? "wait for " + (each->name.empty() ? "what goes on beside" : each->name) : each->name;
      const auto [name, isNew] = names.try_emplace(label, timeline.names.size());
      if (isNew)
        timeline.names.push_back(label);
      const TimelineSpan span{isMove  ? SpanKind::Move
                              : waits ? SpanKind::Wait
                                      : SpanKind::Run,
                              each->begin * microseconds,
                              (each->end - each->begin) * microseconds,
                              name->second,
                              0,
                              static_cast<int64_t>(each->bytes)};
      if (!isMove) {
        own.spans.push_back(span);
        continue;
      }
      size_t row = 0;
      while (row < free.size() && free[row] > each->begin)
        ++row;
      if (row == free.size()) {
        free.push_back(0);
        TimelineRow& made = moves.emplace_back();
        made.processor = own.processor;
        made.name = "moves " + std::to_string(moves.size());
        made.moves = true;
      }
      free[row] = each->end;
      moves[row].spans.push_back(span);
    }
    timeline.rows.push_back(std::move(own));
    for (TimelineRow& row : moves)
      timeline.rows.push_back(std::move(row));
  }
  for (TimelineRow& row : timeline.rows)
    std::sort(row.spans.begin(), row.spans.end(), [](const TimelineSpan& a, const TimelineSpan& b) {
      return std::tuple(a.start, -a.length, a.name) < std::tuple(b.start, -b.length, b.name);
    });
  return timeline;
}

} // namespace

void reportAssumptions(Session& session, const Estimated& estimated) {
  constexpr size_t told = 4;
  const auto& assumptions = estimated.assumptions;
  for (size_t i = 0; i < std::min(told, assumptions.size()); ++i) {
    const auto& [where, text] = assumptions[i];
    auto report = session.diagnostics.report(assumed, where, text);
    if (i == told - 1 && assumptions.size() > told)
      report.note("and " + std::to_string(assumptions.size() - told) + " more");
  }
}

int estimateCommand(Session& session) {
  if (!checkOutputFiles(session, {}))
    return finish(session);
  useTuned(session);
  const std::string& page = session.options.timeline;
  const auto estimated = estimateProgram(session, !page.empty());
  if (!estimated)
    return finish(session);
  reportAssumptions(session, *estimated);
  if (!page.empty() &&
      !writeText(session, page,
                 timelinePage(timelineOf(*estimated),
                              estimated->entry + " on " + estimated->machine + ", estimated" +
                                  (estimated->estimate.isSampled ? "; of long loops a few iterations are shown" : "") +
                                  (estimated->estimate.isCutOff
                                       ? "; only the first " + std::to_string(estimated->estimate.events.size()) +
                                             " events are shown"
                                       : ""))))
    return finish(session);
  const std::string& form = session.options.stats;
  if (form.starts_with("json"))
    writeText(session, form.starts_with("json:") ? form.substr(5) : "", jsonOf(*estimated).dump(2) + "\n");
  else
    print(*estimated);
  return finish(session);
}

} // namespace strata::driver
