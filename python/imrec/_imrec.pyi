"""The extension module: see python/binding.py."""
from typing import Any

ffi: Any
lib: Any
