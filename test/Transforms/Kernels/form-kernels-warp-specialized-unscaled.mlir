// Kernels of the path tcgen05 for products without scales: stages have only
// elements, and tensor memory has only accumulators.

// RUN: blockscale-opt %s --blockscale-attach-target=target=sm_100a --blockscale-select-path --blockscale-legalize --blockscale-select-schedule --blockscale-form-kernels --canonicalize -split-input-file | FileCheck %s

// y is contiguous along N: swizzle rows are steps along K. Each of two stages
// has 128 x 128 and 64 x 128 bytes. The last instruction of K = 80 is alone.

// CHECK-LABEL: func.func @orders(
// CHECK:         blockscale.launch @kernels::@orders__matmul blocks = [%{{.*}}, 1, 1] threads = [192, 1, 1] shared = 49152
// CHECK-SAME:      tensor_maps = [#blockscale.tensor_map<"u2", sizes = #map, strides = #map1, box = [128, 64], element_strides = [1, 1], swizzle = "128", fill = "zero", l2 = "256">, #blockscale.tensor_map<"u2", sizes = #map, strides = #map1, box = [64, 64], {{.*}}>] of [0, 1]
// CHECK-LABEL: gpu.func @orders__matmul(
// CHECK-NOT:     blockscale.copy_scales
// CHECK-NOT:     blockscale.tmem_scales
// CHECK:         blockscale.barrier_arrive %{{.*}} expect 24576 :
// CHECK:         blockscale.tensor_load
// CHECK:         blockscale.tensor_load
// CHECK:         %[[ACC:.*]] = blockscale.tmem_acc %{{.*}}[%{{.*}}] : {{.*}}<128x64>
// CHECK:         %[[A:.*]] = memref.view %{{.*}} to memref<128x128xi8, #gpu.address_space<workgroup>>
// CHECK:         %[[B:.*]] = memref.view %{{.*}} to memref<1x64x128xi8, #gpu.address_space<workgroup>>
// CHECK-NEXT:    blockscale.async_tile_mma %[[A]], %[[B]], %[[ACC]], %false instruction = <tcgen05, 128x64x16, unscaled, bf16, bf16, none, 0> layouts = <k, slots, swizzled>, <mn, slots, swizzled>
// CHECK:         blockscale.tcgen05_commit
// CHECK:         blockscale.async_tile_mma %{{.*}}, %{{.*}}, %[[ACC]], %true steps %c1 instruction
// CHECK:         blockscale.tcgen05_commit
// CHECK-NOT:     blockscale.async_tile_mma
#tiles = #blockscale.warp_specialized_schedule<tile = [128, 64, 64], stages = 2, accumulators = 2, persistent = true>
func.func @orders(%x: tensor<256x80xbf16>, %y: tensor<80x128xbf16>, %acc: tensor<256x128xf32>) -> tensor<256x128xf32> {
  %0 = linalg.matmul {blockscale.schedule = #tiles} ins(%x, %y : tensor<256x80xbf16>, tensor<80x128xbf16>)
       outs(%acc : tensor<256x128xf32>) -> tensor<256x128xf32>
  return %0 : tensor<256x128xf32>
}

// -----

// Pairs of blocks and swap-AB: A is y along K, of both blocks; B is half of the
// rows of x, which is contiguous along M.

// CHECK-LABEL: gpu.func @pairs__matmul(
// CHECK:         blockscale.barrier_arrive %{{.*}} expect 40960 :
// CHECK:         blockscale.async_tile_mma %{{.*}}, %{{.*}}, %{{.*}}, %{{.*}} instruction = <tcgen05, 256x64x16, unscaled, f16, f16, none, 0> layouts = <k, slots, swizzled>, <mn, slots, swizzled> : memref<128x128xi8, {{.*}}>, memref<1x64x64xi8, {{.*}}>, <256x64, group = 2>
#tiles = #blockscale.warp_specialized_schedule<tile = [128, 64, 64], stages = 2, accumulators = 2, persistent = true, swap_ab = true, cluster = 2x1, two_cta = true>
func.func @pairs(%x: tensor<128x40xf16>, %y: tensor<1024x128xf16>, %acc: tensor<40x1024xf32>) -> tensor<40x1024xf32> {
  %0 = linalg.matmul indexing_maps = [affine_map<(m, n, k) -> (k, m)>, affine_map<(m, n, k) -> (n, k)>, affine_map<(m, n, k) -> (m, n)>]
       {blockscale.schedule = #tiles} ins(%x, %y : tensor<128x40xf16>, tensor<1024x128xf16>)
       outs(%acc : tensor<40x1024xf32>) -> tensor<40x1024xf32>
  return %0 : tensor<40x1024xf32>
}
