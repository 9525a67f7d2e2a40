// Time is the array's: it stands still while the array does. The link's clock is moved back by what it made the array
// wait.
#include "runtime/array/transfers.h"

#include <algorithm>
#include <limits>
#include <queue>

namespace strata::array {

namespace {

struct NumberedUse {
  int64_t number; // of the outer loops' iteration
  BlockUse use;
};

/// In order, and one of each number. Words are added up to those of a block.
void join(std::vector<NumberedUse>& uses, int64_t held) {
  if (!std::ranges::is_sorted(uses, {}, &NumberedUse::number))
    std::ranges::sort(uses, {}, &NumberedUse::number);
  size_t count = 0;
  for (const NumberedUse& each : uses)
    if (count > 0 && uses[count - 1].number == each.number) {
      BlockUse& to = uses[count - 1].use;
      to.first = std::min(to.first, each.use.first);
      to.last = std::max(to.last, each.use.last);
      to.words = std::min(held, to.words + each.use.words);
    } else {
      uses[count++] = each;
    }
  uses.resize(count);
}

} // namespace

std::optional<std::vector<BlockUse>> blockUses(const Configuration& configuration, const Bank& bank) {
  const size_t loops = configuration.extents.size(), outer = std::min<size_t>(bank.blockLoops, loops);
  int64_t held = 1; // words of a block
  for (size_t i = 0; i < bank.block.size(); ++i)
    held *= bank.blockLoops == 0 ? bank.block[i].end - bank.block[i].first : bank.held[i];
  std::vector<NumberedUse> uses;
  for (const Box& box : bank.enable) {
    if (std::ranges::any_of(box, [](const Range& range) { return range.first >= range.end; }))
      continue;
    int64_t inner = 1, first = 0, last = 0, accesses = 1; // iterations of the inner loops
    for (size_t l = outer; l < loops; ++l) {
      inner *= configuration.extents[l];
      first = first * configuration.extents[l] + box[l].first;
      last = last * configuration.extents[l] + box[l].end - 1;
      accesses *= box[l].end - box[l].first;
    }
    std::vector<int64_t> at;
    int64_t blocks = 1;
    for (size_t l = 0; l < outer; ++l) {
      at.push_back(box[l].first);
      blocks = std::min<int64_t>(mostBlocks + 1, blocks * (box[l].end - box[l].first));
    }
    if (blocks > static_cast<int64_t>(mostBlocks))
      return std::nullopt;
    for (bool isDone = false; !isDone;) {
      int64_t number = 0;
      for (size_t l = 0; l < outer; ++l)
        number = number * configuration.extents[l] + at[l];
      const auto cycle = [&](int64_t iteration) {
        return bank.start + (number * inner + iteration) * configuration.interval;
      };
      uses.push_back({number, {cycle(first), cycle(last), std::min(held, accesses)}});
      if (uses.size() > 2 * mostBlocks) {
        join(uses, held);
        if (uses.size() > mostBlocks)
          return std::nullopt;
      }
      size_t l = outer;
      while (l-- > 0 && ++at[l] == box[l].end)
        at[l] = box[l].first;
      isDone = l == std::numeric_limits<size_t>::max();
    }
  }
  join(uses, held);
  if (uses.size() > mostBlocks)
    return std::nullopt;
  std::vector<BlockUse> result;
  result.reserve(uses.size());
  for (const NumberedUse& each : uses)
    result.push_back(each.use);
  return result;
}

int64_t transferredWords(const Configuration& configuration, const Bank& bank) {
  int64_t words = 0;
  if (bank.enable.size() == 1 && bank.blockLoops != 0) {
    // All blocks are accessed alike.
    int64_t blocks = 1, accesses = 1, held = 1;
    for (size_t l = 0; l < configuration.extents.size(); ++l)
      (l < bank.blockLoops ? blocks : accesses) *= bank.enable[0][l].end - bank.enable[0][l].first;
    for (const int64_t each : bank.held)
      held *= each;
    if (blocks <= static_cast<int64_t>(mostBlocks))
      return blocks * std::min(held, accesses);
  }
  if (const std::optional<std::vector<BlockUse>> uses = blockUses(configuration, bank)) {
    for (const BlockUse& use : *uses)
      words += use.words;
    return words;
  }
  words = 1;
  for (const Range& range : bank.block)
    words *= range.end - range.first;
  return words;
}

namespace {

constexpr int64_t never = std::numeric_limits<int64_t>::max();

struct Transfer {
  int64_t ready, needed;
  size_t bank, block;
  int64_t bytes;
};

} // namespace

std::optional<TransferTimes> transferTimes(const Configuration& configuration, const HostLink& link, int64_t cycles) {
  TransferTimes times;
  std::vector<Transfer> transfers;
  for (size_t number = 0; number < configuration.banks.size(); ++number) {
    const Bank& bank = configuration.banks[number];
    const std::optional<std::vector<BlockUse>> uses = blockUses(configuration, bank);
    if (!uses || uses->size() + transfers.size() > mostBlocks)
      return std::nullopt;
    const Type type = (bank.isOutput ? configuration.outputs : configuration.inputs)[bank.array].type;
    for (size_t i = 0; i < uses->size(); ++i) {
      const BlockUse& use = (*uses)[i];
      const int64_t size = use.words * static_cast<int64_t>(bytes(type));
      if (bank.isOutput)
        transfers.push_back({use.last + 1, i + 2 < uses->size() ? (*uses)[i + 2].first : never, number, i, size});
      else
        transfers.push_back({i < 2 ? -never : (*uses)[i - 2].last + 1, use.first, number, i, size});
    }
  }
  times.blocks = static_cast<int64_t>(transfers.size());

  std::ranges::sort(transfers, {}, [](const Transfer& each) { return std::tuple(each.ready, each.bank, each.block); });
  const auto isLater = [&](size_t a, size_t b) {
    return std::pair(transfers[a].needed, a) > std::pair(transfers[b].needed, b);
  };
  // Of what is left: all that may be transferred; all, of which some are done already.
  std::priority_queue<size_t, std::vector<size_t>, decltype(isLater)> available(isLater), open(isLater);
  for (size_t i = 0; i < transfers.size(); ++i)
    open.push(i);
  std::vector<bool> isDone(transfers.size(), false);
  int64_t clock = 0, arrived = 0;
  for (size_t left = transfers.size(), next = 0; left > 0; --left) {
    while (isDone[open.top()])
      open.pop();
    // Where the array stands: not beyond what is needed and has not come.
    int64_t now = std::min(clock, transfers[open.top()].needed);
    if (available.empty() && transfers[next].ready > now)
      clock = now = transfers[next].ready;
    while (next < transfers.size() && transfers[next].ready <= now)
      available.push(next++);
    const size_t chosen = available.top();
    available.pop();
    isDone[chosen] = true;
    const Transfer& transfer = transfers[chosen];
    const auto busy = static_cast<int64_t>(
        link.bandwidth.stated() ? link.bandwidth.cyclesFor(static_cast<uint64_t>(transfer.bytes)) : 0);
    times.linkCycles += busy;
    clock += busy;
    arrived = clock + link.latency;
    if (transfer.needed == never || arrived <= transfer.needed)
      continue;
    const int64_t late = arrived - transfer.needed;
    const bool isFirst = transfer.block == 0 && !configuration.banks[transfer.bank].isOutput;
    (isFirst ? times.filling : times.waiting) += late;
    clock -= late;
    arrived -= late;
  }
  times.emptying = std::max<int64_t>(0, arrived - cycles);
  return times;
}

} // namespace strata::array
