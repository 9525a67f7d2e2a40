// Address generators against the definition of a bank: its iterations counted one by one, each word looked up by
// itself.
#include "runtime/array/simulate_banks.h"

#include <gtest/gtest.h>

#include <random>

namespace strata::array {
namespace {

/// What a bank's words are until one is outside, by configuration.h alone.
struct Word {
  int64_t cycle, element;
  bool isInside;
  bool operator==(const Word&) const = default;
};

class Definition {
public:
  Definition(const Bank& bank, const ArrayLayout& array, const Configuration& configuration)
      : bank_(bank), array_(array), configuration_(configuration) {}

  std::vector<Word> words() {
    std::vector<int64_t> point(configuration_.extents.size());
    int64_t number = 0;
    visit(point, 0, number);
    return words_;
  }

private:
  void visit(std::vector<int64_t>& point, size_t loop, int64_t& number) {
    if (loop < point.size()) {
      for (point[loop] = 0; point[loop] < configuration_.extents[loop]; ++point[loop])
        visit(point, loop + 1, number);
      return;
    }
    const int64_t n = number++;
    if (!words_.empty() && !words_.back().isInside)
      return;
    for (const Box& box : bank_.enable) {
      bool isOne = true;
      for (size_t i = 0; i < box.size(); ++i)
        isOne &= point[i] >= box[i].first && point[i] < box[i].end;
      if (!isOne)
        continue;
      int64_t element = bank_.base;
      for (size_t i = 0; i < point.size(); ++i)
        element += bank_.strides[i] * point[i];
      words_.push_back({bank_.start + n * configuration_.interval, element, isInside(point, element)});
    }
  }

  bool isInside(const std::vector<int64_t>& point, int64_t element) {
    int64_t elements = 1;
    for (const int64_t extent : array_.extents)
      elements *= extent;
    if (element < 0 || element >= elements)
      return false;
    const std::vector<int64_t> outer(point.begin(), point.begin() + bank_.blockLoops);
    if (outer != outer_) {
      outer_ = outer;
      seen_.assign(array_.extents.size(), {});
    }
    bool isIn = true;
    for (size_t i = array_.extents.size(); i-- > 0; element /= array_.extents[i]) {
      const int64_t index = element % array_.extents[i];
      isIn &= index >= bank_.block[i].first && index < bank_.block[i].end;
      if (bank_.blockLoops == 0)
        continue;
      seen_[i].push_back(index);
      isIn &= std::ranges::max(seen_[i]) - std::ranges::min(seen_[i]) < bank_.held[i];
    }
    return isIn;
  }

  const Bank& bank_;
  const ArrayLayout& array_;
  const Configuration& configuration_;
  std::vector<Word> words_;
  std::vector<int64_t> outer_ = {-1};
  std::vector<std::vector<int64_t>> seen_;
};

TEST(AddressGenerator, WordsAreThoseOfTheDefinition) {
  std::mt19937 random(7);
  const auto number = [&](int64_t first, int64_t last) {
    return std::uniform_int_distribution<int64_t>(first, last)(random);
  };
  int64_t inside = 0, outside = 0;
  for (int repetition = 0; repetition < 20000; ++repetition) {
    Configuration configuration;
    configuration.interval = number(1, 4);
    for (int64_t loops = number(1, 3); loops > 0; --loops)
      configuration.extents.push_back(number(1, 9));
    ArrayLayout array;
    int64_t elements = 1;
    for (int64_t dimensions = number(1, 3); dimensions > 0; --dimensions)
      elements *= array.extents.emplace_back(number(1, 9));
    Bank bank;
    bank.start = number(0, 9);
    // Mostly at the array's beginning, and by steps as accesses make them.
    bank.base = number(0, 1) * number(-1, elements);
    for (size_t i = 0; i < configuration.extents.size(); ++i) {
      int64_t step = 1;
      for (auto skipped = static_cast<size_t>(number(0, static_cast<int64_t>(array.extents.size()) - 1)); skipped > 0;
           --skipped)
        step *= array.extents[array.extents.size() - skipped];
      bank.strides.push_back(number(-1, 2) * step + (number(0, 5) == 0 ? number(-3, 3) : 0));
    }
    Box box;
    for (const int64_t extent : configuration.extents) {
      const int64_t first = number(0, 2) == 0 ? number(0, extent - 1) : 0;
      box.push_back({first, number(0, 2) == 0 ? number(first + 1, extent) : extent});
    }
    bank.enable = {box};
    bank.blockLoops = static_cast<uint32_t>(number(0, static_cast<int64_t>(configuration.extents.size())));
    for (const int64_t extent : array.extents) {
      const int64_t first = number(0, 3) == 0 ? number(0, extent - 1) : 0;
      bank.block.push_back({first, number(0, 3) == 0 ? number(first + 1, extent) : extent});
      if (bank.blockLoops != 0)
        bank.held.push_back(number(0, 1) == 0 ? number(1, extent) : extent);
    }
    IterationTable table(configuration.extents);
    std::string wrong;
    const IterationRuns* runs = table.find(bank.enable, wrong);
    ASSERT_TRUE(runs) << wrong;
    std::vector<Word> words;
    for (AddressGenerator made(bank, *runs, array, configuration); !made.isDone(); made.next()) {
      words.push_back({made.cycle(), made.element(), made.isInside()});
      if (!words.back().isInside)
        break;
    }
    const std::vector<Word> expected = Definition(bank, array, configuration).words();
    ASSERT_EQ(words, expected) << repetition;
    // The same by rows of words.
    array.type = Type::Uint16;
    const std::vector<std::byte> memory(2 * static_cast<size_t>(elements));
    std::vector<Word> inRows;
    for (Words<const std::byte> made({bank, *runs, array, configuration}, memory.data()); !made.isDone();) {
      const bool isInside = made.isInside();
      inRows.push_back({made.cycle(), isInside ? (made.at() - memory.data()) / 2 : made.element(), isInside});
      if (!isInside)
        break;
      if (made.isStraight() && number(0, 1) == 0)
        made.nextStraight();
      else
        made.next();
    }
    ASSERT_EQ(inRows, expected) << repetition;
    inside += static_cast<int64_t>(words.size());
    outside += words.empty() || words.back().isInside ? 0 : 1;
  }
  EXPECT_GT(inside, 50000);
  EXPECT_GT(outside, 1000);
}

TEST(Divisor, DividesAsTheProcessorDoes) {
  std::mt19937_64 random(3);
  const auto number = [&](int64_t first) { return static_cast<int64_t>(random() >> (1 + random() % 62)) + first; };
  for (int repetition = 0; repetition < 200000; ++repetition) {
    const int64_t by = number(1), value = number(0);
    ASSERT_EQ(Divisor(by).quotient(value), value / by) << value << " by " << by;
    // Where a rounded inverse would be wrong first: beside multiples.
    for (const int64_t beside : {-1, 0, 1})
      if (const __int128 near = static_cast<__int128>(by) * (value % 1000) + beside; near >= 0 && near < INT64_MAX)
        ASSERT_EQ(Divisor(by).quotient(static_cast<int64_t>(near)), static_cast<int64_t>(near) / by)
            << static_cast<int64_t>(near) << " by " << by;
  }
  ASSERT_EQ(Divisor(UINT32_MAX).quotient(UINT32_MAX), 1);
  ASSERT_EQ(Divisor(UINT32_MAX - 1).quotient(UINT32_MAX), 1);
  ASSERT_EQ(Divisor(3).quotient(UINT32_MAX), UINT32_MAX / 3);
}

} // namespace
} // namespace strata::array
