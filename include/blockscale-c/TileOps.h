//===- blockscale-c/TileOps.h - Builders of the tile level -------*- C -*-===//
//
// Part of the blockscale project, under the Apache License v2.0 with LLVM
// Exceptions. See LICENSE for license information.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//
//
// One builder for each op that programs are written with. The types of results
// follow from the operands. The op is in no block: the caller owns it, until
// mlirBlockAppendOwnedOperation. It is not verified (mlirOperationVerify).
//
// An operand or attribute that is optional may be null, and a block size 0: it
// follows from the shapes then. docs/FromC.md has a program; the reference of
// the dialect says what each op computes.
//
//===----------------------------------------------------------------------===//

#ifndef BLOCKSCALE_C_TILEOPS_H
#define BLOCKSCALE_C_TILEOPS_H

#include "mlir-c/IR.h"
#include "mlir-c/Support.h"

#ifdef __cplusplus
extern "C" {
#endif

//===----------------------------------------------------------------------===//
// Products
//===----------------------------------------------------------------------===//

/// Optional parts of products of groups of rows.
typedef struct BlockScaleRowGroups {
  MlirValue rows;       // [T] i32
  MlirValue groupScale; // [G] f32
  MlirValue bias;       // [G, N] f32
  /// No check of offsets and rows at run time.
  bool areLegal;
} BlockScaleRowGroups;

/// How the scales of a product are shared, and how it may add up.
typedef struct BlockScaleProductOptions {
  int64_t blockSize;         // along K
  MlirAttribute xScaleBlock; // #blockscale.scale_block
  MlirAttribute yScaleBlock;
  MlirAttribute accumulate; // #blockscale.accumulate
} BlockScaleProductOptions;

/// `mma_scaled`: acc + (x * xScale) times (y * yScale).
MLIR_CAPI_EXPORTED MlirOperation blockscaleMmaScaledCreate(
    MlirLocation location, MlirValue x, MlirValue xScale, MlirValue y,
    MlirValue yScale, MlirValue acc, BlockScaleProductOptions options);

/// `grouped_mma_scaled`: rows of x by group, times the matrix of y of each.
MLIR_CAPI_EXPORTED MlirOperation blockscaleGroupedMmaScaledCreate(
    MlirLocation location, MlirValue x, MlirValue xScale, MlirValue y,
    MlirValue yScale, MlirValue offsets, MlirValue acc,
    BlockScaleRowGroups groups, BlockScaleProductOptions options);

/// `grouped_matmul`: the same for bf16 and f16.
MLIR_CAPI_EXPORTED MlirOperation blockscaleGroupedMatmulCreate(
    MlirLocation location, MlirValue x, MlirValue y, MlirValue offsets,
    MlirValue acc, BlockScaleRowGroups groups);

/// `sparse_mma_scaled`; `granularity` is #blockscale.granularity.
MLIR_CAPI_EXPORTED MlirOperation blockscaleSparseMmaScaledCreate(
    MlirLocation location, MlirValue x, MlirValue metadata, MlirValue xScale,
    MlirValue y, MlirValue yScale, MlirValue acc, MlirAttribute granularity,
    int64_t blockSize);

//===----------------------------------------------------------------------===//
// Quantization
//===----------------------------------------------------------------------===//

typedef struct BlockScaleQuantizeOptions {
  MlirType scaleType;       // null: f8E8M0FNU
  int64_t blockSize;        // 0: 32, or 16 with scales of f8E4M3FN
  MlirAttribute scaleBlock; // #blockscale.scale_block, in place of blockSize
  MlirAttribute rule;       // #blockscale.scale_rule
  MlirValue tensorScale;    // f32
  bool hasAmax;
  bool isPadded;
} BlockScaleQuantizeOptions;

/// `quantize`: elements, scales and, with `hasAmax`, the largest magnitude.
MLIR_CAPI_EXPORTED MlirOperation blockscaleQuantizeCreate(
    MlirLocation location, MlirValue x, MlirType elementType,
    BlockScaleQuantizeOptions options);

/// `dequantize`; `resultType` is a float type, null for f32.
MLIR_CAPI_EXPORTED MlirOperation blockscaleDequantizeCreate(
    MlirLocation location, MlirValue elements, MlirValue scales,
    MlirType resultType, MlirValue tensorScale, int64_t blockSize,
    MlirAttribute scaleBlock);

/// `rebase`: elements of fp8 with one scale for each row.
MLIR_CAPI_EXPORTED MlirOperation blockscaleRebaseCreate(MlirLocation location,
                                                        MlirValue elements,
                                                        MlirValue scales,
                                                        int64_t blockSize);

//===----------------------------------------------------------------------===//
// Layouts of scales
//===----------------------------------------------------------------------===//

/// `swizzle_scales`: into the 32x4x4 layout.
MLIR_CAPI_EXPORTED MlirOperation
blockscaleSwizzleScalesCreate(MlirLocation location, MlirValue source);

/// `unswizzle_scales`: a result of `shape`. A dynamic size is
/// mlirShapedTypeGetDynamicSize() in it, and a value of `sizes`, in order.
MLIR_CAPI_EXPORTED MlirOperation blockscaleUnswizzleScalesCreate(
    MlirLocation location, MlirValue source, intptr_t rank,
    const int64_t *shape, intptr_t nSizes, const MlirValue *sizes);

/// `swizzle_group_scales`; `rows` is optional.
MLIR_CAPI_EXPORTED MlirOperation blockscaleSwizzleGroupScalesCreate(
    MlirLocation location, MlirValue source, MlirValue offsets, MlirValue rows);

//===----------------------------------------------------------------------===//
// Experts
//===----------------------------------------------------------------------===//

/// `route`: ids and weights of `topK` groups for each row; `scoring` is
/// #blockscale.scoring.
MLIR_CAPI_EXPORTED MlirOperation blockscaleRouteCreate(MlirLocation location,
                                                       MlirValue logits,
                                                       int64_t topK,
                                                       MlirAttribute scoring);

/// `sort_routes` among `groups` (an index): offsets, rows and positions. The
/// size of offsets is static if `numGroups` is not 0.
MLIR_CAPI_EXPORTED MlirOperation blockscaleSortRoutesCreate(
    MlirLocation location, MlirValue ids, MlirValue groups, int64_t numGroups);

/// `combine_rows`; `elementType` is that of the result.
MLIR_CAPI_EXPORTED MlirOperation blockscaleCombineRowsCreate(
    MlirLocation location, MlirValue source, MlirValue positions,
    MlirValue weights, MlirType elementType);

//===----------------------------------------------------------------------===//
// Sparse operands; `granularity` is #blockscale.granularity
//===----------------------------------------------------------------------===//

MLIR_CAPI_EXPORTED MlirOperation blockscaleSparsifyCreate(
    MlirLocation location, MlirValue source, MlirAttribute granularity);

/// `compress`: elements and metadata.
MLIR_CAPI_EXPORTED MlirOperation blockscaleCompressCreate(
    MlirLocation location, MlirValue source, MlirAttribute granularity);

MLIR_CAPI_EXPORTED MlirOperation
blockscaleDecompressCreate(MlirLocation location, MlirValue elements,
                           MlirValue metadata, MlirAttribute granularity);

MLIR_CAPI_EXPORTED MlirOperation
blockscaleTileMetadataCreate(MlirLocation location, MlirValue source);

/// `untile_metadata`: sizes as those of blockscaleUnswizzleScalesCreate.
MLIR_CAPI_EXPORTED MlirOperation blockscaleUntileMetadataCreate(
    MlirLocation location, MlirValue source, intptr_t rank,
    const int64_t *shape, intptr_t nSizes, const MlirValue *sizes);

//===----------------------------------------------------------------------===//
// For who owns operations
//===----------------------------------------------------------------------===//

/// Destroys an operation and all in it. Who uses a value of these has no
/// operand there afterwards, where mlirOperationDestroy would abort: for
/// bindings that free operations in an order that is not theirs.
MLIR_CAPI_EXPORTED void blockscaleOperationDestroy(MlirOperation op);

#ifdef __cplusplus
}
#endif

#endif // BLOCKSCALE_C_TILEOPS_H
