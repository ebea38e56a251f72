"""Stores what a command writes to a pipe: read_pipe.py PIPE FILE COMMAND..."""

import shutil
import subprocess
import sys

pipe, path, *command = sys.argv[1:]
process = subprocess.Popen(command)
with open(pipe, "rb") as source, open(path, "wb") as target:
    shutil.copyfileobj(source, target)
sys.exit(process.wait())
