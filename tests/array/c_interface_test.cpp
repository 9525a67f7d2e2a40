// Several programs on one array through the C interface: results and cycles are those that simulate() has for a program
// alone, the clock tells when each has ended, and whatever is passed is answered with a status and a text.
#include "include/strata_array.h"

#include "runtime/array/device.h"
#include "runtime/array/files.h"
#include "runtime/array/instantiate.h"
#include "runtime/array/simulate.h"
#include "tests/array/c_interface_testing.h"

#include <gtest/gtest.h>

#include <algorithm>
#include <cstring>
#include <thread>

namespace strata::array {
namespace {

// A quotient that there is not ends the run.
const std::string quotients = elementwise("quot", "div", 4, 8);

// The sum of a vector: each element hands its own on to the next.
constexpr std::string_view sums = R"(symbolic configuration version 1
program sum_of
machine "array-4x4"
fingerprint 0x0
parameters N
loops i
range i from 0 to N - 1
columns i
interval 1 lower bound 1
context N - 1 >= 0
input x float64[N]
output s float64[1]
condition c0: -i + N - 1 >= 0
condition c1: i == 0
condition c2: N - 2 >= 0
condition c3: N - 1 == 0
condition c4: i - 1 >= 0
condition c5: -i + N - 2 >= 0
condition c6: i - N + 1 == 0
space s0: c0
space s1: everywhere
space s2: c1
space s3: c2
space s4: c3
space s5: c0 and c4
space s6: c5
space s7: c6
instruction "sum2.term": unit 0 offset 0 latency 1 move float64 when s0
  write rd0 when s1
  operand id1 when s1
instruction sum2: unit 5 offset 1 latency 1 move float64 when s2
  write fd0 when s3 step (1) crossing (0)
  write od0 when s3 step (1) crossing (1) or s4
  operand rd0 when s1
instruction sum2: unit 1 offset 1 latency 1 add float64 when s5
  write fd0 when s6 step (1) crossing (0)
  write od0 when s6 step (1) crossing (1) or s7
  operand fd0 when s1 step (-1) crossing (0)
    else id0 when s1 step (-1) crossing (-1)
  operand rd0 when s1
channel row 0 column 1: element0 -> east0 -> west0 -> element0
arrival distance (1) crossing (1) slack -2
fifo fd0 distance (1) crossing (0) slack -1
fifo id0 distance (1) crossing (1) slack -2
access input x[i] register id1 offset 0 when s0
access output s[0] register od0 channel 0 offset 2 when s7
end
)";

/// The 4 x 4 array of the machines that come with Strata.
const machine::ProcessorArray& testArray() {
  static const Device device = std::get<Device>(Device::open(testMachine));
  return device.array();
}

/// Made for that array, whatever its fingerprint is.
Symbolic symbolic(std::string_view text) {
  auto read = array::read(text);
  EXPECT_TRUE(std::holds_alternative<Symbolic>(read)) << print(std::get<FileError>(read));
  Symbolic made = std::get<Symbolic>(std::move(read));
  made.fingerprint = fingerprint(testArray());
  return made;
}

class ArrayInterface : public testing::Test {
protected:
  ArrayInterface() { EXPECT_TRUE(array) << text; }
  ~ArrayInterface() override { strata_array_close(array); }

  strata_array_program* load(std::string_view configuration) {
    const std::string bytes = writeBinary(symbolic(configuration));
    strata_array_program* program = strata_array_load(array, bytes.data(), bytes.size(), text, sizeof text);
    EXPECT_TRUE(program) << text;
    return program;
  }
  strata_array_placement* place(strata_array_program* program, const strata_array_request& wanted) {
    return strata_array_place(array, program, &wanted, text, sizeof text);
  }
  /// Of one row, for `count` iterations.
  strata_array_request row(uint32_t row, uint32_t column, uint32_t columns, int corner, int64_t count = 10) {
    size.value = count;
    return {row, column, 1, columns, corner, &size, 1, nullptr, 0};
  }
  strata_array_status bind(strata_array_placement* placement, const char* name, void* memory, size_t bytes) {
    return strata_array_bind(placement, name, memory, bytes, text, sizeof text);
  }
  void bindQuotients(strata_array_placement* placement) {
    for (int i = 0; i < 10; ++i) {
      a[i] = 100 - 30 * i;
      b[i] = i % 4 + 1;
    }
    ASSERT_EQ(bind(placement, "a", a, sizeof a), STRATA_ARRAY_OK) << text;
    ASSERT_EQ(bind(placement, "b", b, sizeof b), STRATA_ARRAY_OK) << text;
    ASSERT_EQ(bind(placement, "q", q, sizeof q), STRATA_ARRAY_OK) << text;
  }
  strata_array_status start(strata_array_placement* placement) {
    return strata_array_start(placement, text, sizeof text);
  }
  strata_array_status wait(strata_array_placement* placement, int64_t* cycles = nullptr) {
    return strata_array_wait(placement, cycles, text, sizeof text);
  }
  void expectText(std::string_view part) {
    EXPECT_NE(std::string_view(text).find(part), std::string_view::npos) << "'" << part << "' is not in: " << text;
    std::memset(text, 0, sizeof text);
  }
  /// Cycles of a program on a region of one row that is the whole array.
  static int64_t cyclesAlone(std::string_view configuration, uint32_t columns, int64_t count, machine::Corner corner,
                             std::span<const std::byte* const> inputs, std::span<std::byte* const> outputs) {
    InstantiationOptions options;
    options.sizes = {count};
    options.columns = columns;
    options.corner = corner;
    const auto made = instantiate(symbolic(configuration), testArray(), options);
    SimulationStatistics statistics;
    EXPECT_FALSE(simulate(testArray(), std::get<Configuration>(made), inputs, outputs, {}, statistics));
    return statistics.cycles;
  }

  char text[1000] = "";
  strata_array* array = strata_array_open(testMachine.c_str(), text, sizeof text);
  strata_array_number size = {"N", 10};
  int32_t a[10] = {}, b[10] = {}, q[10] = {};
};

TEST_F(ArrayInterface, ProgramsRunBesideEachOther) {
  strata_array_placement* first = place(load(quotients), row(0, 0, 4, STRATA_ARRAY_NORTH_WEST));
  ASSERT_TRUE(first) << text;
  EXPECT_EQ(strata_array_bytes(first, "q"), 40);
  bindQuotients(first);
  ASSERT_EQ(start(first), STRATA_ARRAY_OK) << text;
  ASSERT_EQ(strata_array_advance(array, 15, text, sizeof text), STRATA_ARRAY_OK);

  double x[30], sum = 0, expected = 0;
  for (int i = 0; i < 30; ++i)
    expected += x[i] = i * 0.5 - 3;
  strata_array_placement* second = place(load(sums), row(3, 1, 3, STRATA_ARRAY_SOUTH_EAST, 30));
  ASSERT_TRUE(second) << text;
  ASSERT_EQ(bind(second, "x", x, sizeof x), STRATA_ARRAY_OK) << text;
  ASSERT_EQ(bind(second, "s", &sum, sizeof sum), STRATA_ARRAY_OK) << text;
  ASSERT_EQ(start(second), STRATA_ARRAY_OK) << text;
  EXPECT_EQ(strata_array_cycles(array), 15);

  int64_t firstCycles = 0, secondCycles = 0;
  ASSERT_EQ(wait(second, &secondCycles), STRATA_ARRAY_OK) << text;
  EXPECT_EQ(strata_array_cycles(array), 15 + secondCycles);
  ASSERT_EQ(wait(first, &firstCycles), STRATA_ARRAY_OK) << text;
  EXPECT_EQ(strata_array_cycles(array), std::max(firstCycles, 15 + secondCycles));
  EXPECT_EQ(sum, expected);
  for (int i = 0; i < 10; ++i)
    EXPECT_EQ(q[i], a[i] / b[i]) << i;

  int32_t alone[10];
  const std::byte* inputs[] = {reinterpret_cast<std::byte*>(a), reinterpret_cast<std::byte*>(b)};
  std::byte* outputs[] = {reinterpret_cast<std::byte*>(alone)};
  EXPECT_EQ(firstCycles, cyclesAlone(quotients, 4, 10, machine::Corner::NorthWest, inputs, outputs));
  EXPECT_EQ(std::memcmp(alone, q, sizeof q), 0);
}

TEST_F(ArrayInterface, APlacementRunsAgainAndItsRegionIsFreeAfterwards) {
  strata_array_program* program = load(quotients);
  strata_array_placement* placement = place(program, row(0, 0, 2, STRATA_ARRAY_NORTH_WEST));
  strata_array_unload(program);
  ASSERT_TRUE(placement) << text;
  bindQuotients(placement);
  int64_t cycles = 0, again = 0;
  ASSERT_EQ(start(placement), STRATA_ARRAY_OK);
  ASSERT_EQ(wait(placement, &cycles), STRATA_ARRAY_OK);
  b[3] = 7;
  ASSERT_EQ(start(placement), STRATA_ARRAY_OK);
  ASSERT_EQ(wait(placement, &again), STRATA_ARRAY_OK);
  EXPECT_EQ(cycles, again);
  EXPECT_EQ(strata_array_cycles(array), cycles + again);
  EXPECT_EQ(q[3], a[3] / 7);
  strata_array_remove(placement);
  EXPECT_TRUE(place(load(quotients), row(0, 1, 2, STRATA_ARRAY_NORTH_WEST))) << text;
}

TEST_F(ArrayInterface, BordersThatARegionDoesNotTouchAreNotUsed) {
  // Each row that touches a border is served by it.
  strata_array_program* program = load(quotients);
  strata_array_placement* south = place(program, row(3, 0, 4, STRATA_ARRAY_SOUTH_WEST));
  ASSERT_TRUE(south) << text;
  bindQuotients(south);
  ASSERT_EQ(start(south), STRATA_ARRAY_OK);
  ASSERT_EQ(wait(south), STRATA_ARRAY_OK) << text;
  for (int i = 0; i < 10; ++i)
    EXPECT_EQ(q[i], a[i] / b[i]) << i;
  EXPECT_TRUE(place(program, row(1, 0, 1, STRATA_ARRAY_NORTH_WEST))) << text;
  EXPECT_FALSE(place(program, row(2, 1, 2, STRATA_ARRAY_NORTH_EAST)));
  EXPECT_EQ(strata_array_last_status(), STRATA_ARRAY_UNFIT);
  expectText("'quot' needs buffers at the northern border of the array");
  EXPECT_FALSE(place(program, row(2, 0, 4, STRATA_ARRAY_NORTH_EAST)));
  EXPECT_EQ(strata_array_last_status(), STRATA_ARRAY_UNFIT);
  expectText("touch only the eastern and western one");
  // What is handed on from element to element leaves where the chain does: in the east.
  EXPECT_FALSE(place(load(sums), row(0, 0, 2, STRATA_ARRAY_NORTH_EAST)));
  expectText("'sum_of' needs buffers at the eastern border of the array");
  // Two of the three columns have work, so that the eastern border is out of reach.
  EXPECT_FALSE(place(program, row(2, 1, 3, STRATA_ARRAY_NORTH_EAST, 2)));
  expectText("1 x 2 elements at row 2, column 1 touch no border");
}

TEST_F(ArrayInterface, RegionsAndControllersAreTakenOnce) {
  strata_array_program* program = load(quotients);
  strata_array_placement* first = place(program, row(0, 0, 2, STRATA_ARRAY_NORTH_WEST));
  ASSERT_TRUE(first) << text;
  EXPECT_FALSE(place(program, row(0, 1, 3, STRATA_ARRAY_NORTH_EAST)));
  EXPECT_EQ(strata_array_last_status(), STRATA_ARRAY_OCCUPIED);
  expectText("1 x 3 elements at row 0, column 1 has elements in common with that of 'quot', 1 x 2 elements");
  EXPECT_FALSE(place(program, row(0, 2, 2, STRATA_ARRAY_NORTH_WEST)));
  EXPECT_EQ(strata_array_last_status(), STRATA_ARRAY_OCCUPIED);
  expectText("the controller in the corner north-west steers 'quot'");
  EXPECT_TRUE(place(program, row(0, 2, 2, STRATA_ARRAY_NORTH_EAST))) << text;
}

TEST_F(ArrayInterface, RequestsThatMakeNoSenseAreNamed) {
  strata_array_program* program = load(quotients);
  const auto refused = [&](strata_array_request wanted, std::string_view part,
                           strata_array_status status = STRATA_ARRAY_ARGUMENT) {
    EXPECT_FALSE(place(program, wanted));
    EXPECT_EQ(strata_array_last_status(), status);
    expectText(part);
  };
  const strata_array_request good = row(0, 0, 2, STRATA_ARRAY_NORTH_WEST);
  strata_array_request wanted = good;
  refused((wanted.rows = 0, wanted), "at least one row");
  wanted = good;
  refused((wanted.columns = 5, wanted), "is not within the array");
  wanted = good;
  refused((wanted.row = UINT32_MAX, wanted), "is not within the array");
  wanted = good;
  refused((wanted.rows = UINT32_MAX, wanted), "is not within the array");
  for (const int corner : {-1, 4, INT32_MAX}) {
    wanted = good;
    refused((wanted.corner = corner, wanted), "there is no corner");
  }
  wanted = good;
  refused((wanted.size_count = 0, wanted), "no size is given for the parameter 'N'");
  refused((wanted.size_count = 1, wanted.sizes = nullptr, wanted), "null pointer");
  const strata_array_number unknown[] = {{"N", 3}, {"M", 3}}, twice[] = {{"N", 3}, {"N", 3}},
                            nameless[] = {{nullptr, 3}};
  refused((wanted.size_count = 2, wanted.sizes = unknown, wanted), "the program has no parameter 'M'");
  refused((wanted.size_count = 2, wanted.sizes = twice, wanted), "parameter 'N' is given twice");
  refused((wanted.size_count = 1, wanted.sizes = nameless, wanted), "null pointer");
  wanted = good;
  refused((wanted.tile_count = 1, wanted.tiles = unknown, wanted), "the program has no loop 'N'");
  refused((wanted.tiles = nullptr, wanted), "null pointer");
  for (const int64_t count : {int64_t{0}, int64_t{-1}, INT64_MIN, INT64_MAX}) {
    size.value = count;
    EXPECT_FALSE(place(program, good)) << count;
    EXPECT_EQ(strata_array_last_status(), STRATA_ARRAY_UNFIT) << text;
  }
  size.value = 10;
  const strata_array_number tile[] = {{"i", 1}};
  refused((wanted = good, wanted.tile_count = 1, wanted.tiles = tile, wanted), "", STRATA_ARRAY_UNFIT);
  wanted = good;
  refused((wanted.rows = 2, wanted), "no loop of 'quot' is distributed over the rows", STRATA_ARRAY_UNFIT);
  EXPECT_TRUE(place(program, good)) << text;
}

TEST_F(ArrayInterface, CallsComeInTheirOrder) {
  strata_array_placement* placement = place(load(quotients), row(0, 0, 2, STRATA_ARRAY_NORTH_WEST));
  ASSERT_TRUE(placement) << text;
  EXPECT_EQ(wait(placement), STRATA_ARRAY_STATE);
  expectText("'quot' has not been started");
  EXPECT_EQ(start(placement), STRATA_ARRAY_STATE);
  expectText("no memory for 'a', 'b' and 'q'");
  EXPECT_EQ(bind(placement, "c", a, sizeof a), STRATA_ARRAY_ARGUMENT);
  expectText("its arrays are a, b and q");
  EXPECT_EQ(bind(placement, "a", a, sizeof a - 1), STRATA_ARRAY_ARGUMENT);
  expectText("has 40 bytes with these sizes, and not 39");
  EXPECT_EQ(bind(placement, "a", nullptr, sizeof a), STRATA_ARRAY_ARGUMENT);
  EXPECT_EQ(bind(placement, nullptr, a, sizeof a), STRATA_ARRAY_ARGUMENT);
  EXPECT_EQ(strata_array_bytes(placement, "c"), -1);
  EXPECT_EQ(strata_array_bytes(placement, nullptr), -1);
  bindQuotients(placement);
  EXPECT_EQ(start(placement), STRATA_ARRAY_OK);
  EXPECT_EQ(start(placement), STRATA_ARRAY_STATE);
  expectText("'quot' runs already");
  EXPECT_EQ(bind(placement, "a", a, sizeof a), STRATA_ARRAY_STATE);
  strata_array_remove(placement); // while it runs: nothing is written
  EXPECT_TRUE(std::ranges::all_of(q, [](int32_t each) { return each == 0; }));
  EXPECT_EQ(wait(placement), STRATA_ARRAY_HANDLE);
  EXPECT_EQ(strata_array_cycles(array), 0);
}

TEST_F(ArrayInterface, WhatIsWrittenIsNobodyElses) {
  strata_array_program* program = load(quotients);
  strata_array_placement* one = place(program, row(0, 0, 2, STRATA_ARRAY_NORTH_WEST));
  strata_array_placement* two = place(program, row(0, 2, 2, STRATA_ARRAY_NORTH_EAST));
  bindQuotients(one);
  bindQuotients(two);
  ASSERT_EQ(bind(one, "q", b, sizeof b), STRATA_ARRAY_OK);
  EXPECT_EQ(start(one), STRATA_ARRAY_ARGUMENT);
  expectText("output 'q' of 'quot' shares memory with 'b'");
  bindQuotients(one);
  ASSERT_EQ(start(one), STRATA_ARRAY_OK);
  EXPECT_EQ(start(two), STRATA_ARRAY_ARGUMENT);
  expectText("output 'q' of 'quot' shares memory with 'q'");
  int32_t other[10];
  ASSERT_EQ(bind(two, "q", other, sizeof other), STRATA_ARRAY_OK);
  ASSERT_EQ(start(two), STRATA_ARRAY_OK) << "inputs may be shared";
  ASSERT_EQ(wait(one), STRATA_ARRAY_OK);
  ASSERT_EQ(wait(two), STRATA_ARRAY_OK);
  EXPECT_EQ(std::memcmp(q, other, sizeof q), 0);
}

TEST_F(ArrayInterface, ValuesThatThereAreNotEndARun) {
  strata_array_placement* placement = place(load(quotients), row(0, 0, 2, STRATA_ARRAY_NORTH_WEST));
  ASSERT_TRUE(placement) << text;
  bindQuotients(placement);
  b[4] = 0;
  ASSERT_EQ(start(placement), STRATA_ARRAY_OK);
  int64_t cycles = -5;
  EXPECT_EQ(wait(placement, &cycles), STRATA_ARRAY_VALUE);
  EXPECT_EQ(cycles, -5);
  expectText("a division by zero");
  EXPECT_GT(strata_array_cycles(array), 0);
  EXPECT_EQ(wait(placement), STRATA_ARRAY_STATE);
  b[4] = 1;
  ASSERT_EQ(start(placement), STRATA_ARRAY_OK);
  EXPECT_EQ(wait(placement), STRATA_ARRAY_OK) << text;
}

TEST_F(ArrayInterface, TheClockGoesForwards) {
  for (const int64_t cycles : {int64_t{-1}, INT64_MIN, INT64_MAX, int64_t{1} << 62})
    EXPECT_EQ(strata_array_advance(array, cycles, text, sizeof text), STRATA_ARRAY_ARGUMENT);
  EXPECT_EQ(strata_array_advance(array, (int64_t{1} << 62) - 1, text, sizeof text), STRATA_ARRAY_OK);
  EXPECT_EQ(strata_array_advance(array, 1, text, sizeof text), STRATA_ARRAY_ARGUMENT);
}

TEST_F(ArrayInterface, HandlesAreChecked) {
  strata_array_program* program = load(quotients);
  strata_array_placement* placement = place(program, row(0, 0, 2, STRATA_ARRAY_NORTH_WEST));
  ASSERT_TRUE(placement) << text;
  const strata_array_request wanted = row(0, 2, 2, STRATA_ARRAY_NORTH_EAST);
  const auto allFail = [&](strata_array* noArray, strata_array_program* noProgram, strata_array_placement* none) {
    EXPECT_EQ(strata_array_cycles(noArray), -1);
    EXPECT_EQ(strata_array_advance(noArray, 1, nullptr, 0), STRATA_ARRAY_HANDLE);
    EXPECT_FALSE(strata_array_load(noArray, "x", 1, nullptr, 7));
    EXPECT_EQ(strata_array_last_status(), STRATA_ARRAY_HANDLE);
    EXPECT_FALSE(strata_array_place(noArray, noProgram, &wanted, nullptr, 0));
    EXPECT_FALSE(strata_array_place(array, noProgram, &wanted, nullptr, 0));
    EXPECT_EQ(strata_array_last_status(), STRATA_ARRAY_HANDLE);
    EXPECT_EQ(strata_array_bytes(none, "a"), -1);
    EXPECT_EQ(bind(none, "a", a, sizeof a), STRATA_ARRAY_HANDLE);
    EXPECT_EQ(start(none), STRATA_ARRAY_HANDLE);
    EXPECT_EQ(wait(none), STRATA_ARRAY_HANDLE);
    expectText("there is no such placement");
    strata_array_remove(none);
    strata_array_unload(noProgram);
    strata_array_close(noArray);
  };
  allFail(nullptr, nullptr, nullptr);
  allFail(reinterpret_cast<strata_array*>(program), reinterpret_cast<strata_array_program*>(placement),
          reinterpret_cast<strata_array_placement*>(array));
  EXPECT_FALSE(strata_array_place(array, program, nullptr, text, sizeof text));
  EXPECT_EQ(strata_array_last_status(), STRATA_ARRAY_ARGUMENT);
  strata_array* other = strata_array_open(testMachine.c_str(), nullptr, 0);
  EXPECT_FALSE(strata_array_place(other, program, &wanted, text, sizeof text));
  expectText("the program was loaded for another array");
  strata_array_close(other);
  strata_array_close(array);
  allFail(array, program, placement);
}

TEST_F(ArrayInterface, MachinesAndProgramsAreChecked) {
  const auto refused = [&](const char* machine, std::string_view part,
                           strata_array_status status = STRATA_ARRAY_MACHINE) {
    EXPECT_FALSE(strata_array_open(machine, text, sizeof text));
    EXPECT_EQ(strata_array_last_status(), status);
    expectText(part);
  };
  refused(nullptr, "the machine file is a null pointer", STRATA_ARRAY_ARGUMENT);
  refused("", "cannot read the machine file ''");
  refused("/", "cannot read the machine file '/'");
  refused("no such file", "cannot read the machine file 'no such file'");
  refused("machine: x\nrows: [\n", "machine");
  refused(STRATA_SOURCE_DIR "/machines/cell/machine.yaml", "machine 'cell' has no processor array");
  for (const std::string_view bytes : {"", "x", "symbolic configuration version 1\n"}) {
    EXPECT_FALSE(strata_array_load(array, bytes.data(), bytes.size(), text, sizeof text));
    EXPECT_EQ(strata_array_last_status(), STRATA_ARRAY_PROGRAM);
    expectText("this is no symbolic configuration");
  }
  EXPECT_FALSE(strata_array_load(array, nullptr, 10, text, sizeof text));
  EXPECT_EQ(strata_array_last_status(), STRATA_ARRAY_ARGUMENT);
  EXPECT_FALSE(strata_array_load(array, quotients.data(), quotients.size(), text, sizeof text))
      << "its fingerprint is 0";
  EXPECT_EQ(strata_array_last_status(), STRATA_ARRAY_PROGRAM);
  expectText("and those of 'array-4x4' are others");
  Symbolic unsound = symbolic(quotients);
  unsound.instructions[0].unit = 77;
  const std::string bytes = writeText(unsound);
  EXPECT_FALSE(strata_array_load(array, bytes.data(), bytes.size(), text, sizeof text));
  expectText("does not fit the array");
}

TEST_F(ArrayInterface, TextsAreCutToFit) {
  char few[5] = "####";
  EXPECT_FALSE(strata_array_load(array, "", 0, few, 4));
  EXPECT_EQ(std::string_view(few, 5), std::string_view("thi\0\0", 5));
  EXPECT_FALSE(strata_array_load(array, "", 0, few, 1));
  EXPECT_EQ(few[0], 0);
  few[0] = '#';
  EXPECT_FALSE(strata_array_load(array, "", 0, few, 0));
  EXPECT_EQ(few[0], '#');
}

TEST_F(ArrayInterface, ThreadsTakeTurns) {
  strata_array_program* program = load(quotients);
  std::vector<std::thread> threads;
  std::array<int, 4> right{};
  for (int number = 0; number < 4; ++number)
    threads.emplace_back([&, number] {
      const auto index = static_cast<uint32_t>(number);
      const strata_array_number count = {"N", 20 + number};
      const strata_array_request wanted = {index % 2 * 3, index / 2 * 2, 1, 2, number, &count, 1, nullptr, 0};
      const auto length = static_cast<size_t>(count.value), bytes = length * sizeof(int32_t);
      std::vector<int32_t> dividends(length, 100 + number), divisors(length, 7), results(length);
      const std::vector<int32_t> expected(length, (100 + number) / 7);
      for (int round = 0; round < 20; ++round) {
        std::ranges::fill(results, 0);
        strata_array_placement* placement = strata_array_place(array, program, &wanted, nullptr, 0);
        strata_array_bind(placement, "a", dividends.data(), bytes, nullptr, 0);
        strata_array_bind(placement, "b", divisors.data(), bytes, nullptr, 0);
        strata_array_bind(placement, "q", results.data(), bytes, nullptr, 0);
        strata_array_start(placement, nullptr, 0);
        right[index] += strata_array_wait(placement, nullptr, nullptr, 0) == STRATA_ARRAY_OK && results == expected;
        strata_array_remove(placement);
      }
    });
  for (std::thread& thread : threads)
    thread.join();
  EXPECT_EQ(right, (std::array<int, 4>{20, 20, 20, 20}));
}

} // namespace
} // namespace strata::array
