# Functions that add this project's libraries and programs. A plain target
# (Support, Runtime) must not see LLVM: it travels to machines that have none.

function(blockscale_warnings target)
  target_compile_options(${target} PRIVATE -Wall -Wextra -Wno-unused-parameter)
  if(BLOCKSCALE_WERROR)
    target_compile_options(${target} PRIVATE -Werror)
  endif()
endfunction()

function(blockscale_includes target)
  target_include_directories(${target} PUBLIC
    $<BUILD_INTERFACE:${PROJECT_SOURCE_DIR}/include>
    $<BUILD_INTERFACE:${PROJECT_BINARY_DIR}/include>
    $<INSTALL_INTERFACE:${CMAKE_INSTALL_INCLUDEDIR}>)
endfunction()

# Compiles against LLVM and links to it.
function(blockscale_use_llvm target)
  target_compile_definitions(${target} PRIVATE ${BLOCKSCALE_LLVM_DEFINITIONS})
  # SYSTEM: warnings in upstream headers are not ours.
  target_include_directories(${target} SYSTEM PUBLIC
    $<BUILD_INTERFACE:${LLVM_INCLUDE_DIRS}>)
  # The package is built without exceptions; its headers assume it.
  target_compile_options(${target} PRIVATE -fno-exceptions)
  target_compile_definitions(${target} PRIVATE
    BLOCKSCALE_VERSION="${PROJECT_VERSION}")
  target_link_libraries(${target} PUBLIC ${BLOCKSCALE_LLVM_LIBRARIES})
endfunction()

# Compiles against MLIR, too, and links to it, see BlockScaleStatic.cmake.
function(blockscale_use_mlir target)
  blockscale_use_llvm(${target})
  target_include_directories(${target} SYSTEM PUBLIC
    $<BUILD_INTERFACE:${MLIR_INCLUDE_DIRS}>)
  target_link_libraries(${target} PUBLIC ${BLOCKSCALE_MLIR_LIBRARIES})
endfunction()

# MLIR's headers take most of the time that it takes to compile a file that
# includes them. A library with PRECOMPILE has its headers compiled once, for
# itself and for all targets with MLIR that come after it.
set(BLOCKSCALE_MLIR_HEADERS
  <mlir/Dialect/Affine/IR/AffineOps.h>
  <mlir/Dialect/Arith/IR/Arith.h>
  <mlir/Dialect/Arith/Utils/Utils.h>
  <mlir/Dialect/Bufferization/IR/Bufferization.h>
  <mlir/Dialect/ControlFlow/IR/ControlFlowOps.h>
  <mlir/Dialect/Func/IR/FuncOps.h>
  <mlir/Dialect/GPU/IR/GPUDialect.h>
  <mlir/Dialect/LLVMIR/LLVMDialect.h>
  <mlir/Dialect/LLVMIR/NVVMDialect.h>
  <mlir/Dialect/Linalg/IR/Linalg.h>
  <mlir/Dialect/Math/IR/Math.h>
  <mlir/Dialect/MemRef/IR/MemRef.h>
  <mlir/Dialect/NVGPU/IR/NVGPUDialect.h>
  <mlir/Dialect/SCF/IR/SCF.h>
  <mlir/Dialect/Tensor/IR/Tensor.h>
  <mlir/Dialect/Vector/IR/VectorOps.h>
  <mlir/IR/Matchers.h>
  <mlir/Pass/PassManager.h>
  <mlir/Transforms/DialectConversion.h>
  <mlir/Transforms/GreedyPatternRewriteDriver.h>)

function(blockscale_precompile target headers)
  if(NOT BLOCKSCALE_PRECOMPILE)
    return()
  endif()
  if(headers)
    target_precompile_headers(${target} PRIVATE ${headers})
    set_property(GLOBAL PROPERTY BLOCKSCALE_PRECOMPILED_BY ${target})
  else()
    get_property(last GLOBAL PROPERTY BLOCKSCALE_PRECOMPILED_BY)
    target_precompile_headers(${target} REUSE_FROM ${last})
  endif()
endfunction()

# blockscale_add_library(NAME SOURCES... [MLIR | LLVM] [PRECOMPILE headers...]
#                        [LINK libs...] [DEPENDS tgts...])
# A static library BlockScaleNAME, exported as BlockScale::NAME.
function(blockscale_add_library name)
  cmake_parse_arguments(ARG "MLIR;LLVM" "" "PRECOMPILE;LINK;DEPENDS" ${ARGN})
  set(target BlockScale${name})
  add_library(${target} STATIC ${ARG_UNPARSED_ARGUMENTS})
  add_library(BlockScale::${name} ALIAS ${target})
  set_target_properties(${target} PROPERTIES EXPORT_NAME ${name})
  blockscale_warnings(${target})
  blockscale_includes(${target})
  if(ARG_MLIR)
    blockscale_use_mlir(${target})
    blockscale_precompile(${target} "${ARG_PRECOMPILE}")
  elseif(ARG_LLVM)
    blockscale_use_llvm(${target})
  endif()
  if(ARG_LINK)
    target_link_libraries(${target} PUBLIC ${ARG_LINK})
  endif()
  if(ARG_DEPENDS)
    add_dependencies(${target} ${ARG_DEPENDS})
  endif()
  set_property(GLOBAL APPEND PROPERTY BLOCKSCALE_INSTALLED_TARGETS ${target})
endfunction()

# blockscale_add_program(NAME SOURCES... [MLIR] [LINK libs...])
# A program that is not installed, such as a test.
function(blockscale_add_program name)
  cmake_parse_arguments(ARG "MLIR" "" "LINK" ${ARGN})
  add_executable(${name} ${ARG_UNPARSED_ARGUMENTS})
  blockscale_warnings(${name})
  if(ARG_MLIR)
    blockscale_use_mlir(${name})
    if(BLOCKSCALE_PRECOMPILE)
      blockscale_precompile(${name} "")
      # The precompiled headers are those of libraries, which have this flag.
      target_compile_options(${name} PRIVATE -fPIC)
    endif()
  endif()
  target_link_libraries(${name} PRIVATE ${ARG_LINK})
endfunction()

# blockscale_add_tool(NAME SOURCES... [ARCHIVES] [MLIR] [LINK libs...])
# A program for users. With ARCHIVES it is linked to those of MLIR, where there
# are any: it starts earlier, and must not load what has MLIR of its own.
function(blockscale_add_tool name)
  cmake_parse_arguments(ARG "ARCHIVES" "" "" ${ARGN})
  blockscale_add_program(${name} ${ARG_UNPARSED_ARGUMENTS})
  if(ARG_ARCHIVES AND BLOCKSCALE_HAS_ARCHIVES)
    set_target_properties(${name} PROPERTIES BLOCKSCALE_MLIR_ARCHIVES ON)
  endif()
  set_target_properties(${name} PROPERTIES
    BLOCKSCALE_STATIC "${BLOCKSCALE_STATIC}"
    INSTALL_RPATH "${LLVM_LIBRARY_DIR}")
  set_property(GLOBAL APPEND PROPERTY BLOCKSCALE_INSTALLED_TARGETS ${name})
endfunction()
