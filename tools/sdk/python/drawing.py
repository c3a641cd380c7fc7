"""The openai package against the real image engine, over a miniature model; see
tools/miniature. Its images are noise, but always the same noise.
"""

import base64
import os
import struct

import openai

from harness import equal, holds, raised

FOUR = dict(size="64x64", quality="low", extra_body={"seed": 7})


def draw(client, model, prompt="a red house", **options):
    return client.images.generate(model=model, prompt=prompt, **(FOUR | options))


def size_of(data):
    file = base64.b64decode(data.b64_json)
    equal(file[:8], b"\x89PNG\r\n\x1a\n", "first bytes")
    return "%dx%d" % struct.unpack(">II", file[16:24])


def repeats(client, model):
    first, = draw(client, model).data
    equal(draw(client, model).data[0].b64_json, first.b64_json, "the second image")
    holds(draw(client, model, extra_body={"seed": 8}).data[0].b64_json != first.b64_json, "another seed has the same image")
    holds(draw(client, model, prompt="a blue house").data[0].b64_json != first.b64_json, "another prompt has the same image")
    with open(os.path.join(os.environ["SDK_IMAGES"], "python.png"), "wb") as file:
        file.write(base64.b64decode(first.b64_json))


def three(client, model):
    images = draw(client, model, n=3).data
    equal(len({d.b64_json for d in images}), 3, "different images")
    equal(draw(client, model, extra_body={"seed": 9}).data[0].b64_json, images[2].b64_json, "the image of the third seed")


def sizes(client, model):
    for size in ("64x64", "96x128", "2048x64", "64x2048"):
        reply = draw(client, model, size=size)
        equal([size_of(d) for d in reply.data], [size], "size of the file")
        equal((reply.size, reply.quality, reply.output_format, reply.background), (size, "low", "png", "opaque"), "reply")


def jpeg(client, model):
    reply = draw(client, model, output_format="jpeg", output_compression=90)
    equal(base64.b64decode(reply.data[0].b64_json)[:3], b"\xff\xd8\xff", "first bytes")
    equal(reply.output_format, "jpeg", "output_format")


def streamed(client, model):
    whole, = draw(client, model).data
    events = list(draw(client, model, stream=True, partial_images=3))
    equal([e.type for e in events], ["image_generation.partial_image", "image_generation.completed"], "events of two steps")
    equal({size_of(e) for e in events}, {"64x64"}, "sizes")
    equal(events[-1].b64_json, whole.b64_json, "the streamed image")


def refused(client, model):
    for param, options in (
        ("size", {"size": "65x64"}), ("size", {"size": "48x64"}), ("size", {"size": "64x2064"}), ("size", {"size": "large"}),
        ("n", {"n": 0}), ("n", {"n": 11}),
        ("output_format", {"output_format": "webp"}), ("background", {"background": "transparent"}),
        ("response_format", {"response_format": "url"}), ("quality", {"quality": "best"}),
        ("partial_images", {"partial_images": 4, "stream": True}),
    ):
        error = raised(openai.BadRequestError, lambda: draw(client, model, **options))
        equal(error.param, param, "param")


OPENAI = [
    ("drawing/repeats", repeats),
    ("drawing/three", three),
    ("drawing/sizes", sizes),
    ("drawing/jpeg", jpeg),
    ("drawing/stream", streamed),
    ("drawing/refused", refused),
]
