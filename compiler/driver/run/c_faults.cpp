// The names are collected before the run: a signal handler cannot look for them.
#include "compiler/driver/run/c_faults.h"

#include "compiler/ir/locations.h"
#include "compiler/ir/svm.h"
#include "runtime/core/stack_guard.h"

#include "mlir/Dialect/Func/IR/FuncOps.h"

#include <atomic>
#include <csignal>
#include <unistd.h>

namespace strata::driver {

namespace {

/// The functions in C; never freed, since a fault may come as late as at the end of the process.
struct Functions {
  std::string list, file;
  uint32_t line = 0, column = 0; // where the program declares the only one

  void add(const std::string& what, mlir::Location where) {
    auto place = where->findInstanceOf<mlir::FileLineColLoc>();
    const bool isFirst = list.empty();
    file = isFirst && place ? place.getFilename().str() : "";
    line = isFirst && place ? place.getLine() : 0;
    column = isFirst && place ? place.getColumn() : 0;
    list += (isFirst ? "" : ", ") + what;
  }
};

Functions* functions = nullptr;
StrataFailureHandler showFault = nullptr;

StrataCheck checkOf(const char* code, const char* message, const std::string& help) {
  return {code, message, help.c_str(), functions->file.c_str(), functions->line, functions->column};
}

[[noreturn]] void fail(const char* code, const char* message, const std::string& help, const int64_t* values,
                       int32_t count) {
  const StrataCheck check = checkOf(code, message, help);
  strata_fail(&check, values, count);
  __builtin_unreachable();
}

void reportNull(size_t address, const void*) {
  const auto at = static_cast<int64_t>(address);
  fail("runtime-null-pointer", "the program reads or writes at address {0}, where nothing is",
       "a function in C or C++ follows a null pointer; the program has " + functions->list, &at, 1);
}

void reportWild(bool isReadOnly, const void*) {
  static std::atomic<bool> isShown{false};
  if (isShown.exchange(true))
    while (true)
      pause(); // another thread's fault ends the process
  const std::string help =
      (isReadOnly ? "a function in C or C++ writes to a constant, such as a string's; the program has "
                  : "a function in C or C++ follows a pointer that leads nowhere, or leaves its arrays; "
                    "the program has ") +
      functions->list;
  const StrataCheck check = checkOf("runtime-wild-pointer",
                                    isReadOnly ? "the program writes to memory that may only be read"
                                               : "the program reads or writes where it has no memory",
                                    help);
  showFault(&check, nullptr, 0, check.message);
}

void reportAbort(int) {
  fail("runtime-abort", "the program was ended by abort()",
       "a function in C or C++ called it, or an assertion in one does not hold; the program has " + functions->list,
       nullptr, 0);
}

} // namespace

void reportFaultsInC(mlir::ModuleOp program, StrataFailureHandler show) {
  constexpr llvm::StringLiteral task = "strata.ext.", function = "external.";
  functions = new Functions;
  for (mlir::Operation& each : program.getOps()) {
    if (auto kernel = llvm::dyn_cast<svm::KernelOp>(each); kernel && kernel.getLlvm()) {
      if (llvm::StringRef name = kernel.getLlvm()->getLeafReference().getValue(); name.consume_front(task))
        functions->add("the external task '" + name.str() + "'", kernel.getLoc());
    } else if (auto declared = llvm::dyn_cast<mlir::func::FuncOp>(each)) {
      if (llvm::StringRef name = declared.getName(); name.consume_front(function))
        functions->add("the external function '" + name.str() + "'", declared.getLoc());
    }
  }
  if (functions->list.empty())
    return;
  showFault = show;
  runtime::setNullHandler(reportNull);
  runtime::setWildHandler(reportWild);
  std::signal(SIGABRT, reportAbort);
}

} // namespace strata::driver
