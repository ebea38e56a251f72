//===- MatrixMoves.cpp - ldmatrix, stmatrix, movmatrix --------------------===//
//
// Part of the blockscale project, under the Apache License v2.0 with LLVM
// Exceptions. See LICENSE for license information.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//
//
// ldmatrix, stmatrix and movmatrix. A matrix has rows of 16 bytes in shared
// memory, whose addresses come from as many lanes; matrix i uses the lanes
// after those of matrix i - 1. Each lane has one or two 32-bit registers of
// each matrix. Shapes differ only in where the bytes of these registers are in
// the rows.
//
// Source: PTX ISA, sections 9.7.14.5.15 "ldmatrix" to 9.7.14.5.17 "movmatrix".
// The ISA shows the fragment of .m16n16 only in a figure; the rows and columns
// here were measured on sm_120a, and CUTLASS assumes the same for
// SM100_U8x8_LDSM_T.
//
//===----------------------------------------------------------------------===//

#include "Collectives/CollectiveInstructions.h"
#include "Memory/MemoryOperands.h"
#include "Ptx/Targets.h"

#include "llvm/ADT/STLExtras.h"
#include "llvm/Support/MathExtras.h"

using namespace mlir::blockscale;
using namespace mlir::blockscale::sim;

static constexpr unsigned kRowBytes = 16;

//===----------------------------------------------------------------------===//
// Shapes
//===----------------------------------------------------------------------===//

namespace {
/// The position of a byte in a matrix.
struct BytePosition {
  unsigned row, byte;
};

struct Shape {
  llvm::StringRef name, type;
  bool isTransposed, isStore;
  /// Rows in memory, and registers of a lane.
  unsigned rows, registers;
  /// Bits of an element in memory; 16 elements make a row of 16 bytes.
  unsigned elementBits;
  /// Not on all targets that know .m8n8.
  bool isNew;
  /// The position of byte `byte` of register `reg` of a lane.
  BytePosition (*getPosition)(unsigned lane, unsigned reg, unsigned byte);
};
} // namespace

/// Four lanes share a row.
static BytePosition getRowPosition(unsigned lane, unsigned, unsigned byte) {
  return {lane / 4, lane % 4 * 4 + byte};
}

/// The same for the transpose of 8 x 8 elements of 16 bits.
static BytePosition getTransPosition(unsigned lane, unsigned, unsigned byte) {
  return {lane % 4 * 2 + byte / 2, lane / 4 * 2 + byte % 2};
}

/// ldmatrix of 16 x 16 bytes: four lanes share a column, and a second one.
static BytePosition getWidePosition(unsigned lane, unsigned reg,
                                    unsigned byte) {
  return {lane % 4 * 4 + byte, lane / 4 + reg * 8};
}

/// stmatrix of 16 x 8 bytes; a column of the matrix is a row in memory. A lane
/// has two neighbors of a row, and those 8 rows below.
static BytePosition getPairPosition(unsigned lane, unsigned, unsigned byte) {
  return {lane % 4 * 2 + byte % 2, lane / 4 + byte / 2 * 8};
}

// clang-format off
static constexpr Shape kShapes[] = {
    // name, type, transposed, store, rows, registers, bits of elements, new
    {"m8n8",   "b16",             false, false,  8, 1, 8, false, getRowPosition},
    {"m8n8",   "b16",             true,  false,  8, 1, 8, false, getTransPosition},
    {"m16n16", "b8",              true,  false, 16, 2, 8, true,  getWidePosition},
    {"m8n16",  "b8x16.b6x16_p32", false, false,  8, 1, 6, true,  getRowPosition},
    {"m8n16",  "b8x16.b4x16_p64", false, false,  8, 1, 4, true,  getRowPosition},
    {"m16n16", "b8x16.b6x16_p32", true,  false, 16, 2, 6, true,  getWidePosition},
    {"m16n16", "b8x16.b4x16_p64", true,  false, 16, 2, 4, true,  getWidePosition},
    {"m8n8",   "b16",             false, true,   8, 1, 8, false, getRowPosition},
    {"m8n8",   "b16",             true,  true,   8, 1, 8, false, getTransPosition},
    {"m16n8",  "b8",              true,  true,   8, 1, 8, true,  getPairPosition},
};
// clang-format on

//===----------------------------------------------------------------------===//
// Execution
//===----------------------------------------------------------------------===//

namespace {
/// Operands: the base of the address, then the registers, those of the first
/// matrix first.
struct MatrixForm {
  const Shape *shape;
  AddressSpace space;
  int64_t offset;
  unsigned count;
};

/// One row with its undefined bytes, each element a byte.
struct Row {
  std::array<uint8_t, kRowBytes> bytes;
  uint16_t undefined = 0;
};
} // namespace

/// Calls `body(number, span)` with the rows of all matrices.
template <typename Body>
static void forEachRow(Warp &warp, const Step &step, Body body) {
  const auto &form = step.getForm<MatrixForm>();
  unsigned numRows = form.count * form.shape->rows;
  WarpAccess access;
  access.space = form.space;
  access.kind = form.shape->isStore ? AccessKind::Store : AccessKind::Load;
  access.lanes = llvm::maskTrailingOnes<LaneMask>(numRows);
  access.size = kRowBytes;
  access.isCollective = true;
  if (!warp.requireDefined(step.operands[0], access.lanes, "an address"))
    return;
  const Lanes &base = warp.reg(step.operands[0]);
  for (unsigned lane = 0; lane != kLanes; ++lane)
    access.addresses[lane] =
        addOffset(form.space, base.value[lane], form.offset);
  forEachAccess(warp, access,
                [&](unsigned lane, AddressSpace space, const Span &span) {
                  if (space != AddressSpace::Shared)
                    return warp.fail(lane, "expected a row of a matrix in "
                                           "shared memory");
                  body(lane, span);
                });
}

/// Calls `body(lanes, lane, row, byte, position)` for each byte of a lane's
/// register `lanes`: `byte` is its index in the register, `row` and `position`
/// are the index of the row and of the byte in it.
template <typename Body>
static void forEachByte(Warp &warp, const Step &step, Body body) {
  const auto &form = step.getForm<MatrixForm>();
  const Shape &shape = *form.shape;
  for (unsigned matrix = 0; matrix != form.count; ++matrix)
    for (unsigned reg = 0; reg != shape.registers; ++reg) {
      Lanes &lanes =
          warp.reg(step.operands[1 + matrix * shape.registers + reg]);
      forEachLane(warp.active, [&](unsigned lane) {
        for (unsigned byte = 0; byte != 4; ++byte) {
          BytePosition position = shape.getPosition(lane, reg, byte);
          position.row += matrix * shape.rows;
          body(lanes, lane, byte, position);
        }
      });
    }
}

/// Elements of fewer than 8 bits are packed, the first one in the lowest bits,
/// and padding follows.
static Row readRow(const Span &span, unsigned elementBits) {
  Row row;
  uint64_t words[2];
  uint8_t undefined[2];
  for (unsigned i = 0; i != 2; ++i)
    readBytes(span.at(i * 8), 8, words[i], undefined[i]);
  uint32_t undefinedBytes = undefined[0] | undefined[1] << 8;
  for (unsigned i = 0; i != kRowBytes; ++i) {
    unsigned bit = i * elementBits;
    uint64_t value = words[bit / 64] >> bit % 64;
    if (bit % 64 + elementBits > 64)
      value |= words[1] << (64 - bit % 64);
    row.bytes[i] = value & llvm::maskTrailingOnes<uint64_t>(elementBits);
    unsigned first = bit / 8, last = (bit + elementBits - 1) / 8;
    if ((undefinedBytes >> first | undefinedBytes >> last) & 1)
      row.undefined |= 1 << i;
  }
  return row;
}

static void executeLoadMatrix(Warp &warp, const Step &step) {
  if (!warp.requireWholeWarp("ldmatrix"))
    return;
  std::array<Row, kLanes> rows;
  unsigned elementBits = step.getForm<MatrixForm>().shape->elementBits;
  forEachRow(warp, step, [&](unsigned number, const Span &span) {
    rows[number] = readRow(span, elementBits);
  });
  if (warp.state == WarpState::Failed)
    return;
  for (Slot slot : step.operands.drop_front()) {
    Lanes &lanes = warp.reg(slot);
    forEachLane(warp.active, [&](unsigned lane) { lanes.set(lane, 0, 0); });
  }
  forEachByte(
      warp, step,
      [&](Lanes &lanes, unsigned lane, unsigned byte, BytePosition position) {
        const Row &row = rows[position.row];
        lanes.value[lane] |= uint64_t(row.bytes[position.byte]) << byte * 8;
        if (row.undefined >> position.byte & 1)
          lanes.setUndefined(lane, lanes.getUndefined(lane) | 1 << byte);
      });
}

static void executeStoreMatrix(Warp &warp, const Step &step) {
  if (!warp.requireWholeWarp("stmatrix"))
    return;
  warp.act();
  std::array<Row, kLanes> rows;
  forEachByte(
      warp, step,
      [&](Lanes &lanes, unsigned lane, unsigned byte, BytePosition position) {
        Row &row = rows[position.row];
        row.bytes[position.byte] = lanes.value[lane] >> byte * 8;
        if (lanes.getUndefined(lane) >> byte & 1)
          row.undefined |= 1 << position.byte;
      });
  forEachRow(warp, step, [&](unsigned number, const Span &span) {
    const Row &row = rows[number];
    for (unsigned i = 0; i != kRowBytes; ++i) {
      Span byte = span.at(i);
      writeBytes(byte, 1, row.bytes[i], row.undefined >> i & 1);
    }
  });
}

/// movmatrix: a register holds two elements of a row, and gets two of a column.
static void executeMoveMatrix(Warp &warp, const Step &step) {
  if (!warp.requireWholeWarp("movmatrix"))
    return;
  const Lanes from = warp.reg(step.operands[1]);
  Lanes &to = warp.reg(step.operands[0]);
  forEachLane(warp.active, [&](unsigned lane) {
    uint64_t value = 0;
    uint8_t undefined = 0;
    for (unsigned byte = 0; byte != 4; ++byte) {
      BytePosition position = getTransPosition(lane, 0, byte);
      unsigned source = position.row * 4 + position.byte / 4;
      value |= (from.value[source] >> position.byte % 4 * 8 & 0xFF) << byte * 8;
      undefined |= (from.getUndefined(source) >> position.byte % 4 & 1) << byte;
    }
    to.set(lane, value, undefined);
  });
}

//===----------------------------------------------------------------------===//
// Translation
//===----------------------------------------------------------------------===//

/// Takes out .sync, .aligned, the shape and the type.
static const Shape *takeShape(Translator &t, Modifiers &modifiers,
                              bool isStore) {
  bool isTransposed = modifiers.take("trans");
  for (const Shape &shape : kShapes) {
    auto [type, packed] = shape.type.split('.');
    llvm::ArrayRef<llvm::StringRef> rest = modifiers.rest();
    if (shape.isStore != isStore || shape.isTransposed != isTransposed ||
        !llvm::is_contained(rest, shape.name) ||
        !llvm::is_contained(rest, type) ||
        (!packed.empty() && !llvm::is_contained(rest, packed)))
      continue;
    modifiers.take(shape.name);
    modifiers.take(type);
    modifiers.take(packed);
    if (!shape.isNew ||
        hasFeature(t.program.module.target, Feature::ByteMatrices))
      return &shape;
    return t.error("expected a target that has " +
                   llvm::Twine(t.current->opcode) + " of ." + shape.name + "." +
                   shape.type + ", got " + t.program.module.target);
  }
  return t.error("expected a shape and a type that " +
                 llvm::Twine(t.current->opcode) +
                 " has, such as .m8n8 and .b16");
}

static bool takeAligned(Translator &t, Modifiers &modifiers) {
  if (!takeSync(t, modifiers) || modifiers.take("aligned"))
    return !t.hasFailed();
  return t.error("expected .aligned behind " + llvm::Twine(t.current->opcode));
}

void sim::translateMatrix(Translator &t, Modifiers &modifiers) {
  bool isStore = t.current->opcode == "stmatrix";
  if (!takeAligned(t, modifiers))
    return;
  std::optional<unsigned> count = modifiers.takeOneOf({"x1", "x2", "x4"});
  MatrixForm form = {};
  form.space = takeSpace(modifiers);
  form.shape = takeShape(t, modifiers, isStore);
  if (!form.shape)
    return;
  if (!count || (1u << *count) * form.shape->rows > kLanes)
    return t.fail("expected .x1, .x2" +
                  llvm::Twine(form.shape->rows == 8 ? " or .x4" : "") +
                  " of matrices behind " + t.current->opcode);
  form.count = 1u << *count;
  if (!t.finish(modifiers) || !t.expectOperands(2))
    return;
  Slot base =
      t.address(t.current->operands[isStore ? 0 : 1], form.space, form.offset);
  llvm::SmallVector<Slot> slots = {base};
  const PtxOperand &data = t.current->operands[isStore ? 1 : 0];
  unsigned numRegisters = form.count * form.shape->registers;
  t.registers(/*isWritten=*/!isStore, data, Type::B32, numRegisters, slots);
  t.emit(isStore ? executeStoreMatrix : executeLoadMatrix, StepClass::Memory,
         slots, t.keep(form));
}

void sim::translateMoveMatrix(Translator &t, Modifiers &modifiers) {
  if (!takeAligned(t, modifiers))
    return;
  if (!modifiers.take("m8n8") || !modifiers.take("trans") ||
      !modifiers.take("b16"))
    return t.fail("expected .m8n8.trans.b16 behind movmatrix");
  t.emit(executeMoveMatrix, StepClass::Arithmetic,
         takeOperands(t, modifiers, Type::B32, {Type::B32}));
}
