// The command, from beginning to end: describe, try the first, search, compare the best (times in turns, or the results
// of what was only estimated), write and remember.
#include "compiler/driver/tune/tune.h"

#include "compiler/driver/compile/notations.h"
#include "compiler/driver/session/output_files.h"
#include "compiler/driver/session/tuned.h"
#include "compiler/driver/tune/history.h"
#include "compiler/driver/tune/search.h"
#include "compiler/driver/tune/trial.h"
#include "runtime/core/progress.h"

#include "llvm/Support/FileSystem.h"
#include "llvm/Support/Path.h"

#include <algorithm>
#include <chrono>
#include <csignal>
#include <limits>
#include <unistd.h>

namespace strata::driver {

STRATA_DIAGNOSTIC(nothingToChoose, Error, "tune-nothing", "the mapping of '{0}' leaves nothing to choose");
STRATA_DIAGNOSTIC(otherResults, Error, "tune-not-repeated", "two runs with one mapping give other values of '{0}'");
STRATA_DIAGNOSTIC(brokenMapping, Warning, "tune-broken",
                  "a mapping that was tried, with {0}, ended in an error of Strata: {1}");
STRATA_DIAGNOSTIC(notRemembered, Warning, "tune-not-remembered", "the mapping cannot be remembered in '{0}': {1}");

namespace {

using Clock = std::chrono::steady_clock;

volatile std::sig_atomic_t isInterrupted = 0;

/// While it lives, the first signal by which a user ends a process ends the search instead, and the second the process.
class EndsSearch {
public:
  EndsSearch() {
    isInterrupted = 0;
    struct sigaction action = {};
    action.sa_handler = [](int) { isInterrupted = 1; };
    action.sa_flags = static_cast<int>(SA_RESETHAND);
    for (size_t i = 0; i < std::size(signals); ++i)
      sigaction(signals[i], &action, &before_[i]);
  }
  ~EndsSearch() {
    for (size_t i = 0; i < std::size(signals); ++i)
      sigaction(signals[i], &before_[i], nullptr);
  }
  EndsSearch(const EndsSearch&) = delete;

private:
  static constexpr int signals[] = {SIGINT, SIGTERM, SIGHUP};
  struct sigaction before_[std::size(signals)] = {};
};

class Tuner {
public:
  explicit Tuner(Session& session) : session_(session), options_(session.options) {}

  int run() {
    begin_ = Clock::now();
    if (options_.tuneSeconds > 0)
      seconds_ = options_.tuneSeconds;
    else if (options_.tuneTrials == 0)
      seconds_ = options_.tuneSeconds = defaultSeconds;
    if (!checkOutputFiles(session_, {}))
      return finish(session_);
    const auto described = describe(session_);
    if (!described)
      return statusUserError;
    described_ = *described;
    if (described_.choices.empty()) {
      session_.diagnostics.report(nothingToChoose, options_.compile.programPlace, options_.compile.program)
          .note("what can be chosen: " +
                listed(ofNotations([](const notation::Description& each) { return each.choicesAbout; }), "and"))
          .help("give the program a tunable for each size of a block, or run it as it is");
      return finish(session_);
    }
    isByEstimate_ = options_.tuneBy.empty() ? !described_.isHere : options_.tuneBy == "estimate";
    history_.choices = described_.choices;
    history_.isEstimated = isByEstimate_;
    const EndsSearch endsSearch;
    if (!tryFirst())
      return status_;
    searchAll();
    const bool isRepeatable = isByEstimate_ ? compareResults() : compareInTurns();
    erase();
    return isRepeatable ? conclude() : finish(session_);
  }

private:
  double elapsed() const { return std::chrono::duration<double>(Clock::now() - begin_).count(); }

  bool isOver() {
    if (isInterrupted)
      history_.ended = "when it was interrupted";
    else if (options_.tuneTrials > 0 && history_.tried.size() >= options_.tuneTrials)
      history_.ended = "after " + std::to_string(options_.tuneTrials) + " trials";
    else if (elapsed() >= seconds_ * searchShare)
      history_.ended = "after " + std::to_string(options_.tuneSeconds) + " s";
    return !history_.ended.empty();
  }

  notation::Chosen chosenAt(const std::vector<int64_t>& values) const {
    notation::Chosen chosen;
    for (size_t i = 0; i < values.size(); ++i)
      chosen[{described_.choices[i].instance, described_.choices[i].name}] = values[i];
    return chosen;
  }

  std::vector<int64_t> valuesAt(const Point& point) const {
    std::vector<int64_t> values;
    for (size_t i = 0; i < point.size(); ++i)
      values.push_back(described_.choices[i].values[point[i]]);
    return values;
  }

  Trial attempt(const std::vector<int64_t>& values, const Measurement& measurement, int seconds, bool isShown = false) {
    if (isByEstimate_)
      return estimateMapping(session_, chosenAt(values), described_.halvings, seconds, isShown);
    return runs(values, measurement, seconds, isShown);
  }

  Trial runs(const std::vector<int64_t>& values, const Measurement& measurement, int seconds, bool isShown = false) {
    return tryMapping(session_, chosenAt(values), described_.halvings, measurement, seconds, isShown);
  }

  /// The mapping where the search begins. What goes wrong with that goes wrong in every run.
  bool tryFirst() {
    std::vector<int64_t> values;
    for (const notation::Choice& choice : described_.choices)
      values.push_back(choice.value);
    tell("trying the mapping in use");
    const auto begin = Clock::now();
    const Trial trial = attempt(values, {}, 0, /*isShown=*/true);
    erase();
    fputs(trial.errors.c_str(), stderr); // warnings too
    if (trial.kind != Trial::Kind::Measured) {
      if (trial.kind == Trial::Kind::Broken && !trial.message.empty())
        fprintf(stderr, "%s\n", trial.message.c_str());
      status_ = trial.kind == Trial::Kind::Broken ? statusOurError : statusUserError;
      return false;
    }
    const double wall = std::chrono::duration<double>(Clock::now() - begin).count();
    first_ = trial.measured;
    limit_ = static_cast<int>(std::max(leastLimit, wall * timesFirst));
    history_.program = options_.compile.program;
    history_.entry = first_.entry;
    history_.machine = first_.machine;
    history_.version = STRATA_VERSION;
    history_.sizes.assign(first_.sizes.begin(), first_.sizes.end());
    history_.tried.push_back({values, first_.seconds, ""});
    history_.before = history_.after = first_.seconds;
    say(timeText(first_.seconds) + "  the mapping in use: " + valuesText(history_, values));
    return true;
  }

  void searchAll() {
    SearchSpace space;
    for (const notation::Choice& choice : described_.choices) {
      space.counts.push_back(choice.values.size());
      space.begin.push_back(static_cast<size_t>(
          std::lower_bound(choice.values.begin(), choice.values.end(), choice.value) - choice.values.begin()));
    }
    bool isFirst = true;
    const auto evaluate = [&](const Point& point) -> std::optional<double> {
      if (std::exchange(isFirst, false))
        return first_.seconds;
      return evaluateNext(valuesAt(point));
    };
    const SearchResult result = search(space, evaluate, [&] { return isOver(); });
    if (history_.ended.empty())
      history_.ended = result.isExhausted ? "when all mappings were tried" : "when no neighbour was better";
  }

  std::optional<double> evaluateNext(const std::vector<int64_t>& values) {
    const double best = *history_.tried[history_.best].seconds;
    tell("tuning, " + std::to_string(history_.tried.size()) + " mappings tried, best " + timeText(best) + ", " +
         std::to_string(static_cast<int>(elapsed())) +
         (options_.tuneSeconds > 0 ? " of " + std::to_string(options_.tuneSeconds) : "") + " s");
    Measurement measurement;
    measurement.hopeless = best * hopelessTimes;
    Trial trial = attempt(values, measurement, limit_);
    TriedMapping& tried = history_.tried.emplace_back();
    tried.values = values;
    switch (trial.kind) {
    case Trial::Kind::Measured:
      if (trial.measured.digests != first_.digests)
        tried.why = "it gives other results";
      else
        tried.seconds = trial.measured.seconds;
      break;
    case Trial::Kind::Refused:
    case Trial::Kind::Late:
      tried.why = trial.message;
      break;
    case Trial::Kind::Broken:
      tried.why = trial.message;
      if (!isInterrupted)
        session_.diagnostics.report(brokenMapping, {}, valuesText(history_, values), trial.message);
      break;
    }
    if (tried.seconds && *tried.seconds < gainShare * best) {
      history_.best = history_.tried.size() - 1;
      say(timeText(*tried.seconds) + "  " + valuesText(history_, values, history_.tried.front().values));
    }
    return tried.seconds;
  }

  /// The best few and the first, one after the other several times: what one moment of this computer favours, another
  /// does not. False where the first does not give what it gave before (reported).
  bool compareInTurns() {
    std::vector<size_t> order;
    for (size_t i = 1; i < history_.tried.size(); ++i)
      if (history_.tried[i].seconds)
        order.push_back(i);
    std::sort(order.begin(), order.end(), [&](size_t a, size_t b) {
      return std::pair(*history_.tried[a].seconds, a) < std::pair(*history_.tried[b].seconds, b);
    });
    order.resize(std::min(order.size(), finalists));
    order.insert(order.begin(), 0);
    history_.best = 0;
    std::vector<double> least(order.size(), std::numeric_limits<double>::infinity());
    for (unsigned turn = 0; turn < turns; ++turn)
      for (size_t i = 0; i < order.size(); ++i) {
        // The first is tried again in any case, to see that it gives what it gave.
        if (isInterrupted || (turn + i > 0 && elapsed() >= seconds_))
          break;
        tell("comparing the best " + std::to_string(order.size() - 1) + " with the mapping in use, turn " +
             std::to_string(turn + 1) + " of " + std::to_string(turns));
        const Trial trial = attempt(history_.tried[order[i]].values, {}, limit_);
        if (trial.kind != Trial::Kind::Measured)
          continue;
        least[i] = std::min(least[i], trial.measured.seconds);
        for (const auto& [name, digest] : trial.measured.digests)
          if (i == 0 && digest != first_.digests[name])
            return reportOther(name);
      }
    // Where the time was not enough for one turn, what was measured before is what is known.
    if (*std::max_element(least.begin(), least.end()) == std::numeric_limits<double>::infinity())
      for (size_t i = 0; i < order.size(); ++i)
        least[i] = *history_.tried[order[i]].seconds;
    size_t best = 0;
    for (size_t i = 1; i < order.size(); ++i)
      if (least[i] < (best == 0 ? gainShare : 1) * least[best])
        best = i;
    history_.best = order[best];
    history_.before = least.front();
    history_.after = least[best];
    return true;
  }

  /// By estimates nothing has run yet: the best has to give the results of the first on this computer. What takes
  /// longer to run than the search may is not compared. False where two runs of the first give other results
  /// (reported).
  bool compareResults() {
    const Measurement once{.enough = 0, .most = 1};
    const int most = static_cast<int>(std::max(leastLimit, seconds_));
    std::vector<size_t> order;
    for (size_t i = 1; i < history_.tried.size(); ++i)
      if (history_.tried[i].seconds && *history_.tried[i].seconds < gainShare * *history_.tried[0].seconds)
        order.push_back(i);
    std::sort(order.begin(), order.end(), [&](size_t a, size_t b) {
      return std::pair(*history_.tried[a].seconds, a) < std::pair(*history_.tried[b].seconds, b);
    });
    order.resize(std::min(order.size(), finalists));
    history_.best = 0;
    if (order.empty())
      return true;
    tell("running the mapping in use, for its results");
    const Trial first = runs(history_.tried[0].values, once, most);
    if (first.kind != Trial::Kind::Measured || isInterrupted) {
      // It does not run here, or not with these data.
      unchecked_ = isInterrupted ? "the search was interrupted" : first.message;
      history_.best = order.front();
    }
    for (size_t i = 0; unchecked_.empty() && history_.best == 0 && i < order.size(); ++i) {
      TriedMapping& tried = history_.tried[order[i]];
      tell("comparing results of the best mapping with those of the mapping in use");
      const Trial trial = runs(tried.values, once, most);
      if (trial.kind == Trial::Kind::Measured && trial.measured.digests == first.measured.digests) {
        history_.best = order[i];
        break;
      }
      if (i == 0 && trial.kind == Trial::Kind::Measured && !repeats(first, once, most))
        return false;
      tried.seconds.reset();
      tried.why = trial.kind == Trial::Kind::Measured ? "it gives other results" : trial.message;
    }
    history_.after = *history_.tried[history_.best].seconds;
    return true;
  }

  /// Whether the first gives in another run what it gave. Reports that it does not.
  bool repeats(const Trial& first, const Measurement& once, int most) {
    const Trial again = runs(history_.tried[0].values, once, most);
    for (const auto& [name, digest] : again.measured.digests)
      if (const auto before = first.measured.digests.find(name);
          before == first.measured.digests.end() || before->second != digest)
        return reportOther(name);
    return true;
  }

  /// False.
  bool reportOther(const std::string& name) {
    session_.diagnostics.report(otherResults, {}, name)
        .help("functions in C have to do the same whenever they are called");
    return false;
  }

  int conclude() {
    const TriedMapping& best = history_.tried[history_.best];
    const auto text = mappingWith(session_, chosenAt(best.values), described_.halvings);
    if (!text)
      return statusOurError;
    FILE* const report = options_.output == "-" ? stderr : stdout;
    const size_t taken = static_cast<size_t>(std::count_if(history_.tried.begin(), history_.tried.end(),
                                                           [](const TriedMapping& each) { return each.why.empty(); }));
    std::string sizes;
    for (const auto& [name, size] : history_.sizes)
      sizes += (sizes.empty() ? ", " : ",") + name + "=" + std::to_string(size);
    fprintf(report, "%s on %s%s: %s", history_.entry.c_str(), history_.machine.c_str(), sizes.c_str(),
            timeText(history_.before).c_str());
    if (history_.best == 0)
      fprintf(report, "; no mapping that was tried is faster\n");
    else
      fprintf(report, " -> %s, %.2f times as fast\n  %s\n", timeText(history_.after).c_str(),
              history_.before / history_.after,
              valuesText(history_, best.values, history_.tried.front().values).c_str());
    fprintf(report, "  %zu mappings tried, %zu of them refused or with other results; ended %s\n",
            history_.tried.size(), history_.tried.size() - taken, history_.ended.c_str());
    if (isByEstimate_)
      fprintf(report, "  times are estimates from the machine's description%s%s%s\n",
              described_.hasClock ? "" : ", which states no clock, as if that were 1 GHz",
              history_.best == 0   ? ""
              : unchecked_.empty() ? "; results are the same in a run on this computer"
                                   : "; results were not compared: ",
              history_.best == 0 ? "" : unchecked_.c_str());
    else if (!described_.isHere)
      fprintf(report, "  times are this computer's, whatever the machine\n");
    if (!options_.searchPicture.empty() && !writeText(session_, options_.searchPicture, historyPicture(history_)))
      return finish(session_);
    if (!options_.output.empty() && !writeText(session_, options_.output, *text))
      return finish(session_);
    remember(*text, report);
    return finish(session_);
  }

  /// A default mapping that was made better is what the next run uses; one that a user has written is the user's.
  void remember(const std::string& text, FILE* report) {
    const std::string folder = tunedFolder();
    if (folder.empty() || !options_.compile.mapping.empty())
      return;
    const std::string file = tunedFile(described_.key);
    if (const std::error_code error = llvm::sys::fs::create_directories(folder)) {
      session_.diagnostics.report(notRemembered, {}, folder, error.message())
          .help("name a folder that can be written with STRATA_TUNED, or none");
      return;
    }
    llvm::SmallString<256> record(file);
    llvm::sys::path::replace_extension(record, "yaml");
    if (writeText(session_, std::string(record), historyYaml(history_)) && writeText(session_, file, text))
      fprintf(report, "  remembered for strata run with these sizes: %s\n", file.c_str());
  }

  /// A line that stays.
  void say(const std::string& text) {
    erase();
    fprintf(stderr, "  %s\n", text.c_str());
  }

  /// A line on a terminal that the next one replaces.
  void tell(const std::string& text) {
    if (!runtime::isCapableTerminal())
      return;
    fprintf(stderr, "\r%s\x1b[K", text.substr(0, 79).c_str());
    fflush(stderr);
    isTold_ = true;
  }

  void erase() {
    if (std::exchange(isTold_, false))
      fputs("\r\x1b[K", stderr);
  }

  static constexpr unsigned defaultSeconds = 60;
  static constexpr double noLimit = 1e9;     // seconds
  static constexpr double searchShare = 0.9; // of the time; the rest is for comparing the best
  static constexpr double leastLimit = 10,
                          timesFirst = 5;      // seconds that a trial may take: at least, and beside the first
  static constexpr double hopelessTimes = 1.5; // a run that takes so much longer than the best is not repeated
  static constexpr size_t finalists = 3;
  static constexpr unsigned turns = 3;

  Session& session_;
  Options& options_;
  Clock::time_point begin_;
  Described described_;
  Measured first_;
  History history_;
  double seconds_ = noLimit; // that it may take
  int limit_ = 0, status_ = statusFine;
  bool isByEstimate_ = false;
  std::string unchecked_; // why results were not compared
  bool isTold_ = false;
};

} // namespace

int tuneCommand(Session& session) {
  return Tuner(session).run();
}

} // namespace strata::driver
