//===- BlockScaleDialect.cpp - The blockscale dialect ---------------------===//
//
// Part of the blockscale project, under the Apache License v2.0 with LLVM
// Exceptions. See LICENSE for license information.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//
//
// The dialect's registration, and the conversion of MLIR types to formats of
// the tables.
//
//===----------------------------------------------------------------------===//

#include "blockscale/Dialect/IR/Grouped.h"
#include "blockscale/Dialect/IR/Promotion.h"
#include "blockscale/Dialect/IR/Rebase.h"
#include "blockscale/Dialect/IR/Routing.h"
#include "blockscale/Dialect/IR/Sparse.h"

#include "mlir/Dialect/Affine/IR/AffineOps.h"
#include "mlir/Dialect/Arith/IR/Arith.h"
#include "mlir/Dialect/ControlFlow/IR/ControlFlowOps.h"
#include "mlir/Dialect/GPU/IR/GPUDialect.h"
#include "mlir/Dialect/LLVMIR/LLVMDialect.h"
#include "mlir/Dialect/SCF/IR/SCF.h"
#include "mlir/Dialect/Tensor/IR/Tensor.h"
#include "mlir/Transforms/InliningUtils.h"

using namespace mlir;
using namespace mlir::blockscale;

#include "blockscale/Dialect/IR/BlockScaleDialect.cpp.inc"

namespace {
/// All ops may be inlined.
struct BlockScaleInlinerInterface final : DialectInlinerInterface {
  using DialectInlinerInterface::DialectInlinerInterface;

  bool isLegalToInline(Operation *, Region *, bool, IRMapping &) const final {
    return true;
  }
};
} // namespace

void BlockScaleDialect::initialize() {
  addInterfaces<BlockScaleInlinerInterface>();
  addAttributesAndTypes();
  addOperations<
#define GET_OP_LIST
#include "blockscale/Dialect/IR/BlockScaleOps.cpp.inc"
      >();
}

/// Creates the constants that the swizzle ops fold to.
Operation *BlockScaleDialect::materializeConstant(OpBuilder &builder,
                                                  Attribute value, Type type,
                                                  Location loc) {
  return arith::ConstantOp::materialize(builder, value, type, loc);
}

std::optional<OpLevel> blockscale::getOpLevel(OperationName name) {
  if (name.hasTrait<OfLevel<OpLevel::Tile>::Impl>())
    return OpLevel::Tile;
  if (name.hasTrait<OfLevel<OpLevel::Host>::Impl>())
    return OpLevel::Host;
  if (name.hasTrait<OfLevel<OpLevel::Kernel>::Impl>())
    return OpLevel::Kernel;
  if (name.hasTrait<OfLevel<OpLevel::Instruction>::Impl>())
    return OpLevel::Instruction;
  return std::nullopt;
}

bool blockscale::hasStaticShapes(Operation *op) {
  auto isStatic = [](Type type) {
    auto shaped = dyn_cast<ShapedType>(type);
    return !shaped || shaped.hasStaticShape();
  };
  return llvm::all_of(op->getOperandTypes(), isStatic) &&
         llvm::all_of(op->getResultTypes(), isStatic);
}

// The tables have the names of types that MLIR prints.
static std::string_view getTypeName(Type type) {
  StringRef name = type.getAbstractType().getName();
  name.consume_front("builtin.");
  return name;
}

std::optional<Format> blockscale::getElementFormat(Type type) {
  return lookupElementFormat(getTypeName(type));
}

std::optional<Format> blockscale::getScaleFormat(Type type) {
  return lookupScaleFormat(getTypeName(type));
}

std::optional<Format> blockscale::getHighPrecisionFormat(Type type) {
  return lookupHighPrecisionFormat(getTypeName(type));
}
