//===- LaunchNumbers.h - Evaluating the numbers of a launch -----*- C++ -*-===//
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

/// The inputs of the numbers of a launch.
struct LaunchFacts {
  /// The arguments of the function, with loaded buffers. More may follow.
  const std::vector<LaunchArgument> &arguments;
  /// The number of SMs of the card.
  uint32_t sms;
};

/// The size of an argument in a dimension.
Result<uint32_t> evaluate(const ArgumentSize &size, const LaunchFacts &facts);

/// Evaluates an expression. Errors name the argument, or the operation that
/// overflows 64 bits.
Result<int64_t> evaluate(const LaunchExpr &expr, const LaunchFacts &facts);

/// The shape of a buffer, with a packed dimension in bytes.
Result<std::vector<int64_t>> evaluateShape(const LaunchOperand &operand,
                                           const LaunchFacts &facts);

/// Fails with the message of the first failing check of the launch info.
Error runChecks(const LaunchInfo &info, const LaunchFacts &facts);

/// Checks the buffers of all arguments and results against the operands of the
/// launch info, if it has them.
Error checkOperands(const LaunchInfo &info, const LaunchFacts &facts);

} // namespace mlir::blockscale

#endif // BLOCKSCALE_RUNTIME_LAUNCHNUMBERS_H
