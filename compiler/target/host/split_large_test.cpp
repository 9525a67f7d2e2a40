// Large functions come out in parts that compute the same: they are compiled before and after, and called with the same
// numbers.
#include "compiler/target/host/split_large.h"

#include "compiler/target/host/passes_testing.h"

#include "llvm/ExecutionEngine/Orc/LLJIT.h"
#include "llvm/Support/TargetSelect.h"

#include <random>

namespace strata::host {
namespace {

/// Random code in one function @f(n, p) that reads and writes 8 numbers at p: conditions, loops, and checks that end it
/// early. Values go along in registers.
class Program {
public:
  explicit Program(uint32_t seed, int statements) : random_(seed) {
    line("define i64 @f(i64 %n, ptr %p) {");
    label_ = "entry";
    line("entry:");
    last_ = "%n";
    for (int i = 0; i < statements; ++i)
      statement(0);
    line("  ret i64 " + last_);
    line("}");
    line("declare void @abort()");
  }
  const std::string& text() const { return text_; }

private:
  void line(const std::string& text) { text_ += text + "\n"; }
  std::string fresh() { return "%v" + std::to_string(numbers_++); }
  std::string block() { return "b" + std::to_string(numbers_++); }
  int below(int n) { return std::uniform_int_distribution<int>(0, n - 1)(random_); }
  void begin(const std::string& name) {
    label_ = name;
    line(name + ":");
  }

  void arithmetic() {
    const std::string at = fresh(), read = fresh(), sum = fresh(), mixed = fresh();
    line("  " + at + " = getelementptr i64, ptr %p, i64 " + std::to_string(below(8)));
    line("  " + read + " = load i64, ptr " + at);
    line("  " + sum + " = add i64 " + read + ", " + last_);
    line("  " + mixed + " = xor i64 " + sum + ", " + std::to_string(below(1000)));
    line("  store i64 " + mixed + ", ptr " + at);
    last_ = mixed;
  }

  void statement(int depth) {
    arithmetic();
    switch (below(depth > 2 ? 2 : 4)) {
    case 0:
      return;
    case 1: { // a check, which always holds
      const std::string holds = fresh(), fails = block(), goes = block();
      line("  " + holds + " = icmp ult i64 " + std::to_string(below(8)) + ", %n");
      line("  br i1 " + holds + ", label %" + goes + ", label %" + fails);
      begin(fails);
      line("  call void @abort()");
      line("  unreachable");
      return begin(goes);
    }
    case 2: { // a condition
      const std::string holds = fresh(), then = block(), join = block(), from = label_, before = last_;
      line("  " + holds + " = icmp sgt i64 " + last_ + ", " + std::to_string(below(100)));
      line("  br i1 " + holds + ", label %" + then + ", label %" + join);
      begin(then);
      for (int i = below(3); i >= 0; --i)
        statement(depth + 1);
      line("  br label %" + join);
      const std::string end = label_, value = last_;
      begin(join);
      last_ = fresh();
      return line("  " + last_ + " = phi i64 [" + before + ", %" + from + "], [" + value + ", %" + end + "]");
    }
    default: { // a loop
      const std::string body = block(), leave = block(), count = fresh(), carried = fresh(), more = fresh(),
                        again = fresh(), from = label_, before = last_;
      line("  br label %" + body);
      // Its end is known when it has been written.
      const size_t at = text_.size();
      begin(body);
      last_ = carried;
      for (int i = below(3); i >= 0; --i)
        statement(depth + 1);
      line("  " + more + " = add i64 " + count + ", 1");
      line("  " + again + " = icmp ult i64 " + more + ", 3");
      line("  br i1 " + again + ", label %" + body + ", label %" + leave);
      const std::string phis = "  " + count + " = phi i64 [0, %" + from + "], [" + more + ", %" + label_ + "]\n  " +
                               carried + " = phi i64 [" + before + ", %" + from + "], [" + last_ + ", %" + label_ +
                               "]\n";
      text_.insert(at + body.size() + 2, phis);
      return begin(leave);
    }
    }
  }

  std::mt19937 random_;
  std::string text_, label_, last_;
  int numbers_ = 0;
};

using Numbers = std::vector<int64_t>;

/// What @f gives for numbers, and leaves of them.
std::pair<int64_t, Numbers> result(std::unique_ptr<llvm::Module> module, std::unique_ptr<llvm::LLVMContext> context) {
  llvm::InitializeNativeTarget();
  llvm::InitializeNativeTargetAsmPrinter();
  auto builder = llvm::cantFail(llvm::orc::JITTargetMachineBuilder::detectHost());
  builder.setCodeGenOptLevel(llvm::CodeGenOptLevel::None);
  auto jit = llvm::cantFail(llvm::orc::LLJITBuilder().setJITTargetMachineBuilder(std::move(builder)).create());
  llvm::cantFail(jit->addIRModule(llvm::orc::ThreadSafeModule(std::move(module), std::move(context))));
  auto* f = llvm::cantFail(jit->lookup("f")).toPtr<int64_t (*)(int64_t, int64_t*)>();
  Numbers numbers = {5, -3, 88, 1, 0, 17, -41, 2};
  const int64_t given = f(8, numbers.data());
  return {given, numbers};
}

std::pair<int64_t, Numbers> run(const std::string& text, bool isSplit, size_t& parts, size_t& largest) {
  auto context = std::make_unique<llvm::LLVMContext>();
  llvm::SMDiagnostic wrong;
  auto module = llvm::parseAssemblyString(text, wrong, *context);
  EXPECT_TRUE(module) << wrong.getMessage().str();
  if (!module)
    return {};
  if (isSplit)
    splitLarge(*module);
  EXPECT_FALSE(llvm::verifyModule(*module, &llvm::errs()));
  parts = largest = 0;
  for (const llvm::Function& function : *module)
    if (!function.isDeclaration()) {
      ++parts;
      largest = std::max(largest, function.size());
    }
  return result(std::move(module), std::move(context));
}

TEST(SplitLarge, RandomFunctionsComputeTheSame) {
  size_t split = 0;
  for (uint32_t seed = 1; seed <= 6; ++seed) {
    const Program program(seed, seed % 3 ? 900 : 300);
    size_t parts = 0, largest = 0, before = 0;
    const auto whole = run(program.text(), false, parts, before);
    EXPECT_EQ(run(program.text(), true, parts, largest), whole) << "seed " << seed;
    if (before > manyBlocks) {
      EXPECT_GT(parts, 1U) << "seed " << seed;
      EXPECT_LT(largest, before / 2) << "seed " << seed;
      ++split;
    } else {
      EXPECT_EQ(parts, 1U);
    }
  }
  EXPECT_GE(split, 2U);
}

} // namespace
} // namespace strata::host
