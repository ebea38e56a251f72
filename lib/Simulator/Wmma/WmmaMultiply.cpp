//===- WmmaMultiply.cpp - wmma.mma ----------------------------------------===//
//
// Part of the blockscale project, under the Apache License v2.0 with LLVM
// Exceptions. See LICENSE for license information.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//
//
// Computes wmma.mma as tiles of 16 x 8, each an `mma.sync` with the same types.
// Each element of D is in one tile, so it is rounded once.
//
//===----------------------------------------------------------------------===//

#include "Machine/Block.h"
#include "Mma/AdderRules.h"
#include "Mma/MatrixOperands.h"
#include "Mma/MatrixSum.h"
#include "Ptx/Targets.h"
#include "Wmma/WmmaFragment.h"

#include "llvm/Support/MathExtras.h"

using namespace mlir::blockscale;
using namespace mlir::blockscale::sim;

namespace {
/// Operands of the step: the registers of D, A, B and C.
struct WmmaForm {
  WmmaFragment a, b, c, d;
  const MmaForm *tile;
  /// See findAdderRule.
  const AdderRule *adder;
};

/// The elements of a fragment, row by row.
struct WmmaMatrix {
  std::vector<double> values;
  std::vector<uint8_t> undefined;
  /// A lane whose copy of an element differs.
  std::optional<unsigned> badLane;
  unsigned badElement = 0;
};
} // namespace

static double decode(Type type, uint64_t bits) {
  switch (type) {
  case Type::S8:
    return static_cast<int8_t>(bits);
  case Type::U8:
    return bits;
  case Type::S32:
    return static_cast<int32_t>(bits);
  default:
    return decodeFloat(type, bits);
  }
}

static WmmaMatrix readFragment(Warp &warp, const WmmaFragment &fragment,
                               llvm::ArrayRef<Slot> registers) {
  unsigned count = fragment.getNumElements(), bytes = fragment.bits / 8;
  WmmaMatrix matrix;
  matrix.values.resize(count);
  matrix.undefined.resize(count);
  std::vector<std::optional<uint64_t>> seen(count);
  for (unsigned lane = 0; lane != kLanes; ++lane)
    for (unsigned slot = 0; slot != fragment.getSlots(); ++slot) {
      const Lanes &lanes =
          warp.reg(registers[slot / fragment.getPerRegister()]);
      unsigned byte = slot % fragment.getPerRegister() * bytes;
      uint64_t bits = lanes.value[lane] >> byte * 8 &
                      llvm::maskTrailingOnes<uint64_t>(fragment.bits);
      bool isUndefined = (lanes.getUndefined(lane) >> byte &
                          llvm::maskTrailingOnes<uint8_t>(bytes)) != 0;
      unsigned element = fragment.getElement(lane, slot);
      matrix.undefined[element] |= isUndefined;
      if (seen[element] && *seen[element] != bits &&
          !matrix.undefined[element] && !matrix.badLane) {
        matrix.badLane = lane;
        matrix.badElement = element;
      }
      seen[element] = bits;
      matrix.values[element] = decode(fragment.element, bits);
    }
  return matrix;
}

namespace {
/// The product of three matrices, tile by tile.
class WmmaProduct {
public:
  WmmaProduct(const WmmaForm &form, const WmmaMatrix &a, const WmmaMatrix &b,
              const WmmaMatrix &c)
      : form(form), a(a), b(b), c(c), bits(form.d.getNumElements()),
        undefined(form.d.getNumElements()) {}

  void run(Numerics numerics);
  void write(Warp &warp, llvm::ArrayRef<Slot> registers) const;

private:
  void addTile(unsigned m, unsigned n, Numerics numerics);
  bool isUndefined(unsigned m, unsigned n) const;

  const WmmaForm &form;
  const WmmaMatrix &a, &b, &c;
  std::vector<uint64_t> bits;
  std::vector<uint8_t> undefined;
};
} // namespace

/// Whether an element of its row or column, or the accumulator, is undefined.
bool WmmaProduct::isUndefined(unsigned m, unsigned n) const {
  unsigned depth = form.a.columns, width = form.c.columns;
  bool isUndefined = c.undefined[m * width + n];
  for (unsigned k = 0; k != depth; ++k)
    isUndefined |= a.undefined[m * depth + k] || b.undefined[k * width + n];
  return isUndefined;
}

void WmmaProduct::addTile(unsigned m, unsigned n, Numerics numerics) {
  unsigned depth = form.a.columns, width = form.c.columns;
  // For a shape of 8 rows, half of the tile is 0.
  unsigned rows = std::min(form.a.rows, kMaxM);
  MmaMatrices matrices;
  std::fill_n(matrices.a, kMaxM * depth, 0.0);
  std::fill_n(matrices.c, kMaxM * kN, 0.0);
  for (unsigned i = 0; i != rows; ++i) {
    std::copy_n(&a.values[(m + i) * depth], depth, matrices.a + i * depth);
    std::copy_n(&c.values[(m + i) * width + n], kN, matrices.c + i * kN);
  }
  for (unsigned k = 0; k != depth; ++k)
    std::copy_n(&b.values[k * width + n], kN, matrices.b + k * kN);
  uint64_t results[kMaxM * kN];
  multiplyMatrices(*form.tile, matrices,
                   numerics == Numerics::Hardware ? form.adder : nullptr,
                   results);
  for (unsigned i = 0; i != rows; ++i)
    for (unsigned j = 0; j != kN; ++j) {
      unsigned element = (m + i) * width + n + j;
      bits[element] = results[i * kN + j];
      undefined[element] = isUndefined(m + i, n + j);
    }
}

void WmmaProduct::run(Numerics numerics) {
  for (unsigned m = 0; m < form.c.rows; m += kMaxM)
    for (unsigned n = 0; n < form.c.columns; n += kN)
      addTile(m, n, numerics);
}

void WmmaProduct::write(Warp &warp, llvm::ArrayRef<Slot> registers) const {
  const WmmaFragment &fragment = form.d;
  unsigned perRegister = fragment.getPerRegister(), bytes = fragment.bits / 8;
  for (unsigned lane = 0; lane != kLanes; ++lane)
    for (unsigned r = 0; r != fragment.numRegisters; ++r) {
      uint64_t value = 0;
      unsigned undefinedBytes = 0;
      for (unsigned i = 0; i != perRegister; ++i) {
        unsigned element = fragment.getElement(lane, r * perRegister + i);
        value |= bits[element] << i * fragment.bits;
        if (undefined[element])
          undefinedBytes |= llvm::maskTrailingOnes<unsigned>(bytes)
                            << i * bytes;
      }
      warp.reg(registers[r]).set(lane, value, undefinedBytes);
    }
}

static void executeMultiply(Warp &warp, const Step &step) {
  const auto &form = step.getForm<WmmaForm>();
  if (!warp.requireWholeWarp("wmma.mma"))
    return;
  llvm::ArrayRef<Slot> registers =
      step.operands.drop_front(form.d.numRegisters);
  WmmaMatrix matrices[3];
  const WmmaFragment *fragments[] = {&form.a, &form.b, &form.c};
  for (unsigned i = 0; i != 3; ++i) {
    matrices[i] = readFragment(warp, *fragments[i], registers);
    registers = registers.drop_front(fragments[i]->numRegisters);
    if (!matrices[i].badLane)
      continue;
    unsigned element = matrices[i].badElement, columns = fragments[i]->columns;
    return warp.fail(
        *matrices[i].badLane,
        "wmma.mma expected the same value in all copies of element (" +
            llvm::Twine(element / columns) + "," +
            llvm::Twine(element % columns) + ") of " + llvm::Twine("ABC"[i]));
  }
  WmmaProduct product(form, matrices[0], matrices[1], matrices[2]);
  product.run(warp.block.launch.options->numerics);
  // All operands have been read: D may be registers of others.
  product.write(warp, step.operands);
}

/// The form of mma.sync for a tile.
static const MmaForm *findTile(const WmmaShape &shape, Type a, Type c,
                               bool isSatfinite) {
  for (const MmaForm &form : getMmaForms())
    if (form.kind == MmaKind::None && !form.isSparse() &&
        !form.isBlockScaled() && form.m == kMaxM && form.k == shape.k &&
        form.a == a && form.b == a && form.c == c &&
        form.isSatfinite == isSatfinite)
      return &form;
  return nullptr;
}

void sim::translateWmmaMultiply(Translator &t, Modifiers &modifiers) {
  modifiers.take("mma");
  bool isSynchronous = modifiers.take("sync");
  if (!modifiers.take("aligned") || !isSynchronous)
    return t.fail("expected .sync.aligned behind wmma.mma");
  // Fragments have no layout of their own.
  static constexpr llvm::StringRef layouts[] = {"row", "col"};
  if (!modifiers.takeOneOf(layouts) || !modifiers.takeOneOf(layouts))
    return t.fail("expected the layouts of A and B behind wmma.mma");
  const WmmaShape *shape = takeWmmaShape(t, modifiers);
  if (!shape)
    return;
  bool isSatfinite = modifiers.take("satfinite");
  // The types of D, A, B and C; .f16 forms name only D and C.
  llvm::SmallVector<Type, 4> types;
  while (std::optional<Type> type = modifiers.takeType())
    types.push_back(*type);
  if (types.size() == 2)
    types.insert(types.begin() + 1, {Type::F16, Type::F16});
  if (types.size() != 4 || types[1] != types[2])
    return t.fail("expected the types of D and C, or of D, A, B and C with A "
                  "and B equal, behind wmma.mma");
  auto a = getWmmaFragment('a', *shape, types[1]);
  auto b = getWmmaFragment('b', *shape, types[2]);
  auto c = getWmmaFragment('c', *shape, types[3]);
  auto d = getWmmaFragment('c', *shape, types[0]);
  const MmaForm *tile = findTile(*shape, types[1], types[0], isSatfinite);
  bool areMixed = types[0] != types[3] && types[1] != Type::F16;
  if (!a || !b || !c || !d || !tile || areMixed ||
      !findTile(*shape, types[1], types[3], isSatfinite))
    return t.fail("not supported in this version: types of wmma.mma for " +
                  shape->name);
  if (!checkWmmaTarget(t, types[1]) || !t.finish(modifiers) ||
      !t.expectOperands(4))
    return;
  llvm::ArrayRef<PtxOperand> operands = t.current->operands;
  llvm::SmallVector<Slot> slots;
  t.destinations(operands[0], d->registerType, d->numRegisters, slots);
  t.sources(operands[1], a->registerType, a->numRegisters, slots);
  t.sources(operands[2], b->registerType, b->numRegisters, slots);
  t.sources(operands[3], c->registerType, c->numRegisters, slots);
  // ptxas compiles it to mma.sync, so the same adder counts.
  const AdderRule *adder = findAdderRule(
      MatrixUnit::Warp, getTargetNumber(t.program.module.target), *tile);
  Step &step = t.emit(executeMultiply, StepClass::Matrix, slots,
                      t.keep(WmmaForm{*a, *b, *c, *d, tile, adder}));
  std::string name = "wmma." + shape->name.str();
  for (Type type : types)
    name += "." + std::string(getName(type));
  step.name = llvm::StringRef(name).copy(*t.code.allocator);
  step.multiplyAdds = shape->m * shape->n * shape->k;
  step.matrixClass = getMatrixClass(*tile);
}
