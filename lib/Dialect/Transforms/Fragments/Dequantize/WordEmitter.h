//===- WordEmitter.h - Arithmetic on registers ------------------*- C++ -*-===//
//
// Part of the blockscale project, under the Apache License v2.0 with LLVM
// Exceptions. See LICENSE for license information.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//
//
// Arithmetic on 32-bit registers of a lane (words), with instructions of NVVM,
// and with constants that are created once.
//
//===----------------------------------------------------------------------===//

#ifndef BLOCKSCALE_LIB_DIALECT_TRANSFORMS_FRAGMENTS_DEQUANTIZE_WORDEMITTER_H
#define BLOCKSCALE_LIB_DIALECT_TRANSFORMS_FRAGMENTS_DEQUANTIZE_WORDEMITTER_H

#include "Utils/ArithEmitter.h"
#include "blockscale/Support/Formats.h"
#include "mlir/Dialect/LLVMIR/LLVMDialect.h"
#include "mlir/Dialect/LLVMIR/NVVMDialect.h"

namespace mlir::blockscale {

class WordEmitter : public ArithEmitter {
public:
  WordEmitter(OpBuilder &b, Location loc) : ArithEmitter(b, loc) {
    keepConstants();
  }

  /// An index, such as the lane's, as a word.
  Value toWord(Value number) const {
    return arith::IndexCastUIOp::create(b, loc, bits, number);
  }

  /// The bytes that the nibbles of `selector` name, of `high` and `low` (PTX
  /// ISA, "prmt"): 0 to 3 are those of `low`, 4 to 7 those of `high` (zeros if
  /// it is null), and with bit 3 set, eight copies of that byte's sign.
  Value permute(Value low, Value high, Value selector) const {
    return NVVM::PermuteOp::create(
        b, loc, bits, low, high ? high : integer(0), selector,
        NVVM::PermuteModeAttr::get(b.getContext(), NVVM::PermuteMode::DEFAULT));
  }

  /// A word as a pair of bf16 or f16, and the reverse: LLVM's op, since that of
  /// arith does not change the shape.
  Value toPair(Value word, Format value = Format::BF16) const {
    Type half =
        value == Format::F16 ? Type(b.getF16Type()) : Type(b.getBF16Type());
    auto pair = VectorType::get(2, half);
    return LLVM::BitcastOp::create(b, loc, pair, word);
  }
  Value fromPair(Value pair) const {
    return LLVM::BitcastOp::create(b, loc, bits, pair);
  }

  /// The value of `word` in lane `from`.
  Value shuffle(Value word, Value from) const {
    constexpr uint32_t kAllLanes = ~0u, kWholeWarp = 31;
    return NVVM::ShflOp::create(b, loc, bits, integer(kAllLanes), word, from,
                                integer(kWholeWarp), NVVM::ShflKind::idx,
                                UnitAttr());
  }
  /// Whether `flag` is true in all lanes, or in any.
  Value vote(NVVM::VoteSyncKind kind, Value flag) const {
    constexpr uint32_t kAllLanes = ~0u;
    return NVVM::VoteSyncOp::create(b, loc, b.getI1Type(), integer(kAllLanes),
                                    flag, kind);
  }
};

} // namespace mlir::blockscale

#endif // BLOCKSCALE_LIB_DIALECT_TRANSFORMS_FRAGMENTS_DEQUANTIZE_WORDEMITTER_H
