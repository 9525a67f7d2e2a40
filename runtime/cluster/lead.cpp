// Rank 0: commands go to every node, parts to the one that has their instances. Who waits for an answer lets other
// fibres run, and sleeps for a moment when there is nothing to do: the ranks may share cores.
#include "runtime/cluster/addresses.h"
#include "runtime/cluster/cluster.h"
#include "runtime/cluster/commands.h"
#include "runtime/cluster/message.h"
#include "runtime/cluster/patience.h"
#include "runtime/core/failure.h"
#include "runtime/core/run_context.h"
#include "runtime/core/trace.h"
#include "runtime/core/transfer.h"

#include <atomic>
#include <deque>
#include <mutex>
#include <set>
#include <sys/resource.h>
#include <unistd.h>

namespace strata::cluster {
namespace {

/// A failure of a node is one of the program.
[[noreturn]] void failLike(const std::vector<char>& message) {
  MessageReader reader(message);
  const auto rank = reader.read<int64_t>();
  static std::string code, text, help, file; // the process ends with them
  code = reader.text();
  text = reader.text();
  help = reader.text();
  file = reader.text();
  if (const std::string process = "process " + std::to_string(rank);
      file.empty() && text.find(process) == std::string::npos)
    text = process + ": " + text;
  static StrataCheck check;
  check = {code.c_str(),
           "{0}",
           help.empty() ? nullptr : help.c_str(),
           file.empty() ? nullptr : file.c_str(),
           reader.read<uint32_t>(),
           reader.read<uint32_t>()};
  // The text is filled in already; braces in it are no places for values.
  check.message = text.c_str();
  strata_fail(&check, nullptr, 0);
}

/// This rank's memory as the window that the other ranks have of it.
class OwnMemory final : public runtime::WindowBackend {
public:
  void move(const runtime::WindowMove& move) override {
    char* const here = Addresses::home().first + move.offset;
    const int64_t* const strides = move.windowStrides;
    if (move.intoWindow)
      runtime::executeMove(runtime::planMove(strides, move.memoryStrides, move.extents, move.rank, move.elementBytes),
                           here, move.memory);
    else
      runtime::executeMove(runtime::planMove(move.memoryStrides, strides, move.extents, move.rank, move.elementBytes),
                           move.memory, here);
  }
  bool isEverywhere() const override { return true; }
};

class Leader final : public WithMemory<Cluster> {
public:
  using WithMemory::WithMemory;

  int64_t load(const CodeTexts& code, const void* address) override {
    const int64_t number = codes_++;
    MessageWriter message;
    message << Command::Load << number;
    message.text(code.machine).text(code.target).text(code.object).text(code.function);
    tellAll(message);
    addresses_.push_back({number, static_cast<const char*>(address), code.reach});
    return number;
  }

  void use(int64_t code) override {
    const int64_t request = nextRequest();
    tellAll(MessageWriter() << Command::Use << request << code);
    // Their stores can be written once they are there.
    for (int64_t rank = 1; rank < count(); ++rank)
      answerOf(rank, request);
  }

  void opened(const void* window, const StrataLayout& layout, const char* what) override {
    MessageWriter message;
    message << Command::Open << window << layout.virtual_memory << layout.memory << layout.address
            << layout.element_bytes << layout.stack << layout.rank << uint8_t(layout.within != nullptr);
    for (const int64_t* list : {layout.extents, layout.grid, layout.block_sizes})
      for (int32_t i = 0; i < layout.rank; ++i)
        message << list[i];
    message.text(what).text(layout.within ? layout.within : "").text(layout.across ? layout.across : "");
    tellAll(message);
  }

  void openedData(const void* window, int64_t bytes, std::string_view description, const char* what) override {
    tellAll((MessageWriter() << Command::Data << window << bytes).text(description).text(what));
  }

  void exchange(const runtime::RankExchange& exchange) override {
    const runtime::WindowExchange& move = exchange.move;
    const int64_t request = nextRequest();
    MessageWriter message;
    message << Command::Exchange << request << exchange.block << move.other.first << move.intoWindow << move.offset
            << move.other.offset << move.elementBytes << move.rank;
    for (const int64_t* list : {move.extents, move.strides, move.otherStrides})
      for (int32_t i = 0; i < move.rank; ++i)
        message << list[i];
    tellAll(message);
    runtime::exchangeOwn(exchange);
    for (int64_t rank = 1; rank < count(); ++rank)
      answerOf(rank, request);
  }

  runtime::WindowPlace homeOf(const void* address) override {
    const Stretch home = Addresses::home();
    if (!home.has(address))
      return {};
    return {&own_, static_cast<const char*>(address) - home.first, home.first};
  }

  void closed(const void* window) override { tellAll(MessageWriter() << Command::Close << window); }

  void run(int64_t rank, const runtime::RankPart& part) override {
    const auto* body = reinterpret_cast<const char*>(part.body);
    const auto distance = [&](const Code& code) { return std::abs(body - code.function); };
    const Code* in = nullptr;
    for (const Code& code : addresses_)
      if (!in || distance(code) < distance(*in))
        in = &code;
    if (!in || distance(*in) > in->reach)
      runtime::fail("runtime-ranks-code", "a part of the program is no code that other ranks have");
    const int64_t request = nextRequest();
    MessageWriter message;
    message << Command::Run << request << in->number << int64_t(body - in->function) << part.first << part.count
            << part.processor << part.number << part.step;
    message.text({static_cast<const char*>(part.arguments), static_cast<size_t>(part.argumentBytes)});
    begin(rank, request);
    Sent sent{rank, runtime::roleOf(*runtime::current()), part.processor, part.number, runtime::traceClock()};
    tell(rank, message);
    const std::vector<char> answer = answerOf(rank, request);
    sent.answered = runtime::traceClock();
    end(rank, request);
    MessageReader printed(answer);
    sent.begun = printed.read<int64_t>();
    sent.ended = printed.read<int64_t>();
    note(sent);
    for (auto left = printed.read<uint64_t>(); left > 0; --left) {
      const auto order = printed.read<int64_t>();
      runtime::current()->runContext->output().addText(order, std::string(printed.text()));
    }
  }

  std::map<std::string, int64_t> figures() override {
    std::map<std::string, int64_t> all = {{"peak memory of process 0", peakMemory()}};
    traffic_.takeInto(all);
    for (int64_t rank = 1; rank < count(); ++rank) {
      const int64_t request = nextRequest();
      tell(rank, MessageWriter() << Command::Figures << request);
      const std::vector<char> answer = answerOf(rank, request);
      MessageReader reader(answer);
      for (auto left = reader.read<uint64_t>(); left > 0; --left) {
        const std::string name(reader.text());
        all[name] += reader.read<int64_t>();
      }
    }
    return all;
  }

  void gatherSpans() override {
    std::vector<runtime::Span> all;
    std::vector<runtime::Arrow> arrows;
    for (int64_t rank = 1; rank < count(); ++rank) {
      const int64_t ahead = aheadOf(rank);
      for (const Sent& sent : sent_)
        if (sent.rank == rank) {
          const char *const from = nameOf(sent.by.processor), *const to = nameOf(sent.processor);
          arrows.push_back(
              {"begin", from, from ? sent.by.instance : 0, sent.told, to, sent.instance, sent.begun - ahead});
          arrows.push_back(
              {"end", to, sent.instance, sent.ended - ahead, from, from ? sent.by.instance : 0, sent.answered});
        }
      const int64_t request = nextRequest();
      tell(rank, MessageWriter() << Command::Spans << request);
      const std::vector<char> answer = answerOf(rank, request);
      MessageReader reader(answer);
      for (auto left = reader.read<uint64_t>(); left > 0; --left) {
        runtime::Span span{};
        span.rank = static_cast<int32_t>(rank);
        span.kind = reader.read<runtime::Span::Kind>();
        span.name = kept(reader.text());
        const std::string_view process = reader.text();
        span.process = process.empty() ? nullptr : kept(process);
        span.instance = reader.read<int64_t>();
        span.start = reader.read<int64_t>() - ahead;
        span.end = reader.read<int64_t>() - ahead;
        span.bytes = reader.read<int64_t>();
        span.instances = reader.read<int64_t>();
        if (reader.read<uint8_t>()) {
          span.machine = runtime::current()->runContext->machine();
          const auto from = reader.read<uint32_t>(), to = reader.read<uint32_t>();
          auto& links = links_.emplace_back(reader.read<uint32_t>());
          for (uint32_t& link : links)
            link = reader.read<uint32_t>();
          span.way =
              &ways_.emplace_back(StrataWay{span.name, from, to, links.data(), static_cast<uint32_t>(links.size())});
        }
        all.push_back(span);
      }
    }
    sent_.clear();
    runtime::addSpans(all, arrows);
  }

  void end() override {
    tellAll(MessageWriter() << Command::End);
    transport_.barrier();
    transport_.end();
  }

  void abandon() override {
    std::vector<char> message;
    for (int64_t tries = 0; tries < mostWait && isAnyAtWork(); ++tries) {
      // Who waits for an answer may wait for a thread that is here.
      const std::lock_guard guard(lock_);
      std::erase_if(atWork_, [&](const Request& each) {
        return transport_.take(each.rank, kindAnswer + static_cast<int>(each.number), message);
      });
      while (transport_.take(-1, kindFailure, message)) {
        const int64_t failed = MessageReader(message).read<int64_t>();
        std::erase_if(atWork_, [&](const Request& each) { return each.rank == failed; });
      }
      usleep(1000);
    }
  }

private:
  /// A part that another rank runs.
  struct Request {
    int64_t rank, number;
  };
  static constexpr int64_t mostWait = 5000; // milliseconds

  void begin(int64_t rank, int64_t number) {
    const std::lock_guard guard(lock_);
    atWork_.push_back({rank, number});
  }
  void end(int64_t rank, int64_t number) {
    const std::lock_guard guard(lock_);
    std::erase_if(atWork_, [&](const Request& each) { return each.rank == rank && each.number == number; });
  }
  bool isAnyAtWork() {
    const std::lock_guard guard(lock_);
    return !atWork_.empty();
  }

  struct Code {
    int64_t number;
    const char* function;
    int64_t reach;
  };

  /// A part that another rank has run, by the clocks of both.
  struct Sent {
    int64_t rank;
    runtime::Role by;
    uint32_t processor; // that ran it, with this instance first
    int64_t instance;
    int64_t told, answered = 0; // here
    int64_t begun = 0, ended = 0;
  };

  /// Where a trace is made, it shows who has told whom.
  void note(const Sent& sent) {
    constexpr size_t most = 100000;
    const std::lock_guard guard(lock_);
    if (runtime::isTracing(*runtime::current()) && sent_.size() < most)
      sent_.push_back(sent);
  }

  static const char* nameOf(uint32_t processor) {
    const StrataMachine* machine = runtime::current()->runContext->machine();
    return machine && processor < machine->processor_count ? machine->processors[processor].name : nullptr;
  }

  /// By how many nanoseconds a rank's clock is ahead of this one's: of several questions that with the fastest answer
  /// tells it best.
  int64_t aheadOf(int64_t rank) {
    int64_t least = INT64_MAX, ahead = 0;
    for (int tries = transport_.isOneComputer() ? 0 : 9; tries > 0; --tries) { // one computer has one clock
      const int64_t request = nextRequest(), begin = runtime::traceClock();
      tell(rank, MessageWriter() << Command::Clock << request);
      const std::vector<char> answer = answerOf(rank, request);
      const int64_t end = runtime::traceClock();
      if (end - begin >= least)
        continue;
      least = end - begin;
      ahead = MessageReader(answer).read<int64_t>() - (begin + least / 2);
    }
    return ahead;
  }

  const char* kept(std::string_view text) { return texts_.emplace(text).first->c_str(); }

  int64_t nextRequest() { return requests_++ % mostRequests; }

  void tell(int64_t rank, const MessageWriter& message) {
    traffic_.sent(rank);
    transport_.send(rank, kindCommand, message.bytes().data(), message.bytes().size());
  }
  void tellAll(const MessageWriter& message) {
    for (int64_t rank = 1; rank < count(); ++rank)
      tell(rank, message);
  }

  std::vector<char> answerOf(int64_t rank, int64_t request) {
    std::vector<char> message;
    const int64_t begin = runtime::traceClock();
    for (Patience patience;;) {
      if (transport_.take(rank, kindAnswer + static_cast<int>(request), message)) {
        traffic_.waited(runtime::traceClock() - begin);
        return message;
      }
      if (transport_.take(-1, kindFailure, message)) {
        const int64_t failed = MessageReader(message).read<int64_t>();
        {
          const std::lock_guard guard(lock_);
          std::erase_if(atWork_, [&](const Request& each) { return each.rank == failed; });
        }
        failLike(message);
      }
      strata_yield();
      patience.wait();
    }
  }

  OwnMemory own_;
  std::vector<Sent> sent_;
  std::set<std::string> texts_; // of spans
  std::deque<StrataWay> ways_;
  std::deque<std::vector<uint32_t>> links_;
  std::atomic<int64_t> requests_{0};
  std::mutex lock_;
  std::vector<Request> atWork_;
  int64_t codes_ = 0;
  std::vector<Code> addresses_;
};

Leader* leader = nullptr;

} // namespace

bool join(Transport& transport, std::string& error) {
  auto* addresses = new Addresses(runtime::systemMemory(), transport.own() == 0);
  if (!addresses->reserveStretches()) {
    error = "the addresses that all ranks share are in use, or more than a limit allows, in rank " +
            std::to_string(transport.own());
    return false;
  }
  for (const Stretch& stretch : {Addresses::home(), Addresses::stores()})
    transport.expose(stretch.first, stretch.bytes);
  runtime::setSystemMemory(addresses);
  return true;
}

Cluster& lead(Transport& transport) {
  leader = new Leader(transport);
  runtime::setRanks(leader);
  return *leader;
}

Cluster* leading() {
  return leader;
}

int64_t peakMemory() {
  rusage used{};
  return getrusage(RUSAGE_SELF, &used) == 0 ? int64_t(used.ru_maxrss) * 1024 : 0;
}

} // namespace strata::cluster
