//===- Tcgen05Mma.cpp - tcgen05.mma ---------------------------------------===//
//
// Part of the blockscale project, under the Apache License v2.0 with LLVM
// Exceptions. See LICENSE for license information.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//
//
// Finds all cells and chunks of the instruction and checks them against the
// rules of the ISA, before it multiplies.
//
//===----------------------------------------------------------------------===//

#include "Tcgen05/Tcgen05Mma.h"

#include "Machine/BlockGroup.h"
#include "Tcgen05/SparseMetadata.h"
#include "Tcgen05/TiledProduct.h"
#include "Tcgen05/ZeroColumnMask.h"
#include "blockscale/Support/Rates.h"

#include "llvm/ADT/STLExtras.h"
#include "llvm/Support/MathExtras.h"

#include <cstring>

using namespace mlir::blockscale;
using namespace mlir::blockscale::sim;

namespace {

/// The layout of the elements of D. Part h of the columns of D is in the lanes
/// behind those of part h - 1.
struct Placement {
  unsigned numBlocks, m;
  MmaVariant variant;
  /// Rows of D that a block has.
  unsigned rows;
  /// How many parts the columns of D are split into.
  unsigned numParts;
  /// Each group of 16 rows is in the lower or the upper half of a group of 32
  /// lanes.
  bool isSpread;
};

/// PTX ISA, section 9.7.16.10.5 "Data path layout": D, F, A, B; of .ws D, E
/// and G; of .sp with scales D and A.
constexpr Placement kPlacements[] = {
    {1, 128, MmaVariant::Dense, 128, 1, false},
    {1, 64, MmaVariant::Dense, 64, 1, true},
    {2, 256, MmaVariant::Dense, 128, 1, false},
    {2, 128, MmaVariant::Dense, 64, 2, false},
    {1, 128, MmaVariant::WeightStationary, 128, 1, false},
    {1, 64, MmaVariant::WeightStationary, 64, 2, false},
    {1, 32, MmaVariant::WeightStationary, 32, 4, false},
    {1, 128, MmaVariant::Sparse, 128, 1, false},
    {2, 256, MmaVariant::Sparse, 128, 1, false},
};

/// Bytes of a row of A in one column of tensor memory.
constexpr unsigned kColumnBytes = 4;

/// Checks one instruction and finds all its accesses.
class Preparation {
public:
  Preparation(Warp &warp, unsigned lane, const Tcgen05MmaForm &form,
              const Tcgen05MmaOperands &operands)
      : warp(warp), lane(lane), form(form), operands(operands) {}

  /// False after a failure.
  bool run();

  Tcgen05Operation operation;
  TiledProduct product;

private:
  bool fail(const llvm::Twine &text) {
    warp.fail(lane, text);
    return false;
  }
  bool findBlocks();
  bool decodeInstruction();
  bool decodeMask();
  CollectedMatrix readB() const;
  bool useCollector();
  bool checkScales();
  void addWork();
  bool addAccumulator();
  bool addA();
  bool addMetadata();
  bool addShared(llvm::StringRef what, uint64_t bits, Type type,
                 bool isTransposed, unsigned rows, bool isA);
  bool addScales(llvm::StringRef what, uint32_t address, bool isA);
  void addReads(const TensorRegion &region);

  Warp &warp;
  const unsigned lane;
  const Tcgen05MmaForm &form;
  const Tcgen05MmaOperands &operands;
  llvm::SmallVector<Block *, 2> blocks;
  const Placement *placement = nullptr;
};

} // namespace

bool Preparation::findBlocks() {
  Block &block = warp.block;
  if (form.numBlocks == 2 && block.rank % 2 != 0)
    return fail("tcgen05.mma.cta_group::2 expected to be issued by the block "
                "of the CTA pair whose rank is even, got rank " +
                llvm::Twine(block.rank));
  return getTensorEngine(warp).findBlocks(warp, lane, form.numBlocks,
                                          "tcgen05.mma", blocks);
}

bool Preparation::decodeInstruction() {
  Result<InstructionDescriptor> decoded = InstructionDescriptor::decode(
      operands.instruction, form.kind, form.numBlocks, form.variant);
  if (!decoded)
    return fail(decoded.message());
  const InstructionDescriptor &d = product.descriptor = *decoded;
  auto reject = [&](const llvm::Twine &text) {
    return fail(text + "; the instruction descriptor is " + d.print());
  };
  if (d.extendedK &&
      !(form.extendedKs >> (d.extendedK - getExtendedKs().begin()) & 1))
    return reject("expected a target of " + d.extendedK->target +
                  " for K = " + llvm::Twine(d.k));
  if (d.extendedK && form.isScaleVec)
    return reject("expected .block16 or .block32 for K = " + llvm::Twine(d.k) +
                  ", got .scale_vec");
  if (form.isTensorA && d.isTransposedA)
    return reject("expected A in tensor memory not to be transposed");
  if (operands.disabledLanes[0].any() || operands.disabledLanes[1].any())
    product.disabledLanes = operands.disabledLanes;
  placement = llvm::find_if(kPlacements, [&](const Placement &row) {
    return row.numBlocks == form.numBlocks && row.m == d.m &&
           row.variant == form.variant;
  });
  return true;
}

bool Preparation::decodeMask() {
  const InstructionDescriptor &d = product.descriptor;
  Result<ZeroColumnMask> mask =
      ZeroColumnMask::decode(operands.zeroColumns, d.m, d.n);
  if (!mask)
    return fail(mask.message());
  if (mask->shift > d.maxShift)
    return fail("expected a column_shift in the zero-column mask descriptor up "
                "to the max_shift of the instruction descriptor, which is " +
                llvm::Twine(d.maxShift) + ", got " + llvm::Twine(mask->shift));
  product.b.firstRow = mask->shift;
  product.zeroColumns = mask->zeros;
  return true;
}

CollectedMatrix Preparation::readB() const {
  const InstructionDescriptor &d = product.descriptor;
  CollectedMatrix b = {operands.b,         form.kind,    d.b,
                       d.isTransposedB,    d.isNegatedB, d.n,
                       product.b.firstRow, {},           {}};
  const Block &block = warp.block;
  for (uint32_t offset : product.b.offsets) {
    const uint8_t *chunk = block.shared.data() + offset;
    b.addresses.push_back(block.getSharedBase() + offset);
    b.bytes.insert(b.bytes.end(), chunk, chunk + kChunkBytes);
  }
  return b;
}

/// Checks that a collector buffer was filled with the B of the instruction. B
/// is still read from shared memory, and must not have changed there.
bool Preparation::useCollector() {
  if (!form.isWeightStationary())
    return true;
  unsigned number = form.collectorBuffer;
  std::optional<CollectedMatrix> &buffer =
      getTensorEngine(warp).getCollectors(warp.block)[number];
  bool isUsed = form.collector == CollectorUse::Use ||
                form.collector == CollectorUse::LastUse;
  if (isUsed && !buffer)
    return fail("tcgen05.mma.ws expected collector buffer b" +
                llvm::Twine(number) + " to be filled with B before it is used");
  if (isUsed)
    if (std::optional<std::string> difference =
            buffer->findDifference(readB(), number))
      return fail("tcgen05.mma.ws expected " + *difference);
  if (form.collector == CollectorUse::Fill)
    buffer = readB();
  else if (form.collector != CollectorUse::Use)
    buffer.reset();
  return true;
}

bool Preparation::checkScales() {
  const InstructionDescriptor &d = product.descriptor;
  auto reject = [&](const llvm::Twine &text) {
    return fail("expected " + text + "; the instruction descriptor is " +
                d.print());
  };
  unsigned ids = getScaleIds(d.getKeptK(), form.blockSize);
  if (d.scale == Type::UE4M3 && form.blockSize != 16)
    return reject("scales of ue8m0 for blocks of " +
                  llvm::Twine(d.k * form.blockSize / d.getKeptK()) +
                  " elements");
  for (auto [id, name] : {std::pair(d.scaleIdA, "A"), {d.scaleIdB, "B"}})
    if (!(ids >> id & 1)) {
      std::string legal;
      for (unsigned i = 0; i != 4; ++i)
        if (ids >> i & 1)
          legal += (legal.empty() ? "" : ", ") + std::to_string(i);
      return reject(llvm::Twine("an identifier out of {") + legal +
                    "} of the scale factors of " + name + " with " +
                    llvm::Twine(d.getKeptK() / form.blockSize) +
                    " of them in a row, got " + llvm::Twine(id));
    }
  return true;
}

void Preparation::addReads(const TensorRegion &region) {
  for (Block *block : blocks)
    operation.uses.push_back({block, region, /*isWrite=*/false});
}

/// The lanes of D, from a base lane on.
static Tcgen05Lanes getLanes(const Placement &placement, unsigned base) {
  if (!placement.isSpread)
    return Tcgen05Lanes().set();
  Tcgen05Lanes lanes;
  for (unsigned window = 0; window != kTensorLanes; window += kTensorWarpLanes)
    lanes |= makeTensorLanes(window + base, kTensorWarpLanes / 2);
  return lanes;
}

bool Preparation::addAccumulator() {
  auto [base, column] = Tcgen05Address::decode(operands.d);
  if (base != 0 && !(placement->isSpread && base == kTensorWarpLanes / 2))
    return fail(
        llvm::Twine("expected lane 0") + (placement->isSpread ? " or 16" : "") +
        " in the address of D in tensor memory, got lane " + llvm::Twine(base));
  product.numBlocks = blocks.size();
  for (auto [i, block] : llvm::enumerate(blocks))
    product.memories[i] = &getTensorEngine(warp).getMemory(*block);
  product.rows = placement->rows;
  product.numParts = placement->numParts;
  product.isSpread = placement->isSpread;
  product.baseLane = base;
  product.column = column;
  product.addsD = operands.addsD;
  product.inputShift = form.inputShift;
  unsigned columns = product.descriptor.n / placement->numParts;
  for (auto [i, block] : llvm::enumerate(blocks)) {
    TensorRegion region = {getLanes(*placement, base) &
                               ~operands.disabledLanes[i],
                           column, columns};
    operation.uses.push_back(
        {block, region, /*isWrite=*/true, /*isAccumulator=*/true});
  }
  // Combines shape (sparse instructions have another K), accumulator and kind
  // in one number; the field of N does not overlap that of M.
  operation.accumulator =
      uint64_t(operands.d) << 32 | product.descriptor.m << 16 |
      product.descriptor.n << 3 | static_cast<unsigned>(form.variant) << 3 |
      static_cast<unsigned>(form.kind);
  return true;
}

bool Preparation::addA() {
  const InstructionDescriptor &d = product.descriptor;
  if (!form.isTensorA)
    return addShared("A", operands.a, d.a, d.isTransposedA, placement->rows,
                     /*isA=*/true);
  auto [lane, column] = Tcgen05Address::decode(operands.a);
  if (lane != product.baseLane)
    return fail("expected lane " + llvm::Twine(product.baseLane) +
                " in the address of A in tensor memory, as D has it, got "
                "lane " +
                llvm::Twine(lane));
  product.a.isInTensorMemory = true;
  product.a.column = column;
  product.a.packing = getPacking(form.kind, d.a);
  unsigned bytes = d.k / product.a.packing.elementsOfChunk * kChunkBytes;
  addReads({getLanes(*placement, lane), column, bytes / kColumnBytes});
  return true;
}

bool Preparation::addMetadata() {
  auto [lane, column] = Tcgen05Address::decode(operands.metadata);
  if (lane != 0 || column % kMetadataAlignment != 0)
    return fail("expected lane 0 and a column that is a multiple of " +
                llvm::Twine(kMetadataAlignment) +
                " in the address of the metadata, got lane " +
                llvm::Twine(lane) + ", column " + llvm::Twine(column));
  product.metadataColumn = column;
  addReads({makeTensorLanes(0, placement->rows), column, kMetadataColumns});
  return true;
}

bool Preparation::addShared(llvm::StringRef what, uint64_t bits, Type type,
                            bool isTransposed, unsigned rows, bool isA) {
  const InstructionDescriptor &d = product.descriptor;
  Result<MatrixDescriptor> decoded = MatrixDescriptor::decode(bits);
  if (!decoded)
    return fail(what + ": " + decoded.message());
  auto reject = [&](const llvm::Twine &text) {
    return fail(what + ": expected " + text + "; the descriptor is " +
                decoded->print());
  };
  bool isAtom32 = decoded->swizzle == SwizzleMode::Bytes128Atom32;
  if (isTransposed && isAtom32 != (form.kind == Tcgen05Kind::TF32))
    return reject(isAtom32 ? "32-byte atoms (swizzle 1) only for tf32"
                           : "32-byte atoms (swizzle 1) for transposed tf32");
  bool isExtended = d.extendedK && decoded->swizzle == SwizzleMode::Bytes128 &&
                    decoded->baseOffset == 0;
  if (decoded->isLeadingAbsolute && !isExtended)
    return reject("an absolute leading offset only for K = 96 with a swizzle "
                  "of 128 bytes and base offset 0");
  if (isTransposed &&
      (type == Type::E2M1 || type == Type::E2M3 || type == Type::E3M2))
    warp.warn(lane, what + " of ." + std::string(getName(type)) +
                        " is transposed, which the PTX ISA does not list");
  ProductOperand &operand = isA ? product.a : product.b;
  rows += operand.firstRow;
  operand.packing = getPacking(form.kind, type);
  operand.isTransposed = isTransposed;
  operand.rows = rows;
  TileShape shape = {rows, isA ? d.getKeptK() : d.k, isTransposed,
                     operand.packing};
  Result<std::vector<uint32_t>> chunks = findChunks(*decoded, shape);
  if (!chunks)
    return fail(what + ": " + chunks.message());
  for (uint32_t offset : *chunks)
    if (offset + kChunkBytes > warp.block.shared.size())
      return fail(what + ": expected a matrix in shared memory, which has " +
                  llvm::Twine(warp.block.shared.size()) +
                  " bytes, got one with a byte at " + printHex(offset) +
                  "; the descriptor is " + decoded->print());
  operand.offsets = *chunks;
  for (auto [i, block] : llvm::enumerate(blocks)) {
    operand.storages[i] = &block->shared;
    operation.shared.push_back({block, *chunks});
  }
  return true;
}

bool Preparation::addScales(llvm::StringRef what, uint32_t address, bool isA) {
  const InstructionDescriptor &d = product.descriptor;
  unsigned id = isA ? d.scaleIdA : d.scaleIdB;
  // Shipped code also has the identifier in the upper bits.
  constexpr unsigned idShift = 30;
  unsigned idOfAddress = address >> idShift;
  if (idOfAddress != 0 && idOfAddress != id)
    return fail("expected 0 or identifier " + llvm::Twine(id) +
                " in bits 30 and 31 of the address of the scale factors of " +
                what + ", got " + llvm::Twine(idOfAddress));
  address &= (uint32_t(1) << idShift) - 1;
  auto [base, column] = Tcgen05Address::decode(address);
  bool isSplit = placement->numParts == 2;
  // Tiles begin at multiples of 64 rows; if D is split, each part has 32 of
  // them.
  unsigned alignment = isSplit ? 1 : 2;
  if (base != 0 || column % alignment != 0)
    return fail("expected lane 0 and a column that is a multiple of " +
                llvm::Twine(alignment) +
                " in the address of the scale factors of " + what +
                ", got lane " + llvm::Twine(base) + ", column " +
                llvm::Twine(column));
  unsigned rows = isA ? placement->rows : d.n / placement->numParts;
  ScaleFactors factors = {};
  factors.rows = rows;
  factors.numGroups = !isA && isSplit ? 2 : 4;
  factors.column = column;
  if (isSplit)
    factors.columnsOfWord = isA ? 2 : llvm::divideCeil(d.n, 64);
  else
    factors.columnsOfWord = rows > kTensorLanes ? 8 : 4;
  factors.first = id;
  factors.count = d.getKeptK() / form.blockSize;
  factors.type = d.scale;
  (isA ? product.scaleA : product.scaleB) = factors;
  for (unsigned part = 0; part != (isA ? 1 : placement->numParts); ++part) {
    factors.firstGroup = 2 * part;
    for (const TensorRegion &region : factors.getRegions())
      addReads(region);
  }
  return true;
}

bool Preparation::run() {
  operation.kind = Tcgen05AccessKind::Multiply;
  operation.lane = lane;
  if (!findBlocks() || !decodeInstruction() || !decodeMask() ||
      !addAccumulator() || !addA())
    return false;
  const InstructionDescriptor &d = product.descriptor;
  if (!addShared("B", operands.b, d.b, d.isTransposedB, d.n / form.numBlocks,
                 /*isA=*/false))
    return false;
  addWork();
  if (form.isSparse() && !addMetadata())
    return false;
  if (!isBlockScaled(form.kind))
    return useCollector();
  return checkScales() && addScales("A", operands.scaleA, /*isA=*/true) &&
         addScales("B", operands.scaleB, /*isA=*/false);
}

/// Such as tcgen05.mma.mxf8f6f4.m128n64k32.e4m3.e2m1.
static std::string getShapeName(const Tcgen05MmaForm &form,
                                const InstructionDescriptor &d) {
  std::string name = "tcgen05.mma.";
  name += form.isWeightStationary() ? "ws." : form.isSparse() ? "sp." : "";
  name += getName(form.kind).substr(strlen("kind::"));
  name += ".m" + std::to_string(d.m) + "n" + std::to_string(d.n) + "k" +
          std::to_string(d.k);
  for (Type type : {d.a, d.b})
    name.append(".").append(getName(type));
  if (form.kind == Tcgen05Kind::MXF4NVF4)
    name.append(".")
        .append(getName(d.scale))
        .append(".block" + std::to_string(form.blockSize));
  else if (!form.blockSize)
    name.append(".").append(getName(d.d));
  return name;
}

namespace {
/// The rate of a kind: a figure, and how many operations of it one operation of
/// the kind counts as.
struct KindRate {
  Tcgen05Kind kind;
  RateFigure rate;
  unsigned weight;
};
} // namespace

static constexpr KindRate kKindRates[] = {
    {Tcgen05Kind::F16, &ChipRates::bf16Flops, 1},
    {Tcgen05Kind::TF32, &ChipRates::bf16Flops, 2},
    {Tcgen05Kind::I8, &ChipRates::byteFlops, 1},
    {Tcgen05Kind::F8F6F4, &ChipRates::byteFlops, 1},
    {Tcgen05Kind::MXF8F6F4, &ChipRates::byteFlops, 1},
    {Tcgen05Kind::MXF4, &ChipRates::nibbleFlops, 1},
    {Tcgen05Kind::MXF4NVF4, &ChipRates::nibbleFlops, 1},
};

void Preparation::addWork() {
  const KindRate *row = llvm::find_if(
      kKindRates, [&](const KindRate &row) { return row.kind == form.kind; });
  const InstructionDescriptor &d = product.descriptor;
  operation.numBlocks = form.numBlocks;
  operation.rate = row->rate;
  operation.isSparse = d.isSparse;
  // Instructions with fewer rows take as long as those with 128.
  uint64_t rows = std::max<uint64_t>(d.m / form.numBlocks, kTensorLanes);
  operation.flops = 2 * rows * d.n * d.k * row->weight;
  if (d.extendedK)
    operation.flops = operation.flops / d.k * d.extendedK->narrowK;
}

void sim::executeTcgen05Mma(Warp &warp, unsigned lane,
                            const Tcgen05MmaForm &form,
                            const Tcgen05MmaOperands &operands) {
  Preparation preparation(warp, lane, form, operands);
  if (!preparation.run() ||
      !getTensorEngine(warp).begin(warp, std::move(preparation.operation)))
    return;
  const InstructionDescriptor &d = preparation.product.descriptor;
  if (Statistics *statistics = warp.block.group.statistics.get())
    statistics->countMatrix(::getShapeName(form, d), uint64_t(d.m) * d.n * d.k);
  preparation.product.blockSize = form.blockSize;
  if (warp.block.launch.options->numerics == Numerics::Hardware)
    preparation.product.adderTarget = form.target;
  ProductOutcome outcome = preparation.product.run();
  if (outcome.error)
    return warp.fail(lane, *outcome.error);
  if (outcome.warning)
    warp.warn(lane, *outcome.warning);
  if (outcome.strict)
    warp.block.reportStrict(warp, lane, *outcome.strict,
                            "PTX ISA, tcgen05, \"Sparse matrices\"");
}
