// The layout of help, and the words and examples in it, which command_test runs.
#include "compiler/driver/command/help.h"
#include "compiler/drop_in/installation.h"

#include "base/machine/quantity.h"
#include "compiler/driver/compile/notations.h"
#include "compiler/driver/session/session.h"
#include "compiler/target/registry/registry.h"

#include "llvm/ADT/StringExtras.h"

#include <filesystem>
#include <sstream>

namespace strata::driver {

namespace {

constexpr size_t column = 28, lineWidth = 100;

/// Words in lines, of which all but the first are indented so far; the first begins there already.
std::string wrapped(const std::string& text, size_t indent) {
  std::string out, word;
  size_t at = indent;
  for (std::istringstream words(text); words >> word; at += word.size()) {
    if (at + word.size() + 1 > lineWidth) {
      out += "\n" + std::string(indent, ' ');
      at = indent;
    } else if (!out.empty()) {
      out += ' ';
      ++at;
    }
    out += word;
  }
  return out + "\n";
}

/// "  NAME   words of the description, wrapped and indented"
std::string entry(const std::string& name, const std::string& description) {
  std::string out = "  " + name;
  if (out.size() + 2 > column)
    out += "\n" + std::string(column, ' ');
  else
    out.resize(column, ' ');
  return out + wrapped(description, column);
}

class Help : public CLI::Formatter {
public:
  std::string make_option(const CLI::Option* option, bool isPositional) const override {
    const std::string takes = isPositional || option->get_type_size() == 0 ? "" : option->get_option_text();
    const char* const between = takes.empty() || takes[0] == '[' ? "" : " ";
    return entry(make_option_name(option, isPositional) + between + takes, option->get_description());
  }
  std::string make_subcommand(const CLI::App* command) const override {
    return entry(command->get_name(), command->get_description());
  }
  std::string make_description(const CLI::App* app) const override {
    return app->get_parent() ? wrapped(app->get_description(), 0) : app->get_description() + "\n";
  }
  std::string make_usage(const CLI::App* app, std::string name) const override {
    return "\n" + CLI::Formatter::make_usage(app, std::move(name));
  }
};

using Kind = OptionValue::Kind;

void addWord(std::string& words, const std::string& word) {
  if (!llvm::is_contained(llvm::split(words, " "), word))
    words += (words.empty() ? "" : " ") + word;
}

/// The endings of files that a notation's description tells of, with blanks between.
std::string endings(llvm::function_ref<std::string(const notation::Description&)> of) {
  return llvm::join(ofNotations(of), " ");
}

std::vector<OptionValue> makeValues() {
  const std::string programs = llvm::join(programEndings(), " ");
  const std::string describing =
      endings([](const notation::Description& each) { return each.describesMachine ? each.ending : std::string(); });
  const std::string pictures =
      endings([](const notation::Description& each) { return llvm::join(each.pictures, " "); });
  const std::string views = endings([](const notation::Description& each) { return llvm::join(each.views, " "); });
  std::string maps, forms, targetForms;
  for (const target::Target* target : target::allTargets())
    for (const target::Form& form : target->mappingForms())
      addWord(targetForms, form.name.str());
  for (const notation::Notation* notation : notation::allNotations())
    for (const notation::MappingForm& form : notation->description().mappingForms) {
      addWord(maps, form.endings.front());
      if (notation->description().mappingForms.size() > 1)
        addWord(forms, form.name);
    }
  forms += (forms.empty() || targetForms.empty() ? "" : " ") + targetForms;
  return {
      {"--machine", "NAME|FILE", Kind::Machine, ".yaml"},
      {"--map", "FILE", Kind::File, maps},
      {"--entry", "NAME", Kind::Nothing, ""},
      {"--size", "N=1024,...", Kind::Nothing, ""},
      {"--in", "NAME=DATA", Kind::Data, ".npy"},
      {"--out", "NAME=FILE.npy", Kind::Data, ".npy"},
      {"--repeat", "COUNT", Kind::Nothing, ""},
      {"--threads", "COUNT", Kind::Nothing, ""},
      {"--stats", "[=json[:FILE]]", Kind::Words, "json"},
      {"--scratch", "FOLDER", Kind::Folder, ""},
      {"--trace", "FILE.json|.trace", Kind::File, ".json .trace"},
      {"--timeline", "FILE.html", Kind::File, ".html"},
      {"--main", "FILE", Kind::File, ".c .cpp .cc .o .a"},
      {"--emit", "STAGE", Kind::Words, "ast svm placed scheduled llvm asm config" + (views.empty() ? "" : " " + views)},
      {"--output", "FILE", Kind::File, ""},
      {"--format", llvm::join(llvm::split(forms, " "), "|"), Kind::Words, forms},
      {"--distribute", "LOOP,LOOP", Kind::Nothing, ""},
      {"--order", "LOOP,...", Kind::Nothing, ""},
      {"--skew", "LOOP=LOOP", Kind::Nothing, ""},
      {"--least-tile", "LOOP=4,...", Kind::Nothing, ""},
      {"--region", "ROWSxCOLUMNS[@ROW,COLUMN]", Kind::Nothing, ""},
      {"--tile", "LOOP=8,...", Kind::Nothing, ""},
      {"--corner", "CORNER", Kind::Words, llvm::join(machine::cornerNames(), " ")},
      {"--cycles", "FIRST..LAST", Kind::Nothing, ""},
      {"--run", "NUMBER", Kind::Nothing, ""},
      {"--time", "SECONDS", Kind::Nothing, ""},
      {"--trials", "COUNT", Kind::Nothing, ""},
      {"--search", "FILE.svg", Kind::File, ".svg"},
      {"--picture", "NAME", Kind::Words, pictures},
      {"--interface", llvm::join(interfaceNames(), "|"), Kind::Words, llvm::join(interfaceNames(), " ")},
      {"--depfile", "FILE", Kind::File, ".d"},
      {"--color", "auto|always|never", Kind::Words, "auto always never"},
      {"PROGRAM", "", Kind::File, programs + " .mlir .ll .bc .sym"},
      {"CONFIGURATION", "", Kind::File, ".sym"},
      {"FUNCTIONS", "", Kind::File, ".c .cpp .cc"},
      {"NAME", "", Kind::Machine, ".yaml" + (describing.empty() ? "" : " " + describing)},
      {"THING", "", Kind::Machine, ".yaml " + programs + " .json .trace"},
      {"COMMAND", "", Kind::Words, "run check build map tune estimate instantiate machine show cc c++ help completion"},
      {"SHELL", "", Kind::Words, "bash zsh fish"},
  };
}

struct Examples {
  const char* command;
  const char* lines;
};

/// Beside those of the notations.
const Examples examples[] = {
    {"machine", "  strata machine --list\n"
                "  strata machine cell -o mine.yaml\n"
                "  strata machine pca --header -o pca.h\n"},
    {"instantiate", "  strata instantiate fir.sym --size N=64,T=4 --region 1x4\n"
                    "  strata instantiate fir.sym --machine array-8x8 --size N=1000,T=8 -o fir.config\n"},
    {"show", "  strata show cell -o cell.svg\n"
             "  strata show fir.trace --cycles 0..99 -o fir.html\n"},
    {"help", "  strata help run\n"
             "  strata help --man show\n"},
    {"completion", "  strata completion bash\n"
                   "  strata completion fish\n"},
};

/// Paths in help are those of the source tree. Read from elsewhere, they become those of the installation or the tree
/// that this program is in, so that they can be typed as they stand.
std::string located(std::string text) {
  static const std::pair<const char*, const char*> folders[] = {{"examples", "share/strata/examples"},
                                                                {"docs", "share/doc/strata"}};
  for (auto [name, installed] : folders) {
    std::error_code ignored;
    if (std::filesystem::is_directory(name, ignored))
      continue;
    std::string folder = drop_in::findAbove(installed);
    if (folder.empty())
      folder = drop_in::findAbove(name);
    if (folder.empty())
      continue;
    const std::string written = std::string(" ") + name + "/", there = " " + folder + "/";
    for (size_t at = 0; (at = text.find(written, at)) != std::string::npos; at += there.size())
      text.replace(at, written.size(), there);
  }
  return text;
}

} // namespace

std::shared_ptr<CLI::Formatter> helpFormatter() {
  return std::make_shared<Help>();
}

const OptionValue& valueOf(const CLI::Option& option) {
  static const OptionValue none{"", "", Kind::Nothing, ""};
  static const std::vector<OptionValue> values = makeValues();
  const std::string name = option.get_positional() ? option.get_name() : "--" + longName(option);
  for (const OptionValue& each : values)
    if (name == each.name)
      return each;
  return none;
}

std::string longName(const CLI::Option& option) {
  return option.get_lnames().empty() ? "" : option.get_lnames().front();
}

std::string examplesOf(const std::string& command) {
  std::string lines;
  for (const notation::Notation* notation : notation::allNotations())
    for (const notation::Examples& each : notation->description().examples)
      if (command == each.command)
        lines += each.lines;
  for (const Examples& each : examples)
    if (command == each.command)
      lines += each.lines;
  return lines;
}

void finishHelp(CLI::App& app) {
  for (CLI::App* command : app.get_subcommands({})) {
    for (CLI::Option* option : command->get_options())
      if (const OptionValue& value = valueOf(*option); !value.text.empty())
        option->option_text(value.text);
    const std::string lines = examplesOf(command->get_name());
    if (!lines.empty())
      command->footer("Examples:\n" + located(lines) + "\nMore is in" + located(" docs/command.md."));
  }
  app.description(located(app.get_description()));
  app.footer(located(app.get_footer()));
}

} // namespace strata::driver
