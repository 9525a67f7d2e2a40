// The tiles as iterations of one parallel loop, one for each tile that has code. An iteration finds its tile by
// division. For each block of code it then finds whether the tile is one of the block's, and for which values of its
// variables. Where coordinates are sums of multiples of the variables, this is solved when the program is compiled, as
// the digits of a mixed radix number are found; else the iteration tries the values. The compiler itself visits no
// tile.
#include "compiler/hbir/layout/groups.h"
#include "compiler/hbir/lower/lower_entry.h"

#include <algorithm>

namespace arith = mlir::arith;
namespace memref = mlir::memref;
namespace scf = mlir::scf;

namespace strata::hbir {

using mlir::Value;

namespace {

/// constant + sum of coefficient * variable.
struct LinearForm {
  int64_t constant = 0;
  std::vector<int64_t> coefficients;
};

std::optional<LinearForm> linear(const IndexExpression& expression, size_t variables) {
  using Kind = IndexExpression::Kind;
  LinearForm form;
  form.coefficients.resize(variables);
  if (expression.kind == Kind::Constant) {
    form.constant = expression.value;
    return form;
  }
  if (expression.kind == Kind::Variable) {
    if (static_cast<size_t>(expression.value) >= variables)
      return std::nullopt;
    form.coefficients[static_cast<size_t>(expression.value)] = 1;
    return form;
  }
  auto left = linear(expression.operands[0], variables), right = linear(expression.operands[1], variables);
  if (!left || !right)
    return std::nullopt;
  auto isConstant = [](const LinearForm& each) {
    return std::all_of(each.coefficients.begin(), each.coefficients.end(), [](int64_t value) { return value == 0; });
  };
  bool overflow = false;
  auto combine = [&](const LinearForm& a, int64_t factorA, const LinearForm& b, int64_t factorB) {
    auto sum = [&](int64_t x, int64_t y) {
      int64_t first = 0, second = 0, result = 0;
      overflow |= __builtin_mul_overflow(x, factorA, &first) || __builtin_mul_overflow(y, factorB, &second) ||
                  __builtin_add_overflow(first, second, &result);
      return result;
    };
    LinearForm result;
    result.constant = sum(a.constant, b.constant);
    for (size_t each = 0; each < variables; ++each)
      result.coefficients.push_back(sum(a.coefficients[each], b.coefficients[each]));
    return result;
  };
  switch (expression.kind) {
  case Kind::Add:
    form = combine(*left, 1, *right, 1);
    break;
  case Kind::Subtract:
    form = combine(*left, 1, *right, -1);
    break;
  case Kind::Multiply:
    if (isConstant(*right))
      form = combine(*left, right->constant, *right, 0);
    else if (isConstant(*left))
      form = combine(*right, left->constant, *left, 0);
    else
      return std::nullopt;
    break;
  default:
    if (!isConstant(*left) || !isConstant(*right))
      return std::nullopt;
    if (auto value = expression.evaluate(std::vector<int64_t>(variables, 0)))
      form.constant = *value;
    else
      return std::nullopt;
  }
  return overflow ? std::nullopt : std::optional(form);
}

bool isAncestor(const Group* ancestor, const Group* group) {
  for (; group; group = group->parent)
    if (group == ancestor)
      return true;
  return false;
}

int64_t productOf(const std::vector<GroupIndex>& variables) {
  int64_t product = 1;
  for (const GroupIndex& variable : variables)
    if (__builtin_mul_overflow(product, std::max<int64_t>(variable.extent, 0), &product))
      return INT64_MAX;
  return product;
}

bool sameTiles(const CodeBlock& a, const CodeBlock& b) {
  return a.tile == b.tile && std::equal(a.variables.begin(), a.variables.end(), b.variables.begin(), b.variables.end(),
                                        [](const GroupIndex& x, const GroupIndex& y) { return x.extent == y.extent; });
}

} // namespace

Value EntryLowering::evaluate(const IndexExpression& expression, mlir::ValueRange variables) {
  using Kind = IndexExpression::Kind;
  if (expression.kind == Kind::Constant)
    return indexConstant(expression.value);
  if (expression.kind == Kind::Variable)
    return static_cast<size_t>(expression.value) < variables.size() ? variables[static_cast<size_t>(expression.value)]
                                                                    : indexConstant(0);
  Value a = evaluate(expression.operands[0], variables), b = evaluate(expression.operands[1], variables);
  switch (expression.kind) {
  case Kind::Add:
    return folded<arith::AddIOp>(a, b);
  case Kind::Subtract:
    return folded<arith::SubIOp>(a, b);
  case Kind::Multiply:
    return folded<arith::MulIOp>(a, b);
  case Kind::Divide:
    return folded<arith::FloorDivSIOp>(a, b);
  case Kind::Modulo:
    return folded<arith::SubIOp>(a, folded<arith::MulIOp>(folded<arith::FloorDivSIOp>(a, b), b));
  default:
    return folded<arith::MinSIOp>(a, b);
  }
}

std::vector<EntryLowering::Family> EntryLowering::families() {
  std::vector<Family> result;
  const std::vector<CodeBlock>& blocks = module_.program.blocks;
  auto topOf = [&](const Group* group) {
    const Group* top = group;
    for (size_t number = 0; number < blocks.size(); ++number)
      if (!module_.kernels_[number].symbol.empty() && isAncestor(blocks[number].group, top))
        top = blocks[number].group;
    return top;
  };
  for (size_t number = 0; number < blocks.size(); ++number) {
    if (module_.kernels_[number].symbol.empty())
      continue;
    const Group* top = topOf(blocks[number].group);
    auto found = std::find_if(result.begin(), result.end(), [&](const Family& family) { return family.top == top; });
    if (found == result.end())
      found = result.insert(result.end(), Family{top, {}, {}, {}, 0});
    found->blocks.push_back(number);
  }
  for (Family& family : result)
    chooseIterations(family);
  return result;
}

/// The tiles of a block that has all that the others have; else all tiles of the group.
void EntryLowering::chooseIterations(Family& family) {
  const std::vector<CodeBlock>& blocks = module_.program.blocks;
  const CodeBlock& first = blocks[family.blocks.front()];
  const bool allSame = std::all_of(family.blocks.begin(), family.blocks.end(),
                                   [&](size_t number) { return sameTiles(blocks[number], first); });
  std::vector<GroupIndex> all = family.top ? variablesOf(*family.top) : std::vector<GroupIndex>();
  std::vector<bool> telling = family.top ? tellingVariables(*family.top) : std::vector<bool>();
  std::vector<IndexExpression> replacements;
  std::vector<GroupIndex> variables;
  for (size_t each = 0; each < all.size(); ++each) {
    const bool counts = each < telling.size() && telling[each];
    replacements.push_back(counts ? IndexExpression::variable(static_cast<unsigned>(variables.size()))
                                  : IndexExpression::constant(0));
    if (counts)
      variables.push_back(all[each]);
  }
  const int64_t tiles = productOf(variables);
  const CodeBlock* widest = nullptr;
  for (size_t number : family.blocks)
    if (allSame || (blocks[number].group == family.top && productOf(blocks[number].variables) == tiles))
      widest = &blocks[number];
  if (widest) {
    family.variables = widest->variables;
    family.tile = widest->tile;
  } else {
    family.variables = variables;
    for (const IndexExpression& coordinate : family.top->tile)
      family.tile.push_back(coordinate.substitute(replacements));
  }
  family.iterations = productOf(family.variables);
}

void EntryLowering::runTiles() {
  std::vector<Family> all = families();
  int64_t iterations = 0;
  for (const Family& family : all)
    iterations += family.iterations;
  if (iterations == 0)
    return;
  at(module_.program.blocks[all.front().blocks.front()].where);
  auto loop = make<svm::ParallelOp>(mlir::ValueRange(indexConstant(0)), mlir::ValueRange(indexConstant(iterations)),
                                    mlir::ValueRange(), mlir::ArrayAttr(), builder_.getStringAttr("tiles"));
  loop.setConcurrent(module_.isConcurrent);
  mapping::LoopPlacement& dealt = placement_.loops["tiles"];
  dealt.processor = processor_;
  dealt.parts = {processors_};
  mlir::OpBuilder::InsertionGuard guard(builder_);
  builder_.setInsertionPointToStart(&loop.getBody().front());
  int64_t begin = 0;
  for (const Family& family : all) {
    mlir::OpBuilder::InsertionGuard inside(builder_);
    at(module_.program.blocks[family.blocks.front()].where);
    const int64_t end = begin + family.iterations;
    Value iteration = loop.iteration();
    if (all.size() > 1) {
      Value here = folded<arith::AndIOp>(compare(arith::CmpIPredicate::sge, iteration, indexConstant(begin)),
                                         compare(arith::CmpIPredicate::slt, iteration, indexConstant(end)));
      auto branch = make<scf::IfOp>(here, /*withElseRegion=*/false);
      builder_.setInsertionPointToStart(branch.thenBlock());
      iteration = folded<arith::SubIOp>(iteration, indexConstant(begin));
    }
    runFamily(family, iteration);
    begin = end;
  }
}

void EntryLowering::runFamily(const Family& family, Value iteration) {
  Values variables(family.variables.size());
  for (size_t each = family.variables.size(); each-- > 0;) {
    const int64_t extent = family.variables[each].extent;
    variables[each] = each == 0 ? iteration : folded<arith::RemUIOp>(iteration, indexConstant(extent));
    if (each)
      iteration = folded<arith::DivUIOp>(iteration, indexConstant(extent));
  }
  Values tile;
  for (const IndexExpression& coordinate : family.tile)
    tile.push_back(evaluate(coordinate, variables));
  // Tiles are numbered by rows over the whole target.
  Value tileNumber;
  for (auto [coordinate, extent] : llvm::zip(tile, module_.program.target.extents))
    tileNumber = tileNumber
                     ? folded<arith::AddIOp>(folded<arith::MulIOp>(tileNumber, indexConstant(extent)), coordinate)
                     : coordinate;
  finished_ = {};
  if (std::any_of(family.blocks.begin(), family.blocks.end(),
                  [&](size_t number) { return module_.kernels_[number].tellsFinish; })) {
    finished_ = makeBlock(svm::viewType(0, builder_.getI1Type()), {}, "finished");
    make<memref::StoreOp>(make<arith::ConstantIntOp>(false, builder_.getI1Type()), finished_, mlir::ValueRange());
  }
  bool mayHaveFinished = false;
  for (size_t number : family.blocks) {
    mlir::OpBuilder::InsertionGuard guard(builder_);
    at(module_.program.blocks[number].where);
    if (mayHaveFinished) {
      Value goesOn = folded<arith::XOrIOp>(make<memref::LoadOp>(finished_),
                                           make<arith::ConstantIntOp>(true, builder_.getI1Type()));
      auto branch = make<scf::IfOp>(goesOn, /*withElseRegion=*/false);
      builder_.setInsertionPointToStart(branch.thenBlock());
    }
    runBlock(family, number, variables, tile, tileNumber);
    mayHaveFinished |= module_.kernels_[number].tellsFinish;
  }
}

void EntryLowering::require(Solution& solution, Value condition) {
  solution.condition = solution.condition ? folded<arith::AndIOp>(solution.condition, condition) : condition;
}

/// Takes a coordinate apart where the multiples that it is a sum of are the places of a mixed radix number: each
/// exceeds all that the smaller ones can add up to.
EntryLowering::Solution EntryLowering::solve(const CodeBlock& block, const Values& tile) {
  Solution solution;
  const size_t count = block.variables.size();
  solution.variables.resize(count);
  for (size_t each = 0; each < count; ++each)
    if (block.variables[each].extent == 1)
      solution.variables[each] = indexConstant(0);
  std::vector<std::optional<LinearForm>> forms;
  for (const IndexExpression& coordinate : block.tile)
    forms.push_back(linear(coordinate, count));
  for (bool progress = true; progress;) {
    progress = false;
    for (size_t dimension = 0; dimension < forms.size() && dimension < tile.size(); ++dimension) {
      if (!forms[dimension])
        continue;
      const LinearForm& form = *forms[dimension];
      std::vector<size_t> unknown;
      Value rest = folded<arith::SubIOp>(tile[dimension], indexConstant(form.constant));
      for (size_t each = 0; each < count; ++each) {
        if (form.coefficients[each] == 0)
          continue;
        if (solution.variables[each])
          rest = folded<arith::SubIOp>(
              rest, folded<arith::MulIOp>(solution.variables[each], indexConstant(form.coefficients[each])));
        else
          unknown.push_back(each);
      }
      if (unknown.empty())
        continue;
      auto size = [&](size_t each) {
        int64_t value = form.coefficients[each];
        return value < 0 ? -static_cast<__int128>(value) : static_cast<__int128>(value);
      };
      std::sort(unknown.begin(), unknown.end(), [&](size_t a, size_t b) { return size(a) > size(b); });
      __int128 below = 0;
      bool isRadix = true;
      for (size_t each = unknown.size(); each-- > 0;) {
        isRadix &= size(unknown[each]) > below;
        below += size(unknown[each]) * (block.variables[unknown[each]].extent - 1);
        isRadix &= below < (static_cast<__int128>(1) << 62);
      }
      if (!isRadix)
        continue;
      // Counted from its far end, a variable with a negative multiple has a positive one.
      for (size_t each : unknown)
        if (form.coefficients[each] < 0)
          rest =
              folded<arith::SubIOp>(rest, indexConstant(form.coefficients[each] * (block.variables[each].extent - 1)));
      for (size_t each : unknown) {
        Value radix = indexConstant(static_cast<int64_t>(size(each))),
              last = indexConstant(block.variables[each].extent - 1);
        Value digit = size(each) == 1 ? rest : folded<arith::FloorDivSIOp>(rest, radix);
        rest = folded<arith::SubIOp>(rest, folded<arith::MulIOp>(digit, radix));
        require(solution, compare(arith::CmpIPredicate::ule, digit, last));
        solution.variables[each] = form.coefficients[each] < 0 ? folded<arith::SubIOp>(last, digit) : digit;
      }
      progress = true;
    }
  }
  return solution;
}

void EntryLowering::runBlock(const Family& family, size_t number, const Values& variables, const Values& tile,
                             Value tileNumber) {
  const CodeBlock& block = module_.program.blocks[number];
  const KernelPlan& plan = module_.kernels_[number];
  auto runWith = [&](const Values& values) {
    Values scalars{tileNumber};
    scalars.append(values);
    runKernel(plan, scalars);
  };
  if (block.tile == family.tile && block.variables.size() == family.variables.size() &&
      std::equal(block.variables.begin(), block.variables.end(), family.variables.begin(),
                 [](const GroupIndex& a, const GroupIndex& b) { return a.extent == b.extent; }))
    return runWith(variables);
  mlir::OpBuilder::InsertionGuard guard(builder_);
  Solution solution = solve(block, tile);
  if (solution.condition) {
    auto branch = make<scf::IfOp>(solution.condition, /*withElseRegion=*/false);
    builder_.setInsertionPointToStart(branch.thenBlock());
  }
  for (size_t each = 0; each < block.variables.size(); ++each)
    if (!solution.variables[each]) {
      auto loop = make<scf::ForOp>(indexConstant(0), indexConstant(block.variables[each].extent), indexConstant(1));
      builder_.setInsertionPointToStart(loop.getBody());
      solution.variables[each] = loop.getInductionVar();
    }
  Value isTile;
  for (size_t dimension = 0; dimension < block.tile.size() && dimension < tile.size(); ++dimension) {
    Value same =
        compare(arith::CmpIPredicate::eq, evaluate(block.tile[dimension], solution.variables), tile[dimension]);
    isTile = isTile ? folded<arith::AndIOp>(isTile, same) : same;
  }
  if (isTile) {
    auto branch = make<scf::IfOp>(isTile, /*withElseRegion=*/false);
    builder_.setInsertionPointToStart(branch.thenBlock());
  }
  runWith(solution.variables);
}

} // namespace strata::hbir
