# cmake --install: the command, the headers, the runtime library, the machines, and what finds them from other projects. All of it
# is found relative to itself, so that the installed tree can be moved.
include(CMakePackageConfigHelpers)

install(DIRECTORY include/ DESTINATION include FILES_MATCHING PATTERN "*.h")
install(DIRECTORY ${CMAKE_BINARY_DIR}/include/svm DESTINATION include FILES_MATCHING PATTERN "*.h") # of the machines
install(DIRECTORY machines/ DESTINATION share/strata/machines)
install(FILES ${CMAKE_BINARY_DIR}/lib/libstrata.a ${CMAKE_BINARY_DIR}/lib/libstrata-svm.a
  ${CMAKE_BINARY_DIR}/lib/libstrata-svm-checked.a DESTINATION lib)
configure_file(cmake/package/strata.pc.in ${CMAKE_BINARY_DIR}/package/strata.pc @ONLY)
install(FILES ${CMAKE_BINARY_DIR}/package/strata.pc DESTINATION lib/pkgconfig)
foreach(form svm svm-checked) # what programs of streams are linked with
  set(STRATA_SVM_FORM ${form})
  configure_file(cmake/package/strata-svm.pc.in ${CMAKE_BINARY_DIR}/package/strata-${form}.pc @ONLY)
  install(FILES ${CMAKE_BINARY_DIR}/package/strata-${form}.pc DESTINATION lib/pkgconfig)
endforeach()
if(STRATA_COMPILER)
  set_target_properties(strata PROPERTIES INSTALL_RPATH_USE_LINK_PATH ON)
  install(TARGETS strata RUNTIME DESTINATION bin)
  write_basic_package_version_file(${CMAKE_BINARY_DIR}/package/StrataConfigVersion.cmake COMPATIBILITY SameMinorVersion)
  install(FILES cmake/package/StrataConfig.cmake cmake/package/StrataAddProgram.cmake
    ${CMAKE_BINARY_DIR}/package/StrataConfigVersion.cmake DESTINATION lib/cmake/Strata)
endif()
