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
  /// The row of the product; without scales of x, that is numbers of a plain
  /// format.
  TypeCombination types;
  Value elements, scales;
  /// From an index of y to one of `codes`; to one of `scales` with blocks along
  /// K.
  AffineMap map;
  /// What codes times scales are multiplied by, in f32; null for nothing.
  Value tensorScale;
};

/// The codes of y of `op` on tensors; nullopt if it is made of anything else.
/// A `dequantize` counts beside an x of bf16 or f16, if K is whole blocks, or
/// dynamic: then that is to be checked.
std::optional<QuantizedB> findQuantizedB(ProductOpInterface op);

/// How `path` computes `op`: of codes of y, if it takes them beside numbers.
std::optional<InstructionChoice> chooseInstruction(ProductOpInterface op,
                                                   Path path);

/// What `instruction` computes of `op`: its row, or that of codes of y.
TypeCombination getComputedCombination(ProductOpInterface op,
                                       InstructionAttr instruction);

/// Whether `instruction` takes codes of y beside numbers of x.
bool takesQuantizedB(InstructionAttr instruction);

/// The `dequantize` that y of `op`, a product without scales, is read from,
/// through transposes; null if there is none. `map` is from an index of y to
/// one of its result.
DequantizeOp findDequantizeOfY(ProductOpInterface op, AffineMap &map);

/// Where there is one, says that numbers of y go through memory, and what has
/// to be for its codes to do.
void remarkOnDequantize(ProductOpInterface op, const Twine &expected);

} // namespace mlir::blockscale

#endif // BLOCKSCALE_LIB_DIALECT_TRANSFORMS_KERNELS_GEMM_PROBLEM_QUANTIZEDB_H
