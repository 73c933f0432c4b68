# SPDX-License-Identifier: Apache-2.0
# The contents of an installation: the command, the contract header, the implementations as libraries, the reference library and
# the judge for other projects, and the golden vectors. The target backgauge_installed builds it, and nothing else.
add_custom_target(backgauge_installed)
add_dependencies(backgauge_installed backgauge)
if(BACKGAUGE_WHEEL)
  add_dependencies(backgauge_installed _backgauge)
endif()
install(TARGETS backgauge RUNTIME)
# The manual page and what shells complete with, where their programs look for them.
function(backgauge_install_output arguments folder name)
  set(file "${PROJECT_BINARY_DIR}/share/${folder}/${name}")
  separate_arguments(arguments)
  add_custom_command(OUTPUT "${file}" COMMAND ${CMAKE_COMMAND} -E make_directory "${PROJECT_BINARY_DIR}/share/${folder}"
                     COMMAND backgauge ${arguments} > "${file}" DEPENDS backgauge VERBATIM)
  string(MAKE_C_IDENTIFIER "backgauge_${arguments}" target)
  add_custom_target(${target} ALL DEPENDS "${file}")
  add_dependencies(backgauge_installed ${target})
  install(FILES "${file}" DESTINATION "${CMAKE_INSTALL_DATADIR}/${folder}")
endfunction()
backgauge_install_output("help --man" man/man1 backgauge.1)
backgauge_install_output("completion bash" bash-completion/completions backgauge)
backgauge_install_output("completion zsh" zsh/site-functions _backgauge)
backgauge_install_output("completion fish" fish/vendor_completions.d backgauge.fish)
install(FILES reference/contract/backgauge.h reference/contract/backgauge_library.h DESTINATION "${CMAKE_INSTALL_INCLUDEDIR}")
install(FILES reference/oracle.h DESTINATION "${CMAKE_INSTALL_INCLUDEDIR}/backgauge/reference")
install(DIRECTORY reference/contract DESTINATION "${CMAKE_INSTALL_INCLUDEDIR}/backgauge/reference"
        FILES_MATCHING PATTERN "*.h" PATTERN "*.inc" PATTERN "malformed.h" EXCLUDE PATTERN "owned_call.h" EXCLUDE
        PATTERN "header_layout.h" EXCLUDE)
install(DIRECTORY properties/cases/goldens DESTINATION "${CMAKE_INSTALL_DATADIR}/backgauge"
        FILES_MATCHING PATTERN "*.npz" PATTERN "manifest.json" PATTERN "README.md")
install(FILES properties/cases/regressions.txt properties/cases/museum.txt DESTINATION "${CMAKE_INSTALL_DATADIR}/backgauge")
install(DIRECTORY properties/cases/ DESTINATION "${CMAKE_INSTALL_DATADIR}/backgauge/shapes" FILES_MATCHING
        PATTERN "shapes_*.txt" PATTERN "goldens" EXCLUDE)
install(DIRECTORY properties/cases/mustpass DESTINATION "${CMAKE_INSTALL_DATADIR}/backgauge")
file(GLOB adapters impl/*/adapter_*.py)
foreach(adapter ${adapters})
  get_filename_component(framework "${adapter}" DIRECTORY)
  install(DIRECTORY "${framework}" DESTINATION "${CMAKE_INSTALL_DATADIR}/backgauge/adapters" FILES_MATCHING PATTERN "*.py"
          PATTERN "__pycache__" EXCLUDE)
endforeach()
if(NOT BACKGAUGE_WHEEL)
  install(DIRECTORY reports/backgauge DESTINATION "${BACKGAUGE_PYTHON_FOLDER}"
          FILES_MATCHING PATTERN "*.py" PATTERN "py.typed" PATTERN "templates/*" PATTERN "__pycache__" EXCLUDE)
endif()
get_property(plugins GLOBAL PROPERTY BACKGAUGE_PLUGINS)
add_dependencies(backgauge_installed ${plugins})
install(TARGETS ${plugins} LIBRARY DESTINATION "${CMAKE_INSTALL_LIBDIR}/backgauge")

# backgauge_install_libraries(<export set> <name>...): the targets backgauge_<name>, for others backgauge::<name>.
function(backgauge_install_libraries export)
  foreach(name ${ARGN})
    set(target backgauge_${name})
    set_target_properties(${target} PROPERTIES EXPORT_NAME ${name})
    target_include_directories(${target} INTERFACE "$<INSTALL_INTERFACE:${CMAKE_INSTALL_INCLUDEDIR}/backgauge>"
                               "$<INSTALL_INTERFACE:${CMAKE_INSTALL_INCLUDEDIR}>")
    target_compile_features(${target} INTERFACE cxx_std_20)
    install(TARGETS ${target} EXPORT ${export} ARCHIVE DESTINATION "${CMAKE_INSTALL_LIBDIR}")
    add_dependencies(backgauge_installed ${target})
  endforeach()
endfunction()
backgauge_install_libraries(backgaugeTargets contract reference)
backgauge_install_libraries(backgaugeJudgeTargets judge case device malformed memory)
install(DIRECTORY properties/case properties/device properties/judge DESTINATION "${CMAKE_INSTALL_INCLUDEDIR}/backgauge/properties"
        FILES_MATCHING PATTERN "*.h" PATTERN "*.inc" PATTERN "testing" EXCLUDE PATTERN "sandbox" EXCLUDE PATTERN "worker" EXCLUDE)
foreach(name cpu plain)
  install(TARGETS backgauge_${name}_library EXPORT backgaugeTargets LIBRARY DESTINATION "${CMAKE_INSTALL_LIBDIR}")
  install(FILES "${PROJECT_BINARY_DIR}/impl/library/backgauge-${name}.pc" DESTINATION "${CMAKE_INSTALL_LIBDIR}/pkgconfig")
  add_dependencies(backgauge_installed backgauge_${name}_library)
endforeach()
# What is linked into the programs of a portable build comes with its copyright notices.
if(BACKGAUGE_PORTABLE)
  foreach(package libbenchmark-dev libcli11-dev libeigen3-dev libfmt-dev libhwy-dev libkainjow-mustache-dev libpugixml-dev
                  libseccomp-dev libsodium-dev libstdc++-12-dev libtomlplusplus-dev libzip-dev
                  nlohmann-json3-dev zlib1g-dev)
    install(FILES /usr/share/doc/${package}/copyright DESTINATION "${CMAKE_INSTALL_DATADIR}/backgauge/copyright"
            RENAME ${package})
  endforeach()
endif()

set(backgauge_cmake_dir "${CMAKE_INSTALL_LIBDIR}/cmake/backgauge")
foreach(export backgaugeTargets backgaugeJudgeTargets)
  install(EXPORT ${export} NAMESPACE backgauge:: DESTINATION "${backgauge_cmake_dir}")
endforeach()
configure_package_config_file(ci/cmake/backgaugeConfig.cmake.in "${PROJECT_BINARY_DIR}/backgaugeConfig.cmake"
                              INSTALL_DESTINATION "${backgauge_cmake_dir}")
write_basic_package_version_file("${PROJECT_BINARY_DIR}/backgaugeConfigVersion.cmake" COMPATIBILITY SameMinorVersion)
install(FILES "${PROJECT_BINARY_DIR}/backgaugeConfig.cmake" "${PROJECT_BINARY_DIR}/backgaugeConfigVersion.cmake"
        DESTINATION "${backgauge_cmake_dir}")
