//===- blockscale-c/Dialect.h - The dialect and its passes -------*- C -*-===//
//
// Part of the blockscale project, under the Apache License v2.0 with LLVM
// Exceptions. See LICENSE for license information.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//
//
// A context that knows blockscale, from C:
//
//   MlirDialectRegistry registry = mlirDialectRegistryCreate();
//   blockscaleRegisterDialects(registry);
//   MlirContext context = mlirContextCreateWithRegistry(registry, true);
//   mlirDialectRegistryDestroy(registry);
//   mlirDialectHandleLoadDialect(mlirGetDialectHandle__blockscale__(),
//   context);
//
// docs/FromC.md has a whole program.
//
//===----------------------------------------------------------------------===//

#ifndef BLOCKSCALE_C_DIALECT_H
#define BLOCKSCALE_C_DIALECT_H

#include "mlir-c/IR.h"
#include "mlir-c/Support.h"

#ifdef __cplusplus
extern "C" {
#endif

MLIR_DECLARE_CAPI_DIALECT_REGISTRATION(BlockScale, blockscale);

/// Adds the dialect, those that its pipelines make, and the external interface
/// implementations that they use.
MLIR_CAPI_EXPORTED void
blockscaleRegisterDialects(MlirDialectRegistry registry);

/// Registers the passes of the project and its pipelines `blockscale-to-cpu`
/// and `blockscale-to-nvvm`, for mlirParsePassPipeline. May be called again.
MLIR_CAPI_EXPORTED void blockscaleRegisterPasses(void);

/// The version of the project, such as "0.1.0".
MLIR_CAPI_EXPORTED MlirStringRef blockscaleGetVersion(void);

#ifdef __cplusplus
}
#endif

#endif // BLOCKSCALE_C_DIALECT_H
