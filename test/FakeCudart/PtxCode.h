//===- PtxCode.h - Functions and variables of a PTX text --------*- C++ -*-===//
//
// Part of the blockscale project, under the Apache License v2.0 with LLVM
// Exceptions. See LICENSE for license information.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//
//
// Splits a PTX text into words, as far as is needed to see who uses which
// variable. No validation: that is blockscale-sim's, which parses the same
// text. Views point into it.
//
//===----------------------------------------------------------------------===//

#ifndef BLOCKSCALE_TEST_FAKECUDART_PTXCODE_H
#define BLOCKSCALE_TEST_FAKECUDART_PTXCODE_H

#include <cstdint>
#include <string_view>
#include <vector>

namespace capture {

/// The tokens (identifiers and single other characters) up to a semicolon,
/// without comments, strings and labels.
using PtxStatement = std::vector<std::string_view>;

struct PtxVariable {
  enum class Space : uint8_t { Global, Const, Shared };

  Space space;
  std::string_view name;
  /// No bytes where the size is given elsewhere.
  uint64_t bytes, alignment;
  /// Its initial value; empty where it has none.
  PtxStatement value;
};

struct PtxFunction {
  std::string_view name;
  bool isEntry;
  /// What is in front of the body: parameters and directives.
  PtxStatement head;
  std::vector<PtxStatement> statements;
};

struct PtxCode {
  /// Those that have a body.
  std::vector<PtxFunction> functions;
  /// As they come in the text, those in functions as well.
  std::vector<PtxVariable> variables;
};

PtxCode splitPtx(std::string_view text);

/// The decimal number that a word is, or starts with; 0 if it does not.
uint64_t readNumber(std::string_view word);

} // namespace capture

#endif // BLOCKSCALE_TEST_FAKECUDART_PTXCODE_H
