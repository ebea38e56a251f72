//===- MBarrier.cpp - mbarrier objects ------------------------------------===//
//
// Part of the blockscale project, under the Apache License v2.0 with LLVM
// Exceptions. See LICENSE for license information.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//
//
// Phases of an mbarrier object.
//
//===----------------------------------------------------------------------===//

#include "Synchronization/MBarrier.h"

using namespace mlir::blockscale;
using namespace mlir::blockscale::sim;

bool MBarrier::tryComplete() {
  if (pending != 0 || transactions != 0)
    return false;
  pending = expected;
  ++phase;
  return true;
}
