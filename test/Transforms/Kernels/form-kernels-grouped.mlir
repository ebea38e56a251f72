// Kernels of grouped products: a grid for the most tiles that there can be, the search for the tile of a block, and what
// is done with sums.

// RUN: blockscale-opt %s --blockscale-attach-target="target=sm_80" --blockscale-select-path --blockscale-legalize --blockscale-select-schedule --blockscale-form-kernels --canonicalize | FileCheck %s

// The checks of offsets come first.
// CHECK-LABEL: func.func @main(
// CHECK:         scf.parallel
// CHECK:           cf.assert {{.*}}expected offsets to ascend
// CHECK:         %[[TILES:.*]] = affine.min #{{.*}}()[%{{.*}}]
// CHECK:         blockscale.launch @kernels::@main__grouped_matmul blocks = [%[[TILES]], 1, 1] threads = [128, 1, 1]

// CHECK:       gpu.func @main__grouped_matmul(
// CHECK:         memref.load %{{.*}} : memref<5xi32>
// CHECK-COUNT-5: gpu.shuffle {{ *}}up {{.*}} : i32
// The first row of the group, and five steps of the sum.
// CHECK-COUNT-6: gpu.shuffle {{ *}}up {{.*}} : i32
// CHECK:         nvvm.vote.sync {{ *}}ballot
// CHECK:         llvm.intr.cttz
// CHECK-COUNT-6: gpu.shuffle {{ *}}idx
// CHECK:         %[[IS_TILE:.*]] = arith.cmpi ult
// CHECK:         scf.if %[[IS_TILE]]
// Rows of x are gathered into shared memory.
// CHECK:           memref.load %{{.*}} : memref<?xi32>
// CHECK:           memref.store %{{.*}} : memref<{{[0-9]+}}xi32, #gpu.address_space<workgroup>>
// CHECK:           gpu.barrier
// CHECK:           scf.if
// CHECK:             blockscale.fragments_mma
// CHECK:           blockscale.acc_for_each
// CHECK:             arith.addf
// CHECK:             arith.select
// CHECK:             memref.store
func.func @main(%x: tensor<?x128xbf16>, %y: tensor<5x128x64xbf16>, %o: tensor<5xi32>, %acc: tensor<?x64xf32>,
                %rows: tensor<?xi32>, %b: tensor<5x64xf32>) -> tensor<?x64xf32> {
  %d = blockscale.grouped_matmul %x, %y, %o, %acc rows(%rows : tensor<?xi32>) bias(%b : tensor<5x64xf32>)
      : tensor<?x128xbf16>, tensor<5x128x64xbf16>, tensor<5xi32>, tensor<?x64xf32>
  return %d : tensor<?x64xf32>
}
