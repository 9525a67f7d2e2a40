// See html.h.
#include "base/picture/html.h"

#include "base/picture/svg.h"
#include "base/picture/viewer.h"

#include <charconv>

namespace strata::picture {

/// A drawing is made smaller to fit the window, as long as it can still be read; then it is scrolled.
static constexpr double leastScale = 0.75;

std::string preformatted(std::string_view text) {
  return "<pre>" + escape(text) + "</pre>\n";
}

std::string sheets(const std::vector<Sheet>& sheets) {
  std::string out =
      "<div class=\"sheets\" data-least=\"" + std::to_string(leastScale) + "\"><div class=\"picture\"></div>\n";
  // As text, which a browser need not read before it is shown.
  for (const Sheet& sheet : sheets) {
    std::string names;
    for (const std::string& name : sheet.names)
      names += (names.empty() ? "" : "&#10;") + escape(name);
    out += "<script type=\"text/plain\" data-sheet=\"" + escape(sheet.id) + "\" data-title=\"" + escape(sheet.title) +
           "\"" + (sheet.isTop ? " data-top=\"1\"" : "") + " data-names=\"" + names + "\">" + sheet.drawing +
           "</script>\n";
  }
  return out + "</div>\n";
}

namespace {

/// The style that says so, for a drawing with the width that its first tag states.
std::string leastWidth(std::string_view drawing) {
  const std::string_view before = " width=\"";
  const size_t at = drawing.find(before);
  unsigned width = 0;
  if (at != std::string_view::npos)
    std::from_chars(drawing.data() + at + before.size(), drawing.data() + drawing.size(), width);
  return " style=\"--least:" + coordinate(leastScale * width) + "px\"";
}

} // namespace

std::string page(std::string_view title, const std::vector<Section>& sections, std::string_view style,
                 std::string_view script) {
  std::string out =
      "<!DOCTYPE html>\n<html lang=\"en\">\n<head>\n<meta charset=\"utf-8\"/>\n"
      "<meta name=\"viewport\" content=\"width=device-width, initial-scale=1\"/>\n<title>" +
      escape(title) + "</title>\n<style>\n" + std::string(themeStyle()) +
      "body{margin:0;padding:24px 32px 48px;background:var(--paper);color:var(--ink);"
      "font:15px/1.5 system-ui,sans-serif}\n"
      "section{margin-top:24px}h1{font-size:22px;margin:0 0 8px}h2{font-size:17px;margin:32px 0 4px}"
      "p{margin:0 0 12px;color:var(--quiet);max-width:80ch}\n"
      ".picture{overflow:auto;border:1px solid var(--rule);border-radius:8px;padding:8px;max-height:82vh}\n"
      ".sheets .picture{height:82vh}.picture [data-sheet]{cursor:pointer}\n"
      ".viewer{display:flex;gap:8px;align-items:center;flex-wrap:wrap;margin:0 0 8px;font-size:13px;"
      "color:var(--quiet)}\n"
      ".viewer button,.viewer input{font:14px system-ui,sans-serif;color:var(--ink);background:var(--card);"
      "border:1px solid var(--rule);border-radius:6px;padding:3px 10px}.viewer button{cursor:pointer}\n"
      ".viewer button.open{font-weight:bold}.trail,.elsewhere{display:inline-flex;gap:6px;flex-wrap:wrap}\n"
      "text.found{paint-order:stroke;stroke:#ffd54a88;stroke-width:5px}"
      "text.here{stroke:#ffb300cc;stroke-width:7px}\n"
      ".picture>svg{display:block;max-width:100%;height:auto;min-width:var(--least)}\n"
      "summary{cursor:pointer;font-weight:bold;font-size:17px;margin:32px 0 4px}\n"
      "pre{font:13px/1.45 monospace;background:var(--card);border-radius:8px;padding:12px;"
      "overflow-x:auto;margin:8px 0}\n" +
      std::string(style) + "</style>\n</head>\n<body>\n<h1>" + escape(title) + "</h1>\n";
  for (const Section& section : sections) {
    const std::string about = section.about.empty() ? "" : "<p>" + escape(section.about) + "</p>\n";
    const std::string content =
        section.content.starts_with("<svg")
            ? "<div class=\"picture\"" + leastWidth(section.content) + ">\n" + section.content + "</div>\n"
            : section.content;
    if (section.folded)
      out += "<details><summary>" + escape(section.heading) + "</summary>\n" + about + content + "</details>\n";
    else
      out += "<section>\n" + (section.heading.empty() ? "" : "<h2>" + escape(section.heading) + "</h2>\n") + about +
             content + "</section>\n";
  }
  if (out.find("class=\"picture\"") != std::string::npos)
    out += "<script>\n" + std::string(viewerScript()) + "</script>\n";
  if (!script.empty())
    out += "<script>\n" + std::string(script) + "</script>\n";
  return out + "</body>\n</html>\n";
}

} // namespace strata::picture
