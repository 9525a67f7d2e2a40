// Shapes and words of an SVG drawing, measured so that words do not leave the room they have. All drawings of Strata
// are made with it: of machines, of mappings, of programs. Plain values; a drawing belongs to the thread that makes it.
#pragma once

#include <cstddef>
#include <cstdint>
#include <string>
#include <string_view>

namespace strata::picture {

/// A drawing follows the reader's setting, light or dark: it is drawn with the variables of themeStyle().
class Svg {
public:
  /// Pixels a character of the monospace text takes, which is 12 px high; rounded up.
  static constexpr double characterWidth = 7.3;

  void text(double x, double y, std::string_view words, std::string_view style = "", std::string_view title = "");
  /// Centred, shortened to a width; nothing when not even two characters have room.
  void centred(double x, double y, double width, std::string_view words, std::string_view style = "");
  /// `title` appears when the pointer rests on the shape.
  void rectangle(double x, double y, double width, double height, std::string_view attributes,
                 std::string_view title = "");
  /// `data` in SVG's path language.
  void path(std::string_view data, std::string_view attributes, std::string_view title = "");
  /// The drawing is at least so wide.
  void reach(double right);

  double right() const { return right_; }
  size_t shapes() const { return shapes_; }
  /// A file of its own. `style` is CSS for the classes used, beside those of textStyle().
  std::string document(std::string_view title, double height, std::string_view style = "") const;

private:
  void close(std::string_view element, std::string_view title);

  std::string out_;
  double right_ = 0;
  size_t shapes_ = 0;
};

/// An attribute of the shape that a page shows first where a drawing is larger than the window.
inline constexpr std::string_view startMark = " data-start=\"1\"";

/// CSS variables for light and dark backgrounds: --paper --ink --quiet --line --card, and a fill and a stroke for each
/// kind of thing that drawings show: --inner --leaf --external --control --data --wait, --inner-line and so on.
std::string_view themeStyle();

/// Text that stands between tags or in an attribute.
std::string escape(std::string_view text);
/// A number as SVG writes it.
std::string coordinate(double value);
/// Shortens to a number of characters, with an ellipsis.
std::string shorten(std::string_view text, size_t characters);
/// Characters, not bytes.
size_t lengthOf(std::string_view text);
/// Bytes as people read them: "64 KiB", "1.5 MiB".
std::string bytesText(uint64_t bytes);
/// One of twelve light fills that differ in brightness too, the same in light and dark. Text upon them has the class
/// "on".
std::string fillOf(size_t number);

} // namespace strata::picture
