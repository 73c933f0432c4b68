# SPDX-License-Identifier: Apache-2.0
# What an installation holds: the command, the contract header, the reference library for other projects, the example
# plug-in, and the golden vectors.
install(TARGETS backgauge RUNTIME)
install(FILES reference/contract/backgauge.h DESTINATION "${CMAKE_INSTALL_INCLUDEDIR}")
install(FILES reference/oracle.h reference/declared.h DESTINATION "${CMAKE_INSTALL_INCLUDEDIR}/backgauge/reference")
install(DIRECTORY reference/contract DESTINATION "${CMAKE_INSTALL_INCLUDEDIR}/backgauge/reference"
        FILES_MATCHING PATTERN "*.h" PATTERN "ops.inc" PATTERN "malformed.h" EXCLUDE PATTERN "owned_call.h" EXCLUDE
        PATTERN "header_layout.h" EXCLUDE)
install(DIRECTORY properties/cases/goldens DESTINATION "${CMAKE_INSTALL_DATADIR}/backgauge"
        FILES_MATCHING PATTERN "*.npz" PATTERN "manifest.json" PATTERN "README.md")
install(FILES properties/cases/regressions.txt properties/cases/museum.txt DESTINATION "${CMAKE_INSTALL_DATADIR}/backgauge")
install(DIRECTORY properties/cases/ DESTINATION "${CMAKE_INSTALL_DATADIR}/backgauge/shapes" FILES_MATCHING
        PATTERN "shapes_*.txt" PATTERN "goldens" EXCLUDE)
install(DIRECTORY perf/peers DESTINATION "${CMAKE_INSTALL_DATADIR}/backgauge" OPTIONAL FILES_MATCHING PATTERN "*.py")
install(DIRECTORY reports/backgauge DESTINATION "${BACKGAUGE_PYTHON_FOLDER}"
        FILES_MATCHING PATTERN "*.py" PATTERN "py.typed" PATTERN "templates/*" PATTERN "__pycache__" EXCLUDE)
install(TARGETS backgauge_plain_plugin LIBRARY DESTINATION "${CMAKE_INSTALL_LIBDIR}/backgauge")
foreach(plugin backgauge_onednn backgauge_cuda-on-host backgauge_cuda backgauge_cudnn backgauge_cublas)
  if(TARGET ${plugin})
    install(TARGETS ${plugin} LIBRARY DESTINATION "${CMAKE_INSTALL_LIBDIR}/backgauge")
  endif()
endforeach()

set_target_properties(backgauge_contract PROPERTIES EXPORT_NAME contract)
set_target_properties(backgauge_reference PROPERTIES EXPORT_NAME reference)
foreach(target backgauge_contract backgauge_reference)
  target_include_directories(${target} INTERFACE "$<INSTALL_INTERFACE:${CMAKE_INSTALL_INCLUDEDIR}/backgauge>"
                             "$<INSTALL_INTERFACE:${CMAKE_INSTALL_INCLUDEDIR}>")
  target_compile_features(${target} INTERFACE cxx_std_20)
endforeach()
install(TARGETS backgauge_contract backgauge_reference EXPORT backgaugeTargets
        ARCHIVE DESTINATION "${CMAKE_INSTALL_LIBDIR}")
set(backgauge_cmake_dir "${CMAKE_INSTALL_LIBDIR}/cmake/backgauge")
install(EXPORT backgaugeTargets NAMESPACE backgauge:: DESTINATION "${backgauge_cmake_dir}")
configure_package_config_file(ci/cmake/backgaugeConfig.cmake.in "${PROJECT_BINARY_DIR}/backgaugeConfig.cmake"
                              INSTALL_DESTINATION "${backgauge_cmake_dir}")
write_basic_package_version_file("${PROJECT_BINARY_DIR}/backgaugeConfigVersion.cmake" COMPATIBILITY SameMinorVersion)
install(FILES "${PROJECT_BINARY_DIR}/backgaugeConfig.cmake" "${PROJECT_BINARY_DIR}/backgaugeConfigVersion.cmake"
        DESTINATION "${backgauge_cmake_dir}")
