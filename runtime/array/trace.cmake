# Traces of runs on arrays as files.
strata_library(strata_array_trace
  SOURCES trace_read.cpp trace_text.cpp trace_write.cpp
  LINK strata_array_files strata_array_simulate)

strata_test(runtime_array_trace_test
  SOURCES simulate_test_support.cpp trace_damage_test.cpp trace_test.cpp
  LINK strata_array_trace)
# What makes the sound trace is a test fixture.
strata_fuzzer(array_trace_fuzz SOURCES trace_fuzz.cpp simulate_test_support.cpp LINK strata_array_trace GTest::gtest)
