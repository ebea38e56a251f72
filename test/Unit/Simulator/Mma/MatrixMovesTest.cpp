//===- MatrixMovesTest.cpp - Tests of ldmatrix, stmatrix, movmatrix -------===//
//
// Part of the blockscale project, under the Apache License v2.0 with LLVM
// Exceptions. See LICENSE for license information.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#include "ThreadTesting.h"

using namespace mlir::blockscale;
using namespace mlir::blockscale::sim;
using namespace mlir::blockscale::sim::kerneltest;

/// Fills S: byte i has the low bits of i. %r5 is the address of 16 bytes for
/// each lane, in order.
static constexpr const char *kFill =
    "mad.lo.u32 %r5, %r0, 16, %r2; mul.lo.u32 %r6, %r0, 0x10101010;"
    "add.u32 %r6, %r6, 0x03020100; add.u32 %r7, %r6, 0x04040404;"
    "add.u32 %r8, %r7, 0x04040404; add.u32 %r9, %r8, 0x04040404;"
    "setp.lt.u32 %p0, %r0, 16; "
    "@!%p0 sub.u32 %r10, %r0, 16; @%p0 mov.u32 %r10, %r0;"
    "mul.lo.u32 %r10, %r10, 0x10101010; add.u32 %r6, %r10, 0x03020100;"
    "add.u32 %r7, %r10, 0x07060504; add.u32 %r8, %r10, 0x0b0a0908;"
    "add.u32 %r9, %r10, 0x0f0e0d0c;"
    "st.shared.v4.b32 [%r5], {%r6, %r7, %r8, %r9}; bar.warp.sync -1;\n";

/// The bytes of %r20 and following of all lanes, after `text`.
static std::vector<uint8_t> getFragments(const std::string &text,
                                         unsigned registers) {
  std::string body = kFill + text + "\n";
  for (unsigned i = 0; i != registers; ++i)
    body += "st.global.b32 [%d3 + " + std::to_string(128 * i) + "], %r" +
            std::to_string(20 + i) + ";";
  std::vector<uint8_t> bytes = toBytes(getOutput(makeRun(body)));
  bytes.resize(128 * registers);
  return bytes;
}

/// The same by a formula of the register, the lane and the byte.
template <typename Body>
static std::vector<uint8_t> makeFragments(unsigned registers, Body body) {
  std::vector<uint8_t> bytes;
  for (unsigned reg = 0; reg != registers; ++reg)
    for (unsigned lane = 0; lane != 32; ++lane)
      for (unsigned byte = 0; byte != 4; ++byte)
        bytes.push_back(body(reg, lane, byte));
  return bytes;
}

//===----------------------------------------------------------------------===//
// ldmatrix
//===----------------------------------------------------------------------===//

TEST(MatrixMovesTest, LoadsRows) {
  // Matrix i are the bytes from 128 * i on; lane l has bytes 4l to 4l + 3.
  auto expected = [](unsigned registers) {
    return makeFragments(registers,
                         [](unsigned reg, unsigned lane, unsigned byte) {
                           return 128 * reg + 4 * lane + byte;
                         });
  };
  EXPECT_EQ(getFragments("ldmatrix.sync.aligned.m8n8.x1.shared.b16 {%r20}, "
                         "[%r5];",
                         1),
            expected(1));
  EXPECT_EQ(getFragments("ldmatrix.sync.aligned.m8n8.x2.shared::cta.b16 {%r20, "
                         "%r21}, [%r5];",
                         2),
            expected(2));
  EXPECT_EQ(getFragments("mul.wide.u32 %d9, %r5, 1; cvta.shared.u64 %d9, %d9;"
                         "ldmatrix.sync.aligned.m8n8.x4.b16 {%r20, %r21, %r22, "
                         "%r23}, [%d9];",
                         4),
            expected(4));
}

TEST(MatrixMovesTest, LoadsColumns) {
  // Lane l has elements 2 * (l % 4) and the next one of column l / 4.
  EXPECT_EQ(getFragments("ldmatrix.sync.aligned.m8n8.x4.trans.shared.b16 "
                         "{%r20, %r21, %r22, %r23}, [%r5];",
                         4),
            makeFragments(4, [](unsigned reg, unsigned lane, unsigned byte) {
              unsigned row = lane % 4 * 2 + byte / 2;
              return 128 * reg + 16 * row + lane / 4 * 2 + byte % 2;
            }));
  // Lane 0: column 0 of rows 0 and 1; lane 31: column 7 of rows 6 and 7.
  std::vector<uint8_t> bytes = getFragments(
      "ldmatrix.sync.aligned.m8n8.x1.trans.shared.b16 {%r20}, [%r5];", 1);
  EXPECT_EQ(std::vector<uint8_t>(bytes.begin(), bytes.begin() + 4),
            (std::vector<uint8_t>{0, 1, 16, 17}));
  EXPECT_EQ(std::vector<uint8_t>(bytes.end() - 4, bytes.end()),
            (std::vector<uint8_t>{110, 111, 126, 127}));
}

TEST(MatrixMovesTest, LoadsColumnsOfBytes) {
  std::vector<uint8_t> bytes = getFragments(
      "ldmatrix.sync.aligned.m16n16.x2.trans.shared.b8 {%r20, %r21, %r22, "
      "%r23}, [%r5];",
      4);
  // Lane 5: column 1 of rows 4 to 7, then column 9.
  EXPECT_EQ(std::vector<uint8_t>(bytes.begin() + 20, bytes.begin() + 24),
            (std::vector<uint8_t>{0x41, 0x51, 0x61, 0x71}));
  EXPECT_EQ(std::vector<uint8_t>(bytes.begin() + 148, bytes.begin() + 152),
            (std::vector<uint8_t>{0x49, 0x59, 0x69, 0x79}));
  EXPECT_EQ(bytes,
            makeFragments(4, [](unsigned reg, unsigned lane, unsigned byte) {
              return 16 * (lane % 4 * 4 + byte) + lane / 4 + reg % 2 * 8;
            }));
}

TEST(MatrixMovesTest, LoadsNarrowElements) {
  // Element i of 4 bits of row r: byte i / 2 is 16 * r + i / 2.
  auto nibble = [](unsigned row, unsigned i) -> uint8_t {
    uint8_t byte = 16 * row + i / 2;
    return i % 2 ? byte >> 4 : byte & 15;
  };
  auto six = [](unsigned row, unsigned i) -> uint8_t {
    unsigned bit = 6 * i, first = 16 * row + bit / 8;
    unsigned both = (first & 255) | ((first + 1) & 255) << 8;
    return both >> bit % 8 & 63;
  };
  std::string wide = "{%r20, %r21, %r22, %r23}, [%r5];";
  EXPECT_EQ(getFragments("ldmatrix.sync.aligned.m8n16.x4.shared.b8x16."
                         "b4x16_p64 " +
                             wide,
                         4),
            makeFragments(4, [&](unsigned reg, unsigned lane, unsigned byte) {
              return nibble(8 * reg + lane / 4, lane % 4 * 4 + byte);
            }));
  EXPECT_EQ(getFragments("ldmatrix.sync.aligned.m8n16.x1.shared.b8x16."
                         "b6x16_p32 {%r20}, [%r5];",
                         1),
            makeFragments(1, [&](unsigned, unsigned lane, unsigned byte) {
              return six(lane / 4, lane % 4 * 4 + byte);
            }));
  auto columns = [&](auto element) {
    return makeFragments(4, [&](unsigned reg, unsigned lane, unsigned byte) {
      return element(16 * (reg / 2) + lane % 4 * 4 + byte,
                     lane / 4 + reg % 2 * 8);
    });
  };
  EXPECT_EQ(getFragments("ldmatrix.sync.aligned.m16n16.x2.trans.shared.b8x16."
                         "b4x16_p64 " +
                             wide,
                         4),
            columns(nibble));
  EXPECT_EQ(getFragments("ldmatrix.sync.aligned.m16n16.x2.trans.shared.b8x16."
                         "b6x16_p32 " +
                             wide,
                         4),
            columns(six));
}

TEST(MatrixMovesTest, LoadsElementsAcrossWords) {
  // Element 10 of 6 bits has the last 4 bits of 64 and the next 2.
  std::vector<uint8_t> bytes = getFragments(
      "mov.u32 %r6, 0xa0000000; mov.u32 %r7, 0x2; mov.u32 %r8, 0;"
      "st.shared.v4.b32 [%r5], {%r8, %r6, %r7, %r8}; bar.warp.sync -1;"
      "ldmatrix.sync.aligned.m8n16.x1.shared.b8x16.b6x16_p32 {%r20}, [%r5];",
      1);
  EXPECT_EQ(bytes, makeFragments(1, [](unsigned, unsigned lane, unsigned byte) {
              return lane % 4 == 2 && byte == 2 ? 0x2A : 0;
            }));
}

/// The lanes whose %r20 is undefined after a load of rows of which only `byte`
/// of row 1 (%r5 of lane 1) was never stored.
static uint32_t getUndefinedLanes(const std::string &load, unsigned byte) {
  std::string store;
  for (unsigned i = 0; i != 16; ++i) {
    std::string text = "st.shared.b8 [%r5 + " + std::to_string(i) + "], %s0;";
    store += i == byte ? "@!%p0 " + text : text;
  }
  uint32_t lanes = 0;
  for (unsigned lane = 0; lane != 32; ++lane) {
    KernelRun run =
        makeRun("mad.lo.u32 %r5, %r0, 16, %r2; mov.b16 %s0, 1;"
                "setp.eq.u32 %p0, %r0, 1;" +
                store + load + " setp.eq.u32 %p1, %r0, " +
                std::to_string(lane) + "; @%p1 st.global.b32 [%d3], %r20;");
    lanes |= uint32_t(getError(run) != "no error") << lane;
  }
  return lanes;
}

TEST(MatrixMovesTest, UndefinedBytesAreLoaded) {
  std::string load = "ldmatrix.sync.aligned.m8n8.x1.shared.b16 {%r20}, [%r5];";
  EXPECT_EQ(getUndefinedLanes(load, 5), 1u << 5);
  load = "ldmatrix.sync.aligned.m8n16.x1.shared.b8x16.b6x16_p32 {%r20}, [%r5];";
  // Byte 5 has bits of elements 6 and 7; byte 12 is padding.
  EXPECT_EQ(getUndefinedLanes(load, 5), 1u << 5);
  EXPECT_EQ(getUndefinedLanes(load, 12), 0u);
  load = "ldmatrix.sync.aligned.m8n16.x1.shared.b8x16.b4x16_p64 {%r20}, [%r5];";
  EXPECT_EQ(getUndefinedLanes(load, 7), 1u << 7);
  EXPECT_EQ(getUndefinedLanes(load, 8), 0u);
}

//===----------------------------------------------------------------------===//
// stmatrix and movmatrix
//===----------------------------------------------------------------------===//

/// The bytes of S after a store of registers whose byte b of register r in lane
/// l is 128 * r + 4 * l + b.
static std::vector<uint8_t> storeFragments(const std::string &store,
                                           unsigned numBytes) {
  std::string body = kFill + std::string("mul.lo.u32 %r20, %r0, 0x04040404;"
                                         "add.u32 %r20, %r20, 0x03020100;"
                                         "add.u32 %r21, %r20, 0x80808080;"
                                         "mov.u32 %r22, %r20;"
                                         "mov.u32 %r23, %r21;");
  body += store + " bar.warp.sync -1;"
                  "ld.shared.v4.b32 {%r6, %r7, %r8, %r9}, [%r5];"
                  "mad.wide.u32 %d9, %r0, 16, %buf1;"
                  "st.global.v4.b32 [%d9], {%r6, %r7, %r8, %r9};";
  std::vector<uint8_t> bytes = toBytes(getOutput(makeRun(body)));
  bytes.resize(numBytes);
  return bytes;
}

TEST(MatrixMovesTest, StoresRows) {
  std::vector<uint8_t> expected(512);
  for (unsigned i = 0; i != 512; ++i)
    expected[i] = i;
  EXPECT_EQ(storeFragments("stmatrix.sync.aligned.m8n8.x4.shared.b16 [%r5], "
                           "{%r20, %r21, %r22, %r23};",
                           512),
            expected);
}

TEST(MatrixMovesTest, StoresColumns) {
  std::vector<uint8_t> expected(256);
  for (unsigned i = 0; i != 256; ++i) {
    // Row and column of an element of 16 bits: it is element (column, row).
    unsigned matrix = i / 128, row = i % 128 / 16, column = i % 16 / 2;
    expected[i] = 128 * matrix + 16 * column + 2 * row + i % 2;
  }
  EXPECT_EQ(storeFragments("stmatrix.sync.aligned.m8n8.x2.trans.shared.b16 "
                           "[%r5], {%r20, %r21};",
                           256),
            expected);
}

TEST(MatrixMovesTest, StoresColumnsOfBytes) {
  // Row n in memory has the 16 bytes of column n: rows g and g + 8 come from
  // the lanes 4 * g + n / 2, bytes n % 2 and 2 + n % 2.
  std::vector<uint8_t> expected(512);
  for (unsigned i = 0; i != 512; ++i) {
    unsigned matrix = i / 128, n = i % 128 / 16, m = i % 16;
    unsigned lane = m % 8 * 4 + n / 2;
    expected[i] = 128 * matrix + 4 * lane + m / 8 * 2 + n % 2;
  }
  EXPECT_EQ(storeFragments("stmatrix.sync.aligned.m16n8.x4.trans.shared.b8 "
                           "[%r5], {%r20, %r21, %r22, %r23};",
                           512),
            expected);
}

TEST(MatrixMovesTest, UndefinedBytesAreStored) {
  // Lane 6 has byte 1 of row 1: of bytes 8 to 11.
  std::string body = "mad.lo.u32 %r5, %r0, 16, %r2; setp.eq.u32 %p0, %r0, 6;"
                     "@!%p0 mov.u32 %r20, 1;"
                     "stmatrix.sync.aligned.m8n8.x1.shared.b16 [%r5], {%r20};"
                     "ld.shared.b32 %r6, [S + ";
  std::string end = "]; st.global.b32 [%d3], %r6;";
  EXPECT_EQ(getError(makeRun(body + "20" + end)), "no error");
  EXPECT_NE(getError(makeRun(body + "24" + end)), "no error");
  EXPECT_EQ(getError(makeRun(body + "28" + end)), "no error");
}

TEST(MatrixMovesTest, MovesTranspose) {
  // Twice is nothing, and once is what ldmatrix.trans does.
  std::string load = "ldmatrix.sync.aligned.m8n8.x1.shared.b16 {%r20}, [%r5];";
  std::string move = "movmatrix.sync.aligned.m8n8.trans.b16 %r20, %r20;";
  EXPECT_EQ(getFragments(load + move, 1),
            makeFragments(1, [](unsigned, unsigned lane, unsigned byte) {
              unsigned row = lane % 4 * 2 + byte / 2;
              return 16 * row + lane / 4 * 2 + byte % 2;
            }));
  EXPECT_EQ(getFragments(load + move + move, 1), getFragments(load, 1));
  // Lane 6 (row 1, columns 4 and 5) goes to rows 4 and 5 of column 1: byte 2
  // and 3 of the lanes 16 and 20.
  uint32_t lanes = 0;
  for (unsigned lane = 0; lane != 32; ++lane) {
    KernelRun run =
        makeRun("setp.eq.u32 %p0, %r0, 6; @!%p0 mov.u32 %r20, 1;" + move +
                "setp.eq.u32 %p1, %r0, " + std::to_string(lane) +
                "; @%p1 st.global.b32 [%d3], %r20;");
    lanes |= uint32_t(getError(run) != "no error") << lane;
  }
  EXPECT_EQ(lanes, 1u << 16 | 1u << 20);
}

//===----------------------------------------------------------------------===//
// Statistics and misuse
//===----------------------------------------------------------------------===//

/// The statistics of line 2 for shared memory.
static std::string getLine2(const std::string &text) {
  KernelRun run = makeRun(kFill + text);
  run.options.wantsStatistics = true;
  KernelResult result = runKernel(run);
  EXPECT_EQ(result.error, "");
  // Lines count from the start of the module, 4 lines before.
  size_t at = result.statistics.find("\"line\": 6");
  if (at == std::string::npos)
    return result.statistics;
  return result.statistics.substr(at, result.statistics.find('}', at) - at);
}

TEST(MatrixMovesTest, WavefrontsArePhasesOfRows) {
  auto has = [](const std::string &text, const std::string &attribute,
                unsigned value) {
    std::string line = getLine2(text);
    EXPECT_NE(line.find("\"" + attribute + "\": " + std::to_string(value)),
              std::string::npos)
        << line;
  };
  std::string one = "ldmatrix.sync.aligned.m8n8.x1.shared.b16 {%r20}, ";
  std::string four = "ldmatrix.sync.aligned.m8n8.x4.shared.b16 {%r20, %r21, "
                     "%r22, %r23}, ";
  has(one + "[%r5];", "requests", 1);
  has(one + "[%r5];", "wavefronts", 1);
  has(one + "[%r5];", "bytes", 128);
  has(four + "[%r5];", "wavefronts", 4);
  has("stmatrix.sync.aligned.m8n8.x2.shared.b16 [%r5], {%r6, %r7};",
      "wavefronts", 2);
  // Rows of 128 bytes: all 8 rows of a matrix in the same banks.
  std::string apart = "mad.lo.u32 %r5, %r0, 128, %r2; add.u32 %r5, %r5, 0; ";
  KernelRun run = makeRun(apart +
                          "st.shared.v4.b32 [%r5], {%r0, %r0, %r0, "
                          "%r0}; bar.warp.sync -1;\n" +
                          four + "[%r5];");
  run.options.wantsStatistics = true;
  std::string statistics = runKernel(run).statistics;
  size_t at = statistics.find("\"line\": 6");
  ASSERT_NE(at, std::string::npos) << statistics;
  EXPECT_NE(statistics.find("\"wavefronts\": 32", at), std::string::npos)
      << statistics;
}

TEST(MatrixMovesTest, MisuseOfMoves) {
  std::string one = "ldmatrix.sync.aligned.m8n8.x1.shared.b16 {%r20}, ";
  std::string two = "ldmatrix.sync.aligned.m8n8.x2.shared.b16 {%r20, %r21}, ";
  auto row = [](const std::string &change, const std::string &load) {
    return makeRun(kFill + change + load + "[%r5];");
  };
  std::string odd = "setp.eq.u32 %p0, %r0, 9; @%p0 add.u32 %r5, %r5, 8;";
  EXPECT_EQ(getError(row(odd, one)), "no error");
  EXPECT_FAILS(row(odd, two), 2,
               "lane 9: a load of 16 bytes at 0x498 expected an address that "
               "is a multiple of 16");
  std::string far = "setp.eq.u32 %p0, %r0, 7; @%p0 add.u32 %r5, %r5, 4096;";
  EXPECT_FAILS(row(far, one), 2,
               "lane 7: a load of 16 bytes at 0x1470 in shared memory");
  std::string none = "setp.eq.u32 %p0, %r0, 3; @%p0 mov.u32 %r5, %r60;";
  EXPECT_FAILS(row(none, one), 2, "lane 3: an address is undefined");
  EXPECT_FAILS(makeRun("ldmatrix.sync.aligned.m8n8.x1.b16 {%r20}, [%buf0];"), 1,
               "expected a row of a matrix in shared memory");
  std::string store = "stmatrix.sync.aligned.m8n8.x2.shared.b16 [%r5], {%r20, "
                      "%r21};";
  EXPECT_FAILS(makeRun(kFill + odd + store), 2,
               "lane 9: a store of 16 bytes at 0x498 expected");
  for (std::string text : {one + "[%r5];", store,
                           std::string("movmatrix.sync.aligned.m8n8.trans."
                                       "b16 %r20, %r6;")}) {
    std::string name = text.substr(0, text.find('.'));
    EXPECT_FAILS(makeRun(kFill + ("setp.ne.u32 %p0, %r0, 4; @%p0 " + text)), 2,
                 name + " expected all lanes of the warp, but lane 4 does not "
                        "take part");
    EXPECT_FAILS(
        makeRun(kFill + ("setp.eq.u32 %p0, %r0, 4; @%p0 ret; " + text)), 2,
        name + " expected all lanes of the warp, but lane 4 has "
               "exited");
  }
  EXPECT_FAILS(makeRun("cp.async.ca.shared.global [S], [%buf0], 16;"
                       "mad.lo.u32 %r5, %r0, 16, %r2;\n" +
                       one + "[%r5];"),
               2, "has still to write");
}

TEST(MatrixMovesTest, FormsThatAreRefused) {
  auto load = [](const std::string &text) { return getLoadError(text + ";"); };
  EXPECT_EQ(load("ldmatrix.aligned.m8n8.x1.shared.b16 {%r0}, [%r1]"),
            "expected .sync behind ldmatrix");
  EXPECT_EQ(load("ldmatrix.sync.m8n8.x1.shared.b16 {%r0}, [%r1]"),
            "expected .aligned behind ldmatrix");
  const char *shape = "expected a shape and a type that ldmatrix has, such as "
                      ".m8n8 and .b16";
  EXPECT_EQ(load("ldmatrix.sync.aligned.m8n8.x1.shared.b8 {%r0}, [%r1]"),
            shape);
  EXPECT_EQ(load("ldmatrix.sync.aligned.m16n16.x1.shared.b8 {%r0, %r1}, [%r2]"),
            shape);
  EXPECT_EQ(load("ldmatrix.sync.aligned.m8n16.x1.shared.b8x16 {%r0}, [%r1]"),
            shape);
  EXPECT_EQ(load("ldmatrix.sync.aligned.m16n16.x4.trans.shared.b8 {%r0, %r1, "
                 "%r2, %r3, %r4, %r5, %r6, %r7}, [%r8]"),
            "expected .x1, .x2 of matrices behind ldmatrix");
  EXPECT_EQ(load("ldmatrix.sync.aligned.m8n8.shared.b16 {%r0}, [%r1]"),
            "expected .x1, .x2 or .x4 of matrices behind ldmatrix");
  EXPECT_EQ(load("ldmatrix.sync.aligned.m8n8.x2.shared.b16 {%r0}, [%r1]"),
            "expected a vector of 2 elements, got 1");
  EXPECT_EQ(load("stmatrix.sync.aligned.m16n8.x1.shared.b8 [%r1], {%r0}"),
            "expected a shape and a type that stmatrix has, such as .m8n8 and "
            ".b16");
  EXPECT_EQ(load("movmatrix.sync.aligned.m8n8.b16 %r0, %r1"),
            "expected .m8n8.trans.b16 behind movmatrix");
  for (const char *target : {"sm_90a", "sm_120"})
    EXPECT_EQ(getLoadError("ldmatrix.sync.aligned.m16n16.x1.trans.shared.b8 "
                           "{%r0, %r1}, [%r2];",
                           target),
              "expected a target that has ldmatrix of .m16n16.b8, got " +
                  std::string(target));
}
