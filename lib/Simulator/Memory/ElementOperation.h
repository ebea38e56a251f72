//===- ElementOperation.h - Operations of atomics ---------------*- C++ -*-===//
//
// Part of the blockscale project, under the Apache License v2.0 with LLVM
// Exceptions. See LICENSE for license information.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//
//
// `atom`, `red` and `cp.reduce.async.bulk` replace an element in memory by the
// result of an operation on it and an operand.
//
// Source: PTX ISA, section 9.7.13.6 "atom".
//
//===----------------------------------------------------------------------===//

#ifndef BLOCKSCALE_LIB_SIMULATOR_MEMORY_ELEMENTOPERATION_H
#define BLOCKSCALE_LIB_SIMULATOR_MEMORY_ELEMENTOPERATION_H

#include "Memory/Storage.h"
#include "Ptx/Types.h"

namespace mlir::blockscale::sim {

struct ElementOperation {
  enum class Kind : uint8_t {
    Add,
    Min,
    Max,
    And,
    Or,
    Xor,
    Inc,
    Dec,
    Exchange,
  };
  Kind kind;
  Type type;
  /// Subnormal f32 inputs and results count as zeros.
  bool isFlushing = false;

  unsigned getBytes() const { return sim::getBytes(type); }
  /// Whether PTX has the operation for the type.
  bool isLegal() const;

  uint64_t combine(uint64_t old, uint64_t operand) const;
  /// Replaces the element at `span`; `undefined` are bytes of the operand.
  void apply(Span &span, uint64_t operand, uint8_t undefined) const;
};

} // namespace mlir::blockscale::sim

#endif // BLOCKSCALE_LIB_SIMULATOR_MEMORY_ELEMENTOPERATION_H
