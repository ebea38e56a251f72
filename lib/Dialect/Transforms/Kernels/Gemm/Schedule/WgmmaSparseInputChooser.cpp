//===- WgmmaSparseInputChooser.cpp - Schedules with a sparse x ------------===//
//
// Part of the blockscale project, under the Apache License v2.0 with LLVM
// Exceptions. See LICENSE for license information.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//
//
// Tiles for a sparse x that is dequantized in registers, by the table of what
// was measured (blockscale/Support/TunedRows.h).
//
//===----------------------------------------------------------------------===//

#include "Kernels/Gemm/Mma/Wgmma/MixedInputPlan.h"
#include "Kernels/Gemm/Problem/OpSizes.h"
#include "Kernels/Gemm/Schedule/ProductBounds.h"
#include "Kernels/Gemm/Schedule/WgmmaChooser.h"
#include "Kernels/Gemm/Schedule/WgmmaInRegisters.h"
#include "Utils/OperandView.h"
#include "blockscale/Dialect/Transforms/Transforms.h"
#include "blockscale/Support/TensorMemory.h"
#include "blockscale/Support/TunedRows.h"
#include "llvm/Support/MathExtras.h"

#include <cmath>
#include <limits>

using namespace mlir;
using namespace mlir::blockscale;

namespace {
class SparseInputChooser final : public WgmmaChooser {
public:
  ScheduleInterface choose(ScheduledProduct product) const override;
  SmallVector<AlternativeAttr>
  getAlternatives(ScheduledProduct product) const override {
    return getSparseInputAlternatives(product.op, product.chip,
                                      product.hasWorkspace);
  }
  SmallVector<ScheduleInterface>
  getCandidates(ScheduledProduct product) const override;
  void explain(ScheduledProduct product, ScheduleInterface given, bool,
               raw_ostream &os) const override;

private:
  LogicalResult verifyKernel(ScheduledProduct product,
                             WarpSpecializedScheduleAttr schedule,
                             EmitErrorFn emitError) const override;
};
} // namespace

static BlockArgument findArgument(MmaScaledOp::Side side, Value operand,
                                  bool &isStream) {
  auto type = cast<ShapedType>(operand.getType());
  return findContiguousArgument(
      operand,
      AffineMap::getMultiDimIdentityMap(type.getRank(), operand.getContext()),
      getKDim(side, operand), isStream);
}

/// Why the mainloop cannot dequantize x of `op` in registers; empty if it can.
static std::string findObstacle(ProductOpInterface op) {
  constexpr int64_t kMostBlocks = 8;
  constexpr unsigned kByteBits = 8, kNibbleBits = 4;
  if (!op.getMetadata())
    return "a sparse x";
  TypeCombination types = op.getTypes();
  const FormatInfo &info = getFormatInfo(types.lhs);
  bool isStream = false;
  if (!findArgument(MmaScaledOp::Side::X, op.getX(), isStream))
    return "an x that is an argument, and contiguous along K";
  bool isPairs = types.sparsity == Granularity::Pairs;
  if ((info.bits != kNibbleBits && (isStream || isPairs)) ||
      (info.storedBits() != kByteBits && info.storedBits() != kNibbleBits))
    return isPairs ? "elements of x in nibbles"
                   : "elements of x in bytes, or in nibbles";
  if (getMixedInputChunk(types) > kMostBlocks * types.blockSize)
    return "blocks of at least " +
           std::to_string(getMixedInputChunk(types) / kMostBlocks);
  return {};
}

/// The schedule with a tile of `m` rows of x and `n` of y that fits the sizes
/// and the chip; null if none does. `mayDivide` allows split-K.
static WarpSpecializedScheduleAttr fitTile(ProductOpInterface op,
                                           const Chip &chip, int64_t m,
                                           int64_t n, bool mayDivide) {
  constexpr int64_t kMostStages = 6, kLeastSteps = 16;
  OpSizes sizes = getOpSizes(op, /*dynamicSize=*/0);
  TypeCombination types = op.getTypes();
  int64_t splitK = 1, sliceK = getMixedInputChunk(types);
  auto make = [&](int64_t k, int64_t stages) {
    return WarpSpecializedScheduleAttr::get(
        op->getContext(), {m, n, k}, stages, /*accumulators=*/1,
        /*persistent=*/false, kTileGroup, /*swapAb=*/false, splitK,
        ClusterSize(), KernelKind::SparseInput);
  };
  int64_t slices = WgmmaShares(make(sliceK, 1)).slicesOfK;
  // Few tiles leave SMs idle: use split-K.
  uint64_t tiles = countTiles(sizes, m, n);
  while (mayDivide &&
         llvm::SaturatingMultiply<uint64_t>(tiles, splitK * 2) <=
             static_cast<uint64_t>(getSms(chip)) &&
         sizes.k >= splitK * 2 * kLeastSteps * slices * sliceK)
    splitK *= 2;
  auto schedule = fitStages(op, chip, types, kMostStages, [&](int64_t stages) {
    return make(slices * sliceK, stages);
  });
  if (!schedule)
    return {};
  bool isWhole = sizes.k % getMixedInputUnit(types, sizes.k == 0) == 0;
  bool hasRanges = sizes.k == 0 || sizes.k >= splitK * schedule.getK();
  return isWhole && hasRanges ? schedule : WarpSpecializedScheduleAttr();
}

/// The schedule of the measured tile that takes the least time over all waves
/// of tiles; null if none fits.
static WarpSpecializedScheduleAttr
chooseTile(ProductOpInterface op, const Chip &chip, bool hasWorkspace) {
  constexpr int64_t kColumns = 8;
  if (!hasWorkspace || !hasStaticShapes(op) || !findObstacle(op).empty())
    return {};
  OpSizes sizes = getOpSizes(op, /*dynamicSize=*/0);
  unsigned bits = getFormatInfo(op.getTypes().lhs).storedBits();
  WarpSpecializedScheduleAttr best;
  double least = 0;
  std::optional<int64_t> mostColumns;
  for (const TunedSparseTile &tile : getTunedSparseTiles(chip.capability)) {
    // Only the tiles for the fewest columns.
    if (tile.bits != bits || sizes.n > tile.mostColumns ||
        tile.mostColumns > mostColumns.value_or(tile.mostColumns))
      continue;
    mostColumns = tile.mostColumns;
    int64_t m = tile.rowsOfX,
            n = std::min<int64_t>(tile.rowsOfY,
                                  llvm::alignTo(sizes.n, kColumns));
    WarpSpecializedScheduleAttr schedule =
        fitTile(op, chip, m, n, hasWorkspace);
    if (!schedule)
      continue;
    auto splitK = static_cast<uint64_t>(schedule.getSplitK());
    uint64_t rounds = llvm::divideCeil(
        llvm::SaturatingMultiply(countTiles(sizes, m, n), splitK),
        static_cast<uint64_t>(getSms(chip)));
    double time = static_cast<double>(rounds) * static_cast<double>(m * n) *
                  tile.cost / static_cast<double>(splitK);
    if (best && time >= least)
      continue;
    best = schedule;
    least = time;
  }
  return best;
}

/// Otherwise, a kernel in front reads y one by one.
static bool isYContiguous(ProductOpInterface op) {
  return traceOperand(op.getY()).map.getResults().back() ==
         getAffineDimExpr(getKDim(MmaScaledOp::Side::Y, op.getY()),
                          op->getContext());
}

bool blockscale::isSparseInputBest(ProductOpInterface op, const Chip &chip,
                                   bool hasWorkspace) {
  constexpr int64_t kFewValues = int64_t(1) << 20;
  OpSizes sizes = getOpSizes(op, /*dynamicSize=*/0);
  if (!chooseTile(op, chip, hasWorkspace) ||
      sizes.m < getTunedLimits(chip.capability).leastColumns)
    return false;
  return isYContiguous(op) || sizes.batch * sizes.n * sizes.k <= kFewValues;
}

SmallVector<AlternativeAttr>
blockscale::getSparseInputAlternatives(ProductOpInterface op, const Chip &chip,
                                       bool hasWorkspace) {
  // Of few columns, there is one for each of two widths. The numbers of split-K
  // ranges, and costs in 1/1000.
  constexpr int64_t kNarrow = 4, kFewRanges = 16, kCostUnit = 1000;
  // Sizes in a launch info have 31 bits.
  constexpr int64_t kMostColumns = std::numeric_limits<int32_t>::max();
  OpSizes sizes = getOpSizes(op, /*dynamicSize=*/0);
  bool areTooFew =
      sizes.m != 0 && sizes.m < getTunedLimits(chip.capability).leastColumns;
  std::optional<Path> path = chip.findPath(Dequantization::InFront);
  if (!path || !hasWorkspace || hasStaticShapes(op) || areTooFew ||
      !findObstacle(op).empty() || !isYContiguous(op))
    return {};
  unsigned bits = getFormatInfo(op.getTypes().lhs).storedBits();
  bool hasBatch = cast<ShapedType>(op.getAcc().getType()).getRank() == 3;
  auto instruction = InstructionAttr::get(
      op->getContext(), *chooseInstruction(op.getTypes(), *path)->emitted);
  SmallVector<AlternativeAttr> alternatives;
  auto add = [&](int64_t mostColumns, int64_t rows, int64_t columns,
                 int64_t mostRanges, int64_t cost) {
    if (WarpSpecializedScheduleAttr schedule =
            fitTile(op, chip, rows, columns, /*mayDivide=*/false);
        schedule && sizes.n <= mostColumns)
      alternatives.push_back(AlternativeAttr::get(op->getContext(), mostColumns,
                                                  hasBatch ? 1 : mostRanges,
                                                  cost, instruction, schedule));
  };
  for (const TunedSparseTile &tile : getTunedSparseTiles(chip.capability)) {
    if (tile.bits != bits)
      continue;
    if (tile.mostColumns > kMostColumns) {
      add(kMostColumns, tile.rowsOfX, tile.rowsOfY, /*mostRanges=*/1,
          static_cast<int64_t>(std::lround(tile.cost * kCostUnit)));
      continue;
    }
    for (int64_t columns : {tile.rowsOfY / kNarrow, tile.rowsOfY})
      add(columns, tile.rowsOfX, columns, kFewRanges, /*cost=*/0);
  }
  return alternatives;
}

ScheduleInterface SparseInputChooser::choose(ScheduledProduct product) const {
  return chooseTile(product.op, product.chip, product.hasWorkspace);
}

SmallVector<ScheduleInterface>
SparseInputChooser::getCandidates(ScheduledProduct product) const {
  constexpr int64_t kColumns = 8, kMostColumns = 256;
  SmallVector<ScheduleInterface> candidates;
  ProductOpInterface op = product.op;
  if (!product.hasWorkspace || !hasStaticShapes(op) ||
      !findObstacle(op).empty())
    return candidates;
  int64_t n = llvm::alignTo(getOpSizes(op, /*dynamicSize=*/0).n, kColumns);
  SmallVector<int64_t> widths = {n};
  if (n > kMostColumns)
    widths = {kMostColumns / 2, kMostColumns};
  for (int64_t columns : widths)
    for (int64_t rows : {64, 128})
      for (bool mayDivide : {false, true})
        if (WarpSpecializedScheduleAttr schedule =
                fitTile(op, product.chip, rows, columns, mayDivide);
            schedule && !llvm::is_contained(candidates, schedule))
          candidates.push_back(schedule);
  return candidates;
}

LogicalResult
SparseInputChooser::verifyKernel(ScheduledProduct product,
                                 WarpSpecializedScheduleAttr schedule,
                                 EmitErrorFn emitError) const {
  if (std::string obstacle = findObstacle(product.op); !obstacle.empty())
    return emitError() << "expected " << obstacle << ", for the kernel "
                       << stringifyKernelKind(schedule.getKernel()) << ", got "
                       << schedule;
  return verifyInRegisters(product, schedule, product.op.getTypes(), emitError);
}

void SparseInputChooser::explain(ScheduledProduct product,
                                 ScheduleInterface given, bool,
                                 raw_ostream &os) const {
  auto schedule = cast<WarpSpecializedScheduleAttr>(given);
  ProductTile tile = {schedule.getM(), schedule.getN(), schedule.getK(),
                      schedule.getSplitK()};
  // Each warpgroup reads its rows of A, and all of B in its share of K.
  WgmmaShares shares(schedule);
  tile.readsOfX = 1;
  tile.readsOfY = shares.groups / shares.slicesOfK;
  tile.isYDequantized = true;
  printProductBounds(os, product, tile);
}

const KernelChooser &blockscale::getWgmmaSparseInputChooser() {
  static const SparseInputChooser chooser;
  return chooser;
}
