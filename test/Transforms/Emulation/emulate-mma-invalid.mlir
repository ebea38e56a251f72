// RUN: blockscale-opt %s --blockscale-emulate-mma --split-input-file --verify-diagnostics

func.func @host(%a: vector<4xi32>, %b: vector<2xi32>, %c: vector<4xf32>,
                %s: i32) -> vector<4xf32> {
  // expected-error @below {{'blockscale.mma_sync' op expected to be in a function of a gpu.module}}
  %d = blockscale.mma_sync <mma_sync, 16x8x32, mxf8f6f4, e4m3, e2m1, ue8m0, 1>
       %a, %b, %c, %s[0, 0], %s[0, 0]
  return %d : vector<4xf32>
}

// -----

// A call from the inner module would not find a function of the gpu.module.
gpu.module @kernels {
  builtin.module {
    func.func @inner(%a: vector<4xi32>, %b: vector<2xi32>, %c: vector<4xf32>,
                     %s: i32) {
      // expected-error @below {{expected to be in a function of a gpu.module}}
      %d = blockscale.mma_sync <mma_sync, 16x8x32, mxf8f6f4, e4m3, e2m1, ue8m0, 1>
           %a, %b, %c, %s[0, 0], %s[0, 0]
      return
    }
  }
}
