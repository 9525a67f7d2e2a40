// The syntax tree of a Sequoia program. The parser makes it from tokens; the checker then completes it in place: names
// point to declarations, every expression has a type, every implicit conversion is a Cast, constants are folded, and
// call statements have become TaskCall. A Program owns every node; pointers between nodes are plain and live as long as
// it does.
#pragma once

#include "compiler/cfamily/check/builtin.h"
#include "compiler/cfamily/syntax/operators.h"
#include "compiler/sequoia/syntax/type.h"

#include <deque>
#include <memory>
#include <string>
#include <string_view>
#include <unordered_map>
#include <vector>

namespace strata::sequoia {

struct Expr;
struct Stmt;
struct Variable;
struct Task;
struct TaskVariant;
struct Function;
struct Callsite;
struct TypeSyntax;

using cfamily::Builtin;
using cfamily::builtinName;
using cfamily::Operator;
using cfamily::operatorText;

enum class ExprKind : uint8_t {
  Error,       // was wrong; a message has been given
  Integer,     // `integer`: the value, sign-extended or zero-extended to 64 bits by its type
  Real,        // `real`: already rounded to float when the type is float
  Variable,    // `variable`: a scalar, size parameter, tunable or loop variable
  Element,     // A[i][j]: `variable` is the array; operands are the indices, each of an integer type
  MemberIndex, // s.a[i], a C array in a struct: operands are the array expression and the index
  Member,      // s.f: operand is the record; `fieldIndex` into its type
  Unary,       // + - ! ~; the operand already has the type of the result, save for ! (any arithmetic type, result int)
  Binary,      // both operands converted; a comparison gives int; shifts keep their own right type
  Logical,     // && and ||: operands of any arithmetic type, nonzero is true; result int
  Conditional, // operands: condition (nonzero is true), value if so, value otherwise
  Comma,       // operands: first, second
  Assign, // operands: target, value. `op` None: value has the target's type. Else: target = (type)((computeType)target
          // op value)
  Increment,   // ++ and --: `op` is Add or Subtract; `isPrefix`; operand is the target
  Cast,        // operand is converted to `type`; `isImplicit` when the program does not show it
  Call,        // an inline function: `function`; operands have the parameters' types
  BuiltinCall, // `builtin`; operands have the type of the result
  Block, // an array block as argument: `variable`, and `ranges` (none: the whole array) or one operand, the Block of
         // the index array (an indexed block)
  Zero,  // an object of which every number is 0
  ReduceArgument, // reducearg<operand, combiner>: in arguments of a TaskCall it is taken apart (see Argument)
  // Only between parser and checker:
  Name,       // `name`
  Subscript,  // operands: base, and the index unless `ranges` has one entry
  CallSyntax, // `name`; operands are the arguments
  SizeofExpr,
  SizeofType,
  CastSyntax,
  Braces,   // { a, b }: the initial values of a variable
  Forbidden // an operator that Sequoia leaves out: & * ->; `name` is its spelling
};

/// One dimension of a range block as written, [start : end : stride ; max]. Absent parts are null and mean: stride 1;
/// max the array's extent N; end is N, except in the style [start ; max], where it is min(start + max, N). All are of
/// type long.
struct BlockRange {
  Expr* start = nullptr;
  Expr* end = nullptr;
  Expr* stride = nullptr;
  Expr* max = nullptr;
  Location location;
};

struct Expr {
  ExprKind kind = ExprKind::Error;
  Operator op = Operator::None;
  Builtin builtin = Builtin::Sqrt;
  bool isImplicit = false;
  bool isPrefix = false;
  bool parenthesized = false;
  uint16_t depth = 1; // of the tree below; bounded by the parser
  uint32_t fieldIndex = 0;
  Location location;
  const Type* type = nullptr;
  const Type* computeType = nullptr;
  uint64_t integer = 0;
  double real = 0;
  std::string_view name;
  Variable* variable = nullptr;
  Function* function = nullptr;
  TypeSyntax* typeSyntax = nullptr;
  std::vector<Expr*> operands;
  std::vector<BlockRange> ranges;

  bool isConstant() const { return kind == ExprKind::Integer || kind == ExprKind::Real; }
  int64_t signedValue() const { return static_cast<int64_t>(integer); }
};

enum class Direction : uint8_t { None, In, Out, InOut };
const char* directionText(Direction direction);

enum class VariableKind : uint8_t { Parameter, Local, SizeParameter, Tunable, LoopVariable, FunctionParameter };

/// An array extent of a task's parameter in the form sum of coefficient * size parameter + constant.
struct LinearSize {
  std::vector<std::pair<int64_t, Variable*>>
      terms; // each size parameter once, coefficients not 0, in order of appearance
  int64_t constant = 0;
  /// The size parameter when the extent is exactly that parameter, else null.
  Variable* unit() const {
    return constant == 0 && terms.size() == 1 && terms[0].first == 1 ? terms[0].second : nullptr;
  }
};

/// One dimension of an array.
struct Extent {
  Expr* expression = nullptr; // of type long, over constants, size parameters and tunables
  LinearSize linear;          // parameters of tasks only
};

/// Anything with a name that holds a value: parameter, local, size parameter, tunable, loop variable.
struct Variable {
  std::string_view name;
  Location location;
  VariableKind kind = VariableKind::Local;
  Direction direction = Direction::None; // Parameter
  bool isConst = false;
  bool isAssigned = false;    // written anywhere after its declaration
  const Type* type = nullptr; // of the scalar, or of an element
  std::vector<Extent> extents;
  Expr* initializer = nullptr; // Local: converted to the type
  std::vector<Expr*> stores;   // Local: assignments that follow at once, of initial values in braces
  uint32_t lexnum = 0;         // how many of the same name and kind of object come before it in the variant
  uint32_t index = 0;          // position in the list of the variant that holds it
  TypeSyntax* typeSyntax = nullptr;
  bool isArray() const { return !extents.empty(); }
  bool isReadOnly() const {
    return isConst || direction == Direction::In || kind == VariableKind::SizeParameter ||
           kind == VariableKind::Tunable || kind == VariableKind::LoopVariable;
  }
};

enum class MapKind : uint8_t { Par, Seq, Reduce };
const char* mapText(MapKind kind);

/// One loop of mappar, mapseq or mapreduce. An iteration statement of several ranges is a nest of these.
struct Loop {
  MapKind kind = MapKind::Par;
  Variable* variable = nullptr;
  Expr* start = nullptr; // converted to the variable's type; iterations run while variable < end
  Expr* end = nullptr;
  Loop* parent = nullptr;
  Stmt* statement = nullptr; // the Map statement
  uint32_t index = 0;        // in TaskVariant::loops
  uint32_t lexnum = 0;
  Location location;
  TypeSyntax* typeSyntax = nullptr;
  Location variableLocation;
  std::string_view variableName;
};

/// A place that a mapping names: a task call, or the combiner of a reduction argument.
struct Callsite {
  Task* callee = nullptr;
  bool isCombiner = false;
  Loop* loop = nullptr; // the innermost one around it
  Stmt* statement = nullptr;
  uint32_t index = 0; // in TaskVariant::callsites
  uint32_t lexnum = 0;
  Location location;
};

/// One argument of a task call. Arrays: a Block. Scalars: for an `in` parameter any expression of its type, else a
/// Variable.
struct Argument {
  Expr* value = nullptr;
  Direction direction = Direction::In; // of the callee's parameter
  Callsite* combiner = nullptr;        // of a reduction argument
};

enum class StmtKind : uint8_t {
  Empty,
  Expression,
  Declaration,
  Compound,
  If,
  While,
  DoWhile,
  For, // `initial` is a Declaration, an Expression or null; `expression` may be null (forever)
  Switch,
  Break,
  Continue,
  Return,
  TaskCall,
  Copy, // arguments: destination, source
  Map,
  CaseLabel // only between parser and checker: expression, null for default
};

/// A field, typedef or enumerator as parsed.
struct Declarator {
  std::string_view name;
  Location location;
  TypeSyntax* type = nullptr;
  std::vector<Expr*> extents;
  Expr* value = nullptr; // enumerators
};

/// A run of statements in a switch that begins with case labels. Control falls from one section into the next.
struct SwitchSection {
  std::vector<int64_t> values;
  bool isDefault = false;
  std::vector<Stmt*> statements;
  Location location;
};

struct Stmt {
  StmtKind kind = StmtKind::Empty;
  Location location;
  Expr* expression = nullptr; // value, condition; Switch: converted to the promoted type
  Stmt* initial = nullptr;
  Expr* step = nullptr;
  Stmt* body = nullptr;
  Stmt* otherwise = nullptr;
  std::vector<Stmt*> statements;       // Compound; Switch before checking
  std::vector<Variable*> variables;    // Declaration (locals and tunables)
  std::vector<Declarator> typedefs;    // Declaration
  std::vector<SwitchSection> sections; // Switch
  Loop* loop = nullptr;                // Map; the body is in `body`
  Callsite* callsite = nullptr;        // TaskCall
  std::vector<Argument> arguments;     // TaskCall, Copy
};

enum class TaskKind : uint8_t { Prototype, Inner, Leaf, External };
const char* taskKindText(TaskKind kind);

/// A variant of a task, or its prototype (without name and body).
struct TaskVariant {
  Task* task = nullptr;
  TaskKind kind = TaskKind::Prototype;
  std::string_view taskName;
  std::string_view name;
  Location location; // of the name
  std::vector<Variable*> parameters;
  std::vector<Variable*> sizeParameters; // in order of appearance
  Stmt* body = nullptr;                  // Inner, Leaf
  // What a mapping names, in lexical order:
  std::vector<Variable*> arrays; // parameters first
  std::vector<Variable*> tunables;
  std::vector<Variable*> scalars; // parameters and locals that are no arrays
  std::vector<Loop*> loops;
  std::vector<Callsite*> callsites;
};

struct Task {
  std::string_view name;
  TaskVariant* prototype = nullptr;
  std::vector<TaskVariant*> variants;
  const TaskVariant* find(std::string_view variant) const;
  void add(TaskVariant* variant);

private:
  std::unordered_map<std::string_view, const TaskVariant*> named_;
};

/// An inline function: scalars in, a scalar or nothing out.
struct Function {
  std::string_view name;
  Location location;
  const Type* result = nullptr;
  TypeSyntax* resultSyntax = nullptr;
  std::vector<Variable*> parameters;
  Stmt* body = nullptr;
};

/// A type as written; the checker resolves it.
struct TypeSyntax {
  enum class Form : uint8_t { Scalar, Named, Record, Enum } form = Form::Scalar;
  TypeKind scalar = TypeKind::Int; // Scalar; Record: Struct or Union
  std::string_view name;           // Named: the typedef; Record, Enum: the tag or empty
  std::string_view alias;          // Record, Enum in a typedef: the first name that this gives
  bool isConst = false;
  bool isDefinition = false; // Record, Enum with braces
  std::vector<Declarator> members;
  Location location;
  const Type* resolved = nullptr;
};

/// What stands at the top of a file, in order.
struct TopLevel {
  enum class Kind : uint8_t { Type, Typedef, Function, Task } kind = Kind::Type;
  TypeSyntax* type = nullptr;
  std::vector<Declarator> typedefs;
  Function* function = nullptr;
  TaskVariant* task = nullptr;
};

/// A program, checked when readProgram returned it. Owns every node and the text that names point into.
class Program {
public:
  Program() = default;
  Program(const Program&) = delete;

  std::deque<Task> tasks; // in order of first appearance
  std::deque<Function> functions;
  std::vector<TopLevel> topLevel;
  TypeTable types;
  BufferId file;

  Task* findTask(std::string_view name);
  const Task* findTask(std::string_view name) const { return const_cast<Program*>(this)->findTask(name); }

  Expr* newExpr(ExprKind kind, const Location& location);
  Stmt* newStmt(StmtKind kind, const Location& location);
  Variable* newVariable() { return &variables_.emplace_back(); }
  Loop* newLoop() { return &loops_.emplace_back(); }
  Callsite* newCallsite() { return &callsites_.emplace_back(); }
  TaskVariant* newVariant() { return &variants_.emplace_back(); }
  TypeSyntax* newTypeSyntax() { return &typeSyntax_.emplace_back(); }
  /// Keeps the preprocessed text that names point into.
  std::string_view keepText(std::string text) { return texts_.emplace_back(std::move(text)); }

private:
  std::deque<std::string> texts_;
  std::deque<Expr> exprs_;
  std::deque<Stmt> stmts_;
  std::deque<Variable> variables_;
  std::deque<Loop> loops_;
  std::deque<Callsite> callsites_;
  std::deque<TaskVariant> variants_;
  std::deque<TypeSyntax> typeSyntax_;
};

} // namespace strata::sequoia
