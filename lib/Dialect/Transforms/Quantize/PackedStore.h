//===- PackedStore.h - Packing of neighbours --------------------*- C++ -*-===//
//
// Part of the blockscale project, under the Apache License v2.0 with LLVM
// Exceptions. See LICENSE for license information.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//
//
// Quantizes a few elements of one block and packs them as in memory, with the
// conversion instructions of the chip if it has them, or with arithmetic.
//
//===----------------------------------------------------------------------===//

#ifndef BLOCKSCALE_LIB_DIALECT_TRANSFORMS_QUANTIZE_PACKEDSTORE_H
#define BLOCKSCALE_LIB_DIALECT_TRANSFORMS_QUANTIZE_PACKEDSTORE_H

#include "Quantize/BlockArithmetic.h"
#include "blockscale/Support/Chips.h"

namespace mlir::blockscale {

class PackedStore {
public:
  /// `codeBits` is 4 for two elements in a byte, and 8.
  PackedStore(OpBuilder &b, Location loc, const BlockFormat &format,
              unsigned codeBits, const Chip &chip);

  /// Quantizes `values`, f32s of one block, an even count. Returns an integer
  /// with all bits: i8, i16, i32, or a vector of i32.
  Value emit(ArrayRef<Value> values, const BlockFactor &factor);
  /// The same, always with the reciprocal (`byReciprocal`), or never.
  Value emitBy(bool byReciprocal, ArrayRef<Value> values,
               const BlockFactor &factor);

private:
  /// The packed bits of two quantized quotients, in an i32.
  Value emitPair(Value low, Value high);
  /// Quantizes quotients; returns what `emit` returns.
  Value join(ArrayRef<Value> quotients, const BlockFactor &factor);

  OpBuilder &b;
  Location loc;
  BlockArithmetic arithmetic;
  BlockFormat format;
  unsigned codeBits;
  bool isNative;
};

} // namespace mlir::blockscale

#endif // BLOCKSCALE_LIB_DIALECT_TRANSFORMS_QUANTIZE_PACKEDSTORE_H
