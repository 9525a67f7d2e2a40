// Reads the graph of a record. What is missing counts as nothing; what contradicts itself is refused.
#include "compiler/driver/pages/stream_record.h"

#include "compiler/driver/pages/read_json.h"

#include <cmath>

namespace strata::driver {

STRATA_DIAGNOSTIC(notARecord, Error, "show-not-a-record", "'{0}' is no record of a stream program: {1}");

namespace {

using Json = nlohmann::json;

/// What is wrong, thrown to the one place that reports.
struct Wrong {
  std::string what;
};

const Json& listOf(const Json& object, const char* key) {
  static const Json none = Json::array();
  const auto found = object.find(key);
  if (found == object.end())
    return none;
  if (!found->is_array())
    throw Wrong{"'" + std::string(key) + "' is no list"};
  return *found;
}

std::string textOf(const Json& object, const char* key) {
  const auto found = object.find(key);
  return found != object.end() && found->is_string() ? found->get<std::string>() : "";
}

bool isTrue(const Json& object, const char* key) {
  const auto found = object.find(key);
  return found != object.end() && found->is_boolean() && found->get<bool>();
}

uint64_t countOf(const Json& object, const char* key) {
  const auto found = object.find(key);
  if (found == object.end())
    return 0;
  if (!found->is_number_unsigned())
    throw Wrong{"'" + std::string(key) + "' is no count"};
  return found->get<uint64_t>();
}

/// Nanoseconds as seconds.
double secondsOf(const Json& object, const char* key) {
  return static_cast<double>(countOf(object, key)) * 1e-9;
}

int64_t addressOf(const Json& object) {
  const auto found = object.find("address");
  return found != object.end() && found->is_number_integer() ? found->get<int64_t>() : 0;
}

size_t kernelOf(const Json& number, size_t kernels) {
  if (!number.is_number_unsigned() || number.get<uint64_t>() >= kernels)
    throw Wrong{"it names a kernel that it does not list"};
  return number.get<size_t>();
}

StreamFacts readStream(const Json& json, size_t kernels) {
  StreamFacts stream{textOf(json, "name"),           textOf(json, "memory"),   textOf(json, "place"),
                     isTrue(json, "fifo"),           addressOf(json),          countOf(json, "capacity"),
                     countOf(json, "element_bytes"), countOf(json, "initial"), countOf(json, "pushed"),
                     countOf(json, "popped"),        countOf(json, "inside"),  {}};
  for (const Json& each : listOf(json, "uses")) {
    StreamUse use;
    const auto kernel = each.is_object() ? each.find("kernel") : each.end();
    if (!each.is_object() || kernel == each.end())
      throw Wrong{"the uses of stream '" + stream.name + "' are incomplete"};
    if (*kernel != -1)
      use.kernel = kernelOf(*kernel, kernels);
    use.pushes = isTrue(each, "pushes");
    use.elements = countOf(each, "elements");
    use.stalls = countOf(each, "stalls");
    use.stalled = secondsOf(each, "stalled");
    use.stallsNow = isTrue(each, "stalls_now");
    stream.uses.push_back(use);
  }
  return stream;
}

BlockFacts readBlock(const Json& json, size_t kernels) {
  BlockFacts block{textOf(json, "name"),
                   textOf(json, "memory"),
                   textOf(json, "place"),
                   addressOf(json),
                   countOf(json, "capacity"),
                   countOf(json, "element_bytes"),
                   {}};
  for (const Json& user : listOf(json, "users")) {
    const auto kernel = user.is_object() ? user.find("kernel") : user.end();
    if (!user.is_object() || kernel == user.end())
      throw Wrong{"the users of block '" + block.name + "' are incomplete"};
    block.users.emplace_back(kernelOf(*kernel, kernels), isTrue(user, "writes"));
  }
  return block;
}

StreamsRecord readGraph(const Json& json) {
  StreamsRecord record;
  if (countOf(json, "version") != 1)
    throw Wrong{"it was written by another version of Strata"};
  record.program = textOf(json, "program");
  record.machine = textOf(json, "machine");
  record.failure = textOf(json, "failure");
  record.ended = isTrue(json, "ended");
  record.seconds = secondsOf(json, "nanoseconds");
  const auto objects = [&](const char* key, auto read) {
    for (const Json& each : listOf(json, key)) {
      if (!each.is_object())
        throw Wrong{"the list '" + std::string(key) + "' holds something else than objects"};
      read(each);
    }
  };
  objects("kernels", [&](const Json& each) {
    record.kernels.push_back({textOf(each, "name"), textOf(each, "processor"), textOf(each, "kind"),
                              textOf(each, "place"), textOf(each, "status"), countOf(each, "runs"),
                              secondsOf(each, "waiting"), secondsOf(each, "running"), secondsOf(each, "paused")});
  });
  const size_t kernels = record.kernels.size();
  objects("streams", [&](const Json& each) { record.streams.push_back(readStream(each, kernels)); });
  objects("blocks", [&](const Json& each) { record.blocks.push_back(readBlock(each, kernels)); });
  for (const Json& each : listOf(json, "dependences")) {
    if (!each.is_array() || each.size() != 2)
      throw Wrong{"a dependence does not name two kernels"};
    record.dependences.emplace_back(kernelOf(each[0], kernels), kernelOf(each[1], kernels));
  }
  return record;
}

} // namespace

bool isStreamsRecord(std::string_view text) {
  // The graph comes first, so that a trace of some hundred megabytes is not read for it.
  const size_t begin = text.find_first_not_of(" \t\r\n");
  const size_t key =
      begin == text.npos || text[begin] != '{' ? text.npos : text.find_first_not_of(" \t\r\n", begin + 1);
  return key != text.npos && text.substr(key).starts_with("\"streams\"");
}

std::optional<StreamsRecord> readStreamsRecord(BufferId text, DiagnosticEngine& diagnostics) {
  const SourceBuffer& buffer = diagnostics.sources().buffer(text);
  JsonText json = readJson(text, diagnostics.sources());
  Location where = json.where;
  std::string what = std::move(json.what);
  if (json.value) {
    where = Location{text, 0, 0};
    try {
      if (const auto graph = json.value->find("streams"); graph != json.value->end() && graph->is_object())
        return readGraph(*graph);
      what = "'streams' is no object";
    } catch (const Wrong& wrong) {
      what = wrong.what;
    }
  }
  diagnostics.report(notARecord, where, buffer.name(), what)
      .help("a program of streams writes one when STRATA_RECORD names the file");
  return std::nullopt;
}

} // namespace strata::driver
