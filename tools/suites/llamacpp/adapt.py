"""Copies tests of llama.cpp's server without the assertions that do not apply.

usage: python3 adapt.py FROM TO LIST

FROM and TO are folders of tests, and LIST is list.yaml as JSON. Each entry of its
`assertions` has a regular expression; an assertion whose condition it matches becomes
`pass`. The expressions that matched nothing are printed.
"""

import ast
import json
import pathlib
import re
import shutil
import sys


def covers(pattern, test):
    """Whether a pattern of list.yaml is for a test, with or without its parameters."""
    expression = ".*".join(map(re.escape, pattern.split("*")))
    return any(re.fullmatch(expression, name) for name in [test, test.partition("[")[0]])


class Adapter(ast.NodeTransformer):
    def __init__(self, entries):
        self.entries = [(entry["matches"], re.compile(entry["matches"]), entry.get("in") or "*") for entry in entries]
        self.used = set()
        self.file = self.function = ""

    def adapt(self, file):
        self.file = file.name
        return ast.unparse(self.visit(ast.parse(file.read_text(encoding="utf-8"))))

    def visit_FunctionDef(self, node):
        self.function = node.name
        return self.generic_visit(node)

    def visit_Assert(self, node):
        text = ast.unparse(ast.Assert(node.test))
        for name, pattern, where in self.entries:
            if pattern.search(text) and covers(where, f"{self.file}::{self.function}"):
                self.used.add(name)
                return ast.copy_location(ast.Pass(), node)
        return node


def main(source, target, list_file):
    with open(list_file, encoding="utf-8") as text:
        entries = json.load(text)["assertions"]
    source, target = pathlib.Path(source), pathlib.Path(target)
    shutil.rmtree(target, ignore_errors=True)
    (target / "unit").mkdir(parents=True)
    for name in ["conftest.py", "pytest.ini"]:
        shutil.copy(source / name, target / name)
    adapter = Adapter(entries)
    for file in [source / "utils.py", *sorted((source / "unit").glob("test_*.py"))]:
        (target / file.relative_to(source)).write_text(adapter.adapt(file), encoding="utf-8")
    for entry in entries:
        if entry["matches"] not in adapter.used:
            print(entry["matches"])


if __name__ == "__main__":
    main(*sys.argv[1:])
