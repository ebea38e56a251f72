//===- TensorMmaTesting.h - Kernels with tcgen05.mma ------------*- C++ -*-===//
//
// Part of the blockscale project, under the Apache License v2.0 with LLVM
// Exceptions. See LICENSE for license information.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//
//
// Parts of a kernel of one warp around a tcgen05.mma.
//
//===----------------------------------------------------------------------===//

#ifndef BLOCKSCALE_TEST_UNIT_SIMULATOR_TCGEN05_TENSORMMATESTING_H
#define BLOCKSCALE_TEST_UNIT_SIMULATOR_TCGEN05_TENSORMMATESTING_H

#include "ThreadTesting.h"

namespace mlir::blockscale::sim::kerneltest {

/// One warp. Line 1: M is initialized, S has zeros that the async proxy sees,
/// and 256 columns are allocated, whose address is in %r10. %d10 is a
/// descriptor of S without a swizzle, LBO 16 and SBO 128; all groups of 8 rows
/// of 16 bytes are the same. %r20 is a descriptor of kind::mxf8f6f4 with M =
/// 128, N = 8; %r21 and %r22 are columns for scales, %p2 is false.
inline std::string beginTensorRun() {
  return "setp.eq.u32 %p0, %r0, 0; setp.ne.u32 %p2, %r0, %r0;"
         "@%p0 mbarrier.init.shared.b64 [M], 1;"
         "mov.u32 %r12, S; mad.lo.u32 %r11, %r0, 16, %r12;"
         "st.shared.v4.b32 [%r11], {0, 0, 0, 0};"
         "st.shared.v4.b32 [%r11 + 512], {0, 0, 0, 0};"
         "st.shared.v4.b32 [%r11 + 1024], {0, 0, 0, 0};"
         "st.shared.v4.b32 [%r11 + 1536], {0, 0, 0, 0};"
         "st.shared.v4.b32 [%r11 + 2048], {0, 0, 0, 0};"
         "st.shared.v4.b32 [%r11 + 2560], {0, 0, 0, 0};"
         "fence.proxy.async; bar.sync 0;"
         "tcgen05.alloc.cta_group::1.sync.aligned.shared::cta.b32 [S + 4000], "
         "256; bar.sync 0; ld.shared.b32 %r10, [S + 4000];"
         "shr.u32 %r13, %r12, 4; cvt.u64.u32 %d10, %r13;"
         "or.b64 %d10, %d10, 0x400800010000;"
         "mov.b32 %r20, 0x08820000;"
         "add.u32 %r21, %r10, 128; add.u32 %r22, %r10, 136;\n";
}

inline const std::string kCopyScales =
    "@%p0 tcgen05.cp.cta_group::1.32x128b.warpx4 [%r21], %d10;"
    "@%p0 tcgen05.cp.cta_group::1.32x128b.warpx4 [%r22], %d10;";
inline const std::string kCommit =
    "@%p0 tcgen05.commit.cta_group::1.mbarrier::arrive::one.shared::cluster."
    "b64 [M];";
inline const std::string kWait =
    "L: mbarrier.try_wait.parity.shared.b64 %p7, [M], 0; @!%p7 bra L;"
    "tcgen05.fence::after_thread_sync;\n";
inline const std::string kEnd =
    "tcgen05.dealloc.cta_group::1.sync.aligned.b32 %r10, 256;\n";

inline KernelRun makeTensorRun(const std::string &body,
                               const std::string &target = "sm_100a") {
  KernelRun run = makeRun(beginTensorRun() + body, 32);
  run.target = target;
  run.options.checkProxy = true;
  return run;
}

} // namespace mlir::blockscale::sim::kerneltest

#endif // BLOCKSCALE_TEST_UNIT_SIMULATOR_TCGEN05_TENSORMMATESTING_H
