from typing import Any

import pytest

from trunkline.content import DiffBlock
from trunkline.workspace.diffs import diff_of

UNIFIED = """diff --git a/a.sql b/a.sql
index 1..2 100644
--- a/a.sql
+++ b/a.sql
@@ -1,3 +1,2 @@
 select 1;
--- a comment
-select 2;
+select 3;

--- /dev/null
+++ b/new.py
@@ -0,0 +1 @@
+print()
\\ No newline at end of file
--- a/old.py\t2026-01-01
+++ /dev/null
@@ -1 +0,0 @@
-print()
"""
STARS = """*** Begin Patch
*** Update File: a.py
@@ def f():
 one
-two
+three
*** Add File: b.py
+hello
*** Delete File: c.py
*** End Patch"""


@pytest.mark.parametrize(
    ("name", "args", "diffs"),
    [
        (
            "edit_file",
            {"file_path": "a.py", "old_string": "x", "new_string": ""},
            [DiffBlock(path="a.py", old="x", new="")],
        ),
        ("write_file", {"file_path": "a.py", "content": "x"}, [DiffBlock(path="a.py", new="x")]),
        (
            "str_replace_based_edit_tool",
            {"command": "str_replace", "path": "a.py", "old_str": "x", "new_str": "y"},
            [DiffBlock(path="a.py", old="x", new="y")],
        ),
        (
            "text_tool",
            {"command": "create", "path": "a.py", "file_text": "x"},
            [DiffBlock(path="a.py", new="x")],
        ),
        (
            "filesystem_edit_file",
            {"path": "a.py", "edits": [{"oldText": "x", "newText": "y"}, {"oldText": "1", "newText": "2"}]},
            [DiffBlock(path="a.py", old="x", new="y"), DiffBlock(path="a.py", old="1", new="2")],
        ),
        (
            "apply_patch",
            {"patch": UNIFIED},
            [
                DiffBlock(
                    path="a.sql", old="select 1;\n-- a comment\nselect 2;\n", new="select 1;\nselect 3;\n"
                ),
                DiffBlock(path="new.py", new="print()"),
                DiffBlock(path="old.py", old="print()", new=None),
            ],
        ),
        (
            "apply_patch",
            {"input": STARS},
            [
                DiffBlock(path="a.py", old="one\ntwo", new="one\nthree"),
                DiffBlock(path="b.py", new="hello"),
                DiffBlock(path="c.py", old="", new=None),
            ],
        ),
        ("apply_patch", {"patch": "nothing of the kind"}, []),
        ("apply_patch", {"patch": "--- a"}, []),
        ("read_file", {"file_path": "a.py"}, []),
        ("search_text", {"path": "a.py", "text": "x"}, []),
        ("edit_file", {"file_path": "a.py", "old_string": "x"}, []),
        ("write_todos", {"todos": []}, []),
        ("write_file", None, []),
    ],
)
def test_a_change_is_shown_as_a_diff(name: str, args: Any, diffs: list[DiffBlock]) -> None:
    assert list(diff_of(name, args)) == diffs
