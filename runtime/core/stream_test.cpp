// Streams between kernels on fibres, and between a kernel and the calling thread.
#include "runtime/core/stream.h"

#include "runtime/core/testing.h"

#include <array>
#include <numeric>
#include <random>

namespace strata::runtime {
namespace {

#if defined(STRATA_THREAD_SANITIZER) || defined(STRATA_ADDRESS_SANITIZER)
constexpr int64_t many = 500000;
#else
constexpr int64_t many = 10000000;
#endif

using Streams = WithThreads;
STRATA_WITH_THREADS(Streams);

/// Pushes 0 … count-1 and ends the stream.
void produce(StrataStream* stream, int64_t count) {
  for (int64_t i = 0; i < count; ++i)
    strata_stream_push(stream, &i);
  strata_stream_end(stream);
}

/// Pops to the end; the sum, or -1 when the elements do not come in order.
int64_t consume(StrataStream* stream) {
  int64_t sum = 0, element = 0, expected = 0;
  while (strata_stream_pop(stream, &element)) {
    if (element != expected++)
      return -1;
    sum += element;
  }
  return sum;
}

int64_t throughStream(int64_t count, int64_t capacity) {
  StrataStream* stream = strata_stream_create(8, capacity, "numbers");
  int64_t sum = 0;
  wait({spawn([=] { produce(stream, count); }), spawn([&] { sum = consume(stream); })});
  strata_stream_destroy(stream);
  return sum;
}

TEST_P(Streams, TenMillionElementsArriveInOrder) {
  EXPECT_EQ(throughStream(many, 1000), many * (many - 1) / 2);
}
TEST_P(Streams, CapacityOne) {
  EXPECT_EQ(throughStream(100000, 1), 100000ll * 99999 / 2);
}
TEST_P(Streams, CapacityThree) {
  EXPECT_EQ(throughStream(100000, 3), 100000ll * 99999 / 2);
}

TEST_P(Streams, TheCallingThreadPops) {
  StrataStream* stream = strata_stream_create(8, 4, "out");
  StrataToken* producer = spawn([=] { produce(stream, 20000); });
  EXPECT_EQ(consume(stream), 20000ll * 19999 / 2);
  wait(producer);
  strata_stream_destroy(stream);
}

TEST_P(Streams, TheCallingThreadPushes) {
  StrataStream* stream = strata_stream_create(8, 4, "in");
  int64_t sum = 0;
  StrataToken* consumer = spawn([&] { sum = consume(stream); });
  produce(stream, 20000);
  wait(consumer);
  EXPECT_EQ(sum, 20000ll * 19999 / 2);
  strata_stream_destroy(stream);
}

TEST_P(Streams, AChainOfManyKernels) {
  constexpr int stages = 300;
  std::vector<StrataStream*> streams;
  std::vector<StrataToken*> tokens;
  for (int i = 0; i <= stages; ++i)
    streams.push_back(strata_stream_create(8, 1 + i % 5, "link"));
  for (int i = 0; i < stages; ++i)
    tokens.push_back(spawn([in = streams[i], out = streams[i + 1]] {
      int64_t element;
      while (strata_stream_pop(in, &element))
        strata_stream_push(out, &element);
      strata_stream_end(out);
    }));
  tokens.push_back(spawn([in = streams[0]] { produce(in, 200); }));
  EXPECT_EQ(consume(streams[stages]), 200 * 199 / 2);
  wait(tokens);
  for (StrataStream* stream : streams)
    strata_stream_destroy(stream);
}

TEST_P(Streams, FeedbackOfOneElementAtATime) {
  StrataStream* there = strata_stream_create(8, 64, "there");
  StrataStream* back = strata_stream_create(8, 64, "back");
  StrataToken* echo = spawn([=] {
    int64_t element;
    while (strata_stream_pop(there, &element)) {
      ++element;
      strata_stream_push(back, &element);
    }
  });
  int64_t value = 0;
  for (int i = 0; i < 20000; ++i) {
    strata_stream_push(there, &value);
    strata_stream_pop(back, &value);
  }
  strata_stream_end(there);
  wait(echo);
  EXPECT_EQ(value, 20000);
  strata_stream_destroy(there);
  strata_stream_destroy(back);
}

TEST_P(Streams, ElementsOfAnySize) {
  const auto test = [](auto example) {
    using Element = decltype(example);
    StrataStream* stream = strata_stream_create(sizeof(Element), 3, "sized");
    StrataToken* producer = spawn([=] {
      for (int i = 0; i < 100; ++i) {
        Element element;
        element.fill(static_cast<char>(i));
        strata_stream_push(stream, &element);
      }
      strata_stream_end(stream);
    });
    Element element, expected;
    int count = 0;
    while (strata_stream_pop(stream, &element)) {
      expected.fill(static_cast<char>(count++));
      EXPECT_EQ(element, expected);
    }
    EXPECT_EQ(count, 100);
    wait(producer);
    strata_stream_destroy(stream);
  };
  test(std::array<char, 1>());
  test(std::array<char, 3>());
  test(std::array<char, 16>());
  test(std::array<char, 100>());
}

TEST(Stream, EmptyElementsAreCounted) {
  StrataStream* stream = strata_stream_create(0, 5, "ticks");
  for (int i = 0; i < 5; ++i)
    strata_stream_push(stream, nullptr);
  strata_stream_end(stream);
  int count = 0;
  char nothing;
  while (strata_stream_pop(stream, &nothing))
    ++count;
  EXPECT_EQ(count, 5);
  strata_stream_destroy(stream);
}

TEST_P(Streams, TheEndComesAfterWhatWasPushed) {
  StrataStream* stream = strata_stream_create(4, 8, "s");
  const int first = 1, second = 2;
  strata_stream_push(stream, &first);
  strata_stream_push(stream, &second);
  strata_stream_end(stream);
  int element = 0;
  EXPECT_EQ(strata_stream_pop(stream, &element), 1);
  EXPECT_EQ(strata_stream_pop(stream, &element), 1);
  EXPECT_EQ(element, 2);
  EXPECT_EQ(strata_stream_pop(stream, &element), 0);
  EXPECT_EQ(element, 2) << "the element stays untouched at the end";
  reopen(*stream);
  strata_stream_push(stream, &first);
  EXPECT_EQ(strata_stream_pop(stream, &element), 1);
  EXPECT_EQ(element, 1);
  strata_stream_destroy(stream);
}

TEST_P(Streams, TheEndWakesAPopperThatWaits) {
  StrataStream* stream = strata_stream_create(4, 8, "s");
  int32_t got = 1;
  StrataToken* popper = spawn([&] {
    int element;
    got = strata_stream_pop(stream, &element);
  });
  for (int i = 0; i < 100; ++i)
    strata_yield();
  strata_stream_end(stream);
  wait(popper);
  EXPECT_EQ(got, 0);
  strata_stream_destroy(stream);
}

TEST_P(Streams, WaitsAreTracedAsTheirPlaceSays) {
  static const StrataStreamPlace place{strata_none, 0, "wait for room in q", "wait for an element of q"};
  StrataStream* stream = strata_stream_create_at(&place, 8, 1, "q");
  clearTrace();
  strata_trace_begin("both"); // from here on the context is traced
  StrataToken* producer = spawn([=] { produce(stream, 100); });
  int64_t element = 0;
  for (int64_t i = 0; i < 100; ++i) {
    for (int k = 0; i == 50 && k < 100; ++k)
      strata_yield(); // until the producer waits
    EXPECT_EQ(strata_stream_pop(stream, &element), 1);
  }
  wait(producer);
  strata_trace_end();
  const std::string json = traceJson();
  EXPECT_NE(json.find("\"cat\":\"wait\",\"name\":\"wait for room in q\""), std::string::npos) << json;
  strata_stream_destroy(stream);
  clearTrace();
}

TEST_P(Streams, PeekLooksAheadAndAroundTheCorner) {
  StrataStream* stream = strata_stream_create(8, 5, "window");
  StrataToken* producer = spawn([=] { produce(stream, 1000); });
  for (int64_t i = 0; i < 1000; ++i) {
    for (int64_t k = 4; k >= 0; --k) {
      int64_t element = -1;
      const int32_t there = strata_stream_peek(stream, k, &element);
      EXPECT_EQ(there, i + k < 1000);
      EXPECT_EQ(element, there ? i + k : -1);
    }
    int64_t element;
    ASSERT_EQ(strata_stream_pop(stream, &element), 1);
    ASSERT_EQ(element, i);
  }
  wait(producer);
  strata_stream_destroy(stream);
}

TEST(Stream, PeekBeyondTheCapacityIsRefused) {
  GTEST_FLAG_SET(death_test_style, "threadsafe");
  EXPECT_EXIT(
      {
        StrataStream* stream = strata_stream_create(4, 5, "window");
        int element;
        strata_stream_peek(stream, 5, &element);
      },
      ::testing::ExitedWithCode(1), "offset 5 of stream 'window', whose capacity is 5 \\[runtime-peek-range\\]");
}

TEST(Stream, ImpossibleSizesAreRefused) {
  GTEST_FLAG_SET(death_test_style, "threadsafe");
  EXPECT_EXIT(strata_stream_create(4, 0, "none"), ::testing::ExitedWithCode(1), "'none'.*runtime-stream-size");
  EXPECT_EXIT(strata_stream_create(8, INT64_MAX / 2, "vast"), ::testing::ExitedWithCode(1),
              "no memory for stream 'vast'.*runtime-out-of-memory");
}

TEST_P(Streams, MulticastReachesAll) {
  std::vector<StrataStream*> streams;
  std::vector<int64_t> sums(5);
  std::vector<StrataToken*> tokens;
  for (int i = 0; i < 5; ++i) {
    streams.push_back(strata_stream_create(8, 1 + i, "copy"));
    tokens.push_back(spawn([&sums, i, stream = streams[i]] { sums[i] = consume(stream); }));
  }
  for (int64_t i = 0; i < 5000; ++i)
    strata_stream_multicast(streams.data(), 5, &i);
  for (StrataStream* stream : streams)
    strata_stream_end(stream);
  wait(tokens);
  EXPECT_EQ(sums, std::vector<int64_t>(5, 5000 * 4999 / 2));
  for (StrataStream* stream : streams)
    strata_stream_destroy(stream);
}

TEST_P(Streams, RunsOfElementsMixWithSingleOnes) {
  StrataStream* stream = strata_stream_create(8, 37, "runs");
  constexpr int64_t count = 50000;
  StrataToken* producer = spawn([=] {
    std::vector<int64_t> values(100);
    std::mt19937 random(3);
    for (int64_t next = 0; next < count;) {
      const auto length = std::min<int64_t>(static_cast<int64_t>(random() % 100), count - next);
      std::iota(values.begin(), values.end(), next);
      strata_stream_write(stream, values.data(), length);
      next += length;
    }
    strata_stream_end(stream);
  });
  std::vector<int64_t> values(64);
  int64_t expected = 0;
  while (true) {
    int64_t got = strata_stream_read(stream, values.data(), 50);
    for (int64_t i = 0; i < got; ++i)
      ASSERT_EQ(values[i], expected++);
    if (got < 50 || !strata_stream_pop(stream, values.data()))
      break;
    ASSERT_EQ(values[0], expected++);
  }
  EXPECT_EQ(expected, count);
  wait(producer);
  strata_stream_destroy(stream);
}

} // namespace
} // namespace strata::runtime
