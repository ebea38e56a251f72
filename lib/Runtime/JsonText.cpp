//===- JsonText.cpp - Checks of JSON before it is read --------------------===//
//
// Part of the blockscale project, under the Apache License v2.0 with LLVM
// Exceptions. See LICENSE for license information.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//
//
// The JSON library recurses without limit and silently drops duplicate keys, so
// texts are checked for both before it parses them.
//
//===----------------------------------------------------------------------===//

#include "JsonNode.h"

#include <nlohmann/json.hpp>

#include <set>

using namespace mlir;
using namespace mlir::blockscale;
using nlohmann::json;

namespace {

/// Handles the parser's events and keeps the first error. Every event returns
/// whether to continue.
class Checker final : public nlohmann::json_sax<json> {
public:
  const Error &getError() const { return error; }

  bool null() override { return true; }
  bool boolean(bool) override { return true; }
  bool number_integer(number_integer_t) override { return true; }
  bool number_unsigned(number_unsigned_t) override { return true; }
  bool number_float(number_float_t, const string_t &) override { return true; }
  bool string(string_t &) override { return true; }
  bool binary(binary_t &) override { return true; }
  bool start_object(size_t) override { return open(); }
  bool start_array(size_t) override { return open(); }
  bool end_object() override { return close(); }
  bool end_array() override { return close(); }

  bool key(string_t &name) override {
    if (keys.back().insert(name).second)
      return true;
    error = Error("expected a field " + quoteForMessage(name) +
                  " once in an object, got it twice");
    return false;
  }

  bool parse_error(size_t position, const std::string &token,
                   const nlohmann::detail::exception &) override {
    error =
        Error("expected JSON, got " +
              (token.empty() ? "the end of the text" : quoteForMessage(token)) +
              " near byte " + std::to_string(position));
    return false;
  }

private:
  static constexpr size_t maxDepth = 256;

  bool open() {
    keys.emplace_back();
    if (keys.size() <= maxDepth)
      return true;
    error = Error("expected JSON nested at most " + std::to_string(maxDepth) +
                  " levels deep, got more");
    return false;
  }

  bool close() {
    keys.pop_back();
    return true;
  }

  /// The keys so far of each open object; arrays have none.
  std::vector<std::set<std::string>> keys;
  Error error = Error::success();
};

} // namespace

Error blockscale::checkJsonText(std::string_view text) {
  Checker checker;
  bool isValid = json::sax_parse(text.begin(), text.end(), &checker);
  if (!isValid && !checker.getError())
    return Error("expected JSON, got something else");
  return checker.getError();
}
