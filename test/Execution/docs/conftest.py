"""Makes `import examples` find this folder's module."""

import sys
from pathlib import Path

sys.path.insert(0, str(Path(__file__).resolve().parent))
