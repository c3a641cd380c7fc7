"""The vendors' Python SDKs against a diglot server; see harness.py."""

import anthropic_messages
import drawing
import openai_chat
import openai_completions
import openai_embeddings
import openai_images
import openai_responses
import real
import vision
from harness import main


def run(harness):
    if harness.mode == "real":
        harness.run("openai", real.OPENAI)
        harness.run("anthropic", real.ANTHROPIC)
        return
    if harness.mode == "vision":
        harness.run("openai", vision.OPENAI)
        harness.run("anthropic", vision.ANTHROPIC)
        return
    if harness.mode == "images":
        harness.run("openai", drawing.OPENAI)
        return
    for part in (openai_chat, openai_completions, openai_embeddings, openai_images, openai_responses):
        harness.run("openai", part.CASES)
    harness.run("anthropic", anthropic_messages.CASES)


main(run)
