//===- Runtime.h - CUDA's runtime without a card ----------------*- C++ -*-===//
//
// Part of the blockscale project, under the Apache License v2.0 with LLVM
// Exceptions. See LICENSE for license information.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//
//
// Errors of the runtime, which its functions share.
//
//===----------------------------------------------------------------------===//

#ifndef BLOCKSCALE_BENCHMARKS_CAPTURE_RUNTIME_H
#define BLOCKSCALE_BENCHMARKS_CAPTURE_RUNTIME_H

#include <driver_types.h>

namespace capture {

/// Remembers what a call of the runtime returns, for cudaGetLastError, and
/// returns it; behind a kernel that failed, that failure.
cudaError_t finish(cudaError_t status);

} // namespace capture

#endif // BLOCKSCALE_BENCHMARKS_CAPTURE_RUNTIME_H
