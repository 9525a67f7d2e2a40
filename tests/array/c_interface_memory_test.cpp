// Calls of the C interface in which an allocation fails, each of them in turn: the status says that there is not enough
// memory, and the same call works when there is. This program's `new` is its own.
#include "include/strata_array.h"

#include "runtime/array/device.h"
#include "runtime/array/files.h"
#include "tests/array/c_interface_testing.h"

#include <gtest/gtest.h>

#include <cstdlib>
#include <new>
#include <utility>

namespace {

/// The allocation of this thread that fails, counted from 0; less: none does.
thread_local int64_t failing = -1;

void* allocate(size_t bytes) {
  if (failing >= 0 && failing-- == 0)
    return nullptr;
  return std::malloc(bytes == 0 ? 1 : bytes);
}

void* allocateOrThrow(size_t bytes) {
  if (void* made = allocate(bytes))
    return made;
  throw std::bad_alloc();
}

} // namespace

void* operator new(size_t bytes) {
  return allocateOrThrow(bytes);
}
void* operator new[](size_t bytes) {
  return allocateOrThrow(bytes);
}
void* operator new(size_t bytes, const std::nothrow_t&) noexcept {
  return allocate(bytes);
}
void* operator new[](size_t bytes, const std::nothrow_t&) noexcept {
  return allocate(bytes);
}
void operator delete(void* memory) noexcept {
  std::free(memory);
}
void operator delete[](void* memory) noexcept {
  std::free(memory);
}
void operator delete(void* memory, size_t) noexcept {
  std::free(memory);
}
void operator delete[](void* memory, size_t) noexcept {
  std::free(memory);
}

namespace strata::array {
namespace {

class NotEnoughMemory : public testing::Test {
protected:
  void SetUp() override {
    array_ = strata_array_open(testMachine.c_str(), text_, sizeof text_);
    ASSERT_TRUE(array_) << text_;
    auto read = array::read(elementwise("sums", "add", 1, 1));
    ASSERT_TRUE(std::holds_alternative<Symbolic>(read)) << print(std::get<FileError>(read));
    Symbolic made = std::get<Symbolic>(std::move(read));
    made.fingerprint = fingerprint(std::get<Device>(Device::open(testMachine)).array());
    const std::string bytes = writeBinary(made);
    program_ = strata_array_load(array_, bytes.data(), bytes.size(), text_, sizeof text_);
    ASSERT_TRUE(program_) << text_;
  }
  void TearDown() override { strata_array_close(array_); }

  /// A call with its n-th allocation failing, for n = 0, 1, … and then in larger steps, until none fails.
  template <typename Call>
  void failEach(Call call) {
    int64_t failures = 0;
    for (int64_t n = 0;; n += 1 + n / 16, ++failures) {
      failing = n;
      const strata_array_status status = call();
      const bool hasFailed = failing < 0;
      failing = -1;
      if (!hasFailed) {
        EXPECT_EQ(status, STRATA_ARRAY_OK) << text_;
        break;
      }
      ASSERT_EQ(status, STRATA_ARRAY_MEMORY) << "allocation " << n << ": " << text_;
      EXPECT_NE(std::string_view(text_).find("not enough memory"), std::string_view::npos) << text_;
    }
    EXPECT_GT(failures, 3);
  }

  char text_[1000] = "";
  strata_array* array_ = nullptr;
  strata_array_program* program_ = nullptr;
};

TEST_F(NotEnoughMemory, IsSaidByPlacementsAndRuns) {
  const strata_array_number size = {"N", 100};
  const strata_array_request request = {0, 0, 1, 4, STRATA_ARRAY_NORTH_WEST, &size, 1, nullptr, 0};
  strata_array_placement* placement = nullptr;
  failEach([&] {
    placement = strata_array_place(array_, program_, &request, text_, sizeof text_);
    return strata_array_last_status();
  });
  ASSERT_TRUE(placement) << text_;
  int32_t a[100], b[100], q[100] = {};
  for (int i = 0; i < 100; ++i) {
    a[i] = 3 * i;
    b[i] = 1000 - i;
  }
  for (const auto& [name, memory] : {std::pair("a", a), std::pair("b", b), std::pair("q", q)})
    ASSERT_EQ(strata_array_bind(placement, name, memory, sizeof a, text_, sizeof text_), STRATA_ARRAY_OK) << text_;
  failEach([&] {
    const int64_t later = std::exchange(failing, -1);
    strata_array_start(placement, text_, sizeof text_); // it may have been started already
    failing = later;
    return strata_array_wait(placement, nullptr, text_, sizeof text_);
  });
  for (int i = 0; i < 100; ++i)
    EXPECT_EQ(q[i], 2 * i + 1000);
}

} // namespace
} // namespace strata::array
