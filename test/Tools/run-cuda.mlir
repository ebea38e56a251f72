// --device=cuda compiles for the card, packs the arguments, launches, and gives
// results as the CPU does. Run by the driver that test/FakeCuda makes: a kernel
// adds n + 1 to every byte of the buffer of its parameter #n.

// RUN: rm -rf %t && mkdir %t
// DEFINE: %{fake} = env LD_LIBRARY_PATH=%fake_cuda FAKE_CUDA_TRACE=%t/trace FAKE_CUDA_TRACE_COPIES=1
// DEFINE: %{run} = %{fake} blockscale-run %s --device=cuda

//===----------------------------------------------------------------------===//
// Buffers
//===----------------------------------------------------------------------===//

// fp4 goes to the card with two elements in a byte, fp6 as a bit stream where the
// function asks for that, everything else as it is in the file. All bytes of a
// result are the same small number, so of a fp4 result the odd elements are 0.
// RUN: %python %S/Inputs/save.py %t/x.npy "array([[1, 2, 3, 4], [5, 6, 7, 15]], 'u1')" %t/p.npy "array([[1, 2, 3, 63]], 'u1')" %t/q.npy "array([62, 63], 'u1')" %t/i.npy "array(-2, 'i2')"
// RUN: %{run} --entry=buffers %t/x.npy %t/p.npy %t/q.npy %t/i.npy | FileCheck %s --check-prefix=PRINTED --match-full-lines
// PRINTED:      {{\[\[([1-9][0-9]*), 0, \1, 0\], \[\1, 0, \1, 0\]\]}}
// PRINTED-NEXT: {{\[\[([1-9][0-9]*), \1, \1, \1\]\]}}
// PRINTED-NEXT: {{\[([1-9][0-9]*), \1\]}}
// PRINTED-NEXT: {{\[([1-9][0-9]*), \1, \1\]}}
// RUN: FileCheck %s --check-prefix=BYTES --match-full-lines --input-file=%t/trace
// BYTES:      copy of 4: 33 67 101 247
// BYTES-NEXT: copy of 3: 129 48 252
// BYTES-NEXT: copy of 2: 62 63
// BYTES-NEXT: copy of 4: 0 0 0 0
// BYTES-NEXT: copy of 4: 0 0 0 0
// BYTES-NEXT: copy of 2: 0 0
// BYTES-NEXT: copy of 6: 0 0 0 0 0 0
// BYTES:      launch buffers 1,1,1 {{.*}}: buffer of 4 at 0; buffer of 3 at 0; buffer of 2 at 0; 0xfffe; buffer of 4 at 0; buffer of 4 at 0; buffer of 2 at 0; buffer of 6 at 0;
// BYTES-NEXT: release with 0 buffers, 0 modules, 0 events
// BYTES-NOT:  {{.}}

// Results are stored as those of the CPU.
// RUN: %{run} --entry=buffers --seed=1 -o %t/0.npy -o %t/1.npy -o %t/2.npy -o %t/3.npy | count 0
// RUN: %python -c "import numpy; [print(a.dtype, a.shape, a.max() < 16) for a in (numpy.load('%t/%%d.npy' %% i) for i in range(4))]" | FileCheck %s --check-prefix=STORED --match-full-lines
// STORED:      uint8 (2, 4) True
// STORED-NEXT: uint8 (1, 4) True
// STORED-NEXT: uint8 (2,) True
// STORED-NEXT: int16 (3,) False
func.func @buffers(%x: tensor<2x4xf4E2M1FN>,
                   %p: tensor<1x4xf6E3M2FN> {blockscale.packed},
                   %q: tensor<2xf6E2M3FN>, %i: i16)
    -> (tensor<2x4xf4E2M1FN>, tensor<1x4xf6E3M2FN>, tensor<2xf6E2M3FN>,
        tensor<3xi16>) {
  %r = tensor.splat %i : tensor<3xi16>
  return %x, %p, %q, %r
      : tensor<2x4xf4E2M1FN>, tensor<1x4xf6E3M2FN>, tensor<2xf6E2M3FN>,
        tensor<3xi16>
}

// One kernel of two arguments and a result, which is its parameter #2.
// RUN: rm %t/trace
// RUN: %python %S/Inputs/save.py %t/a.npy "array([1, 2], 'i1')" %t/b.npy "array([3, 4], 'i1')"
// RUN: %{run} --entry=copy %t/a.npy %t/b.npy | FileCheck %s --check-prefix=COPY --match-full-lines
// COPY: [3, 3]
// RUN: FileCheck %s --check-prefix=COPY-BYTES --match-full-lines --input-file=%t/trace
// COPY-BYTES:      copy of 2: 1 2
// COPY-BYTES-NEXT: copy of 2: 3 4
// COPY-BYTES-NEXT: copy of 2: 0 0
// COPY-BYTES-NEXT: launch {{.*}}
func.func @copy(%a: tensor<2xi8>, %b: tensor<2xi8>) -> tensor<2xi8> {
  return %a : tensor<2xi8>
}

// --check-memory: the kernel of this driver writes up to the end of the memory
// that was allocated.
// RUN: %python %S/Inputs/expect.py 1 %{run} --check-memory --entry=copy --seed=1 2>&1 | FileCheck %s --check-prefix=GUARD
// GUARD: {{^}}error: kernel '{{copy.*}}' wrote outside of argument #0: expected writes to its 2 bytes, got one to byte 2{{$}}
// RUN: env FAKE_CUDA_WRITE=2 %{run} --check-memory --entry=copy %t/a.npy %t/b.npy | FileCheck %s --check-prefix=COPY --match-full-lines

//===----------------------------------------------------------------------===//
// The target
//===----------------------------------------------------------------------===//

// Without --target, that of the card, with the letter that has most; seen in
// the message about code that the driver refuses.
// DEFINE: %{refused} = FAKE_CUDA_FAIL=cuModuleLoadDataEx=209 %python %S/Inputs/expect.py 1 blockscale-run %s --device=cuda --entry=copy --seed=1 2>&1 | FileCheck %s --check-prefix=REFUSED
// RUN: %{fake} %{refused} -DCARD=sm_90 -DTARGET=sm_90a
// RUN: %{fake} FAKE_CUDA_CAPABILITY=86 %{refused} -DCARD=sm_86 -DTARGET=sm_86
// RUN: %{fake} FAKE_CUDA_CAPABILITY=120 %{refused} -DCARD=sm_120 -DTARGET=sm_120a
// REFUSED: {{^}}error: expected a .target that runs on the card's [[CARD]], got .target [[TARGET]]{{$}}

// The lowest PTX version, or the one that is asked for.
// DEFINE: %{version} = FAKE_CUDA_FAIL=cuModuleLoadDataEx=222 %python %S/Inputs/expect.py 1 blockscale-run %s --device=cuda --entry=copy --seed=1
// DEFINE: %{check_version} = 2>&1 | FileCheck %s --check-prefix=VERSION
// RUN: %{fake} %{version} %{check_version} -DVERSION=8.0
// RUN: %{fake} %{version} --target=sm_80 %{check_version} -DVERSION=7.0
// RUN: %{fake} %{version} --ptx-version=85 %{check_version} -DVERSION=8.5
// VERSION: {{^}}error: expected a PTX version that the driver's CUDA 12.4 knows, got .version [[VERSION]]{{$}}

// What the compiler has to say is said.
// RUN: %{run} --entry=mma --seed=1 -o %t/d.npy 2>&1 | FileCheck %s --check-prefix=REMARK
// REMARK: run-cuda.mlir:{{[0-9]+}}:{{[0-9]+}}: remark: no block-scaled instruction on sm_90a; dequantized to bf16 for mma.sync.m16n8k16.f32.bf16.bf16.f32
// RUN: %{fake} FAKE_CUDA_CAPABILITY=120 blockscale-run %s --device=cuda --entry=mma --seed=1 --native-only -o %t/d.npy 2>&1 | count 0

//===----------------------------------------------------------------------===//
// --time
//===----------------------------------------------------------------------===//

// 2 * 128 * 256 * 64 and 2 * 3 * 128 * 256 * 512 operations in 2 ms.
// RUN: %{run} --time --entry=mma --seed=1 -o %t/d.npy 2>&1 | FileCheck %s --check-prefix=TIME
// TIME: {{^}}2.0000 ms, 0.05243 TFLOP/s{{$}}
func.func @mma(%x: tensor<128x64xf8E4M3FN>, %x_scale: tensor<128x2xf8E8M0FNU>,
               %y: tensor<64x256xf8E4M3FN>, %y_scale: tensor<2x256xf8E8M0FNU>,
               %bx: tensor<3x128x512xf8E5M2>,
               %bx_scale: tensor<3x128x16xf8E8M0FNU>,
               %by: tensor<512x256xf8E4M3FN>,
               %by_scale: tensor<16x256xf8E8M0FNU>,
               %acc: tensor<128x256xf32>, %bacc: tensor<3x128x256xf32>)
    -> (tensor<3x128x256xf32>) {
  %d = blockscale.mma_scaled %x, %x_scale, %y, %y_scale, %acc
       : tensor<128x64xf8E4M3FN>, tensor<128x2xf8E8M0FNU>,
         tensor<64x256xf8E4M3FN>, tensor<2x256xf8E8M0FNU>, tensor<128x256xf32>
  %init = tensor.insert_slice %d into %bacc[1, 0, 0] [1, 128, 256] [1, 1, 1]
          : tensor<128x256xf32> into tensor<3x128x256xf32>
  %bd = blockscale.mma_scaled %bx, %bx_scale, %by, %by_scale, %init
       : tensor<3x128x512xf8E5M2>, tensor<3x128x16xf8E8M0FNU>,
         tensor<512x256xf8E4M3FN>, tensor<16x256xf8E8M0FNU>,
         tensor<3x128x256xf32>
  return %bd : tensor<3x128x256xf32>
}

// No TFLOP/s where there is no mma_scaled. The time comes after the results, on
// standard error.
// RUN: %{run} --time --entry=copy --seed=1 2>&1 | FileCheck %s --check-prefix=TIME-ONLY --match-full-lines
// RUN: %{run} --time --entry=copy --seed=1 2>/dev/null | FileCheck %s --check-prefix=NO-TIME --match-full-lines
// TIME-ONLY:      [{{.*}}]
// TIME-ONLY-NEXT: 2.0000 ms
// NO-TIME:     [3, 3]
// NO-TIME-NOT: {{.}}
