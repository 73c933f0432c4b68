# SPDX-License-Identifier: Apache-2.0
# Which library may link which. Every library of the project is made by backgauge_library(), which refuses a forbidden link:
#
#              contract
#             ^    ^    ^
#     reference   impl   \
#          ^        ^     \
#        judge -----|------'    takes an implementation as a value
#        ^   ^      |
#  laws campaign perf    explain: contract and reference; saboteurs: the contract only
#        ^          |
#        ci --------'           the only place that links everything

set(BACKGAUGE_KNOWN_TO_contract contract)
set(BACKGAUGE_KNOWN_TO_reference contract reference)
set(BACKGAUGE_KNOWN_TO_impl contract impl)
set(BACKGAUGE_KNOWN_TO_explain contract reference explain)
set(BACKGAUGE_KNOWN_TO_judge contract reference judge)
set(BACKGAUGE_KNOWN_TO_laws contract reference judge laws)
set(BACKGAUGE_KNOWN_TO_campaign contract reference judge campaign)
set(BACKGAUGE_KNOWN_TO_saboteurs contract saboteurs)
set(BACKGAUGE_KNOWN_TO_perf contract reference judge perf)
set(BACKGAUGE_KNOWN_TO_ci contract reference impl explain judge laws campaign saboteurs perf ci)

# The layers that are compiled with -O1, since optimizing them takes longer than it saves: all but the reference and the
# implementations. At -O3, gcc spends a third to half of their compile time on the templates of CLI11, nlohmann-json and
# GoogleTest. Judge, explain and saboteurs took 49 instead of 79 s of CPU to compile on an AMD EPYC, while `backgauge
# verify --tier=smoke` took 10.4 instead of 10.1 s of it. Under sanitizers most of the compile time is the optimizer's, and
# only tests run, most of them the judge's.
set(BACKGAUGE_QUICK_LAYERS ci campaign explain judge laws perf saboteurs)
set(BACKGAUGE_COMPILED_QUICKLY $<$<CONFIG:Release>:-O1>)
if(BACKGAUGE_SANITIZE)
  list(REMOVE_ITEM BACKGAUGE_QUICK_LAYERS explain judge)
  set(BACKGAUGE_COMPILED_QUICKLY -O0)
endif()

# The headers of most sources take longer to compile than the sources themselves, so with BACKGAUGE_UNITY up to
# BATCH sources of a library are compiled as one. After a change all of them are compiled again, so the preset for developers
# turns it off.
option(BACKGAUGE_UNITY "Compile many sources at once: quicker from nothing, slower after a change" OFF)
set(CMAKE_UNITY_BUILD ${BACKGAUGE_UNITY})
set(CMAKE_UNITY_BUILD_BATCH_SIZE 64)

# backgauge_library(<target> LAYER <layer> SOURCES <files...> [LINKS <targets...>])
#   Reference and judge never let the compiler contract or reassociate floating point.
function(backgauge_library target)
  cmake_parse_arguments(arg "" "LAYER" "SOURCES;LINKS" ${ARGN})
  add_library(${target} STATIC ${arg_SOURCES})
  set_target_properties(${target} PROPERTIES BACKGAUGE_LAYER ${arg_LAYER})
  foreach(link ${arg_LINKS})
    if(TARGET ${link})
      get_target_property(layer ${link} BACKGAUGE_LAYER)
      if(layer AND NOT layer IN_LIST BACKGAUGE_KNOWN_TO_${arg_LAYER})
        message(FATAL_ERROR "${target} is of layer ${arg_LAYER}, which must not know ${layer} (${link})")
      endif()
    endif()
  endforeach()
  target_link_libraries(${target} PUBLIC ${arg_LINKS} PRIVATE $<BUILD_INTERFACE:backgauge_options>)
  target_include_directories(${target} PUBLIC "$<BUILD_INTERFACE:${PROJECT_SOURCE_DIR}>")
  if(NOT arg_LAYER STREQUAL impl)
    target_compile_options(${target} PRIVATE -ffp-contract=off)
  endif()
  if(arg_LAYER IN_LIST BACKGAUGE_QUICK_LAYERS)
    target_compile_options(${target} PRIVATE ${BACKGAUGE_COMPILED_QUICKLY})
  endif()
endfunction()

# backgauge_portable(<target>)
#   A program that looks for libraries in ../lib first, where `ci/gpu-check --pack` puts them for machines that lack them.
#   DT_RPATH, which unlike DT_RUNPATH also finds the libraries of libraries.
function(backgauge_portable target)
  set_target_properties(${target} PROPERTIES
    BUILD_WITH_INSTALL_RPATH ON INSTALL_RPATH "$ORIGIN/../lib" INSTALL_RPATH_USE_LINK_PATH ON)
  target_link_options(${target} PRIVATE -Wl,--disable-new-dtags)
endfunction()

# GoogleTest's header takes 0.9 of the 2.4 s of CPU that a test takes to compile on an AMD EPYC, so gcc compiles it once for all
# of them. clang would need a copy for each set of definitions.
function(backgauge_precompile_tests)
  set(source "${CMAKE_CURRENT_BINARY_DIR}/test_headers.cc")
  file(CONFIGURE OUTPUT "${source}" CONTENT "")
  add_executable(backgauge_test_headers EXCLUDE_FROM_ALL "${source}")  # a program, as tests are: -fPIE
  target_precompile_headers(backgauge_test_headers PRIVATE <gtest/gtest.h>)
  target_link_libraries(backgauge_test_headers PRIVATE backgauge_options GTest::gtest GTest::gtest_main)
  backgauge_test_options(backgauge_test_headers)
endfunction()

function(backgauge_test_options target)
  # A precompiled header serves only those with the same options.
  set_target_properties(${target} PROPERTIES UNITY_BUILD OFF)  # tests of several files use the same short names
  target_compile_options(${target} PRIVATE -ffp-contract=off ${BACKGAUGE_COMPILED_QUICKLY})
endfunction()

# backgauge_test(<name> [LABELS <label>] SOURCES <files...> LINKS <targets...>)
#   A GoogleTest program, each test of it a CTest test. The label `slow` keeps tests out of the sanitizer stage of ci/test.
function(backgauge_test target)
  if(NOT BACKGAUGE_TESTS)
    return()
  endif()
  cmake_parse_arguments(arg "" "LABELS" "SOURCES;LINKS" ${ARGN})
  add_executable(${target} ${arg_SOURCES})
  target_link_libraries(${target} PRIVATE ${arg_LINKS} backgauge_options GTest::gtest GTest::gtest_main)
  backgauge_test_options(${target})
  if(TARGET backgauge_test_headers)
    target_precompile_headers(${target} REUSE_FROM backgauge_test_headers)
  endif()
  gtest_discover_tests(${target} DISCOVERY_TIMEOUT 60 PROPERTIES LABELS "${arg_LABELS}")
endfunction()
