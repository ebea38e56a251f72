//===- VectorElements.cpp - Elements of a vector operand ------------------===//
//
// Part of the blockscale project, under the Apache License v2.0 with LLVM
// Exceptions. See LICENSE for license information.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//
//
// Elements of a vector operand are loaded from where the vector was read, by
// the lane that needs them; this finds where that is.
//
//===----------------------------------------------------------------------===//

#include "Fragments/VectorElements.h"

#include "Fragments/VectorTransfer.h"
#include "Utils/IndexValues.h"
#include "Utils/OperandView.h"
#include "blockscale/Dialect/IR/BlockScale.h"
#include "blockscale/Support/SharedLayout.h"
#include "mlir/Dialect/Arith/IR/Arith.h"
#include "mlir/Dialect/GPU/IR/GPUDialect.h"
#include "mlir/Dialect/MemRef/IR/MemRef.h"
#include "mlir/IR/Matchers.h"
#include "llvm/Support/MathExtras.h"

using namespace mlir;
using namespace mlir::blockscale;

//===----------------------------------------------------------------------===//
// Sources
//===----------------------------------------------------------------------===//

/// The bits of a float or integer attribute.
static std::optional<uint64_t> getSplatBits(Value value) {
  DenseElementsAttr attr;
  if (!matchPattern(value, m_Constant(&attr)) || !attr.isSplat())
    return std::nullopt;
  if (isa<FloatType>(attr.getElementType()))
    return attr.getSplatValue<APFloat>().bitcastToAPInt().getZExtValue();
  if (isa<IntegerType>(attr.getElementType()))
    return attr.getSplatValue<APInt>().getZExtValue();
  return std::nullopt;
}

FailureOr<ElementSource> blockscale::findElementSource(Value operand) {
  OperandView view = traceOperand(operand);
  ElementSource source = {view.map, 8, 0xFF, 0, nullptr, std::nullopt};
  Value value = view.tensor;
  unsigned codeBits =
      cast<VectorType>(value.getType()).getElementTypeBitWidth();
  // Packed fp4 is a bitcast of bytes, fp6 a truncation of bytes.
  if (auto cast = value.getDefiningOp<vector::BitCastOp>()) {
    source.bits = codeBits;
    value = cast.getSource();
  } else if (auto cast = value.getDefiningOp<arith::BitcastOp>()) {
    value = cast.getIn();
    if (auto trunc = value.getDefiningOp<arith::TruncIOp>()) {
      value = trunc.getIn();
      source.codeMask = (1u << codeBits) - 1;
    }
  }
  source.rowBytes = cast<VectorType>(value.getType()).getShape().back();
  if (source.bits != 8 &&
      cast<VectorType>(value.getType()).getElementTypeBitWidth() != 8)
    return emitError(value.getLoc(), "not supported in this version: expected "
                                     "elements that are packed in bytes, got ")
           << value.getType();
  source.splat = getSplatBits(value);
  if (source.splat)
    return source;

  Operation *producer = value.getDefiningOp();
  source.read = dyn_cast_or_null<vector::TransferReadOp>(producer);
  if (!source.read) {
    InFlightDiagnostic diagnostic =
        emitError(value.getLoc(), "not supported in this version: expected "
                                  "an operand that is read by "
                                  "vector.transfer_read or a splat constant, "
                                  "got ");
    if (producer)
      return diagnostic << "'" << producer->getName() << "'";
    return diagnostic << "a block argument";
  }
  if (failed(verifyTransfer(source.read)))
    return failure();
  Type element = source.read.getShapedType().getElementType();
  if (!element.isIntOrFloat() || element.getIntOrFloatBitWidth() != 8)
    return source.read.emitOpError(
               "not supported in this version: expected memory with a byte "
               "per element, got ")
           << source.read.getShapedType();
  return source;
}

VectorTransferOpInterface ElementReader::getTransfer() const {
  vector::TransferReadOp read = source.read;
  return cast<VectorTransferOpInterface>(read.getOperation());
}

/// The index of the element at (row, k) in the source vector.
SmallVector<Value> ElementReader::getIndex(OpBuilder &b, Value row,
                                           Value k) const {
  SmallVector<Value> index = {row, k};
  if (isTransposed)
    std::swap(index[0], index[1]);
  return applyMap(b, loc, source.map, index);
}

/// The index, in bytes, at which run `run` of `count` elements starts in the
/// source vector.
SmallVector<Value> ElementReader::getRunIndex(OpBuilder &b, Value row,
                                              Value run, unsigned count) const {
  AffineExpr d0, d1;
  bindDims(b.getContext(), d0, d1);
  SmallVector<AffineExpr> index = {d0, d1 * count};
  if (isTransposed)
    std::swap(index[0], index[1]);
  AffineMap map =
      source.map.compose(AffineMap::get(2, 0, index, b.getContext()));
  SmallVector<AffineExpr> results(map.getResults());
  results.back() = (results.back() * source.bits).floorDiv(8);
  return applyMap(b, loc, AffineMap::get(2, 0, results, b.getContext()),
                  {row, run});
}

//===----------------------------------------------------------------------===//
// Single elements
//===----------------------------------------------------------------------===//

static Value asByte(OpBuilder &b, Location loc, Value element) {
  if (element.getType().isInteger(8))
    return element;
  return arith::BitcastOp::create(b, loc, b.getI8Type(), element);
}

static Value cut(OpBuilder &b, Location loc, Value byte, unsigned mask) {
  if (mask == 0xFF)
    return byte;
  Value bits = arith::ConstantIntOp::create(b, loc, b.getI8Type(), mask);
  return arith::AndIOp::create(b, loc, byte, bits);
}

/// The byte at `index` of the source vector.
Value ElementReader::loadByte(OpBuilder &b, ArrayRef<Value> index) const {
  if (source.splat)
    return arith::ConstantIntOp::create(b, loc, b.getI8Type(),
                                        *source.splat & 0xFF);
  auto [at, inBounds] = TransferAddress(b, getTransfer()).at(index);
  ArrayRef<Value> position = at;
  vector::TransferReadOp read = source.read;
  Value byte = emitLoadIf(
      b, loc, inBounds,
      [&](OpBuilder &then) -> Value {
        return memref::LoadOp::create(then, loc, read.getBase(), position);
      },
      read.getPadding());
  return asByte(b, loc, byte);
}

Value ElementReader::loadElement(OpBuilder &b, Value row, Value k) const {
  SmallVector<Value> index = getIndex(b, row, k);
  if (source.bits == 8)
    return cut(b, loc, loadByte(b, index), source.codeMask);
  Value code = index.back();
  return emitUnpackCode(b, loc, code, source.bits,
                        b.getIndexAttr(source.rowBytes), [&](Value byte) {
                          index.back() = byte;
                          return loadByte(b, index);
                        });
}

//===----------------------------------------------------------------------===//
// Runs of elements
//===----------------------------------------------------------------------===//

/// Whether `map` maps each run of `count` indices along `dim` (from a multiple
/// of `count` on) to such a run along result `along`.
static bool keepsRuns(AffineMap map, unsigned dim, unsigned along,
                      int64_t count) {
  unsigned numDims = map.getNumDims();
  AffineMap identity =
      AffineMap::getMultiDimIdentityMap(numDims, map.getContext());
  auto atElement = [&](int64_t i) {
    SmallVector<AffineExpr> index(identity.getResults());
    index[dim] = index[dim] * count + i;
    return map.compose(AffineMap::get(numDims, 0, index, map.getContext()));
  };
  AffineMap first = atElement(0);
  if (!first.getResult(along).isMultipleOf(count))
    return false;
  auto isElement = [&](int64_t i) {
    for (auto [result, expr] : llvm::enumerate(atElement(i).getResults()))
      if (simplifyAffineExpr(expr - first.getResult(result), numDims, 0) !=
          (result == along ? i : 0))
        return false;
    return true;
  };
  return llvm::all_of(llvm::seq<int64_t>(1, count), isElement);
}

/// The dimension of a transfer's vector that is the last one of memory, if that
/// is contiguous and in bounds.
static std::optional<unsigned> getContiguousDim(VectorTransferOpInterface op) {
  auto memory = cast<MemRefType>(op.getShapedType());
  if (memory.getRank() == 0 || !memory.isLastDimUnitStride())
    return std::nullopt;
  std::optional<unsigned> dim = op.getPermutationMap().getResultPosition(
      getAffineDimExpr(memory.getRank() - 1, op.getContext()));
  return dim && op.isDimInBounds(*dim) ? dim : std::nullopt;
}

/// Whether elements of a transfer's vector at multiples of `bytes` along the
/// last dimension of memory have addresses that are multiples of `bytes`.
static bool isAligned(VectorTransferOpInterface op, int64_t bytes,
                      IsMultipleFn isMultiple) {
  SmallVector<bool> isFree(op.getShapedType().getRank(), false);
  for (AffineExpr dim : op.getPermutationMap().getResults())
    isFree[cast<AffineDimExpr>(dim).getPosition()] = true;
  isFree.back() = false;
  SmallVector<Value> indices(op.getIndices());
  return areKnownAligned(op.getBase(), indices, isFree, bytes, isMultiple);
}

bool ElementReader::hasRuns(unsigned count, IsMultipleFn isMultiple) const {
  uint64_t bits = static_cast<uint64_t>(count) * source.bits;
  if (!source.read || bits % 8 != 0 || !llvm::isPowerOf2_64(bits / 8))
    return false;
  std::optional<unsigned> dim = getContiguousDim(getTransfer());
  // Packed elements share bytes along the last dimension.
  if (!dim || (source.bits != 8 && *dim + 1 != source.map.getNumResults()))
    return false;
  return keepsRuns(source.map, isTransposed ? 0 : 1, *dim, count) &&
         isAligned(getTransfer(), bits / 8, isMultiple);
}

/// `bytes`, a vector of elements of one byte, as one integer.
static Value asInteger(OpBuilder &b, Location loc, Value bytes) {
  auto size = cast<VectorType>(bytes.getType()).getNumElements();
  auto type = VectorType::get(1, b.getIntegerType(size * 8));
  Value integer = vector::BitCastOp::create(b, loc, type, bytes);
  return vector::ExtractOp::create(b, loc, integer, 0);
}

Value ElementReader::loadRun(OpBuilder &b, Value row, Value run,
                             unsigned count) const {
  vector::TransferReadOp read = source.read;
  int64_t bytes = count * source.bits / 8;
  auto type = VectorType::get(bytes, read.getShapedType().getElementType());
  auto [at, inBounds] =
      TransferAddress(b, getTransfer()).at(getRunIndex(b, row, run, count));
  ArrayRef<Value> position = at;
  Value padding;
  if (inBounds)
    padding = vector::BroadcastOp::create(b, loc, type, read.getPadding());
  Value loaded = emitLoadIf(
      b, loc, inBounds,
      [&](OpBuilder &then) -> Value {
        return vector::LoadOp::create(then, loc, type, read.getBase(), position,
                                      /*nontemporal=*/false,
                                      llvm::MaybeAlign(bytes));
      },
      padding);
  return b.createOrFold<arith::ExtUIOp>(loc, b.getI32Type(),
                                        asInteger(b, loc, loaded));
}

//===----------------------------------------------------------------------===//
// ldmatrix
//===----------------------------------------------------------------------===//

unsigned ElementReader::getMatrixColumns() const {
  return kChunkBytes * 8 / source.bits;
}

bool ElementReader::hasMatrixRows(IsMultipleFn isMultiple) const {
  if (!source.read || getTransfer().hasOutOfBoundsDim())
    return false;
  auto memory = cast<MemRefType>(getTransfer().getShapedType());
  return memory.getRank() == 2 && memory.hasStaticShape() &&
         memory.getLayout().isIdentity() &&
         memory.getElementType().isInteger(8) &&
         gpu::GPUDialect::hasWorkgroupMemoryAddressSpace(memory) &&
         hasRuns(getMatrixColumns(), isMultiple);
}

Value ElementReader::loadMatrix(OpBuilder &b, VectorType type, Value row,
                                Value run) const {
  auto memory = cast<MemRefType>(getTransfer().getShapedType());
  SmallVector<Value> position =
      TransferAddress(b, getTransfer())
          .at(getRunIndex(b, row, run, getMatrixColumns()))
          .first;
  AffineExpr d0, d1;
  bindDims(b.getContext(), d0, d1);
  Value offset = applyExpr(b, loc, d0 * memory.getDimSize(1) + d1, position);
  return LoadMatrixOp::create(b, loc, type, getTransfer().getBase(), offset,
                              /*plus=*/0, /*code_bits=*/8,
                              /*transposed=*/false);
}
