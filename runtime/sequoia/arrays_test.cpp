// The arrays of include/sequoia.h as a C program uses them.
#include "include/sequoia.h"

#include <gtest/gtest.h>

#include <cstdint>
#include <string>

namespace {

std::string lastCode, lastMessage;

void remember(const char* code, const char* message) {
  lastCode = code;
  lastMessage = message;
}

struct SequoiaArrays : testing::Test {
  void SetUp() override {
    lastCode = "";
    sqSetErrorHandler(remember);
  }
  void TearDown() override { sqSetErrorHandler(nullptr); }
};

TEST_F(SequoiaArrays, AnArrayOfTwoDimensionsIsRowMajor) {
  sqArray_t* array = sqAllocArray2D(sizeof(float), 3, 5);
  ASSERT_TRUE(array);
  EXPECT_EQ(array->numDims, 2u);
  EXPECT_EQ(array->contigDim, 1);
  EXPECT_EQ(reinterpret_cast<uintptr_t>(array->ptr) % 64, 0u);
  float* first = static_cast<float*>(array->ptr);
  EXPECT_EQ(sqElmt2D(array, 0, 0), first);
  EXPECT_EQ(sqElmt2D(array, 2, 4), first + 14);
  sqFreeArray(array);
}

TEST_F(SequoiaArrays, ALogicalArrayBeginsAtItsOffset) {
  char elements[24];
  sqArray_t array = {};
  array.numDims = 3;
  array.contigDim = 2;
  const sqSize_t pitch[] = {2, 3, 4}, offset[] = {1, 1, 2}, extent[] = {1, 2, 2};
  for (int d = 0; d < 3; ++d)
    array.pitch[d] = pitch[d], array.offset[d] = offset[d], array.numElmts[d] = extent[d];
  array.elmtSize = 1;
  array.ptr = elements;
  EXPECT_EQ(sqElmt3D(&array, 0, 0, 0), elements + 12 + 4 + 2);
  EXPECT_EQ(sqElmt3D(&array, 0, 1, 1), elements + 12 + 8 + 3);
  array.contigDim = 0; // dimension 0 varies fastest, then 2, then 1
  EXPECT_EQ(sqElmt3D(&array, 0, 1, 1), elements + ((2 * 4) + 3) * 2 + 1);
}

TEST_F(SequoiaArrays, NineDimensions) {
  sqArray_t* array = sqAllocArray9D(8, 2, 2, 2, 2, 2, 2, 2, 2, 2);
  ASSERT_TRUE(array);
  EXPECT_EQ(sqElmt9D(array, 1, 1, 1, 1, 1, 1, 1, 1, 1), static_cast<char*>(array->ptr) + 511 * 8);
  sqFreeArray(array);
}

TEST_F(SequoiaArrays, EmptyArraysAndNothingAreFine) {
  sqArray_t* array = sqAllocArray2D(4, 0, ~0ul);
  ASSERT_TRUE(array);
  sqFreeArray(array);
  sqFreeArray(nullptr);
  EXPECT_EQ(lastCode, "");
}

TEST_F(SequoiaArrays, MistakesReachTheHandler) {
  EXPECT_FALSE(sqAllocArray1D(0, 4));
  EXPECT_EQ(lastCode, "sequoia-array-size");
  EXPECT_FALSE(sqAllocArray2D(4, 1ul << 40, 1ul << 40));
  EXPECT_EQ(lastCode, "sequoia-array-size");
  EXPECT_FALSE(sqAllocArray1D(1, 1ul << 46));
  EXPECT_EQ(lastCode, "sequoia-out-of-memory");
  sqArray_t* array = sqAllocArray1D(4, 4);
  EXPECT_FALSE(sqElmt1D(array, 4));
  EXPECT_EQ(lastCode, "sequoia-index");
  EXPECT_NE(lastMessage.find("index 4 is beyond the 4 elements"), std::string::npos) << lastMessage;
  EXPECT_FALSE(sqElmt2D(array, 0, 0));
  EXPECT_EQ(lastCode, "sequoia-wrong-rank");
  EXPECT_FALSE(sqElmt1D(nullptr, 0));
  array->contigDim = -1;
  EXPECT_FALSE(sqElmt1D(array, 0));
  EXPECT_EQ(lastCode, "sequoia-wrong-layout");
  sqFreeArray(array);
}

TEST(SequoiaArraysDeathTest, WithoutAHandlerTheProgramEnds) {
  EXPECT_EXIT(sqRaiseError("sequoia-index", "too far"), testing::ExitedWithCode(1),
              "error: too far \\[sequoia-index\\]");
}

} // namespace
