"""Instructor, which asks for objects in several ways. What the model says is in
cassettes/script.yaml; here stands what the framework made of it.
"""

import logging

import anthropic
import instructor
import openai
from instructor.core import InstructorRetryException
from pydantic import BaseModel

from harness import equal, holds, raised

logging.getLogger("instructor").setLevel(logging.CRITICAL)  # it logs what it raises

PARIS = "The weather, through the tool Weather"
PARTS = "The weather, through the tool PartialWeather"  # so it calls the class when it streams


class Weather(BaseModel):
    """The weather in a city."""

    city: str
    degrees: int


class Patched:
    """Instructor's client of one style, in any of its modes."""

    def __init__(self, patch, model, **options):
        self.patch, self.model, self.options = patch, model, options

    def ask(self, mode, text, model=None, **options):
        return self.patch(mode).chat.completions.create(
            model=model or self.model, messages=[{"role": "user", "content": text}], response_model=Weather,
            max_retries=0, **self.options, **options)


def chat(address, model):
    client = openai.OpenAI(base_url=address + "/v1", api_key="none", max_retries=0)
    return Patched(lambda mode: instructor.from_openai(client, mode=mode), model)


def messages(address, model):
    client = anthropic.Anthropic(base_url=address, api_key="none", max_retries=0)
    return Patched(lambda mode: instructor.from_anthropic(client, mode=mode), model, max_tokens=100)


def by_mode(mode, text):
    # Its values are of a class that it derives.
    return lambda patched: equal(patched.ask(mode, text).model_dump(), {"city": "Paris", "degrees": 18}, "value")


def stream(mode):
    def case(patched):
        partial = patched.patch(mode).chat.completions.create_partial(
            model=patched.model, messages=[{"role": "user", "content": PARTS}], response_model=Weather,
            **patched.options)
        values = list(partial)
        equal((values[-1].city, values[-1].degrees), ("Paris", 18), "last value")

    return case


def unknown_model(mode):
    def case(patched):
        error = raised(InstructorRetryException, lambda: patched.ask(mode, "Hello", model="nosuch"))
        holds("nosuch" in str(error), f"the error does not name the model: {error}")

    return case


def run(harness):
    harness.run("openai", chat, [
        ("chat/parse-by-tool", by_mode(instructor.Mode.TOOLS, PARIS)),
        ("chat/parse-by-tool-stream", stream(instructor.Mode.TOOLS)),
        ("chat/parse", by_mode(instructor.Mode.JSON_SCHEMA, "The weather as JSON")),
        ("chat/json-mode", by_mode(instructor.Mode.JSON, "The weather as JSON")),
        ("chat/unknown-model", unknown_model(instructor.Mode.TOOLS)),
    ])
    harness.run("openai", chat, [
        ("responses/parse-by-tool", by_mode(instructor.Mode.RESPONSES_TOOLS, PARIS)),
    ])
    harness.run("anthropic", messages, [
        ("messages/parse-by-tool", by_mode(instructor.Mode.ANTHROPIC_TOOLS, PARIS)),
        ("messages/parse-by-tool-stream", stream(instructor.Mode.ANTHROPIC_TOOLS)),
        ("messages/unknown-model", unknown_model(instructor.Mode.ANTHROPIC_TOOLS)),
    ])
