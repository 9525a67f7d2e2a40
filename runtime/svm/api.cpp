// The C interface: what the macros of include/svm.h call, and the functions of the same names for callers that take
// their addresses. All of them work on the process's program.
#include "runtime/core/runtime.h"
#include "runtime/core/scheduler.h"
#include "runtime/svm/block.h"
#include "runtime/svm/check.h"
#include "runtime/svm/record.h"
#include "runtime/svm/stream.h"

#include <algorithm>
#include <cstdarg>
#include <cstdio>
#include <cstdlib>
#include <cstring>

using namespace strata::svm;
namespace runtime = strata::runtime;

// ---- streams ----

namespace {

void pushAtHand(Stream* s, const void* element) {
  svmCopy_(svmAt_(s->writeFrom_, s->pushed_, s->elementBytes_), element, s->elementBytes_);
  svmPushed_(s, s->pushed_);
}

void popAtHand(Stream* s, void* element) {
  svmCopy_(element, svmAt_(s->readFrom_, s->popped_, s->elementBytes_), s->elementBytes_);
  svmPopped_(s, s->popped_);
}

/// The first bytes of the element `index` places behind the first. REQUIRES: it is there.
void copyAt(const StreamRecord& record, uint64_t index, void* element, uint64_t bytes) {
  const Stream& stream = *record.stream;
  const char* at = readAt(record);
  const uint64_t offset = index * record.elementBytes, untilEnd = static_cast<uint64_t>(stream.end_ - at);
  svmCopy_(element, offset < untilEnd ? at + offset : stream.begin_ + (offset - untilEnd), bytes);
}

// Functions of their own, so that the quick path of checked mode saves no registers.

__attribute__((noinline)) void pushWithCare(Stream* s, const void* element, uint64_t size, int eos, const char* text) {
  const char* operation = eos ? "streamPushWithEOS" : "streamPush";
  const Place place{text};
  StreamRecord& record = recordOf(s, operation, place);
  KernelRecord* kernel = callingKernel();
  enterPush(record, kernel, operation, place);
  if (record.program->checked())
    checkPush(record, eos != 0, size, place);
  waitForRoom(record, kernel, 1);
  svmCopy_(writeAt(record), element, std::min(SVM_BYTES_OF_(size), record.elementBytes));
  commitPush(record, 1, eos != 0);
  openPush(record, kernel);
  record.pusher.fitting = fits(size, record.elementBytes) ? size : 0;
}

__attribute__((noinline)) void popWithCare(Stream* s, void* element, uint64_t size, const char* text) {
  const Place place{text};
  StreamRecord& record = recordOf(s, "streamPop", place);
  KernelRecord* kernel = callingKernel();
  enterPop(record, kernel, "streamPop", place);
  if (record.program->checked())
    checkSize(record, size, place);
  waitForElements(record, kernel, 1);
  svmCopy_(element, readAt(record), std::min(SVM_BYTES_OF_(size), record.elementBytes));
  commitPop(record, 1);
  openPop(record, kernel);
  record.popper.fitting = fits(size, record.elementBytes) ? size : 0;
}

} // namespace

void svmStreamInit_(Stream* s, VM_NODE_MEM location, int address, int capacity, int elementSize, int initLength,
                    int initEOS, int flags, int form, const char* place) {
  initialise(s, location, address, capacity, elementSize, initLength, initEOS != 0, flags, form == 1, form == 2,
             Place{place});
}

void svmPushSlowly_(Stream* s, const void* element, uint64_t size, int eos, const char* text) {
  const StreamRecord* record = recordIfAny(s);
  if (record && !eos && size == record->pusher.fitting && isAtHand(*record, true))
    pushAtHand(s, element);
  else
    pushWithCare(s, element, size, eos, text);
}

void svmPopSlowly_(Stream* s, void* element, uint64_t size, const char* text) {
  const StreamRecord* record = recordIfAny(s);
  if (record && size == record->popper.fitting && isAtHand(*record, false))
    popAtHand(s, element);
  else
    popWithCare(s, element, size, text);
}

boolean svmPeekSlowly_(Stream* s, int n, void* element, uint64_t size, const char* text) {
  const auto index = static_cast<uint64_t>(static_cast<int64_t>(n));
  if (const StreamRecord* record = recordIfAny(s);
      record && isAtHand(*record, false) && (!element || size == record->popper.fitting) &&
      !(record->flags & STREAM_UNORDERED) && index < inside(*record) && !hasTags(*record)) {
    if (element)
      copyAt(*record, index, element, record->elementBytes);
    return FALSE;
  }
  const char* operation = element ? "streamPeek" : "streamPeekEOS";
  const Place place{text};
  StreamRecord& record = recordOf(s, operation, place);
  KernelRecord* kernel = callingKernel();
  enterPop(record, kernel, operation, place);
  if (record.program->checked()) {
    checkPeek(record, n, place);
    if (element)
      checkSize(record, size, place);
  }
  if (index >= record.capacity)
    return FALSE; // what a peek past the capacity gives is not defined
  waitForElements(record, kernel, index + 1);
  if (element) {
    copyAt(record, index, element, std::min(SVM_BYTES_OF_(size), record.elementBytes));
    record.popper.fitting = fits(size, record.elementBytes) ? size : 0;
  }
  openPop(record, kernel);
  return carriesTag(record, index) ? TRUE : FALSE;
}

void svmMulticast_(const void* element, uint64_t size, int eos, Stream* const* streams, int count, const char* text) {
  // The room that the quick path knows of does not shrink: nobody else pushes. It is for `count` elements, since one
  // stream may be named several times.
  bool quick = eos == 0;
  for (int i = 0; i < count && quick; ++i)
    quick = streams[i]->pushed_ + static_cast<uint64_t>(count) <=
                __atomic_load_n(&streams[i]->pushLimit_, __ATOMIC_RELAXED) &&
            fits(size, streams[i]->elementBytes_);
  if (quick) {
    for (int i = 0; i < count; ++i)
      pushAtHand(streams[i], element);
    return;
  }
  const Place place{text};
  const char* operation = eos ? "streamPushMulticastWithEOS" : "streamPushMulticast";
  KernelRecord* kernel = callingKernel();
  for (int i = 0; i < count; ++i) {
    StreamRecord& record = recordOf(streams[i], operation, Place{text, i + 1});
    enterPush(record, kernel, operation, place);
    if (record.program->checked())
      checkPush(record, eos != 0, size, place);
    waitForRoom(record, kernel, 1);
  }
  for (int i = 0; i < count; ++i) {
    StreamRecord& record = recordOf(streams[i], operation, place);
    if (room(record) == 0)
      waitForRoom(record, kernel, 1); // the same stream stands here twice
    svmCopy_(writeAt(record), element, std::min(SVM_BYTES_OF_(size), record.elementBytes));
    commitPush(record, 1, eos != 0);
    openPush(record, kernel);
  }
  if (count > 0)
    join({streams, static_cast<size_t>(count)}, kernel);
}

// ---- kernels ----

void svmKernelInit_(Kernel* k, VM_NODE_PROC location, Block* scratch, void* data, int dataSize, ExtKernelWork work,
                    const char* place) {
  initialise(k, KernelSort::User, location, scratch, data, dataSize, work, Place{place});
}

namespace {

/// The record of a kernel, or null for one that nothing has initialised, which is UNSTARTED.
KernelRecord* control(Kernel* kernel, const char* operation, const Place& place, bool needed) {
  needOwnProcess(operation, place);
  KernelRecord* caller = callingKernel();
  KernelRecord* record = recordOf(kernel);
  if (isRequested(caller))
    obey(*caller);
  // What needs a kernel that has been initialised looks for one even before anything has been.
  Program* program = needed ? &Program::current() : Program::currentIfAny();
  if (program && program->checked())
    checkControl(kernel, record, caller, operation, needed, place);
  return record;
}

} // namespace

void svmAddDependence_(Kernel* k, Kernel* on, const char* text) {
  const Place place{text};
  KernelRecord* kernel = control(k, "kernelAddDependence", place, true);
  KernelRecord* before = control(on, "kernelAddDependence", Place{text, 1}, false);
  if (!kernel)
    return;
  if (kernel->program->checked())
    checkDependence(*kernel, before, place);
  if (before)
    addDependence(*kernel, *before);
}

void svmReady_(Kernel* k, const char* text) {
  control(k, "kernelReady", Place{text}, true);
}

void svmRun_(Kernel* k, const char* text) {
  const Place place{text};
  if (KernelRecord* kernel = control(k, "kernelRun", place, true)) {
    if (kernel->program->checked())
      checkRun(*kernel, place);
    run(*kernel);
  }
}

void svmPause_(Kernel* k, const char* text) {
  if (KernelRecord* kernel = control(k, "kernelPause", Place{text}, true))
    pause(*kernel);
}

void svmEnd_(Kernel* k, const char* text) {
  if (KernelRecord* kernel = control(k, "kernelEnd", Place{text}, true))
    end(*kernel);
}

void svmWaitAny_(void* const* kernels, int count, const char* text) {
  std::vector<KernelRecord*> records;
  for (int i = 0; i < count; ++i)
    if (KernelRecord* kernel = control(static_cast<Kernel*>(kernels[i]), "kernelWait", Place{text, i}, false))
      records.push_back(kernel);
  if (!records.empty())
    waitAny(*records.front()->program, records, Place{text});
}

void svmWait_(Kernel* k, const char* text) {
  void* const list[] = {k};
  svmWaitAny_(list, 1, text);
}

KERNEL_STATUS svmStatus_(Kernel* k, const char* text) {
  const KernelRecord* kernel = control(k, "kernelGetStatus", Place{text}, false);
  if (!kernel)
    return KERNEL_UNSTARTED;
  const KERNEL_STATUS status = kernel->status.load();
  // Control that asks again and again may be on the only thread that carries kernels out.
  if ((status == KERNEL_WAITING || status == KERNEL_RUNNING) && !callingKernel())
    runtime::yield();
  return kernel->status.load();
}

// ---- the machine ----

namespace {

/// Stops a work function that would act as control does (A3).
void needControl(const char* operation, const char* help, const Place& place) {
  if (const KernelRecord* kernel = callingKernel())
    failAt(place, "svm-a3",
           std::string(operation) + " within the work function of kernel '" + nameOf(*kernel) + "' (rule A3)", help);
}

} // namespace

void svmControl_(VM_NODE_PROC processor, const char* text) {
  const Place place{text};
  needOwnProcess("svmControl", place);
  Program& program = Program::current();
  if (program.checked())
    needControl("svmControl", "choose the control processor in control code", place);
  const ProcessorState& state = program.processor(processor, place);
  if (!state.description->ownMaster({state.node.index}))
    failAt(place, "svm-control", state.name + " runs no control code: it is not its own master",
           "choose a processor that names itself among its masters");
  setControlOfThread(processor);
}

void svmName_(const char* text, const void* entity, const char* format, ...) {
  const Place place{text};
  if (!entity)
    failAt(place, "svm-null", "svmName is given NULL", "pass the address of a stream, block or kernel");
  std::string name;
  if (format) {
    va_list arguments;
    va_start(arguments, format);
    char* written = nullptr;
    if (vasprintf(&written, format, arguments) >= 0) {
      name = written;
      std::free(written);
    }
    va_end(arguments);
  }
  setVariableName(entity, name);
  if (Program* program = Program::currentIfAny(); program && program->recorder())
    program->recorder()->renamed(entity);
}

void* svmAddress_(VM_NODE_MEM memory, int address, const char* text) {
  const Place place{text};
  Program& program = Program::current();
  return program.storage(program.memory(memory, place), address, 1, [] { return "svmAddress"; }, place);
}

void svmThreads_(int count, const char* text) {
  // In every mode: the threads end, and the caller would be on one of them.
  const Place place{text};
  needOwnProcess("svmThreads", place);
  needControl("svmThreads", "choose the number of threads in control code, before kernels run", place);
  if (Program* program = Program::currentIfAny(); program && program->checked()) {
    std::lock_guard guard(program->lock);
    for (const auto& [address, kernel] : program->kernels)
      if (const KERNEL_STATUS status = kernel->status.load(); status == KERNEL_WAITING || status == KERNEL_RUNNING)
        failAt(place, "svm-threads", "svmThreads while kernel '" + nameOf(*kernel) + "' is under way",
               "choose the number of threads before kernels run, or after kernelWait");
  }
  if (count < 0 || count > static_cast<int>(runtime::mostWorkers))
    failAt(place, "svm-threads",
           "svmThreads is given " + std::to_string(count) + ", and can be given 0 to " +
               std::to_string(runtime::mostWorkers),
           "0 is as many as the computer has cores");
  runtime::setThreads(static_cast<uint32_t>(count));
}

// ---- the names as printed, for callers of function pointers ----

void(svmMachine)(const char* name) {
  svmMachine_(name, nullptr);
}
void(svmControl)(VM_NODE_PROC processor) {
  svmControl_(processor, nullptr);
}
void*(svmAddress)(VM_NODE_MEM memory, int address) {
  return svmAddress_(memory, address, nullptr);
}
void(svmThreads)(int count) {
  svmThreads_(count, nullptr);
}
void(svmName)(const void* entity, const char* format, ...) {
  va_list arguments;
  va_start(arguments, format);
  char* written = nullptr;
  if (!format || vasprintf(&written, format, arguments) < 0)
    written = nullptr;
  va_end(arguments);
  svmName_(nullptr, entity, written ? "%s" : nullptr, written);
  std::free(written);
}
void(streamInitRAM)(Stream* s, VM_NODE_MEM ramLocation, int address, int capacity, int elementSize, int flags) {
  svmStreamInit_(s, ramLocation, address, capacity, elementSize, 0, 0, flags, 0, nullptr);
}
void(streamInitWithDataRAM)(Stream* s, VM_NODE_MEM ramLocation, int address, int capacity, int elementSize,
                            int initLength, int initEOS, int flags) {
  svmStreamInit_(s, ramLocation, address, capacity, elementSize, initLength, initEOS, flags, 2, nullptr);
}
void(streamInitRAMWithData)(Stream* s, VM_NODE_MEM ramLocation, int address, int capacity, int elementSize,
                            int initLength, int initEOS, int flags) {
  svmStreamInit_(s, ramLocation, address, capacity, elementSize, initLength, initEOS, flags, 2, nullptr);
}
void(streamInitFIFO)(Stream* s, VM_NODE_MEM fifoLocation, int elementSize, int flags) {
  svmStreamInit_(s, fifoLocation, 0, 0, elementSize, 0, 0, flags, 1, nullptr);
}
void(streamPush)(Stream* s, void* element) {
  svmPush_(s, element, SVM_ANY_SIZE_, nullptr);
}
void(streamPushWithEOS)(Stream* s, void* element) {
  svmPushSlowly_(s, element, SVM_ANY_SIZE_, 1, nullptr);
}
void(streamPop)(Stream* s, void* element) {
  svmPop_(s, element, SVM_ANY_SIZE_, nullptr);
}
void(streamPeek)(Stream* s, int n, void* element) {
  svmPeek_(s, n, element, SVM_ANY_SIZE_, nullptr);
}
boolean(streamPeekEOS)(Stream* s, int n) {
  return svmPeekEOS_(s, n, nullptr);
}
boolean(streamGetEOS)(Stream* s, int n) {
  return svmPeekEOS_(s, n, nullptr);
}
void(blockInit)(Block* b, VM_NODE_MEM ramLocation, int address, int capacity, int elementSize) {
  svmBlockInit_(b, ramLocation, address, capacity, elementSize, nullptr);
}
void(blockWrite)(Block* b, int index, void* element) {
  svmWrite_(b, index, element, SVM_ANY_SIZE_, nullptr);
}
void(blockRead)(Block* b, int index, void* element) {
  svmRead_(b, index, element, SVM_ANY_SIZE_, nullptr);
}
void(kernelInit)(Kernel* k, VM_NODE_PROC procLocation, Block* scratch, void* extKernelData, int extKernelDataSize,
                 ExtKernelWork extKernelWork) {
  svmKernelInit_(k, procLocation, scratch, extKernelData, extKernelDataSize, extKernelWork, nullptr);
}
void(kernelAddDependence)(Kernel* k, Kernel* dependsOnKernel) {
  svmAddDependence_(k, dependsOnKernel, nullptr);
}
void(kernelReady)(Kernel* k) {
  svmReady_(k, nullptr);
}
void(kernelRun)(Kernel* k) {
  svmRun_(k, nullptr);
}
void(kernelPause)(Kernel* k) {
  svmPause_(k, nullptr);
}
void(kernelEnd)(Kernel* k) {
  svmEnd_(k, nullptr);
}
void(kernelWait)(Kernel* k) {
  svmWait_(k, nullptr);
}
KERNEL_STATUS(kernelGetStatus)(Kernel* k) {
  return svmStatus_(k, nullptr);
}
void(moveInit)(Move* move, VM_NODE_PROC location, IStream* srcStr, OStream* destStr, int length, boolean setEOS) {
  svmMoveInit_(nullptr, move, location, srcStr, destStr, length, setEOS);
}
void(stridedScatterInit)(StridedScatter* scatter, VM_NODE_PROC location, IStream* srcStr, OBlock* destBlock, int length,
                         int destStride, int elementsPerStride, boolean setEOS) {
  svmStridedScatterInit_(nullptr, scatter, location, srcStr, destBlock, length, destStride, elementsPerStride, setEOS);
}
void(stridedGatherInit)(StridedGather* gather, VM_NODE_PROC location, IBlock* srcBlock, OStream* destStr, int length,
                        int srcStride, int elementsPerStride, boolean setEOS) {
  svmStridedGatherInit_(nullptr, gather, location, srcBlock, destStr, length, srcStride, elementsPerStride, setEOS);
}
void(indexedScatterInit)(IndexedScatter* scatter, VM_NODE_PROC location, IStream* srcStr, IStream* indexStr,
                         OBlock* destBlock, int length, int elementsPerIndex, boolean setEOS) {
  svmIndexedScatterInit_(nullptr, scatter, location, srcStr, indexStr, destBlock, length, elementsPerIndex, setEOS);
}
void(indexedGatherInit)(IndexedGather* gather, VM_NODE_PROC location, IBlock* srcBlock, IStream* indexStr,
                        OStream* destStr, int length, int elementsPerIndex, boolean setEOS) {
  svmIndexedGatherInit_(nullptr, gather, location, srcBlock, indexStr, destStr, length, elementsPerIndex, setEOS);
}
