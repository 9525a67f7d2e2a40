// How C hands arrays to the entry points of a built program, where it is not by plain pointers: as pointers to a struct
// that describes an array. A notation that has such a struct in a header of its own brings this. Constant data.
#pragma once

#include <string>
#include <vector>

namespace strata::notation {

struct EntryInterface {
  std::string name;  // of strata build --interface
  std::string about; // a line for help
  std::string type;  // that describes an array, in C; parameters are pointers to it
  /// The header that has it, and the text of that. Generated headers include it, and so does the C code that is
  /// compiled.
  std::string header, headerText;
  /// C text behind the header that defines
  ///   static int strata_array(const char *entry, const char *name, const TYPE *array, unsigned rank, uint64_t bytes,
  ///                           uint64_t alignment, int64_t *words);
  /// which fills in the words of an array that is to have so many dimensions and elements of so many bytes (a pointer,
  /// the extents, the strides in elements; of which one has stride 1) and returns 1, or has raised an error and returns
  /// 0. May use strata_reject(code, format, …), which raises and returns 0.
  std::string support;
  std::string codes;                // what the codes of errors in arguments begin with: "sequoia-"
  std::string raise;                // the function that raises an error, declared in `header`
  std::string setHandler;           // the function that sets the handler, for the generated header's comment
  std::string describedBy;          // a sentence of that comment: "Arrays are described as sequoia.h says; …"
  std::string reserved;             // what names begin with that entry points cannot have
  std::vector<std::string> exports; // what a shared library shows beside its entry points; a star stands for characters
};

} // namespace strata::notation
