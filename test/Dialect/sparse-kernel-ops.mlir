// mma_sp, and tile_mma with metadata: text forms and round trips.

// RUN: blockscale-opt %s | blockscale-opt | FileCheck %s
// RUN: blockscale-opt %s --mlir-print-op-generic | blockscale-opt | FileCheck %s

// CHECK-LABEL: func.func @elements(
// CHECK:         blockscale.mma_sp <mma_sync, 16x8x64, mxf8f6f4, e4m3, e2m1, ue8m0, 1, 2:4> %{{.*}}, %{{.*}}, %{{.*}}, %{{.*}}, %{{.*}}[3, 1], %{{.*}}[0, 2]
func.func @elements(%a: vector<4xi32>, %b: vector<4xi32>, %c: vector<4xf32>, %e: i32, %s: i32) -> vector<4xf32> {
  %d = blockscale.mma_sp <mma_sync, 16x8x64, mxf8f6f4, e4m3, e2m1, ue8m0, 1, 2:4> %a, %b, %c, %e, %s[3, 1], %s[0, 2]
  return %d : vector<4xf32>
}

// CHECK-LABEL: func.func @pairs(
// CHECK:         blockscale.mma_sp <mma_sync, 16x8x128, mxf4nvf4, e2m1, e2m1, ue4m3, 4, pairs>
func.func @pairs(%a: vector<4xi32>, %b: vector<4xi32>, %c: vector<4xf32>, %e: i32, %s: i32) -> vector<4xf32> {
  %d = blockscale.mma_sp <mma_sync, 16x8x128, mxf4nvf4, e2m1, e2m1, ue4m3, 4, pairs> %a, %b, %c, %e, %s[0, 1], %s[0, 3]
  return %d : vector<4xf32>
}

// Rows of 256 kept elements of two chunks of metadata: K = 256 is four instructions.
// CHECK-LABEL: func.func @tile(
// CHECK:         blockscale.tile_mma %{{.*}} metadata %[[E:.*]] types = <e4m3, e4m3, ue8m0, 64, 2:4> instruction = <mma_sync, 16x8x64, mxf8f6f4, e4m3, e4m3, ue8m0, 1, 2:4> : memref<16x128xi8, {{.*}}>, memref<2x16x16xi8, #gpu.address_space<workgroup>>
func.func @tile(%a: memref<16x128xi8, #gpu.address_space<workgroup>>, %sa: memref<16x4xi8, #gpu.address_space<workgroup>>,
                %b: memref<8x256xi8, #gpu.address_space<workgroup>>, %sb: memref<8x4xi8, #gpu.address_space<workgroup>>,
                %acc: !blockscale.acc<16x8, #blockscale.warps<1x1>>,
                %e: memref<2x16x16xi8, #gpu.address_space<workgroup>>) -> !blockscale.acc<16x8, #blockscale.warps<1x1>> {
  %d = blockscale.tile_mma %a, %sa, %b, %sb, %acc metadata %e types = <e4m3, e4m3, ue8m0, 64, 2:4>
       instruction = <mma_sync, 16x8x64, mxf8f6f4, e4m3, e4m3, ue8m0, 1, 2:4>
       : memref<16x128xi8, #gpu.address_space<workgroup>>, memref<16x4xi8, #gpu.address_space<workgroup>>,
         memref<8x256xi8, #gpu.address_space<workgroup>>, memref<8x4xi8, #gpu.address_space<workgroup>>,
         !blockscale.acc<16x8, #blockscale.warps<1x1>>, memref<2x16x16xi8, #gpu.address_space<workgroup>>
  return %d : !blockscale.acc<16x8, #blockscale.warps<1x1>>
}
