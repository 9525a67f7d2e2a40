// LLVM passes on programs in LLVM's notation, for the tests of them: parsed, run, verified and printed.
#pragma once

#include "llvm/AsmParser/Parser.h"
#include "llvm/IR/LLVMContext.h"
#include "llvm/IR/Module.h"
#include "llvm/IR/Verifier.h"
#include "llvm/Passes/PassBuilder.h"
#include "llvm/Support/SourceMgr.h"
#include "llvm/Support/raw_ostream.h"

#include <gtest/gtest.h>

#include <string>

namespace strata::host {

/// A module as text, once it has been verified.
inline std::string printed(llvm::Module& module) {
  std::string text;
  llvm::raw_string_ostream stream(text);
  EXPECT_FALSE(llvm::verifyModule(module, &stream));
  stream << module;
  return text;
}

/// The module after the passes that `add` adds, as the machine (null: any) has them.
inline std::string after(const std::string& text, llvm::TargetMachine* machine,
                         llvm::function_ref<void(llvm::PassBuilder&, llvm::ModulePassManager&)> add) {
  llvm::LLVMContext context;
  llvm::SMDiagnostic wrong;
  std::unique_ptr<llvm::Module> module = llvm::parseAssemblyString(text, wrong, context);
  if (!module)
    return wrong.getMessage().str();
  llvm::LoopAnalysisManager loops;
  llvm::FunctionAnalysisManager functions;
  llvm::CGSCCAnalysisManager components;
  llvm::ModuleAnalysisManager modules;
  llvm::PassBuilder builder(machine);
  builder.registerModuleAnalyses(modules);
  builder.registerCGSCCAnalyses(components);
  builder.registerFunctionAnalyses(functions);
  builder.registerLoopAnalyses(loops);
  builder.crossRegisterProxies(loops, functions, components, modules);
  llvm::ModulePassManager passes;
  add(builder, passes);
  passes.run(*module, modules);
  return printed(*module);
}

} // namespace strata::host
