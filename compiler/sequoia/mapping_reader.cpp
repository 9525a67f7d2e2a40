// Reads the brace form of a mapping: words, numbers, quoted names and punctuation, then one function for each kind of
// block.
#include "compiler/sequoia/mapping.h"

#include <cctype>
#include <charconv>

namespace strata::sequoia {

STRATA_DIAGNOSTIC(mappingSyntax, Error, "sequoia-mapping-syntax", "expected {0}, found {1}");
STRATA_DIAGNOSTIC(mappingTwice, Error, "sequoia-mapping-twice", "'{0}' is given twice");
STRATA_DIAGNOSTIC(mappingNumber, Error, "sequoia-mapping-number", "'{0}' is not a number that fits in 63 bits");

namespace {

struct Word {
  enum class Kind { End, Name, Number, Text, Sign } kind = Kind::End;
  std::string_view text; // Text: without its quotes
  Location location;
};

class Reader {
public:
  Reader(BufferId file, DiagnosticEngine& diagnostics)
      : file_(file), diagnostics_(diagnostics), text_(diagnostics.sources().buffer(file).text()) {
    next();
  }

  std::optional<Mapping> run() {
    unsigned before = diagnostics_.errorCount();
    while (word_.kind != Word::Kind::End) {
      try {
        topLevel();
      } catch (const SyntaxError&) {
        recover();
        accept("}");
      }
    }
    if (diagnostics_.errorCount() != before)
      return std::nullopt;
    return std::move(mapping_);
  }

private:
  struct SyntaxError {};

  void next() {
    lastEnd_ = word_.location.end;
    skipSpace();
    size_t begin = at_;
    auto isWord = [](char c) { return std::isalnum(static_cast<unsigned char>(c)) || c == '_'; };
    if (at_ >= text_.size()) {
      word_.kind = Word::Kind::End;
    } else if (std::isdigit(static_cast<unsigned char>(text_[at_]))) {
      word_.kind = Word::Kind::Number;
      while (at_ < text_.size() && isWord(text_[at_]))
        ++at_;
    } else if (isWord(text_[at_])) {
      word_.kind = Word::Kind::Name;
      while (at_ < text_.size() && isWord(text_[at_]))
        ++at_;
    } else if (text_[at_] == '"' && text_.find('"', at_ + 1) != std::string_view::npos) {
      word_.kind = Word::Kind::Text;
      at_ = text_.find('"', at_ + 1) + 1;
    } else {
      word_.kind = Word::Kind::Sign;
      std::string_view two = text_.substr(at_, 2);
      at_ += two == "::" || two == "<=" || two == ">=" ? 2 : 1;
    }
    word_.text = text_.substr(begin, at_ - begin);
    word_.location = {file_, static_cast<uint32_t>(begin), static_cast<uint32_t>(at_)};
    if (word_.kind == Word::Kind::Text)
      word_.text = word_.text.substr(1, word_.text.size() - 2);
  }

  void skipSpace() {
    while (at_ < text_.size()) {
      if (std::isspace(static_cast<unsigned char>(text_[at_])))
        ++at_;
      else if (text_.substr(at_, 2) == "//")
        at_ = std::min(text_.find('\n', at_), text_.size());
      else if (text_.substr(at_, 2) == "/*")
        at_ = std::min(text_.find("*/", at_ + 2), text_.size() - 2) + 2;
      else
        return;
    }
  }

  bool is(std::string_view text) const { return word_.kind != Word::Kind::Text && word_.text == text; }
  bool accept(std::string_view text) {
    if (word_.kind == Word::Kind::End || !is(text))
      return false;
    next();
    return true;
  }
  [[noreturn]] void fail(const std::string& wanted) {
    std::string found = word_.kind == Word::Kind::End ? "the end of the file" : "'" + std::string(word_.text) + "'";
    diagnostics_.report(mappingSyntax, word_.location, wanted, found);
    throw SyntaxError();
  }
  void expect(const char* text) {
    if (!accept(text))
      fail("'" + std::string(text) + "'");
  }
  /// Skips to the end of the item at hand.
  void recover() {
    int braces = 0;
    for (; word_.kind != Word::Kind::End; next()) {
      if (is("{")) {
        ++braces;
      } else if (is("}")) {
        if (braces == 0)
          return; // the end of the block around
        if (--braces == 0) {
          next();
          return;
        }
      } else if (is(";") && braces == 0) {
        next();
        return;
      }
    }
  }

  MappedName name(const char* what, bool mayHaveLexnum = false) {
    if (word_.kind != Word::Kind::Name)
      fail(what);
    MappedName result;
    result.text = word_.text;
    result.place.location = word_.location;
    next();
    if (mayHaveLexnum && accept("[")) {
      MappedNumber lexnum = number("a number");
      if (lexnum.value > UINT32_MAX)
        lexnum.value = UINT32_MAX;
      result.lexnum = static_cast<uint32_t>(lexnum.value);
      expect("]");
      result.place.location.end = lastEnd_;
    }
    return result;
  }

  MappedNumber number(const char* what) {
    if (word_.kind != Word::Kind::Number)
      fail(what);
    MappedNumber result;
    result.place.location = word_.location;
    auto [end, error] = std::from_chars(word_.text.data(), word_.text.data() + word_.text.size(), result.value);
    if (error != std::errc() || end != word_.text.data() + word_.text.size()) {
      diagnostics_.report(mappingNumber, word_.location, word_.text);
      result.value = 1;
    }
    next();
    return result;
  }

  std::vector<int64_t> numbers() {
    std::vector<int64_t> values;
    do
      values.push_back(number("a number").value);
    while (accept(","));
    return values;
  }

  std::vector<MappedName> nameList() {
    std::vector<MappedName> names;
    expect("(");
    do
      names.push_back(name("the name of an array", true));
    while (accept(","));
    expect(")");
    return names;
  }

  OptionalNumber levelInParentheses() {
    OptionalNumber level;
    expect("(");
    if (accept("level"))
      level = number("the number of a level");
    expect(")");
    return level;
  }

  void setNumber(OptionalNumber& target, const char* what, const Location& where) {
    expect("=");
    MappedNumber value = number("a number");
    expect(";");
    if (target)
      diagnostics_.report(mappingTwice, where, what).label(target->place.location, "first here");
    target = value;
  }

  /// Calls `item` for each item between braces; a wrong item is skipped.
  template <typename Item>
  void braces(Item item) {
    expect("{");
    while (!is("}") && word_.kind != Word::Kind::End) {
      if (accept(";"))
        continue;
      try {
        item();
      } catch (const SyntaxError&) {
        recover();
      }
    }
    expect("}");
  }

  void topLevel() {
    if (accept("#")) {
      Location where = word_.location;
      if (!accept("include"))
        fail("include");
      if (word_.kind != Word::Kind::Text)
        fail("the name of the machine in quotes");
      if (!mapping_.machine.empty())
        diagnostics_.report(mappingTwice, where, "#include").label(mapping_.machinePlace.location, "first here");
      mapping_.machine = word_.text;
      mapping_.machinePlace.location = word_.location;
      next();
      return;
    }
    if (!accept("task"))
      fail("'task' or '#include'");
    MappedTask task;
    task.name = name("the name of a task");
    accept(":");
    while (accept("entrypoint")) {
      expect("(");
      do
        task.entryPoints.push_back(name("the name of an instance"));
      while (accept(","));
      expect(")");
      accept(",");
    }
    braces([&] { instance(task); });
    mapping_.tasks.push_back(std::move(task));
  }

  void instance(MappedTask& task) {
    if (!accept("instance"))
      fail("'instance'");
    MappedInstance instance;
    instance.name = name("the name of the instance");
    expect("::");
    instance.variant = name("the name of the variant");
    instance.level = levelInParentheses();
    accept(":");
    for (;;) {
      if (accept("unique")) {
        expect("overlay");
        instance.uniqueOverlay = true;
      } else if (accept("external")) {
        expect("(");
        if (word_.kind != Word::Kind::Text)
          fail("the name of a file in quotes");
        instance.externalFile = word_.text;
        next();
        expect(")");
      } else if (!accept(",")) {
        break;
      }
    }
    braces([&] {
      Location where = word_.location;
      if (accept("tunable")) {
        MappedTunable tunable;
        tunable.name = name("the name of a tunable", true);
        expect("=");
        tunable.value = number("the value of the tunable");
        expect(";");
        instance.tunables.push_back(std::move(tunable));
      } else if (accept("scratch")) {
        setNumber(instance.scratch, "scratch", where);
      } else if (accept("data")) {
        data(instance, where);
      } else if (accept("control")) {
        control(instance, where);
      } else {
        fail("'tunable', 'data', 'control' or 'scratch'");
      }
    });
    task.instances.push_back(std::move(instance));
  }

  void data(MappedInstance& instance, const Location& where) {
    DataMapping data;
    data.place.location = where;
    data.level = levelInParentheses();
    accept(":");
    if (accept("spaceshare"))
      data.spaceShare = nameList();
    braces([&] {
      if (!accept("array"))
        fail("'array'");
      array(data);
    });
    instance.data.push_back(std::move(data));
  }

  Relation sizeRelation() {
    if (accept("<"))
      return Relation::AtMost;
    if (accept("="))
      return Relation::Equal;
    if (accept(">"))
      return Relation::AtLeast;
    fail("'<', '=' or '>'");
  }

  SizeBound sizeBound(const Location& where) {
    SizeBound bound;
    bound.relation = sizeRelation();
    bound.values = numbers();
    bound.place.location = {file_, where.begin, lastEnd_};
    expect(";");
    return bound;
  }

  void array(DataMapping& data) {
    MappedArray array;
    array.name = name("the name of an array", true);
    array.level = levelInParentheses();
    braces([&] {
      Location where = word_.location;
      if (accept("elements")) {
        array.elements.push_back(sizeBound(where));
      } else if (accept("pitch")) {
        array.pitch.push_back(sizeBound(where));
      } else if (accept("blockcyclic")) {
        BlockCyclic layout;
        layout.place.location = where;
        braces([&] {
          bool grid = accept("grid");
          if (!grid && !accept("blocksize"))
            fail("'grid' or 'blocksize'");
          expect("=");
          (grid ? layout.grid : layout.blockSize) = numbers();
          expect(";");
        });
        array.blockCyclic = std::move(layout);
      } else {
        fail("'elements', 'pitch' or 'blockcyclic'");
      }
    });
    data.arrays.push_back(std::move(array));
  }

  void control(MappedInstance& instance, const Location& where) {
    ControlMapping control;
    control.place.location = where;
    control.level = levelInParentheses();
    braces([&] {
      if (accept("loop"))
        loop(control);
      else if (accept("callsite"))
        callsite(control);
      else
        fail("'loop' or 'callsite'");
    });
    instance.control.push_back(std::move(control));
  }

  void loop(ControlMapping& control) {
    MappedLoop loop;
    loop.name = name("the name of a loop variable", true);
    loop.level = levelInParentheses();
    accept(":");
    loop.flat = accept("flat");
    braces([&] {
      Location where = word_.location;
      if (accept("swp"))
        setNumber(loop.pipelineStages, "swp", where);
      else if (accept("unroll"))
        setNumber(loop.unroll, "unroll", where);
      else if (accept("spmd"))
        spmd(loop, where);
      else
        fail("'swp', 'unroll' or 'spmd'");
    });
    control.loops.push_back(std::move(loop));
  }

  void spmd(MappedLoop& loop, const Location& where) {
    SpmdMapping spmd;
    spmd.place.location = where;
    braces([&] {
      Location item = word_.location;
      if (accept("fullrange")) {
        expect("=");
        int64_t lower = number("the first processor").value;
        expect(",");
        spmd.fullRange = {lower, number("the end of the processors").value};
        expect(";");
      } else if (accept("ways")) {
        expect("=");
        if (accept("auto"))
          spmd.waysAuto = true;
        else
          spmd.ways = number("a number or auto");
        expect(";");
      } else if (accept("iterblk")) {
        setNumber(spmd.iterationBlock, "iterblk", item);
      } else {
        fail("'fullrange', 'ways' or 'iterblk'");
      }
    });
    if (spmd.ways && spmd.waysAuto)
      diagnostics_.report(mappingTwice, where, "ways").label(spmd.ways->place.location, "a number here");
    loop.spmd = std::move(spmd);
  }

  void callsite(ControlMapping& control) {
    MappedCallsite site;
    site.task = name("the name of the called task", true);
    expect("(");
    expect(")");
    braces([&] {
      if (!accept("target"))
        fail("'target'");
      MappedTarget target;
      target.instance = name("the name of an instance");
      expect("(");
      expect(")");
      accept(":");
      for (;;) {
        if (accept("dynamic")) {
          target.dynamic = true;
        } else if (accept("copy")) {
          for (MappedName& each : nameList())
            target.forcedCopies.push_back(std::move(each));
        } else if (!accept(",")) {
          break;
        }
      }
      braces([&] { condition(target); });
      site.targets.push_back(std::move(target));
    });
    control.callsites.push_back(std::move(site));
  }

  void condition(MappedTarget& target) {
    TargetCondition condition;
    Location where = word_.location;
    MappedName subject = name("an array's name or 'instantiations'", true);
    if (accept(".")) {
      expect("elements");
      condition.array = std::move(subject);
      condition.bound = sizeBound(where);
    } else if (subject.text == "instantiations") {
      static constexpr Relation all[] = {Relation::Less, Relation::AtMost, Relation::Equal, Relation::AtLeast,
                                         Relation::Greater};
      bool found = false;
      for (Relation relation : all) {
        if (!found && accept(relationText(relation))) {
          condition.bound.relation = relation;
          found = true;
        }
      }
      if (!found)
        fail("a comparison");
      condition.bound.values = {number("a number").value};
      condition.bound.place.location = {file_, where.begin, lastEnd_};
      expect(";");
    } else {
      fail("'.elements'");
    }
    target.conditions.push_back(std::move(condition));
  }

  BufferId file_;
  DiagnosticEngine& diagnostics_;
  std::string_view text_;
  size_t at_ = 0;
  uint32_t lastEnd_ = 0;
  Word word_;
  Mapping mapping_;
};

} // namespace

std::optional<Mapping> readMapping(BufferId file, DiagnosticEngine& diagnostics) {
  return Reader(file, diagnostics).run();
}

} // namespace strata::sequoia
