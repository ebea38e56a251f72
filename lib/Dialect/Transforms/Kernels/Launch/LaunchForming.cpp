//===- LaunchForming.cpp - From problems to launches ----------------------===//
//
// Part of the blockscale project, under the Apache License v2.0 with LLVM
// Exceptions. See LICENSE for license information.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#include "Kernels/Launch/LaunchForming.h"

#include "Launch/KernelModule.h"
#include "Launch/KernelPurpose.h"
#include "Utils/IndexValues.h"
#include "mlir/Dialect/Affine/IR/AffineOps.h"
#include "mlir/Dialect/Arith/IR/Arith.h"
#include "mlir/Dialect/Arith/Utils/Utils.h"
#include "mlir/Dialect/Func/IR/FuncOps.h"
#include "mlir/Dialect/LLVMIR/LLVMDialect.h"
#include "mlir/Dialect/Tensor/IR/Tensor.h"
#include "llvm/Support/MathExtras.h"

#include <limits>

using namespace mlir;
using namespace mlir::blockscale;

/// The type of a parameter: a scalar, or the memory of a tensor, in which
/// narrow floats are bytes.
static Type getMemoryType(Type input) {
  auto type = dyn_cast<RankedTensorType>(input);
  if (!type)
    return input;
  Type element = type.getElementType();
  if (isa<FloatType>(element) && element.getIntOrFloatBitWidth() <= 8)
    element = IntegerType::get(type.getContext(), 8);
  return MemRefType::get(type.getShape(), element);
}

/// The most tiles of rows that groups can have, those of rows of nobody
/// included. Each tile has a row, and each group but one may end with a tile
/// that is not full.
static OpFoldResult getMostRowTiles(OpBuilder &builder, Location loc,
                                    const HostSizes &sizes, int64_t tile) {
  AffineExpr m, groups;
  bindDims(builder.getContext(), m, groups);
  return affine::makeComposedFoldedAffineMin(
      builder, loc,
      AffineMap::get(2, 0, {m, m.ceilDiv(tile) + groups}, builder.getContext()),
      {sizes.m, sizes.groups});
}

/// A grid along x, with as many blocks as there are tiles, or SMs, or as a
/// matrix has tiles. It has whole clusters.
static FailureOr<SmallVector<OpFoldResult>>
getLinearBlocks(OpBuilder &builder, Operation *op, const KernelShape &shape,
                const HostSizes &sizes, int64_t limit) {
  Location loc = op->getLoc();
  AffineExpr m, n, batch;
  bindDims(builder.getContext(), m, n, batch);
  int64_t blocks = shape.cluster.getBlocks();
  int64_t tileRows = shape.tile[0] * shape.cluster.m;
  OpFoldResult tiles = affine::makeComposedFoldedAffineApply(
      builder, loc, m.ceilDiv(tileRows), ArrayRef<OpFoldResult>{sizes.m});
  if (sizes.groups)
    tiles = getMostRowTiles(builder, loc, sizes, tileRows);
  auto multiply = [&](OpFoldResult lhs, OpFoldResult rhs) -> OpFoldResult {
    std::optional<int64_t> a = getConstantIntValue(lhs),
                           b = getConstantIntValue(rhs);
    // An overflow is too large, too.
    int64_t product = std::numeric_limits<int64_t>::max();
    if (int64_t exact; a && b && !llvm::MulOverflow(*a, *b, exact))
      product = exact;
    if (a && b)
      return builder.getIndexAttr(product);
    Value left = getValueOrCreateConstantIndexOp(builder, loc, lhs);
    Value right = getValueOrCreateConstantIndexOp(builder, loc, rhs);
    return builder.createOrFold<arith::MulIOp>(loc, left, right);
  };
  OpFoldResult columns = affine::makeComposedFoldedAffineApply(
      builder, loc, m.ceilDiv(shape.tile[1] * shape.cluster.n),
      ArrayRef<OpFoldResult>{sizes.n});
  bool isPerMatrix = shape.order == BlockOrder::PerMatrix;
  tiles = multiply(tiles, columns);
  if (!isPerMatrix)
    tiles = multiply(tiles, sizes.batch);
  if (std::optional<int64_t> known = getConstantIntValue(tiles);
      known && (*known < 1 || *known > limit / blocks))
    return op->emitOpError("not supported in this version: more than ")
           << limit / blocks << " tiles, got " << *known;
  if (shape.order == BlockOrder::Persistent) {
    Value count = getValueOrCreateConstantIndexOp(builder, loc, tiles);
    Value most = SmCountOp::create(builder, loc);
    if (blocks != 1) {
      Value size = makeIndex(builder, loc, blocks);
      Value one = makeIndex(builder, loc, 1);
      most = arith::DivUIOp::create(builder, loc, most, size);
      most = arith::MaxUIOp::create(builder, loc, most, one);
    }
    tiles = arith::MinUIOp::create(builder, loc, count, most).getResult();
  }
  if (blocks != 1)
    tiles = multiply(tiles, builder.getIndexAttr(blocks));
  OpFoldResult one = builder.getIndexAttr(1);
  return SmallVector<OpFoldResult>{tiles, isPerMatrix ? sizes.batch : one, one};
}

FailureOr<SmallVector<OpFoldResult>>
blockscale::getBlocks(OpBuilder &builder, Operation *op,
                      const KernelShape &shape, const HostSizes &sizes) {
  constexpr int64_t limits[] = {(int64_t(1) << 31) - 1, 65535, 65535};
  if (shape.order != BlockOrder::Grid)
    return getLinearBlocks(builder, op, shape, sizes, limits[0]);
  SmallVector<OpFoldResult> blocks;
  for (auto [size, tile, limit] : llvm::zip_equal(
           std::array{sizes.m, sizes.n, sizes.batch}, shape.tile, limits)) {
    if (std::optional<int64_t> known = getConstantIntValue(size)) {
      int64_t count = llvm::divideCeilSigned(*known, tile);
      if (count < 1 || count > limit)
        return op->emitOpError("not supported in this version: a grid of more "
                               "than ")
               << limit << " blocks along one dimension, got " << count;
      blocks.push_back(builder.getIndexAttr(count));
      continue;
    }
    Value divisor = makeIndex(builder, op->getLoc(), tile);
    blocks.push_back(builder.createOrFold<arith::CeilDivUIOp>(
        op->getLoc(), cast<Value>(size), divisor));
  }
  return blocks;
}

gpu::GPUFuncOp blockscale::makeKernel(OpBuilder &builder,
                                      SymbolTableCollection &symbols,
                                      Operation *op, StringRef purpose,
                                      ValueRange inputs, TypeRange results,
                                      const KernelShape &shape) {
  auto function = op->getParentOfType<func::FuncOp>();
  SmallVector<Type> types;
  for (Value input : inputs)
    types.push_back(getMemoryType(input.getType()));
  for (Type result : results)
    types.push_back(getMemoryType(result));
  types.append(shape.maps.size(),
               LLVM::LLVMPointerType::get(builder.getContext()));
  gpu::GPUModuleOp kernels =
      getKernelModule(op->getParentOfType<ModuleOp>(), symbols);
  OpBuilder::InsertionGuard guard(builder);
  builder.setInsertionPointToEnd(kernels.getBody());
  auto kernel = gpu::GPUFuncOp::create(
      builder, op->getLoc(), (function.getSymName() + "__" + purpose).str(),
      builder.getFunctionType(types, {}));
  // Renames the module if its name is taken.
  symbols.getSymbolTable(kernels).insert(kernel);
  kernel->setAttr(gpu::GPUDialect::getKernelFuncAttrName(),
                  builder.getUnitAttr());
  kernel->setAttr(kPurposeAttrName, builder.getStringAttr(purpose));
  SmallVector<int32_t> threads(shape.threads.begin(), shape.threads.end());
  kernel.setKnownBlockSizeAttr(builder.getDenseI32ArrayAttr(threads));
  if (shape.cluster != ClusterSize())
    kernel.setKnownClusterSizeAttr(builder.getDenseI32ArrayAttr(
        {static_cast<int32_t>(shape.cluster.getBlocks()), 1, 1}));
  return kernel;
}

Value blockscale::makeEmpty(OpBuilder &builder, Location loc,
                            RankedTensorType type,
                            ArrayRef<OpFoldResult> sizes) {
  SmallVector<Value> dynamic;
  for (auto [size, known] : llvm::zip_equal(sizes, type.getShape()))
    if (ShapedType::isDynamic(known))
      dynamic.push_back(getValueOrCreateConstantIndexOp(builder, loc, size));
  return tensor::EmptyOp::create(builder, loc, type, dynamic);
}

LaunchOp blockscale::createLaunch(OpBuilder &builder, Location loc,
                                  gpu::GPUFuncOp kernel, ValueRange inputs,
                                  ValueRange outputs, const KernelShape &shape,
                                  ArrayRef<OpFoldResult> blocks,
                                  Value condition) {
  auto symbol = SymbolRefAttr::get(
      kernel->getParentOfType<gpu::GPUModuleOp>().getSymNameAttr(),
      FlatSymbolRefAttr::get(kernel.getNameAttr()));
  SmallVector<int64_t> staticBlocks;
  SmallVector<Value> dynamicBlocks;
  dispatchIndexOpFoldResults(blocks, dynamicBlocks, staticBlocks);
  DenseI64ArrayAttr cluster;
  if (shape.cluster != ClusterSize())
    cluster = builder.getDenseI64ArrayAttr({shape.cluster.getBlocks(), 1, 1});
  auto launch = LaunchOp::create(
      builder, loc, outputs.getTypes(), symbol, dynamicBlocks, staticBlocks,
      shape.threads, shape.shared, cluster,
      shape.maps.empty() ? ArrayAttr() : builder.getArrayAttr(shape.maps),
      shape.maps.empty() ? DenseI64ArrayAttr()
                         : builder.getDenseI64ArrayAttr(shape.mapped),
      inputs, outputs);
  OpBuilder::InsertionGuard guard(builder);
  builder.setInsertionPoint(launch);
  if (condition)
    launch.setCondition(builder, condition);
  return launch;
}

const Chip *blockscale::findGpu(Operation *op) {
  if (!op->getParentOfType<func::FuncOp>())
    return nullptr;
  FailureOr<TargetAttr> target = lookupTarget(op);
  if (failed(target) || !*target || (*target).getChip()->isCpu())
    return nullptr;
  return (*target).getChip();
}

FailureOr<LaunchOp>
blockscale::formLaunch(RewriterBase &rewriter, SymbolTableCollection &symbols,
                       Operation *op, StringRef purpose, ValueRange inputs,
                       ValueRange outputs, const KernelShape &shape,
                       const HostSizes &sizes,
                       function_ref<void(gpu::GPUFuncOp)> build) {
  FailureOr<SmallVector<OpFoldResult>> blocks =
      getBlocks(rewriter, op, shape, sizes);
  if (failed(blocks))
    return failure();
  gpu::GPUFuncOp kernel = makeKernel(rewriter, symbols, op, purpose, inputs,
                                     outputs.getTypes(), shape);
  build(kernel);
  return createLaunch(rewriter, op->getLoc(), kernel, inputs, outputs, shape,
                      *blocks);
}

FailureOr<SmallVector<Value>> blockscale::replaceByLaunch(
    RewriterBase &rewriter, SymbolTableCollection &symbols, Operation *op,
    StringRef purpose, ValueRange inputs, ArrayRef<OpFoldResult> resultSizes,
    const KernelShape &shape, const HostSizes &sizes,
    function_ref<void(gpu::GPUFuncOp)> build) {
  Value output = makeEmpty(rewriter, op->getLoc(),
                           cast<RankedTensorType>(op->getResult(0).getType()),
                           resultSizes);
  FailureOr<LaunchOp> launch = formLaunch(rewriter, symbols, op, purpose,
                                          inputs, output, shape, sizes, build);
  if (failed(launch))
    return failure();
  rewriter.replaceAllUsesWith(op->getResults(), (*launch)->getResults());
  return SmallVector<Value>((*launch)->getResults());
}
