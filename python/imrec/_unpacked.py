"""Names of data that exist and are not packed."""
from __future__ import annotations

import logging

logger = logging.getLogger("imrec")


class Unpacked:
    """One warning after the first item, and one at the end for later names; no name twice, and at most a thousand."""

    def __init__(self) -> None:
        self._seen: set[str] = set()
        self._new: list[str] = []
        self._begun = False

    def add(self, what: str) -> None:
        if what not in self._seen and len(self._seen) < 1000:
            self._seen.add(what)
            self._new.append(what)

    def begin(self) -> None:
        if not self._begun:
            self._begun = True
            self.tell()

    def tell(self) -> None:
        if self._new:
            more = f" and {len(self._new) - 20} more" if len(self._new) > 20 else ""
            logger.warning("not packed: %s%s", ", ".join(self._new[:20]), more)
            self._new = []
