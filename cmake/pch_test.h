// What every test program includes besides, compiled once.
#pragma once
#ifdef __cplusplus
#include <gtest/gtest.h>
#endif
