// Implements it: every execution of a user's kernel becomes a work function, control's actions become main.
#include "tests/svm/write_program.h"

#include <fstream>
#include <set>

#include "include/svm.h"

namespace strata::graphs {

namespace {

std::string text(uint64_t number) {
  return std::to_string(number);
}
std::string large(uint64_t number) {
  return std::to_string(number) + "ull";
}

/// What all programs share: the numbers of tests/svm/graph.h, in C.
const char* const support = R"(#ifndef ENTITIES_H
#define ENTITIES_H
#include "machine.h"
#include <stdint.h>
#include <stdio.h>
#include <string.h>
#include <svm_kernels.h>

typedef struct {
  Kernel kernel;
  uint64_t number;
} Work;
typedef struct {
  Kernel kernel;
  IStream* in;
  OStream* out;
  int from, to;
  uint64_t bound;
} Scramble;

/* Addresses of a machine whose memories count words, on one that counts what it likes. */
#define AT(words) ((int)((words) * 4L / LOCAL_UNIT))
#define SMALL_FLOATS (~0ull)

static inline uint64_t mix(uint64_t x) {
  x += 0x9e3779b97f4a7c15u;
  x = (x ^ (x >> 30)) * 0xbf58476d1ce4e5b9u;
  x = (x ^ (x >> 27)) * 0x94d049bb133111ebu;
  return x ^ (x >> 31);
}
static inline uint64_t see(uint64_t number, uint64_t seen) { return mix(number ^ seen); }
static inline void fill(uint64_t number, uint64_t bound, void* element, uint32_t bytes) {
  unsigned char* to = (unsigned char*)element;
  if (bound == SMALL_FLOATS) {
    memcpy(to, &(float){(float)(mix(number) % 16)}, 4);
    return;
  }
  if (bound)
    number %= bound;
  for (uint32_t i = 0; i < bytes; ++i)
    to[i] = (unsigned char)(bound ? (i < 8 ? number >> (8 * i) : 0) : mix(number + i / 8) >> (8 * (i % 8)));
}
static inline uint64_t digest(const void* element, uint32_t bytes) {
  uint64_t sum = bytes;
  for (uint32_t i = 0; i < bytes; ++i)
    sum = (sum ^ ((const unsigned char*)element)[i]) * 0x100000001b3u;
  return sum;
}
)";

class Writer {
public:
  explicit Writer(const Graph& graph) : graph_(graph) {
    for (const StreamPlan& stream : graph.streams)
      sizes_.insert(stream.elementBytes);
    for (const BlockPlan& block : graph.blocks)
      sizes_.insert(block.elementBytes);
  }

  std::string header() const {
    std::string out = support;
    for (const int bytes : sizes_) {
      const std::string size = text(static_cast<uint64_t>(bytes)), type = typeOf(bytes);
      out += bytes == 4 || bytes == 8 ? "typedef uint" + text(static_cast<uint64_t>(bytes) * 8) + "_t " + type + ";\n"
                                      : "typedef struct { unsigned char bytes[" + size + "]; } " + type + ";\n";
      out += "static inline " + type + " make" + size + "(uint64_t number, uint64_t bound) {\n  " + type +
             " element;\n  fill(number, bound, &element, " + size + ");\n  return element;\n}\n";
    }
    forEntities([&](const std::string& type, const std::string& name, size_t count) {
      out += "extern " + type + " " + name + "[" + text(count) + "];\n";
    });
    for (size_t i = 0; i < graph_.executions.size(); ++i)
      if (sortOf(i) == Sort::User)
        out += "void work" + text(i) + "(Work* work);\n";
    return out + "void scramble(void* data);\n#endif\n";
  }

  std::string entities() const {
    std::string out = "#include \"entities.h\"\n\n";
    forEntities([&](const std::string& type, const std::string& name, size_t count) {
      out += type + " " + name + "[" + text(count) + "];\n";
    });
    return out;
  }

  std::string kernels() const {
    std::string out = R"(#include "entities.h"

void scramble(void* data) {
  Scramble* box = (Scramble*)data;
  unsigned char element[1000];
  for (boolean last = FALSE; !last;) {
    last = streamPeekEOS(box->in, 0);
    streamPop(box->in, element);
    fill(mix(digest(element, (uint32_t)box->from)), box->bound, element, (uint32_t)box->to);
    if (last)
      streamPushWithEOS(box->out, element);
    else
      streamPush(box->out, element);
  }
}
)";
    for (size_t i = 0; i < graph_.executions.size(); ++i) {
      if (sortOf(i) != Sort::User)
        continue;
      out += "\nvoid work" + text(i) + "(Work* work) {\n  uint64_t number = work->number;\n";
      // What is done several times in a row is a loop.
      const std::vector<Op>& ops = graph_.executions[i].ops;
      for (size_t k = 0; k < ops.size();) {
        const std::string line = operation(ops[k]);
        size_t times = 1;
        while (k + times < ops.size() && operation(ops[k + times]) == line)
          ++times;
        out += times > 1 ? "  for (int i = 0; i < " + text(times) + "; ++i) {\n    " + line + "\n  }\n"
                         : "  { " + line + " }\n";
        k += times;
      }
      out += "  work->number = number;\n}\n";
    }
    return out;
  }

  std::string control() {
    std::string out = "#include \"entities.h\"\n\nint main(void) {\n  uint64_t number = mix(0);\n  static uint64_t "
                      "results[" +
                      text(graph_.executions.size() + 1) +
                      "];\n  svmRegisterKernel(\"scramble\", scramble);\n  for (int i = 0; i < " +
                      text(graph_.streams.size()) + "; ++i)\n    svmName(&streams[i], \"stream %d\", i);\n";
    for (size_t i = 0; i < graph_.blocks.size(); ++i) {
      const BlockPlan& plan = graph_.blocks[i];
      const std::string bytes = text(static_cast<uint64_t>(plan.elementBytes));
      out += "  for (int i = 0; i < " + text(static_cast<uint64_t>(plan.capacity)) + "; ++i)\n    fill(" +
             large(plan.seed) + " + (uint64_t)i, " + boundOf(plan.bound) + ", (char*)svmAddress(" + place(plan) +
             ") + i * " + bytes + ", " + bytes + ");\n  blockInit(&blocks[" + text(i) + "], " + place(plan) + ", " +
             text(static_cast<uint64_t>(plan.capacity)) + ", sizeof(" + typeOf(plan.elementBytes) + "));\n";
    }
    initialised_.assign(graph_.streams.size(), 0);
    for (const Action& action : graph_.actions)
      out += act(action);
    out += "  printf(\"control %llu\\n\", (unsigned long long)number);\n  for (int i = 0; i < " +
           text(graph_.executions.size()) +
           "; ++i)\n    printf(\"execution %d: %llu\\n\", i, (unsigned long long)results[i]);\n";
    for (size_t i = 0; i < graph_.blocks.size(); ++i)
      out += "  printf(\"block " + text(i) + ": %llu\\n\", (unsigned long long)digest(svmAddress(" +
             place(graph_.blocks[i]) + "), " + text(graph_.blocks[i].memory.size()) + "));\n";
    return out + "  return 0;\n}\n";
  }

  std::string expected() const {
    std::string out = "control " + text(graph_.result) + "\n";
    for (size_t i = 0; i < graph_.executions.size(); ++i)
      out += "execution " + text(i) + ": " + text(sortOf(i) == Sort::User ? graph_.executions[i].result : 0) + "\n";
    for (size_t i = 0; i < graph_.blocks.size(); ++i)
      out += "block " + text(i) + ": " +
             text(digest(graph_.blocks[i].memory.data(), static_cast<uint32_t>(graph_.blocks[i].memory.size()))) + "\n";
    return out;
  }

private:
  template <typename Function>
  void forEntities(const Function& function) const {
    const size_t objects = graph_.objects.size() + 1;
    function("Stream", "streams", graph_.streams.size());
    function("Block", "blocks", graph_.blocks.size());
    for (const Sort sort : {Sort::User, Sort::Move, Sort::StridedScatter, Sort::StridedGather, Sort::IndexedScatter,
                            Sort::IndexedGather, Sort::Scramble, Sort::InOrder, Sort::Filter})
      function(kernelType(sort), kernelArray(sort), objects);
  }
  static std::string kernelType(Sort sort) {
    static const char* const types[] = {"Work",          "Move",           "StridedScatter",
                                        "StridedGather", "IndexedScatter", "IndexedGather",
                                        "Scramble",      "Sort",           "Fir"};
    return types[static_cast<size_t>(sort)];
  }
  static std::string kernelArray(Sort sort) {
    static const char* const names[] = {"workers", "moves",      "scatters", "gathers", "indexedScatters",
                                        "indexed", "scramblers", "sorters",  "filters"};
    return names[static_cast<size_t>(sort)];
  }
  static std::string typeOf(int bytes) { return "E" + text(static_cast<uint64_t>(bytes)); }
  static std::string boundOf(uint64_t bound) { return bound == smallFloats ? "SMALL_FLOATS" : large(bound); }
  static std::string place(uint32_t memory, int address) {
    return "LOCAL(" + text(memory + 1) + "), AT(" + text(static_cast<uint64_t>(address)) + ")";
  }
  static std::string place(const BlockPlan& plan) { return place(plan.place, plan.address); }
  static std::string stream(int64_t index) { return "&streams[" + text(static_cast<uint64_t>(index)) + "]"; }
  Sort sortOf(size_t execution) const { return graph_.objects[graph_.executions[execution].object].sort; }
  std::string kernel(size_t execution) const {
    const uint32_t object = graph_.executions[execution].object;
    return "&" + kernelArray(graph_.objects[object].sort) + "[" + text(object) + "]";
  }

  /// An element that is pushed or written: a compound literal, where it is a number.
  static std::string element(int bytes, uint64_t bound, std::string& before) {
    const std::string made = "make" + text(static_cast<uint64_t>(bytes)) + "(number, " + boundOf(bound) + ")";
    if (bytes == 4 || bytes == 8)
      return "&(" + typeOf(bytes) + "){" + made + "}";
    before += typeOf(bytes) + " e = " + made + "; ";
    return "&e";
  }

  std::string operation(const Op& op) const {
    const uint32_t what = op.whats.empty() ? 0 : op.whats[0];
    const bool usesBlock = op.kind == Op::Kind::Read || op.kind == Op::Kind::Write;
    const int bytes = op.whats.empty() ? 4
                      : usesBlock      ? graph_.blocks[what].elementBytes
                                       : graph_.streams[what].elementBytes;
    const std::string n = text(static_cast<uint64_t>(op.n)), block = "&blocks[" + text(what) + "]";
    const std::string variable = typeOf(bytes) + " e; ", sees = " number = see(number, digest(&e, sizeof e));";
    std::string before = "number = mix(number); ";
    switch (op.kind) {
    case Op::Kind::Pop:
      return variable + "streamPop(" + stream(what) + ", &e);" + sees;
    case Op::Kind::PopToTag:
      return "for (boolean last = FALSE; !last;) { " + variable + "last = streamPeekEOS(" + stream(what) +
             ", 0); streamPop(" + stream(what) + ", &e);" + sees + " }";
    case Op::Kind::Peek:
      return variable + "streamPeek(" + stream(what) + ", " + n + ", &e);" + sees;
    case Op::Kind::PeekTag:
      return "number = see(number, streamPeekEOS(" + stream(what) + ", " + n + ") != FALSE);";
    case Op::Kind::Push: {
      const std::string e = element(bytes, graph_.streams[what].bound, before);
      return before + (op.tag ? "streamPushWithEOS(" : "streamPush(") + stream(what) + ", " + e + ");";
    }
    case Op::Kind::Multicast: {
      const std::string e = element(bytes, graph_.streams[what].bound, before);
      std::string all = before + (op.tag ? "streamPushMulticastWithEOS(" : "streamPushMulticast(") + e;
      for (const uint32_t each : op.whats)
        all += ", " + stream(each);
      return all + ");";
    }
    case Op::Kind::Read:
      return variable + "blockRead(" + block + ", " + n + ", &e);" + sees;
    case Op::Kind::Write: {
      const std::string e = element(bytes, 0, before);
      return before + "blockWrite(" + block + ", " + n + ", " + e + ");";
    }
    case Op::Kind::Pause:
      return "kernelPause(&work->kernel);";
    case Op::Kind::End:
      return "work->number = number; kernelEnd(&work->kernel);";
    }
    return "";
  }

  std::string start(uint32_t index) const {
    const Execution& execution = graph_.executions[index];
    const Object& object = graph_.objects[execution.object];
    const std::string self = kernel(index), on = (object.dma ? "DMA(" : "PROC(") + text(object.processor + 1) + ")";
    const std::string source = stream(object.source), target = stream(object.target), indices = stream(object.indices),
                      block = "&blocks[" + text(static_cast<uint64_t>(object.block)) + "]";
    const auto number = [](int value) { return std::to_string(value); };
    const std::string tag = execution.setEOS ? "TRUE" : "FALSE", length = number(execution.length);
    const std::string elements = number(execution.elements), stride = number(execution.stride);
    const auto call = [&](const std::string& name, std::initializer_list<std::string> arguments) {
      std::string out = "  " + name + "(" + self + ", " + on;
      for (const std::string& argument : arguments)
        out += ", " + argument;
      return out + ");\n";
    };
    std::string out;
    switch (object.sort) {
    case Sort::User:
      out = call("kernelInit", {"NULL", self, "sizeof(Work)", "(ExtKernelWork)work" + text(index)}) + "  (" + self +
            ")->number = " + large(firstNumber(index)) + ";\n";
      break;
    case Sort::Move:
      out = call("moveInit", {source, target, length, tag});
      break;
    case Sort::StridedScatter:
      out = call("stridedScatterInit", {source, block, length, stride, elements, tag});
      break;
    case Sort::StridedGather:
      out = call("stridedGatherInit", {block, target, length, stride, elements, tag});
      break;
    case Sort::IndexedScatter:
      out = call("indexedScatterInit", {source, indices, block, length, elements, tag});
      break;
    case Sort::IndexedGather:
      out = call("indexedGatherInit", {block, indices, target, length, elements, tag});
      break;
    case Sort::Scramble: {
      const StreamPlan& from = graph_.streams[static_cast<size_t>(object.source)];
      const StreamPlan& to = graph_.streams[static_cast<size_t>(object.target)];
      out = call("blackBoxInit", {"\"scramble\"", self, "sizeof(Scramble)"}) + "  (" + self + ")->in = " + source +
            "; (" + self + ")->out = " + target + "; (" + self + ")->from = " + number(from.elementBytes) + "; (" +
            self + ")->to = " + number(to.elementBytes) + "; (" + self + ")->bound = " + boundOf(to.bound) + ";\n";
      break;
    }
    case Sort::InOrder: {
      const int bytes = graph_.streams[static_cast<size_t>(object.source)].elementBytes;
      out = call("sortInit", {source, target, bytes == 1 ? "SVM_BYTE" : bytes == 4 ? "SVM_INT" : "SVM_LONG"});
      break;
    }
    case Sort::Filter:
      out = call("firInit", {source, target, block, elements});
    }
    for (const uint32_t before : execution.dependsOn)
      out += "  kernelAddDependence(" + self + ", " + kernel(before) + ");\n";
    return out + "  kernelRun(" + self + ");\n";
  }

  std::string initStream(const Action& action) {
    const uint32_t index = action.whats[0];
    const StreamPlan& plan = graph_.streams[index];
    const std::string size = "sizeof(" + typeOf(plan.elementBytes) + ")", flags = std::to_string(plan.flags);
    if (plan.fifo)
      return "  streamInitFIFO(" + stream(index) + ", FIFO(" + text(plan.place + 1) + "), " + size + ", " + flags +
             ");\n";
    const std::string where = place(plan.place, plan.address), capacity = std::to_string(plan.capacity);
    if (action.n == none)
      return "  streamInitRAM(" + stream(index) + ", " + where + ", " + capacity + ", " + size + ", " + flags + ");\n";
    const std::string bytes = std::to_string(plan.elementBytes), count = std::to_string(action.n);
    return "  for (int i = 0; i < " + count + "; ++i)\n    fill(" + large(mix(index)) + " + (uint64_t)i, " +
           boundOf(plan.bound) + ", (char*)svmAddress(" + where + ") + i * " + bytes + ", " + bytes +
           ");\n  streamInitWithDataRAM(" + stream(index) + ", " + where + ", " + capacity + ", " + size + ", " +
           count + ", " + (action.tag ? "TRUE" : "FALSE") + ", " + flags + ");\n";
  }

  std::string act(const Action& action) {
    const uint32_t what = action.whats[0];
    switch (action.kind) {
    case Action::Kind::InitStream:
      return initStream(action);
    case Action::Kind::Start:
      return start(what);
    case Action::Kind::Wait: {
      std::string out = action.whats.size() > 1 ? "  kernelWaitMultiple(" : "  kernelWait(";
      for (size_t i = 0; i < action.whats.size(); ++i)
        out += (i ? ", " : "") + kernel(action.whats[i]);
      out += ");\n";
      for (const uint32_t each : action.whats)
        if (sortOf(each) == Sort::User)
          out += "  results[" + text(each) + "] = (" + kernel(each) + ")->number;\n";
      return out;
    }
    case Action::Kind::Resume:
      return "  kernelWait(" + kernel(what) + ");\n  kernelRun(" + kernel(what) + ");\n";
    case Action::Kind::Push: {
      std::string before = "number = mix(number); ";
      const std::string e = element(graph_.streams[what].elementBytes, graph_.streams[what].bound, before);
      return "  { " + before + (action.tag ? "streamPushWithEOS(" : "streamPush(") + stream(what) + ", " + e + "); }\n";
    }
    case Action::Kind::Pop:
      return "  { " + typeOf(graph_.streams[what].elementBytes) + " e; const boolean tag = streamPeekEOS(" +
             stream(what) + ", 0); streamPop(" + stream(what) +
             ", &e); number = see(number, digest(&e, sizeof e) + (tag != FALSE)); }\n";
    }
    return "";
  }

  const Graph& graph_;
  std::set<int> sizes_;
  std::vector<uint32_t> initialised_;
};

} // namespace

bool shareByAccident(Graph& graph) {
  const auto fits = [&](const StreamPlan& plan) {
    return !plan.fifo && plan.block == none && plan.history.size() == 1 && !plan.history[0].empty();
  };
  const auto hasData = [&](size_t stream) {
    for (const Action& action : graph.actions)
      if (action.kind == Action::Kind::InitStream && action.whats[0] == stream)
        return action.n != none;
    return true;
  };
  for (size_t i = 0; i < graph.streams.size(); ++i)
    for (size_t k = i + 1; k < graph.streams.size(); ++k) {
      StreamPlan &one = graph.streams[i], &other = graph.streams[k];
      if (!fits(one) || !fits(other) || hasData(i) || hasData(k))
        continue;
      other.place = one.place;
      other.address = one.address;
      other.flags |= STREAM_UNALIASED_RAM;
      return true;
    }
  return false;
}

bool writeProgram(const Graph& graph, const std::string& folder) {
  Writer writer(graph);
  const auto write = [&](const char* name, const std::string& content) {
    std::ofstream file(folder + "/" + name);
    file << content;
    return static_cast<bool>(file.flush());
  };
  return write("entities.h", writer.header()) && write("entities.c", writer.entities()) &&
         write("kernels.c", writer.kernels()) && write("main.c", writer.control()) &&
         write("expected", writer.expected());
}

} // namespace strata::graphs
