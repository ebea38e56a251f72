//===- ModuleGenerator.h - Programs from a fuzzer's bytes -------*- C++ -*-===//
//
// Part of the blockscale project, under the Apache License v2.0 with LLVM
// Exceptions. See LICENSE for license information.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#ifndef BLOCKSCALE_TEST_FUZZ_MODULEGENERATOR_H
#define BLOCKSCALE_TEST_FUZZ_MODULEGENERATOR_H

#include "ByteReader.h"

#include <string>

namespace mlir::blockscale {

/// The text of a module around ops of the dialect. Most of these modules are
/// valid; the rest have one or two things wrong with them.
std::string generateModule(ByteReader &in);

} // namespace mlir::blockscale

#endif // BLOCKSCALE_TEST_FUZZ_MODULEGENERATOR_H
