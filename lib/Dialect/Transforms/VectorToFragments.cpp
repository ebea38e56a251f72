//===- VectorToFragments.cpp - Shared vectors in lanes --------------------===//
//
// Part of the blockscale project, under the Apache License v2.0 with LLVM
// Exceptions. See LICENSE for license information.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#include "CodeAccess.h"
#include "FragmentEmitter.h"
#include "OperandView.h"
#include "ToFragments.h"
#include "blockscale/Dialect/IR/BlockScale.h"
#include "mlir/Dialect/Arith/IR/Arith.h"
#include "mlir/Dialect/MemRef/IR/MemRef.h"
#include "mlir/Dialect/SCF/IR/SCF.h"
#include "mlir/Dialect/Vector/IR/VectorOps.h"

using namespace mlir;
using namespace mlir::blockscale;

using Side = MmaScaledOp::Side;

bool blockscale::isSharedVector(Type type) {
  auto vector = dyn_cast<VectorType>(type);
  return vector && vector.getRank() == 2 && !vector.isScalable() &&
         !getElementFormat(vector.getElementType()) &&
         !getScaleFormat(vector.getElementType()) &&
         !vector.getElementType().isInteger(8);
}

//===----------------------------------------------------------------------===//
// Transfers, one element at a time
//===----------------------------------------------------------------------===//

namespace {
/// The elements of a vector.transfer_read or transfer_write in memory.
class TransferAddress {
public:
  TransferAddress(OpBuilder &b, VectorTransferOpInterface op)
      : b(b), loc(op.getLoc()), op(op) {}

  /// The position of element `index` of the vector, and whether it is in
  /// bounds (null if it is known to be).
  std::pair<SmallVector<Value>, Value> at(ArrayRef<Value> index) {
    SmallVector<Value> position(op.getIndices());
    Value inside;
    AffineMap map = op.getPermutationMap();
    for (auto [dim, value] : llvm::enumerate(index)) {
      unsigned memoryDim = map.getDimPosition(dim);
      Value &coordinate = position[memoryDim];
      coordinate = arith::AddIOp::create(b, loc, coordinate, value);
      if (op.isDimInBounds(dim))
        continue;
      Value size = memref::DimOp::create(b, loc, op.getBase(), memoryDim);
      inside =
          both(inside, arith::CmpIOp::create(b, loc, arith::CmpIPredicate::ult,
                                             coordinate, size));
    }
    return {position, inside};
  }

  /// `index` < `size`, or null where that is certain of all lanes.
  Value isBelow(Value index, int64_t size, int64_t unit) {
    if (size % unit == 0)
      return Value();
    Value bound = arith::ConstantIndexOp::create(b, loc, size);
    return arith::CmpIOp::create(b, loc, arith::CmpIPredicate::ult, index,
                                 bound);
  }

  /// The conjunction of two conditions, either of which may be null.
  Value both(Value first, Value second) {
    if (!first || !second)
      return first ? first : second;
    return arith::AndIOp::create(b, loc, first, second);
  }

private:
  OpBuilder &b;
  Location loc;
  VectorTransferOpInterface op;
};
} // namespace

/// `load()` if `condition` (null for always), else `otherwise`.
static Value loadIf(OpBuilder &b, Location loc, Value condition,
                    function_ref<Value(OpBuilder &)> load, Value otherwise) {
  if (!condition)
    return load(b);
  auto guard = scf::IfOp::create(b, loc, otherwise.getType(), condition,
                                 /*withElseRegion=*/true);
  OpBuilder then = guard.getThenBodyBuilder();
  scf::YieldOp::create(then, loc, load(then));
  OpBuilder other = guard.getElseBodyBuilder();
  scf::YieldOp::create(other, loc, otherwise);
  return guard.getResult(0);
}

/// Transfers that a lane can do by itself: of memory, a permutation of its
/// dimensions, no mask.
static LogicalResult verifyTransfer(VectorTransferOpInterface op) {
  if (!isa<MemRefType>(op.getShapedType()) || op.getMask() ||
      !op.getPermutationMap().isProjectedPermutation())
    return op->emitOpError("not supported in this version: expected a transfer "
                           "of a memref by a permutation without a mask");
  return success();
}

//===----------------------------------------------------------------------===//
// Operands
//===----------------------------------------------------------------------===//

namespace {

/// Where the codes of a vector operand come from.
struct CodeSource {
  /// Operand index -> index of the source vector, in codes of `bits`.
  AffineMap map;
  unsigned bits;
  /// A read of memory, or a splat constant.
  vector::TransferReadOp read;
  std::optional<uint64_t> splat;
};

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

/// Follows `operand` to its source. An error at the op that cannot be followed.
static FailureOr<CodeSource> findSource(Value operand) {
  OperandView view = traceOperand(operand);
  CodeSource source = {view.map, 8, nullptr, std::nullopt};
  Value value = view.tensor;
  unsigned codeBits =
      cast<VectorType>(value.getType()).getElementTypeBitWidth();
  // Codes as bytes: packed fp4 by a bitcast of bytes, fp6 cut out of bytes.
  if (auto cast = value.getDefiningOp<vector::BitCastOp>()) {
    source.bits = codeBits;
    value = cast.getSource();
  } else if (auto cast = value.getDefiningOp<arith::BitcastOp>()) {
    value = cast.getIn();
    if (auto trunc = value.getDefiningOp<arith::TruncIOp>())
      value = trunc.getIn();
  }
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

/// Builds the fragments of one operand from where its codes are.
class VectorLoader {
public:
  VectorLoader(const OpRow &row, Operand operand, Value lane, int64_t rows,
               int64_t k)
      : row(row), operand(operand), lane(lane), rows(rows), k(k) {}

  /// `isTransposed`: the operand's index is (k, row).
  LogicalResult loadElements(Value value, bool isTransposed, OpBuilder &builder,
                             OperandFragments &fragments) {
    FailureOr<CodeSource> source = findSource(value);
    if (failed(source))
      return failure();
    Format format = operand == Operand::A ? row.lhs : row.rhs;
    Slot slot = getSlot(getMmaSyncInstruction(row).kind, format);
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
    FailureOr<CodeSource> source = findSource(value);
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
    if (source.splat) {
      Value code =
          arith::ConstantIntOp::create(b, loc, b.getI8Type(), *source.splat);
      return maskSplat(b, loc, code, rowIndex, column, rowExtent, columnExtent,
                       source.bits);
    }
    SmallVector<Value> index = {rowIndex, column};
    if (isTransposed)
      std::swap(index[0], index[1]);
    index = applyMap(b, loc, source.map, index);
    TransferAddress address(
        b, cast<VectorTransferOpInterface>(source.read.getOperation()));
    Value inside = address.both(
        address.isBelow(rowIndex, rowExtent.size, rowExtent.unit),
        address.isBelow(column, columnExtent.size, columnExtent.unit));
    auto loadByte = [&](OpBuilder &at, Value last) -> Value {
      SmallVector<Value> byteIndex(index);
      byteIndex.back() = last;
      TransferAddress transfer(
          at, cast<VectorTransferOpInterface>(source.read.getOperation()));
      auto [position, inBounds] = transfer.at(byteIndex);
      ArrayRef<Value> indices = position;
      Value padding = source.read.getPadding();
      Value byte = loadIf(
          at, loc, inBounds,
          [&](OpBuilder &then) -> Value {
            return memref::LoadOp::create(then, loc, source.read.getBase(),
                                          indices);
          },
          padding);
      return asByte(at, loc, byte);
    };
    return loadIf(
        b, loc, inside,
        [&](OpBuilder &then) -> Value {
          if (source.bits == 8)
            return loadByte(then, index.back());
          return emitUnpackCode(
              then, loc, index.back(), source.bits,
              source.read.getVectorType().getShape().back(),
              [&](Value byte) { return loadByte(then, byte); });
        },
        zero);
  }

  static Value maskSplat(OpBuilder &b, Location loc, Value code, Value row,
                         Value column, Extent rowExtent, Extent columnExtent,
                         unsigned bits);

  OpRow row;
  Operand operand;
  Value lane;
  int64_t rows, k;
};

Value VectorLoader::maskSplat(OpBuilder &b, Location loc, Value code, Value row,
                              Value column, Extent rowExtent,
                              Extent columnExtent, unsigned bits) {
  // A splat of packed bytes holds two codes, which may differ.
  if (bits != 8) {
    AffineExpr d0 = getAffineDimExpr(0, b.getContext());
    Value shift =
        applyMap(b, loc, AffineMap::get(1, 0, d0 * bits % 8), column)[0];
    Value amount = arith::IndexCastUIOp::create(b, loc, b.getI8Type(), shift);
    Value moved = arith::ShRUIOp::create(b, loc, code, amount);
    Value mask =
        arith::ConstantIntOp::create(b, loc, b.getI8Type(), (1 << bits) - 1);
    code = arith::AndIOp::create(b, loc, moved, mask);
  }
  Value zero = arith::ConstantIntOp::create(b, loc, b.getI8Type(), 0);
  for (auto [index, extent] :
       {std::make_pair(row, rowExtent), std::make_pair(column, columnExtent)}) {
    if (extent.size % extent.unit == 0)
      continue;
    Value bound = arith::ConstantIndexOp::create(b, loc, extent.size);
    Value below =
        arith::CmpIOp::create(b, loc, arith::CmpIPredicate::ult, index, bound);
    code = arith::SelectOp::create(b, loc, below, code, zero);
  }
  return code;
}

//===----------------------------------------------------------------------===//
// Patterns
//===----------------------------------------------------------------------===//

struct LowerMmaScaled final : OpConversionPattern<MmaScaledOp> {
  LowerMmaScaled(const TypeConverter &converter, MLIRContext *context,
                 Value lane)
      : OpConversionPattern(converter, context), lane(lane) {}

  LogicalResult
  matchAndRewrite(MmaScaledOp op, OpAdaptor adaptor,
                  ConversionPatternRewriter &rewriter) const override {
    auto type = dyn_cast<VectorType>(op.getType());
    if (!type || type.getRank() != 2)
      return rewriter.notifyMatchFailure(op, "expected vectors of rank 2");
    OpRow row = op.getRow();
    int64_t k = op.getMatrixType(Side::X).getDimSize(1);
    OperandFragments a, b;
    VectorLoader aLoader(row, Operand::A, lane, type.getDimSize(0), k);
    VectorLoader bLoader(row, Operand::B, lane, type.getDimSize(1), k);
    if (failed(aLoader.loadElements(op.getX(), false, rewriter, a)) ||
        failed(aLoader.loadScales(op.getXScale(), false, rewriter, a)) ||
        failed(bLoader.loadElements(op.getY(), true, rewriter, b)) ||
        failed(bLoader.loadScales(op.getYScale(), true, rewriter, b)))
      return failure();
    rewriter.replaceOp(
        op, emitMmas(rewriter, op.getLoc(), row, lane, a, b, adaptor.getAcc()));
    return success();
  }

private:
  Value lane;
};

struct LowerTransferRead final : OpConversionPattern<vector::TransferReadOp> {
  LowerTransferRead(const TypeConverter &converter, MLIRContext *context,
                    Value lane)
      : OpConversionPattern(converter, context), lane(lane) {}

  LogicalResult
  matchAndRewrite(vector::TransferReadOp op, OpAdaptor adaptor,
                  ConversionPatternRewriter &rewriter) const override {
    auto transfer = cast<VectorTransferOpInterface>(op.getOperation());
    if (failed(verifyTransfer(transfer)))
      return failure();
    VectorType type = op.getVectorType();
    Location loc = op.getLoc();
    const FragmentLayout &layout = getFragmentLayout(Operand::C, 32);
    SmallVector<Value> elements;
    forEachAccElement(
        rewriter, loc, lane, {type.getDimSize(0), type.getDimSize(1), {}, {}},
        [&](int64_t, Value row, Value column) {
          TransferAddress address(rewriter, transfer);
          auto [position, inside] = address.at({row, column});
          ArrayRef<Value> indices = position;
          inside = address.both(
              inside, address.isBelow(row, type.getDimSize(0), layout.rows));
          inside =
              address.both(inside, address.isBelow(column, type.getDimSize(1),
                                                   layout.columns));
          elements.push_back(loadIf(
              rewriter, loc, inside,
              [&](OpBuilder &then) -> Value {
                return memref::LoadOp::create(then, loc, op.getBase(), indices);
              },
              op.getPadding()));
        });
    rewriter.replaceOpWithNewOp<vector::FromElementsOp>(
        op, cast<VectorType>(getTypeConverter()->convertType(type)), elements);
    return success();
  }

private:
  Value lane;
};

struct LowerTransferWrite final : OpConversionPattern<vector::TransferWriteOp> {
  LowerTransferWrite(const TypeConverter &converter, MLIRContext *context,
                     Value lane)
      : OpConversionPattern(converter, context), lane(lane) {}

  LogicalResult
  matchAndRewrite(vector::TransferWriteOp op, OpAdaptor adaptor,
                  ConversionPatternRewriter &rewriter) const override {
    auto transfer = cast<VectorTransferOpInterface>(op.getOperation());
    if (failed(verifyTransfer(transfer)))
      return failure();
    VectorType type = op.getVectorType();
    Location loc = op.getLoc();
    const FragmentLayout &layout = getFragmentLayout(Operand::C, 32);
    forEachAccElement(
        rewriter, loc, lane, {type.getDimSize(0), type.getDimSize(1), {}, {}},
        [&](int64_t index, Value row, Value column) {
          TransferAddress address(rewriter, transfer);
          auto [position, inside] = address.at({row, column});
          inside = address.both(
              inside, address.isBelow(row, type.getDimSize(0), layout.rows));
          inside =
              address.both(inside, address.isBelow(column, type.getDimSize(1),
                                                   layout.columns));
          Value element = vector::ExtractOp::create(
              rewriter, loc, adaptor.getValueToStore(), index);
          OpBuilder b(rewriter);
          if (inside)
            b = scf::IfOp::create(rewriter, loc, inside).getThenBodyBuilder();
          memref::StoreOp::create(b, loc, element, op.getBase(), position);
        });
    rewriter.eraseOp(op);
    return success();
  }

private:
  Value lane;
};

/// Elementwise ops do to the fragment what they do to the whole.
struct LowerElementwise final : ConversionPattern {
  LowerElementwise(const TypeConverter &converter, MLIRContext *context)
      : ConversionPattern(converter, MatchAnyOpTypeTag(), /*benefit=*/1,
                          context) {}

  LogicalResult
  matchAndRewrite(Operation *op, ArrayRef<Value> operands,
                  ConversionPatternRewriter &rewriter) const override {
    if (!OpTrait::hasElementwiseMappableTraits(op) || op->getNumRegions() != 0)
      return rewriter.notifyMatchFailure(op, "expected an elementwise op");
    SmallVector<Type> types;
    if (failed(getTypeConverter()->convertTypes(op->getResultTypes(), types)))
      return failure();
    OperationState state(op->getLoc(), op->getName(), operands, types,
                         op->getAttrs());
    rewriter.replaceOp(op, rewriter.create(state));
    return success();
  }
};

struct LowerConstant final : OpConversionPattern<arith::ConstantOp> {
  using OpConversionPattern::OpConversionPattern;

  LogicalResult
  matchAndRewrite(arith::ConstantOp op, OpAdaptor adaptor,
                  ConversionPatternRewriter &rewriter) const override {
    auto attr = dyn_cast<DenseElementsAttr>(op.getValue());
    auto type =
        dyn_cast<VectorType>(getTypeConverter()->convertType(op.getType()));
    if (!attr || !attr.isSplat() || !type)
      return rewriter.notifyMatchFailure(op, "expected a splat");
    rewriter.replaceOpWithNewOp<arith::ConstantOp>(op, attr.resizeSplat(type));
    return success();
  }
};

struct LowerBroadcast final : OpConversionPattern<vector::BroadcastOp> {
  using OpConversionPattern::OpConversionPattern;

  LogicalResult
  matchAndRewrite(vector::BroadcastOp op, OpAdaptor adaptor,
                  ConversionPatternRewriter &rewriter) const override {
    if (isa<VectorType>(op.getSourceType()))
      return rewriter.notifyMatchFailure(op, "expected a scalar");
    rewriter.replaceOpWithNewOp<vector::BroadcastOp>(
        op, getTypeConverter()->convertType(op.getType()), op.getSource());
    return success();
  }
};

} // namespace

void blockscale::populateVectorToFragmentsPatterns(
    const TypeConverter &converter, RewritePatternSet &patterns, Value lane) {
  MLIRContext *context = patterns.getContext();
  patterns.add<LowerMmaScaled, LowerTransferRead, LowerTransferWrite>(
      converter, context, lane);
  patterns.add<LowerElementwise, LowerConstant, LowerBroadcast>(converter,
                                                                context);
}
