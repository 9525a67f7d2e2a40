// What the generated C of entry points needs to take arrays as sqArray_t; the checks of one are in entry_arrays.c.
#include "compiler/sequoia/external/array_interface.h"

#include "compiler/sequoia/external/header.h"

namespace strata::sequoia::external {

const notation::EntryInterface& arrayInterface() {
  static const notation::EntryInterface interface = [] {
    notation::EntryInterface is;
    is.name = "sequoia";
    is.about = "arrays are described by the sqArray_t of sequoia.h";
    is.type = "sqArray_t";
    is.header = "sequoia.h";
    is.headerText = sequoiaHeader();
    is.support = entryArrays();
    is.codes = "sequoia-";
    is.raise = "sqRaiseError";
    is.setHandler = "sqSetErrorHandler";
    is.describedBy = "Arrays are described as sequoia.h says; sizes follow from their extents.";
    is.reserved = "sq";
    is.exports = {"sq*"};
    return is;
  }();
  return interface;
}

} // namespace strata::sequoia::external
