//===- TileOps.cpp - Builders of the tile level in C ----------------------===//
//
// Part of the blockscale project, under the Apache License v2.0 with LLVM
// Exceptions. See LICENSE for license information.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//
//
// Where an op has a builder in C++ that infers the types of its results, that
// one is called; else types are made here. Operands from which no type follows
// are refused here, and all other rules are left to the verifier.
//
//===----------------------------------------------------------------------===//

#include "blockscale-c/TileOps.h"
#include "blockscale/Dialect/IR/BlockScale.h"
#include "blockscale/Dialect/IR/Grouped.h"
#include "blockscale/Dialect/IR/Rebase.h"
#include "blockscale/Dialect/IR/Routing.h"
#include "blockscale/Dialect/IR/Sparse.h"
#include "blockscale/Dialect/IR/TileTypes.h"
#include "blockscale/Support/ScaleBlocks.h"
#include "mlir/CAPI/IR.h"

using namespace mlir;
using namespace mlir::blockscale;

namespace {
/// Makes one op that is in no block.
struct Maker {
  Location loc;
  OpBuilder builder;

  explicit Maker(MlirLocation location)
      : loc(unwrap(location)), builder(loc.getContext()) {}

  template <typename Op, typename... Args>
  MlirOperation make(Args &&...args) {
    return wrap(
        Op::create(builder, loc, std::forward<Args>(args)...).getOperation());
  }

  /// Null for 0.
  IntegerAttr getBlockSize(int64_t size) {
    return size == 0 ? IntegerAttr() : builder.getI64IntegerAttr(size);
  }
  UnitAttr getUnit(bool isSet) {
    return isSet ? builder.getUnitAttr() : UnitAttr();
  }

  /// Sets `result`, which is null for a null `attr`; fails, with an error, for
  /// one of another kind.
  template <typename T>
  LogicalResult read(MlirAttribute attr, StringRef what, T &result) {
    Attribute given = unwrap(attr);
    result = dyn_cast_or_null<T>(given);
    if (given && !result)
      return emitError(loc)
             << "expected #blockscale." << what << ", got " << given;
    return success();
  }
  /// The same for one that must not be null.
  template <typename T>
  LogicalResult require(MlirAttribute attr, StringRef what, T &result) {
    if (failed(read(attr, what, result)))
      return failure();
    if (!result)
      return emitError(loc) << "expected #blockscale." << what << ", got none";
    return success();
  }

  /// Checks an operand whose shape says what results have.
  LogicalResult checkShaped(MlirValue value, StringRef name) {
    Type type = unwrap(value).getType();
    if (!isTensorOrFixedVector(type) || cast<ShapedType>(type).getRank() == 0)
      return emitError(loc)
             << "expected " << name
             << " to be a ranked tensor or a vector, got " << type;
    return success();
  }

  /// An op whose result has `shape`; each dynamic size in it is the next one of
  /// `sizes`.
  template <typename Op>
  MlirOperation makeOfSizes(MlirValue source, ArrayRef<int64_t> shape,
                            ArrayRef<MlirValue> sizes) {
    if (failed(checkShaped(source, "source")))
      return {nullptr};
    SmallVector<OpFoldResult> all;
    for (int64_t size : shape) {
      if (ShapedType::isDynamic(size) && !sizes.empty()) {
        all.push_back(unwrap(sizes.front()));
        sizes = sizes.drop_front();
      } else {
        all.push_back(builder.getIndexAttr(size));
      }
    }
    return make<Op>(unwrap(source), all);
  }

  /// A tensor type; null, with an error, if there is no such type.
  Type getTensor(ArrayRef<int64_t> shape, Type element) {
    if (!element || !TensorType::isValidElementType(element)) {
      emitError(loc) << "expected a type of elements, got " << element;
      return {};
    }
    return RankedTensorType::getChecked([&] { return emitError(loc); }, shape,
                                        element, Attribute());
  }
};

/// The attributes of a scaled product.
struct ProductAttributes {
  IntegerAttr blockSize;
  ScaleBlockAttr xScaleBlock, yScaleBlock;
  AccumulateAttr accumulate;

  LogicalResult read(Maker &maker, const BlockScaleProductOptions &options) {
    blockSize = maker.getBlockSize(options.blockSize);
    return failure(
        failed(maker.read(options.xScaleBlock, "scale_block", xScaleBlock)) ||
        failed(maker.read(options.yScaleBlock, "scale_block", yScaleBlock)) ||
        failed(maker.read(options.accumulate, "accumulate", accumulate)));
  }
};
} // namespace

/// The shape of a tensor or vector; nullopt for other types.
static std::optional<SmallVector<int64_t>> getShape(Type type) {
  auto shaped = dyn_cast<ShapedType>(type);
  if (!shaped || !shaped.hasRank())
    return std::nullopt;
  return llvm::to_vector(shaped.getShape());
}

/// The size of a dimension; dynamic if there is none.
static int64_t getSize(Value value, unsigned dim) {
  auto shape = getShape(value.getType());
  return shape && dim < shape->size() ? (*shape)[dim] : ShapedType::kDynamic;
}

//===----------------------------------------------------------------------===//
// Products
//===----------------------------------------------------------------------===//

MlirOperation blockscaleMmaScaledCreate(MlirLocation location, MlirValue x,
                                        MlirValue xScale, MlirValue y,
                                        MlirValue yScale, MlirValue acc,
                                        BlockScaleProductOptions options) {
  Maker maker(location);
  ProductAttributes attributes;
  if (failed(attributes.read(maker, options)))
    return {nullptr};
  return maker.make<MmaScaledOp>(
      unwrap(acc).getType(), unwrap(x), unwrap(xScale), unwrap(y),
      unwrap(yScale), unwrap(acc), attributes.blockSize, attributes.xScaleBlock,
      attributes.yScaleBlock, attributes.accumulate);
}

MlirOperation blockscaleGroupedMmaScaledCreate(
    MlirLocation location, MlirValue x, MlirValue xScale, MlirValue y,
    MlirValue yScale, MlirValue offsets, MlirValue acc,
    BlockScaleRowGroups groups, BlockScaleProductOptions options) {
  Maker maker(location);
  ProductAttributes attributes;
  if (failed(attributes.read(maker, options)))
    return {nullptr};
  return maker.make<GroupedMmaScaledOp>(
      unwrap(acc).getType(), unwrap(x), unwrap(xScale), unwrap(y),
      unwrap(yScale), unwrap(offsets), unwrap(acc), unwrap(groups.rows),
      unwrap(groups.groupScale), unwrap(groups.bias), attributes.blockSize,
      attributes.xScaleBlock, attributes.yScaleBlock,
      maker.getUnit(groups.areLegal), attributes.accumulate);
}

MlirOperation blockscaleGroupedMatmulCreate(MlirLocation location, MlirValue x,
                                            MlirValue y, MlirValue offsets,
                                            MlirValue acc,
                                            BlockScaleRowGroups groups) {
  Maker maker(location);
  return maker.make<GroupedMatmulOp>(
      unwrap(acc).getType(), unwrap(x), unwrap(y), unwrap(offsets), unwrap(acc),
      unwrap(groups.rows), unwrap(groups.groupScale), unwrap(groups.bias),
      maker.getUnit(groups.areLegal));
}

MlirOperation blockscaleSparseMmaScaledCreate(MlirLocation location,
                                              MlirValue x, MlirValue metadata,
                                              MlirValue xScale, MlirValue y,
                                              MlirValue yScale, MlirValue acc,
                                              MlirAttribute granularity,
                                              int64_t blockSize) {
  Maker maker(location);
  GranularityAttr kept;
  if (failed(maker.require(granularity, "granularity", kept)))
    return {nullptr};
  return maker.make<SparseMmaScaledOp>(
      unwrap(acc).getType(), unwrap(x), unwrap(metadata), unwrap(xScale),
      unwrap(y), unwrap(yScale), unwrap(acc), kept,
      maker.getBlockSize(blockSize), UnitAttr());
}

//===----------------------------------------------------------------------===//
// Quantization
//===----------------------------------------------------------------------===//

MlirOperation blockscaleQuantizeCreate(MlirLocation location, MlirValue x,
                                       MlirType elementType,
                                       BlockScaleQuantizeOptions options) {
  Maker maker(location);
  ScaleBlockAttr scaleBlock;
  ScaleRuleAttr rule;
  if (failed(maker.read(options.scaleBlock, "scale_block", scaleBlock)) ||
      failed(maker.read(options.rule, "scale_rule", rule)))
    return {nullptr};
  Type element = unwrap(elementType);
  if (failed(maker.checkShaped(x, "x")))
    return {nullptr};
  if (!element || !isa<FloatType>(element)) {
    emitError(maker.loc) << "expected a type of elements, got " << element;
    return {nullptr};
  }
  auto op = QuantizeOp::create(maker.builder, maker.loc, unwrap(x), element,
                               unwrap(options.scaleType), options.blockSize,
                               unwrap(options.tensorScale), options.hasAmax,
                               options.isPadded);
  op.setRuleAttr(rule);
  auto shape = getShape(unwrap(x).getType());
  if (scaleBlock && shape && shape->size() >= 2) {
    auto divide = [&](int64_t &size, int64_t block) {
      if (block == ScaleBlock::kAll || !ShapedType::isDynamic(size))
        size = getNumScales(size, block);
    };
    divide(shape->back(), scaleBlock.getK());
    divide(shape->end()[-2], scaleBlock.getRows());
    Type scales = op.getScales().getType();
    op.getScales().setType(
        cast<ShapedType>(scales).clone(ArrayRef<int64_t>(*shape)));
    op.removeBlockSizeAttr();
  }
  op.setScaleBlockAttr(scaleBlock);
  return wrap(op.getOperation());
}

MlirOperation blockscaleDequantizeCreate(MlirLocation location,
                                         MlirValue elements, MlirValue scales,
                                         MlirType resultType,
                                         MlirValue tensorScale,
                                         int64_t blockSize,
                                         MlirAttribute scaleBlock) {
  Maker maker(location);
  ScaleBlockAttr block;
  if (failed(maker.read(scaleBlock, "scale_block", block)))
    return {nullptr};
  if (failed(maker.checkShaped(elements, "elements")))
    return {nullptr};
  auto op = DequantizeOp::create(maker.builder, maker.loc, unwrap(elements),
                                 unwrap(scales), unwrap(resultType),
                                 unwrap(tensorScale), blockSize);
  op.setScaleBlockAttr(block);
  return wrap(op.getOperation());
}

MlirOperation blockscaleRebaseCreate(MlirLocation location, MlirValue elements,
                                     MlirValue scales, int64_t blockSize) {
  Maker maker(location);
  auto type = dyn_cast<RankedTensorType>(unwrap(elements).getType());
  if (!type || type.getRank() == 0 ||
      !getElementFormat(type.getElementType())) {
    emitError(maker.loc)
        << "expected elements to be a ranked tensor of fp8, fp6 or fp4, got "
        << unwrap(elements).getType();
    return {nullptr};
  }
  return maker.make<RebaseOp>(unwrap(elements), unwrap(scales), blockSize);
}

//===----------------------------------------------------------------------===//
// Layouts of scales
//===----------------------------------------------------------------------===//

MlirOperation blockscaleSwizzleScalesCreate(MlirLocation location,
                                            MlirValue source) {
  Maker maker(location);
  SmallVector<Type> types;
  if (failed(SwizzleScalesOp::inferReturnTypes(
          maker.loc.getContext(), maker.loc, ValueRange(unwrap(source)),
          DictionaryAttr(), nullptr, {}, types)))
    return {nullptr}; // With an error.
  return maker.make<SwizzleScalesOp>(types[0], unwrap(source));
}

MlirOperation blockscaleUnswizzleScalesCreate(MlirLocation location,
                                              MlirValue source, intptr_t rank,
                                              const int64_t *shape,
                                              intptr_t nSizes,
                                              const MlirValue *sizes) {
  return Maker(location).makeOfSizes<UnswizzleScalesOp>(
      source, ArrayRef(shape, rank), ArrayRef(sizes, nSizes));
}

MlirOperation blockscaleSwizzleGroupScalesCreate(MlirLocation location,
                                                 MlirValue source,
                                                 MlirValue offsets,
                                                 MlirValue rows) {
  Maker maker(location);
  if (failed(maker.checkShaped(source, "source")) ||
      failed(maker.checkShaped(offsets, "offsets")) ||
      (!mlirValueIsNull(rows) && failed(maker.checkShaped(rows, "rows"))))
    return {nullptr};
  return maker.make<SwizzleGroupScalesOp>(unwrap(source), unwrap(offsets),
                                          unwrap(rows));
}

//===----------------------------------------------------------------------===//
// Experts
//===----------------------------------------------------------------------===//

MlirOperation blockscaleRouteCreate(MlirLocation location, MlirValue logits,
                                    int64_t topK, MlirAttribute scoring) {
  Maker maker(location);
  ScoringAttr kind;
  if (failed(maker.require(scoring, "scoring", kind)))
    return {nullptr};
  int64_t shape[] = {getSize(unwrap(logits), 0), topK};
  Type ids = maker.getTensor(shape, maker.builder.getI32Type());
  Type weights = ids ? maker.getTensor(shape, maker.builder.getF32Type()) : ids;
  if (!weights)
    return {nullptr};
  return maker.make<RouteOp>(ids, weights, unwrap(logits),
                             maker.builder.getI64IntegerAttr(topK), kind);
}

MlirOperation blockscaleSortRoutesCreate(MlirLocation location, MlirValue ids,
                                         MlirValue groups, int64_t numGroups) {
  Maker maker(location);
  Type i32 = maker.builder.getI32Type();
  int64_t rows = getSize(unwrap(ids), 0), chosen = getSize(unwrap(ids), 1);
  bool isDynamic = ShapedType::isDynamic(rows) || ShapedType::isDynamic(chosen);
  int64_t slots = isDynamic ? ShapedType::kDynamic : rows * chosen;
  Type offsets =
      maker.getTensor(numGroups ? numGroups : ShapedType::kDynamic, i32);
  if (!offsets)
    return {nullptr};
  return maker.make<SortRoutesOp>(offsets, RankedTensorType::get(slots, i32),
                                  RankedTensorType::get({rows, chosen}, i32),
                                  unwrap(ids), unwrap(groups));
}

MlirOperation blockscaleCombineRowsCreate(MlirLocation location,
                                          MlirValue source, MlirValue positions,
                                          MlirValue weights,
                                          MlirType elementType) {
  int64_t shape[] = {getSize(unwrap(positions), 0), getSize(unwrap(source), 1)};
  Maker maker(location);
  Type type = maker.getTensor(shape, unwrap(elementType));
  if (!type)
    return {nullptr};
  return maker.make<CombineRowsOp>(type, unwrap(source), unwrap(positions),
                                   unwrap(weights));
}

//===----------------------------------------------------------------------===//
// Sparse operands
//===----------------------------------------------------------------------===//

MlirOperation blockscaleSparsifyCreate(MlirLocation location, MlirValue source,
                                       MlirAttribute granularity) {
  Maker maker(location);
  GranularityAttr kept;
  if (failed(maker.require(granularity, "granularity", kept)))
    return {nullptr};
  return maker.make<SparsifyOp>(unwrap(source).getType(), unwrap(source), kept);
}

MlirOperation blockscaleCompressCreate(MlirLocation location, MlirValue source,
                                       MlirAttribute granularity) {
  Maker maker(location);
  GranularityAttr kept;
  if (failed(maker.require(granularity, "granularity", kept)) ||
      failed(maker.checkShaped(source, "source")))
    return {nullptr};
  return maker.make<CompressOp>(unwrap(source), kept.getValue());
}

MlirOperation blockscaleDecompressCreate(MlirLocation location,
                                         MlirValue elements, MlirValue metadata,
                                         MlirAttribute granularity) {
  Maker maker(location);
  GranularityAttr kept;
  if (failed(maker.require(granularity, "granularity", kept)) ||
      failed(maker.checkShaped(elements, "elements")))
    return {nullptr};
  return maker.make<DecompressOp>(unwrap(elements), unwrap(metadata),
                                  kept.getValue());
}

MlirOperation blockscaleTileMetadataCreate(MlirLocation location,
                                           MlirValue source) {
  Maker maker(location);
  if (failed(maker.checkShaped(source, "source")))
    return {nullptr};
  return maker.make<TileMetadataOp>(unwrap(source));
}

MlirOperation blockscaleUntileMetadataCreate(MlirLocation location,
                                             MlirValue source, intptr_t rank,
                                             const int64_t *shape,
                                             intptr_t nSizes,
                                             const MlirValue *sizes) {
  return Maker(location).makeOfSizes<UntileMetadataOp>(
      source, ArrayRef(shape, rank), ArrayRef(sizes, nSizes));
}

//===----------------------------------------------------------------------===//
// For who owns operations
//===----------------------------------------------------------------------===//

void blockscaleOperationDestroy(MlirOperation op) {
  unwrap(op)->walk([](Operation *nested) {
    nested->dropAllUses();
    for (Region &region : nested->getRegions())
      for (Block &block : region)
        for (BlockArgument argument : block.getArguments())
          argument.dropAllUses();
  });
  unwrap(op)->erase();
}
