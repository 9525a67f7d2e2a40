// What the script of an array's page (array_page.js) draws, as one constant of JavaScript.
#pragma once

#include "base/machine/machine.h"
#include "compiler/driver/pages/array_page.h"
#include "compiler/driver/pages/array_schedule.h"

#include <string>

namespace strata::driver {

/// JSON without angle brackets that open. `schedule` is that of the configuration. Pure; any thread.
std::string arrayPageData(const machine::ProcessorArray& array, const array::Configuration& configuration,
                          const ArraySchedule& schedule, int64_t cycles, const ArrayPageValues& values);

} // namespace strata::driver
