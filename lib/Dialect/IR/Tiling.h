//===- Tiling.h - What tilings of several ops share -------------*- C++ -*-===//
//
// Part of the blockscale project, under the Apache License v2.0 with LLVM
// Exceptions. See LICENSE for license information.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//
//
// Parts of implementations of upstream's TilingInterface. The iteration domain
// of a product with scales is ([batch,] M, N, K), with K in elements and a
// reduction into the accumulator.
//
//===----------------------------------------------------------------------===//

#ifndef BLOCKSCALE_LIB_DIALECT_IR_TILING_H
#define BLOCKSCALE_LIB_DIALECT_IR_TILING_H

#include "blockscale/Support/ScaleBlocks.h"
#include "mlir/Interfaces/TilingInterface.h"

namespace mlir::blockscale {

/// Offsets or sizes of a tile.
using Sizes = ArrayRef<OpFoldResult>;

/// A parallel loop for each dimension of `value`.
SmallVector<utils::IteratorType> getParallelLoops(Value value);

/// The domain with all of `sizes`.
SmallVector<Range> getDomain(OpBuilder &builder, Sizes sizes);

/// The sizes of a tensor, or of a vector.
SmallVector<OpFoldResult> getSizes(OpBuilder &builder, Location loc,
                                   Value value);

/// Vectors have a domain, as the interface requires, but cannot be sliced.
LogicalResult verifyTensors(Operation *op, bool isTensor);

/// Whether `size` is that of dimension `dim` of `value`.
bool isSizeOf(Value size, Value value, int64_t dim);

/// `value` times `factor`, over `divisor`.
OpFoldResult scaleSize(OpBuilder &builder, Location loc, OpFoldResult value,
                       int64_t factor, int64_t divisor);

/// The slice of `source` at a tile, and the ops that create such slices.
Value extractTile(OpBuilder &builder, Location loc, Value source, Sizes offsets,
                  Sizes sizes);
SmallVector<Operation *> getSlices(ValueRange tiles);

/// The result `resultNumber` of `op` on a tile of that result.
template <typename Op>
FailureOr<TilingResult> generateTile(OpBuilder &builder, Op op,
                                     unsigned resultNumber, Sizes offsets,
                                     Sizes sizes) {
  SmallVector<OpFoldResult> domainOffsets, domainSizes;
  if (failed(op.getIterationDomainTileFromResultTile(
          builder, resultNumber, offsets, sizes, domainOffsets, domainSizes)))
    return failure();
  FailureOr<TilingResult> tiled =
      op.getTiledImplementation(builder, domainOffsets, domainSizes);
  if (succeeded(tiled))
    tiled->tiledValues = {tiled->tiledValues[resultNumber]};
  return tiled;
}

//===----------------------------------------------------------------------===//
// Products
//===----------------------------------------------------------------------===//

/// The loops of a product into `acc`.
SmallVector<utils::IteratorType> getProductLoops(Value acc);

/// The offset and the size of a tile in one dimension.
struct TileRange {
  OpFoldResult offset, size;
};

/// The coarse scales that a tile of an operand needs.
struct ScaleRanges {
  TileRange rows, k;
};

/// Those of the operand x or y of `op`, with `scales` of blocks of `block`, for
/// the tile of `rows` (which errors call `rowName`) and `k`. Emits an error if
/// the tile cuts a block.
std::optional<ScaleRanges>
getScaleRanges(OpBuilder &builder, Operation *op, bool isX, Value scales,
               const ScaleBlock &block, const TileRange &rows,
               const TileRange &k, StringRef rowName);

/// A tile of the iteration domain of a product into `acc`, and the slices of
/// operands that it needs.
class ProductTile {
public:
  ProductTile(OpBuilder &builder, Location loc, Value acc, Sizes offsets,
              Sizes sizes)
      : builder(builder), loc(loc), acc(acc), offsets(offsets), sizes(sizes) {}

  /// The slice of x, or of its metadata or scales, of which an element is
  /// `perElement` elements along K.
  Value sliceRows(Value source, int64_t perElement);
  /// The same of y and its scales.
  Value sliceColumns(Value source, int64_t perElement);
  Value sliceAcc();
  /// The slice of scales of x or of y, whose last dimension is K or is not.
  Value sliceScales(Value source, bool isKLast, const TileRange &rows,
                    const TileRange &k);

private:
  Value slice(Value source, int64_t rowDim, bool isKLast, int64_t perElement);
  std::pair<OpFoldResult, OpFoldResult> getBatch(Value source);

  OpBuilder &builder;
  Location loc;
  Value acc;
  Sizes offsets, sizes;
};

} // namespace mlir::blockscale

#endif // BLOCKSCALE_LIB_DIALECT_IR_TILING_H
