// What the command knows of a notation: from descriptions it makes help, completion, manual pages and messages, finds
// the notation of a file, and decides which options a program takes. Plain data, constant as long as the process lives.
#pragma once

#include "compiler/notation/entry_interface.h"
#include "compiler/target/target.h"

#include <string>
#include <vector>

namespace strata::notation {

/// A form in which mapping files are written.
struct MappingForm {
  std::string name;                 // what --format calls it
  std::string holds;                // "the mapping is written with braces"
  std::vector<std::string> endings; // of files in it; the first is what files usually end in
};

/// Example lines for the help of a command; of `strata` itself where it is empty. They run as they stand in the root of
/// the source tree.
struct Examples {
  std::string command, lines;
};

/// What the files of C behind a program on the command line are.
enum class FilesOfC { Functions, Main };

struct Description {
  std::string name;    // "Sequoia"
  std::string article; // "a" or "an", as it stands before the name
  std::string ending;  // of program files: ".sq"

  /// The files of C behind a program, in a sentence for help: "the main of a Sequoia program"; and where functions in C
  /// belong that the program calls, for a program that is given some in vain.
  FilesOfC filesOfC = FilesOfC::Main;
  std::string filesOfCAbout, functionsHelp;
  bool isPreprocessed = false; // by the C preprocessor, so that it takes -I and -D
  std::string sizeAbout;       // what --size means here beside the sizes of arrays; may be empty
  /// Whether sizes are constants of the program, and the machine is described in it.
  bool describesMachine = false;
  /// Whether entry points are those that the command asks for by name, all of them without any.
  bool choosesEntries = false;

  /// The first is the default; --format chooses where there are several. None: a notation without mapping files.
  std::vector<MappingForm> mappingForms;
  bool mayBeMappedByTargets = false; // a target may write a mapping of its own in place of these: target::Form
  std::string choicesAbout;          // what a search for mappings can choose; empty where it is nothing
  std::string templateAbout;         // what --template writes; empty where there is no template
  std::vector<std::string> views;    // of --emit
  std::vector<std::string> pictures; // of --picture
  std::vector<Examples> examples;

  /// Codes of diagnostics: that a mapping's blocks do not fit, and that sizes do not agree with what a mapping asks
  /// for.
  std::string doesNotFit, sizeMismatch;

  std::vector<target::Symbol> symbols;       // what functions in C may call, of a runtime of the notation's own
  const EntryInterface* interface = nullptr; // of its entry points in C; null: pointers and extents
};

} // namespace strata::notation
