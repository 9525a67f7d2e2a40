// Streams of mapped programs: where the record puts them, who reaches them there, and what FIFOs hold.
#include "compiler/mapping/mapping_testing.h"

#include "mlir/AsmParser/AsmParser.h"
#include "mlir/IR/Verifier.h"

using namespace strata;

namespace {

constexpr const char* pipesText = R"(
machine: pipes
memories:
  - {name: main, capacity: available, explicit: true}
  - {name: store, capacity: 4K, count: 4, alignment: 16, explicit: true}
processors:
  - {name: boss, kind: control, masters: [boss], local: [main]}
  - {name: worker, kind: stream, count: 4, local: [store], masters: [boss]}
  - {name: mover, kind: dma, masters: [boss], moves: 4}
fifos:
  - {name: up, count: 2, capacity: 256, width: 4, writers: [worker], readers: [boss]}
  - {name: down, count: 1, capacity: 24, width: 6, writers: [boss], readers: [worker]}
links:
  - {name: wires, ends: [mover, store, main]}
levels:
  - {level: 0, memory: store, processor: worker}
  - {level: 1, memory: main, processor: boss}
)";

struct StreamsTest : MappingTest {
  StreamsTest() : MappingTest(pipesText) {}

  /// A function that makes stream "q" with room for so many elements and executes `body`, with kernels in front.
  mlir::OwningOpRef<mlir::ModuleOp> parse(const std::string& stage, const std::string& where, const std::string& body,
                                          const std::string& capacity = "8", const std::string& element = "f32") {
    const std::string type = "!svm.stream<" + element + ">";
    return MappingTest::parse(
        "svm.kernel @push(%q: " + type + ") {\n%v = arith.constant 0.0 : " + element +
            "\nsvm.push %v to %q : " + element + " to " + type + "\nsvm.return\n}\nsvm.kernel @pop(%q: " + type +
            ") {\n%v, %more = svm.pop %q : " + type + " -> " + element + "\nsvm.return\n}\nsvm.kernel @other(%q: " +
            type + ") attributes {blackbox = \"copy\"}\nfunc.func @main(%n: index) attributes {svm.entry" +
            (stage == "logical" ? "" : ", svm.control = @boss") +
            "} {\n%c0 = arith.constant 0 : index\n%c1 = arith.constant 1 : index\n%c = arith.constant " + capacity +
            " : index\nsvm.scope {\n%q = svm.stream \"q\"(%c) " + where + " : " + type + "\n" + body + "}\nreturn\n}\n",
        stage);
  }

  /// Places a program with this entry for its streams.
  bool place(mlir::ModuleOp program, const std::string& streams) {
    std::string error;
    auto attribute = mlir::cast<mlir::DictionaryAttr>(
        mlir::parseAttribute("{main = {control = \"boss\", streams = " + streams + "}}", context.get()));
    auto record = mapping::fromAttribute(attribute, error);
    EXPECT_TRUE(record) << error;
    EXPECT_EQ(mapping::fromAttribute(mapping::toAttribute(*record, context.get()), error), record) << error;
    return mapping::place(program, *record, machine, diagnostics);
  }

  bool verifies(const std::string& where, const std::string& body, const std::string& capacity = "8",
                const std::string& element = "f32") {
    diagnostics.clear();
    auto program = parse("placed", where, body, capacity, element);
    return mapping::verifyPlaced(*program, machine, diagnostics);
  }
};

constexpr const char* onWorker = "svm.on @worker {\n";
const std::string pushes = std::string(onWorker) + "svm.run @push(%q) on @worker : (!svm.stream<f32>) -> ()\n}\n";
const std::string pops = "svm.run @pop(%q) on @boss : (!svm.stream<f32>) -> ()\n";

TEST_F(StreamsTest, GoWhereTheRecordSays) {
  for (const auto& [entry, memory, fifo] :
       {std::tuple("{}", "main", ""), std::tuple("{q = {}}", "main", ""),
        std::tuple("{q = {in = \"store\"}}", "store", ""), std::tuple("{q = {fifo = \"up\"}}", "", "up")}) {
    auto program = parse("logical", "", "");
    ASSERT_TRUE(place(*program, entry)) << text();
    program->walk([&, memory = memory, fifo = fifo](svm::StreamOp stream) {
      EXPECT_EQ(stream.getMemory().value_or(""), memory);
      EXPECT_EQ(stream.getFifo().value_or(""), fifo);
    });
    EXPECT_TRUE(mapping::verifyPlaced(*program, machine, diagnostics)) << text();
  }
}

TEST_F(StreamsTest, WhatTheRecordNamesIsThere) {
  for (const auto& [entry, code, help] :
       {std::tuple("{r = {in = \"main\"}}", "placement-unknown-label", "places stream 'r'"),
        std::tuple("{q = {in = \"stores\"}}", "placement-unknown-memory", "did you mean 'store'?"),
        std::tuple("{q = {fifo = \"ups\"}}", "placement-unknown-fifo", "did you mean 'up'?"),
        std::tuple("{q = {fifo = \"main\"}}", "placement-unknown-fifo", "names FIFO 'main'"),
        std::tuple("{q = {in = \"main\", fifo = \"up\"}}", "placement-stream-places",
                   "lie in memory 'main' and go through FIFO 'up'")}) {
    diagnostics.clear();
    auto program = parse("logical", "", "");
    EXPECT_FALSE(place(*program, entry)) << entry;
    EXPECT_TRUE(reported(code)) << text();
    EXPECT_NE(text().find(help), std::string::npos) << text();
  }
}

TEST_F(StreamsTest, ARecordThatIsNoneIsToldOf) {
  for (const char* entry : {"3", "{q = \"main\"}", "{q = {on = \"boss\"}}", "{q = {in = 3}}"}) {
    std::string error;
    auto attribute = mlir::cast<mlir::DictionaryAttr>(
        mlir::parseAttribute("{main = {streams = " + std::string(entry) + "}}", context.get()));
    EXPECT_FALSE(mapping::fromAttribute(attribute, error)) << entry;
    EXPECT_NE(error.find("main / streams"), std::string::npos) << error;
  }
}

TEST_F(StreamsTest, LieInAMemoryOrGoThroughAFifo) {
  EXPECT_FALSE(verifies("", ""));
  EXPECT_TRUE(reported("placed-without-location")) << text();
  EXPECT_FALSE(verifies("in @nowhere", ""));
  EXPECT_TRUE(reported("placed-not-on-machine")) << text();
  EXPECT_FALSE(verifies("through @main", ""));
  EXPECT_NE(text().find("FIFO 'main' is not on machine 'pipes'"), std::string::npos) << text();
}

TEST_F(StreamsTest, AreReachedByWhoPushesAndPops) {
  EXPECT_TRUE(verifies("through @up", pushes + pops)) << text();
  EXPECT_FALSE(verifies("through @down", pushes));
  EXPECT_TRUE(reported("placed-stream-out-of-reach")) << text();
  EXPECT_NE(text().find("kernel 'push' runs on 'worker', which does not write to FIFO 'down', through which stream "
                        "'q' goes"),
            std::string::npos)
      << text();
  EXPECT_FALSE(verifies("through @down", pops));
  EXPECT_NE(text().find("does not read from FIFO 'down'"), std::string::npos) << text();
  // Control code, and what another function is given.
  EXPECT_TRUE(verifies("through @up", "%v, %more = svm.peek %q[%c0] : !svm.stream<f32> -> f32\n")) << text();
  EXPECT_FALSE(verifies("through @down", "%v, %more = svm.peek %q[%c0] : !svm.stream<f32> -> f32\n"));
  EXPECT_NE(text().find("control code runs on 'boss'"), std::string::npos) << text();
  EXPECT_FALSE(verifies("through @up", "svm.end %q : !svm.stream<f32>\n"));
  // The memory of one is not the other's.
  EXPECT_TRUE(verifies("in @main", pops)) << text();
  EXPECT_FALSE(verifies("in @main", pushes));
  EXPECT_NE(text().find("which does not reach 'main', in which stream 'q' lies"), std::string::npos) << text();
  EXPECT_TRUE(verifies("in @store", pushes)) << text();
}

TEST_F(StreamsTest, AKernelThatIsNotAtHandIsAtSomeEnd) {
  const std::string run = "svm.run @other(%q) on @boss : (!svm.stream<f32>) -> ()\n";
  EXPECT_TRUE(verifies("through @up", run)) << text();
  machine.fifos[0].readers = machine.fifos[0].writers;
  EXPECT_FALSE(verifies("through @up", run));
  EXPECT_NE(text().find("neither writes to FIFO 'up' nor reads from it"), std::string::npos) << text();
}

TEST_F(StreamsTest, FitIntoTheirFifo) {
  EXPECT_TRUE(verifies("through @up", "", "64")) << text();
  EXPECT_FALSE(verifies("through @up", "", "65"));
  EXPECT_TRUE(reported("placed-fifo-capacity")) << text();
  EXPECT_NE(text().find("FIFO 'up' holds 256 bytes, and stream 'q' wants 260 for its 65 elements"), std::string::npos)
      << text();
  EXPECT_TRUE(verifies("through @up", "", "32", "f64")) << text();
  EXPECT_FALSE(verifies("through @up", "", "33", "f64"));
  EXPECT_FALSE(verifies("through @up", "", "9223372036854775807", "f64"));
  // An element takes whole pushes: one of six bytes for an f32, two for an f64.
  EXPECT_TRUE(verifies("through @down", "", "4")) << text();
  EXPECT_FALSE(verifies("through @down", "", "5"));
  EXPECT_NE(text().find("an element of 4 bytes takes 6: one push moves 6"), std::string::npos) << text();
  EXPECT_TRUE(verifies("through @down", "", "2", "f64")) << text();
  EXPECT_FALSE(verifies("through @down", "", "3", "f64"));
}

TEST_F(StreamsTest, GoThroughAnInstanceEach) {
  const std::string another = "%r = svm.stream \"r\"(%c1) through @up : !svm.stream<f32>\n",
                    third = "%s = svm.stream \"s\"(%c1) through @up : !svm.stream<f32>\n";
  EXPECT_TRUE(verifies("through @up", another)) << text();
  EXPECT_FALSE(verifies("through @up", another + third));
  EXPECT_TRUE(reported("placed-fifo-instances")) << text();
  EXPECT_NE(text().find("FIFO 'up' has 2 instances, and 3 streams go through it at once"), std::string::npos) << text();
  // One after the other.
  EXPECT_TRUE(verifies("through @up", "svm.scope {\n" + another + "}\nsvm.scope {\n" + third + "}\n")) << text();
  // In parts that run at once.
  const std::string loop = "svm.instances (%j) = (%c0) to (%n) on @worker ";
  EXPECT_TRUE(verifies("through @up", loop + "parts 1 {\n" + another + "}\n")) << text();
  EXPECT_FALSE(verifies("through @up", loop + "parts 2 {\n" + another + "}\n"));
  EXPECT_FALSE(verifies("in @main", loop + "parts 9223372036854775807 {\n" + another + "}\n"));
}

TEST_F(StreamsTest, InstancesAreCountedThroughCalls) {
  const std::string callee = "func.func private @inner(%c: index) attributes {svm.control = @boss} {\n"
                             "%r = svm.stream \"r\"(%c) through @up : !svm.stream<f32>\n"
                             "%s = svm.stream \"s\"(%c) through @up : !svm.stream<f32>\nreturn\n}\n";
  for (const auto& [where, fits] : {std::pair("in @main", true), std::pair("through @up", false)}) {
    diagnostics.clear();
    auto program = MappingTest::parse(
        callee + "func.func @main(%c: index) attributes {svm.control = @boss} {\n%q = svm.stream \"q\"(%c) " + where +
            " : !svm.stream<f32>\nfunc.call @inner(%c) : (index) -> ()\nreturn\n}\n",
        "placed");
    EXPECT_EQ(mapping::verifyPlaced(*program, machine, diagnostics), fits) << text();
  }
}

TEST_F(StreamsTest, ThroughAFifoHaveAConstantCapacityAndNoAddress) {
  auto program = parse("placed", "through @up", "");
  ASSERT_TRUE(mapping::schedule(*program, machine, diagnostics)) << text();
  program->walk([](svm::StreamOp stream) { EXPECT_FALSE(stream.getAddress()); });
  EXPECT_TRUE(mapping::verifyScheduled(*program, machine, diagnostics)) << text();
  auto other = parse("placed", "through @up", "");
  other->walk([](svm::StreamOp stream) {
    stream.getCapacityMutable().assign(stream->getParentOfType<mlir::func::FuncOp>().getArgument(0));
  });
  EXPECT_FALSE(mapping::schedule(*other, machine, diagnostics));
  EXPECT_TRUE(reported("schedule-unbounded-stream")) << text();
}

TEST_F(StreamsTest, AddressesAreChecked) {
  auto scheduled = [&](const std::string& where) {
    diagnostics.clear();
    auto program = parse("scheduled", where, "%r = svm.stream \"r\"(%c) in @store at 64 : !svm.stream<f32>\n");
    return mapping::verifyScheduled(*program, machine, diagnostics);
  };
  EXPECT_TRUE(scheduled("in @store at 32")) << text();
  EXPECT_FALSE(scheduled("in @store at 48"));
  EXPECT_TRUE(reported("scheduled-overlap")) << text();
  EXPECT_FALSE(scheduled("in @store at 24"));
  EXPECT_TRUE(reported("scheduled-bad-address")) << text();
  EXPECT_FALSE(scheduled("in @store at 4080"));
  EXPECT_TRUE(reported("scheduled-bad-address")) << text();
  EXPECT_FALSE(scheduled("in @store"));
  EXPECT_TRUE(reported("scheduled-without-address")) << text();
}

TEST_F(StreamsTest, GathersAreRoutedAsMovesAre) {
  auto verifies = [&](const char* on, const char* from, const char* indices, const char* to) {
    diagnostics.clear();
    auto block = [](const char* memory, const char* element) {
      return "memref<?x" + std::string(element) + ", #v, #svm.mem<@" + memory + ">>";
    };
    const std::string a = block(from, "f32"), i = block(indices, "i32"), b = block(to, "f32");
    auto program =
        MappingTest::parse("func.func @main(%a: " + a + ", %i: " + i + ", %b: " + b + ") attributes {svm.control = @" +
                               on + "} {\nsvm.gather %a[%i] to %b : " + a + "[" + i + "] to " + b +
                               "\nsvm.scatter %b to %a[%i] : " + b + " to " + a + "[" + i + "]\nreturn\n}\n",
                           "placed");
    return mapping::verifyPlaced(*program, machine, diagnostics);
  };
  EXPECT_TRUE(verifies("boss", "main", "main", "main")) << text();
  EXPECT_TRUE(verifies("worker", "store", "store", "store")) << text();
  EXPECT_FALSE(verifies("boss", "main", "main", "store"));
  EXPECT_TRUE(reported("placed-no-route")) << text();
  EXPECT_FALSE(verifies("boss", "main", "store", "main"));
  EXPECT_TRUE(reported("placed-no-route")) << text();
}

} // namespace
