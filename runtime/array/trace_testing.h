// For tests of damaged traces: all that is asked of any bytes, and records whose checksums fit again.
#pragma once

#include "runtime/array/checksum.h"
#include "runtime/array/simulate_test_support.h"
#include "runtime/array/trace.h"
#include "runtime/array/trace_structure.h"

#include <string>

namespace strata::array::test {

/// A trace of two runs of the running example, and one that fails.
inline std::string traceSample() {
  std::string bytes;
  const machine::ProcessorArray array = bitsArray();
  const Configuration configuration = bits();
  TraceWriter writer([&](std::string_view piece) { return bytes.append(piece), true; }, "three", array);
  for (const uint32_t in : {0xB5C3u, 0xFFu}) {
    std::vector<int32_t> out(16, -1);
    const std::byte* const inputs[] = {reinterpret_cast<const std::byte*>(&in)};
    std::byte* const outputs[] = {reinterpret_cast<std::byte*>(out.data())};
    writer.beginRun({}, configuration);
    SimulationStatistics statistics;
    static_cast<void>(simulate(array, configuration, inputs, outputs,
                               {[&](const TraceEvent& event) { writer.add(event); }}, statistics));
    writer.endRun(statistics);
  }
  writer.beginRun({}, configuration);
  writer.failRun({}, {"cycle 3, element (0, 1): why", true, 3, false, 0, 1});
  writer.finish();
  return bytes;
}

/// The checksum of every record that is complete is made to fit.
inline std::string withChecksums(std::string bytes) {
  for (size_t at = trace::headBytes; at + trace::recordBytes <= bytes.size();) {
    size_t size = 0;
    for (unsigned i = 0; i < 4; ++i)
      size |= size_t{static_cast<uint8_t>(bytes[at + 1 + i])} << (8 * i);
    if (size > bytes.size() - at - trace::recordBytes)
      break;
    const uint32_t sum = checksum(std::string_view(bytes).substr(at, 5 + size));
    for (unsigned i = 0; i < 4; ++i)
      bytes[at + 5 + size + i] = static_cast<char>(sum >> (8 * i) & 0xFF);
    at += trace::recordBytes + size;
  }
  return bytes;
}

/// What was wrong with any bytes as a trace, all of which is read and printed; empty when nothing was. `events` counts.
inline std::string readAll(const std::string& bytes, size_t& events) {
  auto opened = TraceReader::open(bytes);
  if (const auto* error = std::get_if<FileError>(&opened))
    return print(*error);
  const auto& reader = std::get<TraceReader>(opened);
  for (size_t run = 0; run < reader.runs().size(); ++run) {
    const auto read = reader.configuration(run);
    if (const auto* error = std::get_if<FileError>(&read))
      return print(*error);
    const auto& configuration = std::get<Configuration>(read);
    const TraceText text(reader.array(), configuration);
    const auto error = reader.events(run, configuration, 0, INT64_MAX, [&](const TraceEvent& event) {
      ++events;
      return !text(event).empty();
    });
    if (error)
      return print(*error);
  }
  return "";
}

} // namespace strata::array::test
