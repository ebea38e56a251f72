//===- DequantizeMultiply.cpp - The multiply of the path dequant_mma ------===//
//
// Part of the blockscale project, under the Apache License v2.0 with LLVM
// Exceptions. See LICENSE for license information.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//
//
// The operands of a product of the path dequant_mma: tiles in shared memory, or
// vectors that lanes hold.
//
//===----------------------------------------------------------------------===//

#include "Fragments/Dequantize/DequantizeEmitter.h"
#include "Fragments/FragmentLoads.h"

using namespace mlir;
using namespace mlir::blockscale;

namespace {
class DequantizeMultiply final : public WarpMultiply {
public:
  SmallVector<Value> emitTile(OpBuilder &b, TileMmaOp op, const WarpTile &tile,
                              ValueRange acc, Value lane) const override {
    WarpProduct product = {op.getLoc(), op.getTypes().getCombination(),
                           op.getInstruction(), lane};
    int64_t k = op.getNumK();
    Rounding rounding = {b.getBF16Type(), op.getTensorScale()};
    bool isMixedInput =
        getFormatInfo(product.types.lhs).use == FormatUse::HighPrecision;
    if (product.types.lhs == Format::F16)
      rounding.type = b.getF16Type();
    auto makeOperand = [&](Operand operand) -> DequantizedOperand {
      bool isA = operand == Operand::A;
      Value first = isA ? tile.firstRow : tile.firstColumn;
      int64_t rows = isA ? tile.m : tile.n;
      auto groups = static_cast<unsigned>(rows / kGroupRows);
      if (isA && isMixedInput)
        return {[&b, op, lane, first] {
                  return makeHighPrecisionTile(b, op, lane, first);
                },
                std::nullopt, groups};
      FragmentLoader loader(b, op, operand, lane, first, rows);
      SmallVector<SmallVector<Value>> words;
      int64_t count =
          llvm::divideCeilSigned(k, product.types.blockSize * kScalesPerWord);
      for (int64_t word = 0; word != count; ++word)
        words.push_back(loader.loadWords(word));
      bool isUniform =
          !isa<MemRefType>((isA ? op.getAScale() : op.getBScale()).getType());
      DequantizeScales scales(b, op.getLoc(), product, operand,
                              isA ? tile.interleaveM : tile.interleaveN, k,
                              std::move(words), isUniform);
      auto makePairs = [&b, op, operand, lane, first, rows] {
        return makeTileElements(b, op, operand, lane, first, rows);
      };
      return {makePairs, std::move(scales), groups};
    };
    auto warps = cast<WarpsAttr>(
        Attribute(cast<AccType>(op.getAcc().getType()).getLayout()));
    int64_t numThreads = warps.getNumWarps() * int64_t(kWarpLanes);
    DequantizedOperand x = makeOperand(Operand::A), y = makeOperand(Operand::B);
    DequantizeEmitter emitter(b, product, tile, k, std::move(x), std::move(y),
                              makeTileScan(b, op, numThreads), rounding);
    if (op.getMetadata())
      emitter.setMetadata(*op.getInstruction().getSparsity(), [&] {
        return std::make_unique<SparseWords>(b, op, tile, lane);
      });
    return emitter.emitProduct(acc);
  }

  SmallVector<Value> emitVectors(OpBuilder &b, const WarpProduct &product,
                                 const OperandFragments &x,
                                 const OperandFragments &y,
                                 const WarpTile &tile,
                                 ValueRange acc) const override {
    Kind kind = product.instruction.getKind();
    int64_t k = x.getNumSteps() * product.instruction.getK();
    auto makeOperand =
        [&](Operand operand,
            const OperandFragments &fragments) -> DequantizedOperand {
      Format format =
          operand == Operand::A ? product.types.lhs : product.types.rhs;
      SmallVector<SmallVector<Value>> words;
      for (size_t i = 0; i != fragments.scaleWords.front().size(); ++i)
        words.push_back(fragments.getWords(i));
      DequantizeScales scales(b, product.loc, product, operand,
                              /*interleave=*/1, k, std::move(words),
                              /*isUniform=*/false);
      auto makePairs = [&b, &product, &fragments, operand, format, kind] {
        return makeFragmentElements(b, product.loc, fragments, operand, format,
                                    kind, product.lane);
      };
      unsigned groups =
          fragments.registers.size() * (operand == Operand::A ? kGroupsOfA : 1);
      return {makePairs, std::move(scales), groups};
    };
    DequantizedOperand a = makeOperand(Operand::A, x);
    DequantizedOperand other = makeOperand(Operand::B, y);
    return DequantizeEmitter(
               b, product, tile, k, std::move(a), std::move(other),
               makeFragmentScan(b, product.loc, product.types, x, y),
               {b.getBF16Type(), Value()})
        .emitProduct(acc);
  }
};
} // namespace

const WarpMultiply &blockscale::getDequantizeMultiply() {
  static const DequantizeMultiply multiply;
  return multiply;
}
