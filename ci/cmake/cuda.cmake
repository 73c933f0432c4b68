# SPDX-License-Identifier: Apache-2.0
# CUDA, where nvcc is found: `nvcc` in CUDA's own folder counts, on the PATH or not. Sets for the rest of the build
#   BACKGAUGE_CUDA             whether .cu files are compiled; the targets CUDA::cudart_static and CUDA::cublasLt exist then
#   CMAKE_CUDA_ARCHITECTURES   sm_80, sm_90, and sm_100 where nvcc knows it; PTX of the newest of them for later devices
#   BACKGAUGE_CUDNN_FOUND      whether the target backgauge_cudnn_library (header and library of cuDNN 9) exists
find_program(BACKGAUGE_NVCC nvcc HINTS ENV CUDA_PATH ENV CUDA_HOME PATHS /usr/local/cuda PATH_SUFFIXES bin
             DOC "CUDA's compiler")
set(default OFF)
# nvcc takes neither the sanitizers' options nor clang's fuzzer's.
if(BACKGAUGE_NVCC AND NOT BACKGAUGE_SANITIZE AND NOT BACKGAUGE_FUZZ)
  set(default ON)
endif()
option(BACKGAUGE_CUDA "Build the implementations for NVIDIA GPUs (needs nvcc)" ${default})
set(BACKGAUGE_CUDNN auto CACHE STRING
    "cuDNN for --impl=cudnn: auto (with CUDA, in the system, or Python's nvidia-cudnn), OFF, or a prefix with include/ and lib/")
set(BACKGAUGE_CUDNN_FOUND FALSE)
if(NOT BACKGAUGE_CUDA)
  return()
endif()
if(NOT BACKGAUGE_NVCC)
  message(FATAL_ERROR "BACKGAUGE_CUDA is ON and there is no nvcc: name it by -DBACKGAUGE_NVCC=<path>")
endif()

set(CMAKE_CUDA_COMPILER ${BACKGAUGE_NVCC} CACHE FILEPATH "CUDA's compiler")
set(CMAKE_CUDA_HOST_COMPILER ${CMAKE_CXX_COMPILER} CACHE FILEPATH "The compiler of CUDA's host code")
if(NOT DEFINED CMAKE_CUDA_ARCHITECTURES)
  execute_process(COMMAND ${BACKGAUGE_NVCC} --list-gpu-arch OUTPUT_VARIABLE known OUTPUT_STRIP_TRAILING_WHITESPACE)
  set(CMAKE_CUDA_ARCHITECTURES 80-real 90)
  if(known MATCHES "compute_100")
    set(CMAKE_CUDA_ARCHITECTURES 80-real 90-real 100)
  endif()
endif()
enable_language(CUDA)
# CMake before 3.26 does not know that nvcc takes C++20, which it does since CUDA 12.
if(NOT CMAKE_CUDA20_STANDARD_COMPILE_OPTION)
  set(CMAKE_CUDA20_STANDARD_COMPILE_OPTION -std=c++20)
endif()
set(CMAKE_CUDA_STANDARD 20)
set(CMAKE_CUDA_STANDARD_REQUIRED ON)
set(CMAKE_CUDA_EXTENSIONS OFF)
set(CMAKE_CUDA_VISIBILITY_PRESET hidden)
# The runtime inside each plug-in, so that a machine without CUDA can open it and report why it cannot run.
set(CMAKE_CUDA_RUNTIME_LIBRARY Static)
find_package(CUDAToolkit REQUIRED)
message(STATUS "CUDA: ${BACKGAUGE_NVCC}, for ${CMAKE_CUDA_ARCHITECTURES}")

if(NOT BACKGAUGE_CUDNN)
  return()
endif()
if(BACKGAUGE_CUDNN STREQUAL auto)
  set(prefixes ${CUDAToolkit_TARGET_DIR} ${CUDAToolkit_LIBRARY_ROOT} /usr/local /usr)
  find_program(python python3 NO_CACHE)
  if(python)
    # The package lies in a namespace package, which has several folders and no file.
    execute_process(COMMAND ${python} -c "import nvidia.cudnn; print(*nvidia.cudnn.__path__, sep=';')"
                    OUTPUT_VARIABLE packaged OUTPUT_STRIP_TRAILING_WHITESPACE ERROR_QUIET)
    list(APPEND prefixes ${packaged})
  endif()
else()
  set(prefixes ${BACKGAUGE_CUDNN})
endif()
foreach(prefix ${prefixes})
  find_path(cudnn_include cudnn.h PATHS ${prefix} PATH_SUFFIXES include include/${CMAKE_LIBRARY_ARCHITECTURE}
            NO_DEFAULT_PATH NO_CACHE)
  # Python's package has the library's versioned name only.
  find_library(cudnn_library NAMES cudnn libcudnn.so.9 PATHS ${prefix}
               PATH_SUFFIXES lib lib64 lib/${CMAKE_LIBRARY_ARCHITECTURE} NO_DEFAULT_PATH NO_CACHE)
  if(cudnn_include AND cudnn_library)
    break()
  endif()
  unset(cudnn_include)
  unset(cudnn_library)
endforeach()
if(cudnn_include AND cudnn_library)
  set(BACKGAUGE_CUDNN_FOUND TRUE)
  add_library(backgauge_cudnn_library UNKNOWN IMPORTED)
  set_target_properties(backgauge_cudnn_library PROPERTIES IMPORTED_LOCATION ${cudnn_library}
                        INTERFACE_INCLUDE_DIRECTORIES ${cudnn_include})
  message(STATUS "cuDNN: ${cudnn_library}")
elseif(NOT BACKGAUGE_CUDNN STREQUAL auto)
  message(FATAL_ERROR "BACKGAUGE_CUDNN: no cuDNN in ${BACKGAUGE_CUDNN}")
endif()
