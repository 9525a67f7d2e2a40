// Rows as text in columns, and as JSON: table.h.
#include "benchmarks/table.h"

#include <nlohmann/json.hpp>

#include <algorithm>
#include <array>
#include <cstdio>

namespace strata::bench {
namespace {

template <typename... Args>
std::string format(const char* pattern, Args... args) {
  char text[160];
  snprintf(text, sizeof text, pattern, args...);
  return text;
}

std::string figure(double value, Unit unit) {
  if (unit == Unit::Nanoseconds)
    return format("%.2f ns", value);
  if (unit == Unit::Mebibytes)
    return format("%.0f MiB", value);
  if (unit == Unit::Instructions)
    return format("%.0f", value);
  if (value < 1e-6)
    return format("%.1f ns", value * 1e9);
  if (value < 1e-3)
    return format("%.2f us", value * 1e6);
  return value < 1 ? format("%.2f ms", value * 1e3) : format("%.3f s", value);
}

std::string goalText(const Row& row) {
  switch (row.goal.kind) {
  case Goal::Kind::RatioAtLeast:
    return format(">= %.4g", row.goal.bound);
  case Goal::Kind::RatioAtMost:
    return format("<= %.4g", row.goal.bound);
  case Goal::Kind::OursAtMost:
    return "ours <= " + figure(row.goal.bound, row.unit);
  case Goal::Kind::None:
    break;
  }
  return "none";
}

constexpr size_t columns = 8;
using Line = std::array<std::string, columns>;

Line lineOf(const Row& row) {
  Line line{row.work};
  if (!row.failure.empty()) {
    line[1] = "failed: " + row.failure;
    return line;
  }
  Estimate estimated = judged(row.pairs, row.goal);
  line[1] = figure(estimate(row.pairs.ours).median, row.unit);
  line[2] = figure(estimate(row.pairs.peer).median, row.unit) + "  " + row.peer;
  if (row.goal.kind == Goal::Kind::OursAtMost) {
    line[3] = format("%.3f", judged(row.pairs, {Goal::Kind::RatioAtLeast, 0}).median);
    line[4] = figure(estimated.low, row.unit) + " … " + figure(estimated.high, row.unit);
  } else {
    line[3] = format("%.3f", estimated.median);
    line[4] = format("%.3f … %.3f", estimated.low, estimated.high);
  }
  line[5] = row.limit;
  line[6] = goalText(row);
  line[7] = verdictName(judge(estimated, row.goal));
  return line;
}

/// Columns that text takes: bytes that continue a UTF-8 character take none.
size_t width(const std::string& text) {
  return static_cast<size_t>(std::count_if(text.begin(), text.end(), [](char c) { return (c & 0xC0) != 0x80; }));
}

} // namespace

std::string tableText(const std::vector<Row>& rows) {
  std::vector<Line> lines{{"work", "ours", "peer", "ratio", "95% interval", "limit", "goal", "verdict"}};
  for (const Row& row : rows)
    lines.push_back(lineOf(row));
  std::array<size_t, columns> widths{};
  for (const Line& line : lines)
    // What a failure says may be long, and has the rest of its line.
    for (size_t column = 0; column < columns && (column == 0 || !line[7].empty()); ++column)
      widths[column] = std::max(widths[column], width(line[column]));
  std::string text;
  for (size_t number = 0; number < lines.size(); ++number) {
    std::string line;
    for (size_t column = 0; column < columns; ++column) {
      line += lines[number][column];
      if (width(lines[number][column]) < widths[column])
        line.append(widths[column] - width(lines[number][column]), ' ');
      line += "  ";
    }
    line.erase(line.find_last_not_of(' ') + 1);
    text += line + "\n";
    if (number && !rows[number - 1].method.empty())
      text += "    " + rows[number - 1].method + "\n";
  }
  return text;
}

std::string tableJson(const std::vector<Row>& rows) {
  auto array = nlohmann::ordered_json::array();
  for (const Row& row : rows) {
    nlohmann::ordered_json json;
    json["work"] = row.work;
    if (!row.failure.empty()) {
      json["failure"] = row.failure;
      array.push_back(std::move(json));
      continue;
    }
    Estimate estimated = judged(row.pairs, row.goal);
    json["method"] = row.method;
    json["peer"] = row.peer;
    json["unit"] = row.unit == Unit::Seconds       ? "s"
                   : row.unit == Unit::Nanoseconds ? "ns"
                   : row.unit == Unit::Mebibytes   ? "MiB"
                                                   : "instructions";
    json["judged"] = row.goal.kind == Goal::Kind::RatioAtMost  ? "ours / peer"
                     : row.goal.kind == Goal::Kind::OursAtMost ? "ours"
                                                               : "peer / ours";
    json["median"] = estimated.median;
    json["interval"] = {estimated.low, estimated.high};
    if (row.goal.kind != Goal::Kind::None)
      json["goal"] = {{row.goal.kind == Goal::Kind::RatioAtLeast ? "at_least" : "at_most", row.goal.bound}};
    json["verdict"] = verdictName(judge(estimated, row.goal));
    json["limit"] = row.limit;
    json["samples"] = {{"ours", row.pairs.ours}, {"peer", row.pairs.peer}};
    array.push_back(std::move(json));
  }
  return array.dump();
}

} // namespace strata::bench
