// A source file is compiled as strata cc does it; what its object carries is then what objects carry that are given.
#include "compiler/driver/command/graph_pictures.h"

#include "base/process/temporary_folder.h"
#include "compiler/clang/carried_ir.h"
#include "compiler/driver/command/hpvm_ir.h"
#include "compiler/hpvm/draw/draw_graph.h"
#include "compiler/hpvm/graph/read_graphs.h"
#include "compiler/hpvm/intrinsics/read_ir.h"
#include "compiler/linking/whole_program.h"

#include "llvm/Support/FileSystem.h"
#include "llvm/Support/Path.h"
#include "llvm/Support/Program.h"

namespace strata::driver {

STRATA_DIAGNOSTIC(noGraph, Error, "show-no-graph", "'{0}' launches no graph");
STRATA_DIAGNOSTIC(notCompiled, Error, "show-not-compiled", "'{0}' does not compile");

static bool isSource(llvm::StringRef file) {
  return llvm::is_contained({".c", ".cc", ".cpp", ".cxx", ".C", ".c++"}, llvm::sys::path::extension(file));
}

bool mayHaveGraphs(llvm::StringRef file) {
  return isSource(file) || isIrFile(file) || file.ends_with(".o") || file.ends_with(".a");
}

/// The object of a source file; false on errors (reported, by Clang itself first).
static bool compile(Session& session, const std::string& file, const std::string& object) {
  const std::string own = llvm::sys::fs::getMainExecutable(nullptr, nullptr);
  const std::string extension = llvm::sys::path::extension(file).str();
  std::vector<std::string> words{own, extension == ".c" ? "cc" : "c++", "-w", "-c", file, "-o", object};
  for (const std::string& folder : session.options.compile.includeDirectories)
    words.push_back("-I" + folder);
  for (const std::string& macro : session.options.compile.definitions)
    words.push_back("-D" + macro);
  const std::vector<llvm::StringRef> command(words.begin(), words.end());
  if (llvm::sys::ExecuteAndWait(own, command) == 0)
    return true;
  session.diagnostics.report(notCompiled, session.options.compile.programPlace, file)
      .help("give what it needs behind -I and -D, or show the object that your build makes of it with strata cc");
  return false;
}

std::vector<Picture> graphPictures(Session& session, const std::vector<std::string>& files) {
  // Drawings are made when they are asked for, and refer to the program.
  struct Loaded {
    linking::WholeProgram whole;
    std::unique_ptr<llvm::Module> module;
    std::optional<hpvm::Graphs> graphs;
  };
  const auto loaded = std::make_shared<Loaded>();
  if (isIrFile(files.front())) {
    loaded->module = hpvm::readIr(files.front(), loaded->whole.context(), session.diagnostics);
  } else {
    const TemporaryFolder folder;
    std::vector<std::string> objects;
    for (const std::string& file : files) {
      objects.push_back(file);
      if (!isSource(file))
        continue;
      objects.back() = folder.path("graphs." + std::to_string(objects.size()) + ".o");
      if (!folder.problem().empty() || !compile(session, file, objects.back()))
        return {};
    }
    loaded->module = loaded->whole.read(objects, clang::describesGraphs, session.diagnostics);
  }
  if (loaded->module)
    loaded->graphs = hpvm::readGraphs(*loaded->module, session.diagnostics);
  if (session.diagnostics.hasErrors())
    return {};
  if (!loaded->graphs || loaded->graphs->roots.empty()) {
    session.diagnostics.report(noGraph, session.options.compile.programPlace, files.front())
        .help("a graph is what __hpvm__launch is given; name all files of a program: strata show main.cpp graph.cpp");
    return {};
  }
  std::vector<Picture> pictures;
  for (const hpvm::Root& root : loaded->graphs->roots) {
    const std::string name = hpvm::nodeName(*root.node->function);
    pictures.push_back({name, "graph " + name,
                        pictures.empty()
                            ? "Frames are internal nodes, coloured boxes leaves, with their extents. Thick "
                              "arrows are edges from all to all, thin ones from one to one; dashed lines "
                              "are binds. Rest the pointer on anything to see what it carries."
                            : "",
                        [loaded, &root] { return hpvm::drawGraph(*loaded->graphs, root); }});
  }
  return pictures;
}

} // namespace strata::driver
