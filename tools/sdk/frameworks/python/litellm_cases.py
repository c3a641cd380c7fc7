"""LiteLLM. What the model says is in cassettes/script.yaml; here stands what
the framework made of it.
"""

import base64
import json
import os

os.environ["LITELLM_LOCAL_MODEL_COST_MAP"] = "True"  # else it looks for prices on the network when imported

import litellm
from pydantic import BaseModel

from harness import equal, holds, raised

litellm.suppress_debug_info = True

WEATHER = {
    "type": "function",
    "function": {
        "name": "get_weather",
        "description": "The weather in a city, now.",
        "parameters": {"type": "object", "properties": {"city": {"type": "string"}}, "required": ["city"]},
    },
}


class Weather(BaseModel):
    city: str
    degrees: int


class Provider:
    """litellm's functions, told which style, address and model to use."""

    def __init__(self, prefix, base, model, ask_for_object):
        self.prefix, self.base, self.model = prefix, base, model
        self.ask_for_object = ask_for_object

    def complete(self, text_or_messages, model=None, **options):
        messages = text_or_messages
        if isinstance(messages, str):
            messages = [{"role": "user", "content": messages}]
        return litellm.completion(
            model=f"{self.prefix}/{model or self.model}", messages=messages, api_base=self.base, api_key="none",
            num_retries=0, max_retries=0, **options)


def chat(address, model):
    return Provider("openai", address + "/v1", model, "The weather as JSON")


def messages(address, model):
    return Provider("anthropic", address, model, "The weather, through the tool json_tool_call")


def plain(provider):
    reply = provider.complete("Hello")
    equal(reply.choices[0].message.content, "Hello there!", "content")
    equal(reply.choices[0].finish_reason, "stop", "finish_reason")
    equal(reply.usage.completion_tokens, 4, "completion_tokens")


def stream(provider):
    chunks = list(provider.complete("Hello", stream=True))
    texts = [c.choices[0].delta.content for c in chunks if c.choices[0].delta.content]
    equal("".join(texts), "Hello there!", "text")
    holds(len(texts) > 1, "the text came in one chunk")
    equal(chunks[-1].choices[0].finish_reason, "stop", "finish_reason")


def loop(ask):
    """Asks, and sends back the result of the call."""
    history = [{"role": "user", "content": "What is the weather in Paris?"}]
    message = ask(history)
    call, = message.tool_calls
    equal((call.function.name, json.loads(call.function.arguments)), ("get_weather", {"city": "Paris"}), "call")
    history += [message.model_dump(), {"role": "tool", "tool_call_id": call.id, "content": "18 degrees"}]
    equal(ask(history).content, "It is 18 degrees in Paris.", "content")


def tool_loop(provider):
    loop(lambda history: provider.complete(history, tools=[WEATHER]).choices[0].message)


def tool_loop_stream(provider):
    def ask(history):
        chunks = list(provider.complete(history, tools=[WEATHER], stream=True))
        return litellm.stream_chunk_builder(chunks, messages=history).choices[0].message

    loop(ask)


def parse(provider):
    reply = provider.complete(provider.ask_for_object, response_format=Weather)
    equal(Weather.model_validate_json(reply.choices[0].message.content), Weather(city="Paris", degrees=18), "value")


def parse_stream(provider):
    chunks = list(provider.complete(provider.ask_for_object, response_format=Weather, stream=True))
    text = "".join(c.choices[0].delta.content or "" for c in chunks)
    equal(Weather.model_validate_json(text), Weather(city="Paris", degrees=18), "value")


def unknown_model(provider):
    error = raised(litellm.NotFoundError, lambda: provider.complete("Hello", model="nosuch"))
    holds("nosuch" in error.message, f"the message does not name the model: {error.message}")


def too_long(provider):
    raised(litellm.ContextWindowExceededError, lambda: provider.complete("a word " * 50, model="tiny", max_tokens=2))


def crash(provider):
    raised(litellm.BadGatewayError, lambda: provider.complete("Please break down"))


def respond(provider):
    reply = litellm.responses(
        model=f"openai/{provider.model}", input="Hello", api_base=provider.base, api_key="none")
    equal(reply.output[0].content[0].text, "Hello there!", "text")
    equal(reply.usage.output_tokens, 4, "output_tokens")


def complete(provider):
    reply = litellm.text_completion(
        model=f"text-completion-openai/{provider.model}", prompt="Once upon a time", api_base=provider.base, api_key="none")
    equal(reply.choices[0].text, " there was a server.", "text")


def complete_stream(provider):
    chunks = litellm.text_completion(
        model=f"text-completion-openai/{provider.model}", prompt="Once upon a time", api_base=provider.base,
        api_key="none", stream=True)
    equal("".join(c.choices[0].text or "" for c in chunks), " there was a server.", "text")


def embed(provider):
    reply = litellm.embedding(
        model="openai/embedder", input=["one text", "another text"], api_base=provider.base, api_key="none")
    equal([len(d["embedding"]) for d in reply.data], [8, 8], "lengths")
    holds(reply.usage.prompt_tokens > 0, "no tokens are counted")


def draw(provider):
    reply = litellm.image_generation(
        model="openai/painter", prompt="a green hill", size="256x128", n=2, api_base=provider.base,
        api_key="none")
    equal([base64.b64decode(d.b64_json)[:8] for d in reply.data], [b"\x89PNG\r\n\x1a\n"] * 2, "first bytes")


def generating(operation):
    return [
        (f"{operation}/plain", plain),
        (f"{operation}/stream", stream),
        (f"{operation}/tool-loop", tool_loop),
        (f"{operation}/tool-loop-stream", tool_loop_stream),
        (f"{operation}/parse", parse),
        (f"{operation}/parse-stream", parse_stream),
        (f"{operation}/unknown-model", unknown_model),
        (f"{operation}/too-long", too_long),
        (f"{operation}/crash", crash),
    ]


def run(harness):
    harness.run("openai", chat, generating("chat"))
    harness.run("openai", chat, [
        ("responses/plain", respond),
        ("completions/plain", complete),
        ("completions/stream", complete_stream),
        ("embeddings/many", embed),
        ("images/plain", draw),
    ])
    harness.run("anthropic", messages, generating("messages"))
