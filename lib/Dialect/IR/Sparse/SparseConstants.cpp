//===- SparseConstants.cpp - Folds of sparse ops on constants -------------===//
//
// Part of the blockscale project, under the Apache License v2.0 with LLVM
// Exceptions. See LICENSE for license information.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//
//
// Moves codes, not floats, so that each keeps its bits. What fails at run time
// is not folded: the program reports it.
//
//===----------------------------------------------------------------------===//

#include "ConstantFolds.h"
#include "blockscale/Dialect/IR/ScaleRules.h"
#include "blockscale/Dialect/IR/Sparse.h"
#include "llvm/ADT/bit.h"
#include "llvm/Support/MathExtras.h"

using namespace mlir;
using namespace mlir::blockscale;

/// The codes of a constant of floats of at most 8 bits.
static SmallVector<uint8_t> getCodes(DenseElementsAttr values) {
  return llvm::map_to_vector(
      values.getValues<APFloat>(), [](const APFloat &value) {
        return static_cast<uint8_t>(value.bitcastToAPInt().getZExtValue());
      });
}

static SmallVector<uint8_t> getBytes(DenseElementsAttr values) {
  return llvm::map_to_vector(values.getValues<APInt>(), [](const APInt &value) {
    return static_cast<uint8_t>(value.getZExtValue());
  });
}

//===----------------------------------------------------------------------===//
// sparsify
//===----------------------------------------------------------------------===//

/// The magnitude of a unit, as the bits of an f32, with one NaN above infinity.
static uint32_t getMagnitude(ArrayRef<APFloat> unit) {
  float sum = 0;
  for (const APFloat &value : unit)
    sum += std::abs(toFloat(value));
  uint32_t bits = llvm::bit_cast<uint32_t>(sum) & kF32Magnitude;
  return bits > kF32Infinity ? kF32NaN : bits;
}

DenseElementsAttr blockscale::sparsifyConstant(DenseElementsAttr source,
                                               const GranularityInfo &units) {
  if (!isSmall(source.getType()))
    return {};
  SmallVector<APFloat> values(source.getValues<APFloat>());
  auto unit = static_cast<size_t>(units.unit);
  for (size_t first = 0; first != values.size(); first += units.chunk()) {
    uint32_t magnitudes[kUnitsPerChunk];
    for (auto [i, magnitude] : llvm::enumerate(magnitudes))
      magnitude = getMagnitude(ArrayRef(values).slice(first + i * unit, unit));
    for (size_t i = 0; i != kUnitsPerChunk; ++i) {
      // Others that are kept before this one.
      unsigned before = 0;
      for (size_t j = 0; j != kUnitsPerChunk; ++j)
        before += j < i ? magnitudes[j] >= magnitudes[i]
                        : magnitudes[j] > magnitudes[i];
      if (before >= kKeptUnits)
        for (size_t e = 0; e != unit; ++e) {
          APFloat &value = values[first + i * unit + e];
          value = APFloat::getZero(value.getSemantics());
        }
    }
  }
  return DenseElementsAttr::get(source.getType(), values);
}

//===----------------------------------------------------------------------===//
// compress and decompress
//===----------------------------------------------------------------------===//

std::optional<CompressedConstant>
blockscale::compressConstant(DenseElementsAttr source, CompressOp op) {
  ShapedType type = source.getType();
  auto elementsType = cast<ShapedType>(op.getElements().getType());
  auto metadataType = cast<ShapedType>(op.getMetadata().getType());
  if (!isSmall(type))
    return std::nullopt;
  const GranularityInfo &units = op.getUnits();
  unsigned magnitudeMask =
      getFormatInfo(*getElementFormat(type.getElementType())).magnitudeMask();
  SmallVector<uint8_t> dense = getCodes(source);
  SmallVector<uint8_t> kept, metadata;
  int64_t numChunks = static_cast<int64_t>(dense.size()) / units.chunk();
  for (int64_t chunk = 0; chunk != numChunks; ++chunk) {
    ArrayRef<uint8_t> codes =
        ArrayRef(dense).slice(chunk * units.chunk(), units.chunk());
    unsigned nonZeros = 0;
    for (auto [i, code] : llvm::enumerate(codes))
      if (code & magnitudeMask)
        nonZeros |= 1u << (static_cast<int64_t>(i) / units.unit);
    std::optional<unsigned> field = getField(nonZeros);
    if (!field)
      return std::nullopt;
    for (unsigned i = 0; i != kKeptUnits; ++i) {
      unsigned position = getPosition(*field, i);
      bool isZero = !(nonZeros >> position & 1);
      for (int64_t e = 0; e != units.unit; ++e)
        kept.push_back(isZero ? 0 : codes[position * units.unit + e]);
    }
    // Chunks of a row are an even number, so bytes do not span rows.
    if (chunk % 2 == 0)
      metadata.push_back(*field);
    else
      metadata.back() |= *field << kFieldBits;
  }
  return CompressedConstant{makeCodes(elementsType, kept),
                            makeCodes(metadataType, metadata)};
}

DenseElementsAttr blockscale::decompressConstant(DenseElementsAttr elements,
                                                 DenseElementsAttr metadata,
                                                 DecompressOp op) {
  auto type = cast<ShapedType>(op.getResult().getType());
  if (!isSmall(type))
    return {};
  const GranularityInfo &units = op.getUnits();
  unsigned magnitudeMask =
      getFormatInfo(*getElementFormat(type.getElementType())).magnitudeMask();
  SmallVector<uint8_t> kept = getCodes(elements), bytes = getBytes(metadata);
  SmallVector<uint8_t> dense(type.getNumElements(), 0);
  for (auto [i, code] : llvm::enumerate(kept)) {
    auto index = static_cast<int64_t>(i);
    int64_t chunk = getKeptElement(units, index).chunk;
    unsigned field = getFieldOf(bytes.data(), chunk);
    bool isLegal = isLegalField(field) ||
                   (field == kEmptyChunkField && !(code & magnitudeMask));
    if (!isLegal)
      return {};
    dense[getLogicalIndex(units, index, field)] = code;
  }
  return makeCodes(type, dense);
}

//===----------------------------------------------------------------------===//
// tile_metadata and untile_metadata
//===----------------------------------------------------------------------===//

/// Calls `visit` with the positions of each byte of row-major metadata of
/// `shape`, and of the same byte in atoms.
static void
visitBytes(ArrayRef<int64_t> shape,
           llvm::function_ref<void(int64_t rowMajor, int64_t tiled)> visit) {
  int64_t numBatches = shape.size() == 3 ? shape[0] : 1;
  int64_t rows = shape.take_back(2)[0], bytes = shape.take_back(2)[1];
  int64_t batchBytes = llvm::divideCeilSigned(rows, kMetadataAtomRows) *
                       llvm::divideCeilSigned(bytes, kMetadataAtomBytes) *
                       kMetadataAtomRows * kMetadataAtomBytes;
  for (int64_t batch = 0; batch != numBatches; ++batch)
    for (int64_t row = 0; row != rows; ++row)
      for (int64_t byte = 0; byte != bytes; ++byte)
        visit((batch * rows + row) * bytes + byte,
              batch * batchBytes + getTiledMetadataOffset(row, byte, rows));
}

DenseElementsAttr blockscale::tileMetadataConstant(DenseElementsAttr metadata,
                                                   ShapedType type) {
  if (!isSmall(type))
    return {};
  SmallVector<uint8_t> from = getBytes(metadata);
  SmallVector<uint8_t> to(type.getNumElements(), kPaddingMetadata);
  visitBytes(
      metadata.getType().getShape(),
      [&](int64_t rowMajor, int64_t tiled) { to[tiled] = from[rowMajor]; });
  return makeCodes(type, to);
}

DenseElementsAttr blockscale::untileMetadataConstant(DenseElementsAttr tiled,
                                                     ShapedType type) {
  if (!isSmall(type) || !isSmall(tiled.getType()))
    return {};
  SmallVector<uint8_t> from = getBytes(tiled);
  SmallVector<uint8_t> to(type.getNumElements());
  visitBytes(type.getShape(), [&](int64_t rowMajor, int64_t position) {
    to[rowMajor] = from[position];
  });
  return makeCodes(type, to);
}
