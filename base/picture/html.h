// Pages that open by themselves in a browser: one file, nothing fetched, light or dark as the reader has it. Pure
// functions; any thread.
#pragma once

#include <string>
#include <string_view>
#include <vector>

namespace strata::picture {

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
