//===- JsonText.h - Checks of JSON before it is read ------------*- C++ -*-===//
//
// Part of the blockscale project, under the Apache License v2.0 with LLVM
// Exceptions. See LICENSE for license information.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#ifndef BLOCKSCALE_LIB_RUNTIME_JSONTEXT_H
#define BLOCKSCALE_LIB_RUNTIME_JSONTEXT_H

#include "blockscale/Runtime/Error.h"

#include <string_view>

namespace mlir::blockscale {

/// Checks that a text is one JSON value, nested at most 256 levels deep and
/// without duplicate keys in an object (which a parser would silently drop).
Error checkJsonText(std::string_view text);

} // namespace mlir::blockscale

#endif // BLOCKSCALE_LIB_RUNTIME_JSONTEXT_H
