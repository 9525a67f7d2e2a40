// Choices are found by their names, so that they can be set in a mapping that was made or read again.
#include "compiler/sequoia/tune/choices.h"

#include "compiler/sequoia/check/block.h"
#include "compiler/sequoia/check/tunable_uses.h"

#include <algorithm>
#include <numeric>
#include <set>

namespace strata::sequoia {

namespace {

constexpr int64_t largestTried = int64_t(1) << 20;
constexpr int64_t mostDivisors = 48; // of a size, so many are tried
constexpr int64_t largestShift = 20;
constexpr int64_t mostStages = 4;    // iterations under way at once; more hide nothing that these do not
constexpr int64_t largestChunk = 64; // iterations that go to a processor at a time

std::string textOf(const MappedName& name) {
  return name.lexnum ? name.text + "[" + std::to_string(*name.lexnum) + "]" : name.text;
}

std::string stagesName(const MappedLoop& loop) {
  return "loop " + textOf(loop.name) + ": swp";
}

std::string chunkName(const MappedLoop& loop) {
  return "loop " + textOf(loop.name) + ": iterblk";
}

constexpr const char* variantName = "variant";

/// The variants of a task that may stand for each other as they are: leaves without tunables.
std::vector<std::string> leavesOf(const Task& task) {
  std::vector<std::string> leaves;
  for (const TaskVariant* variant : task.variants)
    if (variant->kind == TaskKind::Leaf && variant->tunables.empty())
      leaves.emplace_back(variant->name);
  return leaves;
}

/// Powers of two up to a number, and with `between` what lies half way from one to the next.
void addPowers(std::set<int64_t>& values, int64_t most, bool between) {
  for (int64_t power = 1; power <= most; power *= 2) {
    values.insert(power);
    if (between && power >= 8 && power / 2 * 3 <= most)
      values.insert(power / 2 * 3);
  }
}

void addDivisors(std::set<int64_t>& values, int64_t size, int64_t most) {
  std::vector<int64_t> divisors;
  for (int64_t small = 1; small <= size / small; ++small)
    if (size % small == 0)
      for (const int64_t divisor : {small, size / small})
        if (divisor <= most)
          divisors.push_back(divisor);
  std::sort(divisors.begin(), divisors.end(), std::greater<>());
  divisors.resize(std::min<size_t>(divisors.size(), mostDivisors));
  values.insert(divisors.begin(), divisors.end());
}

std::vector<int64_t> valuesOf(const TunableKind& kind, int64_t value, const std::vector<int64_t>& sizes,
                              int64_t largest) {
  std::set<int64_t> values{value};
  const int64_t most = std::clamp<int64_t>(std::max(largest, value), 1, std::max(largestTried, value));
  int64_t common = 0;
  for (const int64_t size : sizes)
    common = std::gcd(common, size);
  if (kind.isShift) {
    for (int64_t shift = 0; shift <= largestShift && int64_t(1) << shift <= most; ++shift)
      values.insert(shift);
  } else if (kind.isBits || kind.isBound) {
    addPowers(values, most, /*between=*/false);
  } else if (kind.isDivisor && common > 0) {
    addDivisors(values, common, most);
  } else {
    addPowers(values, most, /*between=*/true);
    if (common > 0)
      addDivisors(values, common, most);
  }
  return {values.begin(), values.end()};
}

/// Whether some level's blocks are moved to it, so that moves can go ahead.
bool hasMoves(const Machine& machine) {
  return std::any_of(machine.levels.begin(), machine.levels.end(), [&](const machine::Level& level) {
    return machine.isExplicit(level.memory) || machine[level.memory].files;
  });
}

/// The loop of a variant that a mapping names; null where there is none.
const Loop* loopNamed(const TaskVariant& variant, const MappedName& name) {
  for (const Loop* loop : variant.loops)
    if (loop->variableName == name.text && loop->lexnum == name.lexnum.value_or(0))
      return loop;
  return nullptr;
}

/// How the iterations of a loop that is distributed go to processors; where a reduction is, that decides its result's
/// last bits.
bool mayDistributeOtherwise(const MappedLoop& mapped, const Loop& loop) {
  return mapped.spmd && !mapped.flat && loop.kind == MapKind::Par;
}

notation::Choice choiceAmong(const std::string& instance, const std::string& name, int64_t value,
                             std::set<int64_t> values) {
  values.insert(value);
  return {instance, name, value, {values.begin(), values.end()}};
}

} // namespace

const Variable* tunableNamed(const TaskVariant& variant, const MappedName& name) {
  for (const Variable* each : variant.tunables)
    if (each->name == name.text && each->lexnum == name.lexnum.value_or(0))
      return each;
  return nullptr;
}

std::vector<int64_t> sizesDivided(const TaskVariant& variant, const Variable* tunable, const KnownSizes& known) {
  std::vector<int64_t> sizes;
  for (const Loop* loop : variant.loops)
    for (const Variable* size : variant.sizeParameters)
      if (auto at = known.find(size->name);
          at != known.end() && mentions(loop->end, tunable) && mentions(loop->end, size))
        sizes.push_back(at->second);
  return sizes;
}

std::vector<notation::Choice> choicesOf(const Program& program, const Mapping& mapping, const Machine& machine,
                                        const KnownSizes& known) {
  int64_t largest = known.empty() ? largestTried : 1;
  for (const auto& [name, size] : known)
    largest = std::max(largest, size);
  const bool moves = hasMoves(machine);
  std::vector<notation::Choice> choices;
  for (const MappedTask& mapped : mapping.tasks) {
    const Task* task = program.findTask(mapped.name.text);
    for (const MappedInstance& instance : mapped.instances) {
      const TaskVariant* variant = task ? task->find(instance.variant.text) : nullptr;
      if (!variant)
        continue;
      const std::vector<std::string> leaves = leavesOf(*task);
      if (const auto own = std::find(leaves.begin(), leaves.end(), variant->name);
          leaves.size() > 1 && own != leaves.end()) {
        notation::Choice& choice = choices.emplace_back();
        choice = {instance.name.text, variantName, own - leaves.begin(), {}, leaves};
        for (size_t leaf = 0; leaf < leaves.size(); ++leaf)
          choice.values.push_back(static_cast<int64_t>(leaf));
      }
      const TunableUses uses = usesOf(*variant);
      for (const MappedTunable& tunable : instance.tunables)
        if (const Variable* variable = tunableNamed(*variant, tunable.name); variable && !tunable.value.blank)
          choices.push_back({instance.name.text, textOf(tunable.name), tunable.value.value,
                             valuesOf(uses.tunables[variable->index], tunable.value.value,
                                      sizesDivided(*variant, variable, known), largest)});
      for (const ControlMapping& control : instance.control)
        for (const MappedLoop& loop : control.loops) {
          const Loop* of = loopNamed(*variant, loop.name);
          if (!of || of->kind == MapKind::Seq || loop.flat)
            continue;
          if (moves) {
            std::set<int64_t> stages;
            for (int64_t each = 1; each <= mostStages; ++each)
              stages.insert(each);
            choices.push_back(choiceAmong(instance.name.text, stagesName(loop),
                                          loop.pipelineStages ? loop.pipelineStages->value : 1, stages));
          }
          if (mayDistributeOtherwise(loop, *of)) {
            std::set<int64_t> chunks{0};
            addPowers(chunks, largestChunk, /*between=*/false);
            choices.push_back(choiceAmong(instance.name.text, chunkName(loop),
                                          loop.spmd->iterationBlock ? loop.spmd->iterationBlock->value : 0, chunks));
          }
        }
    }
  }
  return choices;
}

namespace {

/// Sets an optional number to a value, or takes it away where the value is the one that nothing means.
void setOptional(OptionalNumber& number, int64_t value, int64_t nothing) {
  if (number)
    number->value = value;
  else if (value != nothing)
    number = MappedNumber{value, {}, false};
  if (number && value == nothing && value == 0)
    number.reset();
}

} // namespace

void choose(Mapping& mapping, const notation::Chosen& chosen, const Program& program) {
  for (MappedTask& mapped : mapping.tasks)
    for (MappedInstance& instance : mapped.instances) {
      bool isChosen = false;
      const auto with = [&](const std::string& name, auto set) {
        if (auto at = chosen.find({instance.name.text, name}); at != chosen.end()) {
          isChosen = true;
          set(at->second);
        }
      };
      with(variantName, [&](int64_t value) {
        const Task* task = program.findTask(mapped.name.text);
        const std::vector<std::string> leaves = task ? leavesOf(*task) : std::vector<std::string>();
        if (value >= 0 && value < static_cast<int64_t>(leaves.size()))
          instance.variant.text = leaves[static_cast<size_t>(value)];
      });
      for (MappedTunable& tunable : instance.tunables) {
        with(textOf(tunable.name), [&](int64_t value) { tunable.value.value = value; });
        if (tunable.name.lexnum)
          with(tunable.name.text, [&](int64_t value) { tunable.value.value = value; });
      }
      for (ControlMapping& control : instance.control)
        for (MappedLoop& loop : control.loops) {
          with(stagesName(loop), [&](int64_t value) { setOptional(loop.pipelineStages, value, 1); });
          with(chunkName(loop), [&](int64_t value) {
            if (loop.spmd)
              setOptional(loop.spmd->iterationBlock, value, 0);
          });
        }
      if (isChosen && !instance.name.place.location.valid())
        instance.name.place.location = {program.file, 0, 0};
    }
}

} // namespace strata::sequoia
