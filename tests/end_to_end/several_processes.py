"""What tests of programs over several processes share: mpirun, and whether it can be had."""

import os
import shutil
import subprocess

import harness

MPIRUN = shutil.which("mpirun")
AS_ROOT = {"OMPI_ALLOW_RUN_AS_ROOT": "1", "OMPI_ALLOW_RUN_AS_ROOT_CONFIRM": "1"}
ENVIRONMENT = {**os.environ, **AS_ROOT}

# Adds to y what x has at given places, which the last block may be outside of.
PICK = """void task Pick(in int at[N], in float x[M], inout float y[N]);
void task<inner> Pick::Cut(in int at[N], in float x[M], inout float y[N])
{
  tunable block;
  mappar (long i = 0 : (N + block - 1) / block) {
    Pick(at[i * block; block], x, y[i * block; block]);
  }
}
void task<leaf> Pick::L(in int at[N], in float x[M], inout float y[N])
{
  for (long i = 0; i < N; i++)
    y[i] = y[i] + x[at[i]];
}
"""


def require_mpi(case, environment=None):
    """Skips a test where mpirun starts nothing, as on a computer that has no network, not even to itself; and where there is none, which continuous
    integration has."""
    library = os.path.join(os.path.dirname(os.path.dirname(os.path.realpath(harness.options.strata))), "lib/libstrata_mpi.so")
    if not MPIRUN or not os.path.exists(library):
        if os.environ.get("CI"):
            case.fail("Open MPI is missing, or Strata was built before it was there")
        case.skipTest("needs Open MPI")
    if subprocess.run([MPIRUN, "--oversubscribe", "-n", "2", "true"], env=environment or ENVIRONMENT, capture_output=True, timeout=600).returncode:
        case.skipTest("mpirun starts nothing here")
