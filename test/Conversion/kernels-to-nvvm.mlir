// Blocks with equal ops are not merged: there are two stores.
// RUN: blockscale-opt %s --pass-pipeline='builtin.module(gpu.module(blockscale-convert-kernels-to-nvvm))' | FileCheck %s

// CHECK-LABEL: llvm.func @either(
// CHECK-SAME:    %[[MEMORY:.*]]: !llvm.ptr
// CHECK-SAME:    %{{.*}}: f32)
// CHECK:         llvm.cond_br %{{.*}}, ^[[ONE:.*]], ^[[OTHER:.*]]
// CHECK:       ^[[ONE]]:
// CHECK:         llvm.store
// CHECK:         llvm.br ^[[END:.*]]
// CHECK:       ^[[OTHER]]:
// CHECK:         llvm.store
// CHECK:         llvm.br ^[[END]]
// CHECK:       ^[[END]]:
// CHECK-NEXT:    llvm.return
gpu.module @kernels {
  gpu.func @either(%memory: memref<4xf32>, %is_one: i1, %one: f32, %other: f32) kernel {
    %c0 = arith.constant 0 : index
    cf.cond_br %is_one, ^one, ^other
  ^one:
    memref.store %one, %memory[%c0] : memref<4xf32>
    cf.br ^end
  ^other:
    memref.store %other, %memory[%c0] : memref<4xf32>
    cf.br ^end
  ^end:
    gpu.return
  }
}
