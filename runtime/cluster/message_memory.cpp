// One message asks, with the elements where they are written; one answers. What lies densely goes as it is, in pieces;
// other elements are packed. The order of things: an answer's receive is posted before it is asked for, so that nobody
// who answers waits for somebody who asks.
#include "runtime/cluster/message_memory.h"

#include <algorithm>
#include <chrono>
#include <cstring>

namespace strata::cluster {
namespace {

constexpr int requestTag = 0;
constexpr int64_t mostTags = 32000;        // MPI allows 32767 at least
constexpr int64_t pieceBytes = 1 << 20;    // of one message
constexpr int64_t mostUnderWay = 32 << 20; // bytes
constexpr size_t mostPending = 2048;

void copyElements(char* to, int64_t toStep, const char* from, int64_t fromStep, int64_t elements, int64_t bytes) {
  if (toStep == bytes && fromStep == bytes)
    std::memcpy(to, from, static_cast<size_t>(elements * bytes));
  else
    for (int64_t i = 0; i < elements; ++i)
      std::memcpy(to + i * toStep, from + i * fromStep, static_cast<size_t>(bytes));
}

/// Elements at distances on both sides, in pieces: calls start(distance here, distance there, elements, bytes of each).
template <typename Start>
void eachPiece(int64_t hereStep, int64_t thereStep, int64_t elements, int64_t bytes, Start start) {
  if (elements <= 0 || bytes <= 0)
    return;
  if (hereStep == bytes && thereStep == bytes) { // one element
    bytes *= elements;
    elements = 1;
  }
  if (bytes > pieceBytes) {
    for (int64_t i = 0; i < elements; ++i)
      for (int64_t at = 0; at < bytes; at += pieceBytes)
        start(i * hereStep + at, i * thereStep + at, 1, std::min(pieceBytes, bytes - at));
    return;
  }
  const int64_t each = std::max<int64_t>(1, pieceBytes / bytes);
  for (int64_t i = 0; i < elements; i += each)
    start(i * hereStep, i * thereStep, std::min(each, elements - i), bytes);
}

} // namespace

MessageMemory::MessageMemory() {
  MPI_Comm_dup(MPI_COMM_WORLD, &all_);
  // Those who wait serve, too: this is for the time in which all of this process compute.
  server_.emplace(std::chrono::microseconds(50), [this] {
    using Clock = std::chrono::steady_clock;
    constexpr auto untilQuiet = std::chrono::microseconds(100);
    for (auto last = Clock::now(); Clock::now() - last < untilQuiet;)
      if (serve())
        last = Clock::now();
      else if (isEnding_.load(std::memory_order_acquire))
        return;
  });
}

MessageMemory::~MessageMemory() {
  isEnding_.store(true, std::memory_order_release);
  server_.reset();
  MPI_Comm_free(&all_);
}

void MessageMemory::get(int64_t rank, char* to, int64_t toStep, const char* from, int64_t fromStep, int64_t elements,
                        int64_t bytes) {
  eachPiece(toStep, fromStep, elements, bytes, [&](int64_t here, int64_t there, int64_t count, int64_t size) {
    ask(rank, {0, reinterpret_cast<int64_t>(from + there), count > 1 ? fromStep : size, count, size, 0}, nullptr, 0,
        to + here, count > 1 ? toStep : size);
  });
}

void MessageMemory::put(int64_t rank, char* to, int64_t toStep, const char* from, int64_t fromStep, int64_t elements,
                        int64_t bytes) {
  eachPiece(fromStep, toStep, elements, bytes, [&](int64_t here, int64_t there, int64_t count, int64_t size) {
    ask(rank, {1, reinterpret_cast<int64_t>(to + there), count > 1 ? toStep : size, count, size, 0}, from + here,
        count > 1 ? fromStep : size, nullptr, 0);
  });
}

void MessageMemory::ask(int64_t rank, const Request& request, const char* from, int64_t fromStep, char* to,
                        int64_t toStep) {
  const int64_t bytes = request.elements * request.bytes;
  const std::lock_guard guard(lock_);
  if (pending_.size() >= mostPending || underWay_ + bytes > mostUnderWay)
    complete();
  underWay_ += bytes;
  Request own = request;
  own.tag = 1 + asked_++ % mostTags;
  Pending& each = pending_.emplace_back();
  each.sent.resize(sizeof own + static_cast<size_t>(request.isPut ? bytes : 0));
  std::memcpy(each.sent.data(), &own, sizeof own);
  if (request.isPut)
    copyElements(each.sent.data() + sizeof own, request.bytes, from, fromStep, request.elements, request.bytes);
  const bool isPacked = !request.isPut && toStep != request.bytes;
  if (isPacked)
    each.received.resize(static_cast<size_t>(bytes));
  each.to = isPacked ? to : nullptr;
  each.toStep = toStep;
  each.elements = request.elements;
  each.bytes = request.bytes;
  MPI_Irecv(isPacked ? each.received.data() : to, request.isPut ? 0 : static_cast<int>(bytes), MPI_BYTE,
            static_cast<int>(rank), static_cast<int>(own.tag), all_, &each.answer);
  MPI_Send(each.sent.data(), static_cast<int>(each.sent.size()), MPI_BYTE, static_cast<int>(rank), requestTag, all_);
}

void MessageMemory::flush() {
  const std::lock_guard guard(lock_);
  complete();
}

/// REQUIRES: the lock is held.
void MessageMemory::complete() {
  for (Pending& each : pending_) {
    int has = 0;
    while (MPI_Test(&each.answer, &has, MPI_STATUS_IGNORE), !has)
      serve();
    if (each.to)
      copyElements(each.to, each.toStep, each.received.data(), each.bytes, each.elements, each.bytes);
  }
  pending_.clear();
  underWay_ = 0;
}

bool MessageMemory::serve() {
  const std::unique_lock guard(serving_, std::try_to_lock);
  if (!guard)
    return false;
  std::vector<char> message, answer;
  for (bool hasServed = false;; hasServed = true) {
    int has = 0;
    MPI_Status status;
    MPI_Iprobe(MPI_ANY_SOURCE, requestTag, all_, &has, &status);
    if (!has)
      return hasServed;
    int size = 0;
    MPI_Get_count(&status, MPI_BYTE, &size);
    message.resize(static_cast<size_t>(size));
    MPI_Recv(message.data(), size, MPI_BYTE, status.MPI_SOURCE, requestTag, all_, MPI_STATUS_IGNORE);
    Request request{};
    std::memcpy(&request, message.data(), sizeof request);
    auto* const memory = reinterpret_cast<char*>(request.address);
    const auto tag = static_cast<int>(request.tag);
    if (request.isPut) {
      copyElements(memory, request.step, message.data() + sizeof request, request.bytes, request.elements,
                   request.bytes);
      MPI_Send(nullptr, 0, MPI_BYTE, status.MPI_SOURCE, tag, all_);
      continue;
    }
    const int64_t bytes = request.elements * request.bytes;
    const char* from = memory;
    if (request.step != request.bytes) {
      answer.resize(static_cast<size_t>(bytes));
      copyElements(answer.data(), request.bytes, memory, request.step, request.elements, request.bytes);
      from = answer.data();
    }
    MPI_Send(from, static_cast<int>(bytes), MPI_BYTE, status.MPI_SOURCE, tag, all_);
  }
}

} // namespace strata::cluster
