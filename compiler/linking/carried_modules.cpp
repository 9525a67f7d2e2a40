// Objects and archives are read by LLVM's object library. An archive's members are looked at one by one.
#include "compiler/linking/carried_modules.h"

#include "compiler/clang/carried_ir.h"

#include "llvm/Object/Archive.h"
#include "llvm/Object/ObjectFile.h"

#include <cstring>

namespace strata::linking {

STRATA_DIAGNOSTIC(damagedIr, Error, "link-damaged-ir", "the code that '{0}' carries for its link is damaged");
STRATA_DIAGNOSTIC(otherVersion, Error, "link-other-version",
                  "'{0}' was compiled by another version of strata, whose form of carried code is {1} and not {2}");

namespace {

class Reader {
public:
  Reader(DiagnosticEngine& diagnostics, std::vector<CarriedModule>& found) : diagnostics_(diagnostics), found_(found) {}

  void read(const llvm::object::Binary& binary, const std::string& name) {
    if (auto* archive = llvm::dyn_cast<llvm::object::Archive>(&binary))
      readArchive(*archive, name);
    else if (auto* object = llvm::dyn_cast<llvm::object::ObjectFile>(&binary))
      readObject(*object, name);
  }

private:
  void readArchive(const llvm::object::Archive& archive, const std::string& name) {
    llvm::Error error = llvm::Error::success();
    for (const llvm::object::Archive::Child& child : archive.children(error)) {
      auto binary = child.getAsBinary();
      auto member = child.getName();
      if (binary && member)
        read(**binary, name + "(" + member->str() + ")");
      llvm::consumeError(binary.takeError());
      llvm::consumeError(member.takeError());
    }
    llvm::consumeError(std::move(error));
  }

  void readObject(const llvm::object::ObjectFile& object, const std::string& name) {
    for (const llvm::object::SectionRef& section : object.sections()) {
      auto title = section.getName();
      if (!title || *title != clang::irSection) {
        llvm::consumeError(title.takeError());
        continue;
      }
      auto content = section.getContents();
      if (!content)
        llvm::consumeError(content.takeError());
      else
        readSection(*content, name);
    }
  }

  void readSection(llvm::StringRef content, const std::string& name) {
    while (!content.empty()) {
      clang::IrHead head{};
      if (content.size() < sizeof head)
        return damaged(name);
      std::memcpy(&head, content.data(), sizeof head);
      content = content.drop_front(sizeof head);
      if (std::memcmp(head.mark, clang::irMark, sizeof head.mark) != 0 || head.bytes > content.size())
        return damaged(name);
      if (head.version != clang::irVersion) {
        diagnostics_.report(otherVersion, {}, name, head.version, clang::irVersion).help("compile its source again");
        return;
      }
      found_.push_back({name, content.take_front(head.bytes).str(), head.flags});
      content = content.drop_front(std::min<size_t>((head.bytes + 7) / 8 * 8, content.size()));
    }
  }

  void damaged(const std::string& name) { diagnostics_.report(damagedIr, {}, name).help("compile its source again"); }

  DiagnosticEngine& diagnostics_;
  std::vector<CarriedModule>& found_;
};

} // namespace

std::vector<CarriedModule> carriedModules(const std::string& file, DiagnosticEngine& diagnostics) {
  std::vector<CarriedModule> found;
  auto binary = llvm::object::createBinary(file);
  if (!binary)
    llvm::consumeError(binary.takeError());
  else
    Reader(diagnostics, found).read(*binary->getBinary(), file);
  return found;
}

} // namespace strata::linking
