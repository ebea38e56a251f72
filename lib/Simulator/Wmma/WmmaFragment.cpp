//===- WmmaFragment.cpp - Fragments of wmma -------------------------------===//
//
// Part of the blockscale project, under the Apache License v2.0 with LLVM
// Exceptions. See LICENSE for license information.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//
//
// Shapes and types of wmma, and how many registers they have.
//
// Source: PTX ISA, section 9.7.14.4 "Warp-level Matrix instructions using
// wmma".
//
//===----------------------------------------------------------------------===//

#include "Wmma/WmmaFragment.h"

#include "Ptx/Targets.h"
#include "Translation/OpcodeTable.h"

using namespace mlir::blockscale;
using namespace mlir::blockscale::sim;

static constexpr WmmaShape kShapes[] = {
    {"m16n16k16", 16, 16, 16},
    {"m32n8k16", 32, 8, 16},
    {"m8n32k16", 8, 32, 16},
    {"m16n16k8", 16, 16, 8},
};

namespace {
/// An element type of A and B, or of the accumulator.
struct WmmaType {
  Type element, registerType;
  bool isAccumulator;
  unsigned k;
  /// 0 means as many as the elements need.
  unsigned numRegisters;
  unsigned capability, ptxVersion;
};
} // namespace

static constexpr WmmaType kTypes[] = {
    {Type::F16, Type::F16x2, false, 16, 8, 70, 60},
    {Type::BF16, Type::B32, false, 16, 0, 80, 70},
    {Type::TF32, Type::B32, false, 8, 0, 80, 70},
    {Type::S8, Type::B32, false, 16, 0, 72, 63},
    {Type::U8, Type::B32, false, 16, 0, 72, 63},
    {Type::F16, Type::F16x2, true, 16, 0, 70, 60},
    {Type::F32, Type::F32, true, 0, 0, 70, 60},
    {Type::S32, Type::S32, true, 16, 0, 72, 63},
};

const WmmaShape *sim::takeWmmaShape(Translator &t, Modifiers &modifiers) {
  for (const WmmaShape &shape : kShapes)
    if (modifiers.take(shape.name))
      return &shape;
  return t.error(
      "not supported in this version: shape of wmma; expected m16n16k16, "
      "m32n8k16, m8n32k16 or m16n16k8");
}

std::optional<WmmaFragment>
sim::getWmmaFragment(char operand, const WmmaShape &shape, Type type) {
  for (const WmmaType &row : kTypes) {
    if (row.element != type || row.isAccumulator != (operand == 'c') ||
        (row.k != 0 && row.k != shape.k))
      continue;
    unsigned rows = operand == 'b' ? shape.k : shape.m;
    unsigned columns = operand == 'a' ? shape.k : shape.n;
    unsigned bits = std::min(getBits(type), 32u);
    if (type == Type::TF32)
      bits = 32;
    unsigned needed = rows * columns * bits / 32 / kLanes;
    return WmmaFragment{rows, columns,
                        type, row.registerType,
                        bits, row.numRegisters ? row.numRegisters : needed};
  }
  return std::nullopt;
}

bool sim::checkWmmaTarget(Translator &t, Type type) {
  const Module &module = t.program.module;
  const WmmaType &row = *llvm::find_if(
      kTypes, [&](const WmmaType &row) { return row.element == type; });
  unsigned version = module.versionMajor * 10 + module.versionMinor;
  std::string name = "wmma of ." + std::string(getName(type));
  if (getTargetNumber(module.target) < row.capability)
    t.fail("expected a target that has " + name + ", got " + module.target);
  else if (version < row.ptxVersion)
    t.fail("expected PTX version " + llvm::Twine(row.ptxVersion) +
           " or above for " + name + ", got " + llvm::Twine(version));
  return !t.hasFailed();
}

static void translateWmma(Translator &t, Modifiers &modifiers) {
  llvm::StringRef what =
      t.current->modifiers.empty() ? "" : t.current->modifiers.front();
  if (what == "load")
    return translateWmmaLoad(t, modifiers);
  if (what == "store")
    return translateWmmaStore(t, modifiers);
  if (what == "mma")
    return translateWmmaMultiply(t, modifiers);
  t.fail("expected .load, .store or .mma behind wmma");
}

void sim::addWmmaInstructions(OpcodeTable &table) {
  table["wmma"] = translateWmma;
}
