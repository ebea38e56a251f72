//===- Choosers.h - The choosers of all kernels -----------------*- C++ -*-===//
//
// Part of the blockscale project, under the Apache License v2.0 with LLVM
// Exceptions. See LICENSE for license information.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//
//
// The choosing halves of all GEMM kernels. Paths/GemmPath.cpp says which path
// has which.
//
//===----------------------------------------------------------------------===//

#ifndef BLOCKSCALE_LIB_DIALECT_TRANSFORMS_KERNELS_GEMM_SCHEDULE_CHOOSERS_H
#define BLOCKSCALE_LIB_DIALECT_TRANSFORMS_KERNELS_GEMM_SCHEDULE_CHOOSERS_H

#include "Kernels/Gemm/Schedule/KernelChooser.h"

namespace mlir::blockscale {

const KernelChooser &getMmaSyncDenseChooser();
const KernelChooser &getMmaSyncMultistageChooser();
const KernelChooser &getDequantMmaMultistageChooser();
const KernelChooser &getTcgen05DenseChooser();
const KernelChooser &getWgmmaDenseChooser();
const KernelChooser &getWgmmaMixedInputChooser();
const KernelChooser &getWgmmaGemvChooser();
const KernelChooser &getWgmmaSparseInputChooser();

/// Whether tcgen05 is the best path for `op`, see GemmPath.
bool isTcgen05Best(ProductOpInterface op, const Chip &chip, bool hasWorkspace);
/// Why the path dequant_mma does not take `op` as a mixed-input product.
std::string findDequantMmaMixedInputObstacle(ProductOpInterface op,
                                             const Chip &, bool hasWorkspace);
/// Whether wgmma is the best path for `op`, see GemmPath.
bool isWgmmaBest(ProductOpInterface op, const Chip &chip, bool hasWorkspace);
/// Whether wgmma computes the sparse `op` with its metadata, in kernels that
/// are faster than those of other paths.
bool isSparseInputBest(ProductOpInterface op, const Chip &chip,
                       bool hasWorkspace);
/// Schedules of these kernels for the sparse `op` of dynamic sizes, see
/// KernelChooser.
SmallVector<AlternativeAttr> getSparseInputAlternatives(ProductOpInterface op,
                                                        const Chip &chip,
                                                        bool hasWorkspace);
/// Whether the path dequant_mma computes the sparse `op` with its metadata
/// faster than `numProducts` dense ones of the path wgmma, or of dequant_mma,
/// behind a kernel that decompresses x.
bool isMetadataFaster(ProductOpInterface op, const Chip &chip,
                      uint64_t numProducts);
/// Why no kernel of wgmma takes `op` as a mixed-input product.
std::string findWgmmaMixedInputObstacle(ProductOpInterface op, const Chip &chip,
                                        bool hasWorkspace);

} // namespace mlir::blockscale

#endif // BLOCKSCALE_LIB_DIALECT_TRANSFORMS_KERNELS_GEMM_SCHEDULE_CHOOSERS_H
