// strata-bench-nodes WORK PAIRS THREADS: one of two processes that mpirun has started, in which Strata and its peers
// take turns. Process 0 takes the samples and prints its rows as JSON; process 1 is a node of the cluster, and does its
// part of a peer's call when process 0 sends it one. So both sides have the same cores, memory and MPI.
#include "benchmarks/bench.h"
#include "benchmarks/peers/nodes.h"
#include "benchmarks/peers/peers.h"
#include "benchmarks/program.h"
#include "compiler/driver/session/prepare.h"
#include "compiler/target/machine_table.h"
#include "compiler/target/registry/registry.h"
#include "runtime/cluster/beginning.h"
#include "runtime/cluster/cluster.h"
#include "runtime/cluster/commands.h"
#include "runtime/core/runtime.h"
#include "runtime/core/system_memory.h"

#include <chrono>
#include <csignal>
#include <cstdio>
#include <cstring>
#include <dlfcn.h>
#include <functional>
#include <sys/mman.h>
#include <sys/prctl.h>
#include <unistd.h>

namespace strata::bench {
namespace {

/// What process 1 does in a peer's call, and its numbers.
struct Turn {
  enum What : int64_t { Begin, Expose, Window, Put, Get, Heat, Product, Scalapack } what;
  int64_t numbers[4];
};
/// The first byte of a message that is a turn, behind the commands of a cluster.
constexpr char turnMark = 127;
static_assert(static_cast<char>(cluster::Command::End) < turnMark);

/// A message of process 1: where its memory is.
constexpr int kindAddress = 3;

constexpr int64_t movedBytes = 1 << 20;

[[noreturn]] void giveUp(const char* why) {
  fprintf(stderr, "strata-bench-nodes: %s\n", why);
  std::_Exit(1);
}

void beginPeers(int64_t threads) {
  if (const char* why = bench_nodes_begin(static_cast<int>(threads)))
    giveUp(why);
}

/// Memory that both processes have, exposed by the transport and, to the peers, as a window.
char* movedMemory() {
  static char* const memory = static_cast<char*>(
      mmap(nullptr, movedBytes, PROT_READ | PROT_WRITE, MAP_PRIVATE | MAP_ANONYMOUS | MAP_POPULATE, -1, 0));
  return memory;
}

/// The transport of a cluster; on process 1 turns are taken as they come.
class Turns final : public cluster::Transport {
public:
  explicit Turns(cluster::Transport& all) : all_(all) {}

  int64_t own() const override { return all_.own(); }
  int64_t count() const override { return all_.count(); }
  bool isOneComputer() const override { return all_.isOneComputer(); }
  void send(int64_t rank, int kind, const void* bytes, size_t count) override { all_.send(rank, kind, bytes, count); }
  bool take(int64_t rank, int kind, std::vector<char>& message) override {
    if (!all_.take(rank, kind, message))
      return false;
    // Answers may begin with any byte.
    if (kind != cluster::kindCommand || message.empty() || message[0] != turnMark)
      return true;
    Turn turn{};
    std::memcpy(&turn, message.data() + 1, sizeof turn);
    follow(turn);
    return false;
  }
  void expose(void* first, size_t bytes) override { all_.expose(first, bytes); }
  void get(int64_t rank, char* to, int64_t toStep, const char* from, int64_t fromStep, int64_t elements,
           int64_t bytes) override {
    all_.get(rank, to, toStep, from, fromStep, elements, bytes);
  }
  void put(int64_t rank, char* to, int64_t toStep, const char* from, int64_t fromStep, int64_t elements,
           int64_t bytes) override {
    all_.put(rank, to, toStep, from, fromStep, elements, bytes);
  }
  void flush() override { all_.flush(); }
  void barrier() override { all_.barrier(); }
  void end() override { all_.end(); }

  /// Has process 1 take its part of a call that this process is about to make.
  void begin(const Turn& turn) {
    char message[1 + sizeof turn] = {turnMark};
    std::memcpy(message + 1, &turn, sizeof turn);
    all_.send(1, cluster::kindCommand, message, sizeof message);
  }

private:
  void follow(const Turn& turn) {
    const auto& [first, second, third, fourth] = turn.numbers;
    switch (turn.what) {
    case Turn::Begin:
      beginPeers(first);
      break;
    case Turn::Expose: {
      expose(movedMemory(), movedBytes);
      const char* const memory = movedMemory();
      send(0, kindAddress, static_cast<const void*>(&memory), sizeof memory);
      break;
    }
    case Turn::Window:
      bench_nodes_window(movedMemory(), movedBytes, first);
      break;
    case Turn::Put:
      bench_nodes_put(nullptr, first, second);
      break;
    case Turn::Get:
      bench_nodes_get(nullptr, first);
      break;
    case Turn::Heat:
      bench_nodes_heat(nullptr, nullptr, first, second, third);
      break;
    case Turn::Product:
      bench_nodes_product(nullptr, nullptr, nullptr, first, second, third, fourth);
      break;
    case Turn::Scalapack:
#ifdef STRATA_SCALAPACK
      bench_nodes_scalapack(nullptr, nullptr, nullptr, first, second, third, fourth);
#endif
      break;
    }
  }

  cluster::Transport& all_;
};

/// Rank 0's code and machine, in process 1.
class SentCode final : public cluster::NodeCode {
public:
  const StrataMachine* machine(std::string_view text) override {
    auto read = readMachine(diagnostics_, sources_.add("the machine", std::string(text), SourceKind::Machine));
    if (!read)
      giveUp("the machine that process 0 has sent is none");
    auto* const kept = new Machine(std::move(*read)); // as long as the process
    return (new target::MachineTable(*kept))->get();
  }
  const void* load(std::string_view target, std::string_view object, std::string_view function) override {
    const target::Target* const made = target::findTarget(target);
    const void* const address = made ? made->link(object, std::string(function), diagnostics_) : nullptr;
    if (!address)
      giveUp("the code that process 0 has sent cannot be linked");
    return address;
  }
  std::unique_ptr<runtime::WindowBackend> data(std::string_view, std::string& error) override {
    error = "all data are process 0's";
    return nullptr;
  }

private:
  SourceManager sources_;
  DiagnosticEngine diagnostics_{sources_};
};

/// An array of process 0 that other processes reach.
class HomeArray {
public:
  explicit HomeArray(const Buffer<float>& values)
      : bytes_(values.size() * sizeof(float)), data_(static_cast<float*>(runtime::systemMemory().map(bytes_))) {
    if (!data_)
      giveUp("no memory for an array");
    *this = values;
  }
  ~HomeArray() { runtime::systemMemory().unmap(data_, bytes_); }
  HomeArray(const HomeArray&) = delete;
  void operator=(const Buffer<float>& values) { std::memcpy(data_, values.data(), bytes_); }
  float* data() { return data_; }
  std::vector<float> copy() const { return {data_, data_ + bytes_ / sizeof(float)}; }

private:
  size_t bytes_;
  float* data_;
};

using Sizes = std::vector<std::pair<std::string, int64_t>>;

/// A program that is compiled here and runs on both processes.
class SpreadProgram {
public:
  /// Why there is none; empty: it is there.
  std::string compile(const std::string& path, const std::string& mapping, const Sizes& sizes) {
    session_.options.compile.program = path;
    session_.options.compile.mapping = mapping;
    session_.options.compile.machinePath = {STRATA_SOURCE_DIR "/machines", STRATA_SOURCE_DIR "/benchmarks/programs"};
    for (const auto& [name, value] : sizes)
      session_.options.compile.sizes[name] = value;
    compilation_ = std::make_unique<driver::CompilerSession>(session_);
    driver::Compiler& compiler = compilation_->compiler;
    program_ = compiler.logical();
    if (program_) {
      const std::string name = compiler.entryName(*program_->module);
      if (auto function = program_->module->lookupSymbol<mlir::func::FuncOp>(name))
        entry_ = driver::readEntry(function, session_.diagnostics);
    }
    const auto artefact = entry_ ? compiler.compile(*program_, 3, {}) : nullptr;
    executable_ = artefact ? artefact->load() : nullptr;
    call_ = executable_ ? executable_->entry(entry_->name) : nullptr;
    if (call_) {
      words_.resize(entry_->arguments.size());
      packed_.resize(entry_->arguments.size());
      return "";
    }
    const std::string said = session_.diagnostics.render({});
    return said.empty() ? "it does not compile" : said;
  }

  /// As Program::bind.
  void bind(const std::string& argument, void* data, const std::vector<int64_t>& extents) {
    size_t position = 0;
    while (position < entry_->arguments.size() && entry_->arguments[position].name != argument)
      ++position;
    if (position == entry_->arguments.size() || entry_->arguments[position].rank != extents.size())
      giveUp(("the program has no argument '" + argument + "' of this form").c_str());
    packed_[position] = data;
    if (!entry_->arguments[position].isBlock)
      return;
    words_[position] = describeBlock(data, extents);
    packed_[position] = words_[position].data();
  }

  double call() {
    const auto begin = std::chrono::steady_clock::now();
    call_(packed_.data());
    return std::chrono::duration<double>(std::chrono::steady_clock::now() - begin).count();
  }

private:
  driver::Session session_;
  std::unique_ptr<driver::CompilerSession> compilation_;
  std::optional<driver::LogicalProgram> program_;
  std::optional<driver::EntryPoint> entry_;
  std::unique_ptr<target::Executable> executable_;
  target::Executable::Entry call_;
  std::vector<std::vector<int64_t>> words_;
  std::vector<void*> packed_;
};

/// What process 0 has to measure with.
struct Measuring {
  Turns& turns;
  unsigned pairs;
  bool isMpiOnly;

  /// So that rows tell them apart.
  const char* how() const { return isMpiOnly ? "as on two computers" : "on one computer"; }
};

// ---- one-sided moves ----

/// How often to do what takes so long, for a sample of 20 ms.
int64_t timesFor(double seconds) {
  return std::clamp<int64_t>(static_cast<int64_t>(0.02 / std::max(seconds, 1e-9)), 4, 100000);
}

std::vector<Row> moves(Measuring& with) {
  Turns& turns = with.turns;
  turns.begin({Turn::Expose, {}});
  turns.expose(movedMemory(), movedBytes);
  std::vector<char> message;
  while (!turns.take(1, kindAddress, message))
    ;
  char* there = nullptr;
  std::memcpy(&there, message.data(), sizeof there);
  const Buffer<float> values = randomFloats(movedBytes / 4, 31), others = randomFloats(movedBytes / 4, 32);
  const auto* from = reinterpret_cast<const char*>(values.data());
  const auto ours = [&](int64_t bytes, int64_t times) {
    const int64_t size = std::min<int64_t>(bytes, 4);
    const auto begin = std::chrono::steady_clock::now();
    for (int64_t i = 0; i < times; ++i) {
      turns.put(1, there, size, from, size, bytes / size, size);
      turns.flush();
    }
    return std::chrono::duration<double>(std::chrono::steady_clock::now() - begin).count() / static_cast<double>(times);
  };
  const auto peer = [&](int64_t bytes, int64_t times) {
    turns.begin({Turn::Put, {bytes, times}});
    return bench_nodes_put(from, bytes, times) / static_cast<double>(times);
  };
  std::vector<Row> rows;
  for (const bool isOurMemory : {true, false}) {
    turns.begin({Turn::Window, {isOurMemory}});
    bench_nodes_window(movedMemory(), movedBytes, isOurMemory);
    for (const int64_t bytes : {movedBytes, int64_t(8)}) {
      const bool isSmall = bytes < movedBytes;
      Row row;
      row.work = std::string(isSmall ? "8 bytes" : "1 MiB") + " to another process, " + with.how();
      row.peer = std::string(bench_nodes_library()) + ", MPI_Put and flush" +
                 (isOurMemory ? "" : ", memory of MPI_Win_allocate");
      row.method = isOurMemory ? "put and waited for, again and again, into the other process's own memory"
                               : "Strata's memory is the process's own; MPI's is shared by the processes of a computer";
      row.goal = {isSmall ? Goal::Kind::None : Goal::Kind::RatioAtLeast, 0.95};
      // Both have brought what is there now, one after the other.
      std::vector<float> got(values.size());
      auto* to = reinterpret_cast<char*>(got.data());
      const auto differs = [&] { return std::memcmp(got.data(), values.data(), static_cast<size_t>(bytes)) != 0; };
      turns.put(1, there, 1, reinterpret_cast<const char*>(others.data()), 1, movedBytes, 1);
      turns.flush();
      ours(bytes, 1);
      turns.get(1, to, 1, there, 1, movedBytes, 1);
      turns.flush();
      bool isWrong = differs();
      got.assign(got.size(), 0);
      peer(bytes, 1);
      turns.begin({Turn::Get, {bytes}});
      bench_nodes_get(to, bytes);
      if (isWrong || differs()) {
        rows.push_back(failed(row, "what was put is not there"));
        continue;
      }
      const int64_t ourTimes = timesFor(ours(bytes, 4)), peerTimes = timesFor(peer(bytes, 4));
      row.pairs =
          inTurn(with.pairs, row.goal, [&] { return ours(bytes, ourTimes); }, [&] { return peer(bytes, peerTimes); });
      if (isSmall)
        row.goal = {Goal::Kind::OursAtMost, estimate(row.pairs.peer).median + 1e-6};
      rows.push_back(std::move(row));
    }
  }
  return rows;
}

// ---- programs ----

/// Arrays of both sides, what they begin with, and what is to be alike.
struct Held {
  std::vector<const Buffer<float>*> begins;
  std::vector<HomeArray*> ours, peer;
  double tolerance;
};

Row holdSpread(const Measuring& with, Row row, const Held& held, const std::function<double()>& ours,
               const std::function<double()>& peer) {
  const auto reset = [&](const std::vector<HomeArray*>& arrays) {
    for (size_t i = 0; i < arrays.size(); ++i)
      *arrays[i] = *held.begins[i];
  };
  const auto differ = [&]() -> std::string {
    reset(held.ours);
    ours();
    reset(held.peer);
    peer();
    for (size_t i = 0; i < held.ours.size(); ++i)
      if (std::string found = difference(held.ours[i]->copy(), held.peer[i]->copy(), held.tolerance); !found.empty())
        return "results differ: " + found;
    return "";
  };
  std::string wrong = differ();
  if (wrong.empty()) {
    row.pairs = inTurn(
        with.pairs, row.goal,
        [&] {
          reset(held.ours);
          return ours();
        },
        [&] {
          reset(held.peer);
          return peer();
        });
    wrong = differ();
  }
  return wrong.empty() ? row : failed(std::move(row), wrong);
}

std::string milliseconds(double seconds) {
  char text[32];
  snprintf(text, sizeof text, "%.1f ms", seconds * 1e3);
  return text;
}

std::vector<Row> stencil(Measuring& with) {
  const std::string folder = STRATA_SOURCE_DIR "/examples/sequoia/heat/";
  std::vector<Row> rows;
  struct Form {
    int64_t m, n, pairs;
  };
  // Of the second both plates fit into caches.
  for (const auto& [m, n, pairs] : {Form{2050, 2050, 50}, Form{2050, 258, 400}}) {
    Row row;
    row.work = "heat, " + std::to_string(m) + " x " + std::to_string(n) + ", " + std::to_string(2 * pairs) +
               " steps in two processes, " + with.how();
    row.peer = std::string(bench_nodes_library()) + ", rows split, one sent to each side, " + Bench::loopPeer(false);
    row.goal = {Goal::Kind::RatioAtLeast, 0.95};
    SpreadProgram program;
    if (std::string error = program.compile(folder + "heat.sq", STRATA_SOURCE_DIR "/benchmarks/programs/heat_nodes.map",
                                            {{"M", m}, {"N", n}});
        !error.empty()) {
      rows.push_back(failed(row, error));
      continue;
    }
    const Buffer<float> begin = randomFloats(static_cast<size_t>(m * n), 33);
    HomeArray a(begin), b(begin), peerA(begin), peerB(begin);
    int32_t given = static_cast<int32_t>(pairs);
    program.bind("pairs", &given, {});
    program.bind("a", a.data(), {m, n});
    program.bind("b", b.data(), {m, n});
    const auto peer = [&, m = m, n = n, pairs = pairs] {
      with.turns.begin({Turn::Heat, {m, n, pairs}});
      return bench_nodes_heat(peerA.data(), peerB.data(), m, n, pairs);
    };
    // The part of both that is none of the steps.
    given = 0;
    program.call();
    const double handed = program.call();
    given = static_cast<int32_t>(pairs);
    peer();
    row.method = "results equal; with plates handed out from process 0 and gathered, which takes " +
                 milliseconds(handed) + " of ours; the peer hands out in " + milliseconds(bench_nodes_handed_out());
    rows.push_back(
        holdSpread(with, row, {{&begin, &begin}, {&a, &b}, {&peerA, &peerB}, 0}, [&] { return program.call(); }, peer));
  }
  return rows;
}

std::vector<Row> product(Measuring& with) {
  const int64_t size = 2048, depth = 128;
  Row row;
  row.work = "SGEMM, " + std::to_string(size) + " x " + std::to_string(size) + " x " + std::to_string(size) +
             " in two processes, " + with.how();
  row.goal = {Goal::Kind::RatioAtLeast, 0.95};
  SpreadProgram program;
  if (std::string error = program.compile(STRATA_SOURCE_DIR "/examples/sequoia/matmul/matmul.sq",
                                          STRATA_SOURCE_DIR "/benchmarks/programs/product_nodes.map",
                                          {{"M", size}, {"N", size}, {"P", size}});
      !error.empty())
    return {failed(row, error)};
  const auto count = static_cast<size_t>(size * size);
  const Buffer<float> a = randomFloats(count, 34), b = randomFloats(count, 35), c = randomFloats(count, 36);
  HomeArray ourA(a), ourB(b), ours(c), peers(c);
  program.bind("A", ourA.data(), {size, size});
  program.bind("B", ourB.data(), {size, size});
  program.bind("C", ours.data(), {size, size});
  const Held held{{&c}, {&ours}, {&peers}, 1e-5};
  std::vector<Row> rows;
  const auto summa = [&] {
    with.turns.begin({Turn::Product, {size, size, size, depth}});
    return bench_nodes_product(a.data(), b.data(), peers.data(), size, size, size, depth);
  };
  summa();
  const char* const method =
      "results within 1e-5 of the largest; with matrices handed out from process 0, and C gathered";
  Row first = row;
  first.method = std::string(method) + "; the peer hands out in " + milliseconds(bench_nodes_handed_out());
  first.peer = std::string(bench_nodes_library()) + ", SUMMA, " + bench_blas_name();
  rows.push_back(holdSpread(with, first, held, [&] { return program.call(); }, summa));
#ifdef STRATA_SCALAPACK
  const auto scalapack = [&] {
    with.turns.begin({Turn::Scalapack, {size, size, size, depth}});
    return bench_nodes_scalapack(a.data(), b.data(), peers.data(), size, size, size, depth);
  };
  Row second = row;
  second.method = method;
  second.peer = std::string("ScaLAPACK " STRATA_SCALAPACK ", psgemm, blocks of ") + std::to_string(depth) + ", " +
                bench_blas_name();
  second.goal = {Goal::Kind::RatioAtLeast, 1};
  rows.push_back(holdSpread(with, second, held, [&] { return program.call(); }, scalapack));
#endif
  return rows;
}

int run(int argc, char** argv) {
  if (argc != 4)
    giveUp("strata-bench starts it");
  const std::string work = argv[1];
  const auto pairs = static_cast<unsigned>(std::strtoul(argv[2], nullptr, 10)),
             threads = static_cast<unsigned>(std::strtoul(argv[3], nullptr, 10));
  prctl(PR_SET_PDEATHSIG, SIGKILL); // where the starter is killed, nobody else ends this process
  void* const library = dlopen(STRATA_MPI, RTLD_NOW | RTLD_GLOBAL);
  auto make = library ? reinterpret_cast<cluster::MakeTransport>(dlsym(library, cluster::makeTransportName)) : nullptr;
  cluster::Beginning beginning{
      {cluster::codeFingerprint(), 0},
      [](void*, cluster::Difference, int64_t) { giveUp("the processes run different programs"); },
      nullptr};
  cluster::Transport* const transport = make ? make(beginning) : nullptr;
  if (!transport)
    giveUp(make ? beginning.why : "there is no " STRATA_MPI);
  Turns turns(*transport);
  std::string error;
  if (turns.count() != 2)
    giveUp("there are to be two processes");
  if (!cluster::join(turns, error))
    giveUp(error.c_str());
  runtime::setThreads(threads);
  if (turns.own() != 0) {
    SentCode code;
    cluster::serve(turns, code);
    return 0;
  }
  cluster::Cluster& cluster = cluster::lead(turns);
  turns.begin({Turn::Begin, {threads}});
  beginPeers(threads);
  const char* const only = std::getenv("STRATA_MPI_ONLY");
  Measuring with{turns, pairs, only && *only == '1'};
  const std::vector<Row> rows = work == "move" ? moves(with) : work == "stencil" ? stencil(with) : product(with);
  printf("%s\n", tableJson(rows).c_str());
  fflush(stdout);
  cluster.end();
  return 0;
}

} // namespace
} // namespace strata::bench

int main(int argc, char** argv) {
  return strata::bench::run(argc, argv);
}
