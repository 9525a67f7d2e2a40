// Ranks over MPI: messages as they are, memory through one dynamic window under a shared lock that lasts as long as the
// process. Elements at a distance go as a vector type, in one operation; small ones that lie together on the other side
// go together, by way of memory between, since networks move such elements one by one. Calls into windows are made one
// at a time: the implementations differ in what they allow beyond that. Memory of ranks on the same computer is reached
// directly, where the system lets them (near_memory.h); with STRATA_MPI_ONLY=1 each is as if on a computer of its own.
// Where MPI has no such window, or STRATA_MPI_MESSAGES=1 says so, memory is reached by messages (message_memory.h).
#include "runtime/cluster/message_memory.h"
#include "runtime/cluster/near_memory.h"
#include "runtime/cluster/transport.h"

#include <algorithm>
#include <atomic>
#include <climits>
#include <cstdlib>
#include <cstring>
#include <memory>
#include <mpi.h>
#include <mutex>
#include <unistd.h>

namespace strata::cluster {
namespace {

/// Bytes and elements that one operation takes, as MPI counts in int.
constexpr int64_t most = INT_MAX / 2;
/// Bytes of one piece that goes by way of memory between.
constexpr int64_t mostBetween = 2 << 20;

class MpiTransport final : public Transport {
public:
  MpiTransport() {
    MPI_Comm_rank(MPI_COMM_WORLD, &own_);
    MPI_Comm_size(MPI_COMM_WORLD, &count_);
    sending_ = std::vector<std::mutex>(static_cast<size_t>(count_));
    makeWindow();
    findNear();
  }

  int64_t own() const override { return own_; }
  int64_t count() const override { return count_; }
  bool isOneComputer() const override { return isOneComputer_; }

  void send(int64_t rank, int kind, const void* bytes, size_t count) override {
    // In pieces, the first behind the length of all; those of one message come one after the other.
    const auto whole = static_cast<int64_t>(count);
    const int64_t first = std::min(most, whole);
    std::vector<char> piece(sizeof whole + static_cast<size_t>(first));
    std::memcpy(piece.data(), &whole, sizeof whole);
    if (first > 0)
      std::memcpy(piece.data() + sizeof whole, bytes, static_cast<size_t>(first));
    const std::lock_guard guard(sending_[static_cast<size_t>(rank)]);
    see();
    MPI_Send(piece.data(), static_cast<int>(piece.size()), MPI_BYTE, static_cast<int>(rank), kind, MPI_COMM_WORLD);
    for (int64_t at = first; at < whole; at += most)
      MPI_Send(static_cast<const char*>(bytes) + at, static_cast<int>(std::min(most, whole - at)), MPI_BYTE,
               static_cast<int>(rank), kind, MPI_COMM_WORLD);
  }

  bool take(int64_t rank, int kind, std::vector<char>& message) override {
    if (messages_)
      messages_->serve(); // who looks for messages has nothing else to do
    const std::lock_guard guard(taking_);
    int has = 0;
    MPI_Status status;
    MPI_Iprobe(rank < 0 ? MPI_ANY_SOURCE : static_cast<int>(rank), kind, MPI_COMM_WORLD, &has, &status);
    if (!has)
      return false;
    int first = 0;
    MPI_Get_count(&status, MPI_BYTE, &first);
    message.resize(static_cast<size_t>(first));
    MPI_Recv(message.data(), first, MPI_BYTE, status.MPI_SOURCE, kind, MPI_COMM_WORLD, MPI_STATUS_IGNORE);
    int64_t whole = 0;
    std::memcpy(&whole, message.data(), sizeof whole);
    message.erase(message.begin(), message.begin() + sizeof whole);
    message.resize(static_cast<size_t>(whole));
    for (int64_t at = first - static_cast<int64_t>(sizeof whole); at < whole; at += most)
      MPI_Recv(message.data() + at, static_cast<int>(std::min(most, whole - at)), MPI_BYTE, status.MPI_SOURCE, kind,
               MPI_COMM_WORLD, MPI_STATUS_IGNORE);
    see();
    return true;
  }

  void expose(void* first, size_t bytes) override {
    if (!messages_)
      MPI_Win_attach(window_, first, static_cast<MPI_Aint>(bytes));
    barrier();
  }

  void get(int64_t rank, char* to, int64_t toStep, const char* from, int64_t fromStep, int64_t elements,
           int64_t bytes) override {
    if (NearMemory* near = near_[static_cast<size_t>(rank)].get())
      return near->get({to, toStep, const_cast<char*>(from), fromStep, elements, bytes});
    if (messages_)
      return messages_->get(rank, to, toStep, from, fromStep, elements, bytes);
    if (isDenseThere(elements, bytes, toStep, fromStep))
      return eachPiece(elements, bytes, [&](int64_t at, int64_t count, std::unique_ptr<char[]> piece) {
        MPI_Get(piece.get(), static_cast<int>(count * bytes), MPI_BYTE, static_cast<int>(rank),
                addressOf(from + at * bytes), static_cast<int>(count * bytes), MPI_BYTE, window_);
        between_.push_back({std::move(piece), to + at * toStep, toStep, count, bytes});
      });
    eachPart(elements, bytes, toStep, fromStep, [&](int64_t at, const Type& here, const Type& there) {
      MPI_Get(to + at * toStep, here.count, here.type, static_cast<int>(rank), addressOf(from + at * fromStep),
              there.count, there.type, window_);
    });
  }

  void put(int64_t rank, char* to, int64_t toStep, const char* from, int64_t fromStep, int64_t elements,
           int64_t bytes) override {
    if (NearMemory* near = near_[static_cast<size_t>(rank)].get())
      return near->put({const_cast<char*>(from), fromStep, to, toStep, elements, bytes});
    if (messages_)
      return messages_->put(rank, to, toStep, from, fromStep, elements, bytes);
    if (isDenseThere(elements, bytes, fromStep, toStep))
      return eachPiece(elements, bytes, [&](int64_t at, int64_t count, std::unique_ptr<char[]> piece) {
        for (int64_t i = 0; i < count; ++i)
          std::memcpy(piece.get() + i * bytes, from + (at + i) * fromStep, static_cast<size_t>(bytes));
        MPI_Put(piece.get(), static_cast<int>(count * bytes), MPI_BYTE, static_cast<int>(rank),
                addressOf(to + at * bytes), static_cast<int>(count * bytes), MPI_BYTE, window_);
        between_.push_back({std::move(piece), nullptr, 0, count, bytes});
      });
    eachPart(elements, bytes, fromStep, toStep, [&](int64_t at, const Type& here, const Type& there) {
      MPI_Put(from + at * fromStep, here.count, here.type, static_cast<int>(rank), addressOf(to + at * toStep),
              there.count, there.type, window_);
    });
  }

  void flush() override {
    for (const std::unique_ptr<NearMemory>& near : near_)
      if (near)
        near->flush();
    if (areAllNear_)
      return;
    if (messages_)
      return messages_->flush();
    const std::lock_guard guard(lock_);
    complete();
  }

  void barrier() override { MPI_Barrier(MPI_COMM_WORLD); }

  void end() override {
    messages_.reset();
    if (window_ != MPI_WIN_NULL) {
      MPI_Win_unlock_all(window_);
      MPI_Win_free(&window_);
    }
    MPI_Finalize();
  }

private:
  /// The window; where MPI has none that any memory can be added to, as Open MPI over TCP, memory is reached by
  /// messages.
  void makeWindow() {
    const char* const only = std::getenv("STRATA_MPI_MESSAGES");
    int has = 0;
    if (!only || *only != '1') {
      MPI_Comm_set_errhandler(MPI_COMM_WORLD, MPI_ERRORS_RETURN);
      has = MPI_Win_create_dynamic(MPI_INFO_NULL, MPI_COMM_WORLD, &window_) == MPI_SUCCESS;
      MPI_Comm_set_errhandler(MPI_COMM_WORLD, MPI_ERRORS_ARE_FATAL);
    }
    int haveAll = 0;
    MPI_Allreduce(&has, &haveAll, 1, MPI_INT, MPI_MIN, MPI_COMM_WORLD);
    if (haveAll) {
      MPI_Win_lock_all(MPI_MODE_NOCHECK, window_);
      return;
    }
    window_ = MPI_WIN_NULL;
    messages_ = std::make_unique<MessageMemory>();
  }

  /// Finds the ranks on this computer, and those of them whose memory this one may reach.
  void findNear() {
    const char* const only = std::getenv("STRATA_MPI_ONLY");
    const bool isMpiOnly = only && *only == '1';
    NearMemory::permit();
    struct Peer {
      int64_t rank, process, word;
    };
    const int64_t word = 0x537472617461 + own_; // found there by those that may read it
    const Peer self{own_, getpid(), reinterpret_cast<int64_t>(&word)};
    MPI_Comm computer = MPI_COMM_NULL;
    MPI_Comm_split_type(MPI_COMM_WORLD, MPI_COMM_TYPE_SHARED, 0, MPI_INFO_NULL, &computer);
    int alike = 0;
    MPI_Comm_size(computer, &alike);
    std::vector<Peer> peers(static_cast<size_t>(alike));
    MPI_Allgather(&self, sizeof self, MPI_BYTE, peers.data(), sizeof self, MPI_BYTE, computer);
    isOneComputer_ = alike == count_ && !isMpiOnly;
    near_.resize(static_cast<size_t>(count_));
    int reached = 1;
    for (const Peer& peer : peers) {
      if (peer.rank == own_ || isMpiOnly)
        continue;
      auto near = std::make_unique<NearMemory>(static_cast<pid_t>(peer.process));
      if (!near->reaches(reinterpret_cast<const int64_t*>(peer.word), 0x537472617461 + peer.rank))
        continue;
      near_[static_cast<size_t>(peer.rank)] = std::move(near);
      ++reached;
    }
    areAllNear_ = reached == count_;
    MPI_Barrier(computer); // all have read
    MPI_Comm_free(&computer);
  }

  /// What others have written here is seen, and they see what this rank has: where a message says that something is
  /// there.
  void see() {
    std::atomic_thread_fence(std::memory_order_seq_cst);
    if (messages_)
      return;
    const std::lock_guard guard(lock_);
    MPI_Win_sync(window_);
  }

  /// Elements that are under way together: what was written, and what is put where it belongs when it has come.
  struct Between {
    std::unique_ptr<char[]> piece;
    char* to; // null: written
    int64_t toStep, elements, bytes;
  };

  /// Whether small elements lie together on the other side alone, and there are enough to move them twice.
  static bool isDenseThere(int64_t elements, int64_t bytes, int64_t hereStep, int64_t thereStep) {
    constexpr int64_t leastElements = 8, mostBytes = 4096;
    return thereStep == bytes && hereStep != bytes && elements >= leastElements && bytes <= mostBytes;
  }

  /// Moves pieces by way of memory between, of which there is never much.
  template <typename Start>
  void eachPiece(int64_t elements, int64_t bytes, Start start) {
    const std::lock_guard guard(lock_);
    const int64_t each = std::max<int64_t>(1, mostBetween / bytes);
    for (int64_t at = 0; at < elements; at += each) {
      const int64_t count = std::min(each, elements - at);
      if (bytesBetween_ + count * bytes > 4 * mostBetween)
        complete();
      bytesBetween_ += count * bytes;
      start(at, count, std::make_unique_for_overwrite<char[]>(static_cast<size_t>(count * bytes)));
    }
  }

  /// Waits for all operations. REQUIRES: the lock is held.
  void complete() {
    MPI_Win_flush_all(window_);
    for (const Between& each : between_)
      for (int64_t i = 0; each.to && i < each.elements; ++i)
        std::memcpy(each.to + i * each.toStep, each.piece.get() + i * each.bytes, static_cast<size_t>(each.bytes));
    between_.clear();
    bytesBetween_ = 0;
  }

  /// So many of a type.
  struct Type {
    int count;
    MPI_Datatype type;
  };

  static MPI_Aint addressOf(const char* at) {
    MPI_Aint address = 0;
    MPI_Get_address(at, &address);
    return address;
  }

  /// Elements on one side: bytes where they follow each other, else a vector, which is to be freed.
  static Type typeOf(int64_t elements, int64_t bytes, int64_t step, bool& isOwn) {
    isOwn = step != bytes;
    if (!isOwn)
      return {static_cast<int>(elements * bytes), MPI_BYTE};
    Type made{1, MPI_DATATYPE_NULL};
    MPI_Type_create_hvector(static_cast<int>(elements), static_cast<int>(bytes), step, MPI_BYTE, &made.type);
    MPI_Type_commit(&made.type);
    return made;
  }

  template <typename Start>
  void eachPart(int64_t elements, int64_t bytes, int64_t hereStep, int64_t thereStep, Start start) {
    const std::lock_guard guard(lock_);
    const int64_t each = std::max<int64_t>(1, most / bytes);
    for (int64_t at = 0; at < elements; at += each) {
      const int64_t count = std::min(each, elements - at);
      bool isOwnHere = false, isOwnThere = false;
      Type here = typeOf(count, bytes, hereStep, isOwnHere), there = typeOf(count, bytes, thereStep, isOwnThere);
      start(at, here, there);
      if (isOwnHere)
        MPI_Type_free(&here.type); // when the operation has ended
      if (isOwnThere)
        MPI_Type_free(&there.type);
    }
  }

  int own_ = 0, count_ = 1;
  bool isOneComputer_ = false, areAllNear_ = false;
  std::vector<std::unique_ptr<NearMemory>> near_; // by rank; null: through MPI
  MPI_Win window_ = MPI_WIN_NULL;
  std::unique_ptr<MessageMemory> messages_; // instead of the window
  std::mutex lock_, taking_;
  std::vector<Between> between_;
  int64_t bytesBetween_ = 0;
  std::vector<std::mutex> sending_; // by rank
};

} // namespace
} // namespace strata::cluster

namespace strata::cluster {

/// Whether all ranks have one identity. Rank 0 tells where not, before any of them ends.
static bool areAlike(const Beginning& beginning, int size) {
  std::vector<Identity> all(static_cast<size_t>(size));
  MPI_Allgather(&beginning.own, sizeof(Identity), MPI_BYTE, all.data(), sizeof(Identity), MPI_BYTE, MPI_COMM_WORLD);
  const Identity& first = all.front();
  const auto other = std::find_if(all.begin(), all.end(), [&](const Identity& each) {
    return each.code != first.code || each.command != first.command;
  });
  int own = 0;
  MPI_Comm_rank(MPI_COMM_WORLD, &own);
  if (other != all.end() && own == 0)
    beginning.tellDifference(beginning.to, other->code != first.code ? Difference::Code : Difference::Command,
                             other - all.begin());
  return other == all.end();
}

} // namespace strata::cluster

extern "C" strata::cluster::Transport* strata_make_transport(strata::cluster::Beginning& beginning) {
  int provided = 0, size = 1;
  if (MPI_Init_thread(nullptr, nullptr, MPI_THREAD_MULTIPLE, &provided) != MPI_SUCCESS ||
      provided != MPI_THREAD_MULTIPLE) {
    beginning.why = "MPI does not start with support for threads";
    return nullptr;
  }
  MPI_Comm_size(MPI_COMM_WORLD, &size);
  if (size < 2) {
    beginning.why =
        "MPI has started this one only: the environment is that of a run with several, or another MPI's mpirun has "
        "started it";
    MPI_Finalize();
    return nullptr;
  }
  if (!strata::cluster::areAlike(beginning, size)) {
    MPI_Finalize(); // when all have come to it
    return nullptr;
  }
  return new strata::cluster::MpiTransport;
}
