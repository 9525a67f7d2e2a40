// Numbers of instances as index expressions. See places.h.
#include "compiler/hbir/layout/places.h"

#include <algorithm>

namespace strata::hbir {

using Kind = IndexExpression::Kind;

std::optional<int64_t> productOf(const std::vector<int64_t>& extents) {
  int64_t product = 1;
  for (int64_t extent : extents)
    if (__builtin_mul_overflow(product, extent, &product) || product >= int64_t{1} << 62)
      return std::nullopt;
  return product;
}

std::vector<IndexExpression> allVariables(size_t count) {
  std::vector<IndexExpression> result;
  for (size_t i = 0; i < count; ++i)
    result.push_back(IndexExpression::variable(static_cast<unsigned>(i)));
  return result;
}

IndexExpression numberByRows(const std::vector<int64_t>& extents, const std::vector<IndexExpression>& coordinates) {
  IndexExpression number = IndexExpression::constant(0);
  for (size_t i = 0; i < extents.size(); ++i) {
    number = IndexExpression::make(Kind::Multiply, std::move(number), IndexExpression::constant(extents[i]));
    number = IndexExpression::make(Kind::Add, std::move(number), coordinates[i]);
  }
  return number;
}

Place placeOfMemory(const MemoryClass& memory, std::vector<int64_t> shape) {
  Place place;
  place.memory = &memory;
  place.instance = numberByRows(shape, allVariables(shape.size()));
  place.shape = std::move(shape);
  place.numbered = true;
  return place;
}

Place placeOfTiles(const Target& target, const MemoryClass& memory, bool each) {
  if (each && memory.count > 1) {
    std::vector<int64_t> shape = target.extents;
    shape.push_back(memory.count);
    return placeOfMemory(memory, std::move(shape));
  }
  Place place = placeOfMemory(memory, target.extents);
  place.numbered = memory.count == 1;
  place.instance =
      IndexExpression::make(Kind::Multiply, std::move(place.instance), IndexExpression::constant(memory.count));
  return place;
}

Place placeOfGroup(const Target& target, const MemoryClass& memory, const Group* group, std::vector<int64_t> shape,
                   const std::vector<IndexExpression>& tile) {
  Place place;
  place.memory = &memory;
  place.group = group;
  if (memory.local) {
    place.instance = IndexExpression::make(Kind::Multiply, numberByRows(target.extents, tile),
                                           IndexExpression::constant(memory.count));
  } else {
    place.instance = numberByRows(shape, allVariables(shape.size()));
    if (productOf(shape).value_or(INT64_MAX) > memory.count)
      place.instance =
          IndexExpression::make(Kind::Modulo, std::move(place.instance), IndexExpression::constant(memory.count));
  }
  place.shape = std::move(shape);
  return place;
}

const MemoryClass* memoryOfTiles(const Target& target) {
  for (bool local : {true, false})
    for (const MemoryClass& memory : target.memories)
      if (memory.local == local)
        return &memory;
  return nullptr;
}

IndexExpression dealPieces(const Place& place, const std::vector<int64_t>& pieces) {
  if (pieces == place.shape)
    return place.instance;
  IndexExpression number = numberByRows(pieces, allVariables(pieces.size()));
  int64_t instances = productOf(place.shape).value_or(1);
  if (productOf(pieces).value_or(INT64_MAX) > instances)
    number = IndexExpression::make(Kind::Modulo, std::move(number), IndexExpression::constant(instances));
  if (place.numbered)
    return number;
  std::vector<IndexExpression> coordinates(place.shape.size());
  int64_t stride = 1;
  for (size_t i = place.shape.size(); i-- > 0;) {
    IndexExpression coordinate = IndexExpression::make(Kind::Divide, number, IndexExpression::constant(stride));
    if (i > 0)
      coordinate =
          IndexExpression::make(Kind::Modulo, std::move(coordinate), IndexExpression::constant(place.shape[i]));
    coordinates[i] = std::move(coordinate);
    stride *= place.shape[i];
  }
  return place.instance.substitute(coordinates);
}

void mergePieces(std::vector<int64_t>& pieces, IndexExpression& instance, size_t rank) {
  if (pieces.size() <= rank)
    return;
  std::vector<IndexExpression> coordinates(pieces.size());
  std::vector<size_t> kept;
  for (size_t i = 0, spare = pieces.size() - rank; i < pieces.size(); ++i) {
    if (pieces[i] == 1 && spare > 0) {
      coordinates[i] = IndexExpression::constant(0);
      --spare;
    } else {
      kept.push_back(i);
    }
  }
  size_t leading = kept.size() - rank + 1; // how many make the first dimension
  std::vector<int64_t> merged{1};
  for (size_t i = 0; i < leading; ++i)
    merged[0] *= pieces[kept[i]];
  int64_t stride = 1;
  for (size_t i = leading; i-- > 0;) {
    IndexExpression coordinate =
        IndexExpression::make(Kind::Divide, IndexExpression::variable(0), IndexExpression::constant(stride));
    if (i > 0)
      coordinate =
          IndexExpression::make(Kind::Modulo, std::move(coordinate), IndexExpression::constant(pieces[kept[i]]));
    coordinates[kept[i]] = std::move(coordinate);
    stride *= pieces[kept[i]];
  }
  for (size_t i = leading; i < kept.size(); ++i) {
    coordinates[kept[i]] = IndexExpression::variable(static_cast<unsigned>(merged.size()));
    merged.push_back(pieces[kept[i]]);
  }
  instance = instance.substitute(coordinates);
  pieces = std::move(merged);
}

int64_t pieceElements(const std::vector<int64_t>& extents, LayoutKind kind, const std::vector<int64_t>& pieces) {
  auto divideUp = [](int64_t a, int64_t b) { return a / b + (a % b != 0); };
  int64_t total = productOf(extents).value_or(INT64_MAX);
  if (kind == LayoutKind::Replicated)
    return total;
  if (kind != LayoutKind::Block)
    return divideUp(total, productOf(pieces).value_or(INT64_MAX));
  int64_t elements = 1;
  for (size_t i = 0; i < extents.size(); ++i)
    elements *= i < pieces.size() ? divideUp(extents[i], pieces[i]) : extents[i];
  return elements;
}

} // namespace strata::hbir
