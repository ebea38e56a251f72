"""Runs all passes and pipelines of this project in a stock mlir-opt, and in blockscale-opt.

plugin_pipelines.py BLOCKSCALE_OPT MLIR_OPT PLUGIN EXAMPLE...: each pass must be known there; each
pipeline must make the same of each example in both.
"""

import re
import subprocess
import sys

PIPELINES = [
    "blockscale-to-cpu",
    *(f"blockscale-to-nvvm{{target={chip}}}" for chip in ("sm_80", "sm_90a", "sm_100a", "sm_120a")),
    "blockscale-to-nvvm{target=sm_120a emulate-on=sm_90}",
]
own, stock, plugin, *examples = sys.argv[1:]
with_plugin = [stock, f"--load-dialect-plugin={plugin}", f"--load-pass-plugin={plugin}"]


def run(command, pipeline, path):
    command = [*command, f"--pass-pipeline=builtin.module({pipeline})", path]
    done = subprocess.run(command, capture_output=True, text=True, check=False)
    if done.returncode != 0:
        sys.exit(f"exit code {done.returncode}: {command}\n{done.stderr}")
    return done.stdout


def list_passes(command):
    text = subprocess.run([*command, "--list-passes"], capture_output=True, text=True).stdout
    return re.findall(r"^  --((?:convert-)?blockscale-[\w-]+)", text, re.MULTILINE)


passes = list_passes([own])
if not passes or list_passes(with_plugin) != passes:
    sys.exit(f"expected the passes {passes}, got {list_passes(with_plugin)}")
print(len(passes), "passes")
for example in examples:
    for pipeline in PIPELINES:
        if run([own], pipeline, example) != run(with_plugin, pipeline, example):
            sys.exit(f"{example}: {pipeline} differs")
        print(f"{example} {pipeline}: same")
