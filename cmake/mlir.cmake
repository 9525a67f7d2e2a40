# MLIR and LLVM, for every target that uses them: strata_mlir links the shared libraries, or the archives into executables with the property
# STRATA_STATIC_LLVM. The loader takes 30 ms to bind an executable to the shared ones, three quarters of what a short command takes; with
# the archives an executable of 80 MB is bound when it is linked, within two seconds. Tests are linked to the shared ones: there are many.
#
# The archives have no isl of their own, as the shared LLVM has for Polly.
find_package(MLIR 19.1 REQUIRED CONFIG)
find_package(ZLIB REQUIRED)
find_library(STRATA_ZSTD zstd REQUIRED)

file(GLOB archives ${LLVM_LIBRARY_DIR}/libMLIR*.a ${LLVM_LIBRARY_DIR}/libLLVM*.a)
list(FILTER archives EXCLUDE REGEX "Test|CAPI|Python|gtest")
add_library(strata_mlir INTERFACE)
# Sanitizers see calls into a shared library, and nothing of its own inline functions.
if(archives AND NOT STRATA_SANITIZE)
  set(static "$<BOOL:$<TARGET_PROPERTY:STRATA_STATIC_LLVM>>")
  target_link_libraries(strata_mlir INTERFACE "$<IF:${static},${archives};ZLIB::ZLIB;${STRATA_ZSTD},MLIR;LLVM>")
  target_link_options(strata_mlir INTERFACE "$<${static}:-no-pie;-Wl,--gc-sections>")
else()
  target_link_libraries(strata_mlir INTERFACE MLIR LLVM)
endif()
