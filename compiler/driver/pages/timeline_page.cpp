// The page of a timeline: the spans as data for the script, and beside it a table that needs none.
#include "base/picture/html.h"
#include "base/picture/svg.h"
#include "compiler/driver/pages/stream_figures.h"
#include "compiler/driver/pages/texts.h"
#include "compiler/driver/pages/timeline.h"

#include "llvm/Support/Base64.h"

#include <nlohmann/json.hpp>

#include <algorithm>
#include <cstdio>
#include <map>
#include <tuple>

namespace strata::driver {

namespace {

std::string percent(double share) {
  char text[24];
  std::snprintf(text, sizeof text, "%.1f%%", 100 * share);
  return text;
}

std::string milliseconds(double microseconds) {
  char text[40];
  std::snprintf(text, sizeof text, microseconds < 1000 ? "%.1f µs" : "%.2f ms",
                microseconds < 1000 ? microseconds : microseconds / 1000);
  return text;
}

/// What the rows of a timeline are: "processor", "stage", or both.
std::string rowsAre(const Timeline& timeline) {
  const auto isPart = [](const TimelineRow& row) { return row.isPart; };
  return std::all_of(timeline.rows.begin(), timeline.rows.end(), isPart)   ? "stage"
         : std::any_of(timeline.rows.begin(), timeline.rows.end(), isPart) ? "processor or stage"
                                                                           : "processor";
}

bool hasMoves(const Timeline& timeline) {
  return std::any_of(timeline.rows.begin(), timeline.rows.end(), [](const TimelineRow& row) {
    return std::any_of(row.spans.begin(), row.spans.end(),
                       [](const TimelineSpan& span) { return span.kind == SpanKind::Move; });
  });
}

/// Without the columns about moves, and waits, where there are none.
std::string tableOf(const Timeline& timeline) {
  const bool moves = hasMoves(timeline);
  const std::vector<TimelineShare> shares = sharesOf(timeline);
  const bool waits =
      std::any_of(shares.begin(), shares.end(), [](const TimelineShare& share) { return !share.waitsFor.empty(); });
  std::string out = "<div class=\"scroll\"><table>\n<tr><th>" + rowsAre(timeline) +
                    "</th><th>running</th><th>waiting</th>" + (waits ? "<th>mostly</th>" : "") +
                    (moves ? "<th>moving data</th><th>both at once</th>" : "") + "<th>runs</th>" +
                    (moves ? "<th>moves</th><th>bytes</th>" : "") + "</tr>\n";
  for (const TimelineShare& share : shares) {
    const auto cell = [&](const std::string& text) { out += "<td>" + picture::escape(text) + "</td>"; };
    const auto count = [&](uint64_t number) { cell(countText(number)); };
    out += "<tr>";
    cell(share.processor);
    cell(percent(share.running));
    cell(percent(share.waiting));
    if (waits)
      cell(share.waitsFor);
    if (moves) {
      cell(percent(share.moving));
      cell(percent(share.hidden));
    }
    count(share.runs);
    if (moves) {
      count(share.moves);
      count(static_cast<uint64_t>(share.bytes));
    }
    out += "</tr>\n";
  }
  return out + "</table></div>\n";
}

/// "1.5 MB".
std::string bytesText(int64_t bytes) {
  const char* unit = "B";
  auto amount = static_cast<double>(bytes);
  for (const char* larger : {"kB", "MB", "GB", "TB"}) {
    if (amount < 1000)
      break;
    amount /= 1000;
    unit = larger;
  }
  char text[40];
  std::snprintf(text, sizeof text, amount < 10 && bytes >= 1000 ? "%.1f %s" : "%.0f %s", amount, unit);
  return text;
}

/// The ways with most bytes, where there are too many processes for a matrix.
std::string waysTable(const Timeline& timeline) {
  constexpr size_t most = 100;
  std::vector<TimelineTraffic> ways = timeline.traffic;
  std::sort(ways.begin(), ways.end(), [](const auto& a, const auto& b) {
    return std::make_tuple(-a.bytes, a.from, a.to) < std::make_tuple(-b.bytes, b.from, b.to);
  });
  std::string out = "<div class=\"scroll\"><table>\n<tr><th>from, to</th><th>bytes</th><th>copies</th><th>messages</th>"
                    "</tr>\n";
  for (size_t i = 0; i < std::min(ways.size(), most); ++i)
    out += "<tr><td>process " + std::to_string(ways[i].from) + " to " + std::to_string(ways[i].to) + "</td><td>" +
           bytesText(ways[i].bytes) + "</td><td>" + std::to_string(ways[i].copies) + "</td><td>" +
           std::to_string(ways[i].messages) + "</td></tr>\n";
  if (ways.size() > most)
    out += "<tr><td>and " + std::to_string(ways.size() - most) + " with less</td><td></td><td></td><td></td></tr>\n";
  return out + "</table></div>\n";
}

/// A row for each process that sends, a column for each that gets, the darker the more.
std::string matrixOf(const Timeline& timeline) {
  int64_t count = 0, most = 1;
  std::map<std::pair<int64_t, int64_t>, TimelineTraffic> ways;
  for (const TimelineTraffic& way : timeline.traffic) {
    count = std::max({count, way.from + 1, way.to + 1});
    most = std::max(most, way.bytes);
    ways[{way.from, way.to}] = way;
  }
  constexpr int64_t mostDrawn = 48;
  if (count > mostDrawn)
    return waysTable(timeline);
  std::string out = "<div class=\"scroll\"><table>\n<tr><th>from, to</th>";
  for (int64_t to = 0; to < count; ++to)
    out += "<th>process " + std::to_string(to) + "</th>";
  out += "</tr>\n";
  for (int64_t from = 0; from < count; ++from) {
    out += "<tr><th>process " + std::to_string(from) + "</th>";
    for (int64_t to = 0; to < count; ++to) {
      const auto way = ways.find({from, to});
      if (way == ways.end()) {
        out += "<td></td>";
        continue;
      }
      const TimelineTraffic& each = way->second;
      out += "<td style=\"background:color-mix(in srgb,var(--data-line) " + std::to_string(each.bytes * 60 / most) +
             "%,var(--paper))\" title=\"" + std::to_string(each.bytes) + " bytes in " + std::to_string(each.copies) +
             " copies, " + std::to_string(each.messages) + " messages\">" + bytesText(each.bytes) + "</td>";
    }
    out += "</tr>\n";
  }
  return out + "</table></div>\n";
}

/// How moves are named after the arguments of calls, with one of this run's.
std::string movesAre(const Timeline& timeline) {
  for (const TimelineRow& row : timeline.rows)
    for (const TimelineSpan& span : row.spans) {
      if (!row.moves)
        break;
      const std::string& name = timeline.names[span.name];
      const size_t at = name.find('#'), dot = name.find('.');
      if (at != std::string::npos && dot != std::string::npos && at < dot &&
          name.find_first_not_of("0123456789", at + 1) == dot)
        return " A move has the name of what is moved: " + name + " is argument " + name.substr(dot + 1) + " of call " +
               name.substr(at + 1, dot - at - 1) + " of " + name.substr(0, at) + ", counted from 0.";
    }
  return "";
}

/// A column of spans as a typed array in base64. Both computers are little-endian.
template <typename Value, typename Of>
std::string packed(const std::vector<TimelineSpan>& spans, Of of) {
  std::string bytes;
  bytes.reserve(spans.size() * sizeof(Value));
  for (const TimelineSpan& span : spans) {
    const auto value = static_cast<Value>(of(span));
    bytes.append(reinterpret_cast<const char*>(&value), sizeof value);
  }
  return llvm::encodeBase64(bytes);
}

/// Data for the script. Angle brackets are spelt out, so that no name ends the script.
std::string dataOf(const Timeline& timeline) {
  nlohmann::json rows = nlohmann::json::array();
  for (const TimelineRow& row : timeline.rows) {
    nlohmann::json columns;
    columns["start"] = packed<double>(row.spans, [](const TimelineSpan& span) { return span.start; });
    columns["time"] = packed<double>(row.spans, [](const TimelineSpan& span) { return span.length; });
    columns["kind"] = packed<uint8_t>(row.spans, [](const TimelineSpan& span) { return static_cast<int>(span.kind); });
    columns["name"] = packed<uint32_t>(row.spans, [](const TimelineSpan& span) { return span.name; });
    columns["way"] = packed<uint32_t>(row.spans, [](const TimelineSpan& span) { return span.way; });
    columns["bytes"] = packed<double>(row.spans, [](const TimelineSpan& span) { return span.bytes; });
    rows.push_back({{"name", row.name}, {"processor", row.processor}, {"moves", row.moves}, {"packed", columns}});
  }
  nlohmann::json arrows = nlohmann::json::array();
  for (const TimelineArrow& arrow : timeline.arrows)
    arrows.push_back({arrow.from, arrow.begin, arrow.to, arrow.end});
  nlohmann::json data = {
      {"names", timeline.names}, {"rows", rows}, {"length", timeline.length}, {"arrows", std::move(arrows)}};
  std::string text = data.dump(-1, ' ', true, nlohmann::json::error_handler_t::replace), out;
  out.reserve(text.size());
  for (char c : text)
    if (c == '<')
      out += "\\u003c";
    else
      out += c;
  return out;
}

const char* const style =
    "#timeline{position:relative;border:1px solid var(--rule);border-radius:8px;overflow-x:hidden;overflow-y:auto;"
    "max-height:75vh}\n"
    "#timeline canvas{display:block;position:sticky;top:0;width:100%;cursor:grab;touch-action:none}\n#timeline "
    "canvas:active{cursor:grabbing}\n"
    "#tip{position:absolute;display:none;pointer-events:none;background:var(--paper);color:var(--ink);"
    "border:1px solid var(--line);border-radius:6px;padding:6px 10px;font:13px/1.45 system-ui,sans-serif;"
    "white-space:pre;box-shadow:0 2px 8px #0003}\n"
    "#tools{display:flex;gap:8px;align-items:center;flex-wrap:wrap;margin:0 0 8px;color:var(--quiet);font-size:13px}\n"
    "#tools input{font:14px system-ui,sans-serif;color:var(--ink);background:var(--paper);border:1px solid var(--rule);"
    "border-radius:6px;padding:3px 8px;width:12em}\n"
    "#tools button{font:14px system-ui,sans-serif;color:var(--ink);background:var(--card);border:1px solid var(--rule);"
    "border-radius:6px;padding:3px 12px;cursor:pointer}\n"
    ".key{display:inline-block;width:14px;height:14px;border:1px solid;border-radius:3px;vertical-align:-2px;"
    "margin:0 6px 0 14px}\n.run{background:color-mix(in srgb,var(--leaf-line) "
    "40%,var(--card));border-color:var(--leaf-line)}\n"
    ".move{background:color-mix(in srgb,var(--data-line) 40%,var(--card));border-color:var(--data-line)}\n"
    ".wait{background:color-mix(in srgb,var(--wait-line) 40%,var(--card));border-color:var(--wait-line)}\n"
    "table{border-collapse:collapse;font-size:14px}\nth,td{padding:4px 14px;text-align:right;white-space:nowrap;"
    "border-bottom:1px solid var(--rule)}\nth:first-child,td:first-child{text-align:left}\n"
    "th{color:var(--quiet);font-weight:600}\n.scroll{overflow-x:auto}\n";

/// What ran, by name: how often, how long in all, on average and at most; the longest first. Spans within others count
/// with both.
std::string namesTable(const Timeline& timeline) {
  struct Sum {
    size_t count = 0;
    double total = 0, most = 0;
  };
  std::map<std::string, Sum> sums;
  for (const TimelineRow& row : timeline.rows)
    for (const TimelineSpan& span : row.spans)
      if (span.kind == SpanKind::Run) {
        Sum& sum = sums[timeline.names[span.name]];
        ++sum.count;
        sum.total += span.length;
        sum.most = std::max(sum.most, span.length);
      }
  std::vector<std::pair<std::string, Sum>> all(sums.begin(), sums.end());
  std::sort(all.begin(), all.end(), [](const auto& a, const auto& b) { return a.second.total > b.second.total; });
  std::string out = "<div class=\"scroll\"><table><tr><th>name</th><th>times</th><th>in all</th><th>on average</th>"
                    "<th>at most</th></tr>\n";
  for (const auto& [name, sum] : all)
    out += "<tr><td>" + picture::escape(name) + "</td><td>" + std::to_string(sum.count) + "</td><td>" +
           milliseconds(sum.total) + "</td><td>" + milliseconds(sum.total / static_cast<double>(sum.count)) +
           "</td><td>" + milliseconds(sum.most) + "</td></tr>\n";
  return out + "</table></div>\n";
}

} // namespace

std::string_view timelineStyle() {
  return style;
}

std::string timelineProgram(const Timeline& timeline) {
  return "const data = " + dataOf(timeline) + ";\n" + std::string(timelineScript());
}

std::vector<picture::Section> timelineSections(const Timeline& timeline) {
  const bool moves = hasMoves(timeline);
  const std::string rows = rowsAre(timeline);
  const std::string tools =
      "<div id=\"tools\"><button id=\"closer\">+</button><button id=\"wider\">−</button>"
      "<button id=\"all\">all</button><input id=\"find\" type=\"search\" placeholder=\"find rows\" "
      "aria-label=\"find rows\"/><span id=\"found\"></span><span>the wheel zooms, dragging moves, the arrow keys "
      "too</span>"
      "<span><span class=\"key run\"></span>running" +
      std::string(moves ? "<span class=\"key move\"></span>moving data" : "") +
      "<span class=\"key wait\"></span>waiting</span></div>\n"
      "<div id=\"timeline\"><div id=\"rows\"><canvas tabindex=\"0\" aria-label=\"timeline of the run\"></canvas></div>"
      "<div id=\"tip\"></div></div>\n";
  std::vector<picture::Section> sections = {
      {"",
       "A run of " + milliseconds(timeline.length) + ", with a row for each " + rows +
           (moves ? " and one for each of its moves that were under way at once" : "") +
           ". What is empty is control, or nothing to do." +
           (rows == "processor" ? "" : " What a stage waits for stands in its bars.") +
           (timeline.arrows.empty() ? ""
                                    : " An arrow is a message between processes: a part of the program begins, or "
                                      "has ended.") +
           movesAre(timeline),
       tools, false},
      {"Shares of the time",
       std::string("Of the whole run.") +
           (moves ? " Both at once: data moved while the processor ran, which hides the moves." : ""),
       tableOf(timeline), false},
      {"What ran", "The longest in all first. What runs within something else counts with both.", namesTable(timeline),
       false}};
  if (!timeline.traffic.empty())
    sections.push_back(
        {"Between processes",
         "What went from each process's memory to another's, both when arrays were handed out and gathered and "
         "between. Pointing at a number tells in how many copies, and how many messages there were.",
         matrixOf(timeline), false});
  return sections;
}

std::string timelinePage(const Timeline& timeline, const std::string& title) {
  return picture::page(title, timelineSections(timeline), style, timelineProgram(timeline));
}

} // namespace strata::driver
