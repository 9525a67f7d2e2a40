// Cutting arrays into pieces. See pieces.h.
#include "compiler/hbir/layout/pieces.h"

#include <algorithm>

namespace strata::hbir {

namespace {

using Kind = IndexExpression::Kind;

IndexExpression make(Kind kind, IndexExpression left, int64_t right) {
  return IndexExpression::make(kind, std::move(left), IndexExpression::constant(right));
}

/// Elements of a whole piece, of a dimension with so many elements and pieces.
int64_t pieceLength(int64_t elements, int64_t pieces) {
  return std::max<int64_t>(1, ceilDivide(elements, pieces));
}

/// Whether every dimension is cut by itself. An array of one dimension over several extents is cut like a flat one.
bool cutByDimension(const Array& array) {
  return array.layout.kind == LayoutKind::Block && array.layout.pieces.size() <= array.extents.size();
}

/// Every dimension into contiguous pieces.
void cutDimensions(const Array& array, Pieces& result) {
  const std::vector<int64_t>& pieces = array.layout.pieces;
  std::vector<int64_t> lengths, left; // of a whole and of the last piece in each dimension
  std::vector<IndexExpression> within;
  for (unsigned d = 0; d < array.extents.size(); ++d) {
    const int64_t elements = array.extents[d], length = pieceLength(elements, d < pieces.size() ? pieces[d] : 1);
    lengths.push_back(length);
    const IndexExpression index = IndexExpression::variable(d);
    const int64_t used = ceilDivide(elements, length);
    within.push_back(used <= 1 ? index : make(Kind::Modulo, index, length));
    left.push_back(elements - (std::max<int64_t>(used, 1) - 1) * length);
    if (d < pieces.size()) {
      result.extents.push_back(used);
      result.number.push_back(used <= 1 ? IndexExpression::constant(0) : make(Kind::Divide, index, length));
    }
  }
  result.pieceExtents = lengths;
  result.within = flatten(within, lengths);
  result.layout = variables(pieces.size());
  // Pieces differ in shape by the dimensions in which they are the last. Beyond so many, whole pieces bound them.
  std::vector<unsigned> cutShort;
  for (unsigned d = 0; d < pieces.size(); ++d)
    if (left[d] != lengths[d])
      cutShort.push_back(d);
  if (cutShort.size() > 8)
    cutShort.clear();
  for (size_t which = 0; which < size_t(1) << cutShort.size(); ++which) {
    PieceShape shape;
    for (int64_t used : result.extents)
      shape.box.push_back({0, used});
    std::vector<int64_t> size = lengths;
    for (size_t i = 0; i < cutShort.size(); ++i) {
      Interval& range = shape.box[cutShort[i]];
      if ((which >> i & 1) == 0) {
        range.most -= 1;
      } else {
        range.least = range.most - 1;
        size[cutShort[i]] = left[cutShort[i]];
      }
    }
    shape.span = 1;
    int64_t stride = 1;
    for (size_t d = lengths.size(); d-- > 0; stride *= lengths[d])
      shape.span += (size[d] - 1) * stride;
    result.shapes.push_back(std::move(shape));
  }
}

/// The flattened array, into contiguous pieces or distributed round robin.
void cutFlat(const Array& array, Pieces& result) {
  const int64_t elements = *product(array.extents), wanted = *product(array.layout.pieces);
  const IndexExpression flat = flatten(variables(array.extents.size()), array.extents);
  const int64_t length = pieceLength(elements, wanted);
  result.pieceExtents = {length};
  int64_t used = 0, longPieces = 0, shortLength = 0; // so many have `length` elements, the others fewer
  if (array.layout.kind == LayoutKind::Striped) {
    used = std::min(wanted, elements);
    longPieces = elements % wanted == 0 ? used : elements % wanted;
    shortLength = length - 1;
    result.number = {make(Kind::Modulo, flat, wanted)};
    result.within = make(Kind::Divide, flat, wanted);
  } else {
    used = ceilDivide(elements, length);
    longPieces = elements / length;
    shortLength = elements % length;
    result.number = {used <= 1 ? IndexExpression::constant(0) : make(Kind::Divide, flat, length)};
    result.within = used <= 1 ? flat : make(Kind::Modulo, flat, length);
  }
  result.extents = {used};
  result.shapes.push_back({{{0, longPieces}}, length});
  if (longPieces < used)
    result.shapes.push_back({{{longPieces, used}}, shortLength});
  result.layout = unflatten(IndexExpression::variable(0), array.layout.pieces);
}

} // namespace

int64_t bytesOf(ScalarType type) {
  return type == ScalarType::Bool ? 1 : 4;
}

std::optional<int64_t> product(const std::vector<int64_t>& factors) {
  int64_t result = 1;
  for (int64_t factor : factors)
    if (factor < 0 || __builtin_mul_overflow(result, factor, &result))
      return std::nullopt;
  return result;
}

std::optional<int64_t> elementsOf(const Array& array) {
  return product(array.extents);
}

std::optional<int64_t> instancesOf(const Target& target, const MemoryClass& memory) {
  std::vector<int64_t> factors{memory.count};
  if (memory.local)
    factors.insert(factors.end(), target.extents.begin(), target.extents.end());
  return product(factors);
}

std::vector<IndexExpression> variables(size_t count) {
  std::vector<IndexExpression> result;
  for (unsigned i = 0; i < count; ++i)
    result.push_back(IndexExpression::variable(i));
  return result;
}

IndexExpression flatten(const std::vector<IndexExpression>& indices, const std::vector<int64_t>& extents) {
  IndexExpression flat = IndexExpression::constant(0);
  for (size_t d = 0; d < indices.size(); ++d)
    flat = IndexExpression::make(Kind::Add, make(Kind::Multiply, std::move(flat), extents[d]), indices[d]);
  return flat;
}

std::vector<IndexExpression> unflatten(const IndexExpression& flat, const std::vector<int64_t>& extents) {
  std::vector<IndexExpression> result(extents.size());
  int64_t stride = 1;
  for (size_t d = extents.size(); d-- > 0; stride *= extents[d]) {
    if (extents[d] == 1) {
      result[d] = IndexExpression::constant(0);
      continue;
    }
    result[d] = make(Kind::Divide, flat, stride);
    const bool outermost = std::all_of(extents.begin(), extents.begin() + static_cast<std::ptrdiff_t>(d),
                                       [](int64_t extent) { return extent == 1; });
    if (!outermost)
      result[d] = make(Kind::Modulo, std::move(result[d]), extents[d]);
  }
  return result;
}

bool sizesFit(const Array& array) {
  constexpr int64_t most = int64_t(1) << 60; // room for sums of pieces, bytes of elements and alignment
  const std::optional<int64_t> elements = elementsOf(array), pieces = product(array.layout.pieces);
  if (!elements || *elements > most || !pieces || *pieces > most)
    return false;
  // Pieces may have room for more than they hold: in every dimension, the last one.
  std::vector<int64_t> rooms;
  for (size_t d = 0; d < array.extents.size(); ++d) {
    const int64_t cut = cutByDimension(array) && d < array.layout.pieces.size() ? array.layout.pieces[d] : 1;
    if (cut == 0)
      return false;
    rooms.push_back(pieceLength(array.extents[d], cut) *
                    ceilDivide(array.extents[d], pieceLength(array.extents[d], cut)));
  }
  const std::optional<int64_t> room = product(rooms);
  return *pieces > 0 && room && *room <= most;
}

Pieces cut(const Array& array) {
  Pieces result;
  if (array.layout.kind == LayoutKind::Replicated) {
    // One piece; where its copies are is another question.
    result.within = flatten(variables(array.extents.size()), array.extents);
    result.pieceExtents = {*elementsOf(array)};
    result.shapes.push_back({{}, result.pieceExtents[0]});
    for (size_t i = 0; i < array.layout.pieces.size(); ++i)
      result.layout.push_back(IndexExpression::constant(0));
  } else if (cutByDimension(array)) {
    cutDimensions(array, result);
  } else {
    cutFlat(array, result);
  }
  result.elements = *product(result.pieceExtents);
  result.instance = array.layout.instance.substitute(result.layout);
  return result;
}

} // namespace strata::hbir
