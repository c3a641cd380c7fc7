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
    ("images/by-address", by_address),
    ("images/bad-size", bad_size),
    ("images/bad-number", bad_number),
    ("images/unknown-model", unknown_model),
]
