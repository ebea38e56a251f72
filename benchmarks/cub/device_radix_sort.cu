//===- device_radix_sort.cu - cub::DeviceRadixSort ------------------------===//
//
// Part of the blockscale project, under the Apache License v2.0 with LLVM
// Exceptions. See LICENSE for license information.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//
//
// Keys with and without values: a single block, and one sweep for each digit in
// which blocks look back.
//
//===----------------------------------------------------------------------===//

#include "Checking.h"

#include <algorithm>
#include <cub/device/device_radix_sort.cuh>
#include <numeric>

template <typename Key>
static void test(const char *name, size_t count) {
  std::vector<Key> keys = draw<Key>(count, -20000, 20000, 5);
  std::vector<int> order(count);
  std::iota(order.begin(), order.end(), 0);
  Buffer<Key> in(keys), out(count);
  Buffer<int> from(order), to(count);
  withStorage([&](void *storage, size_t &bytes) {
    return cub::DeviceRadixSort::SortPairs(storage, bytes, in.get(), out.get(),
                                           from.get(), to.get(), count);
  });
  std::stable_sort(order.begin(), order.end(),
                   [&](int a, int b) { return keys[a] < keys[b]; });
  expectEqual(name, to.read(), order);
  std::sort(keys.begin(), keys.end());
  expectEqual(name, out.read(), keys);
  withStorage([&](void *storage, size_t &bytes) {
    return cub::DeviceRadixSort::SortKeysDescending(storage, bytes, in.get(),
                                                    out.get(), count);
  });
  std::reverse(keys.begin(), keys.end());
  expectEqual(name, out.read(), keys);
}

int main() {
  test<int>("DeviceRadixSort, int", 1000);
  test<unsigned>("DeviceRadixSort, unsigned", 20001);
  test<float>("DeviceRadixSort, float", 20000);
}
