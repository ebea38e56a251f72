//===- tinyc.cpp - Somebody's compiler, with blockscale behind it ---------===//
//
// Part of the blockscale project, under the Apache License v2.0 with LLVM
// Exceptions. See LICENSE for license information.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//
//
// A compiler that knows nothing of block-scaled instructions: its dialect has a
// linear layer, which it lowers to a contraction of upstream's linalg, decoded
// element by element. blockscale raises that to its product, chooses kernels,
// and gives PTX with a launch info.
//
//   tinyc model.mlir sm_120a layer    # layer.ptx and layer.json
//   tinyc model.mlir linalg           # what it makes of its ops, as text
//
//===----------------------------------------------------------------------===//

#include "blockscale/Driver/GpuCompilation.h"
#include "blockscale/Driver/GpuOptions.h"
#include "blockscale/Pipelines/Pipelines.h"
#include "blockscale/Runtime/OutputFile.h"
#include "mlir/Dialect/Arith/IR/Arith.h"
#include "mlir/Dialect/Func/IR/FuncOps.h"
#include "mlir/Dialect/Linalg/IR/Linalg.h"
#include "mlir/Dialect/Tensor/IR/Tensor.h"
#include "mlir/Parser/Parser.h"
#include "mlir/Transforms/GreedyPatternRewriteDriver.h"
#include "llvm/Support/SourceMgr.h"
#include "llvm/Support/raw_ostream.h"

using namespace mlir;

//===----------------------------------------------------------------------===//
// The dialect
//===----------------------------------------------------------------------===//

namespace tiny {

/// x (M, K) and w (N, K), each with scales for blocks along K, and bias (N).
class LinearOp : public Op<LinearOp, OpTrait::ZeroRegions, OpTrait::OneResult,
                           OpTrait::NOperands<5>::Impl> {
public:
  using Op::Op;
  static StringRef getOperationName() { return "tiny.linear"; }
  static ArrayRef<StringRef> getAttributeNames() { return {}; }
  RankedTensorType getOperandType(unsigned i) {
    return cast<RankedTensorType>(getOperand(i).getType());
  }
  /// The elements of x that share a scale.
  int64_t getBlock() {
    return getOperandType(0).getDimSize(1) / getOperandType(1).getDimSize(1);
  }
  LogicalResult verify() {
    constexpr int64_t ranks[] = {2, 2, 2, 2, 1};
    for (auto [i, rank] : llvm::enumerate(ranks)) {
      auto type = dyn_cast<RankedTensorType>(getOperand(i).getType());
      if (!type || type.getRank() != rank)
        return emitOpError("expected operand ") << i << " of rank " << rank;
    }
    if (getOperandType(0).isDynamicDim(1) || getOperandType(1).isDynamicDim(1))
      return emitOpError("expected static sizes along K");
    return success();
  }
};

class ReluOp
    : public Op<ReluOp, OpTrait::ZeroRegions, OpTrait::OneResult,
                OpTrait::OneOperand, OpTrait::SameOperandsAndResultType> {
public:
  using Op::Op;
  static StringRef getOperationName() { return "tiny.relu"; }
  static ArrayRef<StringRef> getAttributeNames() { return {}; }
};

class TinyDialect : public Dialect {
public:
  explicit TinyDialect(MLIRContext *context)
      : Dialect(getDialectNamespace(), context, TypeID::get<TinyDialect>()) {
    addOperations<LinearOp, ReluOp>();
  }
  static StringRef getDialectNamespace() { return "tiny"; }
};

} // namespace tiny

//===----------------------------------------------------------------------===//
// Its lowering to upstream's dialects
//===----------------------------------------------------------------------===//

using utils::IteratorType;

/// bias[n] + sum over k of x[m, k] * x_scale[m, k / B] * w[n, k] * ...
struct LowerLinear : OpRewritePattern<tiny::LinearOp> {
  using OpRewritePattern::OpRewritePattern;

  LogicalResult matchAndRewrite(tiny::LinearOp op,
                                PatternRewriter &rewriter) const override {
    Location loc = op.getLoc();
    ValueRange operands = op->getOperands();
    AffineExpr m, n, k;
    bindDims(rewriter.getContext(), m, n, k);
    AffineExpr block = k.floorDiv(op.getBlock());
    auto map = [&](ArrayRef<AffineExpr> results) {
      return AffineMap::get(3, 0, results, rewriter.getContext());
    };
    AffineMap maps[] = {map({m, k}), map({m, block}), map({n, k}),
                        map({n, block}), map({m, n})};

    auto type = cast<RankedTensorType>(op->getResult(0).getType());
    SmallVector<OpFoldResult> sizes = {
        tensor::getMixedSize(rewriter, loc, operands[0], 0),
        tensor::getMixedSize(rewriter, loc, operands[2], 0)};
    Value empty =
        tensor::EmptyOp::create(rewriter, loc, sizes, type.getElementType());
    Value acc = linalg::BroadcastOp::create(rewriter, loc, operands[4], empty,
                                            ArrayRef<int64_t>{0})
                    ->getResult(0);
    auto product = linalg::GenericOp::create(
        rewriter, loc, type, operands.take_front(4), acc, maps,
        ArrayRef{IteratorType::parallel, IteratorType::parallel,
                 IteratorType::reduction},
        [&](OpBuilder &b, Location loc, ValueRange args) {
          auto decode = [&](Value code, Value scale) -> Value {
            Type f32 = b.getF32Type();
            code = arith::ExtFOp::create(b, loc, f32, code);
            scale = arith::ExtFOp::create(b, loc, f32, scale);
            return arith::MulFOp::create(b, loc, code, scale);
          };
          Value term = arith::MulFOp::create(b, loc, decode(args[0], args[1]),
                                             decode(args[2], args[3]));
          Value sum = arith::AddFOp::create(b, loc, args[4], term);
          linalg::YieldOp::create(b, loc, sum);
        });
    rewriter.replaceOp(op, product);
    return success();
  }
};

struct LowerRelu : OpRewritePattern<tiny::ReluOp> {
  using OpRewritePattern::OpRewritePattern;

  LogicalResult matchAndRewrite(tiny::ReluOp op,
                                PatternRewriter &rewriter) const override {
    Value x = op.getOperand();
    auto type = cast<RankedTensorType>(x.getType());
    AffineMap identity = rewriter.getMultiDimIdentityMap(type.getRank());
    SmallVector<IteratorType> loops(type.getRank(), IteratorType::parallel);
    Value empty = tensor::EmptyOp::create(
        rewriter, op.getLoc(), tensor::getMixedSizes(rewriter, op.getLoc(), x),
        type.getElementType());
    rewriter.replaceOpWithNewOp<linalg::GenericOp>(
        op, type, x, empty, ArrayRef{identity, identity}, loops,
        [](OpBuilder &b, Location loc, ValueRange args) {
          Value zero = arith::ConstantOp::create(
              b, loc, b.getZeroAttr(args[0].getType()));
          Value positive = arith::MaximumFOp::create(b, loc, args[0], zero);
          linalg::YieldOp::create(b, loc, positive);
        });
    return success();
  }
};

static LogicalResult lowerToLinalg(ModuleOp module) {
  MLIRContext *context = module.getContext();
  context->loadDialect<arith::ArithDialect, linalg::LinalgDialect,
                       tensor::TensorDialect>();
  RewritePatternSet patterns(context);
  patterns.add<LowerLinear, LowerRelu>(context);
  return applyPatternsGreedily(module, std::move(patterns));
}

//===----------------------------------------------------------------------===//
// The program
//===----------------------------------------------------------------------===//

static int fail(StringRef message) {
  llvm::errs() << "tinyc: error: " << message << "\n";
  return 1;
}

int main(int argc, char **argv) {
  bool isText = argc == 3 && StringRef(argv[2]) == "linalg";
  if (argc != 4 && !isText)
    return fail("usage: tinyc IN.mlir CHIP OUT | tinyc IN.mlir linalg");

  DialectRegistry registry;
  blockscale::registerPipelineDialects(registry);
  registry.insert<tiny::TinyDialect>();
  MLIRContext context(registry);
  llvm::SourceMgr sources;
  SourceMgrDiagnosticHandler printer(sources, &context);
  OwningOpRef<ModuleOp> module =
      parseSourceFile<ModuleOp>(argv[1], sources, &context);
  if (!module || failed(lowerToLinalg(*module)))
    return 1; // The printer has printed why.
  if (isText) {
    module->print(llvm::outs());
    return 0;
  }

  blockscale::GpuCompileOptions options;
  options.raising = blockscale::Raising::Raise;
  if (auto error = blockscale::setGpuOption(options, "target", argv[2]))
    return fail(error.message());
  FailureOr<blockscale::GpuCode> code =
      blockscale::compileForGpu(*module, options);
  if (failed(code))
    return 1;
  if (!code->launchInfo)
    return fail("expected one public function");
  std::string out = argv[3];
  for (auto [path, text] :
       {std::pair(out + ".ptx", code->text),
        std::pair(out + ".json", serializeLaunchInfo(*code->launchInfo))})
    if (auto error = blockscale::writeOutput(path, text))
      return fail(error.message());
  return 0;
}
