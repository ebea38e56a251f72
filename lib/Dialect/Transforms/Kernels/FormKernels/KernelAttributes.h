//===- KernelAttributes.h - Attributes that a product needs -----*- C++ -*-===//
//
// Part of the blockscale project, under the Apache License v2.0 with LLVM
// Exceptions. See LICENSE for license information.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//
//
// What the passes in front must have attached to a product before it can get a
// kernel: a path, an instruction, a schedule.
//
//===----------------------------------------------------------------------===//

#ifndef BLOCKSCALE_LIB_DIALECT_TRANSFORMS_KERNELS_FORMKERNELS_KERNELATTRIBUTES_H
#define BLOCKSCALE_LIB_DIALECT_TRANSFORMS_KERNELS_FORMKERNELS_KERNELATTRIBUTES_H

#include "blockscale/Dialect/IR/BlockScale.h"

namespace mlir::blockscale {

/// An attribute that a kernel needs, and the pass that attaches it.
struct NeededAttribute {
  StringRef name, pass;
};

/// What `op` lacks for a kernel of `path`; nullopt for nothing.
std::optional<NeededAttribute> findMissingAttribute(ProductOpInterface op,
                                                    Path path);

} // namespace mlir::blockscale

#endif // BLOCKSCALE_LIB_DIALECT_TRANSFORMS_KERNELS_FORMKERNELS_KERNELATTRIBUTES_H
