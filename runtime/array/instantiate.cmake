# From a symbolic configuration, sizes and a region to a concrete configuration.
strata_library(strata_array_instantiate
  SOURCES banks.cpp border_routes.cpp control_flow.cpp control_routes.cpp control_signals.cpp instantiate.cpp
          processor_classes.cpp programs.cpp region.cpp starts.cpp tiling.cpp variables.cpp verify_tiling.cpp
  LINK strata_runtime_array strata_runtime_core)

strata_library(strata_array_instantiate_test_support SOURCES instantiate_test_support.cpp LINK strata_array_instantiate)
target_link_libraries(strata_array_instantiate_test_support PUBLIC GTest::gtest)
strata_test(runtime_array_instantiate_test
  SOURCES instantiate_errors_test.cpp instantiate_test.cpp starts_test.cpp verify_tiling_test.cpp
  LINK strata_array_instantiate_test_support)
