// Writing .npy files: what NumPy reads back, and what happens when the disk is full, the folder missing, the file
// protected.
#include "base/data/data_testing.h"

#include <csignal>
#include <sys/resource.h>
#include <sys/stat.h>
#include <sys/wait.h>

namespace strata {
namespace {

class NpyWriteTest : public DataTest {
protected:
  Array numbers(int64_t count) {
    auto array = Array::create(ElementType::signedInteger(4), {count}, "A", diagnostics_, {});
    for (int64_t i = 0; i < count; ++i)
      array->as<int32_t>()[i] = static_cast<int32_t>(i);
    return std::move(*array);
  }
  size_t filesInFolder() const {
    return static_cast<size_t>(std::distance(std::filesystem::directory_iterator(folder_), {}));
  }
};

TEST_F(NpyWriteTest, HeadersAreAsNumPyWritesThem) {
  const std::string header = npyHeader(ElementType::floating(4), {2, 3});
  EXPECT_EQ(header.substr(0, 8), std::string("\x93NUMPY\x01\x00", 8));
  EXPECT_EQ(header.size() % 64, 0u);
  EXPECT_EQ(header.back(), '\n');
  EXPECT_EQ(header.substr(10, 59), "{'descr': '<f4', 'fortran_order': False, 'shape': (2, 3), }");
  const ElementType accented = ElementType::structure({{"\xC3\xA9", 0, ElementType::floating(4), {}}}, 4);
  EXPECT_EQ(npyHeader(accented, {1})[6], 3);
  EXPECT_EQ(npyHeader(accented, {1}).size() % 64, 0u);
}

TEST_F(NpyWriteTest, WhatIsWrittenIsReadBack) {
  const std::vector<ElementType> types = {
      ElementType::boolean(), ElementType::unsignedInteger(1), ElementType::complex(16), floatPair(),
      ElementType::structure(
          {{"it's", 0, ElementType::signedInteger(1), {}}, {"v", 4, ElementType::floating(4), {2, 2}}}, 24)};
  for (const ElementType& type : types) {
    auto array = Array::create(type, {2, 3}, "A", diagnostics_, {});
    for (uint64_t i = 0; i < array->bytes(); ++i)
      array->data()[i] = std::byte(i & 1);
    ASSERT_TRUE(writeNpy(path("a.npy"), *array, false, diagnostics_, {})) << code();
    auto back = readNpy(path("a.npy"), diagnostics_, {});
    ASSERT_TRUE(back) << code();
    EXPECT_EQ(back->type(), type);
    EXPECT_EQ(back->shape(), array->shape());
    EXPECT_EQ(std::memcmp(back->data(), array->data(), array->bytes()), 0);
  }
  EXPECT_EQ(filesInFolder(), 1u);
}

TEST_F(NpyWriteTest, PairsAreWrittenAsComplexNumbersOnRequest) {
  auto array = Array::create(floatPair(), {2}, "A", diagnostics_, {});
  ASSERT_TRUE(writeNpy(path("a.npy"), *array, true, diagnostics_, {}));
  EXPECT_EQ(readNpy(path("a.npy"), diagnostics_, {})->type().text(), "complex64");
}

TEST_F(NpyWriteTest, ReplacesFilesKeepsTheirModeAndFollowsLinks) {
  write("real.npy", "old");
  ::chmod(path("real.npy").c_str(), 0640);
  ::symlink("real.npy", path("link.npy").c_str());
  ASSERT_TRUE(writeNpy(path("link.npy"), numbers(3), false, diagnostics_, {}));
  EXPECT_TRUE(std::filesystem::is_symlink(path("link.npy")));
  EXPECT_EQ(readNpy(path("real.npy"), diagnostics_, {})->shape(), (std::vector<int64_t>{3}));
  struct stat status;
  ::stat(path("real.npy").c_str(), &status);
  EXPECT_EQ(status.st_mode & 0777, 0640u);
  EXPECT_EQ(filesInFolder(), 2u);
}

TEST_F(NpyWriteTest, FullDisksAreNamed) {
  EXPECT_FALSE(writeNpy("/dev/full", numbers(3), false, diagnostics_, {}));
  EXPECT_EQ(code(), "data-cannot-write");
  EXPECT_NE(message_.find("No space left"), std::string::npos);
}

// In a process of its own, as the limit cannot be raised again without rights.
TEST_F(NpyWriteTest, FileSizeLimitsLeaveTheOldFileAsItWas) {
  write("a.npy", "old");
  const Array array = numbers(100000);
  const pid_t child = ::fork();
  if (child == 0) {
    const rlimit limit = {4096, 4096};
    ::setrlimit(RLIMIT_FSIZE, &limit);
    const bool written = writeNpy(path("a.npy"), array, false, diagnostics_, {});
    ::_exit(!written && code() == "data-cannot-write" && message_.find("File too large") != std::string::npos ? 0 : 1);
  }
  int status = 0;
  ASSERT_EQ(::waitpid(child, &status, 0), child);
  EXPECT_TRUE(WIFEXITED(status) && WEXITSTATUS(status) == 0) << status;
  EXPECT_EQ(bytesOf(path("a.npy")), "old");
  EXPECT_EQ(filesInFolder(), 1u);
}

TEST_F(NpyWriteTest, ClosedPipesAreNamed) {
  int ends[2];
  ASSERT_EQ(::pipe(ends), 0);
  ::close(ends[0]);
  EXPECT_FALSE(writeNpy("/dev/fd/" + std::to_string(ends[1]), numbers(3), false, diagnostics_, {}));
  ::close(ends[1]);
  EXPECT_EQ(code(), "data-cannot-write");
}

TEST_F(NpyWriteTest, ImpossibleTargetsAreFoundBeforeTheRun) {
  EXPECT_TRUE(checkWritable(path("a.npy"), diagnostics_, {}));
  write("file", "x");
  for (const std::string& target : {std::string(), folder_, path("absent/a.npy"), path("file/a.npy")}) {
    EXPECT_FALSE(checkWritable(target, diagnostics_, {})) << target;
    EXPECT_EQ(code(), "data-cannot-write") << target;
    EXPECT_FALSE(writeNpy(target, numbers(1), false, diagnostics_, {})) << target;
    EXPECT_EQ(code(), "data-cannot-write") << target;
  }
  EXPECT_EQ(filesInFolder(), 1u);
}

} // namespace
} // namespace strata
