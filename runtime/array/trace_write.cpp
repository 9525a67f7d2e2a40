// Traces as they are written: events of one cycle are put in order, those of many become one record. See trace.h.
#include "runtime/array/checksum.h"
#include "runtime/array/trace.h"
#include "runtime/array/trace_structure.h"

#include <algorithm>

namespace strata::array {

using trace::Kind, trace::Structure, trace::Writer;

namespace {

constexpr size_t chunkBytes = 1 << 16;         // of an events record, where one cycle does not have more
constexpr size_t mostTogether = 4096;          // events of a cycle between which a record does not end
constexpr size_t mostPayload = UINT32_MAX / 2; // more than any configuration has

uint64_t placeOf(const TraceEvent& event, const Configuration& configuration) {
  const uint64_t units = configuration.classes.empty() ? 1 : configuration.classes.front().programs.size();
  return (uint64_t{event.row} * configuration.columns + event.column) * units + event.unit;
}

} // namespace

uint32_t classOf(const Configuration& configuration, int64_t row, int64_t column) {
  for (const ClassRegion& region : configuration.regions)
    if (region.rows.first <= row && row < region.rows.end && region.columns.first <= column &&
        column < region.columns.end)
      return region.processorClass;
  return UINT32_MAX;
}

TraceWriter::TraceWriter(Sink sink, const std::string& machine, const machine::ProcessorArray& array)
    : sink_(std::move(sink)) {
  std::string head(trace::magic, sizeof trace::magic);
  head += static_cast<char>(trace::version);
  isFine_ = sink_(head);
  std::string payload;
  Writer writer(payload);
  writer.text(machine.substr(0, mostCharacters));
  Structure(writer).array(array);
  writeRecord(static_cast<uint8_t>(Kind::Array), payload);
}

void TraceWriter::beginRun(const TracePlace& place, const Configuration& configuration) {
  configuration_ = &configuration;
  events_ = 0;
  ++runs_;
  std::string payload;
  Writer writer(payload);
  writer.number(place.row);
  writer.number(place.column);
  writer.number(place.start);
  writer.text(configuration.program.substr(0, mostCharacters));
  writer.number(configuration.rows);
  writer.number(configuration.columns);
  Structure(writer).configuration(configuration);
  writeRecord(static_cast<uint8_t>(Kind::Run), payload);
}

void TraceWriter::add(const TraceEvent& event) {
  if (!isFine_)
    return;
  if (!cycle_.empty() && cycle_.back().cycle != event.cycle)
    writeCycle();
  cycle_.push_back(event);
}

void TraceWriter::writeCycle() {
  const auto place = [&](const TraceEvent& event) { return placeOf(event, *configuration_); };
  std::ranges::sort(cycle_, {}, place);
  uint64_t before = ~uint64_t{0};
  for (size_t from = 0; from < cycle_.size() && isFine_; from += mostTogether) {
    const size_t count = std::min(mostTogether, cycle_.size() - from);
    const int64_t cycle = cycle_.front().cycle;
    if (chunkEvents_ == 0) {
      chunkFirst_ = chunkLast_ = cycle;
      before = ~uint64_t{0};
    }
    Writer writer(chunk_);
    writer.natural(static_cast<uint64_t>(cycle - chunkLast_));
    writer.natural(count);
    chunkLast_ = cycle;
    for (size_t i = from; i < from + count; ++i) {
      const TraceEvent& event = cycle_[i];
      const ProcessorClass& processorClass = configuration_->classes[classOf(*configuration_, event.row, event.column)];
      const Functional& f = processorClass.programs[event.unit][event.position].functional;
      writer.natural(place(event) - before - 1);
      before = place(event);
      writer.natural(event.position);
      for (size_t k = 0; k < f.sources.size(); ++k) {
        const auto isSame = [&](const Operand& other) { return other.source == f.sources[k].source; };
        if (f.sources[k].source.kind != Register::Kind::None &&
            std::none_of(f.sources.begin(), f.sources.begin() + static_cast<std::ptrdiff_t>(k), isSame))
          writer.natural(trace::packed(event.operands[k], operandType(f, k)));
      }
      writer.natural(f.opcode == Opcode::Move ? trace::folded(static_cast<int64_t>(event.result - event.operands[0]))
                                              : trace::packed(event.result, resultType(f)));
    }
    chunkEvents_ += count;
    events_ += count;
    if (chunk_.size() >= chunkBytes)
      writeChunk();
  }
  cycle_.clear();
}

void TraceWriter::writeChunk() {
  if (chunkEvents_ == 0)
    return;
  std::string payload;
  Writer writer(payload);
  writer.natural(static_cast<uint64_t>(chunkFirst_));
  writer.natural(static_cast<uint64_t>(chunkLast_ - chunkFirst_));
  writer.natural(chunkEvents_);
  payload += chunk_;
  writeRecord(static_cast<uint8_t>(Kind::Events), payload);
  chunk_.clear();
  chunkEvents_ = 0;
}

void TraceWriter::endRun(const SimulationStatistics& statistics) {
  writeEnd(statistics, nullptr);
}

void TraceWriter::failRun(const SimulationStatistics& statistics, const SimulationError& error) {
  writeEnd(statistics, &error);
}

void TraceWriter::writeEnd(const SimulationStatistics& statistics, const SimulationError* error) {
  writeCycle();
  writeChunk();
  std::string payload;
  Writer writer(payload);
  writer.natural(events_);
  Structure(writer).statistics(statistics);
  if (error) {
    SimulationError kept = *error;
    kept.message.resize(std::min(kept.message.size(), mostCharacters));
    Structure(writer).error(kept);
  }
  writeRecord(static_cast<uint8_t>(error ? Kind::RunFailure : Kind::RunEnd), payload);
  configuration_ = nullptr;
}

bool TraceWriter::finish() {
  std::string payload;
  Writer(payload).natural(runs_);
  writeRecord(static_cast<uint8_t>(Kind::End), payload);
  return isFine_;
}

void TraceWriter::writeRecord(uint8_t kind, const std::string& payload) {
  if (!isFine_ || payload.size() > mostPayload) {
    isFine_ = false;
    return;
  }
  std::string record(1, static_cast<char>(kind));
  const auto append = [&record](size_t value) {
    for (unsigned i = 0; i < 4; ++i)
      record += static_cast<char>(value >> (8 * i) & 0xFF);
  };
  append(payload.size());
  record += payload;
  append(checksum(record));
  isFine_ = sink_(record);
}

} // namespace strata::array
