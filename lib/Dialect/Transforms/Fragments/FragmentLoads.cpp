//===- FragmentLoads.cpp - Fragments from shared memory -------------------===//
//
// Part of the blockscale project, under the Apache License v2.0 with LLVM
// Exceptions. See LICENSE for license information.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//
//
// Addresses of ldmatrix are computed so that everything except constants is
// hoisted out of the loop along K.
//
//===----------------------------------------------------------------------===//

#include "Fragments/FragmentLoads.h"

#include "Utils/IndexValues.h"
#include "Utils/LaneOps.h"
#include "Utils/ScaleOuter.h"
#include "blockscale/Support/ScaleLayout.h"
#include "blockscale/Support/SparseFragments.h"
#include "mlir/Dialect/Arith/IR/Arith.h"
#include "mlir/Dialect/Vector/IR/VectorOps.h"
#include "llvm/Support/MathExtras.h"

using namespace mlir;
using namespace mlir::blockscale;

/// One load writes four registers: a tile of A or of a B for a sparse
/// instruction, or two of another B.
static constexpr int64_t kRegistersPerLoad = 4;

/// Where rows of B are contiguous along K, a load has all registers of a tile
/// for a sparse instruction. (Dequantized elements are loaded as for a dense
/// one.)
static const FragmentLayout &getLayoutOf(TileMmaOp op, Operand operand,
                                         unsigned slotBits) {
  if (operand == Operand::B && op.getInstruction().isSparse() &&
      op.getInstruction().getInstruction().isNative() &&
      op.getLayout(Operand::B).major == Major::K)
    return getSparseBLayout(slotBits);
  return getFragmentLayout(operand, slotBits);
}

FragmentLoader::FragmentLoader(OpBuilder &builder, TileMmaOp op,
                               Operand operand, Value lane, Value first,
                               int64_t rows)
    : b(builder), loc(op.getLoc()), operand(operand), lane(lane), first(first),
      elements(operand == Operand::A ? op.getA() : op.getB()),
      scales(operand == Operand::A ? op.getAScale() : op.getBScale()),
      layout(op.getLayout(operand)), order(op.getScaleOrder(operand)),
      slot(op.getSlot(operand)), fragment(getLayoutOf(op, operand, slot.bits)),
      rows(rows) {
  TypeCombinationAttr types = op.getTypes();
  Format format = operand == Operand::A ? types.getA() : types.getB();
  bool isExtended = layout.storage == Storage::Padded &&
                    op.getInstruction().getInstruction().isNative();
  codeBits = isExtended ? getFormatInfo(format).bits : 8;
  prepare();
}

FragmentLoader::FragmentLoader(OpBuilder &builder, LoadFragmentsOp op,
                               Operand operand, Value lane, Value first,
                               int64_t rows)
    : b(builder), loc(op.getLoc()), operand(operand), lane(lane), first(first),
      elements(operand == Operand::A ? op.getA() : op.getB()),
      layout((operand == Operand::A ? op.getALayout() : op.getBLayout())
                 .getLayout()),
      order(ScaleOrder::Rows),
      slot(getSlot(op.getInstruction().getKind(),
                   operand == Operand::A ? op.getInstruction().getA()
                                         : op.getInstruction().getB())),
      codeBits(8), fragment(getFragmentLayout(operand, slot.bits)), rows(rows) {
  prepare();
}

void FragmentLoader::prepare() {
  bool isTransposed = layout.major == Major::MN;
  if (isTransposed && slot.bits == 16)
    codeBits = 16;
  hasWideMatrices =
      isTransposed && lookupMatrixLoad(codeBits, isTransposed)->registers != 1;
  tiles = rows / fragment.rows;
  tilesPerLoad = kRegistersPerLoad / fragment.registers;
  if (layout.major == Major::K)
    prepareRows();
  else
    prepareTransposed();
}

/// A lane passes a row of the first tile or, if a load has two tiles, of the
/// second one.
void FragmentLoader::prepareRows() {
  MLIRContext *context = b.getContext();
  auto [row, column] = emitMatrixRow(b, loc, fragment, lane);
  AffineExpr d0, d1, d2;
  bindDims(context, d0, d1, d2);
  AffineExpr tile = d2.floorDiv(8).floorDiv(fragment.registers);
  unsigned bits = getStoredBits(layout.storage, slot);
  int64_t chunkElements = kChunkBytes * 8 / bits;
  ChunkSwizzle chunkSwizzle = getChunkSwizzle(getRowBytes());
  // Rows of other loads differ from a lane's row by multiples of 8, which is a
  // period of the swizzle.
  SmallVector<Value> values = applyMap(
      b, loc,
      AffineMap::get(
          3, 0,
          {d0 + tile * fragment.rows, d1.floorDiv(chunkElements),
           d0.floorDiv(chunkSwizzle.rowsPerStep) % chunkSwizzle.modulus},
          context),
      {row, column, lane});
  laneRow = applyExpr(b, loc, d0 + d1, {values[0], first});
  laneChunk = values[1];
  if (layout.isSwizzled)
    swizzle = values[2];
  // A lane's chunk is one of those of a step, which are a power of two.
  hasDisjointChunks = true;
}

/// Rows are steps along K. A wide matrix has 16 of them, and a load has two
/// matrices. Other matrices have 8, and a load has the same four as one of rows
/// of A or B, each transposed.
void FragmentLoader::prepareTransposed() {
  MLIRContext *context = b.getContext();
  AffineExpr d0, d1, d2;
  bindDims(context, d0, d1, d2);
  ChunkSwizzle chunkSwizzle = getChunkSwizzle(getRowBytes());
  int64_t chunkElements = kChunkBytes * 8 / slot.bits;
  laneRow = lane;
  laneChunk = applyExpr(b, loc, d0.floorDiv(chunkElements), first);
  hasDisjointChunks = llvm::isPowerOf2_64(rows);
  if (!hasWideMatrices) {
    auto [row, column] = emitMatrixRow(b, loc, fragment, lane);
    AffineExpr tile = d2.floorDiv(8).floorDiv(fragment.registers);
    AffineExpr at = d0 + tile * fragment.rows;
    SmallVector<Value> values = applyExprs(
        b, loc, {d1 + at % 8, at.floorDiv(chunkElements)}, {row, column, lane});
    laneRow = values[0];
    laneChunk = applyExpr(b, loc, d0 + d1, {values[1], laneChunk});
  }
  if (layout.isSwizzled)
    swizzle = applyExpr(
        b, loc, d0.floorDiv(chunkSwizzle.rowsPerStep) % chunkSwizzle.modulus,
        laneRow);
}

/// The offset of the lane's row of 16 bytes in chunk `index`, counted from the
/// lane's first chunk, and a constant to add to it.
FragmentLoader::Address FragmentLoader::getChunk(int64_t index) {
  auto constant = [&](int64_t value) -> Value {
    return arith::ConstantIndexOp::create(b, loc, value);
  };
  int64_t rowBytes = getRowBytes();
  int64_t modulus = swizzle ? getChunkSwizzle(rowBytes).modulus : 1;
  // The swizzle permutes groups of `modulus` chunks, each in the same way.
  int64_t permuted = hasDisjointChunks ? index % modulus : index;
  int64_t plus = (index - permuted) * kChunkBytes;
  Value &offset = offsets[permuted];
  if (offset)
    return {offset, plus};
  if (!laneOffset) {
    laneOffset = arith::MulIOp::create(b, loc, laneRow, constant(rowBytes));
    if (hasDisjointChunks) {
      Value chunk = laneChunk;
      if (swizzle)
        chunk = arith::XOrIOp::create(b, loc, chunk, swizzle);
      Value byte = arith::MulIOp::create(b, loc, chunk, constant(kChunkBytes));
      laneOffset = arith::AddIOp::create(b, loc, laneOffset, byte);
    }
  }
  if (hasDisjointChunks) {
    // No bit of `permuted` is set in the lane's chunk: loads differ by an
    // exclusive or with a constant, which is computed before the loop.
    offset = permuted == 0
                 ? laneOffset
                 : Value(arith::XOrIOp::create(
                       b, loc, laneOffset, constant(permuted * kChunkBytes)));
    return {offset, plus};
  }
  Value chunk = arith::AddIOp::create(b, loc, laneChunk, constant(permuted));
  if (swizzle)
    chunk = arith::XOrIOp::create(b, loc, chunk, swizzle);
  Value byte = arith::MulIOp::create(b, loc, chunk, constant(kChunkBytes));
  offset = arith::AddIOp::create(b, loc, laneOffset, byte);
  return {offset, plus};
}

int64_t FragmentLoader::getRowBytes() const {
  return cast<MemRefType>(elements.getType()).getShape().back();
}

FragmentLoader::Address FragmentLoader::getAddress(int64_t load, int64_t step) {
  int64_t rowBytes = getRowBytes();
  bool isK = layout.major == Major::K;
  int64_t stepBytes =
      fragment.columns * getStoredBits(layout.storage, slot) / 8;
  int64_t loadBytes =
      tilesPerLoad * fragment.rows * getStoredBits(layout.storage, slot) / 8;
  // A step along K is in one of the columns of B.
  int64_t byte = isK ? step * stepBytes : load * loadBytes, column = 0;
  auto type = cast<MemRefType>(elements.getType());
  if (type.getRank() == 3) {
    column = byte / rowBytes;
    byte %= rowBytes;
  }
  Address address = getChunk(byte / kChunkBytes);
  address.plus += column * rowBytes * type.getShape().take_back(2).front();
  address.plus += rowBytes * (isK ? load * tilesPerLoad * fragment.rows
                                  : step * fragment.columns);
  return address;
}

/// Loads `count` registers, and shifts elements into position in their slots.
SmallVector<Value> FragmentLoader::loadRegisters(const Address &address,
                                                 int64_t count) {
  auto type = VectorType::get(count, b.getI32Type());
  bool isTransposed = layout.major == Major::MN;
  Value loaded = LoadMatrixOp::create(b, loc, type, elements, address.offset,
                                      address.plus, codeBits, isTransposed);
  if (layout.storage != Storage::Slots && slot.shift != 0) {
    Value shift = arith::ConstantOp::create(
        b, loc,
        DenseElementsAttr::get(
            type, b.getI32IntegerAttr(static_cast<int32_t>(slot.shift))));
    loaded = arith::ShLIOp::create(b, loc, loaded, shift);
  }
  return extractElements(b, loc, loaded);
}

SmallVector<Value> FragmentLoader::loadStep(int64_t step) {
  return loadTiles([&](int64_t load) { return getAddress(load, step); });
}

SmallVector<Value> FragmentLoader::loadStep(Value step) {
  assert(layout.major == Major::K && "addresses of rows");
  int64_t rowBytes = getRowBytes();
  int64_t stepBytes =
      fragment.columns * getStoredBits(layout.storage, slot) / 8;
  AffineExpr row, chunk, s;
  bindDims(b.getContext(), row, chunk, s);
  Value at = applyExpr(b, loc, chunk + s * (stepBytes / kChunkBytes),
                       {laneRow, laneChunk, step});
  if (swizzle)
    at = arith::XOrIOp::create(b, loc, at, swizzle);
  Value offset =
      applyExpr(b, loc, row * rowBytes + chunk * kChunkBytes, {laneRow, at});
  return loadTiles([&](int64_t load) -> Address {
    return {offset, rowBytes * load * tilesPerLoad * fragment.rows};
  });
}

SmallVector<Value>
FragmentLoader::loadTiles(function_ref<Address(int64_t load)> getAddress) {
  auto type = VectorType::get(fragment.registers, b.getI32Type());
  SmallVector<Value> values;
  for (int64_t tile = 0; tile < tiles; tile += tilesPerLoad) {
    // A wide matrix always has two tiles, even if one is not needed.
    int64_t loaded = std::min(tilesPerLoad, tiles - tile);
    int64_t count =
        hasWideMatrices ? kRegistersPerLoad : loaded * fragment.registers;
    SmallVector<Value> registers =
        loadRegisters(getAddress(tile / tilesPerLoad), count);
    for (int64_t i = 0; i != loaded; ++i) {
      SmallVector<Value> ofTile;
      for (int64_t reg = 0; reg != fragment.registers; ++reg)
        ofTile.push_back(
            registers[hasWideMatrices ? reg * tilesPerLoad + i
                                      : i * fragment.registers + reg]);
      values.push_back(vector::FromElementsOp::create(b, loc, type, ofTile));
    }
  }
  return values;
}

//===----------------------------------------------------------------------===//
// Scales
//===----------------------------------------------------------------------===//

SmallVector<Value> FragmentLoader::loadWords(int64_t word) {
  if (order == ScaleOrder::Atoms)
    return loadAtomWords(word);
  const ScaleFragment &layout = getScaleFragment(operand);
  int64_t groupRows = layout.tiles * layout.rowsPerTile;
  SmallVector<Value> words;
  for (int64_t row = 0; row < rows; row += groupRows)
    words.push_back(loadWord(row / groupRows, word));
  return words;
}

/// The outer of a group, in the layouts `lanes` and `parts`, that this lane
/// reads. A warp with less than a group reads from its own first row on.
Value FragmentLoader::getOuter() {
  if (outer)
    return outer;
  AffineExpr l, f;
  bindDims(b.getContext(), l, f);
  AffineExpr expr = l;
  if (rows % kWarpLanes != 0)
    expr = l.floorDiv(4) * 4 + (l % 4 + f.floorDiv(8)) % 4;
  outer = applyExpr(b, loc, expr, {lane, first});
  return outer;
}

Value FragmentLoader::loadWord(int64_t group, int64_t word) {
  auto type = dyn_cast<MemRefType>(scales.getType());
  MLIRContext *context = b.getContext();
  AffineExpr d0, d1;
  bindDims(context, d0, d1);
  auto index = [&](int64_t value) -> Value {
    return arith::ConstantIndexOp::create(b, loc, value);
  };
  if (!type) {
    // One scale for all blocks.
    Value wide = arith::ExtUIOp::create(b, loc, b.getI32Type(), scales);
    Value ones =
        arith::ConstantIntOp::create(b, loc, b.getI32Type(), 0x01010101);
    return arith::MulIOp::create(b, loc, wide, ones);
  }

  if (order == ScaleOrder::Rows) {
    const ScaleFragment &layout = getScaleFragment(operand);
    Value row =
        applyExpr(b, loc, d0 + d1 + group * layout.tiles * layout.rowsPerTile,
                  {emitScaleRow(b, loc, operand, lane), first});
    // A group may be larger than the warp's share. Lanes beyond the tile load,
    // too, but no instruction selects them.
    row = arith::MinUIOp::create(b, loc, row, index(type.getDimSize(0) - 1));
    return blockscale::loadWords(
        b, loc, scales, {row, index(word * kScalesPerWord)}, kScalesPerWord)[0];
  }

  bool hasParts = order == ScaleOrder::Parts;
  int64_t bytes = type.getShape().back();
  int64_t words = bytes / kScalesPerWord;
  // Vectors have words of one row, or of rows that are 32 apart.
  int64_t part = hasParts ? group / words : group;
  int64_t inVector = hasParts ? group % words : word;
  // At most 16 bytes, the size of a load.
  int64_t wordsOfLoad = std::min<int64_t>(words, kChunkBytes / kScalesPerWord);
  int64_t firstWord = inVector / wordsOfLoad * wordsOfLoad;
  auto key = std::make_pair(part, (hasParts ? word : 0) * words + firstWord);
  SmallVector<Value> &loaded = loads[key];
  if (loaded.empty()) {
    int64_t rowsPerPart = kWarpLanes * (hasParts ? words : 1);
    AffineExpr ofWarp = d0.floorDiv(rowsPerPart) + part;
    SmallVector<Value> position = applyMap(
        b, loc,
        AffineMap::get(1, 0, {ofWarp, getScaleSkewExpr(ofWarp)}, context),
        first);
    Value outer = getOuter();
    if (hasParts)
      outer = arith::XOrIOp::create(b, loc, outer, position[1]);
    SmallVector<Value> indices = {position[0], outer,
                                  index(firstWord * kScalesPerWord)};
    if (hasParts)
      indices.insert(indices.begin(), index(word));
    loaded = blockscale::loadWords(b, loc, scales, indices,
                                   wordsOfLoad * kScalesPerWord);
  }
  return loaded[inVector - firstWord];
}

/// A lane holds the word of its row of each tile. Words of rows that are 32
/// apart are adjacent in memory. All lanes of a row load them, so that
/// instructions for all tiles select the same lanes.
SmallVector<Value> FragmentLoader::loadAtomWords(int64_t word) {
  constexpr int64_t kOuter = kScaleAtomOuter;
  int64_t tileRows = getScaleFragment(operand).rowsPerTile;
  int64_t wordsAtOnce = std::max<int64_t>(rows / kOuter, 1);
  int64_t loads = tiles / wordsAtOnce;
  AffineExpr ofLane, ofWarp;
  bindDims(b.getContext(), ofLane, ofWarp);
  Value row = emitScaleRow(b, loc, operand, lane);
  SmallVector<Value> words(tiles);
  for (int64_t load = 0; load != loads; ++load) {
    AffineExpr start = ofWarp % kScaleAtomRows;
    SmallVector<Value> indices =
        applyExprs(b, loc,
                   {ofWarp.floorDiv(kScaleAtomRows),
                    start % kOuter + ofLane % tileRows + load * tileRows,
                    start.floorDiv(kOuter) * kScalesPerWord},
                   {row, first});
    indices.insert(indices.begin() + 1,
                   arith::ConstantIndexOp::create(b, loc, word));
    SmallVector<Value> loaded = blockscale::loadWords(
        b, loc, scales, indices, wordsAtOnce * kScalesPerWord);
    for (int64_t i = 0; i != wordsAtOnce; ++i)
      words[i * loads + load] = loaded[i];
  }
  return words;
}
