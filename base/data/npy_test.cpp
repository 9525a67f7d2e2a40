// Reading .npy files: what NumPy writes, and every way in which a file can be wrong.
#include "base/data/data_testing.h"
#include "base/data/literal.h"

#include <sys/stat.h>
#include <thread>

namespace strata {
namespace {

constexpr const char* Floats23 = "{'descr': '<f4', 'fortran_order': False, 'shape': (2, 3), }\n";

TEST(PythonLiterals, AreReadAsNumPyWritesThem) {
  PythonLiteral literal;
  std::string error;
  ASSERT_TRUE(parsePythonLiteral("{'a': (1, -2L), \"b\": [True, None], 'c': 'x\\'\\x41\\u00e9\\U0001F600', 'd': (3)}",
                                 literal, error))
      << error;
  ASSERT_TRUE(literal.find("a") && literal.find("b") && literal.find("c") && literal.find("d"));
  EXPECT_EQ(literal.find("a")->items[1].integer, -2);
  EXPECT_TRUE(literal.find("b")->items[0].boolean);
  EXPECT_EQ(literal.find("c")->string, "x'A\xC3\xA9\xF0\x9F\x98\x80");
  EXPECT_EQ(literal.find("d")->kind, PythonLiteral::Kind::Integer);
  EXPECT_EQ(literal.find("e"), nullptr);
}

TEST(PythonLiterals, MalformedOnesSayWhere) {
  PythonLiteral literal;
  std::string error;
  for (const char* text : {"", "{", "{'a'", "{'a': ", "{'a': 1", "{'a': 1 'b': 2}", "(1", "(1 2)", "[1, ", "'abc",
                           "'\\", "'\\q'", "'\\x4", "'\\U99999999'", "99999999999999999999", "-", "Tru", "{} x"}) {
    EXPECT_FALSE(parsePythonLiteral(text, literal, error)) << text;
    EXPECT_NE(error.find(" at byte "), std::string::npos) << text;
  }
  EXPECT_FALSE(parsePythonLiteral(std::string(100000, '('), literal, error));
  EXPECT_NE(error.find("nested"), std::string::npos);
}

TEST_F(DataTest, ReadsWhatNumPyWrites) {
  auto array = readNpy(write("a.npy", npy(Floats23, raw<float>({1, 2, 3, 4, 5, 6}))), diagnostics_, {});
  ASSERT_TRUE(array);
  EXPECT_EQ(array->shape(), (std::vector<int64_t>{2, 3}));
  EXPECT_EQ(array->type(), ElementType::floating(4));
  EXPECT_EQ(values<float>(*array), (std::vector<float>{1, 2, 3, 4, 5, 6}));
}

TEST_F(DataTest, ReadsVersionsTwoAndThree) {
  const std::string dictionary = "{'descr': [('\xC3\xA9', '<i2')], 'fortran_order': False, 'shape': (1,)}";
  for (char version : {'\2', '\3'}) {
    const std::string bytes = std::string("\x93NUMPY") + version + std::string(1, '\0') +
                              static_cast<char>(dictionary.size()) + std::string(3, '\0') + dictionary +
                              raw<int16_t>({-5});
    auto array = readNpy(write("a.npy", bytes), diagnostics_, {});
    ASSERT_TRUE(array) << code();
    EXPECT_EQ(values<int16_t>(*array), (std::vector<int16_t>{-5}));
  }
}

TEST_F(DataTest, ReadsScalarsAndEmptyArrays) {
  auto scalar = readNpy(write("a.npy", npy("{'descr': '<i8', 'fortran_order': False, 'shape': ()}", raw<int64_t>({9}))),
                        diagnostics_, {});
  ASSERT_TRUE(scalar);
  EXPECT_TRUE(scalar->shape().empty());
  auto empty =
      readNpy(write("b.npy", npy("{'descr': '<i8', 'fortran_order': True, 'shape': (0, 7)}")), diagnostics_, {});
  ASSERT_TRUE(empty);
  EXPECT_EQ(empty->elements(), 0u);
}

TEST_F(DataTest, ConvertsFortranOrder) {
  // The 2x3x2 array of 0 … 11 in C order, its columns first.
  const std::vector<int32_t> columns = {0, 6, 2, 8, 4, 10, 1, 7, 3, 9, 5, 11};
  auto array = readNpy(write("a.npy", npy("{'descr': '<i4', 'fortran_order': True, 'shape': (2, 3, 2)}", raw(columns))),
                       diagnostics_, {});
  ASSERT_TRUE(array);
  EXPECT_EQ(array->shape(), (std::vector<int64_t>{2, 3, 2}));
  EXPECT_EQ(values<int32_t>(*array), (std::vector<int32_t>{0, 1, 2, 3, 4, 5, 6, 7, 8, 9, 10, 11}));
}

TEST_F(DataTest, ConvertsBigEndianNumbers) {
  auto array = readNpy(write("a.npy", npy("{'descr': '>i4', 'fortran_order': False, 'shape': (2,)}",
                                          std::string("\0\0\1\2\xFF\xFF\xFF\xFE", 8))),
                       diagnostics_, {});
  ASSERT_TRUE(array);
  EXPECT_EQ(values<int32_t>(*array), (std::vector<int32_t>{258, -2}));
  auto complex = readNpy(write("b.npy", npy("{'descr': '>c8', 'fortran_order': False, 'shape': (1,)}",
                                            std::string("\x3F\x80\0\0\x40\0\0\0", 8))),
                         diagnostics_, {});
  ASSERT_TRUE(complex);
  EXPECT_EQ(values<float>(*complex), (std::vector<float>{1, 2}));
}

TEST_F(DataTest, ReadsStructsWithPaddingTitlesAndArrays) {
  const std::string dictionary =
      "{'descr': [('a', '|b1'), ('', '|V3'), (('title', 'v'), '<f4', (2,)), ('p', [('x', '<i4')])], "
      "'fortran_order': False, 'shape': (1,)}";
  auto array =
      readNpy(write("a.npy", npy(dictionary, std::string("\2\0\0\0", 4) + raw<float>({1, 2}) + raw<int32_t>({3}))),
              diagnostics_, {});
  ASSERT_TRUE(array) << code();
  EXPECT_EQ(array->type().text(), "{a: bool, v: float32(2,), p: {x: int32}}");
  EXPECT_EQ(array->type().bytes, 16u);
  EXPECT_EQ(array->as<uint8_t>()[0], 1); // a boolean is 0 or 1, whatever non-zero byte the file has
}

TEST_F(DataTest, MissingFilesSayWhy) {
  EXPECT_FALSE(readNpy(path("absent.npy"), diagnostics_, {}));
  EXPECT_EQ(code(), "data-cannot-read");
  EXPECT_NE(message_.find("No such file"), std::string::npos);
  EXPECT_FALSE(readNpy(folder_, diagnostics_, {}));
  EXPECT_EQ(code(), "data-cannot-read");
  EXPECT_FALSE(readNpy("randon", diagnostics_, {}));
  EXPECT_EQ(code(), "data-cannot-read");
  EXPECT_NE(rendered_.find("random[:seed"), std::string::npos);
}

TEST_F(DataTest, OtherFilesAreNamedAsSuch) {
  for (const char* text : {"", "1,2,3\n", "\x93NUM"}) {
    EXPECT_FALSE(readNpy(write("a.npy", text), diagnostics_, {}));
    EXPECT_EQ(code(), "data-npy-magic");
  }
  EXPECT_FALSE(readNpy(write("a.npy", std::string("\x93NUMPY\x04\x00\x00\x00", 10)), diagnostics_, {}));
  EXPECT_EQ(code(), "data-npy-version");
}

TEST_F(DataTest, MalformedHeadersSayWhatIsWrong) {
  const std::string good = npy(Floats23);
  for (size_t size = 6; size < good.size(); ++size) {
    EXPECT_FALSE(readNpy(write("a.npy", good.substr(0, size)), diagnostics_, {})) << size;
    EXPECT_EQ(code(), "data-npy-header") << size;
  }
  for (const char* dictionary : {
           "",
           "[]",
           "{'descr': '<f4', 'shape': (2,)}",
           "{'descr': '<f4', 'fortran_order': False, 'shape': (2,), 'more': 1}",
           "{'descr': '<f4', 'fortran_order': 0, 'shape': (2,)}",
           "{'descr': '<f4', 'fortran_order': False, 'shape': 2}",
           "{'descr': '<f4', 'fortran_order': False, 'shape': (-2,)}",
           "{'descr': '<f4', 'fortran_order': False, 'shape': ('2',)}",
           "{'descr': 4, 'fortran_order': False, 'shape': (2,)}",
           "{'descr': [4], 'fortran_order': False, 'shape': (2,)}",
           "{'descr': [('a',)], 'fortran_order': False, 'shape': (2,)}",
           "{'descr': [(1, '<f4')], 'fortran_order': False, 'shape': (2,)}",
           "{'descr': [('', '<f4')], 'fortran_order': False, 'shape': (2,)}",
           "{'descr': [('a', '<f4'), ('a', '<f4')], 'fortran_order': False, 'shape': (2,)}",
           "{'descr': [('a', '<f4', (0,))], 'fortran_order': False, 'shape': (2,)}",
           "{'descr': [('a', '<f4', 'b')], 'fortran_order': False, 'shape': (2,)}",
       }) {
    EXPECT_FALSE(readNpy(write("a.npy", npy(dictionary, std::string(64, '\0'))), diagnostics_, {})) << dictionary;
    EXPECT_EQ(code(), "data-npy-header") << dictionary;
  }
  std::string manyDimensions = "{'descr': '<f4', 'fortran_order': False, 'shape': (";
  for (int i = 0; i < 33; ++i)
    manyDimensions += "1,";
  EXPECT_FALSE(readNpy(write("a.npy", npy(manyDimensions + ")}", std::string(4, '\0'))), diagnostics_, {}));
  EXPECT_EQ(code(), "data-npy-header");
  EXPECT_FALSE(readNpy(write("a.npy", std::string("\x93NUMPY\x02\x00\xFF\xFF\xFF\xFF", 12)), diagnostics_, {}));
  EXPECT_EQ(code(), "data-npy-header");
}

TEST_F(DataTest, ElementsThatProgramsDoNotHaveAreRefused) {
  for (const char* description :
       {"'|O'", "'<U5'", "'|S3'", "'<M8[s]'", "'<f2'", "'<f16'", "'<i3'", "'<c32'", "''", "'<'", "'<i99999999999999'",
        "'|V8'", "('<f4', (3,))", "[('', '|V4')]", "[]", "[('a', '<i4'), ('b', '>i4')]", "[('a', '<f4', (1000000,))]",
        "[('a', '<f4', (1000000000000, 1000000000000))]"}) {
    const std::string dictionary = std::string("{'descr': ") + description + ", 'fortran_order': False, 'shape': (1,)}";
    EXPECT_FALSE(readNpy(write("a.npy", npy(dictionary, std::string(64, '\0'))), diagnostics_, {})) << description;
    EXPECT_EQ(code(), "data-npy-element-type") << description;
  }
}

TEST_F(DataTest, FilesOfTheWrongLengthAreRefusedBeforeMemoryIsAskedFor) {
  EXPECT_FALSE(readNpy(write("a.npy", npy(Floats23, std::string(23, '\0'))), diagnostics_, {}));
  EXPECT_EQ(code(), "data-npy-truncated");
  EXPECT_NE(message_.find("needs 24 bytes of data, and 23 are there"), std::string::npos);
  EXPECT_FALSE(
      readNpy(write("a.npy", npy("{'descr': '<f4', 'fortran_order': False, 'shape': (1000000, 1000000, 100000)}")),
              diagnostics_, {}));
  EXPECT_EQ(code(), "data-npy-truncated");
  EXPECT_FALSE(
      readNpy(write("a.npy", npy("{'descr': '<f4', 'fortran_order': False, 'shape': (4611686018427387904, 4)}")),
              diagnostics_, {}));
  EXPECT_EQ(code(), "data-too-big");
  EXPECT_FALSE(readNpy(write("a.npy", npy(Floats23, std::string(25, '\0'))), diagnostics_, {}));
  EXPECT_EQ(code(), "data-npy-trailing");
}

TEST_F(DataTest, ReadsFromPipes) {
  const std::string pipe = path("pipe");
  ASSERT_EQ(::mkfifo(pipe.c_str(), 0600), 0);
  std::thread writer([&] { std::ofstream(pipe, std::ios::binary) << npy(Floats23, raw<float>({1, 2, 3, 4, 5, 6})); });
  auto array = readNpy(pipe, diagnostics_, {});
  writer.join();
  ASSERT_TRUE(array);
  EXPECT_EQ(array->as<float>()[5], 6.0f);
  std::thread shortWriter([&] { std::ofstream(pipe, std::ios::binary) << npy(Floats23, raw<float>({1, 2})); });
  EXPECT_FALSE(readNpy(pipe, diagnostics_, {}));
  shortWriter.join();
  EXPECT_EQ(code(), "data-npy-truncated");
}

} // namespace
} // namespace strata
