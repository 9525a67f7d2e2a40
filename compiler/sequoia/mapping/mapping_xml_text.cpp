// Places in XML. pugixml tells where names and contents begin; attributes are found by walking the start tag again,
// which is known to be well formed by then.
#include "compiler/sequoia/mapping/mapping_xml_text.h"

#include <algorithm>

namespace strata::sequoia {

STRATA_DIAGNOSTIC(malformedXml, Error, "sequoia-mapping-xml", "the mapping is not well-formed XML: {0}");

namespace {

constexpr std::string_view blanks = " \t\r\n";

std::string whyMalformed(const pugi::xml_parse_result& result) {
  switch (result.status) {
  case pugi::status_unrecognized_tag:
    return "'<' begins no element, comment or instruction here";
  case pugi::status_bad_pi:
    return "an instruction is not ended by '?>'";
  case pugi::status_bad_comment:
    return "a comment is not ended by '-->'";
  case pugi::status_bad_cdata:
    return "a CDATA section is not ended by ']]>'";
  case pugi::status_bad_doctype:
    return "a document type declaration is not ended";
  case pugi::status_bad_start_element:
    return "a start tag is not ended by '>' or '/>'";
  case pugi::status_bad_attribute:
    return "an attribute is not of the form NAME=\"VALUE\"";
  case pugi::status_bad_end_element:
    return "an end tag is not ended by '>'";
  case pugi::status_end_element_mismatch:
    return "elements are not closed in the order in which they are opened";
  default:
    return result.description();
  }
}

} // namespace

XmlText::XmlText(BufferId file, DiagnosticEngine& diagnostics)
    : file_(file), diagnostics_(diagnostics), text_(diagnostics.sources().buffer(file).text()) {}

Location XmlText::at(size_t begin, size_t end) const {
  begin = std::min(begin, text_.size());
  end = std::clamp(end, begin, text_.size());
  return {file_, static_cast<uint32_t>(begin), static_cast<uint32_t>(end)};
}

pugi::xml_node XmlText::parse() {
  if (size_t zero = text_.find('\0'); zero != std::string_view::npos) {
    diagnostics_.report(malformedXml, at(zero, zero + 1), "a character of number 0");
    return {};
  }
  // Line ends stay as they are, so that places in the text are places in the file.
  unsigned flags = pugi::parse_cdata | pugi::parse_escapes | pugi::parse_wconv_attribute | pugi::parse_fragment;
  pugi::xml_parse_result result = document_.load_buffer(text_.data(), text_.size(), flags, pugi::encoding_utf8);
  if (!result) {
    reportMalformed(result);
    return {};
  }
  return checkTop() ? document_.document_element() : pugi::xml_node();
}

/// One element and nothing else.
bool XmlText::checkTop() {
  pugi::xml_node root;
  for (pugi::xml_node child : document_.children()) {
    if (child.type() == pugi::node_pcdata || child.type() == pugi::node_cdata) {
      size_t begin = static_cast<size_t>(std::max<ptrdiff_t>(child.offset_debug(), 0));
      begin = text_.find_first_not_of(blanks, begin);
      diagnostics_.report(malformedXml, at(begin, text_.find_first_of(" \t\r\n<", begin)),
                          "text outside of all elements");
      return false;
    }
    if (child.type() == pugi::node_element && root) {
      diagnostics_.report(malformedXml, placeOf(child), "a second outermost element").label(placeOf(root), "the first");
      return false;
    }
    if (child.type() == pugi::node_element)
      root = child;
  }
  if (!root)
    diagnostics_.report(malformedXml, at(0, 1), "there is no element");
  return bool(root);
}

bool XmlText::reportTag() {
  std::vector<Piece> open;
  for (size_t i = 0; i < text_.size();) {
    const size_t tag = std::min(text_.find('<', i), text_.size());
    if (const size_t end = text_.substr(i, tag - i).find('>'); end != std::string_view::npos) {
      const size_t line = text_.rfind('\n', i + end),
                   first = line == std::string_view::npos ? i : std::max(i, line + 1);
      const size_t slash = text_.substr(first, i + end - first).find('/');
      const bool isEndTag = slash != std::string_view::npos && isWordStart(text_[first + slash + 1]);
      const size_t begin = isEndTag ? first + slash : text_.find_first_not_of(blanks, first);
      diagnostics_.report(malformedXml, at(begin, i + end + 1), "'<' is missing before this tag");
      return true;
    }
    const std::string_view rest = text_.substr(tag);
    const std::string_view special = rest.starts_with("<!--")        ? "-->"
                                     : rest.starts_with("<![CDATA[") ? "]]>"
                                     : rest.starts_with("<?")        ? "?>"
                                     : rest.starts_with("<!")        ? ">"
                                                                     : "";
    if (!special.empty() || tag == text_.size()) {
      const size_t end = text_.find(special, tag);
      if (tag == text_.size() || end == std::string_view::npos)
        return false;
      i = end + special.size();
      continue;
    }
    size_t close = tag + 1, last = close;
    for (char quote = 0; close < text_.size() && (quote != 0 || (text_[close] != '>' && text_[close] != '<'));
         ++close) {
      if (quote != 0 ? text_[close] == quote : text_[close] == '"' || text_[close] == '\'')
        quote = quote != 0 ? 0 : text_[close];
      if (blanks.find(text_[close]) == std::string_view::npos)
        last = close + 1;
    }
    if (close == text_.size())
      return false;
    const bool isEnd = rest.starts_with("</");
    const size_t begin = tag + (isEnd ? 2 : 1);
    const size_t end = std::min(text_.find_first_of(" \t\r\n/><", begin), close);
    const std::string name(text_.substr(begin, end - begin));
    if (name.empty()) {
      diagnostics_.report(malformedXml, at(tag, close + 1), "this tag has no name");
      return true;
    }
    if (text_[close] == '<') {
      // In '<a b <c>' the tag ends with its last attribute; in '<a text</a>' behind its name.
      const bool hasText = !isEnd && text_.substr(close).starts_with("</" + name) && text_[last - 1] != '"';
      const size_t where = hasText ? end : last;
      diagnostics_.report(malformedXml, at(where, where), "'>' is missing at the end of this tag");
      return true;
    }
    i = close + 1;
    if (!isEnd) {
      if (text_[close - 1] != '/')
        open.push_back({name, at(begin, end)});
    } else if (!open.empty() && open.back().text == name) {
      open.pop_back();
    } else {
      const auto isOpen = [&](const Piece& each) { return each.text == name; };
      if (std::none_of(open.begin(), open.end(), isOpen)) {
        DiagnosticBuilder builder =
            diagnostics_.report(malformedXml, at(tag, close + 1), "'</" + name + ">' closes no '<" + name + ">'");
        if (!open.empty())
          builder.label(open.back().location, "this element is open");
      } else {
        diagnostics_.report(malformedXml, open.back().location, "'<" + open.back().text + ">' is not closed")
            .label(at(tag, close + 1), "the element around it ends here");
      }
      return true;
    }
  }
  return false;
}

void XmlText::reportMalformed(const pugi::xml_parse_result& result) {
  if (reportTag())
    return;
  size_t where = std::min(static_cast<size_t>(std::max<ptrdiff_t>(result.offset, 0)), text_.size());
  std::string why = whyMalformed(result);
  if (size_t tag = text_.rfind('<', where); result.status == pugi::status_unrecognized_tag && tag < where)
    where = tag;
  std::vector<Piece> open = openTags(where);
  const bool ends = where >= text_.size();
  if (result.status == pugi::status_end_element_mismatch && !open.empty()) {
    if (size_t tag = text_.rfind("</", where); !ends && tag != std::string_view::npos) {
      size_t end = std::min(text_.find_first_of("> \t\r\n", tag + 2), text_.size());
      why =
          "'</" + std::string(text_.substr(tag + 2, end - tag - 2)) + ">' does not close '<" + open.back().text + ">'";
      where = tag;
    } else {
      why = "the file ends before '<" + open.back().text + ">' is closed";
    }
  }
  DiagnosticBuilder builder = diagnostics_.report(malformedXml, at(where, where + 1), why);
  if (!open.empty())
    builder.label(open.back().location, "this element is open");
}

std::vector<XmlText::Piece> XmlText::openTags(size_t end) const {
  std::vector<Piece> open;
  std::string_view text = text_.substr(0, end);
  auto skip = [&](size_t from, std::string_view closing) {
    size_t found = text.find(closing, from);
    return found == std::string_view::npos ? text.size() : found + closing.size();
  };
  for (size_t i = text.find('<'); i < text.size(); i = text.find('<', i)) {
    std::string_view rest = text.substr(i);
    if (rest.starts_with("<!--")) {
      i = skip(i + 4, "-->");
    } else if (rest.starts_with("<![CDATA[")) {
      i = skip(i, "]]>");
    } else if (rest.starts_with("<?") || rest.starts_with("<!")) {
      i = skip(i, ">");
    } else if (rest.starts_with("</")) {
      size_t close = text.find('>', i);
      if (close == std::string_view::npos)
        break; // the tag at which the parser stopped
      if (!open.empty() && open.back().text == text.substr(i + 2, open.back().text.size()))
        open.pop_back();
      i = close;
    } else {
      size_t name = std::min(text.find_first_of(" \t\r\n/>", i + 1), text.size()), close = name;
      for (char quote = 0; close < text.size() && (quote || text[close] != '>'); ++close)
        if (quote ? text[close] == quote : text[close] == '"' || text[close] == '\'')
          quote = quote ? 0 : text[close];
      if (text[std::min(close, text.size()) - 1] != '/')
        open.push_back({std::string(text.substr(i + 1, name - i - 1)), at(i + 1, name)});
      i = close;
    }
  }
  return open;
}

Location XmlText::placeOf(pugi::xml_node element) const {
  size_t begin = static_cast<size_t>(std::max<ptrdiff_t>(element.offset_debug(), 0));
  return at(begin, begin + std::string_view(element.name()).size());
}

Location XmlText::wholeOf(pugi::xml_node element) const {
  Location whole = placeOf(element);
  for (const Piece& word : wordsOf(element))
    whole.end = std::max(whole.end, word.location.end);
  return whole;
}

std::vector<XmlText::Attribute> XmlText::attributesOf(pugi::xml_node element) const {
  std::vector<Attribute> attributes;
  size_t i = placeOf(element).end;
  for (pugi::xml_attribute each : element.attributes()) {
    i = std::min(text_.find_first_not_of(blanks, i), text_.size());
    std::string_view name = each.name();
    Attribute& attribute = attributes.emplace_back();
    attribute.name = {std::string(name), at(i, i + name.size())};
    size_t quote = std::min(text_.find_first_of("\"'", i), text_.size());
    size_t close = quote < text_.size() ? std::min(text_.find(text_[quote], quote + 1), text_.size()) : quote;
    attribute.value = {each.value(), at(quote + 1, close)};
    i = close + 1;
  }
  return attributes;
}

std::vector<XmlText::Piece> XmlText::piecesOf(pugi::xml_node element) const {
  std::vector<Piece> pieces;
  for (pugi::xml_node child : element.children()) {
    if (child.type() != pugi::node_pcdata && child.type() != pugi::node_cdata)
      continue;
    std::string_view value = child.value();
    size_t begin = static_cast<size_t>(std::max<ptrdiff_t>(child.offset_debug(), 0));
    // Where entities were replaced, a word's place is that of all of the text.
    bool exact = text_.substr(begin, value.size()) == value;
    pieces.push_back({std::string(value), at(begin, exact ? begin + value.size() : text_.find('<', begin))});
  }
  return pieces;
}

std::vector<XmlText::Piece> XmlText::wordsOf(pugi::xml_node element) const {
  std::vector<Piece> words;
  for (const Piece& piece : piecesOf(element)) {
    const std::string& text = piece.text;
    const bool exact = piece.location.end - piece.location.begin == text.size();
    for (size_t i = 0; i < text.size();) {
      if (blanks.find(text[i]) != std::string_view::npos) {
        ++i;
        continue;
      }
      size_t end = i + 1;
      if (isWordCharacter(text[i]) || ((text[i] == '-' || text[i] == '+') && end < text.size() && isDigit(text[end])))
        while (end < text.size() && isWordCharacter(text[end]))
          ++end;
      size_t begin = piece.location.begin + i;
      words.push_back({text.substr(i, end - i), exact ? at(begin, begin + end - i) : piece.location});
      i = end;
    }
  }
  return words;
}

XmlText::Piece XmlText::contentOf(pugi::xml_node element) const {
  Piece content{"", placeOf(element)};
  bool any = false;
  for (const Piece& piece : piecesOf(element)) {
    content.text += piece.text;
    size_t first = piece.text.find_first_not_of(blanks);
    if (!any && first != std::string::npos) {
      bool exact = piece.location.end - piece.location.begin == piece.text.size();
      size_t last = piece.text.find_last_not_of(blanks) + 1;
      content.location = exact ? at(piece.location.begin + first, piece.location.begin + last) : piece.location;
      any = true;
    }
  }
  size_t first = std::min(content.text.find_first_not_of(blanks), content.text.size());
  content.text = content.text.substr(first, content.text.find_last_not_of(blanks) + 1 - first);
  return content;
}

} // namespace strata::sequoia
