# SPDX-License-Identifier: Apache-2.0
find_package(PkgConfig REQUIRED)
find_package(Threads REQUIRED)
pkg_check_modules(YAML REQUIRED IMPORTED_TARGET yaml-0.1)
pkg_check_modules(JSONC REQUIRED IMPORTED_TARGET json-c)
pkg_check_modules(NETTLE REQUIRED IMPORTED_TARGET nettle)
pkg_check_modules(ZLIB REQUIRED IMPORTED_TARGET zlib)
pkg_check_modules(ZSTD REQUIRED IMPORTED_TARGET libzstd)
# libltdl ships neither a .pc file nor a finder.
find_path(LTDL_INCLUDE_DIR ltdl.h REQUIRED)
find_library(LTDL_LIBRARY ltdl REQUIRED)
