//===- math_errors.cpp - Errors over all f32 values -----------------------===//
//
// Part of the blockscale project, under the Apache License v2.0 with LLVM
// Exceptions. See LICENSE for license information.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//
//
// The other half of math_errors.py, which defines NAME, EXACT and ARGUMENTS:
// compares a compiled approximation with the C library's function of double.
//
//===----------------------------------------------------------------------===//

#include <cmath>
#include <cstdint>
#include <cstdio>
#include <cstdlib>
#include <cstring>
#include <limits>
#include <random>
#include <thread>
#include <vector>

#if ARGUMENTS == 1
extern "C" float approximation(float);
#else
extern "C" float approximation(float, float);
#endif

static double rsqrt(double x) { return 1 / std::sqrt(x); }

static float fromBits(uint32_t bits) {
  float value;
  std::memcpy(&value, &bits, sizeof(value));
  return value;
}

namespace {
struct Worst {
  double ulp = 0;
  float x = 0, y = 0;
  uint64_t wrongSpecials = 0;
  float special = 0, specialY = 0;
};
} // namespace

static void compare(Worst &worst, float got, double exact, float x, float y) {
  auto rounded = static_cast<float>(exact);
  if (!std::isfinite(rounded) || rounded == 0 || !std::isfinite(got)) {
    bool isSame =
        std::isnan(rounded)
            ? std::isnan(got)
            : got == rounded && std::signbit(got) == std::signbit(rounded);
    // Beside the ends of the range, an error of an ulp may cross them.
    constexpr double kLargest = std::numeric_limits<float>::max();
    bool isBeside =
        (std::abs(exact) >= kLargest * (1 - 0x1p-22) &&
         std::abs(exact) < 0x1p128 * (1 + 0x1p-22) &&
         std::abs(got) >= kLargest * (1 - 0x1p-22)) ||
        (exact != 0 && std::abs(exact) < 0x1p-148 && std::abs(got) < 0x1p-147f);
    if (!isSame && !isBeside && worst.wrongSpecials++ == 0) {
      worst.special = x;
      worst.specialY = y;
    }
    return;
  }
  int exponent = std::max(std::ilogb(exact), -126);
  double ulp = std::abs(got - exact) * std::ldexp(1.0, 23 - exponent);
  if (ulp > worst.ulp) {
    worst.ulp = ulp;
    worst.x = x;
    worst.y = y;
  }
}

static Worst measure(uint64_t first, uint64_t last, uint64_t step) {
  Worst worst;
#if ARGUMENTS == 1
  for (uint64_t bits = first; bits < last; bits += step) {
    float x = fromBits(static_cast<uint32_t>(bits));
    compare(worst, approximation(x), EXACT(static_cast<double>(x)), x, 0);
  }
#else
  // Pairs at random: any bits, and values whose power is in range.
  std::mt19937_64 random(first);
  static constexpr float kEnds[] = {
      0.0f,  -0.0f,  1,        -1,        0.5f, 2,           3,    -3,
      1e30f, 1e-45f, INFINITY, -INFINITY, NAN,  16777217.0f, -2.5f};
  for (float x : kEnds)
    for (float y : kEnds)
      compare(worst, approximation(x, y),
              EXACT(static_cast<double>(x), static_cast<double>(y)), x, y);
  for (uint64_t i = first; i < last; i += step) {
    uint64_t bits = random();
    float x = fromBits(static_cast<uint32_t>(bits)),
          y = fromBits(static_cast<uint32_t>(bits >> 32));
    if (i & 1) {
      x = std::abs(x);
      y = static_cast<float>((static_cast<double>(bits >> 32) * 0x1p-31 - 1) *
                             150 / std::log2(x));
    }
    compare(worst, approximation(x, y),
            EXACT(static_cast<double>(x), static_cast<double>(y)), x, y);
  }
#endif
  return worst;
}

int main(int argc, char **argv) {
  uint64_t step = argc > 1 ? std::strtoull(argv[1], nullptr, 10) : 1;
  unsigned numThreads =
      argc > 2 ? std::atoi(argv[2]) : std::thread::hardware_concurrency();
  constexpr uint64_t kAll = uint64_t(1) << 32;
  std::vector<Worst> results(numThreads);
  std::vector<std::thread> threads;
  for (unsigned i = 0; i != numThreads; ++i)
    threads.emplace_back([&, i] {
      results[i] =
          measure(kAll * i / numThreads, kAll * (i + 1) / numThreads, step);
    });
  for (std::thread &thread : threads)
    thread.join();
  Worst worst;
  for (const Worst &result : results) {
    if (result.wrongSpecials != 0 && worst.wrongSpecials == 0) {
      worst.special = result.special;
      worst.specialY = result.specialY;
    }
    worst.wrongSpecials += result.wrongSpecials;
    if (result.ulp > worst.ulp) {
      worst.ulp = result.ulp;
      worst.x = result.x;
      worst.y = result.y;
    }
  }
  std::printf("%-12s %8.3f ulp at %a", NAME, worst.ulp, worst.x);
  if (ARGUMENTS == 2)
    std::printf(", %a", worst.y);
  if (worst.wrongSpecials != 0)
    std::printf("; %llu wrong ends, such as %a, %a",
                static_cast<unsigned long long>(worst.wrongSpecials),
                worst.special, worst.specialY);
  std::printf("\n");
  return worst.wrongSpecials != 0;
}
