// The layout of help, and the words and examples in it, which command_test runs.
#include "compiler/driver/help.h"

#include "compiler/driver/commands.h"

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

const OptionValue values[] = {
    {"--machine", "NAME|FILE", Kind::Machine, ".yaml"},
    {"--map", "FILE", Kind::File, ".map .xml"},
    {"--entry", "NAME", Kind::Nothing, ""},
    {"--size", "N=1024,...", Kind::Nothing, ""},
    {"--in", "NAME=DATA", Kind::Data, ".npy"},
    {"--out", "NAME=FILE.npy", Kind::Data, ".npy"},
    {"--repeat", "COUNT", Kind::Nothing, ""},
    {"--threads", "COUNT", Kind::Nothing, ""},
    {"--stats", "[=json[:FILE]]", Kind::Words, "json"},
    {"--scratch", "FOLDER", Kind::Folder, ""},
    {"--trace", "FILE.json", Kind::File, ".json"},
    {"--timeline", "FILE.html", Kind::File, ".html"},
    {"--main", "FILE", Kind::File, ".c .cpp .cc .o .a"},
    {"--emit", "STAGE", Kind::Words, "ast svm placed scheduled llvm asm groups layout"},
    {"--output", "FILE", Kind::File, ""},
    {"--format", "braces|xml", Kind::Words, "braces xml"},
    {"--picture", "NAME", Kind::Words, "tasks instances mapping"},
    {"--depfile", "FILE", Kind::File, ".d"},
    {"--color", "auto|always|never", Kind::Words, "auto always never"},
    {"PROGRAM", "", Kind::File, ".sq .hbir .mlir"},
    {"FUNCTIONS", "", Kind::File, ".c .cpp .cc"},
    {"NAME", "", Kind::Machine, ".yaml .hbir"},
    {"THING", "", Kind::Machine, ".yaml .sq .hbir .json"},
    {"COMMAND", "", Kind::Words, "run check build map machine show cc c++ help completion"},
    {"SHELL", "", Kind::Words, "bash zsh fish"},
};

struct Examples {
  const char* command;
  const char* lines;
};

const Examples examples[] = {
    {"run",
     "  strata run examples/sequoia/vectadd/vectadd.sq --size N=1000000 --in A=random --in B=1 --out C=C.npy\n"
     "  strata run examples/sequoia/vectadd/vectadd.sq --machine cell --size N=100000 --in A=iota --in B=1 --stats\n"
     "  strata run examples/sequoia/vectadd/vectadd.sq --size N=1000 --in A=random --in B=random --check\n"
     "  strata run examples/hbir/vectadd/vectadd.hbir --in A=random --in B=random:2 --out C=C.npy\n"},
    {"check", "  strata check examples/sequoia/vectadd/vectadd.sq\n"
              "  strata check examples/sequoia/vectadd/vectadd.sq --map examples/sequoia/vectadd/cell.map\n"},
    {"build", "  strata build examples/sequoia/vectadd/vectadd.sq -o vectadd.so\n"
              "  strata build examples/project/smooth.sq --map examples/project/smooth.map "
              "--main examples/project/main.c -o smooth\n"},
    {"map", "  strata map examples/sequoia/vectadd/vectadd.sq --machine cell -o cell.map\n"
            "  strata map examples/sequoia/vectadd/vectadd.sq --machine cell --template\n"
            "  strata map examples/sequoia/vectadd/vectadd.sq --map examples/sequoia/vectadd/cell.map --format=xml\n"},
    {"machine", "  strata machine --list\n"
                "  strata machine cell -o mine.yaml\n"
                "  strata machine pca --header -o pca.h\n"},
    {"show", "  strata show examples/sequoia/vectadd/vectadd.sq --machine cell --size N=100000 -o vectadd.html\n"
             "  strata show examples/hbir/matmul/matmul.hbir -o matmul.html\n"
             "  strata show cell -o cell.svg\n"},
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
    std::string folder = findAbove(installed);
    if (folder.empty())
      folder = findAbove(name);
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
  for (const Examples& each : examples)
    if (command == each.command)
      return each.lines;
  return "";
}

void finishHelp(CLI::App& app) {
  for (CLI::App* command : app.get_subcommands({})) {
    for (CLI::Option* option : command->get_options())
      if (const OptionValue& value = valueOf(*option); *value.text)
        option->option_text(value.text);
    const std::string lines = examplesOf(command->get_name());
    if (!lines.empty())
      command->footer("Examples:\n" + located(lines) + "\nMore is in" + located(" docs/command.md."));
  }
  app.description(located(app.get_description()));
  app.footer(located(app.get_footer()));
}

} // namespace strata::driver
