# Programs that are linked to archives instead of shared libraries, because the
# loader takes a good part of the time that a short run takes.
#
# blockscale-compile is linked to the archives of MLIR, and to libLLVM.so, where
# there are archives (on Debian in libmlir-22-dev): a fifth of its time less,
# and 53 MB.
#
# With -DBLOCKSCALE_STATIC=ON programs need no shared library but glibc's, for
# machines that have a driver and no LLVM. A program has about 125 MB then. On
# Debian the archives come with llvm-22-dev and libmlir-22-dev, and need those
# of zlib1g-dev and libzstd-dev. lld (-DCMAKE_EXE_LINKER_FLAGS=-fuse-ld=lld)
# links a program in seconds, with 1.2 GB of memory.
option(BLOCKSCALE_STATIC "Link programs to static archives of LLVM and MLIR"
  OFF)

# blockscale_add_archives(NAME LIBRARIES... [FILES files...])
# An interface library of the archives that there are of imported libraries,
# and of files. They are named as files: as imported targets those of Debian
# drag in shared libraries. One linker script holds them, because they refer to
# each other in circles. NAME_FOUND is how many libraries have one.
function(blockscale_add_archives name)
  cmake_parse_arguments(ARG "" "" "FILES" ${ARGN})
  set(archives "")
  set(count 0)
  foreach(library IN LISTS ARG_UNPARSED_ARGUMENTS)
    # Some are in packages that this project does not need.
    if(NOT TARGET ${library})
      continue()
    endif()
    get_target_property(archive ${library} LOCATION)
    if(archive MATCHES "\\.a$" AND EXISTS "${archive}")
      string(APPEND archives "  \"${archive}\"\n")
      math(EXPR count "${count} + 1")
    endif()
  endforeach()
  foreach(file IN LISTS ARG_FILES)
    string(APPEND archives "  \"${file}\"\n")
  endforeach()
  set(script "${PROJECT_BINARY_DIR}/${name}.ld")
  file(GENERATE OUTPUT "${script}" CONTENT "GROUP(\n${archives})\n")
  add_library(${name} INTERFACE)
  target_link_libraries(${name} INTERFACE "${script}" ${CMAKE_DL_LIBS} m)
  target_link_options(${name} INTERFACE -Wl,--gc-sections -Wl,-s)
  set(${name}_FOUND ${count} PARENT_SCOPE)
endfunction()

get_property(mlir_libraries GLOBAL PROPERTY MLIR_ALL_LIBS)

# What targets that use MLIR link. Each program chooses: what is loaded into
# other programs shares their libMLIR.so, and tests link in less time with it.
set(BLOCKSCALE_MLIR_LIBRARIES MLIR)
set(BLOCKSCALE_LLVM_LIBRARIES LLVM)
set(BLOCKSCALE_HAS_ARCHIVES OFF)
if(BLOCKSCALE_STATIC)
  set(files "")
  foreach(file libz.a libzstd.a)
    find_library(BLOCKSCALE_${file} ${file})
    if(NOT BLOCKSCALE_${file})
      message(FATAL_ERROR "BLOCKSCALE_STATIC needs ${file} (on Debian in "
        "zlib1g-dev and libzstd-dev)")
    endif()
    list(APPEND files "${BLOCKSCALE_${file}}")
  endforeach()
  blockscale_add_archives(BlockScaleStaticMLIR
    ${mlir_libraries} ${LLVM_AVAILABLE_LIBS} FILES ${files})
  target_link_options(BlockScaleStaticMLIR INTERFACE
    -static-libstdc++ -static-libgcc)
  set(BLOCKSCALE_MLIR_LIBRARIES
    "$<$<NOT:$<BOOL:$<TARGET_PROPERTY:BLOCKSCALE_STATIC>>>:MLIR>")
  set(BLOCKSCALE_LLVM_LIBRARIES
    "$<IF:$<BOOL:$<TARGET_PROPERTY:BLOCKSCALE_STATIC>>,BlockScaleStaticMLIR,LLVM>")
else()
  blockscale_add_archives(BlockScaleMLIRArchives ${mlir_libraries})
  if(BlockScaleMLIRArchives_FOUND)
    set(BLOCKSCALE_HAS_ARCHIVES ON)
    set(BLOCKSCALE_MLIR_LIBRARIES
      "$<IF:$<BOOL:$<TARGET_PROPERTY:BLOCKSCALE_MLIR_ARCHIVES>>,BlockScaleMLIRArchives,MLIR>")
  endif()
endif()
