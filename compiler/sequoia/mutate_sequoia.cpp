// A program that changes Sequoia programs and mapping files at random, a word or a line at a time, and takes each
// through the front end in this process: read, checked, mapped (by the changed mapping, or by default), resolved and
// lowered.
//
//     mutate_sequoia --runs N --seed S --keep FOLDER FILE.sq… FILE.map…      (a mapping's program stands beside it)
//
// Cases run in children, many in each; a child that ends by a signal, or whose alarm rings, costs only the case at
// hand. Every case is made from the seed and its number alone. What fails is written to FOLDER and told; so is an error
// without a place. Ends with status 1 when anything failed.
#include "compiler/sequoia/check/checker.h"
#include "compiler/sequoia/lower/lower.h"
#include "compiler/sequoia/resolve/resolve.h"
#include "compiler/sequoia/resolve/sizes.h"
#include "compiler/sequoia/syntax/lexer.h"
#include "compiler/sequoia/syntax/parser.h"
#include "compiler/sequoia/tune/default_mapping.h"

#include "mlir/IR/MLIRContext.h"

#include <chrono>
#include <cstdio>
#include <cstdlib>
#include <filesystem>
#include <fstream>
#include <random>
#include <sstream>
#include <sys/mman.h>
#include <sys/resource.h>
#include <sys/wait.h>
#include <unistd.h>

using namespace strata;
using namespace strata::sequoia;

namespace {

constexpr unsigned casesOfChild = 400, secondsOfCase = 10;

struct Seed {
  std::string path, text;
  bool isMapping = false;
  std::string program; // of a mapping
};

/// What the parent learns of its child's work.
struct Shared {
  uint64_t at = 0; // the case at hand
  uint64_t checked = 0, lowered = 0, unplaced = 0;
};

std::string read(const std::string& path) {
  std::ifstream file(path, std::ios::binary);
  std::stringstream text;
  text << file.rdbuf();
  return text.str();
}

std::vector<std::string> wordsOf(const std::string& text) {
  std::vector<std::string> words;
  auto isWord = [](char c) { return std::isalnum(static_cast<unsigned char>(c)) || c == '_' || c == '.'; };
  for (size_t at = 0; at < text.size();) {
    size_t end = at + 1;
    while (isWord(text[at]) && end < text.size() && isWord(text[end]))
      ++end;
    words.push_back(text.substr(at, end - at));
    at = end;
  }
  return words;
}

std::string joined(const std::vector<std::string>& words) {
  std::string text;
  for (const std::string& word : words)
    text += word;
  return text;
}

class Mutator {
public:
  Mutator(uint64_t seed, const std::vector<Seed>& seeds) : random_(seed), seeds_(seeds) {}

  size_t below(size_t limit) { return limit ? random_() % limit : 0; }

  std::string mutate(std::string text) {
    static constexpr int counts[] = {1, 1, 1, 2, 3, 6};
    for (int left = counts[below(6)]; left > 0; --left)
      text = below(4) ? changeWord(text) : changeLine(text);
    return text;
  }

private:
  std::string changeWord(const std::string& text) {
    static const std::vector<std::string> numbers = {"0",
                                                     "1",
                                                     "-1",
                                                     "2",
                                                     "3",
                                                     "7",
                                                     "255",
                                                     "65536",
                                                     "2147483647",
                                                     "2147483648",
                                                     "4294967296",
                                                     "9223372036854775807",
                                                     "18446744073709551616",
                                                     "1e400",
                                                     "1.5",
                                                     "0x7fffffffffffffff",
                                                     "'a'",
                                                     "sizeof(int)"};
    static const std::vector<std::string> tokens = {
        "union",    "struct",   "typedef",    "enum",        "switch",   "case",   "default", "do",       "while",
        "for",      "if",       "else",       "break",       "continue", "return", "inline",  "const",    "sizeof",
        "goto",     "static",   "volatile",   "in",          "out",      "inout",  "task",    "tunable",  "copy",
        "mappar",   "mapseq",   "mapreduce",  "reducearg",   "<",        ">",      "(",       ")",        "[",
        "]",        "{",        "}",          ";",           ":",        "::",     ",",       "?",        "*",
        "&",        "->",       ".",          "=",           "+=",       "<<=",    "++",      "!",        "~",
        "%",        "char",     "unsigned",   "long",        "double",   "float",  "void",    "level",    "loop",
        "data",     "control",  "callsite",   "target",      "swp",      "unroll", "spmd",    "elements", "pitch",
        "external", "instance", "entrypoint", "blockcyclic", "scratch",  "flat",   "dynamic"};
    std::vector<std::string> words = wordsOf(text);
    if (words.empty())
      return tokens[below(tokens.size())];
    size_t at = below(words.size());
    for (int tries = 0; tries < 20 && std::isspace(static_cast<unsigned char>(words[at][0])); ++tries)
      at = below(words.size());
    switch (below(9)) {
    case 0:
      words.erase(words.begin() + static_cast<ptrdiff_t>(at));
      break;
    case 1:
      words[at] += " " + words[at];
      break;
    case 2:
    case 3:
      for (int tries = 0; tries < 50 && !std::isdigit(static_cast<unsigned char>(words[at][0])); ++tries)
        at = below(words.size());
      words[at] = numbers[below(numbers.size())];
      break;
    case 4:
    case 5:
      words[at] = words[below(words.size())];
      break;
    case 6: {
      std::vector<std::string> others = wordsOf(seeds_[below(seeds_.size())].text);
      words[at] = others.empty() ? std::string() : others[below(others.size())];
      break;
    }
    case 7:
      words[at] = tokens[below(tokens.size())];
      break;
    default: {
      static constexpr size_t depths[] = {3, 40, 300, 20000};
      static constexpr char pairs[][3] = {"()", "{}", "[]", "-", "!", "<>", "*", "~"};
      size_t depth = depths[below(4)];
      const char* pair = pairs[below(8)];
      words[at] = std::string(depth, pair[0]) + words[at] + (pair[1] ? std::string(depth, pair[1]) : "");
    }
    }
    return joined(words);
  }

  std::string changeLine(const std::string& text) {
    std::vector<std::string> lines;
    std::stringstream stream(text);
    for (std::string line; std::getline(stream, line);)
      lines.push_back(line + "\n");
    if (lines.empty())
      return text;
    size_t at = below(lines.size()), other = below(lines.size());
    switch (below(4)) {
    case 0:
      lines.erase(lines.begin() + static_cast<ptrdiff_t>(at));
      break;
    case 1:
      lines.insert(lines.begin() + static_cast<ptrdiff_t>(other), std::string(lines[at]));
      break;
    case 2:
      std::swap(lines[at], lines[other]);
      break;
    default: { // bytes
      std::string& line = lines[at];
      line[below(line.size())] = static_cast<char>(random_());
    }
    }
    return joined(lines);
  }

  std::mt19937_64 random_;
  const std::vector<Seed>& seeds_;
};

class Campaign {
public:
  Campaign(std::vector<Seed> seeds, uint64_t seed, std::string keep)
      : seeds_(std::move(seeds)), seed_(seed), keep_(std::move(keep)) {
    SourceManager sources;
    DiagnosticEngine diagnostics(sources);
    for (const std::string& name : machineNames({STRATA_SOURCE_DIR "/machines"}))
      if (auto machine = loadMachine(name, {STRATA_SOURCE_DIR "/machines"}, diagnostics))
        if (!machine->levels.empty())
          machines_.push_back(std::move(*machine));
    if (machines_.empty()) {
      std::fputs(diagnostics.render({}).c_str(), stderr);
      std::exit(2);
    }
    shared_ =
        static_cast<Shared*>(mmap(nullptr, sizeof(Shared), PROT_READ | PROT_WRITE, MAP_SHARED | MAP_ANONYMOUS, -1, 0));
    if (shared_ == MAP_FAILED)
      std::exit(2);
    new (shared_) Shared();
  }

  int run(uint64_t runs) {
    auto begin = std::chrono::steady_clock::now();
    uint64_t failures = 0;
    for (uint64_t next = 0; next < runs;) {
      uint64_t end = std::min(runs, next + casesOfChild);
      pid_t child = fork();
      if (child == 0) {
        for (shared_->at = next; shared_->at < end; ++shared_->at) {
          alarm(secondsOfCase);
          attempt(shared_->at);
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
    double seconds = std::chrono::duration<double>(std::chrono::steady_clock::now() - begin).count();
    std::printf(
        "%llu mutations of %zu files in %.0f s: %llu pass the checks, %llu are lowered; %llu crash or do not end, "
        "%llu have an error without a place\n",
        static_cast<unsigned long long>(runs), seeds_.size(), seconds,
        static_cast<unsigned long long>(shared_->checked), static_cast<unsigned long long>(shared_->lowered),
        static_cast<unsigned long long>(failures), static_cast<unsigned long long>(shared_->unplaced));
    return failures || shared_->unplaced ? 1 : 0;
  }

private:
  std::string textOf(uint64_t number, const Seed*& from) {
    Mutator mutator(seed_ * 1000003 + number, seeds_);
    from = &seeds_[number % seeds_.size()];
    return mutator.mutate(from->text);
  }

  void report(uint64_t number, const std::string& what) {
    const Seed* from = nullptr;
    std::string text = textOf(number, from);
    std::printf("case %llu, from %s, %s\n", static_cast<unsigned long long>(number), from->path.c_str(), what.c_str());
    std::fflush(stdout);
    if (keep_.empty())
      return;
    std::filesystem::create_directories(keep_);
    std::ofstream(keep_ + "/" + std::to_string(number) + std::filesystem::path(from->path).extension().string())
        << text;
  }

  void attempt(uint64_t number) {
    const Seed* from = nullptr;
    std::string text = textOf(number, from);
    SourceManager sources;
    DiagnosticEngine diagnostics(sources);
    diagnostics.enableRemarks(true);
    pipeline(*from, text, machines_[(number / seeds_.size()) % machines_.size()], sources, diagnostics);
    diagnostics.render({});
    for (const Diagnostic& each : diagnostics.all())
      if (each.severity == Severity::Error && (each.labels.empty() || !each.labels[0].location.valid())) {
        ++shared_->unplaced;
        report(number, "has an error without a place: " + each.message);
        return;
      }
  }

  void pipeline(const Seed& from, const std::string& text, const Machine& any, SourceManager& sources,
                DiagnosticEngine& diagnostics) {
    const Machine* machine = &any;
    Program program;
    // The preprocessor, a program of its own, is not started: directives are errors here.
    program.file = sources.add("changed.sq", from.isMapping ? from.program : text, SourceKind::Program);
    std::vector<Token> tokens =
        tokenize(sources.buffer(program.file).text(), LineMap::identity(program.file), diagnostics);
    parse(tokens, program, diagnostics);
    if (diagnostics.hasErrors())
      return;
    check(program, diagnostics);
    if (diagnostics.hasErrors())
      return;
    ++shared_->checked;
    const KnownSizes known = {{"N", 10}, {"M", 5}};
    auto mapping = from.isMapping ? readMapping(sources.add("changed.map", text, SourceKind::Mapping), diagnostics)
                                  : defaultMapping(program, *machine, "", known, diagnostics);
    if (!mapping || diagnostics.hasErrors())
      return;
    for (const Machine& each : machines_)
      if (from.isMapping && each.name == mapping->machine)
        machine = &each;
    auto graph = resolve(program, *mapping, *machine, "", diagnostics);
    if (!graph || diagnostics.hasErrors())
      return;
    mlir::MLIRContext context(mlir::MLIRContext::Threading::DISABLED);
    if (lower(program, *graph, *machine, context, diagnostics, known))
      ++shared_->lowered;
  }

  std::vector<Seed> seeds_;
  uint64_t seed_;
  std::string keep_;
  std::vector<Machine> machines_;
  Shared* shared_ = nullptr;
};

} // namespace

int main(int count, char** words) {
  uint64_t runs = 1000, seed = 1;
  std::string keep;
  std::vector<Seed> seeds;
  for (int i = 1; i < count; ++i) {
    std::string word = words[i];
    if (i + 1 < count && word == "--runs")
      runs = std::strtoull(words[++i], nullptr, 10);
    else if (i + 1 < count && word == "--seed")
      seed = std::strtoull(words[++i], nullptr, 10);
    else if (i + 1 < count && word == "--keep")
      keep = words[++i];
    else
      seeds.push_back({word, read(word), std::filesystem::path(word).extension() == ".map", ""});
  }
  for (Seed& each : seeds)
    if (each.isMapping)
      for (const auto& beside : std::filesystem::directory_iterator(std::filesystem::absolute(each.path).parent_path()))
        if (beside.path().extension() == ".sq")
          each.program = read(beside.path().string());
  if (seeds.empty()) {
    std::fputs("mutate_sequoia: no files are given\n", stderr);
    return 2;
  }
  return Campaign(std::move(seeds), seed, keep).run(runs);
}
