"""Runs named cases of one framework against one server and prints a line for
each.

usage: python3 main.py FRAMEWORK BASE_URL MODEL script|record

Every framework is installed by itself, since they pin each other's SDKs; so
only the one that is asked for is imported. A case gets the address of the
server, or when recording that of the proxy, which takes the case's name from
it.
"""

import importlib
import sys
import traceback


class Harness:
    def __init__(self, framework, base_url, model, mode):
        self.framework = framework
        self.base_url = base_url.rstrip("/")
        self.model = model
        self.mode = mode
        self.passed = 0
        self.failed = 0

    def address(self, style, name):
        if self.mode != "record":
            return self.base_url
        return f"{self.base_url}/record/{style}/{name}-{self.framework}"

    def run(self, style, make, cases):
        """cases: (name, function of what make makes for the case's address)."""
        for name, case in cases:
            try:
                case(make(self.address(style, name), self.model))
                self.passed += 1
                print(f"ok   {self.framework} {style} {name}", flush=True)
            except Exception:
                self.failed += 1
                print(f"FAIL {self.framework} {style} {name}\n{traceback.format_exc()}", flush=True)


def equal(got, want, what):
    if got != want:
        raise AssertionError(f"{what}: got {got!r}, want {want!r}")


def holds(condition, what):
    if not condition:
        raise AssertionError(what)


def raised(kind, call):
    """The error of the given class, or of one below it, that call raises."""
    try:
        call()
    except kind as error:
        return error
    raise AssertionError(f"no {kind.__name__} was raised")


def main():
    harness = Harness(*sys.argv[1:5])
    importlib.import_module(f"{harness.framework}_cases").run(harness)
    print(f"{harness.passed} passed, {harness.failed} failed")
    sys.exit(1 if harness.failed else 0)
