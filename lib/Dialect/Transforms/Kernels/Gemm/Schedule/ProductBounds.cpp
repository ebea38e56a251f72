//===- ProductBounds.cpp - Lower bounds for a GEMM ------------------------===//
//
// Part of the blockscale project, under the Apache License v2.0 with LLVM
// Exceptions. See LICENSE for license information.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//
//
// The arithmetic of ProductBounds.h, in floating point: bounds are printed, and
// nothing is chosen by them.
//
//===----------------------------------------------------------------------===//

#include "Kernels/Gemm/Schedule/ProductBounds.h"

#include "blockscale/Support/Rates.h"
#include "llvm/Support/Format.h"

#include <cmath>

using namespace mlir;
using namespace mlir::blockscale;

namespace {
/// A unit, and its work on the SM that has most.
struct Bound {
  StringRef unit;
  double work;
  Rate rate;
  StringRef of;

  double getClocks() const { return work / static_cast<double>(rate.value); }
};
} // namespace

static double toDouble(int64_t value) { return static_cast<double>(value); }

namespace {
/// Bytes of an element: in memory, with its share of a scale, and in shared
/// memory.
struct ElementBytes {
  double memory, shared;
};
} // namespace

static ElementBytes getElementBytes(Format format, InstructionAttr instruction,
                                    unsigned blockSize, bool isDequantized) {
  constexpr double kBf16Bytes = 2, kByteBits = 8;
  if (isDequantized)
    return {kBf16Bytes, kBf16Bytes};
  // fp4 is packed; a 6-bit element has a byte.
  double stored = getFormatInfo(format).storedBits() / kByteBits;
  double shared =
      hasContainers(instruction.getKind()) ? std::max(stored, 1.0) : stored;
  bool hasScales = instruction.getScaleVec() != 0 || blockSize > 1;
  return {hasScales ? stored + 1.0 / blockSize : stored, shared};
}

static Rate find(const Chip &chip, ChipRates::Figure ChipRates::*figure) {
  return findAnyRate(chip.capability, figure).value_or(Rate{1});
}

static void printRate(raw_ostream &os, const Rate &rate, StringRef of) {
  os << rate.value << ' ' << of;
  if (rate.isAssumed)
    os << " (assumed, that of " << StringRef(rate.source->product) << ')';
}

static std::vector<Bound> getBounds(ScheduledProduct product,
                                    const ProductTile &tile,
                                    double tilesOfBlock) {
  const Chip &chip = product.chip;
  constexpr double kAccumulatorBytes = 4, kGiga = 1e9, kMega = 1e6;
  OpSizes sizes = getOpSizes(product.op, kEstimatedSize);
  TypeCombination types = tile.types.value_or(product.op.getTypes());
  double m = toDouble(sizes.m), n = toDouble(sizes.n), k = toDouble(sizes.k),
         batch = toDouble(sizes.batch), splitK = toDouble(tile.splitK);
  double partK = std::ceil(k / splitK);
  double rows = std::min(m, toDouble(tile.m)),
         columns = std::min(n, toDouble(tile.n));
  Kind kind = product.instruction.getKind();
  ElementBytes x = getElementBytes(types.lhs, product.instruction,
                                   types.blockSize, tile.isXDequantized),
               y = getElementBytes(types.rhs, product.instruction,
                                   types.blockSize, tile.isYDequantized);
  double flops = 2 * toDouble(tile.m) * toDouble(tile.n) * partK;
  if (types.sparsity) {
    // A sparse instruction takes the time of a dense one of half its K, and
    // reads half of x, and metadata.
    flops /= 2;
    double metadata =
        1.0 / getGranularityInfo(*types.sparsity).elementsPerByte();
    double scales = 1.0 / types.blockSize;
    x.memory = (x.memory - scales) / 2 + scales + metadata;
    x.shared = x.shared / 2 + metadata;
  }
  double loaded = partK * (rows * x.memory + columns * y.memory);
  double shared = partK * (toDouble(tile.m * tile.readsOfX) * x.shared +
                           toDouble(tile.n * tile.readsOfY) * y.shared);
  double memory = batch * (k * (m * x.memory + n * y.memory) +
                           m * n * kAccumulatorBytes * splitK);
  // Memory bandwidth is shared by the whole chip.
  Rate megahertz = find(chip, &ChipRates::megahertz);
  Rate gigabytes = find(chip, &ChipRates::memoryGigabytes);
  double memoryClocks = memory / (toDouble(gigabytes.value) * kGiga) *
                        toDouble(megahertz.value) * kMega;
  std::vector<Bound> bounds = {
      {"tensor core", flops * tilesOfBlock, find(chip, getFlopsFigure(kind)),
       "operations per clock"},
      {"L2 cache", loaded * tilesOfBlock, find(chip, &ChipRates::l2Bytes),
       "bytes per clock"},
      {"stores of sums", rows * columns * kAccumulatorBytes * tilesOfBlock,
       find(chip, &ChipRates::l2Bytes), "bytes per clock"},
      {"memory", memoryClocks * toDouble(gigabytes.value), gigabytes, "GB/s"},
  };
  if (shared != 0)
    bounds.insert(bounds.begin() + 1,
                  {"shared memory", shared * tilesOfBlock,
                   find(chip, &ChipRates::sharedBytes), "bytes per clock"});
  return bounds;
}

void blockscale::printProductBounds(raw_ostream &os, ScheduledProduct product,
                                    const ProductTile &tile) {
  const Chip &chip = product.chip;
  OpSizes sizes = getOpSizes(product.op, kEstimatedSize);
  Rate sms = find(chip, &ChipRates::sms);
  Rate megahertz = find(chip, &ChipRates::megahertz);
  double tiles = std::ceil(toDouble(sizes.m) / toDouble(tile.m)) *
                 std::ceil(toDouble(sizes.n) / toDouble(tile.n)) *
                 toDouble(sizes.batch) * toDouble(tile.splitK);
  double most = std::ceil(tiles / toDouble(sms.value));
  os << llvm::format("  %.0f tile%s on ", tiles, tiles == 1 ? "" : "s");
  printRate(os, sms, "SMs");
  os << llvm::format(", at most %.0f on each\n", most);
  std::vector<Bound> bounds = getBounds(product, tile, most);
  const Bound *limit = &bounds.front();
  for (const Bound &bound : bounds) {
    if (bound.getClocks() > limit->getClocks())
      limit = &bound;
    os << llvm::format("%12.0f clocks  ", std::ceil(bound.getClocks()))
       << llvm::left_justify(bound.unit, 16);
    printRate(os, bound.rate, bound.of);
    os << '\n';
  }
  double microseconds = limit->getClocks() / toDouble(megahertz.value);
  double flops = 2.0 * toDouble(sizes.m) * toDouble(sizes.n) *
                 toDouble(sizes.k) * toDouble(sizes.batch);
  os << llvm::format("%12.0f clocks  at least, limited by: ",
                     std::ceil(limit->getClocks()))
     << limit->unit << '\n'
     << llvm::format("%12.1f us, at most %.0f TFLOP/s at ", microseconds,
                     flops / microseconds * 1e-6);
  printRate(os, megahertz, "MHz");
  os << '\n';
}
