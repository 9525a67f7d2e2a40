// Runs the entry point of one program in the dialect through the interpreter, for tests/conformance/run.py: no mapping,
// no target, no runtime. Arguments in order: NAME=BITS for a scalar, NAME=FILE:EXTENTS for a block, whose raw bytes are
// read from the file and written back to it.
#include "compiler/interpret/interpreter.h"
#include "compiler/ir/svm.h"

#include "mlir/Parser/Parser.h"

#include <fstream>
#include <iostream>
#include <iterator>

using namespace strata;

namespace {

struct Block {
  std::string path;
  std::vector<char> bytes;
};

bool readArgument(const std::string& text, std::vector<interpret::Argument>& arguments,
                  std::vector<std::unique_ptr<Block>>& blocks) {
  std::string value = text.substr(text.find('=') + 1);
  size_t colon = value.rfind(':');
  if (colon == std::string::npos) {
    arguments.push_back(interpret::Argument::bits(std::stoull(value)));
    return true;
  }
  std::vector<int64_t> extents;
  std::istringstream numbers(value.substr(colon + 1));
  for (std::string number; std::getline(numbers, number, ',');)
    extents.push_back(std::stoll(number));
  auto block = std::make_unique<Block>();
  block->path = value.substr(0, colon);
  std::ifstream file(block->path, std::ios::binary);
  if (!file)
    return false;
  block->bytes.assign(std::istreambuf_iterator<char>(file), {});
  block->bytes.reserve(1); // data() is not null, not even for no elements
  arguments.push_back(interpret::Argument::block(block->bytes.data(), extents));
  blocks.push_back(std::move(block));
  return true;
}

} // namespace

int main(int argc, char** argv) {
  if (argc < 2) {
    std::cerr << "usage: interpret_program FILE.mlir NAME=BITS|NAME=FILE:EXTENTS …\n";
    return 2;
  }
  SourceManager sources;
  DiagnosticEngine diagnostics(sources);
  std::string error;
  BufferId buffer = sources.load(argv[1], SourceKind::Program, error);
  if (!buffer.valid()) {
    std::cerr << argv[1] << ": " << error << "\n";
    return 2;
  }
  mlir::DialectRegistry registry;
  svm::registerDialects(registry);
  mlir::MLIRContext context(registry, mlir::MLIRContext::Threading::DISABLED);
  std::string_view text = sources.buffer(buffer).text();
  auto module = mlir::parseSourceString<mlir::ModuleOp>(llvm::StringRef(text.data(), text.size()),
                                                        mlir::ParserConfig(&context), argv[1]);
  if (!module)
    return 2;
  std::string entry;
  module->walk([&](mlir::func::FuncOp function) {
    if (function->hasAttr(svm::SvmDialect::entryAttr))
      entry = function.getName().str();
  });
  std::vector<interpret::Argument> arguments;
  std::vector<std::unique_ptr<Block>> blocks;
  for (int i = 2; i < argc; ++i)
    if (!readArgument(argv[i], arguments, blocks)) {
      std::cerr << argv[i] << ": cannot be read\n";
      return 2;
    }
  interpret::Options options;
  options.trackUndefined = true;
  auto interpreter = interpret::Interpreter::create(*module, diagnostics, options);
  if (!interpreter->call(entry, arguments)) {
    std::cerr << diagnostics.render({}) << "[" << interpreter->failure().code << "]\n";
    return 1;
  }
  std::cout << interpreter->output();
  for (const auto& block : blocks)
    std::ofstream(block->path, std::ios::binary)
        .write(block->bytes.data(), static_cast<std::streamsize>(block->bytes.size()));
  return 0;
}
