// A mapping of a Sequoia program to a machine: what a mapping file says, item by item, each with its place. Both file
// forms (braces and XML) are read into this model, and either can be written from it. Plain data; two mappings are
// equal when they say the same, wherever it stands. Nothing here has been compared with a program or a machine;
// resolve.h does that.
#pragma once

#include "base/source/diagnostic.h"

#include <cstdint>
#include <optional>
#include <string>
#include <vector>

namespace strata::sequoia {

/// Where an item stands; all places are equal.
struct Place {
  Location location;
  friend bool operator==(const Place&, const Place&) { return true; }
};

/// A few words about an item, which writers put into a comment beside it; all are equal, and readers skip them.
struct Remark {
  std::string text;
  friend bool operator==(const Remark&, const Remark&) { return true; }
};

/// A name in a mapping, with the number that tells objects of one name in one variant apart, counted from 0.
struct MappedName {
  std::string text;
  std::optional<uint32_t> lexnum;
  Place place;
  Remark remark = {};
  friend bool operator==(const MappedName&, const MappedName&) = default;
};

/// An integer, and where it stands. An optional one that is absent was not written. A blank one is to be filled in by
/// the user; it is written as a question mark, which readers refuse. A blank name is a question mark itself.
struct MappedNumber {
  int64_t value = 0;
  Place place;
  bool blank = false;
  friend bool operator==(const MappedNumber&, const MappedNumber&) = default;
};
using OptionalNumber = std::optional<MappedNumber>;

enum class Relation : uint8_t { Less, AtMost, Equal, AtLeast, Greater };

/// One value a dimension. For sizes, XML calls AtMost boundabove and AtLeast boundbelow.
struct SizeBound {
  Relation relation = Relation::AtMost;
  std::vector<int64_t> values;
  Place place;
  friend bool operator==(const SizeBound&, const SizeBound&) = default;
};

struct BlockCyclic {
  std::vector<int64_t> grid, blockSize;
  Place place;
  friend bool operator==(const BlockCyclic&, const BlockCyclic&) = default;
};

struct MappedTunable {
  MappedName name;
  MappedNumber value;
  bool isDivisor = false; // of the sizes: the largest value up to this one by which all divisions are exact
  friend bool operator==(const MappedTunable&, const MappedTunable&) = default;
};

struct MappedArray {
  MappedName name;
  OptionalNumber level;
  std::vector<SizeBound> elements; // preconditions on the extents
  std::vector<SizeBound> pitch;    // preconditions on the extents of the physical array around it
  std::optional<BlockCyclic> blockCyclic;
  friend bool operator==(const MappedArray&, const MappedArray&) = default;
};

struct DataMapping {
  OptionalNumber level;
  std::vector<MappedName> spaceShare;
  std::vector<MappedArray> arrays;
  Place place;
  friend bool operator==(const DataMapping&, const DataMapping&) = default;
};

struct SpmdMapping {
  std::optional<std::pair<int64_t, int64_t>> fullRange; // processors [first, second)
  OptionalNumber ways;
  bool waysAuto = false;
  OptionalNumber iterationBlock;
  Place place;
  friend bool operator==(const SpmdMapping&, const SpmdMapping&) = default;
};

struct MappedLoop {
  MappedName name;
  OptionalNumber level;
  bool flat = false;
  OptionalNumber pipelineStages; // swp
  OptionalNumber unroll;
  std::optional<SpmdMapping> spmd;
  friend bool operator==(const MappedLoop&, const MappedLoop&) = default;
};

/// A condition on the extents of an array of the caller, or, without a name, on how often the target was selected.
struct TargetCondition {
  std::optional<MappedName> array;
  SizeBound bound;
  friend bool operator==(const TargetCondition&, const TargetCondition&) = default;
};

struct MappedTarget {
  MappedName instance;
  bool dynamic = false;
  std::vector<MappedName> forcedCopies;
  std::vector<TargetCondition> conditions; // all must hold
  friend bool operator==(const MappedTarget&, const MappedTarget&) = default;
};

struct MappedCallsite {
  MappedName task;
  std::vector<MappedTarget> targets; // tried in order
  friend bool operator==(const MappedCallsite&, const MappedCallsite&) = default;
};

struct ControlMapping {
  OptionalNumber level;
  std::vector<MappedLoop> loops;
  std::vector<MappedCallsite> callsites;
  Place place;
  friend bool operator==(const ControlMapping&, const ControlMapping&) = default;
};

struct MappedInstance {
  MappedName name;
  MappedName variant;
  OptionalNumber level;
  bool uniqueOverlay = false;
  std::string externalFile; // empty: none
  OptionalNumber scratch;   // bytes of local space for an external task
  std::vector<MappedTunable> tunables;
  std::vector<DataMapping> data;
  std::vector<ControlMapping> control;
  friend bool operator==(const MappedInstance&, const MappedInstance&) = default;
};

struct MappedTask {
  MappedName name;
  std::vector<MappedName> entryPoints;
  std::vector<MappedInstance> instances;
  friend bool operator==(const MappedTask&, const MappedTask&) = default;
};

struct Mapping {
  Remark remark;
  std::string machine; // as written, maybe with an extension
  Place machinePlace;
  std::vector<MappedTask> tasks;
  friend bool operator==(const Mapping&, const Mapping&) = default;

  const MappedInstance* findInstance(std::string_view name, const MappedTask** task = nullptr) const;
};

/// The two forms of mapping files. They say the same.
enum class MappingForm : uint8_t { Braces, Xml };

/// Reads either form; XML is told by its first character, '<'. Nothing when there are errors.
std::optional<Mapping> readMapping(BufferId file, DiagnosticEngine& diagnostics);
/// The mapping in one of the forms, which reads back equal. XML names entry points beside the tasks, so there an entry
/// point reads back as one of the task that has an instance of that name.
std::string writeMapping(const Mapping& mapping, MappingForm form = MappingForm::Braces);

const char* relationText(Relation relation);

} // namespace strata::sequoia
