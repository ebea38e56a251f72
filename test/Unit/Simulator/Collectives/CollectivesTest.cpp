//===- CollectivesTest.cpp - Tests of shuffles, votes and the like --------===//
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

/// The value of %r4 (or of predicate %p1) in 32 lanes after `text`.
static std::vector<uint32_t> getResults(const std::string &text,
                                        unsigned threads = 32) {
  std::vector<uint32_t> output =
      getOutput(makeRun(text + " st.global.b32 [%d3], %r4;", threads));
  output.resize(threads);
  return output;
}
static std::vector<uint32_t> getPredicates(const std::string &text,
                                           unsigned threads = 32) {
  return getResults(text + " selp.b32 %r4, 1, 0, %p1;", threads);
}

template <typename Body>
static std::vector<uint32_t> forLanes(Body body, unsigned count = 32) {
  std::vector<uint32_t> values;
  for (unsigned lane = 0; lane != count; ++lane)
    values.push_back(body(lane));
  return values;
}

/// The lanes whose bytes of %r4 are undefined after `text`.
static uint32_t getUndefinedLanes(const std::string &text) {
  uint32_t lanes = 0;
  for (unsigned lane = 0; lane != 32; ++lane) {
    std::string error = getError(makeRun(text + " setp.eq.u32 %p15, %r0, " +
                                         std::to_string(lane) +
                                         "; @%p15 st.global.b32 [%d3], %r4;"));
    lanes |= uint32_t(error.find("undefined at the end") != std::string::npos)
             << lane;
  }
  return lanes;
}

//===----------------------------------------------------------------------===//
// shfl.sync
//===----------------------------------------------------------------------===//

TEST(CollectivesTest, Shuffles) {
  std::string source = "add.u32 %r9, %r0, 100; shfl.sync.";
  // %r4 and %p1, for each lane.
  auto check = [&](const std::string &mode, const std::string &operands,
                   auto lane, auto predicate) {
    std::string shuffle =
        source + mode + ".b32 %r4|%p1, %r9, " + operands + ", -1;";
    EXPECT_EQ(getResults(shuffle),
              forLanes([&](unsigned i) { return 100 + lane(i); }))
        << mode << operands;
    EXPECT_EQ(getPredicates(shuffle), forLanes(predicate)) << mode << operands;
  };
  auto always = [](unsigned) { return 1u; };
  check("bfly", "1, 31", [](unsigned i) { return i ^ 1; }, always);
  check("bfly", "16, 31", [](unsigned i) { return i ^ 16; }, always);
  check("idx", "5, 31", [](unsigned) { return 5u; }, always);
  check("idx", "37, 31", [](unsigned) { return 5u; }, always);
  check(
      "up", "1, 0", [](unsigned i) { return i ? i - 1 : 0; },
      [](unsigned i) { return unsigned(i >= 1); });
  check(
      "down", "4, 31", [](unsigned i) { return i < 28 ? i + 4 : i; },
      [](unsigned i) { return unsigned(i < 28); });
  // Segments of 8 lanes: 0x18 << 8.
  check(
      "up", "3, 0x1800", [](unsigned i) { return i % 8 >= 3 ? i - 3 : i; },
      [](unsigned i) { return unsigned(i % 8 >= 3); });
  check(
      "down", "3, 0x181f", [](unsigned i) { return i % 8 < 5 ? i + 3 : i; },
      [](unsigned i) { return unsigned(i % 8 < 5); });
  check("idx", "11, 0x181f", [](unsigned i) { return i / 8 * 8 + 3; }, always);
  // A clamp within the segment: lanes 0 to 5 of each 8.
  check(
      "idx", "6, 0x1805", [](unsigned i) { return i; },
      [](unsigned) { return 0u; });
  // A butterfly out of the segment: only lanes below the bound are in range.
  check(
      "bfly", "8, 0x181f", [](unsigned i) { return i & 8 ? i - 8 : i; },
      [](unsigned i) { return unsigned((i & 8) != 0); });
  // The destination is the source.
  EXPECT_EQ(getResults("mov.u32 %r4, %r0; shfl.sync.bfly.b32 %r4, %r4, 3, 31, "
                       "-1;"),
            forLanes([](unsigned i) { return i ^ 3; }));
}

TEST(CollectivesTest, ShufflesOfSomeLanes) {
  // Lanes 0 to 7 among themselves, and the others among themselves.
  EXPECT_EQ(getResults("setp.lt.u32 %p0, %r0, 8; selp.b32 %r5, 0xff, "
                       "0xffffff00, %p0; selp.b32 %r6, 2, 9, %p0;"
                       "shfl.sync.idx.b32 %r4, %r0, %r6, 31, %r5;"),
            forLanes([](unsigned i) { return i < 8 ? 2 : 9; }));
  // Lanes that take no part give an unpredictable value.
  EXPECT_EQ(getUndefinedLanes("mov.u32 %r4, 0; setp.lt.u32 %p0, %r0, 8;"
                              "@%p0 shfl.sync.bfly.b32 %r4, %r0, 8, 31, 0xff;"),
            0xFFu);
  EXPECT_EQ(getUndefinedLanes("setp.eq.u32 %p0, %r0, 6; @!%p0 mov.u32 %r5, 1;"
                              "shfl.sync.down.b32 %r4, %r5, 2, 31, -1;"),
            1u << 4);
  EXPECT_EQ(getUndefinedLanes("setp.eq.u32 %p0, %r0, 6; @!%p0 mov.u32 %r5, 1;"
                              "shfl.sync.down.b32 %r4, %r0, %r5, 31, -1;"),
            1u << 6);
  EXPECT_EQ(getUndefinedLanes("setp.eq.u32 %p0, %r0, 6; @!%p0 mov.u32 %r5, 31;"
                              "shfl.sync.down.b32 %r4, %r0, 1, %r5, -1;"),
            1u << 6);
  // So do lanes that have exited.
  EXPECT_NE(getError(makeRun("setp.ge.u32 %p0, %r0, 8; @%p0 ret;"
                             "shfl.sync.idx.b32 %r4, %r0, 9, 31, -1;"
                             "st.global.b32 [%d3], %r4;"))
                .find("32 bytes are undefined at the end"),
            std::string::npos);
  EXPECT_EQ(getResults("shfl.sync.bfly.b32 %r4, %r0, 1, 31, -1;", 8),
            forLanes([](unsigned i) { return i ^ 1; }, 8));
}

//===----------------------------------------------------------------------===//
// vote.sync
//===----------------------------------------------------------------------===//

TEST(CollectivesTest, Votes) {
  auto all = [](uint32_t value) {
    return forLanes([&](unsigned) { return value; });
  };
  auto vote = [](const std::string &mode, unsigned bound,
                 const std::string &negation = "") {
    return getPredicates("setp.lt.u32 %p0, %r0, " + std::to_string(bound) +
                         "; vote.sync." + mode + ".pred %p1, " + negation +
                         "%p0, -1;");
  };
  EXPECT_EQ(vote("all", 32), all(1));
  EXPECT_EQ(vote("all", 31), all(0));
  EXPECT_EQ(vote("all", 0, "!"), all(1));
  EXPECT_EQ(vote("any", 0), all(0));
  EXPECT_EQ(vote("any", 1), all(1));
  EXPECT_EQ(vote("any", 32, "!"), all(0));
  EXPECT_EQ(vote("uni", 0), all(1));
  EXPECT_EQ(vote("uni", 32), all(1));
  EXPECT_EQ(vote("uni", 7), all(0));
  EXPECT_EQ(getResults("setp.lt.u32 %p0, %r0, 5; vote.sync.ballot.b32 %r4, "
                       "%p0, -1;"),
            all(0x1F));
  EXPECT_EQ(getResults("setp.lt.u32 %p0, %r0, 5; vote.sync.ballot.b32 %r4, "
                       "!%p0, -1;"),
            all(0xFFFFFFE0));
  // Lanes that take no part count as 0.
  EXPECT_EQ(getResults("mov.u32 %r4, 0; setp.ge.u32 %p0, %r0, 30;"
                       "@%p0 vote.sync.ballot.b32 %r4, %p0, 0xc0000000;"),
            forLanes([](unsigned i) { return i < 30 ? 0 : 0xC0000000; }));
}

TEST(CollectivesTest, VotesOfUndefinedPredicates) {
  // %p2 is undefined in lane 9, and false from lane 20 on.
  std::string define = "setp.eq.u32 %p0, %r0, 9; @!%p0 setp.lt.u32 %p2, %r0, ";
  std::string select = "selp.b32 %r4, 1, 0, %p1;";
  auto lanes = [&](const std::string &bound, const std::string &vote) {
    return getUndefinedLanes(define + bound + "; " + vote + select);
  };
  const uint32_t all = 0xFFFFFFFF;
  EXPECT_EQ(lanes("20", "vote.sync.all.pred %p1, %p2, -1;"), 0u);
  EXPECT_EQ(lanes("32", "vote.sync.all.pred %p1, %p2, -1;"), all);
  EXPECT_EQ(lanes("20", "vote.sync.any.pred %p1, %p2, -1;"), 0u);
  EXPECT_EQ(lanes("0", "vote.sync.any.pred %p1, %p2, -1;"), all);
  EXPECT_EQ(lanes("20", "vote.sync.uni.pred %p1, %p2, -1;"), 0u);
  EXPECT_EQ(lanes("32", "vote.sync.uni.pred %p1, %p2, -1;"), all);
  // Only byte 1 of a ballot has the lane's bit.
  std::string ballot = define + "20; vote.sync.ballot.b32 %r4, %p2, -1;"
                                "st.shared.b32 [%r3], %r4;";
  EXPECT_EQ(getError(makeRun(ballot + "ld.shared.b8 %r5, [%r3 + 2];"
                                      "st.global.b32 [%d3], %r5;")),
            "no error");
  EXPECT_NE(getError(makeRun(ballot + "ld.shared.b8 %r5, [%r3 + 1];"
                                      "st.global.b32 [%d3], %r5;")),
            "no error");
}

//===----------------------------------------------------------------------===//
// match, activemask, elect
//===----------------------------------------------------------------------===//

TEST(CollectivesTest, Matches) {
  EXPECT_EQ(
      getResults("rem.u32 %r5, %r0, 3; match.any.sync.b32 %r4, %r5, -1;"),
      forLanes([](unsigned i) { return uint32_t(0x49249249u << i % 3); }));
  auto all = [](uint32_t value) {
    return forLanes([&](unsigned) { return value; });
  };
  EXPECT_EQ(getResults("match.all.sync.b64 %r4, %buf0, -1;"), all(0xFFFFFFFF));
  EXPECT_EQ(getPredicates("match.all.sync.b64 %r4|%p1, %buf0, -1;"), all(1));
  EXPECT_EQ(getResults("match.all.sync.b32 %r4|%p1, %r0, -1;"), all(0));
  EXPECT_EQ(getPredicates("match.all.sync.b32 %r4|%p1, %r0, -1;"), all(0));
  // 64-bit values that differ only above bit 31.
  EXPECT_EQ(getResults("mul.wide.u32 %d9, %r0, 1; mul.lo.u64 %d9, %d9, "
                       "0x100000000; match.any.sync.b64 %r4, %d9, -1;"),
            forLanes([](unsigned i) { return 1u << i; }));
  std::string undefined = "setp.eq.u32 %p0, %r0, 0; @!%p0 mov.u32 %r5, 1;";
  EXPECT_EQ(getUndefinedLanes(undefined + "match.any.sync.b32 %r4, %r5, -1;"),
            0xFFFFFFFFu);
  EXPECT_EQ(getUndefinedLanes(undefined + "match.all.sync.b32 %r4, %r5, -1;"),
            0xFFFFFFFFu);
}

TEST(CollectivesTest, MatchesOfUndefinedValues) {
  // Lane 9 has no value: only its bit is unknown to others.
  auto run = [](const std::string &mode, unsigned lane, unsigned byte) {
    return getError(
        makeRun("setp.eq.u32 %p0, %r0, 9; @!%p0 mov.u32 %r5, 1; match." + mode +
                ".sync.b32 %r4, %r5, -1; st.shared.b32 [%r3], %r4;"
                "setp.eq.u32 %p1, %r0, " +
                std::to_string(lane) + "; @%p1 ld.shared.b8 %r6, [%r3 + " +
                std::to_string(byte) + "]; @%p1 st.global.b32 [%d3], %r6;"));
  };
  EXPECT_EQ(run("any", 8, 0), "no error");
  EXPECT_NE(run("any", 8, 1), "no error");
  EXPECT_EQ(run("any", 8, 2), "no error");
  EXPECT_NE(run("any", 9, 2), "no error");
  EXPECT_NE(run("all", 8, 2), "no error");
}

TEST(CollectivesTest, ActiveLanesAndLeaders) {
  std::string some = "mov.u32 %r4, 0; setp.ge.u32 %p0, %r0, 28; @%p0 ";
  auto expected = forLanes([](unsigned i) { return i < 28 ? 0 : 0xF0000000; });
  EXPECT_EQ(getResults(some + "activemask.b32 %r4;"), expected);
  EXPECT_EQ(getResults(some + "elect.sync %r4|%p1, 0xf0000000;"),
            forLanes([](unsigned i) { return i < 28 ? 0 : 28; }));
  EXPECT_EQ(getPredicates("elect.sync _|%p1, -1;"),
            forLanes([](unsigned i) { return unsigned(i == 0); }));
}

//===----------------------------------------------------------------------===//
// redux.sync
//===----------------------------------------------------------------------===//

TEST(CollectivesTest, Reductions) {
  auto reduce = [](const std::string &operation, const std::string &source) {
    std::vector<uint32_t> results =
        getResults(source + " redux.sync." + operation + " %r4, %r5, -1;");
    EXPECT_EQ(results, std::vector<uint32_t>(32, results[0]));
    return results[0];
  };
  // -16 to 15.
  const std::string numbers = "sub.u32 %r5, %r0, 16;";
  EXPECT_EQ(reduce("add.s32", numbers), uint32_t(-16));
  EXPECT_EQ(reduce("add.u32", numbers), uint32_t(-16));
  EXPECT_EQ(reduce("min.s32", numbers), uint32_t(-16));
  EXPECT_EQ(reduce("max.s32", numbers), 15u);
  EXPECT_EQ(reduce("min.u32", numbers), 0u);
  EXPECT_EQ(reduce("max.u32", numbers), 0xFFFFFFFFu);
  EXPECT_EQ(reduce("and.b32", "add.u32 %r5, %r0, 0x60;"), 0x60u);
  EXPECT_EQ(reduce("or.b32", "add.u32 %r5, %r0, 0x60;"), 0x7Fu);
  EXPECT_EQ(reduce("xor.b32", "min.u32 %r5, %r0, 1;"), 1u);
  EXPECT_EQ(getResults("mov.u32 %r4, 0; setp.lt.u32 %p0, %r0, 4; @%p0 "
                       "redux.sync.add.u32 %r4, %r0, 0xf;"),
            forLanes([](unsigned i) { return i < 4 ? 6 : 0; }));
}

TEST(CollectivesTest, ReductionsOfFloats) {
  // Lane 0 has `a`, lane 1 `b`, all others `c`.
  auto reduce = [](const std::string &operation, const std::string &a,
                   const std::string &b, const std::string &c) {
    KernelRun run = makeRun(
        "setp.eq.u32 %p0, %r0, 0; setp.eq.u32 %p1, %r0, 1; mov.b32 %r5, " + c +
        "; @%p0 mov.b32 %r5, " + a + "; @%p1 mov.b32 %r5, " + b +
        "; redux.sync." + operation +
        ".f32 %r4, %r5, -1; st.global.b32 [%d3], %r4;");
    run.target = "sm_100a";
    return getOutput(run)[31];
  };
  const char *one = "0x3f800000", *minusTwo = "0xc0000000", *zero = "0",
             *minusZero = "0x80000000", *nan = "0x7fc00000";
  EXPECT_EQ(reduce("min", one, minusTwo, zero), 0xC0000000u);
  EXPECT_EQ(reduce("max", one, minusTwo, zero), 0x3F800000u);
  EXPECT_EQ(reduce("max.abs", one, minusTwo, zero), 0x40000000u);
  EXPECT_EQ(reduce("min", minusZero, zero, zero), 0x80000000u);
  EXPECT_EQ(reduce("max", minusZero, zero, minusZero), 0u);
  EXPECT_EQ(reduce("max", nan, minusTwo, minusTwo), 0xC0000000u);
  EXPECT_EQ(reduce("max.NaN", nan, minusTwo, minusTwo), 0x7FFFFFFFu);
  EXPECT_EQ(reduce("min", nan, nan, nan), 0x7FFFFFFFu);
}

TEST(CollectivesTest, ReductionsOfUndefinedBytes) {
  std::string undefined = "setp.eq.u32 %p0, %r0, 0; @!%p0 mov.u32 %r5, 1;";
  EXPECT_EQ(getUndefinedLanes(undefined + "redux.sync.add.u32 %r4, %r5, -1;"),
            0xFFFFFFFFu);
  // A byte of a bitwise reduction depends on the bytes at the same position.
  std::string byte = "mov.u32 %r6, 0; st.shared.b8 [S + 1], %r6;"
                     "ld.shared.b32 %r5, [S]; redux.sync.or.b32 %r4, %r5, -1;"
                     "st.shared.b32 [%r3 + 128], %r4;";
  EXPECT_EQ(getError(makeRun(byte + "ld.shared.b8 %r7, [%r3 + 129];"
                                    "st.global.b32 [%d3], %r7;")),
            "no error");
  EXPECT_NE(getError(makeRun(byte + "ld.shared.b8 %r7, [%r3 + 130];"
                                    "st.global.b32 [%d3], %r7;")),
            "no error");
}

//===----------------------------------------------------------------------===//
// Misuse
//===----------------------------------------------------------------------===//

TEST(CollectivesTest, MisuseOfMemberMasks) {
  struct Row {
    const char *name, *text;
  };
  for (Row row : {Row{"shfl.sync", "shfl.sync.idx.b32 %r4, %r0, 0, 31, "},
                  Row{"vote.sync", "vote.sync.any.pred %p1, %p0, "},
                  Row{"match.sync", "match.any.sync.b32 %r4, %r0, "},
                  Row{"redux.sync", "redux.sync.add.u32 %r4, %r0, "},
                  Row{"elect.sync", "elect.sync _|%p1, "}}) {
    std::string name = row.name, text = row.text;
    std::string some = "setp.lt.u32 %p0, %r0, 8;\n";
    EXPECT_FAILS(makeRun(some + "@%p0 " + text + "0x1ff;"), 2,
                 "lane 8: the member mask 0x1ff of " + name +
                     " names lane 8, which does not take part");
    EXPECT_FAILS(makeRun(some + text + "0xfffffffe;"), 2,
                 "lane 0: the member mask 0xfffffffe of " + name +
                     " does not name the lane itself");
    EXPECT_FAILS(makeRun(some + "selp.b32 %r5, 0xffffffff, 0xffffff0f, %p0;" +
                         text + "%r5;"),
                 2,
                 "expected one member mask of " + name +
                     ", got 0xffffffff in lane 0 and 0xffffff0f in lane 8");
    EXPECT_FAILS(makeRun(some + text + "%r60;"), 2,
                 "the member mask is undefined");
  }
}

TEST(CollectivesTest, FormsThatAreRefused) {
  auto load = [](const std::string &text) { return getLoadError(text + ";"); };
  EXPECT_EQ(load("shfl.idx.b32 %r0, %r1, 0, 31"), "expected .sync behind shfl");
  EXPECT_EQ(load("shfl.sync.idx.b64 %d0, %d1, 0, 31, -1"),
            "expected .up, .down, .bfly or .idx, and .b32 behind shfl.sync");
  EXPECT_EQ(load("vote.all.pred %p0, %p1"), "expected .sync behind vote");
  EXPECT_EQ(load("vote.sync.all.b32 %r0, %p1, -1"),
            "expected .all.pred, .any.pred, .uni.pred or .ballot.b32 behind "
            "vote.sync");
  EXPECT_EQ(load("match.any.sync.u32 %r0, %r1, -1"),
            "expected .any or .all, and .b32 or .b64 behind match.sync");
  EXPECT_EQ(load("match.any.sync.b32 %r0|%p0, %r1, -1"),
            "expected a register for .b32");
  EXPECT_EQ(load("activemask.u32 %r0"), "expected .b32 behind activemask");
  EXPECT_EQ(load("elect.sync %r0, -1"),
            "expected a register and a predicate, d|p");
  const char *redux = "expected .add, .min or .max of .u32 or .s32, .min or "
                      ".max of .f32, or .and, .or or .xor of .b32 behind "
                      "redux.sync";
  EXPECT_EQ(load("redux.sync.and.u32 %r0, %r1, -1"), redux);
  EXPECT_EQ(load("redux.sync.add.f32 %f0, %f1, -1"), redux);
  EXPECT_EQ(load("redux.sync.max.f32 %f0, %f1, -1"),
            "expected a target that has redux.sync of .f32, got sm_120a");
  EXPECT_EQ(load("redux.sync.max.abs.u32 %r0, %r1, -1"),
            "not supported in this version: modifier 'abs' of redux");
}
