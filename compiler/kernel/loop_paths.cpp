// What became of the loops of kernels, as an attribute and in words. See loop_paths.h.
#include "compiler/kernel/loop_paths.h"

#include "compiler/ir/locations.h"

#include "llvm/ADT/StringExtras.h"

using namespace mlir;
using namespace strata::svm;

namespace strata::kernel {

namespace {

std::string counted(uint64_t count, llvm::StringRef one, llvm::StringRef many) {
  return std::to_string(count) + " " + (count == 1 ? one : many).str();
}

/// The name that the program gave what became the kernel, or its symbol.
std::string symbolOf(KernelOp kernel) {
  const std::string named = placeName(kernel.getLoc());
  return named.empty() ? kernel.getSymName().str() : named;
}

} // namespace

std::string LoopPath::text() const {
  if (!isTile())
    return "left to LLVM: " + why;
  const std::string side = counted(registers, "register", "registers") + " of " + counted(lanes, "lane", "lanes");
  return "tiles of " + (rows > 1 ? counted(rows, "row", "rows") + " by " : "") + side;
}

std::string LoopPath::shortText() const {
  return isTile() ? "tiles " + std::to_string(rows) + "x" + std::to_string(registers * lanes) : "llvm";
}

std::string KernelPaths::name() const {
  const auto [front, back] = llvm::StringRef(symbol).rsplit('.');
  const bool isOurs = back == "kernel" || (!back.empty() && llvm::all_of(back, llvm::isDigit));
  return isOurs ? front.str() : symbol;
}

std::string KernelPaths::text() const {
  if (!other.empty())
    return "left to LLVM: " + other;
  std::vector<std::string> parts;
  unsigned left = 0;
  for (const LoopPath& loop : loops)
    if (!loop.isTile())
      ++left;
    else if (!llvm::is_contained(parts, loop.shortText()))
      parts.push_back(loop.shortText());
  if (left)
    parts.push_back(counted(left, "loop", "loops") + " left to LLVM");
  return parts.empty() ? "no loops" : llvm::join(parts, ", ");
}

void setLoopPaths(KernelOp kernel, llvm::ArrayRef<LoopPath> loops) {
  Builder builder(kernel.getContext());
  SmallVector<Attribute> list;
  for (const LoopPath& loop : loops) {
    NamedAttrList entry;
    entry.append("at", loop.at);
    if (loop.isTile()) {
      entry.append("rows", builder.getI64IntegerAttr(loop.rows));
      entry.append("registers", builder.getI64IntegerAttr(loop.registers));
      entry.append("lanes", builder.getI64IntegerAttr(loop.lanes));
    } else {
      entry.append("why", builder.getStringAttr(loop.why));
      if (!loop.help.empty())
        entry.append("help", builder.getStringAttr(loop.help));
    }
    list.push_back(entry.getDictionary(kernel.getContext()));
  }
  SvmDialect::loopsAttr.set(kernel, builder.getArrayAttr(list));
}

std::vector<KernelPaths> loopPathsOf(ModuleOp program) {
  std::vector<KernelPaths> all;
  for (auto kernel : program.getOps<KernelOp>()) {
    if (kernel.kind() != KernelKind::Structured && kernel.kind() != KernelKind::Llvm)
      continue; // it becomes no code here
    KernelPaths& known = all.emplace_back(KernelPaths{symbolOf(kernel), kernel.getLoc(), {}, ""});
    const ArrayAttr list = SvmDialect::loopsAttr.of(kernel);
    if (!list) {
      known.other = kernel.isStructured() ? "processors share what it reaches" : "its code came from a C compiler";
      continue;
    }
    for (Attribute each : list) {
      auto entry = cast<DictionaryAttr>(each);
      LoopPath& loop = known.loops.emplace_back();
      loop.at = entry.getAs<LocationAttr>("at");
      const auto number = [&](StringRef name) {
        auto value = entry.getAs<IntegerAttr>(name);
        return value ? static_cast<unsigned>(value.getInt()) : 0;
      };
      loop.rows = number("rows");
      loop.registers = number("registers");
      loop.lanes = number("lanes");
      const auto text = [&](StringRef name) {
        auto value = entry.getAs<StringAttr>(name);
        return value ? value.getValue().str() : std::string();
      };
      loop.why = text("why");
      loop.help = text("help");
    }
  }
  // Beside a node's kernel stands the one that runs where its arrays overlap.
  llvm::erase_if(all, [&](const KernelPaths& each) {
    return !each.other.empty() &&
           llvm::any_of(all, [&](const KernelPaths& same) { return same.other.empty() && same.name() == each.name(); });
  });
  return all;
}

} // namespace strata::kernel
