// A program that changes LLVM IR with dataflow graphs at random, a word or a line at a time, and takes each change
// through the front end in this process: parsed, its graphs read, checked and drawn, lowered for a machine, and placed.
//
//     mutate_graphs --runs N --seed S --keep FOLDER FILE.ll…      (without --runs: the files as they are)
//
// Files are HPVM IR, or what Clang makes of C programs with hpvm.h. Cases run in children, many in each; a child that
// ends by a signal, or whose alarm rings, costs only the case at hand. Every case is made from the seed and its number
// alone. What fails is written to FOLDER and told. Ends with status 1 when anything failed.
#include "compiler/hpvm/draw/draw_graph.h"
#include "compiler/hpvm/graph/read_graphs.h"
#include "compiler/hpvm/intrinsics/read_ir.h"
#include "compiler/hpvm/lower/lower.h"
#include "compiler/ir/locations.h"
#include "compiler/ir/verify_logical.h"
#include "compiler/mapping/place.h"

#include "llvm/IR/LLVMContext.h"
#include "llvm/IR/Verifier.h"
#include "llvm/Support/SourceMgr.h"

#include <chrono>
#include <cstdio>
#include <cstdlib>
#include <filesystem>
#include <fstream>
#include <random>
#include <sstream>
#include <sys/mman.h>
#include <sys/wait.h>
#include <unistd.h>

using namespace strata;

namespace {

constexpr unsigned casesOfChild = 200, secondsOfCase = 20;

/// What the parent learns of its child's work.
struct Shared {
  uint64_t at = 0; // the case at hand
  uint64_t parsed = 0, read = 0, placed = 0;
};

std::string contentOf(const std::string& path) {
  std::ifstream file(path, std::ios::binary);
  std::stringstream text;
  text << file.rdbuf();
  return text.str();
}

std::vector<std::string> linesOf(const std::string& text) {
  std::vector<std::string> lines;
  std::stringstream stream(text);
  for (std::string line; std::getline(stream, line);)
    lines.push_back(line + "\n");
  return lines;
}

/// Words and the signs between them.
std::vector<std::string> wordsOf(const std::string& text) {
  const auto isWord = [](char c) {
    return std::isalnum(static_cast<unsigned char>(c)) || c == '_' || c == '.' || c == '%' || c == '@' || c == '!';
  };
  std::vector<std::string> words;
  for (size_t at = 0; at < text.size();) {
    size_t end = at + 1;
    while (isWord(text[at]) && end < text.size() && isWord(text[end]))
      ++end;
    words.push_back(text.substr(at, end - at));
    at = end;
  }
  return words;
}

/// Changes that mostly leave a file that can be parsed: in lines of node functions, words for words of their kind.
class Mutator {
public:
  explicit Mutator(uint64_t seed) : random_(seed) {}

  size_t below(size_t limit) { return limit ? random_() % limit : 0; }

  std::string mutate(const std::string& text) {
    std::vector<std::string> lines = linesOf(text);
    // Code alone: what is said of lines and types changes nothing that is looked at here.
    std::vector<size_t> code;
    for (size_t line = 0; line < lines.size(); ++line)
      if (lines[line].starts_with("  ") || lines[line].starts_with("define"))
        code.push_back(line);
    static constexpr int counts[] = {1, 1, 1, 2, 3, 6};
    for (int left = code.empty() ? 0 : counts[below(6)]; left > 0; --left)
      change(lines, code);
    std::string all;
    for (const std::string& line : lines)
      all += line;
    return all;
  }

private:
  void change(std::vector<std::string>& lines, const std::vector<size_t>& code) {
    const size_t at = code[below(code.size())], other = code[below(code.size())];
    switch (below(10)) {
    case 0:
      lines[at].clear();
      break;
    case 1:
      lines[at] += lines[at];
      break;
    case 2:
      std::swap(lines[at], lines[other]);
      break;
    case 3:
      if (!lines[at].empty())
        lines[at][below(lines[at].size())] = static_cast<char>(random_());
      break;
    default:
      changeWord(lines, lines[at], code);
    }
  }

  static int kindOf(const std::string& word) {
    static const std::vector<std::string> types = {"i1", "i8", "i16", "i32", "i64", "float", "double", "ptr", "void"};
    if (std::isdigit(static_cast<unsigned char>(word[0])))
      return 1;
    if (word[0] == '%' && word.size() > 1)
      return 2;
    if (word[0] == '@' && word.size() > 1)
      return 3;
    if (std::find(types.begin(), types.end(), word) != types.end())
      return 4;
    return 0;
  }

  void changeWord(const std::vector<std::string>& lines, std::string& line, const std::vector<size_t>& code) {
    static const std::vector<std::string> numbers = {"0",   "1",     "2",          "3",          "7",
                                                     "255", "65536", "2147483647", "4294967295", "9223372036854775807"};
    static const std::vector<std::string> operations = {"add",  "sub",  "mul", "sdiv", "udiv",  "srem", "shl", "ashr",
                                                        "and",  "or",   "xor", "fadd", "fmul",  "eq",   "slt", "ult",
                                                        "sext", "zext", "nsw", "load", "store", "br",   "ret"};
    std::vector<std::string> words = wordsOf(line);
    if (words.empty())
      return;
    size_t at = below(words.size());
    for (int tries = 0; tries < 30 && !kindOf(words[at]); ++tries)
      at = below(words.size());
    const int kind = kindOf(words[at]);
    if (kind == 1) {
      words[at] = numbers[below(numbers.size())];
    } else if (kind == 0) {
      words[at] = operations[below(operations.size())];
    } else {
      // Another of its kind, from near by or from anywhere.
      for (int tries = 0; tries < 20; ++tries) {
        const std::vector<std::string> others = wordsOf(lines[code[below(code.size())]]);
        const std::string other = others.empty() ? "" : others[below(others.size())];
        if (other.empty() || kindOf(other) != kind)
          continue;
        words[at] = other;
        break;
      }
    }
    line.clear();
    for (const std::string& word : words)
      line += word;
  }

  std::mt19937_64 random_;
};

class Campaign {
public:
  Campaign(std::vector<std::string> texts, uint64_t seed, std::string keep)
      : texts_(std::move(texts)), seed_(seed), keep_(std::move(keep)) {
    SourceManager sources;
    DiagnosticEngine diagnostics(sources);
    for (const std::string& name : machineNames({STRATA_SOURCE_DIR "/machines"}))
      if (auto machine = loadMachine(name, {STRATA_SOURCE_DIR "/machines"}, diagnostics);
          machine && !machine->levels.empty())
        machines_.push_back(std::move(*machine));
    shared_ =
        static_cast<Shared*>(mmap(nullptr, sizeof(Shared), PROT_READ | PROT_WRITE, MAP_SHARED | MAP_ANONYMOUS, -1, 0));
    if (shared_ == MAP_FAILED || machines_.empty())
      std::exit(2);
    new (shared_) Shared();
  }

  /// Each text as it is, in this process.
  int runAsIs() {
    for (size_t number = 0; number < texts_.size(); ++number)
      attempt(texts_[number], number);
    return 0;
  }

  int run(uint64_t runs) {
    const auto begin = std::chrono::steady_clock::now();
    uint64_t failures = 0;
    for (uint64_t next = 0; next < runs;) {
      const uint64_t end = std::min<uint64_t>(runs, next + casesOfChild);
      const pid_t child = fork();
      if (child == 0) {
        for (shared_->at = next; shared_->at < end; ++shared_->at) {
          alarm(secondsOfCase);
          attempt(textOf(shared_->at), shared_->at);
        }
        _exit(0);
      }
      int status = 0;
      if (child < 0 || waitpid(child, &status, 0) != child)
        return 2;
      next = end;
      if (WIFEXITED(status) && WEXITSTATUS(status) == 0)
        continue;
      ++failures;
      next = shared_->at + 1;
      report(shared_->at, WIFSIGNALED(status) && WTERMSIG(status) == SIGALRM
                              ? "does not end in " + std::to_string(secondsOfCase) + " s"
                          : WIFSIGNALED(status) ? "ends by signal " + std::to_string(WTERMSIG(status))
                                                : "ends with status " + std::to_string(WEXITSTATUS(status)));
    }
    const double seconds = std::chrono::duration<double>(std::chrono::steady_clock::now() - begin).count();
    std::printf("%llu changes in %.0f s: %llu parsed, %llu with graphs that keep the rules, %llu placed; %llu failed\n",
                static_cast<unsigned long long>(runs), seconds, static_cast<unsigned long long>(shared_->parsed),
                static_cast<unsigned long long>(shared_->read), static_cast<unsigned long long>(shared_->placed),
                static_cast<unsigned long long>(failures));
    return failures ? 1 : 0;
  }

private:
  std::string textOf(uint64_t number) const {
    Mutator mutator(seed_ * 1000003 + number);
    return mutator.mutate(texts_[number % texts_.size()]);
  }

  void attempt(const std::string& text, uint64_t number) {
    llvm::LLVMContext code;
    llvm::SMDiagnostic problem;
    const auto module = hpvm::parseText(text, problem, code);
    if (!module || llvm::verifyModule(*module))
      return;
    ++shared_->parsed;
    SourceManager sources;
    DiagnosticEngine diagnostics(sources);
    if (hpvm::isHpvmIr(text) && !hpvm::replaceIntrinsics(*module, diagnostics))
      return;
    const auto graphs = hpvm::readGraphs(*module, diagnostics);
    if (!graphs)
      return;
    ++shared_->read;
    diagnostics.enableRemarks(true);
    for (const hpvm::Root& root : graphs->roots)
      hpvm::drawGraph(*graphs, root);
    const Machine& machine = machines_[number % machines_.size()];
    mlir::MLIRContext context(mlir::MLIRContext::Threading::DISABLED);
    MlirDiagnostics forward(context, diagnostics);
    auto lowered = hpvm::lower(*graphs, *module, context, machine, {}, number % 2 == 0, diagnostics);
    if (!lowered)
      return;
    if (mlir::failed(svm::verifyLogical(*lowered->module)) ||
        !mapping::place(*lowered->module, lowered->record, machine, diagnostics) ||
        !mapping::verifyPlaced(*lowered->module, machine, diagnostics)) {
      // What the front end makes is a program; anything that is wrong with it is its own fault.
      std::fputs(diagnostics.render({}).c_str(), stderr);
      std::abort();
    }
    ++shared_->placed;
  }

  void report(uint64_t number, const std::string& what) const {
    std::printf("case %llu of seed %llu %s\n", static_cast<unsigned long long>(number),
                static_cast<unsigned long long>(seed_), what.c_str());
    if (keep_.empty())
      return;
    std::filesystem::create_directories(keep_);
    std::ofstream(keep_ + "/" + std::to_string(seed_) + "-" + std::to_string(number) + ".ll") << textOf(number);
  }

  std::vector<std::string> texts_;
  const uint64_t seed_;
  const std::string keep_;
  std::vector<Machine> machines_;
  Shared* shared_ = nullptr;
};

} // namespace

int main(int argc, char** argv) {
  uint64_t runs = 0, seed = 1;
  std::string keep;
  std::vector<std::string> texts;
  for (int at = 1; at < argc; ++at) {
    const std::string word = argv[at];
    const bool hasValue = at + 1 < argc;
    if (word == "--runs" && hasValue)
      runs = std::strtoull(argv[++at], nullptr, 10);
    else if (word == "--seed" && hasValue)
      seed = std::strtoull(argv[++at], nullptr, 10);
    else if (word == "--keep" && hasValue)
      keep = argv[++at];
    else
      texts.push_back(contentOf(word));
  }
  if (texts.empty()) {
    std::fprintf(stderr, "usage: mutate_graphs [--runs N] [--seed S] [--keep FOLDER] FILE.ll…\n");
    return 2;
  }
  Campaign campaign(std::move(texts), seed, keep);
  return runs ? campaign.run(runs) : campaign.runAsIs();
}
