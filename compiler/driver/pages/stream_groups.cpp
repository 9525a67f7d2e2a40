// Groups of kernels, for graphs that are too large for one drawing: kernels whose names differ in numbers only, and
// those of one class of processors. A group that is large itself is cut into ranges in the natural order of names.
#include "base/picture/groups.h"
#include "compiler/driver/pages/stream_figures.h"

#include <algorithm>
#include <map>
#include <numeric>

namespace strata::driver {

namespace {

constexpr size_t mostOutside = 120; // kernels of other groups on a sheet, and of one stream or block
constexpr size_t mostOfOne = 8;

class KernelGroups {
public:
  KernelGroups(const StreamsRecord& record, std::string id, bool byProcessor)
      : record_(record), id_(std::move(id)), groupOf_(record.kernels.size()) {
    std::vector<size_t> all(record.kernels.size());
    std::iota(all.begin(), all.end(), size_t(0));
    std::vector<std::string> names, keys;
    for (const KernelFacts& kernel : record.kernels) {
      names.push_back(kernel.name);
      keys.push_back(picture::stemOf(byProcessor ? kernel.processor : kernel.name));
    }
    for (picture::Group& group : picture::groupsByKey(all, names, keys, {}))
      groups_.push_back({group.name, "", std::move(group.nodes)});
    for (size_t number = 0; number < groups_.size(); ++number) {
      groups_[number].sheet = id_ + std::to_string(number);
      for (size_t kernel : groups_[number].kernels)
        groupOf_[kernel] = number;
    }
  }

  size_t size() const { return groups_.size(); }

  void addSheets(const std::string& title, std::vector<picture::Sheet>& sheets) const {
    const std::string program = record_.program + " on " + record_.machine;
    std::vector<std::string> names;
    for (const KernelGroup& group : groups_)
      names.push_back(group.name);
    sheets.push_back({id_, title, drawGroups(record_, groups_, groupOf_, program + ", " + title), names, true});
    for (size_t number = 0; number < groups_.size(); ++number)
      sheets.push_back(sheetOf(number));
  }

private:
  /// The kernels of one group, what they use, and whom they share it with.
  picture::Sheet sheetOf(size_t number) const {
    const KernelGroup& group = groups_[number];
    StreamsRecord part;
    part.program = record_.program;
    part.machine = record_.machine;
    part.ended = record_.ended;
    part.failure = record_.failure;
    part.seconds = record_.seconds;
    std::vector<std::string> elsewhere, names;
    std::map<size_t, size_t> numbers; // in the part, by those of the whole
    for (size_t kernel : group.kernels) {
      numbers[kernel] = part.kernels.size();
      part.kernels.push_back(record_.kernels[kernel]);
      elsewhere.emplace_back();
      names.push_back(record_.kernels[kernel].name);
    }
    size_t outside = 0;
    const auto take = [&](size_t kernel, size_t& ofOne) -> std::optional<size_t> {
      if (auto known = numbers.find(kernel); known != numbers.end())
        return known->second;
      if (outside >= mostOutside || ofOne >= mostOfOne)
        return std::nullopt;
      ++outside;
      ++ofOne;
      numbers[kernel] = part.kernels.size();
      part.kernels.push_back(record_.kernels[kernel]);
      elsewhere.push_back(groups_[groupOf_[kernel]].sheet);
      return part.kernels.size() - 1;
    };
    const auto isMember = [&](size_t kernel) { return groupOf_[kernel] == number; };
    for (const StreamFacts& stream : record_.streams) {
      if (std::none_of(stream.uses.begin(), stream.uses.end(),
                       [&](const StreamUse& use) { return use.kernel && isMember(*use.kernel); }))
        continue;
      StreamFacts copy = stream;
      copy.uses.clear();
      size_t ofOne = 0;
      for (StreamUse use : stream.uses) {
        if (use.kernel && !(use.kernel = take(*use.kernel, ofOne)))
          continue;
        copy.uses.push_back(use);
      }
      names.push_back(stream.name);
      part.streams.push_back(std::move(copy));
    }
    for (const BlockFacts& block : record_.blocks) {
      if (std::none_of(block.users.begin(), block.users.end(), [&](const auto& user) { return isMember(user.first); }))
        continue;
      BlockFacts copy = block;
      copy.users.clear();
      size_t ofOne = 0;
      for (const auto& [kernel, writes] : block.users)
        if (auto taken = take(kernel, ofOne))
          copy.users.emplace_back(*taken, writes);
      names.push_back(block.name);
      part.blocks.push_back(std::move(copy));
    }
    for (const auto& [kernel, on] : record_.dependences)
      if (isMember(kernel) || isMember(on)) {
        size_t ofOne = 0;
        const auto from = take(kernel, ofOne), to = take(on, ofOne);
        if (from && to)
          part.dependences.emplace_back(*from, *to);
      }
    std::string title = group.name;
    if (outside >= mostOutside)
      title += ", and the first " + std::to_string(mostOutside) + " kernels that they exchange data with";
    return {group.sheet, group.name, drawStreams(part, title, elsewhere), names, false};
  }

  const StreamsRecord& record_;
  std::string id_;
  std::vector<KernelGroup> groups_;
  std::vector<size_t> groupOf_;
};

} // namespace

std::vector<picture::Sheet> streamSheets(const StreamsRecord& record) {
  std::vector<picture::Sheet> sheets;
  KernelGroups(record, "kernels", false).addSheets("by name", sheets);
  KernelGroups(record, "processors", true).addSheets("by processor", sheets);
  return sheets;
}

} // namespace strata::driver
