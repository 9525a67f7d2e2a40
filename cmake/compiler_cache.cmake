# Compiler settings that let precompiled headers be shared between targets and rebuilds come from ccache. Included right after
# project().

# A precompiled header is used by libraries and executables alike only when both are compiled as position independent code
# of the same kind.
set(CMAKE_C_COMPILE_OPTIONS_PIE -fPIC)
set(CMAKE_CXX_COMPILE_OPTIONS_PIE -fPIC)

find_program(STRATA_CCACHE ccache)
if(STRATA_CCACHE)
  # Without time stamps a precompiled header built anew is the same file, and everything that includes it is found again.
  add_compile_options("$<$<COMPILE_LANGUAGE:C,CXX>:SHELL:-Xclang -fno-pch-timestamp>")
  # Paths are made relative and the current folder is left out of the hash, so that a second clone finds the first one's work.
  set(STRATA_CCACHE_LAUNCHER
    /usr/bin/env
    CCACHE_SLOPPINESS=pch_defines,time_macros,include_file_mtime,include_file_ctime
    CCACHE_BASEDIR=${CMAKE_SOURCE_DIR}
    CCACHE_NOHASHDIR=1
    ${STRATA_CCACHE})
  set(CMAKE_C_COMPILER_LAUNCHER ${STRATA_CCACHE_LAUNCHER})
  set(CMAKE_CXX_COMPILER_LAUNCHER ${STRATA_CCACHE_LAUNCHER})
endif()
