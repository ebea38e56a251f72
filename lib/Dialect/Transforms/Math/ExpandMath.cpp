//===- ExpandMath.cpp - Functions without a library -----------------------===//
//
// Part of the blockscale project, under the Apache License v2.0 with LLVM
// Exceptions. See LICENSE for license information.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//
//
// Upstream calls CUDA's device library, which users may not have. The table
// here has an expansion for each function instead.
//
//===----------------------------------------------------------------------===//

#include "Math/MathEmitter.h"
#include "blockscale/Dialect/Transforms/Passes.h"
#include "mlir/Dialect/Math/IR/Math.h"
#include "mlir/Dialect/SCF/IR/SCF.h"
#include "mlir/Dialect/Vector/IR/VectorOps.h"
#include "llvm/ADT/StringMap.h"

namespace mlir::blockscale {
#define GEN_PASS_DEF_EXPANDMATHPASS
#include "blockscale/Dialect/Transforms/Passes.h.inc"
} // namespace mlir::blockscale

using namespace mlir;
using namespace mlir::blockscale;

namespace {
/// The types that an intrinsic supports.
enum class Types {
  /// f32 and f64; other types are computed in f32, which is exact for them.
  Wide,
  /// f16 and bf16, too.
  All,
};

struct Function {
  /// LLVM's intrinsic, or empty.
  StringRef intrinsic;
  Types types = Types::Wide;
  /// An approximation in f32, of one operand or of two.
  Value (*approximate)(MathEmitter &, Value) = nullptr;
  Value (*approximate2)(MathEmitter &, Value, Value) = nullptr;
};
} // namespace

static const llvm::StringMap<Function> &getFunctions() {
  static const llvm::StringMap<Function> functions = {
      {"math.absf", {"llvm.fabs", Types::All}},
      {"math.copysign", {"llvm.copysign", Types::All}},
      {"math.fma", {"llvm.fma", Types::All}},
      {"math.ceil", {"llvm.ceil"}},
      {"math.floor", {"llvm.floor"}},
      {"math.round", {"llvm.round"}},
      {"math.roundeven", {"llvm.roundeven"}},
      {"math.trunc", {"llvm.trunc"}},
      {"math.sqrt", {"llvm.sqrt"}},
      {"math.rsqrt", {"", Types::Wide, emitRsqrt}},
      {"math.exp", {"", Types::Wide, emitExp}},
      {"math.exp2", {"", Types::Wide, emitExp2}},
      {"math.expm1", {"", Types::Wide, emitExpM1}},
      {"math.log", {"", Types::Wide, emitLog}},
      {"math.log2", {"", Types::Wide, emitLog2}},
      {"math.log10", {"", Types::Wide, emitLog10}},
      {"math.log1p", {"", Types::Wide, emitLog1p}},
      {"math.tanh", {"", Types::Wide, emitTanh}},
      {"math.sinh", {"", Types::Wide, emitSinh}},
      {"math.cosh", {"", Types::Wide, emitCosh}},
      {"math.erf", {"", Types::Wide, emitErf}},
      {"math.sin", {"", Types::Wide, emitSin}},
      {"math.cos", {"", Types::Wide, emitCos}},
      {"math.tan", {"", Types::Wide, emitTan}},
      {"math.powf", {"", Types::Wide, nullptr, emitPow}},
  };
  return functions;
}

namespace {

struct ExpandMathPass final
    : mlir::blockscale::impl::ExpandMathPassBase<ExpandMathPass> {
  void runOnOperation() override {
    SmallVector<Operation *> ops;
    getOperation()->walk([&](Operation *op) {
      if (isa_and_nonnull<math::MathDialect>(op->getDialect()) &&
          isa<FloatType>(getElementTypeOrSelf(op->getOperand(0).getType())))
        ops.push_back(op);
    });
    for (Operation *op : ops)
      if (failed(expand(op)))
        return signalPassFailure();
  }

private:
  static LogicalResult expand(Operation *op) {
    auto unsupported = [&]() -> LogicalResult {
      return op->emitError("not supported in this version: '")
             << op->getName() << "' on " << op->getOperand(0).getType()
             << " on a GPU target";
    };
    auto function = getFunctions().find(op->getName().getStringRef());
    if (function == getFunctions().end())
      return unsupported();
    auto vector = dyn_cast<VectorType>(op->getResult(0).getType());
    if (vector && (vector.getRank() != 1 || vector.isScalable()))
      return unsupported();
    auto type =
        dyn_cast<FloatType>(getElementTypeOrSelf(op->getResult(0).getType()));
    if (!type || !(type.isF16() || type.isBF16() || type.isF32() ||
                   (type.isF64() && !function->second.intrinsic.empty())))
      return unsupported();

    OpBuilder builder(op);
    Location loc = op->getLoc();
    auto emitOne = [&](ValueRange operands) {
      return emit(builder, loc, function->second, type, operands);
    };
    Value result;
    if (vector) {
      SmallVector<Value> elements;
      for (int64_t i = 0; i != vector.getDimSize(0); ++i) {
        SmallVector<Value> operands;
        for (Value operand : op->getOperands())
          operands.push_back(
              vector::ExtractOp::create(builder, loc, operand, i));
        elements.push_back(emitOne(operands));
      }
      result = vector::FromElementsOp::create(builder, loc, vector, elements);
    } else {
      result = emitOne(op->getOperands());
    }
    op->getResult(0).replaceAllUsesWith(result);
    op->erase();
    return success();
  }

  /// Emits the function for operands of `type`.
  static Value emit(OpBuilder &builder, Location loc, const Function &function,
                    FloatType type, ValueRange operands) {
    bool isDirect = type.getWidth() >= 32 || function.types == Types::All;
    FloatType computed = isDirect ? type : builder.getF32Type();
    SmallVector<Value> inputs(operands);
    if (!isDirect)
      for (Value &input : inputs)
        input = arith::ExtFOp::create(builder, loc, computed, input);
    MathEmitter e(builder, loc, computed);
    Value result;
    if (function.approximate)
      result = function.approximate(e, inputs[0]);
    else if (function.approximate2)
      result = function.approximate2(e, inputs[0], inputs[1]);
    else
      result = e.call(function.intrinsic, inputs);
    if (!isDirect)
      result = arith::TruncFOp::create(builder, loc, type, result);
    return result;
  }
};

} // namespace
