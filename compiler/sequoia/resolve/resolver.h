// How a mapping is resolved, shared by the files that do it: resolve.cpp collects the instances and builds the graph,
// resolve_instance.cpp fills one instance, resolve_names.cpp looks names up. One object lives during one resolve();
// it keeps references to what it was given.
#pragma once

#include "compiler/sequoia/resolve/resolve.h"

#include <deque>
#include <unordered_map>

namespace strata::sequoia {

class Resolver {
public:
  Resolver(const Program& program, const Mapping& mapping, const Machine& machine, DiagnosticEngine& diagnostics)
      : program_(program), mapping_(mapping), machine_(machine), diagnostics_(diagnostics) {}

  std::optional<InstanceGraph> run(const AskedEntry& entry);

private:
  /// An instance of the mapping with what it resolves to; targets count in this list until the graph is built.
  struct Entry {
    const MappedInstance* mapped = nullptr;
    Instance resolved;
    bool isEntryPoint = false;
  };
  bool failed_ = false; // an instance of the mapping is none, so that names of it mean nothing
  /// For each object of a list, the first item of the mapping that names it.
  using Seen = std::vector<const MappedName*>;

  // The graph (resolve.cpp).
  void collect();
  Entry* find(std::string_view name);
  uint32_t indexOf(const Entry& entry) const;
  /// Says that a task has no such instance; `call` is where the program calls the task, or invalid.
  void noInstance(const MappedName& name, std::string_view task, const Location& call);
  std::vector<uint32_t> entryPoints(const AskedEntry& asked);
  void reportUnreached();
  InstanceGraph reachable(const std::vector<uint32_t>& entries);

  // One instance (resolve_instance.cpp).
  void instance(Entry& entry);
  unsigned ownLevel(const MappedInstance& mapped);
  void external(const MappedInstance& mapped, Instance& resolved);
  void tunables(const MappedInstance& mapped, Instance& resolved);
  void divisor(const MappedTunable& mapped, uint32_t index, const TaskVariant& variant);
  void data(const MappedInstance& mapped, Instance& resolved, unsigned own);
  void array(const MappedArray& mapped, Instance& resolved, const Variable& declared);
  void gridFits(const BlockCyclic& layout, unsigned at, const Variable& declared);
  void spaceShare(const DataMapping& block, Instance& resolved, Seen& sharing);
  bool mayBound(const SizeBound& bound, const Variable& array);
  bool hasRank(size_t count, const Location& where, const Variable& array);
  void control(const MappedInstance& mapped, Instance& resolved, unsigned own);
  void targets(const MappedCallsite& site, ResolvedCallsite& resolved, const Callsite& callsite);
  void conditions(const MappedTarget& target, ResolvedTarget& result);
  void forcedCopies(const MappedTarget& target, ResolvedTarget& result, const Callsite& callsite,
                    const TaskVariant& callee);
  /// For a callsite that the mapping does not mention. `isReported`: a name that means nothing was meant for some
  /// callsite.
  void onlyTarget(const Callsite& site, ResolvedCallsite& resolved, bool isReported);
  /// Whether some number meets all of these bounds of one rank (check_conditions.cpp). `who` cannot be called else;
  /// `what` is bounded: the array declared at a place, or, where that is invalid, a count.
  bool agree(const std::vector<const SizeBound*>& bounds, const std::string& who, const std::string& what,
             const Location& declared);

  // Names and levels (resolve_names.cpp).
  /// The candidates by name, in quotes, as a help; nothing where there are none or many.
  static void offer(DiagnosticBuilder& builder, const std::string& before, std::vector<std::string> candidates);
  static void suggest(DiagnosticBuilder& builder, std::string_view name, const std::vector<std::string>& candidates);
  /// The place of a named object in a list of the variant; nothing (with a message) when it is not found or not unique.
  template <typename List, typename NameOf, typename PlaceOf>
  std::optional<uint32_t> lookUp(const MappedName& name, const List& list, NameOf nameOf, PlaceOf placeOf,
                                 const char* what);
  std::optional<uint32_t> tunableNamed(const MappedName& name);
  std::optional<uint32_t> arrayNamed(const MappedName& name);
  std::optional<uint32_t> loopNamed(const MappedName& name);
  std::optional<uint32_t> callsiteNamed(const MappedName& name);
  /// Whether an object is mapped for the first time; `where` is its declaration.
  bool first(Seen& seen, uint32_t index, const char* what, const MappedName& name, const Location& where);
  unsigned level(const OptionalNumber& number, unsigned otherwise);

  const Program& program_;
  const Mapping& mapping_;
  const Machine& machine_;
  DiagnosticEngine& diagnostics_;
  std::deque<Entry> all_;
  Entry* current_ = nullptr;
  /// The positions of each name in a list of a variant.
  std::unordered_map<const void*, std::unordered_map<std::string_view, std::vector<uint32_t>>> named_;
};

} // namespace strata::sequoia
