# Programs that need no shared library but glibc's, for machines that have a
# driver and no LLVM: configure with -DBLOCKSCALE_STATIC=ON. A program is then
# linked to the static archives of LLVM and MLIR and has about 125 MB, so this
# is off by default.
#
# On Debian the archives come with llvm-22-dev and libmlir-22-dev, and need
# those of zlib1g-dev and libzstd-dev. lld (-DCMAKE_EXE_LINKER_FLAGS=-fuse-ld=lld)
# links a program in seconds, with 1.2 GB of memory.
option(BLOCKSCALE_STATIC "Link programs to static archives of LLVM and MLIR"
  OFF)

# blockscale_add_static_mlir(NAME)
# An interface library of all archives. They are named as files: as imported
# targets those of Debian drag in libLLVM.so. One linker script holds them,
# because they refer to each other in circles.
function(blockscale_add_static_mlir name)
  get_property(mlir_libraries GLOBAL PROPERTY MLIR_ALL_LIBS)
  set(archives "")
  foreach(library IN LISTS mlir_libraries LLVM_AVAILABLE_LIBS)
    # Some are in packages that this project does not need.
    if(NOT TARGET ${library})
      continue()
    endif()
    get_target_property(archive ${library} LOCATION)
    if(archive MATCHES "\\.a$" AND EXISTS "${archive}")
      string(APPEND archives "  \"${archive}\"\n")
    endif()
  endforeach()
  foreach(file libz.a libzstd.a)
    find_library(BLOCKSCALE_${file} ${file})
    if(NOT BLOCKSCALE_${file})
      message(FATAL_ERROR "BLOCKSCALE_STATIC needs ${file} (on Debian in "
        "zlib1g-dev and libzstd-dev)")
    endif()
    string(APPEND archives "  \"${BLOCKSCALE_${file}}\"\n")
  endforeach()
  set(script "${PROJECT_BINARY_DIR}/static-mlir.ld")
  file(GENERATE OUTPUT "${script}" CONTENT "GROUP(\n${archives})\n")

  add_library(${name} INTERFACE)
  target_link_libraries(${name} INTERFACE "${script}" ${CMAKE_DL_LIBS} m)
  target_link_options(${name} INTERFACE
    -static-libstdc++ -static-libgcc -Wl,--gc-sections -Wl,-s)
endfunction()

# What targets that use MLIR link. Each program chooses: what is loaded into
# other programs shares their libMLIR.so, and tests link in less time with it.
set(BLOCKSCALE_MLIR_LIBRARIES MLIR)
set(BLOCKSCALE_LLVM_LIBRARIES LLVM)
if(BLOCKSCALE_STATIC)
  blockscale_add_static_mlir(BlockScaleStaticMLIR)
  set(BLOCKSCALE_MLIR_LIBRARIES
    "$<$<NOT:$<BOOL:$<TARGET_PROPERTY:BLOCKSCALE_STATIC>>>:MLIR>")
  set(BLOCKSCALE_LLVM_LIBRARIES
    "$<IF:$<BOOL:$<TARGET_PROPERTY:BLOCKSCALE_STATIC>>,BlockScaleStaticMLIR,LLVM>")
endif()
