// Blocks distributed over the instances of a memory: a window whose backend finds the instance and the place of each
// element. A move goes run by run: elements that follow each other in one dimension and lie in one block of one
// instance are copied at once.
//
// A window belongs to the code that acquired it; moves of it may go on from any execution. Nothing here is locked: the
// layout never changes, and moves of different elements touch different bytes.
#include "base/machine/instance_range.h"
#include "runtime/abi.h"
#include "runtime/core/failure.h"
#include "runtime/core/scheduler.h"
#include "runtime/core/window.h"
#include "runtime/host/machine.h"
#include "runtime/host/ranks.h"

#include <algorithm>
#include <cstring>
#include <string>
#include <vector>

namespace strata::runtime {
namespace {

struct Dimension {
  int64_t extent = 0;
  machine::Shares shares = machine::Shares::ofDimension(0, 1, 0);
  int64_t stride = 1; // of the window, in elements
  int64_t step = 1;   // in an instance, in bytes
  int64_t skip = 1;   // instances from one part to the next
};

/// Where one element is.
struct Place {
  int64_t instance = 0, bytes = 0;
};

template <typename Element>
void copyEach(char* to, int64_t toStep, const char* from, int64_t fromStep, int64_t count) {
  for (int64_t i = 0; i < count; ++i)
    std::memcpy(to + i * toStep, from + i * fromStep, sizeof(Element));
}

void copyRun(char* to, int64_t toStep, const char* from, int64_t fromStep, int64_t count, int64_t bytes) {
  if (toStep == bytes && fromStep == bytes)
    std::memcpy(to, from, static_cast<size_t>(count * bytes));
  else if (bytes == 4)
    copyEach<uint32_t>(to, toStep, from, fromStep, count);
  else if (bytes == 8)
    copyEach<uint64_t>(to, toStep, from, fromStep, count);
  else
    for (int64_t i = 0; i < count; ++i)
      std::memcpy(to + i * toStep, from + i * fromStep, static_cast<size_t>(bytes));
}

class DistributedBlock : public WindowBackend {
public:
  DistributedBlock(const StrataLayout& layout, const Store& store, const StrataMemory& memory, int64_t firstInstance,
                   int64_t joined, const char* what)
      : store_(store), address_(layout.address), joined_(layout.stack >= 0 ? joined : 0),
        between_(static_cast<int64_t>(store.step)), firstInstance_(firstInstance), instances_(store.instances),
        within_(layout.within), across_(layout.across), dimensions_(static_cast<size_t>(layout.rank)) {
    const auto alignment = static_cast<int64_t>(std::max<uint32_t>(memory.alignment, 1));
    int64_t skip = 1, stride = 1, step = layout.element_bytes;
    for (size_t d = dimensions_.size(); d-- > 0;) {
      Dimension& dimension = dimensions_[d];
      dimension.extent = std::max<int64_t>(layout.extents[d], 0);
      dimension.shares = machine::Shares::ofDimension(dimension.extent, layout.grid[d], layout.block_sizes[d]);
      dimension.stride = stride;
      dimension.step = step;
      dimension.skip = skip;
      stride *= std::max<int64_t>(dimension.extent, 1);
      skip *= dimension.shares.parts();
      step *= dimension.shares.room();
      if (d + 1 == dimensions_.size()) // rows begin at multiples of the memory's alignment
        step = machine::divideUp(step, alignment) * alignment;
    }
    if (joined_)
      address_ = store.push(memory, static_cast<uint64_t>(firstInstance), static_cast<uint64_t>(joined_), layout.stack,
                            step, what);
    first_ = store.first + static_cast<uint64_t>(firstInstance) * store.step + address_;
  }
  ~DistributedBlock() override {
    if (Ranks* all = ranks(); all && window_)
      all->closed(window_);
    store_.pop(static_cast<uint64_t>(firstInstance_), static_cast<uint64_t>(joined_), address_);
  }
  DistributedBlock(const DistributedBlock&) = delete;
  DistributedBlock& operator=(const DistributedBlock&) = delete;

  /// Other ranks know the block by its window, and are told when it is closed.
  void knownAs(const void* window) { window_ = window; }

  /// In one process, and where the other window is every rank's: share by share, from or to where the elements lie.
  bool exchange(const WindowExchange& move) override {
    Ranks* const all = ranks();
    if (ownInstance() >= 0 || !isAlong(move) || (all && (all->own() != 0 || !move.other.backend->isEverywhere())))
      return false;
    if (all)
      all->exchange({window_, move});
    else
      exchangeOwn(move);
    int64_t bytes = move.elementBytes;
    for (int32_t d = 0; d < move.rank; ++d)
      bytes *= move.extents[d];
    if (across_)
      strata_count(across_, bytes);
    return true;
  }

  /// REQUIRES: it could be exchanged.
  void exchangeOwn(const WindowExchange& move) const {
    const size_t rank = dimensions_.size();
    std::vector<std::vector<std::vector<Runs>>> runs(rank); // by dimension and part
    for (size_t d = 0; d < rank; ++d)
      runs[d] = runsOf(dimensions_[d], startOf(move, d), move.extents[d]);
    // By parts of each dimension, then by the runs of these.
    std::vector<size_t> part(rank, 0);
    do {
      int64_t instance = 0;
      bool isEmpty = false;
      for (size_t d = 0; d < rank; ++d) {
        instance += static_cast<int64_t>(part[d]) * dimensions_[d].skip;
        isEmpty |= runs[d][part[d]].empty();
      }
      Ranks* const all = ranks();
      if (isEmpty || (all && rankOf(firstInstance_ + instance, instances_, *all) != all->own()))
        continue;
      std::vector<size_t> which(rank, 0);
      do {
        std::vector<const Runs*> chosen;
        for (size_t d = 0; d < rank; ++d)
          chosen.push_back(&runs[d][part[d]][which[d]]);
        exchangeRuns(move, chosen, first_ + instance * between_);
      } while (next(which, [&](size_t d) { return runs[d][part[d]].size(); }));
    } while (next(part, [&](size_t d) { return runs[d].size(); }));
    if (!move.intoWindow)
      move.other.backend->settle();
  }

  void move(const WindowMove& move) override {
    if (moveShareByShare(move))
      return;
    Counts counts;
    moveRows(move, ownInstance(), counts);
    close(counts);
  }

  char* inPlace(const WindowMove& part, int64_t* strides) override { return placeIn(ownInstance(), part, strides); }

  void readEach(const WindowMove& first, const std::vector<int64_t>& offsets, int64_t memoryStep) override {
    const int64_t own = ownInstance();
    Counts counts;
    WindowMove part = first;
    for (const int64_t offset : offsets) {
      part.offset = offset;
      moveRows(part, own, counts);
      part.memory += memoryStep;
    }
    close(counts);
  }

private:
  /// A large move of control's, from or to memory that every rank reaches: each moves what lies in its share, all at
  /// once. False, and nothing is moved, for others.
  bool moveShareByShare(const WindowMove& move) {
    constexpr int64_t least = 1 << 16; // bytes; below, asking takes longer
    Ranks* const all = ranks();
    if (!all || all->own() != 0)
      return false;
    int64_t bytes = move.elementBytes;
    for (int32_t d = 0; d < move.rank; ++d)
      bytes *= move.extents[d];
    const WindowPlace home = bytes < least ? WindowPlace() : all->homeOf(move.memory);
    return home.backend && exchange({move.intoWindow, move.offset, move.windowStrides, home, move.memoryStrides,
                                     move.extents, move.rank, move.elementBytes});
  }

  /// Where a part is, if all of it is in one run of each dimension in this instance.
  char* placeIn(int64_t instance, const WindowMove& part, int64_t* strides) const {
    if (instance < 0 || static_cast<size_t>(part.rank) != dimensions_.size())
      return nullptr;
    Place place;
    const int64_t at = part.offset / part.elementBytes;
    for (size_t d = 0; d < dimensions_.size(); ++d) {
      const Dimension& dimension = dimensions_[d];
      const int64_t count = part.extents[d];
      const int64_t start = dimension.extent ? at / dimension.stride % dimension.extent : 0;
      if (count < 1 || (count != 1 && part.windowStrides[d] != dimension.stride) ||
          count > std::min(dimension.shares.run(start), dimension.extent - start) ||
          dimension.step % part.elementBytes != 0)
        return nullptr;
      add(place, dimension, start);
      strides[d] = dimension.step / part.elementBytes;
    }
    return place.instance == instance ? first_ + instance * between_ + place.bytes : nullptr;
  }

  struct Counts {
    int64_t within = 0, across = 0;
    bool elsewhere = false; // some of it on other ranks
  };

  /// When all of a move has been begun.
  void close(const Counts& counts) {
    if (counts.elsewhere)
      ranks()->finish();
    if (within_ && counts.within)
      strata_count(within_, counts.within);
    if (across_ && counts.across)
      strata_count(across_, counts.across);
  }

  /// The elements of a move in one dimension that follow each other in one part of it.
  struct Piece {
    int64_t length;
    int64_t instance, bytes; // what they add to their places
    int64_t memory;          // bytes from the move's first element in memory
  };

  /// A move along the block's dimensions, box by box: each is a piece of every dimension, and lies in one instance.
  /// False, with nothing moved, for other moves, and those with many pieces.
  bool moveBoxes(const WindowMove& move, int64_t own, Counts& counts) {
    constexpr size_t mostDimensions = 6, mostPieces = 8;
    const size_t rank = dimensions_.size();
    if (rank == 0 || rank > mostDimensions || static_cast<size_t>(move.rank) != rank)
      return false;
    Piece pieces[mostDimensions][mostPieces];
    size_t counted[mostDimensions] = {}, which[mostDimensions] = {};
    const int64_t at = move.offset / move.elementBytes;
    for (size_t d = 0; d < rank; ++d) {
      const Dimension& dimension = dimensions_[d];
      const int64_t count = move.extents[d];
      const int64_t start = dimension.extent ? at / dimension.stride % dimension.extent : 0;
      if (count < 1 || (count != 1 && move.windowStrides[d] != dimension.stride) || start + count > dimension.extent)
        return false;
      for (int64_t done = 0, length = 0; done < count; done += length) {
        if (counted[d] == mostPieces)
          return false;
        length = std::min(dimension.shares.run(start + done), count - done);
        pieces[d][counted[d]++] = {length, dimension.shares.partOf(start + done) * dimension.skip,
                                   dimension.shares.placeOf(start + done) * dimension.step,
                                   done * move.memoryStrides[d] * move.elementBytes};
      }
    }
    for (bool isMore = true; isMore;) {
      Place place;
      char* memory = move.memory;
      int64_t extents[mostDimensions];
      for (size_t d = 0; d < rank; ++d) {
        const Piece& piece = pieces[d][which[d]];
        place.instance += piece.instance;
        place.bytes += piece.bytes;
        memory += piece.memory;
        extents[d] = piece.length;
      }
      moveBox(move, place, elsewhere(place.instance), memory, extents, 0, own, counts);
      isMore = false;
      for (size_t d = rank; d-- > 0 && !isMore;) {
        isMore = ++which[d] < counted[d];
        if (!isMore)
          which[d] = 0;
      }
    }
    return true;
  }

  /// The elements from `place` on in dimensions from `d` on; `rank` is elsewhere()'s.
  void moveBox(const WindowMove& move, Place place, int64_t rank, char* memory, const int64_t* extents, size_t d,
               int64_t own, Counts& counts) {
    const int64_t memoryStep = move.memoryStrides[d] * move.elementBytes;
    if (d + 1 == dimensions_.size())
      return run(move, place, rank, dimensions_[d].step, memory, memoryStep, extents[d], move.elementBytes, own,
                 counts);
    // Rows that lie densely on both sides are elements.
    if (d + 2 == dimensions_.size() && rank >= 0 && dimensions_[d + 1].step == move.elementBytes &&
        (move.memoryStrides[d + 1] == 1 || extents[d + 1] == 1))
      return run(move, place, rank, dimensions_[d].step, memory, memoryStep, extents[d],
                 extents[d + 1] * move.elementBytes, own, counts);
    for (int64_t i = 0; i < extents[d]; ++i, place.bytes += dimensions_[d].step, memory += memoryStep)
      moveBox(move, place, rank, memory, extents, d + 1, own, counts);
  }

  void moveRows(const WindowMove& move, int64_t own, Counts& counts) {
    if (moveBoxes(move, own, counts))
      return;
    std::vector<int64_t> index(static_cast<size_t>(move.rank), 0);
    int64_t at = move.offset / move.elementBytes;
    char* memory = move.memory;
    const int32_t last = move.rank - 1;
    const int64_t count = move.rank ? move.extents[last] : 1;
    const int64_t windowStep = move.rank ? move.windowStrides[last] : 1;
    const int64_t memoryStep = (move.rank ? move.memoryStrides[last] : 1) * move.elementBytes;
    while (true) {
      row(move, at, windowStep, memory, memoryStep, count, own, counts);
      int32_t next = last;
      while (--next >= 0) {
        const auto i = static_cast<size_t>(next);
        at += move.windowStrides[next];
        memory += move.memoryStrides[next] * move.elementBytes;
        if (++index[i] < move.extents[next])
          break;
        at -= index[i] * move.windowStrides[next];
        memory -= index[i] * move.memoryStrides[next] * move.elementBytes;
        index[i] = 0;
      }
      if (next < 0)
        break;
    }
  }

  /// Runs of one length in one dimension and one part of it, at even distances: where they begin in the block and where
  /// they lie in the part.
  struct Runs {
    int64_t start, place, length;
    int64_t count = 1, apart = 0, placesApart = 0;
  };

  /// `count` elements from one on, for each part. Shares that are contiguous have one, chunks of a cyclic one three at
  /// most: what is cut off at the beginning and at the end, and those between.
  static std::vector<std::vector<Runs>> runsOf(const Dimension& dimension, int64_t from, int64_t count) {
    std::vector<std::vector<Runs>> parts(static_cast<size_t>(dimension.shares.parts()));
    for (int64_t index = from, length = 0; index < from + count; index += length) {
      length = std::min(dimension.shares.run(index), from + count - index);
      const int64_t place = dimension.shares.placeOf(index);
      std::vector<Runs>& all = parts[static_cast<size_t>(dimension.shares.partOf(index))];
      Runs* const last = all.empty() ? nullptr : &all.back();
      if (last && last->length == length &&
          (last->count == 1 || (index == last->start + last->count * last->apart &&
                                place == last->place + last->count * last->placesApart))) {
        if (last->count++ == 1) {
          last->apart = index - last->start;
          last->placesApart = place - last->place;
        }
      } else {
        all.push_back({index, place, length});
      }
    }
    return parts;
  }

  /// Counts numbers up, the last one first, each below its bound; false when all have been.
  template <typename Bound>
  static bool next(std::vector<size_t>& numbers, Bound bound) {
    for (size_t d = numbers.size(); d-- > 0;) {
      if (++numbers[d] < bound(d))
        return true;
      numbers[d] = 0;
    }
    return false;
  }

  int64_t startOf(const WindowExchange& move, size_t d) const {
    const Dimension& dimension = dimensions_[d];
    return move.offset / move.elementBytes / dimension.stride % std::max<int64_t>(dimension.extent, 1);
  }

  /// Whether the dimensions of a move are those of the block, without steps, and its elements lie at multiples of their
  /// size.
  bool isAlong(const WindowExchange& move) const {
    if (static_cast<size_t>(move.rank) != dimensions_.size())
      return false;
    for (size_t d = 0; d < dimensions_.size(); ++d) {
      const Dimension& dimension = dimensions_[d];
      if ((move.extents[d] != 1 && move.strides[d] != dimension.stride) ||
          startOf(move, d) + move.extents[d] > dimension.extent || dimension.step % move.elementBytes != 0)
        return false;
    }
    return true;
  }

  void exchangeRuns(const WindowExchange& move, const std::vector<const Runs*>& runs, char* memory) const {
    std::vector<int64_t> extents, memoryStrides, otherStrides;
    int64_t offset = move.other.offset;
    for (size_t d = 0; d < runs.size(); ++d) {
      const Runs& each = *runs[d];
      const int64_t step = dimensions_[d].step / move.elementBytes;
      memory += each.place * dimensions_[d].step;
      offset += (each.start - startOf(move, d)) * move.otherStrides[d] * move.elementBytes;
      extents.insert(extents.end(), {each.count, each.length});
      memoryStrides.insert(memoryStrides.end(), {each.placesApart * step, step});
      otherStrides.insert(otherStrides.end(), {each.apart * move.otherStrides[d], move.otherStrides[d]});
    }
    move.other.backend->move({!move.intoWindow, memory, memoryStrides.data(), offset, otherStrides.data(),
                              extents.data(), static_cast<int32_t>(extents.size()), move.elementBytes});
  }

  /// The instance that belongs to the processor that moves, counted from this block's first; -1: none is its own.
  int64_t ownInstance() const {
    const Execution& me = *current();
    const StrataMachine* machine = me.runContext->machine();
    if (!machine || me.processor >= machine->processor_count || machine->processors[me.processor].count < instances_)
      return -1;
    return instanceOf(me, instances_) - firstInstance_;
  }

  static void add(Place& place, const Dimension& dimension, int64_t index) {
    place.instance += dimension.shares.partOf(index) * dimension.skip;
    place.bytes += dimension.shares.placeOf(index) * dimension.step;
  }

  /// Moves `count` elements that are `step` apart in the window.
  void row(const WindowMove& move, int64_t at, int64_t step, char* memory, int64_t memoryStep, int64_t count,
           int64_t own, Counts& counts) {
    // The dimension that the row runs along, if it stays in one.
    size_t along = dimensions_.size();
    for (size_t d = dimensions_.size(); d-- > 0 && along == dimensions_.size();) {
      const Dimension& dimension = dimensions_[d];
      const int64_t start = dimension.extent ? at / dimension.stride % dimension.extent : 0;
      if (step > 0 && step % dimension.stride == 0 &&
          start + (count - 1) * (step / dimension.stride) < dimension.extent)
        along = d;
    }
    if (along == dimensions_.size()) {
      for (int64_t i = 0; i < count; ++i) {
        Place place;
        for (const Dimension& dimension : dimensions_)
          add(place, dimension, (at + i * step) / dimension.stride % dimension.extent);
        run(move, place, elsewhere(place.instance), 0, memory + i * memoryStep, 0, 1, move.elementBytes, own, counts);
      }
      return;
    }
    const Dimension& dimension = dimensions_[along];
    Place others;
    for (size_t d = 0; d < dimensions_.size(); ++d)
      if (d != along)
        add(others, dimensions_[d], at / dimensions_[d].stride % dimensions_[d].extent);
    const int64_t apart = step / dimension.stride;
    int64_t index = at / dimension.stride % dimension.extent;
    while (count > 0) {
      const int64_t here = std::min(count, machine::divideUp(dimension.shares.run(index), apart));
      Place place = others;
      add(place, dimension, index);
      run(move, place, elsewhere(place.instance), apart * dimension.step, memory, memoryStep, here, move.elementBytes,
          own, counts);
      count -= here;
      index += here * apart;
      memory += here * memoryStep;
    }
  }

  /// The rank that has an instance, counted from this block's first, if that is not this one; else -1.
  int64_t elsewhere(int64_t instance) const {
    const Ranks* all = ranks();
    const int64_t rank = all ? rankOf(firstInstance_ + instance, instances_, *all) : -1;
    return all && rank != all->own() ? rank : -1;
  }

  /// Moves `count` elements of `bytes` bytes each.
  void run(const WindowMove& move, const Place& place, int64_t rank, int64_t step, char* memory, int64_t memoryStep,
           int64_t count, int64_t bytes, int64_t own, Counts& counts) {
    char* element = first_ + place.instance * between_ + place.bytes;
    (place.instance == own ? counts.within : counts.across) += count * bytes;
    if (rank >= 0) {
      counts.elsewhere = true;
      const Elements there{element, step}, here{memory, memoryStep};
      return move.intoWindow ? ranks()->write(rank, there, here, count, bytes)
                             : ranks()->read(rank, here, there, count, bytes);
    }
    if (move.intoWindow)
      copyRun(element, step, memory, memoryStep, count, bytes);
    else
      copyRun(memory, memoryStep, element, step, count, bytes);
  }

  const Store& store_;
  const void* window_ = nullptr;
  int64_t address_; // of the shares, in each instance
  int64_t joined_;  // instances on whose stacks it lies; 0: it has an address of its own
  char* first_ = nullptr;
  int64_t between_; // instances
  int64_t firstInstance_;
  int64_t instances_; // of the memory
  const char* within_;
  const char* across_;
  std::vector<Dimension> dimensions_;
};

} // namespace
} // namespace strata::runtime

using namespace strata::runtime;

char* strata::runtime::openDistributed(const StrataLayout& layout, const char* what, void* at) {
  const Execution& me = *current();
  const Stores* stores = storesOf(me);
  if (!stores || layout.memory >= stores->memories.size() || layout.virtual_memory >= stores->memories.size() ||
      !stores->memories[layout.memory].first)
    fail("runtime-no-store", std::string("'") + what + "' has no memory to be distributed over");
  const Store& store = stores->memories[layout.memory];
  const int64_t joined = std::max<uint32_t>(stores->memories[layout.virtual_memory].instances, 1);
  const int64_t each = strata::machine::instancesEach<int64_t>(store.instances, joined);
  const int64_t which = std::min(instanceOf(me, joined), joined - 1);
  int64_t bytes = layout.element_bytes;
  for (int32_t d = 0; d < layout.rank; ++d)
    if (__builtin_mul_overflow(bytes, std::max<int64_t>(layout.extents[d], 0), &bytes))
      failOutOfMemory(what, INT64_MAX);
  auto block = std::make_unique<DistributedBlock>(layout, store, me.runContext->machine()->memories[layout.memory],
                                                  which * each, each, what);
  DistributedBlock& made = *block;
  char* window = openWindow(bytes, std::move(block), what, at);
  if (Ranks* all = ranks(); all && all->own() == 0) {
    made.knownAs(window);
    all->opened(window, layout, what);
  }
  return window;
}

void strata::runtime::exchangeOwn(const RankExchange& move) {
  static_cast<const DistributedBlock*>(findWindow(move.block).backend)->exchangeOwn(move.move);
}

void* strata_window_acquire_distributed(const StrataLayout* layout, const char* what) {
  return openDistributed(*layout, what, nullptr);
}
