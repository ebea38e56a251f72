//===- LaunchPlanTest.cpp - Tests of kernels with their numbers -----------===//
//
// Part of the blockscale project, under the Apache License v2.0 with LLVM
// Exceptions. See LICENSE for license information.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#include "blockscale/Runtime/LaunchPlan.h"

#include <gtest/gtest.h>

using namespace mlir::blockscale;
using Kind = LaunchExpr::Kind;

static constexpr uint32_t sms = 6;

/// Arguments that are arrays of bytes of these shapes.
static std::vector<LaunchArgument>
makeArguments(const std::vector<std::vector<int64_t>> &shapes) {
  std::vector<LaunchArgument> arguments;
  for (const std::vector<int64_t> &shape : shapes) {
    LaunchArgument &argument = arguments.emplace_back();
    argument.kind = LaunchArgument::Kind::In;
    argument.array.dtype = DType::U1;
    argument.array.shape = shape;
    uint64_t size = 1;
    for (int64_t extent : shape)
      size *= extent < 4096 ? extent : 0;
    argument.array.data.resize(size);
  }
  return arguments;
}

static LaunchInfo makeInfo() {
  LaunchInfo info;
  info.target = "sm_90";
  info.kernels.emplace_back().name = "k";
  return info;
}

/// What a grid of that many blocks becomes.
static std::string plan(const LaunchExpr &extent,
                        const std::vector<std::vector<int64_t>> &shapes) {
  LaunchInfo info = makeInfo();
  info.kernels[0].grid[1] = extent;
  Result<LaunchPlan> planned = planLaunch(info, makeArguments(shapes), sms);
  return planned ? std::to_string(planned->kernels[0].grid[1])
                 : planned.message();
}

static LaunchExpr size(const ArgumentSize &of) {
  return LaunchExpr::ofSize(of);
}
static LaunchExpr ceilDiv(const LaunchExpr &lhs, const LaunchExpr &rhs) {
  return LaunchExpr::make(Kind::CeilDiv, lhs, rhs);
}

TEST(LaunchPlanTest, DividesSizes) {
  EXPECT_EQ(plan(7, {}), "7");
  EXPECT_EQ(plan(ceilDiv(size({0, 1}), 128), {{1, 128}}), "1");
  EXPECT_EQ(plan(ceilDiv(size({0, 1}), 128), {{1, 129}}), "2");
  EXPECT_EQ(plan(ceilDiv(size({0, 1}), 128), {{1, 2147483647}}), "16777216");
}

/// The sizes of packed arrays are in bytes, those of arguments in elements.
TEST(LaunchPlanTest, CountsElements) {
  EXPECT_EQ(plan(size({1, 0, 2, 1}), {{1}, {33}}), "66");
  EXPECT_EQ(plan(size({0, 0, 4, 3}), {{24}}), "32");
  EXPECT_EQ(plan(ceilDiv(size({0, 0, 4, 3}), 10), {{24}}), "4");
}

TEST(LaunchPlanTest, Computes) {
  LaunchExpr m = size({0, 0}), n = size({0, 1});
  EXPECT_EQ(plan(LaunchExpr::make(Kind::Add, m, -3), {{10, 4}}), "7");
  EXPECT_EQ(plan(LaunchExpr::make(Kind::Mul, m, n), {{10, 4}}), "40");
  EXPECT_EQ(plan(LaunchExpr::make(Kind::Min, m, n), {{10, 4}}), "4");
  EXPECT_EQ(plan(LaunchExpr::make(Kind::Max, m, n), {{10, 4}}), "10");
  EXPECT_EQ(plan(LaunchExpr::ofSms(), {}), "6");
  EXPECT_EQ(plan(LaunchExpr::make(Kind::Min, LaunchExpr::make(Kind::Mul, m, n),
                                  LaunchExpr::ofSms(2)),
                 {{10, 4}}),
            "12");
  EXPECT_EQ(plan(ceilDiv(m, n), {{10, 4}}), "3");
  EXPECT_EQ(plan(LaunchExpr::make(Kind::FloorDiv, m, n), {{11, 4}}), "2");
  EXPECT_EQ(plan(LaunchExpr::make(Kind::Rem, m, n), {{11, 4}}), "3");
  for (auto [lhs, rhs, quotient, rest] :
       {std::array{-7, 4, -2, 1}, std::array{-8, 4, -2, 0},
        std::array{7, 4, 1, 3}, std::array{0, 4, 0, 0}}) {
    EXPECT_TRUE(LaunchExpr::make(Kind::FloorDiv, lhs, rhs) ==
                LaunchExpr(quotient));
    EXPECT_TRUE(LaunchExpr::make(Kind::Rem, lhs, rhs) == LaunchExpr(rest));
  }
  auto add = [](const LaunchExpr &lhs, const LaunchExpr &rhs) {
    return LaunchExpr::make(Kind::Add, lhs, rhs);
  };
  EXPECT_EQ(plan(add(LaunchExpr::make(Kind::Eq, m, 10), 1), {{10}}), "2");
  EXPECT_EQ(plan(add(LaunchExpr::make(Kind::Eq, m, 9), 1), {{10}}), "1");
  EXPECT_EQ(plan(add(LaunchExpr::make(Kind::Lt, m, 10), 1), {{10}}), "1");
  EXPECT_EQ(plan(add(LaunchExpr::make(Kind::Lt, m, 11), 1), {{10}}), "2");
}

/// Numbers that are arguments themselves.
TEST(LaunchPlanTest, TakesValues) {
  LaunchInfo info = makeInfo();
  info.kernels[0].grid[1] =
      LaunchExpr::make(Kind::Add, LaunchExpr::ofValue(0), 10);
  for (auto [text, extent] : {std::pair("i64:5", 15u), std::pair("i32:-3", 7u),
                              std::pair("i64:-9", 1u)}) {
    Result<LaunchArgument> argument = parseLaunchArgument(text);
    ASSERT_TRUE(argument) << argument.message();
    Result<LaunchPlan> planned = planLaunch(info, {*argument}, 1);
    ASSERT_TRUE(planned) << planned.message();
    EXPECT_EQ(planned->kernels[0].grid[1], extent);
  }
  EXPECT_EQ(planLaunch(info, makeArguments({{8}}), 1).message(),
            "argument #0: expected an integer, got ''");
}

/// Of an empty grid nothing is launched, and nothing is asked.
TEST(LaunchPlanTest, LeavesOutEmptyGrids) {
  LaunchInfo info = makeInfo();
  info.kernels[0].grid[1] = ceilDiv(size({0, 0}), 128);
  info.kernels.push_back(info.kernels[0]);
  info.kernels[1].name = "last";
  info.kernels[1].grid[1] = 1;
  Result<LaunchPlan> planned = planLaunch(info, makeArguments({{0}}), 1);
  ASSERT_TRUE(planned) << planned.message();
  ASSERT_EQ(planned->kernels.size(), 1u);
  EXPECT_EQ(planned->kernels[0].name, "last");
  planned = planLaunch(info, makeArguments({{1}}), 1);
  ASSERT_TRUE(planned) << planned.message();
  EXPECT_EQ(planned->kernels.size(), 2u);
}

/// Of an operand that is not chosen, errors do not count.
TEST(LaunchPlanTest, Selects) {
  LaunchExpr m = size({0, 0});
  LaunchExpr isFew = LaunchExpr::make(Kind::Lt, m, 8);
  LaunchExpr one = LaunchExpr::select(isFew, 3, 4);
  EXPECT_EQ(plan(one, {{7}}), "3");
  EXPECT_EQ(plan(one, {{8}}), "4");
  // Any number but 0 chooses the second.
  LaunchExpr other = LaunchExpr::make(Kind::Add, m, -5);
  EXPECT_EQ(plan(LaunchExpr::select(other, 3, 4), {{4}}), "3");
  EXPECT_EQ(plan(LaunchExpr::select(other, 3, 4), {{5}}), "4");
  LaunchExpr zero = LaunchExpr::make(Kind::Mul, isFew, m);
  LaunchExpr wrong[] = {// A division by 0, an overflow and a missing dimension.
                        ceilDiv(8, LaunchExpr::make(Kind::Add, zero, 0)),
                        LaunchExpr::make(Kind::Mul, m, INT64_MAX),
                        size({0, 1})};
  for (const LaunchExpr &expr : wrong) {
    EXPECT_EQ(plan(LaunchExpr::select(isFew, 3, expr), {{7}}), "3");
    EXPECT_EQ(plan(LaunchExpr::select(isFew, expr, 4), {{9}}), "4");
    EXPECT_NE(plan(LaunchExpr::select(isFew, 3, expr), {{9}}), "3");
    EXPECT_EQ(plan(LaunchExpr::select(expr, 3, 4), {{9}}), plan(expr, {{9}}));
  }
  // What is known at once.
  EXPECT_TRUE(LaunchExpr::select(-1, m, 4) == m);
  EXPECT_TRUE(LaunchExpr::select(0, m, 4) == LaunchExpr(4));
  EXPECT_TRUE(LaunchExpr::select(isFew, m, m) == m);
  EXPECT_TRUE(LaunchExpr::negate(LaunchExpr::negate(isFew)) == isFew);
  EXPECT_EQ(plan(LaunchExpr::negate(LaunchExpr::negate(m)), {{7}}), "1");
}

/// The second alternative is for at least 8 rows, and fails for fewer.
static LaunchInfo makeAlternatives() {
  LaunchInfo info = makeInfo();
  LaunchExpr m = size({0, 0}), isFew = LaunchExpr::make(Kind::Lt, m, 8);
  LaunchExpr above = LaunchExpr::make(Kind::Add, m, -8);
  info.kernels[0].name = "few";
  info.kernels[0].condition = isFew;
  KernelLaunch &many = info.kernels.emplace_back();
  many.name = "many";
  many.condition = LaunchExpr::negate(isFew);
  many.isProgrammatic = true;
  many.grid[0] = LaunchExpr::make(Kind::Add, above, 1);
  Result<TensorMap> form =
      makeTensorMap("u1", {8, 16}, {1, 1}, "none", "zero", "none");
  EXPECT_TRUE(form) << form.message();
  many.params = {LaunchParam::argument(0), LaunchParam::workspace(above)};
  many.params[0].tensorMap = {*form, {16, above}, {16}};
  info.workspace =
      LaunchExpr::select(isFew, 0, LaunchExpr::make(Kind::Mul, above, 256));
  return info;
}

TEST(LaunchPlanTest, LeavesOutOtherAlternatives) {
  LaunchInfo info = makeAlternatives();
  Result<LaunchPlan> planned = planLaunch(info, makeArguments({{7, 16}}), 1);
  ASSERT_TRUE(planned) << planned.message();
  ASSERT_EQ(planned->kernels.size(), 1u);
  EXPECT_EQ(planned->kernels[0].name, "few");
  EXPECT_EQ(planned->workspace, 0u);
  // The kernel in front is now the one in front of the function.
  planned = planLaunch(info, makeArguments({{11, 16}}), 1);
  ASSERT_TRUE(planned) << planned.message();
  ASSERT_EQ(planned->kernels.size(), 1u);
  EXPECT_EQ(planned->kernels[0].name, "many");
  EXPECT_TRUE(planned->kernels[0].isProgrammatic);
  EXPECT_EQ(planned->kernels[0].grid[0], 4u);
  EXPECT_EQ(planned->workspace, 768u);
  // All may be left out.
  info.kernels[1].condition = 0;
  planned = planLaunch(info, makeArguments({{11, 16}}), 1);
  ASSERT_TRUE(planned) << planned.message();
  EXPECT_TRUE(planned->kernels.empty());
}

/// What is chosen must fit, and so must what chooses.
TEST(LaunchPlanTest, ChecksTheChosenAlternative) {
  LaunchInfo info = makeAlternatives();
  info.kernels[1].condition = 1;
  EXPECT_EQ(planLaunch(info, makeArguments({{6, 16}}), 1).message(),
            "expected 0 to 2147483647 blocks in dimension 0 of the grid, got "
            "-1");
  info.kernels[1].condition = LaunchExpr::make(Kind::Rem, 1, size({0, 0}));
  EXPECT_EQ(planLaunch(info, makeArguments({{0, 16}}), 1).message(),
            "condition of kernel 'many': expected a positive divisor of rem, "
            "got operands 1 and 0");
}

/// Checks come before anything else that depends on sizes.
TEST(LaunchPlanTest, RunsChecks) {
  LaunchInfo info = makeInfo();
  info.kernels[0].grid[1] = LaunchExpr::make(Kind::Add, size({0, 0}), -8);
  info.checks = {{LaunchExpr::make(Kind::Lt, 8, size({0, 0})),
                  "ERROR: Runtime op verification failed\n^ expected rows"}};
  EXPECT_EQ(planLaunch(info, makeArguments({{7}}), 1).message(),
            "check failed at run time:\n^ expected rows");
  EXPECT_TRUE(planLaunch(info, makeArguments({{9}}), 1));
}

/// What is known at once is folded, and means the same.
TEST(LaunchPlanTest, Folds) {
  LaunchExpr m = size({0, 0}), packed = size({0, 0, 4, 3});
  EXPECT_TRUE(ceilDiv(ceilDiv(m, 8), 4) == ceilDiv(m, 32));
  EXPECT_TRUE(LaunchExpr::make(Kind::Mul, 1, m) == m);
  LaunchExpr many = LaunchExpr::make(Kind::Mul, m, 512);
  EXPECT_TRUE(LaunchExpr::make(Kind::Mul, LaunchExpr::make(Kind::Mul, m, 4),
                               128) == many);
  EXPECT_TRUE(LaunchExpr::alignTo(many, 256) == many);
  EXPECT_TRUE(ceilDiv(LaunchExpr::make(Kind::Mul, m, 3), 2).kind ==
              Kind::CeilDiv);
  EXPECT_TRUE(LaunchExpr::make(Kind::Add, 0, m) == m);
  EXPECT_TRUE(LaunchExpr::make(Kind::Min, m, m) == m);
  EXPECT_TRUE(LaunchExpr::make(Kind::Mul, m, 0) == LaunchExpr(0));
  EXPECT_TRUE(LaunchExpr::make(Kind::Mul, ceilDiv(packed, 4), 4) == packed);
  EXPECT_FALSE(LaunchExpr::make(Kind::Mul, ceilDiv(m, 4), 4) == m);
  EXPECT_TRUE(LaunchExpr::alignTo(1000, 256) == LaunchExpr(1024));
  EXPECT_TRUE(ceilDiv(-7, 4) == LaunchExpr(-1));
  EXPECT_TRUE(ceilDiv(7, 4) == LaunchExpr(2));
}

TEST(LaunchPlanTest, RefusesSizes) {
  EXPECT_EQ(plan(size({0, 1}), {{8}}),
            "argument #0: expected an array of at least 2 dimensions, got 1");
  EXPECT_EQ(plan(size({0, 0}), {{2147483648}}),
            "argument #0: expected a size of at most 2147483647 in dimension "
            "0, got 2147483648");
  EXPECT_EQ(plan(size({0, 0, 2, 1}), {{1073741824}}),
            "argument #0: expected a size of at most 1073741823 in dimension "
            "0, got 1073741824");
  EXPECT_EQ(plan(size({0, 0, 4, 3}), {{25}}),
            "argument #0: expected a multiple of 3 bytes in dimension 0, got "
            "25");
  EXPECT_EQ(plan(LaunchExpr::make(Kind::Add, size({0, 0}), -9), {{8}}),
            "expected 0 to 2147483647 blocks in dimension 1 of the grid, got "
            "-1");
  EXPECT_EQ(
      plan(ceilDiv(8, LaunchExpr::make(Kind::Add, size({0, 0}), -8)), {{8}}),
      "expected a positive divisor of ceildiv, got operands 8 and 0");
  LaunchExpr large = LaunchExpr::make(Kind::Mul, size({0, 0}), INT64_MAX);
  EXPECT_EQ(plan(large, {{8}}), "expected a result of 64 bits of mul, got "
                                "operands 8 and 9223372036854775807");
}

TEST(LaunchPlanTest, PlansTheWorkspace) {
  LaunchInfo info = makeInfo();
  info.workspace = LaunchExpr::alignTo(size({0, 0}), 256);
  info.kernels[0].params = {
      LaunchParam::argument(0),
      LaunchParam::workspace(LaunchExpr::make(Kind::Mul, size({0, 0}), 2))};
  Result<LaunchPlan> plan = planLaunch(info, makeArguments({{100}}), 1);
  ASSERT_TRUE(plan) << plan.message();
  EXPECT_EQ(plan->workspace, 256u);
  const PlannedParam &param = plan->kernels[0].params[1];
  EXPECT_EQ(param.kind, PlannedParam::Kind::Workspace);
  EXPECT_EQ(param.value, 200u);
  EXPECT_EQ(planLaunch(info, makeArguments({{128}}), 1)->workspace, 256u);
  EXPECT_EQ(planLaunch(info, makeArguments({{129}}), 1).message(),
            "parameter #1 of kernel 'k': expected an offset into the workspace "
            "of 256 bytes, got 258");
  info.workspace = LaunchExpr::make(Kind::Add, size({0, 0}), -5);
  EXPECT_EQ(planLaunch(info, makeArguments({{1}}), 1).message(),
            "expected a workspace of at least 0 bytes, got -4");
}

//===----------------------------------------------------------------------===//
// Tensor maps
//===----------------------------------------------------------------------===//

/// A map of M x N bytes with boxes of 2 x 16.
static LaunchParam makeMap(LaunchParam of, const LaunchExpr &rows,
                           const LaunchExpr &columns) {
  Result<TensorMap> form =
      makeTensorMap("u1", {2, 16}, {1, 1}, "none", "zero", "128");
  EXPECT_TRUE(form) << form.message();
  of.tensorMap = {*form, {columns, rows}, {columns}};
  return of;
}

static Result<LaunchPlan> planMap(const LaunchParam &param,
                                  const std::vector<std::vector<int64_t>> &of) {
  LaunchInfo info = makeInfo();
  info.workspace = 1024;
  info.kernels[0].params = {param};
  return planLaunch(info, makeArguments(of), 1);
}

TEST(LaunchPlanTest, PlansTensorMaps) {
  LaunchExpr m = size({0, 0}), n = size({0, 1});
  Result<LaunchPlan> plan =
      planMap(makeMap(LaunchParam::argument(0), m, n), {{5, 48}});
  ASSERT_TRUE(plan) << plan.message();
  const PlannedParam &param = plan->kernels[0].params[0];
  EXPECT_EQ(param.kind, PlannedParam::Kind::Buffer);
  EXPECT_EQ(param.size, tensorMapBytes);
  ASSERT_TRUE(param.tensorMap);
  EXPECT_EQ(param.tensorMap->sizes, (std::vector<uint64_t>{48, 5}));
  EXPECT_EQ(param.tensorMap->strides, (std::vector<uint64_t>{1, 48}));
  EXPECT_EQ(param.tensorMap->box, (std::vector<uint32_t>{16, 2}));
  EXPECT_EQ(param.tensorMap->promotion->number, 2u);

  plan = planMap(makeMap(LaunchParam::workspace(512), 2, 256), {});
  ASSERT_TRUE(plan) << plan.message();
  EXPECT_EQ(plan->kernels[0].params[0].value, 512u);
}

TEST(LaunchPlanTest, RefusesTensorMaps) {
  LaunchExpr m = size({0, 0}), n = size({0, 1});
  std::string where = "parameter #0 of kernel 'k': ";
  LaunchParam map = makeMap(LaunchParam::argument(0), m, n);
  EXPECT_EQ(planMap(map, {{5, 40}}).message(),
            where + "expected a stride that is a multiple of 16 and less than "
                    "2^40 bytes for u1 in dimension 0, got 40");
  EXPECT_EQ(planMap(map, {{0, 48}}).message(),
            where + "expected a size from 1 to 2^32 in dimension 0, got 0");
  LaunchParam large =
      makeMap(LaunchParam::argument(0), LaunchExpr::make(Kind::Add, m, 1), n);
  EXPECT_EQ(planMap(large, {{5, 48}}).message(),
            where + "expected a tensor of at most 240 bytes, as its memory "
                    "has, got 288");
  EXPECT_EQ(planMap(makeMap(LaunchParam::workspace(512), 3, 256), {}).message(),
            where +
                "expected a tensor of at most 512 bytes, as its memory has, "
                "got 768");
  EXPECT_EQ(planMap(makeMap(LaunchParam::workspace(8), 2, 256), {}).message(),
            where + "expected an offset of a tensor that is a multiple of 16, "
                    "got 8");
  LaunchInfo info = makeInfo();
  info.kernels[0].params = {map};
  std::vector<LaunchArgument> arguments(1);
  arguments[0].text = "i32:4";
  EXPECT_EQ(planLaunch(info, arguments, 1).message(),
            where + "expected a buffer for a tensor map, got a scalar or a "
                    "tensor map");
}

//===----------------------------------------------------------------------===//
// Structs and offsets
//===----------------------------------------------------------------------===//

static LaunchParam makeInteger(LaunchNumber::Type type, LaunchExpr integer) {
  LaunchParam param;
  param.kind = LaunchParam::Kind::Number;
  param.number.type = type;
  param.number.integer = std::move(integer);
  return param;
}

static LaunchParam withOffset(LaunchParam param, LaunchExpr offset) {
  param.offset = std::move(offset);
  return param;
}

static LaunchParam makeStruct(std::vector<LaunchField> fields) {
  LaunchParam param;
  param.kind = LaunchParam::Kind::Struct;
  param.bytes.assign(256, 7);
  param.fields = std::move(fields);
  return param;
}

TEST(LaunchPlanTest, PlansStructs) {
  LaunchExpr m = size({0, 0}), n = size({0, 1});
  Result<LaunchPlan> plan = planMap(
      makeStruct({{8, withOffset(LaunchParam::argument(0), n)},
                  {64, makeMap(withOffset(LaunchParam::argument(0), 16), 4, n)},
                  {192, LaunchParam::ofSize({0, 0})},
                  {197, makeInteger(LaunchNumber::Type::I32, 0 - 1)},
                  {201, makeInteger(LaunchNumber::Type::I64,
                                    LaunchExpr::make(Kind::Mul, m, -1))},
                  {216, LaunchParam::workspace(8)}}),
      {{6, 48}});
  ASSERT_TRUE(plan) << plan.message();
  const PlannedParam &param = plan->kernels[0].params[0];
  EXPECT_EQ(param.kind, PlannedParam::Kind::Struct);
  EXPECT_EQ(param.size, 256u);
  EXPECT_EQ(param.bytes, std::vector<uint8_t>(256, 7));
  ASSERT_EQ(param.fields.size(), 6u);
  EXPECT_EQ(param.fields[0].offset, 8u);
  EXPECT_EQ(param.fields[0].param.offset, 48u);
  EXPECT_EQ(param.fields[1].param.offset, 16u);
  EXPECT_EQ(param.fields[1].param.size, 128u);
  EXPECT_EQ(param.fields[2].param.value, 6u);
  EXPECT_EQ(param.fields[3].param.size, 4u);
  EXPECT_EQ(param.fields[4].param.value, uint64_t(-6));
  EXPECT_EQ(param.fields[4].param.size, 8u);
  EXPECT_EQ(param.fields[5].param.kind, PlannedParam::Kind::Workspace);
}

TEST(LaunchPlanTest, RefusesStructs) {
  std::string where = "parameter #0 of kernel 'k': ";
  auto plan = [](std::vector<LaunchField> fields) {
    return planMap(makeStruct(std::move(fields)), {{4, 16}}).message();
  };
  LaunchParam pointer = LaunchParam::argument(0);
  EXPECT_EQ(plan({{12, pointer}}),
            where + "expected an offset that is a multiple of 8, got field #0 "
                    "of 8 bytes at offset 12");
  EXPECT_EQ(plan({{32, makeMap(pointer, 4, 16)}}),
            where + "expected an offset that is a multiple of 64, got field #0 "
                    "of 128 bytes at offset 32");
  EXPECT_EQ(plan({{192, makeMap(pointer, 4, 16)}}),
            where + "expected a range within 256 bytes, got field #0 of 128 "
                    "bytes at offset 192");
  EXPECT_EQ(
      plan({{8, pointer}, {0, pointer}, {6, LaunchParam::ofSize({0, 0})}}),
      where + "expected ranges that do not overlap, got field #1 of 8 "
              "bytes at offset 0 and field #2 of 4 bytes at offset 6");
  EXPECT_EQ(plan({{0, makeInteger(LaunchNumber::Type::I32, UINT32_MAX)},
                  {4, makeInteger(LaunchNumber::Type::I32,
                                  int64_t(UINT32_MAX) + 1)}}),
            where + "field #1: expected an integer of 32 bits, got 4294967296");
  EXPECT_EQ(plan({{0, withOffset(pointer, 64)}}), "");
  EXPECT_EQ(plan({{0, withOffset(pointer, 65)}}),
            where + "field #0: expected an offset from 0 to 64 into argument "
                    "#0, got 65");
  EXPECT_EQ(plan({{0, makeMap(withOffset(pointer, 16), 4, 16)}}),
            where + "field #0: expected a tensor of at most 48 bytes, as its "
                    "memory has, got 64");
  EXPECT_EQ(plan({{0, makeMap(withOffset(pointer, 8), 3, 16)}}),
            where + "field #0: expected an offset of a tensor that is a "
                    "multiple of 16, got 8");
  LaunchInfo info = makeInfo();
  std::vector<LaunchArgument> arguments(1);
  arguments[0].text = "i32:4";
  info.kernels[0].params = {withOffset(pointer, 4)};
  EXPECT_EQ(planLaunch(info, arguments, 1).message(),
            where + "expected a buffer for an offset, got 'i32:4'");
  arguments[0].kind = LaunchArgument::Kind::Struct;
  arguments[0].array.data.resize(16);
  info.kernels[0].params = {makeStruct({{0, pointer}})};
  EXPECT_EQ(planLaunch(info, arguments, 1).message(),
            where + "field #0: expected no struct in a struct");
  info.kernels[0].params = {pointer};
  EXPECT_EQ(planLaunch(info, arguments, 1)->kernels[0].params[0].size, 16u);
}

//===----------------------------------------------------------------------===//
// Operands
//===----------------------------------------------------------------------===//

static std::string check(const std::vector<LaunchOperand> &operands,
                         const std::vector<LaunchArgument> &arguments) {
  LaunchInfo info = makeInfo();
  info.kernels[0].params = {LaunchParam::argument(0), LaunchParam::result(0)};
  info.operands = operands;
  Result<LaunchPlan> plan = planLaunch(info, arguments, 1);
  return plan ? "no error" : plan.message();
}

TEST(LaunchPlanTest, ChecksOperands) {
  LaunchOperand packed = {DType::U1, {4, 64}, 2, 1};
  LaunchOperand bytes = {DType::U1, {size({0, 0}), 8}};
  EXPECT_EQ(check({packed, bytes}, makeArguments({{4, 32}, {4, 8}})),
            "no error");
  // The same bytes in another shape.
  EXPECT_EQ(check({packed, bytes}, makeArguments({{4, 32}, {32}})), "no error");
  EXPECT_EQ(check({packed, bytes}, makeArguments({{4, 64}, {4, 8}})),
            "argument #0: expected a buffer of 128 bytes (4x32 of u1, packed), "
            "got 256 (4x64 of u1); argument #0 has one element per byte, "
            "expected 2 in 1 along the last dimension");
  EXPECT_EQ(check({packed, bytes}, makeArguments({{4, 32}, {5, 8}})),
            "result #0: expected a buffer of 32 bytes (4x8 of u1), got 40 "
            "(5x8 of u1)");
  LaunchOperand odd = {DType::U1, {4, 63}, 2, 1};
  EXPECT_EQ(check({odd, bytes}, makeArguments({{4, 32}, {4, 8}})),
            "argument #0: expected rows that end on a byte when packed, got 63 "
            "elements, of which 2 are in 1 bytes");
}

/// Sizes follow from the arrays, so that only what all of them come to shows
/// that none of them is packed.
TEST(LaunchPlanTest, NamesAllThatAreNotPacked) {
  auto message = [](ArgumentSize y, int64_t codes,
                    std::vector<int64_t> scales) {
    LaunchInfo info = makeInfo();
    info.kernels[0].params = {LaunchParam::argument(0),
                              LaunchParam::argument(1),
                              LaunchParam::argument(2), LaunchParam::result(0)};
    LaunchExpr columns = size({0, 1, 2, 1});
    LaunchOperand first = {DType::U1, {4, columns}, 2, 1};
    LaunchOperand second = {DType::U1, {4, size(y)}, y.elements, y.bytes};
    LaunchExpr both;
    both.kind = LaunchExpr::Kind::FloorDiv;
    LaunchExpr sum;
    sum.kind = LaunchExpr::Kind::Add;
    sum.operands = {columns, size(y)};
    both.operands = {sum, 64};
    info.operands = {first, second, {DType::U1, {4, both}}, {DType::U1, {8}}};
    Result<LaunchPlan> plan =
        planLaunch(info, makeArguments({{4, 64}, {4, codes}, scales, {8}}), 1);
    return plan ? "no error" : plan.message();
  };
  std::string where =
      "argument #2: expected a buffer of 16 bytes (4x4 of u1), got 8 (4x2 of "
      "u1); arguments #0 and #1 have one element per byte, expected 2 in 1";
  EXPECT_EQ(message({1, 1, 2, 1}, 64, {4, 2}),
            where + " along the last dimension");
  EXPECT_NE(message({1, 1, 4, 3}, 192, {4, 4})
                .find("; arguments #0 and #1 have one element per byte, "
                      "expected 2 in 1 and 4 in 3 along the last dimension"),
            std::string::npos);
  EXPECT_EQ(message({1, 1, 2, 1}, 64, {4, 1}),
            "argument #2: expected a buffer of 16 bytes (4x4 of u1), got 4 "
            "(4x1 of u1)");
}

TEST(LaunchPlanTest, ChecksScalars) {
  LaunchOperand scalar = {DType::F4, {}}, bytes = {DType::U1, {8}};
  std::vector<LaunchArgument> arguments(1);
  arguments[0].text = "f32:1";
  arguments[0].size = 4;
  arguments.push_back(makeArguments({{8}})[0]);
  EXPECT_EQ(check({scalar, bytes}, arguments), "no error");
  arguments[0].size = 8;
  EXPECT_EQ(check({scalar, bytes}, arguments),
            "argument #0: expected a scalar of 4 bytes, got one of 8");
  EXPECT_EQ(check({bytes, bytes}, arguments),
            "argument #0: expected an array of 8 of u1, got 'f32:1'");
}
