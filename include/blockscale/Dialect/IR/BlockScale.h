//===- BlockScale.h - The blockscale dialect --------------------*- C++ -*-===//
//
// Part of the blockscale project, under the Apache License v2.0 with LLVM
// Exceptions. See LICENSE for license information.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#ifndef BLOCKSCALE_DIALECT_IR_BLOCKSCALE_H
#define BLOCKSCALE_DIALECT_IR_BLOCKSCALE_H

#include "blockscale/Dialect/IR/TileTypes.h"
#include "blockscale/Support/Descriptors.h"
#include "blockscale/Support/Formats.h"
#include "blockscale/Support/FragmentLayout.h"
#include "blockscale/Support/InstructionTable.h"
#include "blockscale/Support/ScaleBlocks.h"
#include "blockscale/Support/SharedLayout.h"
#include "blockscale/Support/TensorMemory.h"
#include "mlir/Bytecode/BytecodeOpInterface.h"
#include "mlir/Dialect/LLVMIR/LLVMTypes.h"
#include "mlir/IR/BuiltinTypes.h"
#include "mlir/IR/Dialect.h"
#include "mlir/IR/OpDefinition.h"
#include "mlir/Interfaces/ControlFlowInterfaces.h"
#include "mlir/Interfaces/DestinationStyleOpInterface.h"
#include "mlir/Interfaces/InferTypeOpInterface.h"
#include "mlir/Interfaces/RuntimeVerifiableOpInterface.h"
#include "mlir/Interfaces/SideEffectInterfaces.h"
#include "mlir/Interfaces/TilingInterface.h"

namespace mlir::blockscale {
class AccType;
class TileMmaOp;

/// The default rasterization group: tiles along M before the next ones along N.
inline constexpr int64_t kTileGroup = 8;

/// The blocks of a cluster, along M by along N of the result.
struct ClusterSize {
  int64_t m = 1, n = 1;

  int64_t getBlocks() const { return m * n; }
  bool operator==(const ClusterSize &other) const {
    return m == other.m && n == other.n;
  }
  bool operator!=(const ClusterSize &other) const { return !(*this == other); }
};
inline llvm::hash_code hash_value(const ClusterSize &size) {
  return llvm::hash_combine(size.m, size.n);
}

/// The operands of a grouped product that only it has, see grouped_mma_scaled;
/// all null for others.
struct RowGroupOperands {
  Value offsets, rows, scale, bias;

  explicit operator bool() const { return bool(offsets); }
};

/// How a product promotes sums of `interval` elements along K, see
/// promoted_matmul; 0 if it does not. Without factors they are 1.
struct Promotion {
  int64_t interval = 0;
  Value xFactors, yFactors;
  ScaleBlock xBlock, yBlock;

  explicit operator bool() const { return interval != 0; }
};
} // namespace mlir::blockscale

#include "blockscale/Dialect/IR/BlockScaleDialect.h.inc"

#include "blockscale/Dialect/IR/BlockScaleEnums.h.inc"

#include "blockscale/Dialect/IR/BlockScaleAttrInterfaces.h.inc"
#include "blockscale/Dialect/IR/BlockScaleOpInterfaces.h.inc"

namespace mlir::blockscale {

/// The trait of the ops of a level. The base classes of BlockScaleLevels.td add
/// it, so that every op of the dialect has exactly one.
template <OpLevel level>
struct OfLevel {
  template <typename ConcreteOp>
  class Impl : public OpTrait::TraitBase<ConcreteOp, Impl> {};
};

/// The level of the op `name`; nullopt for ops of other dialects.
std::optional<OpLevel> getOpLevel(OperationName name);

} // namespace mlir::blockscale

#define GET_ATTRDEF_CLASSES
#include "blockscale/Dialect/IR/BlockScaleAttrs.h.inc"

#define GET_TYPEDEF_CLASSES
#include "blockscale/Dialect/IR/BlockScaleTypes.h.inc"

#define GET_OP_CLASSES
#include "blockscale/Dialect/IR/BlockScaleOps.h.inc"

namespace mlir::blockscale {

/// The attribute of a module that names its chip.
inline constexpr StringLiteral kTargetAttrName = "blockscale.target";

/// The attribute of a gpu.launch_func whose kernel may start before the
/// previous one has ended, see blockscale-overlap-kernels.
inline constexpr StringLiteral kProgrammaticAttrName =
    "blockscale.programmatic";

/// The target of the module that `op` is or is in; null if it has none. Emits
/// an error if the attribute has another type.
FailureOr<TargetAttr> lookupTarget(Operation *op);

/// The same; it is also an error if there is no target, or if it is no GPU.
FailureOr<TargetAttr> getTarget(Operation *op);

/// The format of elements of `type`, which is an operand `x` or `y` of
/// `mma_scaled`; nullopt for other types.
std::optional<Format> getElementFormat(Type type);

/// The format of scales of `type`: f8E4M3FN holds ue4m3.
std::optional<Format> getScaleFormat(Type type);

/// The format of elements without scales of `type`, such as bf16.
std::optional<Format> getHighPrecisionFormat(Type type);

/// The bytes of `count` elements of `bits` bits in a row of a packed buffer;
/// nullopt if they are not whole bytes.
std::optional<int64_t> getPackedBytes(int64_t count, unsigned bits);

/// The smallest number of packed elements that fill whole bytes, and these
/// bytes.
struct PackedUnit {
  int64_t elements;
  int64_t bytes;
};
PackedUnit getPackedUnit(unsigned bits);

/// Whether all operands and results of `op` have static shapes.
bool hasStaticShapes(Operation *op);

/// The shape of row-major scales of `shape` in the 32x4x4 layout. Dynamic sizes
/// stay dynamic.
SmallVector<int64_t> getSwizzledShape(ArrayRef<int64_t> shape);

/// The same for sizes that may be values.
SmallVector<OpFoldResult> getSwizzledSizes(OpBuilder &builder, Location loc,
                                           ArrayRef<OpFoldResult> sizes);

/// Converts the constant row-major scales `scales` to the 32x4x4 layout, of
/// type `type`, padded with bytes 0x00. With `rowsLast`, rows are the last
/// dimension of `scales` (K_s x N). Null for a result that is too large for a
/// constant: more than 16 MiB, or more than 64 KiB if it would be a splat
/// without padding.
DenseElementsAttr swizzleConstant(DenseElementsAttr scales, ShapedType type,
                                  bool rowsLast = false);

/// The row-major scales, of type `type`, of the constant `swizzled`. Null for
/// more than 16 MiB.
DenseElementsAttr unswizzleConstant(DenseElementsAttr swizzled,
                                    ShapedType type);

} // namespace mlir::blockscale

#endif // BLOCKSCALE_DIALECT_IR_BLOCKSCALE_H
