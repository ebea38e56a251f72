//===- DecomposeSparse.cpp - Ops on sparse operands as loops --------------===//
//
// Part of the blockscale project, under the Apache License v2.0 with LLVM
// Exceptions. See LICENSE for license information.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//
//
// The reference semantics of sparsify, compress and decompress in upstream ops:
// each element of a result looks up what it is made of.
//
//===----------------------------------------------------------------------===//

#include "Quantize/BlockArithmetic.h"
#include "Reference/SparseEmitter.h"
#include "Utils/BlockMap.h"
#include "Utils/OperandView.h"
#include "blockscale/Dialect/IR/ScaleRules.h"
#include "blockscale/Dialect/IR/Sparse.h"
#include "blockscale/Dialect/Transforms/Reference/Sparse.h"
#include "mlir/Dialect/Tensor/IR/Tensor.h"

using namespace mlir;
using namespace mlir::blockscale;

namespace {
/// A matrix whose elements loops look up.
struct Source {
  OperandView view;

  /// The element at `position`, with `k` as its last index.
  Value load(SparseEmitter &emit, ArrayRef<Value> position, Value k) const {
    SmallVector<Value> logical(position);
    logical.back() = k;
    SmallVector<Value> physical;
    for (AffineExpr expr : view.map.getResults())
      physical.push_back(emit.apply(expr, logical));
    return tensor::ExtractOp::create(emit.b, emit.loc, view.tensor, physical);
  }
};
} // namespace

using Body = function_ref<Value(SparseEmitter &, ArrayRef<Value> position,
                                ValueRange args)>;

/// A tensor of `element` whose elements `body` computes from their positions
/// and from the elements of `inputs` at `maps`.
static Value generate(OpBuilder &b, Location loc, const GranularityInfo &units,
                      ArrayRef<OpFoldResult> sizes, Type element,
                      ValueRange inputs, ArrayRef<AffineMap> maps, Body body) {
  Value empty = tensor::EmptyOp::create(b, loc, sizes, element);
  return computeElements(
      b, loc, inputs, maps, empty,
      [&](OpBuilder &inner, Location bodyLoc, ValueRange args) {
        SparseEmitter emit(inner, bodyLoc, units);
        return body(emit, getLoopIndices(inner, bodyLoc, sizes.size()), args);
      });
}

//===----------------------------------------------------------------------===//
// sparsify
//===----------------------------------------------------------------------===//

/// The magnitude of a unit as the bits of an f32, with one NaN above infinity.
static Value emitMagnitude(SparseEmitter &emit, ArrayRef<Value> elements) {
  BlockArithmetic arithmetic(emit.b, emit.loc);
  Value sum;
  for (Value element : elements) {
    Value magnitude =
        arithmetic.fromBits(arithmetic.getMagnitude(arithmetic.toF32(element)));
    sum = sum ? arithmetic.add(sum, magnitude) : magnitude;
  }
  Value magnitude = arithmetic.getMagnitude(sum);
  Value isNaN = arithmetic.is(ArithEmitter::IP::ugt, magnitude, kF32Infinity);
  return arithmetic.select(isNaN, arithmetic.integer(kF32NaN), magnitude);
}

/// The element at `position`, or +0 if two other units of its chunk come before
/// its own.
static Value emitKept(SparseEmitter &emit, const GranularityInfo &units,
                      const Source &source, ArrayRef<Value> position,
                      Value element) {
  using IP = ArithEmitter::IP;
  Value k = position.back();
  Value chunk = emit.getChunk(k), unit = emit.toInteger(emit.getUnit(k));
  SmallVector<Value> magnitudes;
  for (int64_t i = 0; i != kUnitsPerChunk; ++i) {
    SmallVector<Value> elements;
    for (int64_t e = 0; e != units.unit; ++e)
      elements.push_back(source.load(
          emit, position,
          emit.join(chunk, emit.index(i), emit.index(e), kUnitsPerChunk)));
    magnitudes.push_back(emitMagnitude(emit, elements));
  }
  Value own = magnitudes[0];
  for (unsigned i = 1; i != kUnitsPerChunk; ++i)
    own = emit.select(emit.isEqual(unit, i), magnitudes[i], own);
  Value before = emit.integer(0);
  for (unsigned i = 0; i != kUnitsPerChunk; ++i) {
    Value isLarger = emit.is(IP::ugt, magnitudes[i], own);
    Value isEqual = emit.is(IP::eq, magnitudes[i], own);
    Value isLower = emit.is(IP::ugt, unit, i);
    Value isBefore = emit.bitOr(isLarger, emit.bitAnd(isEqual, isLower));
    before = emit.add(before, emit.widen(isBefore));
  }
  Value zero = arith::ConstantOp::create(emit.b, emit.loc,
                                         emit.b.getZeroAttr(element.getType()));
  return emit.select(emit.is(IP::ult, before, kKeptUnits), element, zero);
}

static LogicalResult decomposeSparsify(SparsifyOp op,
                                       PatternRewriter &rewriter) {
  Location loc = op.getLoc();
  Source source = {getOperandView(rewriter, loc, op.getSource())};
  SmallVector<OpFoldResult> sizes =
      getOperandSizes(rewriter, loc, op.getSource(), source.view);
  Value result = generate(
      rewriter, loc, op.getUnits(), sizes,
      getElementTypeOrSelf(op.getResult().getType()), source.view.tensor,
      source.view.map,
      [&](SparseEmitter &emit, ArrayRef<Value> position, ValueRange args) {
        return emitKept(emit, op.getUnits(), source, position, args[0]);
      });
  rewriter.replaceOp(op,
                     convertFromTensor(rewriter, loc, result, op.getType()));
  return success();
}

//===----------------------------------------------------------------------===//
// compress
//===----------------------------------------------------------------------===//

/// The field of `chunk`, an i32. Checks that there is one.
static Value emitField(SparseEmitter &emit, CompressOp op, Format format,
                       const Source &source, ArrayRef<Value> position,
                       Value chunk) {
  Value nonZeros = emit.integer(0);
  for (int64_t i = 0; i != kUnitsPerChunk; ++i)
    for (int64_t e = 0; e != op.getUnits().unit; ++e) {
      Value element = source.load(
          emit, position,
          emit.join(chunk, emit.index(i), emit.index(e), kUnitsPerChunk));
      Value isZero = emit.isZero(emit.toCode(element), format);
      nonZeros = emit.bitOr(nonZeros, emit.select(isZero, emit.integer(0),
                                                  emit.integer(1u << i)));
    }
  emit.expect(emit.hasField(nonZeros), op,
              "at most two " + Twine(StringRef(op.getUnits().unitName)) +
                  " of each four that are not zero");
  return emit.getFieldOfMask(nonZeros);
}

/// The kept element at `position`, of a chunk whose field is in `byte`.
static Value emitCompressed(SparseEmitter &emit, CompressOp op, Format format,
                            const Source &source, ArrayRef<Value> position,
                            Value byte) {
  Value index = position.back();
  Value chunk = emit.getKeptChunk(index);
  Value unit = emit.toIndex(
      emit.getPosition(emit.getField(byte, chunk), emit.getKeptUnit(index)));
  auto load = [&](Value inUnit) {
    return source.load(emit, position,
                       emit.join(chunk, unit, inUnit, kUnitsPerChunk));
  };
  Value isZero;
  for (int64_t e = 0; e != op.getUnits().unit; ++e) {
    Value isElementZero = emit.isZero(emit.toCode(load(emit.index(e))), format);
    isZero = isZero ? emit.bitAnd(isZero, isElementZero) : isElementZero;
  }
  Value element = load(emit.getInUnit(index));
  Value code = emit.select(isZero, emit.integer(0), emit.toCode(element));
  return emit.toElement(code, element.getType());
}

static LogicalResult decomposeCompress(CompressOp op,
                                       PatternRewriter &rewriter) {
  Location loc = op.getLoc();
  const GranularityInfo &units = op.getUnits();
  Source source = {getOperandView(rewriter, loc, op.getSource())};
  SmallVector<OpFoldResult> sizes =
      getOperandSizes(rewriter, loc, op.getSource(), source.view);
  Type element = getElementTypeOrSelf(op.getSource().getType());
  Format format = *getElementFormat(element);

  Value metadata = generate(
      rewriter, loc, units,
      scaleLastSize(rewriter, loc, sizes, 1, units.elementsPerByte()),
      rewriter.getI8Type(), {}, {},
      [&](SparseEmitter &emit, ArrayRef<Value> position, ValueRange) {
        AffineExpr d0 = emit.b.getAffineDimExpr(0);
        Value byte = emit.integer(0);
        for (unsigned half : {0, 1}) {
          Value chunk = emit.apply(d0 * 2 + half, position.back());
          Value field = emitField(emit, op, format, source, position, chunk);
          byte = emit.bitOr(byte, emit.shiftLeft(field, half * kFieldBits));
        }
        return emit.narrow(byte, 8);
      });
  constexpr int64_t kLogicalPerKept = kUnitsPerChunk / kKeptUnits;
  AffineMap bytes = getBlockMap(rewriter.getContext(), sizes.size(),
                                units.elementsPerByte() / kLogicalPerKept);
  Value elements = generate(
      rewriter, loc, units,
      scaleLastSize(rewriter, loc, sizes, 1, kLogicalPerKept), element,
      metadata, bytes,
      [&](SparseEmitter &emit, ArrayRef<Value> position, ValueRange args) {
        return emitCompressed(emit, op, format, source, position, args[0]);
      });
  Value results[] = {
      convertFromTensor(rewriter, loc, elements, op.getElements().getType()),
      convertFromTensor(rewriter, loc, metadata, op.getMetadata().getType())};
  rewriter.replaceOp(op, results);
  return success();
}

//===----------------------------------------------------------------------===//
// decompress
//===----------------------------------------------------------------------===//

/// The element at `position`, of a chunk whose field is in `byte`.
static Value emitDecompressed(SparseEmitter &emit, DecompressOp op,
                              const Source &kept, ArrayRef<Value> position,
                              Value byte) {
  Type type = getElementTypeOrSelf(op.getResult().getType());
  Format format = *getElementFormat(type);
  Value k = position.back();
  Value chunk = emit.getChunk(k), unit = emit.toInteger(emit.getUnit(k));
  Value field = emit.getField(byte, chunk);
  Value code = emit.integer(0), areZero;
  for (unsigned i = 0; i != kKeptUnits; ++i) {
    Value element = kept.load(
        emit, position,
        emit.join(chunk, emit.index(i), emit.getInUnit(k), kKeptUnits));
    Value keptCode = emit.toCode(element);
    Value isZero = emit.isZero(keptCode, format);
    areZero = areZero ? emit.bitAnd(areZero, isZero) : isZero;
    Value isHere =
        emit.is(ArithEmitter::IP::eq, emit.getPosition(field, i), unit);
    code = emit.select(isHere, keptCode, code);
  }
  emit.expectLegal(field, areZero, op);
  return emit.toElement(code, type);
}

static LogicalResult decomposeDecompress(DecompressOp op,
                                         PatternRewriter &rewriter) {
  Location loc = op.getLoc();
  Source kept = {getOperandView(rewriter, loc, op.getElements())};
  OperandView metadata = getOperandView(rewriter, loc, op.getMetadata());
  SmallVector<OpFoldResult> sizes =
      scaleLastSize(rewriter, loc,
                    getOperandSizes(rewriter, loc, op.getElements(), kept.view),
                    kUnitsPerChunk, kKeptUnits);
  AffineMap bytes = metadata.map.compose(getBlockMap(
      rewriter.getContext(), sizes.size(), op.getUnits().elementsPerByte()));
  Value result = generate(
      rewriter, loc, op.getUnits(), sizes,
      getElementTypeOrSelf(op.getResult().getType()), metadata.tensor, bytes,
      [&](SparseEmitter &emit, ArrayRef<Value> position, ValueRange args) {
        return emitDecompressed(emit, op, kept, position, args[0]);
      });
  rewriter.replaceOp(
      op, convertFromTensor(rewriter, loc, result, op.getResult().getType()));
  return success();
}

void blockscale::populateDecomposeSparsePatterns(RewritePatternSet &patterns) {
  patterns.add(decomposeSparsify)
      .add(decomposeCompress)
      .add(decomposeDecompress);
}
