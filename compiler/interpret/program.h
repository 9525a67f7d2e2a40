// The compact program that a module is resolved into before it is interpreted: one array of fixed-size instructions for
// all functions, operands as slots of a frame instead of SSA values, regions as jumps. Made by the resolver, read by
// the machine, immutable in between. It refers to the module's locations and must not outlive it.
#pragma once

#include "compiler/interpret/scalar_functions.h"
#include "mlir/IR/Location.h"
#include "llvm/ADT/DenseMap.h"
#include "llvm/ADT/StringMap.h"

#include <string>
#include <vector>

namespace strata::interpret {

/// A value takes whole slots of 64 bits: a scalar one (unused high bits are zero); a record its bytes, rounded up; a
/// stream or a token one; a block of rank r a handle, the offset of its first element, r extents and r strides.
using Slot = uint32_t;

enum class Opcode : uint16_t {
  // Slots. a: destination, b, c, d: sources.
  Copy,     // a = b
  CopyMany, // pool[e, e + d): pairs (destination, source), all read before any is written
  Select,   // a.. = b ? c.. : d.., imm slots
  // Scalars; `shift` is 64 - width, `small` of the pure ones a RoundingRule.
  Pure1,
  Pure2,
  Pure3, // a = function(b, c, d)
  AddI,
  SubI,
  MulI,
  AndI,
  OrI,
  XorI,
  Equal,
  NotEqual,
  LessSigned,
  LessEqualSigned,
  LessUnsigned,
  LessEqualUnsigned,
  AddF32,
  SubF32,
  MulF32,
  AddF64,
  SubF64,
  MulF64,
  Divide,      // small: Division
  AddExtended, // a, a + 1 = sum, carry
  MulExtended, // a, a + 1 = low, high; small: signed
  // Control. imm: target, or function.
  Jump,
  JumpIfNot, // a: condition
  ForInit,
  ForNext, // a: variable, b: lower, c: upper, d: step; small: unsigned comparison
  Switch,  // a: value; imm: index into switches
  Call,    // imm: function; pool[e, e + d): arguments; a: first slot of the results
  Return,  // pool[e, e + d): results
  Enter,
  Leave,       // a: where the mark is kept; small: LifetimeKind
  Spawn,       // a task runs what follows up to `imm`; a: token
  SpawnMany,   // one task for each of [b, c), which find their number in a; goes on at `imm` when all have ended
  CheckNumber, // pool[e, e + d): the bounds of a concurrent loop, lower and upper in turn; goes on at `imm` without any
  TaskEnd,
  Wait, // pool[e, e + d): tokens
  // Memory. Element size in bytes: imm.
  Make,     // a: block; b: its label in names; pool[e, e + d): extents, then strides unless dense; small: MakeKind;
            // shift: MakeForm
  MemoryAt, // a: block, b: address, c: extent; d: its label in names
  AreApart, // a = whether two blocks have no byte in common; b, c: blocks; pool[e, e + 4): rank and bytes of each
  Dealloc,  // a
  Forget,   // a: block, as a whole
  Global,   // a: block, imm: index into globals
  Load0,
  Load1,
  Load2,
  LoadMany, // a: value, b: block, pool[e, e + d) or c, d: indices; small: LoadFlag
  Store0,
  Store1,
  Store2,
  StoreMany,   // the same
  Dimension,   // a = extent c of block b; imm: rank
  View,        // a: result, b: source; imm: index into views; pool[e, …): offsets, extents, strides of each dimension
  CheckExtent, // extent in a is imm, else the cast at this place is wrong
  Move,        // a: source, b: destination, c: rank; small: counts as svm.move
  Gather,      // a: source, b: destination, c: rank, d: indices, shift: bytes of one; small: whether it scatters
  Accumulate,  // a: a reduction's copy, which begins; imm: index into elementNumbers
  Accumulated, // the same, and it ends; b: where it is copied to, c: rank
  Fill,        // a: a block of its own; imm: index into patterns, the bytes of each element
  SameBits,    // a = whether blocks b and c of rank d are the same
  SameOrder,   // pool: what two orders gave, the parts, where they begin; a: whether it is which are combined first; b:
               // rank; imm: index into orders
  // Records. c: byte offset, d: bytes.
  Zero,     // d slots from a
  GetField, // a.. = field of b..
  PutField, // field of a.. = b..
  // Checks and figures.
  Check,      // a: condition; imm: index into checks; pool[e, e + d): values
  IndexCheck, // a: index, b: extent; imm: index into checks
  Apart,      // a, b: two arguments of rank c and d, one of which is written; imm: index into names, the callee
  Count,      // a: amount; imm: index into names; shift: of the amount
  RunCount,   // a kernel begins
  Print,      // a: order; imm: index into names, the format; pool[e, e + d): values
  // Instances of a parallel loop and the order among them (races.cpp).
  Parallel, // a loop begins; a: where what is kept during it is remembered
  Instance, // one of its iterations begins; a: its number, b: what was remembered
  Together, // the loop has ended; a: what was remembered
  Number,   // a kernel begins that knows the number of its processor, a
  Fence,
  Pause,
  Barrier,
  Atomic, // a: what was there, b: block; pool[e, e + d): indices, then the value, a slot for what is stored, and what
          // is
          // expected; small: svm::AtomicKind; imm: bytes
  // The tree of iterations and operands (overlaps.cpp).
  Branch,        // a loop or the operands of a call begin; small: Iterations::Kind; imm: index into names
  BranchAt,      // its next iteration; a: the variable's value
  BranchReduces, // between iterations: its reductions
  BranchEnd,
  // Streams. c: slots of an element.
  MakeStream,  // a: stream, b: capacity; imm: index into names
  Push,        // a: element; pool[e, e + d): streams
  Pop,         // a: element, b: more, d: stream
  Peek,        // the same, and e: offset
  End,         // a
  External,    // imm: index into externals; small: 1 for a declared function, whose result of b slots goes to a, 2 for
               // a kernel that is offered, and goes on two instructions further when that is declined
  Unsupported, // imm: index into names, what it is
};

enum class Division : uint8_t {
  Signed,
  Unsigned,
  RemainderSigned,
  RemainderUnsigned,
  CeilSigned,
  CeilUnsigned,
  FloorSigned,
  Modulo
};
enum class LifetimeKind : uint8_t { Region, Automatic };
enum class MakeKind : uint8_t { Block, Automatic, Heap };
/// Private: the private copy of a reduction, of which there is one for all parts here.
enum class MakeForm : uint8_t { Plain, Distributed, Private };

/// A load in a loop that waits; one of an element of which a part is then written (its remainder).
enum LoadFlag : uint8_t { LoadWaits = 1, LoadsRest = 2, LoadCompares = 4, LoadKeeps = 8 };
/// Of a store: the element has a value when the one last loaded with LoadsRest had one.
enum StoreFlag : uint8_t { StoresRest = 1 };

struct Instruction {
  Opcode opcode;
  uint8_t shift = 0;
  uint8_t small = 0;
  uint32_t a = 0, b = 0, c = 0, d = 0, e = 0;
  union {
    int64_t imm;
    PureFunction function;
  };
};

/// What a function's argument is, for checking a call from outside.
struct Parameter {
  enum class Kind { Scalar, Record, Block, Other };
  Kind kind = Kind::Other;
  Slot slot = 0;
  unsigned width = 64; ///< bits of a scalar
  unsigned rank = 0;
  uint64_t elementBytes = 0;    ///< of a block; of a record its size
  std::vector<int64_t> extents; ///< static ones, or dynamic
  bool written = false;         ///< access "write" or "readwrite"
  bool read = true;             ///< not access "write", whose elements have no value at first
  std::string name;
  uint32_t label = 0; ///< the name, as an index into the program's names
};

struct Function {
  std::string name;
  mlir::Location location;
  uint32_t entry = 0;
  Slot argumentSlots = 0;
  Slot resultSlots = 0;
  /// Frame: arguments, locals, constants.
  Slot constantsAt = 0;
  Slot frameSlots = 0;
  std::vector<uint64_t> constants{};
  std::vector<Parameter> parameters{};
};

struct ViewShape {
  unsigned sourceRank = 0;
  std::vector<unsigned> kept; ///< dimensions of the source that the result has
};

struct CheckText {
  std::string code, message, help, array;
  int64_t dimension = 0;
  std::vector<uint8_t> shifts;
};

struct SwitchTable {
  std::vector<std::pair<int64_t, int64_t>> cases; ///< value, target
  int64_t otherwise = 0;
};

struct ExternalCall {
  std::string name;
  std::vector<Parameter> parameters;
};

struct GlobalData {
  std::vector<char> bytes; ///< empty: undefined
  int64_t elements = 0;
  uint64_t elementBytes = 1;
};

/// Where a store takes its index from: an element of a block of integers.
struct IndexSource {
  Slot position = 0;
  Slot block = 0;
  uint32_t bytes = 0; ///< of an index
};

/// A floating-point number in an element of a block that is reduced into.
struct ElementNumber {
  uint32_t offset = 0; ///< in bytes, a multiple of 4
  unsigned width = 32;
  bool isCombined = false; ///< by a sum, a product or a choice
};
struct ElementNumbers {
  std::vector<ElementNumber> numbers;
};

/// A scalar in an element.
struct ElementScalar {
  uint32_t offset = 0, bytes = 0;
  bool isFloat = false;
};

/// A reduction that is tried in several orders.
struct CombinerOrders {
  std::string combiner, loop; ///< names
  bool isKnown = false;       ///< to be a sum, a product or the like
  int64_t numbers = 0;        ///< index into elementNumbers
  std::vector<ElementScalar> scalars;
};

/// The operand's number of accesses that may overlap others.
constexpr uint32_t AtomicAccess = ~uint32_t(0);

struct Program {
  std::vector<Instruction> code;
  std::vector<mlir::Location> locations; ///< of each instruction
  /// Of each instruction: the operand of a call (or the reduction of a loop) whose elements it accesses, from 1; 0:
  /// none.
  std::vector<uint32_t> operands;
  llvm::DenseMap<uint32_t, IndexSource> indexSources; ///< by instruction
  std::vector<uint32_t> pool;                         ///< operand lists
  std::vector<Function> functions;
  llvm::StringMap<unsigned> functionByName;
  std::vector<ViewShape> views;
  std::vector<CheckText> checks;
  std::vector<SwitchTable> switches;
  std::vector<std::string> names;
  std::vector<ExternalCall> externals;
  std::vector<GlobalData> globals;
  std::vector<ElementNumbers> elementNumbers;
  std::vector<std::vector<char>> patterns;
  std::vector<CombinerOrders> orders;
  bool isDistributed = false; ///< it has distributed blocks
};

} // namespace strata::interpret
