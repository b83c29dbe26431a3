"""Plain ES modules as one script that stands in a page, and the policy that lets it alone run.

From `file://` a browser refuses modules that lie beside a page, so they are put into it: each
becomes a function that is called once and gives its exports. The sources stay as they are and
need no build step. They keep to one form, which is checked:

- `import { a, b } from "./other.js";`, on one line at the top;
- `export function`, `export const` or `export class` before a declaration, and nothing else.
"""

from __future__ import annotations

import base64
import hashlib
import re
from collections.abc import Callable, Mapping

__all__ = ["inlined", "policy", "source_hash"]

_IMPORT = re.compile(r'^import \{ ([\w, ]+) \} from "\./([\w-]+\.js)";\n', re.MULTILINE)
_EXPORT = re.compile(r"^export (?=(?:async )?(?:function|const|class) (\w+))", re.MULTILINE)
_LEFT_OVER = re.compile(r"^\s*(?:import|export)\b.*", re.MULTILINE)


def inlined(entry: str, read: Callable[[str], str], *, names: Mapping[str, str]) -> str:
    """Return one module with all that `entry` imports.

    Args:
        entry: name of the file that starts it all.
        read: gives a file's text.
        names: files that stand for others, as `drawing.js` for the drawing of a ruleset.

    Raises:
        ValueError: if a module is not in the form above, or imports itself in a circle.
    """
    made: dict[str, str] = {}
    _add(entry, read, names, made, ())
    script = "\n".join(made.values())
    for bad in ("</script", "<!--", "<script"):
        if bad in script.lower():
            raise ValueError(f"{entry}: a script in a page can't hold {bad!r}")
    return script


def _add(
    file: str,
    read: Callable[[str], str],
    names: Mapping[str, str],
    made: dict[str, str],
    above: tuple[str, ...],
) -> None:
    if file in above:
        raise ValueError(f"{' → '.join((*above, file))}: modules import each other in a circle")
    if file in made:
        return
    text = read(names.get(file, file))
    for found in _IMPORT.finditer(text):
        _add(found[2], read, names, made, (*above, file))
    exports = [found[1] for found in _EXPORT.finditer(text)]
    body = _IMPORT.sub(lambda found: f"const {{ {found[1]} }} = {_name(found[2])};\n", text)
    body = _EXPORT.sub("", body)
    if left := _LEFT_OVER.search(body):
        raise ValueError(
            f"{file}: {left[0].strip()!r} is not in the form that can be put in a page"
        )
    made[file] = (
        f"const {_name(file)} = (() => {{\n{body.rstrip()}\n"
        f"return {{ {', '.join(exports)} }};\n}})();"
    )


def _name(file: str) -> str:
    return "$" + file.removesuffix(".js").replace("-", "_")


def policy(script: str, style: str, *, files_beside: bool = False) -> str:
    """Return a content policy that allows one inlined script and style, and nothing from outside.

    Args:
        script: the exact text between the tags.
        style: the same of the style.
        files_beside: whether the script loads others that lie beside the page. It alone can: none
            that stands in the page's markup runs.
    """
    beside = " 'strict-dynamic'" if files_beside else ""
    return (
        f"default-src 'none'; script-src '{source_hash(script)}'{beside}; "
        f"style-src '{source_hash(style)}'; base-uri 'none'; form-action 'none'"
    )


def source_hash(text: str) -> str:
    """Return how a content policy names an inlined script or style."""
    return "sha256-" + base64.b64encode(hashlib.sha256(text.encode()).digest()).decode()
