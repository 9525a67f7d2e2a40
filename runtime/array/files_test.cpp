// Files of symbolic configurations: what is written reads back, what the text looks like, what is said of mistakes.
#include "runtime/array/files_testing.h"

#include <gtest/gtest.h>

namespace strata::array {

using test::fileArray;
using test::fileSample;
using test::randomSymbolic;

namespace {

void expectSame(const Symbolic& symbolic, const std::string& bytes) {
  const std::variant<Symbolic, FileError> back = read(bytes);
  if (const auto* error = std::get_if<FileError>(&back))
    FAIL() << print(*error) << "\n" << bytes;
  EXPECT_TRUE(std::get<Symbolic>(back) == symbolic) << bytes << "\nread as\n" << writeText(std::get<Symbolic>(back));
}

std::string errorOf(const std::string& bytes) {
  const std::variant<Symbolic, FileError> back = read(bytes);
  const auto* error = std::get_if<FileError>(&back);
  return error ? print(*error) : "no error";
}

/// The sample's text with one change.
std::string changed(const std::string& from, const std::string& to) {
  std::string text = writeText(fileSample());
  const size_t at = text.find(from);
  EXPECT_NE(at, std::string::npos) << from;
  return at == std::string::npos ? text : text.replace(at, from.size(), to);
}

} // namespace

TEST(Files, SampleReadsBack) {
  const Symbolic sample = fileSample();
  EXPECT_EQ(validate(sample, fileArray()), "");
  expectSame(sample, writeText(sample));
  expectSame(sample, writeBinary(sample));
}

TEST(Files, EmptyReadsBack) {
  expectSame({}, writeText({}));
  expectSame({}, writeBinary({}));
}

TEST(Files, RandomReadsBack) {
  for (uint64_t seed = 0; seed < 500; ++seed) {
    SCOPED_TRACE(seed);
    const Symbolic symbolic = randomSymbolic(seed);
    ASSERT_EQ(validate(symbolic, fileArray()), "");
    expectSame(symbolic, writeText(symbolic));
    expectSame(symbolic, writeBinary(symbolic));
    if (HasFailure())
      return;
  }
}

TEST(Files, AnyNumberReadsBack) {
  Symbolic symbolic = fileSample();
  symbolic.fingerprint = ~uint64_t{0};
  symbolic.conditions[0].value = {{INT64_MIN, INT64_MAX, INT64_MIN}, {INT64_MAX, INT64_MIN}, INT64_MIN};
  symbolic.conditions[3].modulus = INT64_MIN;
  symbolic.instructions[0].unit = UINT32_MAX;
  symbolic.instructions[0].offset = INT64_MIN;
  symbolic.instructions[0].operands[1][0].value.immediate = uint64_t{1} << 63;
  symbolic.instructions[0].when[0].shift = {INT64_MIN, 0, INT64_MAX};
  symbolic.channels[0].path[1].index = UINT32_MAX;
  symbolic.fifos[0].reg.index = UINT16_MAX;
  expectSame(symbolic, writeText(symbolic));
  expectSame(symbolic, writeBinary(symbolic));
}

TEST(Files, TextIsForPeople) {
  const std::string text = writeText(fileSample());
  for (const char* line : {
           "symbolic configuration version 1\nprogram \"all of it\"\nmachine \"array-4x4\"\n",
           "\nparameters N, M\nloops i, j, \"k'\"\n",
           "\nrange j from -M / 2, -7 to (3*N - M + 5) / 3 tile 2\n",
           "\nrows j\ncolumns i\ninterval 3 lower bound 2\n",
           "\ncontext (N + 2*M) mod 4 == 0\n",
           "\ninput x float64[N, M + 1]\ninput scale int16\n",
           "\ncondition c0: i - j + N - 1 >= 0\ncondition c1: $2 == 0\ncondition c2: i mod 2 == 0\n"
           "condition c3: (2*i + j - M - 3) mod 5 != 0\n",
           "\nspace s0: everywhere\nspace s1: nowhere\nspace s2: c0 and c1 or c2 and c3  # i - j + N - 1 >= 0 and $2 "
           "== "
           "0 or i mod 2 == 0 and",
           "\ninstruction a: unit 0 offset 0 latency 1 add int64 when s0\n  write rd7 when s0\n"
           "  operand id0 when s3 step (0, 1, -1) crossing (0, 1, 0)  # $2 == 0\n"
           "    else fd1 when s3 step (0, 1, -1) crossing (0, 0, 0) or s2 shift (0, -1, 2)",
           "\n  operand -5 when s0\n",
           " lt bool of int16 when",
           "\n  operand 1.5 when s0\n  operand 0x000000007fc00001 when s0\n",
           "\n  operand 0.1 when s0\n  operand -0 when s0\n",
           "\n  operand -inf when s0\n",
           "\nchannel row -1 column 1: element1 -> east0 -> west0 -> north1 -> south1 -> element2\n",
           "\narrival distance (0, 1, -1) crossing (0, 1, 0) slack -4\n",
           "\naccess input x[i, j - $2 + M + 2] register id2 channel 1 offset 0 when s2 shift (0, -1, 2)",
           "\naccess output $1 register od3 offset 0 when never\n",
       })
    EXPECT_NE(text.find(line), std::string::npos) << line << "\nis not in\n" << text;
}

TEST(Files, TextMayBeLaidOutFreely) {
  std::string text = writeText(fileSample());
  for (size_t at = 0; (at = text.find('\n', at)) != std::string::npos; at += 14)
    text.replace(at, 1, " # comment\n\r\n\t");
  expectSame(fileSample(), text);
}

TEST(Files, BinaryIsSmall) {
  const std::string binary = writeBinary(fileSample());
  EXPECT_LE(binary.size(), 430u);
  EXPECT_GE(writeText(fileSample()).size(), 6 * binary.size());
  // A list of terms that has occurred costs some bits, however long it is.
  Symbolic longer = fileSample();
  const size_t before = writeBinary(longer).size();
  longer.instructions[1].destinations.push_back({{Register::Kind::General, 1}, longer.instructions[1].when});
  EXPECT_LE(writeBinary(longer).size(), before + 3);
}

TEST(Files, MistakesInTextsHaveAPlace) {
  const std::pair<std::string, std::string> mistakes[] = {
      {"hello", "line 1, column 1: expected 'symbolic', found 'hello'"},
      {"", "line 1, column 1: expected 'symbolic', found the end of the file"},
      {"symbolic configuration version 2\n", "line 1, column 32: expected version 1, found '2'"},
      {changed("rows j", "rows N"), "line 10, column 6: expected a loop, found the parameter 'N'"},
      {changed("range j", "range i"), "line 8, column 7: expected 'j', whose turn it is"},
      {changed("c0 and c1", "c0 and c4"), "line 25, column 18: there is no c4, the last of the 4 conditions is c3"},
      {changed("2*i + j", "2*i + i"), "line 22, column 22: 'i' occurs twice in one expression"},
      {changed("2*i + j", "2 + j"), "line 22, column 28: a second constant in one expression"},
      {changed("2*i + j", "2*h + j"), "line 22, column 18: expected a loop or a parameter, found 'h'"},
      {changed("2*i + j", "h + j"), "line 22, column 16: expected a loop, a parameter or a number, found 'h'"},
      {changed("2*i + j", "$9 + j"), "line 22, column 16: there is no $9 among 5"},
      {changed("mod 5 != 0", "mod 5 >= 0"), "line 22, column 39: expected '==' or '!=', found '>='"},
      {changed("mod 5 != 0", "< 0"), "line 22, column 33: expected '>=', '==' or 'mod', found '<'"},
      {changed("condition c1", "condition c2"), "line 20, column 11: expected 'c1', found 'c2'"},
      {changed("add int64", "sum int64"), "line 28, column 42: expected an operation, found 'sum'"},
      {changed("add int64", "add int65"), "line 28, column 46: expected a type, found 'int65'"},
      {changed("write rd7", "write xd7"), "line 29, column 9: expected a register, as rd0, found 'xd7'"},
      {changed("operand -5", "operand 99999999999999999999"),
       "line 32, column 11: the number 99999999999999999999 is too large, at most 18446744073709551615 is possible"},
      {changed("offset 0", "offset 9223372036854775808"),
       "line 28, column 30: the number 9223372036854775808 is too large for 64 bits and a sign"},
      {changed("operand 1.5", "operand 1.x"),
       "line 41, column 11: expected a register, as rd0, or a number, found '1'"},
      {changed("step (0, 1, -1)", "step (0, 1)"), "line 30, column 33: expected ',', found ')'"},
      {changed("-> east0", "-> up0"), "line 53, column 38: expected a port, as east0 or element1, found 'up0'"},
      {changed("access input", "access inout"), "line 58, column 8: expected 'input' or 'output', found 'inout'"},
      {changed("input x[i", "input z[i"), "line 58, column 14: expected an array, found 'z'"},
      {changed("channel 1 offset", "channel 2 offset"), "line 58, column 56: there is no channel 2 among 2"},
      {changed("\"all of it\"", "\"all of it"), "line 2, column 9: the quote is not closed in its line"},
      {changed("\"all of it\"", "\"all\\of it\""), R"(line 2, column 13: expected \", \\ or \x with two digits)"},
      {changed("fingerprint 0x", "fingerprint "), ""},
      {changed("fingerprint 0x", "fingerprint 0xg"),
       "line 4, column 13: expected up to 16 hexadecimal digits after 0x"},
      {changed("program \"all of it\"", "program -"), "line 2, column 9: expected a name, found '-'"},
      {changed("program \"all of it\"", "program " + std::string(4097, 'x')),
       "line 2, column 4106: a name of 4097 characters; at most 4096 are possible"},
      {changed("\nend\n", "\nmore\n"), "line 62, column 1: expected another line or 'end', found 'more'"},
      {changed("\nend\n", "\n"), "line 62, column 1: expected another line or 'end', found the end of the file"},
      {writeText(fileSample()) + "more", "line 63, column 1: expected the end of the file, found 'more'"},
  };
  for (const auto& [text, message] : mistakes)
    EXPECT_EQ(errorOf(text).substr(0, message.size()), message);
  EXPECT_NE(errorOf(changed("fingerprint 0x", "fingerprint ")).find("expected a number that begins with 0x"),
            std::string::npos);
}

TEST(Files, ListsAreBounded) {
  std::string text = "symbolic configuration version 1 program x machine x fingerprint 0x0 loops i";
  for (int i = 0; i < 32; ++i)
    text += ", i";
  EXPECT_EQ(errorOf(text), "line 1, column 171: more than 32 loops");
  Symbolic symbolic;
  symbolic.spaces.resize((1 << 16) + 1);
  EXPECT_NE(errorOf(writeText(symbolic)).find("more than 65536 spaces"), std::string::npos);
  EXPECT_NE(errorOf(writeBinary(symbolic)).find("more than 65536 spaces"), std::string::npos);
  // By sharing, a small file may ask for many terms.
  symbolic = {};
  symbolic.spaces.resize(1);
  SymbolicInstruction instruction;
  instruction.when.resize(1 << 10);
  symbolic.instructions.assign(65, instruction);
  EXPECT_LE(writeBinary(symbolic).size(), 2000u);
  EXPECT_NE(errorOf(writeBinary(symbolic)).find("more than 65536 terms"), std::string::npos);
}

TEST(Files, MistakesInBinariesHaveAPlace) {
  const std::string binary = writeBinary(fileSample());
  EXPECT_EQ(errorOf(binary.substr(0, 6)), "byte 6: the file ends within its head");
  std::string other = binary;
  other[3] = 2;
  EXPECT_EQ(errorOf(other), "byte 3: expected version 1, found 2");
  other = binary;
  other[9] ^= 1;
  EXPECT_EQ(errorOf(other), "byte " + std::to_string(binary.size() - 4) +
                                ": the checksum does not fit: the file is damaged or not complete");
  other = test::withChecksum(binary.substr(0, 30) + "....");
  EXPECT_EQ(errorOf(other), "byte 30: the file ends within a value");
  other = test::withChecksum(binary.substr(0, binary.size() - 4) + "++....");
  EXPECT_EQ(errorOf(other),
            "byte " + std::to_string(binary.size() - 4) + ": expected the end of the file, found 2 bytes more");
  // A name of very many characters.
  other = test::withChecksum(binary.substr(0, 4) + "\xFF\xFE\xFF\xFF\xFF\xFF" + "....");
  EXPECT_EQ(errorOf(other).substr(0, 14), "byte 8: a name");
}

} // namespace strata::array
