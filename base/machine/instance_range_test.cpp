// Ranges of instances and shares against what their definitions say, thing by thing and instance by instance, for all
// small cases; and at the ends of 64 bits.
#include "base/machine/instance_range.h"

#include <gtest/gtest.h>
#include <set>
#include <vector>

namespace strata::machine {
namespace {

constexpr int64_t most = std::numeric_limits<int64_t>::max(), least = std::numeric_limits<int64_t>::min();

// Constants where arguments are.
static_assert(Shares::ofLoop(10, 4, 0).size(1) == 3 && Shares::ofLoop(10, 4, 0).begin(2) == 6);
static_assert(Shares::ofLoop(10, 2, 4).size(0) == 6 && Shares::ofLoop(10, 2, 4).partOf(9) == 0);
static_assert(InstanceRange::all(8).part(1, 4)->inClass(8, 64)->first() == 16);
static_assert(InstanceRange::memoriesOf(3, 8, 4)->first() == 1);

using Numbers = std::vector<int64_t>;

Numbers numbersOf(const InstanceRange& range) {
  Numbers numbers;
  for (int64_t i = 0; i < range.width(); ++i)
    numbers.push_back(range.first() + i);
  return numbers;
}

/// Distributes `count` things one by one: the things of each part.
std::vector<Numbers> distribute(int64_t count, int64_t parts, int64_t chunk) {
  std::vector<Numbers> distributed(static_cast<size_t>(parts));
  if (chunk == 0) { // how many each has, then which ones
    std::vector<int64_t> sizes(distributed.size());
    for (int64_t i = 0; i < count; ++i)
      ++sizes[static_cast<size_t>(i) % sizes.size()];
    for (int64_t next = 0, part = 0; part < parts; ++part)
      for (int64_t i = 0; i < sizes[static_cast<size_t>(part)]; ++i)
        distributed[static_cast<size_t>(part)].push_back(next++);
    return distributed;
  }
  size_t part = 0;
  int64_t left = chunk;
  for (int64_t i = 0; i < count; ++i) {
    distributed[part].push_back(i);
    if (--left == 0) {
      left = chunk;
      part = (part + 1) % distributed.size();
    }
  }
  return distributed;
}

void compare(const Shares& shares, const std::vector<Numbers>& distributed) {
  SCOPED_TRACE(testing::Message() << shares.count() << " things, " << shares.parts() << " parts, chunk "
                                  << shares.chunk());
  int64_t busy = 0, seen = 0;
  ASSERT_EQ(shares.parts(), static_cast<int64_t>(distributed.size()));
  for (int64_t part = 0; part < shares.parts(); ++part) {
    const Numbers& own = distributed[static_cast<size_t>(part)];
    const auto size = static_cast<int64_t>(own.size());
    EXPECT_EQ(shares.size(part), size) << part;
    EXPECT_EQ(shares.begin(part), own.empty() ? shares.count() : own.front()) << part;
    EXPECT_LE(size, shares.size(0));
    busy += !own.empty();
    seen += size;
    for (int64_t place = 0; place < size; ++place) {
      const int64_t thing = own[static_cast<size_t>(place)];
      EXPECT_EQ(shares.at(part, place), thing);
      EXPECT_EQ(shares.partOf(thing), part) << thing;
      EXPECT_EQ(shares.placeOf(thing), place) << thing;
      int64_t run = 1;
      while (place + run < size && own[static_cast<size_t>(place + run)] == thing + run)
        ++run;
      EXPECT_EQ(shares.run(thing), run) << thing;
    }
  }
  EXPECT_EQ(seen, shares.count());
  EXPECT_EQ(shares.busy(), busy);
  EXPECT_EQ(shares.size(-1), 0);
  EXPECT_EQ(shares.size(shares.parts()), 0);
  EXPECT_EQ(shares.begin(shares.parts()), shares.count());
  EXPECT_GE(shares.room(), shares.size(0));
  EXPECT_LE(shares.room(), shares.count());
  if (shares.chunk())
    EXPECT_LT(shares.room(), shares.size(0) + shares.chunk());
}

TEST(Shares, EachThingIsDistributedOnce) {
  for (int64_t count = 0; count <= 24; ++count)
    for (int64_t parts = 1; parts <= 9; ++parts)
      for (int64_t chunk = 0; chunk <= 10; ++chunk)
        compare(Shares::ofLoop(count, parts, chunk), distribute(count, parts, chunk));
}

TEST(Shares, ADimensionIsCutIntoBlocksOfOneSize) {
  for (int64_t extent = 0; extent <= 40; ++extent)
    for (int64_t parts = 1; parts < 7; ++parts)
      for (int64_t size = 0; size < 9; ++size) {
        int64_t each = size; // the least with which all fit
        while (each * parts < extent && size == 0)
          ++each;
        each = std::max<int64_t>(each, 1);
        const Shares shares = Shares::ofDimension(extent, parts, size);
        EXPECT_EQ(shares, Shares::blockCyclic(extent, parts, each));
        int64_t furthest = 0;
        for (int64_t i = 0; i < extent; ++i)
          furthest = std::max(furthest, i / each / parts * each + i % each + 1);
        EXPECT_GE(shares.room(), furthest);
        EXPECT_LT(shares.room(), furthest + each);
      }
}

TEST(Shares, IterationsBetweenBounds) {
  for (int64_t lower = -5; lower <= 5; ++lower)
    for (int64_t upper = -5; upper <= 5; ++upper)
      EXPECT_EQ(Shares::iterations(lower, upper), std::max<int64_t>(upper - lower, 0));
  EXPECT_EQ(Shares::iterations(least, -1), most);
  EXPECT_EQ(Shares::iterations(least, 0), most); // 2^63
  EXPECT_EQ(Shares::iterations(least, most), most);
  EXPECT_EQ(Shares::iterations(most, least), 0);
  EXPECT_EQ(Shares::iterations(most - 1, most), 1);
}

TEST(Shares, TheEndOf64Bits) {
  for (int64_t count : {most, most - 1, most / 2 + 1, int64_t(1) << 40})
    for (int64_t parts : {int64_t(1), int64_t(2), int64_t(3), int64_t(1) << 20, most - 1, most})
      for (int64_t chunk : {int64_t(0), int64_t(1), int64_t(7), int64_t(1) << 62, most - 1, most}) {
        const Shares shares = Shares::ofLoop(count, parts, chunk);
        SCOPED_TRACE(testing::Message() << count << " " << parts << " " << chunk);
        EXPECT_GE(shares.busy(), 1);
        for (int64_t thing : {int64_t(0), int64_t(1), count / 3, count / 2, count - 2, count - 1}) {
          const int64_t part = shares.partOf(thing), place = shares.placeOf(thing);
          EXPECT_TRUE(part >= 0 && part < shares.busy()) << part;
          EXPECT_TRUE(place >= 0 && place < shares.size(part)) << place;
          EXPECT_EQ(shares.at(part, place), thing);
          EXPECT_TRUE(shares.run(thing) >= 1 && shares.run(thing) <= count - thing);
        }
        // The last part that has anything ends with its last thing, wherever that is.
        const int64_t last = shares.busy() - 1, size = shares.size(last);
        EXPECT_TRUE(size >= 1 && size <= count) << size;
        EXPECT_EQ(shares.placeOf(shares.at(last, size - 1)), size - 1);
        EXPECT_TRUE(shares.room() >= shares.size(0) && shares.room() <= count);
      }
}

TEST(Shares, SenselessArgumentsAreMovedToTheNearest) {
  EXPECT_EQ(Shares::contiguous(-3, 2), Shares::contiguous(0, 2));
  EXPECT_EQ(Shares::contiguous(3, 0), Shares::contiguous(3, 1));
  EXPECT_EQ(Shares::contiguous(3, least), Shares::contiguous(3, 1));
  EXPECT_EQ(Shares::blockCyclic(3, 2, 0), Shares::blockCyclic(3, 2, 1));
  EXPECT_EQ(Shares::ofLoop(3, 2, -1), Shares::contiguous(3, 2));
  EXPECT_EQ(Shares::ofDimension(-1, 0, least), Shares::blockCyclic(0, 1, 1));
}

TEST(InstanceRange, IsOneInstanceAtLeast) {
  EXPECT_EQ(numbersOf(InstanceRange()), Numbers{0});
  EXPECT_EQ(InstanceRange::all(0), InstanceRange());
  EXPECT_EQ(InstanceRange::all(least), InstanceRange());
  EXPECT_EQ(numbersOf(InstanceRange::all(3)), (Numbers{0, 1, 2}));
  EXPECT_FALSE(InstanceRange::of(-1, 1) || InstanceRange::of(0, 0) || InstanceRange::of(0, -1));
  EXPECT_TRUE(InstanceRange::of(0, most) && InstanceRange::of(most - 1, 1));
  EXPECT_FALSE(InstanceRange::of(1, most) || InstanceRange::of(most, 1));
  EXPECT_TRUE(InstanceRange::of(3, 2)->contains(4));
  EXPECT_FALSE(InstanceRange::of(3, 2)->contains(5) || InstanceRange::of(3, 2)->contains(2));
  EXPECT_FALSE(InstanceRange::all(most).contains(most) || InstanceRange::all(2).contains(least));
}

TEST(InstanceRange, SubsetsAreCountedWithin) {
  for (int64_t first = 0; first < 4; ++first)
    for (int64_t width = 1; width < 6; ++width) {
      const InstanceRange range = *InstanceRange::of(first, width);
      for (int64_t from = 0; from < 8; ++from)
        for (int64_t some = 1; some < 8; ++some) {
          bool isWithin = true;
          for (int64_t i = 0; i < some; ++i)
            isWithin &= range.contains(first + from + i);
          EXPECT_EQ(range.hasSubset(from, some), isWithin);
          EXPECT_EQ(range.subset(from, some), InstanceRange::of(first + from, some));
        }
    }
  EXPECT_FALSE(InstanceRange::all(4).subset(-1, 1) || InstanceRange::all(4).subset(0, 0));
  EXPECT_FALSE(InstanceRange::of(1, 1)->subset(most, 1) || InstanceRange::of(1, 1)->subset(1, most));
  for (int64_t from : {least, int64_t(-1), most})
    for (int64_t width : {least, int64_t(0), int64_t(1), most})
      EXPECT_FALSE(InstanceRange::of(1, 4)->hasSubset(from, width));
}

TEST(InstanceRange, PartsAreEqualAndDisjoint) {
  for (int64_t first = 0; first < 4; ++first)
    for (int64_t width = 1; width <= 20; ++width)
      for (int64_t parts = 1; parts <= 24; ++parts) {
        const InstanceRange range = *InstanceRange::of(first, width);
        int64_t each = 0; // the most that everyone can have
        while ((each + 1) * parts <= width)
          ++each;
        each = std::max<int64_t>(each, 1);
        EXPECT_EQ(range.partWidth(parts), each);
        int64_t next = first;
        for (int64_t part = 0; part < parts; ++part, next += each)
          EXPECT_EQ(range.part(part, parts), InstanceRange::of(next, each));
        EXPECT_EQ(next <= first + width, parts <= width);
      }
  EXPECT_EQ(InstanceRange::all(4).partWidth(0), 4);
  EXPECT_EQ(InstanceRange::all(4).partWidth(least), 4);
  EXPECT_EQ(InstanceRange::all(1).part(most - 1, most)->first(), most - 1);
  EXPECT_FALSE(InstanceRange::all(1).part(most, most) || InstanceRange::of(1, 1)->part(most - 1, most));
  EXPECT_FALSE(InstanceRange::all(4).part(-1, 2) || InstanceRange::all(most).part(2, 1));
}

/// Whom each instance of the class with more of them belongs to, by distributing them in order: -1 is nobody.
Numbers owners(int64_t many, int64_t few) {
  Numbers result(static_cast<size_t>(many), -1);
  int64_t each = 0;
  while ((each + 1) * few <= many)
    ++each;
  size_t next = 0;
  for (int64_t owner = 0; owner < few; ++owner)
    for (int64_t i = 0; i < each; ++i)
      result[next++] = owner;
  return result;
}

TEST(InstanceRange, InstancesOfAnotherClassAreThoseThatBelong) {
  for (int64_t own = 1; own <= 12; ++own)
    for (int64_t others = 1; others <= 12; ++others)
      for (int64_t first = 0; first < own; ++first)
        for (int64_t width = 1; first + width <= own; ++width) {
          SCOPED_TRACE(testing::Message() << first << " to " << first + width << " of " << own << ", " << others);
          const InstanceRange range = *InstanceRange::of(first, width);
          const InstanceRange found = *range.inClass(own, others);
          if (others >= own) {
            Numbers wanted;
            const Numbers belong = owners(others, own);
            for (int64_t i = 0; i < others; ++i)
              if (range.contains(belong[static_cast<size_t>(i)]))
                wanted.push_back(i);
            EXPECT_EQ(numbersOf(found), wanted);
            continue;
          }
          const Numbers belong = owners(own, others);
          const int64_t owner = belong[static_cast<size_t>(first)];
          EXPECT_EQ(found.first() < others ? found.first() : -1, owner);
          const int64_t sets = width / std::count(belong.begin(), belong.end(), 0);
          EXPECT_EQ(found.width(), std::max<int64_t>(sets, 1));
        }
  EXPECT_EQ(InstanceRange::all(3).inClass(0, -1), InstanceRange::all(3));
  EXPECT_FALSE(InstanceRange::of(most / 2, 1)->inClass(1, 3) || InstanceRange::all(most).inClass(1, 2));
  EXPECT_EQ(InstanceRange::all(most).inClass(most, 1), InstanceRange());
}

TEST(InstanceRange, NestedRangesAreDisjointAndCoverWhatDivides) {
  // Nodes of cores of lanes: each part of the nodes, of their cores, and of the lanes of those is someone else's.
  for (int64_t nodes = 1; nodes <= 4; ++nodes)
    for (int64_t cores = nodes; cores <= 3 * nodes; cores += nodes)
      for (int64_t lanes = cores; lanes <= 3 * cores; lanes += cores)
        for (int64_t parts = 1; parts <= nodes; ++parts)
          for (int64_t inner = 1; inner <= 3; ++inner) {
            std::set<int64_t> seen;
            for (int64_t i = 0; i < parts; ++i) {
              const InstanceRange node = *InstanceRange::all(nodes).part(i, parts);
              const InstanceRange those = *node.inClass(nodes, cores);
              EXPECT_EQ(those.inClass(cores, nodes), node);
              if (inner > those.width())
                continue;
              for (int64_t k = 0; k < inner; ++k) {
                const InstanceRange core = *those.part(k, inner);
                EXPECT_TRUE(those.hasSubset(core.first() - those.first(), core.width()));
                for (int64_t lane : numbersOf(*core.inClass(cores, lanes)))
                  EXPECT_TRUE(seen.insert(lane).second) << lane;
              }
              if (those.width() % inner == 0 && nodes % parts == 0)
                EXPECT_EQ(static_cast<int64_t>(seen.size()), (i + 1) * (lanes / parts));
            }
            EXPECT_TRUE(seen.empty() || *seen.rbegin() < lanes);
          }
}

TEST(InstanceRange, MemoriesBelongToProcessors) {
  for (int64_t processors = 1; processors <= 12; ++processors)
    for (int64_t memories = 1; memories <= 12; ++memories) {
      SCOPED_TRACE(testing::Message() << processors << " processors, " << memories << " memories");
      if (memories >= processors) {
        const Numbers belong = owners(memories, processors);
        for (int64_t number = 0; number < processors; ++number)
          for (int64_t memory = 0; memory < memories; ++memory)
            EXPECT_EQ(InstanceRange::memoriesOf(number, processors, memories)->contains(memory),
                      belong[static_cast<size_t>(memory)] == number);
      } else {
        int64_t sharing = 1; // the fewest with which the memories do
        while (sharing * memories < processors)
          ++sharing;
        int64_t memory = 0, left = sharing;
        for (int64_t number = 0; number < processors; ++number) {
          EXPECT_EQ(numbersOf(*InstanceRange::memoriesOf(number, processors, memories)), Numbers{memory});
          EXPECT_LT(memory, memories);
          if (--left == 0) {
            ++memory;
            left = sharing;
          }
        }
      }
      EXPECT_FALSE(InstanceRange::memoriesOf(processors, processors, memories));
      EXPECT_FALSE(InstanceRange::memoriesOf(-1, processors, memories));
    }
  EXPECT_FALSE(InstanceRange::memoriesOf(0, 0, 1) || InstanceRange::memoriesOf(0, least, 1));
  EXPECT_EQ(InstanceRange::memoriesOf(2, 3, 0), InstanceRange());
  EXPECT_EQ(InstanceRange::memoriesOf(most - 1, most, 1), InstanceRange());
  EXPECT_EQ(InstanceRange::memoriesOf(0, 1, most), InstanceRange::all(most));
}

TEST(InstanceRange, InstancesOfEachOneAround) {
  EXPECT_EQ(instancesEach<uint64_t>(8, 4), 2u);
  EXPECT_EQ(instancesEach<uint64_t>(8, 0), 8u);
  EXPECT_EQ(instancesEach(7, 4), 1);
  EXPECT_EQ(instancesEach(3, 4), 0);
  EXPECT_EQ(divideUp(most, int64_t(2)), most / 2 + 1);
  EXPECT_EQ(divideUp(int64_t(0), most), 0);
}

} // namespace
} // namespace strata::machine
