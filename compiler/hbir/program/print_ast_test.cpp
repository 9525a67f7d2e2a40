// The printed form of a checked program.
#include "compiler/hbir/hbir_testing.h"

namespace strata::hbir::testing {
namespace {

TEST(HbirPrint, ShowsWhatTheCheckerFound) {
  Session right(formA(
      "int done = 0; config.tg[x][1] { while (done == 0) { } for (int i = x; i < dim; i += 2) { C[i] = A[i] * 1.5; } "
      "if (done) { printf(\"%d%%\\n\", done); } else { done = -done; } done = y; }",
      "dim = 4*4; A : int[dim] = block[4] { target.g[x]; host; }; C : float[dim] = block[4] { target.g[3-x]; "
      "chunked; device; };"));
  ASSERT_TRUE(right.program) << right.rendered();
  EXPECT_EQ(printAst(*right.program), R"(form A
target
  memory g[4] size 8589934592 width 8
  tile t[4][4]
    memory l[1] size 1024 width 8
config
  group tg x<4 y<4 tile[x][y]
data
  dim = 16
  in A : int[16] block[4] in g[p0]
  out C : float[16] chunked[4] in g[3 - p0]
code
  global int done
  done = 0
  block config.tg[x][1] runs on x<4 tile[x][1]
    while (done == 0) waits
    for
      let int i = x
      condition (i < 16)
      step
        i += 2
      C[i] = (float{A[i]} * 1.5)
    if bool{done}
      print "" %d(done) "%\n"
    else
      done = -done
    done = 1
)");
}

} // namespace
} // namespace strata::hbir::testing
