//===- blockscale-c/Attributes.h - Attributes of the tile level --*- C -*-===//
//
// Part of the blockscale project, under the Apache License v2.0 with LLVM
// Exceptions. See LICENSE for license information.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//
//
// The attributes that have numbers. Those that have a name are parsed with
// mlirAttributeParseGet: "#blockscale.scale_rule<even>",
// "#blockscale.scoring<softmax>", "#blockscale.granularity<2:4>",
// "#blockscale.path<mma_sync>", "#blockscale.target<sm_120a>".
//
// A builder returns a null attribute, and emits an error at `location`, for a
// number that the attribute cannot have.
//
//===----------------------------------------------------------------------===//

#ifndef BLOCKSCALE_C_ATTRIBUTES_H
#define BLOCKSCALE_C_ATTRIBUTES_H

#include "mlir-c/IR.h"
#include "mlir-c/Support.h"

#ifdef __cplusplus
extern "C" {
#endif

/// The size of a block that is all of a dimension.
enum { BlockScaleAll = 0 };

/// `#blockscale.scale_block<rows = .., k = ..>`: `rows` is 1, 128 or
/// BlockScaleAll, `k` is 16, 32, 64, 128 or BlockScaleAll.
MLIR_CAPI_EXPORTED MlirAttribute
blockscaleScaleBlockAttrGet(MlirLocation location, int64_t rows, int64_t k);
MLIR_CAPI_EXPORTED bool blockscaleAttributeIsAScaleBlock(MlirAttribute attr);
MLIR_CAPI_EXPORTED int64_t blockscaleScaleBlockAttrGetRows(MlirAttribute attr);
MLIR_CAPI_EXPORTED int64_t blockscaleScaleBlockAttrGetK(MlirAttribute attr);

/// `#blockscale.accumulate<chunk = ..[, rebase]>`; `chunk` is 32, 64 or 128.
MLIR_CAPI_EXPORTED MlirAttribute
blockscaleAccumulateAttrGet(MlirLocation location, int64_t chunk, bool rebase);
MLIR_CAPI_EXPORTED bool blockscaleAttributeIsAnAccumulate(MlirAttribute attr);
MLIR_CAPI_EXPORTED int64_t blockscaleAccumulateAttrGetChunk(MlirAttribute attr);
MLIR_CAPI_EXPORTED bool blockscaleAccumulateAttrGetRebase(MlirAttribute attr);

#ifdef __cplusplus
}
#endif

#endif // BLOCKSCALE_C_ATTRIBUTES_H
