//===- block_radix_sort.cu - cub::BlockRadixSort --------------------------===//
//
// Part of the blockscale project, under the Apache License v2.0 with LLVM
// Exceptions. See LICENSE for license information.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//
//
// Keys of a block with and without values, up and down, and floats.
//
//===----------------------------------------------------------------------===//

#include "Checking.h"

#include <algorithm>
#include <cub/block/block_load.cuh>
#include <cub/block/block_radix_sort.cuh>
#include <cub/block/block_store.cuh>
#include <numeric>

template <typename Key, int threads, int items, bool isDescending>
__global__ void sort(Key *keys, int *values) {
  using Sort = cub::BlockRadixSort<Key, threads, items, int>;
  __shared__ typename Sort::TempStorage shared;
  int start = (blockIdx.x * threads) * items;
  Key key[items];
  int value[items];
  cub::LoadDirectBlocked(threadIdx.x, keys + start, key);
  cub::LoadDirectBlocked(threadIdx.x, values + start, value);
  if (isDescending)
    Sort(shared).SortDescending(key, value);
  else
    Sort(shared).SortBlockedToStriped(key, value);
  if (isDescending) {
    cub::StoreDirectBlocked(threadIdx.x, keys + start, key);
    cub::StoreDirectBlocked(threadIdx.x, values + start, value);
  } else {
    cub::StoreDirectStriped<threads>(threadIdx.x, keys + start, key);
    cub::StoreDirectStriped<threads>(threadIdx.x, values + start, value);
  }
}

/// Values are the indices of their keys; equal keys keep their order.
template <typename Key, int threads, int items, bool isDescending>
static void test(const char *name) {
  constexpr int blocks = 3, size = threads * items;
  std::vector<Key> keys = draw<Key>(blocks * size, -300, 300, 2);
  std::vector<int> order(keys.size());
  std::iota(order.begin(), order.end(), 0);
  Buffer<Key> onCard(keys);
  Buffer<int> values(order);
  sort<Key, threads, items, isDescending>
      <<<blocks, threads>>>(onCard.get(), values.get());
  check(cudaGetLastError());
  for (int block = 0; block != blocks; ++block)
    std::stable_sort(order.begin() + block * size,
                     order.begin() + (block + 1) * size, [&](int a, int b) {
                       return isDescending ? keys[a] > keys[b]
                                           : keys[a] < keys[b];
                     });
  std::vector<Key> sorted(keys.size());
  for (size_t i = 0; i != keys.size(); ++i)
    sorted[i] = keys[order[i]];
  expectEqual(name, onCard.read(), sorted);
  expectEqual(name, values.read(), order);
}

int main() {
  test<int, 128, 5, false>("BlockRadixSort, int");
  test<float, 64, 8, true>("BlockRadixSort, float, descending");
  test<short, 96, 3, true>("BlockRadixSort, short, descending");
  test<long long, 256, 2, false>("BlockRadixSort, long long");
}
