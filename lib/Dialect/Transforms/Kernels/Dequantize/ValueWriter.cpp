//===- ValueWriter.cpp - The body of dequantize kernels -------------------===//
//
// Part of the blockscale project, under the Apache License v2.0 with LLVM
// Exceptions. See LICENSE for license information.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//
//
// The kernel is bound by memory bandwidth. Each lane makes 8 values at a time,
// stores 16 bytes at once, and has several loads in flight.
//
//===----------------------------------------------------------------------===//

#include "Kernels/Dequantize/ValueWriter.h"

#include "Utils/IndexValues.h"
#include "Utils/LaneOps.h"
#include "Utils/PackedElements.h"
#include "mlir/Dialect/Arith/Utils/Utils.h"
#include "mlir/Dialect/MemRef/IR/MemRef.h"
#include "mlir/Dialect/SCF/IR/SCF.h"
#include "mlir/Dialect/Utils/StaticValueUtils.h"
#include "mlir/Dialect/Vector/IR/VectorOps.h"

using namespace mlir;
using namespace mlir::blockscale;

/// One load in flight for each lane if there are few values, so that more lanes
/// have work.
static constexpr int64_t kFewValues = int64_t(1) << 20;
static constexpr int64_t kWarps = 8;
/// How many loads are in flight where rows may end at any element.
static constexpr int64_t kSingleValues = 4;
static constexpr int64_t kByteBits = 8;

bool DequantizedOperandProblem::isContiguous() const {
  return elements.hasOwnMemory &&
         elements.contiguity ==
             (isTransposed ? Contiguity::Rows : Contiguity::Columns);
}

//===----------------------------------------------------------------------===//
// Tasks
//===----------------------------------------------------------------------===//

static int64_t getRounds(std::optional<int64_t> numValues) {
  return numValues && *numValues <= kFewValues ? 1 : ValueWriter::kRounds;
}

/// How many lanes share a row of `columns` values.
static int64_t getLanes(int64_t columns) {
  if (ShapedType::isDynamic(columns))
    return kWarpLanes;
  auto needed = static_cast<uint64_t>(
      llvm::divideCeilSigned(columns, ValueWriter::kValues));
  return std::min<int64_t>(kWarpLanes, llvm::PowerOf2Ceil(needed));
}

OpFoldResult
blockscale::getDequantizeOperandBlocks(OpBuilder &b, Location loc,
                                       ArrayRef<OpFoldResult> sizes) {
  constexpr int64_t kMost = 1024;
  std::optional<int64_t> numValues = 1;
  for (OpFoldResult size : sizes) {
    std::optional<int64_t> known = getConstantIntValue(size);
    numValues =
        known && numValues ? std::optional(*known * *numValues) : std::nullopt;
  }
  if (numValues)
    return b.getIndexAttr(std::clamp<int64_t>(
        llvm::divideCeilSigned(*numValues, kWarps * getRounds(numValues) *
                                               kWarpLanes * kDequantizedAtOnce),
        1, kMost));
  // A task of a warp has some rows and the columns of all its lanes.
  auto divide = [&](OpFoldResult size, int64_t divisor) -> Value {
    return arith::CeilDivUIOp::create(
        b, loc, getValueOrCreateConstantIndexOp(b, loc, size),
        makeIndex(b, loc, divisor));
  };
  Value tasks = arith::MulIOp::create(
      b, loc, getValueOrCreateConstantIndexOp(b, loc, sizes[sizes.size() - 2]),
      divide(sizes.back(), kWarpLanes * kDequantizedAtOnce));
  if (sizes.size() == 3)
    tasks = arith::MulIOp::create(
        b, loc, tasks, getValueOrCreateConstantIndexOp(b, loc, sizes[0]));
  Value blocks = arith::MaxUIOp::create(b, loc, divide(tasks, kWarps),
                                        makeIndex(b, loc, 1));
  return arith::MinUIOp::create(b, loc, blocks, makeIndex(b, loc, kMost))
      .getResult();
}

static std::optional<int64_t> getNumElements(ShapedType type) {
  return type.hasStaticShape() ? std::optional(type.getNumElements())
                               : std::nullopt;
}

KernelShape blockscale::getDequantizeOperandShape(RankedTensorType type) {
  int64_t lanes = getLanes(type.getShape().back());
  KernelShape shape;
  shape.tile = {kWarps * getRounds(getNumElements(type)) * kWarpLanes / lanes,
                lanes * kDequantizedAtOnce, 1};
  shape.threads = {kWarps * int64_t(kWarpLanes), 1, 1};
  shape.order = BlockOrder::Linear;
  return shape;
}

ValueWriter::ValueWriter(OpBuilder &b, gpu::GPUFuncOp kernel,
                         const DequantizedOperandProblem &problem)
    : b(b), loc(kernel.getLoc()), kernel(kernel), problem(problem),
      emit(b, loc),
      lane(gpu::LaneIdOp::create(b, loc, /*upperBound=*/IntegerAttr())),
      result(kernel.getArgument(problem.result)) {
  // The GEMM behind starts with loads of operands that are not written here.
  if (problem.chunkElements != 0)
    NVVM::GriddepcontrolOp::create(b, loc,
                                   NVVM::GridDepActionKind::launch_dependents);
}

Value ValueWriter::size(unsigned fromEnd) {
  return memref::DimOp::create(b, loc, result, getType().getRank() - fromEnd);
}

Value ValueWriter::add(Value value, int64_t number) {
  return addIndex(b, loc, value, number);
}

SmallVector<Value> ValueWriter::compute(ArrayRef<AffineExpr> exprs,
                                        ValueRange values) {
  return applyExprs(b, loc, exprs, values);
}

Value ValueWriter::forEach(Value from, Value to, Value step, Value word,
                           function_ref<Value(Value, Value)> body) {
  auto loop = scf::ForOp::create(b, loc, from, to, step, word);
  OpBuilder::InsertionGuard guard(b);
  b.setInsertionPointToStart(loop.getBody());
  Value next = body(loop.getInductionVar(), loop.getRegionIterArg(0));
  scf::YieldOp::create(b, loc, next);
  return loop.getResult(0);
}

std::pair<Value, Value> ValueWriter::emitGroup(Value task, Value groups,
                                               Value parts) {
  auto divide = [&]() -> std::pair<Value, Value> {
    return {b.createOrFold<arith::DivUIOp>(loc, task, parts),
            b.createOrFold<arith::RemUIOp>(loc, task, parts)};
  };
  if (getConstantIntValue(parts))
    return divide();
  // One row, as in decoding, should not wait for a division.
  Value isOne = isEqual(b, loc, groups, emit.index(1));
  Type type = b.getIndexType();
  auto branch = scf::IfOp::create(b, loc, TypeRange{type, type}, isOne,
                                  /*withElseRegion=*/true);
  OpBuilder::InsertionGuard guard(b);
  b.setInsertionPointToStart(branch.thenBlock());
  scf::YieldOp::create(b, loc, ValueRange{emit.index(0), task});
  b.setInsertionPointToStart(branch.elseBlock());
  auto [group, part] = divide();
  scf::YieldOp::create(b, loc, ValueRange{group, part});
  return {branch.getResult(0), branch.getResult(1)};
}

Value ValueWriter::forEachTask(
    Value groups, Value parts, Value inexact,
    function_ref<Value(Value, Value, Value, Value)> body) {
  AffineExpr d0, d1;
  bindDims(b.getContext(), d0, d1);
  Value all = groups;
  bool hasBatch = getType().getRank() == 3;
  if (hasBatch)
    all = b.createOrFold<arith::MulIOp>(loc, groups, size(3));
  Value tasks = b.createOrFold<arith::MulIOp>(loc, all, parts);
  Value thread = gpu::ThreadIdOp::create(b, loc, gpu::Dimension::x);
  Value block = gpu::BlockIdOp::create(b, loc, gpu::Dimension::x);
  Value first = compute({d0 * kWarps + d1.floorDiv(int64_t(kWarpLanes))},
                        {block, thread})[0];
  auto runTask = [&](Value task, Value before) {
    auto [group, part] = emitGroup(task, all, parts);
    Value batch = emit.index(0);
    if (hasBatch) {
      batch = b.createOrFold<arith::DivUIOp>(loc, group, groups);
      group = b.createOrFold<arith::RemUIOp>(loc, group, groups);
    }
    return body(batch, group, part, before);
  };
  if (!problem.hasFlags()) {
    // There are as many warps as tasks, or a few more.
    emitIf(b, loc, isBelow(b, loc, first, tasks),
           [&] { runTask(first, inexact); });
    return inexact;
  }
  Value grid = gpu::GridDimOp::create(b, loc, gpu::Dimension::x);
  Value step = compute({d0 * kWarps}, grid)[0];
  return forEach(first, tasks, step, inexact, runTask);
}

/// A task has as many columns as a warp makes at once, and some rounds of rows.
Value ValueWriter::emitGroups(Value none) {
  ArrayRef<int64_t> shape = getType().getShape().take_back(2);
  int64_t lanes = getLanes(shape[1]), columnsOfTask = lanes * kValues;
  int64_t rowsOfRound = kWarpLanes / lanes;
  // A mixed-input product mostly has few rows.
  std::optional<int64_t> numValues = getNumElements(getType());
  bool mayBeFew = !numValues && problem.chunkElements != 0;
  int64_t rounds = mayBeFew ? 1 : getRounds(numValues);
  int64_t rowsOfTask = rounds * rowsOfRound;
  AffineExpr d0, d1;
  bindDims(b.getContext(), d0, d1);
  Value rows = emitRows(), columns = size(1);
  Value groups = compute({d0.ceilDiv(rowsOfTask)}, rows)[0];
  Value parts = compute({d0.ceilDiv(columnsOfTask)}, columns)[0];
  Value lastRow = add(rows, -1);
  Value lastColumn = add(columns, -kValues);
  return forEachTask(
      groups, parts, none,
      [&](Value batch, Value group, Value part, Value inexact) {
        Value firstRow =
            compute({d0 * rowsOfTask + d1.floorDiv(lanes)}, {group, lane})[0];
        if (hasRaggedColumns) {
          Value first =
              compute({d0 * columnsOfTask + d1 % lanes}, {part, lane})[0];
          return forEach(
              emit.index(0), emit.index(rounds * kValues),
              emit.index(kSingleValues), inexact, [&](Value step, Value inner) {
                Value row = compute({d0 + d1.floorDiv(kValues) * rowsOfRound},
                                    {firstRow, step})[0];
                Value column =
                    compute({d0 + d1 % kValues * lanes}, {first, step})[0];
                storeSingly({batch, row, column, {}}, lanes);
                return inner;
              });
        }
        Value column = compute({d0 * columnsOfTask + d1 % lanes * kValues},
                               {part, lane})[0];
        Value isColumn;
        if (!KernelProblem::isMultiple(shape[1], columnsOfTask)) {
          isColumn = isBelow(b, loc, column, columns);
          column = arith::MinUIOp::create(b, loc, column, lastColumn);
        }
        // Lanes outside read the last element, so that no load waits for a
        // branch.
        auto getOrigin = [&](Value row) {
          Origin origin = {batch, row, column, isColumn};
          if (rowsOfTask != 1 &&
              !KernelProblem::isMultiple(problem.rows, rowsOfTask)) {
            Value isRow = isBelow(b, loc, origin.row, rows);
            origin.isInside =
                isColumn ? arith::AndIOp::create(b, loc, isColumn, isRow)
                         : isRow;
            origin.row = arith::MinUIOp::create(b, loc, origin.row, lastRow);
          }
          return origin;
        };
        SmallVector<Origin> origins;
        SmallVector<SmallVector<Value>> loaded;
        for (int64_t i = 0; i != rounds; ++i) {
          origins.push_back(getOrigin(add(firstRow, i * rowsOfRound)));
          Origin from = origins.back();
          from.row = emitSourceRow(from.row);
          if (problem.isPadded())
            from.column =
                arith::MinUIOp::create(b, loc, column, add(emitK(), -kValues));
          loaded.push_back(load(from));
        }
        for (auto [origin, of] : llvm::zip_equal(origins, loaded)) {
          SmallVector<Value> values = emitValues(of, inexact);
          if (problem.isPadded())
            clearPadding(column, values);
          store(origin, values);
        }
        return inexact;
      });
}

/// The row of the operand for a row of the result.
Value ValueWriter::emitSourceRow(Value row) {
  if (!problem.gathered)
    return row;
  constexpr unsigned kRow = 1;
  Value last = add(getOperandSize(b, kernel, problem.elements, kRow), -1);
  Value source = memref::LoadOp::create(
      b, loc, kernel.getArgument(*problem.gathered), row);
  source = arith::IndexCastOp::create(b, loc, b.getIndexType(),
                                      emit.maxS(source, emit.integer(0)));
  return arith::MinSIOp::create(b, loc, source, last);
}

Value ValueWriter::emitRows() {
  constexpr unsigned kRow = 1;
  if (problem.gathered) {
    // An operand without rows has none that could be read.
    Value rows =
        memref::DimOp::create(b, loc, kernel.getArgument(*problem.gathered), 0);
    Value ofOperand = getOperandSize(b, kernel, problem.elements, kRow);
    Value zero = emit.index(0);
    return emit.select(isEqual(b, loc, ofOperand, zero), zero, rows);
  }
  if (!ShapedType::isDynamic(problem.rows))
    return emit.index(problem.rows);
  return getOperandSize(b, kernel, problem.elements, kRow);
}

Value ValueWriter::emitK() {
  if (!ShapedType::isDynamic(problem.k))
    return emit.index(problem.k);
  constexpr unsigned kColumn = 2;
  return getOperandSize(b, kernel, problem.elements, kColumn);
}

void ValueWriter::clearPadding(Value column, MutableArrayRef<Value> values) {
  Value isInside = isBelow(b, loc, column, emitK());
  for (Value &value : values)
    value = emit.select(isInside, value, emit.integer(0));
}

Value ValueWriter::emitTasks(Value none) {
  Value columns = size(1);
  if (problem.hasFlags() || !getType().isDynamicDim(getType().getRank() - 1))
    return emitGroups(none);
  // Rows may end, and the next one start, at any element.
  Value rest = compute({b.getAffineDimExpr(0) % kValues}, columns)[0];
  Value isWhole = isEqual(b, loc, rest, emit.index(0));
  auto branch = scf::IfOp::create(b, loc, isWhole, /*withElseRegion=*/true);
  OpBuilder::InsertionGuard guard(b);
  b.setInsertionPointToStart(branch.thenBlock());
  emitGroups(none);
  b.setInsertionPointToStart(branch.elseBlock());
  hasRaggedColumns = true;
  emitGroups(none);
  return none;
}

void ValueWriter::build() {
  Value inexact = emitTasks(emit.integer(0));
  if (problem.hasFlags())
    emitFlag(inexact);
  gpu::ReturnOp::create(b, loc);
}

/// Stores the inexact flag of the block, from `inexact` of its threads.
void ValueWriter::emitFlag(Value inexact) {
  Value isInexact = emit.select(emit.isDifferent(inexact, 0), emit.integer(1),
                                emit.integer(0));
  auto reduction = NVVM::BarrierReductionAttr::get(b.getContext(),
                                                   NVVM::BarrierReduction::OR);
  Value any = NVVM::BarrierOp::create(b, loc, TypeRange(b.getI32Type()),
                                      Value(), Value(), reduction, isInexact)
                  .getResult(0);
  Value thread = gpu::ThreadIdOp::create(b, loc, gpu::Dimension::x);
  Value isFirst = isEqual(b, loc, thread, emit.index(0));
  Value block = gpu::BlockIdOp::create(b, loc, gpu::Dimension::x);
  Value flags = kernel.getArgument(problem.result + 1);
  emitIf(b, loc, isFirst,
         [&] { memref::StoreOp::create(b, loc, any, flags, block); });
  if (problem.hasGroupFlags)
    clearGroupFlags(flags, thread, block);
}

/// Those behind the flags of blocks, by the first block.
void ValueWriter::clearGroupFlags(Value flags, Value thread, Value block) {
  Value blocks = gpu::GridDimOp::create(b, loc, gpu::Dimension::x);
  Value threads = gpu::BlockDimOp::create(b, loc, gpu::Dimension::x);
  Value count = memref::DimOp::create(b, loc, flags, 0);
  Value start = arith::AddIOp::create(b, loc, blocks, thread);
  Value isFirstBlock = isEqual(b, loc, block, emit.index(0));
  emitIf(b, loc, isFirstBlock, [&] {
    auto loop = scf::ForOp::create(b, loc, start, count, threads);
    OpBuilder inner = OpBuilder::atBlockBegin(loop.getBody());
    memref::StoreOp::create(inner, loc, emit.integer(0), flags,
                            loop.getInductionVar());
  });
}

//===----------------------------------------------------------------------===//
// Loads
//===----------------------------------------------------------------------===//

/// 8 elements that follow each other in memory.
SmallVector<Value> ValueWriter::loadVector(const Origin &origin) {
  SmallVector<Value> position = applyMap(
      b, loc, problem.elements.map, {origin.batch, origin.row, origin.column});
  constexpr unsigned kBitsOf6 = 6;
  unsigned bits = problem.elements.bits;
  if (bits != kByteBits)
    position.back() =
        compute({(b.getAffineDimExpr(0) * bits).floorDiv(kByteBits)},
                position.back())[0];
  if (bits == kBitsOf6)
    return loadPacked6(position);
  int64_t bytes = kValues * bits / kByteBits, words = bytes / 4;
  Value loaded = vector::LoadOp::create(
      b, loc, VectorType::get(bytes, b.getI8Type()),
      kernel.getArgument(problem.elements.argument), position,
      /*nontemporal=*/false, llvm::MaybeAlign(bytes));
  loaded = vector::BitCastOp::create(
      b, loc, VectorType::get(words, b.getI32Type()), loaded);
  SmallVector<Value> result;
  for (int64_t i = 0; i != words; ++i)
    result.push_back(vector::ExtractOp::create(b, loc, loaded, i));
  return result;
}

/// 8 elements of 6 bits are 6 bytes, which are aligned to 2.
SmallVector<Value> ValueWriter::loadPacked6(ArrayRef<Value> position) {
  SmallVector<Value> halves;
  for (int64_t i = 0; i != 3; ++i) {
    SmallVector<Value> at(position);
    at.back() = add(at.back(), 2 * i);
    Value bytes = vector::LoadOp::create(
        b, loc, VectorType::get(2, b.getI8Type()),
        kernel.getArgument(problem.elements.argument), at,
        /*nontemporal=*/false, llvm::MaybeAlign(2));
    Value half = vector::BitCastOp::create(
        b, loc, VectorType::get(1, b.getI16Type()), bytes);
    half = vector::ExtractOp::create(b, loc, half, int64_t(0));
    halves.push_back(arith::ExtUIOp::create(b, loc, b.getI32Type(), half));
  }
  // 24 bits with four elements each.
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

Value ValueWriter::loadElement(Value batch, Value row, Value column) {
  Value code = emitLoadCode(
      b, loc, kernel.getArgument(problem.elements.argument),
      problem.elements.bits,
      applyMap(b, loc, problem.elements.map, {batch, row, column}));
  return arith::ExtUIOp::create(b, loc, b.getI32Type(), code);
}

/// The same, one by one, as two i32 of four bytes.
SmallVector<Value> ValueWriter::loadSingly(const Origin &origin) {
  SmallVector<Value> words;
  for (int64_t i = 0; i != kValues; ++i) {
    Value row = problem.isTransposed ? add(origin.row, i) : origin.row;
    Value column = problem.isTransposed ? origin.column : add(origin.column, i);
    Value code = loadElement(origin.batch, row, column);
    if (i % 4 == 0)
      words.push_back(code);
    else
      words.back() =
          emit.bitOr(words.back(), emit.shiftLeft(code, 8 * (i % 4)));
  }
  return words;
}

SmallVector<Value> ValueWriter::loadWords(const Origin &origin) {
  return problem.isContiguous() ? loadVector(origin) : loadSingly(origin);
}

Value ValueWriter::loadScale(const Origin &origin, int64_t row) {
  const KernelOperand &scales = problem.scales;
  if (scales.splat)
    return emit.integer(*scales.splat);
  Value block = compute({b.getAffineDimExpr(0).floorDiv(problem.blockSize)},
                        origin.column)[0];
  Value code = memref::LoadOp::create(
      b, loc, kernel.getArgument(scales.argument),
      applyMap(b, loc, scales.map,
               {origin.batch, add(origin.row, row), block}));
  if (code.getType().isF32())
    return arith::BitcastOp::create(b, loc, b.getI32Type(), code);
  return arith::ExtUIOp::create(b, loc, b.getI32Type(), code);
}

SmallVector<Value> ValueWriter::load(const Origin &origin) {
  SmallVector<Value> loaded = loadWords(origin);
  loaded.push_back(loadScale(origin, 0));
  return loaded;
}

//===----------------------------------------------------------------------===//
// Stores
//===----------------------------------------------------------------------===//

/// Stores neighbors along a row with one instruction.
void ValueWriter::storeSome(const Origin &origin, Value column,
                            ArrayRef<Value> values) {
  Type element = getType().getElementType();
  auto count = static_cast<int64_t>(values.size());
  Value all = vector::FromElementsOp::create(
      b, loc, VectorType::get(count, values[0].getType()), values);
  if (values[0].getType() != element) {
    count *= 2;
    all =
        vector::BitCastOp::create(b, loc, VectorType::get(count, element), all);
  }
  SmallVector<Value> position = {origin.row, column};
  if (problem.isTransposed)
    std::swap(position[0], position[1]);
  if (getType().getRank() == 3)
    position.insert(position.begin(), origin.batch);
  int64_t bytes = count * getType().getElementTypeBitWidth() / kByteBits;
  vector::StoreOp::create(b, loc, all, result, position,
                          /*nontemporal=*/false, llvm::MaybeAlign(bytes));
}

/// Makes one value each in some columns from `origin` on. Neighboring lanes
/// have neighboring columns; a lane with 8 of them would need twice the
/// registers.
void ValueWriter::storeSingly(const Origin &origin, int64_t lanes) {
  Value rows = size(2), columns = size(1), none = emit.integer(0);
  Value row = arith::MinUIOp::create(b, loc, origin.row, add(rows, -1));
  SmallVector<Origin> origins;
  SmallVector<SmallVector<Value>> loaded;
  for (int64_t i = 0; i != kSingleValues; ++i) {
    Value column = add(origin.column, i * lanes);
    Value isInside =
        arith::AndIOp::create(b, loc, isBelow(b, loc, origin.row, rows),
                              isBelow(b, loc, column, columns));
    column = arith::MinUIOp::create(b, loc, column, add(columns, -1));
    origins.push_back({origin.batch, row, column, isInside});
    loaded.push_back({loadElement(origin.batch, row, column), none,
                      loadScale(origins.back(), 0)});
  }
  for (auto [of, from] : llvm::zip_equal(origins, loaded))
    emitIf(b, loc, of.isInside, [&, &of = of, &from = from] {
      storeSome(of, of.column, emitValues(from, none).front());
    });
}

/// Four neighboring values of an instruction belong to what one lane keeps. The
/// eight are two of these: one half of an instruction and the other one, or
/// with pairs the even values and the odd ones, which the next instruction has.
void ValueWriter::storeBesideSparse(const Origin &origin,
                                    ArrayRef<Value> values) {
  constexpr int64_t kQuarters = 4, kStep = 32, kHalf = 16;
  constexpr uint32_t kLowHalves = 0x5410, kHighHalves = 0x7632;
  int64_t chunk = problem.chunkElements, quarter = chunk / kQuarters;
  AffineExpr d0 = b.getAffineDimExpr(0);
  AffineExpr inChunk = d0 % chunk, first = d0.floorDiv(chunk) * chunk,
             task = (inChunk % quarter).floorDiv(kValues),
             lane = inChunk.floorDiv(quarter) * kQuarters;
  bool isPairs = problem.sparsity == Granularity::Pairs;
  AffineExpr to = first + lane +
                  (isPairs ? task.floorDiv(2) * (2 * kStep) + task % 2 * kHalf
                           : task * kStep);
  SmallVector<Value> ordered(values);
  if (isPairs) {
    ordered.clear();
    for (uint32_t halves : {kLowHalves, kHighHalves})
      for (size_t i : {0, 2})
        ordered.push_back(
            emit.permute(values[i], values[i + 1], emit.integer(halves)));
  }
  for (size_t i : {0, 1})
    storeSome(
        origin,
        compute({to + static_cast<int64_t>(i) * (isPairs ? kStep : kHalf)},
                origin.column)[0],
        ArrayRef(ordered).slice(2 * i, 2));
}

void ValueWriter::store(const Origin &origin, ArrayRef<Value> values) {
  emitIf(b, loc, origin.isInside, [&] {
    if (problem.chunkElements == 0) {
      // Stores are of 16 bytes.
      constexpr int64_t kStoreBits = 128;
      auto stores = static_cast<size_t>(
          kValues * getType().getElementTypeBitWidth() / kStoreBits);
      for (size_t i = 0; i != stores; ++i)
        storeSome(
            origin,
            add(origin.column, static_cast<int64_t>(i) * kValues /
                                   static_cast<int64_t>(stores)),
            values.slice(i * values.size() / stores, values.size() / stores));
      return;
    }
    if (problem.sparsity)
      return storeBesideSparse(origin, values);
    // Values 4 i to 4 i + 3 of a quarter are two pairs of instruction i.
    constexpr int64_t kQuarters = 4, kOfQuarter = 4, kStep = 16, kSecond = 8;
    int64_t chunk = problem.chunkElements, quarter = chunk / kQuarters;
    AffineExpr d0 = b.getAffineDimExpr(0);
    for (int64_t i = 0; i != kValues / kOfQuarter; ++i) {
      AffineExpr inChunk = d0 % chunk, first = d0.floorDiv(chunk) * chunk;
      AffineExpr instruction = (inChunk % quarter).floorDiv(kOfQuarter) + i;
      AffineExpr to =
          first + instruction * kStep + inChunk.floorDiv(quarter) * 2;
      for (int64_t pair : {0, 1})
        storeSome(origin, compute({to + pair * kSecond}, origin.column)[0],
                  values[2 * i + pair]);
    }
  });
}

void blockscale::buildDequantizeOperand(
    gpu::GPUFuncOp kernel, const DequantizedOperandProblem &problem) {
  // By policy.
  static constexpr ValueWriterPtr (*makeWriter[])(
      OpBuilder &, gpu::GPUFuncOp, const DequantizedOperandProblem &) = {
      makeExactWriter, makePermutedWriter, makeRoundedWriter};
  OpBuilder b = OpBuilder::atBlockBegin(&kernel.getBody().front());
  makeWriter[static_cast<size_t>(problem.policy)](b, kernel, problem)->build();
}
