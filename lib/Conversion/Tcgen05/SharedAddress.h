//===- SharedAddress.h - Addresses in shared memory -------------*- C++ -*-===//
//
// Part of the blockscale project, under the Apache License v2.0 with LLVM
// Exceptions. See LICENSE for license information.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//
//
// Descriptors hold addresses in units of 16 bytes. The terms of an address are
// converted to that unit separately, so that a term that changes in a loop
// costs one addition.
//
//===----------------------------------------------------------------------===//

#ifndef BLOCKSCALE_LIB_CONVERSION_TCGEN05_SHAREDADDRESS_H
#define BLOCKSCALE_LIB_CONVERSION_TCGEN05_SHAREDADDRESS_H

#include "mlir/Conversion/LLVMCommon/TypeConverter.h"
#include "mlir/IR/PatternMatch.h"

namespace mlir::blockscale {

/// A function that converts an op with addresses of shared memory.
template <typename Op>
using ConvertFn = LogicalResult (*)(Op, PatternRewriter &,
                                    const LLVMTypeConverter &);

template <typename Op>
struct SharedMemoryPattern final : OpRewritePattern<Op> {
  SharedMemoryPattern(MLIRContext *context, const LLVMTypeConverter &converter,
                      ConvertFn<Op> convert)
      : OpRewritePattern<Op>(context), converter(converter), convert(convert) {}

  LogicalResult matchAndRewrite(Op op,
                                PatternRewriter &rewriter) const override {
    return convert(op, rewriter, converter);
  }

  const LLVMTypeConverter &converter;
  ConvertFn<Op> convert;
};

/// Adds a pattern for each of `functions`.
template <typename... Ops>
void addPatterns(RewritePatternSet &patterns,
                 const LLVMTypeConverter &converter,
                 ConvertFn<Ops>... functions) {
  (patterns.add<SharedMemoryPattern<Ops>>(patterns.getContext(), converter,
                                          functions),
   ...);
}

Value makeI32(OpBuilder &b, Location loc, int64_t value);

/// A pointer to the start of `memory`, whose layout is the identity.
Value getSharedPointer(OpBuilder &b, Location loc,
                       const LLVMTypeConverter &converter, Value memory);

/// A pointer to element `index` of `memory`.
Value getSharedElement(OpBuilder &b, Location loc,
                       const LLVMTypeConverter &converter, Value memory,
                       Value index);

/// Adds to the descriptor `word` of a matrix at address 0 the address that is
/// `offset` bytes after the start of `memory`.
Value addSharedAddress(OpBuilder &b, Location loc,
                       const LLVMTypeConverter &converter, uint64_t word,
                       Value memory, Value offset);

} // namespace mlir::blockscale

#endif // BLOCKSCALE_LIB_CONVERSION_TCGEN05_SHAREDADDRESS_H
