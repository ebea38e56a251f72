//===- MmaKernel.cpp - A block of warps per tile --------------------------===//
//
// Part of the blockscale project, under the Apache License v2.0 with LLVM
// Exceptions. See LICENSE for license information.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#include "Kernels/MmaSync/MmaTile.h"
#include "Kernels/SharedTiles/TileCopy.h"
#include "Utils/StoredCodes.h"
#include "mlir/Dialect/Arith/IR/Arith.h"
#include "mlir/Dialect/LLVMIR/LLVMDialect.h"
#include "mlir/Dialect/SCF/IR/SCF.h"
#include "llvm/Support/MathExtras.h"

using namespace mlir;
using namespace mlir::blockscale;

/// Static shared memory that a kernel may have on every chip.
static constexpr int64_t kMaxStaticShared = 48 * 1024;

/// `problem` for blocks that do not reach beyond the operands: a dynamic size
/// is a multiple of that of the tile. Null if a size that is known is not.
static std::optional<KernelProblem> getAligned(const KernelProblem &problem) {
  ScheduleAttr schedule = problem.schedule;
  auto isMultiple = [](int64_t size, int64_t tile) {
    return ShapedType::isDynamic(size) || size % tile == 0;
  };
  if (!isMultiple(problem.m, schedule.getM()) ||
      !isMultiple(problem.n, schedule.getN()) ||
      !isMultiple(problem.k, schedule.getK()))
    return std::nullopt;
  KernelProblem aligned = problem;
  if (ShapedType::isDynamic(problem.m))
    aligned.x.rowMultiple = aligned.xScale.rowMultiple = schedule.getM();
  if (ShapedType::isDynamic(problem.n))
    aligned.y.rowMultiple = aligned.yScale.rowMultiple = schedule.getN();
  if (ShapedType::isDynamic(problem.k)) {
    aligned.x.columnMultiple = aligned.y.columnMultiple = schedule.getK();
    aligned.xScale.columnMultiple = aligned.yScale.columnMultiple =
        schedule.getK() / problem.row.blockSize;
  }
  return aligned;
}

static bool isDynamic(const KernelProblem &problem) {
  return llvm::any_of(ArrayRef({problem.m, problem.n, problem.k}),
                      ShapedType::isDynamic);
}

/// Bytes of shared memory that a block needs whichever path it takes.
static int64_t getSharedBytes(const KernelProblem &problem) {
  std::optional<KernelProblem> aligned = getAligned(problem);
  int64_t bytes = aligned ? SharedStages(*aligned).getNumBytes() : 0;
  if (!aligned || isDynamic(problem))
    bytes = std::max(bytes, SharedStages(problem).getNumBytes());
  return bytes;
}

namespace {

class MmaKernel {
public:
  MmaKernel(gpu::GPUFuncOp kernel, const KernelProblem &problem)
      : kernel(kernel), problem(problem), schedule(problem.schedule),
        loc(kernel.getLoc()) {}

  void build() {
    OpBuilder b = OpBuilder::atBlockBegin(&kernel.getBody().front());
    MmaTile tile;
    tile.shared = makeSharedMemory(b);
    tile.thread = gpu::ThreadIdOp::create(b, loc, gpu::Dimension::x);
    tile.batch = gpu::BlockIdOp::create(b, loc, gpu::Dimension::z);
    ProblemSizes sizes(b, kernel, problem);
    auto [blockM, blockN] = getBlock(b, sizes);
    tile.row = multiply(b, blockM, schedule.getM());
    tile.column = multiply(b, blockN, schedule.getN());
    std::optional<KernelProblem> aligned = getAligned(problem);
    if (!aligned)
      buildMmaTile(b, kernel, problem, sizes, tile, /*isGuarded=*/true);
    else if (!isDynamic(problem))
      buildMmaTile(b, kernel, *aligned, sizes, tile, /*isGuarded=*/false);
    else
      buildPaths(b, sizes, tile, *aligned);
    gpu::ReturnOp::create(b, loc);
  }

private:
  /// All blocks take the one path or all take the other.
  void buildPaths(OpBuilder &b, const ProblemSizes &sizes, const MmaTile &tile,
                  const KernelProblem &aligned) {
    Value isAligned;
    auto require = [&](Value size, int64_t known, int64_t multiple) {
      if (!ShapedType::isDynamic(known))
        return;
      Value rest = arith::RemUIOp::create(b, loc, size, index(b, multiple));
      Value isWhole = arith::CmpIOp::create(b, loc, arith::CmpIPredicate::eq,
                                            rest, index(b, 0));
      isAligned = isAligned ? arith::AndIOp::create(b, loc, isAligned, isWhole)
                            : isWhole;
    };
    require(sizes.m, problem.m, schedule.getM());
    require(sizes.n, problem.n, schedule.getN());
    require(sizes.k, problem.k, schedule.getK());
    auto paths = scf::IfOp::create(b, loc, isAligned, /*withElseRegion=*/true);
    OpBuilder then = paths.getThenBodyBuilder();
    buildMmaTile(then, kernel, aligned, sizes, tile, /*isGuarded=*/false);
    OpBuilder other = paths.getElseBodyBuilder();
    buildMmaTile(other, kernel, problem, sizes, tile, /*isGuarded=*/true);
  }

  Value index(OpBuilder &b, int64_t value) {
    return arith::ConstantIndexOp::create(b, loc, value);
  }

  Value multiply(OpBuilder &b, Value value, int64_t factor) {
    AffineExpr d0 = getAffineDimExpr(0, b.getContext());
    return applyMap(b, loc, AffineMap::get(1, 0, d0 * factor), value)[0];
  }

  Value makeSharedMemory(OpBuilder &b) {
    MLIRContext *context = b.getContext();
    auto space =
        gpu::AddressSpaceAttr::get(context, gpu::AddressSpace::Workgroup);
    auto getType = [&](int64_t size) {
      return MemRefType::get({size}, b.getI8Type(), MemRefLayoutAttrInterface(),
                             space);
    };
    int64_t bytes = getSharedBytes(problem);
    if (bytes > kMaxStaticShared)
      return gpu::DynamicSharedMemoryOp::create(b, loc,
                                                getType(ShapedType::kDynamic));
    Value memory = kernel.addWorkgroupAttribution(
        getType(std::max<int64_t>(bytes, 1)), loc);
    kernel.setWorkgroupAttributionAttr(kernel.getNumWorkgroupAttributions() - 1,
                                       LLVM::LLVMDialect::getAlignAttrName(),
                                       b.getI64IntegerAttr(kBankLineBytes));
    return memory;
  }

  /// The tile of this block, in M and N. Blocks that run at the same time are
  /// those of neighboring numbers: they take a few tiles along M by as many
  /// along N as it takes, not a long row of tiles, so that they share operands
  /// in the L2 cache.
  std::pair<Value, Value> getBlock(OpBuilder &b, const ProblemSizes &sizes) {
    constexpr int64_t kGroup = 8;
    Value x = gpu::BlockIdOp::create(b, loc, gpu::Dimension::x);
    Value y = gpu::BlockIdOp::create(b, loc, gpu::Dimension::y);
    AffineExpr d0 = b.getAffineDimExpr(0);
    auto divide = [&](Value size, int64_t tile) {
      return applyMap(b, loc, AffineMap::get(1, 0, d0.ceilDiv(tile)), size)[0];
    };
    Value tilesM = divide(sizes.m, schedule.getM());
    Value tilesN = divide(sizes.n, schedule.getN());
    std::optional<int64_t> knownM = getConstantIntValue(tilesM);
    if ((knownM && *knownM <= kGroup) || getConstantIntValue(tilesN) == 1)
      return {x, y};
    Value number = createOrFold<arith::AddIOp>(
        b, createOrFold<arith::MulIOp>(b, y, tilesM), x);
    Value perGroup = createOrFold<arith::MulIOp>(b, tilesN, index(b, kGroup));
    Value group = createOrFold<arith::DivUIOp>(b, number, perGroup);
    Value firstM = multiply(b, group, kGroup);
    Value rest = createOrFold<arith::RemUIOp>(b, number, perGroup);
    Value rows = index(b, kGroup);
    if (!knownM || *knownM % kGroup != 0) {
      // The last group has fewer tiles along M.
      Value left = createOrFold<arith::SubIOp>(b, tilesM, firstM);
      rows = createOrFold<arith::MinUIOp>(b, left, rows);
    }
    Value inGroup = createOrFold<arith::RemUIOp>(b, rest, rows);
    return {createOrFold<arith::AddIOp>(b, firstM, inGroup),
            createOrFold<arith::DivUIOp>(b, rest, rows)};
  }

  template <typename Op>
  Value createOrFold(OpBuilder &b, Value lhs, Value rhs) {
    return b.createOrFold<Op>(loc, lhs, rhs);
  }

  gpu::GPUFuncOp kernel;
  const KernelProblem &problem;
  ScheduleAttr schedule;
  Location loc;
};
} // namespace

KernelShape blockscale::getMmaKernelShape(const KernelProblem &problem) {
  ScheduleAttr schedule = problem.schedule;
  int64_t bytes = getSharedBytes(problem);
  return {{schedule.getM(), schedule.getN(), 1},
          {schedule.getNumThreads(), 1, 1},
          bytes > kMaxStaticShared ? bytes : 0};
}

void blockscale::buildMmaKernel(gpu::GPUFuncOp kernel,
                                const KernelProblem &problem) {
  MmaKernel(kernel, problem).build();
}
