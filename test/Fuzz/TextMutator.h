//===- TextMutator.h - Mutation of programs as text -------------*- C++ -*-===//
//
// Part of the blockscale project, under the Apache License v2.0 with LLVM
// Exceptions. See LICENSE for license information.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#ifndef BLOCKSCALE_TEST_FUZZ_TEXTMUTATOR_H
#define BLOCKSCALE_TEST_FUZZ_TEXTMUTATOR_H

#include <random>
#include <string>

namespace mlir::blockscale {

/// `text` with one token or line replaced, removed, moved or repeated.
std::string mutateText(const std::string &text, std::minstd_rand &random);

} // namespace mlir::blockscale

#endif // BLOCKSCALE_TEST_FUZZ_TEXTMUTATOR_H
