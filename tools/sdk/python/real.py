"""Both packages against a real model.

A small model says what it likes, so that these cases force the form of the
answer (a tool call by tool_choice, a schema) and look at nothing else.
"""

import json

from anthropic import beta_tool
from pydantic import BaseModel

import anthropic_messages
import openai_chat
from harness import equal, holds


class Weather(BaseModel):
    city: str
    degrees: int


def user(text):
    return [{"role": "user", "content": text}]


def openai_plain(client, model):
    reply = client.chat.completions.create(model=model, messages=user("Say hello."), max_tokens=16, temperature=0)
    holds(reply.choices[0].message.content, "no content")
    holds(reply.choices[0].finish_reason in ("stop", "length"), "finish_reason")
    holds(0 < reply.usage.completion_tokens <= 16, "completion_tokens")


def openai_stream(client, model):
    # Not the stream() helper: it raises when an answer is cut off by its limit.
    chunks = client.chat.completions.create(
        model=model, messages=user("Say hello."), max_tokens=16, temperature=0, stream=True)
    text = "".join(c.choices[0].delta.content or "" for c in chunks)
    again = client.chat.completions.create(model=model, messages=user("Say hello."), max_tokens=16, temperature=0)
    equal(again.choices[0].message.content, text, "the same request, not streamed")


def openai_tool_loop(client, model):
    messages = user("What is the weather in Paris?")
    reply = client.chat.completions.create(
        model=model, messages=messages, tools=[openai_chat.WEATHER], max_tokens=100, temperature=0,
        parallel_tool_calls=False, tool_choice={"type": "function", "function": {"name": "get_weather"}})
    message = reply.choices[0].message
    call, = message.tool_calls
    equal(call.function.name, "get_weather", "name")
    holds(isinstance(json.loads(call.function.arguments)["city"], str), "arguments do not follow the schema")
    messages += [message, {"role": "tool", "tool_call_id": call.id, "content": "18 degrees"}]
    reply = client.chat.completions.create(
        model=model, messages=messages, tools=[openai_chat.WEATHER], tool_choice="none", max_tokens=32, temperature=0)
    holds(reply.choices[0].message.content, "no content after the result")


def openai_parse(client, model):
    reply = client.chat.completions.parse(
        model=model, messages=user("Paris, 18 degrees."), response_format=Weather, max_tokens=100, temperature=0)
    holds(isinstance(reply.choices[0].message.parsed, Weather), "not parsed")


def anthropic_plain(client, model):
    reply = client.messages.create(model=model, max_tokens=16, messages=user("Say hello."), extra_body={"temperature": 0})
    holds(reply.content[0].text, "no text")
    holds(reply.stop_reason in ("end_turn", "max_tokens"), "stop_reason")
    holds(0 < reply.usage.output_tokens <= 16, "output_tokens")


def anthropic_stream(client, model):
    body = {"model": model, "max_tokens": 16, "messages": user("Say hello."), "extra_body": {"temperature": 0}}
    with client.messages.stream(**body) as events:
        text = "".join(events.text_stream)
        final = events.get_final_message()
    equal(final.content[0].text, text, "final message")
    equal(client.messages.create(**body).content[0].text, text, "the same request, not streamed")


@beta_tool
def get_weather(city: str) -> str:
    """The weather in a city, now.

    Args:
        city: Name of the city
    """
    return "18 degrees"


def anthropic_tool_loop(client, model):
    messages = user("What is the weather in Paris?")
    reply = client.messages.create(
        model=model, max_tokens=100, messages=messages, tools=[anthropic_messages.WEATHER],
        tool_choice={"type": "tool", "name": "get_weather", "disable_parallel_tool_use": True}, extra_body={"temperature": 0})
    equal(reply.stop_reason, "tool_use", "stop_reason")
    call = reply.content[-1]
    holds(isinstance(call.input["city"], str), "input does not follow the schema")
    messages += [
        {"role": "assistant", "content": reply.content},
        {"role": "user", "content": [{"type": "tool_result", "tool_use_id": call.id, "content": "18 degrees"}]},
    ]
    reply = client.messages.create(
        model=model, max_tokens=32, messages=messages, tools=[anthropic_messages.WEATHER],
        tool_choice={"type": "none"}, extra_body={"temperature": 0})
    holds(reply.content[0].text, "no text after the result")


def anthropic_tool_runner(client, model):
    runner = client.beta.messages.tool_runner(
        model=model, max_tokens=100, tools=[get_weather], messages=user("What is the weather in Paris?"),
        tool_choice={"type": "any"}, max_iterations=2, extra_body={"temperature": 0})
    replies = list(runner)
    equal([r.stop_reason for r in replies], ["tool_use", "tool_use"], "stop reasons")


def anthropic_parse(client, model):
    reply = client.messages.parse(
        model=model, max_tokens=100, messages=user("Paris, 18 degrees."), output_format=Weather,
        extra_body={"temperature": 0})
    holds(isinstance(reply.parsed_output, Weather), "not parsed")


OPENAI = [
    ("real/plain", openai_plain),
    ("real/stream", openai_stream),
    ("real/tool-loop", openai_tool_loop),
    ("real/parse", openai_parse),
]
ANTHROPIC = [
    ("real/plain", anthropic_plain),
    ("real/stream", anthropic_stream),
    ("real/tool-loop", anthropic_tool_loop),
    ("real/tool-runner", anthropic_tool_runner),
    ("real/parse", anthropic_parse),
]
