"""What hatch asks before it packs: nobody gets Deltaworks without its log store, or with one of an earlier time."""

from __future__ import annotations

import sys
from pathlib import Path
from typing import Any

from hatchling.builders.hooks.plugin.interface import BuildHookInterface


class LogStoreHook(BuildHookInterface[Any]):
    """Refuses to pack without a current jar; an editable install packs nothing, and comes before the jar."""

    def initialize(self, version: str, build_data: dict[str, Any]) -> None:
        """Look before the first file is packed."""
        sys.path.insert(0, self.root)  # a build starts anywhere
        from tools.logstore import require_current

        if version != "editable":
            require_current(Path(self.root))
