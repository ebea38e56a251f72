// Blocks of a cluster that work together: they read and change each other's
// shared memory, and tell each other of it with barriers of the cluster and
// mbarrier objects.

#include <cooperative_groups.h>
#include <cstdint>

namespace cg = cooperative_groups;

static __device__ uint32_t toShared(const void *pointer) {
  return static_cast<uint32_t>(__cvta_generic_to_shared(pointer));
}

// The same offset in another block of the cluster.
static __device__ uint32_t inBlock(const void *pointer, uint32_t rank) {
  uint32_t address;
  asm("mapa.shared::cluster.u32 %0, %1, %2;"
      : "=r"(address)
      : "r"(toShared(pointer)), "r"(rank));
  return address;
}

static __device__ void initialize(uint64_t *barrier, uint32_t count) {
  asm volatile(
      "mbarrier.init.shared::cta.b64 [%0], %1;" ::"r"(toShared(barrier)),
      "r"(count)
      : "memory");
  asm volatile("fence.mbarrier_init.release.cluster;" ::: "memory");
}

static __device__ void arriveExpecting(uint64_t *barrier, uint32_t bytes) {
  asm volatile("mbarrier.arrive.expect_tx.shared::cta.b64 _, [%0], %1;" ::"r"(
                   toShared(barrier)),
               "r"(bytes)
               : "memory");
}

static __device__ void wait(uint64_t *barrier, uint32_t parity) {
  uint32_t isComplete;
  do
    asm volatile("{ .reg .pred p;"
                 "mbarrier.try_wait.parity.acquire.cluster.shared::cta.b64 "
                 "p, [%1], %2; selp.b32 %0, 1, 0, p; }"
                 : "=r"(isComplete)
                 : "r"(toShared(barrier)), "r"(parity)
                 : "memory");
  while (!isComplete);
}

// Each block hands its values to the block `shift` ranks before it: it stores
// them in its own memory, and reads those of another one.
extern "C" __global__ void rotate(const int *in, int *out, int shift) {
  __shared__ int numbers[64];
  cg::cluster_group cluster = cg::this_cluster();
  int i = blockIdx.x * blockDim.x + threadIdx.x;
  numbers[threadIdx.x] = in[i];
  cluster.sync();
  unsigned from = (cluster.block_rank() + shift) % cluster.num_blocks();
  out[i] = cluster.map_shared_rank(numbers, from)[threadIdx.x];
  cluster.sync();
}

// A histogram of 16 bins in each block of the cluster.
extern "C" __global__ void histogram(const int *in, int *out, int perCluster) {
  __shared__ int bins[16];
  cg::cluster_group cluster = cg::this_cluster();
  unsigned size = cluster.num_blocks(), rank = cluster.block_rank();
  if (threadIdx.x < 16)
    bins[threadIdx.x] = 0;
  cluster.sync();
  int first = blockIdx.x / size * perCluster;
  for (int i = rank * blockDim.x + threadIdx.x; i < perCluster;
       i += size * blockDim.x) {
    unsigned bin = in[first + i] % (16 * size);
    atomicAdd(&cluster.map_shared_rank(bins, bin / 16)[bin % 16], 1);
  }
  cluster.sync();
  if (threadIdx.x < 16)
    out[blockIdx.x * 16 + threadIdx.x] = bins[threadIdx.x];
}

// Numbers go round a ring of blocks with st.async; each block adds its rank to
// what it gets. `full` is told of the bytes, and the block before is told
// through `empty` that its numbers have been read.
extern "C" __global__ void ring(int *numbers, int rounds) {
  __shared__ alignas(16) int slots[32 * 4];
  __shared__ uint64_t full, empty;
  cg::cluster_group cluster = cg::this_cluster();
  unsigned size = cluster.num_blocks(), rank = cluster.block_rank();
  unsigned next = (rank + 1) % size, before = (rank + size - 1) % size;
  if (threadIdx.x == 0) {
    initialize(&full, 1);
    initialize(&empty, 32);
    arriveExpecting(&full, sizeof(slots));
  }
  cluster.sync();
  int i = (blockIdx.x * 32 + threadIdx.x) * 4;
  int4 own = *reinterpret_cast<int4 *>(numbers + i);
  for (int round = 0; round != rounds; ++round) {
    // Its slots are free from the second round on when it says so.
    if (round != 0)
      wait(&empty, (round - 1) % 2);
    asm volatile("st.async.weak.shared::cluster.mbarrier::complete_tx::bytes.v4"
                 ".s32 [%0], {%1, %2, %3, %4}, [%5];" ::"r"(
                     inBlock(slots + threadIdx.x * 4, next)),
                 "r"(own.x), "r"(own.y), "r"(own.z), "r"(own.w),
                 "r"(inBlock(&full, next))
                 : "memory");
    wait(&full, round % 2);
    int4 got = *reinterpret_cast<int4 *>(slots + threadIdx.x * 4);
    own = make_int4(got.x + rank, got.y + 2 * rank, got.z - rank, got.w ^ rank);
    __syncwarp();
    if (threadIdx.x == 0)
      arriveExpecting(&full, sizeof(slots));
    __syncwarp();
    asm volatile("mbarrier.arrive.release.cluster.shared::cluster.b64 _, "
                 "[%0];" ::"r"(inBlock(&empty, before))
                 : "memory");
  }
  *reinterpret_cast<int4 *>(numbers + i) = own;
  cluster.sync();
}

// All threads of the other blocks add to counters of block 0.
extern "C" __global__ void tally(int *out) {
  __shared__ uint32_t counters[4];
  __shared__ uint64_t full;
  cg::cluster_group cluster = cg::this_cluster();
  unsigned size = cluster.num_blocks(), rank = cluster.block_rank();
  if (threadIdx.x < 4)
    counters[threadIdx.x] = 1000 * threadIdx.x;
  if (threadIdx.x == 0) {
    initialize(&full, 1);
    arriveExpecting(&full, 4 * blockDim.x * (size - 1));
  }
  cluster.sync();
  if (rank != 0)
    asm volatile("red.async.relaxed.cluster.shared::cluster.mbarrier::complete_"
                 "tx::bytes.add.u32 [%0], %1, [%2];" ::"r"(
                     inBlock(counters + threadIdx.x % 4, 0)),
                 "r"(rank * 10 + threadIdx.x), "r"(inBlock(&full, 0))
                 : "memory");
  if (rank == 0) {
    wait(&full, 0);
    if (threadIdx.x < 4)
      out[blockIdx.x / size * 4 + threadIdx.x] = counters[threadIdx.x];
  }
  cluster.sync();
}

// Each block copies its part of a row of 256 numbers to all blocks of the
// cluster; each block multiplies the whole row.
extern "C" __global__ void multicast(const int *in, int *out) {
  __shared__ alignas(128) int row[256];
  __shared__ uint64_t full;
  cg::cluster_group cluster = cg::this_cluster();
  unsigned size = cluster.num_blocks(), rank = cluster.block_rank();
  unsigned part = 256 / size;
  if (threadIdx.x == 0) {
    initialize(&full, 1);
    arriveExpecting(&full, sizeof(row));
  }
  cluster.sync();
  if (threadIdx.x == 0)
    asm volatile(
        "cp.async.bulk.shared::cluster.global.mbarrier::complete_tx::bytes."
        "multicast::cluster [%0], [%1], %2, [%3], %4;" ::"r"(
            toShared(row + rank * part)),
        "l"(in + blockIdx.x / size * 256 + rank * part), "r"(part * 4),
        "r"(toShared(&full)), "h"(static_cast<uint16_t>((1 << size) - 1))
        : "memory");
  wait(&full, 0);
  out[blockIdx.x * 256 + threadIdx.x] = row[threadIdx.x] * (rank + 1);
  cluster.sync();
}

// Each block sends its numbers to the next one with a bulk copy.
extern "C" __global__ void send(int *numbers) {
  __shared__ alignas(128) int outgoing[128], incoming[128];
  __shared__ uint64_t full;
  cg::cluster_group cluster = cg::this_cluster();
  unsigned next = (cluster.block_rank() + 1) % cluster.num_blocks();
  int i = blockIdx.x * 128 + threadIdx.x;
  outgoing[threadIdx.x] = numbers[i] + 1;
  asm volatile("fence.proxy.async.shared::cta;" ::: "memory");
  if (threadIdx.x == 0) {
    initialize(&full, 1);
    arriveExpecting(&full, sizeof(incoming));
  }
  cluster.sync();
  if (threadIdx.x == 0)
    asm volatile(
        "cp.async.bulk.shared::cluster.shared::cta.mbarrier::complete_"
        "tx::bytes [%0], [%1], %2, [%3];" ::"r"(inBlock(incoming, next)),
        "r"(toShared(outgoing)), "r"(static_cast<uint32_t>(sizeof(outgoing))),
        "r"(inBlock(&full, next))
        : "memory");
  wait(&full, 0);
  numbers[i] = incoming[threadIdx.x];
  cluster.sync();
}

// A sum of neighbours, over and over; the ends come from other blocks. What
// needs no other block is done between the arrival and the wait.
extern "C" __global__ void relax(int *numbers, int steps) {
  __shared__ int sums[2][64];
  cg::cluster_group cluster = cg::this_cluster();
  unsigned size = cluster.num_blocks(), rank = cluster.block_rank();
  int i = blockIdx.x * 64 + threadIdx.x, x = threadIdx.x;
  sums[0][x] = numbers[i];
  for (int step = 0; step != steps; ++step) {
    int *last = sums[step % 2];
    __syncthreads();
    asm volatile("barrier.cluster.arrive.release.aligned;" ::: "memory");
    int sum = last[x] * 3;
    if (x != 0)
      sum += last[x - 1];
    if (x != 63)
      sum += last[x + 1];
    asm volatile("barrier.cluster.wait.acquire.aligned;" ::: "memory");
    if (x == 0)
      sum += cluster.map_shared_rank(last, (rank + size - 1) % size)[63];
    if (x == 63)
      sum += cluster.map_shared_rank(last, (rank + 1) % size)[0];
    sums[(step + 1) % 2][x] = sum;
  }
  cluster.sync();
  numbers[i] = sums[steps % 2][x];
}

// What a block is told of its ranks, and the ranks that others find.
extern "C" __global__ void ranks(int *out) {
  __shared__ int own;
  cg::cluster_group cluster = cg::this_cluster();
  dim3 index = cluster.block_index(), size = cluster.dim_blocks();
  uint32_t isExplicit, rank = cluster.block_rank();
  asm("{ .reg .pred p; mov.pred p, %%is_explicit_cluster;"
      "selp.b32 %0, 1, 0, p; }"
      : "=r"(isExplicit));
  own = 100 + rank;
  cluster.sync();
  // The next one in y, then in x.
  unsigned y = (index.y + 1) % size.y, x = (index.x + 1) % size.x;
  int *inY =
      cluster.map_shared_rank(&own, (index.z * size.y + y) * size.x + index.x);
  int *inX =
      cluster.map_shared_rank(&own, (index.z * size.y + index.y) * size.x + x);
  int *to =
      out +
      ((blockIdx.z * gridDim.y + blockIdx.y) * gridDim.x + blockIdx.x) * 12;
  const int values[] = {static_cast<int>(rank),
                        static_cast<int>(cluster.num_blocks()),
                        static_cast<int>(index.x),
                        static_cast<int>(index.y),
                        static_cast<int>(index.z),
                        static_cast<int>(size.x),
                        static_cast<int>(size.y),
                        static_cast<int>(size.z),
                        static_cast<int>(isExplicit),
                        static_cast<int>(cluster.query_shared_rank(inY)),
                        *inY,
                        *inX};
  for (int i = 0; i != 12; ++i)
    to[i] = values[i];
  cluster.sync();
}
