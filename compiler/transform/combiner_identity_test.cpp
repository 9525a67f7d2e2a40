// Combiners that are recognised, with their operations and identities, and near misses that are not.
#include "compiler/transform/combiner_identity.h"

#include "mlir/IR/Verifier.h"
#include "mlir/Parser/Parser.h"
#include "gtest/gtest.h"

#include <cmath>

using namespace mlir;
using namespace strata::transform;
namespace svm = strata::svm;

namespace {

using Is = CombinerOperation;

class Combiners : public testing::Test {
protected:
  Combiners() {
    DialectRegistry registry;
    svm::registerDialects(registry);
    context_.appendDialectRegistry(registry);
    context_.loadAllAvailableDialects();
  }

  std::optional<ElementwiseCombiner> recognize(const std::string& text) {
    module_ = parseSourceString<ModuleOp>(text, &context_);
    EXPECT_TRUE(module_) << text;
    if (!module_)
      return std::nullopt;
    return elementwiseCombiner(*module_->getOps<svm::KernelOp>().begin());
  }

  /// A combiner of single elements; `body` computes %r from %x (of a) and %y (of b).
  std::optional<ElementwiseCombiner> scalar(const std::string& type, const std::string& body) {
    std::string block = "memref<" + type + ", strided<[], offset: ?>>";
    return recognize("svm.kernel @k(%a : " + block + " {svm.access = \"read\"}, %b : " + block +
                     " {svm.access = \"readwrite\"}) {\n%x = memref.load %a[] : " + block +
                     "\n%y = memref.load %b[] : " + block + "\n" + body + "\nmemref.store %r, %b[] : " + block +
                     "\nsvm.return\n}");
  }
  std::optional<Is> one(const std::string& type, const std::string& body) {
    std::optional<ElementwiseCombiner> found = scalar(type, body);
    if (!found)
      return std::nullopt;
    EXPECT_EQ(found->operations.size(), 1u);
    return found->operations.front();
  }

  /// A combiner of matrices of f32 whose nest is given; %n and %m are the extents of a, %bn and %bm those of b.
  bool matrix(const std::string& nest, const std::string& access = "readwrite") {
    std::string block = "memref<?x?xf32, strided<[?, 1], offset: ?>>";
    std::string text =
        "svm.kernel @k(%a : B {svm.access = \"read\"}, %b : B {svm.access = \"" + access +
        "\"}) {\n%c0 = arith.constant 0 : index\n%c1 = arith.constant 1 : index\n%c2 = arith.constant 2 : "
        "index\n%n = memref.dim %a, %c0 : B\n%m = memref.dim %a, %c1 : B\n%bn = memref.dim %b, %c0 : B\n"
        "%bm = memref.dim %b, %c1 : B\n" +
        nest + "\nsvm.return\n}";
    for (size_t at = 0; (at = text.find('B', at)) != std::string::npos; at += block.size())
      text.replace(at, 1, block);
    return recognize(text).has_value();
  }

  MLIRContext context_{MLIRContext::Threading::DISABLED};
  OwningOpRef<ModuleOp> module_;
};

const std::string addElement = "%x = memref.load %a[%i, %j] : B\n%y = memref.load %b[%i, %j] : B\n"
                               "%r = arith.addf %x, %y : f32\nmemref.store %r, %b[%i, %j] : B\n";

std::string rows(const std::string& body, const std::string& lower = "%c0", const std::string& upper = "%n",
                 const std::string& step = "%c1") {
  return "scf.for %i = " + lower + " to " + upper + " step " + step + " {\n" + body + "}\n";
}
std::string columns(const std::string& body, const std::string& upper = "%m") {
  return "scf.for %j = %c0 to " + upper + " step %c1 {\n" + body + "}\n";
}

// ---- operations ----

TEST_F(Combiners, ScalarOperations) {
  EXPECT_EQ(one("f32", "%r = arith.addf %x, %y : f32"), Is::AddFloat);
  EXPECT_EQ(one("f64", "%r = arith.mulf %y, %x : f64"), Is::MultiplyFloat);
  EXPECT_EQ(one("f32", "%r = arith.minimumf %x, %y : f32"), Is::MinimumFloat);
  EXPECT_EQ(one("f32", "%r = arith.maxnumf %x, %y : f32"), Is::MaximumNumber);
  EXPECT_EQ(one("i32", "%r = arith.addi %y, %x overflow<nsw> : i32"), Is::AddInteger);
  EXPECT_EQ(one("i32", "%r = arith.muli %y, %x : i32"), Is::MultiplyInteger);
  EXPECT_EQ(one("i32", "%r = arith.minsi %y, %x : i32"), Is::MinimumSigned);
  EXPECT_EQ(one("i64", "%r = arith.maxui %y, %x : i64"), Is::MaximumUnsigned);
  EXPECT_EQ(one("i32", "%r = arith.andi %y, %x : i32"), Is::And);
  EXPECT_EQ(one("i32", "%r = arith.ori %y, %x : i32"), Is::Or);
  EXPECT_EQ(one("i32", "%r = arith.xori %y, %x : i32"), Is::ExclusiveOr);
}

TEST_F(Combiners, OtherScalarOperations) {
  EXPECT_EQ(one("f32", "%r = arith.subf %y, %x : f32"), std::nullopt);
  EXPECT_EQ(one("f32", "%r = arith.addf %x, %x : f32"), std::nullopt);
  EXPECT_EQ(one("f32", "%r = arith.addf %y, %y : f32"), std::nullopt);
  EXPECT_EQ(one("f32", "%t = arith.addf %x, %y : f32\n%r = arith.addf %t, %x : f32"), std::nullopt);
  EXPECT_EQ(one("f32", "%t = arith.negf %x : f32\n%r = arith.addf %t, %y : f32"), std::nullopt);
  EXPECT_EQ(one("i32", "%r = arith.divsi %y, %x : i32"), std::nullopt);
  EXPECT_EQ(one("i32", "%c = arith.constant 1 : i32\n%d = arith.divsi %c, %x : i32\n%r = arith.addi %y, %x : i32"),
            std::nullopt); // may end the program
  EXPECT_EQ(one("i32", "%c = arith.constant true\nsvm.check %c, \"a\", \"b\"\n%r = arith.addi %y, %x : i32"),
            std::nullopt);
}

TEST_F(Combiners, ScalarByValue) {
  std::string block = "memref<f32, strided<[], offset: ?>>";
  EXPECT_TRUE(recognize("svm.kernel @k(%x : f32, %b : " + block +
                        " {svm.access = \"readwrite\"}) {\n%y = memref.load %b[] : " + block +
                        "\n%r = arith.addf %x, %y : f32\nmemref.store %r, %b[] : " + block + "\nsvm.return\n}"));
}

TEST_F(Combiners, SelectedMinimum) {
  auto select = [](const std::string& compare, const std::string& choice, const std::string& type) {
    return "%c = arith." + compare + " : " + type + "\n%r = arith.select %c, " + choice + " : " + type;
  };
  EXPECT_EQ(one("i32", select("cmpi slt, %x, %y", "%x, %y", "i32")), Is::MinimumSigned);
  EXPECT_EQ(one("i32", select("cmpi sgt, %y, %x", "%x, %y", "i32")), Is::MinimumSigned);
  EXPECT_EQ(one("i32", select("cmpi sle, %y, %x", "%x, %y", "i32")), Is::MaximumSigned);
  EXPECT_EQ(one("i32", select("cmpi ult, %x, %y", "%y, %x", "i32")), Is::MaximumUnsigned);
  EXPECT_EQ(one("i32", select("cmpi uge, %x, %y", "%y, %x", "i32")), Is::MinimumUnsigned);
  EXPECT_EQ(one("i32", select("cmpi eq, %x, %y", "%y, %x", "i32")), std::nullopt);
  EXPECT_EQ(one("i32", select("cmpi slt, %x, %x", "%y, %x", "i32")), std::nullopt);
  EXPECT_EQ(one("f32", select("cmpf olt, %x, %y", "%x, %y", "f32")), Is::MinimumByComparing);
  EXPECT_EQ(one("f32", select("cmpf ogt, %y, %x", "%x, %y", "f32")), Is::MinimumByComparing);
  EXPECT_EQ(one("f32", select("cmpf oge, %x, %y", "%x, %y", "f32")), Is::MaximumByComparing);
  EXPECT_EQ(one("f32", select("cmpf uge, %x, %y", "%y, %x", "f32")), Is::MinimumByComparing);
  EXPECT_EQ(one("f32", select("cmpf ult, %x, %y", "%y, %x", "f32")), Is::MaximumByComparing);
  // Here a NaN in b gives way to a: no constant in b's place would.
  EXPECT_EQ(one("f32", select("cmpf olt, %y, %x", "%y, %x", "f32")), std::nullopt);
  EXPECT_EQ(one("f32", select("cmpf ult, %x, %y", "%x, %y", "f32")), std::nullopt);
}

TEST_F(Combiners, ConditionalStore) {
  std::string block = "memref<i32, strided<[], offset: ?>>";
  std::string before = "svm.kernel @k(%a : " + block + " {svm.access = \"read\"}, %b : " + block +
                       " {svm.access = \"readwrite\"}) {\n%x = memref.load %a[] : " + block +
                       "\n%y = memref.load %b[] : " + block +
                       "\n%c = arith.cmpi sgt, %x, %y : i32\nscf.if %c {\nmemref.store ";
  std::string after = ", %b[] : " + block + "\n}\nsvm.return\n}";
  std::optional<ElementwiseCombiner> found = recognize(before + "%x" + after);
  ASSERT_TRUE(found);
  EXPECT_EQ(found->operations.front(), Is::MaximumSigned);
  EXPECT_FALSE(recognize(before + "%y" + after));
}

TEST_F(Combiners, SmallIntegersAreComputedAsInt) {
  std::string wide = "%p = arith.extsi %x : i8 to i32\n%q = arith.extsi %y : i8 to i32\n";
  std::string cut = "%r = arith.trunci %s : i32 to i8";
  EXPECT_EQ(one("i8", wide + "%s = arith.addi %p, %q : i32\n" + cut), Is::AddInteger);
  EXPECT_EQ(one("i8", wide + "%c = arith.cmpi slt, %p, %q : i32\n%s = arith.select %c, %p, %q : i32\n" + cut),
            Is::MinimumSigned);
  std::string unsignedWide = "%p = arith.extui %x : i8 to i32\n%q = arith.extui %y : i8 to i32\n";
  EXPECT_EQ(one("i8", unsignedWide + "%c = arith.cmpi slt, %p, %q : i32\n%r = arith.select %c, %x, %y : i8"),
            Is::MinimumUnsigned);
  EXPECT_EQ(one("i8", "%p = arith.extui %x : i8 to i32\n%q = arith.extsi %y : i8 to i32\n"
                      "%c = arith.cmpi slt, %p, %q : i32\n%r = arith.select %c, %x, %y : i8"),
            std::nullopt);
}

TEST_F(Combiners, RecordsMemberByMember) {
  std::string type = "!svm.record<\"pair\", low: f32, high: f32, count: i32>";
  std::string members = "%xl = svm.field %x[0] : R -> f32\n%yl = svm.field %y[0] : R -> f32\n"
                        "%xh = svm.field %x[1] : R -> f32\n%yh = svm.field %y[1] : R -> f32\n"
                        "%xc = svm.field %x[2] : R -> i32\n%yc = svm.field %y[2] : R -> i32\n";
  auto expand = [&](std::string text) {
    for (size_t at = 0; (at = text.find('R', at)) != std::string::npos; at += type.size())
      text.replace(at, 1, type);
    return text;
  };
  std::string operations =
      "%l = arith.minnumf %xl, %yl : f32\n%h = arith.maxnumf %xh, %yh : f32\n%c = arith.addi %xc, %yc : i32\n";
  std::optional<ElementwiseCombiner> found =
      scalar(type, expand(members + operations + "%r = svm.record(%l, %h, %c) : (f32, f32, i32) -> R\n"));
  ASSERT_TRUE(found);
  EXPECT_EQ(found->operations, (SmallVector<Is>{Is::MinimumNumber, Is::MaximumNumber, Is::AddInteger}));
  // Statement by statement, as a front end writes b.low = …; b.high = …;
  EXPECT_TRUE(
      scalar(type, expand(members + operations +
                          "%s = svm.with_field %y[2] = %c : i32 in R\n%t = svm.with_field %s[0] = %l : f32 in R\n"
                          "%r = svm.with_field %t[1] = %h : f32 in R\n")));
  // One member is left as it was; one is combined with another.
  EXPECT_FALSE(
      scalar(type, expand(members + operations +
                          "%s = svm.with_field %y[2] = %c : i32 in R\n%r = svm.with_field %s[0] = %l : f32 in R\n")));
  EXPECT_FALSE(scalar(type, expand(members + "%l = arith.minnumf %xl, %yh : f32\n%h = arith.maxnumf %xh, %yh : f32\n"
                                             "%c = arith.addi %xc, %yc : i32\n"
                                             "%r = svm.record(%l, %h, %c) : (f32, f32, i32) -> R\n")));
}

// ---- nests ----

TEST_F(Combiners, Matrices) {
  EXPECT_TRUE(matrix(rows(columns(addElement))));
  EXPECT_TRUE(matrix(columns(rows(addElement))));
  EXPECT_TRUE(matrix(rows(columns(addElement, "%bm"))));
  const std::string check = "%k = arith.cmpi sle, %n, %c2 : index\nsvm.check %k, \"a\", \"b\"\n";
  EXPECT_TRUE(matrix(check + rows(columns(addElement))));
  EXPECT_TRUE(matrix(rows(check + columns(addElement))));
  EXPECT_FALSE(matrix(rows(columns(check + addElement))));
  EXPECT_TRUE(matrix(rows(columns("svm.index %i in %n of \"a\", 0\nsvm.index %j in %m of \"a\", 1\n" + addElement))));
  EXPECT_TRUE(
      matrix("%n32 = arith.index_cast %n : index to i32\n%z = arith.constant 0 : i32\n%o = arith.constant 1 : i32\n"
             "scf.for %k = %z to %n32 step %o : i32 {\n%i = arith.index_cast %k : i32 to index\n" +
             columns(addElement) + "}\n"));
}

TEST_F(Combiners, NestsThatMissElements) {
  EXPECT_FALSE(matrix(rows(columns(addElement), "%c1")));
  EXPECT_FALSE(matrix(rows(columns(addElement), "%c0", "%n", "%c2")));
  EXPECT_FALSE(matrix("%l = arith.subi %n, %c1 : index\n" + rows(columns(addElement), "%c0", "%l")));
  EXPECT_FALSE(matrix(rows(columns(addElement, "%n")))); // the other dimension's extent
  EXPECT_FALSE(matrix("%j = arith.constant 3 : index\n" + rows(addElement)));
  EXPECT_FALSE(matrix("%n8 = arith.index_cast %n : index to i8\n%w = arith.index_cast %n8 : i8 to index\n" +
                      rows(columns(addElement), "%c0", "%w")));
}

TEST_F(Combiners, NestsThatCombineMore) {
  EXPECT_FALSE(matrix(rows(columns(addElement)) + rows(columns(addElement))));
  EXPECT_FALSE(matrix(rows(columns("scf.for %k = %c0 to %c2 step %c1 {\n" + addElement + "}\n"))));
  std::string zero = "%zero = arith.constant 0.0 : f32\n";
  EXPECT_FALSE(matrix(zero + rows(columns(addElement) + "memref.store %zero, %b[%c0, %c0] : B\n")));
  EXPECT_FALSE(matrix(zero + rows(columns("memref.store %zero, %b[%i, %j] : B\n" + addElement))));
  EXPECT_FALSE(matrix(rows(columns(addElement + "memref.store %r, %b[%j, %i] : B\n"))));
}

TEST_F(Combiners, OtherElements) {
  auto element = [](const std::string& a, const std::string& b, const std::string& into) {
    return "%u = arith.addi %j, %c1 : index\n%x = memref.load %a[" + a + "] : B\n%y = memref.load %b[" + b +
           "] : B\n%r = arith.addf %x, %y : f32\nmemref.store %r, %b[" + into + "] : B\n";
  };
  EXPECT_TRUE(matrix(rows(columns(element("%i, %j", "%i, %j", "%i, %j")))));
  EXPECT_FALSE(matrix(rows(columns(element("%j, %i", "%i, %j", "%i, %j")))));
  EXPECT_FALSE(matrix(rows(columns(element("%i, %u", "%i, %j", "%i, %j")))));
  EXPECT_FALSE(matrix(rows(columns(element("%i, %j", "%i, %u", "%i, %j")))));
  EXPECT_FALSE(matrix(rows(columns(element("%i, %j", "%i, %j", "%i, %u")))));
  EXPECT_FALSE(matrix(rows(columns(element("%i, %c0", "%i, %j", "%i, %j")))));
}

// ---- identities ----

TEST_F(Combiners, Identities) {
  Type f32 = Float32Type::get(&context_), i8 = IntegerType::get(&context_, 8);
  auto floating = [&](Is operation) { return cast<FloatAttr>(identityOf(operation, f32)).getValue().convertToFloat(); };
  auto integer = [&](Is operation) { return cast<IntegerAttr>(identityOf(operation, i8)).getValue().getSExtValue(); };
  EXPECT_EQ(floating(Is::AddFloat), 0);
  EXPECT_TRUE(std::signbit(floating(Is::AddFloat)));
  EXPECT_EQ(floating(Is::MultiplyFloat), 1);
  EXPECT_EQ(floating(Is::MinimumFloat), INFINITY);
  EXPECT_EQ(floating(Is::MaximumByComparing), -INFINITY);
  EXPECT_TRUE(std::isnan(floating(Is::MinimumNumber)));
  EXPECT_EQ(integer(Is::AddInteger), 0);
  EXPECT_EQ(integer(Is::MultiplyInteger), 1);
  EXPECT_EQ(integer(Is::MinimumSigned), 127);
  EXPECT_EQ(integer(Is::MaximumSigned), -128);
  EXPECT_EQ(integer(Is::MinimumUnsigned), -1);
  EXPECT_EQ(integer(Is::MaximumUnsigned), 0);
  EXPECT_EQ(integer(Is::And), -1);
  EXPECT_EQ(integer(Is::Or), 0);
  EXPECT_EQ(integer(Is::ExclusiveOr), 0);
}

TEST_F(Combiners, IdentityOfAFloatCombinesWithEveryValue) {
  auto identity = [&](Is operation) {
    return cast<FloatAttr>(identityOf(operation, Float32Type::get(&context_))).getValue().convertToFloat();
  };
  auto same = [](float a, float b) {
    return std::isnan(a) ? std::isnan(b) : std::bit_cast<int>(a) == std::bit_cast<int>(b);
  };
  for (float x : {0.0f, -0.0f, 1.5f, -1e-42f, INFINITY, -INFINITY, NAN}) {
    EXPECT_TRUE(same(x + identity(Is::AddFloat), x)) << x;
    EXPECT_TRUE(same(x * identity(Is::MultiplyFloat), x)) << x;
    EXPECT_TRUE(same(std::fmin(x, identity(Is::MinimumNumber)), x)) << x;
    EXPECT_TRUE(same(std::fmax(identity(Is::MaximumNumber), x), x)) << x;
    auto least = [](float a, float b) { return a < b ? a : b; };
    EXPECT_TRUE(same(least(identity(Is::MinimumByComparing), x), x)) << x;
  }
}

TEST_F(Combiners, FillingABlock) {
  std::string type = "!svm.record<\"outer\", inner: !svm.record<\"inner\", p: f32, q: i32>, r: f64>";
  std::string block = "memref<?x?x" + type + ", strided<[?, 1], offset: ?>>";
  OwningOpRef<ModuleOp> module =
      parseSourceString<ModuleOp>("func.func @f(%b : " + block + ") {\nreturn\n}", &context_);
  ASSERT_TRUE(module);
  func::FuncOp function = *module->getOps<func::FuncOp>().begin();
  OpBuilder builder = OpBuilder::atBlockBegin(&function.getBody().front());
  ElementwiseCombiner combiner{{Is::AddFloat, Is::MinimumSigned, Is::MultiplyFloat}};
  fillWithIdentity(builder, function.getLoc(), combiner, function.getArgument(0));
  EXPECT_TRUE(succeeded(verify(*module)));
  int stores = 0, loops = 0, records = 0;
  module->walk([&](memref::StoreOp store) {
    ++stores;
    EXPECT_EQ(store.getMemRef(), function.getArgument(0));
  });
  module->walk([&](scf::ForOp) { ++loops; });
  module->walk([&](svm::RecordOp) { ++records; });
  EXPECT_EQ(stores, 1);
  EXPECT_EQ(loops, 2);
  EXPECT_EQ(records, 2);
}

} // namespace
