// Kernels of the path wgmma: roles, stages and what warpgroups share.

// RUN: blockscale-opt %s --blockscale-attach-target=target=sm_90a --blockscale-select-path --blockscale-legalize --blockscale-select-schedule --blockscale-form-kernels --canonicalize -split-input-file | FileCheck %s

// Each of two warpgroups has two parts of 64 rows, whose sums are in registers,
// and gets registers of the one that loads.

// CHECK-LABEL: func.func @matmul(
// CHECK:         blockscale.launch @kernels::@matmul__matmul blocks = [%{{.*}}, 1, 1] threads = [384, 1, 1] shared = 81920
// CHECK-SAME:      tensor_maps = [#blockscale.tensor_map<"u2", sizes = #map, strides = #map1, box = [256, 64], element_strides = [1, 1], swizzle = "128", fill = "zero", l2 = "256">, #blockscale.tensor_map<"u2", sizes = #map, strides = #map1, box = [64, 64], {{.*}}>] of [0, 1]
// CHECK-LABEL: gpu.func @matmul__matmul(
// CHECK-SAME:    workgroup(%[[BARRIERS:[a-z0-9]+]] : memref<4xi64, {{.*}}>) kernel attributes {blockscale.purpose = "matmul", known_block_size = array<i32: 384, 1, 1>, nvvm.minctasm = 1 : i32}
// CHECK:         blockscale.roles warps = [1] {
// CHECK:           blockscale.barrier_init %[[BARRIERS]][%c0], 1 :
// CHECK-NEXT:      blockscale.barrier_init %[[BARRIERS]][%c2], 8 :
// CHECK:           nvvm.fence.mbarrier.init
// CHECK:         gpu.barrier
// CHECK-NEXT:    nvvm.griddepcontrol wait
// CHECK-NEXT:    blockscale.roles warps = [8, 4] {
// CHECK-NEXT:      nvvm.setmaxregister increase 240
// CHECK:           %[[ZERO:.*]] = blockscale.acc_zero : <128x64, #blockscale.warps<8x1>>
// CHECK-NEXT:      %[[ZERO_1:.*]] = blockscale.acc_zero : <128x64, #blockscale.warps<8x1>>
// CHECK-NEXT:      blockscale.barrier_wait %[[BARRIERS]][%c0]
// CHECK-NEXT:      %[[Y:.*]] = memref.view %{{.*}}[%c32768][] : {{.*}} to memref<1x64x128xi8,
// CHECK-NEXT:      %[[X:.*]] = memref.view %{{.*}}[%c0][] : {{.*}} to memref<128x128xi8,
// CHECK-NEXT:      %[[FIRST:.*]] = blockscale.warpgroup_mma %[[X]], %[[Y]], %[[ZERO]] instruction = <wgmma, 64x64x16, unscaled, bf16, bf16, none, 0> layouts = <k, slots, swizzled>, <mn, slots, swizzled>
// CHECK-NEXT:      %[[X_1:.*]] = memref.view %{{.*}}[%c16384][]
// CHECK-NEXT:      %[[SECOND:.*]] = blockscale.warpgroup_mma %[[X_1]], %[[Y]], %[[ZERO_1]]
// CHECK-NEXT:      %[[SUMS:.*]]:2 = blockscale.warpgroup_wait %[[FIRST]], %[[SECOND]] pending = 0
// CHECK-NEXT:      %[[ELECTED:.*]] = nvvm.elect.sync
// CHECK-NEXT:      scf.if %[[ELECTED]] {
// CHECK-NEXT:        blockscale.barrier_arrive %[[BARRIERS]][%c2]
// CHECK:           blockscale.barrier_wait %[[BARRIERS]][%c1]
// CHECK:           blockscale.warpgroup_mma %{{.*}}, %{{.*}}, %[[SUMS]]#0
// CHECK:           blockscale.warpgroup_mma %{{.*}}, %{{.*}}, %[[SUMS]]#1
// CHECK:           blockscale.acc_load %{{.*}} in_bounds : memref<256x64xf32>
// CHECK-NEXT:      blockscale.acc_add
// CHECK-NEXT:      blockscale.acc_store {{.*}} in_bounds
// CHECK:           blockscale.acc_store {{.*}} in_bounds
// CHECK:         }, {
// CHECK-NEXT:      nvvm.setmaxregister decrease 24
// CHECK-NEXT:      blockscale.roles warps = [9] {
// CHECK:             blockscale.barrier_wait %[[BARRIERS]][%c2]
// CHECK:             blockscale.barrier_arrive %[[BARRIERS]][%c0] expect 40960
// CHECK:             blockscale.tensor_load %{{.*}}[%{{.*}}, %{{.*}}] to %{{.*}}[%c0], %[[BARRIERS]][%c0]
// CHECK:             blockscale.tensor_load %{{.*}}[%{{.*}}, %{{.*}}] to %{{.*}}[%c32768], %[[BARRIERS]][%c0]
// CHECK-NOT:     acc_store
func.func @matmul(%x: tensor<256x128xbf16>, %y: tensor<128x64xbf16>, %acc: tensor<256x64xf32>) -> tensor<256x64xf32> {
  %0 = linalg.matmul {blockscale.schedule = #blockscale.warp_specialized_schedule<tile = [256, 64, 64], stages = 2, accumulators = 1, persistent = true>}
       ins(%x, %y : tensor<256x128xbf16>, tensor<128x64xbf16>) outs(%acc : tensor<256x64xf32>) -> tensor<256x64xf32>
  return %0 : tensor<256x64xf32>
}

// -----

// Three warpgroups of 64 rows; y as N x K, by the transpose in front. What is
// behind the product is stored by the same kernel, tiles at the edge apart.

// CHECK-LABEL: func.func @fused(
// CHECK:         blockscale.launch @kernels::@fused__matmul blocks = [2, 1, 1] threads = [512, 1, 1]
// CHECK-NOT:     linalg
// CHECK-LABEL: gpu.func @fused__matmul(
// CHECK-SAME:    %{{.*}}: memref<200x64xf16>, %{{.*}}: memref<72x64xf16>, %{{.*}}: memref<200x72xbf16>,
// CHECK:         blockscale.roles warps = [12, 4] {
// CHECK-NEXT:      nvvm.setmaxregister increase 160
// CHECK:           blockscale.warpgroup_mma {{.*}} instruction = <wgmma, 64x72x16, unscaled, f16, f16, none, 0> layouts = <k, slots, swizzled>, <k, slots, swizzled> : memref<192x128xi8, {{.*}}>, memref<72x128xi8, {{.*}}>, <192x72, #blockscale.warps<12x1>>
// CHECK:           scf.if
// CHECK:             arith.truncf {{.*}} : f32 to bf16
// CHECK:           } else {
// CHECK:             arith.truncf {{.*}} : f32 to bf16
// CHECK:           nvvm.setmaxregister decrease 32
func.func @fused(%x: tensor<200x64xf16>, %y: tensor<72x64xf16>) -> tensor<200x72xbf16> {
  %zero = arith.constant dense<0.0> : tensor<200x72xf32>
  %e = tensor.empty() : tensor<64x72xf16>
  %t = linalg.transpose ins(%y : tensor<72x64xf16>) outs(%e : tensor<64x72xf16>) permutation = [1, 0]
  %0 = linalg.matmul {blockscale.schedule = #blockscale.warp_specialized_schedule<tile = [192, 72, 64], stages = 2, accumulators = 1, persistent = false>}
       ins(%x, %t : tensor<200x64xf16>, tensor<64x72xf16>) outs(%zero : tensor<200x72xf32>) -> tensor<200x72xf32>
  %o = tensor.empty() : tensor<200x72xbf16>
  %1 = linalg.generic {indexing_maps = [affine_map<(i, j) -> (i, j)>, affine_map<(i, j) -> (i, j)>], iterator_types = ["parallel", "parallel"]}
       ins(%0 : tensor<200x72xf32>) outs(%o : tensor<200x72xbf16>) {
  ^bb0(%p: f32, %q: bf16):
    %r = arith.truncf %p : f32 to bf16
    linalg.yield %r : bf16
  } -> tensor<200x72xbf16>
  return %1 : tensor<200x72xbf16>
}
