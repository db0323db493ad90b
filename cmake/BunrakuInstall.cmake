# Install rules and the package that find_package(bunraku) finds. `cmake --install BUILD` installs everything,
# with `--component library` what compiling against the library needs, with `program` the program and what shells
# complete of it, with `documentation` the documents and the man page.

set(bunraku_package_dir "${CMAKE_INSTALL_LIBDIR}/cmake/bunraku")

install(TARGETS bunraku EXPORT bunraku-targets COMPONENT library
  LIBRARY DESTINATION "${CMAKE_INSTALL_LIBDIR}"
  ARCHIVE DESTINATION "${CMAKE_INSTALL_LIBDIR}"
  FILE_SET HEADERS DESTINATION "${CMAKE_INSTALL_INCLUDEDIR}")
install(EXPORT bunraku-targets NAMESPACE bunraku:: DESTINATION "${bunraku_package_dir}" COMPONENT library)

configure_package_config_file(
  "${PROJECT_SOURCE_DIR}/cmake/bunraku-config.cmake.in"
  "${PROJECT_BINARY_DIR}/package/bunraku-config.cmake"
  INSTALL_DESTINATION "${bunraku_package_dir}"
  NO_SET_AND_CHECK_MACRO)
write_basic_package_version_file(
  "${PROJECT_BINARY_DIR}/package/bunraku-config-version.cmake"
  COMPATIBILITY SameMinorVersion)
install(FILES
  "${PROJECT_BINARY_DIR}/package/bunraku-config.cmake"
  "${PROJECT_BINARY_DIR}/package/bunraku-config-version.cmake"
  DESTINATION "${bunraku_package_dir}"
  COMPONENT library)

if(TARGET bunraku_cli)
  # The program finds the library beside it wherever the two are moved together.
  file(RELATIVE_PATH bunraku_bin_to_lib
    "${CMAKE_INSTALL_FULL_BINDIR}" "${CMAKE_INSTALL_FULL_LIBDIR}")
  set_target_properties(bunraku_cli PROPERTIES INSTALL_RPATH "$ORIGIN/${bunraku_bin_to_lib}")
  install(TARGETS bunraku_cli COMPONENT program RUNTIME DESTINATION "${CMAKE_INSTALL_BINDIR}")
  install(FILES "${PROJECT_SOURCE_DIR}/docs/bunraku.1"
    DESTINATION "${CMAKE_INSTALL_MANDIR}/man1" COMPONENT documentation)
  install(FILES "${PROJECT_SOURCE_DIR}/cli/completion/bunraku.bash" RENAME bunraku
    DESTINATION "${CMAKE_INSTALL_DATADIR}/bash-completion/completions" COMPONENT program)
  install(FILES "${PROJECT_SOURCE_DIR}/cli/completion/_bunraku"
    DESTINATION "${CMAKE_INSTALL_DATADIR}/zsh/site-functions" COMPONENT program)
  install(FILES "${PROJECT_SOURCE_DIR}/cli/completion/bunraku.fish"
    DESTINATION "${CMAKE_INSTALL_DATADIR}/fish/vendor_completions.d" COMPONENT program)
endif()

install(DIRECTORY "${PROJECT_SOURCE_DIR}/models/" DESTINATION "${CMAKE_INSTALL_DATADIR}/bunraku/models"
  OPTIONAL)

# The documents lie as they do in the sources, so that their links lead somewhere.
file(GLOB bunraku_documents CONFIGURE_DEPENDS "${PROJECT_SOURCE_DIR}/docs/*.md")
install(FILES ${bunraku_documents} DESTINATION "${CMAKE_INSTALL_DOCDIR}/docs" COMPONENT documentation)
install(FILES
  "${PROJECT_SOURCE_DIR}/README.md"
  "${PROJECT_SOURCE_DIR}/CHANGELOG.md"
  "${PROJECT_SOURCE_DIR}/CONTRIBUTING.md"
  "${PROJECT_SOURCE_DIR}/LICENSE"
  DESTINATION "${CMAKE_INSTALL_DOCDIR}"
  COMPONENT documentation)
