"""The same cases against any server, to be recorded: nothing is asserted.

usage: python3 peers.py BASE_URL CHAT_MODEL TOOL_MODEL EMBEDDING_MODEL GROUP

BASE_URL is a recording proxy's, which takes the names of cases from paths. GROUP
is chat, tool or embedding: a server may have one of the models at a time. What
is told of a case is the class of the error that the SDK raised, if any.
"""

import sys

import anthropic
import openai
from pydantic import BaseModel

import anthropic_messages
import openai_chat

GREEDY = {"temperature": 0, "seed": 1, "max_tokens": 16}
QUESTION = "What is the weather in Paris?"
PIXEL = "data:image/png;base64,iVBORw0KGgoAAAANSUhEUgAAAAEAAAABCAYAAAAfFcSJAAAADUlEQVR42mNk+M9QDwADhgGAWjR9awAAAABJRU5ErkJggg=="
LONG = "word " * 3000


class Weather(BaseModel):
    city: str
    degrees: int


SCHEMA = Weather.model_json_schema() | {"additionalProperties": False}
RESPONSES_TOOL = {"type": "function", "strict": True} | openai_chat.WEATHER["function"]
RESPONSES_TOOL["parameters"] = RESPONSES_TOOL["parameters"] | {"additionalProperties": False}


def user(text):
    return [{"role": "user", "content": text}]


def chat(text="Say hello.", /, **more):
    return lambda client, model: finish(client.chat.completions.create(**({"model": model, "messages": user(text)} | GREEDY | more)))


def completion(**more):
    return lambda client, model: finish(client.completions.create(**({"model": model, "prompt": "One, two, three,"} | GREEDY | more)))


def response(text="Say hello.", /, **more):
    body = {"input": text, "temperature": 0, "max_output_tokens": 16} | more
    return lambda client, model: finish(client.responses.create(**({"model": model} | body)))


def message(text="Say hello.", /, **more):
    body = {"messages": user(text), "max_tokens": 16, "extra_body": {"temperature": 0}} | more
    return lambda client, model: finish(client.messages.create(**({"model": model} | body)))


def finish(reply):
    """Reads a stream to its end."""
    if isinstance(reply, (openai.Stream, anthropic.Stream)):
        for _ in reply:
            pass
    return reply


def post(path, body):
    """What no method of the SDK would send."""
    return lambda client, model: client.post(path, body={"model": model} | body, cast_to=object)


def chat_loop(client, model):
    more = {"model": model, "tools": [openai_chat.WEATHER], "temperature": 0, "seed": 1, "max_tokens": 64}
    messages = user(QUESTION)
    reply = client.chat.completions.create(messages=messages, tool_choice="required", **more).choices[0].message
    messages += [reply] + [{"role": "tool", "tool_call_id": c.id, "content": "18 degrees"} for c in reply.tool_calls or []]
    client.chat.completions.create(messages=messages, **more)


def message_loop(client, model):
    more = {"model": model, "tools": [anthropic_messages.WEATHER], "max_tokens": 64, "extra_body": {"temperature": 0}}
    messages = user(QUESTION)
    reply = client.messages.create(messages=messages, tool_choice={"type": "any"}, **more)
    results = [{"type": "tool_result", "tool_use_id": b.id, "content": "18 degrees"} for b in reply.content if b.type == "tool_use"]
    messages += [{"role": "assistant", "content": reply.content}, {"role": "user", "content": results or "Go on."}]
    client.messages.create(messages=messages, **more)


TOOLS = {"tools": [openai_chat.WEATHER], "tool_choice": "required", "max_tokens": 64}
BLOCKS = {"tools": [anthropic_messages.WEATHER], "tool_choice": {"type": "any"}, "max_tokens": 64}
FORMAT = {"type": "json_schema", "json_schema": {"name": "weather", "strict": True, "schema": SCHEMA}}
PARTS = [{"role": "system", "content": "Be brief."},
         {"role": "user", "content": [{"type": "text", "text": "Say "}, {"type": "text", "text": "hello."}]}]
IMAGE = [{"role": "user", "content": [{"type": "text", "text": "What is this?"}, {"type": "image_url", "image_url": {"url": PIXEL}}]}]

OPENAI = [
    ("chat", "chat/plain", chat()),
    ("chat", "chat/system-and-parts", chat(messages=PARTS)),
    ("chat", "chat/stream", chat(stream=True)),
    ("chat", "chat/usage-chunk", chat(stream=True, stream_options={"include_usage": True})),
    ("chat", "chat/stop", chat("Count to five.", stop=["e", "o"])),
    ("chat", "chat/logprobs", chat(logprobs=True, top_logprobs=2, max_tokens=4)),
    ("chat", "chat/choices", chat(n=2)),
    ("chat", "chat/unknown-model", chat(model="nobody")),
    ("chat", "chat/bad-temperature", chat(temperature="hot")),
    ("chat", "chat/missing-messages", post("/chat/completions", {})),
    ("chat", "chat/too-long", chat(LONG)),
    ("chat", "chat/image-without-vision", chat(messages=IMAGE)),
    ("tool", "chat/tools-required", chat(QUESTION, **TOOLS)),
    ("tool", "chat/tools-stream", chat(QUESTION, stream=True, **TOOLS)),
    ("tool", "chat/tool-loop", chat_loop),
    ("tool", "chat/json-mode", chat("Give me a small JSON object.", response_format={"type": "json_object"}, max_tokens=64)),
    ("tool", "chat/json-schema", chat("Paris, 18 degrees.", response_format=FORMAT, max_tokens=64)),
    ("chat", "completions/plain", completion()),
    ("chat", "completions/stream", completion(stream=True)),
    ("chat", "completions/logprobs", completion(logprobs=2, max_tokens=4)),
    ("chat", "responses/plain", response()),
    ("chat", "responses/stream", response(stream=True)),
    ("chat", "responses/unknown-model", response(model="nobody")),
    ("tool", "responses/tools-required", response(QUESTION, tools=[RESPONSES_TOOL], tool_choice="required", max_output_tokens=64)),
    ("tool", "responses/json-schema", response("Paris, 18 degrees.", max_output_tokens=64,
                                               text={"format": {"type": "json_schema", "name": "weather", "strict": True, "schema": SCHEMA}})),
    ("embedding", "embeddings/one", lambda client, model: client.embeddings.create(model=model, input="hello")),
    ("embedding", "embeddings/many", lambda client, model: client.embeddings.create(
        model=model, input=["hello", "goodbye"], encoding_format="float")),
    ("embedding", "embeddings/bad-input", post("/embeddings", {"input": {"text": "hello"}})),
    ("chat", "models/list", lambda client, model: client.models.list()),
    ("chat", "models/retrieve", lambda client, model: client.models.retrieve(model)),
]

ANTHROPIC = [
    ("chat", "messages/plain", message()),
    ("chat", "messages/stream", message(stream=True)),
    ("chat", "messages/stop-sequence", message("Count to five.", stop_sequences=["e", "o"])),
    ("chat", "messages/system", message(system=[{"type": "text", "text": "Be brief."}])),
    ("chat", "messages/unknown-model", message(model="nobody")),
    ("chat", "messages/missing-max-tokens", post("/v1/messages", {"messages": user("Say hello.")})),
    ("tool", "messages/tools-any", message(QUESTION, **BLOCKS)),
    ("tool", "messages/tools-stream", message(QUESTION, stream=True, **BLOCKS)),
    ("tool", "messages/tool-loop", message_loop),
    ("chat", "count_tokens/plain", lambda client, model: client.messages.count_tokens(model=model, messages=user("Say hello."))),
]


def main(base_url, chat_model, tool_model, embedding_model, chosen):
    models = {"chat": chat_model, "tool": tool_model, "embedding": embedding_model}
    options = {"api_key": "none", "max_retries": 0, "timeout": 300}
    for style, cases in (("openai", OPENAI), ("anthropic", ANTHROPIC)):
        for group, name, case in cases:
            if group != chosen:
                continue
            address = f"{base_url}/record/{style}/{name}"
            client = (openai.OpenAI(base_url=address + "/v1", **options) if style == "openai"
                      else anthropic.Anthropic(base_url=address, **options))
            try:
                case(client, models[group])
                print(f"ok {style}/{name}", flush=True)
            except Exception as error:  # whatever a server may do to its client
                print(f"{type(error).__name__} {style}/{name}", flush=True)


if __name__ == "__main__":
    main(*sys.argv[1:])
