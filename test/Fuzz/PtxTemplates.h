//===- PtxTemplates.h - What mutated PTX is made of -------------*- C++ -*-===//
//
// Part of the blockscale project, under the Apache License v2.0 with LLVM
// Exceptions. See LICENSE for license information.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//
//
// Statements, modifiers and numbers that mutations put into a text, and a text
// to begin with.
//
//===----------------------------------------------------------------------===//

#ifndef BLOCKSCALE_TEST_FUZZ_PTXTEMPLATES_H
#define BLOCKSCALE_TEST_FUZZ_PTXTEMPLATES_H

#include <string>
#include <vector>

namespace mlir::blockscale {

/// Statements with slots for registers: $p predicate, $h 16 bits, $r 32, $d
/// 64, $q 128, $f f32, $g f64; $b is a buffer, $s, $l and $c are variables in
/// shared, local and constant memory, $n is a number, $t a label.
const std::vector<const char *> &getPtxTemplates();

/// What may be behind an opcode, without the dot.
const std::vector<const char *> &getPtxModifiers();

const std::vector<const char *> &getPtxNumbers();

/// What a text without a kernel becomes. Registers have values, so that not
/// every use of one fails.
std::string makePtxModule();

} // namespace mlir::blockscale

#endif // BLOCKSCALE_TEST_FUZZ_PTXTEMPLATES_H
