# SPDX-License-Identifier: Apache-2.0
# Writes OUTPUT with the commit of SOURCE, "unknown" where it is no checkout. Runs in every build; the file changes only
# with the commit.
execute_process(COMMAND git -C "${SOURCE}" describe --always --dirty --abbrev=12 --exclude=*
                OUTPUT_VARIABLE commit OUTPUT_STRIP_TRAILING_WHITESPACE ERROR_QUIET RESULT_VARIABLE status)
if(NOT status EQUAL 0)
  set(commit unknown)
endif()
set(text "#pragma once\nnamespace backgauge {\ninline constexpr char kCommit[] = \"${commit}\";\n}\n")
if(EXISTS "${OUTPUT}")
  file(READ "${OUTPUT}" before)
endif()
if(NOT "${before}" STREQUAL "${text}")
  file(WRITE "${OUTPUT}" "${text}")
endif()
