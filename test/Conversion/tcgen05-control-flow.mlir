// Values of tensor memory between blocks, in loops and in selects are integers.

// RUN: blockscale-opt %s --blockscale-attach-target=target=sm_100a --convert-blockscale-to-nvvm --reconcile-unrealized-casts | FileCheck %s

!tmem = !blockscale.tmem<512>
!acc = !blockscale.tmem_acc<128x256>

// Two accumulators alternate.

// CHECK-LABEL: gpu.func @loop(
// CHECK-NOT:     blockscale.
// CHECK:         scf.for {{.*}} iter_args(%[[USED:.*]] = %{{.*}}, %[[OTHER:.*]] = %{{.*}}) -> (i32, i32)
// CHECK:           arith.addi %[[USED]], %{{.*}} : i32
// CHECK:           scf.yield %[[OTHER]], %[[USED]] : i32, i32
// CHECK-NOT:     blockscale.

// CHECK-LABEL: gpu.func @choice(
// CHECK-NOT:     blockscale.
// CHECK:         %[[SELECTED:.*]] = arith.select %{{.*}}, %{{.*}}, %{{.*}} : i32
// CHECK:         scf.if %{{.*}} -> (i32)
// CHECK:           scf.yield %[[SELECTED]] : i32
// CHECK-NOT:     blockscale.

// CHECK-LABEL: gpu.func @branch(
// CHECK:         cf.cond_br %{{.*}}, ^[[BLOCK:.*]](%{{.*}} : i32), ^[[BLOCK]](%{{.*}} : i32)
// CHECK:       ^[[BLOCK]](%{{.*}}: i32):
gpu.module @kernels {
  gpu.func @loop(%slot: memref<1xi32, #gpu.address_space<workgroup>>,
                 %count: index) {
    %c0 = arith.constant 0 : index
    %c1 = arith.constant 1 : index
    %c256 = arith.constant 256 : index
    %t = blockscale.tmem_base %slot
         : memref<1xi32, #gpu.address_space<workgroup>> -> !tmem
    %first = blockscale.tmem_acc %t[%c0] : !tmem -> !acc
    %second = blockscale.tmem_acc %t[%c256] : !tmem -> !acc
    %0:2 = scf.for %i = %c0 to %count step %c1
        iter_args(%used = %first, %other = %second) -> (!acc, !acc) {
      %v = blockscale.tmem_load %used[%c0] : !acc -> vector<2xf32>
      blockscale.tmem_store %v, %used[%c0] : vector<2xf32>, !acc
      scf.yield %other, %used : !acc, !acc
    }
    gpu.return
  }
  gpu.func @choice(%slot: memref<1xi32, #gpu.address_space<workgroup>>,
                   %is_second: i1, %is_base: i1) {
    %c0 = arith.constant 0 : index
    %c256 = arith.constant 256 : index
    %t = blockscale.tmem_base %slot
         : memref<1xi32, #gpu.address_space<workgroup>> -> !tmem
    %first = blockscale.tmem_acc %t[%c0] : !tmem -> !acc
    %second = blockscale.tmem_acc %t[%c256] : !tmem -> !acc
    %chosen = arith.select %is_second, %second, %first : !acc
    %acc = scf.if %is_base -> (!acc) {
      %again = blockscale.tmem_base %slot
          : memref<1xi32, #gpu.address_space<workgroup>> -> !tmem
      %third = blockscale.tmem_acc %again[%c0] : !tmem -> !acc
      scf.yield %third : !acc
    } else {
      scf.yield %chosen : !acc
    }
    %v = blockscale.tmem_load %acc[%c0] : !acc -> vector<2xf32>
    blockscale.tmem_store %v, %acc[%c0] : vector<2xf32>, !acc
    gpu.return
  }
  gpu.func @branch(%slot: memref<1xi32, #gpu.address_space<workgroup>>,
                   %is_second: i1) {
    %c0 = arith.constant 0 : index
    %c256 = arith.constant 256 : index
    %t = blockscale.tmem_base %slot
         : memref<1xi32, #gpu.address_space<workgroup>> -> !tmem
    %first = blockscale.tmem_acc %t[%c0] : !tmem -> !acc
    %second = blockscale.tmem_acc %t[%c256] : !tmem -> !acc
    cf.cond_br %is_second, ^use(%second : !acc), ^use(%first : !acc)
  ^use(%acc: !acc):
    %v = blockscale.tmem_load %acc[%c0] : !acc -> vector<2xf32>
    blockscale.tmem_store %v, %acc[%c0] : vector<2xf32>, !acc
    gpu.return
  }
}
