// Variables of the environment by which strata cc tells Clang's plugin (compiler/clang/carry_ir.cpp) and a link
// (strata-ld) what its options say.
#pragma once

namespace strata::drop_in {

/// Which machine graphs are placed on, in front of what a mapping names and STRATA_MACHINE; their mapping file; and
/// where the program that they become is to be written.
inline constexpr const char* machineVariable = "STRATA_LD_MACHINE";
inline constexpr const char* mappingVariable = "STRATA_MAP";
inline constexpr const char* graphsVariable = "STRATA_GRAPHS";
/// The processor that graphs are compiled for, as --cpu= names it.
inline constexpr const char* processorVariable = "STRATA_LD_CPU";
/// Set: launches of the program can be recorded; how long the parts of the work take is printed.
inline constexpr const char* recordVariable = "STRATA_LD_RECORD";
inline constexpr const char* timeVariable = "STRATA_LD_TIME_PASSES";
/// Which linker Clang would have started (a name, or a path), and what to link behind everything else: words, a line
/// each.
inline constexpr const char* linkerVariable = "STRATA_LD";
inline constexpr const char* librariesVariable = "STRATA_LD_LIBRARIES";

/// For the plugin: what becomes of line numbers that the program did not ask for: "strip", or nothing; and, where it is
/// set, that the command line chose the processor.
inline constexpr const char* linesVariable = "STRATA_LINES";
inline constexpr const char* statedVariable = "STRATA_STATES_PROCESSOR";

} // namespace strata::drop_in
