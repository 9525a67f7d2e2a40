// Implements the numbering of nodes and writes the C header. A class of several instances also gets a macro NAME(i), a
// class of memories NAME_BYTES and NAME_UNIT.
#include "base/machine/nodes.h"

#include <algorithm>
#include <cctype>
#include <map>

namespace strata::machine {

STRATA_DIAGNOSTIC(sameNodeName, Error, "machine-node-name", "'{0}' and '{1}' would both be named {2} in the header");
STRATA_DIAGNOSTIC(tooManyClasses, Error, "machine-node-count", "'{0}' has {1} {2}; a header names at most {3}");

namespace {

constexpr uint32_t kindShift = 28, indexShift = 20;
constexpr uint32_t mostClasses = 1u << (kindShift - indexShift);
constexpr uint64_t mostNamed = 256; // instances that have a name each; NAME(i) reaches the others

std::string capitals(std::string_view name) {
  std::string out;
  for (const char c : name)
    out += std::isalnum(static_cast<unsigned char>(c)) ? static_cast<char>(std::toupper(static_cast<unsigned char>(c)))
                                                       : '_';
  return out;
}

bool isNode(const Memory& memory) {
  return !memory.isVirtual() && !memory.files;
}
bool isNode(const Processor& processor) {
  return processor.kind != ProcessorKind::Array;
}
bool isNode(const Fifo&) {
  return true;
}

std::string hexadecimal(int value) {
  char text[16];
  std::snprintf(text, sizeof text, "0x%x", static_cast<unsigned>(value));
  return text;
}

class HeaderWriter {
public:
  HeaderWriter(const Machine& machine, DiagnosticEngine& diagnostics) : machine_(machine), diagnostics_(diagnostics) {}

  std::optional<std::string> write() {
    const std::string guard = "STRATA_MACHINE_" + capitals(machine_.name) + "_H";
    text_ =
        "/* The memories and processors of the machine '" + machine_.name +
        "' as stream programs name them, and its description.\n * Written by `strata machine --header`. */\n#ifndef " +
        guard + "\n#define " + guard + "\n\n#include <svm.h>\n";
    bool fits = names("memories, with the bytes of one instance", "memories", machine_.memories, Node::Kind::Memory);
    fits &= names("FIFOs", "FIFOs", machine_.fifos, Node::Kind::Fifo);
    fits &= names("processors", "processors", machine_.processors, Node::Kind::Processor);
    if (!fits)
      return std::nullopt;
    writeDescription();
    text_ += "#endif\n";
    return std::move(text_);
  }

private:
  template <typename Thing>
  bool names(const char* heading, const char* what, const std::vector<Thing>& list, Node::Kind kind) {
    if (list.size() > mostClasses) {
      diagnostics_.report(tooManyClasses, machine_.origin.location, machine_.name, list.size(), what, mostClasses);
      return false;
    }
    bool fits = true;
    std::string constants, macros;
    for (uint32_t i = 0; i < list.size(); ++i) {
      if (!isNode(list[i]))
        continue;
      const std::string about = aboutOf(list[i]);
      for (uint32_t k = 0; k < std::min(list[i].count, mostNamed); ++k) {
        const Node node{kind, i, k};
        const std::string name = nodeName(machine_, node);
        fits &= take(name, list[i].name, list[i].origin);
        constants += "  " + name + " = " + hexadecimal(nodeValue(node)) + "," + (k == 0 ? about : "") + "\n";
      }
      for (const auto& [ending, number] : sizesOf(list[i])) {
        const std::string name = capitals(list[i].name) + ending;
        fits &= take(name, list[i].name, list[i].origin);
        macros += "#define " + name + " " + std::to_string(number) + "L\n";
      }
      if (list[i].count > 1) {
        const std::string name = capitals(list[i].name);
        fits &= take(name, list[i].name, list[i].origin);
        macros += "#define " + name + "(i) (" + hexadecimal(nodeValue({kind, i, 0})) + " + (i) - 1) /* 1 to " +
                  std::to_string(list[i].count) + " */\n";
      }
    }
    if (!constants.empty())
      text_ += std::string("\n/* ") + heading + " */\nenum {\n" + constants + "};\n" + macros;
    return fits;
  }

  static std::string aboutOf(const Memory& memory) {
    if (memory.capacity.kind != Capacity::Kind::Bytes)
      return memory.unit == 1 ? "" : " /* addresses count " + std::to_string(memory.unit) + " bytes */";
    return " /* " + std::to_string(memory.capacity.bytes) + ", addresses 0 to " +
           std::to_string(memory.capacity.bytes / memory.unit - 1) + " */";
  }
  static std::string aboutOf(const Fifo& fifo) { return " /* " + std::to_string(fifo.capacity) + " bytes */"; }
  static std::string aboutOf(const Processor& processor) {
    std::string kernels = processor.userKernels ? "user" : "";
    for (const std::string& kernel : processor.kernels)
      kernels += (kernels.empty() ? "" : ", ") + kernel;
    return kernels.empty() ? "" : " /* runs " + kernels + " */";
  }

  /// What programs that fit themselves to a machine compute with: the bytes of an instance where they are stated, and
  /// those that an address counts.
  using Sizes = std::vector<std::pair<const char*, uint64_t>>;
  static Sizes sizesOf(const Memory& memory) {
    Sizes sizes{{"_UNIT", memory.unit}};
    if (memory.capacity.kind == Capacity::Kind::Bytes)
      sizes.emplace_back("_BYTES", memory.capacity.bytes);
    return sizes;
  }
  static Sizes sizesOf(const Fifo& fifo) { return {{"_BYTES", fifo.capacity}}; }
  static Sizes sizesOf(const Processor&) { return {}; }

  bool take(const std::string& name, const std::string& thing, const Origin& origin) {
    const auto [earlier, isNew] = taken_.emplace(name, thing);
    if (isNew)
      return true;
    diagnostics_.report(sameNodeName, origin.of("name"), earlier->second, thing, name)
        .note("names are written in capitals, and several instances are numbered from 1")
        .help("rename one of the two in the machine's description");
    return false;
  }

  /// As a string, a line of it on a line. The function that hands it over runs before main.
  void writeDescription() {
    std::string literal = "  \"";
    const std::string description = writeMachine(machine_);
    for (const char c : description) {
      if (c == '\n')
        literal += "\\n\"\n  \"";
      else if (c == '"' || c == '\\')
        literal += std::string("\\") + c;
      else
        literal += c;
    }
    literal += "\"";
    text_ += "\n__attribute__((constructor)) static void strataRegisterMachine_(void) {\n  svmRegisterMachine_(\"" +
             machine_.name + "\",\n" + literal + ");\n}\n\n";
  }

  const Machine& machine_;
  DiagnosticEngine& diagnostics_;
  std::string text_;
  std::map<std::string, std::string> taken_;
};

} // namespace

int nodeValue(const Node& node) {
  return static_cast<int>(static_cast<uint32_t>(node.kind) << kindShift | node.index << indexShift | node.instance);
}

std::optional<Node> nodeOf(const Machine& machine, int value) {
  const auto bits = static_cast<uint32_t>(value);
  const uint32_t kind = bits >> kindShift;
  const Node node{static_cast<Node::Kind>(kind), bits >> indexShift & (mostClasses - 1),
                  bits & ((1u << indexShift) - 1)};
  const auto has = [&](const auto& list) {
    return node.index < list.size() && isNode(list[node.index]) && node.instance < list[node.index].count;
  };
  const bool exists = kind == static_cast<uint32_t>(Node::Kind::Memory)      ? has(machine.memories)
                      : kind == static_cast<uint32_t>(Node::Kind::Fifo)      ? has(machine.fifos)
                      : kind == static_cast<uint32_t>(Node::Kind::Processor) ? has(machine.processors)
                                                                             : false;
  return exists ? std::optional(node) : std::nullopt;
}

std::string nodeName(const Machine& machine, const Node& node) {
  const auto name = [&](const auto& thing) {
    return capitals(thing.name) + (thing.count > 1 ? std::to_string(node.instance + 1) : "");
  };
  switch (node.kind) {
  case Node::Kind::Memory:
    return name(machine.memories[node.index]);
  case Node::Kind::Fifo:
    return name(machine.fifos[node.index]);
  case Node::Kind::Processor:
    return name(machine.processors[node.index]);
  }
  return "";
}

std::optional<std::string> writeNodeHeader(const Machine& machine, DiagnosticEngine& diagnostics) {
  return HeaderWriter(machine, diagnostics).write();
}

} // namespace strata::machine
