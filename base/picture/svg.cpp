// See svg.h.
#include "base/picture/svg.h"

#include "base/source/display.h"

#include <algorithm>
#include <cmath>
#include <cstdint>
#include <cstdio>
#include <iterator>

namespace strata::picture {

namespace {

std::string attribute(const char* name, double value) {
  return std::string(" ") + name + "=\"" + coordinate(value) + "\"";
}

bool continues(char c) {
  return (static_cast<unsigned char>(c) & 0xC0) == 0x80;
}

} // namespace

std::string escape(std::string_view text) {
  std::string out;
  for (char c : displayText(text)) {
    switch (c) {
    case '&':
      out += "&amp;";
      break;
    case '<':
      out += "&lt;";
      break;
    case '>':
      out += "&gt;";
      break;
    case '"':
      out += "&quot;";
      break;
    default:
      out += c;
    }
  }
  return out;
}

std::string coordinate(double value) {
  char buffer[40];
  std::snprintf(buffer, sizeof buffer, "%.1f", value);
  std::string text = buffer;
  if (text.ends_with(".0"))
    text.resize(text.size() - 2);
  return text;
}

size_t lengthOf(std::string_view text) {
  return static_cast<size_t>(std::count_if(text.begin(), text.end(), [](char c) { return !continues(c); }));
}

std::string shorten(std::string_view text, size_t characters) {
  if (lengthOf(text) <= characters)
    return std::string(text);
  size_t end = 0, count = 0;
  while (end < text.size() && (count + 1 < characters || continues(text[end])))
    count += !continues(text[end++]);
  return std::string(text.substr(0, end)) + "…";
}

std::string bytesText(uint64_t bytes) {
  static const char* const units[] = {"B", "KiB", "MiB", "GiB", "TiB", "PiB", "EiB"};
  double value = static_cast<double>(bytes);
  size_t unit = 0;
  while (value >= 1024 && unit + 1 < std::size(units))
    value /= 1024, ++unit;
  char text[40];
  std::snprintf(text, sizeof text,
                unit == 0 || value == static_cast<double>(static_cast<uint64_t>(value)) ? "%.0f %s" : "%.1f %s", value,
                units[unit]);
  return text;
}

std::string fillOf(size_t number) {
  static const char* const fills[] = {"#cfe3f5", "#f2b866", "#b5dba4", "#e9c9e3", "#f7ec9c", "#93b8da",
                                      "#f4cfc0", "#7fc4b5", "#d9d9d9", "#d49a9a", "#e5f0d0", "#b3a5d6"};
  return fills[number % std::size(fills)];
}

void Svg::close(std::string_view element, std::string_view title) {
  out_ +=
      title.empty() ? std::string("/>\n") : "><title>" + escape(title) + "</title></" + std::string(element) + ">\n";
  ++shapes_;
}

void Svg::text(double x, double y, std::string_view words, std::string_view style, std::string_view title) {
  out_ += "<text" + attribute("x", x) + attribute("y", y) +
          (style.empty() ? "" : " class=\"" + std::string(style) + "\"") + ">" +
          (title.empty() ? "" : "<title>" + escape(title) + "</title>") + escape(words) + "</text>\n";
  if (style.find("end") == std::string_view::npos && style.find("middle") == std::string_view::npos)
    reach(x + static_cast<double>(lengthOf(words)) * (style == "title" ? 10.5 : characterWidth));
  ++shapes_;
}

void Svg::centred(double x, double y, double width, std::string_view words, std::string_view style) {
  const auto room = static_cast<size_t>(std::max(0.0, width / characterWidth));
  if (room == 0 || (room < 2 && lengthOf(words) > room))
    return;
  out_ += "<text" + attribute("x", x + width / 2) + attribute("y", y) + " class=\"middle " + std::string(style) +
          "\">" + escape(shorten(words, room)) + "</text>\n";
  ++shapes_;
}

void Svg::rectangle(double x, double y, double width, double height, std::string_view attributes,
                    std::string_view title) {
  out_ += "<rect" + attribute("x", x) + attribute("y", y) + attribute("width", width) + attribute("height", height) +
          " " + std::string(attributes);
  close("rect", title);
  reach(x + width);
}

void Svg::path(std::string_view data, std::string_view attributes, std::string_view title) {
  out_ += "<path d=\"" + std::string(data) + "\" " + std::string(attributes);
  close("path", title);
}

void Svg::reach(double right) {
  right_ = std::max(right_, right);
}

std::string_view themeStyle() {
  return R"(:root{color-scheme:light dark;--paper:#ffffff;--ink:#1d2430;--quiet:#5a6475;--line:#8b95a7;--card:#f5f7fa;--rule:#d5dbe5;
--inner:#dce9fb;--inner-line:#3a6db3;--leaf:#daf1de;--leaf-line:#2f8148;--external:#efe3fa;--external-line:#7c4fb0;
--control:#fff0d0;--control-line:#a86f00;--data:#d9eef3;--data-line:#1f7f93;--wait:#fbdcd6;--wait-line:#c0452c}
@media (prefers-color-scheme:dark){:root{--paper:#14181f;--ink:#e4e8ef;--quiet:#9aa5b6;--line:#6d788b;--card:#1d232d;--rule:#343d4b;
--inner:#1e3554;--inner-line:#7fb0f2;--leaf:#1b3c26;--leaf-line:#74cf8d;--external:#382650;--external-line:#c19bef;
--control:#44330f;--control-line:#e9b84e;--data:#143c46;--data-line:#66c5d9;--wait:#4d251c;--wait-line:#f08a72}}
)";
}

namespace {

/// The colour of a variable on a light background.
std::string_view lightColour(std::string_view name) {
  const std::string_view theme = themeStyle();
  const size_t at = theme.find("--" + std::string(name) + ":");
  if (at == std::string_view::npos)
    return "none";
  const size_t begin = at + 3 + name.size();
  return theme.substr(begin, theme.find_first_of(";}", begin) - begin);
}

/// Each declaration with a variable comes behind the same one with its light colour: rsvg-convert and other programs
/// that know no variables leave out the second.
std::string withFallbacks(std::string_view style) {
  constexpr std::string_view variable = "var(--";
  std::string out;
  while (!style.empty()) {
    const size_t end = std::min(style.find_first_of(";{}"), style.size() - 1) + 1;
    const std::string_view declaration = style.substr(0, end);
    std::string plain(declaration);
    for (size_t at = 0; (at = plain.find(variable, at)) != std::string::npos;) {
      const size_t close = plain.find(')', at);
      const size_t name = at + variable.size();
      plain.replace(at, close + 1 - at, lightColour(plain.substr(name, close - name)));
    }
    if (plain != declaration) {
      if (plain.ends_with('}') || plain.ends_with(';'))
        plain.pop_back();
      out += plain + ";";
    }
    out += declaration;
    style.remove_prefix(end);
  }
  return out;
}

} // namespace

std::string Svg::document(std::string_view title, double height, std::string_view style) const {
  const std::string width = coordinate(std::ceil(right_ + 20)), high = coordinate(std::ceil(height));
  return "<svg xmlns=\"http://www.w3.org/2000/svg\" width=\"" + width + "\" height=\"" + high + "\" viewBox=\"0 0 " +
         width + " " + high + "\">\n<title>" + escape(title) + "</title>\n<style>" + std::string(themeStyle()) +
         withFallbacks("text{font:12px "
                       "monospace;fill:var(--ink)}.note{fill:var(--quiet)}svg{background:var(--paper)}.on{fill:#1d2430}"
                       ".title{font:bold 18px sans-serif}.head{font:bold 13px sans-serif}.middle{text-anchor:middle}"
                       ".end{text-anchor:end}" +
                       std::string(style)) +
         "</style>\n" + out_ + "</svg>\n";
}

} // namespace strata::picture
