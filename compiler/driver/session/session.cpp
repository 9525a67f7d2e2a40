// What every command ends with: text to files, and the report of what went wrong.
#include "compiler/driver/session/session.h"

#include "compiler/driver/session/streamed_file.h"
#include "runtime/cluster/beginning.h"
#include "runtime/core/progress.h"

#include <cerrno>
#include <cstdlib>
#include <cstring>
#include <unistd.h>

namespace strata::driver {

bool writeText(Session& session, const std::string& path, const std::string& text) {
  StreamedFile file(session, path);
  file.write(text);
  return file.finish();
}

/// Whether standard error is a terminal that shows colours, and whose user wants them (no-color.org).
static bool takesColors() {
  const char* refused = std::getenv("NO_COLOR");
  return runtime::isCapableTerminal() && !(refused && *refused);
}

int finish(Session& session, int otherwise) {
  runtime::tellProgress("");
  RenderOptions options;
  options.json = session.options.json;
  options.color = session.options.color == "always" || (session.options.color == "auto" && takesColors());
  // What has been printed is of use only if it arrives.
  errno = 0;
  if ((fflush(stdout) != 0 || ferror(stdout)) && !session.isOutputLost) {
    session.isOutputLost = true;
    reportUnwritten(session, "standard output", errno);
  }
  session.watch.end();
  if (session.options.timePasses)
    fputs(session.watch.report(session.options.json).c_str(), stderr);
  std::string text = session.diagnostics.render(options);
  fputs(text.c_str(), stderr);
  if (session.diagnostics.hasErrors())
    cluster::tellStarter();
  auto isOurs = [](const Diagnostic& diagnostic) {
    llvm::StringRef code = diagnostic.kind->code;
    return diagnostic.severity == Severity::Error && (code.ends_with("-internal") || code == "check-differs");
  };
  if (llvm::any_of(session.diagnostics.all(), isOurs))
    return statusOurError;
  return session.diagnostics.hasErrors() ? statusUserError : otherwise;
}

} // namespace strata::driver
