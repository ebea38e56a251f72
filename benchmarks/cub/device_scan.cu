//===- device_scan.cu - cub::DeviceScan -----------------------------------===//
//
// Part of the blockscale project, under the Apache License v2.0 with LLVM
// Exceptions. See LICENSE for license information.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//
//
// Sums of prefixes in one pass: a block looks back at what those in front of it
// have summed up, and waits for them.
//
//===----------------------------------------------------------------------===//

#include "Checking.h"

#include <cub/device/device_scan.cuh>
#include <numeric>

template <typename T>
static void test(const char *name, size_t count) {
  std::vector<T> values = draw<T>(count, -100, 100, 4), expected(count);
  Buffer<T> in(values), out(count);
  withStorage([&](void *storage, size_t &bytes) {
    return cub::DeviceScan::InclusiveSum(storage, bytes, in.get(), out.get(),
                                         count);
  });
  std::partial_sum(values.begin(), values.end(), expected.begin());
  expectEqual(name, out.read(), expected);
  withStorage([&](void *storage, size_t &bytes) {
    return cub::DeviceScan::ExclusiveSum(storage, bytes, in.get(), out.get(),
                                         count);
  });
  for (size_t i = 0; i != count; ++i)
    expected[i] -= values[i];
  expectEqual(name, out.read(), expected);
}

int main() {
  test<int>("DeviceScan, int", 100);
  test<int>("DeviceScan, int", 50001);
  test<float>("DeviceScan, float", 20000);
  test<long long>("DeviceScan, long long", 33333);
}
