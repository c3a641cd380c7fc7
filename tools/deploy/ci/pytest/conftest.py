"""Gives tests a diglot replay server, with or without faults."""

import os
import socket
import subprocess
import time
import urllib.error
import urllib.request

import pytest

DIGLOT = os.environ.get("DIGLOT", "diglot")


@pytest.fixture
def replay(tmp_path):
    """A function that starts a server and returns its address. It takes rules for faults,
    as diglot replay --help describes them."""
    running = []

    def start(faults: str = "") -> str:
        with socket.socket() as free:
            free.bind(("127.0.0.1", 0))
            address = f"127.0.0.1:{free.getsockname()[1]}"
        command = [DIGLOT, "replay", "--listen", address]
        if faults:
            rules = tmp_path / "faults.yaml"
            rules.write_text(faults)
            command += ["--faults", str(rules)]
        running.append(subprocess.Popen(command))
        url = f"http://{address}"
        wait_for(url)
        return url

    yield start
    for process in running:
        process.terminate()
        process.wait()


def wait_for(url: str) -> None:
    end = time.monotonic() + 10
    while True:
        try:
            urllib.request.urlopen(url + "/health")
            return
        except urllib.error.URLError:
            if time.monotonic() > end:
                raise
            time.sleep(0.02)
