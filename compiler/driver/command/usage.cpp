// Each kind of refusal of CLI11 has the option's name in its text, by which the option, its values and their places are
// found.
#include "compiler/driver/command/usage.h"

#include "base/source/characters.h"
#include "compiler/driver/command/help.h"
#include "compiler/driver/compile/notations.h"

#include "llvm/ADT/STLExtras.h"
#include "llvm/ADT/StringExtras.h"
#include "llvm/Support/FileSystem.h"
#include "llvm/Support/Path.h"

#include <algorithm>

namespace strata::driver {

STRATA_DIAGNOSTIC(badUsage, Error, "driver-usage", "{0}");

namespace {

std::vector<std::string> namesOf(const CLI::Option& option) {
  std::vector<std::string> names;
  for (const std::string& name : option.get_lnames())
    names.push_back("--" + name);
  for (const std::string& name : option.get_snames())
    names.push_back("-" + name);
  return names;
}

std::vector<std::string> optionsOf(const CLI::App& command) {
  std::vector<std::string> names;
  for (const CLI::Option* option : command.get_options())
    for (const std::string& name : option->get_lnames())
      names.push_back("--" + name);
  return names;
}

/// "did you mean 'A'? ", or nothing.
std::string proposal(const std::string& word, const std::vector<std::string>& names) {
  const std::string nearest = nearestName(word, names);
  return nearest.empty() ? "" : "did you mean '" + nearest + "'? ";
}

class Refusal {
public:
  Refusal(Session& session, const CLI::App& app, int argc, char** argv)
      : session_(session), line_(*session.commandLine), app_(app), words_(argv, argv + argc) {}

  void report(const CLI::ParseError& error) {
    std::vector<std::string> names;
    for (const CLI::App* command : app_.get_subcommands({}))
      names.push_back(command->get_name());
    const std::string first = words_.size() > 1 ? words_[1] : "";
    if (first.empty())
      return say({}, "strata is called with a command", "strata --help lists the commands, and has a first one to try");
    help_ = "strata --help lists the commands";
    if (!llvm::is_contained(names, first)) {
      if (first[0] != '-')
        return say(line_.word(1), "there is no command '" + first + "'", proposal(first, names) + help_);
      return say(line_.word(1), "strata has no option '" + first + "' before its command", help_);
    }
    command_ = app_.get_subcommand(first);
    name_ = "strata " + first;
    help_ = name_ + " --help lists its options";
    if (!unknownOption())
      explain(error);
  }

private:
  void say(const Location& where, const std::string& what, const std::string& help,
           const std::pair<Location, std::string>& other = {}) {
    DiagnosticBuilder report = session_.diagnostics.report(badUsage, where, what);
    if (other.first.valid())
      report.label(other.first, other.second);
    report.help(help);
  }

  /// A word that looks like a long option and is none.
  bool unknownOption() {
    const std::vector<std::string> names = optionsOf(*command_);
    for (size_t i = 2; i < words_.size(); ++i) {
      const std::string name = words_[i].substr(0, words_[i].find('='));
      if (!llvm::StringRef(name).starts_with("--") || llvm::is_contained(names, name))
        continue;
      say(line_.word(i), name_ + " has no option '" + name + "'", proposal(name, names) + help_);
      return true;
    }
    return false;
  }

  /// The option that a text of CLI11's begins with; null where it begins with none.
  const CLI::Option* optionIn(llvm::StringRef text) const {
    const CLI::Option* found = nullptr;
    for (const CLI::Option* option : command_->get_options())
      if (text.starts_with(option->get_name()) && (!found || option->get_name().size() > found->get_name().size()))
        found = option;
    return found;
  }

  std::vector<size_t> wordsOf(const CLI::Option& option) const {
    std::vector<size_t> found;
    for (size_t i = 2; i < words_.size(); ++i)
      if (llvm::any_of(namesOf(option), [&](const std::string& name) {
            const llvm::StringRef word(words_[i]);
            return word == name || word.starts_with(name + "=") ||
                   (name.size() == 2 && word.starts_with(name) && !word.starts_with("--"));
          }))
        found.push_back(i);
    return found;
  }

  Location placeOfValue(const CLI::Option& option, const std::string& value) const {
    for (const std::string& name : namesOf(option))
      if (const Location found = line_.value(name, value); found.valid())
        return found;
    return line_.find(value, 2);
  }

  /// The last word that is the option; of a positional its value, and else the command.
  Location placeOf(const CLI::Option& option) const {
    if (const std::vector<size_t> words = wordsOf(option); !words.empty())
      return line_.word(words.back());
    const Location value = option.results().empty() ? Location() : placeOfValue(option, option.results().back());
    return value.valid() ? value : line_.word(1);
  }

  void explain(const CLI::ParseError& error) {
    const std::string text = error.what();
    const CLI::Option* option = optionIn(text);
    if (dynamic_cast<const CLI::ExtrasError*>(&error))
      return extra();
    if (!option && llvm::StringRef(text).starts_with("Could not convert: "))
      option = optionIn(llvm::StringRef(text).drop_front(std::string("Could not convert: ").size()));
    if (!option)
      return say(line_.word(1), text.substr(0, text.find('\n')), help_);
    const std::string& name = option->get_name();
    const std::vector<size_t> words = wordsOf(*option);
    const Location where = placeOf(*option);
    if (dynamic_cast<const CLI::RequiredError*>(&error))
      return missing(*option);
    if (dynamic_cast<const CLI::ExcludesError*>(&error)) {
      const std::string other = text.substr(text.rfind(' ') + 1);
      const CLI::Option* excluded = optionIn(other);
      return say(where, name + " and " + other + " do not go together", help_,
                 {excluded ? placeOf(*excluded) : Location(), "and this"});
    }
    if (dynamic_cast<const CLI::ArgumentMismatch*>(&error)) {
      if (option->get_items_expected_max() == 0)
        return say(where, name + " takes no value", help_);
      if (words.size() > 1 && text.find("received") != std::string::npos)
        return say(line_.word(words[1]), name + " is given twice", "give it once",
                   {line_.word(words.front()), "first given here"});
      return say(where, name + " takes " + valueText(*option) + ", and nothing stands behind it", help_);
    }
    wrongValue(*option, text, dynamic_cast<const CLI::ValidationError*>(&error));
  }

  static std::string valueText(const CLI::Option& option) {
    const std::string& text = valueOf(option).text;
    return text.empty() ? "a value" : text;
  }

  /// What stands behind " in " in a text of CLI11's: "range 1 to 9" or "{a,b}".
  /// `isOfUs`: where it is another text, a check of ours has written it.
  void wrongValue(const CLI::Option& option, llvm::StringRef text, bool isOfUs) {
    const std::string value = option.results().empty() ? "" : option.results().back();
    const Location where = placeOfValue(option, value);
    std::string allowed = text.rsplit(" not in ").second.str();
    if (llvm::StringRef words(allowed); words.consume_front("{") && words.consume_back("}")) {
      std::vector<std::string> each;
      for (llvm::StringRef word : llvm::split(words, ","))
        each.push_back(word.str());
      return say(where, option.get_name() + " takes " + listed(each) + ", and not '" + value + "'",
                 proposal(value, each) + help_);
    }
    if (const llvm::StringRef own = text.split(": ").second; allowed.empty() && isOfUs && !own.empty())
      say(where, own.str(), help_);
    else if (allowed.empty())
      say(where, option.get_name() + " takes a whole number, and not '" + value + "'", help_);
    else
      say(where, option.get_name() + " takes a whole number in the " + allowed + ", and not '" + value + "'", help_);
  }

  void missing(const CLI::Option& option) {
    const std::string name = namesOf(option).empty() ? option.get_name() : namesOf(option).back();
    // It may be there as what another option has taken for its value.
    for (size_t i = 3; i < words_.size(); ++i)
      if (llvm::is_contained(namesOf(option), words_[i]))
        return say(line_.word(i - 1), words_[i - 1] + " takes a value, and '" + words_[i] + "' stands behind it",
                   help_);
    std::string example = examplesOf(command_->get_name());
    example = llvm::StringRef(example).split('\n').first.trim().str();
    say(line_.word(1), name_ + " needs " + name + ", which is missing: " + option.get_description(),
        (example.empty() ? "" : "for example: " + example + "; ") + help_);
  }

  /// A word that is in no place of its own.
  void extra() {
    std::vector<std::string> left = app_.remaining(true);
    for (size_t i = 2; i < words_.size(); ++i) {
      if (!llvm::is_contained(left, words_[i]))
        continue;
      if (words_[i].size() > 1 && words_[i][0] == '-')
        say(line_.word(i), name_ + " has no option '" + words_[i] + "'",
            proposal("-" + words_[i], optionsOf(*command_)) + help_);
      else
        say(line_.word(i), "'" + words_[i] + "' is one word more than " + name_ + " takes", help_);
      return;
    }
    say(line_.word(1), name_ + " takes fewer words", help_);
  }

  Session& session_;
  const CommandLine& line_;
  const CLI::App& app_;
  std::vector<std::string> words_;
  const CLI::App* command_ = nullptr;
  std::string name_, help_;
};

/// The option that a bare NAME=VALUE was probably meant for; nothing when the word is that of a file.
std::string optionOf(const std::string& word) {
  const size_t equals = word.find('=');
  if (equals == std::string::npos || equals == 0 || equals + 1 == word.size() || llvm::sys::fs::exists(word) ||
      !std::all_of(word.begin(), word.begin() + static_cast<ptrdiff_t>(equals), isWordCharacter))
    return "";
  return std::all_of(word.begin() + static_cast<ptrdiff_t>(equals) + 1, word.end(), isDigit) ? "--size" : "--in";
}

/// The option that takes files with this ending, written with one.
std::string optionOfFile(const std::string& file) {
  const llvm::StringRef ending = llvm::sys::path::extension(file);
  if (ending == ".npy")
    return "--in NAME=" + file;
  if (ending == ".yaml")
    return "--machine " + file;
  for (const notation::Notation* notation : notation::allNotations())
    for (const notation::MappingForm& form : notation->description().mappingForms)
      if (llvm::is_contained(form.endings, ending) && !descriptionOf(file))
        return "--map " + file;
  return "";
}

} // namespace

int usageError(Session& session, const CLI::App& app, int argc, char** argv, const CLI::ParseError& error) {
  Refusal(session, app, argc, argv).report(error);
  session.options.json = std::find(argv, argv + argc, std::string_view("--json")) != argv + argc;
  return finish(session);
}

int misuse(Session& session, const Location& where, const std::string& what, const std::string& help) {
  const std::string command = session.commandLine->words() > 1 ? session.commandLine->text(1) : "";
  session.diagnostics.report(badUsage, where, what)
      .help(!help.empty() ? help : "strata " + command + " --help lists its options");
  return finish(session);
}

Location placeOf(const Session& session, const CLI::App& command, const std::string& option) {
  const CLI::Option* found = command.get_option_no_throw(option);
  if (!found)
    return {};
  for (size_t i = 2; i < session.commandLine->words(); ++i) {
    const std::string& word = session.commandLine->text(i);
    for (const std::string& name : namesOf(*found))
      if (word == name || llvm::StringRef(word).starts_with(name + "=") ||
          (name.size() == 2 && llvm::StringRef(word).starts_with(name) && word[1] != '-'))
        return session.commandLine->word(i);
  }
  return {};
}

bool checkValues(Session& session, const CLI::App& command) {
  for (const CLI::Option* option : command.get_options()) {
    if (option->get_positional())
      continue;
    if (option->get_items_expected_max() == 0) {
      for (size_t i = 2; i < session.commandLine->words(); ++i)
        for (const std::string& name : namesOf(*option))
          if (name.size() > 2 && llvm::StringRef(session.commandLine->text(i)).starts_with(name + "=")) {
            misuse(session, session.commandLine->word(i), name + " takes no value");
            return false;
          }
      continue;
    }
    if (!llvm::is_contained(option->results(), ""))
      continue;
    const std::string& takes = valueOf(*option).text;
    misuse(session, placeOf(session, command, option->get_name()),
           option->get_name() + " takes " + (takes.empty() ? "a value" : takes) + ", and is given an empty word");
    return false;
  }
  return true;
}

bool checkFilesOfC(Session& session) {
  const CommandLine& line = *session.commandLine;
  for (const std::string& word : session.options.compile.functions) {
    const llvm::StringRef ending = llvm::sys::path::extension(word);
    const bool isOfC = llvm::is_contained({".c", ".cc", ".cpp", ".cxx", ".C", ".o", ".a", ".so"}, ending);
    const std::string option = optionOf(word), ofFile = optionOfFile(word);
    if (isOfC || (option.empty() && ofFile.empty() && !descriptionOf(word) && llvm::sys::fs::exists(word)))
      continue;
    const bool hasBlanks = word.front() == '=' || word.back() == '=';
    size_t last = line.words() - 1; // the program stands in front of these
    while (last > 2 && line.text(last) != word)
      --last;
    misuse(session, line.word(last), "'" + word + "' is no C or C++ file",
           !option.empty()       ? "did you mean " + option + " " + word + "?"
           : hasBlanks           ? "NAME=VALUE is one word, without blanks: --size N=8 --in x=iota"
           : !ofFile.empty()     ? "did you mean " + ofFile + "?"
           : descriptionOf(word) ? "a command takes one program; strata run takes several with a word + between them"
                                 : "");
    return false;
  }
  return true;
}

} // namespace strata::driver
