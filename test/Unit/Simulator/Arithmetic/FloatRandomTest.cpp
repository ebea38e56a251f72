//===- FloatRandomTest.cpp - Arithmetic against llvm::APFloat -------------===//
//
// Part of the blockscale project, under the Apache License v2.0 with LLVM
// Exceptions. See LICENSE for license information.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//
//
// All floating-point types with random values, and all values of f16.
//
//===----------------------------------------------------------------------===//

#include "Arithmetic/ArithmeticTesting.h"

#include "llvm/ADT/APFloat.h"

#include <functional>

using namespace mlir::blockscale;
using namespace mlir::blockscale::sim;
using namespace mlir::blockscale::sim::kerneltest;

namespace {
/// A type, and APFloat's name of it.
struct TypeRow {
  const char *name;
  const llvm::fltSemantics &semantics;
  unsigned bits, exponentBits, mantissaBits;
  bool hasAllModes;
};

struct ModeRow {
  const char *name;
  llvm::RoundingMode mode;
};

struct OperationRow {
  const char *opcode;
  unsigned numSources;
  /// 16-bit types have it.
  bool isSum;
  std::function<void(llvm::APFloat &, const llvm::APFloat &,
                     const llvm::APFloat &, llvm::RoundingMode)>
      compute;
};
} // namespace

static const std::vector<TypeRow> &getTypes() {
  static const std::vector<TypeRow> types = {
      {"f32", llvm::APFloat::IEEEsingle(), 32, 8, 23, true},
      {"f64", llvm::APFloat::IEEEdouble(), 64, 11, 52, true},
      {"f16", llvm::APFloat::IEEEhalf(), 16, 5, 10, false},
      {"bf16", llvm::APFloat::BFloat(), 16, 8, 7, false},
  };
  return types;
}

static constexpr ModeRow kModes[] = {
    {"rn", llvm::RoundingMode::NearestTiesToEven},
    {"rz", llvm::RoundingMode::TowardZero},
    {"rm", llvm::RoundingMode::TowardNegative},
    {"rp", llvm::RoundingMode::TowardPositive},
};

static const std::vector<OperationRow> &getOperations() {
  using llvm::APFloat;
  using Mode = llvm::RoundingMode;
  static const std::vector<OperationRow> operations = {
      {"add", 2, true,
       [](APFloat &a, const APFloat &b, const APFloat &, Mode mode) {
         a.add(b, mode);
       }},
      {"sub", 2, true,
       [](APFloat &a, const APFloat &b, const APFloat &, Mode mode) {
         a.subtract(b, mode);
       }},
      {"mul", 2, true,
       [](APFloat &a, const APFloat &b, const APFloat &, Mode mode) {
         a.multiply(b, mode);
       }},
      {"fma", 3, true,
       [](APFloat &a, const APFloat &b, const APFloat &c, Mode mode) {
         a.fusedMultiplyAdd(b, c, mode);
       }},
      {"div", 2, false,
       [](APFloat &a, const APFloat &b, const APFloat &, Mode mode) {
         a.divide(b, mode);
       }},
  };
  return operations;
}

/// Whether a result is a NaN of the type; other tests check which one.
static bool isNaN(uint64_t bits, const TypeRow &type) {
  return llvm::APFloat(type.semantics, llvm::APInt(type.bits, bits)).isNaN();
}

static void compare(const OperationRow &operation, const TypeRow &type,
                    const ModeRow &mode) {
  unsigned count = operation.numSources;
  RandomNumbers numbers(type.exponentBits, type.mantissaBits);
  std::vector<std::vector<uint64_t>> sources;
  for (unsigned i = 0; i != 8192; ++i)
    sources.push_back(numbers.next(count));
  std::string text =
      std::string(operation.opcode) + "." + mode.name + "." + type.name;
  std::vector<uint64_t> results = evaluateAll(
      text, type.bits, std::vector<unsigned>(count, type.bits), sources);
  unsigned numFailures = 0;
  for (size_t i = 0; i != sources.size() && numFailures != 5; ++i) {
    auto make = [&](unsigned j) {
      return llvm::APFloat(type.semantics,
                           llvm::APInt(type.bits, sources[i][j]));
    };
    llvm::APFloat result = make(0);
    operation.compute(result, make(1), make(count - 1), mode.mode);
    uint64_t expected = result.bitcastToAPInt().getZExtValue();
    bool isEqual =
        result.isNaN() ? isNaN(results[i], type) : results[i] == expected;
    numFailures += !isEqual;
    EXPECT_TRUE(isEqual) << text << std::hex << " " << sources[i][0] << " "
                         << sources[i][1] << " " << sources[i][count - 1]
                         << ": " << results[i] << " and not " << expected;
  }
}

TEST(FloatRandomTest, RandomNumbers) {
  for (const TypeRow &type : getTypes())
    for (const OperationRow &operation : getOperations())
      for (const ModeRow &mode : kModes)
        if (type.hasAllModes ||
            (operation.isSum &&
             mode.mode == llvm::RoundingMode::NearestTiesToEven))
          compare(operation, type, mode);
}

/// x * x in a format where the square of a root, or of a root and half of its
/// last bit, is exact.
static llvm::APFloat square(llvm::APFloat x) {
  x.multiply(x, llvm::RoundingMode::NearestTiesToEven);
  return x;
}

static llvm::APFloat widen(uint64_t bits, const TypeRow &type) {
  llvm::APFloat value(type.semantics, llvm::APInt(type.bits, bits));
  bool losesInfo;
  value.convert(llvm::APFloat::IEEEquad(),
                llvm::RoundingMode::NearestTiesToEven, &losesInfo);
  return value;
}

/// The middle between a value and the next one.
static llvm::APFloat getMiddle(uint64_t bits, const TypeRow &type) {
  llvm::APFloat sum = widen(bits, type);
  sum.add(widen(bits + 1, type), llvm::RoundingMode::NearestTiesToEven);
  return scalbn(sum, -1, llvm::RoundingMode::NearestTiesToEven);
}

static bool isRoot(uint64_t root, uint64_t x, const TypeRow &type,
                   llvm::RoundingMode mode) {
  llvm::APFloat value = widen(x, type);
  switch (mode) {
  case llvm::RoundingMode::NearestTiesToEven:
    return square(getMiddle(root - 1, type)) < value &&
           value < square(getMiddle(root, type));
  case llvm::RoundingMode::TowardPositive:
    return square(widen(root - 1, type)) < value &&
           value <= square(widen(root, type));
  default:
    return square(widen(root, type)) <= value &&
           value < square(widen(root + 1, type));
  }
}

TEST(FloatRandomTest, RandomRoots) {
  for (const TypeRow &type : getTypes()) {
    if (!type.hasAllModes)
      continue;
    uint64_t infinity = ((uint64_t(1) << type.exponentBits) - 1)
                        << type.mantissaBits;
    RandomNumbers numbers(type.exponentBits, type.mantissaBits);
    std::vector<std::vector<uint64_t>> sources;
    while (sources.size() != 4096) {
      uint64_t x = numbers.next(1)[0] & ((uint64_t(1) << (type.bits - 1)) - 1);
      if (x && x < infinity)
        sources.push_back({x});
    }
    for (const ModeRow &mode : kModes) {
      std::string text = std::string("sqrt.") + mode.name + "." + type.name;
      std::vector<uint64_t> roots =
          evaluateAll(text, type.bits, {type.bits}, sources);
      unsigned numFailures = 0;
      for (size_t i = 0; i != sources.size() && numFailures != 5; ++i) {
        bool isRight = isRoot(roots[i], sources[i][0], type, mode.mode);
        numFailures += !isRight;
        EXPECT_TRUE(isRight)
            << text << std::hex << " " << sources[i][0] << ": " << roots[i];
      }
    }
  }
}

/// The sums and products of all f16 values with some values.
TEST(FloatRandomTest, AllValuesOfF16) {
  const TypeRow &type = getTypes()[2];
  for (uint64_t other :
       {0x0001, 0x03FF, 0x1401, 0x3555, 0x3C01, 0xBE03, 0x7BFF})
    for (const OperationRow &operation : getOperations()) {
      if (!operation.isSum || operation.numSources != 2)
        continue;
      std::vector<std::vector<uint64_t>> sources;
      for (uint64_t x = 0; x != 0x10000; ++x)
        sources.push_back({x, other});
      std::vector<uint64_t> results = evaluateAll(
          std::string(operation.opcode) + ".f16", 16, {16, 16}, sources);
      unsigned numFailures = 0;
      for (uint64_t x = 0; x != 0x10000; ++x) {
        llvm::APFloat result(type.semantics, llvm::APInt(16, x));
        llvm::APFloat y(type.semantics, llvm::APInt(16, other));
        operation.compute(result, y, y, llvm::RoundingMode::NearestTiesToEven);
        uint64_t expected =
            result.isNaN() ? 0x7FFF : result.bitcastToAPInt().getZExtValue();
        numFailures += results[x] != expected;
      }
      EXPECT_EQ(numFailures, 0u) << operation.opcode << " " << other;
    }
}
