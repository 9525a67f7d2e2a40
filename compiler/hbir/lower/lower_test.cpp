// Lowered programs, executed: the examples in all three forms, tiles and their order, data and its copies, against what
// C++ computes.
#include "compiler/hbir/lower/lower_testing.h"

#include "compiler/mapping/place.h"
#include "compiler/transform/prove_in_range.h"

#include "mlir/Pass/PassManager.h"
#include "mlir/Transforms/Passes.h"

namespace strata::hbir::testing {
namespace {

std::vector<std::string> forms(const std::string& name) {
  return {name + "/" + name + ".hbir", name + "/" + name + "_b.hbir", name + "/" + name + "_c.hbir"};
}

template <typename T>
std::vector<T> numbers(size_t count, int factor, int modulus) {
  std::vector<T> values(count);
  for (size_t i = 0; i < count; ++i)
    values[i] = static_cast<T>(static_cast<int>(i) * factor % modulus);
  return values;
}

/// Index checks that stay when the range analysis has had its turn.
int checksLeft(LoweredProgram& subject) {
  mlir::PassManager passes(&subject.context);
  passes.addPass(mlir::createCSEPass());
  passes.addPass(mlir::createCanonicalizerPass());
  passes.addPass(transform::createProveInRangePass());
  EXPECT_TRUE(mlir::succeeded(passes.run(*subject.lowered->module)));
  return subject.count<svm::IndexOp>();
}

TEST(HbirLower, VectorAdd) {
  for (const std::string& path : forms("vectadd"))
    for (const char* machine : {"host", "cell"}) {
      LoweredProgram subject(example(path), machine);
      ASSERT_TRUE(subject.lowered) << subject.rendered();
      auto a = numbers<float>(1000, 3, 1001), b = numbers<float>(1000, 7, 501);
      std::vector<float> c(1000);
      ASSERT_TRUE(subject.run({array(a), array(b), array(c)})) << subject.rendered();
      for (size_t i = 0; i < c.size(); ++i)
        ASSERT_EQ(c[i], a[i] + b[i]) << path << ' ' << i;
      EXPECT_EQ(checksLeft(subject), 0) << path;
    }
}

TEST(HbirLower, TheRecordPlacesThePrograms) {
  for (const char* machineName : {"host", "cell"})
    for (const char* path : {"vectadd/vectadd.hbir", "groups/groups_c.hbir", "histogram/histogram.hbir"}) {
      LoweredProgram subject(example(path), machineName);
      ASSERT_TRUE(subject.lowered) << subject.rendered();
      const mapping::FunctionPlacement& placement = subject.lowered->record.functions.at("main");
      EXPECT_EQ(placement.control, std::string(machineName) == "cell" ? "ppe" : "core");
      EXPECT_EQ(placement.blocks.at("A"), "main");
      EXPECT_GE(placement.loops.at("tiles").parts.at(0), 1);
      EXPECT_TRUE(
          mapping::place(*subject.lowered->module, subject.lowered->record, *subject.target, subject.diagnostics))
          << subject.rendered();
      EXPECT_TRUE(mapping::verifyPlaced(*subject.lowered->module, *subject.target, subject.diagnostics))
          << subject.rendered();
    }
}

TEST(HbirLower, ArgumentsHaveTheExtentsOfTheProgram) {
  LoweredProgram subject(example("vectadd/vectadd.hbir"));
  std::vector<float> a(1000), b(999), c(1000);
  EXPECT_FALSE(subject.run({array(a), array(b), array(c)}));
  EXPECT_EQ(subject.failure, "hbir-argument-extents");
  auto function = subject.lowered->module->lookupSymbol<mlir::func::FuncOp>("main");
  ASSERT_TRUE(function);
  EXPECT_EQ(function.getArgAttrOfType<mlir::StringAttr>(1, svm::SvmDialect::nameAttr).getValue(), "B");
  EXPECT_EQ(function.getArgAttrOfType<mlir::StringAttr>(1, svm::SvmDialect::accessAttr).getValue(), "read");
}

TEST(HbirLower, MatrixProduct) {
  for (const char* name : {"matmul", "matmul_local"})
    for (const std::string& path : forms(name)) {
      LoweredProgram subject(example(path));
      ASSERT_TRUE(subject.lowered) << subject.rendered();
      const int64_t m = 64, n = 48, p = 80;
      auto a = numbers<float>(m * p, 5, 7), b = numbers<float>(p * n, 3, 11);
      std::vector<float> c(m * n);
      ASSERT_TRUE(subject.run({matrix(a, m), matrix(b, p), matrix(c, m)})) << subject.rendered();
      for (int64_t i = 0; i < m; ++i)
        for (int64_t j = 0; j < n; ++j) {
          float sum = 0;
          for (int64_t k = 0; k < p; ++k)
            sum += a[i * p + k] * b[k * n + j];
          ASSERT_EQ(c[i * n + j], sum) << path << ' ' << i << ' ' << j;
        }
      EXPECT_EQ(checksLeft(subject), 0) << path;
    }
}

TEST(HbirLower, WaitingTiles) {
  for (const std::string& path : forms("prefix")) {
    LoweredProgram subject(example(path));
    ASSERT_TRUE(subject.lowered) << subject.rendered();
    auto a = numbers<int>(1000, 7, 13);
    std::vector<int> sums(1000), expected(1000);
    std::partial_sum(a.begin(), a.end(), expected.begin());
    ASSERT_TRUE(subject.run({array(a), array(sums)})) << subject.rendered();
    EXPECT_EQ(sums, expected) << path;
    // One poll in the loop that waits, one fence behind what it reads and one before the flag is raised; nothing else
    // is fenced.
    EXPECT_EQ(subject.count<svm::PollOp>(), 1);
    EXPECT_EQ(subject.count<svm::FenceOp>(), 2);
    subject.lowered->module->walk([](svm::ParallelOp tiles) { EXPECT_TRUE(tiles.getConcurrent()); });
    subject.lowered->module->walk([](svm::KernelOp kernel) { EXPECT_TRUE(kernel.isShared()); });
  }
  for (const std::string& path : forms("histogram")) {
    LoweredProgram subject(example(path));
    ASSERT_TRUE(subject.lowered) << subject.rendered();
    auto a = numbers<int>(1000, 5, 13);
    std::vector<int> bins(13), expected(13);
    for (int value : a)
      ++expected[static_cast<size_t>(value)];
    ASSERT_TRUE(subject.run({array(a), array(bins)})) << subject.rendered();
    EXPECT_EQ(bins, expected) << path;
    a[400] = 13;
    EXPECT_FALSE(subject.run({array(a), array(bins)}));
    EXPECT_EQ(subject.failure, "index-out-of-range");
  }
}

TEST(HbirLower, SeveralAndNestedGroups) {
  for (const std::string& path : forms("groups")) {
    LoweredProgram subject(example(path));
    ASSERT_TRUE(subject.lowered) << subject.rendered();
    auto a = numbers<int>(1000, 37, 499);
    std::vector<int> sums(8), highs(8), lows(8);
    ASSERT_TRUE(subject.run({array(a), array(sums), array(highs), array(lows)})) << subject.rendered();
    for (size_t piece = 0; piece < 8; ++piece) {
      auto first = a.begin() + static_cast<long>(piece * 125), last = first + 125;
      EXPECT_EQ(sums[piece], std::accumulate(first, last, 0)) << path;
      EXPECT_EQ(highs[piece], *std::max_element(first, last)) << path;
      EXPECT_EQ(lows[piece], *std::min_element(first, last)) << path;
    }
    if (path.find("_b") == std::string::npos)
      EXPECT_EQ(subject.output, "the first piece adds up to " + std::to_string(sums[0]) + "\n");
  }
}

TEST(HbirLower, BlocksOfOneTileRunInTextOrder) {
  LoweredProgram subject(onTiles("C : int[4][4] = block[4] { target.g[x]; device; };", R"(
  config.tg[x][y] { C[x][y] = x * 10 + y; }
  config.tg[1][2] { C[1][2] += 100; }
  config.tg[x][2] { C[x][2] = C[x][2] * 2; }
  config.tg[3][y] { C[3][y] = C[3][y] + 1000; }
  config.tg[x][y] { C[x][y] = C[x][y] + 1; }
)"));
  ASSERT_TRUE(subject.lowered) << subject.rendered();
  std::vector<int> c(16), expected(16);
  ASSERT_TRUE(subject.run({matrix(c, 4)})) << subject.rendered() << subject.text();
  for (int x = 0; x < 4; ++x)
    for (int y = 0; y < 4; ++y) {
      int value = x * 10 + y;
      value += x == 1 && y == 2 ? 100 : 0;
      value *= y == 2 ? 2 : 1;
      value += x == 3 ? 1000 : 0;
      expected[static_cast<size_t>(x * 4 + y)] = value + 1;
    }
  EXPECT_EQ(c, expected);
}

TEST(HbirLower, OnlyTilesWithCodeAreIterations) {
  LoweredProgram subject(R"(
target { memory g[1] { size 1G; width 8B; }; tile t[40000][50000]; }
config { group tg[40000][25000] { tile target.t[x][2*y+1]; }; group other[1][1] { tile target.t[x][y]; }; }
data { C : int[3] = block[1] { target.g[x]; device; }; }
code {
  config.tg[39999][2] { C[0] = tile_id + 7; }
  config.tg[39999][2] { C[1] = C[0] + 1; }
  config.other[x][y] { C[2] = x + y + 5; }
}
)");
  ASSERT_TRUE(subject.lowered) << subject.rendered();
  std::vector<int> c(3);
  ASSERT_TRUE(subject.run({array(c)})) << subject.rendered();
  EXPECT_EQ(c, (std::vector<int>{7, 8, 5}));
}

TEST(HbirLower, TilesAreFoundByTheirCoordinates) {
  // Negative multiples, mixed radix numbers, and coordinates that are no sum of multiples.
  for (const char* tile : {"target.t[7-x][y*2+1]", "target.t[2*(3-x)+1-y/4][3-y%4]", "target.t[x*2+y/4][y%4]"}) {
    LoweredProgram subject(R"(
target { memory g[1] { size 1M; width 8B; }; tile t[8][16]; }
config { group tg[4][8] { tile )" +
                           std::string(tile) + R"(; }; }
data { C : int[4][8] = block[1] { target.g[x]; device; }; }
code {
  config.tg[x][y] { C[x][y] = 8 * x + y + tile_id; }
  config.tg[2][y] { C[2][y] += 100; }
  config.tg[x][5] { C[x][5] *= 2; }
  config.tg[2][5] { C[2][5] += 1; }
}
)");
    ASSERT_TRUE(subject.lowered) << subject.rendered();
    std::vector<int> c(32), expected(32);
    ASSERT_TRUE(subject.run({matrix(c, 4)})) << subject.rendered();
    for (int x = 0; x < 4; ++x)
      for (int y = 0; y < 8; ++y)
        expected[static_cast<size_t>(8 * x + y)] =
            (2 * (8 * x + y) + (x == 2 ? 100 : 0)) * (y == 5 ? 2 : 1) + (x == 2 && y == 5);
    EXPECT_EQ(c, expected) << tile;
  }
}

TEST(HbirLower, GroupsInsideOfGroupsShareTiles) {
  LoweredProgram subject(R"(
target { memory g[1] { size : 1M, width : 8 }; tile t[4][6]; }
config {
  arrange t(rows, cols) as {
    group all(r, c) at (0:rows, 0:cols) {
      group[i in 2] half(h, w) at (2*i:2*i+2, 1:3);
    }
  }
}
data { out C : int[24] { location : target.g, layout : block } }
code {
  t.all { C[tile_id] = 1; }
  t.all.half[i] { C[(2*i + x) * 6 + 1 + y] += 10 * (i + 1) + x; }
  t.all { C[tile_id] = C[tile_id] * 3; }
}
)");
  ASSERT_TRUE(subject.lowered) << subject.rendered();
  std::vector<int> c(24), expected(24, 1);
  ASSERT_TRUE(subject.run({array(c)})) << subject.rendered() << subject.text();
  for (int i = 0; i < 2; ++i)
    for (int x = 0; x < 2; ++x)
      for (int y = 0; y < 2; ++y)
        expected[static_cast<size_t>((2 * i + x) * 6 + 1 + y)] += 10 * (i + 1) + x;
  for (int& value : expected)
    value *= 3;
  EXPECT_EQ(c, expected);
}

TEST(HbirLower, FinishSkipsTheRestOfATile) {
  LoweredProgram subject(onTiles("C : int[4][4] = block[4] { target.g[x]; device; };", R"(
  config.tg[x][y] {
    C[x][y] = 1;
    for (int i = 0; i < 10; i = i + 1) {
      if (i > x + 4) bsg_finish();
      C[x][y] += 1;
      if (y == 3 && i == 2) break;
    }
    C[x][y] += 100;
  }
  config.tg[x][y] { C[x][y] += 1000; bsg_finish(); }
  config.tg[0][3] { C[0][3] = 5; }
)"));
  ASSERT_TRUE(subject.lowered) << subject.rendered();
  std::vector<int> c(16), expected(16);
  ASSERT_TRUE(subject.run({matrix(c, 4)})) << subject.rendered();
  for (int x = 0; x < 4; ++x)
    for (int y = 0; y < 4; ++y)
      expected[static_cast<size_t>(x * 4 + y)] = y == 3 ? 1 + 3 + 1100 : 1 + x + 5;
  EXPECT_EQ(c, expected);
}

TEST(HbirLower, StartRunsFirstAndGlobalsAreShared) {
  LoweredProgram subject(onTiles("C : int[4] = block[4] { target.g[x]; device; };", R"(
  int count = 4;
  int table[4];
  float scale = 0.5;
  int later;
  for (int i = 0; i < count; i = i + 1) table[i] = i * i;
  later = table[3] + 1;
  config.tg[x][0] { C[x] = table[x] + count + later; if (scale == 0.5) { C[x] += 100; } }
)"));
  ASSERT_TRUE(subject.lowered) << subject.rendered();
  std::vector<int> c(4);
  ASSERT_TRUE(subject.run({array(c)})) << subject.rendered();
  EXPECT_EQ(c, (std::vector<int>{114, 115, 118, 123}));
  // What is never assigned is a constant and has no storage.
  EXPECT_EQ(subject.count<svm::BlockOp>(), 3);
}

TEST(HbirLower, ElementsThatNobodyWritesAreZero) {
  LoweredProgram subject(onTiles(R"(
  T : int[8] = block[4] { target.g[x]; };
  C : int[8] = block[4] { target.g[x]; device; };)",
                                 R"(
  config.tg[1][y] { T[y] = 5; C[y] += T[y] + T[y + 4] + 1; }
)"));
  ASSERT_TRUE(subject.lowered) << subject.rendered();
  std::vector<int> c(8);
  ASSERT_TRUE(subject.run({array(c)}, /*checked=*/false)) << subject.rendered();
  EXPECT_EQ(c, (std::vector<int>{6, 6, 6, 6, 0, 0, 0, 0}));
  EXPECT_FALSE(subject.run({array(c)}));
  EXPECT_EQ(subject.failure, "interpret-undefined-read");
}

TEST(HbirLower, ReplicatedArraysThatTilesWriteAreTheirOwn) {
  LoweredProgram subject(onTiles(R"(
  A : int[4] = block[4][4] { target.t.l[x][y]; replicated; };
  B : int[4] = block[4][4] { target.t.l[x][y]; replicated; host; };
  R : int[16] = block[4] { target.g[x]; device; };
  Q : int[4] = block[4][4] { target.t.l[x][y]; replicated; device; };)",
                                 R"(
  A[1] = 7;
  config.tg[x][y] {
    for (int i = 0; i < 4; i = i + 1) { A[i] += tile_id + 1; Q[i] += A[i]; }
    R[tile_id] = A[y] + B[x];
  }
)"));
  ASSERT_TRUE(subject.lowered) << subject.rendered();
  std::vector<int> b{1000, 2000, 3000, 4000}, r(16), q(4);
  ASSERT_TRUE(subject.run({array(b), array(r), array(q)}, /*checked=*/false)) << subject.rendered();
  EXPECT_EQ(q, (std::vector<int>{1, 8, 1, 1})); // those of the first tile
  for (size_t tile = 0; tile < 16; ++tile)
    EXPECT_EQ(r[tile], (tile % 4 == 1 ? 8 : 1) + static_cast<int>(tile) + b[tile / 4]);
  // The tiles add to elements that nothing has given a value.
  EXPECT_FALSE(subject.run({array(b), array(r), array(q)}));
  EXPECT_EQ(subject.failure, "interpret-undefined-read");
}

TEST(HbirLower, LayoutsDoNotChangeResults) {
  for (const char* layout : {"block[4][4] { target.t.l[x][y]; chunked; ", "block[4] { target.g[x]; striped; ",
                             "block[4] { target.g[3-x]; block; ", "block[2][2] { target.t.l[x][y*2]; strided; "}) {
    const std::string array1 = std::string(" : float[7][9] = ") + layout;
    LoweredProgram subject(onTiles("A" + array1 + "host; };\nC" + array1 + "device; };", R"(
  config.tg[x][y] {
    for (int i = 1 + x; i < 6; i = i + 4)
      for (int j = 1 + y; j <= 7; j = j + 4)
        C[i][j] = 0.25 * (A[i - 1][j] + A[i + 1][j] + A[i][j - 1] + A[i][j + 1]);
  }
)"));
    ASSERT_TRUE(subject.lowered) << subject.rendered();
    auto a = numbers<float>(63, 5, 17);
    std::vector<float> c(63);
    ASSERT_TRUE(subject.run({matrix(a, 7), matrix(c, 7)})) << subject.rendered();
    for (size_t i = 0; i < 7; ++i)
      for (size_t j = 0; j < 9; ++j) {
        bool inside = i > 0 && i < 6 && j > 0 && j < 8;
        float sum = inside ? a[i * 9 - 9 + j] + a[i * 9 + 9 + j] + a[i * 9 + j - 1] + a[i * 9 + j + 1] : 0;
        ASSERT_EQ(c[i * 9 + j], 0.25f * sum) << layout << i << ' ' << j;
      }
    EXPECT_EQ(checksLeft(subject), 0) << layout;
  }
}

TEST(HbirLower, LocalArrays) {
  for (const char* extent : {"16", "200"}) { // on the stack, and in a block
    LoweredProgram subject(onTiles("C : int[16] = block[4] { target.g[x]; device; };", std::string(R"(
  config.tg[x][y] {
    int previous = 0;
    for (int round = 0; round < 3; round = round + 1) {
      int table[)") + extent + "][" + extent + R"(];
      previous = previous + table[x][y];
      for (int i = 0; i < 16; i = i + 1) table[i][15 - i] = i + round;
      previous = previous + table[4 + x][11 - x];
    }
    C[x * 4 + y] = previous;
  }
)"));
    ASSERT_TRUE(subject.lowered) << subject.rendered();
    std::vector<int> c(16);
    ASSERT_TRUE(subject.run({array(c)})) << subject.rendered();
    for (int tile = 0; tile < 16; ++tile)
      EXPECT_EQ(c[static_cast<size_t>(tile)], 3 * (4 + tile / 4) + 3);
  }
}

TEST(HbirLower, Printing) {
  LoweredProgram subject(onTiles("C : int[1] = block[1] { target.g[x]; device; };", R"(
  printf("begin 100%%\n");
  config.tg[x][y] {
    if (y == 1) printf("tile %d: %3d|%x|%.2f|%c\n", tile_id, x - 2, x - 2, x / 4.0, 65 + x);
  }
)"));
  ASSERT_TRUE(subject.lowered) << subject.rendered();
  std::vector<int> c(1);
  ASSERT_TRUE(subject.run({array(c)})) << subject.rendered();
  EXPECT_EQ(subject.output, "begin 100%\n"
                            "tile 1:  -2|fffffffe|0.00|A\n"
                            "tile 5:  -1|ffffffff|0.25|B\n"
                            "tile 9:   0|0|0.50|C\n"
                            "tile 13:   1|1|0.75|D\n");
}

TEST(HbirLower, WhatCannotBeLowered) {
  LoweredProgram reserved(R"(
target { memory g[1] { size : 1M, width : 8 }; tile t[1][1]; }
config { arrange t as { group foo at (0:1, 0:1); } }
data { out C : int[4] { location : target.g, layout : block } }
code { extern main(x : int) : int; t.foo { C[0] = main(3); } }
)");
  EXPECT_FALSE(reserved.lowered);
  EXPECT_NE(reserved.rendered().find("hbir-extern-name"), std::string::npos) << reserved.rendered();

  LoweredProgram copies(R"(
target { memory g[1] { size 1M; width 8B; }; tile t[40000][50000] { memory l { size 64G; width 8B; }; }; }
config { group tg[1][1] { tile target.t[x][y]; }; }
data { C : int[2000000000] = block[40000][50000] { target.t.l[x][y]; replicated; device; }; }
code { config.tg[x][y] { C[0] = 1; } }
)");
  EXPECT_FALSE(copies.lowered);
  EXPECT_NE(copies.rendered().find("hbir-copies-size"), std::string::npos) << copies.rendered();
}

TEST(HbirLower, LayoutsThatNoMapSays) {
  LoweredProgram subject(
      onTiles("C : int[16] = block[4] { target.g[x*x%4]; device; };", "config.tg[x][y] { C[x * 4 + y] = y; }"));
  ASSERT_TRUE(subject.lowered) << subject.rendered();
  EXPECT_NE(subject.rendered().find("hbir-layout-not-affine"), std::string::npos) << subject.rendered();
  std::vector<int> c(16);
  ASSERT_TRUE(subject.run({array(c)})) << subject.rendered();
  EXPECT_EQ(c[6], 2);
}

TEST(HbirLower, ExternalFunctionsAreDeclared) {
  LoweredProgram subject(onTiles("C : int[16] = block[4] { target.g[x]; device; };", "config.tg[x][y] { C[0] = 1; }"));
  ASSERT_TRUE(subject.program);
  Program& program = *subject.program;
  program.externs.push_back({"f", {ScalarType::Int, ScalarType::Float, ScalarType::Bool}, ScalarType::Int, {}});
  auto call = std::make_unique<Statement>();
  call->kind = StatementKind::Call;
  call->value = std::make_unique<Expression>();
  call->value->kind = ExpressionKind::Call;
  call->value->callee = &program.externs.back();
  for (ScalarType type : program.externs.back().parameters) {
    auto operand = std::make_unique<Expression>();
    operand->kind = type == ScalarType::Int     ? ExpressionKind::Integer
                    : type == ScalarType::Float ? ExpressionKind::Real
                                                : ExpressionKind::Boolean;
    operand->type = type;
    call->value->operands.push_back(std::move(operand));
  }
  program.blocks[0].body.push_back(std::move(call));
  auto lowered = lower(program, describeHost(), subject.context, subject.diagnostics);
  ASSERT_TRUE(lowered) << subject.rendered();
  auto function = lowered->module->lookupSymbol<mlir::func::FuncOp>("f");
  ASSERT_TRUE(function && function.isExternal() && function.isPrivate());
  EXPECT_TRUE(function.getArgumentTypes()[2].isInteger(1));
}

} // namespace
} // namespace strata::hbir::testing
