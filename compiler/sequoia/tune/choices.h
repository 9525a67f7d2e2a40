// What a mapping of a Sequoia program leaves to choose: values of tunables, and how its loops are executed. A search
// asks for them and sets others; the levels, instances and calls of the mapping stay.
#pragma once

#include "compiler/notation/choice.h"
#include "compiler/sequoia/mapping/mapping.h"
#include "compiler/sequoia/resolve/sizes.h"

namespace strata::sequoia {

/// In the mapping's order. Of a tunable, powers of two, one and a half times these, and divisors of the sizes that it
/// divides, up to the largest size known; of a loop that moves blocks, how many iterations are under way at once; of
/// one that is distributed, how many iterations go to each processor at a time (0: equal shares); of a task with
/// several leaves, which one.
std::vector<notation::Choice> choicesOf(const Program& program, const Mapping& mapping, const Machine& machine,
                                        const KnownSizes& known);

/// Sets what is chosen; names that the mapping does not have are left out. Instances with other values than the file's
/// are as if they were written: one that was made, and has no place, has the program's first byte for its place.
void choose(Mapping& mapping, const notation::Chosen& chosen, const Program& program);

/// The sizes that a tunable divides the work of: those that the ends of its variant's loops are made of beside it.
std::vector<int64_t> sizesDivided(const TaskVariant& variant, const Variable* tunable, const KnownSizes& known);
/// The tunable of a variant that a mapping names; null where there is none.
const Variable* tunableNamed(const TaskVariant& variant, const MappedName& name);

} // namespace strata::sequoia
