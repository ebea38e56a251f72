//===- AdderRules.cpp - The table of adders -------------------------------===//
//
// Part of the blockscale project, under the Apache License v2.0 with LLVM
// Exceptions. See LICENSE for license information.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//
//
// Measurements of several groups on cards from sm_80 to sm_120;
// docs/Simulator.md says which rows were not measured.
//
//===----------------------------------------------------------------------===//

#include "Mma/AdderRules.h"

#include "llvm/ADT/STLExtras.h"

using namespace mlir::blockscale;
using namespace mlir::blockscale::sim;

namespace {

/// Classes of operand types for which a unit adds in the same way.
enum class Operands : uint8_t { Half, TF32, F64, F8, F8F6F4, MXF8F6F4, F4 };

struct Row {
  MatrixUnit unit;
  /// The range of target numbers.
  unsigned first, last;
  Operands operands;
  AdderRule rule;
};

} // namespace

using Method = AdderMethod;
using Unit = MatrixUnit;

static constexpr unsigned kNewest = 121;

// clang-format off
static constexpr Row kRows[] = {
  // unit            targets        operands             method              chunk  aligned  floors      fraction
  {Unit::Warp,       80,  89,       Operands::Half,     {Method::Products,    8,    24,     -132, -20,  23}},
  {Unit::Warp,       80,  89,       Operands::TF32,     {Method::Products,    4,    24,     -132,   0,  23}},
  {Unit::Warp,       89,  89,       Operands::F8,       {Method::Products,   16,    13,     -132, -20,  13}},
  {Unit::Warp,       90,  kNewest,  Operands::Half,     {Method::Products,   16,    25,     -133, -21,  23}},
  {Unit::Warp,       90,  kNewest,  Operands::TF32,     {Method::Products,    8,    25,     -133,   0,  23}},
  {Unit::Warp,       90,  110,      Operands::F8,       {Method::TwoHalves,  16,    25,     -133, -21,  23}},
  {Unit::Warp,       90,  110,      Operands::F8F6F4,   {Method::TwoHalves,  16,    25,     -133, -21,  23}},
  {Unit::Warp,      120,  kNewest,  Operands::F8,       {Method::Products,   32,    25,     -133, -21,  23}},
  {Unit::Warp,      120,  kNewest,  Operands::F8F6F4,   {Method::Products,   32,    25,     -133, -21,  23}},
  {Unit::Warp,      120,  kNewest,  Operands::MXF8F6F4, {Method::Products,   32,    25,     -133,   0,  23}},
  {Unit::Warp,      120,  kNewest,  Operands::F4,       {Method::GroupsOf16, 64,    35,     -139,   0,  23}},
  {Unit::Warp,       80,  kNewest,  Operands::F64,      {Method::Chain,       0,     0,        0,   0,   0}},
  {Unit::Warpgroup,  90,  90,       Operands::Half,     {Method::Products,   16,    25,     -133, -21,  23}},
  {Unit::Warpgroup,  90,  90,       Operands::TF32,     {Method::Products,    8,    25,     -133,   0,  23}},
  {Unit::Warpgroup,  90,  90,       Operands::F8,       {Method::Products,   32,    13,     -133, -21,  13}},
  {Unit::Tensor,    100,  110,      Operands::Half,     {Method::Products,   16,    25,     -133, -21,  23}},
  {Unit::Tensor,    100,  110,      Operands::TF32,     {Method::Products,    8,    25,     -133,   0,  23}},
  {Unit::Tensor,    100,  110,      Operands::F8F6F4,   {Method::Products,   32,    25,     -133, -21,  23}},
  {Unit::Tensor,    100,  110,      Operands::MXF8F6F4, {Method::Products,   32,    25,     -133,   0,  23}},
  {Unit::Tensor,    100,  110,      Operands::F4,       {Method::GroupsOf16, 64,    35,     -139,   0,  23}},
};
// clang-format on

static std::optional<Operands> getOperands(const MmaForm &form) {
  switch (form.kind) {
  case MmaKind::F8F6F4:
    return Operands::F8F6F4;
  case MmaKind::MXF8F6F4:
    return Operands::MXF8F6F4;
  case MmaKind::MXF4:
  case MmaKind::MXF4NVF4:
    return Operands::F4;
  case MmaKind::None:
    break;
  }
  switch (form.a) {
  case Type::F16:
  case Type::BF16:
    return Operands::Half;
  case Type::TF32:
    return Operands::TF32;
  case Type::F64:
    return Operands::F64;
  case Type::E4M3:
  case Type::E5M2:
    return Operands::F8;
  default:
    return std::nullopt;
  }
}

const AdderRule *sim::findAdderRule(MatrixUnit unit, unsigned target,
                                    const MmaForm &form) {
  std::optional<Operands> operands = getOperands(form);
  if (!operands)
    return nullptr;
  const Row *row = llvm::find_if(kRows, [&](const Row &row) {
    return row.unit == unit && row.operands == *operands &&
           row.first <= target && target <= row.last;
  });
  return row == std::end(kRows) ? nullptr : &row->rule;
}
