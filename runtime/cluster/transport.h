// What a cluster's ranks need of a network: messages, and copies from and to each other's memory. MPI is one
// (mpi_transport.cpp), in a library of its own that is loaded by who runs under it; a test has another. Any thread.
#pragma once

#include <cstddef>
#include <cstdint>
#include <vector>

namespace strata::cluster {

class Transport {
public:
  virtual ~Transport() = default;
  virtual int64_t own() const = 0;
  virtual int64_t count() const = 0;
  /// Whether all ranks are on one computer.
  virtual bool isOneComputer() const = 0;

  /// Sends a message of a kind, from 0 to 32767. The bytes may be used again when it returns.
  virtual void send(int64_t rank, int kind, const void* bytes, size_t count) = 0;
  /// Takes the next message of a kind that a rank has sent, -1: any, if one has come. Those of one rank and kind come
  /// in the order in which they were sent.
  virtual bool take(int64_t rank, int kind, std::vector<char>& message) = 0;

  /// Lets other ranks read and write a stretch of this rank's memory. Every rank calls it as often, at one time.
  virtual void expose(void* first, size_t bytes) = 0;
  /// Start to copy `elements` elements of `bytes` bytes at distances of `step` bytes from or to exposed memory of
  /// another rank, at its addresses. flush() returns when all that this rank has started is done.
  virtual void get(int64_t rank, char* to, int64_t toStep, const char* from, int64_t fromStep, int64_t elements,
                   int64_t bytes) = 0;
  virtual void put(int64_t rank, char* to, int64_t toStep, const char* from, int64_t fromStep, int64_t elements,
                   int64_t bytes) = 0;
  virtual void flush() = 0;

  /// Returns when every rank has called it.
  virtual void barrier() = 0;
  /// Ends this rank's use of the network. REQUIRES: every rank does, and nothing is under way.
  virtual void end() = 0;
};

/// What processes that are started together have to have in common.
struct Identity {
  uint64_t code, command; // fingerprints
};
enum class Difference : uint8_t { Code, Command };

/// How a process asks for its transport.
struct Beginning {
  Identity own;
  /// Called in rank 0 where a rank, the first of those, runs something else: no transport is made then, in any of them.
  void (*tellDifference)(void* to, Difference difference, int64_t rank);
  void* to;
  const char* why = ""; // there is none: set where nobody has told it
};

/// What the library of a transport defines: the process's transport, or null.
using MakeTransport = Transport* (*)(Beginning& beginning);
inline constexpr const char* makeTransportName = "strata_make_transport";

} // namespace strata::cluster
