"""Runs named cases against one server and prints a line for each.

usage: python3 main.py BASE_URL MODEL script|real|vision|images|record

Every case gets clients of its own. When recording, the case's name stands in
their base URL, where the recording proxy takes it from.
"""

import sys
import traceback

import anthropic
import openai


class Harness:
    def __init__(self, base_url, model, mode):
        self.base_url = base_url.rstrip("/")
        self.model = model
        self.mode = mode
        self.passed = 0
        self.failed = 0

    def address(self, style, name):
        if self.mode != "record":
            return self.base_url
        return f"{self.base_url}/record/{style}/{name}-python"

    def openai(self, name, **options):
        return openai.OpenAI(base_url=self.address("openai", name) + "/v1", api_key="none", **options)

    def anthropic(self, name, **options):
        return anthropic.Anthropic(base_url=self.address("anthropic", name), api_key="none", **options)

    def run(self, style, cases):
        """cases: (name, function of a client and the harness, client options)."""
        for name, case, *options in cases:
            client = getattr(self, style)(name, **(options[0] if options else {}))
            try:
                case(client, self.model)
                self.passed += 1
                print(f"ok   python {style} {name}", flush=True)
            except Exception:
                self.failed += 1
                print(f"FAIL python {style} {name}\n{traceback.format_exc()}", flush=True)


def equal(got, want, what):
    if got != want:
        raise AssertionError(f"{what}: got {got!r}, want {want!r}")


def holds(condition, what):
    if not condition:
        raise AssertionError(what)


def raised(kind, call):
    """The error of the given class that call raises."""
    try:
        call()
    except kind as error:
        if type(error) is not kind and kind.__name__ not in ("APIError", "APIStatusError", "InternalServerError"):
            raise AssertionError(f"got a {type(error).__name__}, want a {kind.__name__}")
        return error
    raise AssertionError(f"no {kind.__name__} was raised")


def main(run):
    harness = Harness(*sys.argv[1:4])
    run(harness)
    print(f"{harness.passed} passed, {harness.failed} failed")
    sys.exit(1 if harness.failed else 0)
