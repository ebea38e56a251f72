// Sanitizers have answers of their own.
// UNSUPPORTED: sanitizer

// What a program does wrong while it runs is an error of blockscale-run, not a
// signal.

// RUN: rm -rf %t && mkdir -p %t
// RUN: %python %S/Inputs/save.py %t/zero.npy "int32(0)" %t/huge.npy "int64(2**45)"
// RUN: %python %S/Inputs/expect.py 1 blockscale-run %s --entry=divide %t/zero.npy %t/zero.npy -o %t/out.npy 2>&1 | FileCheck %s --check-prefix=DIVIDE
// DIVIDE: {{^}}error: the program was ended by signal 08{{$}}
// DIVIDE-NOT: {{.}}

// RUN: %python %S/Inputs/expect.py 1 blockscale-run %s --entry=allocate %t/huge.npy -o %t/out.npy 2>&1 | FileCheck %s --check-prefix=ALLOCATE
// ALLOCATE: {{^}}error: not enough memory for a buffer of {{[0-9]+}} bytes{{$}}
// ALLOCATE-NOT: {{.}}

// RUN: not ls %t/out.npy

func.func @divide(%a: i32, %b: i32) -> i32 {
  %q = arith.divsi %a, %b : i32
  return %q : i32
}

func.func @allocate(%n: index) -> tensor<?xf32> {
  %c = arith.constant 1.0 : f32
  %e = tensor.empty(%n) : tensor<?xf32>
  %t = linalg.fill ins(%c : f32) outs(%e : tensor<?xf32>) -> tensor<?xf32>
  return %t : tensor<?xf32>
}
