// Traces as they are read: all records are checked and noted first, what is in them is decoded when it is asked for.
// See trace.h.
#include "base/machine/validate_array.h"
#include "base/source/diagnostic.h"
#include "runtime/array/check_configuration.h"
#include "runtime/array/checksum.h"
#include "runtime/array/trace.h"
#include "runtime/array/trace_structure.h"

#include <algorithm>

namespace strata::array {

using trace::Kind, trace::Reader, trace::Structure;

namespace {

[[noreturn]] void fail(std::string message, size_t offset) {
  throw FileError{std::move(message), false, 0, 0, offset};
}

uint32_t word(std::string_view bytes, size_t offset) {
  uint32_t result = 0;
  for (unsigned i = 0; i < 4; ++i)
    result |= uint32_t{static_cast<uint8_t>(bytes[offset + i])} << (8 * i);
  return result;
}

/// Why an array is none; empty when nothing is wrong.
std::string problemOf(const machine::ProcessorArray& array) {
  uint64_t units = 0;
  for (const machine::FunctionalUnit& unit : array.units)
    units += std::min<uint64_t>(unit.count, mostTraceUnits + 1);
  if (units > mostTraceUnits)
    return "more than " + std::to_string(mostTraceUnits) + " units in an element";
  SourceManager sources;
  DiagnosticEngine diagnostics(sources);
  machine::Processor processor;
  processor.name = "array";
  machine::validateArray(processor, array, diagnostics);
  return diagnostics.all().empty() ? "" : diagnostics.all().front().message;
}

/// What events of one cycle and record have before them.
struct EventReader {
  Reader& reader;
  const Configuration& configuration;
  uint64_t units = 1, places = 1;
  int64_t cycle = 0;
  uint64_t before = ~uint64_t{0};

  TraceEvent next() {
    TraceEvent event;
    event.cycle = cycle;
    const uint64_t step = reader.natural();
    if (step >= places - (before + 1))
      reader.fail("an event of a unit that does not exist, or is out of order");
    before += step + 1;
    event.unit = static_cast<uint32_t>(before % units);
    event.row = static_cast<uint32_t>(before / units / configuration.columns);
    event.column = static_cast<uint32_t>(before / units % configuration.columns);
    const Program& program =
        configuration.classes[classOf(configuration, event.row, event.column)].programs[event.unit];
    reader.number(event.position);
    if (event.position >= program.size() || program[event.position].functional.opcode == Opcode::Nop)
      reader.fail("an event of instruction " + std::to_string(event.position) + ", which there is not");
    const Functional& f = program[event.position].functional;
    for (size_t k = 0; k < f.sources.size(); ++k) {
      const Operand& source = f.sources[k];
      const auto same = std::ranges::find(f.sources, source.source, &Operand::source);
      const auto first = static_cast<size_t>(same - f.sources.begin());
      if (source.source.kind == Register::Kind::None)
        event.operands[k] = source.immediate;
      else
        event.operands[k] = first < k ? event.operands[first] : trace::unpacked(reader.natural(), operandType(f, k));
    }
    event.result = f.opcode == Opcode::Move
                       ? event.operands[0] + static_cast<uint64_t>(trace::unfolded(reader.natural()))
                       : trace::unpacked(reader.natural(), resultType(f));
    return event;
  }
};

} // namespace

std::variant<TraceReader, FileError> TraceReader::open(std::string_view bytes) {
  try {
    TraceReader reader(bytes);
    reader.readRecords();
    return reader;
  } catch (FileError& error) {
    return std::move(error);
  }
}

void TraceReader::readRecords() {
  if (!bytes_.starts_with(std::string_view(trace::magic, sizeof trace::magic)))
    fail("it does not begin as traces do", 0);
  if (bytes_.size() < trace::headBytes)
    fail("the file ends within its head", bytes_.size());
  if (const auto found = static_cast<uint8_t>(bytes_[sizeof trace::magic]); found != trace::version)
    fail("expected version " + std::to_string(trace::version) + ", found " + std::to_string(found),
         sizeof trace::magic);
  bool hasArray = false, isOpen = false, hasEnded = false;
  uint64_t events = 0;
  for (size_t at = trace::headBytes; at < bytes_.size();) {
    if (hasEnded)
      fail("expected the end of the file, found " + std::to_string(bytes_.size() - at) + " bytes more", at);
    const size_t left = bytes_.size() - at, size = left < trace::recordBytes ? 0 : word(bytes_, at + 1);
    if (left < trace::recordBytes || left - trace::recordBytes < size)
      fail("the file ends within a record", bytes_.size());
    const size_t payload = at + 5, end = payload + size;
    if (word(bytes_, end) != checksum(bytes_.substr(at, 5 + size)))
      fail("the checksum does not fit: the file is damaged", at);
    const auto kind = static_cast<Kind>(bytes_[at]);
    Reader reader(bytes_, payload, size);
    const bool isExpected = kind == Kind::Array                      ? !hasArray
                            : kind == Kind::Run || kind == Kind::End ? hasArray && !isOpen
                            : kind == Kind::Events || kind == Kind::RunEnd || kind == Kind::RunFailure ? isOpen
                                                                                                       : false;
    if (!isExpected)
      fail("a record of kind " + std::to_string(static_cast<uint8_t>(bytes_[at])) + " is not possible here", at);
    switch (kind) {
    case Kind::Array:
      reader.text(machine_);
      Structure(reader).array(array_);
      reader.end();
      if (const std::string problem = problemOf(array_); !problem.empty())
        fail("an array that cannot be: " + problem, payload);
      hasArray = true;
      break;
    case Kind::Run: {
      TraceRun& run = runs_.emplace_back();
      reader.number(run.place.row);
      reader.number(run.place.column);
      reader.number(run.place.start);
      reader.text(run.program);
      reader.number(run.rows);
      reader.number(run.columns);
      if (uint64_t{run.place.row} + run.rows > array_.rows || uint64_t{run.place.column} + run.columns > array_.columns)
        fail("a region outside of the array", payload);
      stored_.push_back({{reader.offset(), end - reader.offset()}, chunks_.size(), 0});
      isOpen = true;
      events = 0;
      break;
    }
    case Kind::Events: {
      const uint64_t first = reader.natural(), span = reader.natural(), count = reader.natural();
      constexpr uint64_t most = uint64_t{1} << 62;
      const int64_t before = stored_.back().chunks == 0 ? 0 : chunks_.back().last;
      if (first >= most || span >= most || static_cast<int64_t>(first) < before)
        fail("cycles that are out of order", payload);
      if (count == 0 || count > size)
        fail(std::to_string(count) + " events in " + std::to_string(size) + " bytes", payload);
      chunks_.push_back({{payload, size}, static_cast<int64_t>(first), static_cast<int64_t>(first + span)});
      ++stored_.back().chunks;
      events += count;
      break;
    }
    case Kind::RunEnd:
    case Kind::RunFailure: {
      TraceRun& run = runs_.back();
      reader.number(run.events);
      Structure(reader).statistics(run.statistics);
      if (kind == Kind::RunFailure) {
        SimulationError& error = run.failure.emplace();
        Structure(reader).error(error);
        const bool isInside = error.row >= 0 && error.row < run.rows && error.column >= 0 && error.column < run.columns;
        if (!isInside && (error.row != -1 || error.column != -1))
          fail("an error in element (" + std::to_string(error.row) + ", " + std::to_string(error.column) +
                   "), which there is not",
               payload);
      }
      reader.end();
      if (run.events != events)
        fail(std::to_string(events) + " events, where " + std::to_string(run.events) + " are said to be", payload);
      isOpen = false;
      break;
    }
    case Kind::End:
      if (const uint64_t runs = reader.natural(); runs != runs_.size())
        fail(std::to_string(runs_.size()) + " runs, where " + std::to_string(runs) + " are said to be", payload);
      reader.end();
      hasEnded = true;
      break;
    }
    at = end + 4;
  }
  if (!hasEnded)
    fail("the file ends before the trace does", bytes_.size());
}

std::variant<Configuration, FileError> TraceReader::configuration(size_t run) const {
  const Part& part = stored_[run].configuration;
  try {
    Configuration result;
    result.program = runs_[run].program;
    result.rows = runs_[run].rows;
    result.columns = runs_[run].columns;
    Reader reader(bytes_, part.offset, part.size);
    Structure(reader).configuration(result);
    reader.end();
    if (result.interval > longestInterval)
      fail("an initiation interval of " + std::to_string(result.interval) + " cycles", part.offset);
    if (const std::string problem = checkConfiguration(array_, result); !problem.empty())
      fail("a configuration that cannot be: " + problem, part.offset);
    return result;
  } catch (FileError& error) {
    return std::move(error);
  }
}

std::optional<FileError> TraceReader::events(size_t run, const Configuration& configuration, int64_t first,
                                             int64_t last, const std::function<bool(const TraceEvent&)>& each) const {
  const Stored& stored = stored_[run];
  const uint64_t units = configuration.classes.empty() ? 1 : configuration.classes.front().programs.size();
  const uint64_t places = uint64_t{configuration.rows} * configuration.columns * units;
  try {
    for (size_t c = stored.firstChunk; c < stored.firstChunk + stored.chunks; ++c) {
      const Chunk& chunk = chunks_[c];
      if (chunk.last < first)
        continue;
      if (chunk.first > last)
        break;
      Reader reader(bytes_, chunk.part.offset, chunk.part.size);
      reader.natural();
      reader.natural();
      uint64_t left = reader.natural();
      EventReader events{reader, configuration, units, places, chunk.first};
      while (left != 0) {
        const uint64_t step = reader.natural(), count = reader.natural();
        if (step > static_cast<uint64_t>(chunk.last - events.cycle) || count == 0 || count > left)
          reader.fail("events that are out of order");
        events.cycle += static_cast<int64_t>(step);
        if (step != 0)
          events.before = ~uint64_t{0};
        for (uint64_t i = 0; i < count; ++i)
          if (const TraceEvent event = events.next(); event.cycle >= first && event.cycle <= last && !each(event))
            return std::nullopt;
        left -= count;
      }
      reader.end();
      if (events.cycle != chunk.last)
        reader.fail("a record that ends in another cycle than it says");
    }
  } catch (FileError& error) {
    return std::move(error);
  }
  return std::nullopt;
}

} // namespace strata::array
