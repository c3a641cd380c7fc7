"""A pytest plugin that runs the tests of llama.cpp's server against diglot.

ServerProcess of their utils.py starts diglot where it would start llama-server, with
models that are here in place of those of a hub. Requests get the prefix /v1 and a model
name, which llama-server does without. What list.yaml says does not apply is not run.

The environment has SUITE_PROGRAM (the program), SUITE_MODELS (a JSON object: file by hub
name), SUITE_LIST (list.yaml as JSON) and SUITE_RESULTS (a file to write, JSON).
"""

import json
import os
import subprocess
import sys
import time
import types

import openai
import pytest
from adapt import covers

sys.modules["wget"] = types.ModuleType("wget")  # downloads models; there are none

MODELS = json.loads(os.environ["SUITE_MODELS"])
with open(os.environ["SUITE_LIST"], encoding="utf-8") as text:
    LIST = json.load(text)

# Paths that llama-server has with and without the prefix.
SHORT = ["/chat/completions", "/responses", "/models"]

# Operations that take what llama-server gets by the flags --seed and --temp.
SEEDED = ["/v1/chat/completions", "/v1/completions"]

results = {"passed": [], "failed": {}, "skipped": [], "unused": []}


class Running:
    """The one diglot that runs. It is kept while tests want the same."""

    process = None
    wanted = None
    model = None

    def start(self, port, model, args):
        self.model = model
        if self.wanted == (port, args) and self.process.poll() is None:
            return
        self.stop()
        command = [os.environ["SUITE_PROGRAM"], "serve", "--listen", f"127.0.0.1:{port}", "--socket", "none", "--drain", "0s", *args]
        print("starting", *command)
        self.process = subprocess.Popen(command)
        self.wanted = (port, args)

    def stop(self):
        if self.process:
            self.process.terminate()
            self.process.wait(timeout=30)
        self.process = self.wanted = None


running = Running()


class Client(openai.OpenAI):
    """The client of the tests. It names the model that is there, and has /v1 in its base URL."""

    def __init__(self, *args, base_url, **kwargs):
        super().__init__(*args, base_url=base_url.removesuffix("/v1") + "/v1", **kwargs)

    def _prepare_options(self, options):
        options.json_data["model"] = running.model
        if "/v1" + options.url in SEEDED:
            options.json_data.setdefault("seed", 42)
        return options


def arguments(server):
    """The flags of diglot for what a test wants of llama-server."""
    hub = f"{server.model_hf_repo}/{server.model_hf_file}" if server.model_hf_file else server.model_hf_repo
    if hub not in MODELS:
        raise RuntimeError(f"there is no model {hub} here")
    args = ["--model", f"{server.model_alias}={MODELS[hub]}"]
    slots = server.n_slots or 1
    args += ["--parallel", str(slots), "--threads", "1", "--load", server.model_alias]
    if server.n_ctx and not server.server_embeddings:
        args += ["--context", str(server.n_ctx // slots)]
    if server.api_key:
        args += ["--api-key", server.api_key]
    return args


def adapt(utils):
    process = utils.ServerProcess
    plain_request, plain_stream = process.make_request, process.make_stream_request

    def start(self, timeout_seconds=60):
        running.start(self.server_port, self.model_alias, arguments(self))
        deadline = time.monotonic() + timeout_seconds
        while time.monotonic() < deadline:
            if running.process.poll() is not None:
                raise RuntimeError(f"diglot ended with status {running.process.returncode}")
            try:
                if plain_request(self, "GET", "/readyz").status_code == 200:
                    return
            except Exception:  # it does not listen yet
                time.sleep(0.05)
        raise TimeoutError("diglot is not ready")

    def fitting(self, path, data):
        if path in SHORT:
            path = "/v1" + path
        if path.startswith("/v1/") and isinstance(data, dict):
            data = {**data, "model": self.model_alias}
        if path in SEEDED and isinstance(data, dict):
            data = {"seed": self.seed, "temperature": self.temperature, **data}
        return path, data

    def make_request(self, method, path, data=None, *args, **kwargs):
        path, data = fitting(self, path, data)
        return plain_request(self, method, path, data, *args, **kwargs)

    def make_stream_request(self, method, path, data=None, *args, **kwargs):
        path, data = fitting(self, path, data)
        return plain_stream(self, method, path, data, *args, **kwargs)

    process.start = start
    process.stop = lambda self: None
    process.make_request = make_request
    process.make_stream_request = make_stream_request
    utils.ServerPreset.load_all = staticmethod(lambda: None)


def pytest_configure(config):
    sys.path.insert(0, str(config.rootpath))
    import utils

    adapt(utils)
    openai.OpenAI = Client


def pytest_collection_modifyitems(items):
    unused = {entry["test"] for entry in LIST["tests"]}
    for item in items:
        name = item.nodeid.removeprefix("unit/")
        for entry in LIST["tests"]:
            if covers(entry["test"], name):
                unused.discard(entry["test"])
                item.add_marker(pytest.mark.skip(reason=entry["reason"]))
                break
    results["unused"] = sorted(unused)


def pytest_runtest_logreport(report):
    if report.failed:
        results["failed"][report.nodeid] = report.longreprtext
    elif report.skipped:
        results["skipped"].append(report.nodeid)
    elif report.when == "call":
        results["passed"].append(report.nodeid)


def pytest_sessionfinish():
    running.stop()
    with open(os.environ["SUITE_RESULTS"], "w", encoding="utf-8") as file:
        json.dump(results, file)
