//===- Tcgen05ToNVVM.h - tcgen05 to NVVM ------------------------*- C++ -*-===//
//
// Part of the blockscale project, under the Apache License v2.0 with LLVM
// Exceptions. See LICENSE for license information.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//
//
// The instruction level of the path tcgen05. Values of tensor memory become
// `i32`; patterns insert casts at the boundaries of rewritten ops, which cancel
// out.
//
//===----------------------------------------------------------------------===//

#ifndef BLOCKSCALE_CONVERSION_TCGEN05TONVVM_H
#define BLOCKSCALE_CONVERSION_TCGEN05TONVVM_H

#include "blockscale/Dialect/IR/DynamicMemory.h"
#include "mlir/Conversion/LLVMCommon/TypeConverter.h"
#include "mlir/IR/PatternMatch.h"

namespace mlir::blockscale {

/// All ops of BlockScaleTcgen05Ops.td to the NVVM dialect. The caller checks
/// the chip; `converter` knows memory spaces of GPUs.
void populateTcgen05ToNVVMConversionPatterns(const LLVMTypeConverter &converter,
                                             RewritePatternSet &patterns);

/// Barriers and bulk copies, each of which is one NVVM op.
void populateAsyncToNVVMConversionPatterns(const LLVMTypeConverter &converter,
                                           RewritePatternSet &patterns);

/// Rewrites ops that pass values of tensor memory between basic blocks:
/// structured control flow, branches and selects.
LogicalResult convertTmemControlFlow(Operation *root);

/// Aligns workgroup memory with matrices that descriptors describe, at its
/// definition. Returns whether there is such memory.
bool alignDescribedMemory(Operation *root);

} // namespace mlir::blockscale

#endif // BLOCKSCALE_CONVERSION_TCGEN05TONVVM_H
