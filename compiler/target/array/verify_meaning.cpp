// See verify_meaning.h. Copies are on either side alone: which one a step is taken on is chosen by names and decides
// only whether a proof is found, not whether it is one.
#include "compiler/target/array/verify_meaning.h"
#include "compiler/target/array/symbolic_values.h"

#include <algorithm>
#include <bit>
#include <cstdlib>
#include <memory>
#include <set>
#include <tuple>

namespace strata::array {

using equations::Affine;
using equations::Constant;
using equations::Constraint;
using equations::InputUse;
using equations::Node;
using equations::Operation;
using equations::Use;

namespace {

using Offsets = SymbolicSets::Vector;

struct BrokenMeaning {
  std::string message;
};
struct UndecidedMeaning {};

struct Expression;

/// What is to be computed: what an operand of an equation is so many iterations ago, or an operation of such.
struct Meant {
  equations::Operand operand;
  Offsets back;
  std::shared_ptr<const Expression> expression; // in place of the operand
};

struct Expression {
  Opcode opcode = Opcode::Nop;
  std::string type, operandType; // the second of comparisons and conversions
  std::vector<Meant> operands;
};

Offsets sum(const Offsets& a, const Offsets& b, int64_t factor = 1) {
  Offsets made = a;
  for (size_t i = 0; i < made.size(); ++i)
    made[i] += factor * b[i];
  return made;
}

Offsets negated(Offsets values) {
  for (int64_t& value : values)
    value = -value;
  return values;
}

Meant moved(Meant value, const Offsets& by) {
  value.back = sum(value.back, by);
  if (value.expression) {
    Expression made = *value.expression;
    for (Meant& each : made.operands)
      each = moved(each, by);
    value.expression = std::make_shared<const Expression>(std::move(made));
  }
  return value;
}

/// Operations and opcodes are in one order, but for the first of each.
Opcode directOpcode(Operation operation) {
  static_assert(static_cast<unsigned>(Operation::Copy) + 1 == static_cast<unsigned>(Opcode::Move));
  static_assert(static_cast<unsigned>(Operation::Absolute) + 1 == static_cast<unsigned>(Opcode::Absolute));
  static_assert(static_cast<unsigned>(Operation::Convert) + 1 == static_cast<unsigned>(Opcode::Convert));
  return static_cast<Opcode>(static_cast<unsigned>(operation) + 1);
}

bool hasOperandType(Opcode opcode) {
  return (opcode >= Opcode::Less && opcode <= Opcode::NotEqual) || opcode == Opcode::Convert;
}

std::optional<Type> typeNamed(const std::string& text) {
  for (unsigned type = 0; type < types; ++type)
    if (name(static_cast<Type>(type)) == text)
      return static_cast<Type>(type);
  return std::nullopt;
}

/// As a register has it.
uint64_t registerBits(const Constant& constant, Type type) {
  const auto integer = static_cast<uint64_t>(constant.integer);
  switch (type) {
  case Type::Bool:
    return integer != 0;
  case Type::Float32:
    return std::bit_cast<uint32_t>(static_cast<float>(constant.real));
  case Type::Float64:
    return std::bit_cast<uint64_t>(constant.real);
  default:
    break;
  }
  const unsigned rest = 64 - 8 * bytes(type);
  const bool isSigned = type >= Type::Int8 && type <= Type::Int64;
  return isSigned ? static_cast<uint64_t>(static_cast<int64_t>(integer << rest) >> rest) : integer << rest >> rest;
}

class MeaningVerifier {
public:
  MeaningVerifier(const equations::Graph& graph, const Symbolic& symbolic)
      : graph_(graph), symbolic_(symbolic), sets_(symbolic), values_(symbolic, sets_) {
    for (const equations::Variable& each : graph.variables)
      names_.insert(each.name);
  }

  void run() {
    if (graph_.iterators.size() != symbolic_.loops.size() || graph_.inputs.size() != symbolic_.inputs.size() ||
        graph_.outputs.size() != symbolic_.outputs.size())
      throw BrokenMeaning{"a program of other loops, inputs or outputs"};
    for (const Node& node : graph_.nodes)
      domains_.push_back(domain(node.domain));
    for (uint32_t output = 0; output < graph_.outputs.size(); ++output)
      outputs(output);
  }

private:
  using Key = std::tuple<uint32_t, std::string, Offsets>;
  struct Claim {
    isl::set where;
    size_t times = 0;
  };

  [[noreturn]] void fail(uint32_t instruction, const std::string& what, const isl::set& where) const {
    throw BrokenMeaning{"instruction " + std::to_string(instruction) + " (" + symbolic_.instructions[instruction].name +
                        ") " + what + sets_.example(where)};
  }
  Offsets zero() const { return Offsets(symbolic_.loops.size(), 0); }
  Linear linear(const Affine& value, const Offsets& back) const;
  isl::set domain(const equations::Space& space) const;
  isl::set differing(const std::vector<Affine>& index, const Offsets& back, const std::vector<Linear>& other) const;
  const std::vector<Origin>& operand(uint32_t instruction, size_t number);
  bool copies(uint32_t instruction) const;
  void outputs(uint32_t output);
  void prove(const MadeValue& made, const Meant& meant, Type type, const isl::set& where);
  void proveInstruction(uint32_t instruction, const Meant& meant, const isl::set& where);
  void proveVariable(uint32_t instruction, uint32_t variable, const Offsets& back, const isl::set& where);
  void proveNode(uint32_t instruction, const Node& node, const Offsets& back, bool isNamed, const isl::set& where);
  void proveLeaf(const MadeValue& made, const Meant& meant, Type type, const isl::set& where);
  void through(uint32_t instruction, const Meant& meant, const isl::set& where);
  void matches(uint32_t instruction, const Expression& expression, const isl::set& where);
  std::vector<Expression> expressions(const Node& node, const Offsets& back) const;
  isl::set claim(Key key, const isl::set& where, const isl::set& possible);

  const equations::Graph& graph_;
  const Symbolic& symbolic_;
  SymbolicSets sets_;
  SymbolicValues values_;
  std::set<std::string> names_; // of variables
  std::vector<isl::set> domains_;
  std::map<std::pair<uint32_t, size_t>, std::vector<Origin>> operands_;
  std::map<Key, Claim> claims_;
  size_t steps_ = 0, depth_ = 0;
};

Linear MeaningVerifier::linear(const Affine& value, const Offsets& back) const {
  Linear made{value.iterators, value.parameters, value.constant};
  made.loops.resize(symbolic_.loops.size(), 0);
  made.parameters.resize(symbolic_.parameters.size(), 0);
  for (size_t l = 0; l < made.loops.size(); ++l)
    made.constant -= made.loops[l] * back[l];
  return made;
}

/// For sizes that the program allows.
isl::set MeaningVerifier::domain(const equations::Space& space) const {
  const auto text = [&](const std::vector<Constraint>& constraints) {
    std::string all = "true";
    for (const Constraint& each : constraints) {
      const std::string value = "(" + SymbolicSets::text(linear(each.value, zero()), {}) + ")";
      const std::string rest = value + " mod " + std::to_string(each.modulus);
      using enum Constraint::Kind;
      all += " and " + (each.kind == NotNegative ? value + " >= 0"
                        : each.kind == Zero      ? value + " = 0"
                        : each.kind == Divisible ? rest + " = 0"
                                                 : rest + " >= 1");
    }
    return all;
  };
  isl::set all = sets_.none();
  for (const std::vector<Constraint>& piece : space.pieces)
    all = SymbolicSets::together(all, sets_.holding(text(piece) + " and " + text(graph_.context)));
  return all;
}

/// Iterations in which an index so many iterations ago is another.
isl::set MeaningVerifier::differing(const std::vector<Affine>& index, const Offsets& back,
                                    const std::vector<Linear>& other) const {
  isl::set all = index.size() == other.size() ? sets_.none() : sets_.holding("true");
  for (size_t d = 0; d < std::min(index.size(), other.size()); ++d)
    all = all.unite(
        sets_.holding(SymbolicSets::text(linear(index[d], back), {}) + " != " + SymbolicSets::text(other[d], {})));
  return all;
}

const std::vector<Origin>& MeaningVerifier::operand(uint32_t instruction, size_t number) {
  const auto found = operands_.find({instruction, number});
  if (found != operands_.end())
    return found->second;
  return operands_.emplace(std::pair(instruction, number), values_.operand(instruction, number)).first->second;
}

/// Whether its result is its first operand.
bool MeaningVerifier::copies(uint32_t instruction) const {
  const SymbolicInstruction& each = symbolic_.instructions[instruction];
  if (each.opcode == Opcode::Move)
    return true;
  return each.opcode == Opcode::Or &&
         std::ranges::all_of(each.operands[1], [](const Source& source) { return source.value == Operand{}; });
}

/// What of the iterations is not claimed yet; it is then. What is claimed again and again, for an iteration before the
/// last one, is claimed for all `possible` ones.
isl::set MeaningVerifier::claim(Key key, const isl::set& where, const isl::set& possible) {
  constexpr size_t mostSteps = 20'000, mostTimes = 2;
  if (++steps_ > mostSteps)
    throw UndecidedMeaning{};
  const auto [found, isNew] = claims_.try_emplace(std::move(key), Claim{sets_.none(), 0});
  Claim& known = found->second;
  const isl::set fresh = where.subtract(known.where);
  if (fresh.is_empty())
    return fresh;
  const isl::set claimed =
      SymbolicSets::simple(known.times++ < mostTimes ? fresh : fresh.unite(possible).subtract(known.where));
  known.where = SymbolicSets::together(known.where, claimed);
  return claimed;
}

void MeaningVerifier::outputs(uint32_t output) {
  const std::string& name = graph_.outputs[output].name;
  std::vector<std::pair<const Access*, isl::set>> accesses;
  for (const Access& each : symbolic_.accesses)
    if (each.isOutput && each.array == output)
      accesses.emplace_back(&each, values_.where(each.when));
  for (size_t n = 0; n < graph_.nodes.size(); ++n) {
    const Node& node = graph_.nodes[n];
    if (!node.isOutput || node.target != output)
      continue;
    isl::set rest = domains_[n];
    for (auto& [access, left] : accesses) {
      const isl::set same = rest.intersect(left).subtract(differing(node.index, zero(), access->index));
      if (same.is_empty())
        continue;
      for (const Origin& origin : values_.output(*access))
        if (const isl::set part = same.intersect(origin.where); !part.is_empty())
          proveNode(origin.value.number, node, zero(), symbolic_.instructions[origin.value.number].name == name, part);
      rest = rest.subtract(same);
      left = left.subtract(same);
    }
    if (!rest.is_empty())
      throw BrokenMeaning{"no access writes '" + name + "'" + sets_.example(rest)};
  }
  for (const auto& [access, left] : accesses)
    if (!left.is_empty())
      throw BrokenMeaning{"'" + name + "' is written where the program does not" + sets_.example(left)};
}

void MeaningVerifier::prove(const MadeValue& made, const Meant& meant, Type type, const isl::set& where) {
  constexpr size_t deepest = 400;
  if (where.is_empty())
    return;
  if (depth_ > deepest)
    throw UndecidedMeaning{};
  ++depth_;
  if (made.kind == MadeValue::Kind::Instruction)
    // In iterations of the instruction.
    proveInstruction(made.number, moved(meant, negated(made.back)), sets_.later(where, negated(made.back)));
  else
    proveLeaf(made, meant, type, where);
  --depth_;
}

void MeaningVerifier::through(uint32_t instruction, const Meant& meant, const isl::set& where) {
  for (const Origin& origin : operand(instruction, 0))
    prove(origin.value, meant, symbolic_.instructions[instruction].type, where.intersect(origin.where));
}

void MeaningVerifier::proveInstruction(uint32_t instruction, const Meant& meant, const isl::set& where) {
  if (meant.expression) {
    if (copies(instruction) && meant.expression->opcode != symbolic_.instructions[instruction].opcode)
      through(instruction, meant, where);
    else
      matches(instruction, *meant.expression, where);
    return;
  }
  if (const Use* use = std::get_if<Use>(&meant.operand)) {
    proveVariable(instruction, use->variable, sum(meant.back, use->distance), where);
    return;
  }
  if (!copies(instruction))
    fail(instruction, "computes where the program reads an input or a constant", where);
  std::string key = "constant";
  if (const InputUse* input = std::get_if<InputUse>(&meant.operand)) {
    key = "input " + std::to_string(input->input);
    for (const Affine& each : input->index)
      key += ", " + SymbolicSets::text(linear(each, meant.back), {});
  } else {
    const Constant& constant = std::get<Constant>(meant.operand);
    key += " " + std::to_string(constant.integer) + " " + std::to_string(std::bit_cast<uint64_t>(constant.real));
  }
  through(instruction, meant,
          claim({instruction, key, {}}, where, values_.where(symbolic_.instructions[instruction].when)));
}

void MeaningVerifier::proveVariable(uint32_t instruction, uint32_t variable, const Offsets& back,
                                    const isl::set& where) {
  const std::string& name = symbolic_.instructions[instruction].name;
  // What stands for another variable, of which that one is a copy, does so in no other iterations.
  isl::set defined = sets_.none();
  for (size_t n = 0; n < graph_.nodes.size() && name == graph_.variables[variable].name; ++n)
    if (!graph_.nodes[n].isOutput && graph_.nodes[n].target == variable)
      defined = SymbolicSets::together(defined, sets_.later(domains_[n], back));
  const isl::set fresh = claim({instruction, "variable " + std::to_string(variable), back}, where,
                               defined.intersect(values_.where(symbolic_.instructions[instruction].when)));
  if (fresh.is_empty())
    return;
  // Copies that mapping made; those that hand an input on are of what the variable is a copy of.
  const bool isMade = copies(instruction) && !names_.contains(name);
  const bool isPassed = isMade && name.find(".along.") != std::string::npos;
  isl::set rest = fresh;
  for (size_t n = 0; n < graph_.nodes.size(); ++n) {
    if (graph_.nodes[n].isOutput || graph_.nodes[n].target != variable)
      continue;
    const isl::set part = rest.intersect(sets_.later(domains_[n], back));
    if (part.is_empty())
      continue;
    const Node& node = graph_.nodes[n];
    if (isMade && !(isPassed && node.operation == Operation::Copy))
      through(instruction, {Use{variable, back}, zero(), nullptr}, part);
    else
      proveNode(instruction, node, back, name == graph_.variables[variable].name, part);
    rest = rest.subtract(part);
  }
  if (!rest.is_empty())
    fail(instruction, "computes '" + graph_.variables[variable].name + "', which is not defined there", rest);
}

/// `isNamed`: the instruction has the name of what the node defines.
void MeaningVerifier::proveNode(uint32_t instruction, const Node& node, const Offsets& back, bool isNamed,
                                const isl::set& where) {
  if (node.operation == Operation::Copy) {
    const Meant meant{node.operands[0], back, nullptr};
    if (isNamed && copies(instruction))
      return through(instruction, meant, where);
    return proveInstruction(instruction, meant, where);
  }
  for (const Expression& each : expressions(node, back))
    if (each.opcode == symbolic_.instructions[instruction].opcode)
      return matches(instruction, each, where);
  if (!copies(instruction))
    fail(instruction, "has another operation than the program", where);
  if (!node.isOutput)
    return through(instruction, {Use{node.target, back}, zero(), nullptr}, where);
  for (const Expression& each : expressions(node, back))
    return through(instruction, {{}, zero(), std::make_shared<const Expression>(each)}, where);
}

void MeaningVerifier::proveLeaf(const MadeValue& made, const Meant& meant, Type type, const isl::set& where) {
  const auto broken = [&](const std::string& what) {
    throw BrokenMeaning{(made.kind == MadeValue::Kind::Input
                             ? "an element of '" + symbolic_.inputs[made.number].name + "'"
                             : "a constant") +
                        " is taken for " + what + sets_.example(where)};
  };
  const auto folded = [&](const Expression& expression) {
    uint64_t sources[3] = {0, 0, 0};
    const std::optional<Type> own = typeNamed(expression.type), other = typeNamed(expression.operandType);
    bool isConstant = own && other && expression.operands.size() <= 3;
    for (size_t i = 0; isConstant && i < expression.operands.size(); ++i) {
      const Meant& each = expression.operands[i];
      const Constant* constant = each.expression ? nullptr : std::get_if<Constant>(&each.operand);
      isConstant = constant != nullptr;
      if (constant)
        sources[i] = registerBits(*constant, operandType(Functional{expression.opcode, *own, *other, {}, {}}, i));
    }
    const Evaluator evaluate = isConstant ? evaluator(expression.opcode, *own, *other) : nullptr;
    if (!evaluate || made.kind != MadeValue::Kind::Constant)
      return false;
    const Evaluated result = evaluate(sources[0], sources[1], sources[2]);
    return result.isDefined && made.bits == result.value;
  };
  if (meant.expression) {
    if (!folded(*meant.expression))
      broken("the result of an operation");
  } else if (const Use* use = std::get_if<Use>(&meant.operand)) {
    const Offsets back = sum(meant.back, use->distance);
    isl::set rest = where;
    for (size_t n = 0; n < graph_.nodes.size(); ++n) {
      const Node& node = graph_.nodes[n];
      if (node.isOutput || node.target != use->variable)
        continue;
      const isl::set part = rest.intersect(sets_.later(domains_[n], back));
      if (part.is_empty())
        continue;
      if (node.operation == Operation::Copy)
        prove(made, {node.operands[0], back, nullptr}, type, part);
      else if (!folded(expressions(node, back)[0]))
        broken("'" + graph_.variables[use->variable].name + "'");
      rest = rest.subtract(part);
    }
    if (!rest.is_empty())
      broken("'" + graph_.variables[use->variable].name + "' where that is not defined");
  } else if (const InputUse* input = std::get_if<InputUse>(&meant.operand)) {
    if (made.kind != MadeValue::Kind::Input || made.number != input->input ||
        !where.is_disjoint(differing(input->index, meant.back, made.access->index)))
      broken("another one of '" + graph_.inputs[input->input].name + "'");
  } else if (made.kind != MadeValue::Kind::Constant ||
             made.bits != registerBits(std::get<Constant>(meant.operand), type)) {
    broken("another one");
  }
}

/// How the operation may be computed: first by itself.
std::vector<Expression> MeaningVerifier::expressions(const Node& node, const Offsets& back) const {
  const std::string type = node.type.text();
  const bool isFloat = node.type.kind == ElementType::Kind::Float;
  const auto given = [&](size_t i) { return Meant{node.operands[i], back, nullptr}; };
  const auto constant = [&](int64_t value) { return Meant{Constant{value, 0}, zero(), nullptr}; };
  const auto computed = [&](Opcode opcode, std::string of, std::vector<Meant> operands) {
    return Meant{
        {}, zero(), std::make_shared<const Expression>(Expression{opcode, std::move(of), type, std::move(operands)})};
  };
  Expression direct{directOpcode(node.operation),
                    type,
                    hasOperandType(directOpcode(node.operation)) ? node.operandType.text() : type,
                    {}};
  for (size_t i = 0; i < node.operands.size(); ++i)
    direct.operands.push_back(given(i));
  std::vector<Expression> all = {direct};
  const auto chosen = [&](Meant first, Meant second, Meant then, Meant otherwise) {
    all.push_back({Opcode::Select,
                   type,
                   type,
                   {computed(Opcode::Less, "bool", {std::move(first), std::move(second)}), std::move(then),
                    std::move(otherwise)}});
  };
  switch (node.operation) {
  case Operation::Minimum:
    chosen(given(1), given(0), given(1), given(0));
    break;
  case Operation::Maximum:
    chosen(given(0), given(1), given(1), given(0));
    break;
  case Operation::Absolute:
    if (!isFloat)
      chosen(given(0), constant(0), computed(Opcode::Subtract, type, {constant(0), given(0)}), given(0));
    break;
  case Operation::Negate:
    if (!isFloat)
      all.push_back({Opcode::Subtract, type, type, {constant(0), given(0)}});
    break;
  case Operation::Not:
    all.push_back({Opcode::Xor, type, type, {given(0), constant(node.type.kind == ElementType::Kind::Bool ? 1 : -1)}});
    break;
  default:
    break;
  }
  return all;
}

void MeaningVerifier::matches(uint32_t instruction, const Expression& expression, const isl::set& where) {
  const SymbolicInstruction& each = symbolic_.instructions[instruction];
  // Comparisons have the type of their operands, and give a bool.
  const bool isComparison = each.opcode >= Opcode::Less && each.opcode <= Opcode::NotEqual;
  if (each.opcode != expression.opcode || each.operands.size() != expression.operands.size() ||
      (!isComparison && name(each.type) != expression.type) ||
      (hasOperandType(each.opcode) && name(each.operandType) != expression.operandType))
    fail(instruction, "has another operation or type than the program", where);
  const Functional functional{each.opcode, each.type, each.operandType, {}, {}};
  for (size_t i = 0; i < each.operands.size(); ++i)
    for (const Origin& origin : operand(instruction, i))
      prove(origin.value, expression.operands[i], operandType(functional, i), where.intersect(origin.where));
}

} // namespace

Verdict verifyMeaning(const equations::Graph& graph, const Symbolic& symbolic) {
  try {
    MeaningVerifier(graph, symbolic).run();
  } catch (BrokenMeaning& broken) {
    return {std::move(broken.message)};
  } catch (const UndecidedMeaning&) {
    return {"", false};
  } catch (const isl::exception&) {
    return {"", false};
  }
  return {};
}

} // namespace strata::array
