//===- Numerics.h - How matrix instructions round ---------------*- C++ -*-===//
//
// Part of the blockscale project, under the Apache License v2.0 with LLVM
// Exceptions. See LICENSE for license information.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#ifndef BLOCKSCALE_SIMULATOR_NUMERICS_H
#define BLOCKSCALE_SIMULATOR_NUMERICS_H

#include <cstdint>

namespace mlir::blockscale::sim {

/// How the sum of a matrix instruction is rounded. The PTX ISA leaves order and
/// precision of the additions open.
enum class Numerics : uint8_t {
  /// Products, scales and sum are exact; one rounding, to nearest even, to the
  /// type of the accumulator.
  Exact,
  /// The results of the tensor core of the module's target, as far as they have
  /// been measured: docs/Simulator.md. Terms are aligned to the one with the
  /// largest exponent and cut off.
  Hardware,
};

} // namespace mlir::blockscale::sim

#endif // BLOCKSCALE_SIMULATOR_NUMERICS_H
