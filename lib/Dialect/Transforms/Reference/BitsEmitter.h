//===- BitsEmitter.h - Arithmetic on the bits of floats ---------*- C++ -*-===//
//
// Part of the blockscale project, under the Apache License v2.0 with LLVM
// Exceptions. See LICENSE for license information.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//
//
// Short names for the operations of the decoder and the encoder: integer
// arithmetic on the bits of f32 or f64, of scalars or of vectors and tensors.
//
//===----------------------------------------------------------------------===//

#ifndef BLOCKSCALE_LIB_DIALECT_TRANSFORMS_REFERENCE_BITSEMITTER_H
#define BLOCKSCALE_LIB_DIALECT_TRANSFORMS_REFERENCE_BITSEMITTER_H

#include "Utils/ArithEmitter.h"

#include <limits>

namespace mlir::blockscale {

/// Arithmetic on floats of `type`, f32 or f64, and on integers of its width, or
/// on vectors or tensors of them of the static shape of `shape`.
class BitsEmitter : public ArithEmitter {
public:
  BitsEmitter(OpBuilder &builder, Location loc, Type shape, FloatType type)
      : ArithEmitter(builder, loc, type, shape) {}

  unsigned width() { return type.getWidth(); }
  /// Bits of the mantissa, without the implicit one.
  unsigned mantissaBits() { return type.getFPMantissaWidth() - 1; }
  int bias() { return (1 << (width() - mantissaBits() - 2)) - 1; }
  /// The encoding of `value`, which `type` represents exactly.
  uint64_t encodingOf(double value) {
    APFloat number(value);
    bool losesInfo = false;
    number.convert(type.getFloatSemantics(), APFloat::rmNearestTiesToEven,
                   &losesInfo);
    return number.bitcastToAPInt().getZExtValue();
  }
  uint64_t infinity() {
    return encodingOf(std::numeric_limits<double>::infinity());
  }
  uint64_t signBit() { return uint64_t(1) << (width() - 1); }
};

} // namespace mlir::blockscale

#endif // BLOCKSCALE_LIB_DIALECT_TRANSFORMS_REFERENCE_BITSEMITTER_H
