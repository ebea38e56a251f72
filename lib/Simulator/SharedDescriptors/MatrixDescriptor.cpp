//===- MatrixDescriptor.cpp - Descriptors of shared memory ----------------===//
//
// Part of the blockscale project, under the Apache License v2.0 with LLVM
// Exceptions. See LICENSE for license information.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//
//
// tcgen05 and wgmma have their own fields and encodings of swizzle modes. Each
// has a row in a table; one function decodes both.
//
//===----------------------------------------------------------------------===//

#include "SharedDescriptors/MatrixDescriptor.h"

#include "Memory/Storage.h"
#include "SharedDescriptors/DescriptorFields.h"

#include "llvm/ADT/STLExtras.h"
#include "llvm/Support/MathExtras.h"

using namespace mlir::blockscale;
using namespace mlir::blockscale::sim;

static constexpr DescriptorField kMatrixFields[] = {
    {"start", 0, 14},   {"leading_offset", 16, 14}, {"stride_offset", 32, 14},
    {"version", 46, 3}, {"base_offset", 49, 3},     {"leading_absolute", 52, 1},
    {"swizzle", 61, 3},
};
static constexpr DescriptorField kWarpgroupFields[] = {
    {"start", 0, 14},          {"leading_offset", 16, 14},
    {"stride_offset", 32, 14}, {"base_offset", 49, 3},
    {"swizzle", 62, 2},
};

namespace {
struct SwizzleCode {
  unsigned code;
  SwizzleMode mode;
};

struct MatrixFormat {
  DescriptorUser user;
  llvm::ArrayRef<DescriptorField> fields;
  /// The value of the version field; 0 if there is no such field.
  unsigned version;
  llvm::ArrayRef<SwizzleCode> swizzles;
};

/// A swizzle XORs bits [to, to + bits) of an address with the bits from `from`
/// on.
struct SwizzleRow {
  SwizzleMode mode;
  unsigned rowBytes;
  unsigned to, from, bits;
};
} // namespace

static constexpr SwizzleRow kSwizzles[] = {
    {SwizzleMode::None, 16, 0, 0, 0},
    {SwizzleMode::Bytes128Atom32, 128, 5, 7, 2},
    {SwizzleMode::Bytes128, 128, 4, 7, 3},
    {SwizzleMode::Bytes64, 64, 4, 7, 2},
    {SwizzleMode::Bytes32, 32, 4, 7, 1},
};

static constexpr SwizzleCode kTensorSwizzles[] = {
    {0, SwizzleMode::None},     {1, SwizzleMode::Bytes128Atom32},
    {2, SwizzleMode::Bytes128}, {4, SwizzleMode::Bytes64},
    {6, SwizzleMode::Bytes32},
};
static constexpr SwizzleCode kWarpgroupSwizzles[] = {
    {0, SwizzleMode::None},
    {1, SwizzleMode::Bytes128},
    {2, SwizzleMode::Bytes64},
    {3, SwizzleMode::Bytes32},
};

static constexpr MatrixFormat kMatrixFormats[] = {
    {DescriptorUser::Tensor, kMatrixFields, 1, kTensorSwizzles},
    {DescriptorUser::Warpgroup, kWarpgroupFields, 0, kWarpgroupSwizzles},
};

static const MatrixFormat &lookup(DescriptorUser user) {
  return *llvm::find_if(kMatrixFormats, [&](const MatrixFormat &format) {
    return format.user == user;
  });
}

static const SwizzleRow *lookup(SwizzleMode mode) {
  return llvm::find_if(kSwizzles,
                       [&](const SwizzleRow &row) { return row.mode == mode; });
}

unsigned sim::getRowBytes(SwizzleMode mode) { return lookup(mode)->rowBytes; }

Result<MatrixDescriptor> MatrixDescriptor::decode(uint64_t bits,
                                                  DescriptorUser user) {
  const MatrixFormat &format = lookup(user);
  auto reject = [&](llvm::StringRef text) {
    return Error("expected " + text.str() +
                 " in a shared memory descriptor, "
                 "got " +
                 printFields(bits, format.fields));
  };
  auto field = [&](llvm::StringRef name) {
    return getField(bits, format.fields, name);
  };
  constexpr unsigned unit = 16;
  if (uint64_t reserved = getReserved(bits, format.fields))
    return reject("0 in the reserved bits " + printHex(reserved));
  if (field("version") != format.version)
    return reject("version 1");
  const SwizzleCode *swizzle =
      llvm::find_if(format.swizzles, [&](const SwizzleCode &row) {
        return row.code == field("swizzle");
      });
  if (swizzle == format.swizzles.end())
    return reject("a swizzle mode out of 0, 1, 2, 4 and 6");
  MatrixDescriptor descriptor;
  descriptor.user = user;
  descriptor.bits = bits;
  descriptor.start = field("start") * unit;
  descriptor.leadingOffset = field("leading_offset") * unit;
  descriptor.strideOffset = field("stride_offset") * unit;
  descriptor.baseOffset = field("base_offset");
  descriptor.isLeadingAbsolute = field("leading_absolute");
  descriptor.swizzle = swizzle->mode;
  return descriptor;
}

std::string MatrixDescriptor::print() const {
  return printFields(bits, lookup(user).fields);
}

uint32_t MatrixDescriptor::swizzled(uint32_t address) const {
  const SwizzleRow &row = *lookup(swizzle);
  uint32_t phase = (address - (baseOffset << 7)) >> row.from;
  return address ^ (phase & llvm::maskTrailingOnes<uint32_t>(row.bits))
                       << row.to;
}
