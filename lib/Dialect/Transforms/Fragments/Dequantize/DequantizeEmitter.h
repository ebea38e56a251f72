//===- DequantizeEmitter.h - Products of converted codes --------*- C++ -*-===//
//
// Part of the blockscale project, under the Apache License v2.0 with LLVM
// Exceptions. See LICENSE for license information.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#ifndef BLOCKSCALE_LIB_DIALECT_TRANSFORMS_FRAGMENTS_DEQUANTIZE_DEQUANTIZEEMITTER_H
#define BLOCKSCALE_LIB_DIALECT_TRANSFORMS_FRAGMENTS_DEQUANTIZE_DEQUANTIZEEMITTER_H

#include "Fragments/Dequantize/DequantizeScales.h"
#include "Fragments/Dequantize/SpecialScan.h"

#include <functional>

namespace mlir::blockscale {

/// Groups of 8 rows in a tile of A of an instruction.
inline constexpr unsigned kGroupsOfA = 2;

/// One operand of a product.
struct DequantizedOperand {
  /// Makes what loads its codes, where the builder stands.
  std::function<CodePairsPtr()> makeCodes;
  /// None for numbers.
  std::optional<DequantizeScales> scales;
  /// Groups of 8 rows.
  unsigned groups;
};

class DequantizeEmitter {
public:
  /// `scan` is null if no code is special. Beside numbers of x, y is rounded to
  /// `numbers`.
  DequantizeEmitter(OpBuilder &b, const WarpProduct &product,
                    const WarpTile &tile, int64_t k, DequantizedOperand x,
                    DequantizedOperand y, SpecialScanPtr scan, Rounding numbers)
      : emit{b, product.loc}, tile(tile), steps(k / kStepElements),
        lane(product.lane), x(std::move(x)), y(std::move(y)),
        scan(std::move(scan)), numbers(numbers) {}

  SmallVector<Value> emitProduct(ValueRange elements);

private:
  using Sums = SmallVector<Value>;

  Value emitIsExact(const DequantizedOperand &operand);
  Value emitIsInexact(const DequantizedOperand &operand);
  void emitExact(Sums &sums);
  void emitPairs(Sums &sums, const Rounding *rounding);
  void addProduct(Sums &sums, unsigned m, unsigned n, ArrayRef<Value> a,
                  ArrayRef<Value> b);
  void emitRoundedStep(Sums &sums, const Step &step, CodePairs &xCodes,
                       CodePairs &yCodes);
  void emitScaledSums(Sums &sums);
  void emitScaledStep(Sums &sums, const Step &step, CodePairs &xCodes,
                      CodePairs &yCodes);
  Pairs keepBlock(const Pairs &pairs, unsigned block) const;
  Value dropFinite(Value value);
  void addValue(Sums &sums, int64_t element, Value value);
  void addScaled(Sums &sums, unsigned m, unsigned n, ValueRange products,
                 ArrayRef<Value> xScales, ArrayRef<Value> yScales);
  /// Calls `body` for each step, in a loop if codes can be loaded so; `values`
  /// are what it changes.
  void forEachStep(SmallVector<Value> &values, bool takesValues,
                   function_ref<void(const Step &)> body);

  Value multiply(ArrayRef<Value> a, ArrayRef<Value> b, ValueRange c) const;
  SmallVector<Value> unpack(Value sums) const;

  WordEmitter emit;
  WarpTile tile;
  int64_t steps;
  Value lane;
  DequantizedOperand x, y;
  SpecialScanPtr scan;
  /// What instructions multiply.
  Rounding numbers;
  /// The most that is left out of what is added, see addScaled.
  Value leftOut;
};

} // namespace mlir::blockscale

#endif // BLOCKSCALE_LIB_DIALECT_TRANSFORMS_FRAGMENTS_DEQUANTIZE_DEQUANTIZEEMITTER_H
