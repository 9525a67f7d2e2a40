// Fields of the packed structs are copied, since they lie at any address.
#include "compiler/hpvm/lower/host_code.h"

#include "compiler/clang/c_text.h"
#include "compiler/hpvm/lower/item_code.h"
#include "compiler/hpvm/lower/texts.h"
#include "compiler/target/machine_table.h"
#include "compiler/target/machine_text.h"

namespace strata::hpvm {

namespace {

std::string number(uint64_t value) {
  return std::to_string(value);
}

/// C's name of a type that is passed.
std::string nameOf(const llvm::Type* type) {
  if (type->isPointerTy())
    return "void *";
  if (type->isFloatTy())
    return "float";
  if (type->isDoubleTy())
    return "double";
  return type->isIntegerTy(1) ? "bool" : "int" + number(type->getIntegerBitWidth()) + "_t";
}

/// The function of C that executes one graph.
class GraphText {
public:
  GraphText(const GraphEntry& entry, bool records) : entry_(entry), records_(records) {}

  std::string definition() {
    for (const llvm::Argument& argument : entry_.root->function->args())
      addArgument(argument);
    inputs_ = offset_;
    for (size_t output = 0; output < entry_.root->outputs.size(); ++output)
      addOutput(entry_.root->outputs[output], entry_.isLaunched ? entry_.passedOn[output] : std::optional<unsigned>());
    const std::string pointers = "pointers_" + entry_.name;
    std::string text =
        pointers_.empty() ? "" : "static const StrataHpvmPointer " + pointers + "[] = {\n" + pointers_ + "};\n";
    if (!pointerOutputs_.empty())
      text += "static const uint64_t pointer_outputs_" + entry_.name + "[] = {" + pointerOutputs_ + "};\n";
    if (entry_.isLaunched)
      text += prototype(entry_.name) + overlappingPrototype() + "static void run_" + entry_.name +
              "(void *launch, char *arguments) {\n" + "  int64_t handle = (int64_t)(uintptr_t)launch;\n" + code_ +
              overlaps() + extents_ + "  void *given[] = {" + list_ + "&handle};\n" + callOnce() + after_ + "}\n";
    if (!entry_.stages.empty()) {
      text += "static const char *const stages_" + entry_.name + "[] = {";
      for (const std::string& stage : entry_.stages)
        text += clang::cLiteral(stage) + ", ";
      text += "};\n";
    }
    if (!entry_.stream.empty())
      text += prototype(entry_.stream) + "static void " + entry_.stream + "_all(void *launch) {\n" +
              "  int64_t handle = (int64_t)(uintptr_t)launch;\n  void *given[] = {&handle};\n" + call(entry_.stream) +
              "}\n";
    return text;
  }

  /// The graph's line of the table.
  std::string row() const {
    return "  {(const void *)root_" + entry_.name + ", " + clang::cLiteral(nodeName(*entry_.root->function)) + ", " +
           (entry_.isLaunched ? "run_" + entry_.name : "0") + ", " +
           (entry_.stream.empty() ? "0" : entry_.stream + "_all") + ", " +
           (pointers_.empty() ? "0" : "pointers_" + entry_.name) + ", " + number(pointerCount_) + "u, " +
           number(entry_.root->outputs.size()) + "u, " + number(inputs_) + "u, " + number(offset_ - inputs_) + "u, " +
           (pointerOutputs_.empty() ? "0" : "pointer_outputs_" + entry_.name) + ", " + number(pointerOutputCount_) +
           "u, " + number(entry_.root->function->arg_size()) + "u, " +
           (entry_.stages.empty() ? "0" : "stages_" + entry_.name) + ", " + number(entry_.stages.size()) + "u},\n";
  }

  /// The root's function, which a program that takes the object from an archive may do without.
  std::string declaration() const {
    return "extern void root_" + entry_.name + "(void) __asm__(" + clang::cLiteral(entry_.root->function->getName()) +
           ") __attribute__((weak));\n";
  }

private:
  static std::string packed(const std::string& entry) { return "strata_packed_" + entry; }
  static std::string prototype(const std::string& entry) {
    return "void " + packed(entry) + "(void **) __asm__(" + clang::cLiteral(target::packedSymbol(entry)) + ");\n";
  }
  std::string call(const std::string& entry) const { return callOf("  " + packed(entry) + "(given);\n"); }
  std::string callOf(const std::string& statement) const {
    return std::string("  StrataCall call;\n  strata_call_begin(&call, &strata_this_machine);\n") +
           (records_ ? "  int64_t began = strata_hpvm_record_begin();\n" : "") + statement +
           (records_ ? "  strata_hpvm_record(launch, began);\n" : "") + "  strata_call_end(&call);\n";
  }

  std::string overlappingPrototype() const { return entry_.overlapping.empty() ? "" : prototype(entry_.overlapping); }
  std::string callOnce() const {
    if (entry_.overlapping.empty())
      return call(entry_.name);
    return callOf("  if (overlap)\n    " + packed(entry_.overlapping) + "(given);\n  else\n    " + packed(entry_.name) +
                  "(given);\n");
  }
  /// Whether two arrays have bytes in common, of which one is written.
  std::string overlaps() const {
    if (entry_.overlapping.empty())
      return "";
    std::string test;
    const llvm::Function& root = *entry_.root->function;
    for (const llvm::Argument& first : root.args())
      for (const llvm::Argument& second : root.args())
        if (first.getArgNo() < second.getArgNo() && first.getType()->isPointerTy() && second.getType()->isPointerTy() &&
            (entry_.isWritten[first.getArgNo()] || entry_.isWritten[second.getArgNo()])) {
          const std::string one = "a" + number(first.getArgNo()), other = "a" + number(second.getArgNo());
          test += (test.empty() ? "" : " ||\n      ") + std::string("(") + one + "[0] < " + other + "[0] + " + other +
                  "[1] && " + other + "[0] < " + one + "[0] + " + one + "[1])";
        }
    return "  bool overlap = " + test + ";\n";
  }
  std::string copy(const std::string& to, uint64_t from, uint64_t bytes) {
    return "  memcpy(" + to + ", arguments + " + number(from) + ", " + number(bytes) + ");\n";
  }

  void addArgument(const llvm::Argument& argument) {
    const std::string name = "a" + number(argument.getArgNo());
    const uint64_t bytes = packedBytes(argument.getType());
    if (argument.getType()->isPointerTy()) { // its size follows
      code_ += "  int64_t " + name + "[3] = {0, 0, 1};\n" + copy("&" + name + "[0]", offset_, 8) +
               copy("&" + name + "[1]", offset_ + 8, 8);
      if (const unsigned size = entry_.isLaunched ? entry_.elementBytes[argument.getArgNo()] : 1; size > 1)
        extents_ += "  " + name + "[1] /= " + number(size) + ";\n";
      list_ += name + ", ";
      pointers_ += "  {" + clang::cLiteral(argumentName(*entry_.root->function, argument.getArgNo())) + ", " +
                   number(offset_) + "u, " + number(offset_ + 8) + "u, " +
                   (entry_.isWritten[argument.getArgNo()] ? "1" : "0") + "u},\n";
      ++pointerCount_;
    } else {
      code_ += "  " + nameOf(argument.getType()) + " " + name + ";\n" + copy("&" + name, offset_, bytes);
      list_ += "&" + name + ", ";
    }
    offset_ += bytes;
  }

  void addOutput(const llvm::Type* type, std::optional<unsigned> passed) {
    const std::string name = "o" + number(outputs_++);
    const uint64_t bytes = packedBytes(type);
    if (type->isPointerTy()) {
      pointerOutputs_ += number(offset_ - inputs_) + "u, ";
      ++pointerOutputCount_;
    }
    if (passed) { // what the caller has given
      after_ += "  memcpy(arguments + " + number(offset_) + ", &a" + number(*passed) +
                (type->isPointerTy() ? "[0]" : "") + ", " + number(bytes) + ");\n";
      offset_ += bytes;
      return;
    }
    code_ += "  " + std::string(type->isPointerTy() ? "int64_t" : nameOf(type)) + " " + name + " = 0;\n  int64_t " +
             name + "_block[1] = {(int64_t)(uintptr_t)&" + name + "};\n";
    list_ += name + "_block, ";
    after_ += "  memcpy(arguments + " + number(offset_) + ", &" + name + ", " + number(bytes) + ");\n";
    offset_ += bytes;
  }

  const GraphEntry& entry_;
  const bool records_;
  std::string code_, extents_, list_, after_, pointers_, pointerOutputs_;
  uint64_t offset_ = 0, inputs_ = 0, outputs_ = 0, pointerCount_ = 0, pointerOutputCount_ = 0;
};

} // namespace

target::Interface hostCode(const std::vector<GraphEntry>& entries, const Machine& machine, bool records) {
  const target::MachineTable table(machine);
  target::Interface code;
  std::string declarations, definitions, rows;
  for (const GraphEntry& entry : entries) {
    GraphText text(entry, records);
    declarations += text.declaration();
    definitions += text.definition();
    rows += text.row();
  }
  code.headers["graph_table.h"] = graphTableText();
  code.source = "#include \"strata.h\"\n#include \"strata_abi.h\"\n#include \"graph_table.h\"\n#include <stdbool.h>\n"
                "#include <stdint.h>\n#include <string.h>\n" +
                target::machineText(*table.get()) + declarations + definitions +
                "static const StrataHpvmGraph graphs[] = {\n" + rows +
                "};\n__attribute__((constructor)) static void strata_register_graphs(void) {\n"
                "  strata_hpvm_register(graphs, " +
                number(entries.size()) + "u);\n}\n";
  return code;
}

} // namespace strata::hpvm
