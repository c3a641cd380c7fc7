"""Both packages against a real model that sees colours; see tools/projector."""

import base64
import struct
import zlib

from harness import equal, holds

COLOURS = {"red": (220, 20, 20), "blue": (10, 30, 230), "green": (20, 200, 30), "yellow": (240, 230, 10)}
QUESTION = "What colour is the picture? One word."


def picture(colour):
    """A PNG of one colour, in base64."""
    def chunk(name, data):
        return struct.pack(">I", len(data)) + name + data + struct.pack(">I", zlib.crc32(name + data))
    side = 96
    head = struct.pack(">IIBBBBB", side, side, 8, 2, 0, 0, 0)
    rows = (b"\0" + bytes(COLOURS[colour]) * side) * side
    file = b"\x89PNG\r\n\x1a\n" + chunk(b"IHDR", head) + chunk(b"IDAT", zlib.compress(rows)) + chunk(b"IEND", b"")
    return base64.b64encode(file).decode()


def named(text, colour):
    holds(colour in text.lower(), f"the {colour} picture is called {text!r}")


def chat_messages(colour):
    return [{"role": "user", "content": [
        {"type": "image_url", "image_url": {"url": "data:image/png;base64," + picture(colour)}},
        {"type": "text", "text": QUESTION},
    ]}]


def chat_plain(client, model):
    for colour in COLOURS:
        reply = client.chat.completions.create(model=model, messages=chat_messages(colour), max_tokens=8, temperature=0)
        named(reply.choices[0].message.content, colour)


def chat_stream(client, model):
    for colour in COLOURS:
        chunks = client.chat.completions.create(
            model=model, messages=chat_messages(colour), max_tokens=8, temperature=0, stream=True)
        named("".join(c.choices[0].delta.content or "" for c in chunks), colour)


def chat_turns(client, model):
    messages = chat_messages("green")
    first = client.chat.completions.create(model=model, messages=messages, max_tokens=8, temperature=0)
    messages += [first.choices[0].message, {"role": "user", "content": "Say the colour again. One word."}]
    second = client.chat.completions.create(model=model, messages=messages, max_tokens=8, temperature=0)
    named(second.choices[0].message.content, "green")
    holds(second.usage.prompt_tokens_details.cached_tokens >= first.usage.prompt_tokens, "the picture is read again")


def responses_input(colour):
    return [{"role": "user", "content": [
        {"type": "input_image", "image_url": "data:image/png;base64," + picture(colour)},
        {"type": "input_text", "text": QUESTION},
    ]}]


def responses_plain(client, model):
    for colour in COLOURS:
        reply = client.responses.create(model=model, input=responses_input(colour), max_output_tokens=16, temperature=0)
        named(reply.output_text, colour)


def responses_stream(client, model):
    for colour in COLOURS:
        events = client.responses.create(
            model=model, input=responses_input(colour), max_output_tokens=16, temperature=0, stream=True)
        named("".join(e.delta for e in events if e.type == "response.output_text.delta"), colour)


def image_block(colour):
    return {"type": "image", "source": {"type": "base64", "media_type": "image/png", "data": picture(colour)}}


def messages_body(model, colour):
    content = [image_block(colour), {"type": "text", "text": QUESTION}]
    return {"model": model, "max_tokens": 8, "messages": [{"role": "user", "content": content}], "extra_body": {"temperature": 0}}


def messages_plain(client, model):
    for colour in COLOURS:
        body = messages_body(model, colour)
        reply = client.messages.create(**body)
        named(reply.content[0].text, colour)
        count = client.messages.count_tokens(model=model, messages=body["messages"])
        usage = reply.usage
        equal(count.input_tokens, usage.input_tokens + (usage.cache_read_input_tokens or 0), "input_tokens")


def messages_stream(client, model):
    for colour in COLOURS:
        with client.messages.stream(**messages_body(model, colour)) as events:
            named("".join(events.text_stream), colour)


def messages_tool_result(client, model):
    for colour in COLOURS:
        reply = client.messages.create(
            model=model, max_tokens=24, extra_body={"temperature": 0}, tool_choice={"type": "none"},
            tools=[{"name": "take_photo", "description": "Takes a picture.", "input_schema": {"type": "object"}}],
            messages=[
                {"role": "user", "content": "Take a picture, and say in one word which colour it has."},
                {"role": "assistant", "content": [{"type": "tool_use", "id": "toolu_1", "name": "take_photo", "input": {}}]},
                {"role": "user", "content": [{"type": "tool_result", "tool_use_id": "toolu_1", "content": [
                    {"type": "text", "text": "The colour of the picture is"}, image_block(colour)]}]},
            ])
        named(reply.content[0].text, colour)


OPENAI = [
    ("vision/plain", chat_plain),
    ("vision/stream", chat_stream),
    ("vision/turns", chat_turns),
    ("vision/responses", responses_plain),
    ("vision/responses-stream", responses_stream),
]
ANTHROPIC = [
    ("vision/plain", messages_plain),
    ("vision/stream", messages_stream),
    ("vision/tool-result", messages_tool_result),
]
