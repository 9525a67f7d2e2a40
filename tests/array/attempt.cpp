// See attempt.h. Inputs and outputs are kept as bytes, as the simulator has them, and read by their types for the
// interpreter.
#include "tests/array/attempt.h"

#include "compiler/equations/interpret.h"
#include "compiler/equations/reduce.h"
#include "compiler/equations/uniform.h"
#include "compiler/equations/verify.h"
#include "compiler/pla/check/check.h"
#include "compiler/target/array/select.h"
#include "compiler/target/array/verify_symbolic.h"
#include "runtime/array/files.h"
#include "runtime/array/verify_tiling.h"
#include "tests/array/oracle.h"

#include <cstring>
#include <random>

namespace strata::array {

namespace {

int64_t valueOf(const equations::Affine& value, const std::vector<int64_t>& sizes) {
  int64_t sum = value.constant;
  for (size_t i = 0; i < value.parameters.size(); ++i)
    sum += value.parameters[i] * sizes[i];
  return sum;
}

struct Data {
  Type type = Type::Int32;
  std::vector<int64_t> extents;
  std::vector<std::byte> bytes_;

  Data(const equations::Array& array, const std::vector<int64_t>& sizes) : type(typeOf(array.type)) {
    size_t count = 1;
    for (const equations::Affine& each : array.extents) {
      extents.push_back(valueOf(each, sizes));
      count *= static_cast<size_t>(std::max<int64_t>(extents.back(), 0));
    }
    bytes_.resize(count * bytes(type));
  }
  size_t place(const std::vector<int64_t>& index) const {
    size_t at = 0;
    for (size_t i = 0; i < index.size(); ++i)
      at = at * static_cast<size_t>(extents[i]) + static_cast<size_t>(index[i]);
    return at * bytes(type);
  }
  template <typename T>
  T get(size_t at) const {
    T value;
    std::memcpy(&value, bytes_.data() + at, sizeof value);
    return value;
  }
  template <typename T>
  void put(size_t at, T value) {
    std::memcpy(bytes_.data() + at, &value, sizeof value);
  }
  equations::Value read(const std::vector<int64_t>& index) const {
    const size_t at = place(index);
    switch (type) {
    case Type::Bool:
    case Type::Uint8:
      return {get<uint8_t>(at), 0};
    case Type::Int8:
      return {get<int8_t>(at), 0};
    case Type::Int16:
      return {get<int16_t>(at), 0};
    case Type::Int32:
      return {get<int32_t>(at), 0};
    case Type::Int64:
      return {get<int64_t>(at), 0};
    case Type::Uint16:
      return {get<uint16_t>(at), 0};
    case Type::Uint32:
      return {get<uint32_t>(at), 0};
    case Type::Uint64:
      return {static_cast<int64_t>(get<uint64_t>(at)), 0};
    case Type::Float32:
      return {0, get<float>(at)};
    case Type::Float64:
      return {0, get<double>(at)};
    }
    return {};
  }
  void write(const std::vector<int64_t>& index, const equations::Value& value) {
    const size_t at = place(index);
    if (type == Type::Float32)
      put(at, static_cast<float>(value.real));
    else if (type == Type::Float64)
      put(at, value.real);
    else
      std::memcpy(bytes_.data() + at, &value.integer, bytes(type)); // little-endian
  }
};

} // namespace

std::optional<equations::Graph> graphOf(const std::string& text, const std::string& name, std::string& messages) {
  SourceManager sources;
  DiagnosticEngine engine(sources);
  const BufferId file = sources.add(name, text, SourceKind::Program);
  std::optional<equations::Graph> graph;
  std::optional<equations::System> system = pla::readSystem(file, "test", engine);
  if (system)
    system = equations::withoutReductions(*system, engine);
  if (system && equations::verify(*system, engine))
    graph = equations::uniform(*system, engine);
  if (graph && !equations::verify(*graph, engine))
    graph.reset();
  messages = engine.render({});
  return graph;
}

bool areAllowed(const equations::Graph& graph, const std::vector<int64_t>& sizes) {
  for (const equations::Constraint& each : graph.context) {
    const int64_t value = valueOf(each.value, sizes);
    const int64_t rest = each.modulus == 0 ? 0 : ((value % each.modulus) + each.modulus) % each.modulus;
    using enum equations::Constraint::Kind;
    if (each.kind == NotNegative ? value < 0 : each.kind == Zero ? value != 0 : (rest == 0) != (each.kind == Divisible))
      return false;
  }
  for (const std::vector<equations::Array>* arrays : {&graph.inputs, &graph.outputs})
    for (const equations::Array& array : *arrays) {
      int64_t count = 1;
      for (const equations::Affine& each : array.extents)
        count *= valueOf(each, sizes);
      if (count < 0 || count > 1 << 20)
        return false;
    }
  return true;
}

namespace {

void end(Attempt& attempt, Attempt::End how, std::string message) {
  attempt.end = how;
  attempt.message = std::move(message);
}

} // namespace

Attempt mapped(const equations::Graph& graph, const machine::ProcessorArray& array, const MapOptions& mapping) {
  Attempt result;
  SourceManager sources;
  DiagnosticEngine engine(sources);
  MapOptions compared = mapping;
  compared.isCompared = true;
  engine.enableRemarks(true);
  result.symbolic = map(graph, "test", array, compared, engine);
  using enum Attempt::End;
  if (!result.symbolic) {
    const auto isOurs = [](const Diagnostic& each) { return std::string_view(each.kind->code).ends_with("-internal"); };
    const bool isRefused = engine.hasErrors() && std::ranges::none_of(engine.all(), isOurs);
    end(result, isRefused ? Refused : Wrong, engine.hasErrors() ? engine.render({}) : "no mapping, no error");
    return result;
  }
  if (const std::string broken = validate(*result.symbolic, array); !broken.empty()) {
    end(result, Wrong, "the symbolic configuration is not valid: " + broken);
    return result;
  }
  result.isCompared = std::ranges::none_of(
      engine.all(), [](const Diagnostic& each) { return std::string_view(each.kind->code) == "array-not-compared"; });
  const Verdict verdict = verify(*result.symbolic, array);
  result.isVerified = verdict.isDecided;
  if (!verdict.broken.empty()) {
    end(result, Wrong, "the symbolic configuration is broken: " + verdict.broken);
    return result;
  }
  for (const std::string& file : {writeText(*result.symbolic), writeBinary(*result.symbolic)}) {
    const auto back = read(file);
    if (const FileError* error = std::get_if<FileError>(&back))
      end(result, Wrong, "a file that was written is not read: " + print(*error));
    else if (!(std::get<Symbolic>(back) == *result.symbolic))
      end(result, Wrong, "a file that was written is read as something else");
  }
  return result;
}

namespace {

/// What is wrong with the tiles and starts that a configuration was made with.
std::string brokenTiles(const Symbolic& symbolic, const machine::ProcessorArray& array,
                        const InstantiationOptions& options, const Configuration& configuration) {
  const std::variant<Tiling, InstantiationError> made = makeTiling(symbolic, array, options);
  const Tiling* tiling = std::get_if<Tiling>(&made);
  if (!tiling)
    return "there are none";
  if (tiling->isEmpty())
    return "";
  if (std::string broken = verify(symbolic, options, *tiling); !broken.empty())
    return broken;
  return verify(symbolic, array, *tiling, options.corner,
                {configuration.firstStart, configuration.rowStart, configuration.columnStart});
}

} // namespace

void execute(Attempt& result, const equations::Graph& graph, const machine::ProcessorArray& array,
             const InstantiationOptions& instantiation, uint64_t seed, bool withOracle) {
  using enum Attempt::End;
  end(result, Right, "");
  std::variant<Configuration, InstantiationError> made = instantiate(*result.symbolic, array, instantiation);
  if (const InstantiationError* error = std::get_if<InstantiationError>(&made))
    return end(result, error->isMistake ? Wrong : Refused, error->message + " (" + error->help + ")");
  result.configuration = std::get<Configuration>(std::move(made));
  if (const std::string broken = brokenTiles(*result.symbolic, array, instantiation, *result.configuration);
      !broken.empty())
    return end(result, Wrong, "tiles or starts are broken: " + broken);
  if (withOracle)
    if (const std::string differs =
            oracle::compare(*result.symbolic, array, instantiation, *result.configuration) +
            oracle::comparePeriphery(*result.symbolic, array, instantiation, *result.configuration);
        !differs.empty())
      return end(result, Wrong, "the second implementation of instantiation differs: " + differs);
  simulated(result, graph, array, instantiation.sizes, seed);
}

void simulated(Attempt& result, const equations::Graph& graph, const machine::ProcessorArray& array,
               const std::vector<int64_t>& sizes, uint64_t seed) {
  using enum Attempt::End;
  end(result, Right, "");
  std::mt19937_64 random(seed);
  std::vector<Data> inputs, outputs, wanted;
  for (const equations::Array& each : graph.inputs) {
    Data& data = inputs.emplace_back(each, sizes);
    for (size_t at = 0; at < data.bytes_.size(); at += bytes(data.type)) {
      const auto number = static_cast<int64_t>(random() % 201) - 100;
      if (data.type == Type::Float32)
        data.put(at, static_cast<float>(number) / 8 + 0.1f);
      else if (data.type == Type::Float64)
        data.put(at, static_cast<double>(number) / 8 + 0.1);
      else if (data.type == Type::Bool)
        data.put(at, static_cast<uint8_t>(number & 1));
      else
        std::memcpy(data.bytes_.data() + at, &number, bytes(data.type));
    }
  }
  for (const equations::Array& each : graph.outputs) {
    outputs.emplace_back(each, sizes);
    wanted.emplace_back(each, sizes);
  }
  const auto failure = equations::interpret(
      graph, sizes, [&](uint32_t number, const std::vector<int64_t>& index) { return inputs[number].read(index); },
      [&](uint32_t number, const std::vector<int64_t>& index, const equations::Value& value) {
        wanted[number].write(index, value);
      });
  std::vector<const std::byte*> from;
  std::vector<std::byte*> to;
  for (const Data& each : inputs)
    from.push_back(each.bytes_.data());
  for (Data& each : outputs)
    to.push_back(each.bytes_.data());
  // In both orders of the simulator.
  SimulationOptions inStep;
  inStep.isInStep = true;
  SimulationStatistics statistics;
  const std::optional<SimulationError> first = simulate(array, *result.configuration, from, to, inStep, statistics);
  const std::vector<Data> before = outputs;
  for (Data& each : outputs)
    std::ranges::fill(each.bytes_, std::byte{0});
  const std::optional<SimulationError> error = simulate(array, *result.configuration, from, to, {}, result.statistics);
  if (first != error || (!error && statistics != result.statistics))
    return end(result, Wrong, "the simulator's two orders differ");
  for (size_t i = 0; i < outputs.size() && !error; ++i)
    if (outputs[i].bytes_ != before[i].bytes_)
      return end(result, Wrong, "the simulator's two orders differ in '" + graph.outputs[i].name + "'");
  if (failure) {
    if (!error || !error->isUsers)
      end(result, Wrong, "no error where the interpreter says: " + failure->message);
    return;
  }
  if (error)
    return end(result, Wrong, "simulation: " + error->message);
  for (size_t i = 0; i < outputs.size(); ++i)
    if (outputs[i].bytes_ != wanted[i].bytes_) {
      size_t at = 0;
      while (outputs[i].bytes_[at] == wanted[i].bytes_[at])
        ++at;
      return end(result, Wrong,
                 "output '" + graph.outputs[i].name + "' differs at element " +
                     std::to_string(at / bytes(outputs[i].type)));
    }
}

} // namespace strata::array
