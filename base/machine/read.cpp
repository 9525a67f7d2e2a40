// Reads a machine description: the tree of YAML nodes becomes the model, with every name resolved to an id. Names are
// collected before anything else, so that the parts may stand in any order.
#include "base/machine/read_array.h"

#include <algorithm>

namespace strata {

using namespace machine;

namespace {

class MachineReader {
public:
  MachineReader(DiagnosticEngine& diagnostics, const YamlNode& root) : diagnostics_(diagnostics), root_(root) {}

  Machine read() {
    Fields fields(diagnostics_, root_, "a machine description");
    fields.need("machine");
    fields.text("machine", machine_.name);
    fields.text("about", machine_.about);
    fields.clock("clock", machine_.clock);
    fields.text("target", machine_.target);
    machine_.origin = fields.origin();
    if (const YamlNode* name = fields.get("machine"))
      machine_.origin.location = name->location;
    const auto* memories = named(fields, "memories", memoryNames_);
    const auto* processors = named(fields, "processors", processorNames_);
    const auto* fifos = named(fields, "fifos", fifoNames_);
    const auto* links = named(fields, "links", linkNames_);
    each(memories, [&](const YamlNode& node) { machine_.memories.push_back(readMemory(node)); });
    each(processors, [&](const YamlNode& node) { machine_.processors.push_back(readProcessor(node)); });
    each(fifos, [&](const YamlNode& node) { machine_.fifos.push_back(readFifo(node)); });
    each(links, [&](const YamlNode& node) { machine_.links.push_back(readLink(node)); });
    each(fields.list("levels"), [&](const YamlNode& node) { readLevel(node); });
    return std::move(machine_);
  }

private:
  template <typename Function>
  static void each(const std::vector<YamlNode>* list, Function function) {
    if (list)
      for (const YamlNode& node : *list)
        function(node);
  }

  /// Takes a list whose entries have names, which are noted by their index; an entry without one has an empty name.
  static const std::vector<YamlNode>* named(Fields& fields, const char* list, std::vector<std::string>& names) {
    const std::vector<YamlNode>* items = fields.list(list);
    each(items, [&](const YamlNode& item) {
      names.emplace_back();
      for (size_t i = 0; i < item.keys.size(); ++i)
        if (item.keys[i].text == "name")
          names.back() = item.items[i].text;
    });
    // The names may stand in a list that is called otherwise, which is reported.
    static const std::vector<std::string> known{"machine",    "about", "clock", "target", "memories",
                                                "processors", "fifos", "links", "levels"};
    for (const YamlNode& key : fields.node().keys)
      if (!items && std::find(known.begin(), known.end(), key.text) == known.end())
        names = {""};
    return items;
  }

  template <typename Tag>
  void references(Fields& fields, const char* field, const char* what, const std::vector<std::string>& names,
                  std::vector<Id<Tag>>& ids) {
    for (const YamlNode* word : fields.words(field))
      if (const auto index = resolveName(diagnostics_, *word, what, names))
        ids.push_back({*index});
  }

  template <typename Tag>
  void reference(Fields& fields, const char* field, const char* what, const std::vector<std::string>& names,
                 Id<Tag>& id) {
    const YamlNode* node = fields.get(field);
    if (!node)
      return;
    if (node->kind != YamlNode::Kind::Scalar)
      fields.wrong(*node, field, std::string("the name of a ") + what);
    else if (const auto index = resolveName(diagnostics_, *node, what, names))
      id = {*index};
  }

  Memory readMemory(const YamlNode& node) {
    Memory memory;
    Fields fields(diagnostics_, node, "a memory");
    fields.need("name");
    fields.text("name", memory.name);
    fields.capacity("capacity", memory.capacity);
    fields.count("count", memory.count);
    fields.size("width", memory.width);
    fields.size("alignment", memory.alignment);
    fields.size("unit", memory.unit);
    fields.count("latency", memory.latency);
    fields.bandwidth("bandwidth", memory.bandwidth);
    fields.flag("explicit", memory.explicitly);
    fields.flag("files", memory.files);
    fields.size("line", memory.line);
    fields.size("page", memory.page);
    fields.size("large_page", memory.largePage);
    reference(fields, "over", "memory", memoryNames_, memory.over);
    memory.origin = fields.origin();
    return memory;
  }

  Processor readProcessor(const YamlNode& node) {
    Processor processor;
    Fields fields(diagnostics_, node, "a processor");
    fields.need("name");
    fields.text("name", processor.name);
    size_t kind = static_cast<size_t>(processor.kind);
    fields.need("kind");
    fields.word("kind", processorKindNames(), kind);
    processor.kind = static_cast<ProcessorKind>(kind);
    readGrid(fields, processor);
    fields.clock("clock", processor.clock);
    fields.text("target", processor.target);
    readCosts(fields, processor.costs);
    references(fields, "masters", "processor", processorNames_, processor.masters);
    readKernels(fields, processor);
    fields.count("moves", processor.moves);
    fields.flag("process", processor.isProcess);
    fields.size("vector", processor.vector);
    fields.count("vector_registers", processor.vectorRegisters);
    fields.count("vector_latency", processor.vectorLatency);
    fields.count("operations", processor.operations);
    fields.count("stores", processor.stores);
    fields.count("memory_latency", processor.memoryLatency);
    references(fields, "local", "memory", memoryNames_, processor.local);
    if (const YamlNode* array = fields.get("array"))
      processor.array.push_back(readArray(diagnostics_, *array));
    processor.origin = fields.origin();
    return processor;
  }

  void readGrid(Fields& fields, Processor& processor) {
    for (const YamlNode* word : fields.words("grid")) {
      if (const auto extent = parseCount(word->text))
        processor.grid.push_back(*extent);
      else
        fields.wrong(*word, "grid", "extents such as [4, 4]");
    }
    // The grid says how many there are, unless the count is written as well (then validate compares them).
    for (size_t i = 0; i < processor.grid.size(); ++i)
      if (__builtin_mul_overflow(processor.count, processor.grid[i], &processor.count))
        processor.count = ~uint64_t(0);
    fields.count("count", processor.count);
  }

  void readCosts(Fields& fields, std::map<std::string, uint64_t>& costs) {
    const YamlNode* node = fields.get("costs");
    if (!node)
      return;
    if (node->kind != YamlNode::Kind::Mapping)
      return fields.wrong(*node, "costs", "cycles for each operation, as in 'add: 1'");
    for (size_t i = 0; i < node->keys.size(); ++i) {
      if (const auto cycles = parseCount(node->items[i].text))
        costs[node->keys[i].text] = *cycles;
      else
        fields.wrong(node->items[i], node->keys[i].text, "a number of cycles");
    }
  }

  void readKernels(Fields& fields, Processor& processor) {
    processor.userKernels = processor.kind != ProcessorKind::Dma && processor.kind != ProcessorKind::Io;
    if (!fields.get("kernels")) {
      if (processor.kind == ProcessorKind::Dma)
        processor.kernels = {"move", "scatter", "gather"};
      return;
    }
    processor.userKernels = false;
    for (const YamlNode* word : fields.words("kernels")) {
      if (word->text == "user")
        processor.userKernels = true;
      else
        processor.kernels.push_back(word->text);
    }
  }

  Fifo readFifo(const YamlNode& node) {
    Fifo fifo;
    Fields fields(diagnostics_, node, "a FIFO");
    fields.need("name");
    fields.text("name", fifo.name);
    fields.need("capacity");
    fields.size("capacity", fifo.capacity);
    fields.count("count", fifo.count);
    fields.size("width", fifo.width);
    fields.count("latency", fifo.latency);
    references(fields, "writers", "processor", processorNames_, fifo.writers);
    references(fields, "readers", "processor", processorNames_, fifo.readers);
    fifo.origin = fields.origin();
    return fifo;
  }

  Link readLink(const YamlNode& node) {
    Link link;
    Fields fields(diagnostics_, node, "a link");
    fields.need("name");
    fields.text("name", link.name);
    fields.need("ends");
    for (const YamlNode* word : fields.words("ends"))
      if (const auto end = linkEnd(*word))
        link.ends.push_back(*end);
    fields.flag("one_way", link.oneWay);
    fields.count("count", link.count);
    fields.count("latency", link.latency);
    fields.bandwidth("bandwidth", link.bandwidth);
    link.origin = fields.origin();
    return link;
  }

  std::optional<LinkEnd> linkEnd(const YamlNode& word) {
    const auto index = [&](const std::vector<std::string>& names) -> std::optional<uint32_t> {
      const auto found = std::find(names.begin(), names.end(), word.text);
      return found == names.end() ? std::nullopt : std::optional(static_cast<uint32_t>(found - names.begin()));
    };
    if (const auto processor = index(processorNames_))
      return ProcessorId{*processor};
    if (const auto memory = index(memoryNames_))
      return MemoryId{*memory};
    if (const auto fifo = index(fifoNames_))
      return FifoId{*fifo};
    if (const auto link = index(linkNames_))
      return LinkId{*link};
    std::vector<std::string> all = processorNames_;
    for (const auto* names : {&memoryNames_, &fifoNames_, &linkNames_})
      all.insert(all.end(), names->begin(), names->end());
    resolveName(diagnostics_, word, "processor, memory, FIFO or link", all);
    return std::nullopt;
  }

  void readLevel(const YamlNode& node) {
    Level level;
    Fields fields(diagnostics_, node, "a level");
    uint64_t number = machine_.levels.size();
    const YamlNode* written = fields.need("level");
    fields.count("level", number);
    fields.need("memory");
    reference(fields, "memory", "memory", memoryNames_, level.memory);
    reference(fields, "processor", "processor", processorNames_, level.processor);
    level.origin = fields.origin();
    // A level's number is its index in the model, so an order that leaves one out has no place there.
    if (written && number != machine_.levels.size())
      fields.wrong(*written, "level",
                   "here " + std::to_string(machine_.levels.size()) +
                       ": levels are listed from 0, the innermost, outwards");
    machine_.levels.push_back(std::move(level));
  }

  DiagnosticEngine& diagnostics_;
  const YamlNode& root_;
  Machine machine_;
  std::vector<std::string> memoryNames_, processorNames_, fifoNames_, linkNames_;
};

} // namespace

std::optional<Machine> readMachine(DiagnosticEngine& diagnostics, BufferId text) {
  const unsigned errors = diagnostics.errorCount();
  const std::optional<YamlNode> root = readYaml(diagnostics, text);
  if (!root)
    return std::nullopt;
  Machine machine = MachineReader(diagnostics, *root).read();
  if (diagnostics.errorCount() != errors)
    return std::nullopt;
  return machine;
}

} // namespace strata
