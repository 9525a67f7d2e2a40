# Configuration of the lit suites: what the RUN lines of test files may use. The build folder and LLVM's come as --param build=… and
# --param llvm=… (ctest passes them). A suite's own lit.local.cfg can add file endings to config.suffixes.
import os

import lit.formats

config.name = "strata"
config.test_format = lit.formats.ShTest(execute_external=False)
config.suffixes = {".mlir", ".test"}
config.excludes = {"end_to_end", "rules", "fuzz", "Inputs"}
config.test_source_root = os.path.dirname(__file__)
build = os.path.abspath(lit_config.params["build"])
llvm = lit_config.params["llvm"]
config.test_exec_root = os.path.join(build, "lit")
os.makedirs(config.test_exec_root, exist_ok=True)
config.environment["PATH"] = os.pathsep.join([os.path.join(build, "bin"), os.path.join(llvm, "bin"), "/usr/bin", "/bin"])
for name in ("STRATA_MACHINE",):
    config.environment.pop(name, None)
config.substitutions.append(("%root", os.path.dirname(config.test_source_root)))
