//===- MatrixLookupTest.cpp - Tests of modifiers of mma -------------------===//
//
// Part of the blockscale project, under the Apache License v2.0 with LLVM
// Exceptions. See LICENSE for license information.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#include "Mma/MatrixForm.h"
#include "Mma/MatrixTesting.h"

#include <gtest/gtest.h>

#include <set>

using namespace mlir::blockscale;
using namespace mlir::blockscale::sim;
using namespace mlir::blockscale::sim::mmatest;

#define SA "sync.aligned."
#define OM "sp::ordered_metadata.sync.aligned."

static const MmaForm &lookup(llvm::StringRef text) {
  Result<const MmaForm *> form = lookupMma(splitModifiers(text));
  EXPECT_TRUE(form) << text.str() << ": " << form.message();
  return form ? **form : getMmaForms().front();
}

//===----------------------------------------------------------------------===//
// What is accepted
//===----------------------------------------------------------------------===//

TEST(MatrixLookupTest, TheTableHasWhatThePtxIsaLists) {
  std::set<const MmaForm *> found;
  std::vector<std::string> all = listInstructions();
  for (const std::string &text : all)
    found.insert(&lookup(text));
  EXPECT_EQ(found.size(), all.size());
  EXPECT_EQ(getMmaForms().size(), all.size());
  for (const std::string &text : all) {
    const MmaForm &form = lookup(text);
    Description d = describe(text);
    EXPECT_EQ(form.m, d.m) << text;
    EXPECT_EQ(form.k, d.k) << text;
    EXPECT_EQ(getName(form.a), d.a) << text;
    EXPECT_EQ(getName(form.b), d.b) << text;
    EXPECT_EQ(getName(form.c), d.c) << text;
    EXPECT_EQ(form.scaleVec, d.scaleVec) << text;
    EXPECT_EQ(form.isSparse(), d.isSparse) << text;
    EXPECT_EQ(form.sparsity == Sparsity::Ordered, d.isOrdered) << text;
    EXPECT_EQ(form.isSatfinite, d.isSatfinite) << text;
    EXPECT_EQ(getMultiplyAdds(form), uint64_t(d.m) * 8 * d.k) << text;
  }
}

TEST(MatrixLookupTest, TwentyNineDenseAndSparseBlockScaledForms) {
  unsigned dense = 0, sparse = 0;
  for (const MmaForm &form : getMmaForms())
    if (form.isBlockScaled())
      ++(form.isSparse() ? sparse : dense);
  // 28 of PTX 8.7, and mxf4nvf4 with 4X and ue8m0 of PTX 9.1.
  EXPECT_EQ(dense, 29u);
  EXPECT_EQ(sparse, 29u);
}

TEST(MatrixLookupTest, ShapeAndKindComeInBothOrders) {
  EXPECT_EQ(
      &lookup(SA "m16n8k64.row.col.kind::mxf4nvf4.block_scale.scale_vec::4X."
                 "f32.e2m1.e2m1.f32.ue4m3"),
      &lookup(SA "kind::mxf4nvf4.block_scale.scale_vec::4X.m16n8k64.row.col."
                 "f32.e2m1.e2m1.f32.ue4m3"));
  EXPECT_EQ(&lookup(SA "m16n8k32.row.col.kind::f8f6f4.f16.e2m3.e2m1.f16"),
            &lookup(SA "kind::f8f6f4.m16n8k32.row.col.f16.e2m3.e2m1.f16"));
  EXPECT_EQ(
      &lookup(OM "m16n8k64.row.col.kind::mxf8f6f4.block_scale.f32.e2m3.e2m1."
                 "f32.ue8m0"),
      &lookup(OM "kind::mxf8f6f4.block_scale.m16n8k64.row.col.f32.e2m3.e2m1."
                 "f32.ue8m0"));
}

// ptxas takes it in all of these places; CUTLASS has it behind the kind.
TEST(MatrixLookupTest, SparsityMayStandAnywhere) {
  const MmaForm *form = &lookup(
      OM "m16n8k64.row.col.kind::mxf8f6f4.block_scale.f32.e4m3.e4m3.f32.ue8m0");
  for (const char *text :
       {"sync.aligned.kind::mxf8f6f4.sp::ordered_metadata.block_scale."
        "scale_vec::1X.m16n8k64.row.col.f32.e4m3.e4m3.f32.ue8m0",
        "sync.aligned.sp::ordered_metadata.kind::mxf8f6f4.block_scale."
        "scale_vec::1X.m16n8k64.row.col.f32.e4m3.e4m3.f32.ue8m0",
        "sync.sp::ordered_metadata.aligned.m16n8k64.row.col.kind::mxf8f6f4."
        "block_scale.f32.e4m3.e4m3.f32.ue8m0",
        "sync.aligned.m16n8k64.row.col.kind::mxf8f6f4.block_scale."
        "sp::ordered_metadata.scale_vec::1X.f32.e4m3.e4m3.f32.ue8m0",
        "sync.aligned.m16n8k64.row.col.kind::mxf8f6f4.block_scale.f32.e4m3."
        "e4m3.f32.ue8m0.sp::ordered_metadata"})
    EXPECT_EQ(form, &lookup(text)) << text;
  EXPECT_EQ(&lookup("sp.sync.aligned.m16n8k32.row.col.f32.f16.f16.f32"),
            &lookup("sync.aligned.m16n8k32.row.col.sp.f32.f16.f16.f32"));
}

TEST(MatrixLookupTest, ScaleVectorsHaveDefaults) {
  EXPECT_EQ(&lookup(SA "m16n8k32.row.col.kind::mxf8f6f4.block_scale.f32.e4m3."
                       "e5m2.f32.ue8m0"),
            &lookup(SA "m16n8k32.row.col.kind::mxf8f6f4.block_scale.scale_vec::"
                       "1X.f32.e4m3.e5m2.f32.ue8m0"));
  EXPECT_EQ(&lookup(SA "m16n8k64.row.col.kind::mxf4.block_scale.f32.e2m1.e2m1."
                       "f32.ue8m0"),
            &lookup(SA "m16n8k64.row.col.kind::mxf4.block_scale.scale_vec::2X."
                       "f32.e2m1.e2m1.f32.ue8m0"));
}

TEST(MatrixLookupTest, F64MayNameItsRounding) {
  EXPECT_EQ(&lookup(SA "m16n8k8.row.col.f64.f64.f64.f64.rn"),
            &lookup(SA "m16n8k8.row.col.f64.f64.f64.f64"));
  EXPECT_EQ(getLookupMessage(SA "m16n8k8.row.col.f64.f64.f64.f64.rz"),
            "mma: expected '.rn' or no rounding modifier, got '.rz', which is "
            "not simulated");
  EXPECT_EQ(getLookupMessage(SA "m16n8k8.row.col.f32.bf16.bf16.f32.rn"),
            "mma: expected no more modifiers, got '.rn'");
}

//===----------------------------------------------------------------------===//
// What is refused
//===----------------------------------------------------------------------===//

TEST(MatrixLookupTest, IllegalCombinationsAreExplained) {
  // The first rows are what ptxas 13.0 refuses, too.
  struct {
    const char *text, *message;
  } rows[] = {
      {SA "m16n8k64.row.col.kind::mxf4nvf4.block_scale.scale_vec::2X.f32.e2m1."
          "e2m1.f32.ue4m3",
       "mma.kind::mxf4nvf4.m16n8k64.f32.e2m1.e2m1.f32.scale_vec::2X: expected "
       "'.ue8m0' as the type of the scales, got '.ue4m3'"},
      {SA "m16n8k64.row.col.kind::mxf4.block_scale.scale_vec::4X.f32.e2m1.e2m1."
          "f32.ue8m0",
       "mma.kind::mxf4.m16n8k64.f32.e2m1.e2m1.f32: expected '.scale_vec::2X' "
       "as the scale vector, got '.scale_vec::4X'"},
      {SA "m16n8k64.row.col.kind::mxf4.block_scale.f32.e2m1.e2m1.f32.ue4m3",
       "mma.kind::mxf4.m16n8k64.f32.e2m1.e2m1.f32: expected '.ue8m0' as the "
       "type of the scales, got '.ue4m3'"},
      {SA "m16n8k32.row.col.kind::mxf8f6f4.block_scale.scale_vec::2X.f32.e4m3."
          "e4m3.f32.ue8m0",
       "mma.kind::mxf8f6f4.m16n8k32.f32.e4m3.e4m3.f32: expected "
       "'.scale_vec::1X' as the scale vector, got '.scale_vec::2X'"},
      {SA "m16n8k32.row.col.kind::mxf8f6f4.block_scale.f32.e4m3.e4m3.f32.ue4m3",
       "mma.kind::mxf8f6f4.m16n8k32.f32.e4m3.e4m3.f32: expected '.ue8m0' as "
       "the type of the scales, got '.ue4m3'"},
      {SA "m16n8k64.row.col.kind::mxf8f6f4.block_scale.f32.e4m3.e4m3.f32.ue8m0",
       "mma.kind::mxf8f6f4: expected '.m16n8k32' as the shape, got "
       "'.m16n8k64'"},
      {"sp.sync.aligned.m16n8k128.row.col.kind::mxf4.block_scale.f32.e2m1.e2m1."
       "f32.ue8m0",
       "mma.kind::mxf4: expected nothing or '.sp::ordered_metadata' as "
       "sparsity, got '.sp'"},
      {SA "m16n8k64.row.col.kind::mxf4nvf4.block_scale.f32.e2m1.e2m1.f32.ue4m3",
       "mma.kind::mxf4nvf4.m16n8k64.f32.e2m1.e2m1.f32: expected "
       "'.scale_vec::2X' or '.scale_vec::4X' as the scale vector, got nothing"},
      {SA "m16n8k64.row.col.kind::mxf4.block_scale.block32.f32.e2m1.e2m1.f32."
          "ue8m0",
       "mma: expected the type of D, got '.block32'"},
      {SA "m16n8k32.row.col.kind::mxf8f6f4.block_scale.f16.e4m3.e4m3.f16.ue8m0",
       "mma.kind::mxf8f6f4.m16n8k32: expected '.f32' as the type of D, got "
       "'.f16'"},
      {SA "m16n8k64.row.col.kind::mxf4.block_scale.f32.e2m1.e4m3.f32.ue8m0",
       "mma.kind::mxf4.m16n8k64.f32.e2m1: expected '.e2m1' as the type of B, "
       "got '.e4m3'"},
      {SA "m16n8k32.row.col.kind::mxf8f6f4.f32.e4m3.e4m3.f32",
       "mma.kind::mxf8f6f4.m16n8k32.f32.e4m3.e4m3.f32: expected "
       "'.block_scale', got nothing"},
      {SA "m16n8k32.row.col.kind::f8f6f4.block_scale.f32.e4m3.e4m3.f32.ue8m0",
       "mma.kind::f8f6f4.m16n8k32.f32.e4m3.e4m3.f32: expected no "
       "'.block_scale', got it"},
      {SA "m16n8k32.row.col.kind::f16.f32.e4m3.e4m3.f32",
       "mma: expected nothing, '.kind::f8f6f4', '.kind::mxf8f6f4', "
       "'.kind::mxf4' or '.kind::mxf4nvf4' as the kind, got '.kind::f16'"},
      {SA "m16n8k32.row.col.f32.e3m2.e3m2.f32",
       "mma.m16n8k32.f32: expected '.e4m3' or '.e5m2' as the type of A, got "
       "'.e3m2'"},
      {SA "m16n8k16.row.col.f32.f16.f16.f16",
       "mma.m16n8k16.f32.f16.f16: expected '.f32' as the type of C, got "
       "'.f16'"},
      {SA "m16n8k16.row.col.f32.f16.bf16.f32",
       "mma.m16n8k16.f32.f16: expected '.f16' as the type of B, got '.bf16'"},
      {OM "m16n8k64.row.col.f16.e4m3.e4m3.f16",
       "mma.sp::ordered_metadata.m16n8k64: expected '.s32' or '.f32' as the "
       "type of D, got '.f16'"},
      {OM "m16n8k8.row.col.f32.f16.f16.f32",
       "mma.sp::ordered_metadata.m16n8k8.f32: expected '.tf32' as the type of "
       "A, got '.f16'"},
      {SA "m16n8k8.row.col.satfinite.f32.f16.f16.f32",
       "mma.m16n8k8.f32.f16.f16.f32: expected '.satfinite' only with s32, got "
       "it with '.f32'"},
      {SA "m16n8k20.row.col.f32.f16.f16.f32",
       "mma: expected '.m16n8k8', '.m16n8k16', '.m16n8k4', '.m8n8k4', "
       "'.m8n8k16', '.m16n8k32', '.m8n8k32' or '.m16n8k64' as the shape, got "
       "'.m16n8k20'"},
      {SA "m8n8k4.row.col.f32.f16.f16.f32",
       "mma: expected '.m16n8k8' or '.m16n8k16' as the shape of f16, got "
       "'.m8n8k4': the form for sm_70 is not simulated"},
      {SA "m8n8k4.col.row.f16.f16.f16.f16",
       "mma: expected '.m16n8k8' or '.m16n8k16' as the shape of f16, got "
       "'.m8n8k4': the form for sm_70 is not simulated"},
      {SA "m16n8k256.row.col.s32.b1.b1.s32.xor.popc",
       "mma: expected elements of 4 bits or more, got '.b1': single-bit mma is "
       "not simulated"},
      {"aligned.m16n8k8.row.col.f32.f16.f16.f32",
       "mma: expected '.sync', got '.aligned'"},
      {"sync.m16n8k8.row.col.f32.f16.f16.f32",
       "mma: expected '.aligned', got '.m16n8k8'"},
      {SA "row.col.f32.f16.f16.f32",
       "mma: expected a shape such as '.m16n8k32', got '.row'"},
      {SA "m16n8k8.col.row.f32.f16.f16.f32",
       "mma: expected '.row' as the layout of A, got '.col'"},
      {SA "m16n8k8.row.row.f32.f16.f16.f32",
       "mma: expected '.col' as the layout of B, got '.row'"},
      {SA "m16n8k8.row.col.f32.f16.f16",
       "mma: expected the type of C, got nothing"},
      {SA "m16n8k8.row.col.f32.f16.x16.f32",
       "mma: expected the type of B, got '.x16'"},
      {SA "m16n8k64.row.col.kind::mxf4.block_scale.f32.e2m1.e2m1.f32",
       "mma: expected the type of the scales, got nothing"},
      {SA "m16n8k8.row.col.f32.f16.f16.f32.f32",
       "mma: expected no more modifiers, got '.f32'"},
      {OM "kind::mxf8f6f4.sp.block_scale.m16n8k64.row.col.f32.e4m3.e4m3.f32."
          "ue8m0",
       "mma: expected one modifier of sparsity, got '.sp'"},
      {"", "mma: expected '.sync', got nothing"},
  };
  for (auto [text, message] : rows)
    EXPECT_EQ(getLookupMessage(text), message) << text;
}

//===----------------------------------------------------------------------===//
// Queries
//===----------------------------------------------------------------------===//

TEST(MatrixLookupTest, StatsNames) {
  struct {
    const char *text, *name;
  } rows[] = {
      {SA "m16n8k32.row.col.kind::mxf8f6f4.block_scale.f32.e4m3.e2m1.f32.ue8m0",
       "mma.m16n8k32.mxf8f6f4.e4m3.e2m1"},
      {SA "m16n8k64.row.col.kind::mxf4.block_scale.f32.e2m1.e2m1.f32.ue8m0",
       "mma.m16n8k64.mxf4.e2m1.e2m1"},
      {OM "m16n8k128.row.col.kind::mxf4nvf4.block_scale.scale_vec::4X.f32.e2m1."
          "e2m1.f32.ue4m3",
       "mma.sp.m16n8k128.mxf4nvf4.e2m1.e2m1.ue4m3.4X"},
      {SA "m16n8k32.row.col.kind::f8f6f4.f16.e5m2.e2m3.f16",
       "mma.m16n8k32.f8f6f4.e5m2.e2m3.f16"},
      {SA "m16n8k16.row.col.f32.bf16.bf16.f32", "mma.m16n8k16.bf16.bf16.f32"},
  };
  for (auto [text, name] : rows)
    EXPECT_EQ(getStatsName(lookup(text)), name);
}

TEST(MatrixLookupTest, PtxVersions) {
  struct {
    const char *text;
    unsigned version;
  } rows[] = {
      {SA "m16n8k8.row.col.f32.f16.f16.f32", 65},
      {SA "m16n8k16.row.col.f32.f16.f16.f32", 70},
      {SA "m8n8k16.row.col.s32.s8.s8.s32", 65},
      {SA "m8n8k32.row.col.s32.s4.s4.s32", 65},
      {SA "m8n8k4.row.col.f64.f64.f64.f64", 70},
      {SA "m16n8k4.row.col.f64.f64.f64.f64", 78},
      {SA "m16n8k32.row.col.f32.e4m3.e4m3.f32", 84},
      {SA "m16n8k32.row.col.f16.e4m3.e4m3.f16", 87},
      {SA "m16n8k16.row.col.f32.e4m3.e4m3.f32", 87},
      {"sp.sync.aligned.m16n8k16.row.col.f32.f16.f16.f32", 71},
      {OM "m16n8k16.row.col.f32.f16.f16.f32", 85},
      {"sp.sync.aligned.m16n8k64.row.col.f32.e4m3.e4m3.f32", 84},
      {OM "m16n8k64.row.col.f32.e4m3.e4m3.f32", 85},
      {SA "m16n8k32.row.col.kind::f8f6f4.f16.e4m3.e4m3.f16", 87},
      {SA "m16n8k32.row.col.kind::mxf8f6f4.block_scale.f32.e4m3.e2m1.f32.ue8m0",
       87},
      {SA "m16n8k64.row.col.kind::mxf4nvf4.block_scale.scale_vec::4X.f32.e2m1."
          "e2m1.f32.ue4m3",
       87},
      {SA "m16n8k64.row.col.kind::mxf4nvf4.block_scale.scale_vec::4X.f32.e2m1."
          "e2m1.f32.ue8m0",
       91},
      {OM "m16n8k128.row.col.kind::mxf4nvf4.block_scale.scale_vec::4X.f32.e2m1."
          "e2m1.f32.ue8m0",
       91},
  };
  for (auto [text, version] : rows)
    EXPECT_EQ(getPtxVersion(lookup(text)), version) << text;
}

TEST(MatrixLookupTest, Targets) {
  static const char *const targets[] = {
      "sm_70",   "sm_75",   "sm_80",   "sm_86",   "sm_89",   "sm_90",
      "sm_90a",  "sm_100",  "sm_100a", "sm_100f", "sm_103a", "sm_110a",
      "sm_120",  "sm_120a", "sm_120f", "sm_121",  "sm_121a", "sm_121f",
      "sm_120x", "sm_",     "120a",    ""};
  static const std::set<std::string> sm120 = {"sm_120a", "sm_120f", "sm_121a",
                                              "sm_121f"};
  std::set<std::string> sm89 = sm120;
  for (const char *target :
       {"sm_89", "sm_90", "sm_90a", "sm_100", "sm_100a", "sm_100f", "sm_103a",
        "sm_110a", "sm_120", "sm_121"})
    sm89.insert(target);
  std::set<std::string> sm80 = sm89, sm90 = sm89, sm75, sm100 = sm120;
  sm80.insert({"sm_80", "sm_86"});
  sm75 = sm80;
  sm75.insert("sm_75");
  sm90.erase("sm_89");
  sm100.insert({"sm_100a", "sm_100f", "sm_103a", "sm_110a"});

  struct {
    const char *text;
    std::set<std::string> expected;
  } rows[] = {
      {SA "m16n8k8.row.col.f32.f16.f16.f32", sm75},
      {SA "m16n8k16.row.col.f32.f16.f16.f32", sm80},
      {SA "m8n8k4.row.col.f64.f64.f64.f64", sm80},
      {SA "m16n8k8.row.col.f64.f64.f64.f64", sm90},
      {SA "m16n8k32.row.col.f32.e4m3.e4m3.f32", sm89},
      {OM "m16n8k64.row.col.f32.e4m3.e4m3.f32", sm89},
      {SA "m16n8k32.row.col.kind::f8f6f4.f32.e4m3.e5m2.f32", sm100},
      {SA "m16n8k32.row.col.kind::f8f6f4.f32.e4m3.e2m1.f32", sm120},
      {SA "m16n8k32.row.col.kind::mxf8f6f4.block_scale.f32.e4m3.e5m2.f32.ue8m0",
       sm120},
      {SA "m16n8k64.row.col.kind::mxf4.block_scale.f32.e2m1.e2m1.f32.ue8m0",
       sm120},
      {OM "m16n8k64.row.col.kind::mxf8f6f4.block_scale.f32.e4m3.e5m2.f32.ue8m0",
       sm120},
      {OM "m16n8k128.row.col.kind::mxf4.block_scale.f32.e2m1.e2m1.f32.ue8m0",
       {"sm_120a", "sm_121a"}},
  };
  for (const auto &row : rows)
    for (std::string target : targets)
      EXPECT_EQ(isOnTarget(lookup(row.text), target),
                row.expected.count(target) == 1)
          << row.text << " " << target;
}
