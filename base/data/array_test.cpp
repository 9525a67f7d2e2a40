// Element types, storage and conversions, as a user of arrays meets them.
#include "base/data/data_testing.h"

#include <numeric>

namespace strata {
namespace {

/// struct { float a; double b; } as C lays it out.
ElementType padded() {
  return ElementType::structure({{"a", 0, ElementType::floating(4), {}}, {"b", 8, ElementType::floating(8), {}}}, 16);
}

TEST(ElementTypeText, NamesTypesAsNumPyDoes) {
  EXPECT_EQ(ElementType::boolean().text(), "bool");
  EXPECT_EQ(ElementType::signedInteger(2).text(), "int16");
  EXPECT_EQ(ElementType::complex(16).text(), "complex128");
  EXPECT_EQ(floatPair().text(), "{re: float32, im: float32}");
  EXPECT_EQ(shapeText({}), "()");
  EXPECT_EQ(shapeText({3}), "(3,)");
  EXPECT_EQ(shapeText({3, 4}), "(3, 4)");
  EXPECT_EQ(bytesText(1), "1 byte");
  EXPECT_EQ(bytesText(262144), "256 KiB");
  EXPECT_EQ(bytesText(1610612736), "1.5 GiB");
}

TEST(ElementTypeText, DescribesTypesForNumPy) {
  EXPECT_EQ(ElementType::boolean().numpyDescription(), "'|b1'");
  EXPECT_EQ(ElementType::unsignedInteger(8).numpyDescription(), "'<u8'");
  EXPECT_EQ(floatPair().numpyDescription(), "[('re', '<f4'), ('im', '<f4')]");
  EXPECT_EQ(padded().numpyDescription(), "[('a', '<f4'), ('', '|V4'), ('b', '<f8')]");
  const ElementType array = ElementType::structure({{"v", 0, ElementType::floating(4), {3}}}, 16);
  EXPECT_EQ(array.numpyDescription(), "[('v', '<f4', (3,)), ('', '|V4')]");
}

TEST(ElementTypeText, PairsOfFloatsAreComplex) {
  EXPECT_EQ(floatPair().asComplex()->text(), "complex64");
  EXPECT_FALSE(padded().asComplex());
  EXPECT_FALSE(ElementType::floating(4).asComplex());
}

TEST(ScalarRuns, JoinNeighboursAndSpreadStructs) {
  const auto pair = scalarRuns(floatPair());
  ASSERT_TRUE(pair && pair->size() == 1);
  EXPECT_EQ((*pair)[0].count, 2u);
  const ElementType two = ElementType::structure({{"p", 0, padded(), {2}}}, 32);
  const auto runs = scalarRuns(two);
  ASSERT_TRUE(runs && runs->size() == 4);
  EXPECT_EQ((*runs)[3].offset, 24u);
  EXPECT_FALSE(scalarRuns(two, 3));
}

TEST_F(DataTest, StorageIsAlignedAndZero) {
  for (int64_t extent : {0, 1, 63, 64, 1000}) {
    auto array = Array::create(ElementType::floating(4), {extent, 3}, "array 'A'", diagnostics_, {});
    ASSERT_TRUE(array);
    EXPECT_EQ(reinterpret_cast<uintptr_t>(array->data()) % Array::Alignment, 0u);
    EXPECT_NE(array->data(), nullptr);
    EXPECT_EQ(array->elements(), static_cast<uint64_t>(extent * 3));
    for (float value : values<float>(*array))
      EXPECT_EQ(value, 0.0f);
  }
}

TEST_F(DataTest, SaysHowMuchMemoryWasWantedForWhat) {
  EXPECT_FALSE(Array::create(ElementType::floating(4), {int64_t(1) << 44}, "array 'A'", diagnostics_, {}));
  EXPECT_EQ(code(), "data-out-of-memory");
  EXPECT_EQ(message_, "not enough memory for array 'A': it takes 64 TiB");
  EXPECT_FALSE(
      Array::create(ElementType::floating(4), {int64_t(1) << 40, int64_t(1) << 40}, "array 'A'", diagnostics_, {}));
  EXPECT_EQ(code(), "data-too-big");
  EXPECT_FALSE(Array::create(ElementType::floating(4), {int64_t(1) << 62}, "array 'A'", diagnostics_, {}));
  EXPECT_EQ(code(), "data-too-big");
  auto empty =
      Array::create(ElementType::floating(4), {0, int64_t(1) << 62, int64_t(1) << 62}, "array 'A'", diagnostics_, {});
  EXPECT_TRUE(empty && empty->elements() == 0);
}

TEST_F(DataTest, ClonesHaveStorageOfTheirOwn) {
  auto array = Array::create(ElementType::signedInteger(4), {2}, "A", diagnostics_, {});
  array->as<int32_t>()[1] = 7;
  auto copy = array->clone("A", diagnostics_, {});
  array->as<int32_t>()[1] = 8;
  EXPECT_EQ(values<int32_t>(*copy), (std::vector<int32_t>{0, 7}));
}

TEST_F(DataTest, ConvertsBetweenPairsAndComplexNumbers) {
  auto array = Array::create(ElementType::complex(8), {2}, "A", diagnostics_, {});
  std::iota(array->as<float>(), array->as<float>() + 4, 1.0f);
  auto pairs = convertElements(std::move(*array), floatPair(), "a.npy", "A", diagnostics_, {});
  ASSERT_TRUE(pairs);
  EXPECT_EQ(pairs->type(), floatPair());
  EXPECT_EQ(values<float>(*pairs), (std::vector<float>{1, 2, 3, 4}));
  auto back = convertElements(std::move(*pairs), ElementType::complex(8), "a.npy", "A", diagnostics_, {});
  ASSERT_TRUE(back);
  EXPECT_EQ(values<float>(*back), (std::vector<float>{1, 2, 3, 4}));
}

TEST_F(DataTest, InsertsThePaddingThatTheProgramHas) {
  const ElementType packed =
      ElementType::structure({{"a", 0, ElementType::floating(4), {}}, {"b", 4, ElementType::floating(8), {}}}, 12);
  auto array = Array::create(packed, {2}, "A", diagnostics_, {});
  const float a = 1.5f;
  const double b = 2.5;
  std::memcpy(array->data() + 12, &a, 4);
  std::memcpy(array->data() + 16, &b, 8);
  auto wide = convertElements(std::move(*array), padded(), "a.npy", "A", diagnostics_, {});
  ASSERT_TRUE(wide);
  EXPECT_EQ(wide->as<float>()[4], 1.5f);
  EXPECT_EQ(wide->as<double>()[3], 2.5);
}

TEST_F(DataTest, RefusesOtherElementTypesAndShapes) {
  auto make = [&] { return *Array::create(ElementType::floating(8), {2, 3}, "A", diagnostics_, {}); };
  EXPECT_FALSE(convertElements(make(), ElementType::floating(4), "a.npy", "A", diagnostics_, {}));
  EXPECT_EQ(code(), "data-element-type");
  EXPECT_EQ(message_, "'a.npy' holds elements of type float64, but 'A' takes float32");
  EXPECT_NE(rendered_.find("astype('float32')"), std::string::npos);
  EXPECT_FALSE(convertElements(make(), floatPair(), "a.npy", "A", diagnostics_, {}));
  EXPECT_EQ(code(), "data-element-type");

  EXPECT_TRUE(checkShape(make().shape(), {2, -1}, "a.npy", "A", diagnostics_, {}));
  EXPECT_FALSE(checkShape(make().shape(), {-1, 4}, "a.npy", "A", diagnostics_, {}));
  EXPECT_EQ(code(), "data-shape");
  EXPECT_EQ(message_, "'a.npy' has shape (2, 3), but 'A' takes (any, 4)");
  EXPECT_FALSE(checkShape(make().shape(), {6}, "a.npy", "A", diagnostics_, {}));
  EXPECT_EQ(code(), "data-shape");
}

} // namespace
} // namespace strata
