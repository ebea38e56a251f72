//===- WgmmaMixedInputChooser.cpp - Schedules of mixed input and GEMV -----===//
//
// Part of the blockscale project, under the Apache License v2.0 with LLVM
// Exceptions. See LICENSE for license information.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//
//
// What decides between the dense, the mixed-input and the GEMV kernel on
// sm_90a: `choose` offers a schedule of the kernels that dequantize in
// registers if y is quantized in a layout that they can read, if a tile fits
// shared memory and the workspace, and if the table of measured rows
// (blockscale/Support/TunedRows.h) says that they are faster than the dense
// kernel at this M. Otherwise the path goes on to the dense kernel, if it is
// the best path at all (isWgmmaBest in WgmmaChooser.cpp).
//
//===----------------------------------------------------------------------===//

#include "Kernels/Gemm/Mma/Wgmma/MixedInputPlan.h"
#include "Kernels/Gemm/Problem/KnownMultiples.h"
#include "Kernels/Gemm/Problem/OpSizes.h"
#include "Kernels/Gemm/Problem/QuantizedB.h"
#include "Kernels/Gemm/Schedule/ProductBounds.h"
#include "Kernels/Gemm/Schedule/WgmmaChooser.h"
#include "Kernels/Gemm/Schedule/WgmmaInRegisters.h"
#include "Utils/OperandView.h"
#include "blockscale/Dialect/Transforms/Transforms.h"
#include "blockscale/Support/TensorMemory.h"
#include "blockscale/Support/TunedRows.h"
#include "mlir/Dialect/Func/IR/FuncOps.h"
#include "llvm/Support/FormatVariadic.h"
#include "llvm/Support/MathExtras.h"

using namespace mlir;
using namespace mlir::blockscale;

namespace {
/// Both kernels have the same limits, but for N of the tile.
class MixedInputChooser : public WgmmaChooser {
public:
  ScheduleInterface choose(ScheduledProduct product) const override;
  SmallVector<AlternativeAttr>
  getAlternatives(ScheduledProduct product) const override;
  SmallVector<ScheduleInterface>
  getCandidates(ScheduledProduct product) const override;
  void explain(ScheduledProduct product, ScheduleInterface given, bool,
               raw_ostream &os) const override;
  std::optional<TunedTile> getTunedTile(ScheduledProduct product,
                                        ScheduleInterface given) const override;

protected:
  LogicalResult verifyKernel(ScheduledProduct product,
                             WarpSpecializedScheduleAttr schedule,
                             EmitErrorFn emitError) const override;
};

class GemvChooser final : public MixedInputChooser {
public:
  ScheduleInterface choose(ScheduledProduct product) const override {
    return chooseGemvSchedule(product.op, product.chip, product.hasWorkspace);
  }
  SmallVector<AlternativeAttr>
  getAlternatives(ScheduledProduct) const override {
    return {};
  }
  SmallVector<ScheduleInterface>
  getCandidates(ScheduledProduct product) const override;
};
} // namespace

std::string blockscale::findMixedInputObstacle(ProductOpInterface op) {
  std::optional<QuantizedB> y = findQuantizedB(op);
  if (op.getMetadata())
    return "a dense x";
  if (!y)
    return "a product with scales, or one with a y that a dequantize makes";
  bool isStream = false;
  BlockArgument argument = findContiguousArgument(
      y->elements, y->map, getKDim(MmaScaledOp::Side::Y, op.getY()), isStream);
  if (isStream && getFormatInfo(y->types.rhs).bits == 6)
    return "elements of y in bytes, or in nibbles";
  if (!argument)
    return "a y that is an argument, and contiguous along K";
  return {};
}

/// Why, beside that, blocks cannot expand a quantized row x themselves (GEMV).
static std::string findGemvObstacle(ProductOpInterface op) {
  TypeCombination types = op.getTypes();
  if (!hasStaticShapes(op))
    return "static sizes";
  if (getOpSizes(op, /*dynamicSize=*/0).m != 1)
    return "one row of x";
  if (types.lhs != Format::E2M1 || types.rhs != Format::E2M1)
    return "operands of e2m1";
  bool isStream = false;
  Value x = op.getX();
  unsigned k = getKDim(MmaScaledOp::Side::X, x);
  if (!findContiguousArgument(
          x, AffineMap::getMultiDimIdentityMap(k + 1, op->getContext()), k,
          isStream))
    return "an x that is an argument, and contiguous along K";
  return {};
}

/// How many tiles of `rows` of y and `columns` of x there are.
static uint64_t countMixedInputTiles(const OpSizes &sizes, int64_t rows,
                                     int64_t columns) {
  return countTiles(sizes, columns, rows);
}

/// The measured tile that takes the least time for all waves of tiles; nullopt
/// if there is none for elements of so many bits.
static std::optional<TunedWideTile>
chooseWideTile(const OpSizes &sizes, unsigned bits, const Chip &chip) {
  std::optional<TunedWideTile> best;
  double least = 0;
  for (const TunedWideTile &tile : getTunedWideTiles(chip.capability)) {
    if (tile.bits != bits)
      continue;
    uint64_t rounds = llvm::divideCeil(
        countMixedInputTiles(sizes, tile.rowsOfY, tile.rowsOfX),
        static_cast<uint64_t>(getSms(chip)));
    double time = static_cast<double>(rounds) *
                  static_cast<double>(tile.rowsOfY * tile.rowsOfX) * tile.cost;
    if (best && time >= least)
      continue;
    best = tile;
    least = time;
  }
  return best;
}

/// The schedule with `tile` and so many rows of x that fits the sizes and the
/// chip; null if none does. `mayDivide` allows split-K.
static WarpSpecializedScheduleAttr
fitTile(ProductOpInterface op, const Chip &chip, const TunedTile &tile,
        int64_t columns, bool mayDivide, int64_t blocksPerSm = 1) {
  constexpr int64_t kLeastSteps = 32, kMostOfStep = 128;
  OpSizes sizes = getOpSizes(op, /*dynamicSize=*/0);
  TypeCombination types = findQuantizedB(op)->types;
  int64_t splitK = tile.splitK;
  auto make = [&](int64_t k, int64_t stages) {
    return WarpSpecializedScheduleAttr::get(
        op->getContext(), {tile.rowsOfY, columns, k}, stages,
        /*accumulators=*/1, /*persistent=*/false, kTileGroup,
        /*swapAb=*/true, splitK, ClusterSize(),
        columns == 1 ? KernelKind::Gemv : KernelKind::MixedInput, blocksPerSm);
  };
  int64_t chunk = getMixedInputChunk(types), sliceK = std::max(tile.k, chunk);
  int64_t slices = WgmmaShares(make(sliceK, 1)).slicesOfK;
  // A K of half chunks has a ragged slice of any size; of others, it may have a
  // small part of K behind the operands.
  auto isRagged = [&] {
    constexpr int64_t kMostShare = 16;
    int64_t over = llvm::alignTo(sizes.k, sliceK) - sizes.k;
    return sizes.k % chunk == 0 && over * kMostShare > sizes.k;
  };
  while (sliceK > chunk &&
         (isRagged() || (sizes.k != 0 && sizes.k < splitK * slices * sliceK)))
    sliceK /= 2;
  // Few tiles leave SMs idle: use split-K.
  uint64_t tiles = countMixedInputTiles(sizes, tile.rowsOfY, columns);
  auto sms = static_cast<uint64_t>(getSms(chip));
  while (mayDivide &&
         llvm::SaturatingMultiply<uint64_t>(tiles, splitK * 2) <= sms &&
         sizes.k >= splitK * 2 * kLeastSteps * std::min(sliceK, kMostOfStep))
    splitK *= 2;
  auto schedule = fitStages(op, chip, types, tile.stages, [&](int64_t stages) {
    return make(slices * sliceK, stages);
  });
  if (!schedule)
    return {};
  bool hasRanges = sizes.k == 0 || sizes.k >= splitK * schedule.getK();
  int64_t unit = columns == 1 ? sliceK : getMixedInputUnit(types, sizes.k == 0);
  return sizes.k % unit == 0 && hasRanges ? schedule
                                          : WarpSpecializedScheduleAttr();
}

namespace {
/// A schedule for groups of rows, which have at most `mostRows` rows on
/// average.
struct GroupSchedule {
  int64_t mostRows;
  WarpSpecializedScheduleAttr schedule;
};
} // namespace

/// By ascending rows; none if the kernel does not take `op`.
static SmallVector<GroupSchedule>
getGroupSchedules(ProductOpInterface op, const Chip &chip, bool hasWorkspace) {
  SmallVector<GroupSchedule> schedules;
  if (!hasWorkspace || !findMixedInputObstacle(op).empty())
    return schedules;
  unsigned bits = getFormatInfo(findQuantizedB(op)->types.rhs).storedBits();
  for (const TunedGroupTile &row : getTunedGroupTiles(chip.capability)) {
    if (bits < row.leastBits || bits > row.mostBits)
      continue;
    TunedTile tile = {};
    tile.rowsOfY = row.rowsOfY;
    tile.k = row.k;
    tile.stages = row.stages;
    tile.splitK = 1;
    if (auto schedule = fitTile(op, chip, tile, row.rowsOfX,
                                /*mayDivide=*/false, row.blocksPerSm))
      schedules.push_back({row.mostRows, schedule});
  }
  return schedules;
}

/// For numbers of rows and groups that are known only at the launch.
static SmallVector<AlternativeAttr>
getGroupAlternatives(ScheduledProduct product) {
  ProductOpInterface op = product.op;
  OpSizes sizes = getOpSizes(op, /*dynamicSize=*/0);
  std::optional<InstructionChoice> choice = chooseInstruction(op, Path::Wgmma);
  if (sizes.m != 0 || !choice)
    return {};
  auto instruction = InstructionAttr::get(op->getContext(), *choice->emitted);
  SmallVector<AlternativeAttr> alternatives;
  for (const GroupSchedule &each :
       getGroupSchedules(op, product.chip, product.hasWorkspace))
    alternatives.push_back(AlternativeAttr::get(op->getContext(), each.mostRows,
                                                /*most_ranges=*/1, /*cost=*/0,
                                                instruction, each.schedule));
  return alternatives;
}

/// For a known number of rows; null if there is none.
static WarpSpecializedScheduleAttr
chooseGroupSchedule(ScheduledProduct product) {
  OpSizes sizes = getOpSizes(product.op, /*dynamicSize=*/0);
  if (sizes.m == 0)
    return {};
  for (const GroupSchedule &each :
       getGroupSchedules(product.op, product.chip, product.hasWorkspace))
    if (sizes.m <= each.mostRows)
      return each.schedule;
  return {};
}

std::string blockscale::describeMixedInputSizes(const Chip &chip) {
  TunedLimits limits = getTunedLimits(chip.capability);
  return llvm::formatv(
             "a workspace, at most {0} rows, at least {1} columns (of "
             "more than {2} rows, 2^30 products) and a known K with rows of "
             "y of a multiple of 16 bytes",
             limits.mostRows, limits.leastColumns,
             getTunedTiles(chip.capability, Path::Wgmma).back().mostM)
      .str();
}

/// Whether the dense kernel, for sizes without an alternative, needs a copy of
/// x, since nothing is known of its rows. All sizes would need it.
static bool needsCopyOfX(ProductOpInterface op) {
  constexpr int64_t kRowElements = 8; // 16 bytes
  Value x = op.getX();
  return !op.getXScale() && getKnownMultiple(traceOperand(x).tensor,
                                             getKDim(MmaScaledOp::Side::X, x)) %
                                    kRowElements !=
                                0;
}

SmallVector<AlternativeAttr>
blockscale::getMixedInputAlternatives(ProductOpInterface op, const Chip &chip,
                                      bool hasWorkspace) {
  if (!hasWorkspace || hasStaticShapes(op) ||
      !findMixedInputObstacle(op).empty())
    return {};
  OpSizes sizes = getOpSizes(op, /*dynamicSize=*/0);
  TypeCombination types = findQuantizedB(op)->types;
  bool areTooFew =
      sizes.n != 0 && sizes.n < getTunedLimits(chip.capability).leastColumns;
  if (areTooFew || needsCopyOfX(op) ||
      sizes.k % getMixedInputUnit(types, sizes.k == 0) != 0)
    return {};
  unsigned bits = getFormatInfo(types.rhs).storedBits();
  bool hasBatch = cast<ShapedType>(op.getAcc().getType()).getRank() == 3;
  auto instruction = InstructionAttr::get(
      op->getContext(), *chooseInstruction(op, Path::Wgmma)->emitted);
  SmallVector<AlternativeAttr> alternatives;
  auto add = [&](int64_t mostRows, const TunedTile &tile, int64_t columns,
                 int64_t mostRanges, int64_t cost) {
    if (WarpSpecializedScheduleAttr schedule =
            fitTile(op, chip, tile, columns, /*mayDivide=*/false))
      alternatives.push_back(AlternativeAttr::get(op->getContext(), mostRows,
                                                  hasBatch ? 1 : mostRanges,
                                                  cost, instruction, schedule));
  };
  for (const TunedRowRange &range : getTunedRowRanges(chip.capability)) {
    if (bits < range.leastBits || bits > range.mostBits ||
        sizes.m > range.mostRows)
      continue;
    TunedTile tile = {};
    tile.rowsOfY = range.rowsOfY;
    tile.k = range.k;
    tile.stages = range.stages;
    tile.splitK = 1;
    add(range.mostRows, tile, range.rowsOfX, range.mostRanges, range.cost);
  }
  return alternatives;
}

/// Whether M and N are in the range of the measured tiles.
static bool hasTunedSizes(const OpSizes &sizes, const Chip &chip) {
  TunedLimits limits = getTunedLimits(chip.capability);
  return sizes.n >= limits.leastColumns && sizes.m <= limits.mostRows;
}

WarpSpecializedScheduleAttr
blockscale::chooseGemvSchedule(ProductOpInterface op, const Chip &chip,
                               bool hasWorkspace) {
  if (!findMixedInputObstacle(op).empty() || !findGemvObstacle(op).empty() ||
      !hasTunedSizes(getOpSizes(op, /*dynamicSize=*/0), chip))
    return {};
  for (const TunedTile &tile : getTunedTiles(chip.capability, Path::Wgmma))
    if (WarpSpecializedScheduleAttr schedule =
            tile.rowsOfX == 1
                ? fitTile(op, chip, tile, /*columns=*/1, hasWorkspace)
                : WarpSpecializedScheduleAttr();
        schedule && schedule.getStages() == tile.stages &&
        (hasWorkspace || schedule.getSplitK() == 1))
      return schedule;
  return {};
}

WarpSpecializedScheduleAttr
blockscale::chooseMixedInputSchedule(ProductOpInterface op, const Chip &chip,
                                     bool hasWorkspace) {
  constexpr int64_t kColumns = 8;
  if (!hasWorkspace || !hasStaticShapes(op) ||
      !findMixedInputObstacle(op).empty())
    return {};
  OpSizes sizes = getOpSizes(op, /*dynamicSize=*/0);
  unsigned bits = getFormatInfo(findQuantizedB(op)->types.rhs).storedBits();
  TunedLimits limits = getTunedLimits(chip.capability);
  std::vector<TunedTile> tiles = getTunedTiles(chip.capability, Path::Wgmma);
  if (!hasTunedSizes(sizes, chip))
    return {};
  // A tile is measured with as many ranges as leave no SM idle.
  auto isOneRound = [&](const TunedTile &row) {
    uint64_t count = countMixedInputTiles(sizes, row.rowsOfY, sizes.m);
    return llvm::SaturatingMultiply<uint64_t>(count, row.splitK) <=
           static_cast<uint64_t>(getSms(chip));
  };
  auto narrow = llvm::find_if(tiles, [&](const TunedTile &row) {
    return row.rowsOfX == 0 && sizes.m <= row.mostM && bits >= row.leastBits &&
           (row.splitK == 1 || isOneRound(row));
  });
  if (narrow != tiles.end())
    return fitTile(op, chip, *narrow, llvm::alignTo(sizes.m, kColumns),
                   hasWorkspace);
  std::optional<TunedWideTile> wide = chooseWideTile(sizes, bits, chip);
  uint64_t products = sizes.batch;
  for (int64_t size : {sizes.m, sizes.n, sizes.k})
    products = llvm::SaturatingMultiply<uint64_t>(products, size);
  bool isSmall = sizes.m > tiles.back().mostM &&
                 products < static_cast<uint64_t>(limits.leastProducts);
  if (!wide || isSmall)
    return {};
  TunedTile tile = {};
  tile.rowsOfY = wide->rowsOfY;
  tile.k = wide->k;
  tile.stages = wide->stages;
  tile.splitK = 1;
  return fitTile(op, chip, tile, wide->rowsOfX, hasWorkspace);
}

ScheduleInterface MixedInputChooser::choose(ScheduledProduct product) const {
  if (product.op.getRowGroups())
    return chooseGroupSchedule(product);
  return chooseMixedInputSchedule(product.op, product.chip,
                                  product.hasWorkspace);
}

SmallVector<AlternativeAttr>
MixedInputChooser::getAlternatives(ScheduledProduct product) const {
  if (product.op.getRowGroups())
    return getGroupAlternatives(product);
  return getMixedInputAlternatives(product.op, product.chip,
                                   product.hasWorkspace);
}

LogicalResult
MixedInputChooser::verifyKernel(ScheduledProduct product,
                                WarpSpecializedScheduleAttr schedule,
                                EmitErrorFn emitError) const {
  StringRef kernel = stringifyKernelKind(schedule.getKernel());
  if (std::string obstacle = findMixedInputObstacle(product.op);
      !obstacle.empty())
    return emitError() << "expected " << obstacle << ", for the kernel "
                       << kernel << ", got " << schedule;
  if (std::string obstacle = findGemvObstacle(product.op);
      schedule.getKernel() == KernelKind::Gemv && !obstacle.empty())
    return emitError() << "expected " << obstacle << ", for the kernel "
                       << kernel << ", got " << schedule;
  return verifyInRegisters(product, schedule, findQuantizedB(product.op)->types,
                           emitError);
}

/// Schedules with tiles of so many rows of x.
static void addCandidates(ProductOpInterface op, int64_t columns,
                          KernelKind kernel,
                          SmallVectorImpl<ScheduleInterface> &candidates) {
  int64_t chunk = getMixedInputChunk(findQuantizedB(op)->types);
  for (int64_t rows : {64, 128})
    for (int64_t chunks : {1, 2, 4})
      for (int64_t stages : {2, 3, 4})
        for (int64_t splitK : {1, 2}) {
          auto make = [&](int64_t k) {
            return WarpSpecializedScheduleAttr::get(
                op->getContext(), {rows, columns, k}, stages,
                /*accumulators=*/1, /*persistent=*/false, kTileGroup,
                /*swapAb=*/true, splitK, ClusterSize(), kernel);
          };
          candidates.push_back(
              make(WgmmaShares(make(chunk)).slicesOfK * chunks * chunk));
        }
}

SmallVector<ScheduleInterface>
MixedInputChooser::getCandidates(ScheduledProduct product) const {
  constexpr int64_t kColumns = 8;
  SmallVector<ScheduleInterface> candidates;
  int64_t rowsOfX =
      llvm::alignTo(getOpSizes(product.op, /*dynamicSize=*/0).m, kColumns);
  if (!product.hasWorkspace || !findQuantizedB(product.op) || rowsOfX == 0)
    return candidates;
  SmallVector<int64_t> widths = {rowsOfX};
  if (rowsOfX > kMostN)
    widths = {kMostN / 2, kMostN};
  for (int64_t columns : widths)
    addCandidates(product.op, columns, KernelKind::MixedInput, candidates);
  return candidates;
}

SmallVector<ScheduleInterface>
GemvChooser::getCandidates(ScheduledProduct product) const {
  SmallVector<ScheduleInterface> candidates;
  if (product.hasWorkspace && findQuantizedB(product.op) &&
      findGemvObstacle(product.op).empty())
    addCandidates(product.op, /*columns=*/1, KernelKind::Gemv, candidates);
  return candidates;
}

void MixedInputChooser::explain(ScheduledProduct product,
                                ScheduleInterface given, bool,
                                raw_ostream &os) const {
  auto schedule = cast<WarpSpecializedScheduleAttr>(given);
  // Swap-AB: M of the tile is columns of the result.
  ProductTile tile = {schedule.getN(), schedule.getM(), schedule.getK(),
                      schedule.getSplitK()};
  // Each warpgroup reads its rows of A, and all of B in its share of K.
  WgmmaShares shares(schedule);
  tile.readsOfX = shares.groups / shares.slicesOfK;
  tile.readsOfY = 1;
  // A kernel in front dequantizes or permutes x.
  tile.isXDequantized = true;
  tile.types = findQuantizedB(product.op)->types;
  printProductBounds(os, product, tile);
}

/// The table has only results whose rows fit into one tile.
std::optional<TunedTile>
MixedInputChooser::getTunedTile(ScheduledProduct product,
                                ScheduleInterface given) const {
  constexpr int64_t kColumns = 8;
  auto schedule = cast<WarpSpecializedScheduleAttr>(given);
  int64_t m = getOpSizes(product.op, /*dynamicSize=*/0).m;
  bool isGemv = schedule.getKernel() == KernelKind::Gemv;
  if (!isGemv && schedule.getN() != int64_t(llvm::alignTo(m, kColumns)))
    return std::nullopt;
  unsigned bits =
      getFormatInfo(findQuantizedB(product.op)->types.rhs).storedBits();
  return TunedTile{product.chip.capability,
                   Path::Wgmma,
                   m,
                   bits,
                   schedule.getM(),
                   isGemv ? 1 : 0,
                   schedule.getK() / WgmmaShares(schedule).slicesOfK,
                   /*warps=*/0,
                   schedule.getStages(),
                   schedule.getSplitK(),
                   /*blocks=*/0,
                   /*card=*/{},
                   /*benchmark=*/{}};
}

const KernelChooser &blockscale::getWgmmaMixedInputChooser() {
  static const MixedInputChooser chooser;
  return chooser;
}

const KernelChooser &blockscale::getWgmmaGemvChooser() {
  static const GemvChooser chooser;
  return chooser;
}
