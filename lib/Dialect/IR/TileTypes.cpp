//===- TileTypes.cpp - Types of tile operands -----------------------------===//
//
// Part of the blockscale project, under the Apache License v2.0 with LLVM
// Exceptions. See LICENSE for license information.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//
//
// One table for the types that ODS accepts and for its error messages.
//
//===----------------------------------------------------------------------===//

#include "blockscale/Dialect/IR/BlockScale.h"

using namespace mlir;
using namespace mlir::blockscale;

namespace {
struct TileRule {
  std::array<int64_t, 2> ranks;
  bool (*isElement)(Type type);
  StringRef elements;
};
} // namespace

static bool isQuantized(Type type) {
  return getElementFormat(type).has_value();
}
static bool isScale(Type type) { return getScaleFormat(type).has_value(); }
static bool isProductScale(Type type) { return isScale(type) || type.isF32(); }
static bool isSum(Type type) { return type.isF32(); }

static const TileRule &getRule(TileType tile) {
  static constexpr StringLiteral elements =
      "f8E4M3FN, f8E5M2, f6E3M2FN, f6E2M3FN or f4E2M1FN";
  static constexpr StringLiteral scales = "f8E8M0FNU or f8E4M3FN";
  static constexpr TileRule rules[] = {{{2, 3}, isQuantized, elements},
                                       {{2, 3}, isScale, scales},
                                       {{2, 3}, isProductScale, scales},
                                       {{4, 5}, isScale, scales},
                                       {{2, 3}, isSum, "f32"}};
  return rules[static_cast<unsigned>(tile)];
}

bool blockscale::isTensorOrFixedVector(Type type) {
  auto vector = dyn_cast<VectorType>(type);
  return isa<RankedTensorType>(type) || (vector && !vector.isScalable());
}

bool blockscale::isTileType(TileType tile, Type type) {
  if (!isTensorOrFixedVector(type))
    return false;
  const TileRule &rule = getRule(tile);
  auto shaped = cast<ShapedType>(type);
  return llvm::is_contained(rule.ranks, shaped.getRank()) &&
         rule.isElement(shaped.getElementType());
}

LogicalResult blockscale::verifyTileTypes(Operation *op,
                                          ArrayRef<NamedTile> operands,
                                          NamedTile result) {
  auto verify = [&](NamedTile tile, Type type) -> LogicalResult {
    if (isTileType(tile.type, type))
      return success();
    const TileRule &rule = getRule(tile.type);
    return op->emitOpError("expected ")
           << tile.name << " to be a ranked tensor or a fixed-size vector of "
           << rule.elements << ", of rank " << rule.ranks[0] << " or "
           << rule.ranks[1] << ", got " << type;
  };
  for (auto [tile, type] : llvm::zip(operands, op->getOperandTypes()))
    if (failed(verify(tile, type)))
      return failure();
  return verify(result, op->getResult(0).getType());
}
