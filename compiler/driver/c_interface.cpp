// The C text of entry points. Arguments are checked before the compiled code sees them, so that what is wrong with them
// can be reported through a handler that returns.
#include "compiler/driver/c_interface.h"

#include "base/data/npy.h"
#include "compiler/clang/c_text.h"
#include "compiler/driver/entry_checks.h"
#include "compiler/driver/texts.h"
#include "compiler/ir/locations.h"
#include "compiler/mapping/place.h"
#include "compiler/sequoia/external/header.h"
#include "compiler/target/machine_table.h"

#include "llvm/Support/DynamicLibrary.h"

#include <set>

using namespace mlir;

namespace strata::driver {

STRATA_DIAGNOSTIC(entryName, Error, "build-entry-name", "entry point '{0}' cannot be a function of C: {1}");
STRATA_DIAGNOSTIC(entryArgument, Error, "build-entry-argument",
                  "argument '{0}' of entry point '{1}' cannot be passed from C: {2}");

namespace {

std::string number(uint64_t value) {
  return std::to_string(value);
}

bool isOfCLibrary(const std::string& name) {
  for (const char* library : {"libc.so.6", "libm.so.6"}) {
    auto loaded = llvm::sys::DynamicLibrary::getPermanentLibrary(library);
    if (loaded.isValid() && loaded.getAddressOfSymbol(name.c_str()))
      return true;
  }
  return false;
}

std::string machineText(const StrataMachine& machine) {
  std::string text = "static const StrataMemory strata_memories[] = {\n";
  for (uint32_t index = 0; index < machine.memory_count; ++index) {
    const StrataMemory& memory = machine.memories[index];
    text += "  {" + cLiteral(memory.name) + ", " + number(memory.capacity) + "u, " + number(memory.instances) + "u, " +
            number(memory.is_explicit) + ", " + number(memory.alignment) + "u},\n";
  }
  text += "};\nstatic const StrataProcessor strata_processors[] = {\n";
  for (uint32_t index = 0; index < machine.processor_count; ++index) {
    const StrataProcessor& processor = machine.processors[index];
    text +=
        "  {" + cLiteral(processor.name) + ", " + number(processor.count) + "u, " + number(processor.moves) + "u},\n";
  }
  return text + "};\nstatic const StrataMachine strata_this_machine = {" + cLiteral(machine.name) +
         ", strata_memories, strata_processors, " + number(machine.memory_count) + "u, " +
         number(machine.processor_count) + "u};\n";
}

struct Parameter {
  std::string name, shownName; // as the program has it, as the header has it
  std::string type;            // of a scalar or an element
  bool isBlock = false, written = false;
  std::string direction = "in";
  unsigned rank = 0;
  int64_t words = 0; // that an element is to compiled code, as a dimension behind the others; 0: it is one value
  uint64_t bytes = 0, alignment = 1;
  std::vector<AffineExpr> extents; // as many as the rank, or none
  bool isArray() const { return rank > 0; }
  std::string declaration(const std::string& as) const {
    return isArray() ? "sqArray_t *" + as : written ? type + " *" + as : type + " " + as;
  }
};

/// One entry point.
class Entry {
public:
  Entry(func::FuncOp function, clang::CTypes& types, DiagnosticEngine& diagnostics)
      : name_(function.getName().str()), types_(types), diagnostics_(diagnostics),
        where_(sourceLocation(diagnostics.sources(), function.getLoc())) {
    if (auto sizes = function->getAttrOfType<ArrayAttr>(svm::SvmDialect::sizesAttr))
      for (Attribute size : sizes)
        sizes_.push_back(isa<StringAttr>(size) ? cast<StringAttr>(size).getValue().str() : "");
    fine_ = checkName();
    std::set<std::string> shown;
    for (unsigned position = 0; position < function.getNumArguments(); ++position) {
      parameters_.push_back(read(function, position));
      Parameter& parameter = parameters_.back();
      parameter.shownName = clang::asIdentifier(parameter.name);
      if (!shown.insert(parameter.shownName).second)
        parameter.shownName = "arg" + number(position);
    }
    turned_ = turnedArrays();
    // Copies of arrays exist by then, and are what the compiled code checks too.
    checks_ = entryChecks(function,
                          turnedCount_ ? "    strata_drop(turned, " + number(turnedCount_) + ");\n" : std::string());
  }

  /// C has its arrays in memory; those that the program has on a disk lie in files for as long as a call lasts.
  void findFiles(func::FuncOp function, const LogicalProgram& program) {
    for (unsigned position = 0; position < parameters_.size(); ++position) {
      const Parameter& parameter = parameters_[position];
      machine::MemoryId memory = mapping::argumentMemory(function, position, program.record, program.machine);
      if (!parameter.isArray() || !memory.valid() || !program.machine[memory].files)
        continue;
      const uint64_t words = parameter.words ? static_cast<uint64_t>(parameter.words) : 1;
      filed_ += "    {" + cLiteral(parameter.name) + ", " + w(position) + ", " +
                number(parameter.rank + (parameter.words != 0)) + ", " + number(parameter.bytes / words) + ", " +
                number(parameter.direction != "out") + ", " + number(parameter.written) + ", 0, {0}},\n";
      ++filedCount_;
    }
  }

  bool fine() const { return fine_; }

  std::string prototype(bool shown) const {
    std::string list;
    for (size_t position = 0; position < parameters_.size(); ++position)
      list += (list.empty() ? "" : ", ") +
              parameters_[position].declaration(shown ? parameters_[position].shownName : p(position));
    return "void " + name_ + "(" + (list.empty() ? "void" : list) + ")";
  }

  std::string comment() const {
    std::string text = "/* " + name_ + (parameters_.empty() ? "." : ":") + "\n";
    for (const Parameter& parameter : parameters_) {
      text += " *   " + parameter.shownName + ": " + parameter.direction + ", " + parameter.type;
      for (AffineExpr extent : parameter.extents)
        text += "[" + bare(clang::affineText(extent, sizes_)) + "]";
      if (parameter.isArray() && parameter.extents.empty())
        text += " array of rank " + number(parameter.rank);
      text += "\n";
    }
    return text + " */\n";
  }

  std::string definition() {
    std::string text = "\nvoid strata_packed_" + name_ + "(void **) __asm__(" + cLiteral(target::packedSymbol(name_)) +
                       ");\n\n" + prototype(false) + " {\n" + "  static const char entry[] = " + cLiteral(name_) +
                       ";\n";
    std::string list;
    for (size_t position = 0; position < parameters_.size(); ++position) {
      list += (position ? ", " : "") + take(position, text);
    }
    checkSizes(text);
    checkOverlaps(text);
    const std::string count = number(turnedCount_);
    if (turnedCount_)
      text += "  StrataTurned turned[] = {\n" + turned_ + "  };\n  if (!strata_turn(entry, turned, " + count +
              "))\n    return;\n";
    text += checks_;
    text += "  void *arguments[] = {" + (list.empty() ? "0" : list) +
            "};\n  StrataCall call;\n  strata_call_begin(&call, &strata_this_machine);\n";
    if (turnedCount_)
      text += "  strata_turn_in(turned, " + count + ");\n";
    const std::string files = number(filedCount_);
    if (filedCount_)
      text += "  StrataFiled filed[] = {\n" + filed_ + "  };\n  strata_file_in(filed, " + files + ");\n";
    text += "  strata_packed_" + name_ + "(arguments);\n";
    if (filedCount_)
      text += "  strata_file_back(filed, " + files + ");\n";
    if (turnedCount_)
      text += "  strata_turn_back(turned, " + count + ");\n";
    text += "  strata_call_end(&call);\n";
    if (turnedCount_)
      text += "  strata_drop(turned, " + count + ");\n";
    return text + "}\n";
  }

private:
  static std::string p(size_t position) { return "p" + number(position); }
  static std::string w(size_t position) { return "w" + number(position); }
  static std::string bare(std::string text) {
    return text.size() > 2 && text.front() == '(' && text.back() == ')' && text.find(')') == text.size() - 1
               ? text.substr(1, text.size() - 2)
               : text;
  }

  bool checkName() {
    if (!clang::isIdentifier(name_))
      diagnostics_.report(entryName, where_, name_, "C or C++ does not take the name");
    else if (name_.rfind("strata_", 0) == 0 || name_.rfind("sq", 0) == 0)
      diagnostics_.report(entryName, where_, name_, "names that begin with 'sq' or 'strata_' are the runtime's")
          .help("give the instance another name");
    else if (isOfCLibrary(name_))
      diagnostics_.report(entryName, where_, name_, "the C library has a function of that name")
          .help("give the instance another name: the library's own callers would call this one");
    else
      return true;
    return false;
  }

  Parameter read(func::FuncOp function, unsigned position) {
    Parameter parameter;
    auto text = [&](StringRef attribute) {
      auto value = function.getArgAttrOfType<StringAttr>(position, attribute);
      return value ? value.getValue().str() : std::string();
    };
    parameter.name = text(svm::SvmDialect::nameAttr);
    if (parameter.name.empty())
      parameter.name = "arg" + number(position);
    Type type = function.getArgumentTypes()[position];
    auto block = dyn_cast<MemRefType>(type);
    Type element = block ? block.getElementType() : type;
    std::string access = text(svm::SvmDialect::accessAttr);
    parameter.isBlock = bool(block);
    parameter.written = block && access != "read";
    parameter.direction = !parameter.written ? "in" : access == "write" ? "out" : "inout";
    parameter.rank = block ? static_cast<unsigned>(block.getRank()) : 0;
    uint64_t bytes = svm::RecordType::sizeInBytes(element);
    if (auto words = function.getArgAttrOfType<IntegerAttr>(position, svm::SvmDialect::wordsAttr);
        words && parameter.rank) {
      parameter.words = words.getInt();
      bytes *= static_cast<uint64_t>(parameter.words);
      --parameter.rank;
    }
    std::optional<std::string> name;
    auto described = parseElementType(text(svm::SvmDialect::elementAttr));
    if (described && described->kind == ElementType::Kind::Struct && described->bytes == bytes) {
      name = types_.declared(svm::SvmDialect::elementDeclarationsAttr.of(function, position));
      if (!name)
        name = types_.structure(*described);
    } else if (!parameter.words) {
      name = types_.name(element, bool(function.getArgAttr(position, svm::SvmDialect::unsignedAttr)));
    }
    if (!name || parameter.rank > 9) {
      diagnostics_.report(entryArgument, where_, parameter.name, name_,
                          name ? "it has more than 9 dimensions" : "C has no such type");
      fine_ = false;
      return parameter;
    }
    parameter.type = *name;
    parameter.bytes = bytes;
    parameter.alignment = svm::RecordType::alignmentInBytes(element);
    auto extents = function->getAttrOfType<ArrayAttr>(svm::SvmDialect::extentsAttr);
    if (extents && position < extents.size())
      if (auto map = dyn_cast<AffineMapAttr>(extents[position]))
        if (AffineMap stated = map.getValue(); stated.getNumResults() == parameter.rank + (parameter.words != 0) &&
                                               stated.getNumSymbols() <= sizes_.size() && !stated.getNumDims())
          parameter.extents.assign(stated.getResults().begin(), stated.getResults().begin() + parameter.rank);
    return parameter;
  }

  /// Code that checks one argument; returns what stands for it in the list of packed arguments.
  std::string take(size_t position, std::string& text) const {
    const Parameter& parameter = parameters_[position];
    std::string names = "(entry, " + cLiteral(parameter.name) + ", " + p(position);
    const std::string elementWords = std::to_string(parameter.words);
    if (parameter.isArray()) {
      const unsigned rank = parameter.rank;
      text += "  int64_t " + w(position) + "[" + number(1 + 2 * rank + (parameter.words ? 2 : 0)) + "];\n";
      text += "  if (!strata_array" + names + ", " + number(rank) + ", " + number(parameter.bytes) + ", " +
              number(parameter.alignment) + ", " + w(position) + "))\n    return;\n";
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

  std::string extentOf(size_t position, size_t dimension) const {
    return w(position) + "[" + number(1 + dimension) + "]";
  }

  /// Sizes are read off the first extent that is the size alone; every other extent is compared.
  void checkSizes(std::string& text) const {
    std::vector<std::string> values(sizes_.size());
    std::set<std::pair<size_t, size_t>> settled;
    for (size_t position = 0; position < parameters_.size(); ++position)
      for (size_t dimension = 0; dimension < parameters_[position].extents.size(); ++dimension)
        if (auto symbol = dyn_cast<AffineSymbolExpr>(parameters_[position].extents[dimension]);
            symbol && values[symbol.getPosition()].empty()) {
          values[symbol.getPosition()] = extentOf(position, dimension);
          settled.emplace(position, dimension);
        }
    for (size_t position = 0; position < parameters_.size(); ++position)
      for (size_t dimension = 0; dimension < parameters_[position].extents.size(); ++dimension) {
        AffineExpr extent = parameters_[position].extents[dimension];
        bool known = !settled.count({position, dimension});
        for (size_t size = 0; size < sizes_.size(); ++size)
          known &= !values[size].empty() || !extent.isFunctionOfSymbol(static_cast<unsigned>(size));
        if (known)
          text += "  if (!strata_extent(entry, " + cLiteral(parameters_[position].name) + ", " + number(dimension) +
                  ", " + extentOf(position, dimension) + ", " + clang::affineText(extent, values) + ", " +
                  cLiteral(bare(clang::affineText(extent, sizes_))) + "))\n    return;\n";
      }
  }

  void checkOverlaps(std::string& text) const {
    const auto words = [&](size_t position) {
      const Parameter& parameter = parameters_[position];
      return ", " + cLiteral(parameter.name) + ", " + w(position) + ", " +
             number(parameter.rank + (parameter.words != 0)) + ", " +
             number(parameter.words ? parameter.bytes / static_cast<uint64_t>(parameter.words) : parameter.bytes);
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
    turnedCount_ = 0;
    for (size_t position = 0; position < parameters_.size(); ++position)
      if (const Parameter& parameter = parameters_[position]; parameter.rank > 1 && !parameter.words) {
        text += "    {" + cLiteral(parameter.name) + ", " + w(position) + ", " + number(parameter.rank) + ", " +
                number(parameter.bytes) + ", " + number(parameter.written) + ", 0, {0}},\n";
        ++turnedCount_;
      }
    return text;
  }

  std::string name_;
  clang::CTypes& types_;
  DiagnosticEngine& diagnostics_;
  Location where_;
  std::vector<std::string> sizes_;
  std::vector<Parameter> parameters_;
  std::string checks_, turned_, filed_;
  uint64_t turnedCount_ = 0, filedCount_ = 0;
  bool fine_ = true;
};

/// Text that may stand in a comment.
std::string commentText(std::string text) {
  for (size_t at = 0; (at = text.find("*/", at)) != std::string::npos;)
    text.replace(at, 2, "* /");
  return text;
}

} // namespace

std::optional<CInterface> makeCInterface(const std::vector<func::FuncOp>& entries, const LogicalProgram& program,
                                         const std::string& name, const std::string& headerName,
                                         DiagnosticEngine& diagnostics) {
  const Machine& machine = program.machine;
  CInterface result;
  clang::CTypes types;
  std::string prototypes, definitions;
  bool fine = true;
  for (func::FuncOp function : entries) {
    Entry entry(function, types, diagnostics);
    entry.findFiles(function, program);
    fine &= entry.fine();
    if (!entry.fine())
      continue;
    prototypes += entry.comment() + entry.prototype(true) + ";\n\n";
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
                  commentText(machine.name) +
                  "'.\n *\n"
                  " * Arrays are described as sequoia.h says; sizes follow from their extents.\n"
                  " * Arguments that do not fit are reported through the handler of sqSetErrorHandler, before anything "
                  "is read or written.\n"
                  " * What is written shares no memory with another argument. Calls may come from any thread. */\n"
                  "#ifndef " +
                  guard + "\n#define " + guard + "\n\n#include \"sequoia.h\"\n#include <stdbool.h>\n\n" +
                  "#ifdef __cplusplus\nextern \"C\" {\n#endif\n\n" + types.declarations() + prototypes +
                  "#ifdef __cplusplus\n}\n#endif\n\n#endif\n";
  target::MachineTable table(machine);
  result.code.headers["sequoia.h"] = sequoia::external::sequoiaHeader();
  result.code.source =
      "#include \"sequoia.h\"\n#include \"strata_abi.h\"\n#include <stdarg.h>\n#include "
      "<stdbool.h>\n#include <stddef.h>\n#include <stdio.h>\n#include <stdlib.h>\n#include <string.h>\n\n" +
      ofEntries + machineText(*table.get()) + std::string(entrySupport()) + definitions;
  return result;
}

} // namespace strata::driver
