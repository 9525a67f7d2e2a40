// What streams and blocks hold while a random graph is carried out sequentially, and what one step of a kernel that
// moves data does to them: a queue and an array, by the words of the document. One thread.
#pragma once

#include "tests/svm/graph.h"

#include <deque>

namespace strata::graphs {

struct StreamState {
  std::deque<Item> items;
  int reader = none, writer = none; // executions
  int mostTags = 0, mostPushed = 0; // of all initialisations; how many are inside at once depends on the order
  bool hasData = false;             // from the beginning, at some initialisation
};

/// How far a black box has come.
struct BoxState {
  std::vector<Item> held; // of a sequence that is to be in order
  std::vector<float> past;
  bool complete = false; // all of it is held
  size_t given = 0;
};

/// What came of a step: nothing could be done; it was done; it was the last; the next would lie outside of the block.
enum class Step { Stuck, Done, Last, Outside };

class Places {
public:
  /// REQUIRES: the graph outlives it.
  explicit Places(Graph& graph) : graph_(graph) {}

  std::vector<StreamState> streams;

  int freeRoom(uint32_t stream) const;
  /// Pushes, and takes it down in the stream's history. REQUIRES: there is room.
  void append(uint32_t stream, Item item);
  /// REQUIRES: there is one.
  Item take(uint32_t stream);
  /// What somebody with a number pushes.
  Item newItem(uint32_t stream, uint64_t number, bool tag) const;
  static uint64_t digestOf(const Item& item);
  /// The element n places behind the first. REQUIRES: it is there.
  Item look(uint32_t stream, size_t n) const;

  /// Moves an element, or those of an index, where `count` have been moved. `last` says that it is the last one when a
  /// length is what limits the execution.
  Step transfer(const Object& object, const Execution& execution, uint64_t& count, bool last);
  /// Takes or gives an element of a sequence, or both.
  Step blackBox(const Object& object, const Execution& execution, BoxState& state);

private:
  Step move(const Object& object, const Execution& execution, bool last);
  Step strided(const Object& object, const Execution& execution, uint64_t count, bool last);
  Step indexed(const Object& object, const Execution& execution, bool last);
  uint8_t* placeIn(const Object& object, uint64_t element);
  uint8_t* placeOf(uint32_t stream, uint64_t number);
  uint8_t* stridedPlace(const Object& object, const Execution& execution, uint64_t count);
  void scatterTo(const Object& object, uint8_t* at, bool& tag);
  void gatherFrom(const Object& object, const uint8_t* at, bool tag);

  Graph& graph_;
};

} // namespace strata::graphs
