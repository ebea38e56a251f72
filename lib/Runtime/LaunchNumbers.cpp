//===- LaunchNumbers.cpp - Evaluating the numbers of a launch -------------===//
//
// Part of the blockscale project, under the Apache License v2.0 with LLVM
// Exceptions. See LICENSE for license information.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#include "blockscale/Runtime/LaunchNumbers.h"

using namespace mlir;
using namespace mlir::blockscale;

//===----------------------------------------------------------------------===//
// Expressions
//===----------------------------------------------------------------------===//

Result<uint32_t> blockscale::evaluate(const ArgumentSize &size,
                                      const LaunchFacts &facts) {
  const LaunchArgument &argument = facts.arguments[size.argument];
  std::string where = "argument #" + std::to_string(size.argument) + ": ";
  if (!argument.isBuffer())
    return Error(where + "expected an array with the requested size, got " +
                 quoteForMessage(argument.text));
  const std::vector<int64_t> &shape = argument.array.shape;
  if (size.dimension >= shape.size())
    return Error(where + "expected an array of at least " +
                 std::to_string(size.dimension + 1) + " dimensions, got " +
                 std::to_string(shape.size()));
  int64_t inArray = shape[size.dimension];
  std::string inDimension =
      " in dimension " + std::to_string(size.dimension) + ", got ";
  if (inArray > maxLaunchNumber / size.elements)
    return Error(where + "expected a size of at most " +
                 std::to_string(maxLaunchNumber / size.elements) + inDimension +
                 std::to_string(inArray));
  if (inArray % size.bytes != 0)
    return Error(where + "expected a multiple of " +
                 std::to_string(size.bytes) + " bytes" + inDimension +
                 std::to_string(inArray));
  return static_cast<uint32_t>(inArray / size.bytes * size.elements);
}

/// The value of argument number `number`, an integer.
static Result<int64_t> evaluateValue(int64_t number, const LaunchFacts &facts) {
  const LaunchArgument &argument = facts.arguments[number];
  if (argument.kind != LaunchArgument::Kind::Scalar)
    return Error("argument #" + std::to_string(number) +
                 ": expected an integer, got " +
                 quoteForMessage(argument.text));
  if (argument.size == sizeof(int64_t))
    return static_cast<int64_t>(argument.bits);
  return int64_t(static_cast<int32_t>(argument.bits));
}

Result<int64_t> blockscale::evaluate(const LaunchExpr &expr,
                                     const LaunchFacts &facts) {
  switch (expr.kind) {
  case LaunchExpr::Kind::Number:
    return expr.number;
  case LaunchExpr::Kind::Size: {
    Result<uint32_t> size = evaluate(expr.size, facts);
    if (!size)
      return size.error();
    return int64_t(*size);
  }
  case LaunchExpr::Kind::Value:
    return evaluateValue(expr.number, facts);
  case LaunchExpr::Kind::Sms:
    // Both factors have 32 bits.
    return expr.number * facts.sms;
  case LaunchExpr::Kind::Select: {
    Result<int64_t> condition = evaluate(expr.operands[0], facts);
    if (!condition)
      return condition;
    return evaluate(expr.operands[*condition != 0 ? 1 : 2], facts);
  }
  default:
    break;
  }
  Result<int64_t> lhs = evaluate(expr.operands[0], facts);
  if (!lhs)
    return lhs;
  Result<int64_t> rhs = evaluate(expr.operands[1], facts);
  if (!rhs)
    return rhs;
  int64_t result;
  if (applyLaunchOperation(expr.kind, *lhs, *rhs, result))
    return result;
  std::string name;
  for (const LaunchOperation &operation : launchOperations)
    if (operation.kind == expr.kind)
      name = operation.name;
  std::string operands = std::to_string(*lhs) + " and " + std::to_string(*rhs);
  if (isDivision(expr.kind) && *rhs < 1)
    return Error("expected a positive divisor of " + name + ", got operands " +
                 operands);
  return Error("expected a result of 64 bits of " + name + ", got operands " +
               operands);
}

//===----------------------------------------------------------------------===//
// Operands
//===----------------------------------------------------------------------===//

static bool isPacked(const LaunchOperand &operand) {
  return operand.elements != 1 || operand.bytes != 1;
}

static std::string printShape(const std::vector<int64_t> &shape) {
  std::string text;
  for (int64_t size : shape)
    text += (text.empty() ? "" : "x") + std::to_string(size);
  return shape.empty() ? "no dimensions" : text;
}

static std::string printDims(const std::vector<int64_t> &shape, DType dtype) {
  return printShape(shape) + " of " + std::string(getDTypeInfo(dtype).code);
}

Result<std::vector<int64_t>>
blockscale::evaluateShape(const LaunchOperand &operand,
                          const LaunchFacts &facts) {
  std::vector<int64_t> shape;
  for (const LaunchExpr &expr : operand.shape) {
    Result<int64_t> size = evaluate(expr, facts);
    if (!size)
      return size.error();
    if (*size < 0)
      return Error("expected a size of at least 0, got " +
                   std::to_string(*size));
    shape.push_back(*size);
  }
  if (!isPacked(operand))
    return shape;
  if (shape.back() % operand.elements != 0)
    return Error("expected rows that end on a byte when packed, got " +
                 std::to_string(shape.back()) + " elements, of which " +
                 std::to_string(operand.elements) + " are in " +
                 std::to_string(operand.bytes) + " bytes");
  if (__builtin_mul_overflow(shape.back() / operand.elements,
                             int64_t(operand.bytes), &shape.back()))
    return Error("expected a size of 64 bits");
  return shape;
}

/// The message is without the name of the argument.
static Error checkOperand(const LaunchOperand &operand,
                          const LaunchArgument &argument,
                          const LaunchFacts &facts) {
  Result<std::vector<int64_t>> shape = evaluateShape(operand, facts);
  if (!shape)
    return shape.error();
  Result<int64_t> bytes = computeByteSize(operand.dtype, *shape);
  if (!bytes)
    return bytes.error();
  if (!argument.isBuffer()) {
    if (!operand.shape.empty())
      return Error("expected an array of " + printDims(*shape, operand.dtype) +
                   ", got " + quoteForMessage(argument.text));
    if (*bytes != int64_t(argument.size))
      return Error("expected a scalar of " + std::to_string(*bytes) +
                   " bytes, got one of " + std::to_string(argument.size));
    return Error::success();
  }
  const NpyArray &array = argument.array;
  if (array.data.size() == static_cast<size_t>(*bytes))
    return Error::success();
  return Error("expected a buffer of " + std::to_string(*bytes) + " bytes (" +
               printDims(*shape, operand.dtype) +
               (isPacked(operand) ? ", packed" : "") + "), got " +
               std::to_string(array.data.size()) + " (" +
               printDims(array.shape, array.dtype) + ")");
}

/// Changes the shape of an argument with one element per byte to that of packed
/// elements; false if it is no buffer, or if its size does not fit.
static bool packArgument(const LaunchOperand &operand,
                         LaunchArgument &argument) {
  NpyArray &array = argument.array;
  if (!argument.isBuffer() || array.shape.empty() ||
      array.shape.back() % operand.elements != 0 ||
      array.data.size() % operand.elements != 0)
    return false;
  array.shape.back() = array.shape.back() / operand.elements * operand.bytes;
  array.data.resize(array.data.size() / operand.elements * operand.bytes);
  return true;
}

/// "; arguments #0 and #2 have one element per byte, expected 2 in 1 ...".
static std::string describeUnpacked(const LaunchInfo &info,
                                    const std::vector<size_t> &unpacked) {
  std::string arguments, results, sizes;
  size_t numArguments = info.numArguments();
  for (size_t i : unpacked) {
    bool isResult = i >= numArguments;
    std::string &list = isResult ? results : arguments;
    list += (list.empty() ? "#" : " and #") +
            std::to_string(isResult ? i - numArguments : i);
    std::string size = std::to_string(info.operands[i].elements) + " in " +
                       std::to_string(info.operands[i].bytes);
    // They usually have one type.
    if (sizes.find(size) == sizes.npos)
      sizes += (sizes.empty() ? "" : " and ") + size;
  }
  std::string names;
  for (const auto &[name, list] :
       {std::pair("argument", &arguments), std::pair("result", &results)}) {
    if (list->empty())
      continue;
    bool isPlural = list->find(' ') != list->npos;
    names += (names.empty() ? "" : " and ") + std::string(name) +
             (isPlural ? "s " : " ") + *list;
  }
  return "; " + names + (unpacked.size() > 1 ? " have" : " has") +
         " one element per byte, expected " + sizes +
         " along the last dimension";
}

/// A hint for messages: which argument has one element per byte but should be
/// packed, or that all have. It holds if `fits` fails for the arguments, but
/// not after packing; else the hint is empty. `index` is a result that may be
/// the wrong one.
template <typename Fits>
static std::string explainPacking(const LaunchInfo &info,
                                  const LaunchFacts &facts, size_t index,
                                  Fits fits) {
  std::vector<size_t> all;
  size_t numArguments = info.numArguments();
  for (size_t i = 0; i < info.operands.size(); ++i)
    if (isPacked(info.operands[i]) && (i < numArguments || i == index))
      all.push_back(i);
  auto explains = [&](const std::vector<size_t> &unpacked) {
    std::vector<LaunchArgument> arguments = facts.arguments;
    for (size_t i : unpacked)
      if (!packArgument(info.operands[i], arguments[i]))
        return false;
    return fits(LaunchFacts{arguments, facts.sms});
  };
  for (size_t i : all)
    if (explains({i}))
      return describeUnpacked(info, {i});
  return all.size() > 1 && explains(all) ? describeUnpacked(info, all) : "";
}

/// The first check that fails, without a hint about packing.
static Error runChecksAlone(const LaunchInfo &info, const LaunchFacts &facts) {
  for (const LaunchCheck &check : info.checks) {
    Result<int64_t> holds = evaluate(check.condition, facts);
    if (!holds)
      return holds.error();
    if (*holds != 0)
      continue;
    // Drop the prefix of upstream's messages, which says no more than this.
    std::string_view message = check.message;
    std::string_view prefix = "ERROR: Runtime op verification failed\n";
    if (message.substr(0, prefix.size()) == prefix)
      message.remove_prefix(prefix.size());
    return Error("check failed at run time:\n" + std::string(message));
  }
  return Error::success();
}

Error blockscale::runChecks(const LaunchInfo &info, const LaunchFacts &facts) {
  Error error = runChecksAlone(info, facts);
  if (!error)
    return error;
  return Error(error.message() +
               explainPacking(info, facts, info.operands.size(),
                              [&](const LaunchFacts &packed) {
                                return !runChecksAlone(info, packed);
                              }));
}

Error blockscale::checkOperands(const LaunchInfo &info,
                                const LaunchFacts &facts) {
  size_t numArguments = info.numArguments();
  for (size_t i = 0; i < info.operands.size(); ++i) {
    Error error = checkOperand(info.operands[i], facts.arguments[i], facts);
    if (!error)
      continue;
    bool isResult = i >= numArguments;
    return Error((isResult ? "result #" : "argument #") +
                 std::to_string(isResult ? i - numArguments : i) + ": " +
                 error.message() +
                 explainPacking(info, facts, i, [&](const LaunchFacts &packed) {
                   return !checkOperand(info.operands[i], packed.arguments[i],
                                        packed);
                 }));
  }
  return Error::success();
}
