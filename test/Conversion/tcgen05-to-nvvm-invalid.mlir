// Chips without tensor memory.

// RUN: blockscale-opt %s --blockscale-attach-target=target=sm_90a --convert-blockscale-to-nvvm -split-input-file -verify-diagnostics
// RUN: sed s/sm_90a/sm_120a/ %s | blockscale-opt --blockscale-attach-target=target=sm_120a --convert-blockscale-to-nvvm -split-input-file -verify-diagnostics

!slot = memref<1xi32, #gpu.address_space<workgroup>>
gpu.module @kernels {
  gpu.func @alloc(%slot: !slot) {
    // expected-error@+1 {{'blockscale.tmem_alloc' op expected a chip with tcgen05.alloc, got sm_90a}}
    blockscale.tmem_alloc %slot {columns = 32 : i64} : !slot
    gpu.return
  }
}

// -----

gpu.module @kernels {
  gpu.func @region(%t: !blockscale.tmem<512>, %at: index) {
    // expected-error@+1 {{'blockscale.tmem_acc' op expected a chip with tensor memory, got sm_90a}}
    %0 = blockscale.tmem_acc %t[%at]
         : !blockscale.tmem<512> -> !blockscale.tmem_acc<128x8>
    gpu.return
  }
}

// -----

!m = memref<128x128xi8, #gpu.address_space<workgroup>>
gpu.module @kernels {
  gpu.func @matrix(%m: !m, %at: index) -> i64 {
    // expected-error@+1 {{'blockscale.matrix_descriptor' op expected a chip with tcgen05.mma, got sm_90a}}
    %0 = blockscale.matrix_descriptor %m[%at] layout = <k, slots, swizzled> : !m
    gpu.return %0 : i64
  }
}

// -----

!acc = !blockscale.tmem_acc<128x256>
!sa = !blockscale.tmem_scales<128x8>
!sb = !blockscale.tmem_scales<256x8>
gpu.module @kernels {
  gpu.func @multiply(%acc: !acc, %a: i64, %b: i64, %sa: !sa, %sb: !sb,
                     %more: i1) {
    // expected-error@+1 {{'blockscale.tcgen05_mma' op expected a chip with tcgen05.mma.kind::mxf4nvf4.block_scale.block16, got sm_90a}}
    blockscale.tcgen05_mma <tcgen05, 128x256x64, mxf4nvf4, e2m1, e2m1, ue4m3, 4>
        %acc, %a, %b, %sa[0], %sb[4], %more : !acc, i64, !sa, !sb
    gpu.return
  }
}

// -----

gpu.module @kernels {
  gpu.func @wait() {
    // expected-error@+1 {{'blockscale.tmem_wait' op expected a chip with tcgen05.wait, got sm_90a}}
    blockscale.tmem_wait load
    gpu.return
  }
}
