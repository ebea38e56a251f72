//===- DecodeTable.cpp - Decode table of formats --------------------------===//
//
// Part of the blockscale project, under the Apache License v2.0 with LLVM
// Exceptions. See LICENSE for license information.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//
//
// Values come from the table of formats. Source of the formats' codes in
// descriptors: PTX ISA 9.0, "Instruction descriptor".
//
//===----------------------------------------------------------------------===//

#include "Emulation/Tcgen05/DecodeTable.h"

#include "blockscale/Support/Formats.h"

using namespace mlir;
using namespace mlir::blockscale;

static constexpr int64_t kNumRows = 8;
static constexpr unsigned kCodeBits = 8, kNumCodes = 1 << kCodeBits;

/// No format has the code 2.
static constexpr std::optional<Format> kRows[kNumRows] = {
    Format::E4M3, Format::E5M2, std::nullopt,  Format::E2M3,
    Format::E3M2, Format::E2M1, Format::UE4M3, Format::UE8M0,
};
static_assert(kRows[DecodeTable::kE2M1] == Format::E2M1 &&
              kRows[DecodeTable::kScales] == Format::UE4M3);

static LLVM::GlobalOp getTable(gpu::GPUModuleOp module) {
  constexpr StringLiteral kName = "__blockscale_decode_table";
  if (auto variable = module.lookupSymbol<LLVM::GlobalOp>(kName))
    return variable;
  // f32 holds all values exactly.
  SmallVector<float> values;
  for (std::optional<Format> format : kRows)
    for (unsigned code = 0; code != kNumCodes; ++code)
      values.push_back(format ? static_cast<float>(decode(*format, code))
                              : std::numeric_limits<float>::quiet_NaN());
  auto f32 = Float32Type::get(module.getContext());
  auto size = static_cast<int64_t>(values.size());
  return addSoftVariable(
      module, kName, LLVM::LLVMArrayType::get(f32, size), /*isConstant=*/true,
      DenseElementsAttr::get(RankedTensorType::get(size, f32),
                             ArrayRef<float>(values)));
}

DecodeTable::DecodeTable(gpu::GPUModuleOp module) : table(getTable(module)) {}

Value DecodeTable::get(const Word &row, const Word &code) const {
  ImplicitLocOpBuilder &b = *code.b;
  Word index = (row << kCodeBits) | code.field(0, kCodeBits);
  Value wide = arith::ExtUIOp::create(b, b.getI64Type(), index.value);
  Value base = getSoftPointer(b, table);
  Value pointer =
      LLVM::GEPOp::create(b, base.getType(), b.getF32Type(), base, wide);
  Value value = LLVM::LoadOp::create(b, b.getF32Type(), pointer);
  return arith::ExtFOp::create(b, b.getF64Type(), value);
}
