//===- BlockScaleToNVVM.cpp - Conversion to NVVM --------------------------===//
//
// Part of the blockscale project, under the Apache License v2.0 with LLVM
// Exceptions. See LICENSE for license information.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#include "blockscale/Conversion/BlockScaleToNVVM.h"

#include "Tcgen05/Predicates.h"
#include "Tcgen05/SharedAddress.h"
#include "blockscale/Conversion/Tcgen05ToNVVM.h"
#include "blockscale/Dialect/IR/BlockScale.h"
#include "blockscale/Dialect/IR/SoftwareTensorCore.h"
#include "mlir/Conversion/LLVMCommon/MemRefBuilder.h"
#include "mlir/Conversion/LLVMCommon/TypeConverter.h"
#include "mlir/Conversion/NVGPUToNVVM/NVGPUToNVVM.h"
#include "mlir/Dialect/Arith/IR/Arith.h"
#include "mlir/Dialect/GPU/IR/GPUDialect.h"
#include "mlir/Dialect/LLVMIR/LLVMDialect.h"
#include "mlir/Dialect/LLVMIR/NVVMDialect.h"
#include "mlir/Dialect/MemRef/IR/MemRef.h"
#include "mlir/Dialect/Vector/IR/VectorOps.h"
#include "mlir/Transforms/CSE.h"
#include "mlir/Transforms/WalkPatternRewriteDriver.h"

namespace mlir::blockscale {
#define GEN_PASS_DEF_CONVERTBLOCKSCALETONVVMPASS
#include "blockscale/Conversion/Passes.h.inc"
} // namespace mlir::blockscale

using namespace mlir;
using namespace mlir::blockscale;

static SmallVector<Value> extractAll(OpBuilder &builder, Location loc,
                                     Value vector) {
  SmallVector<Value> elements;
  int64_t size = cast<VectorType>(vector.getType()).getNumElements();
  for (int64_t i = 0; i != size; ++i)
    elements.push_back(builder.createOrFold<vector::ExtractOp>(loc, vector, i));
  return elements;
}

/// The values of the first `count` fields of `structure`.
static SmallVector<Value> extractFields(OpBuilder &builder, Location loc,
                                        Value structure, size_t count) {
  SmallVector<Value> fields;
  for (size_t i = 0; i != count; ++i)
    fields.push_back(LLVM::ExtractValueOp::create(builder, loc, structure, i));
  return fields;
}

static Value selector(OpBuilder &builder, Location loc, uint64_t value) {
  return arith::ConstantIntOp::create(builder, loc, builder.getI16Type(),
                                      static_cast<int64_t>(value));
}

/// Converts an `mma_sync` or `mma_sp`; `create` makes the op of NVVM.
template <typename Op, typename CreateFn>
static LogicalResult convertMma(Op op, PatternRewriter &rewriter,
                                CreateFn create) {
  Location loc = op.getLoc();
  const Instruction &instruction = op.getInstruction().getInstruction();
  SmallVector<Value> a = extractAll(rewriter, loc, op.getA());
  SmallVector<Value> b = extractAll(rewriter, loc, op.getB());
  SmallVector<Value> c = extractAll(rewriter, loc, op.getC());
  // The NVVM dialect has the names of formats, kinds and vectors of PTX.
  auto getType = [](Format format) {
    return *NVVM::symbolizeMMATypes(getFormatInfo(format).ptxName);
  };
  std::array<NVVM::MMATypes, 2> types = {getType(instruction.a),
                                         getType(instruction.b)};
  std::string scaleVec = "x" + std::to_string(instruction.scaleVec);
  auto structType = LLVM::LLVMStructType::getLiteral(
      rewriter.getContext(),
      SmallVector<Type>(c.size(), rewriter.getF32Type()));
  Value aByte = selector(rewriter, loc, op.getAByte());
  Value aThread = selector(rewriter, loc, op.getAThread());
  Value bByte = selector(rewriter, loc, op.getBByte());
  Value bThread = selector(rewriter, loc, op.getBThread());
  Value result = create(
      structType, ValueRange(a), ValueRange(b), ValueRange(c), op.getAScale(),
      aByte, aThread, op.getBScale(), bByte, bThread,
      ArrayRef<int64_t>{instruction.m, instruction.n, instruction.k}, types,
      *NVVM::symbolizeScaleVecSize(scaleVec),
      *NVVM::symbolizeBlockScaleFormat(
          getFormatInfo(instruction.scale).ptxName),
      *NVVM::symbolizeMMABlockScaleKind(stringifyKind(instruction.kind)));
  rewriter.replaceOpWithNewOp<vector::FromElementsOp>(
      op, op.getType(), extractFields(rewriter, loc, result, c.size()));
  return success();
}

static LogicalResult convertMmaSync(MmaSyncOp op, PatternRewriter &rewriter) {
  return convertMma(op, rewriter,
                    [&](Type type, ValueRange a, ValueRange b, ValueRange c,
                        auto... rest) -> Value {
                      return NVVM::MmaBlockScaleOp::create(
                          rewriter, op.getLoc(), type, a, b, c, rest...);
                    });
}

static LogicalResult convertMmaSp(MmaSpOp op, PatternRewriter &rewriter) {
  Value selector =
      LLVM::ConstantOp::create(rewriter, op.getLoc(), rewriter.getI32Type(), 0);
  return convertMma(op, rewriter,
                    [&](Type type, ValueRange a, ValueRange b, ValueRange c,
                        auto... rest) -> Value {
                      return NVVM::MmaSpBlockScaleOp::create(
                          rewriter, op.getLoc(), type, a, b, c,
                          op.getMetadata(), selector, rest...);
                    });
}

/// The memory is contiguous, see (D1).
static Value getPointer(OpBuilder &b, LoadMatrixOp op,
                        const LLVMTypeConverter &converter) {
  Location loc = op.getLoc();
  Value base = getSharedPointer(b, loc, converter, op.getMemory());
  Value offset =
      arith::IndexCastUIOp::create(b, loc, b.getI64Type(), op.getOffset());
  Value row =
      LLVM::GEPOp::create(b, loc, base.getType(), b.getI8Type(), base, offset);
  if (op.getPlus() == 0)
    return row;
  // Separate, so that it becomes an immediate offset of the instruction.
  return LLVM::GEPOp::create(b, loc, base.getType(), b.getI8Type(), row,
                             LLVM::GEPArg(static_cast<int32_t>(op.getPlus())));
}

static LogicalResult convertLoadMatrix(LoadMatrixOp op,
                                       PatternRewriter &rewriter,
                                       const LLVMTypeConverter &converter) {
  Location loc = op.getLoc();
  MLIRContext *context = op.getContext();
  const MatrixLoad &form = op.getForm();
  auto type = cast<VectorType>(op.getRegisters().getType());
  int64_t count = type.getNumElements();
  Type words = LLVM::LLVMStructType::getLiteral(
      context, SmallVector<Type>(count, rewriter.getI32Type()));
  unsigned matrices = count / form.registers;
  Value loaded = NVVM::LdMatrixOp::create(
      rewriter, loc, words, getPointer(rewriter, op, converter), matrices,
      form.isTransposed ? NVVM::MMALayout::col : NVVM::MMALayout::row,
      NVVM::LdStMatrixShapeAttr::get(context, form.m, form.n),
      // The NVVM dialect has the name of the type of PTX.
      *NVVM::symbolizeLdStMatrixEltType(form.type));
  rewriter.replaceOpWithNewOp<vector::FromElementsOp>(
      op, type, extractFields(rewriter, loc, loaded, count));
  return success();
}

static constexpr StringLiteral kName = "__blockscale_dynamic_shared";

static uint64_t getAlignment(gpu::DynamicSharedMemoryOp op) {
  auto asked = op->getAttrOfType<IntegerAttr>(kDynamicAlignmentName);
  return std::max<int64_t>(kBankRowBytes, asked ? asked.getInt() : 0);
}

static LLVM::GlobalOp getVariable(OpBuilder &b, gpu::GPUModuleOp module,
                                  LLVM::LLVMPointerType pointerType,
                                  uint64_t alignment) {
  if (auto variable = module.lookupSymbol<LLVM::GlobalOp>(kName)) {
    variable.setAlignment(
        std::max(alignment, variable.getAlignment().value_or(0)));
    return variable;
  }
  OpBuilder::InsertionGuard guard(b);
  b.setInsertionPointToStart(module.getBody());
  return LLVM::GlobalOp::create(
      b, module.getLoc(), LLVM::LLVMArrayType::get(b.getI8Type(), 0),
      /*isConstant=*/false, LLVM::Linkage::External, kName, Attribute(),
      alignment, pointerType.getAddressSpace());
}

/// The conversion of the gpu dialect defines a variable in the module, to which
/// the code generator gives a byte. Then dynamic shared memory starts after it,
/// and its end is beyond the size of the launch. An external variable is the
/// dynamic memory itself (PTX ISA, "extern .shared").
static LogicalResult
convertDynamicSharedMemory(gpu::DynamicSharedMemoryOp op,
                           PatternRewriter &rewriter,
                           const LLVMTypeConverter &converter) {
  Location loc = op.getLoc();
  auto module = op->getParentOfType<gpu::GPUModuleOp>();
  auto type = dyn_cast<LLVM::LLVMStructType>(
      converter.convertType(op.getResultMemref().getType()));
  if (!module || !type)
    return rewriter.notifyMatchFailure(op, "expected a gpu.module");
  auto pointerType = cast<LLVM::LLVMPointerType>(type.getBody()[0]);
  Value pointer = LLVM::AddressOfOp::create(
      rewriter, loc, pointerType,
      getVariable(rewriter, module, pointerType, getAlignment(op))
          .getSymName());
  Value zero = LLVM::ConstantOp::create(rewriter, loc, rewriter.getI64Type(),
                                        rewriter.getI64IntegerAttr(0));
  Value one = LLVM::ConstantOp::create(rewriter, loc, rewriter.getI64Type(),
                                       rewriter.getI64IntegerAttr(1));
  // As upstream, the size is not known.
  auto memory = MemRefDescriptor::poison(rewriter, loc, type);
  memory.setAllocatedPtr(rewriter, loc, pointer);
  memory.setAlignedPtr(rewriter, loc, pointer);
  memory.setOffset(rewriter, loc, zero);
  memory.setSize(rewriter, loc, 0, zero);
  memory.setStride(rewriter, loc, 0, one);
  rewriter.replaceOpWithNewOp<UnrealizedConversionCastOp>(
      op, op.getResultMemref().getType(), Value(memory));
  return success();
}

/// The intrinsic is declared as not accessing memory (LLVM 22), so loads of
/// data that the previous kernel stores could move in front of it.
static LogicalResult convertGridWait(NVVM::GriddepcontrolOp op,
                                     PatternRewriter &rewriter) {
  if (op.getKind() != NVVM::GridDepActionKind::wait)
    return rewriter.notifyMatchFailure(op, "expected a wait");
  rewriter.replaceOpWithNewOp<LLVM::InlineAsmOp>(
      op, /*res=*/TypeRange(), /*operands=*/ValueRange(),
      "griddepcontrol.wait;", "~{memory}", /*has_side_effects=*/true,
      /*is_align_stack=*/false, LLVM::TailCallKind::None,
      LLVM::AsmDialectAttr(), ArrayAttr());
  return success();
}

namespace {
struct ConvertBlockScaleToNVVMPass final
    : mlir::blockscale::impl::ConvertBlockScaleToNVVMPassBase<
          ConvertBlockScaleToNVVMPass> {
  void runOnOperation() override {
    FailureOr<TargetAttr> target = getTarget(getOperation());
    if (failed(target))
      return signalPassFailure();
    const Chip &chip = (*target).getFinalChip();
    bool isSoftware = hasSoftwareTensorCore(*target);
    WalkResult check =
        getOperation()->walk([&](InstructionOpInterface op) -> WalkResult {
          if (op.isSupportedOn(chip) || (isSoftware && needsTensorMemory(op)))
            return WalkResult::advance();
          return op.emitOpError("expected a chip with ")
                 << op.describeInstruction() << ", got "
                 << StringRef(chip.name);
        });
    if (check.wasInterrupted())
      return signalPassFailure();
    bool hasDescriptors = alignDescribedMemory(getOperation());
    if (failed(convertTmemControlFlow(getOperation())))
      return signalPassFailure();
    LLVMTypeConverter converter(&getContext());
    nvgpu::populateCommonGPUTypeAndAttributeConversions(converter);
    RewritePatternSet patterns(&getContext());
    populateBlockScaleToNVVMConversionPatterns(converter, patterns);
    markPredicated(getOperation(), /*hasTensorCore=*/!isSoftware);
    walkAndApplyPatterns(getOperation(), std::move(patterns));
    flattenPredicated(getOperation());
    // Descriptors of the same memory share their base.
    if (hasDescriptors) {
      IRRewriter rewriter(&getContext());
      DominanceInfo dominance;
      eliminateCommonSubExpressions(rewriter, dominance, getOperation());
    }
  }
};
} // namespace

void blockscale::populateBlockScaleToNVVMConversionPatterns(
    const LLVMTypeConverter &converter, RewritePatternSet &patterns) {
  patterns.add(convertMmaSync).add(convertMmaSp).add(convertGridWait);
  addPatterns(patterns, converter, convertLoadMatrix,
              convertDynamicSharedMemory);
  populateTcgen05ToNVVMConversionPatterns(converter, patterns);
  populateAsyncToNVVMConversionPatterns(converter, patterns);
}
