"""Embeddings through the openai package, of the model `embedder` in
cassettes/script.yaml, which has eight dimensions.
"""

import base64
import math
import struct

import openai

from harness import equal, holds, raised

TEXTS = ["one text", "another text"]


def norm(vector):
    return math.sqrt(sum(x * x for x in vector))


def plain(client, model):
    # The package asks for base64 and decodes it itself.
    reply = client.embeddings.create(model="embedder", input="one text")
    one, = reply.data
    equal((one.object, one.index, len(one.embedding)), ("embedding", 0, 8), "object, index, dimensions")
    holds(abs(norm(one.embedding) - 1) < 1e-4, f"the length is {norm(one.embedding)}")
    equal((reply.object, reply.model), ("list", "embedder"), "object, model")
    holds(reply.usage.prompt_tokens > 0, "no tokens are counted")
    equal(reply.usage.total_tokens, reply.usage.prompt_tokens, "total_tokens")


def many(client, model):
    reply = client.embeddings.create(model="embedder", input=TEXTS)
    equal([d.index for d in reply.data], [0, 1], "indexes")
    alone = client.embeddings.create(model="embedder", input=TEXTS[1])
    equal(reply.data[1].embedding, alone.data[0].embedding, "an embedding does not depend on its neighbours")


def encodings(client, model):
    numbers = client.embeddings.create(model="embedder", input="one text", encoding_format="float").data[0].embedding
    text = client.embeddings.create(model="embedder", input="one text", encoding_format="base64").data[0].embedding
    decoded = struct.unpack("<8f", base64.b64decode(text))
    holds(all(abs(a - b) < 1e-6 for a, b in zip(numbers, decoded)), f"{numbers} is not {decoded}")


def tokens(client, model):
    one = client.embeddings.create(model="embedder", input=[1, 2, 3])
    equal((len(one.data), one.usage.prompt_tokens), (1, 3), "entries, prompt_tokens")
    many = client.embeddings.create(model="embedder", input=[[1, 2, 3], [4]])
    equal((len(many.data), many.usage.prompt_tokens), (2, 4), "entries, prompt_tokens")
    equal(many.data[0].embedding, one.data[0].embedding, "embedding")


def dimensions(client, model):
    whole = client.embeddings.create(model="embedder", input="one text").data[0].embedding
    cut = client.embeddings.create(model="embedder", input="one text", dimensions=4).data[0].embedding
    equal(len(cut), 4, "dimensions")
    holds(abs(norm(cut) - 1) < 1e-4, f"the length is {norm(cut)}")
    holds(all(abs(c - w / norm(whole[:4])) < 1e-4 for c, w in zip(cut, whole)), f"{cut} is not the first of {whole}")


def bad_dimensions(client, model):
    error = raised(openai.BadRequestError, lambda: client.embeddings.create(
        model="embedder", input="one text", dimensions=9))
    equal(error.param, "dimensions", "param")
    holds("8" in error.message, f"the message does not name what the model has: {error.message}")


def bad_token(client, model):
    error = raised(openai.BadRequestError, lambda: client.embeddings.create(
        model="embedder", input=[[1], [2, 2_000_000_000]]))
    equal(error.param, "input[1]", "param")
    holds("Token 1 " in error.message, f"the message does not name the token: {error.message}")


def empty(client, model):
    error = raised(openai.BadRequestError, lambda: client.embeddings.create(model="embedder", input=[]))
    holds(error.param.startswith("input"), f"param is {error.param}")


def too_long(client, model):
    error = raised(openai.BadRequestError, lambda: client.embeddings.create(model="embedder", input="a word " * 50))
    holds("16" in error.message and "100" in error.message, f"the message lacks a number: {error.message}")


def chat_with_embedder(client, model):
    error = raised(openai.BadRequestError, lambda: client.chat.completions.create(
        model="embedder", messages=[{"role": "user", "content": "Hello"}]))
    equal(error.param, "model", "param")


def unknown_model(client, model):
    error = raised(openai.NotFoundError, lambda: client.embeddings.create(model="nosuch", input="one text"))
    equal(error.code, "model_not_found", "code")


def model_without(client, model):
    error = raised(openai.BadRequestError, lambda: client.embeddings.create(model="tiny", input="one text"))
    equal(error.param, "model", "param")


CASES = [
    ("embeddings/plain", plain),
    ("embeddings/many", many),
    ("embeddings/encodings", encodings),
    ("embeddings/tokens", tokens),
    ("embeddings/dimensions", dimensions),
    ("embeddings/bad-dimensions", bad_dimensions),
    ("embeddings/bad-token", bad_token),
    ("embeddings/empty", empty),
    ("embeddings/too-long", too_long),
    ("embeddings/chat-with-embedder", chat_with_embedder),
    ("embeddings/unknown-model", unknown_model),
    ("embeddings/model-without", model_without),
]
