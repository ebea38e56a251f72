//===- PtxText.h - What a text of PTX declares ------------------*- C++ -*-===//
//
// Part of the blockscale project, under the Apache License v2.0 with LLVM
// Exceptions. See LICENSE for license information.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//
//
// Finds statements, and the names of what they declare, in a text that need not
// be PTX any more.
//
//===----------------------------------------------------------------------===//

#ifndef BLOCKSCALE_TEST_FUZZ_PTXTEXT_H
#define BLOCKSCALE_TEST_FUZZ_PTXTEXT_H

#include <cstddef>
#include <string>
#include <vector>

namespace mlir::blockscale {

/// `begin` to `end` of a text: a statement with its semicolon, or a line
/// without one.
struct PtxPiece {
  size_t begin, end;
};

/// What a text declares.
struct PtxText {
  explicit PtxText(const std::string &text);

  /// All pieces, and those that are instructions.
  std::vector<PtxPiece> pieces, instructions;
  /// By letter of the templates.
  std::vector<std::string> names[128];
};

/// Whether a name may have this character.
bool isPtxWordChar(char c);

} // namespace mlir::blockscale

#endif // BLOCKSCALE_TEST_FUZZ_PTXTEXT_H
