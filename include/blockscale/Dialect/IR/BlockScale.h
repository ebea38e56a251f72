//===- BlockScale.h - The blockscale dialect --------------------*- C++ -*-===//
//
// Part of the blockscale project, under the Apache License v2.0 with LLVM
// Exceptions. See LICENSE for license information.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#ifndef BLOCKSCALE_DIALECT_IR_BLOCKSCALE_H
#define BLOCKSCALE_DIALECT_IR_BLOCKSCALE_H

#include "blockscale/Support/Formats.h"
#include "mlir/Bytecode/BytecodeOpInterface.h"
#include "mlir/IR/BuiltinTypes.h"
#include "mlir/IR/Dialect.h"
#include "mlir/IR/OpDefinition.h"
#include "mlir/Interfaces/DestinationStyleOpInterface.h"
#include "mlir/Interfaces/InferTypeOpInterface.h"
#include "mlir/Interfaces/RuntimeVerifiableOpInterface.h"
#include "mlir/Interfaces/SideEffectInterfaces.h"
#include "mlir/Interfaces/TilingInterface.h"

#include "blockscale/Dialect/IR/BlockScaleDialect.h.inc"

#define GET_OP_CLASSES
#include "blockscale/Dialect/IR/BlockScaleOps.h.inc"

namespace mlir::blockscale {

/// The format of elements of `type`, which is an operand `x` or `y` of
/// `mma_scaled`; nullopt for other types.
std::optional<Format> getElementFormat(Type type);

/// The format of scales of `type`: f8E4M3FN holds ue4m3.
std::optional<Format> getScaleFormat(Type type);

} // namespace mlir::blockscale

#endif // BLOCKSCALE_DIALECT_IR_BLOCKSCALE_H
