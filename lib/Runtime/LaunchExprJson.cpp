//===- LaunchExprJson.cpp - Numbers of a launch in a file -----------------===//
//
// Part of the blockscale project, under the Apache License v2.0 with LLVM
// Exceptions. See LICENSE for license information.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//
//
// The form of all expressions in a launch info; also the older form, in which a
// size is a bare {"arg": i, "dim": d} inside of a "ceildiv".
//
//===----------------------------------------------------------------------===//

#include "LaunchJson.h"

#include "blockscale/Runtime/LaunchInfo.h"

using namespace mlir;
using namespace mlir::blockscale;
using nlohmann::ordered_json;

/// As many dimensions as an array can have.
static constexpr uint32_t maxDimension = 63;

//===----------------------------------------------------------------------===//
// Reading
//===----------------------------------------------------------------------===//

Error blockscale::readPackedUnit(const JsonNode &node, uint32_t &elements,
                                 uint32_t &bytes) {
  constexpr uint32_t maxUnit = 8;
  if (Error error = checkArray(node, 2))
    return error;
  if (Error error = readInteger(node.getElement(0), 1, maxUnit, elements))
    return error;
  return readInteger(node.getElement(1), 1, maxUnit, bytes);
}

Error blockscale::readSize(const JsonNode &node, ArgumentSize &size) {
  if (Error error = checkFields(node, {"arg", "dim"}, {"packed"}))
    return error;
  if (Error error =
          readInteger(node.getField("arg"), 0, maxLaunchNumber, size.argument))
    return error;
  if (Error error =
          readInteger(node.getField("dim"), 0, maxDimension, size.dimension))
    return error;
  if (!node.has("packed"))
    return Error::success();
  return readPackedUnit(node.getField("packed"), size.elements, size.bytes);
}

static Error readAnyExpr(const JsonNode &node, int64_t min, int64_t max,
                         bool isChecked, LaunchExpr &expr);

static Error readOperand(const JsonNode &node, bool isChecked,
                         LaunchExpr &expr) {
  // The older form.
  if (node.has("arg")) {
    ArgumentSize size;
    if (Error error = readSize(node, size))
      return error;
    expr = LaunchExpr::ofSize(size);
    return Error::success();
  }
  return readAnyExpr(node, INT64_MIN, INT64_MAX, isChecked, expr);
}

static Error readSelect(const JsonNode &node, bool isChecked,
                        LaunchExpr &expr) {
  LaunchExpr operands[3];
  for (size_t i = 0; i != 3; ++i)
    if (Error error =
            readOperand(node.getElement(i), isChecked && i == 0, operands[i]))
      return error;
  expr = LaunchExpr::select(std::move(operands[0]), std::move(operands[1]),
                            std::move(operands[2]));
  return Error::success();
}

/// Unless `isChecked`, errors count only where the operation is evaluated.
static Error readOperation(const JsonNode &node,
                           const LaunchOperation &operation, bool isChecked,
                           LaunchExpr &expr) {
  LaunchExpr::Kind kind = operation.kind;
  if (Error error = checkArray(node, operation.numOperands))
    return error;
  if (kind == LaunchExpr::Kind::Select)
    return readSelect(node, isChecked, expr);
  LaunchExpr lhs, rhs;
  if (Error error = readOperand(node.getElement(0), isChecked, lhs))
    return error;
  JsonNode last = node.getElement(1);
  // Check constant divisors here, where the JSON path is known.
  bool isDivisor = isChecked && isDivision(kind) && last.value.is_number();
  if (Error error = isDivisor ? readExpr(last, 1, maxLaunchNumber, rhs)
                              : readOperand(last, isChecked, rhs))
    return error;
  int64_t known;
  if (isChecked && lhs.isNumber() && rhs.isNumber() &&
      !applyLaunchOperation(kind, lhs.number, rhs.number, known))
    return expected(node, "an operation whose result has 64 bits");
  expr = LaunchExpr::make(kind, std::move(lhs), std::move(rhs));
  return Error::success();
}

/// What an object that is an expression may have as its only field.
static std::string listExprNames() {
  std::string names = "size value multiprocessors";
  for (const LaunchOperation &operation : launchOperations)
    names.append(" ").append(operation.name);
  return names;
}

/// Unless `isChecked`, it is in an operand that a select may not choose.
static Error readAnyExpr(const JsonNode &node, int64_t min, int64_t max,
                         bool isChecked, LaunchExpr &expr) {
  if (node.value.is_number()) {
    int64_t number;
    if (Error error = readInteger(node, min, max, number))
      return error;
    expr = number;
    return Error::success();
  }
  if (!node.value.is_object() || node.value.size() != 1)
    return expected(node,
                    "a number or an object of one field of " + listExprNames());
  const std::string &name = node.value.begin().key();
  JsonNode field = node.getField(name);
  if (name == "size") {
    ArgumentSize size;
    if (Error error = readSize(field, size))
      return error;
    expr = LaunchExpr::ofSize(size);
    return Error::success();
  }
  if (name == "value") {
    if (Error error = checkFields(field, {"arg"}))
      return error;
    uint32_t argument;
    if (Error error =
            readInteger(field.getField("arg"), 0, maxLaunchNumber, argument))
      return error;
    expr = LaunchExpr::ofValue(argument);
    return Error::success();
  }
  if (name == "multiprocessors") {
    int64_t factor = 1;
    if (!field.value.is_null())
      if (Error error = readInteger(field, 1, maxLaunchNumber, factor))
        return error;
    expr = LaunchExpr::ofSms(factor);
    return Error::success();
  }
  for (const LaunchOperation &operation : launchOperations)
    if (operation.name == name)
      return readOperation(field, operation, isChecked, expr);
  return Error(node.where + ": expected one of " + listExprNames() + ", got " +
               quoteForMessage(name));
}

Error blockscale::readExpr(const JsonNode &node, int64_t min, int64_t max,
                           LaunchExpr &expr) {
  return readAnyExpr(node, min, max, /*isChecked=*/true, expr);
}

//===----------------------------------------------------------------------===//
// Writing
//===----------------------------------------------------------------------===//

ordered_json blockscale::makeObject(size_t members) {
  ordered_json object = ordered_json::object();
  object.get_ref<ordered_json::object_t &>().reserve(members);
  return object;
}

ordered_json blockscale::makeSize(const ArgumentSize &size) {
  ordered_json object = {{"arg", size.argument}, {"dim", size.dimension}};
  if (size.elements != 1 || size.bytes != 1)
    object["packed"] = ordered_json::array({size.elements, size.bytes});
  return object;
}

ordered_json blockscale::makeExpr(const LaunchExpr &expr) {
  switch (expr.kind) {
  case LaunchExpr::Kind::Number:
    return expr.number;
  case LaunchExpr::Kind::Size:
    return {{"size", makeSize(expr.size)}};
  case LaunchExpr::Kind::Value:
    return {{"value", {{"arg", expr.number}}}};
  case LaunchExpr::Kind::Sms:
    return {{"multiprocessors", expr.number}};
  default:
    break;
  }
  // Use the older form if possible.
  bool isOlder = expr.kind == LaunchExpr::Kind::CeilDiv &&
                 expr.operands[0].kind == LaunchExpr::Kind::Size &&
                 expr.operands[1].isNumber();
  ordered_json operands = ordered_json::array();
  for (const LaunchExpr &operand : expr.operands)
    operands.push_back(makeExpr(operand));
  if (isOlder)
    operands[0] = makeSize(expr.operands[0].size);
  ordered_json object;
  for (const LaunchOperation &operation : launchOperations)
    if (operation.kind == expr.kind) {
      object[std::string(operation.name)] = std::move(operands);
      break;
    }
  return object;
}
