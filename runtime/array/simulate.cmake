# Runs concrete configurations, cycle by cycle.
strata_library(strata_array_simulate
  SOURCES blocks.cpp check_configuration.cpp iteration_runs.cpp print.cpp simulate.cpp simulate_banks.cpp simulate_load.cpp
          simulate_operations.cpp simulate_program.cpp simulate_registers.cpp simulate_steps.cpp transfers.cpp wires.cpp
  LINK strata_runtime_array)

strata_test(runtime_array_simulate_test
  SOURCES blocks_test.cpp check_configuration_test.cpp simulate_banks_test.cpp simulate_errors_test.cpp simulate_test.cpp simulate_test_support.cpp transfers_test.cpp
  LINK strata_array_simulate)
