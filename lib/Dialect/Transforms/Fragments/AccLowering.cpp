//===- AccLowering.cpp - The table of accumulator layouts -----------------===//
//
// Part of the blockscale project, under the Apache License v2.0 with LLVM
// Exceptions. See LICENSE for license information.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#include "Fragments/AccLowering.h"

using namespace mlir;
using namespace mlir::blockscale;

namespace {
struct Row {
  TypeID layout;
  const AccLowering &(*get)();
};
} // namespace

const AccLowering *blockscale::lookupAccLowering(AccType type) {
  static const Row rows[] = {
      {TypeID::get<WarpsAttr>(), getWarpsLowering},
      {TypeID::get<LaneColumnsAttr>(), getLaneColumnsLowering},
      {TypeID::get<WarpColumnsAttr>(), getWarpColumnsLowering},
  };
  for (const Row &row : rows)
    if (Attribute(type.getLayout()).getTypeID() == row.layout)
      return &row.get();
  return nullptr;
}

int64_t blockscale::getTmemLoadColumns(int64_t left) {
  constexpr int64_t kMost = 128;
  return std::min<int64_t>(kMost, llvm::bit_floor<uint64_t>(left));
}

const AccLowering &blockscale::getAccLowering(Type type) {
  return *lookupAccLowering(cast<AccType>(type));
}
