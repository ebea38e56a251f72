//===- Runtime.h - CUDA's runtime without a card ----------------*- C++ -*-===//
//
// Part of the blockscale project, under the Apache License v2.0 with LLVM
// Exceptions. See LICENSE for license information.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//
//
// What functions of the runtime share: errors, and a lock for all that the
// library knows, as host threads may call any of them at the same time.
//
//===----------------------------------------------------------------------===//

#ifndef BLOCKSCALE_TEST_FAKECUDART_RUNTIME_H
#define BLOCKSCALE_TEST_FAKECUDART_RUNTIME_H

#include <driver_types.h>
#include <mutex>

namespace capture {

/// While there is one, no other thread is in the library. A thread may have
/// several.
class Lock {
public:
  Lock() : lock(getMutex()) {}

private:
  static std::recursive_mutex &getMutex();

  std::lock_guard<std::recursive_mutex> lock;
};

/// Remembers what a call of the runtime returns, for cudaGetLastError, and
/// returns it; behind a kernel that failed, that failure. Each thread has its
/// own last error, as CUDA has it.
cudaError_t finish(cudaError_t status);

} // namespace capture

#endif // BLOCKSCALE_TEST_FAKECUDART_RUNTIME_H
