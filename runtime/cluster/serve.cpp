// A node: takes commands one after the other and does what they say. Rank 0's memory is a window here, so that moves
// find it by themselves.
#include "runtime/cluster/addresses.h"
#include "runtime/cluster/cluster.h"
#include "runtime/cluster/commands.h"
#include "runtime/cluster/message.h"
#include "runtime/cluster/patience.h"
#include "runtime/core/failure.h"
#include "runtime/core/run_context.h"
#include "runtime/core/runtime.h"
#include "runtime/core/stack_guard.h"
#include "runtime/core/trace.h"
#include "runtime/core/transfer.h"
#include "runtime/core/window.h"
#include "runtime/host/machine.h"

#include <csignal>
#include <set>
#include <unistd.h>

namespace strata::cluster {
namespace {

/// A node's side of the runtime's Ranks: it has the others' memory, and sends nobody work.
class Follower final : public WithMemory<runtime::Ranks> {
public:
  using WithMemory::WithMemory;
  void run(int64_t, const runtime::RankPart&) override {
    runtime::fail("runtime-ranks-nested", "a part of a program on another rank starts parts on other ranks");
  }
  void opened(const void*, const StrataLayout&, const char*) override {}
  void openedData(const void*, int64_t, std::string_view, const char*) override {}
  void exchange(const runtime::RankExchange&) override {} // rank 0 begins them
  runtime::WindowPlace homeOf(const void*) override { return {}; }
  void closed(const void*) override {}
  Traffic& traffic() { return traffic_; }
};

/// Memory of other ranks: a stretch of addresses, and to whom each belongs.
class OtherMemory : public runtime::WindowBackend {
public:
  OtherMemory(runtime::Ranks& all, const Stretch& stretch) : all_(all), stretch_(stretch) {}

  void move(const runtime::WindowMove& move) override {
    begin(move);
    all_.finish();
  }
  void readEach(const runtime::WindowMove& first, const std::vector<int64_t>& offsets, int64_t memoryStep) override {
    runtime::WindowMove part = first;
    for (const int64_t offset : offsets) {
      part.offset = offset;
      begin(part);
      part.memory += memoryStep;
    }
    all_.finish();
  }

protected:
  /// Of the block that begins there, which is one rank's.
  virtual int64_t rankAt(int64_t offset) const = 0;

  runtime::Ranks& all_;
  const Stretch stretch_;

private:
  void begin(const runtime::WindowMove& move) {
    const int64_t rank = rankAt(move.offset);
    runtime::MovePlan plan =
        move.intoWindow
            ? runtime::planMove(move.windowStrides, move.memoryStrides, move.extents, move.rank, move.elementBytes)
            : runtime::planMove(move.memoryStrides, move.windowStrides, move.extents, move.rank, move.elementBytes);
    if (plan.empty)
      return;
    // The innermost dimension that is left goes as elements of one copy.
    const runtime::MoveDimension inner = plan.dimensions.empty()
                                             ? runtime::MoveDimension{1, plan.elementBytes, plan.elementBytes}
                                             : plan.dimensions.back();
    if (!plan.dimensions.empty())
      plan.dimensions.pop_back();
    std::vector<int64_t> index(plan.dimensions.size(), 0);
    char *there = stretch_.first + move.offset, *here = move.memory;
    while (true) {
      if (move.intoWindow)
        all_.write(rank, {there, inner.destination}, {here, inner.source}, inner.extent, plan.elementBytes);
      else
        all_.read(rank, {here, inner.destination}, {there, inner.source}, inner.extent, plan.elementBytes);
      size_t next = index.size();
      while (next-- > 0) {
        const runtime::MoveDimension& dimension = plan.dimensions[next];
        const int64_t thereStep = move.intoWindow ? dimension.destination : dimension.source,
                      hereStep = move.intoWindow ? dimension.source : dimension.destination;
        there += thereStep;
        here += hereStep;
        if (++index[next] < dimension.extent)
          break;
        there -= index[next] * thereStep;
        here -= index[next] * hereStep;
        index[next] = 0;
      }
      if (next == SIZE_MAX)
        break;
    }
  }
};

/// What rank 0 has allocated.
class HomeMemory final : public OtherMemory {
public:
  using OtherMemory::OtherMemory;
  int64_t rankAt(int64_t) const override { return 0; }
};

/// The stores of the machine, of which this rank's own are memory.
class OtherStores final : public OtherMemory {
public:
  using OtherMemory::OtherMemory;
  bool holds(int64_t offset) const override { return rankAt(offset) != all_.own(); }
  int64_t rankAt(int64_t offset) const override {
    return runtime::rankOfStore(stretch_.first + offset, all_).value_or(all_.own());
  }
};

Transport* failing = nullptr; // by which a failure goes to rank 0

/// Rank 0 ends the program, and this process with it. Until then what it sends is taken: it may be in the middle of a
/// message that waits for its receiver.
void sendFailure(const StrataCheck* check, const int64_t*, int32_t, const char* text) {
  MessageWriter message;
  message << failing->own();
  message.text(check->code ? check->code : "").text(text).text(check->help ? check->help : "");
  message.text(check->file ? check->file : "") << check->line << check->column;
  failing->send(0, kindFailure, message.bytes().data(), message.bytes().size());
  std::vector<char> ignored;
  while (true)
    if (!failing->take(0, kindCommand, ignored))
      usleep(1000);
}

/// Faults of functions in C, as rank 0 tells of its own (compiler/driver/run/c_faults.cpp), without the names that it
/// knows.
void reportNull(size_t address, const void*) {
  static const StrataCheck check{"runtime-null-pointer",
                                 "the program reads or writes at address {0}, where nothing is",
                                 "a function in C or C++ follows a null pointer",
                                 nullptr,
                                 0,
                                 0};
  const auto at = static_cast<int64_t>(address);
  strata_fail(&check, &at, 1);
}
void reportWild(bool isReadOnly, const void*) {
  static const StrataCheck reads{"runtime-wild-pointer",
                                 "the program reads or writes where it has no memory",
                                 "a function in C or C++ follows a pointer that leads nowhere, or leaves its arrays",
                                 nullptr,
                                 0,
                                 0},
      writes{"runtime-wild-pointer",
             "the program writes to memory that may only be read",
             "a function in C or C++ writes to a constant, such as a string's",
             nullptr,
             0,
             0};
  strata_fail(isReadOnly ? &writes : &reads, nullptr, 0);
}
void reportAbort(int) {
  static const StrataCheck check{"runtime-abort",
                                 "the program was ended by abort()",
                                 "a function in C or C++ called it, or an assertion in one does not hold",
                                 nullptr,
                                 0,
                                 0};
  strata_fail(&check, nullptr, 0);
}

class Node {
public:
  Node(Transport& transport, NodeCode& code) : transport_(transport), code_(code), others_(transport) {
    failing = &transport;
    strata_set_failure_handler(sendFailure);
    runtime::setNullHandler(reportNull);
    runtime::setWildHandler(reportWild);
    std::signal(SIGABRT, reportAbort);
    runtime::setRanks(&others_);
    const Stretch home = Addresses::home(), stores = Addresses::stores();
    runtime::openWindow(static_cast<int64_t>(home.bytes / 2), std::make_unique<HomeMemory>(others_, home),
                        "rank 0's memory", home.first);
    runtime::openWindow(static_cast<int64_t>(stores.bytes / 2), std::make_unique<OtherStores>(others_, stores),
                        "the stores of other ranks", stores.first);
    runtime::hasWindowsOfMemory().store(true);
  }

  void serve() {
    std::vector<char> message;
    while (true) {
      const int64_t begin = runtime::traceClock();
      for (Patience patience; !transport_.take(0, kindCommand, message);)
        patience.wait();
      others_.traffic().waited(runtime::traceClock() - begin);
      MessageReader reader(message);
      const auto command = reader.read<Command>();
      if (command == Command::End)
        break;
      obey(command, reader);
    }
    runtime::setRanks(nullptr);
    transport_.barrier();
    transport_.end();
  }

private:
  struct Code {
    const StrataMachine* machine;
    const char* function;
  };

  void obey(Command command, MessageReader& reader) {
    switch (command) {
    case Command::Load: {
      const auto number = reader.read<int64_t>();
      const StrataMachine* machine = code_.machine(reader.text());
      const std::string_view target = reader.text(), object = reader.text(), function = reader.text();
      codes_[number] = {machine, static_cast<const char*>(code_.load(target, object, function))};
      break;
    }
    case Command::Use: {
      const auto request = reader.read<int64_t>();
      strata_machine(codes_.at(reader.read<int64_t>()).machine);
      answer(request, MessageWriter());
      break;
    }
    case Command::Open:
      open(reader);
      break;
    case Command::Data:
      openData(reader);
      break;
    case Command::Exchange:
      exchange(reader);
      break;
    case Command::Close:
      strata_window_release(reader.read<void*>());
      break;
    case Command::Run:
      run(reader);
      break;
    case Command::Clock: {
      const auto request = reader.read<int64_t>();
      answer(request, MessageWriter() << runtime::traceClock());
      break;
    }
    case Command::Spans:
      tellSpans(reader.read<int64_t>());
      break;
    case Command::Figures:
      tellFigures(reader.read<int64_t>());
      break;
    case Command::End:
      break;
    }
  }

  /// A text that lasts as long as the process.
  const char* kept(std::string_view text) { return texts_.emplace(text).first->c_str(); }

  void open(MessageReader& reader) {
    void* const window = reader.read<void*>();
    StrataLayout layout{};
    layout.virtual_memory = reader.read<uint32_t>();
    layout.memory = reader.read<uint32_t>();
    layout.address = reader.read<int64_t>();
    layout.element_bytes = reader.read<int64_t>();
    layout.stack = reader.read<int64_t>();
    layout.rank = reader.read<int32_t>();
    const bool isCounted = reader.read<uint8_t>() != 0;
    const auto rank = static_cast<size_t>(layout.rank);
    const std::vector<int64_t> extents = reader.numbers(rank), grid = reader.numbers(rank),
                               blocks = reader.numbers(rank);
    layout.extents = extents.data();
    layout.grid = grid.data();
    layout.block_sizes = blocks.data();
    const char* what = kept(reader.text());
    const char *within = kept(reader.text()), *across = kept(reader.text());
    layout.within = isCounted ? within : nullptr;
    layout.across = isCounted ? across : nullptr;
    runtime::openDistributed(layout, what, window);
  }

  void openData(MessageReader& reader) {
    void* const window = reader.read<void*>();
    const auto bytes = reader.read<int64_t>();
    const std::string_view description = reader.text();
    const char* what = kept(reader.text());
    std::string error;
    std::unique_ptr<runtime::WindowBackend> data = code_.data(description, error);
    if (!data)
      runtime::fail("runtime-ranks-data",
                    "process " + std::to_string(transport_.own()) + " does not reach the data of '" + what +
                        "': " + error,
                    "every process reads and writes its part of an array: put the files where all computers have them, "
                    "under the same name");
    runtime::openWindow(bytes, std::move(data), what, window);
  }

  void exchange(MessageReader& reader) {
    const auto request = reader.read<int64_t>();
    const void* block = reader.read<const void*>();
    runtime::WindowExchange move;
    move.other = runtime::findWindow(reader.read<const char*>());
    move.intoWindow = reader.read<bool>();
    move.offset = reader.read<int64_t>();
    move.other.offset = reader.read<int64_t>();
    move.elementBytes = reader.read<int64_t>();
    move.rank = reader.read<int32_t>();
    const auto rank = static_cast<size_t>(move.rank);
    const std::vector<int64_t> extents = reader.numbers(rank), strides = reader.numbers(rank),
                               otherStrides = reader.numbers(rank);
    move.extents = extents.data();
    move.strides = strides.data();
    move.otherStrides = otherStrides.data();
    runtime::exchangeOwn({block, move});
    answer(request, MessageWriter());
  }

  void run(MessageReader& reader) {
    const auto request = reader.read<int64_t>();
    const Code& code = codes_.at(reader.read<int64_t>());
    runtime::RankPart part;
    part.body =
        reinterpret_cast<void (*)(void*, int64_t)>(reinterpret_cast<uintptr_t>(code.function + reader.read<int64_t>()));
    part.first = reader.read<int64_t>();
    part.count = reader.read<int64_t>();
    part.processor = reader.read<uint32_t>();
    part.number = reader.read<int64_t>();
    part.step = reader.read<int64_t>();
    const std::string_view arguments = reader.text();
    // Aligned as on the stack that they come from.
    std::vector<std::max_align_t> copy(arguments.size() / sizeof(std::max_align_t) + 1);
    std::memcpy(copy.data(), arguments.data(), arguments.size());
    part.arguments = copy.data();
    part.argumentBytes = static_cast<int64_t>(arguments.size());
    runtime::RunContext& context = *runtime::current()->runContext;
    context.output().begin();
    const int64_t begin = runtime::traceClock();
    runtime::runPart(part, {&context, part.processor, part.number, part.step});
    const auto printed = context.output().endForOther();
    MessageWriter message;
    message << begin << runtime::traceClock() << static_cast<uint64_t>(printed.size());
    for (const auto& [order, text] : printed)
      (message << order).text(text);
    answer(request, message);
  }

  void tellFigures(int64_t request) {
    MessageWriter message;
    std::map<std::string, int64_t> counted = runtime::counters();
    others_.traffic().takeInto(counted);
    counted["peak memory of process " + std::to_string(transport_.own())] = peakMemory();
    message << static_cast<uint64_t>(counted.size());
    for (const auto& [name, amount] : counted)
      message.text(name) << amount;
    runtime::resetCounters();
    answer(request, message);
  }

  void tellSpans(int64_t request) {
    MessageWriter message;
    const std::vector<runtime::Span> spans = runtime::spansInOrder();
    message << static_cast<uint64_t>(spans.size());
    for (const runtime::Span& span : spans) {
      message << span.kind;
      message.text(span.name).text(span.process ? span.process : "");
      message << span.instance << span.start << span.end << span.bytes << span.instances;
      message << static_cast<uint8_t>(span.way != nullptr);
      if (!span.way)
        continue;
      message << span.way->from << span.way->to << span.way->link_count;
      for (uint32_t i = 0; i < span.way->link_count; ++i)
        message << span.way->links[i];
    }
    runtime::clearTrace();
    answer(request, message);
  }

  void answer(int64_t request, const MessageWriter& message) {
    others_.traffic().sent(0);
    transport_.send(0, kindAnswer + static_cast<int>(request), message.bytes().data(), message.bytes().size());
  }

  Transport& transport_;
  NodeCode& code_;
  Follower others_;
  std::map<int64_t, Code> codes_;
  std::set<std::string> texts_;
};

} // namespace

void serve(Transport& transport, NodeCode& code) {
  Node(transport, code).serve();
}

} // namespace strata::cluster
