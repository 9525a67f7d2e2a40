// A plugin of clang-tidy: its checks look at the declarations of this tree alone, not at those of the headers of MLIR
// and of the standard library, which every file would otherwise be matched against again (nine tenths of the time).
// Parsing is as before, and so is what the checks of the preprocessor see. The method is clangd's: clang::ASTContext's
// traversal scope.
#include "clang/AST/ASTConsumer.h"
#include "clang/AST/ASTContext.h"
#include "clang/Basic/SourceManager.h"
#include "clang/Frontend/CompilerInstance.h"
#include "clang/Frontend/FrontendPluginRegistry.h"

#include <memory>
#include <vector>

namespace {

class Scope : public clang::ASTConsumer {
public:
  explicit Scope(clang::SourceManager& sources) : sources_(sources) {}

  bool HandleTopLevelDecl(clang::DeclGroupRef group) override {
    for (clang::Decl* decl : group)
      if (isOfTheTree(*decl))
        decls_.push_back(decl);
    return true;
  }

  void HandleTranslationUnit(clang::ASTContext& context) override { context.setTraversalScope(decls_); }

private:
  bool isOfTheTree(const clang::Decl& decl) const {
    clang::SourceLocation where = sources_.getExpansionLoc(decl.getLocation());
    llvm::StringRef file = sources_.getFilename(where);
    return where.isValid() && !sources_.isInSystemHeader(where) && !file.starts_with("/usr/") &&
           !file.ends_with(".inc");
  }

  clang::SourceManager& sources_;
  std::vector<clang::Decl*> decls_;
};

class Action : public clang::PluginASTAction {
  std::unique_ptr<clang::ASTConsumer> CreateASTConsumer(clang::CompilerInstance& compiler, llvm::StringRef) override {
    return std::make_unique<Scope>(compiler.getSourceManager());
  }
  bool ParseArgs(const clang::CompilerInstance&, const std::vector<std::string>&) override { return true; }
  ActionType getActionType() override { return AddBeforeMainAction; }
};

clang::FrontendPluginRegistry::Add<Action> added("tidy-scope", "checks look at the declarations of this tree");

} // namespace
