// An entry point for each graph and each way in which it is launched: one that executes it once, and one that executes
// it for every item of a streaming launch. The latter is a pipeline: its stages (stages.h) are instances that run at
// once, joined by streams, each of which carries one element an item; the first takes what the host pushes, the last
// gives it what it pops.
#include "compiler/hpvm/lower/lower.h"

#include "compiler/hpvm/lower/check_attributes.h"
#include "compiler/hpvm/lower/item_code.h"
#include "compiler/hpvm/lower/leaf_code.h"
#include "compiler/hpvm/lower/lower_nodes.h"
#include "compiler/hpvm/lower/stages.h"
#include "compiler/mapping/offload.h"

#include "mlir/Dialect/Arith/IR/Arith.h"
#include "mlir/Dialect/Func/IR/FuncOps.h"
#include "mlir/Dialect/MemRef/IR/MemRef.h"
#include "mlir/Dialect/SCF/IR/SCF.h"

#include <set>

namespace arith = mlir::arith;
namespace func = mlir::func;
namespace memref = mlir::memref;
namespace scf = mlir::scf;

using mlir::Value;

namespace strata::hpvm {

namespace {

STRATA_DIAGNOSTIC(
    noStreaming, Error, "hpvm-machine-streaming",
    "this launch is streaming, and machine '{0}' runs graphs in memory '{1}', which is managed explicitly");
STRATA_DIAGNOSTIC(childWrites, Error, "hpvm-attributes-child",
                  "node '{0}' lists '{1}' as read only, and '{2}' in it writes that");
STRATA_DIAGNOSTIC(unknownNode, Error, "hpvm-map-node", "the mapping names node '{0}', which no graph has");

/// Elements that a stream between two stages holds.
constexpr int64_t streamCapacity = 8;

class GraphLowering : NodeLowering {
public:
  using NodeLowering::NodeLowering;

  std::optional<LoweredGraphs> run() {
    const unsigned before = diagnostics_.errorCount();
    checkAttributes();
    if (diagnostics_.errorCount() != before)
      return std::nullopt;
    LoweredGraphs lowered;
    for (const Root& root : graphs_.roots) {
      const std::string name = "graph_" + std::to_string(lowered.entries.size());
      GraphEntry& entry = lowered.entries.emplace_back();
      entry.name = name;
      entry.root = root.node;
      at(*root.call);
      for (const llvm::Argument& argument : root.node->function->args())
        entry.isWritten.push_back(argument.getType()->isPointerTy() && writes(*root.node, argument.getArgNo()));
      if (root.isLaunched)
        lowerOnce(entry);
      entry.isLaunched = root.isLaunched;
      if (root.isStreamed && arrays_.valid() && machine_.isStore(arrays_))
        diagnostics_
            .report(noStreaming, placeOf(*root.call, diagnostics_.sources()), machine_.name, machine_[arrays_].name)
            .note("the stages of a streaming launch run at the same time there, and each would need a part of it")
            .help("place the program's graphs on a machine whose control has memory of any size");
      else if (root.isStreamed)
        entry.stream = lowerStream(*root.node, name, entry.stages);
    }
    if (diagnostics_.errorCount() != before)
      return std::nullopt;
    builder_.setInsertionPointToStart(frame_.module().getBody());
    make<svm::LLVMSourceOp>(llvm::StringRef(leafSource), llvm::StringRef(leafModule(code_, codes_)));
    for (const notation::MappedNode& node : nodes_.nodes)
      if (!mapped_.contains(node.node))
        diagnostics_.report(unknownNode, node.place, node.node).help("a node is named as the function of a leaf is");
    if (diagnostics_.errorCount() != before)
      return std::nullopt;
    lowered.record = record_;
    lowered.module = frame_.finish("hpvm", nullptr, nullptr, diagnostics_);
    return lowered.module ? std::optional(std::move(lowered)) : std::nullopt;
  }

private:
  /// Attributes say all that is written, by leaves themselves and by nodes within others.
  void checkAttributes() {
    for (const llvm::Function& function : code_) { // in the order of the program
      if (const auto leaf = graphs_.leaves.find(&function); leaf != graphs_.leaves.end())
        keepsToAttributes(leaf->second, diagnostics_);
      if (const auto node = graphs_.internal.find(&function); node != graphs_.internal.end())
        checkChildren(node->second);
    }
  }

  void checkChildren(const InternalNode& node) {
    std::vector<bool> isReported(node.isWritten.size());
    for (const Child& child : node.children)
      for (auto [input, source] : llvm::enumerate(child.inputs)) {
        const auto own = graphs_.node(child.function).isWritten[input] ? rootInputOf(node, source) : std::nullopt;
        if (!own || node.isWritten[*own] || isReported[*own])
          continue;
        isReported[*own] = true;
        const std::string name = argumentName(*node.function, *own);
        diagnostics_
            .report(childWrites, placeOf(*source.call, diagnostics_.sources()), nodeName(*node.function), name,
                    nodeName(*child.function))
            .label(placeOf(*node.function, diagnostics_.sources()), "the node")
            .help("list '" + name + "' among those that '" + nodeName(*node.function) + "' writes, too");
      }
  }

  // ---- once ----

  void lowerOnce(GraphEntry& entry) {
    raises_ = true;
    raised_ = 0;
    const InternalNode& node = *entry.root;
    for (unsigned output = 0; output < node.outputs.size(); ++output)
      entry.passedOn.push_back(passedOn(*node.function, output));
    std::vector<mlir::Type> types;
    for (const llvm::Argument& argument : node.function->args()) {
      llvm::Type* element = argument.getType()->isPointerTy() ? elementOf(node, argument.getArgNo()) : nullptr;
      types.push_back(element ? svm::viewType(1, typeOf(element)) : typeOf(argument.getType()));
      const auto block = llvm::dyn_cast<mlir::MemRefType>(types.back());
      entry.elementBytes.push_back(block ? block.getElementTypeBitWidth() / 8 : 0);
    }
    lowerBody(entry, entry.name, types);
    raises_ = false;
    if (!raised_ || !mayOverlap(entry))
      return;
    entry.overlapping = entry.name + "_overlapping";
    lowerBody(entry, entry.overlapping, types);
  }

  /// Whether two arrays that the graph is given might overlap, of which it writes one.
  static bool mayOverlap(const GraphEntry& entry) {
    const auto pointers = llvm::count_if(entry.root->function->args(),
                                         [](const llvm::Argument& each) { return each.getType()->isPointerTy(); });
    return pointers > 1 && llvm::is_contained(entry.isWritten, true);
  }

  void lowerBody(const GraphEntry& entry, const std::string& name, const std::vector<mlir::Type>& types) {
    const InternalNode& node = *entry.root;
    std::vector<mapping::LogicalModule::Argument> arguments;
    const auto add = [&](mlir::Type type, const std::string& called, svm::Access access) {
      auto block = llvm::dyn_cast<mlir::MemRefType>(type);
      arguments.push_back(block ? mapping::LogicalModule::block(block, called, access)
                                : mapping::LogicalModule::scalar(type, called));
    };
    for (const llvm::Argument& argument : node.function->args())
      add(types[argument.getArgNo()], argumentName(*node.function, argument.getArgNo()),
          entry.isWritten[argument.getArgNo()] ? svm::Access::ReadWrite : svm::Access::Read);
    for (unsigned output = 0; output < node.outputs.size(); ++output)
      if (!entry.passedOn[output])
        add(svm::viewType(0, travelling(node.outputs[output])), "output " + std::to_string(output), svm::Access::Write);
    auto function = begin(name, arguments);
    if (name == entry.overlapping)
      svm::SvmDialect::rareAttr.set(function);
    mlir::Block* body = &function.getBody().front();
    Values all(body->args_begin(), body->args_end());
    const std::vector<std::pair<Value, Value>> back = fetch(arguments, all);
    Values inputs(all.begin(), all.begin() + static_cast<ptrdiff_t>(node.function->arg_size()));
    const Values outputs = lowerChildren(node, inputs);
    size_t next = node.function->arg_size();
    for (unsigned output = 0; output < node.outputs.size(); ++output)
      if (!entry.passedOn[output] && outputs[output])
        make<memref::StoreOp>(outputs[output], all[next++], mlir::ValueRange());
    for (const auto& [own, given] : back)
      make<svm::MoveOp>(mlir::Type(), own, given, mlir::ValueRange());
    make<func::ReturnOp>();
  }

  /// Where the caller's arrays lie in a memory that control does not address, whole copies of them take their place,
  /// in the outermost memory that it does. Gives those that are written, with where they go in the end.
  std::vector<std::pair<Value, Value>> fetch(const std::vector<mapping::LogicalModule::Argument>& arguments,
                                             Values& values) {
    std::vector<std::pair<Value, Value>> back;
    if (arguments_ == arrays_)
      return back;
    const auto blocks =
        static_cast<int64_t>(llvm::count_if(arguments, [](const mapping::LogicalModule::Argument& each) {
          return llvm::isa<mlir::MemRefType>(each.type);
        }));
    for (auto [number, argument] : llvm::enumerate(arguments)) {
      const auto type = llvm::dyn_cast<mlir::MemRefType>(argument.type);
      if (!type)
        continue;
      const auto attribute = [&](llvm::StringRef name) {
        return llvm::cast<mlir::StringAttr>(argument.attributes.get(name)).getValue().str();
      };
      const std::string called = attribute(svm::SvmDialect::nameAttr);
      const std::optional<svm::Access> access = svm::symbolizeAccess(attribute(svm::SvmDialect::accessAttr));
      Value given = values[number];
      mlir::SmallVector<Value> extents;
      mlir::SmallVector<int64_t> most;
      if (type.getRank()) {
        extents.push_back(make<memref::DimOp>(given, index(0)));
        most.push_back(boundOf(type.getElementType(), extents.back(), 2 * blocks, "'" + called + "'"));
      }
      const std::string label = called + "." + std::to_string(number);
      placement_->blocks[label] = machine_[arrays_].name;
      values[number] = make<svm::BlockOp>(type, extents, builder_.getDenseI64ArrayAttr(most),
                                          builder_.getStringAttr(label), mlir::IntegerAttr());
      if (access != svm::Access::Write)
        make<svm::MoveOp>(mlir::Type(), given, values[number], mlir::ValueRange());
      if (access != svm::Access::Read)
        back.emplace_back(values[number], given);
    }
    return back;
  }

  /// An entry point whose last argument is the launch. What is built next goes into it.
  func::FuncOp begin(const std::string& name, std::vector<mapping::LogicalModule::Argument> arguments) {
    arguments.push_back(mapping::LogicalModule::scalar(builder_.getI64Type(), ""));
    func::FuncOp function = frame_.entry(place_, name, arguments);
    placement_ = &record_.functions[name];
    if (control_.valid())
      placement_->control = machine_[control_].name;
    for (const mapping::LogicalModule::Argument& argument : arguments)
      placement_->arguments.push_back(
          arguments_.valid() && llvm::isa<mlir::MemRefType>(argument.type) ? machine_[arguments_].name : "");
    mlir::Block* body = &function.getBody().front();
    builder_.setInsertionPointToStart(body);
    launch_ = body->getArguments().back();
    levels_.assign(1, Level());
    return function;
  }

  // ---- for every item ----

  /// A stage with the streams that end there.
  struct Stage {
    std::string name; // "soften", "differ, largest", "the host"
    std::vector<unsigned> children;
    Value trigger;                                           // an element for each item
    std::map<unsigned, Value> own;                           // of the root's inputs
    std::map<std::pair<unsigned, unsigned>, Value> received; // of other stages: by child and output
    Value ended; // an element for each item that it has ended, where no output that the host pops tells that
  };

  /// `names`: what the iterations are called, in order.
  std::string lowerStream(const InternalNode& node, const std::string& graph, std::vector<std::string>& names) {
    const std::string name = graph + "_stream";
    begin(name, {});
    raises_ = isStream_ = true;
    std::vector<Stage> stages;
    for (const std::vector<unsigned>& children : stagesOf(node)) {
      Stage& stage = stages.emplace_back();
      stage.children = children;
      for (unsigned child : children)
        stage.name += (stage.name.empty() ? "" : ", ") + nameIn(node, child);
      for (unsigned input : ownInputsOf(node, children))
        stage.own[input] = stream(travelling(node.function->getArg(input)->getType()),
                                  "input '" + argumentName(*node.function, input) + "'", stage);
      for (unsigned child : children)
        for (const Source& source : node.children[child].inputs)
          if (source.kind == Source::Kind::Edge && !llvm::is_contained(children, source.child))
            receive(stage, source.child, source.index, node);
    }
    if (!node.outputs.empty()) { // the stage that gives them to the host
      Stage& last = stages.emplace_back();
      last.name = "the host";
      for (const BoundOutput& bound : node.bound)
        receive(last, bound.child, bound.output, node);
      tellOfOthers(stages);
    }
    for (Stage& stage : stages)
      stage.trigger = stream(builder_.getI1Type(), "the items", stage);
    names.emplace_back("pushed items");
    for (const Stage& stage : stages)
      names.push_back(stage.children.empty() ? "results" : "stage " + stage.name);
    auto loop = make<svm::ParallelOp>(mlir::ValueRange(index(0)),
                                      mlir::ValueRange(index(static_cast<int64_t>(stages.size()) + 1)),
                                      mlir::ValueRange(), mlir::ArrayAttr(), builder_.getStringAttr(name));
    loop.setConcurrent(true);
    builder_.setInsertionPointAfter(loop);
    make<func::ReturnOp>();
    builder_.setInsertionPointToStart(&loop.getBody().front());
    for (size_t number = 0; number <= stages.size(); ++number) {
      mlir::OpBuilder::InsertionGuard guard(builder_);
      Value isIt = make<arith::CmpIOp>(arith::CmpIPredicate::eq, loop.iteration(), index(static_cast<int64_t>(number)));
      auto choice = make<scf::IfOp>(isIt, false);
      builder_.setInsertionPointToStart(choice.thenBlock());
      if (number == 0)
        takeItems(node, stages, graph);
      else
        runStage(node, stages, stages[number - 1], graph);
    }
    raises_ = isStream_ = false;
    return name;
  }

  Value stream(mlir::Type element, const std::string& what, const Stage& to) {
    return make<svm::StreamOp>(svm::StreamType::get(&context_, element), index(streamCapacity),
                               builder_.getStringAttr(what + " for " + to.name), mlir::FlatSymbolRefAttr(),
                               mlir::FlatSymbolRefAttr(), mlir::IntegerAttr());
  }

  void receive(Stage& stage, unsigned child, unsigned output, const InternalNode& node) {
    Value& made = stage.received[{child, output}];
    if (!made)
      made = stream(travelling(graphs_.node(node.children[child].function).outputs[output]),
                    "output " + std::to_string(output) + " of " + nameIn(node, child), stage);
  }

  /// When a result is popped the host has the item's memory back: stages that the last one, which gives results,
  /// receives nothing of, be it through others, tell it that they have ended an item.
  void tellOfOthers(std::vector<Stage>& stages) {
    std::set<unsigned> reaching; // children in stages from which a way leads to the last one
    for (Stage& stage : llvm::reverse(stages)) {
      const bool isLast = &stage == &stages.back();
      if (!isLast && !llvm::any_of(stage.children, [&](unsigned child) { return reaching.contains(child); })) {
        stage.ended = stream(builder_.getI1Type(), "ended items of " + stage.name, stages.back());
        continue;
      }
      for (const auto& [which, from] : stage.received)
        reaching.insert(which.first);
    }
  }

  /// A loop as long as `more`, which is called where it is decided, gives true; `body` is called within it.
  void loop(llvm::function_ref<Value()> more, llvm::function_ref<void()> body) {
    auto made = make<scf::WhileOp>(mlir::TypeRange(), mlir::ValueRange());
    mlir::OpBuilder::InsertionGuard guard(builder_);
    builder_.createBlock(&made.getBefore());
    make<scf::ConditionOp>(more(), mlir::ValueRange());
    builder_.createBlock(&made.getAfter());
    body();
    make<scf::YieldOp>();
  }

  /// The first stage: takes what the host pushes apart.
  void takeItems(const InternalNode& node, const std::vector<Stage>& stages, const std::string& graph) {
    std::vector<llvm::Type*> types;
    Values arguments{launch_};
    for (const llvm::Argument& argument : node.function->args()) {
      types.push_back(argument.getType());
      arguments.push_back(block(travelling(types.back()), {}, graph + ".input." + std::to_string(types.size())));
    }
    arguments.push_back(block(builder_.getI8Type(), {}, graph + ".more"));
    llvm::Function* next = makeNext(code_, types, graph + ".next");
    loop(
        [&] {
          runCode(graph + ".next", next, arguments);
          Value more = make<memref::LoadOp>(arguments.back(), mlir::ValueRange());
          return make<arith::TruncIOp>(builder_.getI1Type(), more).getResult();
        },
        [&] {
          Value yes = make<arith::ConstantIntOp>(1, 1);
          for (const Stage& stage : stages) {
            make<svm::PushOp>(yes, stage.trigger);
            for (const auto& [input, to] : stage.own)
              make<svm::PushOp>(make<memref::LoadOp>(arguments[1 + input], mlir::ValueRange()).getResult(), to);
          }
        });
    for (const Stage& stage : stages)
      make<svm::EndOp>(stage.trigger);
  }

  Value pop(Value from) {
    mlir::Type element = llvm::cast<svm::StreamType>(from.getType()).getElementType();
    return make<svm::PopOp>(element, builder_.getI1Type(), from).getElement();
  }

  /// One stage: its children for every item, or, where it has none, what the host pops.
  void runStage(const InternalNode& node, const std::vector<Stage>& stages, const Stage& stage,
                const std::string& graph) {
    loop([&] { return make<svm::PopOp>(builder_.getI1Type(), builder_.getI1Type(), stage.trigger).getMore(); },
         [&] {
           Values inputs(node.function->arg_size());
           for (const auto& [input, from] : stage.own)
             inputs[input] = pop(from);
           Outputs outputs(node.children.size());
           for (const auto& [which, from] : stage.received) {
             outputs[which.first].resize(graphs_.node(node.children[which.first].function).outputs.size());
             outputs[which.first][which.second].given = pop(from);
             outputs[which.first][which.second].isUnsigned =
                 graphs_.node(node.children[which.first].function).isUnsigned[which.second];
           }
           if (stage.children.empty()) {
             for (const Stage& other : stages)
               if (other.ended)
                 pop(other.ended);
             deliver(node, outputs, graph);
             return;
           }
           for (unsigned child : stage.children)
             lowerChild(node, child, inputs, outputs);
           for (const Stage& other : stages)
             for (const auto& [which, to] : other.received)
               if (llvm::is_contained(stage.children, which.first) && !outputs[which.first].empty())
                 if (Value value = valueOf(outputs[which.first][which.second]))
                   make<svm::PushOp>(value, to);
           if (stage.ended)
             make<svm::PushOp>(make<arith::ConstantIntOp>(1, 1).getResult(), stage.ended);
         });
  }

  void deliver(const InternalNode& node, const Outputs& outputs, const std::string& graph) {
    Values arguments{launch_};
    for (const BoundOutput& bound : node.bound)
      arguments.push_back(outputs[bound.child][bound.output].given);
    runCode(graph + ".deliver", makeDeliver(code_, node.outputs, graph + ".deliver"), arguments);
  }
};

} // namespace

std::optional<LoweredGraphs> lower(const Graphs& graphs, llvm::Module& module, mlir::MLIRContext& context,
                                   const Machine& machine, const notation::NodeMapping& nodes, bool records,
                                   DiagnosticEngine& diagnostics) {
  return GraphLowering(graphs, module, context, machine, nodes, records, diagnostics).run();
}

} // namespace strata::hpvm
