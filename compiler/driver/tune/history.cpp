// Times are drawn on a logarithmic scale: a mapping may be a hundred times slower than the best.
#include "compiler/driver/tune/history.h"

#include "base/picture/svg.h"
#include "compiler/driver/run/run.h"

#include <nlohmann/json.hpp>

#include <algorithm>
#include <cmath>

namespace strata::driver {

namespace {

/// A text in YAML, which takes those of JSON.
std::string quoted(const std::string& text) {
  return nlohmann::json(text).dump(-1, ' ', false, nlohmann::json::error_handler_t::replace);
}

std::string secondsYaml(double seconds) {
  char text[40];
  std::snprintf(text, sizeof text, "%.9g", seconds);
  return text;
}

std::string valuesYaml(const std::vector<int64_t>& values) {
  std::string text = "[";
  for (const int64_t value : values)
    text += (text.size() > 1 ? ", " : "") + std::to_string(value);
  return text + "]";
}

constexpr double left = 90, top = 56, width = 800, height = 320, below = 40;

/// The scale of times: from a power of ten times 1, 2 or 5 below the least to one above the greatest.
class Scale {
public:
  Scale(double least, double most) {
    low_ = std::log10(stepBelow(least));
    high_ = std::log10(std::max(stepAbove(most), std::pow(10, low_) * 2));
  }
  double at(double seconds) const { return top + height - height * (std::log10(seconds) - low_) / (high_ - low_); }
  std::vector<double> steps() const {
    std::vector<double> steps;
    const bool isShort = high_ - low_ < 2;
    for (double power = std::floor(low_); power <= high_ + 1e-9; ++power)
      for (const double factor : {1.0, 2.0, 5.0}) {
        const double step = factor * std::pow(10, power), log = std::log10(step);
        if (log >= low_ - 1e-9 && log <= high_ + 1e-9 && (factor == 1 || isShort))
          steps.push_back(step);
      }
    return steps;
  }

private:
  static double stepBelow(double seconds) {
    const double power = std::pow(10, std::floor(std::log10(seconds)));
    return power * (seconds >= 5 * power ? 5 : seconds >= 2 * power ? 2 : 1);
  }
  static double stepAbove(double seconds) {
    const double power = std::pow(10, std::floor(std::log10(seconds)));
    return power * (seconds <= power ? 1 : seconds <= 2 * power ? 2 : seconds <= 5 * power ? 5 : 10);
  }
  double low_, high_;
};

/// "1 ms", of a step of the scale.
std::string stepText(double seconds) {
  static const std::pair<double, const char*> units[] = {{1, "s"}, {1e-3, "ms"}, {1e-6, "µs"}, {1e-9, "ns"}};
  for (const auto& [unit, name] : units)
    if (seconds >= unit * 0.999) {
      char text[40];
      std::snprintf(text, sizeof text, "%.0f %s", seconds / unit, name);
      return text;
    }
  return "0";
}

} // namespace

std::string valuesText(const History& history, const std::vector<int64_t>& values, const std::vector<int64_t>& from) {
  std::string text;
  for (size_t i = 0; i < values.size(); ++i)
    if (from.empty() || values[i] != from[i]) {
      const notation::Choice& choice = history.choices[i];
      text += (text.empty() ? "" : ", ") + choice.name + " of " + choice.instance + " ";
      if (!from.empty())
        text += choice.text(from[i]) + " -> ";
      text += choice.text(values[i]);
    }
  return text;
}

std::string historyYaml(const History& history) {
  std::string text = "# How strata tune found the mapping beside this file. Nothing reads it but people.\n";
  text += "version: " + quoted(history.version) + "\nprogram: " + quoted(history.program) +
          "\nentry: " + quoted(history.entry) + "\nmachine: " + quoted(history.machine) + "\ntimes: " +
          (history.isEstimated ? "estimates from the machine's description" : "measured on this computer") +
          "\nsizes: {";
  for (size_t i = 0; i < history.sizes.size(); ++i)
    text += (i ? ", " : "") + quoted(history.sizes[i].first) + ": " + std::to_string(history.sizes[i].second);
  text += "}\nseconds: {before: " + secondsYaml(history.before) + ", after: " + secondsYaml(history.after) +
          "}\nended: " + quoted(history.ended) + "\nbest: " + std::to_string(history.best) + "\nchoices:\n";
  for (const notation::Choice& choice : history.choices)
    text += "  - {instance: " + quoted(choice.instance) + ", name: " + quoted(choice.name) +
            (choice.words.empty() ? "" : ", values: " + nlohmann::json(choice.words).dump()) + "}\n";
  text += "tried: # the values of the choices in their order, and seconds, or why it was not taken\n";
  for (const TriedMapping& each : history.tried)
    text += "  - {values: " + valuesYaml(each.values) +
            (each.seconds ? ", seconds: " + secondsYaml(*each.seconds) : ", refused: " + quoted(each.why)) + "}\n";
  return text;
}

std::string historyPicture(const History& history) {
  double least = history.before, most = history.before;
  for (const TriedMapping& each : history.tried)
    if (each.seconds) {
      least = std::min(least, *each.seconds);
      most = std::max(most, *each.seconds);
    }
  const Scale scale(least, most);
  const auto count = static_cast<double>(history.tried.size());
  const auto across = [&](size_t trial) { return left + width * (static_cast<double>(trial) + 0.5) / count; };

  picture::Svg drawing;
  drawing.reach(left + width + 20);
  const std::string title = history.entry + " on " + history.machine;
  drawing.text(left, 24, title + ": " + timeText(history.before) + " -> " + timeText(history.after), "",
               valuesText(history, history.tried[history.best].values));
  drawing.text(left, 42,
               std::to_string(history.tried.size()) + " mappings tried" + (history.isEstimated ? ", by estimate" : "") +
                   "; ended " + history.ended,
               "note");
  for (const double step : scale.steps()) {
    const std::string y = picture::coordinate(scale.at(step));
    drawing.path("M" + picture::coordinate(left) + " " + y + "H" + picture::coordinate(left + width), "class=\"grid\"");
    drawing.text(10, scale.at(step) + 4, stepText(step), "note");
  }
  std::string line;
  double best = 0;
  for (size_t i = 0; i < history.tried.size(); ++i) {
    const TriedMapping& each = history.tried[i];
    if (each.seconds && (line.empty() || *each.seconds < best)) {
      best = *each.seconds;
      line += (line.empty() ? "M" + picture::coordinate(left) + " " : "H" + picture::coordinate(across(i)) + "V") +
              picture::coordinate(scale.at(best));
    }
    const std::string what = "trial " + std::to_string(i + 1) + ": " +
                             (each.seconds ? timeText(*each.seconds) : each.why) + "\n" +
                             valuesText(history, each.values);
    constexpr double side = 5;
    if (each.seconds)
      drawing.rectangle(across(i) - side / 2, scale.at(*each.seconds) - side / 2, side, side,
                        i == history.best ? "class=\"best\"" : "class=\"trial\"", what);
    else
      drawing.rectangle(across(i) - 1, top + height + 10, 2, 8, "class=\"refused\"", what);
  }
  drawing.path(line + "H" + picture::coordinate(left + width), "class=\"sofar\"");
  drawing.text(10, top + height + 18, "refused", "note");
  drawing.text(left, top + height + below, "trials, from the first to the last; the line is the best so far", "note");
  return drawing.document(title, top + height + below + 16,
                          ".grid{stroke:var(--line);stroke-opacity:.4}.trial{fill:var(--leaf-line)}"
                          ".best{fill:var(--inner-line);stroke:var(--ink)}.refused{fill:var(--wait-line)}"
                          ".sofar{fill:none;stroke:var(--inner-line);stroke-width:1.5}");
}

} // namespace strata::driver
