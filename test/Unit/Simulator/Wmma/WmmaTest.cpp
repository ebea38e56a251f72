//===- WmmaTest.cpp - Tests of wmma ---------------------------------------===//
//
// Part of the blockscale project, under the Apache License v2.0 with LLVM
// Exceptions. See LICENSE for license information.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//
//
// The layout of fragments is opaque, so tests compare matrices in memory.
//
//===----------------------------------------------------------------------===//

#include "KernelTesting.h"
#include "Mma/MatrixSum.h"

#include <functional>

using namespace mlir::blockscale;
using namespace mlir::blockscale::sim;
using namespace mlir::blockscale::sim::kerneltest;

namespace {
struct Matrix {
  unsigned rows, columns;
  Type type;
  std::string layout = "row";
  /// Extra elements between rows or columns.
  unsigned gap = 0;

  unsigned getStride() const {
    return (layout == "row" ? columns : rows) + gap;
  }
  unsigned getSize() const { return type == Type::TF32 ? 4 : getBytes(type); }
  unsigned getIndex(unsigned row, unsigned column) const {
    return layout == "row" ? row * getStride() + column
                           : column * getStride() + row;
  }
  std::vector<uint8_t>
  make(const std::function<int(unsigned, unsigned)> &element) const;
  int get(const std::vector<uint8_t> &bytes, unsigned row,
          unsigned column) const;
};

/// D = A * B + C.
struct Product {
  std::string shape;
  Matrix a, b, c, d;
  /// Registers of A and of B.
  unsigned numA, numB;
  /// The modifiers behind the layouts of wmma.mma.
  std::string types, target = "sm_90";

  std::string makeList(const Matrix &matrix, unsigned first,
                       unsigned count) const;
  KernelRun makeRun(const std::string &between = "") const;
};
} // namespace

static bool isInteger(Type type) {
  return type == Type::S8 || type == Type::U8 || type == Type::S32;
}

std::vector<uint8_t>
Matrix::make(const std::function<int(unsigned, unsigned)> &element) const {
  unsigned outerSize = layout == "row" ? rows : columns;
  std::vector<uint8_t> bytes(outerSize * getStride() * getSize(), 0xEE);
  for (unsigned row = 0; row != rows; ++row)
    for (unsigned column = 0; column != columns; ++column) {
      int value = element(row, column);
      Type stored = type == Type::TF32 ? Type::F32 : type;
      uint64_t bits = isInteger(type) ? value : roundToBits(value, stored);
      std::memcpy(&bytes[getIndex(row, column) * getSize()], &bits, getSize());
    }
  return bytes;
}

int Matrix::get(const std::vector<uint8_t> &bytes, unsigned row,
                unsigned column) const {
  uint64_t bits = 0;
  std::memcpy(&bits, &bytes[getIndex(row, column) * getSize()], getSize());
  return isInteger(type) ? static_cast<int32_t>(bits) : decodeFloat(type, bits);
}

/// Registers from number `first` on.
std::string Product::makeList(const Matrix &matrix, unsigned first,
                              unsigned count) const {
  std::string list = "{";
  for (unsigned i = 0; i != count; ++i)
    list += (i ? ", " : "") +
            std::string(matrix.type == Type::F32 ? "%f" : "%r") +
            std::to_string(first + i);
  return list + "}";
}

static unsigned getAccumulators(const Matrix &matrix) {
  return matrix.type == Type::F16 ? 4 : 8;
}

KernelRun Product::makeRun(const std::string &between) const {
  auto name = [](const Matrix &matrix) {
    return std::string(getName(matrix.type));
  };
  auto load = [&](const std::string &operand, const Matrix &matrix,
                  unsigned first, unsigned count, unsigned buffer) {
    return "wmma.load." + operand + ".sync.aligned." + matrix.layout + "." +
           shape + ".global." + name(matrix) + " " +
           makeList(matrix, first, count) + ", [%buf" + std::to_string(buffer) +
           "]" + (matrix.gap ? ", " + std::to_string(matrix.getStride()) : "") +
           ";";
  };
  KernelRun run;
  run.target = target;
  run.body = load("a", a, 0, numA, 0) + load("b", b, 8, numB, 1) +
             load("c", c, 16, getAccumulators(c), 2) + "\n" + between + "\n" +
             "wmma.mma.sync.aligned." + a.layout + "." + b.layout + "." +
             shape + "." + types + " " + makeList(d, 24, getAccumulators(d)) +
             ", " + makeList(a, 0, numA) + ", " + makeList(b, 8, numB) + ", " +
             makeList(c, 16, getAccumulators(c)) + ";\n" +
             "wmma.store.d.sync.aligned." + d.layout + "." + shape +
             ".global." + name(d) + " [%buf3], " +
             makeList(d, 24, getAccumulators(d)) + ", " +
             std::to_string(d.getStride()) + ";";
  bool isUnsigned = a.type == Type::U8;
  auto element = [=](unsigned x, unsigned y, unsigned seed) -> int {
    int value = (x * 7 + y * 13 + seed) % 11;
    return isUnsigned ? value * 20 : value - 5;
  };
  run.buffers = {
      a.make([&](unsigned m, unsigned k) { return element(m, k, 1); }),
      b.make([&](unsigned k, unsigned n) { return element(k, n, 4); }),
      c.make([&](unsigned m, unsigned n) { return element(m, n, 9); }),
      d.make([](unsigned, unsigned) { return 0; })};
  return run;
}

static void expectProduct(const Product &product) {
  KernelRun run = product.makeRun();
  KernelResult result = runKernel(run);
  ASSERT_EQ(result.error, "") << product.shape << product.types;
  for (unsigned m = 0; m != product.d.rows; ++m)
    for (unsigned n = 0; n != product.d.columns; ++n) {
      int sum = product.c.get(run.buffers[2], m, n);
      for (unsigned k = 0; k != product.a.columns; ++k) {
        auto get = [&](const Matrix &matrix, unsigned buffer, unsigned row,
                       unsigned column) {
          int value = matrix.get(run.buffers[buffer], row, column);
          return matrix.type == Type::S8 ? int8_t(value) : value;
        };
        sum += get(product.a, 0, m, k) * get(product.b, 1, k, n);
      }
      ASSERT_EQ(product.d.get(result.buffers[3], m, n), sum)
          << product.shape << " " << product.types << ": " << m << ", " << n;
    }
}

/// All operands of a type, of a shape.
static Product makeProduct(const std::string &shape, unsigned m, unsigned n,
                           unsigned k, Type type, Type d, Type c) {
  auto count = [&](unsigned elements) {
    return type == Type::F16 ? 8
                             : elements * Matrix{1, 1, type}.getSize() / 128;
  };
  Product product = {shape,     {m, k, type}, {k, n, type}, {m, n, c},
                     {m, n, d}, count(m * k), count(k * n), ""};
  auto name = [](Type type) { return std::string(getName(type)); };
  product.types = type == Type::F16 ? name(d) + "." + name(c)
                                    : name(d) + "." + name(type) + "." +
                                          name(type) + "." + name(c);
  return product;
}

TEST(WmmaTest, ShapesAndTypes) {
  struct Row {
    Type type, d, c;
  };
  struct Shape {
    const char *name;
    unsigned m, n;
  };
  for (Shape shape : {Shape{"m16n16k16", 16, 16}, Shape{"m32n8k16", 32, 8},
                      Shape{"m8n32k16", 8, 32}})
    for (Row row : {Row{Type::F16, Type::F32, Type::F32},
                    {Type::F16, Type::F16, Type::F16},
                    {Type::F16, Type::F32, Type::F16},
                    {Type::F16, Type::F16, Type::F32},
                    {Type::BF16, Type::F32, Type::F32},
                    {Type::S8, Type::S32, Type::S32},
                    {Type::U8, Type::S32, Type::S32}})
      expectProduct(makeProduct(shape.name, shape.m, shape.n, 16, row.type,
                                row.d, row.c));
  expectProduct(
      makeProduct("m16n16k8", 16, 16, 8, Type::TF32, Type::F32, Type::F32));
}

TEST(WmmaTest, LayoutsAndStrides) {
  Product product =
      makeProduct("m32n8k16", 32, 8, 16, Type::F16, Type::F32, Type::F16);
  for (Matrix *matrix : {&product.a, &product.b, &product.c, &product.d}) {
    matrix->layout = "col";
    expectProduct(product);
    matrix->gap = 8;
    expectProduct(product);
  }
}

/// The message of a run with `between` in line 2, before the product.
static std::string getError(const Product &product, const std::string &between,
                            const std::string &from = "",
                            const std::string &to = "") {
  KernelRun run = product.makeRun(between);
  if (!from.empty())
    run.body.replace(run.body.find(from), from.size(), to);
  return runKernel(run).error;
}

TEST(WmmaTest, Errors) {
  Product product =
      makeProduct("m32n8k16", 32, 8, 16, Type::F16, Type::F32, Type::F32);
  auto expectError = [&](const std::string &message, const std::string &between,
                         const std::string &from = "",
                         const std::string &to = "") {
    std::string error = getError(product, between, from, to);
    EXPECT_NE(error.find(message), std::string::npos) << error;
  };
  const std::string lane = "mov.u32 %r40, %laneid; setp.eq.u32 %p0, %r40, 9;";
  // B has 128 elements in 512 slots.
  expectError("line 3, block (0,0,0), warp 0, lane 9: wmma.mma expected the "
              "same value in all copies of element (2,0) of B",
              lane + "@%p0 mov.b32 %r8, 0x12341234;");
  expectError("wmma.mma expected all lanes of the warp", lane, "wmma.mma",
              "@!%p0 wmma.mma");
  expectError("the stride of wmma differs between lanes", lane, ", 8;",
              ", %r40;");
  expectError("the address of wmma differs between lanes",
              "mov.u32 %r40, %laneid; mad.wide.u32 %buf3, %r40, 4, %buf3;");
  expectError("is out of bounds of argument 3", "", ", 8;", ", 12;");
  expectError("wmma expected rows or columns at multiples of 16 bytes, got the "
              "address 0x",
              "", ", 8;", ", 9;");
  expectError(" and a stride of 32 bytes", "", "[%buf3]", "[%buf3+8]");
  expectError("bytes are undefined at the end", "mov.f32 %f16, %f63;");
  expectError("expected .row or .col behind wmma", "", "aligned.row.m32n8k16.g",
              "aligned.m32n8k16.g");
  expectError("shape of wmma", "", "row.m32n8k16.g", "row.m8n8k128.g");
  expectError("types of wmma.mma for m32n8k16", "", ".f32.f32 ",
              ".f32.bf16.bf16.f16 ");
  expectError("modifier 'rn' of wmma", "", ".f32.f32 ", ".rn.f32.f32 ");
  expectError("expected .load, .store or .mma behind wmma", "", "wmma.mma",
              "wmma.fma");
  product.target = "sm_60";
  expectError("expected a target that has wmma of .f16, got sm_60", "");
}

// Without .satfinite, sums wrap around.
TEST(WmmaTest, Saturation) {
  Product product =
      makeProduct("m16n16k16", 16, 16, 16, Type::S8, Type::S32, Type::S32);
  for (bool isSatfinite : {false, true}) {
    product.types =
        std::string(isSatfinite ? "satfinite." : "") + "s32.s8.s8.s32";
    KernelRun run = product.makeRun();
    run.buffers[0] = product.a.make([](unsigned, unsigned) { return 1; });
    run.buffers[1] = product.b.make([](unsigned, unsigned) { return 1; });
    run.buffers[2] =
        product.c.make([](unsigned, unsigned) { return 0x7FFFFFFF; });
    KernelResult result = runKernel(run);
    ASSERT_EQ(result.error, "");
    EXPECT_EQ(result.get<int32_t>(3)[5],
              isSatfinite ? 0x7FFFFFFF : int32_t(0x8000000F));
  }
}
