// Symbols first: which file the linker takes a function from. Then that file's IR, of which a copy without all else is
// linked into the module.
#include "compiler/linking/callees.h"

#include "compiler/linking/carried_modules.h"

#include "llvm/ADT/SetVector.h"
#include "llvm/ADT/StringMap.h"
#include "llvm/Bitcode/BitcodeReader.h"
#include "llvm/Demangle/Demangle.h"
#include "llvm/IR/InstIterator.h"
#include "llvm/IR/Instructions.h"
#include "llvm/IR/Verifier.h"
#include "llvm/Linker/Linker.h"
#include "llvm/Object/Archive.h"
#include "llvm/Object/ELFObjectFile.h"
#include "llvm/Object/SymbolicFile.h"
#include "llvm/Support/FileSystem.h"
#include "llvm/Support/MemoryBuffer.h"
#include "llvm/Support/Path.h"
#include "llvm/Transforms/Utils/Cloning.h"
#include "llvm/Transforms/Utils/GlobalStatus.h"

#include <map>
#include <optional>
#include <set>

namespace strata::linking {

namespace {

namespace object = llvm::object;

/// Where symbols are defined.
class Definitions {
public:
  struct Place {
    std::string path, file; // "libfilters.a", and as CarriedModule has it: "libfilters.a(median.o)"
    bool isShared = false;
    std::string other; // a library that defines it too: where it is missed first decides
  };

  explicit Definitions(const std::vector<std::string>& files) {
    for (const std::string& file : files)
      if (auto content = llvm::MemoryBuffer::getFile(file, /*IsText=*/false, /*RequiresNullTerminator=*/false))
        add(file, (*contents_.emplace_back(std::move(*content))).getMemBufferRef());
  }

  /// The file that the linker takes a symbol from; nothing where it is none of these.
  std::optional<Place> of(llvm::StringRef symbol) const {
    for (const llvm::StringMap<std::string>* objects : {&strong_, &weak_})
      if (const auto found = objects->find(symbol); found != objects->end())
        return Place{found->second, found->second, false, ""};
    std::optional<Place> first;
    for (const Library& library : libraries_) {
      auto place = placeIn(library, symbol);
      if (place && first && place->path != first->path) {
        first->other = place->path;
        return first;
      }
      if (!first)
        first = std::move(place);
    }
    return first;
  }

private:
  /// What is only linked where something is missing: an archive, or a shared library with its symbols.
  struct Library {
    std::string file;
    std::unique_ptr<object::Archive> archive;
    llvm::StringMap<std::string> symbols;
  };

  static std::optional<Place> placeIn(const Library& library, llvm::StringRef symbol) {
    if (!library.archive)
      return library.symbols.contains(symbol) ? std::optional(Place{library.file, library.file, true, ""})
                                              : std::nullopt;
    auto member = library.archive->findSym(symbol);
    if (!member) {
      llvm::consumeError(member.takeError());
      return std::nullopt;
    }
    if (!*member)
      return std::nullopt;
    auto name = (*member)->getName();
    const std::string file = name ? library.file + "(" + name->str() + ")" : library.file;
    llvm::consumeError(name.takeError());
    return Place{library.file, file, false, ""};
  }

  void add(const std::string& file, llvm::MemoryBufferRef content) {
    const llvm::file_magic kind = llvm::identify_magic(content.getBuffer());
    if (kind == llvm::file_magic::archive) {
      auto archive = object::Archive::create(content);
      if (archive)
        libraries_.push_back({file, std::move(*archive), {}});
      llvm::consumeError(archive.takeError());
      return;
    }
    auto symbols = object::SymbolicFile::createSymbolicFile(content, llvm::file_magic::unknown, &context_);
    if (!symbols)
      return llvm::consumeError(symbols.takeError());
    const bool isShared = kind == llvm::file_magic::elf_shared_object;
    if (isShared)
      libraries_.push_back({file, nullptr, {}});
    const auto addSymbol = [&](const object::BasicSymbolRef& symbol) {
      auto flags = symbol.getFlags();
      if (!flags) {
        llvm::consumeError(flags.takeError());
        return;
      }
      using Flags = object::BasicSymbolRef;
      if (!(*flags & Flags::SF_Global) || (*flags & (Flags::SF_Undefined | Flags::SF_FormatSpecific)))
        return;
      std::string name;
      llvm::raw_string_ostream stream(name);
      if (auto problem = symbol.printName(stream)) {
        llvm::consumeError(std::move(problem));
        return;
      }
      (isShared ? libraries_.back().symbols : *flags & Flags::SF_Weak ? weak_ : strong_).try_emplace(name, file);
    };
    // A shared library's other symbols may have been stripped.
    if (const auto* elf = isShared ? llvm::dyn_cast<object::ELFObjectFileBase>(symbols->get()) : nullptr)
      llvm::for_each(elf->getDynamicSymbolIterators(), addSymbol);
    else
      llvm::for_each((*symbols)->symbols(), addSymbol);
  }

  llvm::LLVMContext context_; // of objects that are bitcode
  std::vector<std::unique_ptr<llvm::MemoryBuffer>> contents_;
  llvm::StringMap<std::string> strong_, weak_; // the object that defines a symbol first
  std::vector<Library> libraries_;             // in the linker's order
};

void collect(const llvm::Constant* constant, llvm::SetVector<const llvm::GlobalValue*>& found) {
  llvm::SmallVector<const llvm::Constant*> open{constant};
  llvm::SmallPtrSet<const llvm::Constant*, 16> seen;
  while (!open.empty()) {
    const llvm::Constant* each = open.pop_back_val();
    if (!seen.insert(each).second)
      continue;
    if (const auto* global = llvm::dyn_cast<llvm::GlobalValue>(each))
      found.insert(global);
    else
      for (const llvm::Use& operand : each->operands())
        if (const auto* part = llvm::dyn_cast<llvm::Constant>(operand.get()))
          open.push_back(part);
  }
}

llvm::SetVector<const llvm::GlobalValue*> referredTo(const llvm::GlobalValue& value) {
  llvm::SetVector<const llvm::GlobalValue*> found;
  if (const auto* function = llvm::dyn_cast<llvm::Function>(&value)) {
    for (const llvm::Instruction& instruction : llvm::instructions(*function))
      for (const llvm::Use& operand : instruction.operands())
        if (const auto* constant = llvm::dyn_cast<llvm::Constant>(operand.get()))
          collect(constant, found);
  } else if (const auto* variable = llvm::dyn_cast<llvm::GlobalVariable>(&value);
             variable && variable->hasInitializer())
    collect(variable->getInitializer(), found);
  return found;
}

/// What goes along with a function out of its module; in `problem` what prevents that.
llvm::SetVector<const llvm::GlobalValue*> partsOf(const llvm::Function& function, std::string& problem) {
  llvm::SetVector<const llvm::GlobalValue*> parts;
  parts.insert(&function);
  for (size_t next = 0; next < parts.size() && problem.empty(); ++next)
    for (const llvm::GlobalValue* each : referredTo(*parts[next])) {
      const bool isOwn = each->hasLocalLinkage();
      const auto* variable = llvm::dyn_cast<llvm::GlobalVariable>(each);
      llvm::GlobalStatus uses;
      if (each->isDeclaration())
        continue;
      if (llvm::isa<llvm::Function>(each)) {
        if (isOwn || (each->isDiscardableIfUnused() && !each->isInterposable())) // static, or inline
          parts.insert(each);
      } else if (isOwn && variable && variable->isConstant() && !variable->isThreadLocal() &&
                 (variable->hasGlobalUnnamedAddr() ||
                  !(llvm::GlobalStatus::analyzeGlobal(variable, uses) || uses.IsCompared))) {
        parts.insert(each);
      } else if (isOwn) {
        problem = !variable              ? "another name of something"
                  : !variable->hasName() ? "a static variable"
                                         : "the static variable '" + llvm::demangle(variable->getName()) + "'";
        break;
      }
    }
  return parts;
}

class Taker {
public:
  Taker(llvm::Module& module, const std::vector<std::string>& files, const std::vector<std::string>& replaced,
        DiagnosticEngine& diagnostics)
      : module_(module), files_(files), replaced_(replaced), diagnostics_(diagnostics) {}

  void run(llvm::ArrayRef<llvm::Function*> callers) {
    // By name: a declaration is another function once it is defined.
    llvm::SetVector<std::string, std::vector<std::string>, std::set<std::string>> reached;
    for (const llvm::Function* caller : callers)
      reached.insert(caller->getName().str());
    for (size_t next = 0; next < reached.size(); ++next) {
      const std::string name = reached[next];
      if (llvm::Function* function = module_.getFunction(name); function && function->isDeclaration())
        take(*function);
      const llvm::Function* function = module_.getFunction(name);
      if (!function)
        continue;
      for (const llvm::Instruction& instruction : llvm::instructions(*function))
        if (const auto* call = llvm::dyn_cast<llvm::CallBase>(&instruction))
          if (const llvm::Function* callee = call->getCalledFunction())
            reached.insert(callee->getName().str());
    }
  }

private:
  void take(llvm::Function& function) {
    if (function.isIntrinsic())
      return;
    const std::string name = function.getName().str();
    if (!definitions_) // most leaves call nothing
      definitions_.emplace(files_);
    const auto place = definitions_->of(name);
    if (!place)
      return;
    const std::string called = "'" + llvm::demangle(name) + "'";
    const auto leave = [&](const std::string& why) { function.addFnAttr(notTaken, called + " " + why); };
    const std::string file = llvm::sys::path::filename(place->file).str();
    if (llvm::is_contained(replaced_, name))
      return leave("is in " + file + ", and the linker puts another one in its place (--wrap, --defsym)");
    if (!place->other.empty())
      return leave(severalText(*place));
    if (place->isShared)
      return leave("is in the shared library " + file);
    bool isAny = false;
    for (llvm::Module* source : modulesOf(*place)) {
      isAny = true;
      const llvm::Function* definition = source->getFunction(name);
      if (!definition || definition->isDeclaration())
        continue;
      if (definition->isInterposable())
        return leave("is weak in " + file + ": another definition may take its place");
      std::string problem = source->getModuleInlineAsm().empty() ? "" : "assembler code";
      const auto parts = partsOf(*definition, problem);
      if (!problem.empty())
        return leave("is in " + file + " and has " + problem + ", which cannot be there twice");
      if (const std::string used = severalUsedBy(parts); !used.empty())
        return leave("is in " + file + " and uses " + used);
      link(*source, parts);
      return;
    }
    leave("is in " + file +
          (isAny ? ", and not in the code that it carries" : ", which neither strata cc nor strata c++ has compiled"));
  }

  /// What parts use that several libraries define: used from here, it would come from the first of them.
  std::string severalUsedBy(const llvm::SetVector<const llvm::GlobalValue*>& parts) const {
    for (const llvm::GlobalValue* part : parts)
      for (const llvm::GlobalValue* each : referredTo(*part)) {
        if (parts.contains(each) || !each->hasName() || each->getName().starts_with("llvm."))
          continue;
        if (const auto place = definitions_->of(each->getName()); place && !place->other.empty())
          return "'" + llvm::demangle(each->getName()) + "', which " + severalText(*place);
      }
    return "";
  }

  static std::string severalText(const Definitions::Place& place) {
    return "is in " + llvm::sys::path::filename(place.file).str() + " and in " +
           llvm::sys::path::filename(place.other).str() + ": the linker may take either";
  }

  /// Those that a file carries.
  std::vector<llvm::Module*> modulesOf(const Definitions::Place& place) {
    const auto [found, isNew] = carried_.try_emplace(place.path);
    if (isNew)
      for (const CarriedModule& carried : carriedModules(place.path, diagnostics_)) {
        auto module = llvm::parseBitcodeFile(llvm::MemoryBufferRef(carried.code, carried.file), module_.getContext());
        if (module && !llvm::verifyModule(**module))
          found->second.emplace_back(carried.file, std::move(*module));
        else if (!module)
          llvm::consumeError(module.takeError());
      }
    std::vector<llvm::Module*> modules;
    for (const auto& [file, module] : found->second)
      if (file == place.file)
        modules.push_back(module.get());
    return modules;
  }

  void link(const llvm::Module& source, const llvm::SetVector<const llvm::GlobalValue*>& parts) {
    llvm::ValueToValueMapTy values;
    auto copy =
        llvm::CloneModule(source, values, [&](const llvm::GlobalValue* value) { return parts.contains(value); });
    copy->setModuleInlineAsm("");
    for (llvm::GlobalVariable& variable : llvm::make_early_inc_range(copy->globals()))
      if (variable.getName().starts_with("llvm.") || (variable.isDeclaration() && variable.use_empty()))
        variable.eraseFromParent();
    for (llvm::Function& function : llvm::make_early_inc_range(*copy))
      if (function.isDeclaration() && function.use_empty())
        function.eraseFromParent();
    for (llvm::GlobalAlias& alias : llvm::make_early_inc_range(copy->aliases()))
      if (alias.use_empty())
        alias.eraseFromParent();
    const std::string name = parts.front()->getName().str();
    if (!llvm::Linker::linkModules(module_, std::move(copy)))
      return;
    if (llvm::Function* function = module_.getFunction(name)) // a declaration still
      function->addFnAttr(notTaken, "'" + llvm::demangle(name) + "' does not fit the rest of the program");
  }

  llvm::Module& module_;
  const std::vector<std::string>&files_, &replaced_;
  std::optional<Definitions> definitions_;
  DiagnosticEngine& diagnostics_;
  std::map<std::string, std::vector<std::pair<std::string, std::unique_ptr<llvm::Module>>>> carried_; // by path
};

} // namespace

void takeCallees(llvm::Module& module, llvm::ArrayRef<llvm::Function*> callers, const std::vector<std::string>& files,
                 const std::vector<std::string>& replaced, DiagnosticEngine& diagnostics) {
  Taker(module, files, replaced, diagnostics).run(callers);
}

} // namespace strata::linking
