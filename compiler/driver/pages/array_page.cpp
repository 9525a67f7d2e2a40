// The tables, which need no script, around what the script draws.
#include "compiler/driver/pages/array_page.h"

#include "base/machine/quantity.h"
#include "base/picture/html.h"
#include "base/picture/svg.h"
#include "compiler/driver/pages/array_page_data.h"
#include "compiler/driver/pages/stream_figures.h"
#include "compiler/driver/pages/texts.h"

#include <algorithm>
#include <cstdio>

namespace strata::driver {

namespace {

using array::Configuration;

std::string percent(double part, double whole) {
  char text[24];
  std::snprintf(text, sizeof text, "%.1f%%", whole > 0 ? 100 * part / whole : 0.0);
  return text;
}

std::string count(int64_t number) {
  return number < 0 ? std::to_string(number) : countText(static_cast<uint64_t>(number));
}

using Row = std::vector<std::string>;

std::string table(const Row& head, const std::vector<Row>& rows) {
  std::string out = "<div class=\"scroll\"><table>\n<tr>";
  for (const std::string& cell : head)
    out += "<th>" + picture::escape(cell) + "</th>";
  for (const Row& row : rows) {
    out += "</tr>\n<tr>";
    for (const std::string& cell : row)
      out += "<td>" + picture::escape(cell) + "</td>";
  }
  return out + "</tr>\n</table></div>\n";
}

/// "3 x 4 elements"; for a range of elements or an array's extents.
std::string times(const std::vector<int64_t>& extents) {
  std::string out;
  for (const int64_t extent : extents)
    out += (out.empty() ? "" : " × ") + std::to_string(extent);
  return out;
}

std::string runTable(const Configuration& configuration, const ArraySchedule& schedule,
                     const array::SimulationStatistics& statistics, int64_t cycles) {
  std::vector<Row> rows = {{"cycles", count(cycles)},
                           {"initiation interval", count(configuration.interval)},
                           {"elements", times({configuration.rows, configuration.columns})}};
  std::string loops;
  for (size_t l = 0; l < configuration.loops.size(); ++l)
    loops += (l ? ", " : "") + configuration.loops[l];
  rows.push_back({"iterations of an element (" + loops + ")",
                  times(schedule.trees.extents()) + " = " + count(schedule.iterations)});
  rows.push_back({"iterations of the program", count(configuration.iterations)});
  rows.push_back({"operations", count(statistics.operations)});
  if (cycles > 0) {
    char text[32];
    std::snprintf(text, sizeof text, "%.2f", static_cast<double>(statistics.operations) / static_cast<double>(cycles));
    rows.push_back({"operations in a cycle", text});
  }
  rows.push_back({"first start", count(configuration.firstStart)});
  rows.push_back({"start after the neighbour to the north, to the west",
                  count(configuration.rowStart) + ", " + count(configuration.columnStart)});
  rows.push_back({"control signals", std::to_string(configuration.signals.size())});
  return table({"", ""}, rows);
}

std::string unitsTable(const machine::ProcessorArray& array, const Configuration& configuration,
                       const array::SimulationStatistics& statistics, int64_t cycles) {
  std::vector<Row> rows;
  const double elements = static_cast<double>(configuration.rows) * configuration.columns;
  for (size_t u = 0; u < array.units.size(); ++u) {
    const int64_t operations = u < statistics.unitOperations.size() ? statistics.unitOperations[u] : 0;
    const auto done = static_cast<double>(operations), each = static_cast<double>(array.units[u].count);
    rows.push_back({array.units[u].name, std::to_string(array.units[u].count), count(operations),
                    percent(done, each * elements * static_cast<double>(cycles)),
                    percent(done, each * static_cast<double>(statistics.elementCycles))});
  }
  return table({"unit", "in an element", "operations", "of the run", "while its element runs"}, rows);
}

std::string classesTable(const Configuration& configuration, const ArraySchedule& schedule) {
  std::vector<Row> rows;
  for (size_t c = 0; c < configuration.classes.size(); ++c) {
    int64_t elements = 0;
    for (const array::ClassRegion& region : configuration.regions)
      if (region.processorClass == c)
        elements += (region.rows.end - region.rows.first) * (region.columns.end - region.columns.first);
    size_t slots = 0, units = 0;
    for (const array::Program& program : configuration.classes[c].programs) {
      slots += program.size();
      units += !program.empty();
    }
    Row row = {std::to_string(c), count(elements), std::to_string(units), std::to_string(slots)};
    if (c < schedule.classes.size() && schedule.classes[c].times > 0) {
      const ArraySchedule::Class& each = schedule.classes[c];
      for (const int64_t number : {each.first, each.last, each.times})
        row.push_back(count(number));
      row.push_back(percent(static_cast<double>(each.times), static_cast<double>(schedule.iterations)));
    } else
      row.insert(row.end(), 4, "–");
    rows.push_back(std::move(row));
  }
  return table({"class", "elements", "units used", "instructions", "first iteration", "last iteration", "the kernel's",
                "of all"},
               rows);
}

std::string bordersTable(const Configuration& configuration, const array::SimulationStatistics& statistics) {
  std::vector<Row> rows;
  for (size_t side = 0; side < 4; ++side) {
    size_t banks = 0;
    std::string arrays;
    for (const array::Bank& bank : configuration.banks) {
      if (static_cast<size_t>(bank.side) != side)
        continue;
      ++banks;
      const std::vector<array::ArrayLayout>& layouts = bank.isOutput ? configuration.outputs : configuration.inputs;
      if (bank.array >= layouts.size() || arrays.size() > 200)
        continue;
      const std::string& name = layouts[bank.array].name;
      if ((", " + arrays + ", ").find(", " + name + ", ") == std::string::npos)
        arrays += (arrays.empty() ? "" : ", ") + name;
    }
    rows.push_back({machine::sideNames()[side], std::to_string(banks), arrays.empty() ? "–" : arrays,
                    count(statistics.wordsIn[side]), count(statistics.wordsOut[side])});
  }
  return table({"border", "banks", "arrays", "words in", "words out"}, rows);
}

std::string depthsTable(const machine::ProcessorArray& array, const Configuration& configuration) {
  std::vector<Row> rows;
  const auto add = [&](const std::string& name, const std::vector<uint64_t>& depths, uint64_t most) {
    for (size_t i = 0; i < depths.size(); ++i)
      if (depths[i] > 0)
        rows.push_back({name + std::to_string(i), countText(depths[i]), countText(most)});
  };
  add("fd", configuration.feedbackDepths, array.registers.feedbackDepth);
  add("id", configuration.inputDepths, array.registers.inputDepth);
  return rows.empty() ? "<p>No FIFO is used.</p>\n" : table({"FIFO", "values at most", "places"}, rows);
}

const char* const style =
    "#tools,#about{display:flex;gap:8px;align-items:center;flex-wrap:wrap;margin:0 0 8px;color:var(--quiet);"
    "font-size:13px}\n#tools input,#tools select,#tools button{font:14px system-ui,sans-serif;color:var(--ink);"
    "background:var(--card);border:1px solid var(--rule);border-radius:6px;padding:3px 10px}\n"
    "#tools button{cursor:pointer}#cycle{width:8em}#slide{flex:1 1 260px;padding:0}\n"
    ".canvas{position:relative;border:1px solid var(--rule);border-radius:8px}\n"
    ".canvas canvas{display:block;border-radius:8px;width:100%;touch-action:none;cursor:grab}.canvas "
    "canvas:active{cursor:grabbing}\n"
    ".aside{margin:0 8px 0 16px}.failed{color:var(--ink);border-left:4px solid var(--external-line);padding:4px 12px}\n"
    ".tip{position:absolute;display:none;pointer-events:none;background:var(--paper);color:var(--ink);z-index:1;"
    "border:1px solid var(--line);border-radius:6px;padding:6px 10px;font:13px/1.45 system-ui,sans-serif;"
    "white-space:pre;box-shadow:0 2px 8px #0003}\n"
    ".key{display:inline-block;width:12px;height:12px;border:1px solid;border-radius:3px;vertical-align:-1px;"
    "margin:0 5px 0 8px}\n#wire{white-space:pre-wrap;margin:8px 0 0;max-width:none}#ports table{margin:0 0 8px}"
    "#ports td,#ports th{text-align:left}#ports "
    "td:nth-child(3){font-family:monospace;color:var(--ink);min-width:16ch}\n"
    ".signal{border:1px solid var(--rule);border-radius:6px;padding:0 8px;font:13px/1.6 "
    "monospace}.signal.tested{border-color:var(--control-line);color:var(--ink)}\n"
    "#programs{display:flex;gap:12px;flex-wrap:wrap}#programs>div{flex:1 1 330px;min-width:0}"
    "#programs h3{font-size:14px;margin:0 0 4px}\n"
    "#programs pre{margin:0;max-height:320px;overflow:auto;padding:8px 0}"
    "#programs i{display:block;font-style:normal;padding:0 12px;width:max-content;min-width:calc(100% - 24px)}\n"
    "#programs i.block{border-top:1px solid var(--rule)}#programs i.now{background:var(--control);"
    "box-shadow:inset 3px 0 var(--control-line)}\n"
    "table{border-collapse:collapse;font-size:14px}th,td{padding:4px 14px;text-align:right;white-space:nowrap;"
    "border-bottom:1px solid var(--rule)}\nth:first-child,td:first-child{text-align:left}"
    "th{color:var(--quiet);font-weight:600}.scroll{overflow-x:auto}\n";

const char* const arrayTools =
    "<div id=\"tools\"><button id=\"play\">play</button><button id=\"back\">◂</button>"
    "<button id=\"forth\">▸</button><label>cycle <input id=\"cycle\" type=\"number\" min=\"0\" value=\"0\"/>"
    "</label><input id=\"slide\" type=\"range\" min=\"0\" value=\"0\" step=\"1\" aria-label=\"cycle\"/>"
    "<label>speed <select id=\"speed\"><option value=\"2\">2 cycles/s</option><option value=\"10\" selected>10 cycles/s"
    "</option><option value=\"60\">60 cycles/s</option><option value=\"600\">600 cycles/s</option>"
    "<option value=\"6000\">6000 cycles/s</option></select></label>"
    "<label>colour <select id=\"colour\"><option value=\"phase\">by phase</option><option value=\"class\">by class"
    "</option></select></label><button id=\"all\">whole array</button></div>\n"
    "<div id=\"about\"><span id=\"keys\"></span></div>\n"
    "<div id=\"array\" class=\"canvas\"><canvas tabindex=\"0\" aria-label=\"the array in a cycle\"></canvas>"
    "<div class=\"tip\"></div></div>\n<p id=\"wire\"></p>\n";

} // namespace

/// Cycles until the last element has executed its iterations, at most so many as the script can count.
static int64_t lengthOf(const Configuration& configuration, const ArraySchedule& schedule) {
  const auto far = [](uint32_t places, int64_t start) {
    return places > 1 && start > 0 ? (places - 1.0) * static_cast<double>(start) : 0.0;
  };
  const double length = static_cast<double>(configuration.firstStart) +
                        far(configuration.rows, configuration.rowStart) +
                        far(configuration.columns, configuration.columnStart) +
                        static_cast<double>(schedule.iterations) * static_cast<double>(configuration.interval);
  return static_cast<int64_t>(std::clamp(length, 1.0, 9e15));
}

void ArrayPageValues::add(const array::TraceEvent& event) {
  ++all;
  isRecorded = true;
  if (event.cycle < first || event.cycle >= end)
    return;
  if (events.size() < arrayPageEvents) {
    events.push_back(event);
    return;
  }
  // Of a cycle all or nothing, but for one that has more than a page holds.
  end = event.cycle > first ? event.cycle : event.cycle + 1;
  while (!events.empty() && events.back().cycle >= end)
    events.pop_back();
}

/// Which operands and results there are, and which are not.
static std::string valuesText(const ArrayPageValues& values) {
  if (!values.isRecorded)
    return " The run was not recorded, so that there are no operands and results.";
  if (values.events.size() == values.all)
    return "";
  std::string cycles = "of no cycle";
  if (!values.events.empty()) {
    const int64_t last = std::min(values.end - 1, values.events.back().cycle);
    cycles = "of cycles " + std::to_string(values.first) + " to " + std::to_string(last);
  }
  return " Operands and results are those " + cycles + ", " + countText(values.events.size()) + " of " +
         countText(values.all) + " instructions; the others are left out." +
         (values.others.empty() ? "" : " " + values.others);
}

std::string arrayPage(const machine::ProcessorArray& array, const Configuration& configuration,
                      const ArrayPageValues& values, const array::SimulationStatistics& statistics,
                      const std::string& title) {
  const ArraySchedule schedule = scheduleOf(configuration);
  const int64_t cycles = statistics.cycles > 0 ? statistics.cycles : lengthOf(configuration, schedule);
  std::string about = "An element's units, a row each, over the cycles; lines where iterations begin. The wheel zooms, "
                      "dragging moves, a click chooses the cycle.";
  about += valuesText(values);
  if (!schedule.isComplete)
    about += " The run is too long to follow all programs to their ends: after that, units appear as halted.";
  const std::string failure =
      values.failure ? "<p class=\"failed\">The run failed: " + picture::escape(values.failure->message) + "</p>\n"
                     : "";
  const std::vector<picture::Section> sections = {
      {"",
       "A region of " + times({configuration.rows, configuration.columns}) + " elements over " + count(cycles) +
           " cycles. The wheel zooms, dragging moves, a click chooses an element. The pointer on a wire shows the "
           "value that it carries in the cycle, and a click keeps it in view; where there is room, values stand beside "
           "the wires. Arrow keys go a cycle forth and back, with Shift an iteration; the space bar plays. An address "
           "that ends in #row,column,cycle opens the page there, one in #row,column,cycle,pixels with elements so "
           "large." +
           (values.runs.empty() ? "" : " " + values.runs),
       failure + arrayTools, false},
      {"Schedule of an element", about,
       "<div id=\"unitsAbout\"></div><div id=\"gantt\" class=\"canvas\"><canvas tabindex=\"0\" "
       "aria-label=\"schedule of an element\"></canvas><div class=\"tip\"></div></div>\n",
       false},
      {"Ports of the element",
       "What arrives at its input registers in the chosen cycle, leaves its output registers, and passes by through "
       "its "
       "wrapper. A value that is on its way over several wrappers is in one of them in a cycle.",
       "<div id=\"ports\" class=\"scroll\"></div>\n", false},
      {"Programs of the element",
       "What is executed in the chosen cycle is marked. Signals have the values that this iteration's branches see.",
       "<p id=\"signals\"></p><div id=\"programs\"></div>\n", false},
      {"The run", "", runTable(configuration, schedule, statistics, cycles), false},
      {"Utilisation", "Of all cycles of the run, and of those in which the unit's element executes its programs.",
       unitsTable(array, configuration, statistics, cycles), false},
      {"Classes",
       "Elements of a class execute the same programs. The kernel is what their units execute most. Between its first "
       "and its last iteration are those with its operations, whatever their registers; what comes before is the "
       "prologue, what comes behind is the epilogue.",
       classesTable(configuration, schedule), false},
      {"Borders", "", bordersTable(configuration, statistics), false},
      {"FIFOs", "", depthsTable(array, configuration), false}};
  return picture::page(title, sections, style,
                       "const data = " + arrayPageData(array, configuration, schedule, cycles, values) + ";\n" +
                           std::string(arrayScript()));
}

} // namespace strata::driver
