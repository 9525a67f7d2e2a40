#include "compiler/driver/sequoia.h"
#include "compiler/sequoia/frontend.h"
namespace strata::driver {
struct SequoiaSource::Impl { std::unique_ptr<sequoia::Program> program; };
SequoiaSource::SequoiaSource() : impl_(std::make_unique<Impl>()) {}
SequoiaSource::~SequoiaSource() = default;
std::unique_ptr<SequoiaSource> SequoiaSource::read(BufferId file, DiagnosticEngine& d) { std::unique_ptr<SequoiaSource> s(new SequoiaSource()); s->impl_->program=sequoia::readProgram(file,d); return s; }
std::string SequoiaSource::syntaxTree() const { return ""; }
bool SequoiaSource::readMapping(const CompileOptions&, DiagnosticEngine&) { return true; }
std::string SequoiaSource::machineName() const { return ""; }
Location SequoiaSource::machinePlace() const { return {}; }
std::string SequoiaSource::mappingText(const CompileOptions&, const Machine&, bool, DiagnosticEngine&) { return ""; }
std::optional<std::pair<mlir::OwningOpRef<mlir::ModuleOp>, mapping::Record>> SequoiaSource::lower(const CompileOptions&, const Machine&, mlir::MLIRContext&, DiagnosticEngine&) { return std::nullopt; }
}
