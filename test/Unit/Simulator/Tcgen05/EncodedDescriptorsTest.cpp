//===- EncodedDescriptorsTest.cpp - Descriptors of the compiler -----------===//
//
// Part of the blockscale project, under the Apache License v2.0 with LLVM
// Exceptions. See LICENSE for license information.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//
//
// The simulator decodes descriptors that the lowering has encoded; they share
// no tables.
//
//===----------------------------------------------------------------------===//

#include "blockscale/Support/Descriptors.h"

#include "SharedDescriptors/MatrixDescriptor.h"
#include "SharedDescriptors/SharedTile.h"
#include "Tcgen05/InstructionDescriptor.h"

#include "gtest/gtest.h"

namespace blockscale = mlir::blockscale;
using blockscale::Format;
using blockscale::Kind;
using blockscale::Major;
using namespace blockscale::sim;

static Tcgen05Kind getKind(Kind kind) {
  std::string name(kind == Kind::Unscaled ? "f16"
                                          : blockscale::stringifyKind(kind));
  return *lookupTensorKind("kind::" + name);
}

static Type getType(Format format) {
  switch (format) {
  case Format::E4M3:
    return Type::E4M3;
  case Format::E5M2:
    return Type::E5M2;
  case Format::E3M2:
    return Type::E3M2;
  case Format::E2M3:
    return Type::E2M3;
  case Format::E2M1:
    return Type::E2M1;
  case Format::UE8M0:
    return Type::UE8M0;
  case Format::UE4M3:
    return Type::UE4M3;
  case Format::BF16:
    return Type::BF16;
  case Format::F16:
    return Type::F16;
  case Format::None:
    break;
  }
  return Type::E4M3;
}

static void expectFields(const blockscale::InstructionFields &fields) {
  std::optional<uint32_t> word =
      blockscale::encodeInstructionDescriptor(fields);
  ASSERT_TRUE(word);
  blockscale::Result<InstructionDescriptor> d = InstructionDescriptor::decode(
      *word, getKind(fields.kind), fields.m == 256 ? 2 : 1,
      fields.isSparse ? MmaVariant::Sparse : MmaVariant::Dense);
  ASSERT_TRUE(d) << d.message();
  EXPECT_EQ(d->a, getType(fields.a));
  EXPECT_EQ(d->b, getType(fields.b));
  EXPECT_EQ(d->d, Type::F32);
  if (fields.scale != Format::None) {
    EXPECT_EQ(d->scale, getType(fields.scale));
  }
  EXPECT_EQ(d->m, fields.m);
  EXPECT_EQ(d->n, fields.n);
  EXPECT_EQ(d->k, fields.k);
  EXPECT_EQ(d->isTransposedA, fields.isTransposedA);
  EXPECT_EQ(d->isTransposedB, fields.isTransposedB);
  EXPECT_EQ(d->isNegatedA, fields.isNegatedA);
  EXPECT_EQ(d->isNegatedB, fields.isNegatedB);
  EXPECT_EQ(d->scaleIdA, fields.aScaleId);
  EXPECT_EQ(d->scaleIdB, fields.bScaleId);
  EXPECT_EQ(d->isSparse, fields.isSparse);
}

TEST(EncodedDescriptors, Instructions) {
  for (const blockscale::Instruction &instruction :
       blockscale::getInstructions()) {
    if (!blockscale::getDescriptorForm(instruction.kind) ||
        blockscale::getPathInfo(instruction.path).opcode != "tcgen05.mma")
      continue;
    for (unsigned n : {16u, 96u, 256u}) {
      blockscale::InstructionFields fields =
          blockscale::getInstructionFields(instruction, instruction.m, n);
      expectFields(fields);
      unsigned id = instruction.scaleVec == 0 ? 0 : 2;
      fields.aScaleId = id;
      fields.isNegatedA = true;
      expectFields(fields);
      fields.aScaleId = 0;
      fields.bScaleId = id;
      fields.isNegatedA = false;
      fields.isNegatedB = true;
      expectFields(fields);
      fields.m = instruction.mostM;
      expectFields(fields);
      fields.m = instruction.m;
      if (!blockscale::hasContainers(instruction.kind) &&
          instruction.kind != Kind::Unscaled)
        continue;
      fields.isTransposedA = true;
      expectFields(fields);
      fields.isTransposedA = false;
      fields.isTransposedB = true;
      expectFields(fields);
    }
  }
}

/// Where the compiler stores chunk `chunk` (along K, or M or N) of a row.
static uint32_t getOffset(const blockscale::MatrixShape &shape, unsigned outer,
                          unsigned chunk) {
  auto perOuter = static_cast<unsigned>(shape.rowBytes / 16);
  auto bytes = static_cast<uint32_t>(shape.rowBytes);
  unsigned column = chunk / perOuter, inRow = chunk % perOuter;
  if (shape.isSwizzled) {
    blockscale::ChunkSwizzle swizzle =
        blockscale::getChunkSwizzle(shape.rowBytes);
    inRow ^= outer / swizzle.rowsPerStep % swizzle.modulus;
  }
  return column * static_cast<uint32_t>(shape.rows) * bytes + outer * bytes +
         inRow * 16;
}

/// The chunks that an instruction with `rows` of M or N finds, of elements of
/// so many bytes.
static void expectChunks(const blockscale::MatrixShape &shape, unsigned rows,
                         unsigned bytes, bool isWgmma) {
  std::optional<uint64_t> word = blockscale::encodeMatrixDescriptor(
      shape, isWgmma ? blockscale::DescriptorUser::Wgmma
                     : blockscale::DescriptorUser::Tcgen05);
  ASSERT_TRUE(word);
  blockscale::Result<MatrixDescriptor> descriptor = MatrixDescriptor::decode(
      *word, isWgmma ? DescriptorUser::Warpgroup : DescriptorUser::Tensor);
  ASSERT_TRUE(descriptor) << descriptor.message();
  bool isTransposed = shape.major == Major::MN;
  unsigned k = 32 / bytes, ofChunk = 16 / bytes;
  TileShape tile = {};
  tile.rows = rows;
  tile.steps = k;
  tile.packing = {8 * bytes, ofChunk};
  tile.isTransposed = isTransposed;
  blockscale::Result<std::vector<uint32_t>> chunks =
      findChunks(*descriptor, tile);
  ASSERT_TRUE(chunks) << chunks.message();
  unsigned outerSize = isTransposed ? k : rows;
  unsigned perOuter = (isTransposed ? rows : k) / ofChunk;
  ASSERT_EQ(chunks->size(), outerSize * perOuter);
  for (unsigned outer = 0; outer != outerSize; ++outer)
    for (unsigned chunk = 0; chunk != perOuter; ++chunk)
      EXPECT_EQ((*chunks)[outer * perOuter + chunk],
                getOffset(shape, outer, chunk))
          << outer << ", " << chunk;
}

TEST(EncodedDescriptors, Matrices) {
  for (int64_t rowBytes : {32, 64, 128}) {
    expectChunks({Major::K, true, 1, 96, rowBytes}, 96, 1, false);
    expectChunks({Major::K, true, 3, 96, rowBytes}, 96, 1, false);
    expectChunks({Major::MN, true, 128 / rowBytes, 64, rowBytes}, 128, 1,
                 false);
    expectChunks({Major::MN, true, 256 / rowBytes, 32, rowBytes}, 256, 1,
                 false);
  }
  expectChunks({Major::K, false, 2, 40, 16}, 40, 1, false);
  expectChunks({Major::MN, false, 8, 32, 16}, 128, 1, false);
}

// Elements of two bytes; for wgmma, the word has no version.
static void expectHalves(bool isWgmma) {
  for (int64_t rowBytes : {32, 64, 128}) {
    expectChunks({Major::K, true, 1, 96, rowBytes}, 96, 2, isWgmma);
    expectChunks({Major::K, true, 3, 96, rowBytes}, 96, 2, isWgmma);
    expectChunks({Major::MN, true, 256 / rowBytes, 64, rowBytes}, 128, 2,
                 isWgmma);
    expectChunks({Major::MN, true, 512 / rowBytes, 16, rowBytes}, 256, 2,
                 isWgmma);
  }
  expectChunks({Major::K, false, 2, 40, 16}, 40, 2, isWgmma);
  expectChunks({Major::MN, false, 16, 16, 16}, 128, 2, isWgmma);
}

TEST(EncodedDescriptors, MatricesOfHalves) { expectHalves(/*isWgmma=*/false); }

TEST(EncodedDescriptors, MatricesOfWgmma) {
  expectHalves(/*isWgmma=*/true);
  blockscale::MatrixShape shape = {Major::K, true, 1, 64, 128};
  EXPECT_FALSE(MatrixDescriptor::decode(
      *blockscale::encodeMatrixDescriptor(shape), DescriptorUser::Warpgroup));
}
