// Parts refer to each other's functions and variables, keep what has a place in the whole once, and are the same each
// time.
#include "compiler/target/host/emit_in_parts.h"

#include "llvm/AsmParser/Parser.h"
#include "llvm/IR/LLVMContext.h"
#include "llvm/Object/ObjectFile.h"
#include "llvm/Support/SourceMgr.h"

#include <gtest/gtest.h>

#include <set>

namespace strata::host {
namespace {

/// A module of so many internal functions of many instructions, each of which calls the next and changes one variable.
std::string manyFunctions(unsigned count) {
  std::string text =
      "@state = internal global i64 1\n@table = private unnamed_addr constant [2 x i64] [i64 3, i64 5]\n"
      "@llvm.global_ctors = appending global [1 x { i32, ptr, ptr }] [{ i32, ptr, ptr } { i32 65535, ptr "
      "@begin, ptr null }]\n"
      "define internal void @begin() { call i64 @f0(i64 1) ret void }\n"
      "define i64 @f" +
      std::to_string(count) + "(i64 %x) { ret i64 %x }\n";
  for (unsigned number = 0; number < count; ++number) {
    text += "define internal i64 @f" + std::to_string(number) + "(i64 %x0) {\n";
    constexpr unsigned steps = 300;
    for (unsigned step = 0; step < steps; ++step)
      text += "  %x" + std::to_string(step + 1) + " = mul i64 %x" + std::to_string(step) + ", %x0\n";
    text += "  %p = getelementptr i64, ptr @table, i64 %x0\n  %t = load i64, ptr %p\n  %s = load i64, ptr @state\n"
            "  %u = add i64 %t, %s\n  store i64 %u, ptr @state\n  %y = call i64 @f" +
            std::to_string(number + 1) + "(i64 %x300)\n  ret i64 %y\n}\n";
  }
  return text;
}

std::vector<std::string> objectsOf(const std::string& text, unsigned most, target::Sanitizers sanitizers = {}) {
  SourceManager sources;
  DiagnosticEngine diagnostics(sources);
  llvm::LLVMContext context;
  llvm::SMDiagnostic problem;
  auto module = llvm::parseAssemblyString(text, problem, context);
  EXPECT_TRUE(module) << problem.getMessage().str();
  CodeOptions options;
  options.optimization = 0;
  options.sanitizers = sanitizers;
  EXPECT_TRUE(optimize(*module, options, diagnostics));
  const auto objects = emitInParts(*module, options, most, diagnostics);
  EXPECT_TRUE(objects) << diagnostics.render({});
  return objects.value_or(std::vector<std::string>());
}

/// The symbols that objects define, and those that they only name.
std::pair<std::multiset<std::string>, std::multiset<std::string>> symbolsOf(const std::vector<std::string>& objects) {
  std::pair<std::multiset<std::string>, std::multiset<std::string>> found;
  for (const std::string& object : objects) {
    auto file = llvm::cantFail(llvm::object::ObjectFile::createObjectFile(llvm::MemoryBufferRef(object, "part")));
    for (const llvm::object::SymbolRef& symbol : file->symbols()) {
      const uint32_t flags = llvm::cantFail(symbol.getFlags());
      const std::string name = llvm::cantFail(symbol.getName()).str();
      if (flags & llvm::object::SymbolRef::SF_Undefined)
        found.second.insert(name);
      else if (flags & llvm::object::SymbolRef::SF_Global)
        found.first.insert(name);
    }
  }
  return found;
}

TEST(EmitInParts, PartsNameWhatOthersHave) {
  const auto objects = objectsOf(manyFunctions(20), 4);
  ASSERT_EQ(objects.size(), 4u);
  const auto [defined, named] = symbolsOf(objects);
  EXPECT_EQ(defined.size(), 23u); // the functions, the constructor and the variable, each once
  for (const std::string& name : named)
    EXPECT_TRUE(name == "_GLOBAL_OFFSET_TABLE_" || defined.contains(name)) << name;
  EXPECT_TRUE(defined.contains("f7.strata"));
  EXPECT_TRUE(defined.contains("f20"));
  EXPECT_EQ(objects, objectsOf(manyFunctions(20), 4));
}

TEST(EmitInParts, WhatIsSmallOrWatchedStaysTogether) {
  EXPECT_EQ(objectsOf(manyFunctions(3), 4).size(), 1u);
  EXPECT_EQ(objectsOf(manyFunctions(20), 1).size(), 1u);
  EXPECT_EQ(objectsOf(manyFunctions(20), 4, {.address = true}).size(), 1u);
}

TEST(EmitInParts, GroupsAreTakenApartAndOtherNamesAreNot) {
  const std::string many = manyFunctions(20);
  std::string grouped = "$group = comdat any\n" + many;
  for (const char* number : {"3", "4", "5", "6"})
    grouped += "define linkonce_odr i64 @g" + std::string(number) + "(i64 %x) comdat($group) {\n  %y = call i64 @f" +
               number + "(i64 %x)\n  ret i64 %y\n}\n";
  const auto objects = objectsOf(grouped, 4);
  ASSERT_EQ(objects.size(), 4u);
  for (const std::string& object : objects) {
    const auto file = llvm::cantFail(llvm::object::ObjectFile::createObjectFile(llvm::MemoryBufferRef(object, "part")));
    for (const llvm::object::SectionRef& section : file->sections())
      EXPECT_NE(llvm::cantFail(section.getName()), ".group");
  }
  EXPECT_TRUE(symbolsOf(objects).first.contains("g5"));
  EXPECT_EQ(objectsOf(many + "@other = alias i64 (i64), ptr @f7\n", 4).size(), 1u);
}

TEST(EmitInParts, ErrorsOfAPartAreReported) {
  SourceManager sources;
  DiagnosticEngine diagnostics(sources);
  llvm::LLVMContext context;
  llvm::SMDiagnostic problem;
  auto module = llvm::parseAssemblyString(
      manyFunctions(20) + "define void @bad() { call void asm sideeffect \"nonsense\", \"\"() ret void }", problem,
      context);
  CodeOptions options;
  options.optimization = 0;
  ASSERT_TRUE(optimize(*module, options, diagnostics));
  EXPECT_FALSE(emitInParts(*module, options, 4, diagnostics));
  ASSERT_EQ(diagnostics.errorCount(), 1u) << diagnostics.render({});
  EXPECT_STREQ(diagnostics.all()[0].kind->code, "host-code-generation");
}

} // namespace
} // namespace strata::host
