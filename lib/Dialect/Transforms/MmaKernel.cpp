//===- MmaKernel.cpp - A block of warps per tile --------------------------===//
//
// Part of the blockscale project, under the Apache License v2.0 with LLVM
// Exceptions. See LICENSE for license information.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#include "CodeAccess.h"
#include "KernelBodies.h"
#include "mlir/Dialect/Arith/IR/Arith.h"
#include "mlir/Dialect/LLVMIR/LLVMDialect.h"
#include "mlir/Dialect/MemRef/IR/MemRef.h"
#include "mlir/Dialect/NVGPU/IR/NVGPUDialect.h"
#include "mlir/Dialect/SCF/IR/SCF.h"
#include "llvm/Support/MathExtras.h"

using namespace mlir;
using namespace mlir::blockscale;

// A block computes kTileM x kTileN results, kTileK of K at a time.
static constexpr int64_t kTileM = 64, kTileN = 64, kTileK = 128;
static constexpr int64_t kWarpsM = 2, kWarpsN = 2;
static constexpr int64_t kThreads = kWarpsM * kWarpsN * kWarpLanes;

KernelShape blockscale::getMmaKernelShape(const KernelProblem &problem) {
  return {{llvm::divideCeilSigned(problem.getM(), kTileM),
           llvm::divideCeilSigned(problem.getN(), kTileN), problem.getBatch()},
          {kThreads, 1, 1}};
}

namespace {
/// A tile of an operand in shared memory.
struct SharedTile {
  const KernelOperand *operand;
  Slot slot;
  Value memory;

  int64_t getCodesPerByte() const { return 8 / slot.bits; }
  MemRefType getType() const { return cast<MemRefType>(memory.getType()); }
};

class MmaKernel {
public:
  MmaKernel(gpu::GPUFuncOp kernel, const KernelProblem &problem)
      : kernel(kernel), problem(problem), loc(kernel.getLoc()) {}

  void build() {
    OpBuilder b = OpBuilder::atBlockBegin(&kernel.getBody().front());
    Kind kind = getEmittedInstruction(problem.row, Path::MmaSync).kind;
    int64_t scales = kTileK / problem.row.blockSize;
    constexpr Slot byte = {8, 0};
    tiles = {addTile(problem.x, kTileM, kTileK, getSlot(kind, problem.row.lhs)),
             addTile(problem.xScale, kTileM, scales, byte),
             addTile(problem.y, kTileN, kTileK, getSlot(kind, problem.row.rhs)),
             addTile(problem.yScale, kTileN, scales, byte)};

    thread = gpu::ThreadIdOp::create(b, loc, gpu::Dimension::x);
    Value blockM = gpu::BlockIdOp::create(b, loc, gpu::Dimension::x);
    Value blockN = gpu::BlockIdOp::create(b, loc, gpu::Dimension::y);
    batch = gpu::BlockIdOp::create(b, loc, gpu::Dimension::z);
    firstRow = multiply(b, blockM, kTileM);
    firstColumn = multiply(b, blockN, kTileN);
    SmallVector<Value> origin = {batch, firstRow, firstColumn};
    if (problem.resultType.getRank() == 2)
      origin.erase(origin.begin());

    auto accType =
        AccType::get(b.getContext(), kTileM, kTileN, kWarpsM, kWarpsN);
    Value acc;
    if (problem.acc)
      acc = AccLoadOp::create(b, loc, accType, kernel.getArgument(*problem.acc),
                              origin);
    else
      acc = AccZeroOp::create(b, loc, accType);
    acc = buildLoop(b, acc);
    AccStoreOp::create(b, loc, acc, kernel.getArgument(problem.result), origin);
    gpu::ReturnOp::create(b, loc);
  }

private:
  SharedTile addTile(const KernelOperand &operand, int64_t rows,
                     int64_t columns, Slot slot) {
    MLIRContext *context = kernel.getContext();
    auto type = MemRefType::get(
        {rows, columns * slot.bits / 8}, IntegerType::get(context, 8),
        MemRefLayoutAttrInterface(),
        gpu::AddressSpaceAttr::get(context, gpu::AddressSpace::Workgroup));
    Value memory = kernel.addWorkgroupAttribution(type, loc);
    // ldmatrix and copies of 16 bytes want it.
    constexpr int64_t kAlignment = 16;
    kernel.setWorkgroupAttributionAttr(
        kernel.getNumWorkgroupAttributions() - 1,
        LLVM::LLVMDialect::getAlignAttrName(),
        IntegerAttr::get(IntegerType::get(context, 64), kAlignment));
    return {&operand, slot, memory};
  }

  Value multiply(OpBuilder &b, Value value, int64_t factor) {
    AffineExpr d0 = getAffineDimExpr(0, b.getContext());
    return applyMap(b, loc, AffineMap::get(1, 0, d0 * factor), value)[0];
  }

  Value buildLoop(OpBuilder &b, Value acc) {
    int64_t steps = llvm::divideCeilSigned(problem.getK(), kTileK);
    Value zero = arith::ConstantIndexOp::create(b, loc, 0);
    Value one = arith::ConstantIndexOp::create(b, loc, 1);
    Value count = arith::ConstantIndexOp::create(b, loc, steps);
    auto loop = scf::ForOp::create(b, loc, zero, count, one, acc);
    OpBuilder inner = OpBuilder::atBlockBegin(loop.getBody());
    Value origins[] = {firstRow, firstRow, firstColumn, firstColumn};
    for (auto [tile, origin] : llvm::zip_equal(tiles, origins))
      copy(inner, tile, origin, loop.getInductionVar());
    if (hasAsyncCopies) {
      Value group = nvgpu::DeviceAsyncCreateGroupOp::create(
          inner, loc, nvgpu::DeviceAsyncTokenType::get(b.getContext()),
          ValueRange());
      nvgpu::DeviceAsyncWaitOp::create(inner, loc, group, nullptr);
    }
    gpu::BarrierOp::create(inner, loc);
    Value next = TileMmaOp::create(
        inner, loc, acc.getType(), tiles[0].memory, tiles[1].memory,
        tiles[2].memory, tiles[3].memory, loop.getRegionIterArgs().front(),
        RowAttr::get(b.getContext(), problem.row));
    // The next step overwrites what other warps may still read.
    gpu::BarrierOp::create(inner, loc);
    scf::YieldOp::create(inner, loc, next);
    return loop.getResult(0);
  }

  //===--------------------------------------------------------------------===//
  // Copies to shared memory
  //===--------------------------------------------------------------------===//

  /// Bytes that one asynchronous copy can move: 16, 8 or 4 where the operand
  /// is stored as its slots are, contiguous along K, and no such piece crosses
  /// the end of a row; 0 where there is no such size.
  int64_t getChunk(const SharedTile &tile) {
    const KernelOperand &operand = *tile.operand;
    bool sameCodes = operand.bits == tile.slot.bits && tile.slot.shift == 0;
    AffineExpr column = getAffineDimExpr(2, kernel.getContext());
    bool isContiguous =
        operand.map.getResults().back() == column &&
        llvm::none_of(operand.map.getResults().drop_back(),
                      [](AffineExpr e) { return e.isFunctionOfDim(2); });
    if (!sameCodes || !isContiguous)
      return 0;
    int64_t rowBytes =
        cast<MemRefType>(kernel.getArgument(operand.argument).getType())
            .getShape()
            .back();
    for (int64_t chunk : {16, 8, 4})
      if (rowBytes % chunk == 0 && tile.getType().getDimSize(1) % chunk == 0)
        return chunk;
    return 0;
  }

  /// Copies step number `step` of `tile.operand`, from row `origin` on. What
  /// lies outside of the operand becomes 0.
  void copy(OpBuilder &b, const SharedTile &tile, Value origin, Value step) {
    int64_t chunk = getChunk(tile);
    hasAsyncCopies |= chunk != 0;
    // Threads take pieces of the tile in turn: chunks, or single bytes.
    int64_t pieceBytes = std::max<int64_t>(chunk, 1);
    int64_t rowPieces = tile.getType().getDimSize(1) / pieceBytes;
    int64_t pieces = tile.getType().getDimSize(0) * rowPieces;
    Value count = arith::ConstantIndexOp::create(b, loc, pieces);
    Value threads = arith::ConstantIndexOp::create(b, loc, kThreads);
    auto loop = scf::ForOp::create(b, loc, thread, count, threads);
    OpBuilder inner = OpBuilder::atBlockBegin(loop.getBody());

    AffineExpr piece, first, s;
    bindDims(b.getContext(), piece, first, s);
    AffineExpr byte = (piece % rowPieces) * pieceBytes;
    int64_t codesPerByte = tile.getCodesPerByte();
    int64_t tileCodes = tile.getType().getDimSize(1) * codesPerByte;
    // (row and byte in the tile; row and column in the operand)
    SmallVector<Value> at =
        applyMap(inner, loc,
                 AffineMap::get(3, 0,
                                {piece.floorDiv(rowPieces), byte,
                                 first + piece.floorDiv(rowPieces),
                                 s * tileCodes + byte * codesPerByte},
                                b.getContext()),
                 {loop.getInductionVar(), origin, step});
    if (chunk)
      copyChunk(inner, tile, chunk, at);
    else
      copyByte(inner, tile, at);
  }

  /// `index` and whether it is below `size`; if not, the last one that is.
  std::pair<Value, Value> clamp(OpBuilder &b, Value index, int64_t size) {
    Value bound = arith::ConstantIndexOp::create(b, loc, size);
    Value last = arith::ConstantIndexOp::create(b, loc, size - 1);
    Value isInside =
        arith::CmpIOp::create(b, loc, arith::CmpIPredicate::ult, index, bound);
    Value clamped = arith::MinUIOp::create(b, loc, index, last);
    return {clamped, isInside};
  }

  void copyChunk(OpBuilder &b, const SharedTile &tile, int64_t chunk,
                 ArrayRef<Value> at) {
    const KernelOperand &operand = *tile.operand;
    auto [row, isRow] = clamp(b, at[2], operand.rows);
    auto [column, isColumn] = clamp(b, at[3], operand.columns);
    Value isInside = arith::AndIOp::create(b, loc, isRow, isColumn);
    // A chunk that is not read still has an address, which must be aligned.
    Value zero = arith::ConstantIndexOp::create(b, loc, 0);
    column = arith::SelectOp::create(b, loc, isColumn, at[3], zero);
    SmallVector<Value> source =
        applyMap(b, loc, operand.map, {batch, row, column});
    if (operand.bits != 8)
      source.back() = divide(b, source.back(), 8 / operand.bits);
    Value size = arith::ConstantIndexOp::create(b, loc, chunk);
    Value bytes = arith::SelectOp::create(b, loc, isInside, size, zero);
    nvgpu::DeviceAsyncCopyOp::create(
        b, loc, nvgpu::DeviceAsyncTokenType::get(b.getContext()), tile.memory,
        ValueRange{at[0], at[1]}, kernel.getArgument(operand.argument), source,
        b.getIndexAttr(chunk), bytes, /*bypassL1=*/UnitAttr());
  }

  Value divide(OpBuilder &b, Value value, int64_t divisor) {
    AffineExpr d0 = getAffineDimExpr(0, b.getContext());
    return applyMap(b, loc, AffineMap::get(1, 0, d0.floorDiv(divisor)),
                    value)[0];
  }

  void copyByte(OpBuilder &b, const SharedTile &tile, ArrayRef<Value> at) {
    const KernelOperand &operand = *tile.operand;
    Type i8 = b.getI8Type();
    Value zero = arith::ConstantIntOp::create(b, loc, i8, 0);
    auto [row, isRow] = clamp(b, at[2], operand.rows);
    Value byte;
    for (int64_t i = 0; i != tile.getCodesPerByte(); ++i) {
      Value offset = arith::ConstantIndexOp::create(b, loc, i);
      Value index = arith::AddIOp::create(b, loc, at[3], offset);
      auto [column, isColumn] = clamp(b, index, operand.columns);
      Value isInside = arith::AndIOp::create(b, loc, isRow, isColumn);
      SmallVector<Value> position =
          applyMap(b, loc, operand.map, {batch, row, column});
      Value code = emitLoadCode(b, loc, kernel.getArgument(operand.argument),
                                operand.bits, position);
      code = arith::SelectOp::create(b, loc, isInside, code, zero);
      Value shift = arith::ConstantIntOp::create(
          b, loc, i8, i * tile.slot.bits + tile.slot.shift);
      code = arith::ShLIOp::create(b, loc, code, shift);
      byte = byte ? arith::OrIOp::create(b, loc, byte, code) : code;
    }
    memref::StoreOp::create(b, loc, byte, tile.memory,
                            ValueRange{at[0], at[1]});
  }

  gpu::GPUFuncOp kernel;
  const KernelProblem &problem;
  Location loc;
  SmallVector<SharedTile> tiles;
  Value thread, batch, firstRow, firstColumn;
  bool hasAsyncCopies = false;
};
} // namespace

void blockscale::buildMmaKernel(gpu::GPUFuncOp kernel,
                                const KernelProblem &problem) {
  MmaKernel(kernel, problem).build();
}
