//===- MultistageChooser.cpp - Schedules of the multistage kernel ---------===//
//
// Part of the blockscale project, under the Apache License v2.0 with LLVM
// Exceptions. See LICENSE for license information.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//
//
// One heuristic for all warp-level instructions: tiles that fill the chip, and
// stages that fill shared memory.
//
//===----------------------------------------------------------------------===//

#include "Kernels/Gemm/Schedule/Choosers.h"

#include "Kernels/Gemm/Mainloop/Multistage/StagePlan.h"
#include "Kernels/Gemm/Problem/OpSizes.h"
#include "Kernels/Gemm/Problem/QuantizedB.h"
#include "Kernels/Gemm/Schedule/ProductBounds.h"
#include "Kernels/Gemm/Schedule/PromotedSchedules.h"
#include "Kernels/Gemm/Schedule/UnscaledMultistage.h"
#include "blockscale/Dialect/Transforms/Selection/Schedule.h"
#include "blockscale/Support/Rates.h"
#include "blockscale/Support/TunedRows.h"
#include "mlir/Interfaces/FunctionInterfaces.h"

#include "llvm/Support/MathExtras.h"

using namespace mlir;
using namespace mlir::blockscale;

/// The bytes of shared memory that a kernel for `row` may need.
static int64_t getSharedBytes(const TypeCombination &types, Kind kind,
                              MultistageScheduleAttr schedule) {
  return getStages(types, kind, getStageExtents(schedule), schedule.getStages())
      .getNumBytes();
}

static int64_t getMostSharedBytes(const Chip &chip) {
  return int64_t(1024) * chip.sharedMemoryKiB;
}

/// The least K of a tile: a word of scales is for four blocks of up to 32
/// elements, or of those that a sparse instruction has.
static int64_t getLeastK(const TypeCombination &types) {
  constexpr int64_t kLeastBlock = 32;
  return kScalesPerWord * std::max<int64_t>(types.blockSize, kLeastBlock);
}

namespace {
/// The parameters in which the choices of paths differ.
struct MultistageLimits {
  /// The largest number of stages that is chosen.
  int64_t mostStages;
  /// How many blocks should fit into the shared memory of an SM.
  int64_t wantedBlocks;
  /// The largest K of a tile, in elements.
  int64_t mostK;
  /// Whether split-K is used for results of few rows or columns that have too
  /// few tiles for the chip.
  bool dividesK = false;
};

class MultistageChooser final : public KernelChooser {
public:
  explicit MultistageChooser(const MultistageLimits &limits) : limits(limits) {}

  const ScheduleText &getText() const override {
    return getMultistageScheduleText();
  }

  ScheduleInterface choose(ScheduledProduct product) const override;
  /// For results, or groups, of `m` rows, without split-K.
  MultistageScheduleAttr chooseForRows(ScheduledProduct product,
                                       int64_t m) const;
  SmallVector<AlternativeAttr>
  getAlternatives(ScheduledProduct product) const override;
  SmallVector<AlternativeAttr>
  getGroupAlternatives(ScheduledProduct product) const;
  SmallVector<ScheduleInterface>
  getCandidates(ScheduledProduct product) const override;
  LogicalResult verify(ScheduledProduct product, ScheduleInterface schedule,
                       EmitErrorFn emitError) const override;
  void explain(ScheduledProduct product, ScheduleInterface given, bool,
               raw_ostream &os) const override {
    auto schedule = cast<MultistageScheduleAttr>(given);
    ProductTile tile = {schedule.getM(),      schedule.getN(),
                        schedule.getK(),      schedule.getSplitK(),
                        schedule.getWarpsN(), schedule.getWarpsM()};
    tile.types = getComputedCombination(product.op, product.instruction);
    printProductBounds(os, product, tile);
  }

  /// The tiles of results with few rows or columns, for split-K.
  std::optional<TunedTile>
  getTunedTile(ScheduledProduct product,
               ScheduleInterface given) const override {
    auto schedule = cast<MultistageScheduleAttr>(given);
    auto [m, n, k, batch] = getOpSizes(product.op, /*dynamicSize=*/0);
    // The rows of the table are for quantized operands.
    if (!limits.dividesK || schedule.getSplitK() == 1 ||
        !findQuantizedB(product.op))
      return std::nullopt;
    bool isM = m <= n;
    int64_t few = isM ? schedule.getM() : schedule.getN();
    int64_t many = isM ? schedule.getN() : schedule.getM();
    if (std::min(m, n) > few ||
        (isM ? schedule.getWarpsM() : schedule.getWarpsN()) != 1)
      return std::nullopt;
    int64_t tiles = batch * llvm::divideCeilSigned(std::max(m, n), many);
    return TunedTile{product.chip.capability,
                     Path::DequantMma,
                     few,
                     /*leastBits=*/4,
                     many,
                     few,
                     schedule.getK(),
                     isM ? schedule.getWarpsN() : schedule.getWarpsM(),
                     schedule.getStages(),
                     /*splitK=*/1,
                     llvm::divideCeilSigned(schedule.getSplitK() * tiles,
                                            getSms(product.chip)),
                     /*card=*/{},
                     /*benchmark=*/{}};
  }

private:
  MultistageLimits limits;
};
} // namespace

//===----------------------------------------------------------------------===//
// Limits
//===----------------------------------------------------------------------===//

LogicalResult MultistageChooser::verify(ScheduledProduct product,
                                        ScheduleInterface attr,
                                        EmitErrorFn emitError) const {
  auto schedule = cast<MultistageScheduleAttr>(attr);
  TypeCombination types =
      getComputedCombination(product.op, product.instruction);
  int64_t leastK = getLeastK(types);
  if (types.scale != Format::None && schedule.getK() < leastK)
    return emitError() << "expected K of the tile to be at least " << leastK
                       << " for operands with scales, got " << attr;
  int64_t bytes =
      getSharedBytes(types, product.instruction.getKind(), schedule);
  int64_t mostBytes = getMostSharedBytes(product.chip);
  if (bytes > mostBytes)
    return emitError() << "expected a schedule that needs at most " << mostBytes
                       << " bytes of shared memory on "
                       << StringRef(product.chip.name) << ", got " << attr
                       << ", which needs " << bytes;
  // Registers for accumulators, one step of both operands, and the fewest that
  // addresses need. A block has 64 Ki registers (all chips from sm_80 on), a
  // lane 255.
  constexpr int64_t kMostRegisters = 255, kBlockRegisters = 64 * 1024;
  constexpr int64_t kAddresses = 32;
  int64_t lanes = schedule.getNumThreads();
  int64_t registers = schedule.getM() * schedule.getN() / lanes +
                      schedule.getWarpM() / 4 + schedule.getWarpN() / 4 +
                      kAddresses;
  int64_t most = std::min(kMostRegisters, kBlockRegisters / lanes);
  if (registers > most)
    return emitError() << "expected a schedule that needs at most " << most
                       << " registers in each of " << lanes << " lanes, got "
                       << attr << ", which needs about " << registers;
  if (product.op.getPromotion() &&
      failed(verifyPromotedMultistage(product, schedule, emitError)))
    return failure();
  return verifySplitK(product.op, schedule.getSplitK(), schedule.getK(), attr,
                      emitError);
}

//===----------------------------------------------------------------------===//
// Choice
//===----------------------------------------------------------------------===//

/// Whether operands have no scales, and none of them is quantized.
static bool isUnscaled(ScheduledProduct product) {
  return product.getInstruction().scaling == Scaling::Nowhere;
}

/// The attribute of the function of `op` with its rows; null if there is none.
static StringAttr getRows(ProductOpInterface op) {
  auto function = op->getParentOfType<FunctionOpInterface>();
  return function ? function->getAttrOfType<StringAttr>(kRowsAttrName)
                  : StringAttr();
}

/// The row of tuned tiles that it names; nullopt if there is none.
static std::optional<TunedRows> findTunedRows(ProductOpInterface op,
                                              const Chip &chip) {
  StringAttr name = getRows(op);
  return name ? lookupTunedRows(chip.capability, name.getValue())
              : std::nullopt;
}

/// Split-K for results of few rows or columns: a block has all of these and
/// many along the other side, which its warps divide, so that the larger
/// operand is dequantized once; and there are as many ranges as blocks
/// run at once on the chip. Null if the product is none of these, or fills the
/// chip. For a dynamic number of rows, `tuned` may say that there are few.
static MultistageScheduleAttr chooseNarrow(ScheduledProduct product,
                                           std::optional<TunedRows> tuned) {
  ProductOpInterface op = product.op;
  const Chip &chip = product.chip;
  auto [m, n, k, batch] = getOpSizes(op, /*dynamicSize=*/0);
  if (m != 0 || (tuned && tuned->splitK == 0))
    tuned = std::nullopt;
  // With dynamic M and N, there may be many rows and columns.
  constexpr int64_t kMany = int64_t(1) << 20;
  int64_t rows = m != 0 ? m : tuned ? tuned->mostM : kMany;
  int64_t columns = n == 0 ? kMany : n;
  std::vector<TunedTile> tiles =
      getTunedTiles(chip.capability, Path::DequantMma);
  auto narrow = llvm::find_if(tiles, [&](const TunedTile &row) {
    return std::min(rows, columns) <= row.mostM;
  });
  if (narrow == tiles.end())
    return {};
  if (isUnscaled(product))
    *narrow = getUnscaledNarrowTile(*narrow, chip);
  // Blocks of 64 are those of sparse products.
  TypeCombination types = getComputedCombination(op, product.instruction);
  if (types.sparsity)
    narrow->k = std::max(narrow->k, getLeastK(types));
  uint64_t results = llvm::SaturatingMultiply<uint64_t>(
      batch == 0 ? kMany : batch,
      llvm::divideCeilSigned(std::max(rows, columns), narrow->rowsOfY));
  auto sms = static_cast<uint64_t>(getSms(chip));
  // Each range has enough steps for stages to pay.
  constexpr int64_t kLeastSteps = 4, kMostSplitK = 64;
  int64_t splitK =
      std::min<int64_t>({static_cast<int64_t>(sms * narrow->blocks / results),
                         k / narrow->k / kLeastSteps, kMostSplitK});
  if (tuned)
    splitK = tuned->splitK;
  if (splitK < 2)
    return {};
  SmallVector<int64_t> tile = {narrow->rowsOfX, narrow->rowsOfY, narrow->k};
  SmallVector<int64_t> warps = {1, narrow->warps};
  if (columns < rows) {
    std::swap(tile[0], tile[1]);
    std::swap(warps[0], warps[1]);
  }
  return MultistageScheduleAttr::get(op.getContext(), tile, warps,
                                     narrow->stages, splitK);
}

/// The tile and the warps for groups of at most so many rows on average;
/// nullopt where a tile has more columns than the result.
static std::optional<TunedGroupRows> findGroupRows(ScheduledProduct product,
                                                   int64_t rows) {
  std::vector<TunedGroupRows> tuned = getTunedGroupRows(
      product.chip.capability,
      product.instruction.getInstruction().scaling == Scaling::OnB);
  auto found = llvm::find_if(
      tuned, [&](const TunedGroupRows &row) { return rows <= row.mostRows; });
  constexpr int64_t kMany = int64_t(1) << 20;
  if (getOpSizes(product.op, /*dynamicSize=*/kMany).n < found->rowsOfY)
    return std::nullopt;
  return *found;
}

/// * A block has 2 x 2 warps and computes 128 x 128 results, or fewer along a
///   dimension that has fewer: 64 or 32;
/// * where that makes too few blocks to fill a chip, the longer side of the
///   tile is halved, down to 64;
/// * rows of 128 bytes along K, or less where K ends before, or the path wants
///   fewer elements;
/// * as many stages, up to the path's limit, as K has steps and fit in shared
///   memory; two of them, if there is a choice, before as many blocks on
///   a SM as the path asks for.
/// Where the path divides K, results of few rows or columns have others. So
/// have products of operands that are not quantized, and groups of rows.
ScheduleInterface MultistageChooser::choose(ScheduledProduct product) const {
  if (product.op.getPromotion())
    return choosePromotedMultistage(product);
  if (limits.dividesK && product.hasWorkspace && !product.op.getRowGroups())
    if (MultistageScheduleAttr narrow =
            chooseNarrow(product, findTunedRows(product.op, product.chip)))
      return narrow;
  // A dynamic size counts as large.
  return chooseForRows(
      product, getOpSizes(product.op, /*dynamicSize=*/int64_t(1) << 20).m);
}

MultistageScheduleAttr
MultistageChooser::chooseForRows(ScheduledProduct product, int64_t m) const {
  std::optional<TunedGroupRows> groups;
  if (product.op.getRowGroups() && !product.isRare)
    groups = findGroupRows(product, m);
  if (isUnscaled(product))
    return groups ? fitUnscaledMultistage(product,
                                          {groups->rowsOfX, groups->rowsOfY},
                                          {groups->warpsOfX, groups->warpsOfY})
                  : chooseUnscaledMultistage(product);
  auto [anyRows, n, k, batch] =
      getOpSizes(product.op, /*dynamicSize=*/int64_t(1) << 20);
  auto fit = [](int64_t size, int64_t least, int64_t most) {
    return std::max<int64_t>(llvm::PowerOf2Ceil(std::min(size, most)), least);
  };
  constexpr int64_t kLeast = 32, kMost = 128, kHalf = 64;
  SmallVector<int64_t> tile = {fit(m, kLeast, kMost), fit(n, kLeast, kMost)},
                       warps = {2, 2};
  // Chips have up to 188 SMs.
  constexpr uint64_t kWantedBlocks = 128;
  auto countBlocks = [&, n = n, batch = batch] {
    uint64_t rows = llvm::divideCeilSigned(m, tile[0]);
    uint64_t columns = llvm::divideCeilSigned(n, tile[1]);
    return llvm::SaturatingMultiply<uint64_t>(
        batch, llvm::SaturatingMultiply(rows, columns));
  };
  while (countBlocks() < kWantedBlocks && std::max(tile[0], tile[1]) > kHalf)
    (tile[0] >= tile[1] ? tile[0] : tile[1]) /= 2;
  if (groups) {
    tile = {groups->rowsOfX, groups->rowsOfY};
    warps = {groups->warpsOfX, groups->warpsOfY};
  }

  TypeCombination types =
      getComputedCombination(product.op, product.instruction);
  Kind kind = product.instruction.getKind();
  int64_t rowElements = kBankRowBytes * 8 / getSlot(kind, types.lhs).bits;
  int64_t mostK = std::min(rowElements, limits.mostK);
  bool isDequantizing = limits.dividesK;
  constexpr unsigned kFp4Bits = 4;
  if (types.sparsity && isDequantizing &&
      getFormatInfo(types.lhs).bits > kFp4Bits) {
    tile[1] = std::min(tile[1],
                       getTunedLimits(product.chip.capability).sparseColumns);
    // Rows of kept elements have half of the bytes.
    mostK *= kUnitsPerChunk / kKeptUnits;
  }
  tile.push_back(fit(k, getLeastK(types), mostK));

  auto make = [&](int64_t stages) {
    return MultistageScheduleAttr::get(product.op.getContext(), tile, warps,
                                       stages);
  };
  constexpr int64_t kWantedStages = 2;
  int64_t stages =
      std::min(limits.mostStages, llvm::divideCeilSigned(k, tile[2]));
  auto isTooLarge = [&] {
    int64_t blocks = stages > kWantedStages ? limits.wantedBlocks : 1;
    return blocks * getSharedBytes(types, kind, make(stages)) >
           getMostSharedBytes(product.chip);
  };
  // A sparse y of all K takes twice the bytes of x: with fewer columns of it,
  // two stages fit.
  if (types.sparsity)
    while (tile[1] > kHalf &&
           kWantedStages * getSharedBytes(types, kind, make(1)) >
               getMostSharedBytes(product.chip))
      tile[1] /= 2;
  while (stages > 1 && isTooLarge())
    --stages;
  return make(stages);
}

/// For numbers of rows and groups that are known only at the launch; `choose`
/// has the schedule for most rows.
SmallVector<AlternativeAttr>
MultistageChooser::getGroupAlternatives(ScheduledProduct product) const {
  SmallVector<AlternativeAttr> alternatives;
  // A `quantize` of the result of alternatives reads it from a workspace.
  if (!product.hasWorkspace || getOpSizes(product.op, /*dynamicSize=*/0).m != 0)
    return alternatives;
  std::vector<TunedGroupRows> tuned = getTunedGroupRows(
      product.chip.capability,
      product.instruction.getInstruction().scaling == Scaling::OnB);
  for (const TunedGroupRows &row : ArrayRef(tuned).drop_back())
    if (findGroupRows(product, row.mostRows))
      alternatives.push_back(AlternativeAttr::get(
          product.op->getContext(), row.mostRows, /*most_ranges=*/1,
          /*cost=*/0, product.instruction,
          chooseForRows(product, row.mostRows)));
  return alternatives;
}

/// Where a function is for any number of rows: split-K for few rows. A sparse x
/// has the rows of weights, which are many.
SmallVector<AlternativeAttr>
MultistageChooser::getAlternatives(ScheduledProduct product) const {
  ProductOpInterface op = product.op;
  if (op.getRowGroups())
    return op.getPromotion() ? getPromotedGroupAlternatives(product)
                             : getGroupAlternatives(product);
  StringAttr rows = getRows(op);
  bool isQuantized = findQuantizedB(op).has_value();
  if (!limits.dividesK || !product.hasWorkspace || !rows ||
      rows.getValue() != kAnyRows || !isQuantized || op.getMetadata() ||
      getOpSizes(op, /*dynamicSize=*/0).m != 0)
    return {};
  SmallVector<AlternativeAttr> alternatives;
  for (const TunedRows &tuned : getTunedRows(product.chip.capability))
    if (MultistageScheduleAttr schedule = tuned.splitK == 0
                                              ? MultistageScheduleAttr()
                                              : chooseNarrow(product, tuned))
      alternatives.push_back(
          AlternativeAttr::get(op->getContext(), tuned.mostM, /*most_ranges=*/1,
                               /*cost=*/0, product.instruction, schedule));
  return alternatives;
}

namespace {
/// A tile and its warps; M is the short side of narrow tiles.
struct TriedTile {
  std::array<int64_t, 2> tile, warps;
};
} // namespace

static constexpr TriedTile kTriedNarrow[] = {
    {{16, 64}, {1, 1}},  {{16, 128}, {1, 2}}, {{16, 128}, {1, 4}},
    {{32, 128}, {1, 2}}, {{32, 128}, {1, 4}}, {{64, 128}, {1, 4}},
    {{64, 128}, {2, 2}}, {{64, 256}, {1, 4}}};
static constexpr TriedTile kTriedWide[] = {
    {{64, 64}, {2, 2}},   {{64, 128}, {2, 2}},  {{128, 64}, {2, 2}},
    {{128, 128}, {2, 2}}, {{128, 128}, {2, 4}}, {{128, 256}, {2, 4}},
    {{256, 128}, {4, 2}}};

/// Candidates: for results of few rows or columns, the narrow tiles of the next
/// size, with split-K; for others, the wide tiles. K of the tile is that of the
/// choice.
SmallVector<ScheduleInterface>
MultistageChooser::getCandidates(ScheduledProduct product) const {
  if (product.op.getPromotion())
    return getPromotedMultistageCandidates(product);
  auto chosen = cast<MultistageScheduleAttr>(choose(product));
  auto [m, n, k, batch] =
      getOpSizes(product.op, /*dynamicSize=*/int64_t(1) << 20);
  int64_t least = std::min(m, n);
  const auto *narrow = llvm::find_if(
      kTriedNarrow, [&](const TriedTile &row) { return least <= row.tile[0]; });
  bool isNarrow = narrow != std::end(kTriedNarrow);
  if (!isNarrow && isUnscaled(product))
    return getUnscaledCandidates(product);
  SmallVector<int64_t> ranges = {1};
  if (isNarrow && product.hasWorkspace && !product.op.getRowGroups())
    ranges.append({4, 8, 16});
  SmallVector<ScheduleInterface> candidates;
  for (TriedTile row : isNarrow ? ArrayRef(kTriedNarrow) : kTriedWide) {
    if (isNarrow && row.tile[0] != narrow->tile[0])
      continue;
    if (isNarrow && n < m) {
      std::swap(row.tile[0], row.tile[1]);
      std::swap(row.warps[0], row.warps[1]);
    }
    int64_t tile[] = {row.tile[0], row.tile[1], chosen.getK()};
    for (int64_t stages : {2, 3, 4})
      for (int64_t splitK : ranges)
        candidates.push_back(MultistageScheduleAttr::get(
            product.op->getContext(), tile, row.warps, stages, splitK));
  }
  return candidates;
}

const KernelChooser &blockscale::getMmaSyncMultistageChooser() {
  static const MultistageChooser chooser(
      {/*mostStages=*/4, /*wantedBlocks=*/1, /*mostK=*/1024});
  return chooser;
}

/// While the warps of one block dequantize, those of another one multiply: two
/// blocks share an SM if its shared memory allows that. Where there are few
/// rows, reading the quantized operand takes all the time: split-K keeps loads
/// of all SMs under way.
const KernelChooser &blockscale::getDequantMmaMultistageChooser() {
  static const MultistageChooser chooser({/*mostStages=*/3, /*wantedBlocks=*/2,
                                          /*mostK=*/128, /*dividesK=*/true});
  return chooser;
}

std::string blockscale::findDequantMmaMixedInputObstacle(ProductOpInterface op,
                                                         const Chip &, bool) {
  std::optional<InstructionChoice> choice =
      chooseInstruction(op, Path::DequantMma);
  if (choice && choice->emitted->scaling == Scaling::OnB)
    return {};
  return "K of whole blocks, and f32 sums of bf16 or f16 values";
}
