//===- SignalGuard.cpp - Signals of a program as errors -------------------===//
//
// Part of the blockscale project, under the Apache License v2.0 with LLVM
// Exceptions. See LICENSE for license information.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//
//
// JIT-compiled code may divide by zero or overflow the stack; users get a
// message instead of a core dump.
//
//===----------------------------------------------------------------------===//

#include "SignalGuard.h"

#include <cstdlib>
#include <unistd.h>

using namespace mlir::blockscale;

/// Calls nothing that is unsafe in a handler.
static void report(int signal) {
  char text[] = "error: the program was ended by signal 00\n";
  char *digits = text + sizeof(text) - 4;
  digits[0] = static_cast<char>('0' + signal / 10);
  digits[1] = static_cast<char>('0' + signal % 10);
  [[maybe_unused]] ssize_t written =
      write(STDERR_FILENO, text, sizeof(text) - 1);
  std::_Exit(EXIT_FAILURE);
}

SignalGuard::SignalGuard() : stack(1 << 16) {
  stack_t alternate = {};
  alternate.ss_sp = stack.data();
  alternate.ss_size = stack.size();
  sigaltstack(&alternate, &previousStack);
  struct sigaction action = {};
  action.sa_handler = report;
  action.sa_flags = SA_ONSTACK;
  for (unsigned i = 0; i != numSignals; ++i)
    sigaction(signals[i], &action, &previousActions[i]);
}

SignalGuard::~SignalGuard() {
  for (unsigned i = 0; i != numSignals; ++i)
    sigaction(signals[i], &previousActions[i], nullptr);
  sigaltstack(&previousStack, nullptr);
}
