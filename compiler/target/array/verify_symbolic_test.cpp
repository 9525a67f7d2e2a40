// What the verifier of symbolic configurations refuses: right ones with one thing changed in their text, each with what
// is said of it; and others that come near and are right.
#include "compiler/target/array/symbolic_sets.h"
#include "compiler/target/array/verify_symbolic.h"
#include "runtime/array/files.h"

#include <gtest/gtest.h>
#include <isl/set.h>

namespace strata::array {
namespace {

/// The lowest bits of a number, each handed on to the next iteration, shifted. On array-2alu.
constexpr const char* bitsText = R"(symbolic configuration version 1
program bits
machine "array-2alu"
fingerprint 0x0
parameters N
loops i
range i from 0 to N - 1
columns i
interval 2 lower bound 2
context N - 1 >= 0
input in int32
output bits int32[N]
condition c0: -i + N - 1 >= 0
condition c1: i == 0
condition c2: i - 1 >= 0
condition c3: -i + N - 2 >= 0
space s0: c0
space s1: c1
space s2: c2
space s3: everywhere
space s4: c3
instruction x: unit 0 offset 0 latency 1 move int32 when s0
  write rd0 when s3
  operand id0 when s1 or s2 step (-1) crossing (-1)
    else fd0 when s2 step (-1) crossing (0)
instruction y: unit 0 offset 1 latency 1 shr int32 when s4
  write fd0 when s3 step (1) crossing (0)
  write od0 when s3 step (1) crossing (1)
  operand rd0 when s3
  operand 1 when s3
instruction bits: unit 1 offset 1 latency 1 and int32 when s0
  write od1 when s3
  operand rd0 when s3
  operand 1 when s3
channel row 0 column 1: element0 -> east0 -> west0 -> element0
arrival distance (1) crossing (1) slack -3
fifo fd0 distance (1) crossing (0) slack -2
fifo id0 distance (1) crossing (1) slack -3
access input in register id0 channel 0 offset 0 when s1
access output bits[i] register od1 offset 2 when s0
end
)";

/// Sums that wander along k, of a product in the first iteration and of sums in the others. On array-4x4.
constexpr const char* sumText = R"(symbolic configuration version 1
program sum
machine "array-4x4"
fingerprint 0x0
parameters N, T
loops i, k
range i from 0 to N - 1
range k from 0 to T - 1
rows i
columns k
interval 1 lower bound 1
context N - 1 >= 0
context T - 2 >= 0
input x float32[N, T]
output y float32[N]
condition c0: -k + T - 1 >= 0
condition c1: -i + N - 1 >= 0
condition c2: k == 0
condition c3: k - 1 >= 0
condition c4: -k + T - 2 >= 0
condition c5: k - T + 1 == 0
space s0: everywhere
space s1: c2
space s2: c3
space s3: c4
space s4: c5
instruction first: unit 2 offset 0 latency 2 mul float32 when s1
  write fd0 when s0 step (0, 1) crossing (0, 0)
  write od0 when s0 step (0, 1) crossing (0, 1)
  operand id1 when s0
  operand 2 when s0
instruction next: unit 0 offset 1 latency 1 add float32 when s2
  write fd0 when s3 step (0, 1) crossing (0, 0)
  write od0 when s3 step (0, 1) crossing (0, 1) or s4
  operand fd0 when s0 step (0, -1) crossing (0, 0)
    else id0 when s0 step (0, -1) crossing (0, -1)
  operand id2 when s0
channel row 0 column 1: element0 -> east0 -> west0 -> element0
arrival distance (0, 1) crossing (0, 1) slack -2
fifo fd0 distance (0, 1) crossing (0, 0) slack -1
fifo id0 distance (0, 1) crossing (0, 1) slack -2
access input x[i, k] register id1 offset 0 when s1
access input x[i, k] register id2 offset 1 when s2
access output y[i] register od0 channel 0 offset 2 when s4
end
)";

class Verifying : public testing::Test {
protected:
  struct Change {
    const char *from, *to;
    const char* said = ""; // a part of what is said; nothing where it is right
  };
  machine::ProcessorArray arrayOf(const std::string& name) {
    const Machine machine = *loadMachine(name, {STRATA_SOURCE_DIR "/machines"}, diagnostics);
    for (const machine::Processor& each : machine.processors)
      if (!each.array.empty())
        return each.array[0];
    return {};
  }
  /// What is said of the text with each change; in those with a '|', each part is replaced.
  void expect(const std::string& text, const machine::ProcessorArray& array, const std::vector<Change>& changes) {
    for (const Change& change : changes) {
      std::string changed = text;
      const std::vector<std::string> from = parts(change.from), to = parts(change.to);
      ASSERT_EQ(from.size(), to.size()) << change.from;
      for (size_t i = 0; i < from.size(); ++i) {
        const size_t at = changed.find(from[i]);
        ASSERT_NE(at, std::string::npos) << from[i];
        changed.replace(at, from[i].size(), to[i]);
      }
      std::variant<Symbolic, FileError> read = array::read(changed);
      if (const FileError* error = std::get_if<FileError>(&read)) {
        ADD_FAILURE() << print(*error) << "\n" << changed;
        continue;
      }
      Symbolic& symbolic = std::get<Symbolic>(read);
      symbolic.fingerprint = fingerprint(array);
      const Verdict verdict = verify(symbolic, array);
      EXPECT_TRUE(verdict.isDecided);
      if (*change.said)
        EXPECT_NE(verdict.broken.find(change.said), std::string::npos)
            << change.from << " -> " << change.to << ": '" << verdict.broken << "' and not '" << change.said << "'";
      else
        EXPECT_EQ(verdict.broken, "") << change.from << " -> " << change.to;
    }
  }
  static std::vector<std::string> parts(const std::string& text) {
    std::vector<std::string> list;
    size_t begin = 0;
    for (size_t at = text.find('|'); at != std::string::npos; at = text.find('|', begin)) {
      list.push_back(text.substr(begin, at - begin));
      begin = at + 1;
    }
    list.push_back(text.substr(begin));
    return list;
  }
  SourceManager sources;
  DiagnosticEngine diagnostics{sources};
  const machine::ProcessorArray small = arrayOf("array-2alu"), large = arrayOf("array-4x4");
};

TEST_F(Verifying, RightOnesAndWhatIsNearlyWrong) {
  expect(bitsText, small,
         {{"", ""},
          {"arrival distance (1) crossing (1) slack -3", "arrival distance (1) crossing (1) slack -4"},
          {"fifo fd0 distance (1) crossing (0) slack -2", "fifo fd0 distance (1) crossing (0) slack -1"},
          // The last cycle in which the value is there.
          {"unit 1 offset 1|offset 2 when s0", "unit 1 offset 2|offset 3 when s0"},
          {"output bits int32[N]", "output bits uint32[N]"}});
  expect(sumText, large, {{"", ""}, {"T - 2 >= 0", "T - 3 >= 0"}});
}

TEST_F(Verifying, Units) {
  expect(bitsText, small,
         {{"bits: unit 1", "bits: unit 0",
           "instruction 1 (y) and instruction 2 (bits) are both on alu0 at once (as in i = 0 for N = 2)"},
          {"bits: unit 1 offset 1", "bits: unit 0 offset 2", "both on alu0 in cycle 0 of the interval"},
          {"unit 1 offset 1 latency 1", "unit 1 offset 1 latency 2", "has 1"}}); // validate()
  machine::ProcessorArray slow = small;
  for (machine::Operation& each : slow.units[0].operations)
    if (each.name == "shr" || each.name == "and")
      each.interval = each.name == "and" ? 2 : 3;
  expect(bitsText, slow, {{"", "", "instruction 1 (y) holds alu0 for 3 cycles of an interval of 2"}});
  for (machine::Operation& each : slow.units[0].operations)
    each.interval = each.name == "and" ? 2 : 1;
  expect(bitsText, slow, {{"", ""}});
}

TEST_F(Verifying, Operands) {
  expect(
      bitsText, small,
      {{"    else fd0 when s2 step (-1) crossing (0)\n", "", "is in some neighbouring tile"},
       {"operand id0 when s1 or", "operand id0 when s3 or", "operand 0 of instruction 0 (x) has two values"},
       {"operand id0 when s1 or", "operand id0 when", "operand 0 of instruction 0 (x) has no value (as in i = 0"},
       {"  operand rd0 when s3", "  operand rd0 when s1", "operand 0 of instruction 1 (y) has no value (as in i = 1"},
       {"operand 1 when s3", "operand 1 when s3\n    else 2 when s1", "operand 1 of instruction 1 (y) has two values"},
       {"    else fd0 when s2 step (-1) crossing (0)", "    else rd1 when s2 step (-1) crossing (0)",
        "is read from another iteration in rd1"},
       {"operand id0 when s1 or s2 step (-1) crossing (-1)", "operand id0 when s1 or s2 step (-1) crossing (1)",
        "some neighbouring tile"}});
  expect(sumText, large,
         {{"    else id0 when s0 step (0, -1) crossing (0, -1)",
           "    else id0 when s0 step (0, -1) crossing (0, -1)\n    else id3 when s0 step (0, -1) crossing (-1, -1)",
           "comes from a tile to which its distance does not lead"}});
}

TEST_F(Verifying, Registers) {
  expect(
      bitsText, small,
      {{"write rd0 when s3", "write rd0 when s1", "reads rd0, in which nothing has arrived in this iteration (as in"},
       {"unit 1 offset 1", "unit 1 offset 0", "instruction 2 (bits) reads rd0, in which nothing has arrived"},
       {"unit 1 offset 1|offset 2 when s0", "unit 1 offset 3|offset 4 when s0",
        "reads rd0 2 cycles after instruction 0 (x) has written it, when instruction 0 (x) has done so for another"},
       {"write rd0 when s3", "write rd0 when s3\n  write rd1 when s1", "writes to rd1 is never read (as in i = 0"},
       {"write rd0 when s3", "write rd0 when s3\n  write rd1 when s1\n  write rd2 when s1",
        "instruction 0 (x) writes more than 2 registers at once"},
       {"write od1 when s3", "write od1 when s3\n  write rd0 when s1", "writes to rd0 is never read"},
       {"unit 1 offset 1|offset 2 when s0|write od1 when s3", "unit 1 offset 0|offset 1 when s0|write rd0 when s3",
        "write rd0 at once"},
       {"write rd0 when s3|operand rd0 when s3|operand rd0 when s3",
        "write f0 when s3|operand f0 when s3|operand f0 when s3", "writes a number to f0"},
       {"y: unit 0 offset 1 latency 1 shr int32", "y: unit 0 offset 1 latency 1 shr int64", "reads rd0 as int64"},
       {"write rd0 when s3", "write rd0 when s3 step (1) crossing (0)", "writes rd0 for another iteration"}});
}

TEST_F(Verifying, Queues) {
  expect(
      bitsText, small,
      {{"write fd0 when s3", "write fd0 when s1", "fd0 is read, but nothing was written for it (as in i = 2"},
       {"shr int32 when s4", "shr int32 when s0", "fd0 is written for an iteration that does not read it"},
       {"write fd0 when s3 step (1)", "write fd0 when s3 step (2)", "writes fd0 at another distance than the FIFO's"},
       {"write fd0 when s3 step (1) crossing (0)", "write fd0 when s3", "writes fd0 at another distance"},
       {"fifo fd0 distance (1)", "fifo fd0 distance (2)", "writes fd0 at another distance than the FIFO's"},
       {"fifo fd0 distance (1) crossing (0) slack -2\n", "", "no distance is known of fd0"},
       {"fifo fd0 distance (1) crossing (0) slack -2\n",
        "fifo fd0 distance (1) crossing (0) slack -2\nfifo fd0 distance (1) crossing (0) slack -2\n",
        "two distances for fd0"},
       {"fifo fd0 distance (1) crossing (0) slack -2", "fifo fd0 distance (1) crossing (0) slack -3",
        "values of fd0 wait for up to -2 cycles more than iterations, -3 are counted"},
       {"y: unit 0 offset 1", "y: unit 1 offset 2",
        "instruction 0 (x) reads fd0 1 cycles before the value of instruction 1 (y) is there (as in i = 1"},
       {"write fd0 when s3 step (1) crossing (0)\n|write od1 when s3",
        "|write od1 when s3\n  write fd0 when s4 step (1) crossing (0)",
        "operand 0 of instruction 0 (x) gets a value of instruction 2 (bits) from some tiles only"}});
  expect(sumText, large,
         {{"first: unit 2 offset 0", "first: unit 2 offset 1", "write fd0 out of turn"},
          {"write fd0 when s3 step", "write fd0 when s0 step", "fd0 is written for an iteration that does not read it"},
          {"when s1\n  write fd0", "when s0\n  write fd0",
           "instruction 0 (first) and instruction 1 (next) write fd0 in one iteration"},
          {"next: unit 0 offset 1|id2 offset 1|offset 2 when s4", "next: unit 0 offset 2|id2 offset 2|offset 3 when s4",
           "write fd0 out of turn"},
          {"mul float32", "mul int32", "reads float32 from fd0, to which instruction 0 (first) writes int32"}});
}

TEST_F(Verifying, Channels) {
  expect(
      bitsText, small,
      {{"write od0 when s3", "write od0 when s1", "the channel from od0 to id0 is read, but nothing was written"},
       {"write od0 when s3 step (1) crossing (1)", "write od0 when s3 step (2) crossing (1)",
        "writes od0 at another distance than the channel's"},
       {"column 1: element0 -> east0 -> west0", "column -1: element0 -> west0 -> east0",
        "the channel from od0 to id0 leads to another neighbour than its values"},
       {"west0 -> element0\n", "west0 -> element0\nchannel row 0 column 1: element0 -> east1 -> west1 -> element1\n",
        "channel 1 takes a port that is in a path already"},
       {"column 1: element0 -> east0|fifo id0 distance (1) crossing (1)",
        "column 1: element0 -> east0|fifo id0 distance (-1) crossing (1)", "crosses tiles where its distance does not"},
       {"fifo id0 distance (1) crossing (1) slack -3", "fifo id0 distance (1) crossing (1) slack -4",
        "wait for up to -3"},
       {"fifo id0 distance (1) crossing (1) slack -3\n", "", "no distance is known of id0"},
       {"arrival distance (1) crossing (1) slack -3", "arrival distance (1) crossing (1) slack -2",
        "elements may start before the values of the channel from od0 to id0 are there"},
       {"arrival distance (1) crossing (1) slack -3\n", "", "no arrival of its distance with a slack of -3 or less"},
       {"operand id0 when s1 or s2 step (-1) crossing (-1)",
        "operand id0 when s1\n    else id1 when s2 step (-1) crossing (-1)",
        "written for an iteration that does not"}});
  // One hop more takes a cycle more.
  machine::ProcessorArray far = small;
  far.data.hop = 2;
  expect(bitsText, far,
         {{"", "", "no arrival of its distance with a slack of -4 or less"},
          {"arrival distance (1) crossing (1) slack -3", "arrival distance (1) crossing (1) slack -4"}});
}

TEST_F(Verifying, Accesses) {
  expect(
      bitsText, small,
      {{"channel 0 offset 0", "channel 0 offset 1", "instruction 0 (x) reads id0 after 0"},
       {"id0 channel 0", "id0", "'in' is accessed at id0, which belongs to a channel"},
       {"channel 0 offset 0 when s1", "channel 0 offset 0 when s0", "'in' is accessed along channel 0 where that may"},
       {"access input in register id0 channel 0 offset 0 when s1\n", "", "reads id0, to which no input is given"},
       {"access output bits[i] register od1 offset 2 when s0\n", "", "writes od1, from which no output takes it"},
       {"register od1 offset 2", "register od1 offset 3", "writes od1 after 2"},
       {"offset 2 when s0", "offset 2 when s1", "writes od1, from which no output takes it (as in i = 1"},
       {"offset 2 when s0\n", "offset 2 when s0\naccess output bits[i] register od1 offset 2 when s1\n",
        "od1 is accessed twice in one iteration"},
       {"offset 2 when s0\n", "offset 2 when s1\naccess output bits[i] register od1 offset 3 when s2\n",
        "different elements of arrays at od1"},
       {"offset 2 when s0\n", "offset 2 when s0\naccess output bits[i] register od2 offset 2 when s0\n",
        "'bits' is accessed at od2, which no instruction writes (as"},
       {"write od1 when s3|access output bits[i] register od1 offset 2 when s0",
        "write od1 when s1\n  write od2 when s2|access output bits[i] register od1 offset 2 when s1\n"
        "access output bits[i - 1] register od2 offset 2 when s2",
        "two accesses write one element of 'bits'"},
       {"bits[i] register", "bits[i + 1] register",
        "'bits' is accessed outside of its extents (as in i = 0 for N = 1)"},
       {"bits[i] register", "bits[0] register", "two iterations write one element of 'bits'"},
       {"output bits int32[N]", "output bits int64[N]", "'bits' holds int64"}});
  expect(sumText, large,
         {// The last two results leave along the channel; the last tile may have one iteration.
          {"fifo id0 distance (0, 1)|distance (0, 1) crossing (0, 1) slack -2",
           "fifo id0 distance (0, 2)|distance (0, 2) "
           "crossing (0, 1) slack -2",
           "at another distance than the channel's"},
          {"y[i] register od0 channel 0", "y[i] register od0", "which belongs to a channel"},
          {"or s4|offset 2 when s4", "or s2|offset 2 when s2", "'y' is accessed along channel 0 where that may have"}});
}

/// Sets are kept simple without becoming other ones.
TEST_F(Verifying, Sets) {
  const std::variant<Symbolic, FileError> read = array::read(bitsText);
  const SymbolicSets sets(std::get<Symbolic>(read));
  const auto pieces = [](const isl::set& set) { return isl_set_n_basic_set(set.get()); };
  const isl::set ends = SymbolicSets::together(sets.holding("0 <= i0 <= 3"), sets.holding("4 <= i0 <= 9"));
  EXPECT_EQ(pieces(ends), 1);
  EXPECT_TRUE(ends.is_equal(sets.holding("0 <= i0 <= 9")));
  // isl takes these for all numbers.
  const isl::set even = SymbolicSets::together(sets.holding("0 <= i0 <= 1"), sets.holding("i0 >= 0 and i0 mod 2 = 0"));
  EXPECT_TRUE(even.is_disjoint(sets.holding("i0 = 3")));
  EXPECT_TRUE(even.is_equal(sets.holding("0 <= i0 <= 1 or (i0 >= 0 and i0 mod 2 = 0)")));
}

} // namespace
} // namespace strata::array
