// Completion for bash, zsh and fish: one script each, made from the commands as they parse. What can be proposed for a
// value is in the table of help.cpp; names of machines come from `strata machine --list` while the user types.
#include "compiler/driver/command/help.h"

#include <sstream>

namespace strata::driver {

namespace {

using Kind = OptionValue::Kind;

std::vector<std::string> wordsOf(const std::string& text) {
  std::vector<std::string> words;
  std::istringstream all(text);
  for (std::string word; all >> word;)
    words.push_back(word);
  return words;
}

std::string replaced(std::string text, const std::string& what, const std::string& with) {
  for (size_t at = 0; (at = text.find(what, at)) != std::string::npos; at += with.size())
    text.replace(at, what.size(), with);
  return text;
}

/// Options as they are typed: -o, --output.
std::vector<std::string> spellings(const CLI::Option& option) {
  std::vector<std::string> names;
  for (const std::string& name : option.get_snames())
    names.push_back("-" + name);
  for (const std::string& name : option.get_lnames())
    names.push_back("--" + name);
  return names;
}

std::string join(const std::vector<std::string>& words, const char* between) {
  std::string out;
  for (const std::string& word : words)
    out += (out.empty() ? "" : between) + word;
  return out;
}

bool takesValue(const CLI::Option& option) {
  return option.get_type_size() != 0;
}

// ---- bash ----

/// The line that fills COMPREPLY for one kind of value; $word is what has been typed of it.
std::string bashProposal(const OptionValue& value) {
  switch (value.kind) {
  case Kind::Nothing:
    return "return";
  case Kind::Words:
    return "_strata_words " + value.proposals + "; return";
  case Kind::File:
    return "_strata_files " + value.proposals + "; return";
  case Kind::Folder:
    return "_strata_folders; return";
  case Kind::Machine:
    return "_strata_machines " + value.proposals + "; return";
  case Kind::Data:
    return "_strata_data " + value.proposals + "; return";
  }
  return "";
}

constexpr const char* bashBegin = R"SH(# Completion of strata for bash. To try it: source <(strata completion bash)
_strata_words() { COMPREPLY=($(compgen -W "$*" -- "$word")); }
_strata_folders() {
  compopt -o filenames 2>/dev/null
  mapfile -t COMPREPLY < <(compgen -d -- "$word")
}
# Folders, and the files that end as one of the arguments; without arguments all.
_strata_files() {
  local path ending
  compopt -o filenames 2>/dev/null
  COMPREPLY=()
  while IFS= read -r path; do
    if [[ -d $path || $# == 0 ]]; then
      COMPREPLY+=("$path")
      continue
    fi
    for ending in "$@"; do [[ $path == *"$ending" ]] && COMPREPLY+=("$path"); done
  done < <(compgen -f -- "$word")
}
_strata_machines() {
  _strata_files "$@"
  COMPREPLY+=($(compgen -W "$("$strata" machine --list 2>/dev/null)" -- "$word"))
}
# NAME=FILE: the name is the program's affair.
_strata_data() {
  ((value)) || return
  _strata_files "$@"
  [[ $before != --in ]] || COMPREPLY+=($(compgen -W "random iota zeros" -- "$word"))
}
_strata() {
  local strata=${COMP_WORDS[0]} word=${COMP_WORDS[COMP_CWORD]} before=${COMP_WORDS[COMP_CWORD-1]} at=$COMP_CWORD value=0
  COMPREPLY=()
  # bash makes words of their own of '=' and of what stands behind it.
  if [[ $word == '=' ]]; then
    word='' value=1
  elif [[ $before == '=' ]]; then
    before=${COMP_WORDS[COMP_CWORD-2]} at=$((COMP_CWORD-1)) value=1
  fi
  if ((value)) && [[ $before != -* ]]; then before=${COMP_WORDS[at-2]}; fi
)SH";

std::string bash(const CLI::App& app) {
  std::string out = bashBegin;
  std::vector<std::string> commands;
  for (const CLI::App* command : app.get_subcommands({}))
    commands.push_back(command->get_name());
  out += "  if ((COMP_CWORD == 1)); then _strata_words " + join(commands, " ") +
         " --help --version; return; fi\n  case ${COMP_WORDS[1]}:$before in\n";
  for (const CLI::App* command : app.get_subcommands({}))
    for (const CLI::Option* option : command->get_options())
      if (!option->get_positional() && takesValue(*option)) {
        std::vector<std::string> patterns;
        for (const std::string& name : spellings(*option))
          patterns.push_back(command->get_name() + ":" + name);
        out += "    " + join(patterns, " | ") + ") " + bashProposal(valueOf(*option)) + " ;;\n";
      }
  out += "  esac\n  case ${COMP_WORDS[1]} in\n";
  for (const CLI::App* command : app.get_subcommands({})) {
    std::vector<std::string> options;
    std::vector<std::string> endings;
    const OptionValue* positional = nullptr;
    for (const CLI::Option* option : command->get_options()) {
      if (!option->get_positional()) {
        const std::vector<std::string> names = spellings(*option);
        options.insert(options.end(), names.begin(), names.end());
      } else if (!positional) {
        positional = &valueOf(*option);
      } else { // files behind the first
        endings = wordsOf(valueOf(*option).proposals);
      }
    }
    out += "    " + command->get_name() + ")\n";
    if (command->get_options().size() > 1)
      out += "      if [[ $word == -* ]]; then _strata_words " + join(options, " ") + "; return; fi\n";
    if (!positional)
      out += command->get_options().size() > 1 ? "" : "      _strata_files\n";
    else if (positional->kind == Kind::File)
      out += "      _strata_files " + positional->proposals + (endings.empty() ? "" : " ") + join(endings, " ") + "\n";
    else
      out += "      " + replaced(bashProposal(*positional), "; return", "") + "\n";
    out += "      ;;\n";
  }
  return out + "  esac\n}\ncomplete -F _strata strata\n";
}

// ---- zsh ----

std::string zshText(const std::string& text) {
  std::string out;
  for (char c : text)
    out += c == '\''                                       ? "'\\''"
           : c == '[' || c == ']' || c == ':' || c == '\\' ? std::string("\\") + c
                                                           : std::string(1, c);
  return out;
}

std::string zshFiles(const std::string& endings) {
  std::vector<std::string> names;
  for (const std::string& ending : wordsOf(endings))
    names.push_back(ending.substr(1));
  return names.empty() ? "_files" : "_files -g \"*.(" + join(names, "|") + ")\"";
}

std::string zshProposal(const OptionValue& value) {
  switch (value.kind) {
  case Kind::Nothing:
    return "";
  case Kind::Words:
    return "(" + value.proposals + ")";
  case Kind::File:
    return zshFiles(value.proposals);
  case Kind::Folder:
    return "_files -/";
  case Kind::Machine:
    return "_strata_machines";
  case Kind::Data:
    return "_strata_data";
  }
  return "";
}

/// The endings of files that stand where a machine's name may: all that can be shown.
std::string filesShown(const CLI::App& app) {
  return valueOf(*app.get_subcommand("show")->get_option("THING")).proposals;
}

std::string zsh(const CLI::App& app) {
  std::string out = R"SH(#compdef strata
# Completion of strata for zsh. To try it: source <(strata completion zsh), after compinit
_strata_machines() {
  local -a names=(${(f)"$(strata machine --list 2>/dev/null)"})
  _alternative "machines:machine:($names)" 'files:file:@FILES@'
}
_strata_data() {
  if compset -P '*='; then
    _alternative 'data:data:(random iota zeros)' 'files:file:_files -g "*.npy"'
  else
    _message 'NAME=DATA'
  fi
}
_strata() {
  local -a commands=(
)SH";
  out = replaced(std::move(out), "@FILES@", zshFiles(filesShown(app)));
  for (const CLI::App* command : app.get_subcommands({}))
    out += "    '" + command->get_name() + ":" + zshText(command->get_description()) + "'\n";
  out += "  )\n  if ((CURRENT == 2)); then\n    _describe command commands\n    return\n  fi\n"
         "  shift words\n  ((CURRENT--))\n  case $words[1] in\n";
  for (const CLI::App* command : app.get_subcommands({})) {
    std::string lines;
    unsigned place = 0;
    for (const CLI::Option* option : command->get_options()) {
      OptionValue value = valueOf(*option);
      if (option->get_positional()) {
        const bool many = option->get_items_expected_max() > 1;
        // Behind a plus sign comes another program.
        if (many && command->get_name() == "run")
          value.proposals = valueOf(*command->get_option("PROGRAM")).proposals + " " + value.proposals;
        lines += " \\\n        '" + (many ? "*" : std::to_string(++place)) + ":" + zshText(option->get_name()) + ":" +
                 zshProposal(value) + "'";
        continue;
      }
      const std::vector<std::string> names = spellings(*option);
      const std::string about = "[" + zshText(option->get_description()) + "]";
      for (const std::string& name : names) {
        const bool isLong = name.starts_with("--");
        const std::string others = names.size() > 1 ? "(" + join(names, " ") + ")" : "*";
        lines += " \\\n        '" + others + name;
        if (takesValue(*option))
          lines += (isLong ? "=" : "") + about + (option->get_expected_min() == 0 ? "::" : ":") +
                   zshText(longName(*option)) + ":" + zshProposal(value);
        else
          lines += about;
        lines += "'";
      }
    }
    out += "    " + command->get_name() + ")\n      " +
           (command->get_options().size() > 1 ? "_arguments -S" + lines : "_files") + "\n      ;;\n";
  }
  return out + "  esac\n}\nif [[ $funcstack[1] == _strata ]]; then _strata \"$@\"; else compdef _strata strata; fi\n";
}

// ---- fish ----

std::string fishText(const std::string& text) {
  return "'" + replaced(replaced(text, "\\", "\\\\"), "'", "\\'") + "'";
}

std::string fishProposal(const OptionValue& value) {
  std::string files;
  for (const std::string& ending : wordsOf(value.proposals))
    files += (files.empty() ? "" : "; ") + ("__fish_complete_suffix " + ending);
  switch (value.kind) {
  case Kind::Nothing:
  case Kind::Data:
    return " -x";
  case Kind::Words:
    return " -x -a " + fishText(value.proposals);
  case Kind::File:
    return files.empty() ? " -r -F" : " -x -a " + fishText("(" + files + ")");
  case Kind::Folder:
    return " -x -a '(__fish_complete_directories)'";
  case Kind::Machine:
    return " -x -a " + fishText("(strata machine --list; " + files + ")");
  }
  return "";
}

std::string fish(const CLI::App& app) {
  std::string out =
      "# Completion of strata for fish. To try it: strata completion fish | source\ncomplete -c strata -f\n";
  for (const CLI::App* command : app.get_subcommands({}))
    out += "complete -c strata -n __fish_use_subcommand -a " + fishText(command->get_name()) + " -d " +
           fishText(command->get_description()) + "\n";
  for (const CLI::App* command : app.get_subcommands({})) {
    const std::string here = "complete -c strata -n " + fishText("__fish_seen_subcommand_from " + command->get_name());
    if (command->get_options().size() <= 1)
      out += here + " -F\n";
    for (const CLI::Option* option : command->get_options()) {
      out += here;
      if (!option->get_positional()) {
        for (const std::string& name : option->get_snames())
          out += " -s " + name;
        for (const std::string& name : option->get_lnames())
          out += " -l " + name;
        out += " -d " + fishText(option->get_description());
      }
      if (takesValue(*option))
        out += fishProposal(valueOf(*option));
      out += "\n";
    }
  }
  return out;
}

} // namespace

std::string completionScript(const CLI::App& app, const std::string& shell) {
  return shell == "bash" ? bash(app) : shell == "zsh" ? zsh(app) : fish(app);
}

} // namespace strata::driver
