//===- ScaleBlockRules.cpp - Rules of blocks of scales --------------------===//
//
// Part of the blockscale project, under the Apache License v2.0 with LLVM
// Exceptions. See LICENSE for license information.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//
//
// The text form of a block, and what relates it to types and sizes.
//
//===----------------------------------------------------------------------===//

#include "ScaleBlockRules.h"
#include "blockscale/Support/InstructionTable.h"
#include "mlir/IR/DialectImplementation.h"

using namespace mlir;
using namespace mlir::blockscale;

//===----------------------------------------------------------------------===//
// The attribute
//===----------------------------------------------------------------------===//

/// A number, or `all`.
static ParseResult parseBlockSize(AsmParser &parser, int64_t &size) {
  size = ScaleBlock::kAll;
  if (succeeded(parser.parseOptionalKeyword("all")))
    return success();
  SMLoc loc = parser.getCurrentLocation();
  OptionalParseResult number = parser.parseOptionalInteger(size);
  if (!number.has_value())
    return parser.emitError(loc, "expected a number of elements, or 'all'");
  if (failed(*number))
    return failure();
  // The number that stands for all of them has another spelling.
  if (size == ScaleBlock::kAll)
    return parser.emitError(loc, "expected at least 1 element, or 'all', got ")
           << size;
  return success();
}

Attribute ScaleBlockAttr::parse(AsmParser &parser, Type) {
  SMLoc loc = parser.getCurrentLocation();
  int64_t rows = 0, k = 0;
  if (parser.parseLess() || parser.parseKeyword("rows") ||
      parser.parseEqual() || parseBlockSize(parser, rows) ||
      parser.parseComma() || parser.parseKeyword("k") || parser.parseEqual() ||
      parseBlockSize(parser, k) || parser.parseGreater())
    return {};
  return parser.getChecked<ScaleBlockAttr>(loc, parser.getContext(), rows, k);
}

void ScaleBlockAttr::print(AsmPrinter &printer) const {
  printer << stringifyScaleBlock(getBlock());
}

LogicalResult
ScaleBlockAttr::verify(function_ref<InFlightDiagnostic()> emitError,
                       int64_t rows, int64_t k) {
  auto verify = [&](StringRef name, const std::vector<int64_t> &sizes,
                    int64_t got) -> LogicalResult {
    if (llvm::is_contained(sizes, got))
      return success();
    return emitError() << "expected a scale for " << listBlockSizes(sizes)
                       << " " << name << ", got " << got;
  };
  if (failed(verify("rows", getScaleBlockRows(), rows)))
    return failure();
  return verify("elements along K", getScaleBlockKs(), k);
}

//===----------------------------------------------------------------------===//
// Blocks that fit
//===----------------------------------------------------------------------===//

/// The rows that an operand may have in a block.
static std::vector<int64_t> getLegalRows(const CoarseOperand &operand) {
  std::vector<int64_t> rows = getScaleBlockRows();
  if (operand.startsAnywhere)
    llvm::erase_if(rows, [](int64_t size) {
      return size != 1 && size != ScaleBlock::kAll;
    });
  return rows;
}

static std::vector<ScaleBlock> getLegal(const CoarseOperand &operand) {
  std::optional<Format> element = getElementFormat(operand.element);
  if (!element)
    return {};
  std::vector<ScaleBlock> blocks = getLegalScaleBlocks(
      *element, llvm::to_string(operand.scales.type().getElementType()));
  std::vector<int64_t> rows = getLegalRows(operand);
  llvm::erase_if(blocks, [&](const ScaleBlock &block) {
    return !llvm::is_contained(rows, block.rows);
  });
  return blocks;
}

/// Blocks of instructions are whole.
static bool isWhole(const CoarseOperand &operand, const ScaleBlock &block) {
  std::optional<Format> element = getElementFormat(operand.element);
  return element &&
         isBlockOfInstructions(
             block, *element,
             llvm::to_string(operand.scales.type().getElementType()));
}

/// Whether static sizes are those of `block`. Dynamic ones may be.
static bool fits(const CoarseOperand &operand, const ScaleBlock &block) {
  auto fitsDim = [&](unsigned dim, int64_t size) {
    ShapedType matrix = operand.matrix.type(), scales = operand.scales.type();
    if (scales.isDynamicDim(dim))
      return true;
    if (matrix.isDynamicDim(dim))
      return size != ScaleBlock::kAll || scales.getDimSize(dim) == 1;
    return scales.getDimSize(dim) == getNumScales(matrix.getDimSize(dim), size);
  };
  return fitsDim(operand.rowDim, block.rows) && fitsDim(operand.kDim, block.k);
}

static SmallVector<ScaleBlock> getFitting(const CoarseOperand &operand) {
  SmallVector<ScaleBlock> fitting;
  for (const ScaleBlock &block : getLegal(operand))
    if (fits(operand, block))
      fitting.push_back(block);
  return fitting;
}

ScaleBlock blockscale::getScaleBlock(const CoarseOperand &operand) {
  return operand.block ? operand.block.getBlock() : getFitting(operand).front();
}

//===----------------------------------------------------------------------===//
// Verification
//===----------------------------------------------------------------------===//

static std::string listBlocks(ArrayRef<ScaleBlock> blocks,
                              StringRef conjunction) {
  std::string list;
  for (auto [i, block] : llvm::enumerate(blocks)) {
    if (i != 0)
      list += i + 1 == blocks.size() ? (" " + conjunction + " ").str() : ", ";
    list += stringifyScaleBlock(block);
  }
  return list;
}

/// (C11): a block of the table.
static LogicalResult verifyTypes(Operation *op, const CoarseOperand &operand) {
  std::vector<ScaleBlock> legal = getLegal(operand);
  Type scaleType = operand.scales.type().getElementType();
  if (legal.empty()) {
    // Scales of f32 have blocks for all elements.
    return op->emitOpError("expected ")
           << operand.scales.name << " to be of type f8E8M0FNU or f32 for "
           << operand.element << ", got " << scaleType;
  }
  if (!operand.block || llvm::is_contained(legal, operand.block.getBlock()))
    return success();
  std::vector<int64_t> rows = getLegalRows(operand);
  if (!llvm::is_contained(rows, operand.block.getRows()))
    return op->emitOpError("expected ")
           << operand.blockName << " to have " << listBlockSizes(rows)
           << " rows, since groups of rows start anywhere, got "
           << stringifyScaleBlock(operand.block.getBlock());
  return op->emitOpError("expected ")
         << operand.blockName << " to be " << listBlocks(legal, "or") << " for "
         << operand.element << " with " << scaleType << " scales, got "
         << stringifyScaleBlock(operand.block.getBlock());
}

/// (C12): an attribute where sizes leave the block open.
static LogicalResult verifyKnown(Operation *op, const CoarseOperand &operand) {
  SmallVector<ScaleBlock> fitting = getFitting(operand);
  if (operand.block || fitting.size() == 1)
    return success();
  InFlightDiagnostic error = op->emitOpError("expected ");
  if (fitting.empty())
    error << operand.scales.name << " to have one scale for "
          << listBlockSizes(getLegalRows(operand)) << " rows and "
          << listBlockSizes(getScaleBlockKs()) << " elements along K of "
          << operand.matrix.name << ", got ";
  else
    error << "attribute '" << operand.blockName << "', because "
          << listBlocks(fitting, "and") << " fit, got ";
  return error << operand.scales.type() << " with " << operand.matrix.type();
}

/// (C12): sizes that follow from the block.
static LogicalResult verifyNumScales(Operation *op,
                                     const CoarseOperand &operand,
                                     const NamedDim &dim, int64_t block) {
  ShapedType scales = operand.scales.type();
  if (scales.isDynamicDim(dim.dim) ||
      (dim.isDynamic() && block != ScaleBlock::kAll))
    return success();
  int64_t got = scales.getDimSize(dim.dim);
  int64_t expected = getNumScales(dim.getSize(), block);
  if (got == expected)
    return success();
  return op->emitOpError("expected ")
         << operand.scales.name << " to have " << expected << " along "
         << dim.name << ", one for " << stringifyBlockSize(block) << " of "
         << operand.matrix.name << ", got " << got << " (" << scales << " with "
         << operand.matrix.type() << ")";
}

LogicalResult blockscale::verifyScaleBlock(Operation *op,
                                           const CoarseOperand &operand) {
  if (failed(verifyTypes(op, operand)) || failed(verifyKnown(op, operand)))
    return failure();
  ScaleBlock block = getScaleBlock(operand);
  if (failed(verifyNumScales(op, operand, operand.getRows(), block.rows)) ||
      failed(verifyNumScales(op, operand, operand.getK(), block.k)))
    return failure();
  NamedDim k = operand.getK();
  if (isWhole(operand, block) && !k.isDynamic() && k.getSize() % block.k != 0)
    return op->emitOpError("expected K to be a multiple of ")
           << block.k << ", the block of " << operand.scales.name
           << ", got K = " << k.getSize();
  return success();
}

LogicalResult blockscale::verifyCoarseScales(Operation *op,
                                             IntegerAttr blockSize,
                                             const CoarseOperand &x,
                                             const CoarseOperand &y) {
  if (blockSize)
    return op->emitOpError("expected no 'block_size' with 'x_scale_block', "
                           "'y_scale_block' or scales of type f32, got ")
           << blockSize.getInt();
  for (const CoarseOperand *operand : {&x, &y})
    if (failed(verifyScaleBlock(op, *operand)))
      return failure();
  return success();
}

std::optional<int64_t>
blockscale::findBlockOfInstructions(const CoarseOperand &x,
                                    const CoarseOperand &y) {
  Type scaleType = x.scales.type().getElementType();
  std::optional<Format> scale = getScaleFormat(scaleType);
  ScaleBlock block = getScaleBlock(x);
  if (!scale || block.rows != 1 || block != getScaleBlock(y) ||
      scaleType != y.scales.type().getElementType() ||
      !isLegal({*getElementFormat(x.element), *getElementFormat(y.element),
                *scale, static_cast<unsigned>(block.k)}))
    return std::nullopt;
  return block.k;
}

//===----------------------------------------------------------------------===//
// Sizes at run time
//===----------------------------------------------------------------------===//

void blockscale::checkScaleBlock(SizeChecker &check,
                                 const CoarseOperand &operand, bool hasScales) {
  ScaleBlock block = getScaleBlock(operand);
  auto checkDim = [&](const NamedDim &dim, int64_t size) {
    NamedDim scales = {operand.scales, dim.dim, "scales"};
    if (!hasScales || (!dim.isDynamic() && !scales.isDynamic()))
      return;
    Value expected =
        size == ScaleBlock::kAll
            ? check.getConstant(1)
            : check.apply(getAffineDimExpr(0, operand.matrix.value.getContext())
                              .ceilDiv(size),
                          {OpFoldResult(emitSize(check, dim))});
    check.expect(check.isEqual(emitSize(check, scales), expected),
                 Twine(operand.scales.name) + " to have one along " + dim.name +
                     " for " + stringifyBlockSize(size) + " of " +
                     operand.matrix.name);
  };
  checkDim(operand.getRows(), block.rows);
  checkDim(operand.getK(), block.k);
  NamedDim k = operand.getK();
  if (isWhole(operand, block) && k.isDynamic())
    check.expect(check.isMultiple(emitSize(check, k), block.k),
                 "K to be a multiple of " + Twine(block.k) + ", the block of " +
                     operand.scales.name);
}
