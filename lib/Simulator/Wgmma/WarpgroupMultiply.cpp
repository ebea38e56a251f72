//===- WarpgroupMultiply.cpp - wgmma.mma_async ----------------------------===//
//
// Part of the blockscale project, under the Apache License v2.0 with LLVM
// Exceptions. See LICENSE for license information.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//
//
// wgmma.mma_async: a warp multiplies its 16 rows of A by all columns of B, tile
// by tile.
//
//===----------------------------------------------------------------------===//

#include "Machine/BlockGroup.h"
#include "Mma/MatrixOperands.h"
#include "SharedDescriptors/SharedMatrix.h"
#include "Trace/Recorder.h"
#include "Wgmma/WarpgroupForm.h"
#include "Wgmma/WarpgroupUnit.h"
#include "blockscale/Support/Rates.h"

#include "llvm/ADT/STLExtras.h"

using namespace mlir::blockscale;
using namespace mlir::blockscale::sim;

namespace {
/// A matrix in shared memory.
struct SharedOperand {
  TileShape shape;
  std::vector<uint32_t> offsets;
};

class Multiplication {
public:
  Multiplication(Warp &warp, const Step &step)
      : warp(warp), form(step.getForm<WarpgroupForm>()) {
    llvm::ArrayRef<Slot> slots = step.operands;
    registers.d = slots.take_front(form.getNumAccumulators());
    slots = slots.drop_front(form.getNumAccumulators());
    scale = slots.consume_back();
    if (form.tile.isSparse()) {
      registers.metadata = slots.take_back();
      slots = slots.drop_back();
    }
    descriptorB = slots.consume_back();
    if (form.isRegisterA)
      registers.a = slots;
    else
      descriptorA = slots.front();
  }

  void run();

private:
  bool readOperands();
  bool findOperand(llvm::StringRef what, uint64_t bits, Type type,
                   unsigned rows, unsigned k, bool isTransposed,
                   SharedOperand &operand);
  void keepOwnRows();
  void fillRows();
  bool fillPositions();
  void fillColumns(const DecodedMatrix &b, unsigned first);
  void record(size_t numA, size_t numB, uint64_t bytes);
  bool multiply();

  Warp &warp;
  const WarpgroupForm &form;
  WarpgroupRegisters registers;
  Slot descriptorA = kNoSlot, descriptorB, scale;
  WarpgroupStep instruction = {};
  SharedOperand a, b;
  MmaMatrices tile;
};
} // namespace

bool Multiplication::readOperands() {
  instruction.line = warp.current->line;
  if (descriptorA != kNoSlot) {
    std::optional<uint64_t> bits =
        warp.getUniform(descriptorA, "the descriptor of A");
    if (!bits)
      return false;
    instruction.a = *bits;
  }
  std::optional<uint64_t> bits =
      warp.getUniform(descriptorB, "the descriptor of B");
  if (!bits)
    return false;
  instruction.b = *bits;
  const Predicate &predicate = warp.pred(scale);
  if (predicate.undefined)
    return warp.error(__builtin_ctz(predicate.undefined),
                      "the predicate scale-d is undefined");
  if (predicate.value != 0 && predicate.value != kAllLanes)
    return warp.error(__builtin_ctz(predicate.value ^ -(predicate.value & 1)),
                      "the predicate scale-d differs between lanes");
  instruction.addsD = (predicate.value != 0) != form.isScaleNegated;
  return true;
}

/// tf32 takes 32 bits; other types take their own size.
static ElementPacking getPacking(Type type) {
  unsigned bits = type == Type::TF32 ? 32 : getBits(type);
  return {bits, kChunkBytes * 8 / bits};
}

bool Multiplication::findOperand(llvm::StringRef what, uint64_t bits, Type type,
                                 unsigned rows, unsigned k, bool isTransposed,
                                 SharedOperand &operand) {
  Result<MatrixDescriptor> descriptor =
      MatrixDescriptor::decode(bits, DescriptorUser::Warpgroup);
  if (!descriptor)
    return warp.error(0, what + ": " + descriptor.message());
  // The ISA does not use the field, but the results of a card depend on it.
  uint32_t leading = descriptor->leadingOffset / kChunkBytes;
  bool isUnused = !isTransposed && descriptor->swizzle != SwizzleMode::None;
  if (isUnused && leading > 1 &&
      !warp.block.reportStrict(warp, 0,
                               what +
                                   ": expected 0 or 1 as leading_offset of a "
                                   "K-major matrix with a swizzle, got " +
                                   llvm::Twine(leading) +
                                   "; the descriptor is " + descriptor->print(),
                               "PTX ISA, leading dimension byte offset"))
    return false;
  operand.shape = {rows, k, isTransposed, getPacking(type)};
  Result<std::vector<uint32_t>> chunks = findChunks(*descriptor, operand.shape);
  if (!chunks)
    return warp.error(0, what + ": " + chunks.message());
  operand.offsets = std::move(*chunks);
  for (uint32_t offset : operand.offsets)
    if (offset + kChunkBytes > warp.block.shared.size())
      return warp.error(
          0, what + ": expected a matrix in shared memory, which has " +
                 llvm::Twine(warp.block.shared.size()) +
                 " bytes, got one with a byte at " + printHex(offset) +
                 "; the descriptor is " + descriptor->print());
  return true;
}

/// Keeps the warp's 16 of the 64 rows of A.
void Multiplication::keepOwnRows() {
  unsigned first = warp.index % kWarpsOfWarpgroup * kWarpRows;
  TileShape &shape = a.shape;
  unsigned perChunk = shape.packing.elementsOfChunk;
  std::vector<uint32_t> own;
  if (shape.isTransposed) {
    unsigned chunksOfStep = shape.rows / perChunk;
    for (unsigned step = 0; step != shape.steps; ++step)
      for (unsigned i = 0; i != kWarpRows / perChunk; ++i)
        own.push_back(a.offsets[step * chunksOfStep + first / perChunk + i]);
  } else {
    unsigned perRow = shape.getChunksOfRow();
    auto begin = a.offsets.begin() + first * perRow;
    own.assign(begin, begin + kWarpRows * perRow);
  }
  a.offsets = std::move(own);
  shape.rows = kWarpRows;
}

void Multiplication::fillRows() {
  if (!form.isRegisterA) {
    DecodedMatrix matrix = decodeShared(warp.block.shared, a.offsets, a.shape,
                                        form.tile.a, form.isNegatedA);
    llvm::copy(matrix.values, tile.a);
    for (unsigned m = 0; m != kWarpRows; ++m)
      tile.undefinedRows |= matrix.undefinedRows[m] << m;
    return;
  }
  llvm::SmallVector<const Lanes *> lanes;
  for (Slot slot : registers.a)
    lanes.push_back(&warp.reg(slot));
  readRows(form.tile, lanes, tile);
  if (form.isNegatedA)
    for (unsigned i = 0; i != kWarpRows * form.tile.getKeptK(); ++i)
      tile.a[i] = -tile.a[i];
}

/// Where the elements of a sparse A are; false after a failure.
bool Multiplication::fillPositions() {
  if (!form.tile.isSparse())
    return true;
  MmaOutcome outcome;
  readMetadata(form.tile, warp.reg(registers.metadata.front()),
               form.sparsitySelector, tile, outcome);
  if (outcome.error)
    return warp.error(outcome.error->lane, outcome.error->text);
  return !outcome.strict ||
         warp.block.reportStrict(warp, outcome.strict->lane,
                                 outcome.strict->text,
                                 "PTX ISA, \"Sparse matrix storage\"");
}

void Multiplication::fillColumns(const DecodedMatrix &matrix, unsigned first) {
  unsigned k = form.tile.k;
  tile.undefinedColumns = 0;
  for (unsigned n = 0; n != kN; ++n) {
    for (unsigned i = 0; i != k; ++i)
      tile.b[i * kN + n] = matrix.values[(first + n) * k + i];
    tile.undefinedColumns |= matrix.undefinedRows[first + n] << n;
  }
}

/// False after a failure.
bool Multiplication::multiply() {
  fillRows();
  if (!fillPositions())
    return false;
  DecodedMatrix columns = decodeShared(warp.block.shared, b.offsets, b.shape,
                                       form.tile.b, form.isNegatedB);
  unsigned perTile = form.getRegistersOfTile();
  const AdderRule *adder =
      warp.block.launch.options->numerics == Numerics::Hardware ? form.adder
                                                                : nullptr;
  for (unsigned number = 0; number != form.getNumTiles(); ++number) {
    fillColumns(columns, number * kN);
    llvm::SmallVector<Lanes *, 4> d;
    for (Slot slot : registers.d.slice(number * perTile, perTile))
      d.push_back(&warp.reg(slot));
    llvm::fill(tile.undefinedElements, 0);
    if (instruction.addsD)
      readAccumulator(form.tile,
                      llvm::ArrayRef<const Lanes *>(d.data(), d.size()), tile);
    else
      llvm::fill(tile.c, 0);
    uint64_t bits[kMaxM * kN];
    multiplyMatrices(form.tile, tile, adder, bits);
    writeResults(form.tile, tile, bits, d);
  }
  return true;
}

/// B is read once for all four warps.
void Multiplication::record(size_t numA, size_t numB, uint64_t bytes) {
  constexpr unsigned bf16Bits = 16;
  TraceOperation operation = {};
  operation.unit = TraceUnit::Warpgroups;
  operation.block = warp.block.number;
  operation.rate = &ChipRates::bf16Flops;
  operation.flops = uint64_t(2) * kWarpRows * form.n * form.tile.k *
                    getBits(form.tile.a) / bf16Bits;
  operation.isSparse = form.tile.isSparse();
  operation.sharedBytes =
      bytes * (numA * kWarpsOfWarpgroup + numB) /
      std::max<size_t>((numA + numB) * kWarpsOfWarpgroup, 1);
  warp.block.group.recorder->begin(warp, operation);
}

void Multiplication::run() {
  constexpr llvm::StringRef name = "wgmma.mma_async";
  if (!requireWarpgroup(warp, name) || !readOperands())
    return;
  Block &block = warp.block;
  WarpgroupUnit &unit = getWarpgroups(warp);
  uint64_t number = unit.getSequence(warp)->getNext(warp);
  if (!unit.note(warp, instruction) ||
      !unit.getQueue(warp).checkRegisters(warp, form, registers))
    return;
  std::vector<uint32_t> chunks;
  size_t numOwn = 0;
  if (!form.isRegisterA) {
    if (!findOperand("A", instruction.a, form.tile.a, kWarpgroupRows,
                     form.tile.getKeptK(), form.isTransposedA, a))
      return;
    keepOwnRows();
    chunks = a.offsets;
    numOwn = chunks.size();
  }
  if (!findOperand("B", instruction.b, form.tile.b, form.n, form.tile.k,
                   form.isTransposedB, b))
    return;
  llvm::append_range(chunks, b.offsets);
  size_t numChunks = chunks.size();
  SharedReads reads;
  if (!reads.begin(warp, 0, {{&block, std::move(chunks)}}, name,
                   unit.getTime(warp, number)))
    return;
  if (block.group.statistics)
    block.group.statistics->addBytes("matrix_operands", reads.getNumBytes());
  if (block.group.recorder)
    record(numOwn, numChunks - numOwn, reads.getNumBytes());
  if (multiply())
    unit.getQueue(warp).issue(warp, form, registers, number, std::move(reads));
}

void sim::executeWarpgroupMultiply(Warp &warp, const Step &step) {
  Multiplication(warp, step).run();
}
