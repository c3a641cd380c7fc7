"""The vendors' Python SDKs against a diglot server; see harness.py."""

import anthropic_messages
import openai_chat
import openai_completions
import openai_embeddings
import real
from harness import main


def run(harness):
    if harness.mode == "real":
        harness.run("openai", real.OPENAI)
        harness.run("anthropic", real.ANTHROPIC)
        return
    for part in (openai_chat, openai_completions, openai_embeddings):
        harness.run("openai", part.CASES)
    harness.run("anthropic", anthropic_messages.CASES)


main(run)
