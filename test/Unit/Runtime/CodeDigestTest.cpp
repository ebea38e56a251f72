//===- CodeDigestTest.cpp - Tests of what launch infos say of code --------===//
//
// Part of the blockscale project, under the Apache License v2.0 with LLVM
// Exceptions. See LICENSE for license information.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#include "blockscale/Runtime/CodeDigest.h"

#include <gtest/gtest.h>

using namespace mlir::blockscale;

/// The examples of FIPS 180-4, and all sizes around the end of a block: the
/// digest of their digests is Python's.
TEST(CodeDigestTest, ComputesSha256) {
  EXPECT_EQ(computeSha256(""), "e3b0c44298fc1c149afbf4c8996fb924"
                               "27ae41e4649b934ca495991b7852b855");
  EXPECT_EQ(computeSha256("abc"), "ba7816bf8f01cfea414140de5dae2223"
                                  "b00361a396177a9cb410ff61f20015ad");
  EXPECT_EQ(computeSha256("abcdbcdecdefdefgefghfghighijhijkijkljklmklmnlmnomnop"
                          "nopq"),
            "248d6a61d20638b8e5c026930c3e6039"
            "a33ce45964ff2167f6ecedd419db06c1");
  EXPECT_EQ(computeSha256(std::string(1000000, 'a')),
            "cdc76e5c9914fb9281a1c7e284d73e67"
            "f1809a48a497200e046d39ccc7112cd0");
  // hashlib.sha256("".join(hashlib.sha256(bytes([0x80 + n]) * n).hexdigest()
  //                        for n in range(128)).encode()).hexdigest()
  std::string digests;
  for (unsigned n = 0; n != 128; ++n)
    digests += computeSha256(std::string(n, static_cast<char>(0x80 + n)));
  EXPECT_EQ(computeSha256(digests), "4723c9df3f8ca96dad03565558f87a49"
                                    "773cccc17e9d8477bf2f7a6c06b9bd18");
}

TEST(CodeDigestTest, NormalizesPtx) {
  EXPECT_EQ(normalizePtx(""), "");
  EXPECT_EQ(normalizePtx(" \t// only\n/* blank */ .loc 1 2 3"), "");
  EXPECT_EQ(
      normalizePtx("\n.version 8.7 // old\n.target\tsm_90a\r\n\n{ ret; }\n"),
      ".version 8.7 .target sm_90a { ret; }");
  EXPECT_EQ(
      normalizePtx("a;\n\t.loc\t1 2 3, function_name $x\n\tb;/* .loc */c;\n"
                   ".file 1 \"a.mlir\"\nd;"),
      "a; b; c; d;");
  // What only looks like one of those.
  for (const char *text :
       {"ld.local.u32 a;", "x.loc y;", ".location z;", "%r.file;", "$a.loc;",
        ".file_1 a;", "a / b * c /", "/* open", "s = \"a  // b\";",
        "\"/*\" \"*/\"", "\" .loc 1\"", "a\"b c"})
    EXPECT_EQ(normalizePtx(text), text);
}

static constexpr std::string_view code =
    ".version 8.7\n.target sm_120a\n.visible .entry main(.param .u64 a,\n"
    ".param .u64 b) { ret; }\n";

static LaunchInfo makeInfo() {
  LaunchInfo info;
  info.target = "sm_120a";
  info.schedule = "tile=1x2x3";
  info.kernels.emplace_back().name = "main";
  info.kernels[0].params = {LaunchParam::argument(0), LaunchParam::result(0)};
  attachCodeDigest(info, code);
  return info;
}

/// The warning or, behind "error: ", the failure.
static std::string check(const LaunchInfo &info, std::string_view image,
                         bool allowsEdits = false) {
  Result<std::string> result =
      checkCode(info, image, {"'a.json'", "'b.ptx'", allowsEdits});
  return result ? *result : "error: " + result.message();
}

static std::string replace(std::string_view from, std::string_view to) {
  std::string text(code);
  return text.replace(text.find(from), from.size(), to);
}

/// python/blockscale/runtime/code_digest.py has the same in its test.
TEST(CodeDigestTest, IsPythons) {
  LaunchInfo info = makeInfo();
  EXPECT_EQ(info.ptxDigest, "a4d372e06f377c1f25fd0b812ee139ed"
                            "57e027933370b0456f19990a26294071");
  EXPECT_EQ(info.cubinDigest, "");
}

TEST(CodeDigestTest, IsOfAllThatALaunchDependsOn) {
  LaunchInfo info = makeInfo();
  for (auto change : std::initializer_list<void (*)(LaunchInfo &)>{
           [](LaunchInfo &i) { i.target = "sm_120f"; },
           [](LaunchInfo &i) { i.schedule += ",stages=4"; },
           [](LaunchInfo &i) { i.kernels[0].name = "other"; },
           [](LaunchInfo &i) { i.kernels[0].params.pop_back(); },
           [](LaunchInfo &i) { i.kernels[0].params[1].index = 1; },
           [](LaunchInfo &i) { i.kernels.push_back(i.kernels[0]); }}) {
    LaunchInfo changed = info;
    change(changed);
    EXPECT_NE(computeCodeDigest(changed, code), info.ptxDigest);
  }
  EXPECT_NE(computeCodeDigest(info, replace("ret;", "trap;")), info.ptxDigest);
  EXPECT_EQ(computeCodeDigest(info, replace("ret;", "  ret; /* end */")),
            info.ptxDigest);
}

TEST(CodeDigestTest, RefusesOtherCode) {
  LaunchInfo info = makeInfo();
  EXPECT_EQ(check(info, code), "");
  EXPECT_EQ(check(info, replace("{ ", "{\n\t.loc 1 2 3\n\t")), "");
  for (bool allowsEdits : {false, true}) {
    EXPECT_EQ(check(info, replace("sm_120a", "sm_90a"), allowsEdits),
              "error: 'a.json': expected code for sm_120a, got 'b.ptx' for "
              "sm_90a");
    EXPECT_EQ(check(info, replace(".target", "//"), allowsEdits),
              "error: 'a.json': expected code for sm_120a, got 'b.ptx' for no "
              "target");
    EXPECT_EQ(check(info, replace("main", "other"), allowsEdits),
              "error: 'a.json': expected kernel 'main' in 'b.ptx', got none of "
              "that name");
    EXPECT_EQ(check(info, replace(",\n.param .u64 b", ""), allowsEdits),
              "error: 'a.json': expected kernel 'main' with 2 parameters in "
              "'b.ptx', got one with 1");
  }
  EXPECT_EQ(check(info, replace("ret;", "trap;")),
            "error: 'a.json': expected the code that it was written with "
            "(schedule tile=1x2x3), got other code in 'b.ptx'; "
            "--allow-edited-ptx takes a kernel that was changed by hand");
  EXPECT_EQ(check(info, replace("ret;", "trap;"), true),
            "'b.ptx' is not the code that 'a.json' was written with (schedule "
            "tile=1x2x3): taken for a changed one");
}

TEST(CodeDigestTest, KnowsNothingWithoutADigest) {
  LaunchInfo info = makeInfo();
  info.ptxDigest.clear();
  EXPECT_EQ(check(info, "no PTX"), "");
}

TEST(CodeDigestTest, RefusesPtxBesideMachineCodeAlone) {
  LaunchInfo info = makeInfo();
  info.ptxDigest.clear();
  attachCodeDigest(info, "\x7f"
                         "ELF");
  EXPECT_EQ(check(info, code),
            "error: 'a.json': expected the machine code that it was written "
            "with (schedule tile=1x2x3), got PTX in 'b.ptx'; "
            "--allow-edited-ptx takes it unproved");
  EXPECT_EQ(check(info, code, true),
            "'b.ptx' is not the code that 'a.json' was written with (schedule "
            "tile=1x2x3): taken for a changed one");
}

TEST(CodeDigestTest, TakesCubinsAsTheyAre) {
  LaunchInfo info = makeInfo();
  std::string cubin = "\x7f"
                      "ELF  // bytes";
  EXPECT_EQ(check(info, cubin), "");
  attachCodeDigest(info, cubin);
  EXPECT_EQ(check(info, cubin), "");
  EXPECT_EQ(check(info, code), "");
  for (bool allowsEdits : {false, true})
    EXPECT_EQ(check(info,
                    "\x7f"
                    "ELF // bytes",
                    allowsEdits),
              "error: 'a.json': expected the code that it was written with "
              "(schedule tile=1x2x3), got other code in 'b.ptx'");
}
