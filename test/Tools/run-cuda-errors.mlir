// What can be wrong with --device=cuda: one error, nothing stored.

// RUN: rm -rf %t && mkdir -p %t/out %t/broken
// DEFINE: %{env} = env LD_LIBRARY_PATH=%fake_cuda
// DEFINE: %{flags} = --device=cuda --seed=1 -o %t/out/0.npy
// DEFINE: %{add} = %python %S/Inputs/expect.py 1 blockscale-run %s --entry=add %{flags}
// DEFINE: %{check} = FileCheck %s

// No driver, or no card. Empty files hide a driver of the machine.
// RUN: touch %t/broken/libcuda.so.1 %t/broken/libcuda.so
// RUN: env LD_LIBRARY_PATH=%t/broken %{add} 2>&1 | %{check} --check-prefix=NO-DRIVER
// NO-DRIVER: {{^}}error: cannot open the CUDA driver libcuda.so.1: {{.*}}libcuda.so.1: file too short{{$}}
// NO-DRIVER-NOT: {{.}}
// RUN: %{env} FAKE_CUDA_FAIL=cuInit=100 %{add} 2>&1 | %{check} --check-prefix=NO-DEVICE
// NO-DEVICE: {{^}}error: cannot find a CUDA device: no description (unknown error, 100){{$}}
// NO-DEVICE-NOT: {{.}}

// A card that no target is for, or not the one that is asked for.
// RUN: %{env} FAKE_CUDA_CAPABILITY=75 %{add} 2>&1 | %{check} --check-prefix=CAPABILITY
// CAPABILITY: {{^}}error: expected --target, or a card of one of the compute capabilities 8.0 8.6 8.7 8.9 9.0 10.0 10.3 11.0 12.0 12.1, got one of 7.5{{$}}
// CAPABILITY-NOT: {{.}}
// RUN: %{env} %{add} --target=sm_120a 2>&1 | %{check} --check-prefix=TARGET -DCARD=sm_90 -DTARGET=sm_120a
// RUN: %{env} FAKE_CUDA_CAPABILITY=100 %{add} --target=sm_90a 2>&1 | %{check} --check-prefix=TARGET -DCARD=sm_100 -DTARGET=sm_90a
// RUN: %{env} FAKE_CUDA_CAPABILITY=75 %{add} --target=sm_80 2>&1 | %{check} --check-prefix=TARGET -DCARD=sm_75 -DTARGET=sm_80
// TARGET: {{^}}error: expected a target that runs on the card's [[CARD]], got [[TARGET]]{{$}}
// TARGET-NOT: {{.}}
// RUN: %{env} %python %S/Inputs/expect.py 2 blockscale-run %s --entry=add %{flags} --target=cpu 2>&1 | %{check} --check-prefix=CPU
// CPU: {{^}}error: expected a GPU for --device=cuda, got --target=cpu{{$}}
// CPU-NOT: {{.}}

// What the compiler refuses.
// RUN: %{env} %{add} --ptx-version=75 2>&1 | %{check} --check-prefix=PTX
// PTX: {{^}}error: PTX 7.5 is too old for sm_90a and the instructions of this program, expected at least 8.0{{$}}
// PTX-NOT: {{.}}
// DEFINE: %{entry} = %{env} %python %S/Inputs/expect.py 1 blockscale-run %s %{flags}
// RUN: %{entry} --entry=mma --native-only 2>&1 | %{check} --check-prefix=NATIVE
// NATIVE: run-cuda-errors.mlir:{{[0-9]+}}:{{[0-9]+}}: error: {{.*}}no block-scaled instruction on sm_90a
// NATIVE-NOT: error:
// RUN: %{entry} --entry=scalar 2>&1 | %{check} --check-prefix=SCALAR
// SCALAR: run-cuda-errors.mlir:{{[0-9]+}}:{{[0-9]+}}: error: not supported in this version: {{.*}}
// SCALAR-NOT: error:
// RUN: %{entry} --entry=odd 2>&1 | %{check} --check-prefix=ODD
// ODD: run-cuda-errors.mlir:{{[0-9]+}}:{{[0-9]+}}: error: argument #0: expected rows that end on a byte when packed, got {{.*}}tensor<2x3xf4E2M1FN>
// ODD-NOT: error:

// What fails on the card.
// RUN: %{env} FAKE_CUDA_FAIL=cuMemAlloc=2 %{add} 2>&1 | %{check} --check-prefix=ALLOCATE
// ALLOCATE: {{^}}error: cannot allocate 8 bytes on the card, which has 3000 free of 5000: no description (unknown error, 2){{$}}
// ALLOCATE-NOT: {{.}}
// RUN: %{env} FAKE_CUDA_FAIL=cuCtxSynchronize=700 %{add} 2>&1 | %{check} --check-prefix=ADDRESS
// ADDRESS: {{^}}error: kernel '{{add.*}}': execution failed: an illegal memory access was encountered (CUDA_ERROR_ILLEGAL_ADDRESS, 700){{$}}
// ADDRESS-NOT: {{.}}
// RUN: %{env} FAKE_CUDA_FAIL=cuEventSynchronize=700 %{add} --time 2>&1 | %{check} --check-prefix=TIME
// TIME: {{^}}error: cannot measure time: an illegal memory access was encountered (CUDA_ERROR_ILLEGAL_ADDRESS, 700){{$}}
// TIME-NOT: {{.}}

// RUN: ls -A %t/out | count 0

func.func @add(%a: tensor<2xf32>, %b: tensor<2xf32>) -> tensor<2xf32> {
  %0 = arith.addf %a, %b : tensor<2xf32>
  return %0 : tensor<2xf32>
}

func.func @mma(%x: tensor<2x32xf8E4M3FN>, %s: tensor<2x1xf8E8M0FNU>,
               %y: tensor<32x2xf8E4M3FN>, %t: tensor<1x2xf8E8M0FNU>,
               %acc: tensor<2x2xf32>) -> tensor<2x2xf32> {
  %d = blockscale.mma_scaled %x, %s, %y, %t, %acc
       : tensor<2x32xf8E4M3FN>, tensor<2x1xf8E8M0FNU>,
         tensor<32x2xf8E4M3FN>, tensor<1x2xf8E8M0FNU>, tensor<2x2xf32>
  return %d : tensor<2x2xf32>
}

func.func @scalar(%a: f32) -> i24 {
  %0 = arith.fptoui %a : f32 to i24
  return %0 : i24
}

func.func @odd(%a: tensor<2x3xf4E2M1FN>) -> tensor<2xf32> {
  %0 = arith.constant dense<1.0> : tensor<2xf32>
  return %0 : tensor<2xf32>
}
