#!/usr/bin/python3
"""Runs CUDA programs of nvcc in the simulator: whether they report correct results, how long they take,
and how many multiply-adds per second that is.

usage: captured.py [--nvcc=PATH] [--chip=sm_90a] [--seeds=N] [--nvcc-flags=FLAGS] [--multiprocessors=N]
                   [--flags=FLAGS] [--timeout=SECONDS] [--keep=FOLDER] [--build DIR]
                   [SOURCE.cu|PROGRAM [-- ARG...]]

A library (test/FakeCudart) replaces CUDA's runtime: blockscale-sim runs the launches of a program, from the
PTX that nvcc put into it. A SOURCE.cu is compiled first; the default is all of benchmarks/cub. A PROGRAM has
its PTX from `nvcc -cudart shared --no-compress -gencode arch=compute_90a,code=compute_90a`. It passes if its
exit code is 0 and all of its launches complete.
"""

import argparse
import collections
import json
import os
import pathlib
import re
import shlex
import shutil
import signal
import subprocess
import sys
import tempfile
import time

ROOT = pathlib.Path(__file__).resolve().parent.parent
RUNTIME = "libcudart.so.13"
# Names of the runtime and the driver by which programs find the library.
LINKS = ["libcudart.so", "libcuda.so", "libcuda.so.1"]
MULTIPROCESSORS = 8
# The library knows where the simulator's addresses are.
SIMULATOR = ROOT / "lib" / "Simulator"

Run = collections.namedtuple("Run", "code seconds output launches")


def find_nvcc(given):
    """The path of nvcc; ends the script where there is none."""
    nvcc = given or shutil.which("nvcc") or shutil.which("nvcc", path="/usr/local/cuda/bin")
    if not nvcc or not shutil.which(nvcc):
        sys.exit(f"error: {given or 'nvcc'} is missing: expected it on the path, in /usr/local/cuda/bin "
                 "or as --nvcc=PATH")
    return pathlib.Path(shutil.which(nvcc)).resolve()


def execute(command):
    """What a command prints; ends the script if it fails."""
    done = subprocess.run([str(word) for word in command], capture_output=True, text=True, check=False)
    if done.returncode:
        sys.exit(f"error: {command[0]} failed\n{done.stdout}{done.stderr}")
    return done.stdout + done.stderr


def find_includes(nvcc):
    """The options by which nvcc finds CUDA's headers: nvcc may be a script that stands in another folder."""
    found = re.search(r"^#\$ INCLUDES=(.*)", execute([nvcc, "--dryrun", "-x", "cu", os.devnull]), re.MULTILINE)
    return shlex.split(found.group(1)) if found else []


def build_library(nvcc, build):
    """The folder of the library that takes the place of CUDA's runtime, whose headers are those of nvcc."""
    archive = build / "lib" / "libBlockScaleRuntime.a"
    if not archive.exists():
        sys.exit(f"error: expected a build in {build}, got no {archive}")
    sources = ROOT / "test" / "FakeCudart"
    folder = build / "capture"
    library = folder / RUNTIME
    inputs = [archive, nvcc, SIMULATOR / "Memory" / "Storage.h", *sources.iterdir()]
    newest = max(path.stat().st_mtime for path in inputs)
    if library.exists() and library.stat().st_mtime > newest:
        return folder
    folder.mkdir(exist_ok=True)
    with tempfile.TemporaryDirectory(dir=folder) as temporary:
        execute([
            os.environ.get("CXX", "c++"), "-std=c++17", "-O2", "-fPIC", "-shared", f"-I{ROOT / 'include'}",
            f"-I{SIMULATOR}", *find_includes(nvcc), *sorted(sources.glob("*.cpp")), archive,
            f"-Wl,-soname,{RUNTIME}", "-Wl,--default-symver", "-o", f"{temporary}/{RUNTIME}",
        ])
        os.replace(f"{temporary}/{RUNTIME}", library)
    for link in LINKS:
        if not (folder / link).is_symlink():
            (folder / link).symlink_to(RUNTIME)
    return folder


def compile_program(nvcc, options, library, source, folder):
    architecture = options.chip.replace("sm_", "compute_")
    program = folder / source.stem
    execute([
        nvcc, "-std=c++17", "-O2", f"-gencode=arch={architecture},code={architecture}", "-cudart", "shared",
        "--no-compress", *options.nvcc_flags.split(), source, "-o", program, f"-L{library}", "-lcuda",
    ])
    return program


def run(options, library, program, seed):
    """Runs a program once; its launches are the lines of launches.jsonl."""
    with tempfile.TemporaryDirectory() as temporary:
        folder = pathlib.Path(temporary)
        if options.keep:
            folder = options.keep / f"{program.stem}-{seed}"
            shutil.rmtree(folder, ignore_errors=True)
            folder.mkdir(parents=True)
        environment = dict(
            os.environ, LD_LIBRARY_PATH=str(library), BLOCKSCALE_CAPTURE_FOLDER=str(folder.resolve()),
            BLOCKSCALE_CAPTURE_SIMULATOR=str(options.build / "bin" / "blockscale-sim"),
            BLOCKSCALE_CAPTURE_FLAGS=f"--seed={seed} --stats {options.flags}",
            BLOCKSCALE_CAPTURE_MULTIPROCESSORS=str(options.multiprocessors),
            BLOCKSCALE_CAPTURE_KEEP="1" if options.keep else "",
        )
        if options.chip:
            environment["BLOCKSCALE_CAPTURE_CHIP"] = options.chip
        start = time.perf_counter()
        # The simulator ends with the program.
        with subprocess.Popen([program, *options.arguments], stdout=subprocess.PIPE, stderr=subprocess.STDOUT,
                              text=True, env=environment, start_new_session=True) as process:
            try:
                output, code = process.communicate(timeout=options.timeout)[0], process.returncode
            except subprocess.TimeoutExpired:
                os.killpg(process.pid, signal.SIGKILL)
                output, code = process.communicate()[0], None
        seconds = time.perf_counter() - start
        path = folder / "launches.jsonl"
        lines = path.read_text().splitlines() if path.exists() else []
        return Run(code, seconds, output, [json.loads(line) for line in lines])


def get_seconds(launch):
    """Of a launch; one that was refused has none."""
    return launch.get("seconds", 0)


def get_rate(launches):
    """Multiply-adds of matrix instructions, and their number a second in the kernels that have any."""
    total = seconds = 0
    for launch in launches:
        kernels = launch["statistics"]["kernels"] if launch.get("statistics") else []
        multiply_adds = sum(kernel.get("multiply_adds", 0) for kernel in kernels)
        total += multiply_adds
        seconds += get_seconds(launch) if multiply_adds else 0
    return total, total / seconds if seconds else 0


def print_millions(number):
    return f"{number / 1e6:>14.1f}" if number else f"{'-':>14}"


def get_verdict(result):
    if result.code is None:
        return "timeout"
    if not result.launches:
        return "no kernel"
    # A program may not have asked how its launches went.
    is_right = result.code == 0 and all(launch["exit_code"] == 0 for launch in result.launches)
    return "right" if is_right else "wrong"


def report(options, library, program):
    """A line for each seed; whether all went well."""
    is_good = True
    for seed in range(options.seeds):
        result = run(options, library, program, seed)
        verdict = get_verdict(result)
        total, rate = get_rate(result.launches)
        kernels = sum(map(get_seconds, result.launches))
        print(f"{program.name:<24} {seed:>4} {verdict:<9} {result.seconds:>8.2f} {len(result.launches):>8} "
              f"{kernels:>11.2f} {print_millions(total)} {print_millions(rate)}", flush=True)
        if verdict != "right":
            is_good = False
            lines = [line for line in result.output.splitlines() if not line.startswith("warning: ")]
            print("".join(f"  {line[:300]}\n" for line in lines[-10:]), end="")
    return is_good


def parse_positive(text):
    number = int(text)
    if number < 1:
        raise argparse.ArgumentTypeError(f"expected at least 1, got {number}")
    return number


def main():
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("--nvcc", help="the compiler; from the path or /usr/local/cuda/bin by default")
    parser.add_argument("--chip", help="what to compile for, and the card that programs see")
    parser.add_argument("--seeds", type=parse_positive, default=4, help="runs with --seed=0 to N - 1")
    parser.add_argument("--nvcc-flags", default="", help="of a SOURCE.cu, with spaces between")
    parser.add_argument("--multiprocessors", type=parse_positive, default=MULTIPROCESSORS, help="that programs see")
    parser.add_argument("--flags", default="", help="for blockscale-sim, with spaces between")
    parser.add_argument("--timeout", type=float, default=600, help="seconds of one run")
    parser.add_argument("--keep", type=pathlib.Path, help="a folder for the files of all launches")
    parser.add_argument("--build", type=pathlib.Path, default=os.environ.get("BLOCKSCALE_BUILD", ROOT / "build"))
    parser.add_argument("program", nargs="?", type=pathlib.Path, metavar="SOURCE.cu|PROGRAM")
    parser.add_argument("arguments", nargs="*", metavar="ARG", help="of the program, behind --")
    options = parser.parse_args()
    options.build = pathlib.Path(options.build).resolve()
    nvcc = find_nvcc(options.nvcc)
    if options.program and not options.program.exists():
        sys.exit(f"error: expected a file, got {options.program}")
    programs = [options.program] if options.program else sorted((ROOT / "benchmarks" / "cub").glob("*.cu"))
    if programs[0].suffix == ".cu":
        options.chip = options.chip or "sm_90a"
    is_good = True
    with tempfile.TemporaryDirectory() as temporary:
        folder = pathlib.Path(temporary)
        library = build_library(nvcc, options.build)
        print(f"{'program':<24} seed {'verdict':<9} {'seconds':>8} {'launches':>8} {'of kernels':>11} "
              f"{'10^6 mult-adds':>14} {'10^6 a second':>14}", flush=True)
        for program in programs:
            if program.suffix == ".cu":
                program = compile_program(nvcc, options, library, program, folder)
            is_good &= report(options, library, program.resolve())
    sys.exit(0 if is_good else 1)


if __name__ == "__main__":
    main()
