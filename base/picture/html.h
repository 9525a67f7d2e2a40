// Pages that open by themselves in a browser: one file, nothing fetched, light or dark as the reader has it. Pure
// functions; any thread.
#pragma once

#include <string>
#include <string_view>
#include <vector>

namespace strata::picture {

/// One of several drawings of one thing, of which a page shows one at a time.
struct Sheet {
  std::string id;    // what a shape's attribute data-sheet names to open it
  std::string title; // on the button that opens it
  std::string drawing;
  std::vector<std::string> names; // that a search finds in it
  bool isTop = false;             // can be chosen at any time; others are opened from a shape or by a search
};

/// The content of a section that shows the first of these. REQUIRES: there is one.
std::string sheets(const std::vector<Sheet>& sheets);

/// A part of a page. `content` is HTML (an SVG document is).
struct Section {
  std::string heading;
  std::string about; // a sentence below the heading; may be empty
  std::string content;
  bool folded = false; // opened by a click
};

/// `script` is JavaScript that runs when the page has been read; may be empty.
std::string page(std::string_view title, const std::vector<Section>& sections, std::string_view style = "",
                 std::string_view script = "");

/// Text as it stands, in lines.
std::string preformatted(std::string_view text);

} // namespace strata::picture
