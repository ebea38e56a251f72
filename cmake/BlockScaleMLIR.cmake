# Finds the packaged MLIR 22 and sets what every target that uses it needs.
#
# Debian keeps LLVM under a versioned prefix that CMake does not search.
list(APPEND CMAKE_PREFIX_PATH /usr/lib/llvm-22)

# MLIRConfig.cmake does not say that it was built as one shared library; the
# static archives would make a second copy of every type id.
set(MLIR_LINK_MLIR_DYLIB ON)
find_package(MLIR REQUIRED CONFIG)
if(NOT LLVM_VERSION_MAJOR EQUAL 22)
  message(FATAL_ERROR
    "blockscale needs LLVM and MLIR 22, found ${LLVM_PACKAGE_VERSION}")
endif()
if(NOT TARGET MLIR)
  message(FATAL_ERROR
    "blockscale links to the shared library libMLIR.so; the MLIR found in "
    "${MLIR_DIR} has none (on Debian it comes with libmlir-22-dev)")
endif()
message(STATUS "Using MLIR ${LLVM_PACKAGE_VERSION} in ${MLIR_DIR}")

list(APPEND CMAKE_MODULE_PATH "${MLIR_CMAKE_DIR}" "${LLVM_CMAKE_DIR}")
include(TableGen)
include(AddLLVM)
include(AddMLIR)

# One string in the package's configuration; add_definitions wants a list.
separate_arguments(BLOCKSCALE_LLVM_DEFINITIONS
  NATIVE_COMMAND "${LLVM_DEFINITIONS}")
