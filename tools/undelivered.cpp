//===- undelivered.cpp - A program of a later version ---------------------===//
//
// Part of the blockscale project, under the Apache License v2.0 with LLVM
// Exceptions. See LICENSE for license information.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#include <cstdio>

int main() {
  std::fputs("error: not supported in this version: " BLOCKSCALE_PROGRAM "\n",
             stderr);
  return 1;
}
