//===- PairMultiply.cpp - mma.sync of 16-bit elements ---------------------===//
//
// Part of the blockscale project, under the Apache License v2.0 with LLVM
// Exceptions. See LICENSE for license information.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//
//
// The instruction of the path dequant_mma, and products of operands that need
// no dequantization.
//
//===----------------------------------------------------------------------===//

#include "Fragments/PairMultiply.h"

#include "Fragments/FragmentLoads.h"
#include "Fragments/LanePatterns.h"
#include "Fragments/WarpMultiply.h"
#include "Utils/LaneOps.h"
#include "mlir/Dialect/LLVMIR/NVVMDialect.h"

using namespace mlir;
using namespace mlir::blockscale;

static SmallVector<Value> extractSums(OpBuilder &b, Location loc, Value sums,
                                      size_t count) {
  SmallVector<Value> values;
  for (size_t i = 0; i != count; ++i)
    values.push_back(LLVM::ExtractValueOp::create(b, loc, sums, i));
  return values;
}

SmallVector<Value> blockscale::multiplyPairs(OpBuilder &b, Location loc,
                                             Type element, ValueRange a,
                                             ValueRange other, ValueRange c) {
  auto type = LLVM::LLVMStructType::getLiteral(
      b.getContext(), SmallVector<Type>(c.size(), b.getF32Type()));
  using Types = std::array<NVVM::MMATypes, 2>;
  using Layouts = std::array<NVVM::MMALayout, 2>;
  bool isHalf = element.isF16();
  SmallVector<Value> aWords(a), bWords(other);
  if (isHalf)
    for (SmallVector<Value> *words : {&aWords, &bWords})
      for (Value &word : *words)
        word =
            LLVM::BitcastOp::create(b, loc, VectorType::get(2, element), word);
  NVVM::MMATypes both = isHalf ? NVVM::MMATypes::f16 : NVVM::MMATypes::bf16;
  Value sums = NVVM::MmaOp::create(
      b, loc, type, aWords, bWords, c, ArrayRef<int64_t>{16, 8, 16},
      std::nullopt, std::nullopt, Types{both, both},
      Layouts{NVVM::MMALayout::row, NVVM::MMALayout::col});
  return extractSums(b, loc, sums, c.size());
}

SmallVector<Value> blockscale::multiplySparsePairs(OpBuilder &b, Location loc,
                                                   ValueRange a,
                                                   ValueRange other,
                                                   ValueRange c, Value metadata,
                                                   unsigned selector) {
  auto type = LLVM::LLVMStructType::getLiteral(
      b.getContext(), SmallVector<Type>(c.size(), b.getF32Type()));
  constexpr auto kBoth = NVVM::MMATypes::bf16;
  Value lanes = LLVM::ConstantOp::create(b, loc, b.getI32Type(),
                                         static_cast<int64_t>(selector));
  auto sums = NVVM::MmaSpOp::create(
      b, loc, type, a, other, c, metadata, lanes, ArrayRef<int64_t>{16, 8, 32},
      std::nullopt, std::array<NVVM::MMATypes, 2>{kBoth, kBoth});
  // The driver takes it away for old PTX versions.
  sums.setOrderedMetadata(true);
  return extractSums(b, loc, sums, c.size());
}

/// The registers of one step of A, and behind them those of B.
static SmallVector<Value> loadRegisters(OpBuilder &builder, Location loc,
                                        FragmentLoader &a, FragmentLoader &b,
                                        int64_t step) {
  SmallVector<Value> registers;
  for (FragmentLoader *loader : {&a, &b})
    for (Value tile : loader->loadStep(step))
      llvm::append_range(registers, extractElements(builder, loc, tile));
  return registers;
}

/// Adds the products of one step to `sums`; `registers` are those of
/// loadRegisters.
static void multiplyRegisters(OpBuilder &b, Location loc,
                              InstructionAttr instruction, const WarpTile &tile,
                              ValueRange registers,
                              MutableArrayRef<Value> sums) {
  Type element = b.getBF16Type();
  if (instruction.getA() == Format::F16)
    element = b.getF16Type();
  constexpr unsigned kBits = 16;
  const FragmentLayout &a = getFragmentLayout(Operand::A, kBits),
                       &other = getFragmentLayout(Operand::B, kBits);
  int64_t rows = tile.m / a.rows, columns = tile.n / other.rows;
  ValueRange bRegisters = registers.drop_front(rows * a.registers);
  for (int64_t m = 0; m != rows; ++m)
    for (int64_t n = 0; n != columns; ++n) {
      SmallVector<int64_t, 4> at = getTileElements(tile, m, n);
      SmallVector<Value> c =
          llvm::map_to_vector(at, [&](int64_t i) { return sums[i]; });
      SmallVector<Value> products = multiplyPairs(
          b, loc, element, registers.slice(m * a.registers, a.registers),
          bRegisters.slice(n * other.registers, other.registers), c);
      for (auto [i, sum] : llvm::zip_equal(at, products))
        sums[i] = sum;
    }
}

namespace {
class UnscaledMultiply final : public WarpMultiply {
public:
  /// The fragments of the next step are loaded before the instructions of a
  /// step, which hide the latency.
  SmallVector<Value> emitTile(OpBuilder &builder, TileMmaOp op,
                              const WarpTile &tile, ValueRange acc,
                              Value lane) const override {
    Location loc = op.getLoc();
    FragmentLoader a(builder, op, Operand::A, lane, tile.firstRow, tile.m);
    FragmentLoader b(builder, op, Operand::B, lane, tile.firstColumn, tile.n);
    SmallVector<Value> sums(acc);
    int64_t steps = op.getNumK() / op.getInstruction().getK();
    SmallVector<Value> next = loadRegisters(builder, loc, a, b, 0);
    for (int64_t step = 0; step != steps; ++step) {
      SmallVector<Value> registers = std::move(next);
      if (step + 1 != steps)
        next = loadRegisters(builder, loc, a, b, step + 1);
      multiplyRegisters(builder, loc, op.getInstruction(), tile, registers,
                        sums);
    }
    return sums;
  }

  SmallVector<Value> emitVectors(OpBuilder &, const WarpProduct &,
                                 const OperandFragments &,
                                 const OperandFragments &, const WarpTile &,
                                 ValueRange) const override {
    llvm_unreachable("products of vectors have scales");
  }
};
} // namespace

const WarpMultiply &blockscale::getUnscaledMultiply() {
  static const UnscaledMultiply multiply;
  return multiply;
}

static FailureOr<LaneResults> lowerLoadFragments(LoadFragmentsOp op,
                                                 LaneOperands<LoadFragmentsOp>,
                                                 Value lane,
                                                 ConversionPatternRewriter &b) {
  WarpTile tile = getWarpTile(b, op.getLoc(), op.getAccType());
  FragmentLoader x(b, op, Operand::A, lane, tile.firstRow, tile.m);
  FragmentLoader y(b, op, Operand::B, lane, tile.firstColumn, tile.n);
  return LaneResults{
      loadRegisters(b, op.getLoc(), x, y, static_cast<int64_t>(op.getStep()))};
}

static FailureOr<LaneResults>
lowerFragmentsMma(FragmentsMmaOp op, LaneOperands<FragmentsMmaOp> operands,
                  Value, ConversionPatternRewriter &b) {
  WarpTile tile = getWarpTile(b, op.getLoc(), op.getAcc().getType());
  SmallVector<Value> sums(operands.getAcc());
  multiplyRegisters(b, op.getLoc(), op.getInstruction(), tile,
                    operands.getFragments(), sums);
  return LaneResults{sums};
}

void blockscale::populateFragmentsPatterns(const TypeConverter &converter,
                                           RewritePatternSet &patterns,
                                           Value lane) {
  addLanePatterns(converter, patterns, lane, lowerLoadFragments,
                  lowerFragmentsMma);
}
