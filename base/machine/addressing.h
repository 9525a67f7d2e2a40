// Which memories the code on a processor loads from and stores to directly, and in which one it keeps blocks that no
// mapping places. Reads the machine only; safe from any thread.
#pragma once

#include "base/machine/machine.h"

namespace strata::machine {

/// Whether a processor has a store of its own that the program manages: then its instances are told apart, and other
/// memories are reached by moves only.
bool hasStore(const Machine& machine, ProcessorId processor);

/// Whether code on a processor loads and stores in a memory directly: one of its own, that of a level whose control it
/// runs, or, for a processor without stores of its own, any that it reaches and that is nobody's store.
bool touches(const Machine& machine, ProcessorId processor, MemoryId memory);

/// Whether a processor runs the control of the level of a memory. Its code may read single elements of a memory that it
/// does not address: each is a move.
bool controls(const Machine& machine, ProcessorId processor, MemoryId memory);

/// Whether addresses in a memory are those of the program around it: it takes any size, is one, and holds no files.
bool isOneAddressSpace(const Machine& machine, MemoryId memory);

/// Whether code on a processor can have blocks moved from one memory to another: for each of the two, it touches or
/// reaches the memory, or the processor whose store the memory is connects both.
bool canMove(const Machine& machine, ProcessorId processor, MemoryId from, MemoryId to);

/// The memory in which a processor's code keeps what nobody places: that of the outermost level it controls in which it
/// addresses elements, else a local one, else the first that it touches; none where it touches none.
MemoryId homeOf(const Machine& machine, ProcessorId processor);

/// Where a program that nobody has mapped keeps its data as a whole.
struct DefaultPlaces {
  ProcessorId control; ///< runs the entry point; invalid where no level has one
  MemoryId blocks;     ///< the program's own blocks; invalid: what homeOf gives
  MemoryId arguments;  ///< the caller's arrays; invalid: what homeOf gives
};

/// The outermost level whose memory processors compute in and that takes any size, and who runs control there. Where no
/// level has such a memory, the machine's outermost control and what it keeps its own data in. Below a disk, and where
/// stores are all there is, blocks have to fit the outermost memory that processors compute in, and arguments are in
/// the outermost level's.
DefaultPlaces defaultPlaces(const Machine& machine);

/// How many processors address those blocks and arguments alike, and can each execute the code that control executes;
/// 0 where there can be one only, which is told by the kind of machine and not by its number of processors: of a
/// general core, which may be one of several, it is 1.
uint64_t processorsBesideControl(const Machine& machine);

} // namespace strata::machine
