// One mapping tried: a copy of this process compiles the program with it, runs it and says what it measured. Whatever
// goes wrong there (a mapping that does not fit, an index out of range, no memory, no end) ends the copy alone.
//
// REQUIRES, of all of this: the process has one thread; nothing has been compiled in it.
#pragma once

#include "compiler/driver/run/run.h"
#include "compiler/driver/session/session.h"

#include <string>
#include <vector>

namespace strata::driver {

/// What a search begins with.
struct Described {
  std::vector<notation::Choice> choices;
  unsigned halvings = 0;    ///< of the room that a default mapping aims at
  std::string machine, key; ///< the machine's name; what a remembered mapping is found by
  bool isHere = false;      ///< the machine is this computer
  bool hasClock = false;    ///< its description states one
};

struct Trial {
  enum class Kind {
    Measured,
    Refused, ///< the program or the run has an error with it
    Late,    ///< it took too long
    Broken   ///< an error of Strata
  } kind = Kind::Broken;
  Measured measured;
  std::string message; ///< of the first error
  std::string errors;  ///< as they were printed
};

/// What the mapping that the session asks for leaves to choose. Nothing on errors (printed, in the session's form).
std::optional<Described> describe(Session& session);

/// The same for a mapping written out: the one in use with what is chosen. Nothing on errors (printed).
std::optional<std::string> mappingWith(Session& session, const notation::Chosen& chosen, unsigned halvings);

/// Tries one. `isShown`: errors are wanted in the session's form, else only what the first says. It may take so many
/// seconds; 0: any.
Trial tryMapping(Session& session, const notation::Chosen& chosen, unsigned halvings, const Measurement& measurement,
                 int seconds, bool isShown = false);

/// The same by an estimate (strata estimate): Measured::seconds is of the described machine, and there are no digests.
Trial estimateMapping(Session& session, const notation::Chosen& chosen, unsigned halvings, int seconds,
                      bool isShown = false);

} // namespace strata::driver
