#!/usr/bin/python3
"""Block-scaled products on a CUDA card: ours, Triton's, torch's.

usage: gpu.py build DIR --target=CHIP [--formats F...] [--sizes S...]     PTX and launch infos of the cases
       gpu.py run DIR [-o results.json] [--seconds N] [--only WHO...]     measures them
       gpu.py build DIR --target=CHIP --tune [...]                        the same with many schedules
       gpu.py tune DIR [--seconds N]                                      the fastest schedule of each case
       gpu.py table results.json [--plot=FILE.svg|FILE.png]               what was measured

`build` needs a build of this project; `run` needs a card, torch, and Triton if that is measured, but no LLVM;
`table` needs none of these. For different machines, copy the folder and this repository's benchmarks/ and
python/.

Ours and Triton's go from quantized operands in memory to the result in f32; nothing is kept from one call to the
next. torch multiplies operands that were dequantized to bf16 before, which is not timed, and fp8 with one scale
for all. Operands are random finite values, e8m0 scales from 2^-4 to 2^4, any ue4m3 scales. If M is at most 256,
calls go through several copies of the weights, 240 MB and more; larger products use the same operands again.
Each contender is a CUDA graph of calls; a time is the median of samples that the contenders take in turns. Every
result is checked once against the product in f64: ours and Triton's within the bound of docs/Numerics.md.

`tune` prints, for each case, the time of the compiler's schedule and the fastest schedule of gpu_schedules.py in
the form of `--schedule`; schedules with wrong results are named and not used.
"""

import argparse
import json
import os
import pathlib
import subprocess
import sys
from concurrent.futures import ThreadPoolExecutor

import gpu_report
from gpu_cases import FORMATS, SIZES, Case, parse_sizes, program, select
from gpu_schedules import schedules

ROOT = pathlib.Path(__file__).resolve().parent.parent
MANIFEST = "manifest.json"


class Failure(Exception):
    """A message of one line, for exit code 1."""


def compile_case(case, options, schedule, name):
    """Writes NAME.mlir, NAME.ptx and NAME.json; returns the entry of the manifest."""
    paths = {ext: options.folder / f"{name}.{ext}" for ext in ("mlir", "ptx", "json")}
    paths["mlir"].write_text(program(case))
    command = [
        options.build / "bin" / "blockscale-compile", paths["mlir"], f"--target={options.target}",
        f"--launch-info={paths['json']}", "-o", paths["ptx"],
        *([f"--schedule={schedule}"] if schedule else []), *options.flag,
    ]
    done = subprocess.run(command, capture_output=True, text=True)
    entry = dict(case._asdict(), schedule=schedule, file=name)
    lines = [line for line in done.stderr.splitlines() if "error:" in line or "remark:" in line]
    # Without the location, which is always the one op.
    lines = [line[max(line.find("error: "), line.find("remark: ")):] for line in lines]
    if done.returncode:
        return dict(entry, error=(lines or [f"exit code {done.returncode}"])[0])
    return dict(entry, remarks=lines)


def build(options):
    if not (options.build / "bin" / "blockscale-compile").exists():
        raise Failure(f"cannot find bin/blockscale-compile in {options.build}, see --build")
    options.folder.mkdir(parents=True, exist_ok=True)
    cases = select(options.formats, options.sizes)
    if options.tune:
        return build_tries(cases, options)
    with ThreadPoolExecutor(options.jobs) as pool:
        entries = list(pool.map(lambda case: compile_case(case, options, options.schedule, case.name), cases))
    (options.folder / MANIFEST).write_text(
        json.dumps(dict(version=1, target=options.target, cases=entries), indent=1) + "\n"
    )
    failed = [(case, entry["error"]) for case, entry in zip(cases, entries) if "error" in entry]
    for case, error in failed:
        print(f"{case.name}: {error}", file=sys.stderr)
    for remark in dict.fromkeys(remark for entry in entries for remark in entry.get("remarks", ())):
        print(remark)
    print(f"{len(cases) - len(failed)} of {len(cases)} cases for {options.target} in {options.folder}")
    return 1 if failed else 0


def build_tries(cases, options):
    """Each case with the schedule that is chosen, which has to compile, and with all others that do."""
    tries = [
        (case, schedule, f"{case.name}.{number}")
        for case in cases for number, schedule in enumerate([None, *schedules(case, options.target)])
    ]
    with ThreadPoolExecutor(options.jobs) as pool:
        entries = list(pool.map(lambda of: compile_case(of[0], options, *of[1:]), tries))
    kept = [entry for entry in entries if "error" not in entry]
    (options.folder / MANIFEST).write_text(
        json.dumps(dict(version=1, target=options.target, tune=True, cases=kept), indent=1) + "\n"
    )
    failed = [entry for entry in entries if "error" in entry and not entry["schedule"]]
    for entry in failed:
        print(f"{entry['file']}: {entry['error']}", file=sys.stderr)
    print(f"{len(kept)} of {len(tries)} schedules of {len(cases)} cases for {options.target} in {options.folder}")
    return 1 if failed else 0


def read_json(path, what):
    try:
        content = json.loads(path.read_text())
    except (OSError, ValueError) as error:
        raise Failure(f"cannot read {what}: {error}") from None
    if not isinstance(content, dict) or content.get("version") != 1 or "cases" not in content:
        raise Failure(f"'{path}': expected {what} of version 1")
    return content


def read_entries(options, is_tune):
    """The manifest, and (case, entry) pairs of what the options select."""
    manifest = read_json(options.folder / MANIFEST, "the manifest of gpu.py build")
    if manifest.get("tune", False) != is_tune:
        raise Failure(f"expected a folder of gpu.py build with{'' if is_tune else 'out'} --tune, got {options.folder}")
    entries = [(Case(*(entry[name] for name in Case._fields)), entry) for entry in manifest["cases"]]
    if options.formats or options.sizes:
        wanted = set(select(options.formats or list(FORMATS), options.sizes or [[case[1:] for case, _ in entries]]))
        entries = [(case, entry) for case, entry in entries if case in wanted]
    if not entries:
        raise Failure(f"no such case in {options.folder}")
    return manifest, entries


def import_measure():
    try:
        import gpu_measure
    except ImportError as error:
        raise Failure(f"run and tune need torch and a CUDA card, see --help: {error}") from None
    return gpu_measure


def tune(options):
    manifest, entries = read_entries(options, is_tune=True)
    gpu_measure = import_measure()

    def show(case, tried):
        (chosen, _), *_ = tried
        us, schedule = min((of for of in tried if of[0] is not None), key=lambda of: of[0])
        print(f"{case.format:12} {case.size:17} {chosen:8.1f} us as chosen, {us:8.1f} us with {schedule or 'that'}",
              flush=True)

    try:
        return gpu_measure.tune(options.folder, manifest, entries, options.seconds, show)
    except gpu_measure.CudaError as error:
        raise Failure(str(error)) from None


def run(options):
    manifest, entries = read_entries(options, is_tune=False)
    gpu_measure = import_measure()
    print(f"{'':12} {gpu_report.header()}", flush=True)

    def show(found):
        print(f"{found['format']:12} {gpu_report.format_row(found)}", flush=True)

    try:
        status = gpu_measure.run(
            options.folder, manifest, entries, options.only, options.seconds, options.output, show
        )
    except gpu_measure.CudaError as error:
        raise Failure(str(error)) from None
    print(gpu_report.table(read_json(options.output, "results")), end="")
    return status


def table(options):
    results = read_json(options.results, "results of gpu.py run")
    print(gpu_report.table(results), end="")
    if options.plot:
        try:
            gpu_report.plot(results, options.plot)
        except (OSError, ValueError) as error:
            raise Failure(f"cannot plot: {error}") from None
    return 0


def add_selection(parser, help_end):
    parser.add_argument("--formats", nargs="+", choices=FORMATS, metavar="FORMAT",
                        help=f"of {', '.join(FORMATS)}; {help_end}")
    parser.add_argument("--sizes", nargs="+", type=parse_sizes, metavar="SIZE",
                        help=f"{', '.join(SIZES)} or MxNxK; {help_end}")


def parse_arguments():
    parser = argparse.ArgumentParser(
        description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter, usage=argparse.SUPPRESS
    )
    steps = parser.add_subparsers(dest="step", required=True)

    step = steps.add_parser("build", help="PTX and launch infos of the cases")
    step.add_argument("folder", type=pathlib.Path, metavar="DIR")
    step.add_argument("--target", required=True, metavar="CHIP")
    add_selection(step, "the default is all but mxfp6-packed")
    step.add_argument("--schedule", metavar="S", help="handed to blockscale-compile")
    step.add_argument("--tune", action="store_true", help="each case with many schedules, for tune")
    step.add_argument("--flag", action="append", default=[], help="another flag for it, such as --flag=--no-workspace")
    step.add_argument("--jobs", type=int, default=2, help="compilations at the same time")
    step.add_argument("--build", type=pathlib.Path, default=os.environ.get("BLOCKSCALE_BUILD", ROOT / "build"))

    step = steps.add_parser("run", help="measures them on this machine's card")
    step.add_argument("folder", type=pathlib.Path, metavar="DIR")
    add_selection(step, "the default is all that were built")
    step.add_argument("-o", "--output", type=pathlib.Path, default=pathlib.Path("results.json"), metavar="FILE")
    step.add_argument("--seconds", type=float, default=600, help="about how long all takes; what is left over is named")
    step.add_argument("--only", nargs="+", choices=gpu_report.CONTENDERS, default=list(gpu_report.CONTENDERS),
                      metavar="WHO", help=f"of {', '.join(map(repr, gpu_report.CONTENDERS))}; the default is all")

    step = steps.add_parser("tune", help="prints the fastest schedule of each case on this machine's card")
    step.add_argument("folder", type=pathlib.Path, metavar="DIR")
    add_selection(step, "the default is all that were built")
    step.add_argument("--seconds", type=float, default=600, help="about how long all takes")

    step = steps.add_parser("table", help="prints what was measured")
    step.add_argument("results", type=pathlib.Path)
    step.add_argument("--plot", type=pathlib.Path, metavar="FILE", help=".svg; with matplotlib .png and others")
    return parser.parse_args()


def main():
    options = parse_arguments()
    try:
        return {"build": build, "run": run, "tune": tune, "table": table}[options.step](options)
    except Failure as error:
        print(f"error: {error}", file=sys.stderr)
        return 1


if __name__ == "__main__":
    sys.exit(main())
