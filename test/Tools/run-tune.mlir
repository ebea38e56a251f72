// --tune: what is wrong with its command line, and programs that it has nothing
// to do for. What it finds is in test/Execution/tune.

// DEFINE: %{expect} = env LD_LIBRARY_PATH=%fake_cuda %python %S/Inputs/expect.py
// DEFINE: %{run} = blockscale-run %s --seed=1 --tune
// DEFINE: %{check} = FileCheck %s --implicit-check-not=error:

// RUN: %{expect} 2 %{run} --entry=mma 2>&1 | %{check} --check-prefix=DEVICE -DGOT=cpu
// RUN: %{expect} 2 %{run} --entry=mma --device=sim 2>&1 | %{check} --check-prefix=DEVICE -DGOT=sim
// DEVICE: {{^}}error: expected --device=cuda for --tune, got --device=[[GOT]]{{$}}

// RUN: %{expect} 2 %{run} --entry=mma --device=cuda -o %t.npy 2>&1 | %{check} --check-prefix=BESIDE -DFLAG=-o
// RUN: %{expect} 2 %{run} --entry=mma --device=cuda --time 2>&1 | %{check} --check-prefix=BESIDE -DFLAG=--time
// RUN: %{expect} 2 %{run} --entry=mma --device=cuda --schedule=tile=64x64x128,warps=2x2,stages=2 2>&1 | %{check} --check-prefix=BESIDE -DFLAG=--schedule
// BESIDE: {{^}}error: expected no [[FLAG]] beside --tune{{$}}

// RUN: %{expect} 1 %{run} --entry=add --device=cuda 2>&1 | %{check} --check-prefix=NONE -DFILE=%s
// NONE: [[FILE]]:[[@LINE+1]]:1: error: expected a product whose kernels have schedules on sm_90a for --tune, got none in 'add'
func.func @add(%a: tensor<2xf32>, %b: tensor<2xf32>) -> tensor<2xf32> {
  %0 = arith.addf %a, %b : tensor<2xf32>
  return %0 : tensor<2xf32>
}

// No results are printed, and what is said of the program is said once.
// RUN: %{expect} 0 %{run} --entry=mma --device=cuda 2>&1 | %{check} --check-prefix=TABLE -DFILE=%s
// TABLE:      [[FILE]]:[[@LINE+7]]:8: remark: no block-scaled instruction on sm_90a
// TABLE-NOT:  remark:
// TABLE:      {{^}}[[FILE]]:[[@LINE+5]]:8: blockscale.mma_scaled, dequant_mma on sm_90a{{$}}
// TABLE-NEXT: {{^}}        ms    ratio  schedule{{$}}
// TABLE-NEXT: {{^}}    2.0000    1.000  tile={{.*}} (default){{$}}
func.func @mma(%x: tensor<2x32xf8E4M3FN>, %s: tensor<2x1xf8E8M0FNU>, %y: tensor<32x2xf8E4M3FN>,
               %t: tensor<1x2xf8E8M0FNU>, %acc: tensor<2x2xf32>) -> tensor<2x2xf32> {
  %d = blockscale.mma_scaled %x, %s, %y, %t, %acc
       : tensor<2x32xf8E4M3FN>, tensor<2x1xf8E8M0FNU>,
         tensor<32x2xf8E4M3FN>, tensor<1x2xf8E8M0FNU>, tensor<2x2xf32>
  return %d : tensor<2x2xf32>
}
// TABLE:      {{^}}fastest: 2.0000 ms, 1.000 of the default's, which it is{{$}}
// TABLE-NEXT: {{^}}  blockscale.schedule = #blockscale.multistage_schedule<tile = [{{.*}}{{$}}
// TABLE-NEXT: {{^}}  --schedule=tile={{.*}}{{$}}
// TABLE-NOT:  {{.}}
