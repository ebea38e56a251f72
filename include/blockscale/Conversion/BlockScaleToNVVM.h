//===- BlockScaleToNVVM.h - Conversion to NVVM ---------------- -*- C++ -*-===//
//
// Part of the blockscale project, under the Apache License v2.0 with LLVM
// Exceptions. See LICENSE for license information.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#ifndef BLOCKSCALE_CONVERSION_BLOCKSCALETONVVM_H
#define BLOCKSCALE_CONVERSION_BLOCKSCALETONVVM_H

#include "mlir/Conversion/LLVMCommon/TypeConverter.h"
#include "mlir/IR/PatternMatch.h"
#include "mlir/Pass/Pass.h"

namespace mlir::blockscale {

#define GEN_PASS_DECL
#include "blockscale/Conversion/Passes.h.inc"

#define GEN_PASS_REGISTRATION
#include "blockscale/Conversion/Passes.h.inc"

/// All ops of the instruction level: `mma_sync` to `nvvm.mma.block_scale`,
/// `load_matrix` to `nvvm.ldmatrix`, and those of Tcgen05ToNVVM.h.
/// The caller checks the chip; `converter` knows memory spaces of GPUs.
void populateBlockScaleToNVVMConversionPatterns(
    const LLVMTypeConverter &converter, RewritePatternSet &patterns);

} // namespace mlir::blockscale

#endif // BLOCKSCALE_CONVERSION_BLOCKSCALETONVVM_H
