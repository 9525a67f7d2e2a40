// Modules, entry points and kernels with the attributes that the dialect asks of each.
#include "compiler/mapping/logical_module.h"

#include "compiler/ir/locations.h"

#include "mlir/IR/Verifier.h"

namespace strata::mapping {

namespace {

llvm::StringRef reference(std::string_view text) {
  return {text.data(), text.size()};
}

mlir::MLIRContext& loaded(mlir::MLIRContext& context) {
  mlir::DialectRegistry registry;
  svm::registerDialects(registry);
  context.appendDialectRegistry(registry);
  context.loadAllAvailableDialects();
  return context;
}

void setAttributes(mlir::FunctionOpInterface function, mlir::ArrayRef<LogicalModule::Argument> arguments) {
  for (auto [position, argument] : llvm::enumerate(arguments))
    function.setArgAttrs(static_cast<unsigned>(position), argument.attributes.getDictionary(function.getContext()));
}

/// Null where those of some block are not known.
mlir::ArrayAttr extentsOf(mlir::ArrayRef<LogicalModule::Argument> arguments, mlir::MLIRContext* context) {
  llvm::SmallVector<mlir::Attribute> maps;
  for (const LogicalModule::Argument& argument : arguments) {
    auto block = llvm::dyn_cast<mlir::MemRefType>(argument.type);
    if (block && block.getRank() && !argument.extents)
      return {};
    maps.push_back(
        mlir::AffineMapAttr::get(argument.extents ? argument.extents : mlir::AffineMap::get(0, 0, {}, context)));
  }
  return mlir::ArrayAttr::get(context, maps);
}

llvm::SmallVector<mlir::Type> typesOf(mlir::ArrayRef<LogicalModule::Argument> arguments) {
  return llvm::map_to_vector(arguments, [](const LogicalModule::Argument& argument) { return argument.type; });
}

} // namespace

LogicalModule::Argument LogicalModule::scalar(mlir::Type type, std::string_view name) {
  Argument argument{type, {}, {}};
  if (!name.empty())
    argument.attributes.set(svm::SvmDialect::nameAttr, mlir::StringAttr::get(type.getContext(), reference(name)));
  return argument;
}

LogicalModule::Argument LogicalModule::block(mlir::MemRefType type, std::string_view name, svm::Access access,
                                             mlir::ArrayRef<mlir::AffineExpr> extents, unsigned sizes) {
  Argument argument = scalar(type, name);
  const mlir::NamedAttribute attribute = svm::SvmDialect::accessAttr.with(type.getContext(), access);
  argument.attributes.set(attribute.getName(), attribute.getValue());
  if (extents.size() == static_cast<size_t>(type.getRank()))
    argument.extents = mlir::AffineMap::get(0, sizes, extents, type.getContext());
  return argument;
}

LogicalModule::Argument LogicalModule::block(mlir::MemRefType type, std::string_view name, svm::Access access,
                                             mlir::ArrayRef<int64_t> extents) {
  auto expressions = llvm::map_to_vector(
      extents, [&](int64_t extent) { return mlir::getAffineConstantExpr(extent, type.getContext()); });
  return block(type, name, access, expressions);
}

LogicalModule::LogicalModule(mlir::MLIRContext& context, mlir::Location place)
    : context_(loaded(context)), module_(mlir::ModuleOp::create(place)) {
  svm::setStage(*module_, svm::Stage::Logical);
}

mlir::func::FuncOp LogicalModule::function(mlir::Location place, std::string_view name,
                                           mlir::ArrayRef<Argument> arguments) {
  mlir::OpBuilder builder = mlir::OpBuilder::atBlockEnd(module_->getBody());
  auto function =
      builder.create<mlir::func::FuncOp>(place, reference(name), builder.getFunctionType(typesOf(arguments), {}));
  setAttributes(function, arguments);
  function.setPrivate();
  function.addEntryBlock();
  return function;
}

mlir::func::FuncOp LogicalModule::entry(mlir::Location place, std::string_view name, mlir::ArrayRef<Argument> arguments,
                                        mlir::ArrayRef<std::string> sizes) {
  mlir::func::FuncOp function = this->function(place, name, arguments);
  function.setPublic();
  auto names = llvm::map_to_vector(sizes, [](const std::string& size) { return llvm::StringRef(size); });
  mlir::Builder builder(&context_);
  function->setAttr(svm::SvmDialect::entryAttr, builder.getUnitAttr());
  function->setAttr(svm::SvmDialect::sizesAttr, builder.getStrArrayAttr(names));
  if (mlir::ArrayAttr extents = extentsOf(arguments, &context_))
    function->setAttr(svm::SvmDialect::extentsAttr, extents);
  return function;
}

svm::KernelOp LogicalModule::kernel(mlir::Location place, std::string_view symbol, mlir::ArrayRef<Argument> arguments) {
  mlir::OpBuilder builder = mlir::OpBuilder::atBlockEnd(module_->getBody());
  auto kernel =
      builder.create<svm::KernelOp>(place, reference(symbol), builder.getFunctionType(typesOf(arguments), {}));
  setAttributes(kernel, arguments);
  if (mlir::ArrayAttr extents = extentsOf(arguments, &context_))
    kernel.setExtentsAttr(extents);
  return kernel;
}

mlir::Block* LogicalModule::makeBody(svm::KernelOp kernel) {
  mlir::Block& body = kernel.getBody().emplaceBlock();
  for (mlir::Type type : kernel.getFunctionType().getInputs())
    body.addArgument(type, kernel.getLoc());
  return &body;
}

mlir::OwningOpRef<mlir::ModuleOp> LogicalModule::finish(std::string_view notation, const Machine* machine,
                                                        const Record* record, DiagnosticEngine& diagnostics) {
  const auto text = [&](std::string_view value) { return mlir::StringAttr::get(&context_, reference(value)); };
  mlir::ModuleOp module = *module_;
  module->setAttr(svm::SvmDialect::programAttr, text(notation));
  if (machine) {
    module->setAttr(svm::SvmDialect::machineAttr, text(machine->name));
    module->setAttr(svm::SvmDialect::machineHashAttr, text(contentHash(*machine)));
  }
  if (record)
    module->setAttr(svm::SvmDialect::mappingAttr, toAttribute(*record, &context_));
  MlirDiagnostics handler(context_, diagnostics);
  if (mlir::failed(mlir::verify(module)))
    return {};
  return std::move(module_);
}

} // namespace strata::mapping
