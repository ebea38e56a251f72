// A wrong command line: exit code 2, one error, nothing stored.

// RUN: rm -rf %t && mkdir -p %t/out
// RUN: %python %S/Inputs/save.py %t/a.npy "zeros(2, 'f4')"
// DEFINE: %{run} = %python %S/Inputs/expect.py 2 blockscale-run
// DEFINE: %{one} = -o %t/out/a.npy

// RUN: %{run} %{one} 2>&1 | FileCheck %s --check-prefix=INPUT
// INPUT: {{^}}error: expected an input file{{$}}
// INPUT-NOT: {{.}}

// RUN: %{run} %s %t/a.npy %t/a.npy %{one} 2>&1 | FileCheck %s --check-prefix=ENTRY -DFILE=%s
// ENTRY: {{^}}error: '[[FILE]]': expected --entry, because there are 2 public functions: add other{{$}}
// ENTRY-NOT: {{.}}

// RUN: %{run} %s --entry=add %{one} 2>&1 | FileCheck %s --check-prefix=NONE
// NONE: {{^}}error: expected 2 .npy files, one for each argument of 'add', or --seed, got 0{{$}}
// NONE-NOT: {{.}}

// RUN: %{run} %s --entry=add %t/a.npy %{one} 2>&1 | FileCheck %s --check-prefix=FEW
// FEW: {{^}}error: expected 2 .npy files, one for each argument of 'add', got 1{{$}}
// FEW-NOT: {{.}}

// RUN: %{run} %s --entry=add %t/a.npy %t/a.npy %t/a.npy %{one} 2>&1 | FileCheck %s --check-prefix=MANY
// MANY: {{^}}error: expected 2 .npy files, one for each argument of 'add', got 3{{$}}
// MANY-NOT: {{.}}

// The files count before they are read.
// RUN: %{run} %s --entry=add %t/none.npy %{one} 2>&1 | FileCheck %s --check-prefix=FEW

// RUN: %{run} %s --entry=add --seed=1 %{one} %{one} 2>&1 | FileCheck %s --check-prefix=OUTPUTS
// OUTPUTS: {{^}}error: expected -o once for each of the 1 results of 'add', got 2{{$}}
// OUTPUTS-NOT: {{.}}

// RUN: %{run} %s --entry=other -o %t/out/a.npy 2>&1 | FileCheck %s --check-prefix=FEWER-OUTPUTS
// FEWER-OUTPUTS: {{^}}error: expected -o once for each of the 2 results of 'other', got 1{{$}}
// FEWER-OUTPUTS-NOT: {{.}}

// RUN: %{run} %s --entry=add --device=gpu --seed=1 %{one} 2>&1 | FileCheck %s --check-prefix=DEVICE
// DEVICE: {{^}}error: unknown device 'gpu', expected one of cpu sim cuda{{$}}
// DEVICE-NOT: {{.}}

// RUN: %{run} %s --entry=add --target=sm_120 --device=sim --seed=1 %{one} 2>&1 | FileCheck %s --check-prefix=TARGET
// TARGET: {{^}}error: unknown target 'sm_120': block-scaled instructions need the letter, expected sm_120a or sm_120f{{$}}
// TARGET-NOT: {{.}}

// RUN: %{run} %s --entry=add --ptx-version=79 --device=cuda --seed=1 %{one} 2>&1 | FileCheck %s --check-prefix=PTX
// PTX: {{^}}error: unknown PTX version '79', expected one of 70 to 78, 80 to 88, 90{{$}}
// PTX-NOT: {{.}}

// RUN: %{run} %s --entry=add --seed=x %{one} 2>&1 | FileCheck %s --check-prefix=SEED
// SEED: {{^}}error: {{.*}}'x'{{.*$}}
// SEED-NOT: {{.}}

// RUN: %{run} %s --none 2>&1 | FileCheck %s --check-prefix=FLAG
// FLAG: {{^}}error: Unknown command line argument '--none'.
// FLAG-NOT: error:

// RUN: %{run} %s --entry=add --device=cpu --stats --seed=1 -o %t/out/a.npy --entry=add 2>&1 | FileCheck %s --check-prefix=TWICE
// TWICE: {{^}}error: expected --entry once, got it twice{{$}}
// TWICE-NOT: {{.}}

// Flags for another device.
// DEFINE: %{other} = FileCheck %s --check-prefix=OTHER
// RUN: %{run} %s --device=sim --entry=add --time --seed=1 %{one} 2>&1 | %{other} -DNEEDS="--device=cuda for --time" -DDEVICE=sim
// RUN: %{run} %s --target=sm_120a --entry=add --seed=1 %{one} 2>&1 | %{other} -DNEEDS="--device=sim or --device=cuda for --target=sm_120a" -DDEVICE=cpu
// RUN: %{run} %s --entry=add --time --seed=1 %{one} 2>&1 | %{other} -DNEEDS="--device=cuda for --time" -DDEVICE=cpu
// RUN: %{run} %s --entry=add --compare --seed=1 %{one} 2>&1 | %{other} -DNEEDS="--device=sim or --device=cuda for --compare" -DDEVICE=cpu
// RUN: %{run} %s --entry=add --sim-seed=1 --seed=1 %{one} 2>&1 | %{other} -DNEEDS="--device=sim for --sim-seed" -DDEVICE=cpu
// RUN: %{run} %s --entry=add --stats --seed=1 %{one} 2>&1 | %{other} -DNEEDS="--device=sim for --stats" -DDEVICE=cpu
// RUN: %{run} %s --device=cuda --entry=add --jobs=2 --seed=1 %{one} 2>&1 | %{other} -DNEEDS="--device=sim for --jobs" -DDEVICE=cuda
// RUN: %{run} %s --entry=add --schedule=tile=32x32x128,warps=2x2,stages=1 --seed=1 %{one} 2>&1 | %{other} -DNEEDS="--device=sim or --device=cuda for --schedule" -DDEVICE=cpu
// RUN: %{run} %s --entry=add --ptx-version=8.7 --seed=1 %{one} 2>&1 | %{other} -DNEEDS="--device=sim or --device=cuda for --ptx-version" -DDEVICE=cpu
// OTHER: {{^}}error: expected [[NEEDS]], got --device=[[DEVICE]]{{$}}
// OTHER-NOT: {{.}}

// RUN: blockscale-run -h | FileCheck %s --check-prefix=HELP
// RUN: blockscale-run --help | FileCheck %s --check-prefix=HELP
// HELP: {{^}}usage: blockscale-run IN.mlir [IN.npy]... [FLAG]...
// HELP: {{^}}  -o=OUT.npy {{ *}}Store a result
// HELP: {{^}}With --device=sim or --device=cuda:
// HELP: {{^}}With --device=sim:
// HELP: {{^}}  --sim-seed=N
// HELP: {{^}}With --device=cuda:
// HELP: {{^}}  --time
// HELP: {{^}}CHIP is one of cpu sm_80 {{.*}} sm_121f{{$}}

// RUN: ls -A %t/out | count 0

//===----------------------------------------------------------------------===//
// Functions: these errors are about the file, so exit code 1
//===----------------------------------------------------------------------===//

// DEFINE: %{fail} = %python %S/Inputs/expect.py 1 blockscale-run

// RUN: %{fail} %s --entry=none %{one} 2>&1 | FileCheck %s --check-prefix=NO-ENTRY -DFILE=%s
// NO-ENTRY: {{^}}error: '[[FILE]]': expected a function 'none' in the module, got none{{$}}
// NO-ENTRY-NOT: {{.}}

// RUN: %{fail} %s --entry=declared --seed=1 %{one} 2>&1 | FileCheck %s --check-prefix=DECLARED -DFILE=%s
// DECLARED: {{^}}error: '[[FILE]]': function 'declared' has no body{{$}}
// DECLARED-NOT: {{.}}

// RUN: echo "module {}" > %t/empty.mlir
// RUN: %{fail} %t/empty.mlir %{one} 2>&1 | FileCheck %s --check-prefix=NO-FUNCTION -DFILE=%t/empty.mlir
// NO-FUNCTION: {{^}}error: '[[FILE]]': expected a public function in the module, got none{{$}}
// NO-FUNCTION-NOT: {{.}}

// RUN: %{fail} %t/none.mlir %{one} 2>&1 | FileCheck %s --check-prefix=MISSING -DFILE=%t/none.mlir
// MISSING: {{^}}error: cannot open input file '[[FILE]]': No such file or directory{{$}}
// MISSING-NOT: {{.}}

// RUN: ls -A %t/out | count 0

func.func @add(%a: tensor<2xf32>, %b: tensor<2xf32>) -> tensor<2xf32> {
  %0 = arith.addf %a, %b : tensor<2xf32>
  return %0 : tensor<2xf32>
}

func.func @other() -> (f32, f32) {
  %0 = arith.constant 1.0 : f32
  return %0, %0 : f32, f32
}

func.func private @declared(f32) -> f32
