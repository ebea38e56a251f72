//===- ToFragments.cpp - From tiles to lanes ------------------------------===//
//
// Part of the blockscale project, under the Apache License v2.0 with LLVM
// Exceptions. See LICENSE for license information.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#include "Fragments/LanePatterns.h"

#include "Fragments/AccLowering.h"
#include "Fragments/FragmentEmitter.h"
#include "Selection/CoarseScales.h"
#include "Utils/IndexValues.h"
#include "blockscale/Dialect/IR/BlockScale.h"
#include "blockscale/Dialect/Transforms/Passes.h"
#include "blockscale/Dialect/Transforms/Transforms.h"
#include "mlir/Dialect/Affine/IR/AffineOps.h"
#include "mlir/Dialect/Arith/IR/Arith.h"
#include "mlir/Dialect/LLVMIR/LLVMDialect.h"
#include "mlir/Dialect/LLVMIR/NVVMDialect.h"
#include "mlir/Dialect/MemRef/IR/MemRef.h"
#include "mlir/Dialect/NVGPU/IR/NVGPUDialect.h"
#include "mlir/Dialect/SCF/IR/SCF.h"
#include "mlir/Dialect/SCF/Transforms/Patterns.h"
#include "mlir/Dialect/Vector/IR/VectorOps.h"

namespace mlir::blockscale {
#define GEN_PASS_DEF_TOFRAGMENTSPASS
#include "blockscale/Dialect/Transforms/Passes.h.inc"
} // namespace mlir::blockscale

using namespace mlir;
using namespace mlir::blockscale;

namespace {

/// Accumulators become the elements that a lane holds, and fragments its
/// registers; so do shared vectors, in
/// a function that multiplies vectors. Elements are separate values, not a
/// vector, because the code generator needs extra moves to split long vectors.
class FragmentTypeConverter : public TypeConverter {
public:
  explicit FragmentTypeConverter(bool hasSharedVectors) {
    addConversion([](Type type) { return type; });
    addConversion([](AccType type, SmallVectorImpl<Type> &types) {
      const AccLowering *lowering = lookupAccLowering(type);
      if (!lowering)
        return failure();
      types.append(lowering->getNumElements(type),
                   Float32Type::get(type.getContext()));
      return success();
    });
    addConversion([](FragmentsType type, SmallVectorImpl<Type> &types) {
      types.append(type.getRegisters(),
                   IntegerType::get(type.getContext(), 32));
      return success();
    });
    if (!hasSharedVectors)
      return;
    addConversion([](VectorType type, SmallVectorImpl<Type> &types)
                      -> std::optional<LogicalResult> {
      if (!isSharedVector(type))
        return std::nullopt;
      types.append(getNumAccElements(type.getDimSize(0), type.getDimSize(1)),
                   type.getElementType());
      return success();
    });
  }
};

struct ToFragmentsPass final
    : mlir::blockscale::impl::ToFragmentsPassBase<ToFragmentsPass> {
  void runOnOperation() override {
    gpu::GPUFuncOp function = getOperation();
    if (function.isExternal())
      return;
    bool hasTiles = false, hasVectors = false, hasWarpgroups = false;
    function.walk([&](Operation *op) {
      hasTiles |= isAccOp(op);
      hasVectors |= isa<MmaScaledOp>(op);
      hasWarpgroups |= isa<WarpgroupMmaOp>(op);
    });
    if (!hasTiles && !hasVectors)
      return;

    if (failed(refuseCoarseScales(function)) ||
        failed(verifyDistribution(function, hasVectors)))
      return signalPassFailure();

    alignSharedMemory(function);

    OpBuilder builder = OpBuilder::atBlockBegin(&function.getBody().front());
    Value lane = gpu::LaneIdOp::create(builder, function.getLoc(),
                                       /*upperBound=*/IntegerAttr());
    Value warpgroup;
    if (hasWarpgroups)
      warpgroup = emitWarpgroup(builder, function.getLoc());
    FragmentTypeConverter converter(hasVectors);
    ConversionTarget target(getContext());
    target.markUnknownOpDynamicallyLegal([&](Operation *op) {
      return converter.isLegal(op->getOperandTypes()) &&
             converter.isLegal(op->getResultTypes());
    });
    target.addIllegalOp<
        TileMmaOp, LoadFragmentsOp, FragmentsMmaOp, AccZeroOp, AccLoadOp,
        AccStoreOp, AccGenerateOp, AccForEachOp, AccQuantizeOp, AccReadOp,
        AccFactorsOp, AccPromoteOp, AccInterleaveOp, AccAddOp, WarpgroupMmaOp,
        WarpgroupMmaMixedOp, WarpgroupMmaGemvOp, WarpgroupWaitOp, AccTotalOp,
        AccTransposeOp, MmaScaledOp>();
    RewritePatternSet patterns(&getContext());
    populateToFragmentsPatterns(converter, patterns, lane, warpgroup);
    scf::populateSCFStructuralTypeConversionsAndLegality(converter, patterns,
                                                         target);
    if (failed(applyPartialConversion(function, target, std::move(patterns))))
      return signalPassFailure();
    eraseDeadOperands(function);
  }

private:
  /// The number of the warpgroup of this thread. All lanes of a warp have it
  /// from one of them: so ptxas keeps what depends on it in uniform registers,
  /// as descriptors are, and needs no moves between instructions of wgmma.
  static Value emitWarpgroup(OpBuilder &b, Location loc) {
    constexpr int64_t kThreads = 128;
    constexpr int32_t kAllLanes = -1, kWholeWarp = 31;
    Value thread = gpu::ThreadIdOp::create(b, loc, gpu::Dimension::x);
    Value number =
        applyExpr(b, loc, b.getAffineDimExpr(0).floorDiv(kThreads), thread);
    number = arith::IndexCastUIOp::create(b, loc, b.getI32Type(), number);
    number = NVVM::ShflOp::create(
        b, loc, b.getI32Type(), makeWord(b, loc, kAllLanes), number,
        makeWord(b, loc, 0), makeWord(b, loc, kWholeWarp), NVVM::ShflKind::idx,
        UnitAttr());
    return arith::IndexCastUIOp::create(b, loc, b.getIndexType(), number);
  }

  /// ldmatrix reads rows of 16 bytes, which must be aligned to 16. Tiles and
  /// vectors may be any part of workgroup memory, so all of it is aligned.
  static void alignSharedMemory(gpu::GPUFuncOp function) {
    constexpr int64_t kAlignment = 16;
    StringRef name = LLVM::LLVMDialect::getAlignAttrName();
    auto attr = IntegerAttr::get(IntegerType::get(function.getContext(), 64),
                                 kAlignment);
    for (unsigned i = 0; i != function.getNumWorkgroupAttributions(); ++i) {
      auto old = dyn_cast_or_null<IntegerAttr>(
          function.getWorkgroupAttributionAttr(i, name));
      if (!old || old.getInt() < kAlignment)
        function.setWorkgroupAttributionAttr(i, name, attr);
    }
  }

  /// Erases reads of whole operands, which loads of the lanes have replaced.
  static void eraseDeadOperands(gpu::GPUFuncOp function) {
    SmallVector<Operation *> vectorOps;
    function.walk([&](Operation *op) {
      if (op->getNumResults() == 1 &&
          isa<VectorType>(op->getResult(0).getType()))
        vectorOps.push_back(op);
    });
    for (Operation *op : llvm::reverse(vectorOps))
      if (isOpTriviallyDead(op))
        op->erase();
  }
};

} // namespace

void blockscale::populateToFragmentsPatterns(const TypeConverter &converter,
                                             RewritePatternSet &patterns,
                                             Value lane, Value warpgroup) {
  populateTileOpPatterns(converter, patterns, lane);
  populateFragmentsPatterns(converter, patterns, lane);
  populateWarpgroupPatterns(converter, patterns, lane, warpgroup);
  populateSharedVectorPatterns(converter, patterns, lane);
}
