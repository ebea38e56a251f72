// A program with a grouped product and another one, whose schedule --schedule is: the grouped product keeps its own
// schedule, and says so.

// RUN: blockscale-opt %s --verify-diagnostics --blockscale-attach-target="target=sm_100a" --blockscale-select-path --blockscale-legalize --blockscale-select-schedule="schedule=tile=128x128x64,stages=3,accumulators=1,persistent=1,cluster=2x1" | FileCheck %s

// CHECK: blockscale.grouped_matmul {{.*}}blockscale.path = #blockscale.path<tcgen05>, blockscale.schedule = #blockscale.warp_specialized_schedule<tile = [128, 64, 64], {{[^>]*}}persistent = true>
// CHECK: linalg.matmul {{.*}}tile = [128, 128, 64], stages = 3, accumulators = 1, persistent = true, cluster = 2x1>
func.func @both(%x: tensor<?x256xbf16>, %y: tensor<4x256x64xbf16>, %o: tensor<4xi32>, %acc: tensor<?x64xf32>,
                %p: tensor<256x256xbf16>, %q: tensor<256x256xbf16>, %a: tensor<256x256xf32>)
    -> (tensor<?x64xf32>, tensor<256x256xf32>) {
  // expected-remark@+1 {{the schedule is not that of --schedule: expected no cluster but one pair of CTAs for groups of rows, got}}
  %d = blockscale.grouped_matmul %x, %y, %o, %acc : tensor<?x256xbf16>, tensor<4x256x64xbf16>, tensor<4xi32>, tensor<?x64xf32>
  %f = linalg.matmul ins(%p, %q : tensor<256x256xbf16>, tensor<256x256xbf16>) outs(%a : tensor<256x256xf32>) -> tensor<256x256xf32>
  return %d, %f : tensor<?x64xf32>, tensor<256x256xf32>
}
