//===- PrintedLevel.h - Levels of the lowering as text ----------*- C++ -*-===//
//
// Part of the blockscale project, under the Apache License v2.0 with LLVM
// Exceptions. See LICENSE for license information.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//
//
// Attributes of a module at a level, with which the lowering can continue from
// its text.
//
//===----------------------------------------------------------------------===//

#ifndef BLOCKSCALE_DIALECT_IR_PRINTEDLEVEL_H
#define BLOCKSCALE_DIALECT_IR_PRINTEDLEVEL_H

#include "mlir/Support/LLVM.h"

namespace mlir::blockscale {

/// The attribute of a module with the level that it has been lowered to.
inline constexpr StringLiteral kLevelAttrName = "blockscale.level";

/// The attribute of a function of launches with its type in the program, and
/// the schedules of its matmuls, in the form of --schedule.
inline constexpr StringLiteral kSignatureAttrName = "blockscale.signature";
inline constexpr StringLiteral kSchedulesAttrName = "blockscale.schedules";

/// The attribute of a `nvgpu.device_async_create_group` without operands, which
/// must not be empty in the text: the next tokens would be parsed as its
/// operands.
inline constexpr StringLiteral kNoTokensAttrName = "blockscale.no_tokens";

} // namespace mlir::blockscale

#endif // BLOCKSCALE_DIALECT_IR_PRINTEDLEVEL_H
