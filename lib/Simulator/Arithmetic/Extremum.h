//===- Extremum.h - Minimum or maximum of several values --------*- C++ -*-===//
//
// Part of the blockscale project, under the Apache License v2.0 with LLVM
// Exceptions. See LICENSE for license information.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//
//
// The minimum and maximum of 32-bit values for redux.sync and tcgen05.ld.red.
// For f32, -0 is below +0, and NaNs are ignored or become the result.
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

/// "min" or "max" of u32, s32 or f32 values that are not NaN; null for other
/// names and types.
Combine findExtremum(llvm::StringRef name, Type type);

/// How values are combined.
struct ReductionRule {
  Combine combine;
  bool isFloat;
  /// For f32 only: .abs and .NaN.
  bool isAbsolute, propagatesNaN;
};

/// Combines one value after the other.
class Reduction {
public:
  explicit Reduction(const ReductionRule &rule) : rule(rule) {}

  void add(uint32_t value);
  /// The result; the canonical NaN if there is no other.
  uint32_t get() const;

private:
  ReductionRule rule;
  std::optional<uint32_t> result;
  bool hasNaN = false;
};

} // namespace mlir::blockscale::sim

#endif // BLOCKSCALE_LIB_SIMULATOR_ARITHMETIC_EXTREMUM_H
