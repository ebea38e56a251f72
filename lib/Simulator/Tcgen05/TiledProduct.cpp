//===- TiledProduct.cpp - The product of one tcgen05.mma ------------------===//
//
// Part of the blockscale project, under the Apache License v2.0 with LLVM
// Exceptions. See LICENSE for license information.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//
//
// Computes a tcgen05.mma as tiles of mma.sync: operands are decoded once, and
// each tile uses its rows and columns.
//
//===----------------------------------------------------------------------===//

#include "Tcgen05/TiledProduct.h"

#include "Mma/AdderRules.h"
#include "Mma/MatrixOperands.h"
#include "Mma/MatrixSum.h"
#include "SharedDescriptors/SharedMatrix.h"
#include "Tcgen05/SparseMetadata.h"

#include "llvm/ADT/STLExtras.h"
#include "llvm/Support/MathExtras.h"

#include <cmath>

using namespace mlir::blockscale;
using namespace mlir::blockscale::sim;

/// The shape of a tile of mma.sync.
static constexpr unsigned kTileM = kMaxM, kTileN = kN;

//===----------------------------------------------------------------------===//
// The form of a tile
//===----------------------------------------------------------------------===//

static MmaKind getTileKind(Tcgen05Kind kind) {
  switch (kind) {
  case Tcgen05Kind::F16:
  case Tcgen05Kind::TF32:
  case Tcgen05Kind::I8:
    return MmaKind::None;
  case Tcgen05Kind::F8F6F4:
    return MmaKind::F8F6F4;
  case Tcgen05Kind::MXF8F6F4:
    return MmaKind::MXF8F6F4;
  case Tcgen05Kind::MXF4:
    return MmaKind::MXF4;
  case Tcgen05Kind::MXF4NVF4:
    return MmaKind::MXF4NVF4;
  }
  return MmaKind::None;
}

/// The form of mma.sync that multiplies the same elements. There is none for
/// an extended K: the form for the K of the kind is extended. There is none for
/// f16 with bf16 either: the elements are decoded before, so the form of bf16,
/// which has the larger range, is used.
static MmaForm makeTileForm(const InstructionDescriptor &d,
                            unsigned blockSize) {
  unsigned tileK = d.extendedK ? d.extendedK->narrowK : d.k;
  unsigned keptK = d.isSparse ? tileK / 2 : tileK;
  unsigned scaleVec = blockSize ? keptK / blockSize : 0;
  Sparsity sparsity = d.isSparse ? Sparsity::Ordered : Sparsity::Dense;
  Type a = d.a, b = d.b;
  if (a != b && d.kind == Tcgen05Kind::F16)
    a = b = Type::BF16;
  const MmaForm *form = llvm::find_if(getMmaForms(), [&](const MmaForm &form) {
                          return form.kind == getTileKind(d.kind) &&
                                 form.sparsity == sparsity &&
                                 form.m == kTileM && form.k == tileK &&
                                 form.a == a && form.b == b && form.c == d.d &&
                                 form.isSatfinite == d.isSaturating &&
                                 form.scaleVec == scaleVec &&
                                 (!blockSize || form.scale == d.scale);
                        }).base();
  MmaForm result = *form;
  result.a = d.a;
  result.b = d.b;
  result.k = d.k;
  result.scaleVec = blockSize ? d.getKeptK() / blockSize : 0;
  return result;
}

//===----------------------------------------------------------------------===//
// Operands
//===----------------------------------------------------------------------===//

static DecodedMatrix decodeOperand(const ProductOperand &operand,
                                   unsigned block, Type type, unsigned k,
                                   bool isNegated) {
  TileShape shape = {operand.rows, k, operand.isTransposed, operand.packing};
  DecodedMatrix matrix = decodeShared(*operand.storages[block], operand.offsets,
                                      shape, type, isNegated);
  matrix.values.erase(matrix.values.begin(),
                      matrix.values.begin() + operand.firstRow * k);
  matrix.undefinedRows.erase(matrix.undefinedRows.begin(),
                             matrix.undefinedRows.begin() + operand.firstRow);
  return matrix;
}

/// Sets masked columns of B to 0.
static void clearColumns(DecodedMatrix &matrix, unsigned k,
                         const std::vector<bool> &zeroColumns) {
  for (auto [column, isZero] : llvm::enumerate(zeroColumns)) {
    if (!isZero)
      continue;
    std::fill_n(matrix.values.begin() + column * k, k, 0);
    matrix.undefinedRows[column] = false;
  }
}

static DecodedMatrix decodeTensor(const TiledProduct &product, unsigned block,
                                  unsigned part) {
  const InstructionDescriptor &d = product.descriptor;
  TensorMemory &memory = *product.memories[block];
  unsigned slotBits = kChunkBytes * 8 / product.a.packing.elementsOfChunk;
  unsigned slotsOfCell = 32 / slotBits;
  unsigned shift = slotBits == 8 ? getByteShift(product.a.packing.bits) : 0;
  DecodedMatrix matrix;
  matrix.undefinedRows.resize(product.rows);
  for (unsigned row = 0; row != product.rows; ++row)
    for (unsigned k = 0; k != d.k; ++k) {
      unsigned lane = product.getLane(row, part);
      unsigned column = product.a.column + k / slotsOfCell;
      unsigned first = k % slotsOfCell * slotBits;
      uint32_t bits = memory.value(lane, column) >> (first + shift) &
                      llvm::maskTrailingOnes<uint32_t>(product.a.packing.bits);
      double value = decodeElement(d.a, bits);
      matrix.values.push_back(d.isNegatedA ? -value : value);
      unsigned bytes =
          llvm::maskTrailingOnes<unsigned>(std::max(slotBits / 8, 1u))
          << first / 8;
      if (memory.undefined(lane, column) & bytes)
        matrix.undefinedRows[row] = true;
    }
  return matrix;
}

//===----------------------------------------------------------------------===//
// D
//===----------------------------------------------------------------------===//

static double decodeAccumulator(Type type, uint32_t bits) {
  if (type == Type::S32)
    return static_cast<int32_t>(bits);
  return decodeFloat(type, type == Type::F16 ? bits & 0xFFFF : bits);
}

namespace {

/// The product of the rows of one block and one part of the columns.
class PartProduct {
public:
  PartProduct(TiledProduct &product, const MmaForm &form,
              const AdderRule *adder, unsigned block, unsigned part)
      : product(product), form(form), adder(adder),
        memory(*product.memories[block]), block(block), part(part) {}

  const DecodedMatrix *a, *b;
  /// Of a sparse A.
  const SparsePositions *positions = nullptr;
  const ScaleValues *scaleA = nullptr, *scaleB = nullptr;

  void run();

private:
  void fillRows(unsigned first);
  void fillColumns(unsigned first);
  void multiply(unsigned firstRow, unsigned firstColumn);

  TiledProduct &product;
  const MmaForm &form;
  const AdderRule *adder;
  TensorMemory &memory;
  const unsigned block, part;
  MmaMatrices tile;
};

} // namespace

void PartProduct::fillRows(unsigned first) {
  unsigned k = form.getKeptK(), count = form.getNumBlocks();
  for (unsigned m = 0; m != kTileM; ++m) {
    std::copy_n(a->values.begin() + (first + m) * k, k, tile.a + m * k);
    if (positions)
      std::copy_n(positions->positions.begin() + (first + m) * k, k,
                  tile.positions + m * k);
    for (unsigned q = 0; scaleA && q != count; ++q)
      tile.scaleA[m * kMaxBlocks + q] = scaleA->values[(first + m) * count + q];
  }
}

void PartProduct::fillColumns(unsigned first) {
  unsigned k = form.k, count = form.getNumBlocks();
  unsigned firstOfPart =
      first - part * (product.descriptor.n / product.numParts);
  for (unsigned n = 0; n != kTileN; ++n) {
    for (unsigned i = 0; i != k; ++i)
      tile.b[i * kN + n] = b->values[(first + n) * k + i];
    for (unsigned q = 0; scaleB && q != count; ++q)
      tile.scaleB[q * kN + n] = scaleB->values[(firstOfPart + n) * count + q];
  }
}

void PartProduct::multiply(unsigned firstRow, unsigned firstColumn) {
  const InstructionDescriptor &d = product.descriptor;
  unsigned ofPart = firstColumn - part * (d.n / product.numParts);
  uint8_t valueBytes = d.d == Type::F16 ? 0b0011 : 0b1111;
  std::array<bool, kTileM * kTileN> isUndefined;
  for (unsigned m = 0; m != kTileM; ++m)
    for (unsigned n = 0; n != kTileN; ++n) {
      unsigned row = firstRow + m, column = firstColumn + n, i = m * kTileN + n;
      isUndefined[i] = a->undefinedRows[row] || b->undefinedRows[column] ||
                       (positions && positions->undefinedRows[row]) ||
                       (scaleA && scaleA->undefinedRows[row]) ||
                       (scaleB && scaleB->undefinedRows[ofPart + n]);
      tile.c[i] = 0;
      if (!product.addsD)
        continue;
      unsigned lane = product.getLane(row, part);
      unsigned at = product.column + ofPart + n;
      isUndefined[i] |= (memory.undefined(lane, at) & valueBytes) != 0;
      tile.c[i] = std::ldexp(decodeAccumulator(d.d, memory.value(lane, at)),
                             -int(product.inputShift));
    }
  uint64_t bits[kTileM * kTileN];
  multiplyMatrices(form, tile, adder, bits);
  for (unsigned m = 0; m != kTileM; ++m) {
    unsigned lane = product.getLane(firstRow + m, part);
    if (!product.disabledLanes.empty() &&
        product.disabledLanes[block].test(lane))
      continue;
    for (unsigned n = 0; n != kTileN; ++n) {
      unsigned at = product.column + ofPart + n, i = m * kTileN + n;
      memory.value(lane, at) = bits[i];
      // The ISA does not specify the bits above an f16.
      memory.undefined(lane, at) =
          isUndefined[i] ? 0b1111 : 0b1111 & ~valueBytes;
    }
  }
}

void PartProduct::run() {
  unsigned columns = product.descriptor.n / product.numParts;
  for (unsigned row = 0; row != product.rows; row += kTileM) {
    fillRows(row);
    for (unsigned n = 0; n != columns; n += kTileN) {
      fillColumns(part * columns + n);
      multiply(row, part * columns + n);
    }
  }
}

/// Appends the rows of a matrix.
static void append(DecodedMatrix &to, const DecodedMatrix &from) {
  llvm::append_range(to.values, from.values);
  to.undefinedRows.insert(to.undefinedRows.end(), from.undefinedRows.begin(),
                          from.undefinedRows.end());
}

ProductOutcome TiledProduct::run() {
  const InstructionDescriptor &d = descriptor;
  MmaForm form = makeTileForm(d, blockSize);
  const AdderRule *adder =
      adderTarget ? findAdderRule(MatrixUnit::Tensor, adderTarget, form)
                  : nullptr;
  ProductOutcome outcome;
  // Each block of a CTA pair has half of the columns of B.
  DecodedMatrix columns;
  for (unsigned block = 0; block != numBlocks; ++block)
    append(columns, decodeOperand(b, block, d.b, d.k, d.isNegatedB));
  clearColumns(columns, d.k, zeroColumns);
  for (unsigned block = 0; block != numBlocks; ++block)
    for (unsigned part = 0; part != numParts; ++part) {
      DecodedMatrix rows =
          a.isInTensorMemory
              ? decodeTensor(*this, block, part)
              : decodeOperand(a, block, d.a, d.getKeptK(), d.isNegatedA);
      PartProduct product(*this, form, adder, block, part);
      product.a = &rows;
      product.b = &columns;
      std::optional<SparsePositions> positions;
      if (d.isSparse) {
        Result<SparsePositions> read = readMetadata(
            *memories[block], metadataColumn, form, rows, block * this->rows);
        if (!read) {
          outcome.error = read.message();
          return outcome;
        }
        positions = *read;
        product.positions = &*positions;
        if (!outcome.strict)
          outcome.strict = positions->strict;
      }
      std::optional<ScaleValues> scales[2];
      for (bool isB : {false, true}) {
        if (!blockSize)
          break;
        ScaleFactors factors = isB ? scaleB : scaleA;
        factors.firstGroup = isB ? 2 * part : 0;
        Result<ScaleValues> read = readScales(*memories[block], factors);
        if (!read) {
          outcome.error = read.message();
          return outcome;
        }
        scales[isB] = *read;
        if (read->signedRow && !outcome.warning)
          outcome.warning =
              "ue4m3 scale: expected 0 in the sign bit, got 1 for " +
              std::string(isB ? "column " : "row ") +
              std::to_string(*read->signedRow);
      }
      if (blockSize) {
        product.scaleA = &*scales[0];
        product.scaleB = &*scales[1];
      }
      product.run();
    }
  return outcome;
}
