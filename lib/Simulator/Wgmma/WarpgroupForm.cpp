//===- WarpgroupForm.cpp - The table of wgmma.mma_async -------------------===//
//
// Part of the blockscale project, under the Apache License v2.0 with LLVM
// Exceptions. See LICENSE for license information.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//
//
// The table of the forms of wgmma. b1, and a sparse A of other types than f16
// and bf16, are not supported, and are refused by name.
//
//===----------------------------------------------------------------------===//

#include "Wgmma/WarpgroupForm.h"

#include "llvm/ADT/STLExtras.h"

using namespace mlir::blockscale;
using namespace mlir::blockscale::sim;

namespace {
/// A row stands for all combinations of its types.
struct Row {
  llvm::ArrayRef<Type> elements, accumulators;
  unsigned k;
  /// N is a multiple of `nStep`, or of 8 up to `mostEights`.
  unsigned nStep, mostEights;
  bool hasSigns, hasTransposes, hasSatfinite;
  /// The lowest PTX version, and the lowest one for A and B of different types.
  unsigned version, mixedVersion;
  /// The lowest one with a sparse A, whose K is twice as large; 0 if that is
  /// not supported.
  unsigned sparseVersion;
};
} // namespace

static constexpr Type kF16[] = {Type::F16}, kBF16[] = {Type::BF16},
                      kTF32[] = {Type::TF32}, kF8[] = {Type::E4M3, Type::E5M2},
                      kIntegers[] = {Type::S8, Type::U8};
static constexpr Type kFloatSums[] = {Type::F16, Type::F32},
                      kF32Sums[] = {Type::F32}, kS32Sums[] = {Type::S32};

static constexpr unsigned kMaxColumns = 256;

static constexpr Row kRows[] = {
    {kF16, kFloatSums, 16, 8, 0, true, true, false, 80, 80, 82},
    {kBF16, kF32Sums, 16, 8, 0, true, true, false, 80, 80, 82},
    {kTF32, kF32Sums, 8, 8, 0, true, false, false, 80, 80, 0},
    {kF8, kFloatSums, 32, 8, 0, true, false, false, 80, 80, 0},
    {kIntegers, kS32Sums, 32, 16, 32, false, false, true, 80, 84, 0},
};

static bool isLegalN(const Row &row, unsigned n) {
  unsigned step = n <= row.mostEights ? 8 : row.nStep;
  return n != 0 && n <= kMaxColumns && n % step == 0;
}

static std::string getOpcode(bool isSparse) {
  return isSparse ? "wgmma.mma_async.sp" : "wgmma.mma_async";
}

static std::string printTypes(const WarpgroupTypes &types) {
  std::string text;
  for (Type type : {types.d, types.a, types.b})
    text.append(".").append(getName(type));
  return text;
}

static std::string printLegalN(const Row &row) {
  std::string text = "multiples of " + std::to_string(row.nStep) + " up to " +
                     std::to_string(kMaxColumns);
  if (row.mostEights)
    text += ", and of 8 up to " + std::to_string(row.mostEights);
  return text;
}

Result<WarpgroupForm> sim::lookupWarpgroupForm(llvm::StringRef shape,
                                               const WarpgroupTypes &types,
                                               unsigned version) {
  std::string typeNames = printTypes(types);
  const Row *row = llvm::find_if(kRows, [&](const Row &row) {
    return llvm::is_contained(row.elements, types.a) &&
           llvm::is_contained(row.elements, types.b) &&
           llvm::is_contained(row.accumulators, types.d);
  });
  if (row == std::end(kRows))
    return Error("expected types of D, A and B that wgmma.mma_async has, got " +
                 typeNames);
  if (types.isSatfinite && !row->hasSatfinite)
    return Error("expected .satfinite only with D of s32, got " + typeNames);
  if (types.isSparse && !row->sparseVersion)
    return Error("not supported in this version: wgmma.mma_async.sp of " +
                 typeNames);
  std::string opcode = getOpcode(types.isSparse);
  unsigned lowest = types.isSparse       ? row->sparseVersion
                    : types.a == types.b ? row->version
                                         : row->mixedVersion;
  if (version < lowest)
    return Error("expected PTX version " + std::to_string(lowest / 10) + "." +
                 std::to_string(lowest % 10) + " or above for " + opcode +
                 " of " + typeNames + ", got " + std::to_string(version / 10) +
                 "." + std::to_string(version % 10));
  auto rejectShape = [&](const std::string &expected) {
    return Error("expected " + expected + " of " + opcode + " of " + typeNames +
                 ", got ." + shape.str());
  };
  unsigned expectedK = types.isSparse ? 2 * row->k : row->k;
  llvm::StringRef rest = shape;
  unsigned m, n, k;
  if (!rest.consume_front("m") || rest.consumeInteger(10, m) ||
      !rest.consume_front("n") || rest.consumeInteger(10, n) ||
      !rest.consume_front("k") || rest.consumeInteger(10, k) || !rest.empty())
    return rejectShape("a shape such as .m64n8k" + std::to_string(expectedK));
  if (m != kWarpgroupRows)
    return rejectShape("M of " + std::to_string(kWarpgroupRows));
  if (k != expectedK)
    return rejectShape("K of " + std::to_string(expectedK));
  if (!isLegalN(*row, n))
    return rejectShape("N out of the " + printLegalN(*row));

  // The ISA has no qualifier for the order of positions here.
  Sparsity sparsity = types.isSparse ? Sparsity::Ordered : Sparsity::Dense;
  const MmaForm *tile =
      llvm::find_if(getMmaForms(), [&](const MmaForm &form) {
        return form.kind == MmaKind::None && form.sparsity == sparsity &&
               form.m == kWarpRows && form.k == k && form.a == types.a &&
               form.b == types.b && form.c == types.d &&
               form.isSatfinite == types.isSatfinite;
      }).base();
  return WarpgroupForm{*tile, n, row->hasSigns, row->hasTransposes};
}

std::string sim::makeName(const WarpgroupForm &form) {
  const MmaForm &tile = form.tile;
  return std::string(tile.isSparse() ? "wgmma.sp.m" : "wgmma.m") +
         std::to_string(kWarpgroupRows) + "n" + std::to_string(form.n) + "k" +
         std::to_string(tile.k) +
         printTypes({tile.c, tile.a, tile.b, tile.isSatfinite}) +
         (tile.isSatfinite ? ".satfinite" : "");
}
