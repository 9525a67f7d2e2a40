// The config segment decides where it can: `group` at its beginning is form A, `arrange t(rows, cols) as` form C, and
// `arrange t as` form B unless its groups repeat, nest or name their sizes. Without groups, the fields of a memory or
// the name of a code block tell; when nothing does, it is form A.
#include "compiler/hbir/syntax/form.h"

namespace strata::hbir {

namespace {

class Detector {
public:
  explicit Detector(const std::vector<Token>& tokens) : tokens_(tokens) {}

  FormEvidence run() {
    if (size_t config = segment("config"))
      for (size_t i = config; i < tokens_.size() && !is(i, "}"); ++i) {
        if (is(i, "group") && isPlacedByRange(i))
          return arrange(config); // the word itself is missing or misspelt
        if (is(i, "group"))
          return {Form::A, tokens_[i].location, "its config segment holds groups outside of 'arrange'"};
        if (is(i, "arrange"))
          return arrange(i);
      }
    if (size_t target = segment("target"))
      for (size_t i = target, depth = 1; i < tokens_.size() && depth; ++i) {
        depth = depth + is(i, "{") - is(i, "}");
        if (is(i, "size") || is(i, "width"))
          return is(i + 1, ":")
                     ? FormEvidence{Form::B, tokens_[i].location, "a field of a memory is written with ':'"}
                     : FormEvidence{Form::A, tokens_[i].location, "a field of a memory is written without ':'"};
      }
    if (size_t code = segment("code"))
      for (size_t i = code, depth = 1; i < tokens_.size() && depth; ++i) {
        depth = depth + is(i, "{") - is(i, "}");
        if (depth != 1 || !is(i + 1, "."))
          continue;
        return is(i, "config")
                   ? FormEvidence{Form::A, tokens_[i].location, "the path of a code block begins with 'config'"}
                   : FormEvidence{Form::B, tokens_[i].location,
                                  "the path of a code block does not begin with 'config'"};
      }
    return {Form::A, {}, "nothing in it belongs to another form"};
  }

private:
  bool is(size_t at, std::string_view text) const {
    return at < tokens_.size() && tokens_[at].kind != TokenKind::Text && tokens_[at].text == text;
  }

  /// The token after the segment's brace; 0 when there is no such segment.
  size_t segment(std::string_view name) const {
    for (size_t i = 0, depth = 0; i + 1 < tokens_.size(); ++i) {
      if (depth == 0 && is(i, name) && is(i + 1, "{"))
        return i + 2;
      if (is(i, "{"))
        ++depth;
      else if (is(i, "}") && depth)
        --depth;
    }
    return 0;
  }

  /// Whether the group that begins there has an 'at'.
  bool isPlacedByRange(size_t group) const {
    for (size_t i = group; i < tokens_.size() && !is(i, "{") && !is(i, "}") && !is(i, ";"); ++i)
      if (is(i, "at"))
        return true;
    return false;
  }

  FormEvidence arrange(size_t at) const {
    const Location& where = tokens_[at].location;
    if (is(at + 2, "("))
      return {Form::C, where, "'arrange' names the sizes of the tile array"};
    for (size_t i = at, depth = 0; i < tokens_.size(); ++i) {
      if (is(i, "}") && --depth == 0)
        break;
      if (is(i, "{"))
        ++depth;
      if (!is(i, "group"))
        continue;
      if (is(i + 1, "["))
        return {Form::C, tokens_[i].location, "a group is repeated"};
      if (is(i + 2, "("))
        return {Form::C, tokens_[i].location, "a group names its sizes"};
      if (depth > 1)
        return {Form::C, tokens_[i].location, "a group stands inside another"};
    }
    return {Form::B, where, "'arrange' has no names for sizes, and its groups are plain"};
  }

  const std::vector<Token>& tokens_;
};

} // namespace

FormEvidence detectForm(const std::vector<Token>& tokens) {
  return Detector(tokens).run();
}

} // namespace strata::hbir
