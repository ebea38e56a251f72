//===- TileTypes.h - Types of tile operands ---------------------*- C++ -*-===//
//
// Part of the blockscale project, under the Apache License v2.0 with LLVM
// Exceptions. See LICENSE for license information.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//
//
// The types of operands and results of the tile level: a ranked tensor or a
// vector that is not scalable, each of one of two ranks. Errors of ODS have the
// index of an operand; these checks name it.
//
//===----------------------------------------------------------------------===//

#ifndef BLOCKSCALE_DIALECT_IR_TILETYPES_H
#define BLOCKSCALE_DIALECT_IR_TILETYPES_H

#include "mlir/IR/OpDefinition.h"

namespace mlir::blockscale {

enum class TileType {
  Matrix,         // elements, of rank 2 or 3
  Scales,         // row-major, of rank 2 or 3
  ProductScales,  // the same, or f32
  SwizzledScales, // in the 32x4x4 layout, of rank 4 or 5
  Accumulator,    // f32, of rank 2 or 3
};

bool isTileType(TileType tile, Type type);

/// Whether `type` is a ranked tensor, or a vector that is not scalable.
bool isTensorOrFixedVector(Type type);

/// An operand or a result of an op, by name.
struct NamedTile {
  StringRef name;
  TileType type;
};

/// Checks the first operands of `op`, and its result.
LogicalResult verifyTileTypes(Operation *op, ArrayRef<NamedTile> operands,
                              NamedTile result);

/// Checks types before ODS does. The op lists its operands and its result:
/// `getTileOperands()`, `getTileResult()`.
template <typename ConcreteType>
class HasTileTypes : public OpTrait::TraitBase<ConcreteType, HasTileTypes> {
public:
  static LogicalResult verifyTrait(Operation *op) {
    return verifyTileTypes(op, ConcreteType::getTileOperands(),
                           ConcreteType::getTileResult());
  }
};

} // namespace mlir::blockscale

#endif // BLOCKSCALE_DIALECT_IR_TILETYPES_H
