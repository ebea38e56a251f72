//===- OpForming.h - From one op to launches --------------------*- C++ -*-===//
//
// Part of the blockscale project, under the Apache License v2.0 with LLVM
// Exceptions. See LICENSE for license information.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//
//
// What the walk calls for each kind of op. Each function is defined in the
// folder of its kernel. It returns what replaced the results of `op`: nothing
// if `op` stays. It fails after an error.
//
//===----------------------------------------------------------------------===//

#ifndef BLOCKSCALE_LIB_DIALECT_TRANSFORMS_KERNELS_LAUNCH_OPFORMING_H
#define BLOCKSCALE_LIB_DIALECT_TRANSFORMS_KERNELS_LAUNCH_OPFORMING_H

#include "blockscale/Dialect/IR/BlockScale.h"
#include "blockscale/Dialect/IR/Grouped.h"
#include "blockscale/Dialect/IR/Rebase.h"
#include "blockscale/Dialect/IR/Routing.h"
#include "blockscale/Dialect/IR/Sparse.h"
#include "mlir/Dialect/Linalg/IR/Linalg.h"
#include "mlir/IR/PatternMatch.h"
#include "mlir/IR/SymbolTable.h"

namespace mlir::blockscale {

using FormedResults = FailureOr<SmallVector<Value>>;

/// Gives `op`, on tensors in a function, the kernels of its path. They fuse, as
/// far as they can:
/// * the elementwise op that makes only the accumulator,
/// * the elementwise op that is the only use of the result,
/// * the `quantize` that is the only use of that result, with the ops that pack
///   its elements and swizzle its scales. Fused ops behind `op` are erased.
///   Returns what replaced the last results. `op` stays if it lacks attributes.
FormedResults formProduct(RewriterBase &rewriter,
                          SymbolTableCollection &symbols,
                          ProductOpInterface op);

/// Gives `op`, on tensors in a function for a GPU, a kernel, which also packs
/// its elements and swizzles its scales; or rewrites it, in front of itself, to
/// a form that has one. It may stay to become loops or to be fused into the
/// product that makes x.
FormedResults formQuantize(RewriterBase &rewriter,
                           SymbolTableCollection &symbols, QuantizeOp op);

/// Gives `op`, on tensors in a function for a GPU, a kernel, if its quantized
/// elements are contiguous along K; else it stays and becomes loops.
FormedResults formDequantize(RewriterBase &rewriter,
                             SymbolTableCollection &symbols, DequantizeOp op);

/// Gives `op`, in a function for a GPU that has conversions of fp8, a kernel;
/// for others it stays and becomes loops.
FormedResults formRebase(RewriterBase &rewriter, SymbolTableCollection &symbols,
                         RebaseOp op);

/// Gives `op`, on tensors in a function, a kernel. It stays if the kernel of
/// the `quantize` that makes the scales may fuse it.
FormedResults formSwizzle(RewriterBase &rewriter,
                          SymbolTableCollection &symbols, SwizzleScalesOp op);
FormedResults formSwizzleGroups(RewriterBase &rewriter,
                                SymbolTableCollection &symbols,
                                SwizzleGroupScalesOp op);

/// Gives `op`, on tensors in a function for a GPU, a kernel, if its units are
/// bytes in memory: elements of fp8 and fp6, or pairs of packed fp4. Any other
/// stays and becomes loops.
FormedResults formDecompress(RewriterBase &rewriter,
                             SymbolTableCollection &symbols, DecompressOp op);

/// Gives `op`, on matrices in a function for a GPU, a kernel, if elements are
/// bytes or wider and somebody else than loops reads the result; else it stays
/// and becomes loops.
FormedResults formTranspose(RewriterBase &rewriter,
                            SymbolTableCollection &symbols,
                            linalg::TransposeOp op);

/// Gives `op`, a reduction or a softmax along rows in a function for a GPU, a
/// kernel; any other stays and becomes loops.
FormedResults formReduce(RewriterBase &rewriter, SymbolTableCollection &symbols,
                         linalg::GenericOp op);
FormedResults formSoftmax(RewriterBase &rewriter,
                          SymbolTableCollection &symbols, linalg::SoftmaxOp op);

/// Gives `op`, in a function for a GPU, a kernel.
FormedResults formRoute(RewriterBase &rewriter, SymbolTableCollection &symbols,
                        RouteOp op);
FormedResults formSortRoutes(RewriterBase &rewriter,
                             SymbolTableCollection &symbols, SortRoutesOp op);
FormedResults formCombineRows(RewriterBase &rewriter,
                              SymbolTableCollection &symbols, CombineRowsOp op);

} // namespace mlir::blockscale

#endif // BLOCKSCALE_LIB_DIALECT_TRANSFORMS_KERNELS_LAUNCH_OPFORMING_H
