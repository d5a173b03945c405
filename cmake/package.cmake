# What `cmake --install` puts where, and the .deb and .tar.gz that cpack makes of it.

# The archive runs on other distributions than the one it was built on: only glibc is taken from there. Sanitizers bring
# their own runtime, which must see the shared libstdc++.
if(NOT LT_AUDIT_SANITIZE)
  target_link_options(lt-audit PRIVATE -static-libstdc++ -static-libgcc)
endif()

# Spelled out: GNUInstallDirs takes the project's name, which has an underscore, and a reader looks for the program's.
set(LT_AUDIT_DOC_DIR ${CMAKE_INSTALL_DATAROOTDIR}/doc/lt-audit)
install(FILES README.md LICENSE CHANGELOG.md CONTRIBUTING.md DESTINATION ${LT_AUDIT_DOC_DIR})
# The same folders as in the checkout, so that links between the pages hold. Reports of real machines are large and stay there.
install(DIRECTORY docs DESTINATION ${LT_AUDIT_DOC_DIR}
  FILES_MATCHING PATTERN "*.md" PATTERN "*.json" PATTERN "reports" EXCLUDE)
install(DIRECTORY deploy DESTINATION ${LT_AUDIT_DOC_DIR} USE_SOURCE_PERMISSIONS)
# For projects that use cuBLASLt: include(/usr/share/lt-audit/lt-audit.cmake).
install(FILES cmake/lt-audit.cmake DESTINATION ${CMAKE_INSTALL_DATAROOTDIR}/lt-audit)
install(DIRECTORY data DESTINATION ${LT_AUDIT_DOC_DIR})
install(DIRECTORY checks DESTINATION ${LT_AUDIT_DOC_DIR} FILES_MATCHING PATTERN "*.md")

set(CPACK_PACKAGE_NAME lt-audit)
set(CPACK_PACKAGE_VENDOR "lt-audit")
set(CPACK_PACKAGE_CONTACT "The lt-audit authors <maintainers@lt-audit.invalid>")
set(CPACK_PACKAGE_DESCRIPTION_SUMMARY "${PROJECT_DESCRIPTION}")
set(CPACK_PACKAGE_DESCRIPTION
  "Runs small exact experiments with the cuBLASLt of this machine in processes of their own and reports which calls are "
  "refused, wrong or unsafe, and what to change in an application. The libraries are opened at run time: nothing of CUDA is "
  "needed to install it, a driver and libcublasLt are needed to audit a GPU.")
string(JOIN "" CPACK_PACKAGE_DESCRIPTION ${CPACK_PACKAGE_DESCRIPTION})
set(CPACK_RESOURCE_FILE_LICENSE ${PROJECT_SOURCE_DIR}/LICENSE)
set(CPACK_GENERATOR "DEB;TGZ")
set(CPACK_STRIP_FILES ON)

set(CPACK_DEBIAN_FILE_NAME DEB-DEFAULT)
set(CPACK_DEBIAN_PACKAGE_SECTION devel)
set(CPACK_DEBIAN_PACKAGE_PRIORITY optional)
# dpkg-shlibdeps reads the lowest glibc from the symbols that the program uses.
set(CPACK_DEBIAN_PACKAGE_SHLIBDEPS ON)
set(CPACK_DEBIAN_PACKAGE_SUGGESTS "libcublas-13-0")

include(CPack)
