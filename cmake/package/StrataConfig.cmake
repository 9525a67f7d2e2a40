# find_package(Strata): the targets Strata::strata (the command), Strata::runtime (what compiled programs are linked with),
# Strata::svm and Strata::svm_checked (what programs that include svm.h are linked with), Strata::array (what those that include
# strata_array.h are), and strata_add_program(). Everything is found from this file's own place.
cmake_policy(PUSH)
cmake_policy(VERSION 3.20)

get_filename_component(STRATA_PREFIX "${CMAKE_CURRENT_LIST_DIR}/../../.." ABSOLUTE)
if(NOT TARGET Strata::strata)
  add_executable(Strata::strata IMPORTED GLOBAL)
  set_target_properties(Strata::strata PROPERTIES IMPORTED_LOCATION "${STRATA_PREFIX}/bin/strata")
  add_library(Strata::runtime STATIC IMPORTED GLOBAL)
  set_target_properties(Strata::runtime PROPERTIES
    IMPORTED_LOCATION "${STRATA_PREFIX}/lib/libstrata.a"
    INTERFACE_INCLUDE_DIRECTORIES "${STRATA_PREFIX}/include"
    INTERFACE_LINK_LIBRARIES "stdc++;m;pthread")
  add_library(Strata::array STATIC IMPORTED GLOBAL)
  set_target_properties(Strata::array PROPERTIES
    IMPORTED_LOCATION "${STRATA_PREFIX}/lib/libstrata-array.a"
    INTERFACE_INCLUDE_DIRECTORIES "${STRATA_PREFIX}/include"
    INTERFACE_LINK_LIBRARIES "Strata::runtime;yaml-cpp;hwloc")
  foreach(form svm svm_checked)
    string(REPLACE _ - file ${form})
    add_library(Strata::${form} STATIC IMPORTED GLOBAL)
    set_target_properties(Strata::${form} PROPERTIES
      IMPORTED_LOCATION "${STRATA_PREFIX}/lib/libstrata-${file}.a"
      INTERFACE_INCLUDE_DIRECTORIES "${STRATA_PREFIX}/include"
      # thread_local variables are each kernel's, where the compiler can do that.
      INTERFACE_COMPILE_OPTIONS "-fstack-clash-protection;$<$<OR:$<COMPILE_LANG_AND_ID:C,Clang>,$<COMPILE_LANG_AND_ID:CXX,Clang>>:-femulated-tls>"
      INTERFACE_LINK_LIBRARIES "Strata::runtime;yaml-cpp;hwloc")
  endforeach()
endif()
include("${CMAKE_CURRENT_LIST_DIR}/StrataAddProgram.cmake")

cmake_policy(POP)
