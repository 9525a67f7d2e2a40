// A statement that stands before a loop of its block is put where that loop begins, one behind the last loop where that
// one ends: in its first (last) iteration, or one step before (behind) it. All choices are made, and judged by the
// distances that they give. See embedding.h.
#include "compiler/equations/extract/embedding.h"

#include <algorithm>
#include <set>

namespace strata::equations::extraction {

namespace {

constexpr unsigned mostDimensions = 8; // of svm.equations

class Embedder {
public:
  Embedder(const Program& program, const Flow& flow, const std::vector<bool>& isNeeded)
      : program_(program), flow_(flow), isNeeded_(isNeeded) {
    std::set<unsigned> loops;
    for (size_t i = 0; i < program.statements.size(); ++i)
      if (isNeeded[i]) {
        const std::vector<unsigned>& around = program.statements[i].place.loops;
        loops.insert(around.begin(), around.end());
        depth_ = std::max(depth_, static_cast<unsigned>(around.size()));
      }
    for (const unsigned loop : loops)
      children_[program.loops[loop].parent].push_back(loop);
    for (auto& [parent, children] : children_)
      std::sort(children.begin(), children.end(), [&](unsigned left, unsigned right) {
        return program.loops[left].position < program.loops[right].position;
      });
  }

  std::vector<Embedding> run() {
    std::vector<unsigned> several; // depths of blocks with more than one loop
    for (const auto& [parent, children] : children_)
      if (const unsigned depth = program_.loops[children[0]].depth;
          children.size() > 1 && std::find(several.begin(), several.end(), depth) == several.end())
        several.push_back(depth);
    if (depth_ > mostDimensions)
      throw Refused{"it has more loops around each other than equations have iterators", program_.cells[0].location};
    std::vector<unsigned> choices(size_t(1) << several.size());
    for (unsigned i = 0; i < choices.size(); ++i)
      choices[i] = i;
    std::sort(choices.begin(), choices.end(), [](unsigned left, unsigned right) {
      return std::pair(std::popcount(left), left) < std::pair(std::popcount(right), right);
    });
    std::vector<Embedding> forward, others;
    for (const unsigned choice : choices) {
      std::vector<bool> isSplit(depth_);
      for (size_t i = 0; i < several.size(); ++i)
        isSplit[several[i]] = (choice >> i & 1) != 0;
      if (depth_ + static_cast<unsigned>(std::popcount(choice)) > mostDimensions)
        continue;
      for (const int64_t away : {0, 1}) {
        Embedding made = embed(isSplit, away);
        made.isForward = isForward(made);
        (made.isForward ? forward : others).push_back(std::move(made));
      }
    }
    for (Embedding& each : others)
      forward.push_back(std::move(each));
    return forward;
  }

private:
  const std::vector<unsigned>& childrenOf(std::optional<unsigned> loop) const {
    static const std::vector<unsigned> none;
    const auto found = children_.find(loop);
    return found == children_.end() ? none : found->second;
  }

  Embedding embed(const std::vector<bool>& isSplit, int64_t away) const {
    Embedding made;
    const std::set<std::string> taken = [&] {
      std::set<std::string> names;
      for (const Parameter& each : program_.parameters)
        names.insert(each.name);
      return names;
    }();
    const auto unique = [&](std::string name) {
      while (taken.contains(name))
        name += "_";
      return name;
    };
    for (unsigned depth = 0; depth < depth_; ++depth) {
      if (isSplit[depth])
        made.iterators.push_back(unique("part" + std::to_string(depth)));
      made.loopDimension.push_back(static_cast<unsigned>(made.iterators.size()));
      made.iterators.push_back(unique(std::string(1, static_cast<char>('i' + depth))));
    }
    made.places.resize(program_.statements.size());
    for (size_t i = 0; i < program_.statements.size(); ++i)
      if (isNeeded_[i])
        made.places[i] = placeOf(program_.statements[i], isSplit, away);
    return made;
  }

  /// Loops in which a statement stands, or beside which; nothing where no loop has that depth near it.
  struct Neighbour {
    std::optional<unsigned> loop;
    bool isBehind = false; // the statement comes after it
  };

  std::vector<Neighbour> neighbours(const Place& place) const {
    std::vector<Neighbour> found;
    for (const unsigned loop : place.loops)
      found.push_back({loop, false});
    std::optional<unsigned> block = place.loops.empty() ? std::nullopt : std::optional(place.loops.back());
    int64_t position = place.positions.back();
    bool isBehind = false, isInside = false; // inside of a loop beside the statement: at one of its ends
    while (found.size() < depth_) {
      const std::vector<unsigned>& children = childrenOf(block);
      std::optional<unsigned> chosen;
      if (isInside) {
        if (!children.empty())
          chosen = isBehind ? children.back() : children.front();
      } else {
        for (const unsigned child : children)
          if (!chosen && program_.loops[child].position > position)
            chosen = child;
        isBehind = !chosen && !children.empty();
        if (isBehind)
          chosen = children.back();
        if (!chosen)
          chosen = cousin(static_cast<unsigned>(found.size()), block);
        isInside = true;
      }
      found.push_back({chosen, isBehind});
      block = chosen;
      if (!chosen)
        isInside = false, position = INT64_MAX;
    }
    return found;
  }

  /// A loop of that depth in a block near by, behind the given one or else before it.
  std::optional<unsigned> cousin(unsigned depth, std::optional<unsigned> block) const {
    while (block) {
      const std::optional<unsigned> parent = program_.loops[*block].parent;
      const std::vector<unsigned>& siblings = childrenOf(parent);
      const auto own = std::find(siblings.begin(), siblings.end(), *block);
      std::vector<unsigned> near(own, siblings.end());
      near.insert(near.end(), std::make_reverse_iterator(own), siblings.rend());
      for (const unsigned sibling : near)
        if (const std::optional<unsigned> found = firstAt(depth, sibling))
          return found;
      block = parent;
    }
    return std::nullopt;
  }
  std::optional<unsigned> firstAt(unsigned depth, unsigned loop) const {
    if (program_.loops[loop].depth == depth)
      return loop;
    for (const unsigned child : childrenOf(loop))
      if (const std::optional<unsigned> found = firstAt(depth, child))
        return found;
    return std::nullopt;
  }

  int64_t ordinal(std::optional<unsigned> loop) const {
    if (!loop)
      return 0;
    const std::vector<unsigned>& siblings = childrenOf(program_.loops[*loop].parent);
    return std::find(siblings.begin(), siblings.end(), *loop) - siblings.begin();
  }

  isl::map placeOf(const Statement& statement, const std::vector<bool>& isSplit, int64_t away) const {
    const size_t own = statement.place.loops.size();
    const std::vector<Neighbour> near = neighbours(statement.place);
    isl::map place = isl::manage(isl_set_identity(statement.domain.copy()));
    for (unsigned depth = static_cast<unsigned>(own); depth < depth_; ++depth) {
      const auto [loop, isBehind] = near[depth];
      isl::pw_aff at(program_.ctx(),
                     parameterPrefix(program_.parameters.size()) + "{ " + vectorText("x", depth) + " -> [(0)] }");
      if (loop)
        at = isBehind ? program_.loops[*loop].last.add_constant(static_cast<long>(away))
                      : program_.loops[*loop].first.add_constant(static_cast<long>(-away));
      const isl::map next = isl::manage(isl_map_from_pw_aff(at.copy()));
      place = isl::manage(isl_map_flat_range_product(place.copy(), place.apply_range(next).release()));
    }
    std::string text;
    for (unsigned depth = 0; depth < depth_; ++depth) {
      if (isSplit[depth])
        text += (text.empty() ? "" : ", ") + std::to_string(ordinal(near[depth].loop));
      text += (text.empty() ? "x" : ", x") + std::to_string(depth);
    }
    return coalesced(
        place.apply_range(program_.sets->parsedMap("{ " + vectorText("x", depth_) + " -> [" + text + "] }")));
  }

  bool isForward(const Embedding& embedding) const {
    for (size_t i = 0; i < program_.statements.size(); ++i) {
      if (!isNeeded_[i])
        continue;
      bool isFine = true;
      eachRead(program_.statements[i].value, [&](unsigned read) {
        for (const Source& source : flow_.reads[read]) {
          if (!isFine || source.kind != Source::Kind::Statement)
            continue;
          const isl::map ways = source.from.apply_domain(embedding.places[i])
                                    .apply_range(embedding.places[source.number])
                                    .intersect_params(program_.fits);
          const isl::map later = isl::manage(isl_map_lex_lt(isl_space_range(isl_map_get_space(ways.get()))));
          isFine = ways.intersect(later).is_empty();
        }
      });
      if (!isFine)
        return false;
    }
    return true;
  }

  const Program& program_;
  const Flow& flow_;
  const std::vector<bool>& isNeeded_;
  unsigned depth_ = 1;
  std::map<std::optional<unsigned>, std::vector<unsigned>> children_; // loops with needed statements, by the one around
};

} // namespace

std::vector<bool> neededStatements(const Program& program, const Flow& flow) {
  std::vector<bool> made(program.statements.size());
  std::vector<unsigned> open;
  const auto need = [&](unsigned statement) {
    if (!made[statement])
      open.push_back(statement);
    made[statement] = true;
  };
  for (const Result& result : flow.results)
    for (const Result::Last& last : result.last)
      need(last.statement);
  while (!open.empty()) {
    const Term& value = program.statements[open.back()].value;
    open.pop_back();
    eachRead(value, [&](unsigned read) {
      for (const Source& source : flow.reads[read])
        if (source.kind == Source::Kind::Statement)
          need(source.number);
    });
  }
  return made;
}

std::vector<Embedding> embeddings(const Program& program, const Flow& flow, const std::vector<bool>& isNeeded) {
  return Embedder(program, flow, isNeeded).run();
}

} // namespace strata::equations::extraction
