// Loops are carried out iteration by iteration; of one that would take long the first few and the last. See walk.h.
#include "compiler/cost/walk.h"

#include "compiler/ir/transfer.h"

#include "llvm/ADT/TypeSwitch.h"

#include <algorithm>

using namespace mlir;

namespace strata::cost {

namespace {

class Walker {
public:
  Walker(ModuleOp module, const Machine& machine, Routes& routes)
      : symbols_(module), machine_(machine), routes_(routes), kernels_(machine, made_.assumptions) {}

  Walked run(func::FuncOp entry, llvm::ArrayRef<Known> arguments) {
    KnownValues values;
    for (auto [argument, known] : llvm::zip(entry.getArguments(), arguments))
      values.set(argument, known);
    made_.processor = processorOf(svm::executorOf(entry), {0});
    Executor executor{made_.processor, &made_.steps};
    block(entry.getBody().front(), values, executor);
    return std::move(made_);
  }

private:
  /// Who executes control code, and what it does.
  struct Executor {
    machine::ProcessorId processor;
    Steps* steps;
  };

  machine::ProcessorId processorOf(FlatSymbolRefAttr name, machine::ProcessorId otherwise) const {
    const machine::ProcessorId found = name ? machine_.processor(name.getValue()) : machine::ProcessorId();
    return found.valid() ? found : otherwise;
  }
  /// From a processor's own cycles to those of the reference clock.
  double cycles(machine::ProcessorId processor, double own) const {
    const uint64_t clock = machine_[processor].clock;
    return clock && machine_.clock ? own * static_cast<double>(machine_.clock) / static_cast<double>(clock) : own;
  }
  double costOf(machine::ProcessorId processor, const char* name) const {
    return cycles(processor, statedCost(machine_[processor], name).value_or(0));
  }
  /// Operations follow each other as one step.
  static void compute(Executor& executor, double time) {
    std::vector<Step>& all = executor.steps->all;
    if (time == 0)
      return;
    if (!all.empty() && all.back().kind == Step::Kind::Compute && all.back().name == 0)
      all.back().cycles += time;
    else
      all.push_back({.kind = Step::Kind::Compute, .cycles = time});
  }
  static void start(Executor& executor, double time) {
    if (time > 0)
      executor.steps->all.push_back({.kind = Step::Kind::Start, .cycles = time});
  }
  uint32_t nameOf(const std::string& text) {
    const auto [found, isNew] = names_.try_emplace(text, static_cast<uint32_t>(made_.names.size()));
    if (isNew)
      made_.names.push_back(text);
    return found->second;
  }
  uint32_t newToken(Value token, KnownValues& values) {
    values.set(token, Known::ofToken(made_.tokens));
    return made_.tokens++;
  }
  static std::vector<uint32_t> tokensOf(ValueRange tokens, const KnownValues& values) {
    std::vector<uint32_t> list;
    for (Value token : tokens)
      if (const uint32_t known = values.token(token))
        list.push_back(known);
    return list;
  }

  void assume(Operation* op, const char* text) {
    if (assumed_.insert(op).second)
      made_.assumptions.push_back({op->getLoc(), text});
  }

  void block(Block& block, KnownValues& values, Executor& executor) {
    for (Operation& op : block)
      operation(&op, values, executor);
  }

  void operation(Operation* op, KnownValues& values, Executor& executor);
  void transfer(const svm::Transfer& transfer, KnownValues& values, Executor& executor);
  void run(svm::RunOp run, KnownValues& values, Executor& executor);
  void call(func::CallOp call, KnownValues& values, Executor& executor);
  void loop(scf::ForOp loop, KnownValues& values, Executor& executor);
  void parallel(svm::ParallelOp loop, KnownValues& values, Executor& executor, unsigned dimension);
  void conditional(scf::WhileOp loop, KnownValues& values, Executor& executor);
  void choice(scf::IfOp choice, KnownValues& values, Executor& executor);
  void instances(svm::InstancesOp instances, KnownValues& values, Executor& executor);
  void on(svm::OnOp on, KnownValues& values, Executor& executor);
  void fork(Fork fork, Executor& executor);

  /// Counts since then, so many times more.
  void repeatCounts(const std::map<std::string, int64_t>& since, double times);

  static constexpr uint64_t mostSteps = 200'000;    // of one loop: operations that are carried out
  static constexpr uint64_t muchInAll = 20'000'000; // from then on every loop is a long one
  static constexpr uint64_t mostInAll = 60'000'000;
  static constexpr double mostShared = 2e8; // that instances carry out which are not looked at each

  SymbolTable symbols_;
  const Machine& machine_;
  Routes& routes_;
  Walked made_;
  std::map<std::string, uint32_t> names_;
  std::set<const void*> assumed_;
  KernelCosts kernels_;
  uint64_t steps_ = 0;
  double shared_ = 0;
  uint32_t marks_ = 0;
  unsigned depth_ = 0;
};

void Walker::repeatCounts(const std::map<std::string, int64_t>& since, double times) {
  made_.isSampled = true;
  for (auto& [name, count] : made_.counters) {
    const auto before = since.find(name);
    count += static_cast<int64_t>(times * static_cast<double>(count - (before == since.end() ? 0 : before->second)));
  }
}

void Walker::operation(Operation* op, KnownValues& values, Executor& executor) {
  if (++steps_ > mostInAll)
    throw TooLong{op, TooLong::Why::Operations};
  if (const auto moved = svm::transferOf(op))
    return transfer(*moved, values, executor);
  llvm::TypeSwitch<Operation*>(op)
      .Case([&](svm::RunOp op) { run(op, values, executor); })
      .Case([&](func::CallOp op) { call(op, values, executor); })
      .Case([&](scf::ForOp op) { loop(op, values, executor); })
      .Case([&](scf::IfOp op) { choice(op, values, executor); })
      .Case([&](svm::InstancesOp op) { instances(op, values, executor); })
      .Case([&](svm::OnOp op) { on(op, values, executor); })
      .Case([&](svm::ParallelOp op) { parallel(op, values, executor, 0); })
      .Case([&](svm::WaitOp op) {
        const std::string label =
            svm::SvmDialect::labelAttr.of(op) ? svm::SvmDialect::labelAttr.of(op).getValue().str() : "";
        executor.steps->all.push_back({.kind = Step::Kind::Wait,
                                       .name = label.empty() ? 0 : nameOf(label),
                                       .tokens = tokensOf(op.getTokens(), values)});
      })
      .Case([&](svm::CountOp op) {
        if (const auto amount = values.integer(op.getAmount()))
          made_.counters[op.getCounter().str()] += *amount;
      })
      .Case([&](scf::WhileOp op) { conditional(op, values, executor); })
      .Default([&](Operation* op) {
        if (op->getNumRegions() == 0) {
          values.evaluate(op);
          compute(executor, cycles(executor.processor, kernels_.ofOperation(op, executor.processor)));
          return;
        }
        for (Region& region : op->getRegions())
          for (Block& each : region)
            block(each, values, executor);
        // What the region hands out.
        if (op->getNumResults() > 0 && op->getNumRegions() == 1)
          if (Operation* end = op->getRegion(0).back().getTerminator(); end->getNumOperands() == op->getNumResults())
            for (auto [result, value] : llvm::zip(op->getResults(), end->getOperands()))
              values.set(result, values.of(value));
      });
}

/// The block that is moved, by the name that a trace shows.
static std::string labelOf(const svm::Transfer& transfer) {
  if (const auto label = svm::SvmDialect::labelAttr.of(transfer.op))
    return label.getValue().str();
  for (Value side : {Value(transfer.source), Value(transfer.destination)})
    if (auto made = svm::rootOf(side).getDefiningOp<svm::BlockOp>(); made && made.getLabel())
      return made.getLabel()->str();
  return "a block";
}

/// Rows of the block are read and written in whole accesses of the memories.
void Walker::transfer(const svm::Transfer& transfer, KnownValues& values, Executor& executor) {
  const auto memory = [&](Value block) {
    const machine::MemoryId found = machine_.memory(svm::memoryOf(block.getType()));
    return found.valid() ? found : machine::MemoryId{0};
  };
  values.forgetVariables(transfer.op);
  const Value whole = transfer.whole();
  const auto type = cast<MemRefType>(whole.getType());
  const auto bytes = values.bytes(whole);
  if (!bytes)
    assume(transfer.op, "how much is moved depends on data, and counts as nothing");
  const Route& route = routes_.between(memory(transfer.source), memory(transfer.destination));
  const auto element = static_cast<int64_t>(svm::RecordType::sizeInBytes(type.getElementType()));
  const int64_t row =
      type.getRank() == 0
          ? element
          : element * std::max<int64_t>(values.extent(whole, static_cast<unsigned>(type.getRank()) - 1), 0);
  double moved = 0;
  if (bytes && row > 0) {
    const auto width = static_cast<int64_t>(route.width);
    moved = static_cast<double>(*bytes / row) * static_cast<double>(llvm::divideCeilSigned(row, width) * width);
  }
  // Whoever moves starts it: the processor itself, or one whose work that is.
  double begin = costOf(executor.processor, moveCost);
  if (machine_[executor.processor].moves == 0 && begin == 0)
    for (uint32_t number = 0; number < machine_.processors.size(); ++number)
      if (machine_.processors[number].kind == machine::ProcessorKind::Dma)
        begin = std::max(begin, costOf({number}, moveCost));
  start(executor, begin);
  Step step{.kind = Step::Kind::Transfer, .name = nameOf(labelOf(transfer)), .bytes = moved, .route = &route};
  step.tokens = tokensOf(transfer.after, values);
  if (transfer.token)
    step.token = newToken(transfer.token, values);
  executor.steps->all.push_back(std::move(step));
}

void Walker::run(svm::RunOp run, KnownValues& values, Executor& executor) {
  const machine::ProcessorId on = processorOf(run.getProcessorAttr(), executor.processor);
  values.forgetVariables(run);
  SmallVector<Known> arguments;
  for (Value argument : run.getArguments()) {
    Known known = values.of(argument);
    if (isa<MemRefType>(argument.getType())) {
      known.kind = Known::Kind::Block;
      known.extents.clear();
      for (unsigned d = 0; d < static_cast<unsigned>(cast<MemRefType>(argument.getType()).getRank()); ++d)
        known.extents.push_back(values.extent(argument, d));
    }
    arguments.push_back(std::move(known));
  }
  const double started = on == executor.processor ? 0 : costOf(on, startCost);
  const double time = cycles(on, kernels_.of(symbols_.lookup<svm::KernelOp>(run.getKernel()), on, arguments));
  std::vector<uint32_t> after = tokensOf(run.getAfter(), values);
  const uint32_t name = nameOf(run.getKernel().str());
  if (run.getToken()) {
    Step step{
        .kind = Step::Kind::Run, .name = name, .cycles = started + time, .processor = on, .tokens = std::move(after)};
    step.token = newToken(run.getToken(), values);
    executor.steps->all.push_back(std::move(step));
    return;
  }
  if (!after.empty())
    executor.steps->all.push_back({.kind = Step::Kind::Wait, .tokens = std::move(after)});
  const Step step{.kind = Step::Kind::Compute, .name = name, .cycles = time};
  if (on == executor.processor) {
    executor.steps->all.push_back(step);
    return;
  }
  auto steps = std::make_shared<Steps>();
  if (started > 0)
    steps->all.push_back({.kind = Step::Kind::Start, .cycles = started});
  steps->all.push_back(step);
  fork({on, {steps}}, executor);
}

void Walker::fork(Fork fork, Executor& executor) {
  executor.steps->all.push_back({.kind = Step::Kind::Fork, .number = static_cast<uint32_t>(made_.forks.size())});
  made_.forks.push_back(std::move(fork));
}

void Walker::call(func::CallOp call, KnownValues& values, Executor& executor) {
  auto function = symbols_.lookup<func::FuncOp>(call.getCallee());
  compute(executor, cycles(executor.processor, kernels_.ofOperation(call, executor.processor)));
  values.forgetVariables(call);
  for (Value result : call.getResults())
    values.forget(result);
  if (!function || function.isExternal()) {
    assume(call, "what the function takes is not known, and counts as nothing");
    return;
  }
  if (++depth_ > mostCalls)
    throw TooLong{function, TooLong::Why::Calls};
  KnownValues inner;
  for (auto [argument, operand] : llvm::zip(function.getArguments(), call.getOperands())) {
    Known known = values.of(operand);
    if (known.kind != Known::Kind::Nothing)
      inner.set(argument, std::move(known));
  }
  block(function.getBody().front(), inner, executor);
  for (auto [result, value] : llvm::zip(call.getResults(), function.getBody().front().getTerminator()->getOperands()))
    values.set(result, inner.of(value));
  --depth_;
}

void Walker::choice(scf::IfOp choice, KnownValues& values, Executor& executor) {
  const auto condition = values.integer(choice.getCondition());
  if (!condition)
    assume(choice, choice.getCondition().getDefiningOp<svm::InPlaceOp>()
                       ? "whether a part of an array lies in the processor's own memory is not followed; it is copied"
                       : "the condition depends on data; it is taken to hold");
  Region& taken = !condition || *condition ? choice.getThenRegion() : choice.getElseRegion();
  if (taken.empty()) {
    if (!condition)
      values.forgetVariables(choice);
    return;
  }
  block(taken.front(), values, executor);
  if (!condition)
    values.forgetVariables(choice);
  for (auto [result, value] : llvm::zip(choice.getResults(), taken.front().getTerminator()->getOperands()))
    values.set(result, values.of(value));
}

void Walker::loop(scf::ForOp loop, KnownValues& values, Executor& executor) {
  const auto lower = values.integer(loop.getLowerBound()), upper = values.integer(loop.getUpperBound()),
             step = values.integer(loop.getStep());
  const bool isKnown = lower && upper && step;
  const int64_t count = isKnown ? iterations(*lower, *upper, *step) : assumedIterations;
  if (!isKnown)
    assume(loop, assumedIterationsText);
  SmallVector<Known> carried;
  for (Value value : loop.getInitArgs())
    carried.push_back(values.of(value));
  Block& body = *loop.getBody();
  const double branch = cycles(executor.processor, 1);
  const auto iterate = [&](int64_t number) {
    if (isKnown)
      values.set(loop.getInductionVar(), Known::number(*lower + number * *step));
    else
      values.forget(loop.getInductionVar());
    for (auto [argument, known] : llvm::zip(loop.getRegionIterArgs(), carried))
      values.set(argument, known);
    compute(executor, branch);
    block(body, values, executor);
    SmallVector<Known> next;
    for (Value value : body.getTerminator()->getOperands())
      next.push_back(values.of(value));
    carried = std::move(next);
  };
  // Iterations after which the others are like them, but for the last one.
  const int64_t settled = steps_ < muchInAll ? 3 : 0;
  if (!isKnown)
    values.forgetVariables(loop);
  for (int64_t number = 0; number < count; ++number) {
    const uint64_t stepsBefore = steps_;
    iterate(number);
    const auto all = static_cast<double>(steps_ - stepsBefore) * static_cast<double>(count);
    if (number != 0 || count <= settled + 2 || (settled > 0 && all < static_cast<double>(mostSteps)))
      continue;
    while (++number < settled)
      iterate(number);
    const std::map<std::string, int64_t> countersBefore = made_.counters;
    const SmallVector<Known> carriedBefore = carried;
    const uint32_t mark = marks_++;
    executor.steps->all.push_back({.kind = Step::Kind::Mark, .number = mark});
    iterate(number);
    const auto times = static_cast<double>(count - number - 2);
    repeatCounts(countersBefore, times);
    executor.steps->all.push_back({.kind = Step::Kind::Repeat, .number = mark, .cycles = times});
    for (auto [known, earlier] : llvm::zip(carried, carriedBefore))
      if (known.kind == Known::Kind::Number && earlier.kind == Known::Kind::Number)
        known.bits += static_cast<uint64_t>(count - number - 2) * (known.bits - earlier.bits);
    values.forgetVariables(loop);
    number = count - 2; // and then the last
  }
  for (auto [result, known] : llvm::zip(loop.getResults(), carried))
    values.set(result, known);
}

void Walker::conditional(scf::WhileOp loop, KnownValues& values, Executor& executor) {
  const uint64_t begin = steps_;
  if (follow(
          loop, values, [&](Region& region) { block(region.front(), values, executor); },
          [&] { return steps_ - begin > mostSteps; }))
    assume(loop, assumedIterationsText);
}

/// What is not distributed is carried out one after another.
void Walker::parallel(svm::ParallelOp loop, KnownValues& values, Executor& executor, unsigned dimension) {
  if (dimension == loop.dimensions())
    return block(loop.getBody().front(), values, executor);
  const auto lower = values.integer(loop.getLower()[dimension]), upper = values.integer(loop.getUpper()[dimension]);
  const bool isKnown = lower && upper;
  if (!isKnown)
    assume(loop, assumedIterationsText);
  const int64_t count = isKnown ? iterations(*lower, *upper, 1) : assumedIterations;
  for (int64_t number = 0; number < count; ++number) {
    values.set(loop.iteration(dimension), Known::number(lower.value_or(0) + number));
    parallel(loop, values, executor, dimension + 1);
  }
}

void Walker::instances(svm::InstancesOp instances, KnownValues& values, Executor& executor) {
  const machine::ProcessorId on = processorOf(instances.getProcessorAttr(), executor.processor);
  const auto lower = values.integer(instances.getLower()), upper = values.integer(instances.getUpper());
  if (!lower || !upper)
    assume(instances, "how many processors take part depends on data; all are assumed to");
  const int64_t first = lower.value_or(0);
  const int64_t count = lower && upper ? iterations(*lower, *upper, 1) : static_cast<int64_t>(machine_[on].count);
  if (count > mostInstances)
    throw TooLong{instances, TooLong::Why::Instances};
  const double started = count > 1 || on != executor.processor ? costOf(on, startCost) : 0;
  Fork all{on, {}};
  const auto execute = [&](int64_t number) {
    const auto steps = std::make_shared<Steps>();
    Executor inner{on, steps.get()};
    start(inner, started);
    values.set(instances.instance(), Known::number(first + number));
    block(instances.getBody().front(), values, inner);
    all.instances.push_back(steps);
  };
  for (int64_t number = 0; number < count; ++number) {
    const uint64_t stepsBefore = steps_;
    const std::map<std::string, int64_t> countersBefore =
        number == 0 ? made_.counters : std::map<std::string, int64_t>();
    execute(number);
    if (number != 0 || count <= 3 ||
        static_cast<double>(steps_ - stepsBefore) * static_cast<double>(count) < static_cast<double>(mostSteps))
      continue;
    // The first stands for all but the last, which may have less to do.
    shared_ += static_cast<double>(count - 2) * static_cast<double>(steps_ - stepsBefore);
    if (shared_ > mostShared)
      throw TooLong{instances, TooLong::Why::Operations};
    repeatCounts(countersBefore, static_cast<double>(count - 2));
    all.instances.resize(static_cast<size_t>(count - 1), all.instances.front());
    number = count - 2;
  }
  fork(std::move(all), executor);
}

void Walker::on(svm::OnOp on, KnownValues& values, Executor& executor) {
  const machine::ProcessorId processor = processorOf(on.getProcessorAttr(), executor.processor);
  const auto steps = std::make_shared<Steps>();
  Executor inner{processor, steps.get()};
  if (processor != executor.processor)
    start(inner, costOf(processor, startCost));
  block(on.getBody().front(), values, inner);
  fork({processor, {steps}}, executor);
}

} // namespace

Walked walk(ModuleOp module, const Machine& machine, Routes& routes, func::FuncOp entry,
            llvm::ArrayRef<Known> arguments) {
  return Walker(module, machine, routes).run(entry, arguments);
}

} // namespace strata::cost
