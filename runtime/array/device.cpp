// Regions are rectangles and few, so that all are looked through.
#include "runtime/array/device.h"

#include "runtime/array/files.h"

#include <algorithm>
#include <functional>

namespace strata::array {

using Kind = DeviceError::Kind;

namespace {

constexpr int64_t latestClock = int64_t{1} << 62;
std::string quoted(std::string_view name) {
  return "'" + std::string(name) + "'";
}

std::string list(const std::vector<std::string>& names) {
  std::string all;
  for (size_t i = 0; i < names.size(); ++i)
    all += (i == 0 ? "" : i + 1 == names.size() ? " and " : ", ") + names[i];
  return all;
}

bool overlap(const PlacementRequest& a, const PlacementRequest& b) {
  const auto meet = [](uint64_t first, uint64_t count, uint64_t otherFirst, uint64_t otherCount) {
    return first < otherFirst + otherCount && otherFirst < first + count;
  };
  return meet(a.row, a.rows, b.row, b.rows) && meet(a.column, a.columns, b.column, b.columns);
}

uint64_t bytesOf(const ArrayLayout& layout) {
  uint64_t all = bytes(layout.type); // instantiation keeps the number of elements below 2^61
  for (const int64_t extent : layout.extents)
    all *= static_cast<uint64_t>(extent);
  return all;
}

/// Of addresses in different arrays, which have an order only so.
bool isShared(const std::byte* a, uint64_t aBytes, const std::byte* b, uint64_t bBytes) {
  const auto first = reinterpret_cast<uintptr_t>(a), other = reinterpret_cast<uintptr_t>(b);
  return aBytes != 0 && bBytes != 0 && (first <= other ? other - first < aBytes : first - other < bBytes);
}

} // namespace

std::variant<Device, DeviceError> Device::open(std::string_view machineFile) {
  SourceManager sources;
  DiagnosticEngine diagnostics(sources);
  BufferId file;
  if (machineFile.find('\n') != std::string_view::npos) {
    if (machineFile.size() > UINT32_MAX)
      return DeviceError{Kind::Machine, "the machine's text has more than 4 GiB", ""};
    file = sources.add("machine", std::string(machineFile), SourceKind::Machine);
  } else {
    std::string error;
    file = sources.load(std::string(machineFile), SourceKind::Machine, error);
    if (!file.valid())
      return DeviceError{Kind::Machine, "cannot read the machine file " + quoted(machineFile) + ": " + error, ""};
  }
  const std::optional<Machine> machine = readMachine(diagnostics, file);
  if (!machine || !strata::validate(*machine, diagnostics))
    return DeviceError{Kind::Machine, diagnostics.render({}), ""};
  for (const machine::Processor& processor : machine->processors)
    if (!processor.array.empty())
      return Device(processor.array.front(), machine->name);
  return DeviceError{Kind::Machine, "machine " + quoted(machine->name) + " has no processor array",
                     "strata machine --list names machines that come with Strata"};
}

std::optional<DeviceError> Device::advance(int64_t cycles) {
  if (cycles < 0 || cycles >= latestClock - clock_)
    return DeviceError{Kind::Argument,
                       "the clock is at " + std::to_string(clock_) + " and cannot go on by " + std::to_string(cycles) +
                           " cycles",
                       "it only goes forwards, to less than 2^62"};
  clock_ += cycles;
  return std::nullopt;
}

std::variant<Symbolic, DeviceError> Device::load(std::string_view bytes) const {
  std::variant<Symbolic, FileError> read = array::read(bytes);
  if (const auto* error = std::get_if<FileError>(&read))
    return DeviceError{Kind::Program, "this is no symbolic configuration: " + print(*error),
                       "strata map PROGRAM --machine NAME -o FILE.sym writes one"};
  auto& symbolic = std::get<Symbolic>(read);
  if (symbolic.fingerprint != fingerprint(array_))
    return DeviceError{Kind::Program,
                       "the configuration of " + quoted(symbolic.program) +
                           " was made for elements like those of machine " + quoted(symbolic.machine) +
                           ", and those of " + quoted(machine_) + " are others",
                       "map the program again, with this machine: strata map"};
  if (const std::string problem = validate(symbolic, array_); !problem.empty())
    return DeviceError{Kind::Program,
                       "the configuration of " + quoted(symbolic.program) + " does not fit the array: " + problem,
                       "map the program again: strata map"};
  return std::move(symbolic);
}

std::optional<DeviceError> Device::checkFree(const PlacementRequest& request) const {
  for (const auto& [number, other] : placed_)
    if (overlap(request, other.at.request))
      return DeviceError{Kind::Occupied,
                         "a region of " + describe(request) + " has elements in common with that of " +
                             quoted(other.at.configuration.program) + ", " + describe(other.at.request),
                         "choose a region apart from it, or release that placement first"};
  return std::nullopt;
}

std::optional<DeviceError> Device::checkController(const PlacementRequest& request) const {
  for (const auto& [number, other] : placed_)
    if (other.at.request.corner == request.corner)
      return DeviceError{Kind::Occupied,
                         "the controller in the corner " + cornerName(request.corner) + " steers " +
                             quoted(other.at.configuration.program),
                         "choose another corner, or release that placement first"};
  return std::nullopt;
}

std::variant<Device::Placement, DeviceError> Device::keep(std::variant<PlacedProgram, DeviceError> made) {
  if (auto* error = std::get_if<DeviceError>(&made))
    return std::move(*error);
  Placed placed;
  placed.at = std::get<PlacedProgram>(std::move(made));
  placed.inputs.resize(placed.at.configuration.inputs.size());
  placed.outputs.resize(placed.at.configuration.outputs.size());
  placed_.emplace(next_, std::move(placed));
  return next_++;
}

std::variant<Device::Placement, DeviceError> Device::place(const Symbolic& program, const PlacementRequest& request) {
  for (const auto& error : {checkRegion(array_, request), checkFree(request), checkController(request)})
    if (error)
      return *error;
  return keep(placeAt(program, array_, request));
}

std::variant<Device::Placement, DeviceError> Device::placeFirst(const Symbolic& program,
                                                                const PlacementRequest& request) {
  if (auto error = checkController(request))
    return *std::move(error);
  return keep(
      array::placeFirst(program, array_, request, [&](const PlacementRequest& place) { return !checkFree(place); }));
}

std::optional<uint64_t> Device::bytesOf(Placement placement, std::string_view name) const {
  const Configuration& configuration = placed_.at(placement).at.configuration;
  for (const auto* layouts : {&configuration.inputs, &configuration.outputs})
    for (const ArrayLayout& layout : *layouts)
      if (layout.name == name)
        return array::bytesOf(layout);
  return std::nullopt;
}

std::optional<DeviceError> Device::bind(Placement placement, std::string_view name, void* memory, size_t bytes) {
  Placed& placed = placed_.at(placement);
  const Configuration& configuration = placed.at.configuration;
  const std::optional<uint64_t> expected = bytesOf(placement, name);
  if (placed.started)
    return DeviceError{Kind::State, quoted(configuration.program) + " runs, and its arrays with it",
                       "wait for it first"};
  if (!expected) {
    std::vector<std::string> names;
    for (const auto* layouts : {&configuration.inputs, &configuration.outputs})
      for (const ArrayLayout& layout : *layouts)
        names.push_back(layout.name);
    return DeviceError{Kind::Argument, quoted(configuration.program) + " has no array " + quoted(name),
                       "its arrays are " + list(names)};
  }
  if (*expected != bytes)
    return DeviceError{Kind::Argument,
                       "array " + quoted(name) + " of " + quoted(configuration.program) + " has " +
                           std::to_string(*expected) + " bytes with these sizes, and not " + std::to_string(bytes),
                       ""};
  if (!memory && bytes != 0)
    return DeviceError{Kind::Argument, "array " + quoted(name) + " is given no memory: a null pointer", ""};
  const auto set = [&](const std::vector<ArrayLayout>& layouts, std::vector<Memory>& memories) {
    for (size_t i = 0; i < layouts.size(); ++i)
      if (layouts[i].name == name)
        memories[i] = {static_cast<std::byte*>(memory), bytes, true};
  };
  set(configuration.inputs, placed.inputs);
  set(configuration.outputs, placed.outputs);
  return std::nullopt;
}

/// What is written is nobody else's.
std::optional<DeviceError> Device::checkShared(const Placed& placed) const {
  const auto check = [](const Placed& writer, const Placed& other, bool isSame) -> std::optional<DeviceError> {
    for (size_t i = 0; i < writer.outputs.size(); ++i) {
      const Memory& written = writer.outputs[i];
      const auto conflict = [&](const std::string& name, const Memory& memory) -> std::optional<DeviceError> {
        if (!isShared(written.first, written.bytes, memory.first, memory.bytes))
          return std::nullopt;
        return DeviceError{Kind::Argument,
                           "output " + quoted(writer.at.configuration.outputs[i].name) + " of " +
                               quoted(writer.at.configuration.program) + " shares memory with " + quoted(name) +
                               " of " + quoted(other.at.configuration.program),
                           "give each memory of its own, or wait for one program before the other is started"};
      };
      for (size_t j = 0; j < other.inputs.size(); ++j)
        if (auto error = conflict(other.at.configuration.inputs[j].name, other.inputs[j]))
          return error;
      for (size_t j = isSame ? i + 1 : 0; j < other.outputs.size(); ++j)
        if (auto error = conflict(other.at.configuration.outputs[j].name, other.outputs[j]))
          return error;
    }
    return std::nullopt;
  };
  if (auto error = check(placed, placed, true))
    return error;
  for (const auto& [number, other] : placed_)
    if (other.started) {
      if (auto error = check(placed, other, false))
        return error;
      if (auto error = check(other, placed, false))
        return error;
    }
  return std::nullopt;
}

std::optional<DeviceError> Device::start(Placement placement) {
  Placed& placed = placed_.at(placement);
  const Configuration& configuration = placed.at.configuration;
  if (placed.started)
    return DeviceError{Kind::State, quoted(configuration.program) + " runs already", "wait for it first"};
  std::vector<std::string> missing;
  for (size_t i = 0; i < placed.inputs.size(); ++i)
    if (!placed.inputs[i].isBound)
      missing.push_back(quoted(configuration.inputs[i].name));
  for (size_t i = 0; i < placed.outputs.size(); ++i)
    if (!placed.outputs[i].isBound)
      missing.push_back(quoted(configuration.outputs[i].name));
  if (!missing.empty())
    return DeviceError{Kind::State, quoted(configuration.program) + " has no memory for " + list(missing),
                       "bind every array before the start"};
  if (auto error = checkShared(placed))
    return error;
  placed.started = clock_;
  return std::nullopt;
}

std::variant<int64_t, DeviceError> Device::wait(Placement placement) {
  Placed& placed = placed_.at(placement);
  if (!placed.started)
    return DeviceError{Kind::State, quoted(placed.at.configuration.program) + " has not been started",
                       "start it first"};
  std::vector<const std::byte*> inputs;
  std::vector<std::byte*> outputs;
  for (const Memory& memory : placed.inputs)
    inputs.push_back(memory.first);
  for (const Memory& memory : placed.outputs)
    outputs.push_back(memory.first);
  const int64_t start = *placed.started;
  placed.started.reset();
  const auto error = simulate(placed.at.seen, placed.at.configuration, inputs, outputs, {}, placed.statistics);
  const int64_t duration = error ? error->cycle : placed.statistics.cycles;
  const int64_t end = start + std::clamp<int64_t>(duration, 0, latestClock - 1 - start);
  clock_ = std::max(clock_, end);
  if (error)
    return DeviceError{error->isMemory  ? Kind::Memory
                       : error->isUsers ? Kind::Value
                                        : Kind::Internal,
                       quoted(placed.at.configuration.program) + ": " + error->message, ""};
  return placed.statistics.cycles;
}

} // namespace strata::array
