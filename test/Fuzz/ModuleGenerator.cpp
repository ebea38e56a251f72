//===- ModuleGenerator.cpp - Programs from a fuzzer's bytes ---------------===//
//
// Part of the blockscale project, under the Apache License v2.0 with LLVM
// Exceptions. See LICENSE for license information.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//
//
// A function is written op by op. An op asks for operands of certain types;
// what gives such an operand is chosen anew each time, and may ask for
// operands itself.
//
//===----------------------------------------------------------------------===//

#include "ModuleGenerator.h"

#include <algorithm>
#include <functional>
#include <vector>

using namespace mlir::blockscale;

namespace {

constexpr int64_t kDynamic = -1;

constexpr const char *kMatrixElements[] = {"f8E4M3FN", "f8E5M2", "f6E3M2FN",
                                           "f6E2M3FN", "f4E2M1FN"};
constexpr const char *kScaleElements[] = {"f8E8M0FNU", "f8E4M3FN"};
constexpr const char *kAnyElements[] = {"f8E4M3FN",
                                        "f8E5M2",
                                        "f6E3M2FN",
                                        "f6E2M3FN",
                                        "f4E2M1FN",
                                        "f8E8M0FNU",
                                        "f8E4M3",
                                        "f8E3M4",
                                        "f8E5M2FNUZ",
                                        "f8E4M3FNUZ",
                                        "f8E4M3B11FNUZ",
                                        "f16",
                                        "bf16",
                                        "f32",
                                        "f64",
                                        "tf32",
                                        "i1",
                                        "i4",
                                        "i6",
                                        "i8",
                                        "i16",
                                        "i32",
                                        "i64",
                                        "ui8",
                                        "index",
                                        "complex<f8E4M3FN>",
                                        "complex<f32>",
                                        "vector<4xf8E5M2>"};
constexpr int64_t kSizes[] = {1,   2,   3,   4,    5,    8,    9,   16,
                              31,  32,  33,  64,   96,   127,  128, 129,
                              256, 300, 512, 1024, 4096, 65536};
constexpr int64_t kStrangeSizes[] = {0,
                                     2147483647,
                                     2147483648,
                                     4294967296,
                                     1125899906842624,
                                     4611686018427387904,
                                     9223372036854775680,
                                     9223372036854775807};

enum class Kind { Tensor, Vector, MemRef, Scalar };

struct Type {
  Kind kind = Kind::Scalar;
  std::string element;
  std::vector<int64_t> shape;
  bool unranked = false;
  bool scalable = false;
  std::string suffix = {};

  bool operator==(const Type &other) const { return str() == other.str(); }

  std::string str() const {
    if (kind == Kind::Scalar)
      return element;
    std::string text = kind == Kind::Tensor   ? "tensor<"
                       : kind == Kind::Vector ? "vector<"
                                              : "memref<";
    if (unranked)
      return text + "*x" + element + ">";
    for (int64_t size : shape) {
      std::string dim = size == kDynamic ? "?" : std::to_string(size);
      text += scalable && size == shape.back() ? "[" + dim + "]x" : dim + "x";
    }
    return text + element + suffix + ">";
  }

  bool isStatic() const {
    return !unranked && std::count(shape.begin(), shape.end(), kDynamic) == 0;
  }
  bool isTensor() const { return kind == Kind::Tensor && !unranked; }
  bool isFloat() const {
    return element.find('f') != std::string::npos &&
           element.find('<') == std::string::npos;
  }
  Type withElement(std::string newElement) const {
    Type type = *this;
    type.element = std::move(newElement);
    return type;
  }
  Type withShape(std::vector<int64_t> newShape) const {
    Type type = *this;
    type.shape = std::move(newShape);
    return type;
  }
};

struct Value {
  std::string name;
  Type type;
};

const Type kIndex = {Kind::Scalar, "index", {}};

std::string joinTypes(const std::vector<Value> &values) {
  std::string text;
  for (const Value &value : values)
    text += (text.empty() ? "" : ", ") + value.type.str();
  return text;
}

std::string joinNames(const std::vector<Value> &values) {
  std::string text;
  for (const Value &value : values)
    text += (text.empty() ? "" : ", ") + value.name;
  return text;
}

std::string joinNumbers(const std::vector<int64_t> &values) {
  std::string text;
  for (int64_t value : values)
    text += (text.empty() ? "" : ", ") + std::to_string(value);
  return "[" + text + "]";
}

/// The type of scales of `rowMajor` in the 32x4x4 layout.
Type getSwizzled(const Type &rowMajor) {
  std::vector<int64_t> shape = rowMajor.shape;
  size_t rank = shape.size();
  auto divide = [](int64_t size, int64_t divisor) {
    return size == kDynamic ? size : size / divisor + (size % divisor != 0);
  };
  if (rank >= 2) {
    shape[rank - 2] = divide(shape[rank - 2], 128);
    shape[rank - 1] = divide(shape[rank - 1], 4);
  }
  shape.insert(shape.end(), {32, 16});
  return rowMajor.withShape(shape);
}

class Generator {
public:
  explicit Generator(ByteReader &in) : in(in) {}

  std::string run() {
    do {
      emitFunction();
    } while (in.oneIn(4) && functions < 3);
    std::string text = declarations + body;
    if (in.oneIn(16))
      return "module @outer attributes {b.t = " + getAttribute() +
             "} {\nmodule {\n" + text + "}\n}\n";
    return text;
  }

private:
  //===--------------------------------------------------------------------===//
  // Small choices
  //===--------------------------------------------------------------------===//

  int64_t getSize() {
    return in.oneIn(64) ? in.pick(kStrangeSizes) : in.pick(kSizes);
  }

  std::string getAttribute() {
    static constexpr const char *attributes[] = {
        "1.0 : f8E4M3FN",
        "0x7F : f8E4M3FN",
        "-1.5 : f4E2M1FN",
        "f6E3M2FN",
        "tensor<4xf8E5M2>",
        "[1.0 : f8E5M2, {a = 2.0 : f8E8M0FNU}]",
        "dense<[1.0, 2.0]> : tensor<2xf8E4M3FN>",
        "dense<1.0> : vector<2x2xf4E2M1FN>",
        "dense<> : tensor<0xf4E2M1FN>",
        "dense<(1.0,2.0)> : tensor<2xcomplex<f8E4M3FN>>",
        "sparse<[[0]], [1.0]> : tensor<4xf8E4M3FN>",
        "sparse<[[0], [2]], 1.0> : tensor<4xf8E4M3FN>",
        "array<i8: 1>",
        "dense_resource<r> : tensor<4xf8E4M3FN>",
        "dense_resource<r> : tensor<4xi8>",
        "tensor<4xf8E4M3FN, dense<1.0> : tensor<2xf8E4M3FN>>",
        "memref<4xf8E4M3FN, 1.0 : f8E4M3FN>",
        "tuple<f8E4M3FN, vector<2xf4E2M1FN>>",
        "(f8E4M3FN) -> f4E2M1FN",
        "dense<\"a\"> : tensor<2x!unknown.s>",
        "16 : i64",
        "16 : i32",
        "\"text\"",
        "unit",
        "affine_map<(d0) -> (d0 floordiv 32)>",
        "strided<[1], offset: ?>",
        "opaque<\"a\", \"0x12\"> : tensor<2xf8E4M3FN>",
        "#unknown.attr<f8E4M3FN>",
    };
    return in.pick(attributes);
  }

  std::string getAttrDict() {
    return in.oneIn(24) ? " {note = " + getAttribute() + "}" : "";
  }

  /// Now and then something that the type should not be.
  Type disturb(Type type) {
    if (!in.oneIn(80))
      return type;
    switch (in.below(9)) {
    case 0:
      type.element = in.pick(kAnyElements);
      break;
    case 1:
      type.kind = type.kind == Kind::Tensor ? Kind::Vector : Kind::Tensor;
      break;
    case 2:
      if (type.kind == Kind::Tensor)
        type.suffix = ", " + getAttribute();
      break;
    case 3:
      type.unranked = type.kind == Kind::Tensor;
      break;
    case 4:
      type.scalable = type.kind == Kind::Vector;
      break;
    case 5:
      type.shape.push_back(getSize());
      break;
    case 6:
      if (!type.shape.empty())
        type.shape.pop_back();
      break;
    default:
      if (!type.shape.empty())
        type.shape[in.below(type.shape.size())] =
            in.oneIn(2) ? in.pick(kStrangeSizes) : in.pick(kSizes);
    }
    return type;
  }

  /// `type` with some of its sizes made dynamic.
  Type blur(Type type) {
    if (type.kind != Kind::Tensor)
      return type;
    for (int64_t &size : type.shape)
      if (in.oneIn(3))
        size = kDynamic;
    return type;
  }

  //===--------------------------------------------------------------------===//
  // Text
  //===--------------------------------------------------------------------===//

  std::string getFreshName() { return "%v" + std::to_string(numNames++); }

  Value define(const Type &type, const std::string &op) {
    std::string name = getFreshName();
    body += "  " + name + " = " + op + "\n";
    values.push_back({name, type});
    return values.back();
  }

  Value addArgument(const Type &type) {
    if (!hasArguments)
      return type == kIndex ? getConstantIndex(getSize())
                            : define(type, "ub.poison : " + type.str());
    arguments.push_back({"%a" + std::to_string(arguments.size()), type});
    return arguments.back();
  }

  /// Runs `emit` inside a region; values made there are not visible after it.
  void emitNested(const std::function<void()> &emit) {
    std::vector<Value> outer = values;
    emit();
    values = std::move(outer);
  }

  //===--------------------------------------------------------------------===//
  // Values of type index
  //===--------------------------------------------------------------------===//

  Value getConstantIndex(int64_t value) {
    return define(kIndex,
                  "arith.constant " + std::to_string(value) + " : index");
  }

  Value getIndex() {
    if (--budget < 0)
      return getConstantIndex(32);
    switch (in.below(12)) {
    case 0:
    case 1:
    case 2:
      return getConstantIndex(getSize());
    case 3:
      return getConstantIndex(-getSize());
    case 4:
      return addArgument(kIndex);
    case 5:
    case 6:
      for (const Value &value : values)
        if (value.type.isTensor() && !value.type.shape.empty() && in.oneIn(2))
          return getDim(value, in.below(value.type.shape.size()));
      return getConstantIndex(in.below(4));
    case 7: {
      static constexpr const char *maps[] = {
          "affine.apply affine_map<(d0) -> (d0 * 32)>",
          "affine.apply affine_map<(d0) -> (d0 floordiv 32)>",
          "affine.apply affine_map<(d0) -> (-d0 + 64)>",
          "affine.apply affine_map<(d0) -> (d0 mod 32 + d0 ceildiv 16)>",
          "affine.min affine_map<(d0) -> (-d0 + 256, 64)>",
          "affine.max affine_map<(d0) -> (d0 * 16, 0)>",
          "affine.min affine_map<(d0) -> (d0, 64, d0 * 2, d0 * 4)>",
          "affine.apply affine_map<(d0) -> (d0 * 9223372036854775807)>",
          "affine.apply affine_map<(d0) -> (d0 * 9223372036854775807 * 2)>"};
      std::string map = in.pick(maps);
      return define(kIndex, map + "(" + getIndex().name + ")");
    }
    case 8: {
      static constexpr const char *ops[] = {"addi",  "muli",  "subi",
                                            "divsi", "remsi", "minsi"};
      std::string op = in.pick(ops);
      std::string lhs = getIndex().name, rhs = getIndex().name;
      return define(kIndex,
                    "arith." + op + " " + lhs + ", " + rhs + " : index");
    }
    default:
      for (const Value &value : values)
        if (value.type == kIndex && in.oneIn(3))
          return value;
      return getConstantIndex(in.pick(kSizes));
    }
  }

  Value getDim(Value tensor, int64_t dim) {
    Value position = getConstantIndex(dim);
    return define(kIndex, "tensor.dim " + tensor.name + ", " + position.name +
                              " : " + tensor.type.str());
  }

  /// One index for each dynamic size, mostly those of `like`.
  std::string getDynamicSizes(const Type &type, const Value *like = nullptr) {
    std::string text;
    for (size_t dim = 0; dim != type.shape.size(); ++dim) {
      if (type.shape[dim] != kDynamic)
        continue;
      Value size = like && dim < like->type.shape.size() && !in.oneIn(8)
                       ? getDim(*like, dim)
                       : getIndex();
      text += (text.empty() ? "" : ", ") + size.name;
    }
    return text;
  }

  //===--------------------------------------------------------------------===//
  // Values of tensor and vector types
  //===--------------------------------------------------------------------===//

  Value getValue(const Type &type) {
    if (--budget < 0 || type.kind == Kind::Scalar || type.unranked)
      return getLeaf(type);
    bool isVector = type.kind == Kind::Vector;
    switch (in.below(17)) {
    case 1:
      return getLeaf(type);
    case 2:
      for (const Value &value : values)
        if (value.type == type)
          return value;
      return getLeaf(type);
    case 3:
    case 4:
      return getConstant(type);
    case 5:
    case 6:
      return getTransposed(type);
    case 7:
    case 8:
      return getUnswizzled(type);
    case 9:
      return isVector ? getLeaf(type) : getCast(type);
    case 10:
      return isVector ? getTransferRead(type) : getSlice(type);
    case 11:
      return isVector ? getBroadcast(type) : getFilled(type);
    case 12: {
      Value ifTrue = getValue(type), ifFalse = getValue(type);
      Value condition = getLeaf({Kind::Scalar, "i1", {}});
      return define(type, "arith.select " + condition.name + ", " +
                              ifTrue.name + ", " + ifFalse.name + " : " +
                              type.str());
    }
    case 13:
      return getLoop(type);
    case 14:
      return getCall(type);
    case 15:
      return getBitcast(type);
    case 16:
      if (isVector || !in.oneIn(2))
        return getGeneric(type);
      return getReshaped(type);
    default:
      return addArgument(type);
    }
  }

  Value getLeaf(const Type &type) {
    if (type.kind == Kind::Tensor && !type.unranked && in.oneIn(4)) {
      std::string sizes = getDynamicSizes(type);
      return define(type, "tensor.empty(" + sizes + ") : " + type.str());
    }
    return addArgument(type);
  }

  Value getConstant(const Type &type) {
    if (!type.isStatic())
      return getLeaf(type);
    static constexpr const char *numbers[] = {
        "1.0",     "2.0", "0.5",  "-1.0",   "6.0", "448.0",
        "1.0e-40", "0.0", "-0.0", "1.0e10", "3.3"};
    std::string number = in.pick(numbers);
    if (type.element == "f8E8M0FNU" && in.below(8))
      number = "2.0"; // This type has no zero and no sign.
    if (!type.isFloat())
      number = "1";
    int64_t count = 1;
    for (int64_t size : type.shape)
      count = size > 64 ? 65 : count * size;
    if (count > 1 && count <= 64 && in.oneIn(3)) {
      // One byte per element, whatever its width.
      unsigned highest = type.element.rfind("f4", 0) == 0   ? 1
                         : type.element.rfind("f6", 0) == 0 ? 4
                                                            : 16;
      std::string bytes = "\"0x";
      static constexpr char digits[] = "0123456789ABCDEF";
      for (int64_t byte = 0; byte != count; ++byte) {
        bytes += digits[in.below(highest)];
        bytes += digits[in.below(16)];
      }
      number = bytes + "\"";
    }
    return define(type, "arith.constant dense<" + number + "> : " + type.str());
  }

  Value getTransposed(const Type &type) {
    size_t rank = type.shape.size();
    if (rank == 0)
      return getLeaf(type);
    std::vector<int64_t> permutation;
    for (size_t dim = 0; dim != rank; ++dim)
      permutation.push_back(dim);
    if (in.oneIn(4))
      std::swap(permutation[0], permutation[in.below(rank)]);
    std::swap(permutation[rank - 1], permutation[rank >= 2 ? rank - 2 : 0]);
    if (in.oneIn(64))
      permutation[in.below(rank)] = in.below(4);
    std::vector<int64_t> shape(rank, 1);
    for (size_t dim = 0; dim != rank; ++dim)
      if (permutation[dim] < static_cast<int64_t>(rank))
        shape[permutation[dim]] = type.shape[dim];
    Type sourceType = type.withShape(shape);
    if (type.kind == Kind::Vector) {
      Value source = getValue(sourceType);
      return define(type, "vector.transpose " + source.name + ", " +
                              joinNumbers(permutation) + " : " +
                              sourceType.str() + " to " + type.str());
    }
    if (in.oneIn(64))
      sourceType = blur(sourceType);
    Value source = getValue(sourceType);
    Value init = getLeaf(type);
    return define(type, "linalg.transpose ins(" + source.name + " : " +
                            sourceType.str() + ") outs(" + init.name + " : " +
                            type.str() +
                            ") permutation = " + joinNumbers(permutation));
  }

  Value getUnswizzled(const Type &type) {
    bool isPossible =
        type.element == kScaleElements[0] || type.element == kScaleElements[1];
    if ((!isPossible || type.shape.size() < 2 || type.shape.size() > 3) &&
        !in.oneIn(64))
      return getTransposed(type);
    Type sourceType = getSwizzled(type);
    if (in.oneIn(4) && type.kind == Kind::Tensor) {
      sourceType = blur(sourceType);
      sourceType.shape.back() = 16;
      sourceType.shape[sourceType.shape.size() - 2] = 32;
    }
    sourceType = disturb(sourceType);
    if (in.oneIn(3)) {
      Type scalesType = in.oneIn(4) ? blur(type) : type;
      Value scales = getValue(scalesType);
      Value swizzled = emitSwizzle(scales, disturb(getSwizzled(scalesType)));
      if (!(swizzled.type == sourceType) && type.kind == Kind::Tensor)
        swizzled = define(sourceType, "tensor.cast " + swizzled.name + " : " +
                                          swizzled.type.str() + " to " +
                                          sourceType.str());
      return emitUnswizzle(swizzled, type, &scales);
    }
    return emitUnswizzle(getValue(sourceType), type, nullptr);
  }

  Value emitSwizzle(const Value &scales, const Type &type) {
    if (in.oneIn(16))
      return define(type, "\"blockscale.swizzle_scales\"(" + scales.name + ")" +
                              getAttrDict() + " : (" + scales.type.str() +
                              ") -> " + type.str());
    return define(type, "blockscale.swizzle_scales " + scales.name +
                            getAttrDict() + " : " + scales.type.str() + " to " +
                            type.str());
  }

  Value emitUnswizzle(const Value &source, const Type &type,
                      const Value *scales) {
    std::string sizes = getDynamicSizes(type, scales);
    if (in.oneIn(64))
      sizes += (sizes.empty() ? "" : ", ") + getIndex().name;
    if (!sizes.empty())
      sizes = " sizes(" + sizes + ")";
    return define(type, "blockscale.unswizzle_scales " + source.name + sizes +
                            getAttrDict() + " : " + source.type.str() + " to " +
                            type.str());
  }

  Value getCast(const Type &type) {
    Type sourceType = type;
    for (int64_t &size : sourceType.shape)
      if (in.oneIn(2))
        size = size == kDynamic ? getSize() : kDynamic;
    sourceType.unranked = in.oneIn(12);
    Value source = getValue(sourceType);
    return define(type, "tensor.cast " + source.name + " : " +
                            sourceType.str() + " to " + type.str());
  }

  Value getSlice(const Type &type) {
    Type sourceType = type;
    std::string offsets, sizes, strides;
    for (size_t dim = 0; dim != type.shape.size(); ++dim) {
      std::string separator = dim == 0 ? "" : ", ";
      int64_t offset = in.oneIn(3) ? getSize() : 0;
      bool isKnown = !in.oneIn(4);
      int64_t size = type.shape[dim];
      int64_t &sourceSize = sourceType.shape[dim];
      if (in.oneIn(3) || !isKnown || size > (int64_t(1) << 40) ||
          offset > (int64_t(1) << 40))
        sourceSize = kDynamic;
      else if (size != kDynamic)
        sourceSize = size + offset;
      offsets +=
          separator + (isKnown ? std::to_string(offset) : getIndex().name);
      sizes += separator +
               (size == kDynamic ? getIndex().name : std::to_string(size));
      strides += separator + (in.oneIn(16) ? "2" : "1");
    }
    Value source = getValue(sourceType);
    return define(type, "tensor.extract_slice " + source.name + "[" + offsets +
                            "] [" + sizes + "] [" + strides +
                            "] : " + sourceType.str() + " to " + type.str());
  }

  Value getFilled(const Type &type) {
    Type scalarType = {Kind::Scalar, type.element, {}};
    Value scalar = type.isFloat() && type.element != "f8E8M0FNU" && !in.oneIn(4)
                       ? define(scalarType, std::string("arith.constant ") +
                                                (in.oneIn(3) ? "-0.0" : "0.0") +
                                                " : " + type.element)
                       : getLeaf(scalarType);
    if (in.oneIn(8)) {
      std::string sizes = getDynamicSizes(type);
      if (!sizes.empty())
        sizes = "[" + sizes + "]";
      return define(type,
                    "tensor.splat " + scalar.name + sizes + " : " + type.str());
    }
    Value init = getLeaf(type);
    return define(type, "linalg.fill ins(" + scalar.name + " : " +
                            type.element + ") outs(" + init.name + " : " +
                            type.str() + ") -> " + type.str());
  }

  Value getBroadcast(const Type &type) {
    Value scalar = getLeaf({Kind::Scalar, type.element, {}});
    return define(type, "vector.broadcast " + scalar.name + " : " +
                            type.element + " to " + type.str());
  }

  Value getTransferRead(const Type &type) {
    Type sourceType = type;
    sourceType.scalable = false;
    sourceType.kind = in.oneIn(4) ? Kind::MemRef : Kind::Tensor;
    for (int64_t &size : sourceType.shape)
      if (in.oneIn(3))
        size = kDynamic;
    Value source = sourceType.kind == Kind::Tensor ? getValue(sourceType)
                                                   : getLeaf(sourceType);
    Value padding = getLeaf({Kind::Scalar, type.element, {}});
    std::string indices;
    for (size_t dim = 0; dim != type.shape.size(); ++dim)
      indices += (dim == 0 ? "" : ", ") + getIndex().name;
    return define(type, "vector.transfer_read " + source.name + "[" + indices +
                            "], " + padding.name + " : " + sourceType.str() +
                            ", " + type.str());
  }

  Value getLoop(const Type &type) {
    Value init = getValue(type);
    Value lower = getIndex(), upper = getIndex(), step = getIndex();
    std::string loop = getFreshName(), iv = getFreshName(),
                carried = getFreshName();
    body += "  " + loop + " = scf.for " + iv + " = " + lower.name + " to " +
            upper.name + " step " + step.name + " iter_args(" + carried +
            " = " + init.name + ") -> (" + type.str() + ") {\n";
    emitNested([&] {
      values.push_back({iv, kIndex});
      values.push_back({carried, type});
      std::string yielded = carried;
      if (in.oneIn(2))
        emitStatement();
      if (in.oneIn(2))
        yielded = getValue(type).name;
      body += "  scf.yield " + yielded + " : " + type.str() + "\n  }\n";
    });
    values.push_back({loop, type});
    return values.back();
  }

  Value getCall(const Type &type) {
    std::vector<Value> operands;
    if (in.oneIn(2))
      operands.push_back(getLeaf(type));
    std::string name = "@c" + std::to_string(numNames++);
    declarations += "func.func private " + name + "(" + joinTypes(operands) +
                    ") -> " + type.str() + "\n";
    return define(type, "func.call " + name + "(" + joinNames(operands) +
                            ") : (" + joinTypes(operands) + ") -> " +
                            type.str());
  }

  Value getBitcast(const Type &type) {
    auto getWidth = [](const std::string &element) -> int {
      static constexpr struct {
        const char *prefix;
        int width;
      } widths[] = {{"f8", 8},   {"f6", 6},    {"f4", 4},   {"i8", 8},
                    {"i6", 6},   {"i4", 4},    {"f32", 32}, {"i32", 32},
                    {"f16", 16}, {"bf16", 16}, {"i16", 16}, {"i1", 1}};
      for (auto &row : widths)
        if (element.rfind(row.prefix, 0) == 0)
          return row.width;
      return 0;
    };
    std::string from = "i" + std::to_string(getWidth(type.element));
    for (const char *element : kAnyElements)
      if (in.oneIn(4) && getWidth(element) == getWidth(type.element))
        from = element;
    if (from == "i0")
      return getLeaf(type);
    std::string op = "arith.bitcast";
    if (in.oneIn(4))
      op = type.kind == Kind::Vector ? "vector.bitcast" : "tensor.bitcast";
    Type sourceType = type.withElement(from);
    Value source = getValue(sourceType);
    return define(type, op + " " + source.name + " : " + sourceType.str() +
                            " to " + type.str());
  }

  /// A loop over elements that moves them, or looks at them.
  Value getGeneric(const Type &type) {
    if (type.kind != Kind::Tensor)
      return getLeaf(type);
    Value source = getValue(type), init = getLeaf(type);
    std::string dims;
    for (size_t dim = 0; dim != type.shape.size(); ++dim)
      dims += (dim == 0 ? "d" : ", d") + std::to_string(dim);
    std::string map = "affine_map<(" + dims + ") -> (" + dims + ")>";
    std::string iterators;
    for (size_t dim = 0; dim != type.shape.size(); ++dim)
      iterators += dim == 0 ? "\"parallel\"" : ", \"parallel\"";
    std::string in0 = getFreshName(), out = getFreshName();
    std::string work, yielded = in0;
    if (in.oneIn(3)) {
      work = "  %w = arith.extf " + in0 + " : " + type.element +
             " to f32\n  %n = arith.truncf %w : f32 to " + type.element + "\n";
      yielded = "%n";
    }
    return define(type, "linalg.generic {indexing_maps = [" + map + ", " + map +
                            "], iterator_types = [" + iterators + "]} ins(" +
                            source.name + " : " + type.str() + ") outs(" +
                            init.name + " : " + type.str() + ") {\n  ^bb0(" +
                            in0 + ": " + type.element + ", " + out + ": " +
                            type.element + "):\n" + work + "  linalg.yield " +
                            yielded + " : " + type.element + "\n  } -> " +
                            type.str());
  }

  Value getReshaped(const Type &type) {
    if (type.shape.size() < 2 || !type.isStatic() || type.shape[0] > 65536 ||
        type.shape[1] > 65536)
      return getLeaf(type);
    std::vector<int64_t> shape(type.shape.begin() + 1, type.shape.end());
    shape[0] *= type.shape[0];
    Type flat = type.withShape(shape);
    std::string groups = "[0, 1]";
    for (size_t dim = 2; dim != type.shape.size(); ++dim)
      groups += ", [" + std::to_string(dim) + "]";
    Value source = getValue(flat);
    std::string sizes = joinNumbers(type.shape);
    return define(type, "tensor.expand_shape " + source.name + " [" + groups +
                            "] output_shape " + sizes + " : " + flat.str() +
                            " into " + type.str());
  }

  //===--------------------------------------------------------------------===//
  // Ops of their own
  //===--------------------------------------------------------------------===//

  Value emitMatmul() {
    std::string x = in.pick(kMatrixElements), y = in.pick(kMatrixElements);
    std::string scale = "f8E8M0FNU";
    int64_t block = 32;
    if (in.oneIn(3)) {
      x = y = "f4E2M1FN";
      block = 16;
      scale = in.pick(kScaleElements);
    }
    if (in.oneIn(64))
      block = getSize();
    Kind kind = in.oneIn(4) ? Kind::Vector : Kind::Tensor;
    // Upstream counts the bits of a vector, and must not overflow.
    bool isVector = kind == Kind::Vector;
    int64_t m = isVector ? in.pick(kSizes) : getSize();
    int64_t n = isVector ? in.pick(kSizes) : getSize();
    int64_t blocks = isVector ? in.pick(kSizes) : getSize();
    bool isSmall = blocks <= 65536 && block <= 65536;
    int64_t k = isSmall ? blocks * block : blocks;
    if (!isVector && in.oneIn(64))
      k = getSize();

    int64_t batch = in.pick(kSizes);
    bool hasX = in.oneIn(3), hasY = in.oneIn(3);
    bool isXOne = in.oneIn(4), isYOne = in.oneIn(4);
    auto getType = [&](bool hasBatch, bool isOne, int64_t rows, int64_t cols,
                       const std::string &element) {
      Type type = {kind, element, {rows, cols}};
      if (hasBatch)
        type.shape.insert(type.shape.begin(), isOne ? 1 : batch);
      return type;
    };
    std::vector<Type> types = {
        getType(hasX, isXOne, m, k, x), getType(hasX, isXOne, m, blocks, scale),
        getType(hasY, isYOne, k, n, y), getType(hasY, isYOne, blocks, n, scale),
        getType(hasX || hasY, (!hasX || isXOne) && (!hasY || isYOne), m, n,
                "f32")};
    bool isBlurred = in.oneIn(2);
    std::vector<Value> operands;
    for (Type &type : types) {
      if (isBlurred)
        type = blur(type);
      operands.push_back(getValue(disturb(type)));
    }

    std::string attributes;
    if (isBlurred || in.oneIn(4)) {
      std::string size = std::to_string(in.oneIn(64) ? getSize() : block);
      if (in.oneIn(64))
        size = getAttribute();
      attributes = "block_size = " + size;
    }
    if (in.oneIn(24))
      attributes +=
          (attributes.empty() ? "note = " : ", note = ") + getAttribute();
    if (!attributes.empty())
      attributes = " {" + attributes + "}";
    const Type &result = operands.back().type;
    if (in.oneIn(16))
      return define(result, "\"blockscale.mma_scaled\"(" + joinNames(operands) +
                                ")" + attributes + " : (" +
                                joinTypes(operands) + ") -> " + result.str());
    return define(result, "blockscale.mma_scaled " + joinNames(operands) +
                              attributes + " : " + joinTypes(operands));
  }

  Type getScalesType() {
    Type type = {in.oneIn(4) ? Kind::Vector : Kind::Tensor,
                 in.pick(kScaleElements),
                 {getSize(), getSize()}};
    if (in.oneIn(4))
      type.shape.insert(type.shape.begin(), getSize());
    return in.oneIn(2) ? blur(type) : type;
  }

  /// An op on narrow floats that is not ours.
  void emitNarrow() {
    Type type = {Kind::Tensor, in.pick(kMatrixElements), {4}};
    if (in.oneIn(4))
      type.element = in.pick(kAnyElements);
    static constexpr Kind kinds[] = {Kind::Tensor, Kind::Vector, Kind::Scalar,
                                     Kind::MemRef};
    type.kind = in.pick(kinds);
    if (type.kind == Kind::Scalar)
      type.shape.clear();
    else if (in.oneIn(3))
      type.shape.push_back(getSize());
    if (in.oneIn(3))
      type = blur(type);
    type.scalable = type.kind == Kind::Vector && in.oneIn(8);
    std::string dict = getAttrDict();
    static constexpr const char *wide[] = {"f32", "f64", "f16", "bf16",
                                           "f8E5M2"};
    switch (in.below(9)) {
    case 0:
    case 1: {
      Type to = type.withElement(in.pick(wide));
      Value source = getValue(type);
      define(to, "arith.extf " + source.name + dict + " : " + type.str() +
                     " to " + to.str());
      return;
    }
    case 2: {
      Type from = type.withElement(in.pick(wide));
      Value source = getValue(from);
      define(type, "arith.truncf " + source.name + dict + " : " + from.str() +
                       " to " + type.str());
      return;
    }
    case 3: {
      getBitcast(type);
      return;
    }
    case 4: {
      Value lhs = getValue(type), rhs = getValue(type);
      define(type, "arith.addf " + lhs.name + ", " + rhs.name + dict + " : " +
                       type.str());
      return;
    }
    case 5: {
      Type memory = type;
      memory.kind = Kind::MemRef;
      memory.unranked = memory.scalable = false;
      std::string sizes = getDynamicSizes(memory);
      define(memory, "memref.alloc(" + sizes + ") : " + memory.str());
      return;
    }
    case 6: {
      static constexpr const char *casts[] = {
          "builtin.unrealized_conversion_cast", "bufferization.to_buffer",
          "bufferization.to_tensor", "memref.cast", "tensor.cast"};
      Type to = blur(type);
      std::string op = in.pick(casts);
      if (op == "bufferization.to_buffer")
        to.kind = Kind::MemRef;
      Value source = getValue(type);
      define(to, op + " " + source.name + dict + " : " + type.str() + " to " +
                     to.str());
      return;
    }
    case 7: {
      Value source = getValue(type);
      Type element = {Kind::Scalar, type.element, {}};
      std::string indices;
      for (size_t dim = 0; dim != type.shape.size(); ++dim)
        indices += (dim == 0 ? "" : ", ") + getIndex().name;
      std::string op = type.kind == Kind::Vector   ? "vector.extract"
                       : type.kind == Kind::MemRef ? "memref.load"
                                                   : "tensor.extract";
      std::string types = type.str();
      if (type.kind == Kind::Vector)
        types = type.element + " from " + types;
      define(element, op + " " + source.name + "[" + indices + "]" + dict +
                          " : " + types);
      return;
    }
    default: {
      Value source = getValue(type);
      body += "  \"test.unknown\"(" + source.name + ")" + dict + " : (" +
              type.str() + ") -> ()\n";
    }
    }
  }

  /// Ops that use each other. Upstream's folds do not end on cycles of their
  /// ops, so no other op is in it, nor a size from which a cast would come.
  void emitCycle() {
    Type type = getScalesType();
    std::replace(type.shape.begin(), type.shape.end(), kDynamic, int64_t(128));
    Type swizzledType = getSwizzled(type);
    Value scales = {getFreshName(), type};
    Value swizzled = emitSwizzle(scales, swizzledType);
    body += "  " + scales.name + " = blockscale.unswizzle_scales " +
            swizzled.name + " : " + swizzledType.str() + " to " + type.str() +
            "\n";
    values.push_back(scales);
    // Without a use that has effects it would be removed.
    std::string callee = "@c" + std::to_string(numNames++);
    declarations += "func.func private " + callee + "(" + type.str() + ")\n";
    body += "  func.call " + callee + "(" + scales.name + ") : (" + type.str() +
            ") -> ()\n";
  }

  void emitStatement() {
    if (--budget < 0)
      return;
    switch (in.below(10)) {
    default:
      emitMatmul();
      return;
    case 5: {
      Type type = disturb(getScalesType());
      Value scales = getValue(type);
      Type swizzled = getSwizzled(type);
      for (size_t dim = 0; dim + 2 < swizzled.shape.size(); ++dim)
        if (in.oneIn(16))
          swizzled.shape[dim] = kDynamic;
      emitSwizzle(scales, disturb(swizzled));
      return;
    }
    case 6:
      getUnswizzled(disturb(getScalesType()));
      return;
    case 7:
      emitNarrow();
      return;
    case 8: {
      Value product = emitMatmul();
      if (!product.type.isTensor())
        return;
      // A tile of the product, or its sizes.
      if (in.oneIn(2)) {
        for (size_t dim = 0; dim != product.type.shape.size(); ++dim)
          getDim(product, dim);
        return;
      }
      std::string offsets, sizes, strides;
      for (size_t dim = 0; dim != product.type.shape.size(); ++dim) {
        std::string separator = dim == 0 ? "" : ", ";
        offsets += separator + (in.oneIn(2) ? getIndex().name : "0");
        sizes += separator + getIndex().name;
        strides += separator + (in.oneIn(16) ? "2" : "1");
      }
      Type tile = product.type.withShape(
          std::vector<int64_t>(product.type.shape.size(), kDynamic));
      define(tile, "tensor.extract_slice " + product.name + "[" + offsets +
                       "] [" + sizes + "] [" + strides +
                       "] : " + product.type.str() + " to " + tile.str());
      return;
    }
    case 9: {
      if (isGraph) {
        emitCycle();
        return;
      }
      Value condition = getLeaf({Kind::Scalar, "i1", {}});
      body += "  scf.if " + condition.name + " {\n";
      emitNested([&] { emitStatement(); });
      body += "  }\n";
      return;
    }
    }
  }

  void emitFunction() {
    values.clear();
    arguments.clear();
    budget = 24;
    hasArguments = !in.oneIn(16);
    isGraph = !hasArguments;
    std::string outer = std::move(body);
    body.clear();

    unsigned numStatements = 1 + in.below(3);
    for (unsigned i = 0; i != numStatements; ++i)
      emitStatement();
    if (!hasArguments) {
      body = outer + body;
      return;
    }

    std::vector<Value> results;
    for (auto value = values.rbegin(); value != values.rend(); ++value)
      if (results.size() < 4 && !in.oneIn(4))
        results.push_back(*value);
    std::string terminator = "  func.return";
    if (!results.empty())
      terminator += " " + joinNames(results) + " : " + joinTypes(results);
    terminator += "\n";
    std::string unreachable;
    if (in.oneIn(12)) {
      std::string reached = std::move(body);
      body.clear();
      isGraph = true;
      budget = 12;
      emitStatement();
      emitStatement();
      unreachable = "^dead:\n" + body + "  cf.br ^dead\n";
      body = std::move(reached);
    }

    std::string parameters;
    for (const Value &argument : arguments)
      parameters += (parameters.empty() ? "" : ", ") + argument.name + ": " +
                    argument.type.str();
    std::string types = joinTypes(results);
    std::string name = "@f" + std::to_string(functions++);
    body = outer + "func.func " + name + "(" + parameters + ") -> (" + types +
           ") {\n" + body + terminator + unreachable + "}\n";
  }

  ByteReader &in;
  std::string declarations;
  std::string body;
  std::vector<Value> values;
  std::vector<Value> arguments;
  bool hasArguments = true;
  /// Uses may come before definitions: in the body of a module, and in a block
  /// that nothing reaches.
  bool isGraph = false;
  /// What is left of the ops of this function; it bounds recursion.
  int budget = 0;
  unsigned numNames = 0;
  unsigned functions = 0;
};

} // namespace

std::string mlir::blockscale::generateModule(ByteReader &in) {
  return Generator(in).run();
}
