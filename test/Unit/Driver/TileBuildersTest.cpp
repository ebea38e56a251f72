//===- TileBuildersTest.cpp - Tests of ops that are built in C++ ----------===//
//
// Part of the blockscale project, under the Apache License v2.0 with LLVM
// Exceptions. See LICENSE for license information.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//
//
// Each builder gives an op that the verifier takes, with the types that follow
// from its operands.
//
//===----------------------------------------------------------------------===//

#include "blockscale/Dialect/IR/Sparse.h"
#include "mlir/Dialect/Arith/IR/Arith.h"
#include "mlir/Dialect/Func/IR/FuncOps.h"
#include "mlir/IR/Builders.h"
#include "mlir/IR/Verifier.h"

#include <gtest/gtest.h>

using namespace mlir;
using namespace mlir::blockscale;

namespace {
class TileBuildersTest : public testing::Test {
protected:
  TileBuildersTest() : builder(&context) {
    context.loadDialect<BlockScaleDialect, arith::ArithDialect,
                        func::FuncDialect>();
    module = ModuleOp::create(builder, builder.getUnknownLoc());
    builder.setInsertionPointToEnd(module->getBody());
  }

  Location loc() { return builder.getUnknownLoc(); }
  Type f8() { return Float8E4M3FNType::get(&context); }
  Type f4() { return Float4E2M1FNType::get(&context); }
  Type e8m0() { return Float8E8M0FNUType::get(&context); }
  Type f32() { return builder.getF32Type(); }

  /// A value of a tensor type, of an op that nobody verifies the meaning of.
  Value makeTensor(ArrayRef<int64_t> shape, Type element) {
    return makeValue(RankedTensorType::get(shape, element));
  }
  Value makeValue(Type type) {
    return UnrealizedConversionCastOp::create(builder, loc(), type,
                                              ValueRange())
        .getResult(0);
  }

  /// The type of a result, as text.
  static std::string print(Value value) {
    std::string text;
    llvm::raw_string_ostream(text) << value.getType();
    return text;
  }

  bool verifies() { return succeeded(verify(*module)); }

  MLIRContext context;
  OpBuilder builder;
  OwningOpRef<ModuleOp> module;
};
} // namespace

TEST_F(TileBuildersTest, MmaScaled) {
  Value x = makeTensor({4, 64}, f8()), xs = makeTensor({4, 2}, e8m0()),
        y = makeTensor({64, 6}, f4()), ys = makeTensor({2, 6}, e8m0()),
        acc = makeTensor({4, 6}, f32());
  auto op = MmaScaledOp::create(builder, loc(), x, xs, y, ys, acc);
  EXPECT_EQ(print(op.getResult()), "tensor<4x6xf32>");
  EXPECT_FALSE(op.getBlockSize().has_value());
  EXPECT_EQ(op.getBlock(), 32);

  constexpr int64_t any = ShapedType::kDynamic;
  Value z = makeTensor({4, any}, f4()), zs = makeTensor({4, any}, f8()),
        w = makeTensor({any, 6}, f4()), ws = makeTensor({any, 6}, f8());
  auto dynamic = MmaScaledOp::create(builder, loc(), z, zs, w, ws, acc, 16);
  EXPECT_EQ(dynamic.getBlock(), 16);
  EXPECT_TRUE(verifies());
}

TEST_F(TileBuildersTest, Quantize) {
  Value x = makeTensor({4, 64}, builder.getBF16Type());
  auto mxfp8 = QuantizeOp::create(builder, loc(), x, f8());
  EXPECT_EQ(print(mxfp8.getElements()), "tensor<4x64xf8E4M3FN>");
  EXPECT_EQ(print(mxfp8.getScales()), "tensor<4x2xf8E8M0FNU>");
  EXPECT_EQ(mxfp8.getBlockSize(), 32u);
  EXPECT_FALSE(mxfp8.getAmax());

  Value g = makeValue(f32());
  auto nvfp4 = QuantizeOp::create(builder, loc(), x, f4(), f8(), 0, g,
                                  /*hasAmax=*/true);
  EXPECT_EQ(print(nvfp4.getScales()), "tensor<4x4xf8E4M3FN>");
  EXPECT_EQ(nvfp4.getBlockSize(), 16u);
  EXPECT_EQ(print(nvfp4.getAmax()), "tensor<f32>");
  EXPECT_EQ(nvfp4.getTensorScale(), g);

  // 2 blocks and what is left of a third one.
  auto padded = QuantizeOp::create(builder, loc(), makeTensor({4, 65}, f32()),
                                   f4(), Type(), 32, Value(),
                                   /*hasAmax=*/false, /*isPadded=*/true);
  EXPECT_EQ(print(padded.getScales()), "tensor<4x3xf8E8M0FNU>");
  EXPECT_TRUE(padded.getPad());

  constexpr int64_t any = ShapedType::kDynamic;
  auto dynamic =
      QuantizeOp::create(builder, loc(), makeTensor({any, any}, f32()), f8());
  EXPECT_EQ(print(dynamic.getScales()), "tensor<?x?xf8E8M0FNU>");
  auto vectors = QuantizeOp::create(builder, loc(),
                                    makeValue(VectorType::get({4, 32}, f32())),
                                    f8(), Type(), 0, Value(), /*hasAmax=*/true);
  EXPECT_EQ(print(vectors.getScales()), "vector<4x1xf8E8M0FNU>");
  EXPECT_EQ(print(vectors.getAmax()), "f32");
  EXPECT_TRUE(verifies());
}

TEST_F(TileBuildersTest, Dequantize) {
  Value elements = makeTensor({4, 64}, f8()),
        scales = makeTensor({4, 2}, e8m0());
  auto plain = DequantizeOp::create(builder, loc(), elements, scales);
  EXPECT_EQ(print(plain.getResult()), "tensor<4x64xf32>");
  auto halves = DequantizeOp::create(builder, loc(), elements, scales,
                                     builder.getF16Type(), makeValue(f32()));
  EXPECT_EQ(print(halves.getResult()), "tensor<4x64xf16>");
  // Whose last block is not whole.
  auto ragged = DequantizeOp::create(builder, loc(), makeTensor({4, 63}, f8()),
                                     scales, Type(), Value(), 32);
  EXPECT_EQ(ragged.getBlock(), 32);
  EXPECT_TRUE(verifies());
}

TEST_F(TileBuildersTest, Layouts) {
  Value scales = makeTensor({300, 9}, e8m0());
  auto swizzled = SwizzleScalesOp::create(builder, loc(), scales);
  EXPECT_EQ(print(swizzled.getResult()), "tensor<3x3x32x16xf8E8M0FNU>");
  auto back = UnswizzleScalesOp::create(builder, loc(), swizzled.getResult(),
                                        ArrayRef<int64_t>{300, 9});
  EXPECT_EQ(back.getResult().getType(), scales.getType());

  constexpr int64_t any = ShapedType::kDynamic;
  Value rows = makeValue(builder.getIndexType());
  SmallVector<OpFoldResult> sizes = {rows, builder.getIndexAttr(9)};
  auto dynamic = UnswizzleScalesOp::create(builder, loc(),
                                           makeTensor({any, 3, 32, 16}, e8m0()),
                                           ArrayRef<OpFoldResult>(sizes));
  EXPECT_EQ(print(dynamic.getResult()), "tensor<?x9xf8E8M0FNU>");
  EXPECT_EQ(dynamic.getSizes().size(), 1u);
  EXPECT_TRUE(verifies());
}

TEST_F(TileBuildersTest, Sparse) {
  auto compressed = CompressOp::create(
      builder, loc(), makeTensor({4, 128}, f4()), Granularity::Pairs);
  EXPECT_EQ(print(compressed.getElements()), "tensor<4x64xf4E2M1FN>");
  EXPECT_EQ(print(compressed.getMetadata()), "tensor<4x8xi8>");
  auto dense =
      DecompressOp::create(builder, loc(), compressed.getElements(),
                           compressed.getMetadata(), Granularity::Pairs);
  EXPECT_EQ(print(dense.getResult()), "tensor<4x128xf4E2M1FN>");
  auto vectors = CompressOp::create(builder, loc(),
                                    makeValue(VectorType::get({4, 64}, f8())),
                                    Granularity::Elements);
  EXPECT_EQ(print(vectors.getMetadata()), "vector<4x8xi8>");

  auto product = SparseMmaScaledOp::create(
      builder, loc(), compressed.getElements(), compressed.getMetadata(),
      makeTensor({4, 2}, e8m0()), makeTensor({128, 8}, f4()),
      makeTensor({2, 8}, e8m0()), makeTensor({4, 8}, f32()),
      Granularity::Pairs);
  EXPECT_EQ(product.getBlock(), 64);
  EXPECT_EQ(product.getLogicalK(), 128);
  EXPECT_EQ(print(product.getResult()), "tensor<4x8xf32>");

  Value metadata = makeTensor({300, 36}, builder.getI8Type());
  auto tiled = TileMetadataOp::create(builder, loc(), metadata);
  EXPECT_EQ(print(tiled.getResult()), "tensor<3x3x128x16xi8>");
  SmallVector<OpFoldResult> sizes = {makeValue(builder.getIndexType()),
                                     builder.getIndexAttr(36)};
  auto back = UntileMetadataOp::create(builder, loc(), tiled.getResult(),
                                       ArrayRef<OpFoldResult>(sizes));
  EXPECT_EQ(print(back.getResult()), "tensor<?x36xi8>");
  EXPECT_TRUE(verifies());
}

/// What does not fit is for the verifier.
TEST_F(TileBuildersTest, OperandsThatDoNotFit) {
  context.getDiagEngine().registerHandler([](Diagnostic &) {});
  QuantizeOp::create(builder, loc(), makeTensor({4, 65}, f32()), f8());
  EXPECT_FALSE(verifies());
}
