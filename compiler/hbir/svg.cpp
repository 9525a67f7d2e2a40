// See svg.h.
#include "compiler/hbir/svg.h"

#include "base/source/display.h"

#include <algorithm>
#include <cmath>
#include <cstdio>

namespace strata::hbir {

namespace {

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

std::string attribute(const char* name, double value) {
  return std::string(" ") + name + "=\"" + coordinate(value) + "\"";
}

bool continues(char c) {
  return (static_cast<unsigned char>(c) & 0xC0) == 0x80;
}

} // namespace

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

std::string fillOf(size_t number) {
  static const char* const fills[] = {"#cfe3f5", "#f2b866", "#b5dba4", "#e9c9e3", "#f7ec9c", "#93b8da",
                                      "#f4cfc0", "#7fc4b5", "#d9d9d9", "#d49a9a", "#e5f0d0", "#b3a5d6"};
  return fills[number % std::size(fills)];
}

void Svg::text(double x, double y, std::string_view words, std::string_view style) {
  out_ += "<text" + attribute("x", x) + attribute("y", y) +
          (style.empty() ? "" : " class=\"" + std::string(style) + "\"") + ">" + escape(words) + "</text>\n";
  right_ = std::max(right_, x + static_cast<double>(lengthOf(words)) * (style == "title" ? 10.5 : 7.2));
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
  out_ += title.empty() ? "/>\n" : "><title>" + escape(title) + "</title></rect>\n";
  right_ = std::max(right_, x + width);
  ++shapes_;
}

void Svg::path(std::string_view data, std::string_view attributes) {
  out_ += "<path d=\"" + std::string(data) + "\" " + std::string(attributes) + "/>\n";
  ++shapes_;
}

std::string Svg::document(std::string_view title, double height) const {
  const std::string width = coordinate(std::ceil(right_ + 20)), high = coordinate(std::ceil(height));
  return "<svg xmlns=\"http://www.w3.org/2000/svg\" width=\"" + width + "\" height=\"" + high + "\" viewBox=\"0 0 " +
         width + " " + high + "\">\n<title>" + escape(title) +
         "</title>\n<style>text{font:11px monospace;fill:#222}.title{font:bold 18px sans-serif}"
         ".head{font:bold 13px sans-serif}.note{fill:#555}.middle{text-anchor:middle}.end{text-anchor:end}"
         ".name{paint-order:stroke;stroke:#fff;stroke-opacity:.75;stroke-width:3px}"
         ".grid{fill:none;stroke:#888;stroke-width:.5}</style>\n"
         "<rect width=\"100%\" height=\"100%\" fill=\"#fff\"/>\n" +
         out_ + "</svg>\n";
}

} // namespace strata::hbir
