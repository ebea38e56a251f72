//===- MatrixOperands.cpp - Operands of a matrix instruction --------------===//
//
// Part of the blockscale project, under the Apache License v2.0 with LLVM
// Exceptions. See LICENSE for license information.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//
//
// Unpacks registers by the terms of a layout, once for each execution, so that
// the product does not depend on lanes.
//
//===----------------------------------------------------------------------===//

#include "Mma/MatrixOperands.h"

#include "Mma/MatrixSum.h"
#include "Mma/SparseFields.h"
#include "blockscale/Support/Formats.h"

#include "llvm/ADT/StringExtras.h"

using namespace mlir::blockscale;
using namespace mlir::blockscale::sim;

static std::string formatHex(unsigned digits, uint32_t value) {
  return "0x" + llvm::utohexstr(value, /*LowerCase=*/true, digits);
}

//===----------------------------------------------------------------------===//
// Elements of A, B and C
//===----------------------------------------------------------------------===//

namespace {

/// An unpacked matrix: element (row, step) is at row * rowStride + step *
/// stepStride. A row is one of A, C or D, or a column of B.
struct Placement {
  unsigned rowStride, stepStride;
};

/// The positions of the elements of one register: slot j of lane 4 g + t is at
/// `base + g * group + t * thread + j * slot`.
struct RegisterPlacement {
  RegisterPlacement(const FragmentLayout &layout, unsigned index,
                    Placement placement) {
    auto position = [&](unsigned g, unsigned t, unsigned low, unsigned high,
                        unsigned j) {
      return layout.row.evaluate(g, t, low, high, j) * placement.rowStride +
             layout.step.evaluate(g, t, low, high, j) * placement.stepStride;
    };
    base = position(0, 0, index % layout.radix, index / layout.radix, 0);
    group = position(1, 0, 0, 0, 0);
    thread = position(0, 1, 0, 0, 0);
    slot = position(0, 0, 0, 0, 1);
  }

  unsigned getPosition(unsigned lane) const {
    return base + lane / 4 * group + lane % 4 * thread;
  }

  unsigned base, group, thread, slot;
};

} // namespace

template <unsigned slotBits, typename Decode>
static void unpackSlots(const FragmentLayout &layout,
                        llvm::ArrayRef<const Lanes *> registers,
                        Placement placement, double *matrix, Decode decode) {
  constexpr unsigned numSlots = slotBits == 64 ? 1 : 32 / slotBits;
  for (unsigned r = 0; r != registers.size(); ++r) {
    RegisterPlacement inRegister(layout, r, placement);
    for (unsigned lane = 0; lane != kLanes; ++lane) {
      uint64_t word = registers[r]->value[lane];
      double *element = matrix + inRegister.getPosition(lane);
      for (unsigned j = 0; j != numSlots; ++j)
        element[j * inRegister.slot] = decode(word >> (slotBits * j));
    }
  }
}

/// `table` is null for the types that have none.
static void unpack(Type type, const ElementTable *table,
                   const FragmentLayout &layout,
                   llvm::ArrayRef<const Lanes *> registers, Placement placement,
                   double *matrix) {
  auto decodeWide = [type](uint64_t bits) { return decodeFloat(type, bits); };
  switch (layout.slotBits) {
  case 4:
    return unpackSlots<4>(
        layout, registers, placement, matrix,
        [table](uint64_t bits) { return table->values[bits & 15]; });
  case 8:
    return unpackSlots<8>(
        layout, registers, placement, matrix,
        [table](uint64_t bits) { return table->values[bits & 255]; });
  case 16:
    return unpackSlots<16>(
        layout, registers, placement, matrix,
        [=](uint64_t bits) { return decodeWide(bits & 0xFFFF); });
  case 32:
    if (type == Type::S32)
      return unpackSlots<32>(
          layout, registers, placement, matrix,
          [](uint64_t bits) { return double(static_cast<int32_t>(bits)); });
    return unpackSlots<32>(layout, registers, placement, matrix, decodeWide);
  default:
    return unpackSlots<64>(layout, registers, placement, matrix, decodeWide);
  }
}

/// The rows or columns with an undefined element.
static unsigned findUndefinedRows(const FragmentLayout &layout,
                                  llvm::ArrayRef<const Lanes *> registers) {
  unsigned rows = 0;
  for (unsigned r = 0; r != registers.size(); ++r) {
    RegisterPlacement inRegister(layout, r, {1, 0});
    // All elements of a register are in one row (or column, for B).
    for (LaneMask rest = registers[r]->undefinedLanes; rest; rest &= rest - 1)
      rows |= 1u << inRegister.getPosition(__builtin_ctz(rest));
  }
  return rows;
}

/// The bytes of slot j.
static unsigned getSlotBytes(unsigned slotBits, unsigned j) {
  unsigned numBytes = slotBits / 8;
  return ((1u << numBytes) - 1) << (numBytes * j);
}

static void findUndefinedElements(const FragmentLayout &layout,
                                  llvm::ArrayRef<const Lanes *> registers,
                                  uint8_t *rows) {
  for (unsigned r = 0; r != registers.size(); ++r) {
    RegisterPlacement inRegister(layout, r, {kN, 1});
    for (LaneMask rest = registers[r]->undefinedLanes; rest; rest &= rest - 1) {
      unsigned lane = __builtin_ctz(rest);
      for (unsigned j = 0; j != layout.getSlots(); ++j) {
        unsigned position = inRegister.getPosition(lane) + j * inRegister.slot;
        if (registers[r]->getUndefined(lane) & getSlotBytes(layout.slotBits, j))
          rows[position / kN] |= 1u << (position % kN);
      }
    }
  }
}

//===----------------------------------------------------------------------===//
// Padding
//===----------------------------------------------------------------------===//

/// A 32-bit mask of the bytes that are defined.
static uint32_t getDefinedBits(const Lanes &lanes, unsigned lane) {
  uint32_t mask = 0;
  for (unsigned byte = 0; byte != 4; ++byte)
    if (!(lanes.getUndefined(lane) >> byte & 1))
      mask |= 0xFFu << (8 * byte);
  return mask;
}

static std::optional<LaneMessage>
checkPadding(const ElementTable *table, llvm::StringRef operand,
             llvm::ArrayRef<const Lanes *> registers) {
  if (!table || !table->padding)
    return std::nullopt;
  for (unsigned r = 0; r != registers.size(); ++r) {
    uint64_t all = 0;
    for (uint64_t word : registers[r]->value)
      all |= word;
    if (!(all & table->padding))
      continue;
    for (unsigned lane = 0; lane != kLanes; ++lane) {
      auto word = static_cast<uint32_t>(registers[r]->value[lane]);
      if (!(word & table->padding & getDefinedBits(*registers[r], lane)))
        continue;
      return LaneMessage{
          lane, "padding bits of " + std::string(getName(table->type)) +
                    " in 8-bit containers: expected 0 in the bits " +
                    formatHex(2, table->padding & 0xFF) +
                    " of each byte, got " + formatHex(8, word) +
                    " in register " + std::to_string(r) + " of operand " +
                    operand.str()};
    }
  }
  return std::nullopt;
}

//===----------------------------------------------------------------------===//
// Scales
//===----------------------------------------------------------------------===//

namespace {

/// The scale operands of A or of B.
struct ScaleOperands {
  /// "a" or "b".
  const char *name;
  const ScaleLanes &layout;
  unsigned numRows;
  const Lanes *data, *byteId, *threadId;
  /// The scale of a row and a block is at row * rowStride + block *
  /// blockStride.
  double *scales;
  unsigned rowStride, blockStride;
};

} // namespace

static std::string describeRange(unsigned step, unsigned count) {
  if (count == 1)
    return "0";
  if (count == 2)
    return "0 or " + std::to_string(step);
  return "0 to " + std::to_string(step * (count - 1));
}

/// Reads a selector, which must be the same in all lanes: one of `count`
/// multiples of `step`. PTX ISA, table 37.
static std::optional<LaneMessage> readSelector(const Lanes &lanes,
                                               std::string name, unsigned step,
                                               unsigned count,
                                               unsigned &selector) {
  auto get = [&](unsigned lane) {
    return static_cast<uint16_t>(lanes.value[lane]);
  };
  selector = get(0);
  for (unsigned lane = 0; lane != kLanes; ++lane) {
    if (lanes.getUndefined(lane) & 3)
      return LaneMessage{lane, name + ": expected a defined value, got an "
                                      "undefined one"};
    unsigned value = get(lane);
    if (value % step != 0 || value / step >= count)
      return LaneMessage{lane, name + ": expected " +
                                   describeRange(step, count) + ", got " +
                                   std::to_string(value)};
    if (value != selector)
      return LaneMessage{lane, name +
                                   ": expected the same value in all lanes, "
                                   "got " +
                                   std::to_string(value) + " after " +
                                   std::to_string(selector) + " in lane 0"};
  }
  return std::nullopt;
}

/// The rows with an undefined scale.
static unsigned readScales(const MmaForm &form, const ScaleOperands &operands,
                           MmaOutcome &outcome) {
  // The scales of a row or column are consecutive bytes, from byte-id on.
  unsigned step = form.scaleVec, count = 4 / form.scaleVec;
  unsigned byteId, threadId;
  outcome.error =
      readSelector(*operands.byteId, std::string("byte-id-") + operands.name,
                   step, count, byteId);
  if (!outcome.error)
    outcome.error = readSelector(*operands.threadId,
                                 std::string("thread-id-") + operands.name, 1,
                                 operands.layout.numThreadIds, threadId);
  if (outcome.error)
    return 0;

  Format format = form.scale == Type::UE8M0 ? Format::UE8M0 : Format::UE4M3;
  unsigned undefinedRows = 0;
  for (unsigned row = 0; row != operands.numRows; ++row) {
    unsigned lane = operands.layout.getLane(row, threadId);
    for (unsigned block = 0; block != form.scaleVec; ++block) {
      unsigned byte = byteId + block;
      double &scale =
          operands
              .scales[row * operands.rowStride + block * operands.blockStride];
      if (operands.data->getUndefined(lane) >> byte & 1) {
        undefinedRows |= 1u << row;
        scale = 1;
        continue;
      }
      unsigned code = operands.data->value[lane] >> (8 * byte) & 0xFF;
      if (format == Format::UE4M3 && code & 0x80 && outcome.warnings.empty())
        outcome.warnings.push_back(
            {lane, "ue4m3 scale: expected 0 in the sign bit, got " +
                       formatHex(2, code) + " in byte " + std::to_string(byte) +
                       " of scale-" + operands.name +
                       "-data; the bit is ignored"});
      scale = decode(format, code);
    }
  }
  return undefinedRows;
}

//===----------------------------------------------------------------------===//
// Metadata
//===----------------------------------------------------------------------===//

void sim::readMetadata(const MmaForm &form, const Lanes &metadata,
                       unsigned selector, MmaMatrices &matrices,
                       MmaOutcome &outcome) {
  const MetadataLayout &layout = *form.metadata;
  if (selector >= layout.numSelectors) {
    outcome.error = LaneMessage{0, "sparsity selector: expected " +
                                       describeRange(1, layout.numSelectors) +
                                       ", got " + std::to_string(selector)};
    return;
  }
  unsigned threads = 4 / layout.numSelectors, keptOfChunk = layout.chunk / 2;
  unsigned undefinedRows = matrices.undefinedRows;
  for (unsigned lane = 0; lane != kLanes; ++lane) {
    unsigned g = lane / 4, t = lane % 4;
    if (t / threads != selector)
      continue;
    // The index among the threads that contribute.
    t %= threads;
    for (unsigned f = 0; f != 8; ++f) {
      unsigned row =
          g + layout.rowPerThreadLow * (t % 2) + 8 * (f / layout.fieldsPerRow);
      unsigned chunk = layout.chunkPerThreadLow * (t % 2) +
                       layout.chunkPerThreadHigh * (t / 2) +
                       f % layout.fieldsPerRow;
      unsigned firstKept = row * form.getKeptK() + chunk * keptOfChunk;
      unsigned firstBit = kFieldBits * f;
      unsigned field = metadata.value[lane] >> firstBit & 15;
      if (metadata.getUndefined(lane) >> (f / 2) & 1) {
        matrices.undefinedRows |= 1u << row;
        field = kAnyLegalField;
      }
      FieldCheck check = checkField(
          form, field,
          undefinedRows >> row & 1 ? nullptr : matrices.a + firstKept);
      if (check != FieldCheck::Legal &&
          (check == FieldCheck::Illegal || !outcome.strict)) {
        LaneMessage message = {
            lane,
            describeField(form, check, row, chunk, field,
                          "the bits " + std::to_string(firstBit) + " to " +
                              std::to_string(firstBit + kFieldBits - 1))};
        if (check == FieldCheck::Illegal) {
          outcome.error = std::move(message);
          return;
        }
        outcome.strict = std::move(message);
      }
      findPositions(layout, chunk, field, matrices.positions + firstKept);
    }
  }
}

//===----------------------------------------------------------------------===//
// All operands
//===----------------------------------------------------------------------===//

void sim::readRows(const MmaForm &form, llvm::ArrayRef<const Lanes *> a,
                   MmaMatrices &matrices) {
  unpack(form.a, form.aTable, *form.aLayout, a, {form.getKeptK(), 1},
         matrices.a);
  matrices.undefinedRows |= findUndefinedRows(*form.aLayout, a);
}

void sim::readAccumulator(const MmaForm &form, llvm::ArrayRef<const Lanes *> c,
                          MmaMatrices &matrices) {
  unpack(form.c, nullptr, *form.cLayout, c, {kN, 1}, matrices.c);
  findUndefinedElements(*form.cLayout, c, matrices.undefinedElements);
}

MmaOutcome sim::readOperands(const MmaForm &form, const MmaOperands &operands,
                             MmaMatrices &matrices) {
  MmaOutcome outcome;
  readRows(form, operands.a, matrices);
  if (form.isSparse())
    readMetadata(form, *operands.metadata, operands.sparsitySelector, matrices,
                 outcome);
  if (!outcome.error && form.isBlockScaled())
    matrices.undefinedRows |=
        readScales(form,
                   {"a", kScaleLanesA, form.m, operands.scaleA,
                    operands.byteIdA, operands.threadIdA, matrices.scaleA,
                    /*rowStride=*/kMaxBlocks, /*blockStride=*/1},
                   outcome);
  if (!outcome.error && form.isBlockScaled())
    matrices.undefinedColumns |=
        readScales(form,
                   {"b", kScaleLanesB, form.n, operands.scaleB,
                    operands.byteIdB, operands.threadIdB, matrices.scaleB,
                    /*rowStride=*/1, /*blockStride=*/kN},
                   outcome);
  if (outcome.error)
    return outcome;

  std::optional<LaneMessage> padding =
      checkPadding(form.aTable, "a", operands.a);
  if (!padding)
    padding = checkPadding(form.bTable, "b", operands.b);
  if (padding)
    outcome.warnings.push_back(std::move(*padding));

  readAccumulator(form, operands.c, matrices);
  unpack(form.b, form.bTable, *form.bLayout, operands.b, {1, kN}, matrices.b);
  matrices.undefinedColumns |= findUndefinedRows(*form.bLayout, operands.b);
  return outcome;
}

void sim::writeResults(const MmaForm &form, const MmaMatrices &matrices,
                       const uint64_t *bits,
                       llvm::ArrayRef<Lanes *> registers) {
  const FragmentLayout &layout = *form.cLayout;
  uint8_t undefined[kMaxM];
  unsigned anyUndefined = 0;
  for (unsigned m = 0; m != form.m; ++m) {
    undefined[m] =
        matrices.undefinedRows >> m & 1
            ? 0xFF
            : matrices.undefinedElements[m] | matrices.undefinedColumns;
    anyUndefined |= undefined[m];
  }
  for (unsigned r = 0; r != registers.size(); ++r) {
    RegisterPlacement inRegister(layout, r, {kN, 1});
    Lanes &lanes = *registers[r];
    lanes.undefinedLanes = 0;
    for (unsigned lane = 0; lane != kLanes; ++lane) {
      unsigned position = inRegister.getPosition(lane);
      uint64_t word = 0;
      for (unsigned j = 0; j != layout.getSlots(); ++j)
        word |= bits[position + j * inRegister.slot] << (layout.slotBits * j);
      lanes.value[lane] = word;
      if (!anyUndefined)
        continue;
      unsigned bytes = 0;
      for (unsigned j = 0; j != layout.getSlots(); ++j) {
        unsigned slotPosition = position + j * inRegister.slot;
        if (undefined[slotPosition / kN] >> (slotPosition % kN) & 1)
          bytes |= getSlotBytes(layout.slotBits, j);
      }
      lanes.setUndefined(lane, bytes);
    }
  }
}
