//===- WarpgroupProducts.cpp - Products with wgmma ------------------------===//
//
// Part of the blockscale project, under the Apache License v2.0 with LLVM
// Exceptions. See LICENSE for license information.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//
//
// wgmma has each accumulator register of a lane as an operand. The code
// generator does not know that they are written asynchronously. Therefore each
// instruction, and each wait, is emitted as reading and writing all of them.
//
//===----------------------------------------------------------------------===//

#include "Fragments/WarpgroupProducts.h"

#include "Fragments/FragmentEmitter.h"
#include "Fragments/LanePatterns.h"
#include "Utils/IndexValues.h"
#include "mlir/Dialect/Arith/IR/Arith.h"
#include "mlir/Dialect/GPU/IR/GPUDialect.h"
#include "mlir/Dialect/LLVMIR/LLVMDialect.h"
#include "mlir/Dialect/LLVMIR/NVVMDialect.h"
#include "mlir/IR/Matchers.h"

using namespace mlir;
using namespace mlir::blockscale;

/// The rows of an accumulator in a warpgroup.
static constexpr int64_t kWarpgroupRows = 64;

SmallVector<Value> blockscale::emitOnSums(OpBuilder &b, Location loc,
                                          const std::string &text,
                                          ValueRange sums, ValueRange others) {
  MLIRContext *context = b.getContext();
  std::string constraints;
  for (size_t i = 0; i != sums.size(); ++i)
    constraints += "=f,";
  for (Value other : others)
    constraints += other.getType().isInteger(32) ? "r," : "l,";
  for (size_t i = 0; i != sums.size(); ++i)
    constraints += std::to_string(i) + ",";
  constraints += "~{memory}";
  SmallVector<Value> operands(others);
  llvm::append_range(operands, sums);
  auto type = LLVM::LLVMStructType::getLiteral(
      context, SmallVector<Type>(sums.size(), b.getF32Type()));
  Value all = LLVM::InlineAsmOp::create(
                  b, loc, type, operands, text, constraints,
                  /*has_side_effects=*/true, /*is_align_stack=*/false,
                  LLVM::TailCallKind::None,
                  LLVM::AsmDialectAttr::get(context, LLVM::AsmDialect::AD_ATT),
                  /*operand_attrs=*/ArrayAttr())
                  .getResult(0);
  SmallVector<Value> results;
  for (size_t i = 0; i != sums.size(); ++i)
    results.push_back(
        LLVM::ExtractValueOp::create(b, loc, all, static_cast<int64_t>(i)));
  return results;
}

std::string blockscale::getProductText(InstructionAttr row, size_t numSums,
                                       bool isAInRegisters,
                                       StringRef transposes, unsigned selector,
                                       std::optional<size_t> scaleD) {
  auto name = [](Format format) {
    return "." + std::string(getFormatInfo(format).ptxName);
  };
  std::string test = scaleD ? "setp.ne.u32 p, $" + std::to_string(*scaleD)
                            : "setp.eq.u32 p, 0";
  std::string text = "{.reg .pred p; " + test + ", 0; wgmma.mma_async" +
                     std::string(row.isSparse() ? ".sp" : "") +
                     ".sync.aligned.m" + std::to_string(row.getM()) + "n" +
                     std::to_string(row.getN()) + "k" +
                     std::to_string(row.getK()) + ".f32" + name(row.getA()) +
                     name(row.getB()) + " {";
  size_t operand = 0;
  auto addOperands = [&](size_t count) {
    for (size_t i = 0; i != count; ++i)
      text += (i == 0 ? "$" : ", $") + std::to_string(operand++);
  };
  addOperands(numSums);
  text += isAInRegisters ? "}, {" : "}, ";
  addOperands(isAInRegisters ? kRegistersOfA : 1);
  text += isAInRegisters ? "}, " : ", ";
  addOperands(1);
  if (row.isSparse()) {
    text += ", ";
    addOperands(1);
    text += ", " + std::to_string(selector);
  }
  // Without negation of operands.
  return (Twine(text) + ", p, 1, 1" + transposes + ";}").str();
}

static int64_t getElementBytes(InstructionAttr instruction) {
  return getFormatInfo(instruction.getA()).bits / 8;
}

/// The text of one instruction; with `hasScaleD`, the operand behind both
/// descriptors is its scale-d.
static std::string getText(WarpgroupMmaOp op, size_t numSums, bool hasScaleD) {
  InstructionAttr instruction = op.getInstruction();
  auto transpose = [&](TileLayoutAttr layout) -> std::string {
    // Only instructions of 16-bit elements transpose.
    if (getElementBytes(instruction) == 1)
      return "";
    return layout.getMajor() == Major::MN ? ", 1" : ", 0";
  };
  constexpr size_t kDescriptors = 2;
  return getProductText(instruction, numSums, /*isAInRegisters=*/false,
                        transpose(op.getALayout()) + transpose(op.getBLayout()),
                        /*selector=*/0,
                        hasScaleD ? std::optional(numSums + kDescriptors)
                                  : std::nullopt);
}

int64_t blockscale::getStepOffset(MemRefType tile, TileLayoutAttr layout,
                                  int64_t step, int64_t k,
                                  int64_t elementBytes) {
  ArrayRef<int64_t> shape = tile.getShape();
  int64_t rows = shape[tile.getRank() - 2], rowBytes = shape.back();
  if (layout.getMajor() == Major::MN)
    return step * k * rowBytes;
  int64_t first = step * k * elementBytes;
  return first / rowBytes * rows * rowBytes + first % rowBytes;
}

/// The bytes of `tile` from the rows of one warpgroup to those of the next one.
static int64_t getGroupBytes(MemRefType tile, TileLayoutAttr layout,
                             int64_t groups) {
  ArrayRef<int64_t> shape = tile.getShape();
  // Rows of the operand are swizzle rows of each column; or they are along
  // swizzle rows, and continue in the next column.
  int64_t bytes = layout.getMajor() == Major::MN
                      ? tile.getNumElements()
                      : shape[tile.getRank() - 2] * shape.back();
  return bytes / groups;
}

/// `warpgroup` is the number of the warpgroup of this thread.
static LaneResults lowerWarpgroupMma(WarpgroupMmaOp op,
                                     LaneOperands<WarpgroupMmaOp> operands,
                                     Value warpgroup,
                                     ConversionPatternRewriter &b) {
  Location loc = op.getLoc();
  AccType type = op.getAcc().getType();
  // Elements are in the order of accumulators: registers of fragments.
  const FragmentLayout &fragment = getAccFragment();
  WarpTile tile = {fragment.rows, type.getN(), {}, {}, 1, 1};
  SmallVector<unsigned> order;
  for (int64_t n = 0; n != type.getN() / fragment.columns; ++n)
    for (auto at : getTileElements(tile, 0, n))
      order.push_back(static_cast<unsigned>(at));
  ValueRange elements = operands.getAcc();
  SmallVector<Value> sums;
  for (unsigned at : order)
    sums.push_back(elements[at]);

  // Rows of a warpgroup follow those of the previous one.
  MemRefType a = op.getA().getType();
  int64_t groups = type.getM() / kWarpgroupRows;
  Value first;
  if (groups != 1)
    first = applyExpr(b, loc,
                      b.getAffineDimExpr(0) *
                          getGroupBytes(a, op.getALayout(), groups),
                      warpgroup);
  auto describe = [&](Value memory, TileLayoutAttr layout, Value start,
                      int64_t step) -> Value {
    int64_t bytes = getStepOffset(cast<MemRefType>(memory.getType()), layout,
                                  step, op.getInstruction().getK(),
                                  getElementBytes(op.getInstruction()));
    Value offset = start ? addIndex(b, loc, start, bytes)
                         : arith::ConstantIndexOp::create(b, loc, bytes);
    return MatrixDescriptorOp::create(b, loc, memory, offset, layout,
                                      /*wgmma=*/true);
  };
  Value scaleD;
  if (op.getScaleD())
    scaleD = arith::ExtUIOp::create(b, loc, b.getI32Type(), op.getScaleD());
  // Nothing has to set what is always replaced.
  if (scaleD && matchPattern(op.getScaleD(), m_Zero()))
    for (Value &sum : sums)
      sum = LLVM::UndefOp::create(b, loc, b.getF32Type());
  // Writes to the accumulator registers must stay before the first wgmma.
  sums = emitOnSums(b, loc, "wgmma.fence.sync.aligned;", sums, {});
  for (int64_t step = 0; step != op.getNumSteps(); ++step) {
    SmallVector<Value> operands = {
        describe(op.getA(), op.getALayout(), first, step),
        describe(op.getB(), op.getBLayout(), Value(), step)};
    bool hasScaleD = scaleD && step == 0;
    if (hasScaleD)
      operands.push_back(scaleD);
    sums =
        emitOnSums(b, loc, getText(op, sums.size(), hasScaleD), sums, operands);
  }
  NVVM::WgmmaGroupSyncAlignedOp::create(b, loc);
  SmallVector<Value> results(elements.size());
  for (auto [at, sum] : llvm::zip_equal(order, sums))
    results[at] = sum;
  return LaneResults{results};
}

namespace {
/// Not a lane, but a warpgroup is what the op depends on.
struct WarpgroupMmaPattern final : OpConversionPattern<WarpgroupMmaOp> {
  WarpgroupMmaPattern(const TypeConverter &converter, MLIRContext *context,
                      Value warpgroup)
      : OpConversionPattern(converter, context), warpgroup(warpgroup) {}

  LogicalResult
  matchAndRewrite(WarpgroupMmaOp op, OneToNOpAdaptor operands,
                  ConversionPatternRewriter &rewriter) const override {
    rewriter.replaceOpWithMultiple(
        op, lowerWarpgroupMma(op, operands, warpgroup, rewriter));
    return success();
  }

  Value warpgroup;
};
} // namespace

static FailureOr<LaneResults>
lowerWarpgroupWait(WarpgroupWaitOp op, LaneOperands<WarpgroupWaitOp> operands,
                   Value, ConversionPatternRewriter &b) {
  SmallVector<Value> sums;
  for (ValueRange of : operands.getAccs())
    llvm::append_range(sums, of);
  sums = emitOnSums(b, op.getLoc(),
                    "wgmma.wait_group.sync.aligned " +
                        std::to_string(op.getPending()) + ";",
                    sums, {});
  LaneResults results;
  ArrayRef<Value> left = sums;
  for (ValueRange of : operands.getAccs()) {
    results.emplace_back(left.take_front(of.size()));
    left = left.drop_front(of.size());
  }
  return results;
}

void blockscale::populateWarpgroupPatterns(const TypeConverter &converter,
                                           RewritePatternSet &patterns,
                                           Value lane, Value warpgroup) {
  if (warpgroup)
    patterns.add<WarpgroupMmaPattern>(converter, patterns.getContext(),
                                      warpgroup);
  addLanePatterns(converter, patterns, lane, lowerWarpgroupWait);
  populateWarpgroupMixedPatterns(converter, patterns, lane);
  populateWarpgroupGemvPatterns(converter, patterns, lane);
}
