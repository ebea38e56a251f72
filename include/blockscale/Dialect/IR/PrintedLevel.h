//===- PrintedLevel.h - Levels of the lowering as text ----------*- C++ -*-===//
//
// Part of the blockscale project, under the Apache License v2.0 with LLVM
// Exceptions. See LICENSE for license information.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//
//
// What a module at a level has in its attributes, so that the lowering can go
// on from its text.
//
//===----------------------------------------------------------------------===//

#ifndef BLOCKSCALE_DIALECT_IR_PRINTEDLEVEL_H
#define BLOCKSCALE_DIALECT_IR_PRINTEDLEVEL_H

#include "mlir/Support/LLVM.h"

namespace mlir::blockscale {

/// Of a module: the name of the level that it has been lowered to.
inline constexpr StringLiteral kLevelAttrName = "blockscale.level";

/// Of a function of launches: its type in the program, and the schedules of its
/// products, as --schedule takes them.
inline constexpr StringLiteral kSignatureAttrName = "blockscale.signature";
inline constexpr StringLiteral kSchedulesAttrName = "blockscale.schedules";

/// Of `nvgpu.device_async_create_group` without operands, where something has
/// to stand: what follows would be read as its operands.
inline constexpr StringLiteral kNoTokensAttrName = "blockscale.no_tokens";

} // namespace mlir::blockscale

#endif // BLOCKSCALE_DIALECT_IR_PRINTEDLEVEL_H
