// Figures of a run: moves, bytes and kernel runs, counted by the program itself.
#pragma once
#include "mlir/Pass/Pass.h"

namespace strata::transform {
/// Takes a placed program whose copies have been settled. Adds an svm.count for every move ("moves", and "bytes A -> B"
/// by memory) and every run ("runs K"). Without this pass, createEraseCountsPass leaves a program that counts nothing.
std::unique_ptr<mlir::Pass> createInstrumentPass();
/// Takes the same. Puts every move and run into an svm.span, which a trace of the run shows.
std::unique_ptr<mlir::Pass> createTracePass();
/// Erases all svm.count.
std::unique_ptr<mlir::Pass> createEraseCountsPass();
} // namespace strata::transform
