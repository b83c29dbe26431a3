"""Write again what is made from the code: `python tests/protocol/generate.py`.

Run it after a change of messages, session table or limits; read the difference before it goes in.
"""

from __future__ import annotations

import sys
from pathlib import Path

ROOT = Path(__file__).resolve().parents[2]
sys.path.insert(0, str(ROOT))

# The path had to be set first.
from protocol import schema_text  # noqa: E402
from tests.protocol import spec, transcripts  # noqa: E402


def write(path: Path, text: str) -> None:
    """Write a file unless it holds the text already."""
    if not path.exists() or path.read_text(encoding="utf-8") != text:
        path.parent.mkdir(exist_ok=True)
        path.write_text(text, encoding="utf-8")
        sys.stdout.write(f"{path.relative_to(ROOT)}\n")


def main() -> None:
    """Write every generated file."""
    for name, text in schema_text.files().items():
        write(ROOT / "protocol" / "schema" / name, text)
    for golden in transcripts.GOLDEN:
        text = transcripts.text(transcripts.Model(golden).play())
        write(ROOT / "protocol" / "transcripts" / golden.file, text)
    page = ROOT / "protocol" / "SPEC.md"
    write(page, spec.filled(page.read_text(encoding="utf-8")))


if __name__ == "__main__":
    main()
