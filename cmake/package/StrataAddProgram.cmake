# strata_add_program(TARGET PROGRAM [MAPPING file] [MACHINE name|file] [ENTRY name] [INTERFACE plain|sequoia] [CPU name] [SIZES N=1024 …] [FUNCTIONS file.c …])
#
# Makes the static library TARGET of a program in Sequoia or HBIR. Who links it can include the header of its entry points, which
# has the program's name: vectadd.sq gives vectadd.h. It is built anew when the program changes, or what it includes, its
# mapping, its machine, or strata itself. FUNCTIONS are the files of C functions that an HBIR program calls. INTERFACE is how arrays are
# passed: without it as sqArray_t for Sequoia, else as sizes and pointers. CPU is the processor that the code is for, as strata build --cpu
# takes it; without it, STRATA_CPU where that is set, else the processor of the computer that builds.
function(strata_add_program target program)
  cmake_parse_arguments(PARSE_ARGV 2 ARG "" "MAPPING;MACHINE;ENTRY;INTERFACE;CPU" "SIZES;FUNCTIONS")
  if(ARG_UNPARSED_ARGUMENTS)
    message(FATAL_ERROR "strata_add_program(${target}): unknown arguments: ${ARG_UNPARSED_ARGUMENTS}")
  endif()
  get_filename_component(source "${program}" ABSOLUTE)
  if(NOT EXISTS "${source}" AND NOT IS_ABSOLUTE "${program}")
    get_filename_component(source "${program}" ABSOLUTE BASE_DIR "${CMAKE_CURRENT_BINARY_DIR}") # one that is generated
  endif()
  get_filename_component(name "${program}" NAME_WLE)
  set(folder "${CMAKE_CURRENT_BINARY_DIR}/${target}.strata")
  set(object "${folder}/${name}.o")
  set(depends "${source}" Strata::strata)
  set(options "")
  foreach(file IN LISTS ARG_FUNCTIONS)
    get_filename_component(file "${file}" ABSOLUTE)
    list(APPEND options "${file}")
    list(APPEND depends "${file}")
  endforeach()
  if(ARG_MAPPING)
    get_filename_component(mapping "${ARG_MAPPING}" ABSOLUTE)
    list(APPEND options --map "${mapping}")
    list(APPEND depends "${mapping}")
  endif()
  if(ARG_MACHINE)
    # A name is looked up among the machines that are installed; a path is one of the project's own.
    set(machine "${ARG_MACHINE}")
    if(machine MATCHES "/|\\.ya?ml$")
      get_filename_component(machine "${machine}" ABSOLUTE)
    endif()
    list(APPEND options --machine "${machine}")
  endif()
  if(ARG_ENTRY)
    list(APPEND options --entry "${ARG_ENTRY}")
  endif()
  if(ARG_INTERFACE)
    list(APPEND options --interface "${ARG_INTERFACE}")
  endif()
  if(NOT ARG_CPU AND STRATA_CPU) # of a whole project
    set(ARG_CPU "${STRATA_CPU}")
  endif()
  if(ARG_CPU)
    list(APPEND options --cpu "${ARG_CPU}")
  endif()
  foreach(size IN LISTS ARG_SIZES)
    list(APPEND options --size "${size}")
  endforeach()
  add_custom_command(
    OUTPUT "${object}" "${folder}/${name}.h"
    COMMAND "${CMAKE_COMMAND}" -E make_directory "${folder}"
    COMMAND Strata::strata build "${source}" ${options} -o "${object}" --depfile "${object}.d"
    DEPENDS ${depends}
    DEPFILE "${object}.d"
    COMMENT "Compiling ${program} with Strata"
    VERBATIM)
  set_source_files_properties("${object}" PROPERTIES EXTERNAL_OBJECT ON GENERATED ON)
  add_library(${target} STATIC "${object}" "${folder}/${name}.h")
  get_property(languages GLOBAL PROPERTY ENABLED_LANGUAGES)
  if("C" IN_LIST languages)
    set_target_properties(${target} PROPERTIES LINKER_LANGUAGE C)
  else()
    set_target_properties(${target} PROPERTIES LINKER_LANGUAGE CXX)
  endif()
  target_include_directories(${target} PUBLIC "${folder}")
  target_link_libraries(${target} PUBLIC Strata::runtime)
endfunction()
