// RUN: blockscale-opt %s --pass-pipeline='builtin.module(llvm.func(blockscale-mark-tensor-maps))' -split-input-file -verify-diagnostics | FileCheck %s

// CHECK-LABEL: llvm.func @f(
// CHECK-SAME:    %{{.*}}: i32, %{{.*}}: !llvm.ptr {llvm.align = 64 : i64, llvm.byval = !llvm.array<128 x i8>, nvvm.grid_constant}) attributes {nvvm.kernel}
llvm.func @f(%n: i32, %map: !llvm.ptr)
    attributes {blockscale.tensor_map_params = array<i64: 1>, nvvm.kernel} {
  llvm.return
}

// CHECK-LABEL: llvm.func @none(%{{.*}}: !llvm.ptr) attributes {nvvm.kernel}
llvm.func @none(%map: !llvm.ptr) attributes {nvvm.kernel} {
  llvm.return
}

// -----

// expected-error@+1 {{expected the number of a parameter, below 1, in 'blockscale.tensor_map_params', got 1}}
llvm.func @number(%map: !llvm.ptr)
    attributes {blockscale.tensor_map_params = array<i64: 1>, nvvm.kernel} {
  llvm.return
}
