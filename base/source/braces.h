// Finds the braces that are missing in a text whose braces do not match. Where a block ends is guessed from how the
// lines are indented, so that one message can point at the line that lacks the brace and reading can go on as if it
// were there. Used by the readers of every notation with braces. Any thread.
#pragma once

#include "base/source/diagnostic.h"

#include <string_view>
#include <vector>

namespace strata {

struct BraceRepair {
  static constexpr size_t Nowhere = ~size_t(0);
  char brace = '}';        // the one that is missing
  size_t before = Nowhere; // the token that it should stand before, which may be the end of the text; Nowhere: no place
                           // is known for the '{' of a '}', which is to be left out then
  size_t partner = 0;      // the token that is a brace without its other half
};

/// The braces to insert or to leave out; none when the braces match. `tokens` point into
/// `text`, in order.
std::vector<BraceRepair> findMissingBraces(std::string_view text, const std::vector<std::string_view>& tokens);

/// One message for each repair; `places` are the tokens' places in the files.
void reportMissingBraces(const std::vector<BraceRepair>& repairs, const std::vector<Location>& places,
                         DiagnosticEngine& diagnostics);

/// The place to report for a token that is missing between `last` and `next`: the end of the line of `last` when `next`
/// stands in another line (or the text ends), else the place of `next`.
Location placeOfMissing(const Location& last, const Location& next, bool nextIsEnd, const SourceManager& sources);

/// Reports the missing braces of a program and puts them into its tokens. A token has `text` and `location`; the last
/// one is the end of the text. `make` gives the token of a brace, with the text and at the place given.
template <typename Token, typename Make>
void repairBraces(std::string_view text, std::vector<Token>& tokens, DiagnosticEngine& diagnostics, Make&& make) {
  std::vector<std::string_view> words;
  for (size_t i = 0; i + 1 < tokens.size(); ++i)
    words.push_back(tokens[i].text);
  const std::vector<BraceRepair> repairs = findMissingBraces(text, words);
  if (repairs.empty())
    return;
  std::vector<Location> places;
  for (const Token& each : tokens)
    places.push_back(each.location);
  reportMissingBraces(repairs, places, diagnostics);
  std::vector<Token> repaired;
  for (size_t i = 0; i < tokens.size(); ++i) {
    bool leaveOut = false;
    for (const BraceRepair& each : repairs) {
      if (each.before == i)
        repaired.push_back(make(each.brace == '{' ? "{" : "}", tokens[i ? i - 1 : i].location));
      leaveOut |= each.before == BraceRepair::Nowhere && each.partner == i;
    }
    if (!leaveOut)
      repaired.push_back(std::move(tokens[i]));
  }
  tokens = std::move(repaired);
}

} // namespace strata
