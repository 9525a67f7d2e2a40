// The rules that the library looks after, and the words for breaking them. Those that cost next to nothing are kept in
// every mode; the others in checked mode only, whose callers ask Program::checked() first.
#pragma once

#include "runtime/svm/block.h"
#include "runtime/svm/kernel.h"
#include "runtime/svm/stream.h"

namespace strata::svm {

/// B1: what has not been initialised is used; B4: a copy of what has been, which its mark shows.
[[noreturn]] void failUninitialised(const char* what, const char* operation, const std::string& name, uint64_t mark,
                                    const Place& place);

/// An initialisation of a stream or block: A2, A3, A8, B2 and the flags. `before` is null the first time. REQUIRES: the
/// program's lock is held.
void checkStream(Program& program, const StreamRecord* before, const Stream* stream, const machine::Node& node,
                 int capacity, int elementBytes, int initLength, int flags, bool withData, const Place& place);
void checkBlock(Program& program, const BlockRecord* before, const machine::Node& node, int elementBytes,
                const Place& place);
/// An initialisation of a kernel: A1, A3, B2, MASTER and SUPPORTED_KERNELS. REQUIRES: the program's lock is held.
void checkKernel(Program& program, KernelRecord* before, KernelSort sort, const ProcessorState& processor,
                 const Place& place);
/// That a kernel's data is as large as is said, as far as can be seen.
void checkDataSize(const Kernel* kernel, const void* data, int bytes, const Place& place);
/// B3 where a kernel that moves data is initialised again: `arguments` are those of the time before.
void checkArgumentsAgain(KernelRecord& kernel, const Place& place);
/// Whether a processor runs kernels of that sort; checked in every mode.
void checkSupported(const Program& program, KernelSort sort, const char* kernel, const ProcessorState& processor,
                    const Place& place);

/// A7 where one end of a stream, which another kernel has at hand, passes to a kernel or to control (null): in every
/// mode, since two that push at once would overwrite each other's elements.
void checkOneAtATime(const StreamRecord& record, const KernelRecord& other, const KernelRecord* kernel, bool pushes,
                     const Place& place);
/// The same where a stream or block is initialised that a kernel has at hand (A2).
void checkAtHand(const StreamRecord& record, const Place& place);
void checkAtHand(const BlockRecord& record, const Place& place);
/// A kernel begins to push or pop: A6, A7 and IOStreams.
void checkEnter(StreamRecord& record, KernelRecord* kernel, bool pushes, const char* operation, const Place& place);
/// A kernel begins to use a block: A6.
void checkBlockSize(const BlockRecord& record, uint64_t size, const Place& place);
void checkBlockUse(BlockRecord& record, const KernelRecord& kernel, bool writes, const Place& place);

/// A function of control on a kernel: A3, MASTER, and B1 for those that need an initialised one.
void checkControl(const Kernel* kernel, const KernelRecord* record, const KernelRecord* caller, const char* operation,
                  bool needed, const Place& place);
/// kernelAddDependence: only on an UNSTARTED kernel, and A9. `on` is null where nothing has initialised it.
void checkDependence(const KernelRecord& kernel, const KernelRecord* on, const Place& place);
/// kernelRun: only on an UNSTARTED or PAUSED kernel, with an initialised scratch block that it reaches, A7 as far as it
/// shows, and B3; notes the kernel's data.
void checkRun(KernelRecord& kernel, const Place& place);
/// When a kernel begins: that its data has not changed since kernelRun.
void checkData(const KernelRecord& kernel);

/// A push and a peek, against the stream's flags and capacity. By the pusher and the popper.
/// `size`: what the compiler sees of the caller's element (SVM_SIZE_).
void checkPush(StreamRecord& record, bool eos, uint64_t size, const Place& place);
void checkSize(const StreamRecord& record, uint64_t size, const Place& place);
void checkPeek(const StreamRecord& record, int64_t n, const Place& place);

/// What a side of a stream waits for, for the explanation of a deadlock.
void describeStreamWait(const StreamRecord& record, bool pushes, std::string& out);

} // namespace strata::svm
