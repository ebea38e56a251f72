//===- block_scan.cu - cub::BlockScan -------------------------------------===//
//
// Part of the blockscale project, under the Apache License v2.0 with LLVM
// Exceptions. See LICENSE for license information.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//
//
// Sums of prefixes of the elements of a block, by all three algorithms and with
// a carry from tile to tile.
//
//===----------------------------------------------------------------------===//

#include "Checking.h"

#include <cub/block/block_load.cuh>
#include <cub/block/block_scan.cuh>
#include <cub/block/block_store.cuh>
#include <numeric>

/// Carries the sum of a tile to the next one; the first warp calls it.
struct Carry {
  int sum;

  __device__ int operator()(int tile) {
    int before = sum;
    sum += tile;
    return before;
  }
};

template <int threads, int items, cub::BlockScanAlgorithm algorithm>
__global__ void scan(const int *in, int *out, int tiles) {
  using Load = cub::BlockLoad<int, threads, items, cub::BLOCK_LOAD_TRANSPOSE>;
  using Store =
      cub::BlockStore<int, threads, items, cub::BLOCK_STORE_WARP_TRANSPOSE>;
  using Scan = cub::BlockScan<int, threads, algorithm>;
  __shared__ union {
    typename Load::TempStorage load;
    typename Store::TempStorage store;
    typename Scan::TempStorage scan;
  } shared;
  size_t start = size_t(blockIdx.x) * tiles * threads * items;
  Carry carry = {0};
  for (int tile = 0; tile != tiles; ++tile, start += threads * items) {
    int values[items];
    Load(shared.load).Load(in + start, values);
    __syncthreads();
    Scan(shared.scan).InclusiveSum(values, values, carry);
    __syncthreads();
    Store(shared.store).Store(out + start, values);
    __syncthreads();
  }
}

template <int threads, int items, cub::BlockScanAlgorithm algorithm>
static void test(const char *name) {
  constexpr int blocks = 3, tiles = 4, size = tiles * threads * items;
  std::vector<int> values = draw<int>(blocks * size, -1000, 1000, 1);
  Buffer<int> in(values), out(values.size());
  scan<threads, items, algorithm>
      <<<blocks, threads>>>(in.get(), out.get(), tiles);
  check(cudaGetLastError());
  for (int block = 0; block != blocks; ++block) {
    auto start = values.begin() + block * size;
    std::partial_sum(start, start + size, start);
  }
  expectEqual(name, out.read(), values);
}

int main() {
  test<128, 4, cub::BLOCK_SCAN_RAKING>("BlockScan, raking");
  test<256, 7, cub::BLOCK_SCAN_RAKING_MEMOIZE>("BlockScan, raking, memoize");
  test<96, 5, cub::BLOCK_SCAN_WARP_SCANS>("BlockScan, scans of warps");
}
