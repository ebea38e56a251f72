//===- WarpgroupMixed.cpp - Mixed input and GEMV --------------------------===//
//
// Part of the blockscale project, under the Apache License v2.0 with LLVM
// Exceptions. See LICENSE for license information.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#include "Tcgen05/Checks.h"

using namespace mlir;
using namespace mlir::blockscale;

static constexpr int64_t kKChunkBytes = 64, kByteBits = 8;

int64_t WarpgroupMmaMixedOp::getChunkElements() {
  int64_t elements =
      kKChunkBytes * kByteBits / getFormatInfo(getTypes().getB()).storedBits();
  return getTypes().getSparsity() ? elements * kUnitsPerChunk / kKeptUnits
                                  : elements;
}

int64_t WarpgroupMmaMixedOp::getMetadataWords() {
  constexpr int64_t kWordBytes = 4;
  std::optional<Granularity> sparsity = getTypes().getSparsity();
  return sparsity ? getChunkElements() / kWordBytes /
                        getGranularityInfo(*sparsity).elementsPerByte()
                  : 0;
}

int64_t WarpgroupMmaGemvOp::getChunkBlocks() {
  constexpr int64_t kBoxElements = 128;
  return kBoxElements / getTypes().getBlockSize();
}

int64_t WarpgroupMmaMixedOp::getChunkBlocks() {
  return getChunkElements() / getTypes().getBlockSize();
}

/// (C6)
static LogicalResult verifySparse(WarpgroupMmaMixedOp op) {
  constexpr int64_t kRows = 2, kMostBlocks = 8;
  constexpr unsigned kPairBits = 4;
  TypeCombinationAttr types = op.getTypes();
  std::optional<Granularity> sparsity = types.getSparsity();
  if (op.getInstruction().getSparsity() != sparsity)
    return op.emitOpError("expected an instruction and types of the same "
                          "granularity, got ")
           << op.getInstruction() << " and " << types;
  if (sparsity == Granularity::Pairs &&
      getFormatInfo(types.getB()).storedBits() != kPairBits)
    return op.emitOpError("expected elements of ")
           << kPairBits << " bits where pairs are kept, got " << types;
  if (op.getChunkBlocks() > kMostBlocks)
    return op.emitOpError("expected at most ")
           << kMostBlocks << " blocks in a chunk of " << op.getChunkElements()
           << " elements, got " << op.getChunkBlocks();
  int64_t words =
      kRows * op.getElements().getType().getDimSize(0) * op.getMetadataWords();
  if (static_cast<int64_t>(op.getMetadata().size()) != words)
    return op.emitOpError("expected ")
           << words << " registers of metadata, got "
           << op.getMetadata().size();
  return success();
}

LogicalResult WarpgroupMmaMixedOp::verify() {
  InstructionAttr instruction = getInstruction();
  if (instruction.getPath() != Path::Wgmma ||
      (instruction.getA() != Format::BF16 &&
       instruction.getA() != Format::F16)) // (C1)
    return emitOpError("expected an instruction of wgmma, of bf16 or f16, got ")
           << instruction;
  Matrix tile = {"b", getB().getType(), getLayout().getLayout()};
  if (failed(verifyMatrix(*this, tile))) // (C2)
    return failure();
  MatrixShape shape = tile.getShape();
  if (shape.major != Major::K || tile.layout.storage != Storage::Slots)
    return emitOpError("expected b with swizzle rows of ")
           << StringRef(stringifyStorage(Storage::Slots)) << " along k, got "
           << getLayout();
  AccType acc = getAcc().getType();
  ArrayRef<int64_t> elements = getElements().getType().getShape();
  if (!isa<WarpColumnsAttr>(Attribute(acc.getLayout())) ||
      acc.getM() != instruction.getN() || acc.getN() != elements[1] ||
      elements[2] != kKChunkBytes) // (C3)
    return emitOpError("expected an accumulator of ")
           << instruction.getN() << " rows in #blockscale.warp_columns, and "
           << "elements in chunks x " << acc.getN() << " x " << kKChunkBytes
           << ", got " << acc << " and " << getElements().getType();
  constexpr int64_t kElementBytes = 2;
  int64_t k = shape.columns * shape.rowBytes / kElementBytes;
  if (shape.rows != acc.getM() || k != elements[0] * getChunkElements()) // (C4)
    return emitOpError("expected b with ")
           << acc.getM() << " rows of " << elements[0] * getChunkElements()
           << " elements, got " << shape.rows << " of " << k;
  constexpr int64_t kRows = 2;
  int64_t registers =
      kRows *
      llvm::divideCeilSigned(elements[0] * getChunkBlocks(), kBlocksOfWord);
  if (static_cast<int64_t>(getScales().size()) != registers) // (C5)
    return emitOpError("expected ")
           << registers << " registers of scales, got " << getScales().size();
  return verifySparse(*this);
}

LogicalResult WarpgroupMmaGemvOp::verify() {
  TypeCombinationAttr types = getTypes();
  for (Format format : {types.getA(), types.getB()})
    if (format != Format::E2M1) // (G1)
      return emitOpError("expected only types of e2m1, got ") << types;
  constexpr int64_t kRows = 2, kSums = 8, kColumnsOfChunk = 8, kChunk = 16;
  AccType acc = getAcc().getType();
  MemRefType elements = getElements().getType(), b = getB().getType();
  bool isSpread = isa<WarpColumnsAttr>(Attribute(acc.getLayout()));
  if (!isSpread || acc.getM() != kSums || !elements.hasStaticShape() ||
      acc.getN() != elements.getDimSize(1) ||
      elements.getDimSize(2) != kKChunkBytes) // (G2)
    return emitOpError("expected an accumulator of ")
           << kSums
           << " rows in #blockscale.warp_columns, and elements in chunks x "
           << acc.getN() << " x " << kKChunkBytes << ", got " << acc << " and "
           << elements;
  int64_t chunks = elements.getDimSize(0), blocks = chunks * getChunkBlocks();
  const int64_t extents[] = {chunks * kColumnsOfChunk, kSums, kChunk};
  MemRefType factors = getFactors().getType();
  if (b.getShape() != ArrayRef(extents) ||
      factors.getDimSize(0) != blocks) // (G3)
    return emitOpError("expected b of ")
           << extents[0] << " x " << extents[1] << " x " << extents[2]
           << ", and " << blocks << " factors, got " << b << " and " << factors;
  int64_t registers = kRows * llvm::divideCeilSigned(blocks, kBlocksOfWord);
  if (static_cast<int64_t>(getScales().size()) != registers) // (G4)
    return emitOpError("expected ")
           << registers << " registers of scales, got " << getScales().size();
  return success();
}

LogicalResult AccTransposeOp::verify() {
  AccType acc = getAcc().getType();
  auto columns = dyn_cast<WarpColumnsAttr>(Attribute(acc.getLayout()));
  if (columns &&
      getResult().getType() ==
          AccType::get(getContext(), acc.getN(), acc.getM(),
                       WarpsAttr::get(getContext(), columns.getWarps(), 1)))
    return success(); // (P1)
  return emitOpError("expected an accumulator in #blockscale.warp_columns<w> "
                     "and its transpose in #blockscale.warps<wx1>, got ")
         << acc << " and " << getResult().getType();
}

LogicalResult AccTotalOp::verify() {
  AccType acc = getAcc().getType();
  if (isa<WarpColumnsAttr>(Attribute(acc.getLayout()))) // (O1)
    return success();
  return emitOpError(
             "expected an accumulator in #blockscale.warp_columns, got ")
         << acc;
}
