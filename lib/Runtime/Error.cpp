//===- Error.cpp - Errors without exceptions ------------------------------===//
//
// Part of the blockscale project, under the Apache License v2.0 with LLVM
// Exceptions. See LICENSE for license information.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//
//
// Messages quote what users wrote, which may hold any bytes: they are made
// printable here.
//
//===----------------------------------------------------------------------===//

#include "blockscale/Runtime/Error.h"

#include <system_error>

using namespace mlir;
using namespace mlir::blockscale;

Error blockscale::pathError(std::string_view path, std::string_view message) {
  std::string text = "'";
  text.append(path).append("': ").append(message);
  return Error(std::move(text));
}

std::string blockscale::systemErrorText(int errorNumber) {
  // Not strerror, which need not be thread-safe.
  std::string text = std::generic_category().message(errorNumber);
  if (!text.empty() && text[0] >= 'A' && text[0] <= 'Z')
    text[0] += 'a' - 'A';
  return text;
}

std::string blockscale::quoteForMessage(std::string_view text) {
  constexpr size_t maxLength = 40;
  constexpr char hexDigits[] = "0123456789abcdef";
  std::string quoted = "'";
  for (char c : text.substr(0, maxLength)) {
    if (c >= ' ' && c <= '~') {
      quoted += c;
      continue;
    }
    auto byte = static_cast<unsigned char>(c);
    quoted += "\\x";
    quoted += hexDigits[byte >> 4];
    quoted += hexDigits[byte & 15];
  }
  quoted += text.size() > maxLength ? "...'" : "'";
  return quoted;
}
