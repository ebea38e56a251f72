//===- WeightStationaryTesting.cpp - Kernels with tcgen05.mma.ws ----------===//
//
// Part of the blockscale project, under the Apache License v2.0 with LLVM
// Exceptions. See LICENSE for license information.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//
//
// Rows of A and B have 32 bytes in every kind, so that all use one layout.
//
//===----------------------------------------------------------------------===//

#include "WeightStationaryTesting.h"

using namespace mlir::blockscale;
using namespace mlir::blockscale::sim;
using namespace mlir::blockscale::sim::kerneltest;

static constexpr unsigned kMostRows = 288;
/// In shared memory and in its image; A is in front of B.
static constexpr unsigned kOfB = 4096, kImage = 7 * 2048;

int kerneltest::getA(const Product &product, unsigned part, unsigned m,
                     unsigned k) {
  unsigned seed = product.isTensorA ? part * 3 : 0;
  return static_cast<int>((m * 7 + k * 3 + m * k + seed) % 5) - 2;
}
int kerneltest::getB(unsigned n, unsigned k) {
  return static_cast<int>((n * 11 + k * 5 + n / 7 * k + n / 32) % 5) - 2;
}
int kerneltest::getD(unsigned lane, unsigned column) {
  return static_cast<int>((lane * 3 + column * 5 + column / 16) % 9) - 4;
}

uint32_t kerneltest::encodeSum(Sum sum, int value) {
  if (sum == Sum::S32)
    return value;
  float number = value;
  uint32_t bits;
  std::memcpy(&bits, &number, sizeof bits);
  if (sum == Sum::F32 || value == 0)
    return sum == Sum::F32 ? bits : 0;
  // Small integers have the same fraction in both types.
  return (bits >> 16 & 0x8000) | ((bits >> 23 & 0xFF) - 127 + 15) << 10 |
         (bits >> 13 & 0x3FF);
}

/// Puts an element into an image without a swizzle, of which chunks of 16 bytes
/// are 128 bytes apart along K and groups of 8 rows 256 bytes; of a transposed
/// one, whose chunks are along N, the other way around.
static void put(std::vector<uint8_t> &image, unsigned base,
                const ElementRow &type, unsigned row, unsigned k, int value,
                bool isTransposed) {
  unsigned inner = isTransposed ? row : k, outer = isTransposed ? k : row;
  unsigned perChunk = 16 / type.bytes;
  unsigned offset = inner / perChunk * (isTransposed ? 256 : 128) +
                    outer / 8 * (isTransposed ? 128 : 256) + outer % 8 * 16 +
                    inner % perChunk * type.bytes;
  std::memcpy(&image[base + offset], &type.bits[value + 2], type.bytes);
}

static KernelRun makeData(const Product &product) {
  std::vector<uint8_t> image(kImage);
  std::vector<uint8_t> tensorA(kTensorThreads * 32);
  std::vector<uint32_t> d(kTensorThreads * kMostColumns), output(d.size());
  for (unsigned k = 0; k != product.getK(); ++k) {
    for (unsigned m = 0; m != product.m; ++m)
      put(image, 0, *product.a, m, k, getA(product, 0, m, k), false);
    for (unsigned n = 0; n != kMostRows; ++n)
      put(image, kOfB, *product.b, n, k, getB(n, k), product.isTransposedB);
    for (unsigned lane = 0; lane != kTensorThreads; ++lane) {
      int value = getA(product, lane / product.m, lane % product.m, k);
      std::memcpy(&tensorA[lane * 32 + k * product.a->bytes],
                  &product.a->bits[value + 2], product.a->bytes);
    }
  }
  for (unsigned lane = 0; lane != kTensorThreads; ++lane)
    for (unsigned column = 0; column != product.getColumns(); ++column)
      d[lane * kMostColumns + column] =
          encodeSum(product.sum, getD(lane, column));
  KernelRun run;
  run.buffers = {image, tensorA, toBytes(d), toBytes(output)};
  run.threads = kTensorThreads;
  run.target = "sm_100a";
  run.options.maxSteps = 1000000;
  run.options.checkRace = run.options.checkProxy = run.options.checkStrict =
      true;
  return run;
}

static const std::string kEight =
    "{%r20, %r21, %r22, %r23, %r24, %r25, %r26, %r27}";

/// `vectors` of 4 registers from %r20 on, to or from the address in `base`.
static std::string moveGlobal(bool isLoad, const std::string &base,
                              unsigned offset) {
  std::string text;
  for (unsigned half = 0; half != 2; ++half) {
    std::string registers =
        half ? "{%r24, %r25, %r26, %r27}" : "{%r20, %r21, %r22, %r23}";
    std::string address =
        "[" + base + " + " + std::to_string(offset + 16 * half) + "]";
    text += isLoad ? "ld.global.v4.b32 " + registers + ", " + address + ";"
                   : "st.global.v4.b32 " + address + ", " + registers + ";";
  }
  return text;
}

/// The text of line 1.
static std::string begin(const Product &product) {
  std::string text =
      ".shared .align 1024 .b8 S[14336]; .shared .align 8 .b64 M; "
      ".shared .align 4 .b32 T; mov.u32 %r0, %tid.x;"
      "setp.eq.u32 %p0, %r0, 0; setp.lt.u32 %p1, %r0, 32;"
      "@%p0 mbarrier.init.shared.b64 [M], 1;"
      "mov.u32 %r2, S; shl.b32 %r3, %r0, 4; add.u32 %r4, %r2, %r3;"
      "mul.wide.u32 %d1, %r0, 16; add.u64 %d1, %d1, %buf0;";
  for (unsigned block = 0; block != product.numBlocks; ++block) {
    std::string offset = std::to_string(2048 * block);
    text += "ld.global.v4.b32 {%r20, %r21, %r22, %r23}, [%d1 + " + offset +
            "]; st.shared.v4.b32 [%r4 + " + offset +
            "], {%r20, %r21, %r22, %r23};";
  }
  text += "fence.proxy.async; @!%p1 bra W;"
          "tcgen05.alloc.cta_group::1.sync.aligned.shared::cta.b32 [T], 512;"
          "W: bar.sync 0; ld.shared.b32 %r10, [T]; and.b32 %r11, %r0, 96;"
          "shl.b32 %r11, %r11, 16; add.u32 %r12, %r10, %r11;"
          "mul.wide.u32 %d2, %r0, 32; add.u64 %d2, %d2, %buf1;" +
          moveGlobal(/*isLoad=*/true, "%d2", 0) +
          "tcgen05.st.sync.aligned.32x32b.x8.b32 [%r12 + 256], " + kEight +
          "; mul.wide.u32 %d3, %r0, 1024; add.u64 %d4, %d3, %buf3;"
          "add.u64 %d3, %d3, %buf2;";
  for (unsigned column = 0; column != product.getColumns(); column += 8)
    text += moveGlobal(/*isLoad=*/true, "%d3", 4 * column) +
            "tcgen05.st.sync.aligned.32x32b.x8.b32 [%r12 + " +
            std::to_string(column) + "], " + kEight + ";";
  return text +
         "tcgen05.wait::st.sync.aligned; tcgen05.fence::before_thread_sync;"
         "bar.sync 0; tcgen05.fence::after_thread_sync;"
         "shr.u32 %r13, %r2, 4; cvt.u64.u32 %d10, %r13;"
         "or.b64 %d10, %d10, 0x401000080000; add.u64 %d11, %d10, 256;" +
         "mov.b64 %d12, " + std::to_string(product.zeroColumns) +
         "; mov.b32 %r14, " + std::to_string(product.getDescriptor()) +
         "; add.u32 %r15, %r10, 256; setp.eq.u32 %p2, " +
         (product.addsD ? "0, 0;" : "0, 1;") + "\n";
}

static const std::string kCommit =
    "@%p0 tcgen05.commit.cta_group::1.mbarrier::arrive::one.shared::cluster."
    "b64 [M];";
static const std::string kWait =
    "L: mbarrier.try_wait.parity.shared.b64 %p7, [M], 0; @!%p7 bra L;"
    "tcgen05.fence::after_thread_sync;\n";

/// Stores D (for f16 only the low halves), and deallocates the columns.
static std::string end(const Product &product) {
  bool isHalf = product.sum == Sum::F16;
  std::string text;
  for (unsigned column = 0; column != product.getColumns();
       column += isHalf ? 16 : 8)
    text += std::string("tcgen05.ld.sync.aligned.32x32b.x8.") +
            (isHalf ? "pack::16b." : "") + "b32 " + kEight + ", [%r12 + " +
            std::to_string(column) + "]; tcgen05.wait::ld.sync.aligned;" +
            moveGlobal(/*isLoad=*/false, "%d4", (isHalf ? 2 : 4) * column);
  return text + "tcgen05.fence::before_thread_sync; bar.sync 0;"
                "@!%p1 bra X; tcgen05.dealloc.cta_group::1.sync.aligned.b32 "
                "%r10, 512; X:\n";
}

KernelRun kerneltest::makeProductRun(const Product &product,
                                     const std::string &body) {
  KernelRun run = makeData(product);
  run.body = begin(product) + body;
  return run;
}

KernelRun kerneltest::makeWholeRun(const Product &product,
                                   const std::string &body) {
  return makeProductRun(product, body + kCommit + kWait + end(product));
}

std::string kerneltest::multiply(const Product &product,
                                 const std::string &collector) {
  return "@%p0 tcgen05.mma.ws.cta_group::1.kind::" +
         std::string(product.a->kind) + collector + " [%r10], " +
         (product.isTensorA ? "[%r15]" : "%d10") + ", %d11, %r14, %p2" +
         product.mask + ";";
}
