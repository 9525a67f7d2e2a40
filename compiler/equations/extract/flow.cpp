// Accesses of all reads and writes, with the order of the kernel as a schedule, go to isl at once; a read of every
// element stands behind the kernel. See flow.h.
#include "compiler/equations/extract/flow.h"

#include <algorithm>

namespace strata::equations::extraction {

namespace {

isl::map withoutNames(isl::map map) {
  map = isl::manage(isl_map_reset_tuple_id(map.release(), isl_dim_in));
  return isl::manage(isl_map_reset_tuple_id(map.release(), isl_dim_out));
}

isl::map named(const isl::map& map, isl_dim_type end, const std::string& name) {
  return isl::manage(isl_map_set_tuple_name(map.copy(), end, name.c_str()));
}

class Analysis {
public:
  Analysis(const Program& program, const std::vector<bool>& isReadable) : program_(program), isReadable_(isReadable) {
    for (const Read& each : program.reads)
      depth_ = std::max(depth_, each.place.loops.size());
    for (const Statement& each : program.statements)
      depth_ = std::max(depth_, each.place.loops.size());
  }

  Flow run() {
    const isl::union_map nothing(program_.ctx(), "{ }");
    isl::union_map reads = nothing, writes = nothing, order = nothing;
    for (size_t i = 0; i < program_.reads.size(); ++i) {
      const Read& read = program_.reads[i];
      const std::string name = "R" + std::to_string(i);
      reads = reads.unite(access(read.index, name, read.cell));
      order = order.unite(time(read.place, read.domain, name));
    }
    for (size_t i = 0; i < program_.statements.size(); ++i) {
      const Statement& statement = program_.statements[i];
      const std::string name = "S" + std::to_string(i);
      writes = writes.unite(access(statement.index, name, statement.cell));
      order = order.unite(time(statement.place, statement.domain, name));
    }
    for (unsigned cell = 0; cell < program_.cells.size(); ++cell)
      if (program_.cells[cell].argument && program_.cells[cell].isWritten) {
        const isl::set elements = elementsOf(cell);
        const std::string name = "F" + std::to_string(cell);
        reads = reads.unite(access(isl::manage(isl_set_identity(elements.copy())), name, cell));
        order = order.unite(time({{}, {INT32_MAX}}, elements, name));
      }
    const isl::union_flow flow =
        isl::union_access_info(reads).set_must_source(writes).set_schedule_map(order).compute_flow();
    const isl::union_map sources = flow.must_dependence(), none = flow.must_no_source();
    findReads(sources, none);
    findResults(sources, none);
    propagate();
    return std::move(made_);
  }

private:
  isl::union_map access(const isl::map& index, const std::string& name, unsigned cell) const {
    const isl::map known = index.intersect_params(program_.fits);
    return named(named(known, isl_dim_in, name), isl_dim_out, "C" + std::to_string(cell));
  }

  /// (position, entry, position, …), filled up with zeros.
  isl::union_map time(const Place& place, const isl::set& domain, const std::string& name) const {
    std::string text;
    for (size_t i = 0; i <= depth_; ++i) {
      text += (i ? ", " : "") + std::to_string(i < place.positions.size() ? place.positions[i] : 0);
      if (i < depth_)
        text += i < place.loops.size() ? ", x" + std::to_string(i) : ", 0";
    }
    const auto dimensions = static_cast<size_t>(isl_set_dim(domain.get(), isl_dim_set));
    const isl::map made =
        program_.sets->parsedMap("{ " + vectorText("x", dimensions) + " -> [" + text + "] }").intersect_domain(domain);
    return named(made, isl_dim_in, name);
  }

  isl::set elementsOf(unsigned cell) const {
    const std::vector<Affine>& extents = program_.extents[*program_.cells[cell].argument];
    return program_.sets->elements(extents).intersect_params(program_.fits);
  }

  /// The map of a union between two tuples, and whether there is one.
  template <typename Function>
  static void eachMap(const isl::union_map& all, const Function& function) {
    all.foreach_map([&](isl::map map) {
      const auto number = [&](isl_dim_type end) {
        return static_cast<unsigned>(std::stoul(isl_map_get_tuple_name(map.get(), end) + 1));
      };
      const char kind = *isl_map_get_tuple_name(map.get(), isl_dim_in);
      const char target = *isl_map_get_tuple_name(map.get(), isl_dim_out);
      function(kind, number(isl_dim_in), target, number(isl_dim_out), coalesced(withoutNames(map)));
    });
  }

  void findReads(const isl::union_map& sources, const isl::union_map& none) {
    made_.reads.resize(program_.reads.size());
    eachMap(sources, [&](char, unsigned from, char kind, unsigned to, const isl::map& map) {
      if (kind == 'R')
        made_.reads[to].push_back({Source::Kind::Statement, from, {}, map.reverse()});
    });
    eachMap(none, [&](char kind, unsigned read, char, unsigned cell, const isl::map& map) {
      if (kind != 'R' || map.is_empty())
        return;
      const Cell& of = program_.cells[cell];
      if (!of.argument || !isReadable_[*of.argument])
        throw Refused{"'" + of.name + "' is read before it is written", program_.reads[read].location};
      made_.reads[read].push_back({Source::Kind::Input, cell, {}, map});
    });
  }

  void findResults(const isl::union_map& sources, const isl::union_map& none) {
    for (unsigned cell = 0; cell < program_.cells.size(); ++cell) {
      if (!program_.cells[cell].argument || !program_.cells[cell].isWritten)
        continue;
      Result result;
      result.cell = cell;
      result.untouched = elementsOf(cell).subtract(elementsOf(cell));
      eachMap(sources, [&](char, unsigned from, char kind, unsigned to, const isl::map& map) {
        if (kind == 'F' && to == cell)
          result.last.push_back({from, coalesced(map.domain())});
      });
      eachMap(none, [&](char kind, unsigned from, char, unsigned, const isl::map& map) {
        if (kind == 'F' && from == cell)
          result.untouched = coalesced(map.domain());
      });
      // isl keeps no order of maps that is the same everywhere.
      std::sort(result.last.begin(), result.last.end(),
                [](const Result::Last& left, const Result::Last& right) { return left.statement < right.statement; });
      made_.results.push_back(std::move(result));
    }
    for (std::vector<Source>& each : made_.reads)
      std::sort(each.begin(), each.end(), [](const Source& left, const Source& right) {
        return std::pair(left.kind, left.number) < std::pair(right.kind, right.number);
      });
  }

  // ---- copies ----

  bool isCopy(unsigned statement) const { return program_.statements[statement].isCopy(); }

  /// Copies whose values may come from themselves, in an earlier iteration.
  std::vector<bool> circles() const {
    const size_t count = program_.statements.size();
    std::vector<bool> made(count);
    for (unsigned start = 0; start < count; ++start) {
      if (!isCopy(start))
        continue;
      std::vector<bool> reached(count);
      std::vector<unsigned> open = {start};
      while (!open.empty() && !made[start]) {
        const Term& value = program_.statements[open.back()].value;
        open.pop_back();
        if (value.kind != Term::Kind::Read)
          continue;
        for (const Source& source : made_.reads[value.number])
          if (source.kind == Source::Kind::Statement && isCopy(source.number)) {
            made[start] = made[start] || source.number == start;
            if (!reached[source.number])
              open.push_back(source.number);
            reached[source.number] = true;
          }
      }
    }
    return made;
  }

  void propagate() {
    const std::vector<bool> isKept = circles();
    for (std::vector<Source>& sources : made_.reads) {
      std::vector<Source> done;
      std::vector<Source> open = std::move(sources);
      while (!open.empty()) {
        const Source source = open.back();
        open.pop_back();
        if (source.from.is_empty())
          continue;
        if (source.kind != Source::Kind::Statement || !isCopy(source.number) || isKept[source.number]) {
          join(done, source);
          continue;
        }
        const Term& value = program_.statements[source.number].value;
        if (value.kind != Term::Kind::Read) {
          const isl::map nowhere = program_.sets->parsedMap(
              "{ " + vectorText("x", static_cast<size_t>(isl_map_dim(source.from.get(), isl_dim_in))) + " -> [] }");
          join(done, {Source::Kind::Value, source.number, value, nowhere.intersect_domain(source.from.domain())});
          continue;
        }
        // The reads that this one goes through have been followed, or are: either way their sources are right.
        for (const Source& next : original(value.number))
          open.push_back({next.kind, next.number, next.value, coalesced(source.from.apply_range(next.from))});
      }
      sources = std::move(done);
    }
  }

  const std::vector<Source>& original(unsigned read) const { return made_.reads[read]; }

  static bool isSame(const Source& left, const Source& right) {
    if (left.kind != right.kind)
      return false;
    if (left.kind != Source::Kind::Value)
      return left.number == right.number;
    return left.value.kind == right.value.kind && left.value.number == right.value.number &&
           left.value.constant.integer == right.value.constant.integer &&
           left.value.constant.real == right.value.constant.real &&
           std::signbit(left.value.constant.real) == std::signbit(right.value.constant.real);
  }

  static void join(std::vector<Source>& all, const Source& one) {
    for (Source& each : all)
      if (isSame(each, one)) {
        each.from = coalesced(each.from.unite(one.from));
        return;
      }
    all.push_back(one);
  }

  const Program& program_;
  const std::vector<bool>& isReadable_; // arguments that have values before the kernel
  size_t depth_ = 0;
  Flow made_;
};

} // namespace

Flow analyse(const Program& program, const std::vector<bool>& isReadable) {
  return Analysis(program, isReadable).run();
}

} // namespace strata::equations::extraction
