// Reads the brace form of a mapping: one function for each kind of block, each takes what the grammar of the Sequoia
// reference allows there and goes on behind what is wrong.
#include "compiler/sequoia/mapping/mapping_words.h"

namespace strata::sequoia {

namespace {

class BraceReader : private MappingWords {
public:
  BraceReader(const std::vector<MapWord>& words, DiagnosticEngine& diagnostics) : MappingWords(words, diagnostics) {}

  std::optional<Mapping> run() {
    while (!atEnd()) {
      const size_t start = at_;
      try {
        topLevel();
      } catch (const SyntaxError&) {
        goOn(start);
        accept("}");
      }
    }
    return std::move(mapping_);
  }

private:
  /// Goes on behind the item that began at word `start` and is wrong.
  void goOn(size_t start) {
    if (at_ == start && !is("}"))
      take();
    recover(start);
  }

  /// Calls `item` for each item between braces; a wrong item is skipped.
  template <typename Item>
  void braces(std::string_view after, Item item) {
    const size_t open = at_;
    expect("{", after);
    while (!is("}") && !atEnd()) {
      if (accept(";"))
        continue;
      const size_t start = item_ = at_;
      try {
        item();
      } catch (const SyntaxError&) {
        goOn(start);
      }
    }
    expectClosing("}", open, "what is said of it");
  }

  void topLevel() {
    item_ = at_;
    if (accept("#")) {
      Location where = token().location;
      if (!accept("include"))
        failItem("'include' after '#'");
      once("#include", where, included_);
      Location place = token().location;
      mapping_.machine = fileName("the name of the machine in quotes");
      mapping_.machinePlace.location = place;
      return;
    }
    if (!accept("task"))
      failItem("'task' or '#include'");
    MappedTask task;
    task.name = name("the name of a task");
    accept(":");
    while (accept("entrypoint")) {
      const size_t open = at_;
      expect("(", "'entrypoint'");
      do {
        MappedName entry = name("the name of an instance");
        for (const MappedName& other : task.entryPoints)
          if (other.text == entry.text)
            reportTwice("entrypoint(" + entry.text + ")", entry.place.location, other.place.location, diagnostics_);
        task.entryPoints.push_back(std::move(entry));
      } while (accept(","));
      expectClosing(")", open, "the entry points");
      accept(",");
    }
    if (!is("{") && isWord(token()))
      failItem("'entrypoint' or '{'");
    braces("the task", [&] { instance(task); });
    mapping_.tasks.push_back(std::move(task));
  }

  void instance(MappedTask& task) {
    if (!accept("instance"))
      failItem("'instance'");
    MappedInstance instance;
    instance.name = name("the name of the instance");
    expect("::", "the name of the instance");
    instance.variant = name("the name of the variant");
    instance.level = levelInParentheses("the variant");
    accept(":");
    Location overlay, external;
    for (;;) {
      Location where = token().location;
      if (accept("unique")) {
        expect("overlay", "'unique'");
        once("unique overlay", where, overlay);
        instance.uniqueOverlay = true;
      } else if (accept("external")) {
        once("external", where, external);
        const size_t open = at_;
        expect("(", "'external'");
        instance.externalFile = fileName("the name of a file in quotes");
        expectClosing(")", open, "the file");
      } else if (!accept(",")) {
        break;
      }
    }
    braces("the instance", [&] {
      Location where = token().location;
      if (accept("tunable")) {
        MappedTunable tunable;
        tunable.name = name("the name of a tunable", true);
        expect("=", "the tunable");
        tunable.isDivisor = accept("divisor");
        if (tunable.isDivisor)
          expect("(", "'divisor'");
        const Location sign = token().location;
        bool negative = accept("-");
        tunable.value = number("the value of the tunable");
        if (negative) {
          tunable.value.value = -tunable.value.value;
          tunable.value.place.location.begin = sign.begin;
        }
        if (tunable.isDivisor)
          expect(")", "the number");
        endOfNumber("the value of the tunable");
        instance.tunables.push_back(std::move(tunable));
      } else if (accept("scratch")) {
        setNumber(instance.scratch, "scratch", where);
      } else if (accept("data")) {
        data(instance, where);
      } else if (accept("control")) {
        control(instance, where);
      } else {
        failItem("'tunable', 'data', 'control' or 'scratch'");
      }
    });
    task.instances.push_back(std::move(instance));
  }

  void data(MappedInstance& instance, const Location& where) {
    DataMapping data;
    data.place.location = where;
    data.level = levelInParentheses("'data'");
    accept(":");
    if (accept("spaceshare"))
      data.spaceShare = nameList("'spaceshare'");
    braces("'data (…)'", [&] {
      if (!accept("array"))
        failItem("'array'");
      array(data);
    });
    instance.data.push_back(std::move(data));
  }

  Relation comparison() {
    for (Relation relation : {Relation::Less, Relation::AtMost, Relation::Equal, Relation::AtLeast, Relation::Greater})
      if (accept(relationText(relation)))
        return relation;
    fail("'<', '<=', '=', '>=' or '>'");
  }

  SizeBound sizeBound(const Location& where) {
    SizeBound bound;
    bound.relation = comparison();
    bound.values = numbers();
    bound.place.location = from(where);
    endOfNumber("the bound");
    return bound;
  }

  void array(DataMapping& data) {
    MappedArray array;
    array.name = name("the name of an array", true);
    array.level = levelInParentheses("the name of the array");
    Location cyclic;
    braces("the array", [&] {
      Location where = token().location;
      if (accept("elements")) {
        array.elements.push_back(sizeBound(where));
      } else if (accept("pitch")) {
        array.pitch.push_back(sizeBound(where));
      } else if (accept("blockcyclic")) {
        once("blockcyclic", where, cyclic);
        BlockCyclic layout;
        layout.place.location = where;
        Location gridPlace, blockPlace;
        braces("'blockcyclic'", [&] {
          Location item = token().location;
          bool grid = accept("grid");
          if (!grid && !accept("blocksize"))
            failItem("'grid' or 'blocksize'");
          once(grid ? "grid" : "blocksize", item, grid ? gridPlace : blockPlace);
          expect("=", grid ? "'grid'" : "'blocksize'");
          (grid ? layout.grid : layout.blockSize) = numbers();
          endOfNumber("the numbers");
        });
        array.blockCyclic = std::move(layout);
      } else {
        failItem("'elements', 'pitch' or 'blockcyclic'");
      }
    });
    data.arrays.push_back(std::move(array));
  }

  void control(MappedInstance& instance, const Location& where) {
    ControlMapping control;
    control.place.location = where;
    control.level = levelInParentheses("'control'");
    braces("'control (…)'", [&] {
      if (accept("loop"))
        loop(control);
      else if (accept("callsite"))
        callsite(control);
      else
        failItem("'loop' or 'callsite'");
    });
    instance.control.push_back(std::move(control));
  }

  void loop(ControlMapping& control) {
    MappedLoop loop;
    loop.name = name("the name of a loop variable", true);
    loop.level = levelInParentheses("the name of the loop");
    accept(":");
    loop.flat = accept("flat");
    braces("the loop", [&] {
      Location where = token().location;
      if (accept("swp"))
        setNumber(loop.pipelineStages, "swp", where);
      else if (accept("unroll"))
        setNumber(loop.unroll, "unroll", where);
      else if (accept("spmd"))
        spmd(loop, where);
      else
        failItem("'swp', 'unroll' or 'spmd'");
    });
    control.loops.push_back(std::move(loop));
  }

  void spmd(MappedLoop& loop, const Location& where) {
    SpmdMapping spmd;
    spmd.place.location = where;
    if (loop.spmd)
      reportTwice("spmd", where, loop.spmd->place.location, diagnostics_);
    Location range, ways;
    braces("'spmd'", [&] {
      Location item = token().location;
      if (accept("fullrange")) {
        once("fullrange", item, range);
        expect("=", "'fullrange'");
        int64_t lower = number("the first processor").value;
        expect(",", "the first processor");
        spmd.fullRange = {lower, number("the end of the processors").value};
        endOfNumber("the processors");
      } else if (accept("ways")) {
        once("ways", item, ways);
        expect("=", "'ways'");
        if (accept("auto"))
          spmd.waysAuto = true;
        else
          spmd.ways = number("a number or auto");
        endOfNumber("the number of ways");
      } else if (accept("iterblk")) {
        setNumber(spmd.iterationBlock, "iterblk", item);
      } else {
        failItem("'fullrange', 'ways' or 'iterblk'");
      }
    });
    loop.spmd = std::move(spmd);
  }

  void callsite(ControlMapping& control) {
    MappedCallsite site;
    site.task = name("the name of the called task", true);
    expect("(", "the name of the task");
    expectClosing(")", at_ - 1, "'('");
    braces("the callsite", [&] {
      if (!accept("target"))
        failItem("'target'");
      MappedTarget target;
      target.instance = name("the name of an instance");
      expect("(", "the name of the instance");
      expectClosing(")", at_ - 1, "'('");
      accept(":");
      for (;;) {
        if (accept("dynamic")) {
          target.dynamic = true;
        } else if (accept("copy")) {
          for (MappedName& each : nameList("'copy'"))
            target.forcedCopies.push_back(std::move(each));
        } else if (!accept(",")) {
          break;
        }
      }
      braces("the target", [&] { condition(target); });
      site.targets.push_back(std::move(target));
    });
    control.callsites.push_back(std::move(site));
  }

  void condition(MappedTarget& target) {
    TargetCondition condition;
    Location where = token().location;
    MappedName subject = name("an array's name or 'instantiations'", true);
    if (accept(".")) {
      expect("elements", "'.'");
      condition.array = std::move(subject);
      condition.bound = sizeBound(where);
    } else if (subject.text == "instantiations") {
      condition.bound.relation = comparison();
      condition.bound.values = {number("a number").value};
      condition.bound.place.location = from(where);
      endOfNumber("the number");
    } else {
      fail("'.elements'");
    }
    target.conditions.push_back(std::move(condition));
  }

  Location included_;
  Mapping mapping_;
};

} // namespace

std::optional<Mapping> readBraces(BufferId file, DiagnosticEngine& diagnostics) {
  const unsigned before = diagnostics.errorCount();
  const std::vector<MapWord> words = mapWords(file, diagnostics);
  std::optional<Mapping> mapping = BraceReader(words, diagnostics).run();
  return diagnostics.errorCount() == before ? std::move(mapping) : std::nullopt;
}

} // namespace strata::sequoia
