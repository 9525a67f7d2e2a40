// The engines that carry out moves beside the processors, as a machine's DMA engines do: threads of their own, which
// are no workers. With nothing to do they sleep. An execution that waits for a move that no engine has begun carries it
// out itself, so a computer with few cores loses nothing. All functions may be called from any thread.
//
// Invariants:
// 1. A queued move belongs to the queue; whoever takes it off, engine or waiter, carries it out and completes its
// token.
// 2. A token's `work` is its queued move, and null from the moment somebody has taken it; the queue's lock guards it.
#pragma once

#include "runtime/abi.h"
#include "runtime/core/scheduler.h"
#include "runtime/core/transfer.h"

namespace strata::runtime {

/// Starts a move on the engines of the role's machine, after the tokens given. Without a way it is not traced.
StrataToken* startMove(MovePlan plan, void* destination, const void* source, const StrataWay* way, const Role& role,
                       StrataToken* const* after, int32_t afterCount);

/// How many engines serve a machine: as many as its processors carry on moves at once, but no more than half of this
/// computer's cores, and one at least.
uint32_t enginesFor(const StrataMachine* machine);

} // namespace strata::runtime
