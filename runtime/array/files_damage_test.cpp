// Damaged files of symbolic configurations: each is an error that says something, or a configuration that can be
// written and read again, whatever has happened to the bytes. What is valid then is instantiated and run, which ends
// with a result or with an error, too.
#include "runtime/array/by_day_testing.h"
#include "runtime/array/files_testing.h"
#include "runtime/array/instances_testing.h"

#include <array>
#include <gtest/gtest.h>

#include <fstream>
#include <iostream>
#include <random>
#include <sstream>
#include <unordered_map>

namespace strata::array {

using test::fileArray;
using test::fileSample;
using test::withChecksum;

namespace {

struct Target {
  explicit Target(machine::ProcessorArray made) : array(std::move(made)), print(fingerprint(array)) {}
  machine::ProcessorArray array;
  uint64_t print;
};

/// What became of a configuration on an array. Much damage changes a comment or a layout, so that the same one is read
/// again and again: what depends on nothing else is done once.
struct Known {
  Symbolic symbolic;
  uint64_t array; // its fingerprint
  const test::Instances* made;
};

/// Short names for all that has one. Nothing but messages depends on them.
Symbolic renamed(Symbolic symbolic) {
  symbolic.program = "p";
  symbolic.machine = "m";
  for (size_t i = 0; i < symbolic.parameters.size(); ++i)
    symbolic.parameters[i] = "P" + std::to_string(i);
  for (size_t i = 0; i < symbolic.loops.size(); ++i)
    symbolic.loops[i].name = "l" + std::to_string(i);
  for (std::vector<SymbolicArray>* list : {&symbolic.inputs, &symbolic.outputs})
    for (size_t i = 0; i < list->size(); ++i)
      (*list)[i].name = (list == &symbolic.inputs ? "i" : "o") + std::to_string(i);
  for (SymbolicInstruction& each : symbolic.instructions)
    each.name = "v";
  return symbolic;
}

/// Of valid ones that differ in their names only, one is tried.
const test::Instances& instancesOf(const Symbolic& symbolic, const Target& target) {
  static const test::Instances none;
  static std::unordered_map<std::string, test::Instances> all; // by the bytes of binary files, and the array
  if (!validate(symbolic, target.array).empty())
    return none;
  const auto [found, isNew] = all.try_emplace(writeBinary(renamed(symbolic)) + std::to_string(target.print));
  if (isNew) {
    found->second = test::tryInstances(symbolic, target.array);
    EXPECT_EQ(found->second.wrong, "") << writeText(symbolic);
  }
  return found->second;
}

const test::Instances& madeOf(Symbolic symbolic, const Target& target) {
  static std::unordered_multimap<std::string, Known> all; // by the bytes of their binary files
  std::string binary = writeBinary(symbolic);
  const auto [first, last] = all.equal_range(binary);
  for (auto each = first; each != last; ++each)
    if (each->second.array == target.print && each->second.symbolic == symbolic)
      return *each->second.made;
  for (const std::string& written : {writeText(symbolic), binary}) {
    const std::variant<Symbolic, FileError> again = read(written);
    EXPECT_TRUE(std::holds_alternative<Symbolic>(again) && std::get<Symbolic>(again) == symbolic) << written;
  }
  const test::Instances& made = instancesOf(symbolic, target);
  all.emplace(std::move(binary), Known{std::move(symbolic), target.print, &made});
  return made;
}

/// Gives whether it was read. What is valid on the array is added up in `tried`.
bool survives(const std::string& bytes, const Target& target, test::Instances& tried) {
  std::variant<Symbolic, FileError> result = read(bytes);
  if (const auto* error = std::get_if<FileError>(&result)) {
    EXPECT_FALSE(error->message.empty());
    EXPECT_LE(error->offset, bytes.size());
    EXPECT_EQ(error->isText, error->line != 0);
    return false;
  }
  const test::Instances& made = madeOf(std::get<Symbolic>(std::move(result)), target);
  tried.isValid |= made.isValid;
  tried.refused += made.refused;
  tried.ran += made.ran;
  tried.failed += made.failed;
  return true;
}

bool survives(const std::string& bytes) {
  static const Target target(fileArray());
  test::Instances tried;
  return survives(bytes, target, tried);
}

} // namespace

TEST(DamagedFiles, BytesOfBinaries) {
  const std::string binary = writeBinary(fileSample());
  size_t read = 0;
  for (size_t i = 0; i < binary.size(); ++i)
    for (const size_t bit : inTurn(8, i)) {
      std::string damaged = binary;
      damaged[i] = static_cast<char>(damaged[i] ^ 1 << bit);
      EXPECT_FALSE(survives(damaged)) << "byte " << i << " bit " << bit;
      read += survives(withChecksum(damaged)) ? 1 : 0;
    }
  EXPECT_GT(read, byDay(12, 100)); // what is not found out is a configuration all the same
  for (size_t i = 0; i < binary.size(); ++i) {
    std::string damaged = binary;
    for (const size_t way : inTurn(3, i)) {
      damaged[i] = "\0\xFF "[way];
      survives(withChecksum(damaged));
    }
  }
}

TEST(DamagedFiles, TruncatedBinaries) {
  const std::string binary = writeBinary(fileSample());
  for (size_t size = 0; size < binary.size(); ++size) {
    EXPECT_FALSE(survives(binary.substr(0, size))) << size;
    if (size >= 8) {
      EXPECT_FALSE(survives(withChecksum(binary.substr(0, size)))) << size;
    }
  }
}

TEST(DamagedFiles, BytesOfTexts) {
  const std::string text = writeText(fileSample());
  for (size_t i = 0; i < text.size(); ++i) {
    std::string damaged = text;
    for (const size_t way : inTurn(5, i)) {
      damaged[i] = std::array{static_cast<char>(text[i] ^ 1), static_cast<char>(text[i] ^ 0x80), '9', '-', '\0'}[way];
      survives(damaged);
    }
    survives(text.substr(0, i) + text.substr(i + 1));
  }
}

TEST(DamagedFiles, TruncatedTexts) {
  const std::string text = writeText(fileSample());
  for (size_t size = 0; size < text.size(); ++size)
    survives(text.substr(0, size));
}

TEST(DamagedFiles, LinesOfTexts) {
  const std::string text = writeText(fileSample());
  std::vector<std::string> lines;
  for (size_t at = 0; at < text.size(); at += lines.back().size())
    lines.push_back(text.substr(at, text.find('\n', at) + 1 - at));
  for (size_t i = 0; i < lines.size(); ++i) {
    std::string without, twice;
    for (size_t j = 0; j < lines.size(); ++j) {
      without += i == j ? "" : lines[j];
      twice += i == j ? lines[j] + lines[j] : lines[j];
    }
    survives(without);
    survives(twice);
  }
}

TEST(DamagedFiles, Garbage) {
  std::mt19937_64 random(1);
  const std::string binary = writeBinary(fileSample()), text = writeText(fileSample());
  for (int i = 0; i < 3000; ++i) {
    std::string bytes(random() % 300, '\0');
    for (char& byte : bytes)
      byte = static_cast<char>(random());
    survives(bytes);
    survives(withChecksum(binary.substr(0, 4 + random() % 100) + bytes + "...."));
    survives(text.substr(0, random() % text.size()) + bytes);
    std::string mixed = text;
    for (size_t n = random() % 6 + 1; n > 0; --n)
      mixed.replace(random() % mixed.size(), random() % 20, text.substr(random() % text.size(), random() % 20));
    survives(mixed);
  }
}

/// Mappings of loop programs, each bit of their files changed in turn.
TEST(DamagedFiles, BytesOfMappings) {
  for (const std::string program : {"bits", "fir", "matvec"}) {
    std::ifstream file(STRATA_SOURCE_DIR "/tests/fuzz/symbolic/" + program + "_packed.sym", std::ios::binary);
    std::ostringstream bytes;
    bytes << file.rdbuf();
    const std::variant<Symbolic, FileError> sound = read(bytes.str());
    ASSERT_TRUE(std::holds_alternative<Symbolic>(sound)) << program;
    Symbolic symbolic = std::get<Symbolic>(sound);
    SourceManager sources;
    DiagnosticEngine diagnostics(sources);
    const std::optional<Machine> machine = loadMachine(symbolic.machine, {STRATA_SOURCE_DIR "/machines"}, diagnostics);
    ASSERT_TRUE(machine) << symbolic.machine;
    machine::ProcessorArray array;
    for (const machine::Processor& each : machine->processors)
      if (!each.array.empty())
        array = each.array[0];
    symbolic.fingerprint = fingerprint(array);
    ASSERT_EQ(validate(symbolic, array), "");
    const std::string binary = writeBinary(symbolic);
    const Target target(array);
    test::Instances tried;
    size_t isRead = 0;
    for (size_t i = 0; i < binary.size(); ++i)
      for (const size_t bit : inTurn(8, i)) {
        std::string damaged = binary;
        damaged[i] = static_cast<char>(damaged[i] ^ 1 << bit);
        EXPECT_FALSE(survives(damaged)) << "byte " << i << " bit " << bit;
        isRead += survives(withChecksum(damaged), target, tried);
      }
    std::cout << program << ": of " << 8 * binary.size() << " changes " << isRead << " are read; of instances "
              << tried.refused << " are refused, " << tried.failed << " fail, " << tried.ran << " run\n";
    EXPECT_GT(tried.refused, byDay(6, 50)) << program;
    EXPECT_GT(tried.failed, byDay(6, 50)) << program;
    EXPECT_GT(tried.ran, byDay(6, 50)) << program;
  }
}

} // namespace strata::array
