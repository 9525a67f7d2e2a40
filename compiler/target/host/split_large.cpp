// Pieces are looked for along the heavy path of the dominator tree, from each block to the one under it that dominates
// most: what lies between two blocks of the path is entered by the first, and often left for the second only. The
// pieces are chosen before the first is taken out. What is large beside the path is looked at in the same way.
#include "compiler/target/host/split_large.h"

#include "llvm/ADT/DenseMap.h"
#include "llvm/ADT/DenseSet.h"
#include "llvm/ADT/DepthFirstIterator.h"
#include "llvm/ADT/PostOrderIterator.h"
#include "llvm/IR/CFG.h"
#include "llvm/IR/Dominators.h"
#include "llvm/IR/Instructions.h"
#include "llvm/Transforms/Utils/CodeExtractor.h"

#include <vector>

namespace strata::host {
namespace {

using Node = llvm::DomTreeNode;
using Blocks = llvm::SmallVector<llvm::BasicBlock*>;

class Splitter {
public:
  explicit Splitter(llvm::Function& function) : function_(function), tree_(function) {
    for (const Node* node : llvm::post_order(tree_.getRootNode())) {
      size_t size = 1;
      for (const Node* child : node->children())
        size += sizes_[child];
      sizes_[node] = size;
    }
  }

  void run() {
    std::vector<const Node*> roots = {tree_.getRootNode()};
    while (!roots.empty()) {
      const Node* root = roots.back();
      roots.pop_back();
      alongPath(root, roots);
    }
    const llvm::CodeExtractorAnalysisCache cache(function_);
    for (const Blocks& piece : pieces_) {
      llvm::CodeExtractor extractor(piece, /*DT=*/nullptr, /*AggregateArgs=*/false, nullptr, nullptr, nullptr,
                                    /*AllowVarArgs=*/false, /*AllowAlloca=*/false, nullptr, "part");
      if (!extractor.isEligible())
        continue;
      if (llvm::Function* part = extractor.extractCodeRegion(cache))
        part->addFnAttr(llvm::Attribute::NoInline);
    }
  }

private:
  /// Chooses pieces along the heavy path that begins at a node, whose own block is in none. What is large beside it is
  /// put to `roots`.
  void alongPath(const Node* root, std::vector<const Node*>& roots) {
    std::vector<const Node*> path = {root};
    while (!path.back()->isLeaf()) {
      const Node* heaviest = nullptr;
      for (const Node* child : path.back()->children())
        if (!heaviest || sizes_[child] > sizes_[heaviest])
          heaviest = child;
      for (const Node* child : path.back()->children())
        if (child != heaviest && sizes_[child] > blocksOfPart)
          roots.push_back(child);
      path.push_back(heaviest);
    }
    for (size_t first = 1; first + 1 < path.size();) {
      size_t next = first + 1;
      for (size_t end = first + 1; end < path.size(); ++end) {
        const size_t size = sizes_[path[first]] - sizes_[path[end]];
        if (size > 4 * blocksOfPart || isSplitItself(path[end - 1], path[end]))
          break;
        if (size < blocksOfPart)
          continue;
        Blocks piece = between(path[first], path[end]);
        if (isOneWay(piece, path[end]->getBlock())) {
          pieces_.push_back(std::move(piece));
          next = end;
          break;
        }
      }
      first = next;
    }
  }

  /// Whether there are pieces of its own beside the path between a node and the next one.
  bool isSplitItself(const Node* node, const Node* next) {
    return llvm::any_of(node->children(),
                        [&](const Node* child) { return child != next && sizes_[child] > blocksOfPart; });
  }

  /// What the first dominates and the end does not, the first one in front.
  static Blocks between(const Node* first, const Node* end) {
    Blocks blocks;
    for (auto at = llvm::df_begin(first), last = llvm::df_end(first); at != last;) {
      if (*at == end) {
        at.skipChildren();
        continue;
      }
      blocks.push_back((*at)->getBlock());
      ++at;
    }
    return blocks;
  }

  /// Whether blocks are entered at the first one only, and left for `end` only or never. They return from the function
  /// nowhere, and are not the first half of a loop.
  bool isOneWay(const Blocks& blocks, const llvm::BasicBlock* end) const {
    const llvm::DenseSet<const llvm::BasicBlock*> all(blocks.begin(), blocks.end());
    for (llvm::BasicBlock* block : blocks) {
      if (llvm::isa<llvm::ReturnInst>(block->getTerminator()))
        return false;
      for (const llvm::BasicBlock* after : llvm::successors(block))
        if (after != end && !all.contains(after))
          return false;
      for (const llvm::BasicBlock* before : llvm::predecessors(block))
        if (!all.contains(before) && (block != blocks.front() || tree_.dominates(block, before)))
          return false;
    }
    return true;
  }

  llvm::Function& function_;
  llvm::DominatorTree tree_;
  llvm::DenseMap<const Node*, size_t> sizes_; // blocks that each dominates
  std::vector<Blocks> pieces_;
};

} // namespace

void splitLarge(llvm::Module& module) {
  std::vector<llvm::Function*> large;
  for (llvm::Function& function : module)
    if (function.size() > manyBlocks)
      large.push_back(&function);
  for (llvm::Function* function : large)
    Splitter(*function).run();
}

} // namespace strata::host
