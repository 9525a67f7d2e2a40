// Ranks: the processes that a machine is spread over, where one of its processor classes is one of processes. Rank 0
// runs the control of a program, and keeps what is in memories without an instance for each of them; every rank runs
// its share of the class's instances, with the memories that belong to these. The instances go to the ranks in order,
// evenly. What runs elsewhere, and what lies there, is reached through this interface; runtime/cluster/ implements it.
// Any thread and any fibre may call.
#pragma once

#include "runtime/abi.h"
#include "runtime/core/scheduler.h"
#include "runtime/core/window.h"

#include <cstdint>
#include <memory>
#include <string_view>

namespace strata::runtime {

/// Instances of a strata_spmd that one rank runs.
struct RankPart {
  void (*body)(void* arguments, int64_t instance) = nullptr;
  const void* arguments = nullptr; // a copy of them goes along
  int64_t argumentBytes = 0;
  int64_t first = 0, count = 0; // instances
  uint32_t processor = 0;       // their class
  int64_t number = 0;           // of the processor that the first of them acts as …
  int64_t step = 1;             // … the next ones further by so many, each of which has as many
};

/// Elements at even distances, in bytes.
struct Elements {
  char* first;
  int64_t step;
};

/// A move between a distributed block, here the first window, and one that every rank has.
struct RankExchange {
  const void* block; // where the block's window begins
  WindowExchange move;
};

class Ranks {
public:
  virtual ~Ranks() = default;
  virtual int64_t own() const = 0;
  virtual int64_t count() const = 0;

  /// Runs a part on another rank, and returns when it has ended there. A failure there is one here.
  virtual void run(int64_t rank, const RankPart& part) = 0;
  /// Copies elements of a memory of another rank, which has the addresses that it has here. They are there when
  /// finish() has returned, and may be read or written meanwhile by nobody else.
  virtual void read(int64_t rank, Elements to, Elements from, int64_t elements, int64_t elementBytes) = 0;
  virtual void write(int64_t rank, Elements to, Elements from, int64_t elements, int64_t elementBytes) = 0;
  virtual void finish() = 0;
  /// Control has opened a window of a distributed block, and closed it.
  virtual void opened(const void* window, const StrataLayout& layout, const char* what) = 0;
  /// … or one of data that every rank can reach by itself, with a description for whoever opens it there.
  virtual void openedData(const void* window, int64_t bytes, std::string_view description, const char* what) = 0;
  virtual void closed(const void* window) = 0;
  /// Every rank moves what lies in its share of the block (exchangeOwn); all have when it returns. For rank 0.
  virtual void exchange(const RankExchange& move) = 0;
  /// The window in which every rank has an address of this rank's memory, which is rank 0; no backend: none.
  virtual WindowPlace homeOf(const void* address) = 0;
  /// Whether all ranks are on one computer.
  virtual bool isOneComputer() const = 0;
};

/// The window of a distributed block (strata_window_acquire_distributed), at addresses that are reserved already where
/// `at` is not null: those that it has on the rank that opened it.
char* openDistributed(const StrataLayout& layout, const char* what, void* at);

/// This rank's part of a move between a distributed block and a window that every rank has.
void exchangeOwn(const RankExchange& move);
/// Opens a window whose data every rank can reach by itself, and has the others open it too. The description says what
/// it is (cluster::NodeCode::data).
char* openEverywhere(int64_t bytes, std::unique_ptr<WindowBackend> backend, std::string_view description,
                     const char* what);

/// Runs a part on this rank, its first instance in this role.
void runPart(const RankPart& part, const Role& role);

/// Null: this process is alone.
Ranks* ranks();
/// REQUIRES: no code runs meanwhile. They outlive the process's code.
void setRanks(Ranks* all);

/// The rank of an instance of a class of `instances`, or of a memory that belongs to one.
inline int64_t rankOf(int64_t instance, int64_t instances, const Ranks& all) {
  return instances > 0 && instance > 0 ? instance * all.count() / instances : 0;
}

} // namespace strata::runtime
