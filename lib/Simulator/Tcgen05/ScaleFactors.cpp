//===- ScaleFactors.cpp - Scale factors in tensor memory ------------------===//
//
// Part of the blockscale project, under the Apache License v2.0 with LLVM
// Exceptions. See LICENSE for license information.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//
//
// Finds the cells of the scale factors of an instruction, and checks that all
// copies agree.
//
//===----------------------------------------------------------------------===//

#include "Tcgen05/ScaleFactors.h"

#include "blockscale/Support/Formats.h"

using namespace mlir::blockscale;
using namespace mlir::blockscale::sim;

llvm::SmallVector<TensorRegion, 2> ScaleFactors::getRegions() const {
  Tcgen05Lanes lanes;
  for (unsigned group = firstGroup; group != firstGroup + numGroups; ++group)
    lanes |= makeTensorLanes(kTensorWarpLanes * group,
                             std::min(rows, kTensorWarpLanes));
  llvm::SmallVector<TensorRegion, 2> regions;
  for (unsigned word = first / 4; word != getNumWords(); ++word)
    regions.push_back({lanes, column + word * columnsOfWord,
                       (rows + kTensorWarpLanes - 1) / kTensorWarpLanes});
  return regions;
}

Result<ScaleValues> sim::readScales(TensorMemory &memory,
                                    const ScaleFactors &factors) {
  Format format = factors.type == Type::UE8M0 ? Format::UE8M0 : Format::UE4M3;
  ScaleValues result;
  result.undefinedRows.resize(factors.rows);
  for (unsigned row = 0; row != factors.rows; ++row)
    for (unsigned q = 0; q != factors.count; ++q) {
      unsigned s = factors.first + q;
      unsigned lane =
          row % kTensorWarpLanes + kTensorWarpLanes * factors.firstGroup;
      unsigned column = factors.column + row / kTensorWarpLanes +
                        s / 4 * factors.columnsOfWord;
      auto read = [&](unsigned group) -> std::pair<unsigned, bool> {
        unsigned at = lane + kTensorWarpLanes * group;
        return {memory.value(at, column) >> 8 * (s % 4) & 0xFF,
                memory.undefined(at, column) >> s % 4 & 1};
      };
      auto [code, isUndefined] = read(0);
      for (unsigned group = 1; group != factors.numGroups; ++group) {
        auto [copy, isCopyUndefined] = read(group);
        if (isCopyUndefined == isUndefined && (isUndefined || copy == code))
          continue;
        auto print = [](unsigned value, bool isUndefined) {
          return isUndefined ? "nothing" : std::to_string(value);
        };
        return Error(
            "expected copies of the scale factors in all groups of 32 lanes, "
            "but byte " +
            std::to_string(s % 4) + " in column " + std::to_string(column) +
            " is " + print(code, isUndefined) + " in lane " +
            std::to_string(lane) + " and " + print(copy, isCopyUndefined) +
            " in lane " + std::to_string(lane + kTensorWarpLanes * group));
      }
      if (isUndefined)
        result.undefinedRows[row] = true;
      if (format == Format::UE4M3 && code & 0x80 && !result.signedRow)
        result.signedRow = row;
      result.values.push_back(decode(format, code));
    }
  return result;
}
