//===- SignalGuard.h - Signals of a program as errors -----------*- C++ -*-===//
//
// Part of the blockscale project, under the Apache License v2.0 with LLVM
// Exceptions. See LICENSE for license information.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#ifndef BLOCKSCALE_LIB_DRIVER_SIGNALGUARD_H
#define BLOCKSCALE_LIB_DRIVER_SIGNALGUARD_H

#include <csignal>
#include <vector>

namespace mlir::blockscale {

/// While it lives, a signal that the running program raises (a division by
/// zero, a recursion without end) is an error message and exit code 1.
class SignalGuard {
public:
  SignalGuard();
  ~SignalGuard();
  SignalGuard(const SignalGuard &) = delete;
  SignalGuard &operator=(const SignalGuard &) = delete;

private:
  static constexpr int signals[] = {SIGSEGV, SIGBUS, SIGFPE, SIGILL};
  static constexpr unsigned numSignals = 4;

  /// The stack of the handler: the program's own stack may be full.
  std::vector<char> stack;
  stack_t previousStack = {};
  struct sigaction previousActions[numSignals] = {};
};

} // namespace mlir::blockscale

#endif // BLOCKSCALE_LIB_DRIVER_SIGNALGUARD_H
