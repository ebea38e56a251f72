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
#include "Utils/IndexValues.h"
#include "Utils/StoredCodes.h"
#include "mlir/Dialect/MemRef/IR/MemRef.h"
#include "mlir/Dialect/SCF/IR/SCF.h"
#include "mlir/Dialect/Vector/IR/VectorOps.h"

using namespace mlir;
using namespace mlir::blockscale;

/// Numbers that a lane makes at once, and the lanes of a warp together.
static constexpr int64_t kNumbers = 8, kStrip = kNumbers * int64_t(kWarpLanes);
/// Loads that are under way for each lane; one where there are few numbers, so
/// that more lanes have some.
static constexpr int64_t kRounds = 4, kFewNumbers = int64_t(1) << 20;
static constexpr int64_t kWarps = 8;
static constexpr uint32_t kHalves = 0x00010001;

bool DecodeProblem::isContiguous() const {
  return codes.hasOwnMemory &&
         codes.contiguity ==
             (isTransposed ? Contiguity::Rows : Contiguity::Columns);
}

namespace {
/// Where 8 numbers are, of which the first is inside of the operand.
struct Place {
  Value batch, row, column, isInside;
};

/// Of two numbers each: factors, and masks of what is lost if it is not 0.
struct Factors {
  SmallVector<Value> pairs, masks;
  /// Not 0 if a scale is NaN.
  Value lost;
};

class DecodeKernel {
public:
  DecodeKernel(OpBuilder &b, gpu::GPUFuncOp kernel,
               const DecodeProblem &problem)
      : b(b), loc(kernel.getLoc()), kernel(kernel), problem(problem),
        codes(getCodeFormat(problem.format)), emit(b, loc),
        lane(gpu::LaneIdOp::create(b, loc, /*upperBound=*/IntegerAttr())),
        numbers(kernel.getArgument(problem.result)),
        placer(emit, problem.format, {/*isPacked=*/true, /*isExchanged=*/false},
               lane) {}

  void build();

private:
  Value size(unsigned fromEnd) {
    auto type = cast<MemRefType>(numbers.getType());
    return memref::DimOp::create(b, loc, numbers, type.getRank() - fromEnd);
  }
  Value add(Value value, int64_t number) {
    return addIndex(b, loc, value, number);
  }
  SmallVector<Value> compute(ArrayRef<AffineExpr> exprs, ValueRange values) {
    return applyExprs(b, loc, exprs, values);
  }
  /// Calls `body` for the tasks of the warp: each part of each line of each
  /// matrix.
  Value forEachTask(
      Value lines, Value parts, Value lost,
      function_ref<Value(Value batch, Value line, Value part, Value lost)>
          body);
  /// A loop whose body makes a word of a step and of the word before.
  Value forEach(Value from, Value to, Value step, Value word,
                function_ref<Value(Value step, Value word)> body);

  Value emitLines(Value none);
  Value emitColumns(Value none);
  SmallVector<Value> loadWords(const Place &place);
  SmallVector<Value> loadVector(const Place &place);
  SmallVector<Value> loadPacked6(ArrayRef<Value> position);
  SmallVector<Value> loadSingly(const Place &place);
  Value loadScale(const Place &place, int64_t row);
  Factors makeFactors(ArrayRef<Value> scales);
  /// Stores numbers; the word `lost` with what is lost of them.
  Value emitNumbers(const Place &place, ArrayRef<Value> words,
                    const Factors &factors, Value lost);
  void emitFlag(Value lost);
  /// Stores 8 numbers, which are four pairs.
  void store(const Place &place, ArrayRef<Value> pairs);

  OpBuilder &b;
  Location loc;
  gpu::GPUFuncOp kernel;
  const DecodeProblem &problem;
  CodeFormat codes;
  WordEmitter emit;
  Value lane, numbers;
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

Value DecodeKernel::emitNumbers(const Place &place, ArrayRef<Value> words,
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
  lost = emit.bitOr(lost, factors.lost);

  auto guard = scf::IfOp::create(b, loc, place.isInside);
  OpBuilder::InsertionGuard insertion(b);
  b.setInsertionPointToStart(guard.thenBlock());
  store(place, results);
  return lost;
}

void DecodeKernel::store(const Place &place, ArrayRef<Value> pairs) {
  auto storePairs = [&](ArrayRef<Value> of, Value column) {
    auto count = static_cast<int64_t>(of.size());
    Value all = vector::FromElementsOp::create(
        b, loc, VectorType::get(count, b.getI32Type()), of);
    all = vector::BitCastOp::create(
        b, loc, VectorType::get(2 * count, b.getBF16Type()), all);
    SmallVector<Value> position = {place.row, column};
    if (problem.isTransposed)
      std::swap(position[0], position[1]);
    if (cast<MemRefType>(numbers.getType()).getRank() == 3)
      position.insert(position.begin(), place.batch);
    vector::StoreOp::create(b, loc, all, numbers, position,
                            /*nontemporal=*/false, llvm::MaybeAlign(4 * count));
  };
  if (problem.boxElements == 0)
    return storePairs(pairs, place.column);
  // Numbers 4 i to 4 i + 3 of a quarter are two pairs of instruction i.
  constexpr int64_t kQuarters = 4, kOfQuarter = 4, kStep = 16, kSecond = 8;
  int64_t box = problem.boxElements, quarter = box / kQuarters;
  AffineExpr d0 = b.getAffineDimExpr(0);
  for (int64_t i = 0; i != kNumbers / kOfQuarter; ++i) {
    AffineExpr inBox = d0 % box, first = d0.floorDiv(box) * box;
    AffineExpr instruction = (inBox % quarter).floorDiv(kOfQuarter) + i;
    AffineExpr to = first + instruction * kStep + inBox.floorDiv(quarter) * 2;
    for (int64_t pair : {0, 1})
      storePairs(pairs[2 * i + pair],
                 compute({to + pair * kSecond}, place.column)[0]);
  }
}

//===----------------------------------------------------------------------===//
// The kernel
//===----------------------------------------------------------------------===//

Value DecodeKernel::forEach(Value from, Value to, Value step, Value word,
                            function_ref<Value(Value, Value)> body) {
  auto loop = scf::ForOp::create(b, loc, from, to, step, word);
  OpBuilder::InsertionGuard guard(b);
  b.setInsertionPointToStart(loop.getBody());
  Value next = body(loop.getInductionVar(), loop.getRegionIterArg(0));
  scf::YieldOp::create(b, loc, next);
  return loop.getResult(0);
}

Value DecodeKernel::forEachTask(
    Value lines, Value parts, Value lost,
    function_ref<Value(Value, Value, Value, Value)> body) {
  AffineExpr d0, d1;
  bindDims(b.getContext(), d0, d1);
  Value all = lines;
  bool hasBatch = cast<MemRefType>(numbers.getType()).getRank() == 3;
  if (hasBatch)
    all = b.createOrFold<arith::MulIOp>(loc, lines, size(3));
  Value tasks = b.createOrFold<arith::MulIOp>(loc, all, parts);
  Value thread = gpu::ThreadIdOp::create(b, loc, gpu::Dimension::x);
  Value block = gpu::BlockIdOp::create(b, loc, gpu::Dimension::x);
  Value first = compute({d0 * kWarps + d1.floorDiv(int64_t(kWarpLanes))},
                        {block, thread})[0];
  Value grid = gpu::GridDimOp::create(b, loc, gpu::Dimension::x);
  Value step = compute({d0 * kWarps}, grid)[0];
  return forEach(first, tasks, step, lost, [&](Value task, Value before) {
    Value line = b.createOrFold<arith::DivUIOp>(loc, task, parts);
    Value part = b.createOrFold<arith::RemUIOp>(loc, task, parts);
    Value batch = emit.index(0);
    if (hasBatch) {
      batch = b.createOrFold<arith::DivUIOp>(loc, line, lines);
      line = b.createOrFold<arith::RemUIOp>(loc, line, lines);
    }
    return body(batch, line, part, before);
  });
}

static int64_t getRounds(std::optional<int64_t> numbers) {
  return numbers && *numbers <= kFewNumbers ? 1 : kRounds;
}

/// Rows of numbers along K, of which a warp takes some strips at a time.
Value DecodeKernel::emitLines(Value none) {
  int64_t rounds = getRounds(problem.numbers), ofPart = rounds * kStrip;
  AffineExpr d0, d1;
  bindDims(b.getContext(), d0, d1);
  Value rows = size(2), columns = size(1);
  Value parts = compute({d0.ceilDiv(ofPart)}, columns)[0];
  Value last = add(columns, -kNumbers);
  return forEachTask(
      rows, parts, none, [&](Value batch, Value row, Value part, Value lost) {
        Place place = {batch, row, {}, {}};
        SmallVector<Place> places;
        SmallVector<SmallVector<Value>> words;
        SmallVector<Value> scales;
        for (int64_t i = 0; i != rounds; ++i) {
          Value at = compute({d0 * ofPart + d1 * kNumbers + i * kStrip},
                             {part, lane})[0];
          place.isInside = arith::CmpIOp::create(
              b, loc, arith::CmpIPredicate::ult, at, columns);
          // What is outside reads what is last, so that all loads start at
          // once.
          place.column = arith::MinUIOp::create(b, loc, at, last);
          places.push_back(place);
          words.push_back(loadWords(place));
          scales.push_back(loadScale(place, 0));
        }
        for (int64_t i = 0; i != rounds; ++i)
          lost = emitNumbers(places[i], words[i], makeFactors(scales[i]), lost);
        return lost;
      });
}

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
                           inner =
                               emitNumbers(places[i], words[i], factors, inner);
                         return inner;
                       });
      });
}

/// The block's word, of those of its threads.
void DecodeKernel::emitFlag(Value lost) {
  Value isLost =
      emit.select(emit.isDifferent(lost, 0), emit.integer(1), emit.integer(0));
  auto reduction = NVVM::BarrierReductionAttr::get(b.getContext(),
                                                   NVVM::BarrierReduction::OR);
  Value any = NVVM::BarrierOp::create(b, loc, TypeRange(b.getI32Type()),
                                      Value(), Value(), reduction, isLost)
                  .getResult(0);
  Value thread = gpu::ThreadIdOp::create(b, loc, gpu::Dimension::x);
  Value isFirst = arith::CmpIOp::create(b, loc, arith::CmpIPredicate::eq,
                                        thread, emit.index(0));
  Value block = gpu::BlockIdOp::create(b, loc, gpu::Dimension::x);
  auto guard = scf::IfOp::create(b, loc, isFirst);
  OpBuilder then = guard.getThenBodyBuilder();
  memref::StoreOp::create(then, loc, any,
                          kernel.getArgument(problem.result + 1), block);
}

void DecodeKernel::build() {
  // The product behind has loads to begin with.
  if (problem.boxElements != 0)
    NVVM::GriddepcontrolOp::create(b, loc,
                                   NVVM::GridDepActionKind::launch_dependents);
  Value none = emit.integer(0);
  emitFlag(problem.isTransposed ? emitColumns(none) : emitLines(none));
  gpu::ReturnOp::create(b, loc);
}

int64_t blockscale::getDecodeBlocks(std::optional<int64_t> numbers) {
  constexpr int64_t kMost = 1024;
  if (!numbers)
    return kMost;
  return std::clamp<int64_t>(
      llvm::divideCeilSigned(*numbers, kWarps * getRounds(numbers) * kStrip), 1,
      kMost);
}

KernelShape blockscale::getDecodeShape() {
  KernelShape shape;
  shape.threads = {kWarps * int64_t(kWarpLanes), 1, 1};
  return shape;
}

void blockscale::buildDecode(gpu::GPUFuncOp kernel,
                             const DecodeProblem &problem) {
  OpBuilder b = OpBuilder::atBlockBegin(&kernel.getBody().front());
  DecodeKernel(b, kernel, problem).build();
}
