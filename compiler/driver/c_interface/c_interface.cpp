// The C text of entry points. Arguments are checked before the compiled code sees them, so that what is wrong with them
// can be reported through a handler that returns.
#include "compiler/driver/c_interface/c_interface.h"

#include "compiler/driver/c_interface/c_signature.h"
#include "compiler/driver/c_interface/entry_checks.h"
#include "compiler/driver/pages/texts.h"
#include "compiler/ir/svm.h"
#include "compiler/mapping/place.h"
#include "compiler/target/machine_table.h"
#include "compiler/target/machine_text.h"

#include <set>

using namespace mlir;

namespace strata::driver {

using clang::cLiteral;

namespace {

std::string number(uint64_t value) {
  return std::to_string(value);
}

/// The definition of one entry point.
class Entry {
public:
  Entry(func::FuncOp function, const CSignature& signature)
      : signature_(signature), parameters_(signature.parameters()), name_(signature.name()) {
    turned_ = turnedArrays();
    // Copies of arrays exist by then, and are what the compiled code checks too.
    checks_ = entryChecks(function,
                          turnedCount_ ? "    strata_drop(turned, " + number(turnedCount_) + ");\n" : std::string());
  }

  /// C has its arrays in memory; those that the program has on a disk lie in files for as long as a call lasts, and the
  /// others where all processes of the machine reach them.
  void findElsewhere(func::FuncOp function, const LogicalProgram& program) {
    isSpread_ = isSpread(program.machine);
    for (unsigned position = 0; position < parameters_.size(); ++position) {
      const CParameter& parameter = parameters_[position];
      machine::MemoryId memory = mapping::argumentMemory(function, position, program.record, program.machine);
      if (!parameter.isArray() || !memory.valid() || !program.machine[memory].files) {
        if (isSpread_ && parameter.isBlock) {
          shared_ += "    {" + cLiteral(parameter.name) + ", " + w(position) + ", " + number(parameter.blockRank()) +
                     ", " + number(parameter.wordBytes()) + ", " + number(parameter.written) + ", 0, {0}},\n";
          ++sharedCount_;
        }
        continue;
      }
      filed_ += "    {" + cLiteral(parameter.name) + ", " + w(position) + ", " + number(parameter.blockRank()) + ", " +
                number(parameter.wordBytes()) + ", " + number(parameter.direction != "out") + ", " +
                number(parameter.written) + ", 0, {0}},\n";
      ++filedCount_;
    }
  }

  std::string definition() {
    std::string text = "\nvoid strata_packed_" + name_ + "(void **) __asm__(" + cLiteral(target::packedSymbol(name_)) +
                       ");\n\n" + signature_.prototype(false) + " {\n" +
                       "  static const char entry[] = " + cLiteral(name_) + ";\n";
    checkLeading(text);
    std::string list;
    for (size_t position = 0; position < parameters_.size(); ++position) {
      list += (position ? ", " : "") + take(position, text);
    }
    if (!signature_.isPlain())
      checkSizes(text);
    checkOverlaps(text);
    const std::string count = number(turnedCount_);
    if (turnedCount_)
      text += "  StrataTurned turned[] = {\n" + turned_ + "  };\n  if (!strata_turn(entry, turned, " + count +
              "))\n    return;\n";
    text += checks_;
    text += "  void *arguments[] = {" + (list.empty() ? "0" : list) + "};\n  StrataCall call;\n";
    if (isSpread_)
      text += "  strata_nodes_enter(entry);\n";
    text += "  strata_call_begin(&call, &strata_this_machine);\n";
    if (turnedCount_)
      text += "  strata_turn_in(turned, " + count + ");\n";
    const std::string shared = number(sharedCount_);
    if (sharedCount_)
      text += "  StrataShared shared[] = {\n" + shared_ + "  };\n  strata_share_in(shared, " + shared + ");\n";
    const std::string files = number(filedCount_);
    if (filedCount_)
      text += "  StrataFiled filed[] = {\n" + filed_ + "  };\n  strata_file_in(filed, " + files + ");\n";
    text += "  strata_packed_" + name_ + "(arguments);\n";
    if (filedCount_)
      text += "  strata_file_back(filed, " + files + ");\n";
    if (sharedCount_)
      text += "  strata_share_back(shared, " + shared + ");\n";
    if (turnedCount_)
      text += "  strata_turn_back(turned, " + count + ");\n";
    text += "  strata_call_end(&call);\n";
    if (isSpread_)
      text += "  strata_nodes_leave();\n";
    if (turnedCount_)
      text += "  strata_drop(turned, " + count + ");\n";
    return text + "}\n";
  }

private:
  static std::string p(size_t position) { return "p" + number(position); }
  static std::string w(size_t position) { return "w" + number(position); }

  /// Sizes that the call gives.
  void checkLeading(std::string& text) const {
    for (const CSize& size : signature_.leading())
      text += "  if (!strata_size(entry, " + cLiteral(size.name) + ", " + size.variable + "))\n    return;\n";
  }

  /// Code that checks one argument; returns what stands for it in the list of packed arguments.
  std::string take(size_t position, std::string& text) const {
    const CParameter& parameter = parameters_[position];
    std::string names = "(entry, " + cLiteral(parameter.name) + ", " + p(position);
    const std::string elementWords = std::to_string(parameter.words);
    if (parameter.isArray()) {
      const unsigned rank = parameter.rank;
      text += "  int64_t " + w(position) + "[" + number(1 + 2 * rank + (parameter.words ? 2 : 0)) + "]" +
              (signature_.isPlain() ? " = {0" + extents(position) + "}" : "") + ";\n";
      text += std::string("  if (!") + (signature_.isPlain() ? "strata_elements" : "strata_array") + names + ", " +
              number(rank) + ", " + number(parameter.bytes) + ", " + number(parameter.alignment) + ", " + w(position) +
              "))\n    return;\n";
      if (parameter.words) { // the strides move up by one, and count words
        text += "  " + w(position) + "[" + number(2 + 2 * rank) + "] = 1;\n";
        for (unsigned d = rank; d-- > 0;)
          text += "  " + w(position) + "[" + number(2 + rank + d) + "] = " + elementWords + " * " + w(position) + "[" +
                  number(1 + rank + d) + "];\n";
        text += "  " + w(position) + "[" + number(1 + rank) + "] = " + elementWords + ";\n";
      }
      return w(position);
    }
    if (parameter.written)
      text += "  if (!strata_pointer" + names + ", " + number(parameter.alignment) + "))\n    return;\n";
    std::string value = parameter.written ? p(position) : "&" + p(position);
    if (!parameter.isBlock)
      return value;
    text += "  int64_t " + w(position) + "[] = {(int64_t)(uintptr_t)" + value +
            (parameter.words ? ", " + elementWords + ", 1" : "") + "};\n";
    return w(position);
  }

  /// ", N, M": what the sizes make of an array's extents.
  std::string extents(size_t position) const {
    std::vector<std::string> values;
    for (size_t size = 0; size < signature_.sizes().size(); ++size)
      values.push_back(signature_.leading()[size].variable);
    std::string text;
    for (size_t dimension = 0; dimension < parameters_[position].extents.size(); ++dimension)
      text += ", " + bare(signature_.extent(position, dimension, values));
    return text;
  }

  std::string extentOf(size_t position, size_t dimension) const {
    return w(position) + "[" + number(1 + dimension) + "]";
  }

  /// Sizes are read off the first extent that is the size alone; every other extent is compared.
  void checkSizes(std::string& text) const {
    std::vector<std::string> values(signature_.sizes().size());
    std::set<std::pair<size_t, size_t>> settled;
    for (size_t position = 0; position < parameters_.size(); ++position)
      for (size_t dimension = 0; dimension < parameters_[position].extents.size(); ++dimension)
        if (auto symbol = dyn_cast_or_null<AffineSymbolExpr>(parameters_[position].extents[dimension]);
            symbol && values[symbol.getPosition()].empty()) {
          values[symbol.getPosition()] = extentOf(position, dimension);
          settled.emplace(position, dimension);
        }
    for (size_t position = 0; position < parameters_.size(); ++position)
      for (size_t dimension = 0; dimension < parameters_[position].extents.size(); ++dimension) {
        AffineExpr extent = parameters_[position].extents[dimension];
        if (!extent)
          continue;
        bool known = !settled.count({position, dimension});
        for (size_t size = 0; size < signature_.sizes().size(); ++size)
          known &= !values[size].empty() || !extent.isFunctionOfSymbol(static_cast<unsigned>(size));
        if (known)
          text += "  if (!strata_extent(entry, " + cLiteral(parameters_[position].name) + ", " + number(dimension) +
                  ", " + extentOf(position, dimension) + ", " + clang::affineText(extent, values) + ", " +
                  cLiteral(bare(clang::affineText(extent, signature_.sizes()))) + "))\n    return;\n";
      }
  }

  void checkOverlaps(std::string& text) const {
    const auto words = [&](size_t position) {
      const CParameter& parameter = parameters_[position];
      return ", " + cLiteral(parameter.name) + ", " + w(position) + ", " + number(parameter.blockRank()) + ", " +
             number(parameter.wordBytes());
    };
    // Scalars that are only read are the call's own.
    const auto counts = [&](size_t position) {
      return parameters_[position].isArray() || parameters_[position].written;
    };
    for (size_t first = 0; first < parameters_.size(); ++first)
      for (size_t second = first + 1; second < parameters_.size(); ++second)
        if (counts(first) && counts(second) && (parameters_[first].written || parameters_[second].written))
          text += "  if (!strata_apart(entry" + words(first) + words(second) + "))\n    return;\n";
  }

  /// Arrays of several dimensions, which may come in another order. Elements of several words are contiguous in any.
  std::string turnedArrays() {
    std::string text;
    if (signature_.isPlain())
      return text; // they are in C's order
    for (size_t position = 0; position < parameters_.size(); ++position)
      if (const CParameter& parameter = parameters_[position]; parameter.rank > 1 && !parameter.words) {
        text += "    {" + cLiteral(parameter.name) + ", " + w(position) + ", " + number(parameter.rank) + ", " +
                number(parameter.bytes) + ", " + number(parameter.written) + ", 0, {0}},\n";
        ++turnedCount_;
      }
    return text;
  }

  const CSignature& signature_;
  const std::vector<CParameter>& parameters_;
  const std::string& name_;
  std::string checks_, turned_, filed_, shared_;
  uint64_t turnedCount_ = 0, filedCount_ = 0, sharedCount_ = 0;
  bool isSpread_ = false; // the machine may be, over processes
};

/// Text that may stand in a comment.
std::string commentText(std::string text) {
  for (size_t at = 0; (at = text.find("*/", at)) != std::string::npos;)
    text.replace(at, 2, "* /");
  return text;
}

/// What the C code of entry points and the header say in the one way or the other.
struct Words {
  std::string header, codes, raise, setHandler, arrays;
};

Words wordsOf(const notation::EntryInterface* interface) {
  if (interface)
    return {interface->header, interface->codes, interface->raise, interface->setHandler, interface->describedBy};
  return {
      "strata.h", "entry-", "strataRaiseError", "strataSetErrorHandler",
      "Arrays are contiguous, in C's order; sizes count elements. In C++20 arrays may be given instead of sizes and "
      "pointers,\n * as what strata::View of strata.h is made from."};
}

} // namespace

bool isSpread(const Machine& machine) {
  return llvm::any_of(machine.processors, [](const machine::Processor& each) { return each.isProcess; });
}

std::string mainOfNodes(const std::string& library) {
  return "\nint __real_main(int, char **, char **);\n\nint __wrap_main(int count, char **words, char **environment) {\n"
         "  strata_nodes_begin(&strata_this_machine, " +
         cLiteral(library) + ");\n  return __real_main(count, words, environment);\n}\n";
}

std::optional<CInterface> makeCInterface(const std::vector<func::FuncOp>& entries, const LogicalProgram& program,
                                         const notation::EntryInterface* interface, const std::string& name,
                                         const std::string& headerName, const std::string& processor,
                                         DiagnosticEngine& diagnostics) {
  const Machine& machine = program.machine;
  const Words words = wordsOf(interface);
  CInterface result;
  clang::CTypes types;
  std::string prototypes, overloads, definitions;
  bool fine = true;
  for (func::FuncOp function : entries) {
    const CSignature signature(function, interface, types, diagnostics);
    fine &= signature.fine();
    if (!signature.fine())
      continue;
    Entry entry(function, signature);
    entry.findElsewhere(function, program);
    prototypes += signature.comment() + signature.prototype(true) + ";\n\n";
    overloads += interface ? "" : viewOverload(signature);
    definitions += entry.definition();
    result.code.functions.push_back(function.getName().str());
  }
  if (!fine)
    return std::nullopt;
  // The C code of the entry points needs their types alone; who includes the header gets all of the program's.
  const std::string ofEntries = types.declarations() + types.assertions();
  types.declared(svm::SvmDialect::declarationsAttr.of(*program.module));
  std::string guard = StringRef(clang::asIdentifier(headerName)).upper() + "_INCLUDED";
  result.header = "/* The entry points of " + commentText(name) + ", compiled for machine '" +
                  commentText(machine.name) + "' and processor '" + commentText(processor) +
                  "', and refused where a computer's processor has less.\n *\n * " + words.arrays +
                  "\n * Arguments that do not fit are reported through the handler of " + words.setHandler +
                  ", before anything is read or written.\n"
                  " * What is written shares no memory with another argument. Calls may come from any thread. */\n"
                  "#ifndef " +
                  guard + "\n#define " + guard + "\n\n#include \"" + words.header + "\"\n#include <stdbool.h>\n" +
                  (interface ? "" : "#include <stdint.h>\n") + "\n#ifdef __cplusplus\nextern \"C\" {\n#endif\n\n" +
                  types.declarations() + prototypes + "#ifdef __cplusplus\n}\n#endif\n\n" +
                  (overloads.empty() ? "" : "#ifdef STRATA_VIEWS\n" + overloads + "#endif\n\n") + "#endif\n";
  target::MachineTable table(machine);
  if (interface)
    result.code.headers[interface->header] = interface->headerText;
  result.code.source = "#include \"" + words.header +
                       "\"\n#include \"strata_abi.h\"\n#include <stdarg.h>\n#include <stdbool.h>\n#include "
                       "<stddef.h>\n#include <stdio.h>\n#include <stdlib.h>\n#include <string.h>\n\n"
                       "#define STRATA_CODES " +
                       cLiteral(words.codes) + "\n#define STRATA_RAISE " + words.raise + "\n" + ofEntries +
                       target::machineText(*table.get()) + std::string(entrySupport()) +
                       (interface ? interface->support : std::string()) + definitions;
  return result;
}

} // namespace strata::driver
