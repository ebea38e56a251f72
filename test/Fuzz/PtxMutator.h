//===- PtxMutator.h - Mutation of PTX as text -------------------*- C++ -*-===//
//
// Part of the blockscale project, under the Apache License v2.0 with LLVM
// Exceptions. See LICENSE for license information.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//
//
// Changes statements as a whole, with the registers, labels and variables that
// the text declares, so that most results are programs that load.
//
//===----------------------------------------------------------------------===//

#ifndef BLOCKSCALE_TEST_FUZZ_PTXMUTATOR_H
#define BLOCKSCALE_TEST_FUZZ_PTXMUTATOR_H

#include <random>
#include <string>

namespace mlir::blockscale {

/// `text` with a statement added, removed, moved, or changed in part. A text
/// without a kernel becomes one that has registers of all types.
std::string mutatePtx(const std::string &text, std::minstd_rand &random);

/// `text` with some statements of `other`, in registers of `text`.
std::string crossPtx(const std::string &text, const std::string &other,
                     std::minstd_rand &random);

} // namespace mlir::blockscale

#endif // BLOCKSCALE_TEST_FUZZ_PTXMUTATOR_H
