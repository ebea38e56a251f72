//===- LayoutGrid.cpp - Layouts as tables ---------------------------------===//
//
// Part of the blockscale project, under the Apache License v2.0 with LLVM
// Exceptions. See LICENSE for license information.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//
//
// Applies the interpreters of the layout tables to every element. This file has
// no layouts of its own.
//
//===----------------------------------------------------------------------===//

#include "blockscale/Support/LayoutGrid.h"

#include "blockscale/Support/SparseFragments.h"
#include "blockscale/Support/SparseMetadata.h"

#include <functional>

using namespace mlir;
using namespace mlir::blockscale;

//===----------------------------------------------------------------------===//
// Cells
//===----------------------------------------------------------------------===//

/// The position of (row, column).
using PositionFn = std::function<Position(int64_t, int64_t)>;

/// Whether the positions of all runs of `run` columns, from a multiple of `run`
/// on, are consecutive.
static bool areNeighbours(const std::vector<Position> &positions, int64_t run) {
  for (size_t i = 0; i != positions.size(); ++i) {
    if (i % run == 0)
      continue;
    Position expected = positions[i - 1];
    ++expected.back();
    if (positions[i] != expected)
      return false;
  }
  return true;
}

/// Fills in `run` and `cells` with the longest runs that all rows have.
static LayoutGrid fill(LayoutGrid grid, const PositionFn &getPosition) {
  std::vector<Position> positions;
  for (int64_t row = 0; row != grid.rows; ++row)
    for (int64_t column = 0; column != grid.columns; ++column)
      positions.push_back(getPosition(row, column));
  grid.run = grid.columns;
  while (grid.run > 1 &&
         (grid.columns % grid.run != 0 || !areNeighbours(positions, grid.run)))
    --grid.run;
  for (size_t i = 0; i < positions.size(); i += grid.run)
    grid.cells.push_back(positions[i]);
  return grid;
}

template <size_t N>
static Position toPosition(const std::array<int64_t, N> &result) {
  return Position(result.begin(), result.end());
}

static std::string getName(Operand operand) {
  static constexpr const char *names[] = {"A", "B", "C"};
  return names[static_cast<unsigned>(operand)];
}

/// The name of the rows of the scales of an operand.
static std::string getRowName(Operand operand) {
  return operand == Operand::B ? "n" : "m";
}

static LayoutGrid makeGrid(std::string title, std::string rowName, int64_t rows,
                           std::string columnName, int64_t columns,
                           std::vector<std::string> coordinates) {
  return {std::move(title),
          std::move(rowName),
          std::move(columnName),
          rows,
          columns,
          /*unit=*/1,
          std::move(coordinates),
          /*run=*/1,
          {}};
}

//===----------------------------------------------------------------------===//
// Registers
//===----------------------------------------------------------------------===//

static LayoutGrid makeFragmentGrid(Operand operand, Slot slot,
                                   const FragmentLayout &layout) {
  std::string title = getName(operand) + " of one instruction";
  if (operand == Operand::C)
    title += ", f32";
  else
    title += ", slots of " + std::to_string(slot.bits) + " bits";
  if (slot.shift != 0)
    title += ", the code from bit " + std::to_string(slot.shift) + " on";
  std::vector<std::string> coordinates = {"lane", "register"};
  if (layout.slots != 1)
    coordinates.push_back("slot");
  LayoutGrid grid =
      makeGrid(std::move(title), getRowName(operand), layout.rows,
               operand == Operand::C ? "n" : "k", layout.columns, coordinates);
  return fill(std::move(grid), [&](int64_t row, int64_t column) {
    Position position = toPosition(
        applyLayout<3>(layout.toLane, std::array<int64_t, 2>{row, column}));
    position.resize(coordinates.size());
    return position;
  });
}

LayoutGrid blockscale::getFragmentGrid(Operand operand, Slot slot) {
  return makeFragmentGrid(operand, slot, getFragmentLayout(operand, slot.bits));
}

LayoutGrid blockscale::getSparseBGrid(Slot slot) {
  return makeFragmentGrid(Operand::B, slot, getSparseBLayout(slot.bits));
}

LayoutGrid blockscale::getMetadataGrid(int64_t k) {
  constexpr int64_t kRows = 16, kHalves = 2;
  LayoutGrid grid =
      makeGrid("metadata of A, a 32-bit word of each lane",
               getRowName(Operand::A), kRows, "k", kHalves, {"lane"});
  grid.unit = k / kHalves;
  return fill(std::move(grid), [](int64_t row, int64_t half) {
    return toPosition(applyLayout<1>(getMetadataFragment().toLane,
                                     std::array<int64_t, 2>{row, half}));
  });
}

/// The thread, the pair and its half with an element of a step.
static Position findPair(PairOrder order, unsigned element) {
  for (unsigned thread = 0; thread != 4; ++thread)
    for (unsigned i = 0; i != kInstructionsPerStep; ++i)
      for (unsigned pair = 0; pair != kPairsPerInstruction; ++pair)
        for (unsigned half : {0, 1})
          if (getPairElement(order, thread, i, pair) +
                  half * getPairDistance(order) ==
              element)
            return {thread, i, pair, half};
  return {};
}

LayoutGrid blockscale::getPairGrid(Operand operand, PairOrder order) {
  // Registers alternate between two groups of rows of A, see "mma.m16n8k16".
  constexpr int64_t kGroupRows = 8, kThreads = 4;
  int64_t groups = operand == Operand::A ? 2 : 1;
  LayoutGrid grid =
      makeGrid(getName(operand) + " of the two instructions of a step, 16-bit "
                                  "values",
               getRowName(operand), groups * kGroupRows, "k", kStepElements,
               {"lane", "instruction", "register", "half"});
  return fill(std::move(grid), [&](int64_t row, int64_t column) -> Position {
    Position pair = findPair(order, static_cast<unsigned>(column));
    return {row % kGroupRows * kThreads + pair[0], pair[1],
            pair[2] * groups + row / kGroupRows, pair[3]};
  });
}

LayoutGrid blockscale::getSparsePairGrid(Operand operand,
                                         Granularity granularity) {
  constexpr int64_t kGroupRows = 8, kThreads = 4, kRowGroups = 2;
  bool isA = operand == Operand::A, isPairs = granularity == Granularity::Pairs;
  PairOrder order = getSparsePairOrder(granularity, isA);
  LayoutGrid grid =
      makeGrid(getName(operand) + (isA ? ", kept elements," : "") +
                   " of the two instructions of a step, 16-bit values",
               getRowName(operand), (isA ? kRowGroups : 1) * kGroupRows, "k",
               (isA ? 1 : 2) * int64_t(kStepElements),
               {"lane", "instruction", "register", "half"});
  return fill(std::move(grid), [&](int64_t row, int64_t column) -> Position {
    Position pair =
        findPair(order, static_cast<unsigned>(column % kStepElements));
    int64_t lane = row % kGroupRows * kThreads + pair[0];
    // What has the chunks of an instruction: 16 kept elements, 32 of B.
    int64_t part = isA ? pair[1] : column / kStepElements;
    int64_t inPart = isA ? row / kGroupRows : pair[1];
    return {lane, isPairs ? pair[2] : part,
            2 * (isPairs ? part : pair[2]) + inPart, pair[3]};
  });
}

LayoutGrid blockscale::getPairMetadataGrid(Granularity granularity) {
  constexpr int64_t kRows = 16, kGroupRows = 8, kThreads = 4, kChunks = 8,
                    kStep = 2 * kStepElements;
  bool isPairs = granularity == Granularity::Pairs;
  int64_t chunk = getGranularityInfo(granularity).chunk();
  LayoutGrid grid = makeGrid(
      "metadata of A for the two instructions of a step, fields of a "
      "32-bit word of each lane",
      getRowName(Operand::A), kRows, "k", kStep / chunk, {"lane", "field"});
  grid.unit = chunk;
  return fill(std::move(grid), [&](int64_t row, int64_t column) -> Position {
    int64_t instruction = column / kChunks, c = column % kChunks;
    int64_t thread = isPairs ? c / kValueChunksPerLane : c % 2;
    int64_t field = isPairs ? c % kValueChunksPerLane : c / 2;
    return {row % kGroupRows * kThreads + kMetadataSelectors * instruction +
                thread,
            row / kGroupRows * kValueChunksPerLane + field};
  });
}

LayoutGrid blockscale::getScaleFragmentGrid(Operand operand) {
  const ScaleFragment &layout = getScaleFragment(operand);
  LayoutGrid grid = makeGrid(
      "scales of " + getName(operand) + ", a 32-bit word of each lane for " +
          std::to_string(layout.tiles) + " tiles of " +
          std::to_string(layout.rowsPerTile) + " rows",
      getRowName(operand), int64_t(layout.tiles) * layout.rowsPerTile, "block",
      kScalesPerWord, {"lane", "byte"});
  return fill(std::move(grid), [&](int64_t row, int64_t block) {
    int64_t lane =
        applyLayout<1>(layout.toLane, std::array<int64_t, 1>{row})[0];
    return Position{lane, block};
  });
}

//===----------------------------------------------------------------------===//
// Shared memory
//===----------------------------------------------------------------------===//

LayoutGrid blockscale::getTileGrid(Operand operand, const TileLayout &layout,
                                   Slot slot, const TileShape &shape,
                                   int64_t firstByte) {
  bool isK = layout.major == Major::K;
  std::string contiguous = isK ? "k" : getRowName(operand);
  std::string title = getName(operand) + ", " +
                      std::string(stringifyStorage(layout.storage)) +
                      (layout.isSwizzled ? ", swizzled" : "");
  int64_t pieces = shape.rowBytes / kChunkBytes;
  LayoutGrid grid =
      makeGrid(std::move(title), isK ? getRowName(operand) : "k", shape.rows,
               std::move(contiguous), shape.columns * pieces, {"byte"});
  constexpr int64_t kByteBits = 8;
  grid.unit = kChunkBytes * kByteBits / getStoredBits(layout.storage, slot);
  ChunkSwizzle swizzle = {1, 1};
  if (layout.isSwizzled)
    swizzle = getChunkSwizzle(shape.rowBytes);
  return fill(std::move(grid), [&](int64_t row, int64_t column) {
    int64_t piece = column % pieces, box = column / pieces;
    piece ^= row / swizzle.rowsPerStep % swizzle.modulus;
    int64_t boxRow = box * shape.rows + row;
    return Position{firstByte + boxRow * shape.rowBytes + piece * kChunkBytes};
  });
}

LayoutGrid blockscale::getMetadataTileGrid(const TileShape &shape, int64_t k,
                                           bool isSwapped, int64_t firstByte) {
  int64_t steps = shape.rowBytes / kMetadataStepBytes;
  LayoutGrid grid = makeGrid("metadata of A", getRowName(Operand::A),
                             shape.rows, "k", shape.columns * steps, {"byte"});
  grid.unit = k;
  return fill(std::move(grid), [&](int64_t row, int64_t column) {
    int64_t step = column % steps ^ (isSwapped ? row / 8 % steps : 0);
    return Position{firstByte +
                    (column / steps * shape.rows + row) * shape.rowBytes +
                    step * kMetadataStepBytes};
  });
}

/// (row, block) -> byte, for scales with `shape` in an order.
using ScaleByteFn = int64_t (*)(const std::vector<int64_t> &, int64_t, int64_t);

static int64_t getByteInRows(const std::vector<int64_t> &shape, int64_t row,
                             int64_t block) {
  return row * shape[1] + block;
}

static int64_t getScaleOuter(int64_t row, int64_t part) {
  return applyLayout<1>(kScaleOuterTerms,
                        std::array<int64_t, 2>{row % kWarpLanes, part})[0];
}

static int64_t getByteInLanes(const std::vector<int64_t> &shape, int64_t row,
                              int64_t block) {
  int64_t outer = row / kWarpLanes * shape[1] + getScaleOuter(row, /*part=*/0);
  return outer * shape[2] + block;
}

static int64_t getByteInParts(const std::vector<int64_t> &shape, int64_t row,
                              int64_t block) {
  int64_t words = shape[3] / kScalesPerWord, group = row / kWarpLanes;
  int64_t part = group / words;
  int64_t outer = (block / kScalesPerWord * shape[1] + part) * shape[2] +
                  getScaleOuter(row, part);
  return outer * shape[3] + group % words * kScalesPerWord +
         block % kScalesPerWord;
}

static int64_t getByteInAtoms(const std::vector<int64_t> &shape, int64_t row,
                              int64_t block) {
  return getSwizzledScaleOffset(row, block, shape[1] * kScaleAtomBlocks);
}

namespace {
/// The counts of rows and of blocks are products of some dimensions.
struct ScaleOrderRow {
  ScaleOrder order;
  std::vector<unsigned> rowDims, blockDims;
  /// The factors of these products.
  int64_t rowFactor, blockFactor;
  ScaleByteFn getByte;
};
} // namespace

static const ScaleOrderRow &getScaleOrderRow(ScaleOrder order) {
  static const ScaleOrderRow rows[] = {
      {ScaleOrder::Rows, {0}, {1}, 1, 1, getByteInRows},
      {ScaleOrder::Lanes, {0, 1}, {2}, 1, 1, getByteInLanes},
      // Vectors of Q 32-bit words, each of another group of rows.
      {ScaleOrder::Parts, {1, 2, 3}, {0}, 1, kScalesPerWord, getByteInParts},
      {ScaleOrder::Atoms,
       {0},
       {1},
       kScaleAtomRows,
       kScaleAtomBlocks,
       getByteInAtoms},
  };
  for (const ScaleOrderRow &row : rows)
    if (row.order == order)
      return row;
  std::abort();
}

LayoutGrid blockscale::getScaleTileGrid(Operand operand, ScaleOrder order,
                                        const std::vector<int64_t> &shape,
                                        int64_t firstByte) {
  const ScaleOrderRow &row = getScaleOrderRow(order);
  int64_t rows = row.rowFactor, blocks = row.blockFactor;
  for (unsigned dim : row.rowDims)
    rows *= shape[dim];
  for (unsigned dim : row.blockDims)
    blocks *= shape[dim];
  if (order == ScaleOrder::Parts)
    rows /= kScalesPerWord;
  LayoutGrid grid =
      makeGrid("scales of " + getName(operand) + ", " +
                   std::string(stringifyScaleOrder(order)),
               getRowName(operand), rows, "block", blocks, {"byte"});
  return fill(std::move(grid), [&](int64_t r, int64_t block) {
    return Position{firstByte + row.getByte(shape, r, block)};
  });
}

//===----------------------------------------------------------------------===//
// Tensor memory
//===----------------------------------------------------------------------===//

LayoutGrid blockscale::getTensorScaleGrid(Operand operand, int64_t rows,
                                          int64_t blocks, int64_t copies,
                                          int64_t firstColumn) {
  const ScaleRegion &region = *lookupScaleRegion(rows, copies);
  LayoutGrid grid = makeGrid(
      "scales of " + getName(operand) + ", " + std::to_string(copies) +
          " copies, each " + std::to_string(kTensorWarpLanes) +
          " lanes further",
      getRowName(operand), rows, "block", blocks, {"lane", "column", "byte"});
  // With fewer copies, each part of the rows is in the lanes of its copies.
  int64_t rowsOfPart = region.mostRows * copies / kScaleCopies;
  return fill(std::move(grid), [&](int64_t row, int64_t block) {
    int64_t inPart = row % rowsOfPart;
    return Position{row / rowsOfPart * copies * kTensorWarpLanes +
                        inPart % kTensorWarpLanes,
                    firstColumn + inPart / kTensorWarpLanes +
                        block / kBlocksOfWord * region.columnsOfWord,
                    block % kBlocksOfWord};
  });
}

LayoutGrid blockscale::getTensorMetadataGrid(int64_t columns, int64_t k,
                                             int64_t firstColumn) {
  constexpr int64_t kColumnsOfStep = kMetadataStepBytes / kTensorColumnBytes;
  LayoutGrid grid = makeGrid("metadata of A", getRowName(Operand::A),
                             kTensorLanes, "k", columns, {"lane", "column"});
  grid.unit = k / kColumnsOfStep;
  return fill(std::move(grid), [&](int64_t row, int64_t column) {
    return Position{row, firstColumn + column};
  });
}

LayoutGrid blockscale::getTensorAccGrid(const AccLayout &layout, int64_t n,
                                        int64_t firstColumn) {
  std::string title = std::string("sums, layout ") + layout.name;
  std::vector<std::string> coordinates = {"lane", "column"};
  bool hasBlocks = layout.group != 1;
  if (hasBlocks)
    coordinates.insert(coordinates.begin(), "block");
  LayoutGrid grid =
      makeGrid(std::move(title), "m", layout.m, "n", n, std::move(coordinates));
  int64_t columns = n / layout.parts, rows = layout.rowsOfBlock;
  return fill(std::move(grid), [&](int64_t m, int64_t column) {
    Position position = {m % rows + rows * (column / columns),
                         firstColumn + column % columns};
    if (hasBlocks)
      position.insert(position.begin(), m / rows);
    return position;
  });
}
