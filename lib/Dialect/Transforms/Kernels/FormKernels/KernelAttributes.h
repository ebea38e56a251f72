//===- KernelAttributes.h - What products have to say -----------*- C++ -*-===//
//
// Part of the blockscale project, under the Apache License v2.0 with LLVM
// Exceptions. See LICENSE for license information.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#ifndef BLOCKSCALE_LIB_DIALECT_TRANSFORMS_KERNELS_FORMKERNELS_KERNELATTRIBUTES_H
#define BLOCKSCALE_LIB_DIALECT_TRANSFORMS_KERNELS_FORMKERNELS_KERNELATTRIBUTES_H

#include "blockscale/Dialect/IR/BlockScale.h"

namespace mlir::blockscale {

/// An attribute that a kernel is made of, and the pass that gives it.
struct NeededAttribute {
  StringRef name, pass;
};

/// What `op` lacks for a kernel of `path`; nullopt for nothing.
std::optional<NeededAttribute> findMissingAttribute(ProductOpInterface op,
                                                    Path path);

} // namespace mlir::blockscale

#endif // BLOCKSCALE_LIB_DIALECT_TRANSFORMS_KERNELS_FORMKERNELS_KERNELATTRIBUTES_H
