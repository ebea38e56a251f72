"""Runs a command and checks its exit code: expect.py CODE COMMAND...

What the command prints passes through. A command that a signal ends has a
negative code, which no test expects.
"""

import subprocess
import sys

expected = int(sys.argv[1])
got = subprocess.run(sys.argv[2:]).returncode
if got != expected:
    sys.exit(f"expected exit code {expected}, got {got}: {' '.join(sys.argv[2:])}")
