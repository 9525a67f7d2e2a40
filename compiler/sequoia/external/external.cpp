// The C text around the functions of external tasks, and its compilation. What a struct is called in the user's file,
// and whether it is known there at all, is the user's affair: the text that passes structs has its own. All text stands
// before the user's, where no macro of the user's changes it, and includes no header of the system, before which the
// user may want to define something.
#include "compiler/sequoia/external/external.h"

#include "compiler/clang/c_text.h"
#include "compiler/clang/clang.h"
#include "compiler/sequoia/external/external_code.h"
#include "compiler/sequoia/external/header.h"

#include "llvm/ADT/StringExtras.h"
#include "llvm/ADT/StringSet.h"
#include "llvm/Support/FileSystem.h"
#include "llvm/Support/Path.h"

using namespace mlir;
using strata::svm::KernelOp;

namespace strata::sequoia::external {

using namespace clang;

STRATA_DIAGNOSTIC(cannotReadExternal, Error, "clang-external-file",
                  "cannot read '{0}', which is to hold external task '{1}': {2}");
STRATA_DIAGNOSTIC(unsupportedType, Error, "clang-external-type",
                  "argument '{0}' of external task '{1}' cannot be passed to C: {2}");
STRATA_DIAGNOSTIC(taskName, Error, "clang-external-name",
                  "'{0}' cannot be the name of an external task's function: {1}");
STRATA_DIAGNOSTIC(largeScratch, Error, "clang-external-scratch",
                  "external task '{0}' asks for {1} bytes of local space; there are {2}");

namespace {

/// What fits the stack of any processor beside the frames of the function itself: of local space, and of structs by
/// value.
constexpr uint64_t mostScratch = 64 << 10, mostByValue = 64 << 10;

std::string number(uint64_t value) {
  return std::to_string(value);
}

/// One argument as C sees it.
struct Parameter {
  std::string name;
  std::string type; // of a scalar, or of an array's element
  uint64_t bytes = 0;
  unsigned rank = 0;
  unsigned dimensions = 0; // of the block: one more than the rank when the last are the words of an element
  bool isArray = false;    // passed as sqArray_t*
  bool isBlock = false;    // passed to the kernel as a block
  bool byPointer = false;  // a scalar that is written
  std::string record = {}; // of a struct or union that is no array: what the program's C declarations call it
  bool isSpace = false;    // local space, which the user's function finds behind its first array
};

class Wrapper {
public:
  Wrapper(const ExternalTask& task, KernelOp kernel, DiagnosticEngine& diagnostics)
      : task_(task), kernel_(kernel), diagnostics_(diagnostics) {}

  bool read() {
    bool fine = checkName();
    uint64_t byValue = 0;
    for (auto [position, type] : llvm::enumerate(kernel_.getArgumentTypes())) {
      Parameter parameter;
      parameter.name = kernel_.argumentName(position);
      auto block = dyn_cast<MemRefType>(type);
      mlir::Type element = block ? block.getElementType() : type;
      if (isa<svm::StreamType>(type))
        fine = refuse(parameter.name, "it is a stream");
      bool isUnsigned = bool(kernel_.getArgAttr(position, svm::SvmDialect::unsignedAttr));
      auto words = svm::SvmDialect::wordsAttr.of(kernel_, position);
      bool isWords = block && words && words.getInt() > 0 && block.getRank() > 0;
      if (isa<svm::RecordType>(element) || isWords) {
        parameter.type = "void";
      } else if (auto text = types_.name(element, isUnsigned)) {
        parameter.type = *text;
      } else {
        fine = refuse(parameter.name, "C has no such element type");
      }
      parameter.bytes = svm::RecordType::sizeInBytes(element) * static_cast<uint64_t>(isWords ? words.getInt() : 1);
      parameter.isBlock = bool(block);
      parameter.dimensions = block ? static_cast<unsigned>(block.getRank()) : 0;
      parameter.rank = parameter.dimensions - isWords;
      parameter.isArray = parameter.rank > 0;
      parameter.byPointer = block && !parameter.isArray && kernel_.access(position) != svm::Access::Read;
      if (parameter.type == "void" && !parameter.isArray) {
        auto name = recordTypes_.declared(svm::SvmDialect::elementDeclarationsAttr.of(kernel_, position));
        parameter.record = name.value_or("");
        if (!name)
          fine = refuse(parameter.name, "C has no such type");
        else if (!parameter.byPointer && byValue + parameter.bytes > mostByValue)
          fine = refuse(parameter.name, "the structs by value take " + number(byValue + parameter.bytes) +
                                            " bytes with it, and can take " + number(mostByValue) +
                                            "; make it inout, or an array of one element");
        else if (!parameter.byPointer)
          byValue += parameter.bytes;
        defineForPassing(position);
      }
      if (parameter.rank > 9)
        fine = refuse(parameter.name, "it has more than 9 dimensions");
      // An argument beside the task's own, by a name that none of them can have.
      parameter.isSpace = task_.scratch && parameter.name == "scratch space";
      if (parameter.isSpace)
        space_ = "p" + number(position);
      parameters_.push_back(std::move(parameter));
    }
    if (space_.empty() && task_.scratch > mostScratch) {
      diagnostics_.report(largeScratch, task_.where, task_.instance, task_.scratch, mostScratch);
      return false;
    }
    return fine;
  }

  /// The user's function as it has to be, so that a wrong one is an error in the user's own line.
  std::string declaration() const {
    std::string text;
    for (const Parameter& parameter : parameters_)
      if (!parameter.isSpace)
        text += (text.empty() ? "" : ", ") + cType(parameter);
    return "void " + task_.instance + "(" + (text.empty() ? "void" : text) + ")";
  }
  /// That, where all files can have it. A function that takes structs is declared in sequoia_ext.h, behind them.
  std::string prototype(bool isCxx) const { return hasRecords() ? "" : linkage(isCxx) + declaration() + ";\n"; }
  std::string prototypeBehindTypes(bool isCxx) const {
    return hasRecords() ? linkage(isCxx) + declaration() + ";\n" : "";
  }

  /// A function that calls the user's with structs, given by pointers, under the names that the program has for them.
  std::string passing(bool isCxx) const {
    if (!hasRecords())
      return "";
    std::string formal, types, actual;
    for (size_t position = 0; position < parameters_.size(); ++position) {
      const Parameter& parameter = parameters_[position];
      if (parameter.isSpace)
        continue;
      const std::string comma = formal.empty() ? "" : ", ", p = "p" + number(position), type = cType(parameter);
      formal += comma + (parameter.record.empty() ? type : "void *") + " " + p;
      types += comma + type;
      actual += comma + (parameter.record.empty() ? p
                         : parameter.byPointer    ? "(" + type + ")" + p
                                                  : "*(" + type + " *)" + p);
    }
    const std::string users = "strata_user_" + task_.instance, pass = "strata_pass_" + task_.instance;
    const std::string head = "static inline void " + pass + "(" + formal + ")";
    return linkage(isCxx) + "void " + users + "(void) __asm__(\"" + task_.instance + "\");\n" + head + " __asm__(\"" +
           pass + "\") __attribute__((always_inline));\n" + head + " {\n" + recordText_ + "  ((void (*)(" + types +
           "))" + users + ")(" + actual + ");\n}\n";
  }

  /// The function that the kernel is: what it is given is described, and the user's function called with that. The form
  /// that is raised is told pitches and not strides, so that no division stands between an index and its place.
  std::string definition(bool isCxx, bool isRaised) const {
    std::string formal, body, actual;
    for (size_t position = 0; position < parameters_.size(); ++position) {
      const Parameter& parameter = parameters_[position];
      std::string p = "p" + number(position);
      const bool isPointer = parameter.isBlock || !parameter.record.empty();
      formal += (formal.empty() ? "" : ", ") + (isPointer ? std::string("void *") : parameter.type + " ") + p;
      for (const char* kind : {"n", isRaised ? "q" : "s"})
        for (unsigned d = 0; d < parameter.dimensions; ++d)
          formal += ", long " + p + kind + number(d);
      if (parameter.isSpace)
        continue;
      if (parameter.isArray)
        body += describe(parameter, p, isRaised);
      std::string value = p;
      if (parameter.isArray)
        value = "&" + described(parameter, p);
      else if (!parameter.record.empty())
        value = p;
      else if (parameter.byPointer)
        value = "(" + parameter.type + " *)" + p;
      else if (parameter.isBlock)
        value = "*(" + parameter.type + " *)" + p;
      actual += (actual.empty() ? "" : ", ") + value;
    }
    const std::string name = isRaised ? "strata_raised_" : "strata_external_";
    const std::string symbol = isRaised ? raisedPrefix : "strata.ext.";
    std::string head = "void " + name + task_.instance + "(" + (formal.empty() ? "void" : formal) + ")";
    return linkage(isCxx) + head + " __asm__(\"" + symbol + task_.instance + "\");\n" + head + " {\n" + body + "  " +
           (hasRecords() ? "strata_pass_" : "") + task_.instance + "(" + actual + ");\n}\n";
  }

  /// This instance's part of sequoia_ext.h.
  std::string macros() const {
    std::string of = task_.instance, text;
    text += "#define sqLocalSpace_" + of + " " + spaceText() + "\n";
    for (size_t size = 0; size < task_.sizes.size(); ++size)
      if (std::string value = sizeText(size); !value.empty())
        text += "#define sqParam_" + of + "__" + task_.sizes[size] + " " + value + "\n";
    for (const Parameter& parameter : parameters_) {
      if (!parameter.isArray || parameter.isSpace || !isIdentifier(parameter.name))
        continue;
      std::string indices, place, array = "(" + parameter.name + ")";
      for (unsigned d = 0; d < parameter.rank; ++d) {
        std::string i = "i" + number(d);
        indices += (d ? ", " : "") + i;
        place = d ? "(" + place + " * " + array + "->pitch[" + number(d) + "] + (sqSize_t)(" + i + "))"
                  : "(sqSize_t)(" + i + ")";
      }
      std::string base = parameter.type == "void" ? "((void *)((char *)" + array + "->ptr + " +
                                                        number(parameter.bytes) + " * " + place + "))"
                                                  : "((" + parameter.type + " *)" + array + "->ptr + " + place + ")";
      text += "#define sqElmtSpec_" + of + "__" + parameter.name + "(" + indices + ") " + base + "\n";
    }
    return text;
  }

  /// Puts the structs and unions of the arguments among the types that sequoia_ext.h defines.
  void declareTypes(CTypes& types) {
    for (unsigned position = 0; position < kernel_.getNumArguments(); ++position)
      types.declared(svm::SvmDialect::elementDeclarationsAttr.of(kernel_, position));
  }

  /// What there is to know about the text once it is compiled.
  ExternalCode code() const { return {&task_, declaration(), hasStructs()}; }

private:
  bool checkName() {
    const llvm::StringRef name = task_.instance;
    const bool isRuntimes =
        name.starts_with("strata_") || (name.size() > 2 && name.starts_with("sq") && llvm::isUpper(name[2]));
    if (isIdentifier(name) && !isRuntimes)
      return true;
    diagnostics_
        .report(taskName, task_.where, task_.instance,
                isRuntimes ? "such names are the runtime's" : "C or C++ does not take it")
        .help("the function has the name of the instance: give both another");
    return false;
  }

  bool refuse(const std::string& argument, const std::string& why) {
    auto report = diagnostics_.report(unsupportedType, task_.where, argument, task_.instance, why);
    if (auto parameter = task_.parameters.find(argument); parameter != task_.parameters.end())
      report.label(parameter->second, "the argument");
    return false;
  }

  static std::string linkage(bool isCxx) { return isCxx ? "extern \"C\" " : ""; }
  static std::string cType(const Parameter& parameter) {
    const std::string& type = parameter.record.empty() ? parameter.type : parameter.record;
    return parameter.isArray ? "sqArray_t *" : parameter.byPointer ? type + " *" : type;
  }
  /// Whether an argument is a struct or an array of such.
  bool hasStructs() const {
    return llvm::any_of(parameters_, [](const Parameter& parameter) { return parameter.type == "void"; });
  }
  bool hasRecords() const {
    return llvm::any_of(parameters_, [](const Parameter& parameter) { return !parameter.record.empty(); });
  }

  /// Definitions of a struct and those inside it, without the guards of a header.
  void defineForPassing(unsigned position) {
    if (ArrayAttr declarations = svm::SvmDialect::elementDeclarationsAttr.of(kernel_, position))
      for (auto each : declarations.getAsRange<svm::DeclarationAttr>())
        if (passed_.insert(each.getName().getValue()).second)
          recordText_ += each.getDefinition().getValue();
  }

  const Parameter* firstArray() const {
    for (const Parameter& parameter : parameters_)
      if (parameter.isArray && !parameter.isSpace)
        return &parameter;
    return nullptr;
  }
  /// What the description of an array is called; the first is the beginning of one that tells the local space too.
  std::string described(const Parameter& parameter, const std::string& p) const {
    return !space_.empty() && &parameter == firstArray() ? "spaced.array" : "a" + p.substr(1);
  }
  std::string spaceText() const {
    if (!task_.scratch)
      return "((char *)0)";
    if (space_.empty())
      return "((char *)__builtin_alloca_with_align(" + number(task_.scratch) + ", 512))";
    return "((char *)((StrataSpaced *)(" + firstArray()->name + "))->space)";
  }

  /// A size read off the first extent that is this size alone.
  std::string sizeText(size_t size) const {
    auto maps = kernel_->getAttrOfType<ArrayAttr>("extents");
    for (size_t position = 0; maps && position < std::min<size_t>(parameters_.size(), maps.size()); ++position) {
      auto map = dyn_cast<AffineMapAttr>(maps[position]);
      if (!map || !parameters_[position].isArray || !isIdentifier(parameters_[position].name))
        continue;
      for (auto [dimension, extent] : llvm::enumerate(map.getValue().getResults()))
        if (auto symbol = dyn_cast<AffineSymbolExpr>(extent); symbol && symbol.getPosition() == size)
          return "((" + parameters_[position].name + ")->numElmts[" + number(dimension) + "])";
    }
    return "";
  }

  /// A block as an sqArray_t: the physical array begins at the block's first element, and its pitches are quotients of
  /// strides.
  std::string describe(const Parameter& parameter, const std::string& p, bool isRaised) const {
    std::string a = described(parameter, p), text;
    if (a == "spaced.array")
      text += "  StrataSpaced spaced;\n  spaced.space = " + space_ + ";\n";
    else
      text += "  sqArray_t " + a + ";\n";
    text += "  __builtin_memset(&" + a + ", 0, sizeof " + a + ");\n";
    text += "  " + a + ".numDims = " + number(parameter.rank) + ";\n  " + a +
            ".contigDim = " + number(parameter.rank - 1) + ";\n";
    for (unsigned d = 0; d < parameter.rank; ++d) {
      std::string extent = p + "n" + number(d), at = "[" + number(d) + "] = (sqSize_t)";
      text += "  " + a + ".numElmts" + at + extent + ";\n";
      text +=
          "  " + a + ".pitch" + at +
          (d == 0     ? extent
           : isRaised ? p + "q" + number(d)
                      : "strata_pitch(" + p + "s" + number(d - 1) + ", " + p + "s" + number(d) + ", " + extent + ")") +
          ";\n";
    }
    text += "  " + a + ".elmtSize = " + number(parameter.bytes) + ";\n  " + a + ".ptr = " + p + ";\n";
    return text;
  }

  const ExternalTask& task_;
  mutable KernelOp kernel_;
  DiagnosticEngine& diagnostics_;
  CTypes types_, recordTypes_;
  std::vector<Parameter> parameters_;
  std::string space_; // the argument that is the local space
  llvm::StringSet<> passed_;
  std::string recordText_; // definitions of the structs that are passed
};

/// What runtime/abi.h calls StrataCheck and strata_fail, without that header.
const char* const support = R"(
typedef struct { const char *code, *message, *help, *file; unsigned line, column; } StrataExternalCheck;
#ifdef __cplusplus
extern "C" [[noreturn]]
#else
_Noreturn
#endif
void strata_external_fail(const StrataExternalCheck *, const long *, int) __asm__("strata_fail");
static long strata_pitch(long outer, long inner, long extent) {
  static const StrataExternalCheck check = {"sequoia-external-layout",
                                    "a block for an external task has rows {0} elements apart, which is no multiple of {1}", 0, 0, 0, 0};
  if (inner == 0)
    return extent;
  if (outer % inner) {
    long values[] = {outer, inner};
    strata_external_fail(&check, values, 2);
  }
  return outer / inner;
}
)";

/// What takes the place of sqElmt1D and so on in code that is raised: the same without a loop over dimensions, for
/// arrays in row-major order.
std::string rowMajorElement(unsigned rank, const std::string& formal) {
  std::string body, place;
  for (unsigned d = 0; d < rank; ++d) {
    const std::string at = "[" + number(d) + "]", i = "i" + number(d);
    body += "  strata_check_index(" + i + ", " + number(d) + ", a->numElmts" + at + ");\n";
    place = d ? "(" + place + ") * a->pitch" + at + " + " + i + " + a->offset" + at : i + " + a->offset" + at;
  }
  const std::string head = "void *strata_row_major_" + number(rank) + "(sqArray_t *a" + formal + ")";
  return head + " __asm__(\"" + rowMajorPrefix + number(rank) + "D\");\n" + head +
         " {\n  strata_check_layout(a->numDims == " + number(rank) + " && a->contigDim == " + number(rank - 1) +
         ");\n" + body + "  return (char *)a->ptr + (" + place + ") * a->elmtSize;\n}\n";
}

/// sqElmt1D to 9D for the functions of external tasks: here they can be inlined, and a wrong index ends the run as any
/// other does.
std::string elementFunctions() {
  std::string text = R"(
void strata_check_layout(int) __asm__("strata.check_layout");
static void strata_check_index(sqSize_t index, sqSize_t dimension, sqSize_t extent) __asm__("strata.check_index");
static void strata_check_index(sqSize_t index, sqSize_t dimension, sqSize_t extent) {
  static const StrataExternalCheck bounds = {"sequoia-index", "an external task asks for index {0} in dimension {1}, which has {2} elements", 0, 0, 0, 0};
  if (index >= extent) {
    long values[] = {(long)index, (long)dimension, (long)extent};
    strata_external_fail(&bounds, values, 3);
  }
}
static void *strata_element(const sqArray_t *a, unsigned rank, const sqSize_t *indices) {
  static const StrataExternalCheck layout = {"sequoia-wrong-layout", "an external task asks for an element of {0} dimensions in an array of {1}, of which {2} is contiguous",
                                     0, 0, 0, 0};
  if (a->numDims != rank || a->contigDim < 0 || a->contigDim >= (int)rank) {
    long values[] = {(long)rank, (long)a->numDims, (long)a->contigDim};
    strata_external_fail(&layout, values, 3);
  }
  sqSize_t place = 0;
  unsigned last = (unsigned)a->contigDim;
  for (unsigned d = 0; d < rank; ++d) {
    strata_check_index(indices[d], d, a->numElmts[d]);
    if (d != last)
      place = place * a->pitch[d] + indices[d] + a->offset[d];
  }
  place = place * a->pitch[last] + indices[last] + a->offset[last];
  return (char *)a->ptr + place * a->elmtSize;
}
)";
  for (unsigned rank = 1; rank <= 9; ++rank) {
    std::string formal, actual;
    for (unsigned d = 0; d < rank; ++d) {
      formal += ", sqSize_t i" + number(d);
      actual += (d ? ", i" : "i") + number(d);
    }
    text += "__attribute__((weak)) void *sqElmt" + number(rank) + "D(sqArray_t *a" + formal +
            ") {\n  const sqSize_t indices[] = {" + actual + "};\n  return strata_element(a, " + number(rank) +
            ", indices);\n}\n" + rowMajorElement(rank, formal);
  }
  return text;
}

/// A file that has the types from elsewhere says so before it includes the header.
std::string extensionHeader(const std::string& types, const std::string& macros) {
  std::string text = "#ifndef SEQUOIA_EXT_H\n#define SEQUOIA_EXT_H\n#include \"sequoia.h\"\n"
                     "#define sqLocalSpace(instance) sqLocalSpace_##instance\n"
                     "#define sqCalcParams(...) ((void)0)\n"
                     "#define sqParam(instance, parameter) sqParam_##instance##__##parameter\n";
  for (unsigned rank = 1; rank <= 9; ++rank) {
    std::string indices;
    for (unsigned d = 0; d < rank; ++d)
      indices += (d ? ", i" : "i") + number(d);
    text += "#define sqElmtSpec" + number(rank) + "D(instance, array, " + indices +
            ") sqElmtSpec_##instance##__##array(" + indices + ")\n";
  }
  return text + "#ifndef SEQUOIA_EXT_NO_TYPES\n" + types + "#endif\n" + macros + "#endif\n";
}

std::optional<std::string> compileFile(ModuleOp module, const std::string& file,
                                       const std::vector<const ExternalTask*>& tasks, const CFlags& flags,
                                       DiagnosticEngine& diagnostics) {
  bool isCxx = isCxxFile(file);
  std::string prototypes, behindTypes, definitions, macros;
  std::vector<ExternalCode> codes;
  CTypes types;
  for (const ExternalTask* task : tasks) {
    Wrapper wrapper(*task, kernelOf(module, task->instance), diagnostics);
    if (!wrapper.read())
      return std::nullopt;
    prototypes += wrapper.prototype(isCxx) + wrapper.passing(isCxx);
    behindTypes += wrapper.prototypeBehindTypes(isCxx);
    codes.push_back(wrapper.code());
    definitions += wrapper.definition(isCxx, false) + wrapper.definition(isCxx, true);
    macros += wrapper.macros();
    wrapper.declareTypes(types);
  }
  std::string error;
  BufferId buffer = diagnostics.sources().find(file);
  if (!buffer.valid())
    buffer = diagnostics.sources().load(file, SourceKind::Program, error);
  if (!buffer.valid()) {
    diagnostics.report(cannotReadExternal, tasks.front()->where, file, tasks.front()->instance, error);
    return std::nullopt;
  }
  SmallString<256> folder(file);
  if (llvm::sys::fs::make_absolute(folder))
    folder = file; // includes are then found from the current folder only
  Source source;
  source.isCxx = isCxx;
  source.includeFolders.push_back(llvm::sys::path::parent_path(folder).str());
  source.includeFolders.insert(source.includeFolders.end(), flags.includeFolders.begin(), flags.includeFolders.end());
  source.definitions = flags.definitions;
  if (!flags.processor.empty())
    source.processor = flags.processor;
  source.redefinitionHelp["sequoia_ext.h"] = "sequoia_ext.h defines the types of the task's arguments: take them from "
                                             "there, or write #define SEQUOIA_EXT_NO_TYPES before it is included";
  source.headers["sequoia.h"] = sequoiaHeader();
  source.raise = "sqRaiseError";
  source.hasLines = true;
  source.headers["sequoia_ext.h"] = extensionHeader(types.declarations() + behindTypes, macros);
  source.text = "#include \"sequoia.h\"\n" + std::string(isCxx ? "" : "#include <stdbool.h>\n") +
                "typedef struct { sqArray_t array; void *space; } StrataSpaced;\n" + support + elementFunctions() +
                prototypes + definitions + lineMarker(file) + std::string(diagnostics.sources().buffer(buffer).text());
  auto text = compileToLlvm(source, diagnostics);
  return text ? finishExternals(module, *text, file, codes, diagnostics) : std::nullopt;
}

} // namespace

bool compileExternals(ModuleOp module, const std::vector<ExternalTask>& tasks, DiagnosticEngine& diagnostics,
                      const CFlags& flags) {
  std::vector<std::string> files;
  std::map<std::string, std::vector<const ExternalTask*>> byFile;
  for (const ExternalTask& task : tasks) {
    if (!kernelOf(module, task.instance))
      continue; // nothing runs it
    if (byFile[task.file].empty())
      files.push_back(task.file);
    byFile[task.file].push_back(&task);
  }
  unsigned before = diagnostics.errorCount();
  std::vector<std::string> texts;
  for (const std::string& file : files)
    texts.push_back(compileFile(module, file, byFile[file], flags, diagnostics).value_or(""));
  // Files may call each other: either all of their code is needed, or none.
  const bool areRaised =
      llvm::none_of(tasks, [&](const ExternalTask& task) { return bool(kernelOf(module, task.instance)); });
  for (size_t position = 0; position < files.size() && !areRaised; ++position) {
    if (texts[position].empty())
      continue; // reported
    std::string symbol = position ? "source_" + number(position + 1) : "source";
    OpBuilder builder = OpBuilder::atBlockBegin(module.getBody());
    builder.create<svm::LLVMSourceOp>(module.getLoc(), symbol, texts[position]);
    for (const ExternalTask* task : byFile[files[position]]) {
      KernelOp kernel = kernelOf(module, task->instance);
      if (!kernel)
        continue; // it is raised
      auto function = FlatSymbolRefAttr::get(kernel.getLlvm()->getLeafReference());
      kernel.setLlvmAttr(SymbolRefAttr::get(module.getContext(), symbol, {function}));
    }
  }
  return diagnostics.errorCount() == before;
}

} // namespace strata::sequoia::external
