// A chain of kernels on threads of their own with Boost.Lockfree's single-producer single-consumer queue between them.
// A side that cannot go on spins for a moment and then yields, so that it also works with fewer cores than threads.
#include "benchmarks/peers/peers.h"

#include <boost/lockfree/spsc_queue.hpp>
#include <boost/version.hpp>

#include <pthread.h>
#include <sched.h>
#include <string>
#include <thread>

namespace {

using Queue = boost::lockfree::spsc_queue<float>;
constexpr int patience = 200;

template <typename Try>
void persist(Try attempt) {
  for (int tries = 0; !attempt(); ++tries) {
    if (tries < patience)
      __builtin_ia32_pause();
    else
      std::this_thread::yield();
  }
}

void push(Queue& queue, float value) {
  persist([&] { return queue.push(value); });
}

float pop(Queue& queue) {
  float value = 0;
  persist([&] { return queue.pop(value); });
  return value;
}

} // namespace

const char* bench_peer_boost(void) {
  static const std::string text =
      "Boost " + std::to_string(BOOST_VERSION / 100000) + "." + std::to_string(BOOST_VERSION / 100 % 1000);
  return text.c_str();
}

void bench_ring(const float* in, float* out, int64_t n, int32_t stages, int64_t capacity) {
  Queue first(static_cast<size_t>(capacity)), second(static_cast<size_t>(capacity));
  Queue& last = stages == 3 ? second : first;
  std::thread source([&] {
    for (int64_t i = 0; i < n; ++i)
      push(first, in[i]);
  });
  std::thread middle([&] {
    for (int64_t i = 0; stages == 3 && i < n; ++i)
      push(second, pop(first) * 2 + 1);
  });
  for (int64_t i = 0; i < n; ++i)
    out[i] = pop(last);
  source.join();
  middle.join();
}

void bench_ring_alone(const float* in, float* out, int64_t n, int64_t capacity) {
  Queue queue(static_cast<size_t>(capacity));
  for (int64_t begin = 0; begin < n; begin += capacity) {
    for (int64_t i = begin; i < begin + capacity; ++i)
      push(queue, in[i]);
    for (int64_t i = begin; i < begin + capacity; ++i)
      out[i] = pop(queue);
  }
}

void bench_thread_switches(int64_t n) {
  const auto giveWay = [n] {
    cpu_set_t one;
    CPU_ZERO(&one);
    CPU_SET(0, &one);
    pthread_setaffinity_np(pthread_self(), sizeof one, &one);
    for (int64_t i = 0; i < n / 2; ++i)
      sched_yield();
  };
  std::thread first(giveWay), second(giveWay);
  first.join();
  second.join();
}
