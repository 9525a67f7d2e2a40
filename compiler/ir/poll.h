// svm.poll, generated from poll.td.
#pragma once

#include "compiler/ir/svm.h"

#define GET_OP_CLASSES
#include "compiler/ir/poll.h.inc"
