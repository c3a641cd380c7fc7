"""Images through the openai package, of the model `painter` in
cassettes/script.yaml, which draws a card with the prompt on it.
"""

import base64
import struct

import openai

from harness import equal, holds, raised


def size_of(png):
    """Width and height, as a PNG's first chunk has them."""
    data = base64.b64decode(png)
    equal(data[:8], b"\x89PNG\r\n\x1a\n", "first bytes")
    return struct.unpack(">II", data[16:24])


def plain(client, model):
    # Without response_format: base64 is meant.
    reply = client.images.generate(model="painter", prompt="a green hill", size="256x128")
    one, = reply.data
    equal(size_of(one.b64_json), (256, 128), "size")
    holds(reply.created > 0, "created is missing")


def many(client, model):
    reply = client.images.generate(
        model="painter", prompt="a green hill", n=2, size="128x128", response_format="b64_json", quality="standard",
        style="vivid", user="someone")
    equal([size_of(d.b64_json) for d in reply.data], [(128, 128)] * 2, "sizes")
    holds(reply.data[0].b64_json != reply.data[1].b64_json, "two images are the same")


def described(client, model):
    # A JPEG file, and a reply that says what it is.
    reply = client.images.generate(
        model="painter", prompt="a green hill", size="64x32", output_format="jpeg", output_compression=80, quality="high")
    data = base64.b64decode(reply.data[0].b64_json)
    equal(data[:3], b"\xff\xd8\xff", "first bytes")
    equal((reply.output_format, reply.size, reply.quality, reply.background), ("jpeg", "64x32", "high", "opaque"), "reply")
    equal(reply.usage, None, "usage")


def streamed(client, model):
    events = list(client.images.generate(
        model="painter", prompt="a green hill", size="64x32", n=2, stream=True, partial_images=2))
    kinds = [(e.type, getattr(e, "partial_image_index", None)) for e in events]
    each = [("image_generation.partial_image", 0), ("image_generation.partial_image", 1), ("image_generation.completed", None)]
    equal(kinds, each * 2, "events")
    equal([size_of(e.b64_json) for e in events], [(64, 32)] * 6, "sizes")
    equal({(e.size, e.output_format, e.background) for e in events}, {("64x32", "png", "opaque")}, "descriptions")
    holds(len({e.b64_json for e in events}) == 6, "two images are the same")


def streamed_error(client, model):
    error = raised(openai.BadRequestError, lambda: client.images.generate(
        model="painter", prompt="a green hill", size="1x1", stream=True))
    equal(error.param, "size", "param")


def by_address(client, model):
    error = raised(openai.BadRequestError, lambda: client.images.generate(
        model="painter", prompt="a green hill", response_format="url"))
    equal(error.param, "response_format", "param")


def bad_size(client, model):
    error = raised(openai.BadRequestError, lambda: client.images.generate(
        model="painter", prompt="a green hill", size="100000x100000"))
    equal(error.param, "size", "param")


def bad_number(client, model):
    error = raised(openai.BadRequestError, lambda: client.images.generate(model="painter", prompt="a green hill", n=11))
    equal(error.param, "n", "param")


def unknown_model(client, model):
    error = raised(openai.NotFoundError, lambda: client.images.generate(model="nosuch", prompt="a green hill"))
    equal(error.code, "model_not_found", "code")


CASES = [
    ("images/plain", plain),
    ("images/many", many),
    ("images/described", described),
    ("images/stream", streamed),
    ("images/stream-error", streamed_error),
    ("images/by-address", by_address),
    ("images/bad-size", bad_size),
    ("images/bad-number", bad_number),
    ("images/unknown-model", unknown_model),
]
