// Move, scatter and gather: every combination of length, STREAM_LENGTH_ALL and setEOS, against loops over arrays.
#include "runtime/svm/testing.h"

#include <cstring>
#include <numeric>
#include <random>
#include <vector>

namespace {

using TransferTest = SvmTest;

constexpr int most = 1000;

float* memory(VM_NODE_MEM node, int address) {
  return static_cast<float*>(svmAddress(node, address));
}

std::vector<float> numbers(int count) {
  std::vector<float> values(static_cast<size_t>(count));
  std::iota(values.begin(), values.end(), 1.0f);
  return values;
}

/// Pops what is in a stream, up to `count` elements, and where tags were.
struct Drained {
  std::vector<float> values;
  std::vector<int> tags;
};
Drained drain(Stream* stream, int count) {
  Drained drained;
  for (int i = 0; i < count; ++i) {
    if (streamPeekEOS(stream, 0))
      drained.tags.push_back(i);
    float x = 0;
    streamPop(stream, &x);
    drained.values.push_back(x);
  }
  return drained;
}

TEST_P(TransferTest, Move) {
  static Stream from, through, to;
  static Move in, out;
  std::mt19937 random(1);
  for (int round = 0; round < 100; ++round) {
    const int count = 1 + static_cast<int>(random() % most);
    const bool all = random() & 1, setEOS = random() & 1;
    const int length = all ? count : static_cast<int>(random() % (static_cast<unsigned>(count) + 1));
    const std::vector<float> values = numbers(count);
    std::copy(values.begin(), values.end(), memory(GLOBALMEM1, 0));
    streamInitWithDataRAM(&from, GLOBALMEM1, 0, count, sizeof(float), count, 1, 0);
    streamInitRAM(&through, LOCALMEM1, 0, 1 + static_cast<int>(random() % 40), sizeof(float), 0);
    streamInitRAM(&to, GLOBALMEM1, 2000, most, sizeof(float), 0);
    moveInit(&in, DMA1, &from, &through, all ? STREAM_LENGTH_ALL : length, TRUE);
    moveInit(&out, DMA1, &through, &to, length == 0 ? 0 : STREAM_LENGTH_ALL, setEOS);
    kernelRun(&in);
    kernelRun(&out);
    kernelWait(&out);
    kernelWait(&in);
    const Drained drained = drain(&to, length);
    EXPECT_EQ(drained.values, std::vector<float>(values.begin(), values.begin() + length));
    EXPECT_EQ(drained.tags, setEOS && length ? std::vector<int>{length - 1} : std::vector<int>());
  }
}

TEST_P(TransferTest, AMoveStopsAtTheFirstTag) {
  static Stream from, to;
  static Move move;
  streamInitRAM(&from, LOCALMEM1, 0, 16, sizeof(float), 0);
  streamInitRAM(&to, LOCALMEM1, 16, 16, sizeof(float), 0);
  for (int i = 0; i < 9; ++i) {
    float x = static_cast<float>(i);
    if (i % 3 == 2)
      streamPushWithEOS(&from, &x);
    else
      streamPush(&from, &x);
  }
  for (int i = 0; i < 3; ++i) {
    moveInit(&move, DMA1, &from, &to, STREAM_LENGTH_ALL, i == 1);
    kernelRun(&move);
    kernelWait(&move);
  }
  const Drained drained = drain(&to, 9);
  EXPECT_EQ(drained.values, (std::vector<float>{0, 1, 2, 3, 4, 5, 6, 7, 8}));
  EXPECT_EQ(drained.tags, std::vector<int>{5});
}

TEST_P(TransferTest, Strided) {
  static Stream from, to;
  static Block block;
  static StridedScatter scatter;
  static StridedGather gather;
  std::mt19937 random(2);
  const auto below = [&](int n) { return static_cast<int>(random() % static_cast<unsigned>(n)); };
  for (int round = 0; round < 100; ++round) {
    const int segment = 1 + below(8), stride = segment + below(8), count = 1 + below(200);
    const bool all = random() & 1, setEOS = random() & 1;
    const std::vector<float> values = numbers(count);
    std::vector<float> expected(most * 4, 0);
    for (int i = 0; i < count; ++i)
      expected[static_cast<size_t>(i / segment * stride + i % segment)] = values[static_cast<size_t>(i)];
    blockInit(&block, LOCALMEM1, 4000, most * 4, sizeof(float));
    std::fill_n(memory(LOCALMEM1, 4000), most * 4, 0.0f);
    std::copy(values.begin(), values.end(), memory(LOCALMEM1, 0));
    streamInitWithDataRAM(&from, LOCALMEM1, 0, count, sizeof(float), count, 1, 0);
    stridedScatterInit(&scatter, DMA1, &from, &block, all ? STREAM_LENGTH_ALL : count, stride, segment, setEOS);
    kernelRun(&scatter);
    kernelWait(&scatter);
    EXPECT_EQ(std::vector<float>(memory(LOCALMEM1, 4000), memory(LOCALMEM1, 4000) + most * 4), expected);
    streamInitRAM(&to, LOCALMEM1, 1000, 2000, sizeof(float), 0);
    stridedGatherInit(&gather, DMA2, &block, &to, count, stride, segment, setEOS);
    kernelRun(&gather);
    kernelWait(&gather);
    const Drained drained = drain(&to, count);
    EXPECT_EQ(drained.values, values);
    EXPECT_EQ(drained.tags, setEOS ? std::vector<int>{count - 1} : std::vector<int>());
  }
}

TEST_P(TransferTest, AGatherOfAWholeBlock) {
  static Stream to;
  static Block block;
  static StridedGather gather;
  blockInit(&block, LOCALMEM1, 0, 11, sizeof(float));
  const std::vector<float> values = numbers(11);
  std::copy(values.begin(), values.end(), memory(LOCALMEM1, 0));
  streamInitRAM(&to, LOCALMEM1, 100, 16, sizeof(float), 0);
  stridedGatherInit(&gather, DMA1, &block, &to, STREAM_LENGTH_ALL, 4, 2, TRUE);
  kernelRun(&gather);
  kernelWait(&gather);
  const Drained drained = drain(&to, 6);
  EXPECT_EQ(drained.values, (std::vector<float>{1, 2, 5, 6, 9, 10}));
  EXPECT_EQ(drained.tags, std::vector<int>{5});
}

template <typename Index>
void indexed(bool all, bool setEOS, unsigned seed) {
  static Stream from, places, to;
  static Block block;
  static IndexedScatter scatter;
  static IndexedGather gather;
  std::mt19937 random(seed);
  const int records = 20, elements = 3, count = records * elements;
  const std::vector<float> values = numbers(count);
  std::vector<Index> indices(records);
  for (int i = 0; i < records; ++i)
    indices[static_cast<size_t>(i)] = static_cast<Index>(i * elements);
  std::shuffle(indices.begin(), indices.end(), random);
  std::copy(values.begin(), values.end(), memory(GLOBALMEM1, 0));
  blockInit(&block, GLOBALMEM1, 500, count, sizeof(float));
  streamInitWithDataRAM(&from, GLOBALMEM1, 0, count, sizeof(float), count, 1, 0);
  const auto giveIndices = [&] {
    std::memcpy(memory(GLOBALMEM1, 200), indices.data(), indices.size() * sizeof(Index));
    streamInitWithDataRAM(&places, GLOBALMEM1, 200, records, sizeof(Index), records, 1, 0);
  };
  giveIndices();
  indexedScatterInit(&scatter, DMA1, &from, &places, &block, all ? STREAM_LENGTH_ALL : count, elements, setEOS);
  kernelRun(&scatter);
  kernelWait(&scatter);
  for (size_t i = 0; i < indices.size(); ++i)
    for (size_t k = 0; k < elements; ++k)
      EXPECT_EQ(memory(GLOBALMEM1, 500)[static_cast<size_t>(indices[i]) + k], values[i * elements + k]);
  giveIndices();
  streamInitRAM(&to, GLOBALMEM1, 1000, 7, sizeof(float), 0);
  indexedGatherInit(&gather, DMA2, &block, &places, &to, all ? STREAM_LENGTH_ALL : count, elements, setEOS);
  kernelRun(&gather);
  const Drained drained = drain(&to, count);
  EXPECT_EQ(drained.values, values);
  EXPECT_EQ(drained.tags, setEOS ? std::vector<int>{count - 1} : std::vector<int>());
  kernelWait(&gather);
}

/// What a gather of a whole block takes: segments up to the first element that lies outside; one where they all begin
/// at the same place.
std::vector<float> wholeBlock(int capacity, int stride, int segment) {
  std::vector<float> values;
  for (int first = 0; first < capacity; first += stride)
    for (int k = 0; k < segment; ++k) {
      if (first + k == capacity)
        return values;
      values.push_back(static_cast<float>(first + k + 1));
      if (stride == 0 && k + 1 == segment)
        return values;
    }
  return values;
}

TEST_P(TransferTest, SegmentsOverlap) {
  static Stream to;
  static Block block;
  static StridedGather gather;
  const std::vector<float> values = numbers(12);
  std::copy(values.begin(), values.end(), memory(LOCALMEM1, 4000));
  for (int capacity = 1; capacity <= 12; ++capacity)
    for (int segment = 1; segment <= 5; ++segment)
      for (int stride = 0; stride <= segment; ++stride) {
        const std::vector<float> expected = wholeBlock(capacity, stride, segment);
        blockInit(&block, LOCALMEM1, 4000, capacity, sizeof(float));
        streamInitRAM(&to, LOCALMEM1, 1000, 100, sizeof(float), 0);
        stridedGatherInit(&gather, DMA2, &block, &to, STREAM_LENGTH_ALL, stride, segment, TRUE);
        kernelRun(&gather);
        kernelWait(&gather);
        const auto count = static_cast<int>(expected.size());
        ASSERT_EQ(to.pushed_, expected.size());
        const Drained drained = drain(&to, count);
        EXPECT_EQ(drained.values, expected) << capacity << " elements, " << segment << " every " << stride;
        EXPECT_EQ(drained.tags, std::vector<int>{count - 1});
      }
}

TEST_P(TransferTest, Indexed) {
  for (unsigned i = 0; i < 4; ++i) {
    indexed<int>(i & 1, i & 2, i);
    indexed<int64_t>(i & 1, i & 2, i);
    indexed<int16_t>(i & 1, i & 2, i);
    indexed<uint8_t>(i & 1, i & 2, i);
  }
}

TEST_P(TransferTest, ADmaProcessorCarriesOnSeveral) {
  // Eight moves in a row through streams that hold little: each needs the next to go on.
  constexpr int moves = 8;
  static Stream streams[moves + 1];
  static Move kernels[moves];
  const std::vector<float> values = numbers(most);
  std::copy(values.begin(), values.end(), memory(GLOBALMEM1, 0));
  streamInitWithDataRAM(&streams[0], GLOBALMEM1, 0, most, sizeof(float), most, 1, 0);
  for (int i = 1; i < moves; ++i)
    streamInitRAM(&streams[i], LOCALMEM1, 16 * i, 3, sizeof(float), 0);
  streamInitRAM(&streams[moves], GLOBALMEM2, 0, most, sizeof(float), 0);
  for (int i = 0; i < moves; ++i) {
    moveInit(&kernels[i], DMA1, &streams[i], &streams[i + 1], STREAM_LENGTH_ALL, TRUE);
    kernelRun(&kernels[i]);
  }
  kernelWait(&kernels[moves - 1]);
  EXPECT_EQ(std::vector<float>(memory(GLOBALMEM2, 0), memory(GLOBALMEM2, most)), values);
}

TEST_P(TransferTest, MisuseEndsTheProgram) {
  static Stream from, to, wide;
  static Block block;
  static Move move;
  static StridedScatter scatter;
  static IndexedScatter indexed;
  streamInitRAM(&from, LOCALMEM1, 0, 8, 4, 0);
  streamInitRAM(&to, LOCALMEM1, 8, 8, 4, 0);
  streamInitRAM(&wide, LOCALMEM1, 16, 8, 8, 0);
  blockInit(&block, LOCALMEM1, 64, 4, 4);
  const auto exits = ::testing::ExitedWithCode(1);
  EXPECT_EXIT(moveInit(&move, DMA1, &from, &wide, 1, FALSE), exits,
              "'move': elements of 4 and of 8 bytes.*svm-transfer");
  EXPECT_EXIT(moveInit(&move, DMA1, &from, &to, -2, FALSE), exits, "a length of -2");
  EXPECT_EXIT(stridedScatterInit(&scatter, DMA1, &from, &block, 4, -1, 1, FALSE), exits, "every -1");
  EXPECT_EXIT(indexedScatterInit(&indexed, DMA1, &from, &to, &block, 3, 2, FALSE), exits, "no multiple of 2");
  float x = 1;
  for (int i = 0; i < 5; ++i)
    streamPush(&from, &x);
  EXPECT_EXIT(
      {
        stridedScatterInit(&scatter, DMA1, &from, &block, 5, 1, 1, FALSE);
        kernelRun(&scatter);
        kernelWait(&scatter);
      },
      exits, "reaches elements 4 to 4 of block 'block', which has 4.*svm-block-index");
}

} // namespace

SVM_WITH_THREADS(TransferTest);
