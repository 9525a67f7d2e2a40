// Both directions; what is packed lives as long as the call.
#include "compiler/interpret/packed.h"

#include "compiler/ir/svm.h"

#include <cstring>

namespace strata::interpret {

std::vector<Argument> unpacked(mlir::TypeRange types, void** packed) {
  std::vector<Argument> arguments;
  for (auto [position, type] : llvm::enumerate(types)) {
    void* at = packed[position];
    if (auto block = mlir::dyn_cast<mlir::MemRefType>(type)) {
      const auto* words = static_cast<const int64_t*>(at);
      const int64_t rank = block.getRank();
      arguments.push_back(Argument::block(reinterpret_cast<void*>(words[0]), {words + 1, words + 1 + rank},
                                          {words + 1 + rank, words + 1 + 2 * rank}));
    } else if (mlir::isa<svm::RecordType>(type)) {
      arguments.push_back(Argument::record(at));
    } else {
      uint64_t bits = 0;
      std::memcpy(&bits, at, svm::RecordType::sizeInBytes(type));
      arguments.push_back(Argument::bits(bits));
    }
  }
  return arguments;
}

ExternalKernel standIn(std::function<void(void**)> code) {
  return [code = std::move(code)](const std::vector<Argument>& arguments, std::string&) {
    std::vector<std::vector<int64_t>> words; // of each block
    std::vector<uint64_t> scalars;
    words.reserve(arguments.size());
    scalars.reserve(arguments.size());
    std::vector<void*> packed;
    for (const Argument& argument : arguments) {
      if (argument.isScalar) {
        packed.push_back(&scalars.emplace_back(argument.scalar));
      } else if (argument.isRecord) {
        packed.push_back(argument.data);
      } else {
        std::vector<int64_t>& block = words.emplace_back(1, reinterpret_cast<int64_t>(argument.data));
        block.insert(block.end(), argument.extents.begin(), argument.extents.end());
        block.insert(block.end(), argument.strides.begin(), argument.strides.end());
        packed.push_back(block.data());
      }
    }
    code(packed.data());
    return true;
  };
}

} // namespace strata::interpret
