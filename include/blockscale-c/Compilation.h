//===- blockscale-c/Compilation.h - From a module to PTX ---------*- C -*-===//
//
// Part of the blockscale project, under the Apache License v2.0 with LLVM
// Exceptions. See LICENSE for license information.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//
//
// compileForGpu of blockscale/Driver/GpuCompilation.h, from C.
//
//===----------------------------------------------------------------------===//

#ifndef BLOCKSCALE_C_COMPILATION_H
#define BLOCKSCALE_C_COMPILATION_H

#include "mlir-c/IR.h"
#include "mlir-c/Support.h"

#ifdef __cplusplus
extern "C" {
#endif

/// An option, by the name of the flag of blockscale-compile: {"target",
/// "sm_120a"}, {"schedule", "tile=128x128x128,warps=2x2,stages=3"}. The value
/// of a flag that has none is "true", "false" or empty (true).
typedef struct BlockScaleOption {
  MlirStringRef name;
  MlirStringRef value;
} BlockScaleOption;

/// What a module was compiled to.
typedef struct BlockScaleGpuCode {
  void *ptr;
} BlockScaleGpuCode;

/// Compiles `module` to PTX (or to what the option "emit" names); "target" must
/// be given. The module is lowered in place. Null on failure; errors and
/// remarks go to the diagnostic handlers of the context. One call at a time in
/// a process. The caller destroys the result.
MLIR_CAPI_EXPORTED BlockScaleGpuCode blockscaleCompileForGpu(
    MlirModule module, intptr_t nOptions, const BlockScaleOption *options);

MLIR_CAPI_EXPORTED bool blockscaleGpuCodeIsNull(BlockScaleGpuCode code);
MLIR_CAPI_EXPORTED void blockscaleGpuCodeDestroy(BlockScaleGpuCode code);

/// The text of the stage, or the bytes of a cubin. It lives as long as `code`.
MLIR_CAPI_EXPORTED MlirStringRef
blockscaleGpuCodeGetText(BlockScaleGpuCode code);

/// The launch info as JSON (docs/Programs.md); empty if there is none.
MLIR_CAPI_EXPORTED MlirStringRef
blockscaleGpuCodeGetLaunchInfo(BlockScaleGpuCode code);

/// Decisions that a user may want to know.
MLIR_CAPI_EXPORTED intptr_t
blockscaleGpuCodeGetNumRemarks(BlockScaleGpuCode code);
MLIR_CAPI_EXPORTED MlirStringRef
blockscaleGpuCodeGetRemark(BlockScaleGpuCode code, intptr_t index);
MLIR_CAPI_EXPORTED MlirLocation
blockscaleGpuCodeGetRemarkLocation(BlockScaleGpuCode code, intptr_t index);

/// The names of the options, separated by spaces.
MLIR_CAPI_EXPORTED MlirStringRef blockscaleGetGpuOptionNames(void);

#ifdef __cplusplus
}
#endif

#endif // BLOCKSCALE_C_COMPILATION_H
