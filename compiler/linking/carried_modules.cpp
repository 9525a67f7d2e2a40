// Objects and archives are read by LLVM's object library. An archive's members are looked at one by one.
#include "compiler/linking/carried_modules.h"

#include "compiler/clang/carried_ir.h"

#include "llvm/Bitcode/BitcodeReader.h"
#include "llvm/IR/Constants.h"
#include "llvm/IR/LLVMContext.h"
#include "llvm/IR/Module.h"
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

  void read(llvm::MemoryBufferRef content, const std::string& name) {
    if (llvm::isBitcode(content.getBuffer().bytes_begin(), content.getBuffer().bytes_end()))
      return readBitcode(content, name);
    auto binary = llvm::object::createBinary(content);
    if (!binary)
      llvm::consumeError(binary.takeError());
    else if (auto* archive = llvm::dyn_cast<llvm::object::Archive>(binary->get()))
      readArchive(*archive, name);
    else if (auto* object = llvm::dyn_cast<llvm::object::ObjectFile>(binary->get()))
      readObject(*object, name);
  }

private:
  void readArchive(const llvm::object::Archive& archive, const std::string& name) {
    llvm::Error error = llvm::Error::success();
    for (const llvm::object::Archive::Child& child : archive.children(error)) {
      auto content = child.getMemoryBufferRef();
      auto member = child.getName();
      if (content && member)
        read(*content, name + "(" + member->str() + ")");
      llvm::consumeError(content.takeError());
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

  /// An object of -flto, where the section is still a constant.
  void readBitcode(llvm::MemoryBufferRef content, const std::string& name) {
    llvm::LLVMContext context;
    auto module = llvm::parseBitcodeFile(content, context);
    if (!module)
      return llvm::consumeError(module.takeError());
    for (const llvm::GlobalVariable& variable : (*module)->globals())
      if (variable.hasSection() && variable.getSection() == clang::irSection && variable.hasInitializer())
        if (const auto* data = llvm::dyn_cast<llvm::ConstantDataSequential>(variable.getInitializer()))
          readSection(data->getRawDataValues(), name);
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
  auto content = llvm::MemoryBuffer::getFile(file, /*IsText=*/false, /*RequiresNullTerminator=*/false);
  if (content)
    Reader(diagnostics, found).read((*content)->getMemBufferRef(), file);
  return found;
}

} // namespace strata::linking
