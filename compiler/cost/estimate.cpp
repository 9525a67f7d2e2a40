// A walk over control code that keeps, for each processor, the time that it has come to. Transfers of one processor
// follow each other at the pace of the slowest thing on their way; what several processors share is looked at where
// they have all ended: they have not done so before it has carried all that they gave it. See estimate.h.
#include "compiler/cost/estimate.h"

#include "compiler/cost/routes.h"
#include "compiler/ir/locations.h"
#include "compiler/ir/passes.h"
#include "compiler/ir/transfer.h"
#include "compiler/kernel/tiles.h"

#include "mlir/Pass/PassManager.h"
#include "llvm/ADT/StringExtras.h"
#include "llvm/ADT/TypeSwitch.h"

#include <algorithm>

using namespace mlir;

namespace strata::cost {

STRATA_DIAGNOSTIC(tooDeep, Error, "estimate-too-deep", "'{0}' calls itself too often for an estimate: {1} calls deep");

namespace {

struct TooDeep {
  Operation* at;
};

class Walker {
public:
  Walker(ModuleOp module, const Machine& machine)
      : symbols_(module), machine_(machine), routes_(machine), kernels_(machine, assumptions_) {
    busy_.resize(routes_.resources().size());
    totals_.resize(machine.processors.size());
  }

  Estimate run(func::FuncOp entry, llvm::ArrayRef<Known> arguments) {
    KnownValues values;
    for (auto [argument, known] : llvm::zip(entry.getArguments(), arguments))
      values.set(argument, known);
    Executor executor{processorOf(svm::executorOf(entry), {})};
    if (!executor.processor.valid())
      executor.processor = {0};
    uses(executor.processor, 1);
    const std::vector<double> before = busy_;
    block(entry.getBody().front(), values, executor);
    finish(executor);
    executor.now = std::max(executor.now, carried(before, 0));
    return made(executor.now);
  }

private:
  /// Who executes control code, and the time that it has come to.
  struct Executor {
    machine::ProcessorId processor;
    double share = 1;      ///< of all processors of a class, those that belong to this one
    double now = 0;        ///< cycles of the reference clock
    double carrying = 0;   ///< when what its transfers need of it is free again
    double unfinished = 0; ///< when the last that it started ends
  };
  struct Total {
    double computing = 0, waiting = 0, starting = 0;
    uint64_t used = 0;
  };
  /// All that is summed over the program.
  struct Sums {
    std::vector<double> busy;
    std::vector<Total> totals;
    std::map<std::string, int64_t> counters;
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
  void uses(machine::ProcessorId processor, double instances) {
    Total& total = totals_[processor.value];
    total.used =
        std::max(total.used, std::min<uint64_t>(machine_[processor].count, static_cast<uint64_t>(instances + 0.5)));
  }
  void compute(Executor& executor, double time) {
    executor.now += time;
    totals_[executor.processor.value].computing += time;
  }
  void start(Executor& executor, double time) {
    executor.now += time;
    totals_[executor.processor.value].starting += time;
  }
  void waitUntil(Executor& executor, double time) {
    totals_[executor.processor.value].waiting += std::max(time - executor.now, 0.0);
    executor.now = std::max(executor.now, time);
  }
  void finish(Executor& executor) { waitUntil(executor, executor.unfinished); }

  /// When what the processors of a region share has carried all that it was given since then.
  double carried(const std::vector<double>& before, double begin) const {
    double end = begin;
    for (size_t i = 0; i < busy_.size(); ++i)
      end = std::max(end, begin + (busy_[i] - before[i]) /
                                      static_cast<double>(std::max<uint64_t>(routes_.resources()[i].count, 1)));
    return end;
  }

  void assume(Operation* op, const char* text) {
    if (assumed_.insert(op).second)
      assumptions_.push_back({op->getLoc(), text});
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

  Sums sums() const { return {busy_, totals_, counters_}; }
  /// What has been summed since then, so many times more.
  void repeat(const Sums& since, double times);
  Estimate made(double end) const;

  static constexpr uint64_t mostSteps = 200'000; // of one loop: operations that are carried out
  static constexpr unsigned deepest = 256;       // calls
  static constexpr int64_t assumedIterations = 8;

  SymbolTable symbols_;
  const Machine& machine_;
  Routes routes_;
  std::vector<Assumption> assumptions_;
  std::set<const void*> assumed_;
  KernelCosts kernels_;
  std::vector<double> busy_;  // of the resources, cycles
  std::vector<Total> totals_; // by class of processors
  std::map<std::string, int64_t> counters_;
  uint64_t steps_ = 0;
  unsigned depth_ = 0;
  bool isSampled_ = false;
};

void Walker::repeat(const Sums& since, double times) {
  isSampled_ = true;
  for (size_t i = 0; i < busy_.size(); ++i)
    busy_[i] += times * (busy_[i] - since.busy[i]);
  for (size_t i = 0; i < totals_.size(); ++i) {
    totals_[i].computing += times * (totals_[i].computing - since.totals[i].computing);
    totals_[i].waiting += times * (totals_[i].waiting - since.totals[i].waiting);
    totals_[i].starting += times * (totals_[i].starting - since.totals[i].starting);
  }
  for (auto& [name, count] : counters_) {
    const auto before = since.counters.find(name);
    count += static_cast<int64_t>(times *
                                  static_cast<double>(count - (before == since.counters.end() ? 0 : before->second)));
  }
}

void Walker::operation(Operation* op, KnownValues& values, Executor& executor) {
  ++steps_;
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
        for (Value token : op.getTokens())
          waitUntil(executor, values.endOf(token));
      })
      .Case([&](svm::CountOp op) {
        if (const auto amount = values.integer(op.getAmount()))
          counters_[op.getCounter().str()] += *amount;
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
  double from = std::max(executor.now, executor.carrying);
  for (Value token : transfer.after)
    from = std::max(from, values.endOf(token));
  for (const auto& [resource, cyclesPerByte] : route.busy)
    busy_[resource] += moved * cyclesPerByte;
  executor.carrying = from + moved * route.cyclesPerByte;
  const double end = moved > 0 ? executor.carrying + route.latency : from;
  if (!transfer.token)
    return waitUntil(executor, end);
  executor.unfinished = std::max(executor.unfinished, end);
  values.set(transfer.token, Known::token(end));
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
  for (Value token : run.getAfter())
    if (!run.getToken())
      waitUntil(executor, values.endOf(token));
  Executor other{on, executor.share, executor.now};
  Executor& runner = on == executor.processor && !run.getToken() ? executor : other;
  for (Value token : run.getAfter())
    waitUntil(runner, values.endOf(token));
  start(runner, started);
  compute(runner, time);
  uses(on, 1 / executor.share);
  if (run.getToken()) {
    executor.unfinished = std::max(executor.unfinished, other.now);
    values.set(run.getToken(), Known::token(other.now));
  } else {
    executor.now = runner.now;
  }
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
  if (++depth_ > deepest)
    throw TooDeep{function};
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
    assume(choice, "the condition depends on data; it is taken to hold");
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
    assume(loop, "how often the loop iterates depends on data; 8 times is assumed");
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
  constexpr int64_t settled = 3; // iterations after which the others are like them, but for the last one
  if (!isKnown)
    values.forgetVariables(loop);
  for (int64_t number = 0; number < count; ++number) {
    const uint64_t stepsBefore = steps_;
    iterate(number);
    const auto all = static_cast<double>(steps_ - stepsBefore) * static_cast<double>(count);
    if (number != 0 || count <= settled + 2 || all < static_cast<double>(mostSteps))
      continue;
    while (++number < settled)
      iterate(number);
    const Sums before = sums();
    const Executor executorBefore = executor;
    const SmallVector<Known> carriedBefore = carried;
    iterate(number);
    const auto times = static_cast<double>(count - number - 2);
    repeat(before, times);
    const double later = times * (executor.now - executorBefore.now);
    executor.now += later;
    executor.carrying += later;
    executor.unfinished += later;
    for (auto [known, earlier] : llvm::zip(carried, carriedBefore)) {
      if (known.kind == Known::Kind::Token)
        known.ends += later;
      if (known.kind == Known::Kind::Number && earlier.kind == Known::Kind::Number)
        known.bits += static_cast<uint64_t>(count - number - 2) * (known.bits - earlier.bits);
    }
    values.forgetVariables(loop);
    number = count - 2; // and then the last
  }
  for (auto [result, known] : llvm::zip(loop.getResults(), carried))
    values.set(result, known);
}

/// As long as its condition is known; from then on as often as is assumed.
void Walker::conditional(scf::WhileOp loop, KnownValues& values, Executor& executor) {
  SmallVector<Known> carried;
  const auto set = [&](ValueRange to) {
    for (auto [value, known] : llvm::zip(to, carried))
      values.set(value, known);
  };
  const auto keep = [&](ValueRange from) {
    carried.clear();
    for (Value value : from)
      carried.push_back(values.of(value));
  };
  keep(loop.getInits());
  const uint64_t begin = steps_;
  for (int64_t left = assumedIterations;;) {
    set(loop.getBeforeArguments());
    block(*loop.getBeforeBody(), values, executor);
    const auto holds = values.integer(loop.getConditionOp().getCondition());
    keep(loop.getConditionOp().getArgs());
    const bool isOpen = !holds || steps_ - begin > mostSteps;
    if (isOpen)
      assume(loop, "how often the loop iterates depends on data; 8 times is assumed");
    if (isOpen)
      values.forgetVariables(loop);
    if (isOpen ? left-- == 0 : *holds == 0)
      break;
    set(loop.getAfterArguments());
    block(*loop.getAfterBody(), values, executor);
    keep(loop.getYieldOp().getOperands());
  }
  set(loop.getResults());
}

/// What is not distributed is carried out one after another.
void Walker::parallel(svm::ParallelOp loop, KnownValues& values, Executor& executor, unsigned dimension) {
  if (dimension == loop.dimensions())
    return block(loop.getBody().front(), values, executor);
  const auto lower = values.integer(loop.getLower()[dimension]), upper = values.integer(loop.getUpper()[dimension]);
  const bool isKnown = lower && upper;
  if (!isKnown)
    assume(loop, "how often the loop iterates depends on data; 8 times is assumed");
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
  const double there = std::max(1.0, static_cast<double>(machine_[on].count) * executor.share);
  const int64_t first = lower.value_or(0);
  const int64_t count = lower && upper ? iterations(*lower, *upper, 1) : static_cast<int64_t>(there);
  const double started = count > 1 || on != executor.processor ? costOf(on, startCost) : 0;
  const std::vector<double> before = busy_;
  const double begin = executor.now;
  double end = begin, sum = 0;
  const auto execute = [&](int64_t number) {
    Executor inner{on, executor.share / static_cast<double>(std::max<int64_t>(count, 1)), begin};
    start(inner, started);
    values.set(instances.instance(), Known::number(first + number));
    block(instances.getBody().front(), values, inner);
    finish(inner);
    end = std::max(end, inner.now);
    sum += inner.now - begin;
  };
  uses(on, static_cast<double>(count) / executor.share);
  for (int64_t number = 0; number < count; ++number) {
    const uint64_t stepsBefore = steps_;
    const Sums sumsBefore = number == 0 ? sums() : Sums();
    const double sumBefore = sum;
    execute(number);
    if (number != 0 || count <= 3 ||
        static_cast<double>(steps_ - stepsBefore) * static_cast<double>(count) < static_cast<double>(mostSteps))
      continue;
    // The first stands for all but the last, which may have less to do.
    const auto times = static_cast<double>(count - 2);
    repeat(sumsBefore, times);
    sum += times * (sum - sumBefore);
    number = count - 2;
  }
  // More instances than processors take turns.
  const double ended = std::max({end, begin + sum / there, carried(before, begin)});
  totals_[on.value].waiting += (ended - end) * std::min(there, static_cast<double>(count));
  executor.now = ended;
}

void Walker::on(svm::OnOp on, KnownValues& values, Executor& executor) {
  const machine::ProcessorId processor = processorOf(on.getProcessorAttr(), executor.processor);
  Executor inner{processor, executor.share, executor.now};
  uses(processor, 1 / executor.share);
  if (processor != executor.processor)
    start(inner, costOf(processor, startCost));
  block(on.getBody().front(), values, inner);
  finish(inner);
  executor.now = inner.now;
}

Estimate Walker::made(double end) const {
  Estimate made;
  made.cycles = end;
  if (machine_.clock)
    made.seconds = end / static_cast<double>(machine_.clock);
  for (size_t i = 0; i < totals_.size(); ++i)
    if (const Total& total = totals_[i]; total.used > 0)
      made.processors.push_back({machine_.processors[i].name, machine_.processors[i].count, total.used, total.computing,
                                 total.waiting, total.starting});
  for (size_t i = 0; i < busy_.size(); ++i)
    if (busy_[i] > 0)
      made.carriers.push_back({routes_.resources()[i].name, routes_.resources()[i].count, busy_[i]});
  made.counters = counters_;
  made.assumptions = assumptions_;
  made.isSampled = isSampled_;
  return made;
}

} // namespace

std::optional<Estimate> estimate(ModuleOp scheduled, const Machine& machine, llvm::StringRef entry,
                                 llvm::ArrayRef<Known> arguments, DiagnosticEngine& diagnostics) {
  svm::setStage(scheduled, svm::Stage::Lowering);
  PassManager passes(scheduled.getContext());
  passes.nest<svm::KernelOp>().addPass(kernel::createTileLoopsPassFor(machine::figuresOf(machine)));
  auto function = scheduled.lookupSymbol<func::FuncOp>(entry);
  if (!function || failed(passes.run(scheduled)))
    return std::nullopt;
  try {
    return Walker(scheduled, machine).run(function, arguments);
  } catch (const TooDeep& found) {
    diagnostics
        .report(tooDeep, sourceLocation(diagnostics.sources(), found.at->getLoc()),
                cast<func::FuncOp>(found.at).getName().str(), 256)
        .help("run it instead");
    return std::nullopt;
  }
}

} // namespace strata::cost
