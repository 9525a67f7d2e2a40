// The layout of help, and the words and examples in it, which command_test runs.
#include "compiler/driver/help.h"

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

struct Takes {
  const char* option;
  const char* what;
};

const Takes takes[] = {
    {"--machine", "NAME|FILE"},
    {"--map", "FILE"},
    {"--entry", "NAME"},
    {"--size", "N=1024,..."},
    {"--in", "NAME=DATA"},
    {"--out", "NAME=FILE.npy"},
    {"--repeat", "COUNT"},
    {"--threads", "COUNT"},
    {"--stats", "[=json[:FILE]]"},
    {"--scratch", "FOLDER"},
    {"--trace", "FILE.json"},
    {"--timeline", "FILE.html"},
    {"--main", "FILE"},
    {"--emit", "STAGE"},
    {"--output", "FILE"},
    {"--format", "braces|xml"},
    {"--picture", "NAME"},
    {"--depfile", "FILE"},
    {"--color", "auto|always|never"},
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
};

} // namespace

std::shared_ptr<CLI::Formatter> helpFormatter() {
  return std::make_shared<Help>();
}

void finishHelp(CLI::App& app) {
  for (CLI::App* command : app.get_subcommands({})) {
    for (const Takes& each : takes)
      if (CLI::Option* option = command->get_option_no_throw(each.option))
        option->option_text(each.what);
    for (const Examples& each : examples)
      if (command->get_name() == each.command)
        command->footer("Examples:\n" + std::string(each.lines) + "\ndocs/command.md tells more.");
  }
}

} // namespace strata::driver
