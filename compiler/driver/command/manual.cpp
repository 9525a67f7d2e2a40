// Manual pages in the man macros of troff (man-pages(7), groff_man(7)), made from the commands as they parse, so that
// they say what --help says.
#include "compiler/driver/command/help.h"

#include <sstream>

namespace strata::driver {

namespace {

/// Text as troff takes it: hyphens that can be copied, no escapes, no line that begins like a request.
std::string plain(const std::string& text) {
  std::string out;
  bool begins = true;
  for (char c : text) {
    if (begins && (c == '.' || c == '\''))
      out += "\\&";
    begins = c == '\n';
    out += c == '\\' ? "\\e" : c == '-' ? "\\-" : std::string(1, c);
  }
  return out;
}

std::string upper(std::string text) {
  for (char& c : text)
    c = static_cast<char>(toupper(static_cast<unsigned char>(c)));
  return text;
}

/// "\fB\-o\fR, \fB\-\-output\fR \fIFILE\fR"
std::string nameOf(const CLI::Option& option) {
  if (option.get_positional())
    return "\\fI" + plain(option.get_name()) + "\\fR";
  std::string out;
  for (const std::string& name : option.get_snames())
    out += (out.empty() ? "" : ", ") + ("\\fB" + plain("-" + name) + "\\fR");
  for (const std::string& name : option.get_lnames())
    out += (out.empty() ? "" : ", ") + ("\\fB" + plain("--" + name) + "\\fR");
  const std::string takes = option.get_type_size() == 0 ? "" : valueOf(option).text;
  if (!takes.empty())
    out += (takes[0] == '[' ? "\\fI" : " \\fI") + plain(takes) + "\\fR";
  return out;
}

void writeOptions(std::string& out, const CLI::App& app, bool positionals) {
  for (const CLI::Option* option : app.get_options())
    if (option->get_positional() == positionals)
      out += ".TP\n" + nameOf(*option) + "\n" + plain(option->get_description()) + "\n";
}

std::string exampleSection(const std::string& lines) {
  std::string out = ".SH EXAMPLES\n.nf\n";
  std::istringstream text(lines);
  for (std::string line; std::getline(text, line);)
    out += ".B " + plain(line.substr(line.find_first_not_of(' '))) + "\n";
  return out + ".fi\n.PP\nThe files of examples are in share/strata/examples of an installation.\n";
}

constexpr const char* status = R"(.SH EXIT STATUS
.TP
0
All is well.
.TP
1
There were errors; they are on standard error.
.TP
2
The error is Strata's own.
.PP
A program that is run with a main of its own ends with its own status.
)";

constexpr const char* environment = R"(.SH ENVIRONMENT
.TP
.B STRATA_MACHINE
The machine, where neither the command nor the mapping names one.
.TP
.B STRATA_MACHINES
A folder in which machines are looked up first.
.TP
.B STRATA_THREADS
How many threads a program that was built with Strata uses.
.TP
.B NO_COLOR
When it is set and not empty, messages have no colours, unless \fB\-\-color=always\fR is given.
.TP
.B TMPDIR
Where temporary files are made; else in /tmp.
)";

} // namespace

std::string manualPage(const CLI::App& app, const CLI::App* command, const std::string& version) {
  const std::string name = command ? "strata-" + command->get_name() : "strata";
  const CLI::App& described = command ? *command : app;
  std::string out = ".TH \"" + upper(plain(name)) + "\" 1 \"\" \"" + plain(version) + "\" \"Strata\"\n";
  const std::string about = described.get_description();
  out += ".SH NAME\n" + plain(name) + " \\- " +
         plain(command ? about : "one program for many machines: compiles, maps and runs it") + "\n.SH SYNOPSIS\n";
  if (!command) {
    out += ".B strata\n.I COMMAND\n[\\fIOPTIONS\\fR]\n.SH DESCRIPTION\n";
    std::istringstream paragraphs(about);
    std::string line;
    std::getline(paragraphs, line);
    out += plain(line) + "\n.SH COMMANDS\n";
    for (const CLI::App* each : app.get_subcommands({}))
      out += ".TP\n\\fBstrata " + plain(each->get_name()) + "\\fR\n" + plain(each->get_description()) + "\n";
    out += ".SH OPTIONS\n";
    writeOptions(out, app, false);
    out += exampleSection(examplesOf("run"));
    out += status;
    out += environment;
    out += ".SH SEE ALSO\n";
    std::string pages;
    for (const CLI::App* each : app.get_subcommands({}))
      if (!each->get_options().empty() && !examplesOf(each->get_name()).empty())
        pages += (pages.empty() ? "" : ",\n") + (".BR strata\\-" + plain(each->get_name()) + " (1)");
    for (size_t at = 0; (at = pages.find(" (1),\n", at)) != std::string::npos;)
      pages.replace(at, 6, " (1),\n"), at += 6;
    return out + pages + "\n.PP\nThe pages in share/doc/strata of an installation.\n";
  }
  out += "\\fBstrata " + plain(command->get_name()) + "\\fR";
  for (const CLI::Option* option : command->get_options())
    if (option->get_positional())
      out += option->get_required() ? " \\fI" + plain(option->get_name()) + "\\fR"
                                    : " [\\fI" + plain(option->get_name()) + "\\fR...]";
  out += " [\\fIOPTIONS\\fR]\n.SH DESCRIPTION\n" + plain(about) + ".\n";
  writeOptions(out, *command, true);
  out += ".SH OPTIONS\n";
  writeOptions(out, *command, false);
  if (const std::string lines = examplesOf(command->get_name()); !lines.empty())
    out += exampleSection(lines);
  out += status;
  return out + ".SH SEE ALSO\n.BR strata (1),\nand command.md in share/doc/strata of an installation\n";
}

} // namespace strata::driver
