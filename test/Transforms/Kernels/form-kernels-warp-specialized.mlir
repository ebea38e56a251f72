// A kernel of the path tcgen05: roles, and rounds of the ring.

// RUN: blockscale-opt %s --blockscale-legalize --blockscale-form-kernels --canonicalize | FileCheck %s

// Eight steps are two rounds of four stages: in each the stages are constants,
// 33792 bytes apart. One tile along M reads all of y, which nobody reads again.

// CHECK-LABEL: gpu.func @warp_specialized__mma_scaled(
// CHECK-SAME:    %[[X_MAP:arg5]]: !llvm.ptr, %[[XS_MAP:arg6]]: !llvm.ptr, %[[Y_MAP:arg7]]: !llvm.ptr, %[[YS_MAP:arg8]]: !llvm.ptr)
// CHECK-SAME:    workgroup(%[[BARRIERS:.*]] : memref<12xi64, {{.*}}>, %[[SLOT:.*]] : memref<1xi32, {{.*}}>) kernel
// CHECK-SAME:    nvvm.minctasm = 1 : i32
// CHECK-DAG:     %[[C_0:.*]] = arith.constant 0 : i32
// CHECK-DAG:     %[[C_1:.*]] = arith.constant 1 : i32
// CHECK-DAG:     %[[C_4:.*]] = arith.constant 4 : i32
// CHECK-DAG:     %[[C_8:.*]] = arith.constant 8 : i32
// CHECK:         blockscale.roles warps = [1] {
// CHECK:           scf.if
// CHECK-COUNT-8:     blockscale.barrier_init %{{.*}}[%{{.*}}], 1 :
// CHECK:             blockscale.barrier_init %{{.*}}[%{{.*}}], 1 :
// CHECK-NEXT:        blockscale.barrier_init %{{.*}}[%{{.*}}], 128 :
// CHECK:             nvvm.fence.mbarrier.init
// CHECK:           blockscale.tmem_alloc %[[SLOT]] {columns = 512 : i64}
// CHECK:         gpu.barrier
// CHECK:         blockscale.roles warps = [4, 1, 1] {

// Those who store hand over the accumulator behind its last part.

// CHECK:           scf.for
// CHECK:             blockscale.barrier_wait
// CHECK-NEXT:        blockscale.tcgen05_fence  after
// CHECK:             scf.for
// CHECK:               blockscale.acc_read
// CHECK:               scf.if
// CHECK-NEXT:            blockscale.tcgen05_fence  before
// CHECK:                 blockscale.barrier_arrive
// CHECK:               blockscale.acc_store

// The producer.

// CHECK:         }, {
// CHECK:           scf.for
// CHECK:             scf.for %{{.*}} = %[[C_0]] to %[[C_8]] step %[[C_4]] iter_args({{.*}}) -> (i32, i32)  : i32 {
// CHECK:               blockscale.barrier_wait
// CHECK:               %[[ELECTED:.*]] = nvvm.elect.sync
// CHECK-NEXT:          scf.if %[[ELECTED]] {
// CHECK-NEXT:            blockscale.barrier_arrive %{{.*}} expect 33792 :
// CHECK:                 blockscale.tensor_load %[[X_MAP]][%{{.*}}, %{{.*}}] to %{{.*}}[%c0], %[[BARRIERS]][%c0] : memref
// CHECK:                 blockscale.tensor_load %[[XS_MAP]][%{{.*}}, %{{.*}}, %{{.*}}] to %{{.*}}[%c32768], %[[BARRIERS]][%c0] : memref
// CHECK:                 blockscale.tensor_load %[[Y_MAP]][%{{.*}}, %{{.*}}] to %{{.*}}[%c16384], %[[BARRIERS]][%c0] hint 1364590687093260288 :
// CHECK:                 blockscale.tensor_load %[[YS_MAP]][%{{.*}}, %{{.*}}, %{{.*}}] to %{{.*}}[%c33280], %[[BARRIERS]][%c0] hint 1364590687093260288 :
// CHECK:               blockscale.barrier_wait
// CHECK:                 blockscale.tensor_load %[[X_MAP]][%{{.*}}, %{{.*}}] to %{{.*}}[%c33792], %[[BARRIERS]][%c1] : memref
// CHECK:               blockscale.barrier_wait
// CHECK:               blockscale.barrier_wait
// CHECK:                 blockscale.tensor_load %[[X_MAP]][%{{.*}}, %{{.*}}] to %{{.*}}[%c101376], %[[BARRIERS]][%c3] : memref

// Who multiplies: the first step of a tile overwrites. Scales of each stage have
// columns of their own, 8 each, behind two accumulators of 128.

// CHECK:         }, {
// CHECK:           scf.for
// CHECK:             blockscale.barrier_wait
// CHECK:             scf.for %[[STEP:.*]] = %[[C_0]] to %[[C_8]] step %[[C_4]]
// CHECK:               blockscale.barrier_wait
// CHECK-NEXT:          blockscale.tcgen05_fence  after
// CHECK:               blockscale.tmem_scales %{{.*}}[%c256]
// CHECK-NEXT:          blockscale.copy_scales %{{.*}}[%c32768]
// CHECK-NEXT:          blockscale.tmem_scales %{{.*}}[%c260]
// CHECK-NEXT:          blockscale.copy_scales %{{.*}}[%c33280]
// CHECK:               %[[MORE:.*]] = arith.cmpi ne, %[[STEP]], %[[C_0]] : i32
// CHECK:               blockscale.async_tile_mma {{.*}}, %[[MORE]] instruction = <tcgen05, 128x128x32, mxf8f6f4, e4m3, e4m3, ue8m0, 1> layouts = <k, slots, swizzled>, <k, slots, swizzled>
// CHECK:               blockscale.tcgen05_commit %[[BARRIERS]][%c4]
// CHECK:               blockscale.barrier_wait
// CHECK:               blockscale.tmem_scales %{{.*}}[%c264]
// CHECK:               blockscale.async_tile_mma
// CHECK:               blockscale.tcgen05_commit %[[BARRIERS]][%c5]
// CHECK:               blockscale.tcgen05_commit %[[BARRIERS]][%c6]
// CHECK:               blockscale.tcgen05_commit %[[BARRIERS]][%c7]
// CHECK:         blockscale.tcgen05_fence  before
// CHECK-NEXT:    gpu.barrier
// CHECK:         blockscale.tmem_dealloc
#instruction = #blockscale.instruction<tcgen05, 128x256x32, mxf8f6f4, e4m3, e4m3, ue8m0, 1>
#schedule = #blockscale.warp_specialized_schedule<tile = [128, 128, 128], stages = 4, accumulators = 2, persistent = true>
func.func @warp_specialized(%x: tensor<64x1024xf8E4M3FN>,
                %xt: tensor<1x8x32x16xf8E8M0FNU>,
                %y: tensor<1024x1024xf8E4M3FN>,
                %yt: tensor<8x8x32x16xf8E8M0FNU>) -> tensor<64x1024xf32> {
  %zero = arith.constant dense<0.0> : tensor<64x1024xf32>
  %xs = blockscale.unswizzle_scales %xt
      : tensor<1x8x32x16xf8E8M0FNU> to tensor<64x32xf8E8M0FNU>
  %ys = blockscale.unswizzle_scales %yt
      : tensor<8x8x32x16xf8E8M0FNU> to tensor<1024x32xf8E8M0FNU>
  %empty = tensor.empty() : tensor<1024x1024xf8E4M3FN>
  %transposed = linalg.transpose ins(%y : tensor<1024x1024xf8E4M3FN>)
      outs(%empty : tensor<1024x1024xf8E4M3FN>) permutation = [1, 0]
  %empty_scales = tensor.empty() : tensor<32x1024xf8E8M0FNU>
  %scales = linalg.transpose ins(%ys : tensor<1024x32xf8E8M0FNU>)
      outs(%empty_scales : tensor<32x1024xf8E8M0FNU>) permutation = [1, 0]
  %d = blockscale.mma_scaled %x, %xs, %transposed, %scales, %zero
      {blockscale.path = #blockscale.path<tcgen05>,
       blockscale.instruction = #instruction, blockscale.schedule = #schedule}
      : tensor<64x1024xf8E4M3FN>, tensor<64x32xf8E8M0FNU>,
        tensor<1024x1024xf8E4M3FN>, tensor<32x1024xf8E8M0FNU>,
        tensor<64x1024xf32>
  return %d : tensor<64x1024xf32>
}
