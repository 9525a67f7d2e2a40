// Reads the brace form of a mapping: one function for each kind of block, each takes what the grammar of the Sequoia
// reference allows there and goes on behind what is wrong.
#include "compiler/sequoia/mapping_words.h"

namespace strata::sequoia {

namespace {

class BraceReader : private MappingWords {
public:
  BraceReader(BufferId file, DiagnosticEngine& diagnostics) : MappingWords(file, diagnostics) {}

  std::optional<Mapping> run() {
    while (word_.kind != Word::Kind::End) {
      try {
        topLevel();
      } catch (const SyntaxError&) {
        recover();
        accept("}");
      }
    }
    return std::move(mapping_);
  }

private:
  /// Calls `item` for each item between braces; a wrong item is skipped.
  template <typename Item>
  void braces(Item item) {
    const size_t open = at_;
    expect("{");
    while (!is("}") && word_.kind != Word::Kind::End) {
      if (accept(";"))
        continue;
      item_ = at_;
      try {
        item();
      } catch (const SyntaxError&) {
        recover();
      }
    }
    expectClosing("}", open);
  }

  void topLevel() {
    item_ = at_;
    if (accept("#")) {
      Location where = word_.location;
      if (!accept("include"))
        fail("include");
      once("#include", where, included_);
      Location place = word_.location;
      mapping_.machine = fileName("the name of the machine in quotes");
      mapping_.machinePlace.location = place;
      return;
    }
    if (!accept("task"))
      fail("'task' or '#include'");
    MappedTask task;
    task.name = name("the name of a task");
    accept(":");
    while (accept("entrypoint")) {
      const size_t open = at_;
      expect("(");
      do {
        MappedName entry = name("the name of an instance");
        for (const MappedName& other : task.entryPoints)
          if (other.text == entry.text)
            reportTwice("entrypoint(" + entry.text + ")", entry.place.location, other.place.location, diagnostics_);
        task.entryPoints.push_back(std::move(entry));
      } while (accept(","));
      expectClosing(")", open);
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
    Location overlay, external;
    for (;;) {
      Location where = word_.location;
      if (accept("unique")) {
        expect("overlay");
        once("unique overlay", where, overlay);
        instance.uniqueOverlay = true;
      } else if (accept("external")) {
        once("external", where, external);
        const size_t open = at_;
        expect("(");
        instance.externalFile = fileName("the name of a file in quotes");
        expectClosing(")", open);
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
        tunable.isDivisor = accept("divisor");
        if (tunable.isDivisor)
          expect("(");
        const Location sign = word_.location;
        bool negative = accept("-");
        tunable.value = number("the value of the tunable");
        if (negative) {
          tunable.value.value = -tunable.value.value;
          tunable.value.place.location.begin = sign.begin;
        }
        if (tunable.isDivisor)
          expect(")");
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
    bound.place.location = {file_, where.begin, lastEnd_};
    expect(";");
    return bound;
  }

  void array(DataMapping& data) {
    MappedArray array;
    array.name = name("the name of an array", true);
    array.level = levelInParentheses();
    Location cyclic;
    braces([&] {
      Location where = word_.location;
      if (accept("elements")) {
        array.elements.push_back(sizeBound(where));
      } else if (accept("pitch")) {
        array.pitch.push_back(sizeBound(where));
      } else if (accept("blockcyclic")) {
        once("blockcyclic", where, cyclic);
        BlockCyclic layout;
        layout.place.location = where;
        Location gridPlace, blockPlace;
        braces([&] {
          Location item = word_.location;
          bool grid = accept("grid");
          if (!grid && !accept("blocksize"))
            fail("'grid' or 'blocksize'");
          once(grid ? "grid" : "blocksize", item, grid ? gridPlace : blockPlace);
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
    if (loop.spmd)
      reportTwice("spmd", where, loop.spmd->place.location, diagnostics_);
    Location range, ways;
    braces([&] {
      Location item = word_.location;
      if (accept("fullrange")) {
        once("fullrange", item, range);
        expect("=");
        int64_t lower = number("the first processor").value;
        expect(",");
        spmd.fullRange = {lower, number("the end of the processors").value};
        expect(";");
      } else if (accept("ways")) {
        once("ways", item, ways);
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
    loop.spmd = std::move(spmd);
  }

  void callsite(ControlMapping& control) {
    MappedCallsite site;
    site.task = name("the name of the called task", true);
    expect("(");
    expectClosing(")", at_ - 1);
    braces([&] {
      if (!accept("target"))
        fail("'target'");
      MappedTarget target;
      target.instance = name("the name of an instance");
      expect("(");
      expectClosing(")", at_ - 1);
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
      condition.bound.relation = comparison();
      condition.bound.values = {number("a number").value};
      condition.bound.place.location = {file_, where.begin, lastEnd_};
      expect(";");
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
  std::optional<Mapping> mapping = BraceReader(file, diagnostics).run();
  return diagnostics.errorCount() == before ? std::move(mapping) : std::nullopt;
}

} // namespace strata::sequoia
