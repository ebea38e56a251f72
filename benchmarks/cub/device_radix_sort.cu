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
  std::vector<int> places(count);
  std::iota(places.begin(), places.end(), 0);
  Buffer<Key> in(keys), out(count);
  Buffer<int> from(places), to(count);
  withStorage([&](void *storage, size_t &bytes) {
    return cub::DeviceRadixSort::SortPairs(storage, bytes, in.get(), out.get(),
                                           from.get(), to.get(), count);
  });
  std::stable_sort(places.begin(), places.end(),
                   [&](int a, int b) { return keys[a] < keys[b]; });
  expectEqual(name, to.read(), places);
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
