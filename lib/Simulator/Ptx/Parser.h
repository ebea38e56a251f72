//===- Parser.h - From PTX text to a module ---------------------*- C++ -*-===//
//
// Part of the blockscale project, under the Apache License v2.0 with LLVM
// Exceptions. See LICENSE for license information.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#ifndef BLOCKSCALE_LIB_SIMULATOR_PTX_PARSER_H
#define BLOCKSCALE_LIB_SIMULATOR_PTX_PARSER_H

#include "Ptx/Ast.h"
#include "blockscale/Runtime/Error.h"

namespace mlir::blockscale::sim {

/// Parses a PTX text and resolves its names; the text may be arbitrary. A
/// failure starts with the location: `line 12:5: expected ';', got '}'`. Time
/// and memory are linear in the length of the text and do not depend on the
/// sizes that it declares, except that an initialized variable has its bytes
/// (at most 256 MiB in a module).
Result<Module> parsePtx(std::string text);

} // namespace mlir::blockscale::sim

#endif // BLOCKSCALE_LIB_SIMULATOR_PTX_PARSER_H
