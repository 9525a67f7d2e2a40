# Helpers for every folder: strata_library, strata_executable, strata_test. They set the warnings, the sanitizers and the
# shared precompiled headers in one place.
find_package(Threads REQUIRED)

add_library(strata_options INTERFACE)
target_include_directories(strata_options INTERFACE ${CMAKE_SOURCE_DIR} ${CMAKE_BINARY_DIR})
target_compile_options(strata_options INTERFACE
  -Wall -Wextra -Werror -Wno-unused-parameter -fno-omit-frame-pointer)
if(STRATA_SANITIZE)
  target_compile_options(strata_options INTERFACE -fsanitize=${STRATA_SANITIZE} -fno-sanitize-recover=undefined)
  target_link_options(strata_options INTERFACE -fsanitize=${STRATA_SANITIZE})
  # The shared LLVM library is not instrumented: vptr checks and container annotations would misfire across it. Accesses through null
  # pointers and outside of objects the address sanitizer sees; their checks here stand at every access and take a quarter of the time
  # to compile.
  if(STRATA_SANITIZE MATCHES undefined)
    target_compile_options(strata_options INTERFACE -fno-sanitize=vptr,function,null,object-size)
  endif()
  if(STRATA_SANITIZE MATCHES address)
    target_compile_definitions(strata_options INTERFACE STRATA_ADDRESS_SANITIZER=1)
  endif()
  if(STRATA_SANITIZE MATCHES thread)
    target_compile_definitions(strata_options INTERFACE STRATA_THREAD_SANITIZER=1)
  endif()
endif()

# What lies in memory at chosen places, where elements may not be aligned, is the runtime's.
add_library(strata_aligned_options INTERFACE)
if(STRATA_SANITIZE MATCHES undefined)
  target_compile_options(strata_aligned_options INTERFACE -fno-sanitize=alignment)
endif()

# What fuzzers link tells them which of it they have reached.
add_library(strata_fuzzed_options INTERFACE)
if(STRATA_FUZZERS)
  target_compile_options(strata_fuzzed_options INTERFACE -fsanitize=fuzzer-no-link)
endif()

# Test programs are a third of the code and are compiled for one run: their own code is not optimised, nor do the address and
# undefined-behaviour sanitizers look at it. What they test is; the thread sanitizer has to see all.
find_package(GTest REQUIRED)
add_library(strata_test_options INTERFACE)
target_compile_options(strata_test_options INTERFACE -O0)
if(STRATA_SANITIZE MATCHES address)
  target_compile_options(strata_test_options INTERFACE -fno-sanitize=all)
endif()
target_link_libraries(strata_test_options INTERFACE GTest::gtest)

# Precompiled headers: the standard library for everyone, MLIR for the compiler (compiler/CMakeLists.txt), both once more for tests, and
# the first once more for what fuzzers link, and for what sanitizers look at without optimisation.
file(WRITE ${CMAKE_BINARY_DIR}/pch/empty.cpp "")
add_library(strata_pch_plain OBJECT ${CMAKE_BINARY_DIR}/pch/empty.cpp)
target_link_libraries(strata_pch_plain PRIVATE strata_options)
target_precompile_headers(strata_pch_plain PRIVATE ${CMAKE_SOURCE_DIR}/cmake/pch_plain.h)
if(STRATA_FUZZERS)
  add_library(strata_pch_plain_fuzzed OBJECT ${CMAKE_BINARY_DIR}/pch/empty.cpp)
  target_link_libraries(strata_pch_plain_fuzzed PRIVATE strata_options strata_fuzzed_options)
  target_precompile_headers(strata_pch_plain_fuzzed PRIVATE ${CMAKE_SOURCE_DIR}/cmake/pch_plain.h)
endif()
if(STRATA_SANITIZE)
  add_library(strata_pch_plain_unoptimised OBJECT ${CMAKE_BINARY_DIR}/pch/empty.cpp)
  target_link_libraries(strata_pch_plain_unoptimised PRIVATE strata_options strata_fuzzed_options)
  target_compile_options(strata_pch_plain_unoptimised PRIVATE -O0)
  target_precompile_headers(strata_pch_plain_unoptimised PRIVATE ${CMAKE_SOURCE_DIR}/cmake/pch_plain.h)
endif()
add_library(strata_pch_plain_test OBJECT ${CMAKE_BINARY_DIR}/pch/empty.cpp)
target_link_libraries(strata_pch_plain_test PRIVATE strata_options strata_test_options)
target_precompile_headers(strata_pch_plain_test PRIVATE ${CMAKE_SOURCE_DIR}/cmake/pch_plain.h ${CMAKE_SOURCE_DIR}/cmake/pch_test.h)

# strata_library(NAME SOURCES a.cpp … LINK x y … [MLIR])
function(strata_library name)
  cmake_parse_arguments(ARG "MLIR" "" "SOURCES;LINK" ${ARGN})
  add_library(${name} STATIC ${ARG_SOURCES})
  strata_configure(${name} "${ARG_MLIR}" "${ARG_LINK}")
endfunction()

# strata_executable(NAME SOURCES a.cpp … LINK x y … [MLIR])
function(strata_executable name)
  cmake_parse_arguments(ARG "MLIR" "" "SOURCES;LINK" ${ARGN})
  add_executable(${name} ${ARG_SOURCES})
  strata_configure(${name} "${ARG_MLIR}" "${ARG_LINK}")
endfunction()

# strata_test(NAME SOURCES a_test.cpp … LINK x y … [MLIR] [AS_LIBRARY]): a GoogleTest program, run by ctest as one test that prints
# what failed and nothing else. AS_LIBRARY: compiled as the libraries are, because it tests inline code of headers or computes for long.
function(strata_test name)
  cmake_parse_arguments(ARG "MLIR;AS_LIBRARY" "" "SOURCES;LINK" ${ARGN})
  add_executable(${name} ${ARG_SOURCES})
  if(ARG_AS_LIBRARY)
    strata_configure(${name} "${ARG_MLIR}" "${ARG_LINK};GTest::gtest;GTest::gtest_main")
  else()
    strata_configure(${name} "${ARG_MLIR}" "${ARG_LINK};strata_test_options;GTest::gtest_main" _test)
  endif()
  set_target_properties(${name} PROPERTIES RUNTIME_OUTPUT_DIRECTORY ${CMAKE_BINARY_DIR}/tests)
  target_compile_definitions(${name} PRIVATE STRATA_SOURCE_DIR="${CMAKE_SOURCE_DIR}" STRATA_BINARY_DIR="${CMAKE_BINARY_DIR}")
  add_test(NAME ${name} COMMAND ${name} --gtest_brief=1)
  # testing::TempDir(), for this test alone: files with fixed names meet nobody else's.
  file(MAKE_DIRECTORY ${CMAKE_BINARY_DIR}/tests/files/${name})
  set_tests_properties(${name} PROPERTIES ENVIRONMENT TEST_TMPDIR=${CMAKE_BINARY_DIR}/tests/files/${name}/)
  if(STRATA_SANITIZE AND CMAKE_CURRENT_SOURCE_DIR MATCHES "^${CMAKE_SOURCE_DIR}/compiler/")
    set_target_properties(${name} PROPERTIES STRATA_NIGHTLY ON)
  endif()
  get_target_property(nightly ${name} STRATA_NIGHTLY)
  if(nightly)
    set_tests_properties(${name} PROPERTIES LABELS nightly)
  endif()
endfunction()

# strata_fuzzer(NAME SOURCES a_fuzz.cpp LINK …): a libFuzzer target, built only when STRATA_FUZZERS is on.
function(strata_fuzzer name)
  cmake_parse_arguments(ARG "MLIR" "" "SOURCES;LINK" ${ARGN})
  if(NOT STRATA_FUZZERS)
    return()
  endif()
  add_executable(${name} ${ARG_SOURCES})
  strata_configure(${name} "${ARG_MLIR}" "${ARG_LINK}")
  target_compile_definitions(${name} PRIVATE STRATA_SOURCE_DIR="${CMAKE_SOURCE_DIR}")
  target_link_options(${name} PRIVATE -fsanitize=fuzzer)
  set_target_properties(${name} PROPERTIES RUNTIME_OUTPUT_DIRECTORY ${CMAKE_BINARY_DIR}/fuzz)
endfunction()

# With _test as fourth argument: with the precompiled headers of tests.
function(strata_configure name mlir link)
  # Not the runtime's libraries, but where sanitizers look for faults: programs link single files of their archives, and what the
  # optimiser may look into is a matter of their speed.
  get_target_property(type ${name} TYPE)
  set(together ${STRATA_UNITY})
  if(type STREQUAL STATIC_LIBRARY AND CMAKE_CURRENT_SOURCE_DIR MATCHES "^${CMAKE_SOURCE_DIR}/runtime/" AND NOT STRATA_SANITIZE)
    set(together OFF)
  endif()
  if(together)
    set_target_properties(${name} PROPERTIES UNITY_BUILD ON UNITY_BUILD_BATCH_SIZE ${STRATA_UNITY_FILES})
  endif()
  target_link_libraries(${name} PRIVATE strata_options Threads::Threads)
  file(RELATIVE_PATH folder ${CMAKE_SOURCE_DIR} ${CMAKE_CURRENT_SOURCE_DIR})
  if(NOT folder MATCHES "^runtime/" OR folder MATCHES "^runtime/array")
    target_link_libraries(${name} PRIVATE strata_aligned_options)
  endif()
  set(fuzzed OFF)
  if(STRATA_FUZZERS AND NOT ARGN AND folder MATCHES "^(base|compiler|runtime/array)")
    set(fuzzed ON)
    target_link_libraries(${name} PRIVATE strata_fuzzed_options)
  endif()
  target_link_libraries(${name} PUBLIC ${link})
  if(mlir)
    target_include_directories(${name} SYSTEM PRIVATE ${MLIR_INCLUDE_DIRS} ${LLVM_INCLUDE_DIRS})
    target_link_libraries(${name} PUBLIC strata_mlir)
    # With a sanitizer, what uses MLIR is compiled and tried by night: it takes most of the time, and by day its front ends, the runtime and
    # the code that it generates are tried.
    if(STRATA_SANITIZE)
      set_target_properties(${name} PROPERTIES STRATA_NIGHTLY ON)
    endif()
    target_precompile_headers(${name} REUSE_FROM strata_pch_mlir${ARGN})
    if(NOT name STREQUAL strata_ir)
      add_dependencies(${name} strata_ir_tablegen)
    endif()
  elseif(STRATA_SANITIZE AND NOT ARGN AND folder MATCHES "^compiler/")
    # Front ends and what maps to processor arrays, which the day tries: the sanitizers' checks take LLVM's optimiser three quarters of the time,
    # and their tests take as long without it.
    target_compile_options(${name} PRIVATE -O0)
    target_precompile_headers(${name} REUSE_FROM strata_pch_plain_unoptimised)
  elseif(fuzzed)
    target_precompile_headers(${name} REUSE_FROM strata_pch_plain_fuzzed)
  else()
    target_precompile_headers(${name} REUSE_FROM strata_pch_plain${ARGN})
  endif()
endfunction()
