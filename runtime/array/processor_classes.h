// Processor classes: rectangles of tiles that execute the same sets of iterations. The rectangle of all tiles is cut
// only where a condition changes, so that the cost follows the classes and not the elements.
//
// Source: "Symbolic Loop Compilation for Tightly Coupled Processor Arrays", section 6.1, algorithm 1; cutting by the
// conditions' values takes the place of its operations on polyhedra.
#pragma once

#include "runtime/array/tiling.h"

namespace strata::array {

/// Unions of iterations, as they are in every tile.
class TermSets {
public:
  static constexpr uint32_t everywhere = UINT32_MAX;
  /// Iterations of a list of terms that are in those of another, or everywhere.
  struct Piece {
    uint32_t list = 0, within = everywhere;
    friend auto operator<=>(const Piece&, const Piece&) = default;
  };
  /// REQUIRES: the symbolic configuration is sound, the tiling is its, not empty, and `diagrams` has the tiling's
  /// extents; all three live as long as this.
  TermSets(const Symbolic& symbolic, const Tiling& tiling, Diagrams& diagrams);

  /// The number of a list of terms: the iterations of the loops that are in one of them.
  uint32_t list(const std::vector<Term>& terms);
  /// The number of the union of some pieces, which is what classes are told apart by; equal ones have one number.
  uint32_t add(std::vector<Piece> pieces);

  struct Partition {
    /// By class, the sets of all that was added, by number. Iterations are those of a tile, within the extents.
    std::vector<std::vector<Diagrams::Set>> classes;
    std::vector<ClassRegion> regions; // disjoint, all tiles
  };
  /// Classes whose sets differ. Nothing where numbers get too large.
  std::optional<Partition> partition();

private:
  enum class State : uint8_t { Open, False, True, Mixed };
  /// A condition of one shift, with what it has in the tile (0, 0). In tile (r, c) of a value there becomes
  /// value + r · rowFactor + c · columnFactor.
  struct Atom {
    Condition::Kind kind = Condition::Kind::NotNegative;
    int64_t modulus = 0, constant = 0;
    std::vector<int64_t> factors; // by loop
    int64_t rowFactor = 0, columnFactor = 0;
    int64_t least = 0, most = 0; // over the tile
    std::unordered_map<int64_t, Diagrams::Set> known;
  };
  /// Of a space at one shift: pieces of atoms.
  struct Shifted {
    std::vector<std::vector<uint32_t>> pieces;
  };
  struct Part {
    uint32_t shifted = 0;
    Diagrams::Set crossing = Diagrams::none; // the iterations whose other end is in the right tile
  };
  struct Cut {
    bool isRow = false;
    int64_t at = 0;
  };

  uint32_t atom(const Condition& condition, const std::vector<int64_t>& shift);
  uint32_t shifted(uint32_t space, const std::vector<int64_t>& shift);
  uint32_t part(const Term& term);
  Diagrams::Set crossing(const Term& term);
  std::optional<Cut> decide(const Atom& atom, Range rows, Range columns, State& state, bool& isExact) const;
  Diagrams::Set evaluate(Atom& atom, State state, int64_t row, int64_t column);
  std::vector<Diagrams::Set> evaluate(const std::vector<State>& states, Range rows, Range columns);
  std::vector<ClassRegion> visit(Range rows, Range columns, std::vector<State> states, Partition& result);

  const Symbolic& symbolic_;
  const Tiling& tiling_;
  Diagrams& diagrams_;
  bool fits_ = true;
  std::vector<Atom> atoms_;
  std::vector<Shifted> shifted_;
  std::vector<Part> parts_;
  std::vector<std::vector<uint32_t>> lists_; // of parts
  std::vector<std::vector<Piece>> unions_;
  std::vector<uint32_t> bounds_; // atoms: the last iteration of the loops, where tiles reach beyond
  Diagrams::Set tile_ = Diagrams::none;
  std::map<std::vector<int64_t>, uint32_t> knownAtoms_, knownShifted_, knownParts_;
  std::map<std::vector<uint32_t>, uint32_t> knownLists_;
  std::map<std::vector<Piece>, uint32_t> knownUnions_;
  std::map<std::vector<Diagrams::Set>, uint32_t> knownClasses_;
};

} // namespace strata::array
