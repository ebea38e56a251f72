//===- captured_cases.cu - Programs for the capture library ---------------===//
//
// Part of the blockscale project, under the Apache License v2.0 with LLVM
// Exceptions. See LICENSE for license information.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//
//
// The first argument says what is done: launches that have to do with one
// another, and those that CUDA refuses. test_captured.py knows what comes of
// it.
//
//===----------------------------------------------------------------------===//

#include <cstdio>
#include <cstring>
#include <cuda.h>
#include <string>
#include <thread>
#include <vector>
#define CHECK(call)                                                            \
  if (cudaError_t status = (call)) {                                           \
    std::printf("%s\n", cudaGetErrorString(status));                           \
    return 2;                                                                  \
  }
__global__ void keep(int **slot, int *address) { *slot = address; }
__global__ void follow(int **slot, int *out) { *out = **slot; }
__global__ void set(int *out, int value) { *out = value; }

__device__ int counter, number, numbers = 7, weights[4] = {1, 2, 3, 4},
                                squares[4] = {0, 1, 4, 9};
static __device__ int hidden = 5;
__device__ __noinline__ int add(int value) { return counter += value; }
__device__ __noinline__ int *choose(int index) { return &weights[index]; }
__device__ __noinline__ void increment(int *at) { ++*at; }
__global__ void count(int *out, int) { *out = add(1); }
__global__ void change(int *out, int i) {
  int *at = weights + i;
  at[1] += 1;
  *out = at[1];
}
__global__ void changeChosen(int *out, int i) { *out = ++*choose(i); }
__global__ void changeBelow(int *out, int i) {
  increment(squares + i);
  *out = squares[i];
}
__global__ void changeHidden(int *out, int i) { *out = hidden += i; }
__global__ void changeLocal(int *out, int i) {
  static int local;
  *out = local += i;
}
__global__ void read(int *out, int i) {
  *out = squares[i] + numbers;
  if (i > 2)
    printf("square of %d\n", i);
}
__global__ void changeNumber(int *out, int i) { *out = number += i; }
__global__ void point(int **slot, int *) { *slot = &number; }
__global__ void allocate(int *out, int i) {
  int *at = (int *)malloc(4);
  *at = i;
  *out = *at;
  free(at);
}

__shared__ int sharedInt;
__device__ __noinline__ int exchange(int value) {
  __shared__ double inner;
  if (threadIdx.x == 0) {
    sharedInt = value;
    inner = value;
  }
  __syncthreads();
  return sharedInt + int(inner);
}
__global__ void share(int *out, int i) {
  __shared__ char bytes[40000];
  bytes[i] = i;
  *out = exchange(i) + bytes[i];
}
__global__ void __launch_bounds__(64) small(int *out, int i) { *out = i; }

// Adds a tile of a tensor, from row 2 on, to what is in pinned memory.
__device__ void add(const CUtensorMap *map, int *pinned) {
  __shared__ alignas(128) int tile[8];
  __shared__ alignas(8) unsigned long long barrier;
  unsigned to = __cvta_generic_to_shared(tile),
           at = __cvta_generic_to_shared(&barrier);
  asm volatile("mbarrier.init.shared.b64 [%0], 1; "
               "fence.mbarrier_init.release.cluster;" ::"r"(at));
  asm volatile("mbarrier.arrive.expect_tx.shared.b64 _, [%0], 32;" ::"r"(at));
  asm volatile("cp.async.bulk.tensor.2d.shared::cluster.global.mbarrier::"
               "complete_tx::bytes [%0], [%1, {%2, %3}], [%4];" ::"r"(to),
               "l"(map), "r"(0), "r"(2), "r"(at)
               : "memory");
  asm volatile("{ .reg .pred p; again: mbarrier.try_wait.parity.shared.b64 p, "
               "[%0], 0; @!p bra again; }" ::"r"(at)
               : "memory");
  for (int i = 0; i != 8; ++i)
    pinned[i] += tile[i];
}
__global__ void addTile(const __grid_constant__ CUtensorMap map, int *pinned) {
  add(&map, pinned);
}
// The same with a copy of a map, in which the tensor gets its address.
__global__ void addTileOf(const __grid_constant__ CUtensorMap map,
                          CUtensorMap *copy, int *tensor, int *pinned) {
  for (int i = 0; i != 16; ++i)
    copy->opaque[i] = map.opaque[i];
  asm volatile(
      "tensormap.replace.tile.global_address.global.b1024.b64 [%0], %1;" ::"l"(
          copy),
      "l"(tensor)
      : "memory");
  asm volatile("fence.proxy.tensormap::generic.release.gpu;" ::: "memory");
  asm volatile(
      "fence.proxy.tensormap::generic.acquire.gpu [%0], 128;" ::"l"(copy)
      : "memory");
  add(copy, pinned);
}

template <typename T>
T *get(size_t bytes) {
  T *pointer = nullptr;
  return cudaMalloc(&pointer, bytes) ? nullptr : pointer;
}
int read(const int *at) {
  int value = -1;
  cudaMemcpy(&value, at, sizeof value, cudaMemcpyDeviceToHost);
  return value;
}
int addresses(const std::string &what) {
  int **slot = get<int *>(16), *before = get<int>(4), *kept = get<int>(4),
      *out = get<int>(4);
  set<<<1, 1>>>(before, 1);
  set<<<1, 1>>>(kept, 42);
  keep<<<1, 1>>>(slot, kept);
  int *stored;
  CHECK(cudaMemcpy(&stored, slot, sizeof stored, cudaMemcpyDeviceToHost));
  if (stored != kept)
    return 3;
  if (what == "freed") {
    CHECK(cudaFree(kept));
    get<int>(4);
  } else if (what == "managed") {
    CHECK(cudaMallocManaged(&kept, 4));
    CHECK(cudaMemcpy(slot, &kept, sizeof kept, cudaMemcpyHostToDevice));
  } else if (what == "written") {
    CHECK(cudaMemcpy(slot, &before, sizeof before, cudaMemcpyHostToDevice));
  }
  follow<<<1, 1>>>(slot, out);
  CHECK(cudaDeviceSynchronize());
  std::printf("found %d\n", read(out));
  return 0;
}
// Launches a kernel twice.
int twice(const std::string &name) {
  const struct {
    const char *name;
    void (*kernel)(int *, int);
  } rows[] = {{"count", count},
              {"change", change},
              {"changeChosen", changeChosen},
              {"changeBelow", changeBelow},
              {"changeHidden", changeHidden},
              {"changeLocal", changeLocal},
              {"read", read},
              {"allocate", allocate}};
  int *out = get<int>(4);
  for (const auto &row : rows)
    for (int i = 2; name == row.name && i != 4; ++i) {
      row.kernel<<<1, 1>>>(out, i);
      CHECK(cudaGetLastError());
      std::printf("%s gives %d\n", row.name, read(out));
    }
  return 0;
}
int prefix() {
  int *out = get<int>(4);
  changeNumber<<<1, 1>>>(out, 2);
  read<<<1, 1>>>(out, 1);
  CHECK(cudaGetLastError());
  std::printf("prefix gives %d\n", read(out));
  return 0;
}
int pointer() {
  int **slot = get<int *>(16), *out = get<int>(4);
  point<<<1, 1>>>(slot, out);
  follow<<<1, 1>>>(slot, out);
  CHECK(cudaGetLastError());
  return 0;
}
int tensor(const std::string &of) {
  int *tensor = get<int>(16 * 4), *pinned, host[16];
  for (int i = 0; i != 16; ++i)
    host[i] = i;
  CHECK(cudaMemcpy(tensor, host, sizeof host, cudaMemcpyHostToDevice));
  CHECK(cudaMallocHost(&pinned, 32));
  std::memset(pinned, 0, 32);
  void *encode;
  cudaDriverEntryPointQueryResult found;
  CHECK(cudaGetDriverEntryPointByVersion("cuTensorMapEncodeTiled", &encode,
                                         12000, cudaEnableDefault, &found));
  CUtensorMap map;
  cuuint64_t sizes[] = {4, 3}, strides[] = {16};
  cuuint32_t box[] = {4, 2}, steps[] = {1, 1};
  // The tensor begins in the second row of the buffer; its last tile leaves it.
  int *start = of == "nothing" ? nullptr
               : of == "less"  ? get<int>(16)
                               : tensor + 4;
  if (decltype (&cuTensorMapEncodeTiled)(encode)(
          &map, CU_TENSOR_MAP_DATA_TYPE_INT32, 2, start, sizes, strides, box,
          steps, CU_TENSOR_MAP_INTERLEAVE_NONE, CU_TENSOR_MAP_SWIZZLE_NONE,
          CU_TENSOR_MAP_L2_PROMOTION_NONE, CU_TENSOR_MAP_FLOAT_OOB_FILL_NONE))
    return 3;
  auto *copy = get<CUtensorMap>(sizeof map);
  for (int i = 0; i != 2; ++i)
    if (of.empty())
      addTile<<<1, 1>>>(map, pinned);
    else
      addTileOf<<<1, 1>>>(map, copy, tensor + 4, pinned);
  CHECK(cudaDeviceSynchronize());
  for (int i = 0; i != 8; ++i)
    std::printf("%d ", pinned[i]);
  return 0;
}
void say(const char *what) {
  std::printf("%s: %s\n", what, cudaGetErrorName(cudaGetLastError()));
}
int launches() {
  int *out = get<int>(4);
  set<<<1, 2048>>>(out, 1), say("threads");
  set<<<1, dim3(1, 1, 65)>>>(out, 1), say("depth");
  set<<<dim3(1, 65536), 1>>>(out, 1), say("rows");
  set<<<0, 1>>>(out, 1), say("nothing");
  small<<<1, 65>>>(out, 1), say("bounds");
  cudaFuncAttributes attributes;
  CHECK(cudaFuncGetAttributes(&attributes, share));
  std::printf("shared %zu and %d\n", attributes.sharedSizeBytes,
              attributes.maxDynamicSharedSizeBytes);
  share<<<1, 1, 9137>>>(out, 1), say("too much shared");
  CHECK(cudaFuncSetAttribute(share, cudaFuncAttributeMaxDynamicSharedMemorySize,
                             9137));
  share<<<1, 1, 9137>>>(out, 1), say("shared");
  cudaLaunchAttribute cluster = {};
  cluster.id = cudaLaunchAttributeClusterDimension;
  cluster.val.clusterDim = {16, 1, 1};
  cudaLaunchConfig_t config = {};
  config.gridDim = 16, config.blockDim = 1, config.attrs = &cluster,
  config.numAttrs = 1;
  cudaLaunchKernelEx(&config, set, out, 1), say("cluster of 16");
  CHECK(cudaFuncSetAttribute(
      set, cudaFuncAttributeNonPortableClusterSizeAllowed, 1));
  cudaLaunchKernelEx(&config, set, out, 1), say("allowed cluster");
  config.gridDim = 24;
  cudaLaunchKernelEx(&config, set, out, 1), say("part of a cluster");
  return 0;
}
int threads() {
  std::vector<std::thread> all;
  std::vector<int> wrong(4, 0);
  for (int t = 0; t != 4; ++t)
    all.emplace_back([&wrong, t] {
      for (int i = 0; i != 3; ++i) {
        int *out = get<int>(4);
        set<<<1, 1>>>(out, 10 * t + i);
        wrong[t] += cudaGetLastError() != cudaSuccess ||
                    read(out) != 10 * t + i || cudaFree(out) != cudaSuccess;
        set<<<1, t % 2 ? 1 : 2048>>>(out = get<int>(4), 0);
        wrong[t] += (cudaGetLastError() != cudaSuccess) != (t % 2 == 0);
      }
    });
  for (std::thread &thread : all)
    thread.join();
  std::printf("%d wrong\n", wrong[0] + wrong[1] + wrong[2] + wrong[3]);
  return 0;
}
int main(int argc, char **argv) {
  std::string what = argv[1];
  if (what == "addresses")
    return addresses(argv[2]);
  if (what == "twice")
    return twice(argv[2]);
  if (what == "prefix")
    return prefix();
  if (what == "pointer")
    return pointer();
  if (what == "tensor")
    return tensor(argc > 2 ? argv[2] : "");
  if (what == "launches")
    return launches();
  if (what == "threads")
    return threads();
  return 4;
}
