//===- device_reduce.cu - cub::DeviceReduce -------------------------------===//
//
// Part of the blockscale project, under the Apache License v2.0 with LLVM
// Exceptions. See LICENSE for license information.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//
//
// Sums and the smallest element, of one tile and of several.
//
//===----------------------------------------------------------------------===//

#include "Checking.h"

#include <algorithm>
#include <cub/device/device_reduce.cuh>
#include <numeric>

template <typename T>
static void test(const char *name, size_t count) {
  std::vector<T> values = draw<T>(count, -100, 100, 3);
  Buffer<T> in(values), sum(1), least(1);
  withStorage([&](void *storage, size_t &bytes) {
    return cub::DeviceReduce::Sum(storage, bytes, in.get(), sum.get(), count);
  });
  withStorage([&](void *storage, size_t &bytes) {
    return cub::DeviceReduce::Min(storage, bytes, in.get(), least.get(), count);
  });
  T expected = std::accumulate(values.begin(), values.end(), T(0));
  expectEqual(name, sum.read(), {expected});
  expectEqual(name, least.read(),
              {*std::min_element(values.begin(), values.end())});
}

int main() {
  test<int>("DeviceReduce, int", 100);
  test<int>("DeviceReduce, int", 50001);
  test<float>("DeviceReduce, float", 20000);
  test<double>("DeviceReduce, double", 33333);
}
