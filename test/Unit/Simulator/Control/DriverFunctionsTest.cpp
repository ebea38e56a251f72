//===- DriverFunctionsTest.cpp - Tests of printf, malloc and free ---------===//
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

//===----------------------------------------------------------------------===//
// printf
//===----------------------------------------------------------------------===//

/// The initializer of a string.
static std::string toBytesText(const std::string &text) {
  std::string bytes;
  for (char c : text)
    bytes += std::to_string(static_cast<unsigned>(c)) + ", ";
  return bytes + "0";
}

/// A kernel that prints with arguments that `stores` puts into A, of which %d5
/// has the address; the call is in line 2, and its result in %r9.
static KernelRun makePrint(const std::string &format, const std::string &stores,
                           unsigned threads = 1) {
  KernelRun run =
      makeRun(".local .align 8 .b8 A[64]; .reg .b64 %fmt; mov.u64 %d5, A;"
              "cvta.local.u64 %d5, %d5; mov.u64 %fmt, Format;"
              "cvta.global.u64 %fmt, %fmt; .param .b64 x; .param .b64 y; "
              ".param .b32 z;" +
                  stores +
                  "st.param.b64 [x], %fmt; st.param.b64 [y], %d5;\n"
                  "call (z), vprintf, (x, y);\nld.param.b32 %r9, [z];",
              threads);
  run.declarations =
      ".extern .func (.param .b32 r) vprintf(.param .b64 f, .param .b64 a);"
      ".global .align 1 .b8 Text[6] = {" +
      toBytesText("hello") +
      "}; .global .align 1 .b8 Open[3] = {97, 98, 99};"
      ".global .align 1 .b8 Format[] = {" +
      toBytesText(format) + "};";
  return run;
}

/// The printed text, or the message of an error.
static std::string getPrinted(const KernelRun &run) {
  KernelResult result = runKernel(run);
  return result.error.empty() ? result.output : result.error;
}

TEST(PrintTest, Integers) {
  const std::string word = "st.b32 [%d5], -5;", wide = "st.b64 [%d5], -5;";
  struct Row {
    const char *format;
    const std::string &store;
    const char *expected;
  };
  for (const Row &row : {
           Row{"%d|", word, "-5|"},
           {"%i|", word, "-5|"},
           {"%u|", word, "4294967291|"},
           {"%x|", word, "fffffffb|"},
           {"%#X|", word, "0XFFFFFFFB|"},
           {"%o|", word, "37777777773|"},
           {"%hd|", word, "-5|"},
           {"%hu|", word, "65531|"},
           {"%hhu|", word, "251|"},
           {"%ld|", wide, "-5|"},
           {"%lld|", wide, "-5|"},
           {"%llu|", wide, "18446744073709551611|"},
           {"%lx|", wide, "fffffffffffffffb|"},
           {"%p|", wide, "0xfffffffffffffffb|"},
           {"%20p|", wide, "  0xfffffffffffffffb|"},
           {"%6d|", word, "    -5|"},
           {"%-6d|", word, "-5    |"},
           {"%06d|", word, "-00005|"},
           {"%6.3d|", word, "  -005|"},
           {"%+d|", word, "-5|"},
           {"100%%|", word, "100%|"},
           {"|", word, "|"},
       })
    EXPECT_EQ(getPrinted(makePrint(row.format, row.store)), row.expected)
        << row.format;
}

TEST(PrintTest, OtherTypes) {
  // 2.5
  const std::string number = "st.b64 [%d5], 0x4004000000000000;";
  struct Row {
    const char *format, *expected;
  };
  for (Row row : {Row{"%f|", "2.500000|"},
                  {"%.2f|", "2.50|"},
                  {"%8.1f|", "     2.5|"},
                  {"%e|", "2.500000e+00|"},
                  {"%g|", "2.5|"},
                  {"%a|", "0x1.4p+1|"},
                  {"%.*f|", "2.5|"}}) {
    bool hasStar = std::string(row.format) == "%.*f|";
    EXPECT_EQ(getPrinted(makePrint(row.format,
                                   hasStar ? "st.b32 [%d5], 1; st.b64 [%d5+8], "
                                             "0x4004000000000000;"
                                           : number)),
              row.expected)
        << row.format;
  }
  EXPECT_EQ(getPrinted(makePrint("%c%-3c|", "st.v2.b32 [%d5], {65, 66};")),
            "AB  |");
  const std::string text = "mov.u64 %d6, Text; st.b64 [%d5], %d6;";
  EXPECT_EQ(getPrinted(makePrint("%s|", text)), "hello|");
  EXPECT_EQ(getPrinted(makePrint("%7.2s|", text)), "     he|");
  // The string has no end, but the precision limits it.
  const std::string open = "mov.u64 %d6, Open; st.b64 [%d5], %d6;";
  EXPECT_EQ(getPrinted(makePrint("%.3s|", open)), "abc|");
  EXPECT_EQ(getPrinted(makePrint("%s|", "st.b64 [%d5], 0;")), "(null)|");
  // Each argument is at a multiple of its size; a negative width aligns to the
  // left.
  EXPECT_EQ(getPrinted(makePrint("%*d %s %d|",
                                 "st.v2.b32 [%d5], {-4, 7}; mov.u64 %d6, Text;"
                                 "st.b64 [%d5+8], %d6; st.b32 [%d5+16], 9;")),
            "7    hello 9|");
}

TEST(PrintTest, TheResultCountsArguments) {
  KernelRun run =
      makePrint("%d %% %*d\n", "st.v2.b32 [%d5], {1, 2}; st.b32 [%d5+8], 3;");
  run.body += "st.global.b32 [%d3], %r9;";
  std::vector<uint32_t> expected(1024);
  expected[0] = 3;
  EXPECT_EQ(getOutput(run), expected);
  run = makePrint("unread", "mov.u64 %fmt, 0;");
  run.body += "st.global.b32 [%d3], %r9;";
  expected[0] = -1;
  EXPECT_EQ(getOutput(run), expected);
  EXPECT_EQ(getPrinted(run), "");
}

// Blocks in their order, and lanes in theirs.
TEST(PrintTest, OrderOfBlocks) {
  KernelRun run = makePrint("%d.%d ",
                            "mov.u32 %r10, %ctaid.x; st.b32 [%d5], %r10;"
                            "st.b32 [%d5+4], %r0;",
                            4);
  run.blocks = 40;
  std::string expected;
  for (unsigned block = 0; block != 40; ++block)
    for (unsigned lane = 0; lane != 4; ++lane)
      expected += std::to_string(block) + "." + std::to_string(lane) + " ";
  for (unsigned jobs : {1, 4}) {
    run.options.jobs = jobs;
    EXPECT_EQ(getPrinted(run), expected) << jobs;
  }
}

TEST(PrintTest, OutputIsBounded) {
  // 4000 bytes of each lane: 1,048,576 are those of 262 lanes and a bit.
  KernelRun run = makePrint("%4000d", "st.b32 [%d5], %r0;", 32);
  run.blocks = 8;
  EXPECT_EQ(runKernel(run).output.size(), 8u * 32 * 4000);
  EXPECT_TRUE(runKernel(run).warnings.empty());
  run.blocks = 20;
  for (unsigned jobs : {1, 4}) {
    run.options.jobs = jobs;
    KernelResult result = runKernel(run);
    EXPECT_EQ(result.output.size(), 1u << 20);
    EXPECT_EQ(result.warnings,
              std::vector<std::string>(
                  {"kernels print more than 1048576 bytes: the rest is left "
                   "out"}));
  }
}

TEST(PrintTest, Errors) {
  const std::string word = "st.b32 [%d5], 5;";
  struct Row {
    const char *format;
    std::string stores;
    const char *message;
  };
  for (const Row &row : {
           Row{"%n", word, "conversion '%n' of printf"},
           {"%zu", word, "conversion '%z' of printf"},
           {"%ls", word, "conversion '%ls' of printf"},
           {"%5", word, "got the end of the format of printf"},
           {"%5000d", word, "a width or precision of at most 4096"},
           {"%.99999999999999999999d", word, "a width or precision of at most"},
           {"%*d", "st.v2.b32 [%d5], {-5000, 1};", "of at most 4096"},
           {"%d %d", word, "value 1 that printf prints is undefined"},
           {"%d", word + "add.u64 %d5, %d5, 64;",
            "is outside of its variables"},
           {"%lld", word + "mov.u64 %d5, 0;", "at 0x0 is in no allocation"},
           {"%s", "mov.u64 %d6, Open; st.b64 [%d5], %d6;",
            "is out of bounds of Open, which has 3 bytes"},
           {"x", "mov.u64 %fmt, Open;", "is out of bounds of Open"},
           {"x", "mov.u64 %fmt, %d60;", "argument 0 of vprintf is undefined"},
       })
    EXPECT_FAILS(makePrint(row.format, row.stores), 2, row.message);
  KernelRun run = makePrint("x", word);
  run.body.replace(run.body.find("call (z), "), 10, "call ");
  EXPECT_NE(getError(run).find("expected 1 results of vprintf, got 0"),
            std::string::npos);
}

//===----------------------------------------------------------------------===//
// malloc and free
//===----------------------------------------------------------------------===//

/// Macros: `MALLOC(size)` makes %d6 an address, and `FREE(address)`.
static KernelRun makeHeap(std::string body, unsigned threads = 32) {
  auto expand = [&](const std::string &name, const std::string &before,
                    const std::string &after) {
    for (size_t at; (at = body.find(name + "(")) != std::string::npos;) {
      size_t end = body.find(')', at), begin = at + name.size() + 1;
      body.replace(at, end - at + 1,
                   before + body.substr(begin, end - begin) + after);
    }
  };
  expand("MALLOC", "st.param.b64 [s], ",
         "; call [r], malloc, [s]; ld.param.b64 %d6, [r];");
  expand("FREE", "st.param.b64 [s], ", "; call free, [s];");
  // The braces prevent a second expansion.
  for (auto [from, to] :
       {std::pair("call [r], malloc, [s]", "call (r), malloc, (s)"),
        std::pair("call free, [s]", "call free, (s)")})
    for (size_t at; (at = body.find(from)) != std::string::npos;)
      body.replace(at, std::string(from).size(), to);
  KernelRun run = makeRun(".param .b64 s; .param .b64 r; " + body, threads);
  run.declarations = ".extern .func (.param .b64 r) malloc(.param .b64 s);"
                     ".extern .func free(.param .b64 p); .global .u64 Kept;";
  return run;
}

TEST(HeapTest, EachLaneHasItsOwn) {
  KernelRun run = makeHeap("mov.u32 %r10, %ctaid.x; MALLOC(24)"
                           "st.global.b32 [%d6+20], %r0; bar.sync 0;"
                           "ld.global.b32 %r4, [%d6+20]; rem.u64 %d7, %d6, 16;"
                           "cvt.u32.u64 %r5, %d7; add.u32 %r4, %r4, %r5;"
                           "st.global.b32 [%d3], %r4; FREE(%d6) FREE(0)");
  run.blocks = 4;
  std::vector<uint32_t> expected(1024);
  for (unsigned i = 0; i != 32; ++i)
    expected[i] = i;
  for (unsigned jobs : {1, 4}) {
    run.options.jobs = jobs;
    EXPECT_EQ(getOutput(run), expected);
  }
}

TEST(HeapTest, SizeIsBounded) {
  auto expectIsNull = [](const std::string &body, unsigned isNull) {
    std::vector<uint32_t> expected(1024);
    expected[0] = isNull;
    EXPECT_EQ(getOutput(makeHeap(body + "setp.eq.u64 %p0, %d6, 0;"
                                        "selp.u32 %r4, 1, 0, %p0;"
                                        "st.global.b32 [%d3], %r4;",
                                 1)),
              expected)
        << body;
  };
  expectIsNull("MALLOC(8388608)", 0);
  expectIsNull("MALLOC(8388609)", 1);
  expectIsNull("MALLOC(-1)", 1);
  expectIsNull("MALLOC(0)", 1);
  expectIsNull("MALLOC(4000000) MALLOC(4388608)", 0);
  expectIsNull("MALLOC(4000001) MALLOC(4388608)", 1);
  expectIsNull("MALLOC(8388608) FREE(%d6) MALLOC(8388608)", 0);
  // Freed bytes are kept, so their total is bounded.
  EXPECT_FAILS(makeHeap("mov.u32 %r4, 0;\nL: MALLOC(8388608) FREE(%d6)"
                        "add.u32 %r4, %r4, 1; setp.lt.u32 %p0, %r4, 200;"
                        "@%p0 bra L;",
                        1),
               2, "more than 262144 calls of malloc or 1073741824 bytes");
}

TEST(HeapTest, Errors) {
  EXPECT_FAILS(
      makeHeap("MALLOC(10)\nst.b8 [%d6+10], 1;"), 2,
      "is out of bounds of allocation 0 of malloc, which has 10 bytes");
  EXPECT_FAILS(makeHeap("MALLOC(8) FREE(%d6)\nld.b64 %d7, [%d6];"), 2,
               "is in no allocation");
  const std::string refused = "free expected an address that malloc has "
                              "returned and that was not freed, "
                              "got 0x";
  EXPECT_FAILS(makeHeap("MALLOC(8) FREE(%d6)\nFREE(%d6)"), 2, refused);
  EXPECT_FAILS(makeHeap("MALLOC(8) add.u64 %d6, %d6, 4;\nFREE(%d6)"), 2,
               refused);
  EXPECT_FAILS(makeHeap("mov.u64 %d6, Kept;\nFREE(%d6)"), 2, refused);
  EXPECT_FAILS(makeHeap("MALLOC(8)\nFREE(%d2)"), 2, refused);
  EXPECT_FAILS(makeHeap("\nMALLOC(%d60)"), 2,
               "argument 0 of malloc is undefined");
  // New bytes are undefined.
  KernelRun run = makeHeap("MALLOC(4) ld.b32 %r4, [%d6];"
                           "st.global.b32 [%d3], %r4;");
  EXPECT_NE(getError(run).find("bytes are undefined at the end"),
            std::string::npos);
}
