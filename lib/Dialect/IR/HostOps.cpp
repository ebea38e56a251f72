//===- HostOps.cpp - Memory and launches ----------------------------------===//
//
// Part of the blockscale project, under the Apache License v2.0 with LLVM
// Exceptions. See LICENSE for license information.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#include "blockscale/Dialect/IR/BlockScale.h"

#include "blockscale/Runtime/TensorMap.h"

#include "mlir/Dialect/Arith/IR/Arith.h"
#include "mlir/Dialect/Arith/Utils/Utils.h"
#include "mlir/Dialect/Tensor/IR/Tensor.h"
#include "llvm/Support/InterleavedRange.h"
#include "llvm/Support/MathExtras.h"

#include <numeric>

using namespace mlir;
using namespace mlir::blockscale;

//===----------------------------------------------------------------------===//
// pack and unpack
//===----------------------------------------------------------------------===//

std::optional<int64_t> blockscale::getPackedBytes(int64_t count,
                                                  unsigned bits) {
  int64_t total;
  if (llvm::MulOverflow(count, static_cast<int64_t>(bits), total) ||
      total % 8 != 0)
    return std::nullopt;
  return total / 8;
}

PackedUnit blockscale::getPackedUnit(unsigned bits) {
  int64_t common = std::gcd(bits, 8u);
  return {8 / common, bits / common};
}

static LogicalResult verifyPacking(Operation *op, RankedTensorType bytes,
                                   RankedTensorType elements) { // (K1)
  if (bytes.getEncoding() || elements.getEncoding())
    return op->emitOpError("expected tensors without encoding, got ")
           << bytes << " and " << elements;
  if (elements.getRank() == 0 || bytes.getRank() != elements.getRank() ||
      bytes.getShape().drop_back() != elements.getShape().drop_back())
    return op->emitOpError("expected shapes that differ in the last size "
                           "only, got ")
           << bytes << " and " << elements;
  int64_t count = elements.getShape().back();
  int64_t rowBytes = bytes.getShape().back();
  if (ShapedType::isDynamic(count) != ShapedType::isDynamic(rowBytes))
    return op->emitOpError("expected last sizes that are both static or both "
                           "dynamic, got ")
           << bytes << " and " << elements;
  if (ShapedType::isDynamic(count))
    return success();
  unsigned bits = elements.getElementTypeBitWidth();
  std::optional<int64_t> expected = getPackedBytes(count, bits);
  if (expected != rowBytes) {
    InFlightDiagnostic diagnostic = op->emitOpError("expected ");
    if (expected)
      diagnostic << *expected << " bytes";
    else
      diagnostic << "whole bytes";
    return diagnostic << " per row for " << count << " elements of " << bits
                      << " bits, got " << rowBytes;
  }
  return success();
}

/// The sizes of `source`, with `count / from * to` for the last size `count`.
static SmallVector<OpFoldResult> reifyPacking(OpBuilder &builder, Location loc,
                                              Value source, int64_t from,
                                              int64_t to) {
  SmallVector<OpFoldResult> sizes = tensor::getMixedSizes(builder, loc, source);
  auto constant = [&](int64_t value) -> Value {
    return arith::ConstantIndexOp::create(builder, loc, value);
  };
  Value size = getValueOrCreateConstantIndexOp(builder, loc, sizes.back());
  if (from != 1)
    size = builder.createOrFold<arith::DivUIOp>(loc, size, constant(from));
  if (to != 1)
    size = builder.createOrFold<arith::MulIOp>(loc, size, constant(to));
  sizes.back() = getAsOpFoldResult(size);
  return sizes;
}

LogicalResult
UnpackOp::reifyResultShapes(OpBuilder &builder,
                            ReifiedRankedShapedTypeDims &reifiedReturnShapes) {
  PackedUnit unit =
      getPackedUnit(getResult().getType().getElementTypeBitWidth());
  reifiedReturnShapes.push_back(
      reifyPacking(builder, getLoc(), getSource(), unit.bytes, unit.elements));
  return success();
}

LogicalResult
PackOp::reifyResultShapes(OpBuilder &builder,
                          ReifiedRankedShapedTypeDims &reifiedReturnShapes) {
  PackedUnit unit =
      getPackedUnit(getSource().getType().getElementTypeBitWidth());
  reifiedReturnShapes.push_back(
      reifyPacking(builder, getLoc(), getSource(), unit.elements, unit.bytes));
  return success();
}

LogicalResult UnpackOp::verify() {
  return verifyPacking(*this, getSource().getType(), getResult().getType());
}

LogicalResult PackOp::verify() {
  return verifyPacking(*this, getResult().getType(), getSource().getType());
}

//===----------------------------------------------------------------------===//
// result_sizes
//===----------------------------------------------------------------------===//

LogicalResult ResultSizesOp::verify() { // (Z1)
  auto type = dyn_cast<MemRefType>(getBuffer().getType());
  if (!type)
    return emitOpError("expected ranked memory, got ") << getBuffer().getType();
  if (static_cast<size_t>(type.getNumDynamicDims()) == getSizes().size())
    return success();
  return emitOpError("expected a size for each of ")
         << type.getNumDynamicDims() << " dynamic sizes of " << type << ", got "
         << getSizes().size();
}

//===----------------------------------------------------------------------===//
// launch
//===----------------------------------------------------------------------===//

SmallVector<OpFoldResult> LaunchOp::getBlocks() {
  Builder builder(getContext());
  return getMixedValues(getStaticBlocks(), getDynamicBlocks(), builder);
}

Value LaunchOp::getCondition() {
  auto blocks = dyn_cast<Value>(getBlocks()[0]);
  auto select =
      blocks ? blocks.getDefiningOp<arith::SelectOp>() : arith::SelectOp();
  return select && isConstantIntValue(select.getFalseValue(), 0)
             ? select.getCondition()
             : Value();
}

void LaunchOp::setCondition(OpBuilder &builder, Value condition) {
  SmallVector<OpFoldResult> blocks = getBlocks();
  Value some = getValueOrCreateConstantIndexOp(builder, getLoc(), blocks[0]);
  Value none = arith::ConstantIndexOp::create(builder, getLoc(), 0);
  blocks[0] = arith::SelectOp::create(builder, getLoc(), condition, some, none)
                  .getResult();
  SmallVector<int64_t> numbers;
  SmallVector<Value> values;
  dispatchIndexOpFoldResults(blocks, values, numbers);
  getDynamicBlocksMutable().assign(values);
  setStaticBlocks(numbers);
  setUpdates(true);
}

static LogicalResult verifyCluster(LaunchOp op) { // (L2)
  if (!op.getCluster())
    return success();
  ArrayRef<int64_t> cluster = *op.getCluster(), blocks = op.getStaticBlocks();
  bool areSizes = cluster.size() == 3 &&
                  llvm::all_of(cluster, [](int64_t n) { return n > 0; });
  bool divides =
      areSizes && llvm::all_of(llvm::zip_equal(blocks, cluster), [](auto pair) {
        auto [count, size] = pair;
        return ShapedType::isDynamic(count) || count % size == 0;
      });
  if (divides)
    return success();
  InFlightDiagnostic diagnostic =
      areSizes ? op.emitOpError("expected sizes of a cluster that divide the "
                                "blocks, got ")
               : op.emitOpError("expected three positive sizes of a cluster, "
                                "got ");
  llvm::interleaveComma(cluster, diagnostic);
  return diagnostic;
}

/// Checks that `map` has as many symbols as memory has dimensions.
static LogicalResult verifyRank(Operation *op, TensorMapAttr map,
                                int64_t rank) {
  int64_t numSymbols = map.getSizes().getValue().getNumSymbols();
  if (numSymbols == rank)
    return success();
  return op->emitOpError("expected a tensor map of ")
         << rank << " symbols, one for each dimension of the memory, got "
         << numSymbols;
}

/// The results of `map` for memory of `shape`.
static std::vector<uint64_t> evaluate(AffineMap map, ArrayRef<int64_t> shape) {
  Builder builder(map.getContext());
  SmallVector<AffineExpr> symbols;
  for (int64_t size : shape)
    symbols.push_back(builder.getAffineConstantExpr(size));
  std::vector<uint64_t> numbers;
  // The innermost first, as in the driver. A result that cannot be computed
  // counts as too large.
  for (AffineExpr expr : llvm::reverse(map.getResults())) {
    auto known =
        dyn_cast<AffineConstantExpr>(expr.replaceDimsAndSymbols({}, symbols));
    numbers.push_back(known ? known.getValue() : -1);
  }
  return numbers;
}

/// Checks that the tensor of `map` is inside of memory of `shape`, whose
/// elements have `bytes` each.
static LogicalResult verifyInside(Operation *op, TensorMapAttr map,
                                  ArrayRef<int64_t> shape, int64_t bytes) {
  if (ShapedType::isDynamicShape(shape))
    return success();
  Result<TensorMap> tensor = makeTensorMap(
      map.getDtype(), map.getBox().vec(), map.getElementStrides().vec(),
      map.getSwizzle(), map.getFill(), map.getL2());
  if (!tensor)
    return op->emitOpError() << tensor.message();
  tensor->sizes = evaluate(map.getSizes().getValue(), shape);
  tensor->strides = evaluate(map.getStrides().getValue(), shape);
  tensor->strides.insert(tensor->strides.begin(), tensor->type->bits / 8);
  if (Error error =
          checkTensor(*tensor, ShapedType::getNumElements(shape) * bytes))
    return op->emitOpError("with a tensor map of memory of ")
           << llvm::interleaved(shape, "x") << " elements: " << error.message();
  return success();
}

/// The bytes of an element in memory.
static int64_t getElementBytes(Type element) {
  unsigned bits = element.isIndex()        ? 64
                  : element.isIntOrFloat() ? element.getIntOrFloatBitWidth()
                                           : 64;
  return llvm::divideCeil(bits, 8u);
}

/// Checks that elements of `map` match those of `type` in memory. (L4)
static LogicalResult verifyElements(LaunchOp op, TensorMapAttr map,
                                    RankedTensorType type) {
  Type element = type.getElementType();
  Result<TensorMap> form = makeTensorMap(
      map.getDtype(), map.getBox().vec(), map.getElementStrides().vec(),
      map.getSwizzle(), map.getFill(), map.getL2());
  bool isNarrow =
      isa<FloatType>(element) && element.getIntOrFloatBitWidth() <= 8;
  if (isNarrow && form && (form->type->isPacked() || map.getElements() != 1))
    return op.emitOpError("expected a tensor map of one code in each element, "
                          "as memory has ")
           << type << " in bytes, got " << map.getElements() << " of " << map;
  return verifyInside(op, map, type.getShape(), getElementBytes(element));
}

static LogicalResult verifyTensorMaps(LaunchOp op) { // (L3), (L4)
  size_t numMaps = op.getTensorMaps() ? op.getTensorMaps()->size() : 0;
  size_t numMapped = op.getMapped() ? op.getMapped()->size() : 0;
  if (numMaps != numMapped)
    return op.emitOpError("expected a number of an operand for each of ")
           << numMaps << " tensor maps, got " << numMapped;
  if (numMaps == 0)
    return success();
  auto operands =
      llvm::to_vector(llvm::concat<Value>(op.getInputs(), op.getOutputs()));
  for (auto [map, number] : llvm::zip_equal(
           op.getTensorMaps()->getAsRange<TensorMapAttr>(), *op.getMapped())) {
    auto type = number >= 0 && number < static_cast<int64_t>(operands.size())
                    ? dyn_cast<RankedTensorType>(operands[number].getType())
                    : RankedTensorType();
    if (!type)
      return op.emitOpError("expected the number of a tensor among ")
             << operands.size() << " inputs and outputs, got " << number;
    if (failed(verifyRank(op, map, type.getRank())) ||
        failed(verifyElements(op, map, type)))
      return failure();
  }
  return success();
}

LogicalResult LaunchOp::verify() { // (L1)
  auto isPositive = [](int64_t size) { return size > 0; };
  auto isSize = [](int64_t size) {
    return size > 0 || ShapedType::isDynamic(size);
  };
  for (auto [name, sizes, isAllowed] :
       {std::make_tuple("blocks", getStaticBlocks(), +isSize),
        std::make_tuple("threads", getThreads(), +isPositive)}) {
    if (sizes.size() == 3 && llvm::all_of(sizes, isAllowed))
      continue;
    InFlightDiagnostic diagnostic =
        emitOpError("expected three positive sizes of ") << name << ", got ";
    llvm::interleaveComma(sizes, diagnostic);
    return diagnostic;
  }
  auto numDynamic = static_cast<size_t>(
      llvm::count_if(getStaticBlocks(), ShapedType::isDynamic));
  if (numDynamic != getDynamicBlocks().size())
    return emitOpError("expected an operand for each of ")
           << numDynamic << " dynamic sizes of blocks, got "
           << getDynamicBlocks().size();
  if (static_cast<int64_t>(getShared()) < 0)
    return emitOpError("expected shared memory not to be negative, got ")
           << static_cast<int64_t>(getShared());
  if (failed(verifyCluster(*this)))
    return failure();
  return verifyTensorMaps(*this);
}

//===----------------------------------------------------------------------===//
// tensor_map
//===----------------------------------------------------------------------===//

LogicalResult TensorMapOp::verify() { // (M1), (M2)
  auto type = dyn_cast<MemRefType>(getSource().getType());
  if (!type)
    return emitOpError("expected ranked memory, got ") << getSource().getType();
  if (failed(verifyRank(*this, getMap(), type.getRank())))
    return failure();
  return verifyInside(*this, getMap(), type.getShape(),
                      getElementBytes(type.getElementType()));
}
