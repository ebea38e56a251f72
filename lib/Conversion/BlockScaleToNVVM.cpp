//===- BlockScaleToNVVM.cpp - Conversion to NVVM --------------------------===//
//
// Part of the blockscale project, under the Apache License v2.0 with LLVM
// Exceptions. See LICENSE for license information.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#include "blockscale/Conversion/BlockScaleToNVVM.h"

#include "blockscale/Dialect/IR/BlockScale.h"
#include "mlir/Dialect/Arith/IR/Arith.h"
#include "mlir/Dialect/LLVMIR/LLVMDialect.h"
#include "mlir/Dialect/LLVMIR/NVVMDialect.h"
#include "mlir/Dialect/Vector/IR/VectorOps.h"
#include "mlir/Transforms/WalkPatternRewriteDriver.h"

namespace mlir::blockscale {
#define GEN_PASS_DEF_CONVERTBLOCKSCALETONVVMPASS
#include "blockscale/Conversion/Passes.h.inc"
} // namespace mlir::blockscale

using namespace mlir;
using namespace mlir::blockscale;

static StringRef toRef(std::string_view text) {
  return {text.data(), text.size()};
}

static SmallVector<Value> extractAll(OpBuilder &builder, Location loc,
                                     Value vector) {
  SmallVector<Value> elements;
  int64_t size = cast<VectorType>(vector.getType()).getNumElements();
  for (int64_t i = 0; i != size; ++i)
    elements.push_back(vector::ExtractOp::create(builder, loc, vector, i));
  return elements;
}

namespace {

struct ConvertMmaSync final : OpRewritePattern<MmaSyncOp> {
  using OpRewritePattern::OpRewritePattern;

  LogicalResult matchAndRewrite(MmaSyncOp op,
                                PatternRewriter &rewriter) const override {
    Location loc = op.getLoc();
    const Instruction &instruction = op.getInstruction().getInstruction();
    SmallVector<Value> a = extractAll(rewriter, loc, op.getA());
    SmallVector<Value> b = extractAll(rewriter, loc, op.getB());
    SmallVector<Value> c = extractAll(rewriter, loc, op.getC());
    // The NVVM dialect writes formats, kinds and vectors as PTX does.
    auto getType = [](Format format) {
      return *NVVM::symbolizeMMATypes(toRef(getFormatInfo(format).ptxName));
    };
    std::array<NVVM::MMATypes, 2> types = {getType(instruction.a),
                                           getType(instruction.b)};
    std::string scaleVec = "x" + std::to_string(instruction.scaleVec);
    auto structType = LLVM::LLVMStructType::getLiteral(
        getContext(), SmallVector<Type>(c.size(), rewriter.getF32Type()));
    Value aByte = selector(rewriter, loc, op.getAByte());
    Value aThread = selector(rewriter, loc, op.getAThread());
    Value bByte = selector(rewriter, loc, op.getBByte());
    Value bThread = selector(rewriter, loc, op.getBThread());
    Value result = NVVM::MmaBlockScaleOp::create(
        rewriter, loc, structType, a, b, c, op.getAScale(), aByte, aThread,
        op.getBScale(), bByte, bThread, {kMmaSyncM, kMmaSyncN, instruction.k},
        types, *NVVM::symbolizeScaleVecSize(scaleVec),
        *NVVM::symbolizeBlockScaleFormat(
            toRef(getFormatInfo(instruction.scale).ptxName)),
        *NVVM::symbolizeMMABlockScaleKind(
            toRef(stringifyKind(instruction.kind))));
    SmallVector<Value> sums;
    for (size_t i = 0; i != c.size(); ++i)
      sums.push_back(LLVM::ExtractValueOp::create(rewriter, loc, result, i));
    rewriter.replaceOpWithNewOp<vector::FromElementsOp>(op, op.getType(), sums);
    return success();
  }

private:
  static Value selector(OpBuilder &builder, Location loc, uint64_t value) {
    return arith::ConstantIntOp::create(builder, loc, builder.getI16Type(),
                                        static_cast<int64_t>(value));
  }
};

struct ConvertBlockScaleToNVVMPass final
    : mlir::blockscale::impl::ConvertBlockScaleToNVVMPassBase<
          ConvertBlockScaleToNVVMPass> {
  using Base::Base;

  void runOnOperation() override {
    const Chip *chip = lookupChip(target);
    if (!chip) {
      emitError(getOperation()->getLoc(), describeUnknownChip(target));
      return signalPassFailure();
    }
    WalkResult check = getOperation()->walk([&](MmaSyncOp op) -> WalkResult {
      const Instruction &instruction = op.getInstruction().getInstruction();
      if (chip->path == instruction.path)
        return WalkResult::advance();
      return op.emitOpError("expected a chip with ")
             << getOpcode(instruction) << ", got " << toRef(chip->name);
    });
    if (check.wasInterrupted())
      return signalPassFailure();
    RewritePatternSet patterns(&getContext());
    populateBlockScaleToNVVMConversionPatterns(patterns);
    walkAndApplyPatterns(getOperation(), std::move(patterns));
  }
};

} // namespace

void blockscale::populateBlockScaleToNVVMConversionPatterns(
    RewritePatternSet &patterns) {
  patterns.add<ConvertMmaSync>(patterns.getContext());
}
