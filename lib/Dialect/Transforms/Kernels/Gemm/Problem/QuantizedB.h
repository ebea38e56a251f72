//===- QuantizedB.h - Products with a quantized y ---------------*- C++ -*-===//
//
// Part of the blockscale project, under the Apache License v2.0 with LLVM
// Exceptions. See LICENSE for license information.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//
//
// Weight-only quantization: y is quantized because the product has scales, or
// because a `dequantize` makes it beside an x of bf16 or f16. A mixed-input
// kernel, which dequantizes in registers, takes both.
//
//===----------------------------------------------------------------------===//

#ifndef BLOCKSCALE_LIB_DIALECT_TRANSFORMS_KERNELS_GEMM_PROBLEM_QUANTIZEDB_H
#define BLOCKSCALE_LIB_DIALECT_TRANSFORMS_KERNELS_GEMM_PROBLEM_QUANTIZEDB_H

#include "blockscale/Dialect/IR/BlockScale.h"

namespace mlir::blockscale {

struct QuantizedB {
  /// The type combination of the product; x may have an unscaled format.
  TypeCombination types;
  Value elements, scales;
  /// From an index of y to one of `elements`; with K in blocks, to one of
  /// `scales`.
  AffineMap map;
  /// A scalar that elements times scales are multiplied by, in f32; null for
  /// none.
  Value tensorScale;
};

/// The quantized y of `op` on tensors; nullopt if y is not quantized. A
/// `dequantize` counts if x is bf16 or f16 and K is whole blocks; a dynamic K
/// has to be checked.
std::optional<QuantizedB> findQuantizedB(ProductOpInterface op);

/// The instruction of `path` for `op`: one for mixed input, if y is quantized
/// and the path takes that.
std::optional<InstructionChoice> chooseInstruction(ProductOpInterface op,
                                                   Path path);

/// The type combination that `instruction` computes for `op`: that of the op,
/// or of its quantized y.
TypeCombination getComputedCombination(ProductOpInterface op,
                                       InstructionAttr instruction);

/// Whether `instruction` is one for mixed input.
bool takesQuantizedB(InstructionAttr instruction);

/// The `dequantize` that makes y of `op`, a product without scales, through
/// transposes; null if there is none. `map` goes from an index of y to one of
/// its result.
DequantizeOp findDequantizeOfY(ProductOpInterface op, AffineMap &map);

/// If there is one, remarks that y is dequantized to memory, and what is
/// `expected` for a dequantization in registers.
void remarkOnDequantize(ProductOpInterface op, const Twine &expected);

} // namespace mlir::blockscale

#endif // BLOCKSCALE_LIB_DIALECT_TRANSFORMS_KERNELS_GEMM_PROBLEM_QUANTIZEDB_H
