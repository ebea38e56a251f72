//===- CallsTest.cpp - Tests of calls through registers -------------------===//
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

/// Functions of an integer, a table of them, and other functions.
static const std::string kFunctions =
    ".func (.param .b32 o) twice(.param .b32 i) { .reg .b32 %r;"
    "ld.param.b32 %r, [i]; add.u32 %r, %r, %r; st.param.b32 [o], %r; ret; }"
    ".func (.param .b32 o) plus(.param .b32 i) { .reg .b32 %r; .reg .pred %p;"
    "ld.param.b32 %r, [i]; st.param.b32 [o], %r; setp.lt.u32 %p, %r, 16;"
    "@%p ret; add.u32 %r, %r, 7; st.param.b32 [o], %r; ret; }"
    ".func (.param .b32 o) wide(.param .b64 i) { ret; }"
    ".func none(.param .b32 i) { ret; }"
    ".extern .func (.param .b32 o) declared(.param .b32 i);"
    ".global .align 8 .u64 Table[4] = {twice, plus, twice + 1, 0};"
    ".global .align 8 .u64 Tables[2] = {0, generic(Table)};";

/// Calls the address in %d6 with %r0; the result is in %r5. The call is in
/// line 2.
static std::string
makeCall(const std::string &before,
         const std::string &prototype =
             ".callprototype (.param .b32 _) _ (.param .b32 _)",
         const std::string &call = "call") {
  return ".param .b32 a; .param .b32 b; P: " + prototype + "; " + before +
         "st.param.b32 [a], %r0;\n" + call +
         " (b), %d6, (a), P;\nld.param.b32 %r5, [b];";
}

static KernelRun withFunctions(const std::string &body) {
  KernelRun run = makeRun(body);
  run.declarations = kFunctions;
  return run;
}

/// Puts the address in word `index` of the table into %d6.
static std::string load(const std::string &index) {
  return "mov.u64 %d5, Tables; ld.global.u64 %d5, [%d5+8];"
         "mad.wide.u32 %d5, " +
         index + ", 8, %d5; ld.u64 %d6, [%d5];";
}

// Odd lanes call one function and even ones another; all reconverge behind the
// call.
TEST(CallsTest, LanesCallTheirOwnTargets) {
  std::vector<uint32_t> expected(1024);
  for (unsigned i = 0; i != 32; ++i)
    expected[i] = 1000 + (i % 2 == 0 ? 2 * i : i < 16 ? i : i + 7);
  const std::string choose = "and.b32 %r4, %r0, 1;";
  const std::string store =
      "bar.sync 0; add.u32 %r5, %r5, 1000; st.global.b32 [%d3], %r5;";
  for (const char *prototype :
       {".callprototype (.param .b32 _) _ (.param .b32 _)",
        ".calltargets twice, plus"})
    EXPECT_EQ(getOutput(withFunctions(
                  makeCall(choose + load("%r4"), prototype) + store)),
              expected)
        << prototype;
  // Only some lanes call, which are not the first ones.
  std::fill_n(expected.begin(), 5, 1042);
  EXPECT_EQ(getOutput(withFunctions(
                makeCall(choose + load("%r4") +
                             "setp.ge.u32 %p0, %r0, 5; mov.u32 %r6, 42;"
                             "st.param.b32 [b], %r6;",
                         ".calltargets plus, twice", "@%p0 call") +
                store)),
            expected);
}

TEST(CallsTest, AddressesInRegisters) {
  std::vector<uint32_t> expected(1024);
  for (unsigned i = 0; i != 32; ++i)
    expected[i] = 2 * i;
  const std::string store = "st.global.b32 [%d3], %r5;";
  EXPECT_EQ(getOutput(withFunctions(makeCall("mov.u64 %d6, twice;") + store)),
            expected);
  EXPECT_EQ(getOutput(withFunctions(
                makeCall("mov.u64 %d6, twice;",
                         ".callprototype (.param .b32 _) _ (.param .b32 _)",
                         "call.uni") +
                store)),
            expected);
  // Parameters in registers, and a recursive function.
  KernelRun run = makeRun(
      "mov.u64 %d6, down; P: .callprototype (.reg .b32 _) _ (.reg .b32 _, "
      ".reg .b64 _); call (%r5), %d6, (%r0, %d6), P;" +
      store);
  run.declarations =
      ".func (.reg .b32 %o) down(.reg .b32 %i, .reg .b64 %f) { .reg .pred %p;"
      ".reg .b32 %x; P: .callprototype (.reg .b32 _) _ (.reg .b32 _, "
      ".reg .b64 _); mov.b32 %o, 0; setp.eq.u32 %p, %i, 0; @%p ret;"
      "sub.u32 %x, %i, 1; call (%o), %f, (%x, %f), P; add.u32 %o, %o, 2; ret; "
      "}";
  EXPECT_EQ(getOutput(run), expected);
}

TEST(CallsTest, AddressesOfNoFunction) {
  const std::string none = "a call expected the address of a function, got ";
  EXPECT_FAILS(withFunctions(makeCall(load("3"))), 2,
               "lane 0: " + none + "0x0");
  EXPECT_FAILS(withFunctions(makeCall(load("2"))), 2, none + "0x40000000001");
  EXPECT_FAILS(withFunctions(makeCall("mov.u64 %d6, 0x4000fffff000;")), 2,
               none + "0x4000fffff000");
  EXPECT_FAILS(withFunctions(makeCall("mov.u64 %d6, Table;")), 2, none);
  EXPECT_FAILS(withFunctions(makeCall("")), 2,
               "the address of a call is undefined");
  // Only some lanes have a bad address.
  EXPECT_FAILS(withFunctions(makeCall("mul.lo.u32 %r4, %r0, 3;"
                                      "min.u32 %r4, %r4, 3;" +
                                      load("%r4"))),
               2, "lane 1: " + none + "0x0");
  EXPECT_FAILS(withFunctions("mov.u64 %d6, twice;\nld.u32 %r4, [%d6];"), 2,
               "expected memory, got the address of a function");
  EXPECT_FAILS(withFunctions("mov.u64 %d6, twice;\nst.global.u32 [%d6], 0;"), 2,
               "expected memory, got the address of a function");
}

TEST(CallsTest, FunctionsThatDoNotFit) {
  const std::string fits =
      "a call expected a function with the parameters of its prototype, got ";
  EXPECT_FAILS(withFunctions(makeCall("mov.u64 %d6, wide;")), 2,
               fits + "wide, which has parameter 0 with 8 bytes instead of 4");
  EXPECT_FAILS(withFunctions(makeCall("mov.u64 %d6, none;")), 2,
               fits + "none, which has 0 results instead of 1");
  EXPECT_FAILS(withFunctions(makeCall("mov.u64 %d6, k;")), 2,
               "a call expected a function, got the kernel k");
  EXPECT_FAILS(withFunctions(makeCall("mov.u64 %d6, declared;")), 2,
               "a function with a body, got declared, which is declared");
  EXPECT_FAILS(
      withFunctions(makeCall("mov.u64 %d6, plus;", ".calltargets twice")), 2,
      "a call expected a function of its .calltargets, got plus");
  EXPECT_FAILS(withFunctions(makeCall("and.b32 %r4, %r0, 1;" + load("%r4"),
                                      ".calltargets twice, plus", "call.uni")),
               2,
               "lane 1: call.uni expected the same target in all lanes, but "
               "this one and "
               "lane 0 go apart");
}

/// The message for a program that is refused before it runs.
static std::string getRefusal(const std::string &body) {
  return getError(withFunctions(body));
}

TEST(CallsTest, CallsThatDoNotFit) {
  EXPECT_NE(getRefusal("mov.u64 %d6, none; call %d6;")
                .find("expected a label of .callprototype or .calltargets "
                      "behind a call through a register"),
            std::string::npos);
  auto refusePrototype = [](const std::string &prototype) {
    return getRefusal(makeCall("mov.u64 %d6, twice;", prototype));
  };
  EXPECT_NE(refusePrototype(".callprototype (.param .b32 _) _ (.param .b64 _)")
                .find("expected a parameter of 8 bytes, got 4"),
            std::string::npos);
  EXPECT_NE(refusePrototype(".callprototype _ (.param .b32 _)")
                .find("expected 0 results of a call, got 1"),
            std::string::npos);
  EXPECT_NE(refusePrototype(".calltargets wide")
                .find("expected a parameter of 8 bytes, got 4"),
            std::string::npos);
  EXPECT_NE(refusePrototype(".calltargets twice, k")
                .find("expected .calltargets of functions, got the kernel k"),
            std::string::npos);
}

// The shared variables and errors of functions that may be called count for the
// kernel.
TEST(CallsTest, CalledFunctionsCountForTheKernel) {
  const std::string call = "P: .callprototype _ (); mov.u64 %d5, Table;"
                           "ld.global.u64 %d6, [%d5]; call %d6, P;";
  KernelRun run = makeRun(call);
  auto declare = [](const std::string &body) {
    return ".func f() { .shared .b32 Own[4]; .reg .b32 %r; " + body +
           " ret; } .global .align 8 .u64 Table[1] = {f};";
  };
  run.declarations = declare(
      "mov.b32 %r, Own; st.shared.b32 [%r], 5; ld.shared.b32 %r, [%r];");
  EXPECT_EQ(getError(run), "no error");
  run.declarations = declare("frobnicate;");
  EXPECT_NE(getError(run).find("instruction 'frobnicate'"), std::string::npos)
      << getError(run);
  // A kernel without calls does not need it.
  run.body = "mov.u32 %r4, 1;";
  EXPECT_EQ(getError(run), "no error");
}
