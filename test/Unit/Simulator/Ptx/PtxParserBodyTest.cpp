//===- PtxParserBodyTest.cpp - Tests of bodies of PTX functions -----------===//
//
// Part of the blockscale project, under the Apache License v2.0 with LLVM
// Exceptions. See LICENSE for license information.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//
//
// Instructions with their operands, constant expressions, scopes and labels.
//
//===----------------------------------------------------------------------===//

#include "Ptx/PtxParserTesting.h"

#include "llvm/ADT/bit.h"

using namespace mlir::blockscale;
using namespace mlir::blockscale::sim;
using namespace mlir::blockscale::sim::ptxtest;
using Kind = PtxOperand::Kind;
using Names = std::vector<llvm::StringRef>;

/// The operands of the last instruction of a body.
static std::vector<PtxOperand> parseOperands(const std::string &body) {
  Module module = parseBody(body);
  const auto &instructions = module.functions[0].instructions;
  if (instructions.empty())
    return {};
  // Views into the text must not outlive it; tests of names keep the module.
  std::vector<PtxOperand> operands(instructions.back().operands.begin(),
                                   instructions.back().operands.end());
  for (PtxOperand &operand : operands)
    operand.name = {};
  return operands;
}

static PtxOperand parseOperand(const std::string &text) {
  std::vector<PtxOperand> operands = parseOperands(
      ".reg .b32 a, b; .reg .pred p, q; .reg .v2 .f32 v; .reg .v4 .f32 w;\n"
      ".shared .b32 x[4];\nop " +
      text + ";");
  EXPECT_EQ(operands.size(), 1u) << text;
  return operands.empty() ? PtxOperand() : operands[0];
}

//===----------------------------------------------------------------------===//
// Instructions
//===----------------------------------------------------------------------===//

TEST(PtxParserBodyTest, Modifiers) {
  Module module = parseBody(
      ".reg .pred %p<3>;\nret;\n"
      "@%p1 mma.sync.aligned.kind::mxf4nvf4.block_scale.scale_vec::4X.m16n8k64;"
      "\n@!%p2 cp.async.bulk.shared::cluster.global.mbarrier::complete_tx::"
      "bytes.L2::cache_hint 1;\nsetp .eq .u32 _, 1;tcgen05.ld.16x64b.x2 2;");
  const auto &instructions = module.functions[0].instructions;
  ASSERT_EQ(instructions.size(), 5u);
  EXPECT_EQ(instructions[0].opcode, "ret");
  EXPECT_TRUE(instructions[0].modifiers.empty());
  EXPECT_TRUE(instructions[0].operands.empty());
  EXPECT_FALSE(instructions[0].guard);
  EXPECT_EQ(instructions[0].location.line, 4u);
  EXPECT_EQ(instructions[0].location.column, 1u);
  auto getModifiers = [&](size_t i) {
    return Names(instructions[i].modifiers.begin(),
                 instructions[i].modifiers.end());
  };
  EXPECT_EQ(instructions[1].opcode, "mma");
  EXPECT_EQ(getModifiers(1),
            (Names{"sync", "aligned", "kind::mxf4nvf4", "block_scale",
                   "scale_vec::4X", "m16n8k64"}));
  const auto &registers = module.functions[0].registers;
  ASSERT_TRUE(instructions[1].guard && instructions[2].guard);
  EXPECT_EQ(registers[instructions[1].guard->reg].name, "%p1");
  EXPECT_FALSE(instructions[1].guard->isNegated);
  EXPECT_EQ(registers[instructions[2].guard->reg].name, "%p2");
  EXPECT_TRUE(instructions[2].guard->isNegated);
  EXPECT_EQ(getModifiers(2),
            (Names{"async", "bulk", "shared::cluster", "global",
                   "mbarrier::complete_tx::bytes", "L2::cache_hint"}));
  EXPECT_EQ(getModifiers(3), (Names{"eq", "u32"}));
  EXPECT_EQ(getModifiers(4), (Names{"ld", "16x64b", "x2"}));
}

TEST(PtxParserBodyTest, Registers) {
  PtxOperand a = parseOperand("b");
  EXPECT_EQ(a.kind, Kind::Register);
  EXPECT_EQ(a.index, 1u);
  EXPECT_EQ(a.component, -1);
  EXPECT_FALSE(a.isNegated);
  EXPECT_EQ(a.location.line, 5u);
  EXPECT_EQ(a.location.column, 4u);
  PtxOperand p = parseOperand("!q");
  EXPECT_EQ(p.kind, Kind::Register);
  EXPECT_EQ(p.index, 3u);
  EXPECT_TRUE(p.isNegated);
  EXPECT_EQ(parseOperand("v.y").component, 1);
  EXPECT_EQ(parseOperand("v.g").component, 1);
  EXPECT_EQ(parseOperand("w.x").component, 0);
  EXPECT_EQ(parseOperand("w.r").component, 0);
  EXPECT_EQ(parseOperand("w.b").component, 2);
  EXPECT_EQ(parseOperand("w.z").component, 2);
  EXPECT_EQ(parseOperand("w.w").component, 3);
  EXPECT_EQ(parseOperand("w.a").component, 3);
  EXPECT_EQ(parseOperand("_").kind, Kind::Sink);
}

TEST(PtxParserBodyTest, RangesAddWhatOccurs) {
  Module module = parseBody(
      ".reg .b32 %r<20>, a, %r1<5>; .reg .v2 .f32 %f<3>; .reg .b64 %z<0>;\n"
      "op %r3, %f2, %r0, a, %r3, %r19;");
  const Function &k = module.functions[0];
  ASSERT_EQ(k.registers.size(), 5u);
  Names names;
  for (const Register &reg : k.registers)
    names.push_back(reg.name);
  EXPECT_EQ(names, (Names{"a", "%r3", "%f2", "%r0", "%r19"}));
  EXPECT_EQ(k.registers[2].type, Type::F32);
  EXPECT_EQ(k.registers[2].vectorSize, 2u);
  EXPECT_EQ(k.registers[1].type, Type::B32);
  const auto &operands = k.instructions[0].operands;
  EXPECT_EQ(operands[0].index, operands[4].index);
  EXPECT_EQ(operands[3].index, 0u);
}

TEST(PtxParserBodyTest, SpecialRegisters) {
  for (const char *name : {"%tid",
                           "%tid.x",
                           "%ntid.y",
                           "%ctaid.z",
                           "%nctaid.w",
                           "%clusterid.x",
                           "%nclusterid.x",
                           "%cluster_ctaid.x",
                           "%cluster_nctaid.x",
                           "%laneid",
                           "%warpid",
                           "%nwarpid",
                           "%smid",
                           "%nsmid",
                           "%gridid",
                           "%is_explicit_cluster",
                           "%cluster_ctarank",
                           "%cluster_nctarank",
                           "%lanemask_eq",
                           "%lanemask_le",
                           "%lanemask_lt",
                           "%lanemask_ge",
                           "%lanemask_gt",
                           "%clock",
                           "%clock_hi",
                           "%clock64",
                           "%pm0",
                           "%pm7",
                           "%pm3_64",
                           "%envreg0",
                           "%envreg31",
                           "%globaltimer",
                           "%globaltimer_lo",
                           "%globaltimer_hi",
                           "%reserved_smem_offset_begin",
                           "%reserved_smem_offset_end",
                           "%reserved_smem_offset_cap",
                           "%reserved_smem_offset_0",
                           "%reserved_smem_offset_1",
                           "%total_smem_size",
                           "%aggr_smem_size",
                           "%dynamic_smem_size",
                           "%current_graph_exec",
                           "WARP_SZ"}) {
    Module module = parseBody("op " + std::string(name) + ", 1;");
    const auto &instructions = module.functions[0].instructions;
    ASSERT_EQ(instructions.size(), 1u) << name;
    EXPECT_EQ(instructions[0].operands[0].kind, Kind::SpecialRegister) << name;
    EXPECT_EQ(instructions[0].operands[0].name, name);
  }
  EXPECT_EQ(parseOperand("%tid.y").component, 1);
  EXPECT_EQ(parseOperand("%tid").component, -1);
  // A declared name comes first.
  EXPECT_EQ(parseOperands(".reg .b32 %clock; op %clock;")[0].kind,
            Kind::Register);
}

TEST(PtxParserBodyTest, Variables) {
  PtxOperand x = parseOperand("x");
  EXPECT_EQ(x.kind, Kind::Variable);
  EXPECT_EQ(x.index, 1u); // Behind the parameter.
  EXPECT_EQ(x.offset, 0);
  EXPECT_EQ(parseOperand("x+4").offset, 4);
  EXPECT_EQ(parseOperand("x - 4*2 + 1").offset, -7);
  EXPECT_EQ(parseOperand("P").index, 0u);
}

TEST(PtxParserBodyTest, Addresses) {
  struct {
    const char *text;
    Kind base;
    int64_t offset;
  } cases[] = {
      {"[a]", Kind::Register, 0},
      {"[ a + 16 ]", Kind::Register, 16},
      {"[a+-16]", Kind::Register, -16},
      {"[a-16]", Kind::Register, -16},
      {"[a+4+4*2-1]", Kind::Register, 11},
      {"[a+0xFFFFFFFFFFFFFFFF]", Kind::Register, -1},
      {"[a+9223372036854775807+1]", Kind::Register, INT64_MIN},
      {"[x]", Kind::Variable, 0},
      {"[x+4]", Kind::Variable, 4},
      {"[P+WARP_SZ]", Kind::Variable, 32},
  };
  for (auto &test : cases) {
    PtxOperand operand = parseOperand(test.text);
    EXPECT_EQ(operand.kind, Kind::Address) << test.text;
    ASSERT_EQ(operand.elements.size(), 1u) << test.text;
    EXPECT_EQ(operand.elements[0].kind, test.base) << test.text;
    EXPECT_EQ(operand.elements[0].offset, 0) << test.text;
    EXPECT_EQ(operand.offset, test.offset) << test.text;
  }
  PtxOperand absolute = parseOperand("[16+4]");
  EXPECT_EQ(absolute.elements[0].kind, Kind::Integer);
  EXPECT_EQ(absolute.elements[0].bits, 20u);
  PtxOperand tensor = parseOperand("[a+8, {b, 1}, x]");
  EXPECT_EQ(tensor.offset, 8);
  ASSERT_EQ(tensor.elements.size(), 3u);
  EXPECT_EQ(tensor.elements[0].kind, Kind::Register);
  EXPECT_EQ(tensor.elements[1].kind, Kind::Vector);
  EXPECT_EQ(tensor.elements[1].elements[0].index, 1u);
  EXPECT_EQ(tensor.elements[2].kind, Kind::Variable);
}

TEST(PtxParserBodyTest, VectorsAndPairs) {
  PtxOperand vector = parseOperand("{a, _, {b, 0f3F800000}, v.x}");
  EXPECT_EQ(vector.kind, Kind::Vector);
  ASSERT_EQ(vector.elements.size(), 4u);
  EXPECT_EQ(vector.elements[1].kind, Kind::Sink);
  EXPECT_EQ(vector.elements[2].elements[0].index, 1u);
  EXPECT_EQ(vector.elements[2].elements[1].kind, Kind::Float32);
  EXPECT_EQ(vector.elements[3].component, 0);
  EXPECT_TRUE(parseOperand("{}").elements.empty());
  for (const char *text : {"p|q", "p | q"}) {
    PtxOperand pair = parseOperand(text);
    EXPECT_EQ(pair.kind, Kind::Pair);
    ASSERT_EQ(pair.elements.size(), 2u);
    EXPECT_EQ(pair.elements[0].index, 2u);
    EXPECT_EQ(pair.elements[1].index, 3u);
  }
  EXPECT_EQ(parseOperand("_|q").elements[0].kind, Kind::Sink);
  EXPECT_EQ(parseOperand("p|_").elements[1].kind, Kind::Sink);
}

//===----------------------------------------------------------------------===//
// Constants
//===----------------------------------------------------------------------===//

TEST(PtxParserBodyTest, IntegerLiterals) {
  struct {
    const char *text;
    uint64_t bits;
  } cases[] = {
      {"0", 0},
      {"42", 42},
      {"42U", 42},
      {"0x1F", 31},
      {"0XfU", 15},
      {"017", 15},
      {"0b101", 5},
      {"0B11U", 3},
      {"18446744073709551615", UINT64_MAX},
      {"0xFFFFFFFFFFFFFFFF", UINT64_MAX},
      {"-9223372036854775808", uint64_t(1) << 63},
  };
  for (auto &test : cases) {
    PtxOperand operand = parseOperand(test.text);
    EXPECT_EQ(operand.kind, Kind::Integer) << test.text;
    EXPECT_EQ(operand.bits, test.bits) << test.text;
  }
}

TEST(PtxParserBodyTest, FloatLiterals) {
  EXPECT_EQ(parseOperand("0f3F800000").kind, Kind::Float32);
  EXPECT_EQ(parseOperand("0f3F800000").bits, 0x3f800000u);
  EXPECT_EQ(parseOperand("0Fffc00001").bits, 0xffc00001u);
  EXPECT_EQ(parseOperand("-0f3F800000").bits, 0xbf800000u);
  EXPECT_EQ(parseOperand("0d3FF0000000000001").bits, 0x3ff0000000000001u);
  EXPECT_EQ(parseOperand("0DFFFFFFFFFFFFFFFF").bits, UINT64_MAX);
  struct {
    const char *text;
    double value;
  } cases[] = {
      {"1.5", 1.5},        {".5", 0.5},           {"1.", 1},
      {"1e5", 1e5},        {"2.5E-3", 2.5e-3},    {"1.0e+2", 100},
      {"-0.0", -0.0},      {"0.1", 0.1},          {"1.5+2.0*3", 7.5},
      {"1.0/4", 0.25},     {"1-0.5", 0.5},        {"4.9e-324", 4.9e-324},
      {"0f40000000+1", 3}, {"1 ? 2.5 : 0.5", 2.5}};
  for (auto &test : cases) {
    PtxOperand operand = parseOperand(test.text);
    EXPECT_EQ(operand.kind, Kind::Float64) << test.text;
    EXPECT_EQ(operand.bits, llvm::bit_cast<uint64_t>(test.value)) << test.text;
  }
}

TEST(PtxParserBodyTest, Expressions) {
  struct {
    const char *text;
    int64_t value;
  } cases[] = {
      {"1+2*3", 7},
      {"(1+2)*3", 9},
      {"2-3-4", -5},
      {"-7/2", -3},
      {"-7 % 3", -1},
      {"7 % 4 * 2", 6},
      {"-7U/2", 0x7ffffffffffffffc},
      {"9U % 4", 1},
      {"(.u64)-8>>1", 0x7ffffffffffffffc},
      {"(.s64)0xFFFFFFFFFFFFFFFFU >> 4", -1},
      {"-8>>1", -4},
      {"1<<63", INT64_MIN},
      {"(.s64)0x8000000000000000/-1", INT64_MIN},
      {"(.s64)0x8000000000000000 % -1", 0},
      {"9223372036854775807+1", INT64_MIN},
      {"1+2<<3", 24},
      {"1|2^3&4", 3},
      {"6&3|8", 10},
      {"-1<1U", 0},
      {"-1<1", 1},
      {"2<=2", 1},
      {"3>=4", 0},
      {"3 > 2 == 1", 1},
      {"1 != 1", 0},
      {"1 && 0 || 1", 1},
      {"2 && 4", 1},
      {"0.5 && 1", 1},
      {"0 || 0.0", 0},
      {"!0+~0", 0},
      {"!5", 0},
      {"~5", -6},
      {"+-+5", -5},
      {"1 ? 2 : 3", 2},
      {"0 ? 2 : 0 ? 3 : 4", 4},
      {"1.5 < 2", 1},
      {"1.5 == 1.5", 1},
      {"WARP_SZ-1", 31},
      {"!WARP_SZ", 0},
      {"(WARP_SZ)", 32},
  };
  for (auto &test : cases) {
    PtxOperand operand = parseOperand(test.text);
    EXPECT_EQ(operand.kind, Kind::Integer) << test.text;
    EXPECT_EQ(static_cast<int64_t>(operand.bits), test.value) << test.text;
  }
}

//===----------------------------------------------------------------------===//
// Scopes
//===----------------------------------------------------------------------===//

TEST(PtxParserBodyTest, ScopesShadow) {
  Module module = parseBody(
      ".reg .b32 a, %r<100>; .shared .b8 x;\nop a, %r1, x;\n{ .reg .f32 a, "
      "%r<5>; .local .b16 x, k; op a, %r1, x, %r50, k;\n{ .reg .f64 %r1; op "
      "%r1, %r2, a; } op %r1, %r2;\n} op a, %r1, x, %r50;");
  const Function &k = module.functions[0];
  ASSERT_EQ(k.instructions.size(), 5u);
  auto getType = [&](size_t instruction, size_t operand) {
    const PtxOperand &use = k.instructions[instruction].operands[operand];
    return use.kind == Kind::Register ? k.registers[use.index].type
                                      : module.variables[use.index].type;
  };
  EXPECT_EQ(getType(0, 0), Type::B32);
  EXPECT_EQ(getType(0, 1), Type::B32);
  EXPECT_EQ(getType(0, 2), Type::B8);
  EXPECT_EQ(getType(1, 0), Type::F32);
  EXPECT_EQ(getType(1, 1), Type::F32);
  EXPECT_EQ(getType(1, 2), Type::B16);
  EXPECT_EQ(getType(1, 3), Type::B32); // Of the longer range outside.
  EXPECT_EQ(k.instructions[1].operands[4].kind, Kind::Variable);
  EXPECT_EQ(getType(2, 0), Type::F64);
  EXPECT_EQ(getType(2, 1), Type::F32);
  EXPECT_EQ(getType(2, 2), Type::F32);
  EXPECT_EQ(getType(3, 0), Type::F32);
  for (size_t operand = 0; operand != 3; ++operand)
    EXPECT_EQ(k.instructions[4].operands[operand].index,
              k.instructions[0].operands[operand].index);
  EXPECT_EQ(k.instructions[4].operands[3].index,
            k.instructions[1].operands[3].index);
  EXPECT_EQ(k.variables.size(), 3u);
}

TEST(PtxParserBodyTest, VariablesOfBodies) {
  Module module = parseBody(".shared .align 4 .b8 a[64]; .local .f32 b, c[2];\n"
                            "{ .param .b32 d; st.param.b32 [d+0], 1; }\n"
                            ".global .b32 e = 3; .const .b32 f = 4;");
  const Function &k = module.functions[0];
  ASSERT_EQ(k.variables.size(), 6u);
  EXPECT_TRUE(module.globals.empty());
  EXPECT_EQ(module.variables[k.variables[0]].space, Space::Shared);
  EXPECT_EQ(module.variables[k.variables[1]].space, Space::Local);
  EXPECT_EQ(module.variables[k.variables[2]].size, 8u);
  EXPECT_EQ(module.variables[k.variables[3]].space, Space::Param);
  EXPECT_EQ(module.variables[k.variables[4]].initializer[0], 3);
  EXPECT_EQ(module.variables[k.variables[5]].space, Space::Const);
}

TEST(PtxParserBodyTest, Labels) {
  Module module =
      parseBody("first: second: nop; bra end;\n"
                "{ bra end; bra inner; inner: nop; }\n"
                "{ bra first; { bra inner; } first: inner: bra.uni inner; }\n"
                ".reg .b32 end2; { bra end2; end2: } bra first; end:");
  const Function &k = module.functions[0];
  ASSERT_EQ(k.labels.size(), 7u);
  Names names;
  std::vector<Index> instructions;
  for (const Label &label : k.labels) {
    names.push_back(label.name);
    instructions.push_back(label.instruction);
  }
  EXPECT_EQ(names, (Names{"first", "second", "inner", "first", "inner", "end2",
                          "end"}));
  EXPECT_EQ(instructions, (std::vector<Index>{0, 0, 4, 7, 7, 9, 10}));
  std::vector<Index> targets;
  for (const PtxInstruction &instruction : k.instructions)
    if (instruction.opcode == "bra") {
      EXPECT_EQ(instruction.operands[0].kind, Kind::Label);
      targets.push_back(instruction.operands[0].index);
    }
  EXPECT_EQ(targets, (std::vector<Index>{6, 6, 2, 3, 4, 4, 5, 0}));
}

TEST(PtxParserBodyTest, BranchTargets) {
  Module module =
      parseBody(".reg .b32 a; t: .branchtargets L1, L2,\n L1; brx.idx a, t;\n"
                "{ u: .branchtargets L2; brx.idx.uni a, u; L2: } L1: L2:");
  const Function &k = module.functions[0];
  EXPECT_EQ(k.branchTargets, (std::vector<std::vector<Index>>{{1, 2, 1}, {0}}));
  EXPECT_EQ(k.labels.size(), 3u);
  const PtxOperand &first = k.instructions[0].operands[1];
  EXPECT_EQ(first.kind, Kind::BranchTargets);
  EXPECT_EQ(first.index, 0u);
  EXPECT_EQ(k.instructions[1].operands[1].index, 1u);
}

//===----------------------------------------------------------------------===//
// Calls
//===----------------------------------------------------------------------===//

TEST(PtxParserBodyTest, Calls) {
  Module module = parseModule(
      ".func f { ret; }\n.func (.reg .b32 r) g(.reg .b32 a, .param .b64 b)\n"
      "{ ret; }\n.entry k {\n.reg .b64 fn; .reg .b32 x; .param .b64 p;\n"
      "mov.u64 fn, f; proto: .callprototype (.reg .b32 _) _ (.reg .b32 _, "
      ".param .align 8 .b8 _[16]) .noreturn .abi_preserve 3;\n"
      "list: .calltargets f, late; none: .callprototype ()_ ();\n"
      "call f; call.uni f, (); call (x), g, (x, p); call (_), g, (1, p);\n"
      "call (x), fn, (x, p), proto; call fn, none; call fn, (), list;\n"
      "call late, (x); mov.u64 fn, late; op {late};\n}\n.func late { ret; }");
  const Function &k = module.functions[2];
  ASSERT_EQ(k.instructions.size(), 11u);
  auto getKinds = [&](size_t i) {
    std::vector<Kind> kinds;
    for (const PtxOperand &operand : k.instructions[i].operands)
      kinds.push_back(operand.kind);
    return kinds;
  };
  using Kinds = std::vector<Kind>;
  EXPECT_EQ(k.instructions[0].operands[1].kind, Kind::Function);
  EXPECT_EQ(k.instructions[0].operands[1].index, 0u);
  EXPECT_EQ(getKinds(1), Kinds{Kind::Function});
  EXPECT_FALSE(k.instructions[1].hasReturns);
  EXPECT_EQ(getKinds(2), (Kinds{Kind::Function, Kind::Vector}));
  EXPECT_EQ(k.instructions[2].modifiers[0], "uni");
  EXPECT_EQ(getKinds(3), (Kinds{Kind::Vector, Kind::Function, Kind::Vector}));
  EXPECT_TRUE(k.instructions[3].hasReturns);
  EXPECT_EQ(k.instructions[3].operands[1].index, 1u);
  EXPECT_EQ(k.instructions[3].operands[2].elements[1].kind, Kind::Variable);
  EXPECT_EQ(k.instructions[4].operands[0].elements[0].kind, Kind::Sink);
  EXPECT_EQ(k.instructions[4].operands[2].elements[0].kind, Kind::Integer);
  EXPECT_EQ(getKinds(5), (Kinds{Kind::Vector, Kind::Register, Kind::Vector,
                                Kind::Prototype}));
  EXPECT_EQ(k.instructions[5].operands[3].name, "proto");
  EXPECT_EQ(getKinds(6), (Kinds{Kind::Register, Kind::Prototype}));
  EXPECT_EQ(k.instructions[6].operands[1].name, "none");
  EXPECT_EQ(getKinds(7),
            (Kinds{Kind::Register, Kind::Vector, Kind::Prototype}));
  // A function that is declared later.
  for (auto [instruction, operand] : {std::pair(8, 0), std::pair(9, 1)}) {
    const PtxOperand &use = k.instructions[instruction].operands[operand];
    EXPECT_EQ(use.kind, Kind::Function);
    EXPECT_EQ(module.functions[use.index].name, "late");
  }
  EXPECT_EQ(k.instructions[10].operands[0].elements[0].kind, Kind::Function);
  EXPECT_EQ(k.instructions[10].operands[0].elements[0].index, 3u);
  EXPECT_TRUE(k.labels.empty());
}

/// What Triton and LLVM write around the instructions of inline assembly.
TEST(PtxParserBodyTest, InlineAssembly) {
  Module module = parseBody(
      ".reg .pred %p<4>;\n.reg .b32 %r<9>;\n.reg .b64 %rd<3>;\n"
      "$L__func_begin0:\n// %bb.0:\n// begin inline asm\n"
      "@%p1 ld.global.v2.b32 { %r1, %r2 }, [ %rd1 + 0 ];\n"
      "@!%p1 mov.u32 %r1, 0x0;\n// end inline asm\n"
      "{ \n.reg .pred P1; \nLAB_WAIT: \n"
      "mbarrier.try_wait.parity.shared::cta.b64 P1, [%r1], %r2; \n"
      "@P1 bra.uni DONE; \nbra.uni LAB_WAIT; \nDONE: \n}\n"
      "{ // callseq 0, 0\n.param .b32 param0;\nst.param.b32 [param0], %r1;\n"
      "} // callseq 0\n"
      "mma.sync.aligned.m16n8k16.row.col.f32.f16.f16.f32 { %r1, %r2, %r3, %r4 "
      "}, { %r5, %r6 }, { %r7 }, { 0f00000000, 0f00000000 };\n"
      "shfl.sync.bfly.b32 %r8|%p2, %r1, 16, 31, -1;\n"
      "setp.lt.and.s32 %p2|%p3, %r1, 3, !%p1;\n$L__tmp0:\nret;\n"
      "$L__func_end0:");
  EXPECT_EQ(module.functions[0].instructions.size(), 10u);
  EXPECT_EQ(module.functions[0].labels.size(), 5u);
}
