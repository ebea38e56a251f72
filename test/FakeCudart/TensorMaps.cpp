//===- TensorMaps.cpp - Tensor maps of programs ---------------------------===//
//
// Part of the blockscale project, under the Apache License v2.0 with LLVM
// Exceptions. See LICENSE for license information.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//
//
// The 128 bytes of a tensor map hold the program's arguments. The names of
// types and swizzles, and the checks, are those of BlockScaleRuntime.
//
//===----------------------------------------------------------------------===//

#include "TensorMaps.h"

#include "blockscale/Runtime/TensorMap.h"

#include <cstdio>
#include <cstring>
#include <cuda.h>

using namespace capture;
using namespace mlir;

namespace {

constexpr uint64_t kMagic = 0x70616D726F736E65; // "ensormap"

struct Encoded {
  uint64_t magic = kMagic;
  /// CUTLASS clears a bit here, which was wrong in drivers before 13.1.
  uint64_t changed = 0;
  uint64_t address;
  /// In bytes, of all dimensions but the innermost.
  uint64_t strides[blockscale::maxTensorRank - 1];
  /// In elements, less 1: a tensor may have 2^32.
  uint32_t sizes[blockscale::maxTensorRank];
  /// Less 1.
  uint8_t box[blockscale::maxTensorRank];
  uint8_t elementStrides[blockscale::maxTensorRank];
  uint8_t rank, type, swizzle, fill;
};
static_assert(sizeof(Encoded) <= kTensorMapBytes);

} // namespace

/// Numbers, the last one first: ARGs have the innermost dimension last.
template <typename Number>
static std::string join(const Number *numbers, unsigned count, uint64_t plus) {
  std::string text;
  for (unsigned i = count; i-- != 0;)
    text += std::to_string(numbers[i] + plus) + (i ? "x" : "");
  return text;
}

std::optional<TensorMapWords> capture::readTensorMap(const uint8_t *bytes) {
  Encoded map;
  std::memcpy(&map, bytes, sizeof map);
  if (map.magic != kMagic)
    return std::nullopt;
  const auto *type = blockscale::lookupTensorMapType(map.type);
  const auto *swizzle = blockscale::lookupTensorMapSwizzle(map.swizzle);
  TensorMapWords words = {map.address, ":", {}};
  words.map.type = type;
  words.map.swizzle = swizzle;
  words.map.strides.assign(1, type->bits / 8);
  for (unsigned i = 0; i != map.rank; ++i) {
    words.map.sizes.push_back(map.sizes[i] + uint64_t(1));
    words.map.box.push_back(map.box[i] + 1);
    if (i != 0)
      words.map.strides.push_back(map.strides[i - 1]);
  }
  words.text += type->name;
  words.text += ":SIZES=" + join(map.sizes, map.rank, 1);
  if (map.rank > 1)
    words.text += ":PITCH=" + join(map.strides, map.rank - 1, 0);
  words.text += ":BOX=" + join(map.box, map.rank, 1) + ":SWIZZLE=";
  words.text += swizzle->name;
  words.text += ":STRIDES=" + join(map.elementStrides, map.rank, 0);
  words.text += map.fill ? ":FILL=nan" : ":FILL=zero";
  return words;
}

static CUresult reject(const char *what) {
  std::fprintf(stderr, "error: cuTensorMapEncodeTiled: expected %s\n", what);
  return CUDA_ERROR_INVALID_VALUE;
}

/// Checks that blockscale-sim makes only when a kernel runs.
static CUresult checkMap(CUtensorMapDataType type, cuuint32_t rank,
                         CUtensorMapInterleave interleave,
                         CUtensorMapSwizzle swizzle) {
  if (rank < 1 || rank > blockscale::maxTensorRank)
    return reject("1 to 5 dimensions");
  if (interleave != CU_TENSOR_MAP_INTERLEAVE_NONE)
    return reject("no interleaved layout");
  if (!blockscale::lookupTensorMapType(type))
    return reject("a known type");
  if (!blockscale::lookupTensorMapSwizzle(swizzle))
    return reject("a known swizzle");
  return CUDA_SUCCESS;
}

extern "C" CUresult cuTensorMapEncodeTiled(
    CUtensorMap *tensorMap, CUtensorMapDataType type, cuuint32_t rank,
    void *address, const cuuint64_t *sizes, const cuuint64_t *strides,
    const cuuint32_t *box, const cuuint32_t *elementStrides,
    CUtensorMapInterleave interleave, CUtensorMapSwizzle swizzle,
    CUtensorMapL2promotion, CUtensorMapFloatOOBfill fill) {
  if (CUresult status = checkMap(type, rank, interleave, swizzle))
    return status;
  Encoded map = {};
  map.address = reinterpret_cast<uint64_t>(address);
  map.rank = rank;
  map.type = type;
  map.swizzle = swizzle;
  map.fill = fill == CU_TENSOR_MAP_FLOAT_OOB_FILL_NAN_REQUEST_ZERO_FMA;
  for (unsigned i = 0; i != rank; ++i) {
    if (sizes[i] < 1 || sizes[i] > uint64_t(1) << 32)
      return reject("sizes from 1 to 2^32");
    if (box[i] < 1 || box[i] > 256)
      return reject("a box of sizes from 1 to 256");
    if (elementStrides[i] < 1 || elementStrides[i] > 8)
      return reject("element strides from 1 to 8");
    map.sizes[i] = sizes[i] - 1;
    map.box[i] = box[i] - 1;
    map.elementStrides[i] = elementStrides[i];
    if (i + 1 != rank)
      map.strides[i] = strides[i];
  }
  std::memset(tensorMap, 0, sizeof *tensorMap);
  std::memcpy(tensorMap, &map, sizeof map);
  return CUDA_SUCCESS;
}

void *capture::getTensorMapEncoder() {
  return reinterpret_cast<void *>(cuTensorMapEncodeTiled);
}
