"""Checks that two files hold the same level: same_level.py PRINTED OTHER

PRINTED is of blockscale-compile, which adds what it goes on with.
"""

import re
import sys

printed, other = (open(path).read().strip() for path in sys.argv[1:])
printed = re.sub(r'blockscale\.level = "\w+", ', "", printed)
printed = re.sub(r" attributes \{(blockscale\.schedules = \"[^\"]*\", )?blockscale\.signature = .*\} \{\n", " {\n", printed)
if printed != other:
    sys.exit(f"expected {sys.argv[1]} to be {sys.argv[2]}, got others")
