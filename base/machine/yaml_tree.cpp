// Builds the tree of yaml_tree.h from yaml-cpp's events. The events, not its nodes: they come before aliases are
// followed and show repeated keys, and the handler can stop a text that is too deep before it is read any further.
#include "base/machine/yaml_tree.h"

#include "base/machine/yaml_mistake.h"

#include <algorithm>
#include <sstream>
#include <unordered_set>

#include <yaml-cpp/eventhandler.h>
#include <yaml-cpp/exceptions.h>
#include <yaml-cpp/parser.h>

namespace strata::machine {

STRATA_DIAGNOSTIC(badYaml, Error, "machine-bad-yaml", "not a valid description: {0}");
STRATA_DIAGNOSTIC(tooLarge, Error, "machine-too-large", "the description has {0} bytes; at most {1} are read");
STRATA_DIAGNOSTIC(tooDeep, Error, "machine-too-deep", "more than {0} lists and mappings within one another");
STRATA_DIAGNOSTIC(aliasUsed, Error, "machine-alias", "anchors, aliases and tags are not part of machine descriptions");
STRATA_DIAGNOSTIC(duplicateKey, Error, "machine-duplicate-key", "field '{0}' is given twice");

namespace {

constexpr size_t largestText = 1 << 20;
constexpr size_t deepest = 16;

/// Ends the reading of a text that has been reported as wrong.
struct Stop {};

class TreeBuilder : public YAML::EventHandler {
public:
  TreeBuilder(DiagnosticEngine& diagnostics, BufferId buffer) : diagnostics_(diagnostics), buffer_(buffer) {
    root_.location = {buffer, 0, 0}; // of a text without a document
  }

  YamlNode take() { return std::move(root_); }

  void OnDocumentStart(const YAML::Mark& mark) override {
    if (documents_++ != 0)
      fail(diagnostics_.report(badYaml, place(mark), "a second document begins here"));
  }
  void OnDocumentEnd() override {}
  void OnNull(const YAML::Mark& mark, YAML::anchor_t anchor) override {
    plain(mark, "", anchor);
    add({YamlNode::Kind::Empty, "", {}, {}, place(mark)});
  }
  void OnAlias(const YAML::Mark& mark, YAML::anchor_t) override { plain(mark, "", 1); }
  void OnScalar(const YAML::Mark& mark, const std::string& tag, YAML::anchor_t anchor,
                const std::string& value) override {
    plain(mark, tag, anchor);
    Location where = place(mark);
    const std::string_view text = diagnostics_.sources().buffer(buffer_).text();
    if (text.substr(where.begin, value.size()) == value)
      where.end = where.begin + static_cast<uint32_t>(value.size());
    else if (text.substr(std::min<size_t>(where.begin + 1, text.size()), value.size()) == value)
      where.end = where.begin + static_cast<uint32_t>(value.size()) + 2; // in quotes
    add({YamlNode::Kind::Scalar, value, {}, {}, where});
  }
  void OnSequenceStart(const YAML::Mark& mark, const std::string& tag, YAML::anchor_t anchor,
                       YAML::EmitterStyle::value) override {
    begin(mark, tag, anchor, YamlNode::Kind::List);
  }
  void OnSequenceEnd() override { end(); }
  void OnMapStart(const YAML::Mark& mark, const std::string& tag, YAML::anchor_t anchor,
                  YAML::EmitterStyle::value) override {
    begin(mark, tag, anchor, YamlNode::Kind::Mapping);
  }
  void OnMapEnd() override { end(); }

  Location place(const YAML::Mark& mark) const {
    const SourceBuffer& file = diagnostics_.sources().buffer(buffer_);
    const uint32_t line = static_cast<uint32_t>(std::max(mark.line, 0)) + 1;
    return diagnostics_.sources().at(buffer_, std::min(line, file.lineCount()),
                                     static_cast<uint32_t>(std::max(mark.column, 0)) + 1);
  }

private:
  struct Open {
    YamlNode node;
    std::unordered_set<std::string> names;
    bool keyNext = true; // in a mapping: whether the next node is a key
  };

  [[noreturn]] void fail(DiagnosticBuilder&&) { throw Stop(); }

  void plain(const YAML::Mark& mark, const std::string& tag, YAML::anchor_t anchor) {
    // "?" and "!" are how the parser says that a plain or a quoted scalar has no tag.
    if (anchor != 0 || (!tag.empty() && tag != "?" && tag != "!"))
      fail(std::move(diagnostics_.report(aliasUsed, place(mark)).help("write the value out")));
  }

  void begin(const YAML::Mark& mark, const std::string& tag, YAML::anchor_t anchor, YamlNode::Kind kind) {
    plain(mark, tag, anchor);
    if (open_.size() >= deepest)
      fail(diagnostics_.report(tooDeep, place(mark), deepest));
    Open next;
    next.node.kind = kind;
    next.node.location = place(mark);
    open_.push_back(std::move(next));
  }

  void end() {
    YamlNode node = std::move(open_.back().node);
    open_.pop_back();
    add(std::move(node));
  }

  void add(YamlNode node) {
    if (open_.empty()) {
      root_ = std::move(node);
      return;
    }
    Open& parent = open_.back();
    if (parent.node.kind == YamlNode::Kind::List) {
      parent.node.items.push_back(std::move(node));
      return;
    }
    if (!parent.keyNext) {
      if (node.kind == YamlNode::Kind::Empty) { // behind its key, and not where the parser noticed it
        const uint32_t end = parent.node.keys.back().location.end;
        node.location = {buffer_, end, end};
      }
      parent.node.items.push_back(std::move(node));
    } else {
      if (node.kind != YamlNode::Kind::Scalar)
        fail(diagnostics_.report(badYaml, node.location, "a field's name is a single word"));
      if (!parent.names.insert(node.text).second)
        fail(std::move(diagnostics_.report(duplicateKey, node.location, node.text).help("keep one of the two")));
      parent.node.keys.push_back(std::move(node));
    }
    parent.keyNext = !parent.keyNext;
  }

  DiagnosticEngine& diagnostics_;
  BufferId buffer_;
  YamlNode root_;
  std::vector<Open> open_;
  int documents_ = 0;
};

} // namespace

std::optional<YamlNode> readYaml(DiagnosticEngine& diagnostics, BufferId buffer) {
  const std::string_view text = diagnostics.sources().buffer(buffer).text();
  const auto begin = Location{buffer, 0, 0};
  if (text.size() > largestText) {
    diagnostics.report(tooLarge, begin, text.size(), largestText);
    return std::nullopt;
  }
  // Other encodings begin with a mark or hold zero bytes; the parser would silently read them as such.
  if (text.find('\0') != std::string_view::npos || text.starts_with("\xFE") || text.starts_with("\xFF") ||
      text.starts_with("\xEF\xBB\xBF")) {
    diagnostics.report(badYaml, begin, "the text is not plain UTF-8")
        .help("save it as UTF-8 without a byte order mark");
    return std::nullopt;
  }
  TreeBuilder builder(diagnostics, buffer);
  try {
    std::istringstream stream{std::string(text)};
    YAML::Parser parser(stream);
    while (parser.HandleNextDocument(builder)) {
    }
    return builder.take();
  } catch (const Stop&) {
    return std::nullopt;
  } catch (const YAML::Exception& error) {
    const Location where = builder.place(error.mark);
    if (std::optional<YamlMistake> mistake = findYamlMistake(text, where.begin)) {
      const auto place = [&](size_t at) {
        return Location{buffer, static_cast<uint32_t>(at), static_cast<uint32_t>(at)};
      };
      DiagnosticBuilder report = diagnostics.report(badYaml, place(mistake->at), mistake->what);
      if (mistake->open)
        report.label(place(*mistake->open), "this bracket is not closed");
      return std::nullopt;
    }
    diagnostics.report(badYaml, where, error.msg);
    return std::nullopt;
  } catch (const std::exception&) {
    diagnostics.report(badYaml, begin, "it cannot be read");
    return std::nullopt;
  }
}

} // namespace strata::machine
