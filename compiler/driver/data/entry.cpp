// Binds arrays to an entry point's arguments. A size comes from --size, else from a dimension of an input array that is
// this size alone (N in x[N], not in x[2 * N]). Every other dimension is computed and compared.
#include "compiler/driver/data/entry.h"

#include "base/data/npy.h"
#include "compiler/ir/locations.h"
#include "compiler/notation/sizes.h"

#include "mlir/Analysis/FlatLinearValueConstraints.h"

using namespace mlir;

namespace strata::driver {

STRATA_DIAGNOSTIC(unknownArgument, Error, "run-unknown-argument", "{0} no argument '{1}'");
STRATA_DIAGNOSTIC(unknownSize, Error, "run-unknown-size", "{0} no size '{1}'");
STRATA_DIAGNOSTIC(missingInput, Error, "run-missing-input", "argument '{0}' of '{1}' is read and has no data");
STRATA_DIAGNOSTIC(missingSize, Error, "run-missing-size", "size '{0}' of '{1}' is not known");
STRATA_DIAGNOSTIC(missingExtent, Error, "run-missing-extent", "the extents of argument '{0}' of '{1}' are not known");
STRATA_DIAGNOSTIC(negativeExtent, Error, "run-negative-extent",
                  "dimension {0} of argument '{1}' would have {2} elements");
STRATA_DIAGNOSTIC(sizeConflict, Error, "run-size-conflict", "size '{0}' is {1} by {2} and {3} by {4}");
STRATA_DIAGNOSTIC(sizeTooLarge, Error, "run-size-too-large", "size '{0}' is {1}; sizes lie between 0 and 2^61");
STRATA_DIAGNOSTIC(notAnOutput, Error, "run-not-an-output", "argument '{0}' of '{1}' is only read and has no output");
STRATA_DIAGNOSTIC(unsupportedArgument, Error, "run-unsupported-argument",
                  "argument {0} of entry point '{1}' has type {2}, which no array file holds");

STRATA_DIAGNOSTIC(badElement, Error, "run-element-description",
                  "argument '{0}' of entry point '{1}' has elements described as '{2}', which do not fit it");

namespace {

/// Up to here compiled code computes with sizes without overflow.
constexpr int64_t largestSize = int64_t(1) << 61;

std::optional<ElementType> elementType(mlir::Type type, bool isUnsigned) {
  if (type.isIndex())
    return ElementType::signedInteger(8);
  if (auto integer = dyn_cast<IntegerType>(type)) {
    unsigned width = integer.getWidth();
    if (width == 1)
      return ElementType::boolean();
    if (width != 8 && width != 16 && width != 32 && width != 64)
      return std::nullopt;
    return isUnsigned ? ElementType::unsignedInteger(width / 8) : ElementType::signedInteger(width / 8);
  }
  if (type.isF32() || type.isF64())
    return ElementType::floating(type.isF32() ? 4 : 8);
  if (auto record = dyn_cast<svm::RecordType>(type)) {
    std::vector<Field> fields;
    uint64_t offset = 0;
    for (auto [name, field] : llvm::zip(record.getFieldNames(), record.getFieldTypes())) {
      auto inner = elementType(field, false);
      if (!inner)
        return std::nullopt;
      offset = llvm::alignTo(offset, svm::RecordType::alignmentInBytes(field));
      fields.push_back({name.getValue().str(), offset, *inner, {}});
      offset += svm::RecordType::sizeInBytes(field);
    }
    return ElementType::structure(std::move(fields), svm::RecordType::sizeInBytes(record));
  }
  return std::nullopt;
}

/// What the argument's attributes say beyond its type. False when they do not fit it.
bool describeElement(func::FuncOp function, size_t position, EntryArgument& argument) {
  auto described = function.getArgAttrOfType<StringAttr>(static_cast<unsigned>(position), svm::SvmDialect::elementAttr);
  if (!described)
    return argument.words == 0;
  uint64_t bytes = argument.type.bytes;
  if (argument.words != 0) {
    if (!argument.isBlock || argument.rank == 0 || argument.words < 0 ||
        __builtin_mul_overflow(bytes, static_cast<uint64_t>(argument.words), &bytes))
      return false;
    --argument.rank;
  }
  auto type = parseElementType(described.getValue());
  if (!type || type->kind != ElementType::Kind::Struct || type->bytes != bytes)
    return false;
  argument.type = std::move(*type);
  return true;
}

/// "entry point 'A' has", or of several "entry points 'A', 'B' have".
std::string have(const std::vector<EntryPoint>& entries) {
  std::string names;
  for (const EntryPoint& entry : entries)
    names += (names.empty() ? "'" : ", '") + entry.name + "'";
  return entries.size() == 1 ? "entry point " + names + " has" : "entry points " + names + " have";
}

/// The names that options give: each is one of an argument or a size of some entry point. False where one is not
/// (reported).
class Names {
public:
  Names(const std::vector<EntryPoint>& entries, DiagnosticEngine& diagnostics)
      : entries_(entries), diagnostics_(diagnostics) {
    for (const EntryPoint& entry : entries) {
      for (const EntryArgument& argument : entry.arguments)
        add(arguments_, argument.name);
      for (const std::string& size : entry.sizes)
        add(sizes_, size);
    }
  }

  bool check(const DataOptions& options) {
    const unsigned before = diagnostics_.errorCount();
    for (const InputOption& option : options.inputs)
      checkArgument(option.name, option.where);
    for (const OutputOption& option : options.outputs) {
      checkArgument(option.name, option.where);
      for (const EntryPoint& entry : entries_)
        for (const EntryArgument& argument : entry.arguments)
          if (argument.name == option.name && !argument.written)
            diagnostics_.report(notAnOutput, option.where, option.name, entry.name);
    }
    for (const SizeOption& option : options.sizes)
      if (!llvm::is_contained(sizes_, option.name))
        suggest(diagnostics_.report(unknownSize, option.where, have(entries_), option.name), option.name, sizes_,
                arguments_, "an argument: --in " + option.name + "=" + std::to_string(option.value));
      else if (option.value < 0 || option.value > largestSize)
        diagnostics_.report(sizeTooLarge, option.where, option.name, option.value);
    return diagnostics_.errorCount() == before;
  }

private:
  static void add(std::vector<std::string>& names, const std::string& name) {
    if (!llvm::is_contained(names, name))
      names.push_back(name);
  }

  void checkArgument(const std::string& name, const Location& where) {
    if (!llvm::is_contained(arguments_, name))
      suggest(diagnostics_.report(unknownArgument, where, have(entries_), name), name, arguments_, sizes_,
              "a size: --size " + name + "=…");
  }

  static void suggest(DiagnosticBuilder report, const std::string& name, const std::vector<std::string>& names,
                      const std::vector<std::string>& others, const std::string& other) {
    const std::string nearest = nearestName(name, names);
    std::string all;
    for (const std::string& each : names)
      all += (all.empty() ? "" : ", ") + each;
    if (llvm::is_contained(others, name))
      report.help("'" + name + "' is " + other);
    else if (!nearest.empty())
      report.help("did you mean '" + nearest + "'?");
    else
      report.help(all.empty() ? "there are none" : "there are: " + all);
  }

  const std::vector<EntryPoint>& entries_;
  DiagnosticEngine& diagnostics_;
  std::vector<std::string> arguments_, sizes_;
};

class Binder {
public:
  Binder(const EntryPoint& entry, DataOptions& options, DiagnosticEngine& diagnostics)
      : entry_(entry), options_(options), diagnostics_(diagnostics) {
    for (const SizeOption& option : options.sizes)
      known_[option.name] = {option.value, "--size"};
  }

  /// Whether what is given goes together, as far as it is given.
  bool check() {
    if (!readFiles() || !settleSizes(false))
      return false;
    for (size_t position = 0; position < entry_.arguments.size(); ++position)
      if (!fitsFile(position, knownShape(position)))
        return false;
    return true;
  }

  /// Whether files are given for arguments of it.
  bool hasFiles() const {
    return llvm::any_of(entry_.arguments,
                        [&](const EntryArgument& argument) { return options_.files.contains(argument.name); });
  }

  std::optional<Shapes> shapes() {
    if (!readFiles() || !settleSizes(true))
      return std::nullopt;
    Shapes shapes;
    for (const auto& [name, size] : known_)
      shapes.sizes[name] = size.value;
    for (size_t position = 0; position < entry_.arguments.size(); ++position) {
      const EntryArgument& argument = entry_.arguments[position];
      auto shape = checkedShapeOf(position);
      if (!shape)
        return std::nullopt;
      if (argument.words)
        shape->push_back(argument.words);
      shapes.blocks.push_back(argument.isBlock ? *shape : std::vector<int64_t>());
      std::optional<int64_t>& scalar = shapes.scalars.emplace_back();
      const InputOption* input = inputOf(argument.name);
      int64_t value = 0;
      if (!argument.isBlock && input && input->spec.kind == InputSpec::Kind::Value &&
          !llvm::StringRef(input->spec.value).getAsInteger(10, value))
        scalar = value;
    }
    return shapes;
  }

  std::optional<Binding> run() {
    if (!readFiles() || !settleSizes(true))
      return std::nullopt;
    Binding binding;
    for (const auto& [name, size] : known_)
      binding.sizes[name] = size.value;
    // All that lack data are told at once, before memory is taken for the others.
    for (const EntryArgument& argument : entry_.arguments)
      if (argument.read && !argument.written && !inputOf(argument.name))
        diagnostics_.report(missingInput, argument.where, argument.name, entry_.name)
            .help("give it with --in " + argument.name + "=FILE.npy, or =random, =iota, =zeros, or a number");
    if (diagnostics_.hasErrors())
      return std::nullopt;
    for (size_t position = 0; position < entry_.arguments.size(); ++position) {
      auto array = makeArray(position);
      if (!array)
        return std::nullopt;
      binding.arrays.push_back(std::move(*array));
    }
    binding.files = std::move(made_);
    return binding;
  }

private:
  const InputOption* inputOf(const std::string& name) {
    for (const InputOption& option : options_.inputs)
      if (option.name == name)
        return &option;
    return nullptr;
  }

  /// Arrays from files come first: their shapes settle sizes.
  bool readFiles() {
    files_.resize(entry_.arguments.size());
    made_.resize(entry_.arguments.size());
    for (size_t position = 0; position < entry_.arguments.size(); ++position) {
      const EntryArgument& argument = entry_.arguments[position];
      const InputOption* input = inputOf(argument.name);
      if (!input || input->spec.kind != InputSpec::Kind::Path)
        continue;
      auto file = options_.files.find(argument.name);
      if (file == options_.files.end())
        continue;
      files_[position] = &file->second;
      // Whether the elements suit is seen from an array of none.
      auto none = Array::create(file->second.header().type, std::vector<int64_t>(1, 0), argument.name, diagnostics_,
                                input->where);
      if (!none ||
          !convertElements(std::move(*none), argument.type, input->spec.path, argument.name, diagnostics_,
                           input->where) ||
          !checkShape(file->second.shape(), std::vector<int64_t>(argument.rank, -1), input->spec.path, argument.name,
                      diagnostics_, input->where))
        return false;
    }
    return true;
  }

  /// `isComplete`: every size has to be known.
  bool settleSizes(bool isComplete) {
    unsigned before = diagnostics_.errorCount();
    std::vector<notation::SizeEquation> equations;
    std::vector<size_t> arguments; // of the equations
    for (size_t position = 0; position < entry_.arguments.size(); ++position)
      if (files_[position] && entry_.extents[position]) {
        addEquations(position, equations);
        arguments.resize(equations.size(), position);
      }
    notation::solveSizes(equations, known_);
    // A size that stands alone in a dimension is compared with where else it is known from; other dimensions are
    // compared as shapes.
    for (size_t number = 0; number < equations.size(); ++number) {
      const notation::SizeEquation& equation = equations[number];
      if (equation.terms.size() != 1 || equation.terms[0].first != 1 || equation.constant != 0)
        continue;
      const std::string& size = equation.terms[0].second;
      const auto found = known_.find(size);
      const Location where = inputOf(entry_.arguments[arguments[number]].name)->where;
      if (equation.value > largestSize) {
        diagnostics_.report(sizeTooLarge, where, size, equation.value)
            .help("the array file says so: it is " + equation.from);
        known_[size] = {equation.value, equation.from};
      } else if (found != known_.end() && found->second.value != equation.value) {
        DiagnosticBuilder report = diagnostics_.report(sizeConflict, where, size, found->second.value,
                                                       found->second.from, equation.value, equation.from);
        if (const Location stated = placeOfSize(size); stated.valid())
          report.label(stated, "stated here");
        report.label(entry_.arguments[arguments[number]].where, "the argument");
      }
    }
    for (const std::string& size : entry_.sizes)
      if (isComplete && !known_.count(size)) {
        const EntryArgument* argument = argumentWith(size);
        DiagnosticBuilder report =
            diagnostics_.report(missingSize, argument ? argument->where : entry_.where, size, entry_.name);
        if (argument && argument->where.valid())
          report.label("its extents depend on it");
        report.help(helpForMissing(size, equations));
      }
    return diagnostics_.errorCount() == before;
  }

  Location placeOfSize(const std::string& size) const {
    for (const SizeOption& option : options_.sizes)
      if (option.name == size)
        return option.where;
    return {};
  }

  /// The first argument whose extents depend on a size; null where none does.
  const EntryArgument* argumentWith(const std::string& size) const {
    const auto symbol = static_cast<unsigned>(llvm::find(entry_.sizes, size) - entry_.sizes.begin());
    for (size_t position = 0; position < entry_.arguments.size(); ++position)
      if (entry_.extents[position] && entry_.extents[position]->isFunctionOfSymbol(symbol))
        return &entry_.arguments[position];
    return nullptr;
  }

  /// What to do for a size that is not known: where an extent would tell it but for a remainder, that is said.
  std::string helpForMissing(const std::string& size, const std::vector<notation::SizeEquation>& equations) const {
    for (const notation::SizeEquation& equation : equations) {
      std::string sum;
      bool isOnlyUnknown = true, hasSize = false;
      for (const auto& [factor, name] : equation.terms) {
        sum += (sum.empty() ? "" : " + ") + (factor == 1 ? name : std::to_string(factor) + " * " + name);
        hasSize |= name == size;
        isOnlyUnknown &= name == size || known_.count(name);
      }
      if (hasSize && isOnlyUnknown)
        return equation.from + " is " + std::to_string(equation.value) + ", which is " + sum +
               (equation.constant ? " + " + std::to_string(equation.constant) : "") + " for no whole '" + size + "'";
    }
    return "give it with --size " + size + "=…, or give an array file that settles it with --in";
  }

  void addEquations(size_t position, std::vector<notation::SizeEquation>& equations) {
    AffineMap map = *entry_.extents[position];
    for (unsigned dimension = 0; dimension < map.getNumResults(); ++dimension) {
      SmallVector<int64_t> flat; // a coefficient for each symbol, then the constant
      if (failed(getFlattenedAffineExpr(map.getResult(dimension), 0, map.getNumSymbols(), &flat)) ||
          flat.size() != map.getNumSymbols() + 1)
        continue;
      notation::SizeEquation equation{{},
                                      flat.back(),
                                      files_[position]->shape()[dimension],
                                      "dimension " + std::to_string(dimension) + " of '" +
                                          entry_.arguments[position].name + "'"};
      for (unsigned symbol = 0; symbol < map.getNumSymbols(); ++symbol)
        if (flat[symbol])
          equation.terms.push_back({flat[symbol], entry_.sizes[symbol]});
      equations.push_back(std::move(equation));
    }
  }

  std::optional<std::vector<int64_t>> shapeOf(size_t position) {
    const EntryArgument& argument = entry_.arguments[position];
    if (entry_.extents[position] || !argument.rank)
      return knownShape(position);
    if (files_[position])
      return files_[position]->shape();
    diagnostics_.report(missingExtent, argument.where, argument.name, entry_.name)
        .help("give the array as a file with --in");
    return std::nullopt;
  }

  /// The shape, where there is one and the argument's file has it.
  std::optional<std::vector<int64_t>> fitsFile(size_t position, std::optional<std::vector<int64_t>> shape) {
    const std::string& name = entry_.arguments[position].name;
    if (shape && files_[position] &&
        !checkShape(files_[position]->shape(), *shape, inputOf(name)->spec.path, name, diagnostics_,
                    inputOf(name)->where))
      shape.reset();
    return shape;
  }
  std::optional<std::vector<int64_t>> checkedShapeOf(size_t position) { return fitsFile(position, shapeOf(position)); }

  /// Extents as far as sizes are known; -1 where they are not. Nothing where one is negative (reported).
  std::optional<std::vector<int64_t>> knownShape(size_t position) {
    const EntryArgument& argument = entry_.arguments[position];
    std::vector<int64_t> shape;
    if (!entry_.extents[position])
      return std::vector<int64_t>(argument.rank, -1);
    for (AffineExpr expression : entry_.extents[position]->getResults()) {
      SmallVector<AffineExpr> values;
      bool isKnown = true;
      std::string sizes;
      for (auto [symbol, size] : llvm::enumerate(entry_.sizes)) {
        const auto found = known_.find(size);
        values.push_back(
            getAffineConstantExpr(found == known_.end() ? 0 : found->second.value, expression.getContext()));
        if (!expression.isFunctionOfSymbol(static_cast<unsigned>(symbol)))
          continue;
        isKnown &= found != known_.end();
        if (isKnown)
          sizes += (sizes.empty() ? "" : ", ") + size + " is " + std::to_string(found->second.value) + " by " +
                   found->second.from;
      }
      if (!isKnown) {
        shape.push_back(-1);
        continue;
      }
      auto value = dyn_cast<AffineConstantExpr>(simplifyAffineExpr(expression.replaceSymbols(values), 0, 0));
      int64_t extent = value ? value.getValue() : -1;
      if (extent < 0) {
        DiagnosticBuilder report =
            diagnostics_.report(negativeExtent, argument.where, shape.size(), argument.name, extent);
        if (!sizes.empty())
          report.note(sizes);
        return std::nullopt;
      }
      shape.push_back(extent);
    }
    return shape;
  }

  std::optional<Array> makeArray(size_t position) {
    const EntryArgument& argument = entry_.arguments[position];
    const InputOption* input = inputOf(argument.name);
    auto shape = checkedShapeOf(position);
    if (!shape)
      return std::nullopt;
    if (argument.inFile || argument.isDistributed)
      return makeFile(position, input, *shape);
    if (files_[position]) {
      auto array = files_[position]->read(diagnostics_, input->where);
      if (array)
        array = convertElements(std::move(*array), argument.type, input->spec.path, argument.name, diagnostics_,
                                input->where);
      return array;
    }
    if (input)
      return makeInput(input->spec, argument.name, argument.type, *shape, diagnostics_, input->where);
    return Array::create(argument.type, *shape, "array '" + argument.name + "'", diagnostics_, {});
  }

  std::optional<Array> makeFile(size_t position, const InputOption* input, const std::vector<int64_t>& shape) {
    const EntryArgument& argument = entry_.arguments[position];
    const OutputOption* output = nullptr;
    for (const OutputOption& option : options_.outputs)
      if (option.name == argument.name)
        output = &option;
    FileArray::Source source{files_[position], input && !files_[position] ? &input->spec : nullptr};
    const FileArray::Use use{argument.written, argument.isDistributed, argument.isForgotten};
    made_[position] = FileArray::create(argument.name, argument.type, shape, source, use, output, diagnostics_,
                                        input ? input->where : Location());
    if (!made_[position])
      return std::nullopt;
    return Array::description(argument.type, shape);
  }

  const EntryPoint& entry_;
  DataOptions& options_;
  DiagnosticEngine& diagnostics_;
  std::map<std::string, notation::KnownSize> known_;
  std::vector<NpyFile*> files_; // null: no input file
  std::vector<std::unique_ptr<FileArray>> made_;
};

} // namespace

std::optional<EntryPoint> readEntry(func::FuncOp function, DiagnosticEngine& diagnostics) {
  EntryPoint entry;
  entry.name = function.getName().str();
  entry.where = sourceLocation(diagnostics.sources(), function.getLoc());
  if (auto sizes = function->getAttrOfType<ArrayAttr>(svm::SvmDialect::sizesAttr))
    for (Attribute size : sizes)
      if (auto text = dyn_cast<StringAttr>(size))
        entry.sizes.push_back(text.getValue().str());
  auto extents = function->getAttrOfType<ArrayAttr>(svm::SvmDialect::extentsAttr);
  for (auto [position, type] : llvm::enumerate(function.getArgumentTypes())) {
    EntryArgument argument;
    auto text = [&](StringRef name) {
      auto attribute = function.getArgAttrOfType<StringAttr>(position, name);
      return attribute ? attribute.getValue().str() : std::string();
    };
    argument.name = text(svm::SvmDialect::nameAttr);
    const bool isNamed = !argument.name.empty();
    if (!isNamed)
      argument.name = "arg" + std::to_string(position);
    if (!function.isExternal())
      argument.where = sourceLocation(diagnostics.sources(), function.getArgument(position).getLoc());
    if (!argument.where.valid())
      argument.where = entry.where;
    const std::optional<svm::Access> access = svm::SvmDialect::accessAttr.of(function, position);
    auto block = dyn_cast<MemRefType>(type);
    argument.isBlock = bool(block);
    // What has no name was no user's idea, as the launch of a graph is: data are asked for if something reads it.
    argument.read = access != svm::Access::Write &&
                    (block || isNamed || function.isExternal() || !function.getArgument(position).use_empty());
    argument.written = block && access != svm::Access::Read;
    argument.rank = block ? static_cast<unsigned>(block.getRank()) : 0;
    if (auto words = function.getArgAttrOfType<IntegerAttr>(position, svm::SvmDialect::wordsAttr))
      argument.words = words.getType().isInteger(64) ? words.getInt() : -1;
    bool isUnsigned = bool(function.getArgAttr(position, svm::SvmDialect::unsignedAttr));
    auto element = elementType(block ? block.getElementType() : type, isUnsigned);
    if (!element) {
      std::string written;
      llvm::raw_string_ostream(written) << type;
      diagnostics.report(unsupportedArgument, sourceLocation(diagnostics.sources(), function.getLoc()), position,
                         entry.name, written);
      return std::nullopt;
    }
    argument.type = *element;
    if (!describeElement(function, position, argument)) {
      diagnostics
          .report(badElement, sourceLocation(diagnostics.sources(), function.getLoc()), argument.name, entry.name,
                  text(svm::SvmDialect::elementAttr))
          .note("it is a NumPy description of a struct as large as the argument's elements");
      return std::nullopt;
    }
    const unsigned dimensions = argument.rank + (argument.words != 0);
    std::optional<AffineMap> map;
    if (extents && position < extents.size())
      if (auto stated = dyn_cast<AffineMapAttr>(extents[position]))
        if (stated.getValue().getNumResults() == dimensions &&
            stated.getValue().getNumSymbols() <= entry.sizes.size() && !stated.getValue().getNumDims())
          map = AffineMap::get(0, stated.getValue().getNumSymbols(),
                               stated.getValue().getResults().take_front(argument.rank), function.getContext());
    entry.extents.push_back(map);
    entry.arguments.push_back(std::move(argument));
  }
  return entry;
}

std::vector<int64_t> blockShape(const EntryArgument& argument, const Array& array) {
  std::vector<int64_t> shape = array.shape();
  if (argument.words)
    shape.push_back(argument.words);
  return shape;
}

std::vector<void*> Binding::pack(const EntryPoint& entry) {
  words_.clear();
  for (size_t position = 0; position < arrays.size(); ++position) {
    Array& array = arrays[position];
    void* data = isFile(position) ? files[position]->address() : array.data();
    std::vector<int64_t> words{reinterpret_cast<int64_t>(data)};
    const std::vector<int64_t> shape = blockShape(entry.arguments[position], array);
    words.insert(words.end(), shape.begin(), shape.end());
    size_t rank = shape.size();
    words.resize(1 + 2 * rank);
    int64_t stride = 1;
    for (size_t dimension = rank; dimension-- > 0;) {
      words[1 + rank + dimension] = stride;
      stride *= shape[dimension];
    }
    words_.push_back(std::move(words));
  }
  std::vector<void*> pointers;
  for (size_t position = 0; position < arrays.size(); ++position)
    pointers.push_back(entry.arguments[position].isBlock ? static_cast<void*>(words_[position].data())
                                                         : static_cast<void*>(arrays[position].data()));
  return pointers;
}

bool openInputFiles(DataOptions& options, DiagnosticEngine& diagnostics) {
  for (const InputOption& input : options.inputs)
    if (input.spec.kind == InputSpec::Kind::Path) {
      auto file = NpyFile::open(input.spec.path, diagnostics, input.where);
      if (!file)
        return false;
      options.files.insert_or_assign(input.name, std::move(*file));
    }
  return true;
}

std::optional<Binding> bindArguments(const EntryPoint& entry, DataOptions& options, DiagnosticEngine& diagnostics) {
  const std::vector<EntryPoint> entries{entry};
  if (!Names(entries, diagnostics).check(options))
    return std::nullopt;
  return Binder(entry, options, diagnostics).run();
}

std::optional<Shapes> settleShapes(const EntryPoint& entry, DataOptions& options, DiagnosticEngine& diagnostics) {
  const std::vector<EntryPoint> entries{entry};
  if (!Names(entries, diagnostics).check(options))
    return std::nullopt;
  return Binder(entry, options, diagnostics).shapes();
}

bool checkArguments(const std::vector<EntryPoint>& entries, DataOptions& options, DiagnosticEngine& diagnostics) {
  if (!Names(entries, diagnostics).check(options))
    return false;
  // What a library is compiled with is meant for one of its entry points at least.
  std::optional<DiagnosticEngine> wrong;
  for (const EntryPoint& entry : entries) {
    DiagnosticEngine said(diagnostics.sources());
    Binder binder(entry, options, said);
    if (entries.size() > 1 && !binder.hasFiles())
      continue;
    if (binder.check())
      return true;
    if (!wrong)
      wrong.emplace(std::move(said));
  }
  for (const Diagnostic& diagnostic : wrong ? wrong->all() : std::vector<Diagnostic>())
    diagnostics.add(diagnostic);
  return !wrong;
}

bool writeOutputs(const EntryPoint& entry, Binding& binding, const DataOptions& options,
                  DiagnosticEngine& diagnostics) {
  bool fine = true;
  for (const OutputOption& option : options.outputs)
    for (size_t position = 0; position < entry.arguments.size(); ++position)
      if (entry.arguments[position].name == option.name)
        fine &= binding.isFile(position)
                    ? binding.files[position]->finish(diagnostics)
                    : writeNpy(option.path, binding.arrays[position], option.complexPairs, diagnostics, option.where);
  return fine;
}

} // namespace strata::driver
