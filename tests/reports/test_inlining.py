"""Modules put into a page: one form, no circles, nothing that a page would read as markup."""

from __future__ import annotations

import base64
import hashlib
import re

import pytest

from reports.site.inlining import inlined, policy

SOURCES = {
    "main.js": """\
import { add, ONE } from "./sums.js";
import { show } from "./drawing.js";

show(add(ONE, 2));
""",
    "sums.js": """\
import { show } from "./drawing.js";

export const ONE = 1;
const own = 0;
export function add(a, b) {
  return a + b + own;
}
""",
    "board.js": """\
export async function show(value) {
  console.log(value);
}
""",
}


def test_each_module_stands_once_and_before_those_that_need_it() -> None:
    script = inlined("main.js", SOURCES.__getitem__, names={"drawing.js": "board.js"})
    assert re.findall(r"^const (\$\w+) =", script, re.MULTILINE) == ["$drawing", "$sums", "$main"]
    assert "const { add, ONE } = $sums;" in script
    assert "return { ONE, add };" in script
    assert not re.search(r"^\s*(import|export)\b", script, re.MULTILINE)


@pytest.mark.parametrize(
    "source",
    [
        'import * as all from "./b.js";',
        'import { a as b } from "./b.js"',
        'import "./b.js";',
        "export default 5;",
        "export { a };",
        "export let a = 1;",
    ],
)
def test_module_in_another_form_is_refused(source: str) -> None:
    with pytest.raises(ValueError, match="not in the form"):
        inlined("a.js", {"a.js": source + "\n", "b.js": ""}.__getitem__, names={})


def test_circle_is_refused() -> None:
    sources = {"a.js": 'import { b } from "./b.js";\n', "b.js": 'import { a } from "./a.js";\n'}
    with pytest.raises(ValueError, match="circle"):
        inlined("a.js", sources.__getitem__, names={})


@pytest.mark.parametrize("text", ["</script>", "<!-- x", "<SCRIPT"])
def test_what_would_end_the_script_is_refused(text: str) -> None:
    with pytest.raises(ValueError, match="can't hold"):
        inlined("a.js", lambda _: f'const a = "{text}";\n', names={})


def test_policy_lets_nothing_run_but_the_one_script() -> None:
    rules = dict(rule.split(" ", 1) for rule in policy("let a;", "p{}").split("; "))
    digest = base64.b64encode(hashlib.sha256(b"let a;").digest()).decode()
    assert rules["default-src"] == "'none'"
    assert rules["script-src"] == f"'sha256-{digest}'"
    assert "unsafe" not in " ".join(rules.values())
