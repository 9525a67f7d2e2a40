// Sentences about notations, and what the command asks of a program's name.
#include "compiler/driver/compile/notations.h"

#include "llvm/ADT/STLExtras.h"

namespace strata::driver {

namespace {

constexpr llvm::StringLiteral dialectEnding = ".mlir", plainInterface = "plain";

} // namespace

const notation::Description* descriptionOf(llvm::StringRef file) {
  const notation::Notation* found = notation::notationOf(file);
  return found ? &found->description() : nullptr;
}

bool isDialect(llvm::StringRef file) {
  return file.ends_with(dialectEnding);
}

bool isSymbolic(llvm::StringRef file) {
  return file.ends_with(".sym");
}

bool isArrayTrace(llvm::StringRef file) {
  return file.ends_with(".trace");
}

bool takesFunctions(llvm::StringRef file) {
  const notation::Description* found = descriptionOf(file);
  return found && found->filesOfC == notation::FilesOfC::Functions;
}

std::string listed(const std::vector<std::string>& words, const std::string& last) {
  std::string text;
  for (size_t position = 0; position < words.size(); ++position)
    text += (position == 0 ? "" : position + 1 < words.size() ? ", " : " " + last + " ") + words[position];
  return text;
}

std::vector<std::string> ofNotations(llvm::function_ref<std::string(const notation::Description&)> text) {
  std::vector<std::string> result;
  for (const notation::Notation* each : notation::allNotations())
    if (std::string of = text(each->description()); !of.empty())
      result.push_back(std::move(of));
  return result;
}

std::vector<std::string> notationsThat(llvm::function_ref<bool(const notation::Description&)> holds) {
  return ofNotations([&](const notation::Description& each) { return holds(each) ? each.name : std::string(); });
}

std::string programKinds(bool withGraphs) {
  std::vector<std::string> kinds =
      ofNotations([](const notation::Description& each) { return each.name + " (" + each.ending + ")"; });
  kinds.push_back("the dialect (" + dialectEnding.str() + ")");
  if (withGraphs)
    kinds.push_back("HPVM IR (.ll, .bc)");
  return listed(kinds);
}

std::vector<std::string> programEndings() {
  return ofNotations([](const notation::Description& each) { return each.ending; });
}

std::string aProgramOf(const notation::Description& notation) {
  return notation.article + " " + notation.name + " program";
}

std::vector<target::Symbol> symbolsOfNotations() {
  std::vector<target::Symbol> result;
  for (const notation::Notation* each : notation::allNotations())
    result.insert(result.end(), each->description().symbols.begin(), each->description().symbols.end());
  return result;
}

std::vector<const notation::EntryInterface*> entryInterfaces() {
  std::vector<const notation::EntryInterface*> result;
  for (const notation::Notation* each : notation::allNotations())
    if (each->description().interface)
      result.push_back(each->description().interface);
  return result;
}

std::vector<std::string> interfaceNames() {
  std::vector<std::string> names{plainInterface.str()};
  for (const notation::EntryInterface* each : entryInterfaces())
    names.push_back(each->name);
  return names;
}

const notation::EntryInterface* entryInterface(llvm::StringRef name, llvm::StringRef program) {
  const notation::Description* notation = descriptionOf(program);
  if (name.empty())
    return notation ? notation->interface : nullptr;
  for (const notation::EntryInterface* each : entryInterfaces())
    if (each->name == name)
      return each;
  return nullptr;
}

} // namespace strata::driver
