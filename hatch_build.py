"""What an index shows of the package: the project's addresses, and README.md with links that work there."""

import re
from pathlib import Path
from typing import Any

from hatchling.metadata.plugin.interface import MetadataHookInterface


class IndexMetadata(MetadataHookInterface):
    """Completes the metadata by the repository's address, which stands in pyproject.toml alone."""

    def update(self, metadata: dict[str, Any]) -> None:
        """Add the addresses, and README.md with its relative links made absolute."""
        address = self.config["repository"]

        def make_absolute(link: re.Match[str]) -> str:
            return f"{link[1]}({address}/{'raw' if link[1].startswith('!') else 'blob'}/main/"

        text = (Path(self.root) / "README.md").read_text(encoding="utf-8")
        text = re.sub(r"(!?\[[^]]*\])\((?!https?:|#)", make_absolute, text)
        metadata["readme"] = {"content-type": "text/markdown", "text": text}
        metadata["urls"] = {
            "Source": address, "Documentation": f"{address}/blob/main/docs/index.md",
            "Changelog": f"{address}/blob/main/CHANGELOG.md", "Issues": f"{address}/issues",
        }  # fmt: skip
