//===- Error.cpp - Errors without exceptions ------------------------------===//
//
// Part of the blockscale project, under the Apache License v2.0 with LLVM
// Exceptions. See LICENSE for license information.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//
//
// Makes quoted user input printable, since it may have any bytes.
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

/// Appends printable characters; other bytes as \xNN.
static void appendPrintable(std::string &to, std::string_view text) {
  constexpr char hexDigits[] = "0123456789abcdef";
  for (char c : text) {
    if (c >= ' ' && c <= '~') {
      to += c;
      continue;
    }
    auto byte = static_cast<unsigned char>(c);
    to += "\\x";
    to += hexDigits[byte >> 4];
    to += hexDigits[byte & 15];
  }
}

std::string blockscale::shortenForMessage(std::string_view text) {
  // Mangled names of one template differ at their ends.
  constexpr size_t headLength = 60, tailLength = 20;
  constexpr std::string_view dots = "...";
  std::string printed;
  if (text.size() <= headLength + dots.size() + tailLength) {
    appendPrintable(printed, text);
    return printed;
  }
  appendPrintable(printed, text.substr(0, headLength));
  printed += dots;
  appendPrintable(printed, text.substr(text.size() - tailLength));
  return printed;
}

std::string blockscale::quoteForMessage(std::string_view text) {
  return "'" + shortenForMessage(text) + "'";
}
