//===- PtxParserTest.cpp - Tests of modules of PTX ------------------------===//
//
// Part of the blockscale project, under the Apache License v2.0 with LLVM
// Exceptions. See LICENSE for license information.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//
//
// What a module declares: its head, variables, initializers and functions.
//
//===----------------------------------------------------------------------===//

#include "Ptx/PtxParserTesting.h"

using namespace mlir::blockscale;
using namespace mlir::blockscale::sim;
using namespace mlir::blockscale::sim::ptxtest;

using Bytes = std::vector<uint8_t>;
using Three = std::array<uint32_t, 3>;

/// The only variable of the module.
static Variable parseVariable(const std::string &declaration) {
  Module module = parseModule(declaration);
  EXPECT_EQ(module.variables.size(), 1u) << declaration;
  return module.variables.empty() ? Variable() : module.variables[0];
}

static const Function &lookupFunction(const Module &module,
                                      llvm::StringRef name) {
  static const Function none;
  for (const Function &function : module.functions)
    if (function.name == name)
      return function;
  ADD_FAILURE() << "no function " << name.str();
  return none;
}

//===----------------------------------------------------------------------===//
// The head
//===----------------------------------------------------------------------===//

TEST(PtxParserTest, Head) {
  Module module = parse("// .version 1.0\n/* .target\n sm_1 */\r\n\t.version "
                        "8.7 .target sm_90a, debug, texmode_independent\n"
                        ".address_size 64 // end");
  EXPECT_EQ(module.versionMajor, 8u);
  EXPECT_EQ(module.versionMinor, 7u);
  EXPECT_EQ(module.target, "sm_90a");
  EXPECT_EQ(module.addressSize, 64u);
  EXPECT_TRUE(module.functions.empty());
  EXPECT_TRUE(module.variables.empty());

  EXPECT_EQ(parse(".version 9.1 .target sm_120f").addressSize, 64u);
  EXPECT_EQ(parse(".version 1.4 .target sm_10").target, "sm_10");
}

TEST(PtxParserTest, ViewsPointIntoTheText) {
  Module module = parseModule(".global .b32 x;");
  Module moved = std::move(module);
  const char *name = moved.variables[0].name.data();
  EXPECT_GE(name, moved.text->data());
  EXPECT_LT(name, moved.text->data() + moved.text->size());
}

TEST(PtxParserTest, DebugInformationIsSkipped) {
  Module module = parseModule(
      "# 1 \"a.cu\"\n  #line 3\n"
      ".file 1 \"a \\\" // .cu\"\n.file 2 \"b.cu\", 1700000000, 1234\n"
      "@@DWARF .section .debug_x { \" }\n"
      ".pragma \"nounroll\";\n"
      ".entry k {\n.loc 1 10 5\nL: .loc 1 3 4, function_name $L_s, inlined_at "
      "1 2 3\n.loc 1 3 4, function_name $L_s + 12, inlined_at 1 2 3\n"
      ".pragma \"a\", \"b\"; ret;\n@@DWARF }\n}\n"
      ".section .debug_info { L2: .b8 1, 2\n .b32 .debug_abbrev\n"
      ".b64 $L__func_end0-$L__func_begin0\n{ { } } }\n"
      ".section name { }\n.global .b32 x;");
  ASSERT_EQ(module.functions.size(), 1u);
  EXPECT_EQ(module.functions[0].instructions.size(), 1u);
  EXPECT_EQ(module.functions[0].labels.size(), 1u);
  EXPECT_EQ(module.variables.size(), 1u);
}

//===----------------------------------------------------------------------===//
// Variables
//===----------------------------------------------------------------------===//

TEST(PtxParserTest, Variables) {
  Module module = parseModule(
      ".visible .global .align 16 .b8 a[3][5];\n.const .f32 b;\n"
      ".extern .shared .align 128 .b8 c[];\n.shared .v4 .u32 d[2], e;\n"
      ".global .attribute(.managed) .u64 f;\n"
      ".weak .global .attribute(.unified(1, (2))) .s16 g;\n"
      ".common .global .v2 .f64 $h$_1;\n");
  ASSERT_EQ(module.variables.size(), 8u);
  EXPECT_EQ(module.globals, (std::vector<Index>{0, 1, 2, 3, 4, 5, 6, 7}));
  const Variable &a = module.variables[0];
  EXPECT_EQ(a.name, "a");
  EXPECT_EQ(a.location.line, 2u);
  EXPECT_EQ(a.location.column, 32u);
  EXPECT_EQ(a.space, Space::Global);
  EXPECT_EQ(a.type, Type::B8);
  EXPECT_EQ(a.vectorSize, 1u);
  EXPECT_EQ(a.size, 15u);
  EXPECT_EQ(a.alignment, 16u);
  EXPECT_FALSE(a.isExtern || a.isUnsized || a.isInitialized);
  const Variable &b = module.variables[1];
  EXPECT_EQ(b.space, Space::Const);
  EXPECT_EQ(b.type, Type::F32);
  EXPECT_EQ(b.size, 4u);
  EXPECT_EQ(b.alignment, 4u);
  const Variable &c = module.variables[2];
  EXPECT_EQ(c.space, Space::Shared);
  EXPECT_TRUE(c.isExtern);
  EXPECT_TRUE(c.isUnsized);
  EXPECT_EQ(c.size, 0u);
  EXPECT_EQ(c.alignment, 128u);
  const Variable &d = module.variables[3];
  EXPECT_EQ(d.vectorSize, 4u);
  EXPECT_EQ(d.size, 32u);
  EXPECT_EQ(d.alignment, 16u);
  EXPECT_EQ(module.variables[4].name, "e");
  EXPECT_EQ(module.variables[4].size, 16u);
  EXPECT_EQ(module.variables[5].type, Type::U64);
  EXPECT_EQ(module.variables[6].type, Type::S16);
  EXPECT_EQ(module.variables[7].name, "$h$_1");
  EXPECT_EQ(module.variables[7].size, 16u);
}

TEST(PtxParserTest, ExternVariablesAreDefinedLater) {
  Module module = parseModule(".extern .global .b32 x[]; .extern .global .b32 "
                              "x[2];\n.global .align 8 .b32 x[2] = {7};\n"
                              ".extern .global .b32 x[2];");
  ASSERT_EQ(module.variables.size(), 1u);
  EXPECT_EQ(module.globals.size(), 1u);
  EXPECT_FALSE(module.variables[0].isExtern);
  EXPECT_FALSE(module.variables[0].isUnsized);
  EXPECT_EQ(module.variables[0].alignment, 8u);
  EXPECT_EQ(module.variables[0].initializer, (Bytes{7, 0, 0, 0}));
}

TEST(PtxParserTest, SizesCostNothing) {
  Module module = parseModule(
      ".shared .b8 x[1000000000000]; .global .b64 y[1000000][1000000][1000];\n"
      ".global .b8 z[1000000000000] = {1};\n"
      ".entry k { .reg .b32 %r<4294967295>; .reg .v4 .b32 %v<4294967295>;\n"
      "mov.b32 %r4294967294, 1; .local .b8 w[9223372036854775807]; }");
  EXPECT_EQ(module.variables[0].size, 1000000000000u);
  EXPECT_EQ(module.variables[1].size, 8000000000000000u);
  EXPECT_EQ(module.variables[2].size, 1000000000000u);
  EXPECT_EQ(module.variables[2].initializer, Bytes{1});
  EXPECT_EQ(module.variables[3].size, uint64_t(INT64_MAX));
  ASSERT_EQ(module.functions[0].registers.size(), 1u);
  EXPECT_EQ(module.functions[0].registers[0].name, "%r4294967294");
}

//===----------------------------------------------------------------------===//
// Initializers
//===----------------------------------------------------------------------===//

static Bytes parseInitializer(const std::string &declaration) {
  Variable variable = parseVariable(declaration);
  EXPECT_TRUE(variable.isInitialized) << declaration;
  return variable.initializer;
}

TEST(PtxParserTest, InitializersOfIntegers) {
  EXPECT_EQ(parseInitializer(".global .b8 x = 258;"), Bytes{2});
  EXPECT_EQ(parseInitializer(".global .s16 x = -2;"), (Bytes{0xfe, 0xff}));
  EXPECT_EQ(parseInitializer(".const .u32 x[4] = {1+2, WARP_SZ};"),
            (Bytes{3, 0, 0, 0, 32, 0, 0, 0}));
  EXPECT_EQ(parseInitializer(".global .u64 x = 0x8000000000000001;"),
            (Bytes{1, 0, 0, 0, 0, 0, 0, 0x80}));
  EXPECT_EQ(parseInitializer(".global .b8 x[2][2][2] = {{{1}, {2, 3}}, {{}, "
                             "{4}}};"),
            (Bytes{1, 0, 2, 3, 0, 0, 4}));
  EXPECT_EQ(parseInitializer(".global .v2 .b8 x[2] = {{1, 2}, {3}};"),
            (Bytes{1, 2, 3}));
  EXPECT_EQ(parseInitializer(".global .v4 .b8 x = {1, 2};"), (Bytes{1, 2}));
  EXPECT_EQ(parseInitializer(".global .b32 x[5] = {};"), Bytes());
}

TEST(PtxParserTest, InitializersOfFloats) {
  EXPECT_EQ(parseInitializer(".global .f32 x[2] = {0f40490FDB, -1.5};"),
            (Bytes{0xdb, 0x0f, 0x49, 0x40, 0, 0, 0xc0, 0xbf}));
  EXPECT_EQ(parseInitializer(".global .f32 x = 0d3FF8000000000000;"),
            (Bytes{0, 0, 0xc0, 0x3f}));
  EXPECT_EQ(parseInitializer(".global .b32 x[2] = {1.5, 0F3fc00000};"),
            (Bytes{0, 0, 0xc0, 0x3f, 0, 0, 0xc0, 0x3f}));
  EXPECT_EQ(parseInitializer(".global .f64 x = 1.0e0;"),
            (Bytes{0, 0, 0, 0, 0, 0, 0xf0, 0x3f}));
  EXPECT_EQ(parseInitializer(".global .b64 x = 0D3FF0000000000001;"),
            (Bytes{1, 0, 0, 0, 0, 0, 0xf0, 0x3f}));
  // As in ptxas.
  EXPECT_EQ(parseInitializer(".global .b16 x = 0d3FF0000000001234;"),
            (Bytes{0x34, 0x12}));
}

TEST(PtxParserTest, InitializersGiveSizes) {
  Variable x = parseVariable(".global .b16 x[][3] = {{1}, {}, {2}};");
  EXPECT_FALSE(x.isUnsized);
  EXPECT_EQ(x.size, 18u);
  EXPECT_EQ(x.initializer.size(), 14u);
  EXPECT_EQ(x.initializer[12], 2);
}

TEST(PtxParserTest, InitializersOfAddresses) {
  Module module = parseModule(
      ".func f;\n.global .b32 x;\n"
      ".global .u64 p[7] = {0, x, x+4+4*2, generic(x), generic(x)-8, f, p+8};\n"
      ".global .b32 q = x;\n"
      ".global .b8 r[4] = {9, 0xFF(x), 0xff00(generic(x)+4), "
      "0xFF00000000000000(f)};\n"
      ".global .u64 s = later;\n.func later { ret; }");
  ASSERT_EQ(module.variables.size(), 5u);
  const auto &p = module.variables[1].relocations;
  EXPECT_EQ(module.variables[1].initializer, Bytes(56));
  ASSERT_EQ(p.size(), 6u);
  for (unsigned i = 0; i != 6; ++i) {
    EXPECT_EQ(p[i].offset, 8u * (i + 1));
    EXPECT_EQ(p[i].size, 8u);
    EXPECT_EQ(p[i].shift, 0u);
    EXPECT_EQ(p[i].isFunction, i == 4);
    EXPECT_EQ(p[i].target, i == 5 ? 1u : 0u);
    EXPECT_EQ(p[i].isGeneric, i == 2 || i == 3);
  }
  EXPECT_EQ(p[0].addend, 0);
  EXPECT_EQ(p[1].addend, 12);
  EXPECT_EQ(p[2].addend, 0);
  EXPECT_EQ(p[3].addend, -8);
  EXPECT_EQ(p[5].addend, 8);
  EXPECT_EQ(module.variables[2].relocations[0].size, 4u);
  const auto &r = module.variables[3].relocations;
  ASSERT_EQ(r.size(), 3u);
  EXPECT_EQ(module.variables[3].initializer, (Bytes{9, 0, 0, 0}));
  for (unsigned i = 0; i != 3; ++i) {
    EXPECT_EQ(r[i].offset, i + 1);
    EXPECT_EQ(r[i].size, 1u);
    EXPECT_EQ(r[i].shift, (std::array<unsigned, 3>{0, 8, 56}[i]));
    EXPECT_EQ(r[i].isGeneric, i == 1);
    EXPECT_EQ(r[i].addend, i == 1 ? 4 : 0);
    EXPECT_EQ(r[i].isFunction, i == 2);
  }
  const auto &s = module.variables[4].relocations;
  ASSERT_EQ(s.size(), 1u);
  EXPECT_TRUE(s[0].isFunction);
  EXPECT_EQ(module.functions[s[0].target].name, "later");
}

//===----------------------------------------------------------------------===//
// Functions
//===----------------------------------------------------------------------===//

TEST(PtxParserTest, ParametersOfEntries) {
  Module module = parseModule(
      ".visible .entry k(.param .u64 .ptr .global .align 16 a,\n"
      ".param .u64 .ptr .align 1 b, .param .u64 .ptr .shared c,\n"
      ".param .align 64 .b8 d[128], .param .f16 e, .param .u64 .ptr f)\n"
      "{ ret; }\n.entry none { }\n.entry empty() { }");
  const Function &k = lookupFunction(module, "k");
  EXPECT_TRUE(k.isEntry && k.isVisible && k.isDefined && !k.isExtern);
  EXPECT_TRUE(k.returns.empty());
  EXPECT_EQ(k.location.column, 17u);
  ASSERT_EQ(k.parameters.size(), 6u);
  std::vector<Variable> parameters;
  for (const Parameter &parameter : k.parameters) {
    EXPECT_FALSE(parameter.isRegister);
    parameters.push_back(module.variables[parameter.index]);
    EXPECT_EQ(parameters.back().space, Space::Param);
  }
  EXPECT_TRUE(parameters[0].isPointer);
  EXPECT_EQ(parameters[0].pointerSpace, Space::Global);
  EXPECT_EQ(parameters[0].pointerAlignment, 16u);
  EXPECT_EQ(parameters[0].alignment, 8u);
  EXPECT_TRUE(parameters[1].isPointer);
  EXPECT_EQ(parameters[1].pointerSpace, std::nullopt);
  EXPECT_EQ(parameters[1].pointerAlignment, 1u);
  EXPECT_EQ(parameters[2].pointerSpace, Space::Shared);
  EXPECT_FALSE(parameters[3].isPointer);
  EXPECT_EQ(parameters[3].size, 128u);
  EXPECT_EQ(parameters[3].alignment, 64u);
  EXPECT_EQ(parameters[4].type, Type::F16);
  EXPECT_EQ(parameters[4].size, 2u);
  EXPECT_TRUE(parameters[5].isPointer);
  EXPECT_TRUE(lookupFunction(module, "none").parameters.empty());
  EXPECT_TRUE(lookupFunction(module, "empty").isDefined);
  EXPECT_FALSE(lookupFunction(module, "empty").isVisible);
}

TEST(PtxParserTest, ParametersOfFunctions) {
  Module module = parseModule(
      ".func (.reg .b32 r, .param .f64 s) f(.reg .pred p, .reg .v2 .f32 v,\n"
      ".param .align 8 .b8 rest[]) .noreturn .unique .abi_preserve 8\n"
      ".abi_preserve_control 4 .pragma \"x\"; { mov.b32 r, v.y; ret; }\n"
      ".weak .func .attribute(.unified(1, 2)) g;\n"
      ".extern .func (.param .b32 r) vprintf(.param .b64 a, .param .b64 b);");
  const Function &f = lookupFunction(module, "f");
  ASSERT_EQ(f.returns.size(), 2u);
  ASSERT_EQ(f.parameters.size(), 3u);
  EXPECT_TRUE(f.returns[0].isRegister);
  EXPECT_FALSE(f.returns[1].isRegister);
  EXPECT_EQ(module.variables[f.returns[1].index].type, Type::F64);
  EXPECT_EQ(f.registers[f.parameters[0].index].type, Type::Pred);
  EXPECT_EQ(f.registers[f.parameters[1].index].vectorSize, 2u);
  EXPECT_TRUE(module.variables[f.parameters[2].index].isUnsized);
  ASSERT_EQ(f.instructions.size(), 2u);
  EXPECT_EQ(f.instructions[0].operands[0].index, f.returns[0].index);
  EXPECT_EQ(f.instructions[0].operands[1].index, f.parameters[1].index);
  EXPECT_TRUE(lookupFunction(module, "g").isVisible);
  EXPECT_FALSE(lookupFunction(module, "g").isDefined);
  const Function &vprintf = lookupFunction(module, "vprintf");
  EXPECT_TRUE(vprintf.isExtern && !vprintf.isDefined);
  EXPECT_EQ(vprintf.parameters.size(), 2u);
}

TEST(PtxParserTest, DefinitionsReplaceDeclarations) {
  Module module = parseModule(
      ".visible .func (.reg .b32 r) f(.param .b64 first);\n.func g { call (_), "
      "f, (1); ret; }\n.func (.reg .b32 out) f(.param .b64 second) { ret; }\n"
      ".extern .func (.reg .b32 r) f(.param .b64 third);");
  ASSERT_EQ(module.functions.size(), 2u);
  const Function &f = module.functions[0];
  EXPECT_TRUE(f.isDefined && f.isVisible && !f.isExtern);
  EXPECT_EQ(module.variables[f.parameters[0].index].name, "second");
  ASSERT_EQ(f.registers.size(), 1u);
  EXPECT_EQ(f.registers[f.returns[0].index].name, "out");
  EXPECT_EQ(f.instructions.size(), 1u);
}

TEST(PtxParserTest, PerformanceDirectives) {
  Module module = parseModule(
      ".entry a .reqntid 128 .maxntid 256, 2 .minnctapersm 3 .maxnreg 64\n"
      ".maxnctapersm 5 .reqnctapercluster 2, 3, 4 .explicitcluster\n"
      ".maxclusterrank 8 .pragma \"nounroll\"; { }\n.entry b { }");
  const Function &a = module.functions[0];
  EXPECT_EQ(a.requiredBlock, (Three{128, 1, 1}));
  EXPECT_EQ(a.maximumBlock, (Three{256, 2, 1}));
  EXPECT_EQ(a.requiredCluster, (Three{2, 3, 4}));
  EXPECT_EQ(a.minimumBlocksPerSm, 3u);
  EXPECT_EQ(a.maximumRegisters, 64u);
  EXPECT_EQ(a.maximumClusterRank, 8u);
  EXPECT_TRUE(a.isExplicitCluster);
  const Function &b = module.functions[1];
  EXPECT_FALSE(b.requiredBlock || b.maximumBlock || b.requiredCluster ||
               b.minimumBlocksPerSm || b.maximumRegisters ||
               b.maximumClusterRank || b.isExplicitCluster);
}
