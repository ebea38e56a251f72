//===- WgmmaSparseInputChooser.cpp - Schedules with a sparse x ------------===//
//
// Part of the blockscale project, under the Apache License v2.0 with LLVM
// Exceptions. See LICENSE for license information.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//
//
// Tiles for a sparse x that is dequantized in registers. With few columns, four
// warpgroups share 64 rows and split K. With more, two have 64 rows each, or
// split K where there are few rows.
//
//===----------------------------------------------------------------------===//

#include "Kernels/Gemm/Mma/Wgmma/MixedInputPlan.h"
#include "Kernels/Gemm/Problem/OpSizes.h"
#include "Kernels/Gemm/Schedule/ProductBounds.h"
#include "Kernels/Gemm/Schedule/WgmmaChooser.h"
#include "Utils/OperandView.h"
#include "blockscale/Dialect/Transforms/Transforms.h"
#include "blockscale/Support/TensorMemory.h"
#include "blockscale/Support/TunedRows.h"
#include "llvm/Support/MathExtras.h"

using namespace mlir;
using namespace mlir::blockscale;

namespace {
class SparseInputChooser final : public WgmmaChooser {
public:
  ScheduleInterface choose(ScheduledProduct product) const override;
  SmallVector<ScheduleInterface>
  getCandidates(ScheduledProduct product) const override;
  void explain(ScheduledProduct product, ScheduleInterface given, bool,
               raw_ostream &os) const override;

private:
  LogicalResult verifyKernel(ScheduledProduct product,
                             WarpSpecializedScheduleAttr schedule,
                             EmitErrorFn emitError) const override;
};

/// Rows of x and of y in a tile, for up to so many columns of the result, and
/// what it costs for each of its results, relative to the largest tile.
struct SparseTile {
  int64_t mostN, m, n;
  double cost;
};
} // namespace

/// N of 0 is that of the result. Costs are estimates: they follow from the
/// bytes that a tile reads for each product.
static constexpr SparseTile kTiles[] = {
    {64, 64, 0, 1.0},
    {256, 128, 0, 1.0},
    {256, 64, 0, 1.1},
    {INT64_MAX, 128, 256, 1.0},
    {INT64_MAX, 128, 128, 1.15},
    {INT64_MAX, 64, 256, 1.1},
};

static unsigned getKDim(MmaScaledOp::Side side, Value operand) {
  return MmaScaledOp::getKDim(side,
                              cast<ShapedType>(operand.getType()).getRank());
}

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

static int64_t countTiles(const OpSizes &sizes, int64_t m, int64_t n) {
  return sizes.batch * llvm::divideCeilSigned(sizes.m, m) *
         llvm::divideCeilSigned(sizes.n, n);
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
  int64_t tiles = countTiles(sizes, m, n);
  while (mayDivide && tiles * splitK * 2 <= getSms(chip) &&
         sizes.k >= splitK * 2 * kLeastSteps * slices * sliceK)
    splitK *= 2;
  const Instruction &instruction =
      *chooseInstruction(types, Path::Wgmma)->emitted;
  auto fits = [&](int64_t stages) {
    return makeMixedInputPlan(instruction, make(slices * sliceK, stages), types,
                              sizes.k)
               .getSharedBytes() <= getMostStageBytes(chip);
  };
  int64_t stages = kMostStages;
  while (stages > 1 && !fits(stages))
    --stages;
  WarpSpecializedScheduleAttr schedule = make(slices * sliceK, stages);
  bool isWhole = sizes.k % getMixedInputUnit(types, sizes.k == 0) == 0;
  return isWhole && sizes.k >= splitK * schedule.getK() && fits(stages) &&
                 getSlicePartialBytes(schedule) <=
                     makeMixedInputPlan(instruction, schedule, types, sizes.k)
                         .getSharedBytes()
             ? schedule
             : WarpSpecializedScheduleAttr();
}

/// The schedule of the tile that takes the least time over all waves of tiles;
/// null if none fits.
static WarpSpecializedScheduleAttr
chooseTile(ProductOpInterface op, const Chip &chip, bool hasWorkspace) {
  constexpr int64_t kColumns = 8;
  if (!hasWorkspace || !hasStaticShapes(op) || !findObstacle(op).empty())
    return {};
  OpSizes sizes = getOpSizes(op, /*dynamicSize=*/0);
  WarpSpecializedScheduleAttr best;
  double least = 0;
  int64_t mostN = 0;
  for (const SparseTile &tile : kTiles) {
    // Only the rows for the fewest columns.
    if (sizes.n > tile.mostN || (mostN && tile.mostN != mostN))
      continue;
    mostN = tile.mostN;
    int64_t n = tile.n ? tile.n : llvm::alignTo(sizes.n, kColumns);
    WarpSpecializedScheduleAttr schedule =
        fitTile(op, chip, tile.m, n, hasWorkspace);
    if (!schedule)
      continue;
    int64_t rounds = llvm::divideCeilSigned(
        countTiles(sizes, tile.m, n) * schedule.getSplitK(), getSms(chip));
    double time = static_cast<double>(rounds * tile.m * n) * tile.cost /
                  static_cast<double>(schedule.getSplitK());
    if (best && time >= least)
      continue;
    best = schedule;
    least = time;
  }
  return best;
}

bool blockscale::isSparseInputBest(ProductOpInterface op, const Chip &chip,
                                   bool hasWorkspace) {
  // A kernel in front reads y one by one if it is not contiguous along K.
  constexpr int64_t kFewValues = int64_t(1) << 20;
  OpSizes sizes = getOpSizes(op, /*dynamicSize=*/0);
  if (!chooseTile(op, chip, hasWorkspace) ||
      sizes.m < getTunedLimits(chip.capability).leastColumns)
    return false;
  bool isContiguous = traceOperand(op.getY()).map.getResults().back() ==
                      getAffineDimExpr(getKDim(MmaScaledOp::Side::Y, op.getY()),
                                       op->getContext());
  return isContiguous || sizes.batch * sizes.n * sizes.k <= kFewValues;
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
  // Each warpgroup reads its rows of A, and all of B.
  tile.readsOfX = 1;
  tile.readsOfY = WgmmaShares(schedule).groups;
  tile.isYDequantized = true;
  printProductBounds(os, product, tile);
}

const KernelChooser &blockscale::getWgmmaSparseInputChooser() {
  static const SparseInputChooser chooser;
  return chooser;
}
