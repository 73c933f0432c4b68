# SPDX-License-Identifier: Apache-2.0
# A toolchain: Debian's cross compiler for aarch64, with the packages in build/arm64-root and an emulator for what is run while
# building. `ci/install-deps --arm64` provides all three.
get_filename_component(arm64_root "${CMAKE_CURRENT_LIST_DIR}/../../build/arm64-root" ABSOLUTE)
if(NOT EXISTS "${arm64_root}/complete")
  message(FATAL_ERROR "there is no ${arm64_root}: run ci/install-deps --arm64")
endif()

set(CMAKE_SYSTEM_NAME Linux)
set(CMAKE_SYSTEM_PROCESSOR aarch64)
set(CMAKE_LIBRARY_ARCHITECTURE aarch64-linux-gnu)
set(CMAKE_C_COMPILER aarch64-linux-gnu-gcc)
set(CMAKE_CXX_COMPILER aarch64-linux-gnu-g++)
set(CMAKE_SYSROOT "${arm64_root}")
set(CMAKE_CROSSCOMPILING_EMULATOR "qemu-aarch64-static;-L;${arm64_root}")

# Headers, libraries and packages of the target only; programs of this machine only. A prefix in CMAKE_PREFIX_PATH that lies
# elsewhere must be in CMAKE_FIND_ROOT_PATH as well.
set(CMAKE_FIND_ROOT_PATH_MODE_PROGRAM NEVER)
set(CMAKE_FIND_ROOT_PATH_MODE_LIBRARY ONLY)
set(CMAKE_FIND_ROOT_PATH_MODE_INCLUDE ONLY)
set(CMAKE_FIND_ROOT_PATH_MODE_PACKAGE ONLY)
set(ENV{PKG_CONFIG_SYSROOT_DIR} "${arm64_root}")
set(ENV{PKG_CONFIG_LIBDIR} "${arm64_root}/usr/lib/aarch64-linux-gnu/pkgconfig:${arm64_root}/usr/share/pkgconfig")
