// RUN: blockscale-opt %s --blockscale-emulate-tcgen05 --split-input-file --verify-diagnostics

module attributes {
    blockscale.target = #blockscale.target<sm_100a, emulated_on = sm_90a>} {
gpu.module @kernels {
  gpu.func @two_ctas(%slot: !llvm.ptr<3>, %columns: i32) {
    // expected-error @below {{'nvvm.tcgen05.alloc' op not supported in this version: cta_group::2 in software}}
    nvvm.tcgen05.alloc %slot, %columns {group = #nvvm.cta_group<cta_2>} : !llvm.ptr<3>, i32
    gpu.return
  }
}
}

// -----

module attributes {
    blockscale.target = #blockscale.target<sm_100a, emulated_on = sm_90a>} {
gpu.module @kernels {
  gpu.func @shift(%address: !llvm.ptr<6>) {
    // expected-error @below {{'nvvm.tcgen05.shift' op not supported in this version: tcgen05.shift in software}}
    nvvm.tcgen05.shift %address : !llvm.ptr<6>
    gpu.return
  }
}
}

// -----

module attributes {
    blockscale.target = #blockscale.target<sm_100a, emulated_on = sm_90a>} {
gpu.module @kernels {
  gpu.func @copy(%address: !llvm.ptr<6>, %word: i64) {
    // expected-error @below {{'nvvm.tcgen05.cp' op not supported in this version: other copies than 32x128b.warpx4 in software}}
    nvvm.tcgen05.cp %address, %word {shape = #nvvm.tcgen05_cp_shape<shape_128x256b>}
    gpu.return
  }
}
}

// -----

module attributes {
    blockscale.target = #blockscale.target<sm_100a, emulated_on = sm_90a>} {
gpu.module @kernels {
  gpu.func @load(%address: !llvm.ptr<6>) -> vector<2xi32> {
    // expected-error @below {{op not supported in this version: loads and stores of other shapes than 32x32b and 16x256b in software}}
    %0 = nvvm.tcgen05.ld %address {shape = #nvvm.tcgen05_ldst_shape<shape_16x128b>} : vector<2xi32>
    gpu.return %0 : vector<2xi32>
  }
}
}
