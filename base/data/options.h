// The command-line options that describe data: --size N=1024,M=…, --in A=…, --out C=…. They are parsed out of the
// command line kept as a source buffer, so that their diagnostics point at the very characters.
#pragma once

#include "base/data/generate.h"

namespace strata {

/// The words of a command as one line of text. The buffer belongs to the SourceManager.
class CommandLine {
public:
  /// Words with spaces or quotes are shown quoted; `words` begins with the program's name.
  CommandLine(SourceManager& sources, const std::vector<std::string>& words);
  /// Some of its words in the order of `places` as a command line of their own, whose places are those in this one.
  /// REQUIRES: each is less than the number of words.
  CommandLine part(const std::vector<size_t>& places) const;
  /// Where a word stands, quotes excluded. REQUIRES: index < the number of words.
  Location word(size_t index) const { return words_[index]; }
  const std::string& text(size_t index) const { return texts_[index]; }
  size_t words() const { return words_.size(); }
  /// Where an option's value stands: the end of a word `--in=VALUE`, or a word VALUE of its own; the `occurrence`-th
  /// such place from 0. No valid place when there is none.
  Location value(std::string_view option, std::string_view value, size_t occurrence = 0) const;
  /// Where a word stands: the first that is this text, from the word `from` on. No valid place when there is none.
  Location find(std::string_view word, size_t from = 0) const;
  /// Where an option stands first, alone or with a value behind an equals sign. No valid place when it does not.
  Location option(std::string_view name) const;

private:
  CommandLine() = default;

  std::vector<std::string> texts_;
  std::vector<Location> words_;
};

/// `--in A=SPEC`.
struct InputOption {
  std::string name;
  InputSpec spec;
  Location where; ///< the whole value
};

/// `--out C=PATH`, or `--out C=complex:PATH` to have structs of two floats or doubles written as complex numbers.
struct OutputOption {
  std::string name;
  std::string path;
  bool complexPairs = false;
  Location where;
};

/// One of `--size N=1024,M=2`.
struct SizeOption {
  std::string name;
  int64_t value = 0;
  Location where;
};

/// Each takes the text of one option's value and where it stands; on errors, which are reported, they return nothing.
std::optional<InputOption> parseInputOption(std::string_view text, DiagnosticEngine& diagnostics,
                                            const Location& where);
std::optional<OutputOption> parseOutputOption(std::string_view text, DiagnosticEngine& diagnostics,
                                              const Location& where);
std::optional<std::vector<SizeOption>> parseSizeOption(std::string_view text, DiagnosticEngine& diagnostics,
                                                       const Location& where);

/// Reports names that are given twice among options of one sort; true when there are none.
bool checkRepeated(const std::vector<InputOption>& options, DiagnosticEngine& diagnostics);
bool checkRepeated(const std::vector<OutputOption>& options, DiagnosticEngine& diagnostics);
bool checkRepeated(const std::vector<SizeOption>& options, DiagnosticEngine& diagnostics);

} // namespace strata
