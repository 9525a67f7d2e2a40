// Reading, dataflow, and then one iteration space after the other until one becomes uniform. See extract.h.
#include "compiler/equations/extract/extract.h"

#include "compiler/equations/extract/embedding.h"
#include "compiler/equations/extract/flow.h"
#include "compiler/equations/extract/read_kernel.h"
#include "compiler/equations/extract/system_of.h"
#include "compiler/equations/uniform.h"
#include "compiler/equations/verify.h"
#include "compiler/ir/locations.h"

#include <algorithm>

namespace strata::equations {

STRATA_DIAGNOSTIC(noEquations, Remark, "equations-extract", "kernel '{0}' has no equations: {1}");

namespace {

using namespace extraction;

constexpr size_t mostTries = 6; // iteration spaces

class Extractor {
public:
  Extractor(svm::KernelOp kernel, SourceManager& sources, Refusal& refusal, const ExtractOptions& options)
      : kernel_(kernel), sources_(sources), refusal_(refusal), options_(options) {}

  std::optional<Extraction> run() {
    if (!kernel_.isStructured())
      throw Refused{"its body is no region of loops", kernel_.getLoc()};
    const Program program = readKernel(kernel_, options_);
    std::vector<bool> isReadable;
    for (unsigned i = 0; i < kernel_.getNumArguments(); ++i)
      isReadable.push_back(kernel_.access(i) != svm::Access::Write);
    const Flow flow = analyse(program, isReadable);
    if (flow.results.empty())
      throw Refused{"it writes nothing", kernel_.getLoc()};
    const std::vector<bool> isNeeded = neededStatements(program, flow);
    std::vector<Embedding> spaces = embeddings(program, flow, isNeeded);
    spaces.resize(std::min(spaces.size(), mostTries));
    for (const Embedding& each : spaces)
      if (std::optional<Extraction> made = tryIn(program, flow, isNeeded, each))
        return made;
    return std::nullopt;
  }

private:
  std::optional<Extraction> tryIn(const Program& program, const Flow& flow, const std::vector<bool>& isNeeded,
                                  const Embedding& embedding) {
    MadeSystem made = systemOf(program, flow, isNeeded, embedding, kernel_.getName().str(), sources_);
    made.system.location = sourceLocation(sources_, kernel_.getLoc());
    DiagnosticEngine diagnostics(sources_);
    std::optional<Graph> graph = uniform(made.system, diagnostics);
    if (!graph || !verify(*graph, diagnostics)) {
      if (refusal_.reason.empty()) {
        refuse(diagnostics);
        refusal_.sizes = sizesOf(program, made.spans);
      }
      return std::nullopt;
    }
    Extraction result;
    result.spans = sizesOf(program, made.spans);
    result.leavesOut = program.leavesOut;
    result.isForward = embedding.isForward;
    result.graph = std::move(*graph);
    result.inputs = made.inputs;
    result.outputs = made.outputs;
    for (const Parameter& each : program.parameters)
      result.parameters.push_back({each.argument, each.dimension});
    for (uint32_t output = 0; output < made.outputs.size(); ++output)
      for (uint32_t input = 0; input < made.inputs.size(); ++input)
        if (made.inputs[input] == made.outputs[output])
          result.pairs.push_back({input, output});
    for (const Constraint& each : result.graph.context)
      if (!program.context.is_subset(program.sets->context({each}).params()))
        result.assumed.push_back(each);
    return result;
  }

  static std::vector<KernelSize> sizesOf(const Program& program, const std::set<unsigned>& parameters) {
    std::vector<KernelSize> made;
    for (const unsigned each : parameters)
      made.push_back({program.parameters[each].argument, program.parameters[each].dimension});
    return made;
  }

  void refuse(const DiagnosticEngine& diagnostics) {
    for (const Diagnostic& each : diagnostics.all()) {
      if (each.severity != Severity::Error)
        continue;
      refusal_.reason = each.message;
      const Location place = each.labels.empty() ? Location{} : each.labels[0].location;
      refusal_.location = place.valid() ? locationAt(sources_, place, *kernel_.getContext()) : kernel_.getLoc();
      return;
    }
  }

  svm::KernelOp kernel_;
  SourceManager& sources_;
  Refusal& refusal_;
  const ExtractOptions& options_;
};

} // namespace

std::optional<Extraction> extract(svm::KernelOp kernel, SourceManager& sources, Refusal& refusal,
                                  const ExtractOptions& options) {
  refusal = {};
  try {
    std::optional<Extraction> made = Extractor(kernel, sources, refusal, options).run();
    if (!made && refusal.reason.empty())
      refusal.reason = "its dataflow does not become uniform", refusal.location = kernel.getLoc();
    return made;
  } catch (const Refused& refused) {
    refusal = {refused.reason, refused.location, refused.lacksOperation, refused.sizes};
  } catch (const isl::exception& failure) {
    // isl says where it stopped, and then why.
    const std::string text = failure.what();
    const size_t why = text.rfind(": ");
    refusal.reason =
        "its iterations are more than can be computed with: " + text.substr(why == std::string::npos ? 0 : why + 2);
    refusal.location = kernel.getLoc();
  }
  return std::nullopt;
}

void report(const Refusal& refusal, svm::KernelOp kernel, DiagnosticEngine& diagnostics) {
  const mlir::Location place = refusal.location.value_or(kernel.getLoc());
  diagnostics.report(noEquations, sourceLocation(diagnostics.sources(), place), kernel.getName().str(), refusal.reason);
}

} // namespace strata::equations
