"""Completions, of a raw text, through the openai package.

What the model says is in cassettes/script.yaml; here stands what the SDK made
of it.
"""

import json

import openai

from harness import equal, holds, raised

STORY = "Once upon a time"


def plain(client, model):
    reply = client.completions.create(model=model, prompt=STORY)
    choice = reply.choices[0]
    equal((choice.text, choice.finish_reason, choice.index), (" there was a server.", "stop", 0), "choice")
    equal((reply.object, reply.model), ("text_completion", model), "object, model")
    equal(choice.logprobs, None, "logprobs")
    # Words of the prompt, for a script: no template is put around them.
    equal((reply.usage.prompt_tokens, reply.usage.completion_tokens, reply.usage.total_tokens), (4, 4, 8), "usage")


def explicit_nulls(client, model):
    reply = client.completions.create(
        model=model, prompt=STORY, best_of=None, echo=None, frequency_penalty=None, logit_bias=None, logprobs=None,
        max_tokens=None, n=None, presence_penalty=None, seed=None, stop=None, stream=None, suffix=None,
        temperature=None, top_p=None)
    equal(reply.choices[0].text, " there was a server.", "text")


def sampling(client, model):
    reply = client.completions.create(
        model=model, prompt=[STORY], temperature=0, top_p=0.5, seed=0, frequency_penalty=0.5, presence_penalty=-0.5,
        logit_bias={"1": -100}, max_tokens=100, user="someone")
    equal(reply.choices[0].text, " there was a server.", "text")


def stream(client, model):
    chunks = list(client.completions.create(model=model, prompt=STORY, stream=True))
    equal("".join(c.choices[0].text for c in chunks), " there was a server.", "text")
    equal([c.choices[0].finish_reason for c in chunks if c.choices[0].finish_reason], ["stop"], "finish reasons")
    equal({c.object for c in chunks}, {"text_completion"}, "objects")
    equal(len({c.id for c in chunks}), 1, "ids")


def usage_chunk(client, model):
    chunks = list(client.completions.create(
        model=model, prompt=STORY, stream=True, stream_options={"include_usage": True}))
    equal(chunks[-1].choices, [], "choices of the last chunk")
    equal(chunks[-1].usage.completion_tokens, 4, "completion_tokens")


def split_characters(client, model):
    chunks = client.completions.create(model=model, prompt="Greet me in pieces", stream=True)
    equal("".join(c.choices[0].text for c in chunks), "Grüße 🙂!", "text")


def echo(client, model):
    reply = client.completions.create(model=model, prompt=STORY, echo=True)
    equal(reply.choices[0].text, STORY + " there was a server.", "text")


def logprobs(client, model):
    reply = client.completions.create(model=model, prompt="Please count to five", logprobs=2)
    found = reply.choices[0].logprobs
    equal(found.tokens, ["one", " two", " three", " four", " five"], "tokens")
    equal(found.text_offset, [0, 3, 7, 13, 18], "text_offset")
    equal([len(t) for t in found.top_logprobs], [2] * 5, "alternatives")
    holds(all(p <= 0 for p in found.token_logprobs), "a logprob is above 0")


def echo_logprobs(client, model):
    reply = client.completions.create(model=model, prompt=STORY, echo=True, logprobs=1, max_tokens=0)
    choice = reply.choices[0]
    equal(choice.text, STORY, "text")
    equal("".join(choice.logprobs.tokens), STORY, "tokens")
    equal(choice.logprobs.token_logprobs[0], None, "log probability of the first token, before which nothing stands")


def suffix(client, model):
    reply = client.completions.create(model=model, prompt="def add(a, b): return ", suffix="  # the sum")
    equal(reply.choices[0].text, "a + b", "text")


def best_of(client, model):
    reply = client.completions.create(model=model, prompt=STORY, best_of=3, n=2)
    equal([c.index for c in reply.choices], [0, 1], "indexes")
    equal(reply.usage.completion_tokens, 12, "completion_tokens")


def stop(client, model):
    reply = client.completions.create(model=model, prompt="Please count to five", stop=["ee f", "nowhere"])
    equal((reply.choices[0].text, reply.choices[0].finish_reason), ("one two thr", "stop"), "choice")


def length(client, model):
    reply = client.completions.create(model=model, prompt="Please count to five", max_tokens=2)
    equal((reply.choices[0].text, reply.choices[0].finish_reason), ("one two", "length"), "choice")


def json_mode(client, model):
    reply = client.completions.create(
        model=model, prompt="The weather as JSON", extra_body={"response_format": {"type": "json_object"}})
    equal(json.loads(reply.choices[0].text), {"city": "Paris", "degrees": 18}, "text")


def suffix_without_fim(client, model):
    error = raised(openai.BadRequestError, lambda: client.completions.create(
        model="lib/sub:tag", prompt="def add(a, b): return ", suffix="  # the sum"))
    equal(error.param, "suffix", "param")


def best_of_stream(client, model):
    error = raised(openai.BadRequestError, lambda: client.completions.create(
        model=model, prompt=STORY, best_of=3, stream=True))
    equal(error.param, "best_of", "param")


def tokens(client, model):
    error = raised(openai.BadRequestError, lambda: client.completions.create(model=model, prompt=[1, 2, 3]))
    holds(error.param.startswith("prompt"), f"param is {error.param}")


def bad_logprobs(client, model):
    error = raised(openai.BadRequestError, lambda: client.completions.create(model=model, prompt=STORY, logprobs=6))
    equal(error.param, "logprobs", "param")


def unknown_model(client, model):
    error = raised(openai.NotFoundError, lambda: client.completions.create(model="nosuch", prompt=STORY))
    equal(error.code, "model_not_found", "code")


def too_long(client, model):
    error = raised(openai.BadRequestError, lambda: client.completions.create(model="tiny", prompt="a word " * 50))
    equal(error.code, "context_length_exceeded", "code")


def crash_stream(client, model):
    text = []

    def read():
        for chunk in client.completions.create(model=model, prompt="Please break down", stream=True):
            text.append(chunk.choices[0].text)

    error = raised(openai.APIError, read)
    equal("".join(text), "Hello", "text before the crash")
    equal(error.type, "server_error", "type")


CASES = [
    ("completions/plain", plain),
    ("completions/explicit-nulls", explicit_nulls),
    ("completions/sampling", sampling),
    ("completions/stream", stream),
    ("completions/usage-chunk", usage_chunk),
    ("completions/split-characters", split_characters),
    ("completions/echo", echo),
    ("completions/logprobs", logprobs),
    ("completions/echo-logprobs", echo_logprobs),
    ("completions/suffix", suffix),
    ("completions/best-of", best_of),
    ("completions/stop", stop),
    ("completions/length", length),
    ("completions/json-mode", json_mode),
    ("completions/suffix-without-fim", suffix_without_fim),
    ("completions/best-of-stream", best_of_stream),
    ("completions/tokens", tokens),
    ("completions/bad-logprobs", bad_logprobs),
    ("completions/unknown-model", unknown_model),
    ("completions/too-long", too_long),
    ("completions/crash-stream", crash_stream, {"max_retries": 0}),
]
