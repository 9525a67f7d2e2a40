// A file is looked up under the name that the compiler was given, and under the folder that it ran in.
#include "compiler/hpvm/graph/places.h"

#include "llvm/IR/DebugInfoMetadata.h"
#include "llvm/IR/Function.h"
#include "llvm/Support/FileSystem.h"
#include "llvm/Support/Path.h"

namespace strata::hpvm {

static Location placeIn(const llvm::DIFile* file, unsigned line, unsigned column, SourceManager& sources) {
  if (!file || line == 0)
    return {};
  std::string path = file->getFilename().str();
  if (!llvm::sys::fs::exists(path) && !llvm::sys::path::is_absolute(path)) {
    llvm::SmallString<256> full(file->getDirectory());
    llvm::sys::path::append(full, path);
    path = std::string(full);
  }
  BufferId buffer = sources.find(path);
  std::string error;
  if (!buffer.valid())
    buffer = sources.load(path, SourceKind::Program, error);
  return buffer.valid() ? sources.at(buffer, line, std::max(column, 1u)) : Location();
}

/// Whether a file is the user's, and not one of a library that the function's own code includes: it was named from the
/// folder of the compiler, or lies where that, or the function, does.
static bool isUsers(const llvm::DIFile* file, const llvm::DISubprogram* function) {
  const llvm::StringRef name = file->getFilename();
  if (!function || !llvm::sys::path::is_absolute(name) || file == function->getFile())
    return true;
  const auto isWithin = [&](llvm::StringRef folder) {
    return !folder.empty() && name.starts_with((folder + "/").str());
  };
  return isWithin(function->getUnit() ? function->getUnit()->getDirectory() : "") ||
         isWithin(llvm::sys::path::parent_path(function->getFile() ? function->getFile()->getFilename() : ""));
}

Location placeOf(const llvm::Instruction& instruction, SourceManager& sources) {
  const llvm::DISubprogram* function = instruction.getFunction()->getSubprogram();
  // From the innermost call outwards.
  for (const llvm::DILocation* at = instruction.getDebugLoc(); at; at = at->getInlinedAt())
    if (at->getLine() && (isUsers(at->getFile(), function) || !at->getInlinedAt()))
      return placeIn(at->getFile(), at->getLine(), at->getColumn(), sources);
  return placeOf(*instruction.getFunction(), sources);
}

Location placeOf(const llvm::Function& function, SourceManager& sources) {
  const llvm::DISubprogram* at = function.getSubprogram();
  return at ? placeIn(at->getFile(), at->getLine(), 1, sources) : Location();
}

} // namespace strata::hpvm
