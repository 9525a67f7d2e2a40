// The C interface to arrays with several programs (include/strata_array.h). Handles are numbers that are never used
// twice, in the guise of pointers, so that one that has been released is known as such.
#include "include/strata_array.h"

#include "runtime/array/device.h"

#include <algorithm>
#include <cstring>
#include <mutex>

namespace strata::array {

namespace {

struct SharedDevice {
  explicit SharedDevice(Device made) : device(std::move(made)) {}
  std::mutex mutex;
  Device device;
};

/// What a handle stands for: an array and, of other kinds, what is in it.
struct Handle {
  enum class Kind : uint8_t { Array, Program, Placement };
  Kind kind = Kind::Array;
  std::shared_ptr<SharedDevice> shared;
  std::shared_ptr<const Symbolic> program;
  Device::Placement placement = 0;
};

/// All handles of the process.
class Handles {
public:
  uintptr_t add(Handle handle) {
    const std::lock_guard lock(mutex_);
    handles_.emplace(next_, std::move(handle));
    return next_++;
  }
  /// Nothing where there is none of that kind.
  std::optional<Handle> find(const void* pointer, Handle::Kind kind) const {
    const std::lock_guard lock(mutex_);
    const auto found = handles_.find(reinterpret_cast<uintptr_t>(pointer));
    if (found == handles_.end() || found->second.kind != kind)
      return std::nullopt;
    return found->second;
  }
  /// With an array, all that is in it.
  void remove(const void* pointer, Handle::Kind kind) {
    std::optional<Handle> handle = find(pointer, kind);
    if (!handle)
      return;
    const std::lock_guard lock(mutex_);
    if (kind == Handle::Kind::Array)
      std::erase_if(handles_, [&](const auto& each) { return each.second.shared == handle->shared; });
    else
      handles_.erase(reinterpret_cast<uintptr_t>(pointer));
  }

private:
  mutable std::mutex mutex_;
  std::map<uintptr_t, Handle> handles_;
  uintptr_t next_ = 1;
};

/// Never destroyed, so that handles can be used in destructors of the program's statics.
Handles& handles() {
  static Handles& all = *new Handles;
  return all;
}

thread_local strata_array_status lastStatus = STRATA_ARRAY_OK;

/// What ends a call.
struct Failure {
  strata_array_status status;
  std::string text;
};

[[noreturn]] void fail(strata_array_status status, std::string text) {
  throw Failure{status, std::move(text)};
}

strata_array_status statusOf(DeviceError::Kind kind) {
  switch (kind) {
  case DeviceError::Kind::Argument:
    return STRATA_ARRAY_ARGUMENT;
  case DeviceError::Kind::Machine:
    return STRATA_ARRAY_MACHINE;
  case DeviceError::Kind::Program:
    return STRATA_ARRAY_PROGRAM;
  case DeviceError::Kind::Occupied:
    return STRATA_ARRAY_OCCUPIED;
  case DeviceError::Kind::Unfit:
  case DeviceError::Kind::Border:
    return STRATA_ARRAY_UNFIT;
  case DeviceError::Kind::State:
    return STRATA_ARRAY_STATE;
  case DeviceError::Kind::Value:
    return STRATA_ARRAY_VALUE;
  case DeviceError::Kind::Memory:
    return STRATA_ARRAY_MEMORY;
  case DeviceError::Kind::Internal:
    break;
  }
  return STRATA_ARRAY_INTERNAL;
}

void check(const std::optional<DeviceError>& error) {
  if (error)
    fail(statusOf(error->kind), error->message + (error->help.empty() ? "" : "\nhelp: " + error->help));
}

template <typename T>
T take(std::variant<T, DeviceError> result) {
  if (auto* error = std::get_if<DeviceError>(&result))
    check(std::move(*error));
  return std::get<T>(std::move(result));
}

/// A text of the caller's; null is an error.
std::string_view required(const char* text, const char* what) {
  if (!text)
    fail(STRATA_ARRAY_ARGUMENT, std::string(what) + " is a null pointer");
  return text;
}

/// Runs the body of a function and turns every way in which it can fail into a status and a text.
template <typename Body>
strata_array_status run(char* error, size_t errorBytes, Body body) noexcept {
  const auto tell = [&](strata_array_status status, std::string_view text) {
    lastStatus = status;
    if (error && errorBytes != 0) {
      const size_t length = std::min(text.size(), errorBytes - 1);
      std::memcpy(error, text.data(), length);
      error[length] = 0;
    }
  };
  lastStatus = STRATA_ARRAY_OK;
  try {
    body();
  } catch (const Failure& failure) {
    tell(failure.status, failure.text);
  } catch (const std::bad_alloc&) {
    tell(STRATA_ARRAY_MEMORY, "there is not enough memory");
  } catch (const std::exception& other) {
    tell(STRATA_ARRAY_INTERNAL, other.what());
  } catch (...) {
    tell(STRATA_ARRAY_INTERNAL, "an unknown error");
  }
  return lastStatus;
}

Handle found(const void* pointer, Handle::Kind kind) {
  constexpr const char* names[] = {"array", "program", "placement"};
  std::optional<Handle> handle = handles().find(pointer, kind);
  if (!handle)
    fail(STRATA_ARRAY_HANDLE, std::string("there is no such ") + names[static_cast<size_t>(kind)] +
                                  (pointer ? ": it may have been released" : ": a null pointer"));
  return *std::move(handle);
}

/// A placement, and its array until the end of a call.
struct LockedPlacement {
  explicit LockedPlacement(const void* pointer)
      : handle(found(pointer, Handle::Kind::Placement)), lock(handle.shared->mutex) {
    if (!handle.shared->device.holds(handle.placement)) // another thread has just released it
      fail(STRATA_ARRAY_HANDLE, "there is no such placement: it has been released");
  }
  Device& device() const { return handle.shared->device; }
  Handle handle;
  std::unique_lock<std::mutex> lock;
};

std::vector<std::pair<std::string, int64_t>> numbers(const strata_array_number* list, size_t count, const char* what) {
  if (!list && count != 0)
    fail(STRATA_ARRAY_ARGUMENT, std::string("the list of ") + what + " is a null pointer");
  std::vector<std::pair<std::string, int64_t>> all;
  for (size_t i = 0; i < count; ++i)
    all.emplace_back(required(list[i].name, "a name"), list[i].value);
  return all;
}

template <typename Pointer>
Pointer pointerTo(Handle handle) {
  return reinterpret_cast<Pointer>(handles().add(std::move(handle)));
}

} // namespace

} // namespace strata::array

using namespace strata::array;

strata_array_status strata_array_last_status(void) {
  return lastStatus;
}

strata_array* strata_array_open(const char* machine_file, char* error, size_t error_bytes) {
  strata_array* result = nullptr;
  run(error, error_bytes, [&] {
    Device device = take(Device::open(required(machine_file, "the machine file")));
    result = pointerTo<strata_array*>({Handle::Kind::Array, std::make_shared<SharedDevice>(std::move(device)), {}, 0});
  });
  return result;
}

void strata_array_close(strata_array* array) {
  handles().remove(array, Handle::Kind::Array);
}

int64_t strata_array_cycles(strata_array* array) {
  int64_t cycles = -1;
  run(nullptr, 0, [&] {
    const Handle handle = found(array, Handle::Kind::Array);
    const std::lock_guard lock(handle.shared->mutex);
    cycles = handle.shared->device.clock();
  });
  return cycles;
}

strata_array_status strata_array_advance(strata_array* array, int64_t cycles, char* error, size_t error_bytes) {
  return run(error, error_bytes, [&] {
    const Handle handle = found(array, Handle::Kind::Array);
    const std::lock_guard lock(handle.shared->mutex);
    check(handle.shared->device.advance(cycles));
  });
}

strata_array_program* strata_array_load(strata_array* array, const void* bytes, size_t size, char* error,
                                        size_t error_bytes) {
  strata_array_program* result = nullptr;
  run(error, error_bytes, [&] {
    const Handle handle = found(array, Handle::Kind::Array);
    if (!bytes)
      fail(STRATA_ARRAY_ARGUMENT, "the configuration's bytes are a null pointer");
    const std::lock_guard lock(handle.shared->mutex);
    Symbolic program = take(handle.shared->device.load({static_cast<const char*>(bytes), size}));
    result = pointerTo<strata_array_program*>(
        {Handle::Kind::Program, handle.shared, std::make_shared<const Symbolic>(std::move(program)), 0});
  });
  return result;
}

void strata_array_unload(strata_array_program* program) {
  handles().remove(program, Handle::Kind::Program);
}

strata_array_placement* strata_array_place(strata_array* array, strata_array_program* program,
                                           const strata_array_request* request, char* error, size_t error_bytes) {
  strata_array_placement* result = nullptr;
  run(error, error_bytes, [&] {
    const Handle handle = found(array, Handle::Kind::Array);
    const Handle loaded = found(program, Handle::Kind::Program);
    if (loaded.shared != handle.shared)
      fail(STRATA_ARRAY_HANDLE, "the program was loaded for another array");
    if (!request)
      fail(STRATA_ARRAY_ARGUMENT, "the request is a null pointer");
    PlacementRequest wanted = {request->row,
                               request->column,
                               request->rows,
                               request->columns,
                               static_cast<strata::machine::Corner>(request->corner),
                               numbers(request->sizes, request->size_count, "sizes"),
                               numbers(request->tiles, request->tile_count, "tiles")};
    const std::lock_guard lock(handle.shared->mutex);
    const Device::Placement placement = take(handle.shared->device.place(*loaded.program, wanted));
    try {
      result = pointerTo<strata_array_placement*>({Handle::Kind::Placement, handle.shared, {}, placement});
    } catch (...) {
      handle.shared->device.release(placement);
      throw;
    }
  });
  return result;
}

int64_t strata_array_bytes(strata_array_placement* placement, const char* name) {
  int64_t bytes = -1;
  run(nullptr, 0, [&] {
    const LockedPlacement locked(placement);
    const auto found = locked.device().bytesOf(locked.handle.placement, required(name, "the array's name"));
    if (!found)
      fail(STRATA_ARRAY_ARGUMENT, "");
    bytes = static_cast<int64_t>(std::min<uint64_t>(*found, INT64_MAX));
  });
  return bytes;
}

strata_array_status strata_array_bind(strata_array_placement* placement, const char* name, void* memory, size_t bytes,
                                      char* error, size_t error_bytes) {
  return run(error, error_bytes, [&] {
    const LockedPlacement locked(placement);
    check(locked.device().bind(locked.handle.placement, required(name, "the array's name"), memory, bytes));
  });
}

strata_array_status strata_array_start(strata_array_placement* placement, char* error, size_t error_bytes) {
  return run(error, error_bytes, [&] {
    const LockedPlacement locked(placement);
    check(locked.device().start(locked.handle.placement));
  });
}

strata_array_status strata_array_wait(strata_array_placement* placement, int64_t* cycles, char* error,
                                      size_t error_bytes) {
  return run(error, error_bytes, [&] {
    const LockedPlacement locked(placement);
    const int64_t taken = take(locked.device().wait(locked.handle.placement));
    if (cycles)
      *cycles = taken;
  });
}

void strata_array_remove(strata_array_placement* placement) {
  run(nullptr, 0, [&] {
    const LockedPlacement locked(placement);
    locked.device().release(locked.handle.placement);
    handles().remove(placement, Handle::Kind::Placement);
  });
}
