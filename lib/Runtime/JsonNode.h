//===- JsonNode.h - JSON values with their paths ----------------*- C++ -*-===//
//
// Part of the blockscale project, under the Apache License v2.0 with LLVM
// Exceptions. See LICENSE for license information.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//
//
// Readers of untrusted JSON: each function checks its value, and messages name
// the path to it.
//
//===----------------------------------------------------------------------===//

#ifndef BLOCKSCALE_LIB_RUNTIME_JSONNODE_H
#define BLOCKSCALE_LIB_RUNTIME_JSONNODE_H

#include "blockscale/Runtime/Error.h"

#include <array>
#include <initializer_list>
#include <nlohmann/json.hpp>
#include <vector>

namespace mlir::blockscale {

/// A value and its JSONPath, such as "$.kernels[0].grid[1]".
struct JsonNode {
  const nlohmann::json &value;
  std::string where;

  bool has(const std::string &name) const {
    return value.is_object() && value.contains(name);
  }
  /// A string; empty for another value.
  std::string_view getText() const {
    return value.is_string()
               ? std::string_view(value.get_ref<const std::string &>())
               : std::string_view();
  }
  /// The field of an object that is known to have it.
  JsonNode getField(const std::string &name) const {
    return {*value.find(name), where + "." + name};
  }
  JsonNode getElement(size_t i) const {
    return {value[i], where + "[" + std::to_string(i) + "]"};
  }
};

/// "WHERE: expected WHAT, got ...".
Error expected(const JsonNode &node, const std::string &what);

/// Checks that a value is an object with these fields, and no others but
/// `optional` ones.
Error checkFields(const JsonNode &node,
                  std::initializer_list<const char *> names,
                  std::initializer_list<const char *> optional = {});

Error checkArray(const JsonNode &node, size_t size);

/// Reads an integer from `min` to `max`.
Error readInteger(const JsonNode &node, int64_t min, int64_t max,
                  int64_t &number);
template <typename Integer>
Error readInteger(const JsonNode &node, int64_t min, int64_t max,
                  Integer &number) {
  int64_t wide;
  if (Error error = readInteger(node, min, max, wide))
    return error;
  number = static_cast<Integer>(wide);
  return Error::success();
}

/// Reads a string that is not empty.
Error readName(const JsonNode &node, std::string &name);

/// Reads an array of any size, each element by `read`.
template <typename Element, typename Read>
Error readArray(const JsonNode &node, std::vector<Element> &elements,
                Read read) {
  if (!node.value.is_array())
    return expected(node, "an array");
  for (size_t i = 0; i < node.value.size(); ++i)
    if (Error error = read(node.getElement(i), elements.emplace_back()))
      return error;
  return Error::success();
}

/// The same for as many elements as `elements` has.
template <typename Element, size_t size, typename Read>
Error readArray(const JsonNode &node, std::array<Element, size> &elements,
                Read read) {
  if (Error error = checkArray(node, size))
    return error;
  for (size_t i = 0; i < size; ++i)
    if (Error error = read(node.getElement(i), elements[i]))
      return error;
  return Error::success();
}

/// Checks that a text is one JSON value, nested at most 256 levels deep and
/// without duplicate keys in an object (which a parser would silently drop).
Error checkJsonText(std::string_view text);

} // namespace mlir::blockscale

#endif // BLOCKSCALE_LIB_RUNTIME_JSONNODE_H
