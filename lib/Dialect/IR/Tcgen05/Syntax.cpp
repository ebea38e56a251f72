//===- Syntax.cpp - Operands with and without scales ----------------------===//
//
// Part of the blockscale project, under the Apache License v2.0 with LLVM
// Exceptions. See LICENSE for license information.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#include "Tcgen05/Syntax.h"

using namespace mlir;
using namespace mlir::blockscale;

//===----------------------------------------------------------------------===//
// tcgen05_mma
//===----------------------------------------------------------------------===//

static ParseResult parseBlock(OpAsmParser &parser, IntegerAttr &block) {
  return failure(
      parser.parseLSquare() ||
      parser.parseAttribute(block, parser.getBuilder().getI64Type()) ||
      parser.parseRSquare());
}

ParseResult blockscale::parseBlocksAndAccumulate(
    OpAsmParser &parser, ParsedScales &aScale, IntegerAttr &aBlock,
    ParsedScales &bScale, IntegerAttr &bBlock, ParsedOperand &accumulate) {
  ParsedOperand first;
  if (parser.parseOperand(first))
    return failure();
  // A bracket shows that there are scales.
  if (failed(parser.parseOptionalLSquare())) {
    accumulate = first;
    return success();
  }
  aScale = first;
  bScale = ParsedOperand();
  return failure(
      parser.parseAttribute(aBlock, parser.getBuilder().getI64Type()) ||
      parser.parseRSquare() || parser.parseComma() ||
      parser.parseOperand(*bScale) || parseBlock(parser, bBlock) ||
      parser.parseComma() || parser.parseOperand(accumulate));
}

void blockscale::printBlocksAndAccumulate(OpAsmPrinter &printer, Operation *,
                                          Value aScale, IntegerAttr aBlock,
                                          Value bScale, IntegerAttr bBlock,
                                          Value accumulate) {
  if (aScale && bScale)
    printer << aScale << '[' << aBlock.getInt() << "], " << bScale << '['
            << bBlock.getInt() << "], ";
  printer << accumulate;
}

//===----------------------------------------------------------------------===//
// async_tile_mma
//===----------------------------------------------------------------------===//

ParseResult
blockscale::parseTilesAndScales(OpAsmParser &parser, ParsedOperand &a,
                                ParsedScales &aScale, ParsedOperand &b,
                                ParsedScales &bScale, ParsedOperand &acc,
                                ParsedOperand &accumulate) {
  SMLoc loc = parser.getCurrentLocation();
  SmallVector<ParsedOperand> list;
  if (parser.parseOperandList(list))
    return failure();
  if (list.size() == 4) {
    a = list[0];
    b = list[1];
  } else if (list.size() == 6) {
    a = list[0];
    aScale = list[1];
    b = list[2];
    bScale = list[3];
  } else {
    return parser.emitError(loc, "expected two tiles, each with scales or none "
                                 "of them, an accumulator and a condition");
  }
  acc = list[list.size() - 2];
  accumulate = list.back();
  return success();
}

void blockscale::printTilesAndScales(OpAsmPrinter &printer, Operation *,
                                     Value a, Value aScale, Value b,
                                     Value bScale, Value acc,
                                     Value accumulate) {
  SmallVector<Value> list = {a, aScale, b, bScale, acc, accumulate};
  llvm::erase(list, Value());
  llvm::interleaveComma(list, printer);
}

/// A type without its name, or with it.
template <typename OpType>
static ParseResult parseShort(OpAsmParser &parser, Type &type) {
  OpType parsed;
  if (parser.parseCustomTypeWithFallback(parsed))
    return failure();
  type = parsed;
  return success();
}

ParseResult blockscale::parseTileAndScaleTypes(OpAsmParser &parser,
                                               const ParsedScales &scale,
                                               Type &a, Type &aScale, Type &b,
                                               Type &bScale, Type &acc) {
  auto parseTile = [&](Type &tile, Type &scales) -> ParseResult {
    return failure(parser.parseType(tile) || parser.parseComma() ||
                   (scale && (parseShort<TmemScalesType>(parser, scales) ||
                              parser.parseComma())));
  };
  return failure(parseTile(a, aScale) || parseTile(b, bScale) ||
                 parseShort<TmemAccType>(parser, acc));
}

void blockscale::printTileAndScaleTypes(OpAsmPrinter &printer, Operation *,
                                        Value, Type a, Type aScale, Type b,
                                        Type bScale, Type acc) {
  auto printTile = [&](Type tile, Type scales) {
    printer << tile << ", ";
    if (!scales)
      return;
    printer.printStrippedAttrOrType(cast<TmemScalesType>(scales));
    printer << ", ";
  };
  printTile(a, aScale);
  printTile(b, bScale);
  printer.printStrippedAttrOrType(cast<TmemAccType>(acc));
}
