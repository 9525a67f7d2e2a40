// Shapes and words of an SVG drawing, measured so that words do not leave the room they have. Internal to this folder.
#pragma once

#include <string>
#include <string_view>

namespace strata::hbir {

class Svg {
public:
  static constexpr double characterWidth = 6.7; // of 11 px monospace text, rounded up

  void text(double x, double y, std::string_view words, std::string_view style = "");
  /// Centred, shortened to a width; nothing when not even two characters have room.
  void centred(double x, double y, double width, std::string_view words, std::string_view style = "");
  /// `title` appears when the pointer rests on the shape.
  void rectangle(double x, double y, double width, double height, std::string_view attributes,
                 std::string_view title = "");
  /// `data` in SVG's path language.
  void path(std::string_view data, std::string_view attributes);

  double right() const { return right_; }
  size_t shapes() const { return shapes_; }
  std::string document(std::string_view title, double height) const;

private:
  std::string out_;
  double right_ = 0;
  size_t shapes_ = 0;
};

/// A number as SVG writes it.
std::string coordinate(double value);
/// Shortens to a number of characters, with an ellipsis.
std::string shorten(std::string_view text, size_t characters);
/// Characters, not bytes.
size_t lengthOf(std::string_view text);
/// One of twelve light fills that differ in brightness too.
std::string fillOf(size_t number);

} // namespace strata::hbir
