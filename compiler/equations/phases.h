// How the equations of a kernel are divided among processors: phases that follow one another, of which one may be
// computed in parts at once, each with some values of an iterator. Takes what an order and its storage are; plain data
// comes out. Throws isl::exception.
//
// A phase is divided along an iterator that no use inside of it changes (a communication-free partition, as in Lim and
// Lam 1997, "Maximizing parallelism and minimizing synchronization with affine transforms", with one iterator for all
// equations). Where there is none, the outermost loop becomes steps, and each step is divided: of a stencil, time.
#pragma once

#include "compiler/equations/order.h"
#include "compiler/equations/storage.h"

#include <vector>

namespace strata::equations {

struct Phase {
  enum class Kind {
    Whole, // one processor computes it
    Steps, // `inner`, for one value of the order's next loop after the other
    Parts, // processors compute it at once, each for some values of `iterator`
  };
  Kind kind = Kind::Whole;
  std::vector<uint32_t> equations; // ascending
  unsigned level = 0;              // how many loops of the order are steps around it
  unsigned iterator = 0;           // of Parts
  bool isEven = true;              // of Parts: there is as much to do for each value of the iterator
  bool isAlongRows = false;        // of Parts: neighbouring values of it write to one row of an array
  std::vector<uint32_t> own;       // of Parts: variables of which each part has storage of its own
  std::vector<Phase> inner;        // of Steps
};

/// REQUIRES: all are the system's, flows with these polyhedra. One phase that is Whole where nothing is worth dividing:
/// equations of fewer dimensions than the largest have are never.
std::vector<Phase> planPhases(const System& system, const Polyhedra& polyhedra, const std::vector<Time>& times,
                              const std::vector<Flow>& flows, const std::vector<Storage>& storage);

/// Whether something of a system is divided. False also where no order is found, or that is more than isl computes
/// with.
bool isDivided(const System& system);

/// By variable, whether some value is used in another phase, or step, than the one that defines it.
std::vector<bool> outliving(const System& system, const Polyhedra& polyhedra, const std::vector<Time>& times,
                            const std::vector<Flow>& flows, const std::vector<Phase>& phases);

} // namespace strata::equations
