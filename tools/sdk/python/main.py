"""The vendors' Python SDKs against a diglot server; see harness.py."""

import anthropic_messages
import openai_chat
import real
from harness import main


def run(harness):
    if harness.mode == "real":
        harness.run("openai", real.OPENAI)
        harness.run("anthropic", real.ANTHROPIC)
        return
    harness.run("openai", openai_chat.CASES)
    harness.run("anthropic", anthropic_messages.CASES)


main(run)
