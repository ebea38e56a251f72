//===- JsonNode.cpp - JSON values with their paths ------------------------===//
//
// Part of the blockscale project, under the Apache License v2.0 with LLVM
// Exceptions. See LICENSE for license information.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//
//
// Checks the values of fields with uniform messages, since other programs may
// write the JSON files.
//
//===----------------------------------------------------------------------===//

#include "JsonNode.h"

#include <algorithm>

using namespace mlir;
using namespace mlir::blockscale;
using nlohmann::json;

static std::string describe(const json &value) {
  if (value.is_string())
    return quoteForMessage(value.get_ref<const std::string &>());
  if (value.is_object() || value.is_array())
    return std::string("an ") + value.type_name() + " of " +
           std::to_string(value.size());
  return value.dump();
}

Error blockscale::expected(const JsonNode &node, const std::string &what) {
  return Error(node.where + ": expected " + what + ", got " +
               describe(node.value));
}

Error blockscale::checkFields(const JsonNode &node,
                              std::initializer_list<const char *> names,
                              std::initializer_list<const char *> optional) {
  if (!node.value.is_object())
    return expected(node, "an object");
  for (const char *name : names)
    if (!node.value.contains(name))
      return Error(node.where + ": expected a field '" + name + "', got none");
  auto has = [](std::initializer_list<const char *> list,
                const std::string &name) {
    return std::find(list.begin(), list.end(), name) != list.end();
  };
  for (const auto &[key, field] : node.value.get_ref<const json::object_t &>())
    if (!has(names, key) && !has(optional, key)) {
      std::string known;
      for (auto list : {names, optional})
        for (const char *name : list)
          known.append(" ").append(name);
      return Error(node.where + ": expected the fields" + known + ", got " +
                   quoteForMessage(key));
    }
  return Error::success();
}

Error blockscale::checkArray(const JsonNode &node, size_t size) {
  if (!node.value.is_array() || node.value.size() != size)
    return expected(node, "an array of " + std::to_string(size));
  return Error::success();
}

Error blockscale::readInteger(const JsonNode &node, int64_t min, int64_t max,
                              int64_t &number) {
  // Integers that are not negative have the unsigned type.
  bool fits =
      node.value.is_number_unsigned()
          ? node.value.get<uint64_t>() <= static_cast<uint64_t>(INT64_MAX)
          : node.value.is_number_integer();
  if (fits)
    number = node.value.get<int64_t>();
  if (!fits || number < min || number > max)
    return expected(node, "an integer from " + std::to_string(min) + " to " +
                              std::to_string(max));
  return Error::success();
}

Error blockscale::readName(const JsonNode &node, std::string &name) {
  if (node.getText().empty())
    return expected(node, "a string that is not empty");
  name = node.getText();
  return Error::success();
}
