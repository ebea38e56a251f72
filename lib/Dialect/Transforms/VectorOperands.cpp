//===- VectorOperands.cpp - Fragments of vectors of codes -----------------===//
//
// Part of the blockscale project, under the Apache License v2.0 with LLVM
// Exceptions. See LICENSE for license information.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#include "VectorOperands.h"

#include "CodeAccess.h"
#include "OperandView.h"
#include "ToFragments.h"
#include "VectorTransfer.h"
#include "mlir/Dialect/Arith/IR/Arith.h"
#include "mlir/Dialect/MemRef/IR/MemRef.h"
#include "mlir/IR/Matchers.h"

using namespace mlir;
using namespace mlir::blockscale;

using Side = MmaScaledOp::Side;

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

FailureOr<CodeSource> blockscale::findCodeSource(Value operand) {
  OperandView view = traceOperand(operand);
  CodeSource source = {view.map, 8, 0xFF, 0, nullptr, std::nullopt};
  Value value = view.tensor;
  unsigned codeBits =
      cast<VectorType>(value.getType()).getElementTypeBitWidth();
  // Codes as bytes: packed fp4 by a bitcast of bytes, fp6 cut out of bytes.
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
                                     "codes that are packed in bytes, got ")
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

namespace {
/// Builds the fragments of one operand from where its codes are.
class VectorLoader {
public:
  VectorLoader(const OpRow &row, Operand operand, Value lane, int64_t rows,
               int64_t k)
      : row(row), operand(operand), lane(lane), rows(rows), k(k) {}

  /// `isTransposed`: the operand's index is (k, row).
  LogicalResult loadElements(Value value, bool isTransposed, OpBuilder &builder,
                             OperandFragments &fragments) {
    FailureOr<CodeSource> source = findCodeSource(value);
    if (failed(source))
      return failure();
    Format format = operand == Operand::A ? row.lhs : row.rhs;
    Slot slot = getSlot(getEmittedInstruction(row, Path::MmaSync).kind, format);
    const FragmentLayout &layout = getFragmentLayout(operand, slot.bits);
    OpBuilder b = atSource(builder, *source);
    Location loc = value.getLoc();
    FragmentCounts counts(row, operand, rows, k);
    for (int64_t tile = 0; tile != counts.tiles; ++tile) {
      SmallVector<Value> &steps = fragments.registers.emplace_back();
      for (int64_t step = 0; step != counts.steps; ++step) {
        SmallVector<Value> words;
        for (unsigned reg = 0; reg != layout.registers; ++reg) {
          Value word;
          for (unsigned i = 0; i != layout.slots; ++i) {
            auto [r, c] = emitElementPosition(b, loc, layout, lane, reg, i);
            Value index = offset(b, loc, r, tile * layout.rows);
            Value column = offset(b, loc, c, step * layout.columns);
            Value code = loadCode(b, loc, *source, isTransposed, index, column,
                                  {rows, layout.rows}, {k, layout.columns});
            word = insert(b, loc, word, code, i * slot.bits + slot.shift);
          }
          words.push_back(word);
        }
        steps.push_back(vector::FromElementsOp::create(
            b, loc, VectorType::get(words.size(), b.getI32Type()), words));
      }
    }
    return success();
  }

  LogicalResult loadScales(Value value, bool isTransposed, OpBuilder &builder,
                           OperandFragments &fragments) {
    FailureOr<CodeSource> source = findCodeSource(value);
    if (failed(source))
      return failure();
    const ScaleFragment &layout = getScaleFragment(operand);
    OpBuilder b = atSource(builder, *source);
    Location loc = value.getLoc();
    int64_t groupRows = layout.tiles * layout.rowsPerTile;
    FragmentCounts counts(row, operand, rows, k);
    for (int64_t group = 0; group != counts.groups; ++group) {
      SmallVector<Value> &words = fragments.scaleWords.emplace_back();
      for (int64_t i = 0; i != counts.words; ++i) {
        Value word;
        for (unsigned byte = 0; byte != kScalesPerWord; ++byte) {
          Value r = emitScaleRow(b, loc, operand, lane);
          Value index = offset(b, loc, r, group * groupRows);
          int64_t block = i * kScalesPerWord + byte;
          if (block >= k / row.blockSize)
            break;
          Value column = arith::ConstantIndexOp::create(b, loc, block);
          Value code = loadCode(b, loc, *source, isTransposed, index, column,
                                {rows, groupRows}, {1, 1});
          word = insert(b, loc, word, code, byte * 8);
        }
        words.push_back(word);
      }
    }
    return success();
  }

private:
  /// A size, and the multiple of it that the lanes of a warp cover.
  struct Extent {
    int64_t size;
    int64_t unit;
  };

  /// Memory may change between the read and the op.
  static OpBuilder atSource(OpBuilder &builder, CodeSource &source) {
    OpBuilder b(builder);
    if (source.read)
      b.setInsertionPointAfter(source.read);
    return b;
  }

  static Value offset(OpBuilder &b, Location loc, Value value, int64_t amount) {
    AffineExpr d0 = getAffineDimExpr(0, b.getContext());
    return applyMap(b, loc, AffineMap::get(1, 0, d0 + amount), value)[0];
  }

  /// `word` (null for 0) with `code` at bit `shift`.
  static Value insert(OpBuilder &b, Location loc, Value word, Value code,
                      unsigned shift) {
    Type i32 = b.getI32Type();
    Value wide = arith::ExtUIOp::create(b, loc, i32, code);
    Value amount = arith::ConstantIntOp::create(b, loc, i32, shift);
    Value moved = arith::ShLIOp::create(b, loc, wide, amount);
    return word ? arith::OrIOp::create(b, loc, word, moved) : moved;
  }

  static Value asByte(OpBuilder &b, Location loc, Value element) {
    if (element.getType().isInteger(8))
      return element;
    return arith::BitcastOp::create(b, loc, b.getI8Type(), element);
  }

  /// The code at (row, column) of the operand; 0 beyond its sizes.
  Value loadCode(OpBuilder &b, Location loc, CodeSource &source,
                 bool isTransposed, Value rowIndex, Value column,
                 Extent rowExtent, Extent columnExtent) {
    Value zero = arith::ConstantIntOp::create(b, loc, b.getI8Type(), 0);
    SmallVector<Value> index = {rowIndex, column};
    if (isTransposed)
      std::swap(index[0], index[1]);
    index = applyMap(b, loc, source.map, index);
    Value inside =
        TransferAddress::both(b, loc, isBelow(b, loc, rowIndex, rowExtent),
                              isBelow(b, loc, column, columnExtent));
    auto loadByte = [&](OpBuilder &at, Value last) -> Value {
      if (source.splat)
        return arith::ConstantIntOp::create(at, loc, at.getI8Type(),
                                            *source.splat & 0xFF);
      SmallVector<Value> byteIndex(index);
      byteIndex.back() = last;
      TransferAddress transfer(
          at, cast<VectorTransferOpInterface>(source.read.getOperation()));
      auto [position, inBounds] = transfer.at(byteIndex);
      ArrayRef<Value> indices = position;
      Value byte = emitLoadIf(
          at, loc, inBounds,
          [&](OpBuilder &then) -> Value {
            return memref::LoadOp::create(then, loc, source.read.getBase(),
                                          indices);
          },
          source.read.getPadding());
      return asByte(at, loc, byte);
    };
    return emitLoadIf(
        b, loc, inside,
        [&](OpBuilder &then) -> Value {
          if (source.bits == 8)
            return cut(then, loc, loadByte(then, index.back()),
                       source.codeMask);
          return emitUnpackCode(
              then, loc, index.back(), source.bits,
              then.getIndexAttr(source.rowBytes),
              [&](Value byte) { return loadByte(then, byte); });
        },
        zero);
  }

  static Value isBelow(OpBuilder &b, Location loc, Value index, Extent extent) {
    return TransferAddress::isBelow(b, loc, index, extent.size, extent.unit);
  }

  static Value cut(OpBuilder &b, Location loc, Value byte, unsigned mask) {
    if (mask == 0xFF)
      return byte;
    Value bits = arith::ConstantIntOp::create(b, loc, b.getI8Type(), mask);
    return arith::AndIOp::create(b, loc, byte, bits);
  }

  OpRow row;
  Operand operand;
  Value lane;
  int64_t rows, k;
};
} // namespace

FailureOr<OperandFragments> blockscale::loadVectorOperand(OpBuilder &builder,
                                                          MmaScaledOp op,
                                                          Operand operand,
                                                          Value lane) {
  bool isA = operand == Operand::A;
  Side side = isA ? Side::X : Side::Y;
  ShapedType type = op.getMatrixType(side);
  VectorLoader loader(
      op.getRow(), operand, lane,
      type.getDimSize(MmaScaledOp::getRowDim(side, type.getRank())),
      type.getDimSize(MmaScaledOp::getKDim(side, type.getRank())));
  OperandFragments fragments;
  if (failed(loader.loadElements(isA ? op.getX() : op.getY(), !isA, builder,
                                 fragments)) ||
      failed(loader.loadScales(isA ? op.getXScale() : op.getYScale(), !isA,
                               builder, fragments)))
    return failure();
  return fragments;
}
