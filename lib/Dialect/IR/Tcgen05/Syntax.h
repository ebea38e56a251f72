//===- Syntax.h - Operands with and without scales --------------*- C++ -*-===//
//
// Part of the blockscale project, under the Apache License v2.0 with LLVM
// Exceptions. See LICENSE for license information.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//
//
// Directives of the assembly formats of tcgen05_mma and async_tile_mma: lists
// of operands, some of them scales, which instructions without scales lack.
//
//===----------------------------------------------------------------------===//

#ifndef BLOCKSCALE_LIB_DIALECT_IR_TCGEN05_SYNTAX_H
#define BLOCKSCALE_LIB_DIALECT_IR_TCGEN05_SYNTAX_H

#include "blockscale/Dialect/IR/BlockScale.h"
#include "mlir/IR/OpImplementation.h"

namespace mlir::blockscale {

using ParsedOperand = OpAsmParser::UnresolvedOperand;
using ParsedScales = std::optional<ParsedOperand>;

/// `%a_scale[0], %b_scale[0], %accumulate`, or `%accumulate` alone.
ParseResult parseBlocksAndAccumulate(OpAsmParser &parser, ParsedScales &aScale,
                                     IntegerAttr &aBlock, ParsedScales &bScale,
                                     IntegerAttr &bBlock,
                                     ParsedOperand &accumulate);
void printBlocksAndAccumulate(OpAsmPrinter &printer, Operation *op,
                              Value aScale, IntegerAttr aBlock, Value bScale,
                              IntegerAttr bBlock, Value accumulate);

/// `%a, %a_scale, %b, %b_scale, %acc, %accumulate`, or the same without scales.
ParseResult parseTilesAndScales(OpAsmParser &parser, ParsedOperand &a,
                                ParsedScales &aScale, ParsedOperand &b,
                                ParsedScales &bScale, ParsedOperand &acc,
                                ParsedOperand &accumulate);
void printTilesAndScales(OpAsmPrinter &printer, Operation *op, Value a,
                         Value aScale, Value b, Value bScale, Value acc,
                         Value accumulate);

/// The types of these, without that of `%accumulate`; `scale` is `%a_scale`.
ParseResult parseTileAndScaleTypes(OpAsmParser &parser,
                                   const ParsedScales &scale, Type &a,
                                   Type &aScale, Type &b, Type &bScale,
                                   Type &acc);
void printTileAndScaleTypes(OpAsmPrinter &printer, Operation *op, Value scale,
                            Type a, Type aScale, Type b, Type bScale, Type acc);

} // namespace mlir::blockscale

#endif // BLOCKSCALE_LIB_DIALECT_IR_TCGEN05_SYNTAX_H
