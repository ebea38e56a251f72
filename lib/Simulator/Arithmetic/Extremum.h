//===- Extremum.h - Minimum or maximum of several values --------*- C++ -*-===//
//
// Part of the blockscale project, under the Apache License v2.0 with LLVM
// Exceptions. See LICENSE for license information.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//
//
// What redux.sync and tcgen05.ld.red make of values of 32 bits: of floats, -0
// is below +0, and those that are no numbers are left out, or are the result.
//
//===----------------------------------------------------------------------===//

#ifndef BLOCKSCALE_LIB_SIMULATOR_ARITHMETIC_EXTREMUM_H
#define BLOCKSCALE_LIB_SIMULATOR_ARITHMETIC_EXTREMUM_H

#include "Ptx/Types.h"

#include "llvm/ADT/StringRef.h"

#include <cstdint>
#include <optional>

namespace mlir::blockscale::sim {

using Combine = uint32_t (*)(uint32_t a, uint32_t b);

/// "min" or "max" of u32, s32 or f32 that are numbers; null for other names and
/// types.
Combine findExtremum(llvm::StringRef name, Type type);

/// How values are combined.
struct ReductionRule {
  Combine combine;
  bool isFloat;
  /// Of floats alone: .abs and .NaN.
  bool isAbsolute, propagatesNaN;
};

/// Takes one value after the other.
class Reduction {
public:
  explicit Reduction(const ReductionRule &rule) : rule(rule) {}

  void add(uint32_t value);
  /// The canonical NaN where there is no other result.
  uint32_t get() const;

private:
  ReductionRule rule;
  std::optional<uint32_t> result;
  bool hasNaN = false;
};

} // namespace mlir::blockscale::sim

#endif // BLOCKSCALE_LIB_SIMULATOR_ARITHMETIC_EXTREMUM_H
