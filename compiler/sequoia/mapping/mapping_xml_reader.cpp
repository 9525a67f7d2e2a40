// Reads the XML form of a mapping: for each element, which attributes and elements it takes and how often, and what
// they mean in the model. Reading goes on behind what is wrong, so that all of a file's errors are reported.
#include "compiler/sequoia/mapping/mapping_xml_text.h"

#include <algorithm>
#include <functional>

namespace strata::sequoia {

STRATA_DIAGNOSTIC(unknownElement, Error, "sequoia-mapping-xml-element", "<{0}> has no element <{1}> in it");
STRATA_DIAGNOSTIC(unknownAttribute, Error, "sequoia-mapping-xml-attribute", "<{0}> has no attribute '{1}'");
STRATA_DIAGNOSTIC(missingPart, Error, "sequoia-mapping-xml-missing", "<{0}> is without its {1}");
STRATA_DIAGNOSTIC(strayText, Error, "sequoia-mapping-xml-text", "<{0}> holds elements, not text such as '{1}'");
STRATA_DIAGNOSTIC(wrongRoot, Error, "sequoia-mapping-xml-root",
                  "the outermost element is <{0}>, and should be <mapping>");
STRATA_DIAGNOSTIC(noSuchType, Error, "sequoia-mapping-xml-type", "<{0}> knows no type '{1}'");
STRATA_DIAGNOSTIC(entryWithoutTask, Error, "sequoia-mapping-xml-entry", "no instance is named '{0}'");

namespace {

class XmlReader {
public:
  XmlReader(BufferId file, DiagnosticEngine& diagnostics) : diagnostics_(diagnostics), xml_(file, diagnostics) {}

  std::optional<Mapping> run() {
    before_ = diagnostics_.errorCount();
    if (Node root = xml_.parse()) {
      if (std::string_view(root.name()) == "mapping")
        mapping(root);
      else
        diagnostics_.report(wrongRoot, xml_.placeOf(root), root.name());
    }
    if (diagnostics_.errorCount() != before_)
      return std::nullopt;
    return std::move(mapping_);
  }

private:
  using Node = pugi::xml_node;
  using Piece = XmlText::Piece;
  /// An element that another may hold.
  struct Child {
    const char* name;
    bool repeats;
    std::function<void(Node)> read;
  };
  using Attributes = std::vector<XmlText::Attribute>;

  template <typename... Args>
  void report(const DiagnosticKind& kind, const Location& where, const std::string& found,
              const std::vector<std::string>& candidates, const Args&... args) {
    DiagnosticBuilder builder = diagnostics_.report(kind, where, args...);
    std::string all;
    for (const std::string& each : candidates)
      all += (all.empty() ? "" : ", ") + each;
    if (std::string nearest = nearestName(found, candidates); !nearest.empty())
      builder.help("did you mean '" + nearest + "'?");
    else if (!all.empty())
      builder.help("it has: " + all);
  }

  /// Reads the elements in one that holds elements only; those that do not repeat may occur once.
  void children(Node node, const std::vector<Child>& known) {
    std::vector<Location> seen(known.size());
    for (const Piece& word : xml_.wordsOf(node)) {
      diagnostics_.report(strayText, word.location, node.name(), word.text);
      break;
    }
    for (Node child : node.children()) {
      if (child.type() != pugi::node_element)
        continue;
      size_t found = 0;
      while (found < known.size() && std::string_view(known[found].name) != child.name())
        ++found;
      if (found == known.size()) {
        std::vector<std::string> names;
        for (const Child& each : known)
          names.emplace_back(each.name);
        report(unknownElement, xml_.placeOf(child), child.name(), names, node.name(), child.name());
        continue;
      }
      if (seen[found].valid() && !known[found].repeats) {
        reportTwice("<" + std::string(child.name()) + ">", xml_.placeOf(child), seen[found], diagnostics_);
        continue;
      }
      seen[found] = xml_.placeOf(child);
      known[found].read(child);
    }
  }

  /// The attributes, which must be among those known, each once.
  Attributes attributes(Node node, const std::vector<std::string>& known) {
    Attributes all = xml_.attributesOf(node), result;
    for (XmlText::Attribute& each : all) {
      bool isKnown = false, isFirst = true;
      for (const std::string& name : known)
        isKnown |= name == each.name.text;
      for (const XmlText::Attribute& other : result)
        if (other.name.text == each.name.text) {
          reportTwice(each.name.text, each.name.location, other.name.location, diagnostics_);
          isFirst = false;
        }
      if (!isKnown)
        report(unknownAttribute, each.name.location, each.name.text, known, node.name(), each.name.text);
      else if (isFirst)
        result.push_back(std::move(each));
    }
    return result;
  }
  /// Whether an attribute is likely to be the one called `name`, which is reported with the attributes.
  bool isMisspelt(Node node, const std::string& name) {
    for (const XmlText::Attribute& each : xml_.attributesOf(node))
      if (!nearestName(each.name.text, {name}).empty())
        return true;
    return false;
  }
  const Piece* valueOf(const Attributes& attributes, std::string_view name) {
    for (const XmlText::Attribute& each : attributes)
      if (each.name.text == name)
        return &each.value;
    return nullptr;
  }

  /// An element without attributes or elements: its words.
  std::vector<Piece> words(Node node, const std::vector<std::string>& known = {}) {
    attributes(node, known);
    for (Node child : node.children())
      if (child.type() == pugi::node_element)
        diagnostics_.report(unknownElement, xml_.placeOf(child), node.name(), child.name());
    return xml_.wordsOf(node);
  }

  static bool isName(std::string_view text) {
    bool fine = !text.empty() && !(text[0] >= '0' && text[0] <= '9');
    for (char c : text)
      fine &= isWordCharacter(c);
    return fine;
  }
  MappedName nameIn(const Piece& piece, const std::string& what) {
    MappedName name;
    name.text = piece.text;
    name.place.location = piece.location;
    if (!isBlank(piece.text, what, piece.location, diagnostics_) && !isName(piece.text))
      reportExpected(what, "'" + piece.text + "'", piece.location, diagnostics_);
    return name;
  }
  int64_t numberOf(const Piece& piece, const char* what, bool mayBeNegative = false) {
    if (isBlank(piece.text, what, piece.location, diagnostics_))
      return 1;
    int64_t value = numberIn(piece.text, piece.location, diagnostics_);
    if (value < 0 && !mayBeNegative)
      reportExpected(what, "'" + piece.text + "'", piece.location, diagnostics_);
    return value;
  }

  /// The attribute "name", with "lexnum" where the object may have one.
  MappedName nameOf(Node node, const Attributes& attributes, const std::string& what) {
    const Piece* name = valueOf(attributes, "name");
    if (!name) {
      if (!isMisspelt(node, "name"))
        diagnostics_.report(missingPart, xml_.placeOf(node), node.name(), "attribute 'name', which is " + what);
      MappedName none;
      none.place.location = xml_.placeOf(node);
      return none;
    }
    MappedName result = nameIn(*name, what);
    if (const Piece* lexnum = valueOf(attributes, "lexnum"))
      result.lexnum = static_cast<uint32_t>(std::min<int64_t>(numberOf(*lexnum, "a number"), UINT32_MAX));
    return result;
  }

  /// The content's only word.
  std::optional<Piece> word(Node node, const std::string& what, const std::vector<std::string>& known = {}) {
    std::vector<Piece> all = words(node, known);
    if (all.empty())
      diagnostics_.report(missingPart, xml_.placeOf(node), node.name(), "content, which is " + what);
    else if (all.size() > 1)
      reportExpected(what + " alone in <" + node.name() + ">", "'" + all[1].text + "'", all[1].location, diagnostics_);
    return all.size() == 1 ? std::optional(all[0]) : std::nullopt;
  }
  MappedNumber number(Node node, const char* what, const std::vector<std::string>& known = {},
                      bool mayBeNegative = false) {
    MappedNumber result;
    result.place.location = xml_.placeOf(node);
    if (std::optional<Piece> only = word(node, what, known)) {
      result.place.location = only->location;
      result.value = numberOf(*only, what, mayBeNegative);
    }
    return result;
  }
  Child numberChild(const char* name, OptionalNumber& into, const char* what = "a number") {
    return {name, false, [this, &into, what](Node node) { into = number(node, what); }};
  }
  Child level(OptionalNumber& into) { return numberChild("level", into, "the number of a level"); }

  /// Numbers between commas.
  std::vector<int64_t> numbers(Node node, const std::vector<Piece>& all) {
    std::vector<int64_t> values;
    if (all.empty())
      diagnostics_.report(missingPart, xml_.placeOf(node), node.name(), "content, which is a number a dimension");
    for (size_t i = 0; i < all.size(); ++i) {
      if (i % 2 == 0 && all[i].text == ",") {
        reportExpected("a number", "','", all[i].location, diagnostics_);
        break;
      }
      if (i % 2 == 0) {
        values.push_back(numberOf(all[i], "a number"));
      } else if (all[i].text != "," || i + 1 == all.size()) {
        reportExpected("a comma between numbers", "'" + all[i].text + "'", all[i].location, diagnostics_);
        break;
      }
    }
    return values;
  }

  /// Names between commas or blanks, each maybe with its number in brackets.
  std::vector<MappedName> names(Node node, const std::string& what, bool mayHaveLexnum) {
    std::vector<Piece> all = words(node);
    std::vector<MappedName> result;
    for (size_t i = 0; i < all.size(); ++i) {
      if (all[i].text == "," && i > 0 && i + 1 < all.size() && all[i - 1].text != ",")
        continue;
      result.push_back(nameIn(all[i], what));
      if (mayHaveLexnum && i + 3 < all.size() && all[i + 1].text == "[" && all[i + 3].text == "]") {
        result.back().lexnum = static_cast<uint32_t>(std::min<int64_t>(numberOf(all[i + 2], "a number"), UINT32_MAX));
        i += 3;
      }
    }
    return result;
  }

  Child flag(const char* name, bool& into) {
    return {name, false, [this, &into](Node node) {
              for (const Piece& stray : words(node)) {
                diagnostics_.report(strayText, stray.location, node.name(), stray.text);
                break;
              }
              into = true;
            }};
  }

  void mapping(Node root) {
    attributes(root, {});
    std::vector<MappedName> entries;
    children(root, {{"machine", false, [&](Node node) { machine(node); }},
                    {"entrypoints", false, [&](Node node) { entries = names(node, "the name of an instance", false); }},
                    {"taskmapping", true, [&](Node node) { task(node); }}});
    // After other errors an instance may only seem to be missing.
    if (diagnostics_.errorCount() == before_)
      for (MappedName& entry : entries)
        entryPoint(std::move(entry));
  }

  void machine(Node node) {
    Attributes given = attributes(node, {"filename"});
    children(node, {});
    const Piece* name = valueOf(given, "filename");
    if (!name) {
      if (!isMisspelt(node, "filename"))
        diagnostics_.report(missingPart, xml_.placeOf(node), node.name(), "attribute 'filename', which is the machine");
      return;
    }
    mapping_.machine = fileNameIn(name->text, name->location, diagnostics_);
    mapping_.machinePlace.location = name->location;
  }

  /// Entry points stand beside the tasks; each belongs to the task that has the instance.
  void entryPoint(MappedName entry) {
    if (!isName(entry.text))
      return; // reported
    std::vector<std::string> all;
    for (MappedTask& task : mapping_.tasks) {
      for (const MappedName& other : task.entryPoints)
        if (other.text == entry.text)
          return reportTwice(entry.text, entry.place.location, other.place.location, diagnostics_);
      for (const MappedInstance& instance : task.instances) {
        if (instance.name.text == entry.text) {
          task.entryPoints.push_back(std::move(entry));
          return;
        }
        all.push_back(instance.name.text);
      }
    }
    report(entryWithoutTask, entry.place.location, entry.text, all, entry.text);
  }

  void task(Node node) {
    MappedTask task;
    task.name = nameOf(node, attributes(node, {"name"}), "the name of a task");
    children(node, {{"instance", true, [&](Node child) { instance(child, task); }}});
    mapping_.tasks.push_back(std::move(task));
  }

  void instance(Node node, MappedTask& task) {
    MappedInstance instance;
    instance.name = nameOf(node, attributes(node, {"name"}), "the name of the instance");
    instance.variant.place.location = xml_.placeOf(node);
    bool hasVariant = false;
    auto variant = [&](Node child) {
      hasVariant = true;
      if (std::optional<Piece> only = word(child, "the name of a variant"))
        instance.variant = nameIn(*only, "the name of a variant");
    };
    auto file = [&](Node child) {
      words(child);
      Piece content = xml_.contentOf(child);
      instance.externalFile = fileNameIn(content.text, content.location, diagnostics_);
    };
    auto tunable = [&](Node child) {
      MappedTunable tunable;
      tunable.isDivisor = child.name() == std::string_view("divisor");
      tunable.name = nameOf(child, attributes(child, {"name", "lexnum"}), "the name of a tunable");
      tunable.value = number(child, "the value of the tunable", {"name", "lexnum"}, true);
      instance.tunables.push_back(std::move(tunable));
    };
    children(node, {{"variant", false, variant},
                    {"filename", false, file},
                    flag("cellforceuniqueoverlay", instance.uniqueOverlay),
                    {"tunable", true, tunable},
                    {"divisor", true, tunable},
                    level(instance.level),
                    numberChild("scratch", instance.scratch, "a number of bytes"),
                    {"data", true, [&](Node child) { data(child, instance); }},
                    {"ctrl", true, [&](Node child) { control(child, instance); }}});
    if (!hasVariant)
      diagnostics_.report(missingPart, xml_.placeOf(node), node.name(), "element <variant>");
    task.instances.push_back(std::move(instance));
  }

  void data(Node node, MappedInstance& instance) {
    attributes(node, {});
    DataMapping data;
    data.place.location = xml_.placeOf(node);
    auto share = [&](Node child) {
      data.spaceShare = names(child, "the name of an array", true);
      if (data.spaceShare.empty())
        diagnostics_.report(missingPart, xml_.placeOf(child), child.name(), "content, which is names of arrays");
    };
    children(node, {level(data.level), {"spaceshare", false, share}, {"array", true, [&](Node child) {
                                                                        array(child, data);
                                                                      }}});
    instance.data.push_back(std::move(data));
  }

  /// A bound on sizes, by its type.
  SizeBound sizeBound(Node node, const std::vector<std::string>& known) {
    static constexpr std::pair<const char*, Relation> types[] = {{"boundabove", Relation::AtMost},
                                                                 {"exact", Relation::Equal},
                                                                 {"boundbelow", Relation::AtLeast},
                                                                 {"lt", Relation::Less},
                                                                 {"gt", Relation::Greater}};
    SizeBound bound;
    bound.relation = type(node, attributes(node, known), types);
    bound.values = numbers(node, words(node, known));
    bound.place.location = xml_.wholeOf(node);
    return bound;
  }
  template <size_t N>
  Relation type(Node node, const Attributes& given, const std::pair<const char*, Relation> (&types)[N]) {
    const Piece* value = valueOf(given, "type");
    std::vector<std::string> names;
    std::string all;
    for (auto [name, relation] : types) {
      if (value && value->text == name)
        return relation;
      names.emplace_back(name);
      all += (all.empty() ? "" : ", ") + names.back();
    }
    if (value)
      report(noSuchType, value->location, value->text, names, node.name(), value->text);
    else if (!isMisspelt(node, "type"))
      diagnostics_.report(missingPart, xml_.placeOf(node), node.name(), "attribute 'type'").help("one of: " + all);
    return Relation::Equal;
  }

  void array(Node node, DataMapping& data) {
    MappedArray array;
    array.name = nameOf(node, attributes(node, {"name", "lexnum"}), "the name of an array");
    // The array's name in a precondition says nothing new, and an old name of the element is in use.
    auto elements = [&](Node child) { array.elements.push_back(sizeBound(child, {"type", "name"})); };
    auto pitch = [&](Node child) { array.pitch.push_back(sizeBound(child, {"type", "name"})); };
    auto cyclic = [&](Node child) {
      attributes(child, {});
      BlockCyclic layout;
      layout.place.location = xml_.placeOf(child);
      auto sizes = [&](std::vector<int64_t>& into) {
        return [this, &into](Node each) { into = numbers(each, words(each)); };
      };
      children(child, {{"grid", false, sizes(layout.grid)}, {"blocksize", false, sizes(layout.blockSize)}});
      array.blockCyclic = std::move(layout);
    };
    children(node, {level(array.level),
                    {"arraynumelmtprecond", true, elements},
                    {"arraysizeprecond", true, elements},
                    {"arraypitchprecond", true, pitch},
                    {"blockcyclic", false, cyclic}});
    data.arrays.push_back(std::move(array));
  }

  void control(Node node, MappedInstance& instance) {
    attributes(node, {});
    ControlMapping control;
    control.place.location = xml_.placeOf(node);
    children(node, {level(control.level),
                    {"loop", true, [&](Node child) { loop(child, control); }},
                    {"callsite", true, [&](Node child) { callsite(child, control); }}});
    instance.control.push_back(std::move(control));
  }

  void loop(Node node, ControlMapping& control) {
    MappedLoop loop;
    loop.name = nameOf(node, attributes(node, {"name", "lexnum"}), "the name of a loop variable");
    children(node, {level(loop.level),
                    numberChild("swp", loop.pipelineStages),
                    numberChild("unroll", loop.unroll),
                    flag("flatten", loop.flat),
                    {"spmd", false, [&](Node child) { spmd(child, loop); }}});
    control.loops.push_back(std::move(loop));
  }

  void spmd(Node node, MappedLoop& loop) {
    attributes(node, {});
    SpmdMapping spmd;
    spmd.place.location = xml_.placeOf(node);
    auto range = [&](Node child) {
      const unsigned errors = diagnostics_.errorCount();
      std::vector<int64_t> values = numbers(child, words(child));
      if (values.size() == 2)
        spmd.fullRange = {values[0], values[1]};
      else if (!values.empty() && diagnostics_.errorCount() == errors)
        reportExpected("the first processor and the end of the processors",
                       values.size() == 1 ? "one number" : "several numbers", xml_.wholeOf(child), diagnostics_);
    };
    auto ways = [&](Node child) {
      std::optional<Piece> only = word(child, "a number or auto");
      if (only && only->text == "auto")
        spmd.waysAuto = true;
      else if (only)
        spmd.ways = MappedNumber{numberOf(*only, "a number or auto"), {only->location}};
    };
    children(node, {{"fullrange", false, range}, {"ways", false, ways}, numberChild("iterblk", spmd.iterationBlock)});
    loop.spmd = std::move(spmd);
  }

  void callsite(Node node, ControlMapping& control) {
    MappedCallsite site;
    site.task = nameOf(node, attributes(node, {"name", "lexnum"}), "the name of the called task");
    children(node, {{"target", true, [&](Node child) { target(child, site); }}});
    control.callsites.push_back(std::move(site));
  }

  void target(Node node, MappedCallsite& site) {
    MappedTarget target;
    target.instance = nameOf(node, attributes(node, {"name"}), "the name of an instance");
    auto size = [&](Node child) {
      TargetCondition condition;
      condition.bound = sizeBound(child, {"name", "lexnum", "type"});
      condition.array = nameOf(child, xml_.attributesOf(child), "the name of an array");
      target.conditions.push_back(std::move(condition));
    };
    auto count = [&](Node child) {
      static constexpr std::pair<const char*, Relation> types[] = {{"lt", Relation::Less},
                                                                   {"leq", Relation::AtMost},
                                                                   {"eq", Relation::Equal},
                                                                   {"geq", Relation::AtLeast},
                                                                   {"gt", Relation::Greater}};
      TargetCondition condition;
      condition.bound.relation = type(child, attributes(child, {"type"}), types);
      condition.bound.values = {number(child, "a number", {"type"}).value};
      condition.bound.place.location = xml_.wholeOf(child);
      target.conditions.push_back(std::move(condition));
    };
    auto copy = [&](Node child) {
      target.forcedCopies.push_back(nameOf(child, attributes(child, {"name", "lexnum"}), "the name of an array"));
      children(child, {});
    };
    children(node, {{"arraysizecond", true, size},
                    {"numinstcond", true, count},
                    flag("forcedynamiccall", target.dynamic),
                    {"forcecopy", true, copy}});
    site.targets.push_back(std::move(target));
  }

  DiagnosticEngine& diagnostics_;
  XmlText xml_;
  Mapping mapping_;
  unsigned before_ = 0; // errors
};

} // namespace

std::optional<Mapping> readXml(BufferId file, DiagnosticEngine& diagnostics) {
  return XmlReader(file, diagnostics).run();
}

} // namespace strata::sequoia
