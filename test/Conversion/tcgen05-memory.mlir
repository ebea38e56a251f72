// Memory of described matrices is aligned to 8 swizzle rows, and that of
// scales to 128 bytes.

// RUN: blockscale-opt %s --blockscale-attach-target=target=sm_100a --convert-blockscale-to-nvvm -split-input-file | FileCheck %s

// The largest alignment is used; a larger existing one stays.

// CHECK-LABEL: gpu.func @attributions()
// CHECK-SAME:    workgroup(%{{[a-z0-9]+}} : memref<8x128xi8, #gpu.address_space<workgroup>> {llvm.align = 1024 : i64}, %{{[a-z0-9]+}} : memref<8x64xi8, #gpu.address_space<workgroup>> {llvm.align = 2048 : i64}, %{{[a-z0-9]+}} : memref<512xi8, #gpu.address_space<workgroup>> {llvm.align = 128 : i64}, %{{[a-z0-9]+}} : memref<1024xi8, #gpu.address_space<workgroup>> {llvm.align = 256 : i64}, %{{[a-z0-9]+}} : memref<8x128xi8, #gpu.address_space<workgroup>>)
!swizzled = memref<8x128xi8, #gpu.address_space<workgroup>>
!larger = memref<8x64xi8, #gpu.address_space<workgroup>>
!atom = memref<512xi8, #gpu.address_space<workgroup>>
!bytes = memref<1024xi8, #gpu.address_space<workgroup>>
!view = memref<16x32xi8, #gpu.address_space<workgroup>>
gpu.module @kernels {
  gpu.func @attributions()
      workgroup(%a : !swizzled {llvm.align = 16 : i64},
                %b : !larger {llvm.align = 2048 : i64}, %c : !atom,
                %d : !bytes, %e : !swizzled) {
    %c0 = arith.constant 0 : index
    %t = ub.poison : !blockscale.tmem_scales<128x4>
    %0 = blockscale.matrix_descriptor %a[%c0] layout = <k, slots, swizzled>
         : !swizzled
    %1 = blockscale.matrix_descriptor %b[%c0] layout = <k, slots, swizzled>
         : !larger
    blockscale.copy_scales %c[%c0], %t {row_atom = 0 : i64, word = 0 : i64}
        : !atom, !blockscale.tmem_scales<128x4>
    %view = memref.view %d[%c0][] : !bytes to !view
    %2 = blockscale.matrix_descriptor %view[%c0] layout = <mn, slots, swizzled>
         : !view
    gpu.return
  }
}

// -----

// CHECK-LABEL: gpu.module @dynamic
// CHECK-NEXT:    llvm.mlir.global external @{{.*}}() {addr_space = 3 : i32, alignment = 1024 : i64} : !llvm.array<0 x i8>
// CHECK-NOT:     blockscale.dynamic_alignment
!dynamic = memref<?xi8, #gpu.address_space<workgroup>>
!view = memref<64x128xi8, #gpu.address_space<workgroup>>
gpu.module @dynamic {
  gpu.func @first() -> !dynamic {
    %0 = gpu.dynamic_shared_memory : !dynamic
    gpu.return %0 : !dynamic
  }
  gpu.func @second(%at: index) -> i64 {
    %0 = gpu.dynamic_shared_memory : !dynamic
    %view = memref.view %0[%at][] : !dynamic to !view
    %1 = blockscale.matrix_descriptor %view[%at] layout = <k, slots, swizzled>
         : !view
    gpu.return %1 : i64
  }
}
