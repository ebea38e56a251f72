//===- GpuBuffers.cpp - Arrays as a GPU function takes them ---------------===//
//
// Part of the blockscale project, under the Apache License v2.0 with LLVM
// Exceptions. See LICENSE for license information.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#include "GpuBuffers.h"

#include "blockscale/Dialect/IR/BlockScale.h"
#include "blockscale/Dialect/Transforms/Transforms.h"
#include "blockscale/Driver/CpuExecution.h"
#include "blockscale/Driver/ElementStorage.h"

#include <cstring>

using namespace mlir;
using namespace mlir::blockscale;

//===----------------------------------------------------------------------===//
// Signatures
//===----------------------------------------------------------------------===//

static GpuValue getGpuValue(Type type, RankedTensorType tensorType,
                            bool wantsPacked) {
  GpuValue value = {tensorType, !isa<RankedTensorType>(type), 0};
  std::optional<Format> format = getElementFormat(tensorType.getElementType());
  unsigned bits = format ? getFormatInfo(*format).bits : 8;
  if (!value.isScalar && (bits == 4 || (bits == 6 && wantsPacked)))
    value.packedBits = bits;
  return value;
}

FailureOr<GpuSignature> blockscale::getGpuSignature(func::FuncOp function) {
  FailureOr<std::vector<RankedTensorType>> arguments =
      getArgumentTypes(function);
  FailureOr<std::vector<RankedTensorType>> results = getResultTypes(function);
  if (failed(arguments) || failed(results))
    return failure();
  GpuSignature signature;
  for (auto [i, type] : llvm::enumerate(*arguments))
    signature.arguments.push_back(
        getGpuValue(function.getArgumentTypes()[i], type,
                    function.getArgAttr(i, kPackedAttrName) != nullptr));
  for (auto [i, type] : llvm::enumerate(*results))
    signature.results.push_back(getGpuValue(function.getResultTypes()[i], type,
                                            /*wantsPacked=*/false));
  return signature;
}

//===----------------------------------------------------------------------===//
// Bit streams
//===----------------------------------------------------------------------===//

std::vector<uint8_t> blockscale::packCodes(const std::vector<uint8_t> &codes,
                                           unsigned bits) {
  std::vector<uint8_t> bytes;
  bytes.reserve(codes.size() * bits / 8);
  unsigned pending = 0, numPending = 0;
  for (uint8_t code : codes) {
    pending |= unsigned(code) << numPending;
    numPending += bits;
    for (; numPending >= 8; numPending -= 8, pending >>= 8)
      bytes.push_back(pending & 0xff);
  }
  return bytes;
}

std::vector<uint8_t> blockscale::unpackCodes(const std::vector<uint8_t> &bytes,
                                             unsigned bits) {
  std::vector<uint8_t> codes;
  codes.reserve(bytes.size() * 8 / bits);
  unsigned pending = 0, numPending = 0;
  for (uint8_t byte : bytes) {
    pending |= unsigned(byte) << numPending;
    numPending += 8;
    for (; numPending >= bits; numPending -= bits, pending >>= bits)
      codes.push_back(pending & ((1u << bits) - 1));
  }
  return codes;
}

//===----------------------------------------------------------------------===//
// Arguments of launches
//===----------------------------------------------------------------------===//

Result<LaunchArgument> blockscale::makeLaunchArgument(const GpuValue &value,
                                                      NpyArray array) {
  LaunchArgument argument;
  if (value.isScalar) {
    argument.kind = LaunchArgument::Kind::Scalar;
    argument.size = array.elementSize();
    std::memcpy(&argument.bits, array.data.data(), argument.size);
    return argument;
  }
  argument.kind = LaunchArgument::Kind::In;
  if (value.packedBits != 0) {
    // Static sizes have been checked.
    std::optional<int64_t> bytes =
        getPackedBytes(array.shape.back(), value.packedBits);
    if (!bytes)
      return Error("expected rows that end on a byte when packed, got " +
                   std::to_string(array.shape.back()) + " elements of " +
                   std::to_string(value.packedBits) + " bits");
    array.data = packCodes(array.data, value.packedBits);
    array.shape.back() = *bytes;
  }
  argument.array = std::move(array);
  return argument;
}

Result<LaunchArgument>
blockscale::makeLaunchResult(const GpuValue &value,
                             std::vector<int64_t> shape) {
  DType dtype = getElementStorage(value.type.getElementType())->dtype;
  Result<NpyArray> array = makeZeros(dtype, std::move(shape));
  if (!array)
    return array.error();
  LaunchArgument result;
  result.kind = LaunchArgument::Kind::Out;
  result.array = std::move(*array);
  return result;
}

NpyArray blockscale::takeLaunchResult(const GpuValue &value,
                                      LaunchArgument result) {
  NpyArray array = std::move(result.array);
  if (value.packedBits != 0) {
    array.data = unpackCodes(array.data, value.packedBits);
    array.shape.back() = array.shape.back() * 8 / value.packedBits;
  }
  return array;
}
