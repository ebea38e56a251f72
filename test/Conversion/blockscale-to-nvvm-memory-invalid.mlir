// Chips without a form of ldmatrix.

// RUN: blockscale-opt %s --blockscale-attach-target=target=sm_90 --convert-blockscale-to-nvvm -split-input-file -verify-diagnostics

!tile = memref<8x64xi8, #gpu.address_space<workgroup>>
gpu.module @kernels {
  gpu.func @transposed(%tile: !tile, %at: index) {
    // expected-error@+1 {{'blockscale.load_matrix' op expected a chip with ldmatrix of b8, got sm_90}}
    %r = blockscale.load_matrix %tile[%at] code_bits = 8 transposed
         : !tile -> vector<4xi32>
    gpu.return
  }
}

// -----

!tile = memref<8x64xi8, #gpu.address_space<workgroup>>
gpu.module @kernels {
  gpu.func @quantized(%tile: !tile, %at: index) {
    // expected-error@+1 {{'blockscale.load_matrix' op expected a chip with ldmatrix of b8x16.b4x16_p64, got sm_90}}
    %r = blockscale.load_matrix %tile[%at] code_bits = 4
         : !tile -> vector<4xi32>
    gpu.return
  }
}

// -----

// Every chip has the basic form.
!tile = memref<8x64xi8, #gpu.address_space<workgroup>>
gpu.module @kernels {
  gpu.func @plain(%tile: !tile, %at: index) {
    %r = blockscale.load_matrix %tile[%at] code_bits = 8
         : !tile -> vector<4xi32>
    gpu.return
  }
}
