# The lit suite: every .mlir and .test file below this folder. The Python tests
# and the unit tests have runners of their own (scripts/check runs them, too).
import os
import shutil

import lit.formats

config.name = "blockscale"
config.test_format = lit.formats.ShTest(execute_external=False)
config.suffixes = [".mlir", ".test"]
config.excludes = ["Inputs", "Consumer", "python", "Execution", "Benchmarks"]
config.test_source_root = os.path.dirname(__file__)
config.test_exec_root = os.path.join(config.blockscale_build_dir, "test")

config.environment["PATH"] = os.pathsep.join(
    [
        os.path.join(config.blockscale_build_dir, "bin"),
        config.llvm_tools_dir,
        os.environ.get("PATH", ""),
    ]
)
# LLVM's shared library poisons memory in code that it shares with sanitized
# programs by inlining, but unpoisons it in code that is not sanitized; and what
# lives as long as the process is not freed.
sanitizer_defaults = {
    "ASAN_OPTIONS": "detect_leaks=0:allow_user_poisoning=0",
    "UBSAN_OPTIONS": "",
}
for name, default in sanitizer_defaults.items():
    options = os.environ.get(name, default if config.is_sanitized else "")
    if options:
        config.environment[name] = options

plugin = os.path.join(config.blockscale_build_dir, "lib", "libBlockScalePlugin.so")
config.substitutions += [
    ("%python", config.python),
    ("%source_dir", config.blockscale_source_dir),
    ("%build_dir", config.blockscale_build_dir),
    ("%plugin", plugin),
    ("%fake_cuda", os.path.join(config.blockscale_build_dir, "test", "FakeCuda")),
    ("%mlir_opt", os.path.join(config.llvm_tools_dir, "mlir-opt")),
]

# Tests that need these say so with REQUIRES and are unsupported elsewhere.
if shutil.which("ptxas") or os.path.exists("/usr/local/cuda/bin/ptxas"):
    config.available_features.add("ptxas")
# A sanitized library cannot be loaded into, or linked with, programs that are
# not.
if config.is_sanitized:
    config.available_features.add("sanitizer")
if os.geteuid() == 0:
    config.available_features.add("root")
