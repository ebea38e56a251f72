//===- LaunchNumbers.h - Numbers of a launch, worked out --------*- C++ -*-===//
//
// Part of the blockscale project, under the Apache License v2.0 with LLVM
// Exceptions. See LICENSE for license information.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#ifndef BLOCKSCALE_RUNTIME_LAUNCHNUMBERS_H
#define BLOCKSCALE_RUNTIME_LAUNCHNUMBERS_H

#include "blockscale/Runtime/LaunchArguments.h"

namespace mlir::blockscale {

/// What the numbers of a launch depend on.
struct LaunchFacts {
  /// Those of the function; buffers are loaded. More may follow.
  const std::vector<LaunchArgument> &arguments;
  /// Of the card.
  uint32_t sms;
};

/// The size of an argument in a dimension.
Result<uint32_t> evaluate(const ArgumentSize &size, const LaunchFacts &facts);

/// What an expression is. A failure names the argument, or the operation whose
/// result is no number of 64 bits.
Result<int64_t> evaluate(const LaunchExpr &expr, const LaunchFacts &facts);

/// The shape of a buffer, a packed dimension in bytes.
Result<std::vector<int64_t>> evaluateShape(const LaunchOperand &operand,
                                           const LaunchFacts &facts);

/// Fails with the message of the first check of the launch info that does not
/// hold.
Error runChecks(const LaunchInfo &info, const LaunchFacts &facts);

/// Holds the buffers of all arguments and results against the operands of the
/// launch info, if it has them.
Error checkOperands(const LaunchInfo &info, const LaunchFacts &facts);

} // namespace mlir::blockscale

#endif // BLOCKSCALE_RUNTIME_LAUNCHNUMBERS_H
