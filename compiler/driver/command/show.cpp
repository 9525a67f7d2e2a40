// strata show: a machine, a program with its mapping, the trace of a run or the record of a stream program, as a page
// that opens by itself or as one SVG drawing. What is drawn is decided here; who draws it knows nothing of files.
#include "base/picture/html.h"
#include "compiler/driver/command/array_trace.h"
#include "compiler/driver/command/commands.h"
#include "compiler/driver/command/graph_pictures.h"
#include "compiler/driver/command/hpvm_ir.h"
#include "compiler/driver/compile/notations.h"
#include "compiler/driver/pages/stream_record.h"
#include "compiler/driver/pages/timeline.h"
#include "compiler/driver/run/symbolic.h"
#include "compiler/driver/session/output_files.h"
#include "compiler/driver/session/prepare.h"

#include "llvm/ADT/StringExtras.h"
#include "llvm/BinaryFormat/Magic.h"
#include "llvm/Support/FileSystem.h"
#include "llvm/Support/Path.h"

#include <algorithm>

namespace strata::driver {

STRATA_DIAGNOSTIC(notAProgram, Error, "driver-not-a-program", "'{0}' is shown as a {1}, which takes no --{2}");
STRATA_DIAGNOSTIC(unknownThing, Error, "show-unknown-thing", "'{0}' is nothing that is drawn");
STRATA_DIAGNOSTIC(noThing, Error, "show-no-file", "there is no file '{0}'");
STRATA_DIAGNOSTIC(unknownPicture, Error, "show-unknown-picture", "there is no picture '{0}' of '{1}'");
STRATA_DIAGNOSTIC(oneThing, Error, "show-one-thing",
                  "several files are drawn as one program, and '{0}' is no part of one");
STRATA_DIAGNOSTIC(linked, Error, "show-linked", "'{0}' is a program, or a shared library, that is linked already");
STRATA_DIAGNOSTIC(noDrawing, Error, "show-no-drawing", "'{0}' is shown as a page and not as one drawing");

namespace {

class Show {
public:
  explicit Show(Session& session) : session_(session), options_(session.options), thing_(session.options.thing) {}

  int run() {
    if (!checkOutputFiles(session_, {}))
      return finish(session_);
    if (!isOneThing())
      return finish(session_);
    if (isArrayTrace(thing_))
      return takes("trace", notForTraces()) ? showArrayTrace(session_) : finish(session_);
    if (!takes("picture", {{"cycles", !options_.cycles.empty()}, {"run", options_.shownRun != 0}}))
      return finish(session_);
    if (llvm::StringRef(thing_).ends_with(".json"))
      return showTrace();
    std::vector<Picture> pictures = isProgram(thing_) ? ofProgram() : mayHaveGraphs(thing_) ? ofGraphs() : ofMachine();
    if (session_.diagnostics.hasErrors() || !choose(pictures))
      return finish(session_);
    size_t drawings = 0;
    for (const Picture& picture : pictures)
      drawings += !picture.isText;
    // One drawing on standard output is SVG, as a machine's always was.
    bool asPage = !isDrawing() && (isPage() || drawings != 1);
    if (!asPage) {
      const Picture* last = nullptr;
      for (const Picture& picture : pictures)
        if (!picture.isText)
          last = &picture;
      if (last)
        writeText(session_, options_.output, last->content());
      else
        session_.diagnostics.report(noDrawing, place("-o", options_.output), options_.picture)
            .help("write it to a file that ends in .html");
      return finish(session_);
    }
    std::vector<picture::Section> sections;
    for (const Picture& picture : pictures) {
      const std::vector<picture::Sheet> parts = picture.sheets ? picture.sheets() : std::vector<picture::Sheet>();
      sections.push_back({picture.heading, picture.about, parts.empty() ? picture.content() : picture::sheets(parts),
                          picture.isText && pictures.size() > 1});
    }
    writeText(session_, options_.output, picture::page(title_, sections));
    return finish(session_);
  }

private:
  Location place(const char* option, const std::string& value) { return session_.commandLine->value(option, value); }
  bool isDrawing() const { return llvm::StringRef(options_.output).ends_with(".svg"); }
  bool isPage() const {
    llvm::StringRef output(options_.output);
    return output.ends_with(".html") || output.ends_with(".htm");
  }

  using Refused = std::vector<std::pair<const char*, bool>>;
  /// Options that say how a program is mapped.
  Refused notForTraces() const {
    const CompileOptions& compile = options_.compile;
    return {{"map", !compile.mapping.empty()},
            {"size", !options_.sizes.empty()},
            {"machine", !compile.machine.empty()},
            {"entry", !compile.entry.empty()},
            {"picture", !options_.picture.empty()}};
  }

  bool takes(const char* what, const Refused& refused) {
    for (auto [option, given] : refused)
      if (given) {
        session_.diagnostics
            .report(notAProgram, session_.commandLine->option(std::string("--") + option), thing_, what, option)
            .help(std::string("leave out --") + option);
        return false;
      }
    return true;
  }

  int showTrace() {
    if (!takes("trace", notForTraces()))
      return finish(session_);
    const BufferId text = loadTrace(thing_, session_.diagnostics);
    if (!text.valid())
      return finish(session_);
    if (isStreamsRecord(session_.sources.buffer(text).text()))
      return showStreams(text);
    if (isDrawing()) {
      session_.diagnostics.report(noDrawing, place("-o", options_.output), thing_)
          .help("write it to a file that ends in .html");
      return finish(session_);
    }
    auto trace = readTrace(text, session_.diagnostics);
    if (trace)
      writeText(session_, options_.output, timelinePage(*trace, llvm::sys::path::filename(thing_).str()));
    return finish(session_);
  }

  int showStreams(BufferId text) {
    const std::optional<StreamsRecord> record = readStreamsRecord(text, session_.diagnostics);
    if (!record)
      return finish(session_);
    if (isDrawing()) {
      if (isDrawable(*record))
        writeText(session_, options_.output, drawStreams(*record, record->program + " on " + record->machine));
      else
        session_.diagnostics.report(noDrawing, place("-o", options_.output), thing_)
            .note("it has " + std::to_string(record->kernels.size()) + " kernels, more than a drawing shows well")
            .help("write it to a file that ends in .html, which has tables of them");
      return finish(session_);
    }
    const bool hasSpans = std::any_of(record->kernels.begin(), record->kernels.end(),
                                      [](const KernelFacts& kernel) { return kernel.running > 0; });
    const std::optional<Timeline> timeline = hasSpans ? readTrace(text, session_.diagnostics) : std::nullopt;
    if (!hasSpans || timeline)
      writeText(session_, options_.output, streamsPage(*record, timeline));
    return finish(session_);
  }

  /// Several files are parts of one program. False where one is not (reported).
  bool isOneThing() {
    std::vector<std::string> files{thing_};
    files.insert(files.end(), options_.moreThings.begin(), options_.moreThings.end());
    for (const std::string& file : files)
      if (files.size() > 1 && (!mayHaveGraphs(file) || isIrFile(file))) {
        session_.diagnostics.report(oneThing, place("THING", file), file)
            .help("parts of a program with dataflow graphs are files of C and C++, objects (.o) and archives (.a)");
        return false;
      }
    return true;
  }

  /// Whether a file is what a linker makes.
  bool isLinked(const std::string& file) const {
    llvm::file_magic kind;
    return !llvm::is_contained(machineNames(options_.compile.machinePath), file) &&
           !llvm::sys::fs::is_directory(file) && !llvm::identify_magic(file, kind) &&
           (kind == llvm::file_magic::elf_executable || kind == llvm::file_magic::elf_shared_object);
  }

  std::vector<Picture> ofMachine() {
    CompileOptions& compile = options_.compile;
    if (!takes("machine", {{"map", !compile.mapping.empty()},
                           {"size", !options_.sizes.empty()},
                           {"machine", !compile.machine.empty()},
                           {"entry", !compile.entry.empty()}}))
      return {};
    if (isLinked(thing_)) {
      session_.diagnostics.report(linked, options_.compile.programPlace, thing_)
          .help("its graphs are drawn from its sources or objects: strata show main.cpp graph.o -o FILE.html")
          .help("when its nodes run is drawn from a record: link it with strata cc --record, run it with "
                "STRATA_RECORD=run.json, "
                "then strata show run.json");
      return {};
    }
    if (isSymbolic(thing_)) {
      session_.diagnostics.report(unknownThing, options_.compile.programPlace, thing_)
          .help("strata instantiate " + thing_ +
                " --size … prints what it becomes for sizes, and with -o FILE.html draws it");
      return {};
    }
    if (const llvm::StringRef ending = llvm::sys::path::extension(thing_);
        !ending.empty() && ending != ".yaml" && llvm::sys::fs::exists(thing_)) {
      session_.diagnostics.report(unknownThing, options_.compile.programPlace, thing_)
          .help("what is drawn is a machine (its name or a .yaml file), a program (" +
                llvm::join(programEndings(), ", ") +
                "; its mapping goes behind --map), a program with dataflow graphs (C or C++, .ll, an object), a trace "
                "of a run or the record of a stream program (.json), or the trace of a processor array (.trace)");
      return {};
    }
    auto machine = thing_.empty()
                       ? std::optional(describeHost())
                       : loadMachine(thing_, compile.machinePath, session_.diagnostics, compile.programPlace);
    if (!machine)
      return {};
    title_ = "machine " + machine->name;
    return {{"machine", "", "", [machine = std::move(*machine)] { return drawMachine(machine); }}};
  }

  std::vector<Picture> ofGraphs() {
    const CompileOptions& compile = options_.compile;
    if (!takes("program with graphs", {{"map", !compile.mapping.empty()},
                                       {"size", !options_.sizes.empty()},
                                       {"machine", !compile.machine.empty()},
                                       {"entry", !compile.entry.empty()}}))
      return {};
    if (!llvm::sys::fs::exists(thing_)) {
      session_.diagnostics.report(noThing, compile.programPlace, thing_);
      return {};
    }
    title_ = llvm::sys::path::filename(thing_).str();
    std::vector<std::string> files{thing_};
    files.insert(files.end(), options_.moreThings.begin(), options_.moreThings.end());
    return graphPictures(session_, files);
  }

  std::vector<Picture> ofProgram() {
    options_.compile.program = thing_;
    title_ = llvm::sys::path::filename(thing_).str();
    DataOptions data;
    if (!prepare(session_, data))
      return {};
    compilation_.emplace(session_);
    if (!checkData(session_, compilation_->compiler, data))
      return {};
    return compilation_->compiler.pictures();
  }

  /// Leaves the picture that --picture names.
  bool choose(std::vector<Picture>& pictures) {
    if (options_.picture.empty())
      return true;
    std::string all;
    std::vector<std::string> names;
    for (const Picture& picture : pictures) {
      names.push_back(picture.name);
      all += (all.empty() ? "" : ", ") + picture.name;
    }
    std::erase_if(pictures, [&](const Picture& picture) { return picture.name != options_.picture; });
    if (!pictures.empty())
      return true;
    std::string nearest = nearestName(options_.picture, names);
    session_.diagnostics.report(unknownPicture, place("--picture", options_.picture), options_.picture, thing_)
        .help((nearest.empty() ? "" : "did you mean '" + nearest + "'? ") + "there are: " + all);
    return false;
  }

  Session& session_;
  Options& options_;
  std::string thing_, title_;
  std::optional<CompilerSession> compilation_; // pictures refer to its program
};

} // namespace

int showCommand(Session& session) {
  return Show(session).run();
}

} // namespace strata::driver
