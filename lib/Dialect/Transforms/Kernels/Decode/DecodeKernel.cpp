//===- DecodeKernel.cpp - From codes and scales to bf16 -------------------===//
//
// Part of the blockscale project, under the Apache License v2.0 with LLVM
// Exceptions. See LICENSE for license information.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//
//
// Each lane makes 8 numbers of 8 codes at a time: it places the codes as in
// products that are converted on the way, and multiplies by a power and by the
// scale, both of which bf16 has. What comes out is exact where it is normal in
// bf16, which the scale tells, or zero.

//===----------------------------------------------------------------------===//

#include "Kernels/Decode/DecodeKernel.h"

#include "Fragments/Convert/CodePairs.h"
#include "Fragments/Convert/SpecialTest.h"
#include "Kernels/Decode/NumberWriter.h"
#include "Utils/IndexValues.h"
#include "Utils/StoredCodes.h"
#include "mlir/Dialect/MemRef/IR/MemRef.h"
#include "mlir/Dialect/SCF/IR/SCF.h"
#include "mlir/Dialect/Vector/IR/VectorOps.h"

using namespace mlir;
using namespace mlir::blockscale;

static constexpr uint32_t kHalves = 0x00010001;

bool DecodeProblem::isContiguous() const {
  return codes.hasOwnMemory &&
         codes.contiguity ==
             (isTransposed ? Contiguity::Rows : Contiguity::Columns);
}

namespace {
/// Of two numbers each: factors, and masks of what is lost if it is not 0.
struct Factors {
  SmallVector<Value> pairs, masks;
  /// Not 0 if a scale is NaN.
  Value lost;
};

class DecodeKernel final : public NumberWriter {
public:
  DecodeKernel(OpBuilder &b, gpu::GPUFuncOp kernel,
               const DecodeProblem &problem)
      : NumberWriter(b, kernel, problem), codes(getCodeFormat(problem.format)),
        placer(emit, problem.format, {/*isPacked=*/true, /*isExchanged=*/false},
               lane) {}

  void build();

private:
  /// Words of codes, and their scale.
  SmallVector<Value> load(const Place &place) override;
  Value emitNumbers(const Place &place, ValueRange loaded, Value lost) override;

  Value emitColumns(Value none);
  SmallVector<Value> loadWords(const Place &place);
  SmallVector<Value> loadVector(const Place &place);
  SmallVector<Value> loadPacked6(ArrayRef<Value> position);
  SmallVector<Value> loadSingly(const Place &place);
  Value loadScale(const Place &place, int64_t row);
  Factors makeFactors(ArrayRef<Value> scales);
  /// Stores numbers; the word `lost` with what is lost of them.
  Value emitProducts(const Place &place, ArrayRef<Value> words,
                     const Factors &factors, Value lost);

  CodeFormat codes;
  RowPlacer placer;
};
} // namespace

//===----------------------------------------------------------------------===//
// Codes
//===----------------------------------------------------------------------===//

/// 8 codes that follow each other in memory: a word of nibbles, or two words of
/// bytes.
SmallVector<Value> DecodeKernel::loadVector(const Place &place) {
  SmallVector<Value> position = applyMap(
      b, loc, problem.codes.map, {place.batch, place.row, place.column});
  constexpr unsigned kBytesOf6 = 6, kByteBits = 8;
  unsigned bits = problem.codes.bits;
  if (bits != kByteBits)
    position.back() =
        compute({(b.getAffineDimExpr(0) * bits).floorDiv(kByteBits)},
                position.back())[0];
  if (bits == kBytesOf6)
    return loadPacked6(position);
  int64_t bytes = kNumbers * bits / kByteBits, words = bytes / 4;
  Value loaded = vector::LoadOp::create(
      b, loc, VectorType::get(bytes, b.getI8Type()),
      kernel.getArgument(problem.codes.argument), position,
      /*nontemporal=*/false, llvm::MaybeAlign(bytes));
  loaded = vector::BitCastOp::create(
      b, loc, VectorType::get(words, b.getI32Type()), loaded);
  SmallVector<Value> result;
  for (int64_t i = 0; i != words; ++i)
    result.push_back(vector::ExtractOp::create(b, loc, loaded, i));
  return result;
}

/// 8 codes of 6 bits are 6 bytes, which are aligned to 2.
SmallVector<Value> DecodeKernel::loadPacked6(ArrayRef<Value> position) {
  SmallVector<Value> halves;
  for (int64_t i = 0; i != 3; ++i) {
    SmallVector<Value> at(position);
    at.back() = add(at.back(), 2 * i);
    Value bytes =
        vector::LoadOp::create(b, loc, VectorType::get(2, b.getI8Type()),
                               kernel.getArgument(problem.codes.argument), at,
                               /*nontemporal=*/false, llvm::MaybeAlign(2));
    Value half = vector::BitCastOp::create(
        b, loc, VectorType::get(1, b.getI16Type()), bytes);
    half = vector::ExtractOp::create(b, loc, half, int64_t(0));
    halves.push_back(arith::ExtUIOp::create(b, loc, b.getI32Type(), half));
  }
  // 24 bits with four codes each.
  Value low = emit.bitOr(halves[0], emit.shiftLeft(halves[1], 16));
  Value high =
      emit.bitOr(emit.shiftRight(halves[1], 8), emit.shiftLeft(halves[2], 8));
  auto spread = [&](Value four) {
    constexpr uint32_t kCode = 0x3F;
    Value word = emit.bitAnd(four, kCode);
    for (unsigned i = 1; i != 4; ++i)
      word = emit.bitOr(
          word, emit.bitAnd(emit.shiftLeft(four, 2 * i), kCode << 8 * i));
    return word;
  };
  return {spread(low), spread(high)};
}

/// The same one by one, as two words of bytes.
SmallVector<Value> DecodeKernel::loadSingly(const Place &place) {
  SmallVector<Value> words;
  for (int64_t i = 0; i != kNumbers; ++i) {
    Value row = problem.isTransposed ? add(place.row, i) : place.row;
    Value column = problem.isTransposed ? place.column : add(place.column, i);
    Value code = emitLoadCode(
        b, loc, kernel.getArgument(problem.codes.argument), problem.codes.bits,
        applyMap(b, loc, problem.codes.map, {place.batch, row, column}));
    code = arith::ExtUIOp::create(b, loc, b.getI32Type(), code);
    if (i % 4 == 0)
      words.push_back(code);
    else
      words.back() =
          emit.bitOr(words.back(), emit.shiftLeft(code, 8 * (i % 4)));
  }
  return words;
}

SmallVector<Value> DecodeKernel::loadWords(const Place &place) {
  return problem.isContiguous() ? loadVector(place) : loadSingly(place);
}

//===----------------------------------------------------------------------===//
// Scales
//===----------------------------------------------------------------------===//

/// The scale of the number that is `row` rows behind `place`.
Value DecodeKernel::loadScale(const Place &place, int64_t row) {
  const KernelOperand &scales = problem.scales;
  if (scales.splat)
    return emit.integer(*scales.splat);
  Value block = compute({b.getAffineDimExpr(0).floorDiv(problem.blockSize)},
                        place.column)[0];
  Value code = memref::LoadOp::create(
      b, loc, kernel.getArgument(scales.argument),
      applyMap(b, loc, scales.map, {place.batch, add(place.row, row), block}));
  return arith::ExtUIOp::create(b, loc, b.getI32Type(), code);
}

/// Of one scale for all, or of 8.
Factors DecodeKernel::makeFactors(ArrayRef<Value> scales) {
  bool isPower = getFormatInfo(problem.scaleFormat).mantissaBits == 0;
  constexpr uint32_t kPowerNaN = 0xFF, kNaN = 0x7F, kSmallest = 0x0040;
  constexpr unsigned kMantissaBits = 7, kShift = 4;
  constexpr int kExponent = 120;
  Factors factors;
  factors.lost = emit.integer(0);
  SmallVector<Value> halves, masks;
  for (Value scale : scales) {
    Value isNaN, isOut, half;
    if (isPower) {
      // 2^-127 is not normal; that products with it are not, either, is seen.
      Value shifted = scale;
      if (problem.scaleShift != 0)
        shifted = emit.add(scale, problem.scaleShift);
      half = emit.select(emit.isEqual(shifted, 0), emit.integer(kSmallest),
                         emit.shiftLeft(shifted, kMantissaBits));
      isNaN = emit.isEqual(scale, kPowerNaN);
      isOut = emit.isAtLeast(
          emit.subtract(shifted, emit.integer(codes.lowestScale)),
          codes.highestExact - codes.lowestScale + 1);
    } else {
      // The sign does not count. All numbers have few bits, and are normal.
      Value magnitude = emit.bitAnd(scale, kNaN);
      half = emit.shiftLeft(magnitude, kShift);
      isNaN = emit.isEqual(magnitude, kNaN);
      isOut = emit.flag(false);
    }
    halves.push_back(half);
    constexpr uint32_t kMagnitude = 0x7FFF;
    masks.push_back(
        emit.select(isOut, emit.integer(kMagnitude), emit.integer(0)));
    factors.lost = emit.bitOr(
        factors.lost, emit.select(isNaN, emit.integer(1), emit.integer(0)));
  }
  auto join = [&](ArrayRef<Value> values, unsigned pair) -> Value {
    if (values.size() == 1)
      return emit.multiply(values[0], kHalves);
    constexpr unsigned kHalfBits = 16;
    return emit.bitOr(values[2 * pair],
                      emit.shiftLeft(values[2 * pair + 1], kHalfBits));
  };
  for (unsigned pair = 0; pair != std::max<size_t>(scales.size() / 2, 1);
       ++pair) {
    Value factor = emit.toPair(join(halves, pair));
    if (!isPower)
      factor = emit.multiplyPairs(
          factor, emit.toPair(emit.integer(getPowerPair(
                      kExponent + static_cast<int>(problem.scaleShift)))));
    factors.pairs.push_back(factor);
    factors.masks.push_back(join(masks, pair));
  }
  return factors;
}

//===----------------------------------------------------------------------===//
// Numbers
//===----------------------------------------------------------------------===//

Value DecodeKernel::emitProducts(const Place &place, ArrayRef<Value> words,
                                 const Factors &factors, Value lost) {
  SpecialTest test(emit, problem.format);
  if (test.isNeeded()) {
    for (Value word : words)
      test.add(word);
    lost = emit.bitOr(
        lost, emit.select(test.isFound(), emit.integer(1), emit.integer(0)));
  }
  SmallVector<Value> pairs;
  bool isNibbles = words.size() == 1;
  for (unsigned i : {0, 1})
    llvm::append_range(pairs, isNibbles ? placer.placeNibbles(words[0], i)
                                        : placer.placeBytes(words[i]));
  Value power =
      emit.toPair(emit.integer(getPowerPair(static_cast<int>(codes.exponent))));
  SmallVector<Value> results;
  for (auto [i, placed] : llvm::enumerate(pairs)) {
    size_t of = factors.pairs.size() == 1 ? 0 : i;
    lost = emit.bitOr(lost, emit.bitAnd(placed, factors.masks[of]));
    Value element = emit.multiplyPairs(emit.toPair(placed), power);
    results.push_back(
        emit.fromPair(emit.multiplyPairs(element, factors.pairs[of])));
  }
  store(place, results);
  return emit.bitOr(lost, factors.lost);
}

SmallVector<Value> DecodeKernel::load(const Place &place) {
  SmallVector<Value> loaded = loadWords(place);
  loaded.push_back(loadScale(place, 0));
  return loaded;
}

Value DecodeKernel::emitNumbers(const Place &place, ValueRange loaded,
                                Value lost) {
  return emitProducts(place, SmallVector<Value>(loaded.drop_back()),
                      makeFactors(loaded.back()), lost);
}

//===----------------------------------------------------------------------===//
// The kernel
//===----------------------------------------------------------------------===//

/// Columns of numbers along rows: a warp takes a strip of a block of K, whose
/// scales it needs once.
Value DecodeKernel::emitColumns(Value none) {
  AffineExpr d0, d1;
  bindDims(b.getContext(), d0, d1);
  Value columns = size(2), rows = size(1);
  auto blockSize = static_cast<int64_t>(problem.blockSize);
  Value strips = compute({d0.ceilDiv(kStrip)}, rows)[0];
  Value blocks = compute({d0.floorDiv(blockSize)}, columns)[0];
  Value last = add(rows, -kNumbers);
  return forEachTask(
      blocks, strips, none,
      [&](Value batch, Value block, Value strip, Value lost) {
        Value at = compute({d0 * kStrip + d1 * kNumbers}, {strip, lane})[0];
        Value from = compute({d0 * blockSize}, block)[0];
        Place place = {
            batch, arith::MinUIOp::create(b, loc, at, last), from,
            arith::CmpIOp::create(b, loc, arith::CmpIPredicate::ult, at, rows)};
        SmallVector<Value> scales;
        for (int64_t i = 0; i != kNumbers; ++i)
          scales.push_back(loadScale(place, i));
        Factors factors = makeFactors(scales);
        return forEach(from, add(from, blockSize), emit.index(kRounds), lost,
                       [&](Value column, Value inner) {
                         SmallVector<Place> places;
                         SmallVector<SmallVector<Value>> words;
                         for (int64_t i = 0; i != kRounds; ++i) {
                           place.column = add(column, i);
                           places.push_back(place);
                           words.push_back(loadWords(place));
                         }
                         for (int64_t i = 0; i != kRounds; ++i)
                           inner = emitProducts(places[i], words[i], factors,
                                                inner);
                         return inner;
                       });
      });
}

void DecodeKernel::build() {
  Value none = emit.integer(0);
  emitEnd(problem.isTransposed ? emitColumns(none) : emitLines(none));
}

void blockscale::buildDecode(gpu::GPUFuncOp kernel,
                             const DecodeProblem &problem) {
  OpBuilder b = OpBuilder::atBlockBegin(&kernel.getBody().front());
  DecodeKernel(b, kernel, problem).build();
}
