//===- KernelPurpose.h - Purposes of kernels --------------------*- C++ -*-===//
//
// Part of the blockscale project, under the Apache License v2.0 with LLVM
// Exceptions. See LICENSE for license information.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#ifndef BLOCKSCALE_LIB_DIALECT_TRANSFORMS_LAUNCH_KERNELPURPOSE_H
#define BLOCKSCALE_LIB_DIALECT_TRANSFORMS_LAUNCH_KERNELPURPOSE_H

#include "llvm/ADT/StringRef.h"

namespace mlir::blockscale {

/// The attribute of a `gpu.func` with the op that it was formed for: one of the
/// names below. Kernels without it are loops.
inline constexpr llvm::StringLiteral kPurposeAttrName = "blockscale.purpose";

inline constexpr llvm::StringLiteral kMmaScaledPurpose = "mma_scaled";
inline constexpr llvm::StringLiteral kSparseMmaScaledPurpose =
    "sparse_mma_scaled";
inline constexpr llvm::StringLiteral kGroupedMmaScaledPurpose =
    "grouped_mma_scaled";
inline constexpr llvm::StringLiteral kGroupedMatmulPurpose = "grouped_matmul";
/// Matmuls of linalg.
inline constexpr llvm::StringLiteral kMatmulPurpose = "matmul";
inline constexpr llvm::StringLiteral kSwizzleScalesPurpose = "swizzle_scales";
inline constexpr llvm::StringLiteral kDecompressPurpose = "decompress";
inline constexpr llvm::StringLiteral kTransposePurpose = "transpose";
inline constexpr llvm::StringLiteral kQuantizePurpose = "quantize";
inline constexpr llvm::StringLiteral kDequantizePurpose = "dequantize";
inline constexpr llvm::StringLiteral kRebasePurpose = "rebase";
/// Reductions along rows.
inline constexpr llvm::StringLiteral kReducePurpose = "reduce";
inline constexpr llvm::StringLiteral kSoftmaxPurpose = "softmax";
inline constexpr llvm::StringLiteral kRoutePurpose = "route";
inline constexpr llvm::StringLiteral kSortRoutesPurpose = "sort_routes";
inline constexpr llvm::StringLiteral kCombineRowsPurpose = "combine_rows";
inline constexpr llvm::StringLiteral kSplitKReductionPurpose =
    "split_k_reduction";
inline constexpr llvm::StringLiteral kDequantizeOperandPurpose =
    "dequantize_operand";
inline constexpr llvm::StringLiteral kPermutePurpose = "permute";
inline constexpr llvm::StringLiteral kExactRecomputationPurpose =
    "exact_recomputation";
/// Checks of sizes, and nothing else.
inline constexpr llvm::StringLiteral kChecksPurpose = "checks";
inline constexpr llvm::StringLiteral kLoopsPurpose = "loops";

} // namespace mlir::blockscale

#endif // BLOCKSCALE_LIB_DIALECT_TRANSFORMS_LAUNCH_KERNELPURPOSE_H
