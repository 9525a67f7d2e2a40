// A mapping file in XML as text with places: pugixml parses it, and this finds where elements, attributes and words of
// their content stand. Reports what is not well formed. Owns the parsed document; reads the buffer, which must outlive
// it. Not thread safe.
#pragma once

#include "compiler/sequoia/mapping/mapping_forms.h"

#include <pugixml.hpp>

namespace strata::sequoia {

class XmlText {
public:
  /// A piece of text and where it stands.
  struct Piece {
    std::string text;
    Location location;
  };
  struct Attribute {
    Piece name, value;
  };

  XmlText(BufferId file, DiagnosticEngine& diagnostics);

  /// The root element; an empty node when the file is not one well-formed element (reported).
  pugi::xml_node parse();

  /// The place of an element's name in its start tag.
  Location placeOf(pugi::xml_node element) const;
  /// From an element's name to the end of its content's last word.
  Location wholeOf(pugi::xml_node element) const;
  std::vector<Attribute> attributesOf(pugi::xml_node element) const;
  /// The content as names and numbers (a sign before a number belongs to it), and other characters one by one.
  std::vector<Piece> wordsOf(pugi::xml_node element) const;
  /// The content in one piece, without blanks around it.
  Piece contentOf(pugi::xml_node element) const;

private:
  std::vector<Piece> piecesOf(pugi::xml_node element) const;
  Location at(size_t begin, size_t end) const;
  bool checkTop();
  /// Reports the first tag that lacks a bracket or its other half, at its place; false when there is none.
  bool reportTag();
  void reportMalformed(const pugi::xml_parse_result& result);
  /// The start tags that are open at a place, innermost last.
  std::vector<Piece> openTags(size_t end) const;

  BufferId file_;
  DiagnosticEngine& diagnostics_;
  std::string_view text_;
  pugi::xml_document document_;
};

} // namespace strata::sequoia
