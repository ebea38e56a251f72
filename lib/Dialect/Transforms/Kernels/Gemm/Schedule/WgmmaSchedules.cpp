//===- WgmmaSchedules.cpp - Schedules of the path wgmma -------------------===//
//
// Part of the blockscale project, under the Apache License v2.0 with LLVM
// Exceptions. See LICENSE for license information.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//
//
// Which tiles a warpgroup can have, and which of them a product gets.

//===----------------------------------------------------------------------===//

#include "Kernels/Gemm/Mainloop/WarpSpecialized/SharedMemoryPlan.h"
#include "Kernels/Gemm/Mma/Wgmma/MixedInput/MixedInputRoles.h"
#include "Kernels/Gemm/Mma/Wgmma/WgmmaBackend.h"
#include "Kernels/Gemm/Problem/OpSizes.h"
#include "Kernels/Gemm/Problem/QuantizedB.h"
#include "Kernels/Gemm/Schedule/ProductBounds.h"
#include "Kernels/Gemm/Schedule/WarpSpecializedSchedules.h"
#include "Utils/OperandView.h"
#include "blockscale/Dialect/Transforms/Transforms.h"
#include "blockscale/Support/Rates.h"
#include "blockscale/Support/TensorMemory.h"
#include "blockscale/Support/TunedRows.h"
#include "mlir/Dialect/Func/IR/FuncOps.h"
#include "llvm/Support/FormatVariadic.h"
#include "llvm/Support/MathExtras.h"

using namespace mlir;
using namespace mlir::blockscale;

namespace {
class WgmmaScheduleRules final : public WarpSpecializedScheduleRules {
public:
  ScheduleInterface choose(ProductOpInterface op, InstructionAttr instruction,
                           const Chip &chip, bool hasWorkspace) const override;
  SmallVector<ScheduleInterface>
  getCandidates(ProductOpInterface op, InstructionAttr instruction,
                const Chip &chip, bool hasWorkspace) const override;
  LogicalResult verify(ProductOpInterface op, InstructionAttr instruction,
                       ScheduleInterface schedule, const Chip &chip,
                       EmitErrorFn emitError) const override;
  void explain(ProductOpInterface op, InstructionAttr instruction,
               ScheduleInterface given, const Chip &chip, bool,
               raw_ostream &os) const override;
  std::optional<TunedTile> getTunedTile(ProductOpInterface op,
                                        ScheduleInterface given,
                                        const Chip &chip) const override;
};
} // namespace

/// Sums in the registers of a thread.
static int64_t getSums(WarpSpecializedScheduleAttr schedule) {
  WgmmaShares shares(schedule);
  return schedule.getM() * schedule.getN() /
         (shares.getWarps() * int64_t(kWarpLanes));
}

/// Most of them: four warpgroups have 112 registers for each thread, three 160,
/// fewer 240.
static int64_t getMostSums(WarpSpecializedScheduleAttr schedule) {
  constexpr int64_t kMost[] = {128, 128, 96, 32};
  return kMost[WgmmaShares(schedule).groups - 1];
}

static std::string findRowObstacle(ProductOpInterface op);

/// Elements along K of a box of codes of y.
static int64_t getBoxElements(const TypeCombination &types) {
  constexpr int64_t kByteBits = 8;
  return kCodeBoxBytes * kByteBits / getFormatInfo(types.rhs).storedBits();
}

/// What `schedule` has to be for codes of `y` that are converted on the way.
static LogicalResult verifyCodes(ProductOpInterface op,
                                 const Instruction &instruction,
                                 WarpSpecializedScheduleAttr schedule,
                                 const Chip &chip,
                                 ScheduleRules::EmitErrorFn emitError) {
  if (std::string obstacle = findMixedInputObstacle(op); !obstacle.empty())
    return emitError() << "expected " << obstacle
                       << ", for a schedule with swapped operands on the "
                          "path wgmma, got "
                       << schedule;
  if (std::string obstacle = findRowObstacle(op);
      schedule.getN() == 1 && !obstacle.empty())
    return emitError() << "expected " << obstacle
                       << ", for a schedule with 1 as N of the tile, got "
                       << schedule;
  TypeCombination types = findQuantizedB(op)->types;
  WgmmaShares shares(schedule);
  bool isShared =
      shares.partsOfK * schedule.getM() == shares.groups * kWarpgroupRows;
  // Barriers of more do not fit beside stages.
  constexpr int64_t kMostStages = 8;
  if (schedule.getStages() > kMostStages)
    return emitError() << "expected at most " << kMostStages
                       << " stages for swapped operands on the path wgmma, "
                          "got "
                       << schedule;
  if (!isShared || schedule.getPersistent() ||
      schedule.getAccumulators() != 1 || schedule.getCluster() != ClusterSize())
    return emitError()
           << "expected M of the tile to be 64, 128 or 256, one accumulator, "
              "blocks that are not persistent, and no cluster, for swapped "
              "operands on the path wgmma, got "
           << schedule;
  int64_t box = getBoxElements(types);
  int64_t k = getOpSizes(op, /*dynamicSize=*/0).k;
  SharedMemoryPlan plan = makeMixedInputPlan(instruction, schedule, types, k);
  if (plan.getPartK() % box != 0 || k % plan.getPartK() != 0)
    return emitError() << "expected K of the tile to be " << shares.partsOfK
                       << " parts of a multiple of " << box
                       << ", of which K has whole ones, got " << schedule;
  int64_t bytes = std::max(plan.getSharedBytes(), getSumBytes(schedule));
  if (bytes > getMostStageBytes(chip) ||
      getSumBytes(schedule) > plan.getSharedBytes())
    return emitError() << "expected a schedule whose stages have "
                       << getSumBytes(schedule) << " to "
                       << getMostStageBytes(chip)
                       << " bytes of shared memory on " << StringRef(chip.name)
                       << ", got " << schedule << ", with "
                       << plan.getSharedBytes();
  return success();
}

LogicalResult WgmmaScheduleRules::verify(ProductOpInterface op,
                                         InstructionAttr attr,
                                         ScheduleInterface given,
                                         const Chip &chip,
                                         EmitErrorFn emitError) const {
  auto schedule = cast<WarpSpecializedScheduleAttr>(given);
  if (schedule.getTwoCta() || schedule.getInstructionK() != 0)
    return emitError()
           << "expected no pairs of blocks and no K of instructions "
              "on the path wgmma, got "
           << given;
  if (schedule.getSwapAb()) {
    if (failed(verifyCodes(op, attr.getInstruction(), schedule, chip,
                           emitError)) ||
        failed(verifyParts(op, {schedule.getSplitK(), schedule.getK()},
                           schedule, emitError)))
      return failure();
  } else if (failed(verifyStages(op, attr, schedule, chip, emitError))) {
    return failure();
  }
  if (schedule.getAccumulators() != 1)
    return emitError() << "expected one accumulator on the path wgmma, got "
                       << given;
  // Each block loads whole groups of the lines that a copy swizzles.
  ClusterSize cluster = schedule.getCluster();
  if (int64_t lines = kSwizzledLines * cluster.m;
      !schedule.getSwapAb() && schedule.getN() % lines != 0)
    return emitError() << "expected N of the tile to be a multiple of " << lines
                       << " for a cluster of " << cluster.m
                       << " blocks along M, got " << given;
  if (getSums(schedule) > getMostSums(schedule))
    return emitError() << "expected a schedule with at most "
                       << getMostSums(schedule) << " sums in each thread, got "
                       << given << ", which has " << getSums(schedule);
  return success();
}

/// The argument that `codes` are, contiguous along dimension `k` of an operand
/// whose indices `map` leads to theirs; null if it is none. `isStream` says
/// whether they are packed.
static BlockArgument findLines(Value codes, AffineMap map, unsigned k,
                               bool &isStream) {
  OperandView view = traceOperand(codes);
  auto unpack = view.tensor.getDefiningOp<UnpackOp>();
  if (unpack)
    view.tensor = unpack.getSource();
  auto argument = dyn_cast<BlockArgument>(getReshaped(view.tensor));
  auto function = dyn_cast_or_null<func::FuncOp>(
      argument ? argument.getOwner()->getParentOp() : nullptr);
  isStream = unpack || (function && function.getArgAttr(argument.getArgNumber(),
                                                        kPackedAttrName));
  bool isLine = view.map.compose(map).getResults().back() ==
                getAffineDimExpr(k, map.getContext());
  return function && isLine ? argument : BlockArgument();
}

static unsigned getKDim(MmaScaledOp::Side side, Value operand) {
  return MmaScaledOp::getKDim(side,
                              cast<ShapedType>(operand.getType()).getRank());
}

std::string blockscale::findMixedInputObstacle(ProductOpInterface op) {
  std::optional<QuantizedB> y = findQuantizedB(op);
  if (!y || y->tensorScale || op.getTypes().rhs == Format::F16)
    return "a product with scales, or one of bf16 with a y that a dequantize "
           "without a scale of the tensor makes";
  if (!hasStaticShapes(op))
    return "static sizes";
  bool isStream = false;
  BlockArgument argument = findLines(
      y->codes, y->map, getKDim(MmaScaledOp::Side::Y, op.getY()), isStream);
  if (isStream && getFormatInfo(y->types.rhs).bits == 6)
    return "codes of y in bytes, or in nibbles";
  if (!argument)
    return "a y that is an argument, and contiguous along K";
  return {};
}

/// What keeps codes of x from being spread by each block, beside that.
static std::string findRowObstacle(ProductOpInterface op) {
  TypeCombination types = op.getTypes();
  if (getOpSizes(op, /*dynamicSize=*/0).m != 1)
    return "one types of x";
  if (types.lhs != Format::E2M1 || types.rhs != Format::E2M1)
    return "operands of e2m1";
  bool isStream = false;
  Value x = op.getX();
  unsigned k = getKDim(MmaScaledOp::Side::X, x);
  if (!findLines(x, AffineMap::getMultiDimIdentityMap(k + 1, op->getContext()),
                 k, isStream))
    return "an x that is an argument, and contiguous along K";
  return {};
}

/// How many `chip` has; 1 where that is not known.
static int64_t getSms(const Chip &chip) {
  auto rate = findRate(chip.capability, &ChipRates::sms);
  return rate ? static_cast<int64_t>(rate->value) : 1;
}

/// How many tiles of `rows` of y and `columns` of x there are.
static uint64_t countMixedInputTiles(const OpSizes &sizes, int64_t rows,
                                     int64_t columns) {
  return llvm::SaturatingMultiply<uint64_t>(
      sizes.batch, llvm::SaturatingMultiply<uint64_t>(
                       llvm::divideCeilSigned(sizes.n, rows),
                       llvm::divideCeilSigned(sizes.m, columns)));
}

/// The tile that takes the least time for all rounds of the SMs;
/// nullopt if there is none for codes of so many bits.
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
/// chip; null if none does. Only with `mayDivide`, K has more parts than those
/// of the tile.
static WarpSpecializedScheduleAttr fitTile(ProductOpInterface op,
                                           const Chip &chip,
                                           const TunedTile &tile,
                                           int64_t columns, bool mayDivide) {
  constexpr int64_t kLeastSteps = 32, kMostOfStep = 128;
  OpSizes sizes = getOpSizes(op, /*dynamicSize=*/0);
  TypeCombination types = findQuantizedB(op)->types;
  int64_t splitK = tile.splitK;
  auto make = [&](int64_t k, int64_t stages) {
    return WarpSpecializedScheduleAttr::get(
        op->getContext(), {tile.rowsOfY, columns, k}, stages,
        /*accumulators=*/1, /*persistent=*/false, kTileGroup,
        /*swapAb=*/true, splitK, ClusterSize());
  };
  int64_t box = getBoxElements(types), partK = std::max(tile.k, box);
  int64_t parts = WgmmaShares(make(partK, 1)).partsOfK;
  while (partK > box &&
         (sizes.k % partK != 0 || sizes.k < splitK * parts * partK))
    partK /= 2;
  // Few tiles leave SMs idle.
  uint64_t tiles = countMixedInputTiles(sizes, tile.rowsOfY, columns);
  auto sms = static_cast<uint64_t>(getSms(chip));
  while (mayDivide &&
         llvm::SaturatingMultiply<uint64_t>(tiles, splitK * 2) <= sms &&
         sizes.k >= splitK * 2 * kLeastSteps * std::min(partK, kMostOfStep))
    splitK *= 2;
  const Instruction &instruction =
      *chooseInstruction(op.getTypes(), Path::Wgmma)->emitted;
  auto isThereRoom = [&](int64_t stages) {
    return makeMixedInputPlan(instruction, make(parts * partK, stages), types,
                              sizes.k)
               .getSharedBytes() <= getMostStageBytes(chip);
  };
  int64_t stages = tile.stages;
  while (stages > 1 && !isThereRoom(stages))
    --stages;
  WarpSpecializedScheduleAttr schedule = make(parts * partK, stages);
  bool hasParts = sizes.k >= splitK * schedule.getK();
  return sizes.k % partK == 0 && hasParts && isThereRoom(stages)
             ? schedule
             : WarpSpecializedScheduleAttr();
}

std::string blockscale::describeMixedInputSizes(const Chip &chip) {
  TunedLimits limits = getTunedLimits(chip.capability);
  return llvm::formatv(
             "a workspace, at most {0} rows, at least {1} columns (of "
             "more than {2} rows, 2^30 products) and whole parts of "
             "stages along K",
             limits.mostRows, limits.leastColumns,
             getTunedTiles(chip.capability, Path::Wgmma).back().mostM)
      .str();
}

WarpSpecializedScheduleAttr
blockscale::chooseMixedInputSchedule(ProductOpInterface op, const Chip &chip,
                                     bool hasWorkspace) {
  constexpr int64_t kColumns = 8;
  if (!findMixedInputObstacle(op).empty())
    return {};
  OpSizes sizes = getOpSizes(op, /*dynamicSize=*/0);
  unsigned bits = getFormatInfo(findQuantizedB(op)->types.rhs).storedBits();
  TunedLimits limits = getTunedLimits(chip.capability);
  std::vector<TunedTile> tiles = getTunedTiles(chip.capability, Path::Wgmma);
  if (sizes.n < limits.leastColumns || sizes.m > limits.mostRows)
    return {};
  if (findRowObstacle(op).empty())
    for (const TunedTile &tile : tiles)
      if (WarpSpecializedScheduleAttr schedule =
              tile.rowsOfX == 1
                  ? fitTile(op, chip, tile, /*columns=*/1, hasWorkspace)
                  : WarpSpecializedScheduleAttr();
          schedule && schedule.getStages() == tile.stages &&
          (hasWorkspace || schedule.getSplitK() == 1))
        return schedule;
  if (!hasWorkspace)
    return {};
  auto narrow = llvm::find_if(tiles, [&](const TunedTile &row) {
    return row.rowsOfX == 0 && sizes.m <= row.mostM && bits >= row.leastBits;
  });
  if (narrow != tiles.end())
    return fitTile(op, chip, *narrow, llvm::alignTo(sizes.m, kColumns),
                   hasWorkspace);
  std::optional<TunedWideTile> wide = chooseWideTile(sizes, bits, chip);
  uint64_t products = sizes.batch;
  for (int64_t size : {sizes.m, sizes.n, sizes.k})
    products = llvm::SaturatingMultiply<uint64_t>(products, size);
  if (!wide || products < static_cast<uint64_t>(limits.leastProducts))
    return {};
  TunedTile tile = {};
  tile.rowsOfY = wide->rowsOfY;
  tile.k = wide->k;
  tile.stages = wide->stages;
  tile.splitK = 1;
  return fitTile(op, chip, tile, wide->rowsOfX, hasWorkspace);
}

/// Tiles of 128 x 256, or as large as the result is; smaller ones where that
/// makes too few tiles for all SMs; as many stages as there is
/// shared memory for.
ScheduleInterface WgmmaScheduleRules::choose(ProductOpInterface op,
                                             InstructionAttr attr,
                                             const Chip &chip,
                                             bool hasWorkspace) const {
  if (WarpSpecializedScheduleAttr schedule =
          chooseMixedInputSchedule(op, chip, hasWorkspace))
    return schedule;
  OpSizes sizes = getOpSizes(op, /*dynamicSize=*/int64_t(1) << 20);
  const Instruction &instruction = attr.getInstruction();
  constexpr int64_t kMostStages = 8, kLeastN = 16;
  auto sms = static_cast<uint64_t>(getSms(chip));
  static constexpr std::pair<int64_t, int64_t> kTiles[] = {
      {128, 256}, {128, 192}, {128, 128}, {64, 256}, {64, 128}, {64, 64}};
  uint64_t blockBytes = getTunedLimits(chip.capability).blockBytes;
  std::pair<int64_t, int64_t> best = {};
  uint64_t leastClocks = ~uint64_t(0);
  for (auto [m, n] : kTiles) {
    int64_t columns =
        std::min<int64_t>(n, llvm::alignTo(std::max(sizes.n, kLeastN), 16));
    uint64_t tiles = llvm::SaturatingMultiply<uint64_t>(
        sizes.batch, llvm::SaturatingMultiply<uint64_t>(
                         llvm::divideCeilSigned(sizes.m, m),
                         llvm::divideCeilSigned(sizes.n, columns)));
    // Of a step along K: products, and what a tile reads of the L2 cache.
    uint64_t clocks =
        std::max<uint64_t>(m * columns / 32, (m + columns) * 128 / blockBytes);
    uint64_t rounds = llvm::divideCeil(tiles, sms);
    clocks = llvm::SaturatingMultiply(rounds, clocks);
    if (clocks >= leastClocks)
      continue;
    leastClocks = clocks;
    best = {m, columns};
  }
  auto make = [&](int64_t stages) {
    int64_t tile[] = {best.first, best.second, getElementsOfLine(instruction)};
    return WarpSpecializedScheduleAttr::get(
        op->getContext(), tile, stages,
        /*accumulators=*/1, /*persistent=*/true, kTileGroup, /*swapAb=*/false,
        /*splitK=*/1, ClusterSize());
  };
  int64_t stages = kMostStages;
  while (stages > 1 &&
         SharedMemoryPlan(instruction, make(stages)).getSharedBytes() >
             getMostStageBytes(chip))
    --stages;
  return make(stages);
}

SmallVector<ScheduleInterface>
WgmmaScheduleRules::getCandidates(ProductOpInterface op,
                                  InstructionAttr instruction, const Chip &chip,
                                  bool hasWorkspace) const {
  static constexpr std::pair<int64_t, int64_t> kTried[] = {
      {64, 64},   {64, 128},  {64, 256},  {128, 128},
      {128, 192}, {128, 256}, {192, 128}, {256, 128}};
  static constexpr ClusterSize kClusters[] = {{1, 1}, {2, 1}, {1, 2}};
  int64_t k = getElementsOfLine(instruction.getInstruction());
  SmallVector<ScheduleInterface> candidates;
  for (auto [m, n] : kTried)
    for (int64_t stages : {3, 4, 6})
      for (ClusterSize cluster : kClusters)
        candidates.push_back(WarpSpecializedScheduleAttr::get(
            op->getContext(), {m, n, k}, stages, /*accumulators=*/1,
            /*persistent=*/true, kTileGroup, /*swapAb=*/false, /*splitK=*/1,
            cluster));
  std::optional<QuantizedB> y = findQuantizedB(op);
  if (!hasWorkspace || !y)
    return candidates;
  // The same with codes converted on the way.
  constexpr int64_t kColumns = 8;
  int64_t rowsOfX =
      llvm::alignTo(getOpSizes(op, /*dynamicSize=*/0).m, kColumns);
  SmallVector<int64_t> widths = {rowsOfX};
  if (rowsOfX == 0)
    return candidates;
  if (rowsOfX > kMostN)
    widths = {kMostN / 2, kMostN};
  if (findRowObstacle(op).empty())
    widths.push_back(1);
  int64_t box = getBoxElements(y->types);
  for (int64_t columns : widths)
    for (int64_t rows : {64, 128})
      for (int64_t boxes : {1, 2, 4})
        for (int64_t stages : {2, 3, 4})
          for (int64_t splitK : {1, 2}) {
            auto make = [&](int64_t of) {
              return WarpSpecializedScheduleAttr::get(
                  op->getContext(), {rows, columns, of}, stages,
                  /*accumulators=*/1, /*persistent=*/false, kTileGroup,
                  /*swapAb=*/true, splitK, ClusterSize());
            };
            candidates.push_back(
                make(WgmmaShares(make(box)).partsOfK * boxes * box));
          }
  return candidates;
}

void WgmmaScheduleRules::explain(ProductOpInterface op,
                                 InstructionAttr instruction,
                                 ScheduleInterface given, const Chip &chip,
                                 bool, raw_ostream &os) const {
  auto schedule = cast<WarpSpecializedScheduleAttr>(given);
  ProductTile tile = {schedule.getM(), schedule.getN(), schedule.getK(),
                      schedule.getSplitK()};
  // Each warpgroup reads its rows of A, and all of B.
  tile.readsOfX = 1;
  tile.readsOfY = WgmmaShares(schedule).groups;
  bool hasScales = isa<MmaScaledOp>(op.getOperation());
  tile.isXDequantized = hasScales;
  tile.isYDequantized = hasScales && !schedule.getSwapAb();
  if (schedule.getSwapAb()) {
    tile.row = findQuantizedB(op)->types;
    tile.isXDequantized = true; // Or placed, if it is numbers.
    std::swap(tile.m, tile.n);
    std::swap(tile.readsOfX, tile.readsOfY);
  }
  printProductBounds(os, op, instruction, tile, chip);
}

/// Of codes converted on the way, for results whose rows one tile has.
std::optional<TunedTile>
WgmmaScheduleRules::getTunedTile(ProductOpInterface op, ScheduleInterface given,
                                 const Chip &chip) const {
  constexpr int64_t kColumns = 8;
  auto schedule = cast<WarpSpecializedScheduleAttr>(given);
  int64_t m = getOpSizes(op, /*dynamicSize=*/0).m;
  bool isRow = schedule.getN() == 1;
  if (!schedule.getSwapAb() ||
      (!isRow && schedule.getN() != int64_t(llvm::alignTo(m, kColumns))))
    return std::nullopt;
  unsigned bits = getFormatInfo(findQuantizedB(op)->types.rhs).storedBits();
  return TunedTile{chip.capability,
                   Path::Wgmma,
                   m,
                   bits,
                   schedule.getM(),
                   isRow ? 1 : 0,
                   schedule.getK() / WgmmaShares(schedule).partsOfK,
                   /*warps=*/0,
                   schedule.getStages(),
                   schedule.getSplitK(),
                   /*blocks=*/0,
                   /*card=*/{},
                   /*benchmark=*/{}};
}

const ScheduleRules &blockscale::getWgmmaScheduleRules() {
  static const WgmmaScheduleRules rules;
  return rules;
}
