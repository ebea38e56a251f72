// Tensor copies: a box of a tensor comes to shared memory, or goes back, by one
// instruction of one thread.
//
//   load_Nd    shared memory, which holds 0xCCCCCCCC before, goes to `words`
//   store_Nd   `words` go to shared memory, and a box of them to the tensor
//   add_2d     the same; elements are added to those of the tensor
//   copied_map as load_2d, with a copy of the tensor map in global memory
//
// The box is `offset` bytes behind an address that is a multiple of 1024.
// Coordinates start with the innermost one.

#include <cstdint>
#include <cuda.h>

static constexpr int kWords = 6144;

static __device__ uint32_t toShared(const void *pointer) {
  return static_cast<uint32_t>(__cvta_generic_to_shared(pointer));
}

static __device__ void fill(uint32_t *memory, const uint32_t *words, int count,
                            uint64_t *barrier) {
  for (int i = threadIdx.x; i < kWords; i += blockDim.x)
    memory[i] = words && i < count ? words[i] : 0xCCCCCCCC;
  if (threadIdx.x == 0) {
    asm volatile("mbarrier.init.shared::cta.b64 [%0], 1;" ::"r"(
                     toShared(barrier))
                 : "memory");
    asm volatile("fence.mbarrier_init.release.cluster;" ::: "memory");
  }
  asm volatile("fence.proxy.async.shared::cta;" ::: "memory");
  __syncthreads();
}

static __device__ void expect(uint64_t *barrier, int bytes) {
  asm volatile("mbarrier.arrive.expect_tx.shared::cta.b64 _, [%0], %1;" ::"r"(
                   toShared(barrier)),
               "r"(bytes)
               : "memory");
}

static __device__ void dump(uint32_t *words, const uint32_t *memory, int count,
                            uint64_t *barrier) {
  asm volatile("{\n"
               ".reg .pred done;\n"
               "again:\n"
               "mbarrier.try_wait.parity.shared::cta.b64 done, [%0], 0;\n"
               "@!done bra again;\n"
               "}" ::"r"(toShared(barrier))
               : "memory");
  for (int i = threadIdx.x; i < count; i += blockDim.x)
    words[i] = memory[i];
}

static __device__ void finish() {
  asm volatile("cp.async.bulk.commit_group;" ::: "memory");
  asm volatile("cp.async.bulk.wait_group 0;" ::: "memory");
}

#define LOAD "cp.async.bulk.tensor."
#define FROM_GLOBAL                                                            \
  ".shared::cluster.global.tile.mbarrier::complete_tx::bytes [%0], [%1, {"
#define FROM_SHARED ".global.shared::cta.tile.bulk_group [%1, {"

#define KERNELS(RANK, NAMES, ...)                                              \
  extern "C" __global__ void load_##RANK(                                      \
      const __grid_constant__ CUtensorMap map, const int *c, uint32_t *words,  \
      int offset, int bytes, int count) {                                      \
    __shared__ __align__(1024) uint32_t memory[kWords];                        \
    __shared__ uint64_t barrier;                                               \
    fill(memory, nullptr, 0, &barrier);                                        \
    if (threadIdx.x == 0) {                                                    \
      expect(&barrier, bytes);                                                 \
      asm volatile(LOAD #RANK FROM_GLOBAL NAMES "}], [%2];" ::"r"(             \
                       toShared(memory) + offset),                             \
                   "l"(&map), "r"(toShared(&barrier)), __VA_ARGS__             \
                   : "memory");                                                \
    }                                                                          \
    dump(words, memory, count, &barrier);                                      \
  }                                                                            \
  extern "C" __global__ void store_##RANK(                                     \
      const __grid_constant__ CUtensorMap map, const int *c,                   \
      const uint32_t *words, int offset, int count) {                          \
    __shared__ __align__(1024) uint32_t memory[kWords];                        \
    __shared__ uint64_t barrier;                                               \
    fill(memory, words, count, &barrier);                                      \
    if (threadIdx.x == 0) {                                                    \
      asm volatile(LOAD #RANK FROM_SHARED NAMES "}], [%0];" ::"r"(             \
                       toShared(memory) + offset),                             \
                   "l"(&map), "r"(0), __VA_ARGS__                              \
                   : "memory");                                                \
      finish();                                                                \
    }                                                                          \
  }

KERNELS(1d, "%3", "r"(c[0]))
KERNELS(2d, "%3, %4", "r"(c[0]), "r"(c[1]))
KERNELS(3d, "%3, %4, %5", "r"(c[0]), "r"(c[1]), "r"(c[2]))
KERNELS(4d, "%3, %4, %5, %6", "r"(c[0]), "r"(c[1]), "r"(c[2]), "r"(c[3]))
KERNELS(5d, "%3, %4, %5, %6, %7", "r"(c[0]), "r"(c[1]), "r"(c[2]), "r"(c[3]),
        "r"(c[4]))

extern "C" __global__ void add_2d(const __grid_constant__ CUtensorMap map,
                                  const int *c, const uint32_t *words,
                                  int offset, int count) {
  __shared__ __align__(1024) uint32_t memory[kWords];
  __shared__ uint64_t barrier;
  fill(memory, words, count, &barrier);
  if (threadIdx.x == 0) {
    asm volatile("prefetch.tensormap [%0];" ::"l"(&map));
    asm volatile("cp.async.bulk.prefetch.tensor.2d.L2.global.tile [%0, {%1, "
                 "%2}];" ::"l"(&map),
                 "r"(c[0]), "r"(c[1]));
    asm volatile("cp.reduce.async.bulk.tensor.2d.global.shared::cta.add.tile."
                 "bulk_group [%1, {%2, %3}], [%0];" ::"r"(toShared(memory) +
                                                          offset),
                 "l"(&map), "r"(c[0]), "r"(c[1])
                 : "memory");
    finish();
  }
}

extern "C" __global__ void copied_map(const __grid_constant__ CUtensorMap map,
                                      const int *c, uint32_t *words,
                                      CUtensorMap *copy, int bytes, int count) {
  __shared__ __align__(1024) uint32_t memory[kWords];
  __shared__ uint64_t barrier;
  fill(memory, nullptr, 0, &barrier);
  if (threadIdx.x == 0) {
    *copy = map;
    asm volatile("fence.proxy.tensormap::generic.release.gpu;" ::: "memory");
    asm volatile("fence.proxy.tensormap::generic.acquire.gpu [%0], 128;" ::"l"(
                     copy)
                 : "memory");
    expect(&barrier, bytes);
    asm volatile("cp.async.bulk.tensor.2d" FROM_GLOBAL
                 "%3, %4}], [%2];" ::"r"(toShared(memory)),
                 "l"(copy), "r"(toShared(&barrier)), "r"(c[0]), "r"(c[1])
                 : "memory");
  }
  dump(words, memory, count, &barrier);
}
