# Files of symbolic configurations, and what is checked before one is used.
strata_library(strata_array_files
  SOURCES files.cpp files_binary.cpp files_read_text.cpp files_write_text.cpp fingerprint.cpp validate.cpp validate_routes.cpp
  LINK strata_runtime_array)

strata_library(strata_array_files_testing SOURCES files_testing.cpp instances_testing.cpp
  LINK strata_array_files strata_array_instantiate strata_array_simulate)
strata_test(runtime_array_files_test AS_LIBRARY
  SOURCES files_damage_test.cpp files_test.cpp validate_test.cpp
  LINK strata_array_files_testing)
strata_fuzzer(symbolic_fuzz SOURCES symbolic_fuzz.cpp
  LINK strata_array_files_testing)
