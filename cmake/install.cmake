# cmake --install: the command with its manual pages, docs and examples, the headers, the runtime library, the machines, and
# what finds them from other projects. All of it
# is found relative to itself, so that the installed tree can be moved.
include(CMakePackageConfigHelpers)

install(DIRECTORY include/ DESTINATION include FILES_MATCHING PATTERN "*.h")
install(DIRECTORY ${CMAKE_BINARY_DIR}/include/svm DESTINATION include FILES_MATCHING PATTERN "*.h") # of the machines
install(DIRECTORY machines/ DESTINATION share/strata/machines)
install(FILES ${CMAKE_BINARY_DIR}/lib/libstrata.a ${CMAKE_BINARY_DIR}/lib/libstrata-hpvm.a ${CMAKE_BINARY_DIR}/lib/libstrata-svm.a
  ${CMAKE_BINARY_DIR}/lib/libstrata-svm-checked.a ${CMAKE_BINARY_DIR}/lib/libstrata-array.a DESTINATION lib)
configure_file(cmake/package/strata.pc.in ${CMAKE_BINARY_DIR}/package/strata.pc @ONLY)
configure_file(cmake/package/strata-array.pc.in ${CMAKE_BINARY_DIR}/package/strata-array.pc @ONLY)
install(FILES ${CMAKE_BINARY_DIR}/package/strata.pc ${CMAKE_BINARY_DIR}/package/strata-array.pc DESTINATION lib/pkgconfig)
foreach(form svm svm-checked) # what programs of streams are linked with
  set(STRATA_SVM_FORM ${form})
  configure_file(cmake/package/strata-svm.pc.in ${CMAKE_BINARY_DIR}/package/strata-${form}.pc @ONLY)
  install(FILES ${CMAKE_BINARY_DIR}/package/strata-${form}.pc DESTINATION lib/pkgconfig)
endforeach()
if(STRATA_COMPILER)
  set_target_properties(strata_compiler PROPERTIES INSTALL_RPATH_USE_LINK_PATH ON)
  install(TARGETS strata RUNTIME DESTINATION bin)
  install(TARGETS strata_compiler RUNTIME DESTINATION lib)
  if(TARGET strata_mpi)
    install(TARGETS strata_mpi LIBRARY DESTINATION lib)
  endif()
  # What strata cc has Clang load and start.
  install(TARGETS strata_carry_ir LIBRARY DESTINATION lib)
  install(FILES ${CMAKE_BINARY_DIR}/lib/strata-ld DESTINATION lib)
  # What help cites, and what shells and man read; the latter is made by the command itself.
  install(DIRECTORY docs/ DESTINATION share/doc/strata)
  install(DIRECTORY examples/ DESTINATION share/strata/examples)
  install(CODE [[
    set(strata ${CMAKE_INSTALL_PREFIX}/bin/strata)
    set(share ${CMAKE_INSTALL_PREFIX}/share)
    if(DEFINED ENV{DESTDIR})
      set(strata $ENV{DESTDIR}/${strata})
      set(share $ENV{DESTDIR}/${share})
    endif()
    file(MAKE_DIRECTORY ${share}/man/man1 ${share}/bash-completion/completions ${share}/zsh/site-functions
      ${share}/fish/vendor_completions.d)
    execute_process(COMMAND ${strata} help --man -o ${share}/man/man1/strata.1 COMMAND_ERROR_IS_FATAL ANY)
    foreach(command run check build map instantiate machine show help completion)
      execute_process(COMMAND ${strata} help --man ${command} -o ${share}/man/man1/strata-${command}.1
        COMMAND_ERROR_IS_FATAL ANY)
    endforeach()
    execute_process(COMMAND ${strata} completion bash -o ${share}/bash-completion/completions/strata
      COMMAND_ERROR_IS_FATAL ANY)
    execute_process(COMMAND ${strata} completion zsh -o ${share}/zsh/site-functions/_strata COMMAND_ERROR_IS_FATAL ANY)
    execute_process(COMMAND ${strata} completion fish -o ${share}/fish/vendor_completions.d/strata.fish
      COMMAND_ERROR_IS_FATAL ANY)
  ]])
  write_basic_package_version_file(${CMAKE_BINARY_DIR}/package/StrataConfigVersion.cmake COMPATIBILITY SameMinorVersion)
  install(FILES cmake/package/StrataConfig.cmake cmake/package/StrataAddProgram.cmake
    ${CMAKE_BINARY_DIR}/package/StrataConfigVersion.cmake DESTINATION lib/cmake/Strata)
endif()
