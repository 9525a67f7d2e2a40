// One queue of executors by the time that each has come to; whoever is behind all others does its next step. So
// transfers ask for what they need in the order of their times, and are served in that order. See simulate.h.
#include "compiler/cost/simulate.h"

#include <algorithm>
#include <deque>
#include <queue>
#include <tuple>

namespace strata::cost {

namespace {

constexpr size_t mostEvents = 200'000;

class Simulator {
public:
  Simulator(const Walked& walked, const Machine& machine, const Routes& routes, bool keepsEvents)
      : walked_(walked), machine_(machine), routes_(routes), keepsEvents_(keepsEvents), ends_(walked.tokens, 0) {
    for (const Resource& each : routes.resources())
      free_.emplace_back(std::min<uint64_t>(std::max<uint64_t>(each.count, 1), mostChannels), 0.0);
  }

  Estimate run() {
    Executor& first = executors_.emplace_back(Executor{&walked_.steps, walked_.processor});
    first.sums = noSums();
    uses(first, walked_.processor, 1);
    push(first);
    while (!queue_.empty()) {
      Executor& next = *queue_.top().executor;
      queue_.pop();
      step(next);
    }
    return made(first);
  }

private:
  struct Total {
    double computing = 0, waiting = 0, starting = 0;
    uint64_t used = 0;
  };
  /// Of an executor and of all that it has forked.
  struct Sums {
    std::vector<double> busy;  // by resource, cycles
    std::vector<Total> totals; // by class of processors
  };
  struct Marked {
    double now;
    Sums sums;
  };
  struct Executor {
    const Steps* steps;
    machine::ProcessorId processor;
    double at = 0, share = 1; ///< which of the processors of each class belong to it: from `at` on so much of all
    double now = 0, carrying = 0, unfinished = 0;
    size_t next = 0; ///< of its steps
    Executor* parent = nullptr;
    Sums sums{};
    std::map<uint32_t, Marked> marks{};
    // Of a fork that is going on.
    const Fork* fork = nullptr;
    size_t started = 0, ended = 0;
    double last = 0;
  };
  struct Entry {
    double now;
    uint64_t order; // of those at one time, the one that came first
    Executor* executor;
    bool operator<(const Entry& other) const { return std::tie(now, order) > std::tie(other.now, other.order); }
  };

  Sums noSums() const { return {std::vector<double>(free_.size(), 0), std::vector<Total>(machine_.processors.size())}; }
  void push(Executor& executor) { queue_.push({executor.now, order_++, &executor}); }
  Total& totalOf(Executor& executor) { return executor.sums.totals[executor.processor.value]; }
  uint64_t instanceOf(const Executor& executor, machine::ProcessorId processor) const {
    return static_cast<uint64_t>(executor.at * static_cast<double>(machine_[processor].count) + 1e-6);
  }
  void uses(Executor& executor, machine::ProcessorId processor, double instances) {
    Total& total = executor.sums.totals[processor.value];
    total.used = std::max(total.used,
                          std::min(machine_[processor].count, static_cast<uint64_t>(instances / executor.share + 0.5)));
  }

  void happens(const Executor& executor, machine::ProcessorId processor, Estimate::Event::Kind kind, uint32_t name,
               double begin, double end, double bytes = 0) {
    if (!keepsEvents_ || end <= begin || (name == 0 && kind != Estimate::Event::Kind::Wait))
      return;
    if (made_.events.size() == mostEvents) {
      made_.isCutOff = true;
      return;
    }
    made_.events.push_back(
        {kind, processor.value, instanceOf(executor, processor), walked_.names[name], begin, end, bytes});
  }

  void waitUntil(Executor& executor, double time, uint32_t name) {
    if (time <= executor.now)
      return;
    happens(executor, executor.processor, Estimate::Event::Kind::Wait, name, executor.now, time);
    totalOf(executor).waiting += time - executor.now;
    executor.now = time;
  }
  double endOf(const std::vector<uint32_t>& tokens) const {
    double end = 0;
    for (const uint32_t token : tokens)
      end = std::max(end, ends_[token]);
    return end;
  }

  void step(Executor& executor) {
    if (executor.next == executor.steps->all.size())
      return finish(executor);
    const Step& step = executor.steps->all[executor.next++];
    using Kind = Step::Kind;
    switch (step.kind) {
    case Kind::Compute:
      happens(executor, executor.processor, Estimate::Event::Kind::Run, step.name, executor.now,
              executor.now + step.cycles);
      executor.now += step.cycles;
      totalOf(executor).computing += step.cycles;
      break;
    case Kind::Start:
      executor.now += step.cycles;
      totalOf(executor).starting += step.cycles;
      break;
    case Kind::Wait:
      waitUntil(executor, endOf(step.tokens), step.name);
      break;
    case Kind::Run: {
      const double begin = std::max(executor.now, endOf(step.tokens)), end = begin + step.cycles;
      happens(executor, step.processor, Estimate::Event::Kind::Run, step.name, begin, end);
      executor.sums.totals[step.processor.value].computing += step.cycles;
      uses(executor, step.processor, 1);
      executor.unfinished = std::max(executor.unfinished, end);
      ends_[step.token] = end;
      break;
    }
    case Kind::Transfer:
      transfer(executor, step);
      break;
    case Kind::Fork:
      return fork(executor, walked_.forks[step.number]);
    case Kind::Mark:
      executor.marks[step.number] = {executor.now, executor.sums};
      break;
    case Kind::Repeat:
      repeat(executor, executor.marks.at(step.number), step.cycles);
      break;
    }
    push(executor);
  }

  /// Begins when everything on its way is free; each thing is busy for as long as it takes for the bytes itself.
  void transfer(Executor& executor, const Step& step) {
    double begin = std::max({executor.now, executor.carrying, endOf(step.tokens)});
    std::vector<double*> channels;
    for (const auto& [resource, cyclesPerByte] : step.route->busy) {
      channels.push_back(&*std::ranges::min_element(free_[resource]));
      begin = std::max(begin, *channels.back());
    }
    const double carried = step.bytes * step.route->cyclesPerByte;
    for (size_t i = 0; i < channels.size(); ++i) {
      const auto& [resource, cyclesPerByte] = step.route->busy[i];
      *channels[i] = begin + step.bytes * cyclesPerByte;
      executor.sums.busy[resource] += step.bytes * cyclesPerByte;
    }
    executor.carrying = begin + carried;
    const double end = step.bytes > 0 ? begin + carried + step.route->latency : begin;
    happens(executor, executor.processor, Estimate::Event::Kind::Move, step.name, begin, end, step.bytes);
    if (step.token == 0)
      return waitUntil(executor, end, step.name);
    executor.unfinished = std::max(executor.unfinished, end);
    ends_[step.token] = end;
  }

  void fork(Executor& executor, const Fork& fork) {
    executor.fork = &fork;
    executor.started = executor.ended = 0;
    executor.last = executor.now;
    const auto instances = static_cast<double>(fork.instances.size());
    uses(executor, fork.processor, instances);
    if (fork.instances.empty())
      return join(executor);
    // More instances than processors take turns.
    const auto there = std::max<uint64_t>(
        1, static_cast<uint64_t>(static_cast<double>(machine_[fork.processor].count) * executor.share + 0.5));
    const size_t most = std::min<size_t>(fork.instances.size(), there);
    while (executor.started < most)
      begin(executor, executor.now);
  }

  void begin(Executor& parent, double now) {
    const size_t number = parent.started++;
    const auto instances = static_cast<double>(parent.fork->instances.size());
    Executor* made = nullptr;
    if (spare_.empty()) {
      made = &executors_.emplace_back();
    } else {
      made = spare_.back();
      spare_.pop_back();
      *made = Executor{};
    }
    made->steps = parent.fork->instances[number].get();
    made->processor = parent.fork->processor;
    made->share = parent.share / instances;
    made->at = parent.at + static_cast<double>(number) * made->share;
    made->now = now;
    made->parent = &parent;
    made->sums = noSums();
    push(*made);
  }

  /// Its steps are done; a region ends when all has ended that it has started.
  void finish(Executor& executor) {
    waitUntil(executor, executor.unfinished, 0);
    Executor* const parent = executor.parent;
    if (!parent)
      return;
    add(parent->sums, executor.sums, 1);
    for (size_t i = 0; i < executor.sums.totals.size(); ++i)
      parent->sums.totals[i].used = std::max(parent->sums.totals[i].used, executor.sums.totals[i].used);
    parent->last = std::max(parent->last, executor.now);
    ++parent->ended;
    const double now = executor.now;
    spare_.push_back(&executor);
    if (parent->started < parent->fork->instances.size())
      begin(*parent, now);
    else if (parent->ended == parent->fork->instances.size())
      join(*parent);
  }

  void join(Executor& executor) {
    executor.now = executor.last;
    push(executor);
  }

  static void add(Sums& to, const Sums& from, double times) {
    for (size_t i = 0; i < to.busy.size(); ++i)
      to.busy[i] += times * from.busy[i];
    for (size_t i = 0; i < to.totals.size(); ++i) {
      to.totals[i].computing += times * from.totals[i].computing;
      to.totals[i].waiting += times * from.totals[i].waiting;
      to.totals[i].starting += times * from.totals[i].starting;
    }
  }

  /// What the iteration since the mark took, so many times more.
  void repeat(Executor& executor, const Marked& since, double times) {
    Sums one = executor.sums;
    add(one, since.sums, -1);
    add(executor.sums, one, times);
    const double later = times * (executor.now - since.now);
    executor.now += later;
    executor.carrying += later;
    executor.unfinished += later;
  }

  Estimate made(const Executor& first) {
    made_.isSampled = walked_.isSampled;
    made_.cycles = first.now;
    // Of what is repeated, each executor has asked for itself only.
    for (size_t i = 0; i < free_.size(); ++i)
      made_.cycles = std::max(made_.cycles, first.sums.busy[i] / static_cast<double>(routes_.resources()[i].count));
    if (machine_.clock)
      made_.seconds = made_.cycles / static_cast<double>(machine_.clock);
    for (size_t i = 0; i < first.sums.totals.size(); ++i)
      if (const Total& total = first.sums.totals[i]; total.used > 0)
        made_.processors.push_back({machine_.processors[i].name, machine_.processors[i].count, total.used,
                                    total.computing, total.waiting, total.starting});
    for (size_t i = 0; i < free_.size(); ++i)
      if (first.sums.busy[i] > 0)
        made_.carriers.push_back({routes_.resources()[i].name, routes_.resources()[i].count, first.sums.busy[i]});
    return std::move(made_);
  }

  static constexpr uint64_t mostChannels = 1 << 16;

  const Walked& walked_;
  const Machine& machine_;
  const Routes& routes_;
  const bool keepsEvents_;
  std::vector<double> ends_;              // of tokens
  std::vector<std::vector<double>> free_; // when each instance of a resource is
  std::deque<Executor> executors_;
  std::vector<Executor*> spare_;
  std::priority_queue<Entry> queue_;
  uint64_t order_ = 0;
  Estimate made_;
};

} // namespace

Estimate simulate(const Walked& walked, const Machine& machine, const Routes& routes, bool keepsEvents) {
  return Simulator(walked, machine, routes, keepsEvents).run();
}

} // namespace strata::cost
