"""Messages and models through the anthropic package.

What the model says is in cassettes/script.yaml; here stands what the SDK made
of it.
"""

import anthropic
from anthropic import beta_tool
from pydantic import BaseModel

import vision
from harness import equal, holds, raised

WEATHER = {
    "name": "get_weather",
    "description": "The weather in a city, now.",
    "input_schema": {
        "type": "object",
        "properties": {"city": {"type": "string", "description": "Name of the city"}},
        "required": ["city"],
    },
}


class Weather(BaseModel):
    city: str
    degrees: int


def user(text):
    return [{"role": "user", "content": text}]


def ask(client, model, text, **more):
    return client.messages.create(**{"model": model, "max_tokens": 100, "messages": user(text), **more})


def plain(client, model):
    reply = ask(client, model, "Hello")
    equal([(b.type, b.text) for b in reply.content], [("text", "Hello there!")], "content")
    equal((reply.type, reply.role, reply.model), ("message", "assistant", model), "type, role, model")
    equal((reply.stop_reason, reply.stop_sequence), ("end_turn", None), "stop_reason, stop_sequence")
    equal(reply.usage.output_tokens, 4, "output_tokens")
    holds(reply.usage.input_tokens > 0, "no input_tokens")
    holds(reply._request_id, "request-id is missing")


def system_blocks(client, model):
    cached = {"type": "ephemeral"}
    reply = client.messages.create(
        model=model, max_tokens=100, metadata={"user_id": "someone"},
        system=[{"type": "text", "text": "Be brief."}, {"type": "text", "text": "Be kind.", "cache_control": cached}],
        messages=[
            {"role": "user", "content": [{"type": "text", "text": "Hel"}, {"type": "text", "text": "lo", "cache_control": cached}]},
            {"role": "assistant", "content": "Yes?"},
            {"role": "system", "content": "Still brief."},
            {"role": "user", "content": "Hello again"},
        ])
    equal(reply.content[0].text, "Hello there!", "text")
    equal(reply.usage.cache_read_input_tokens or 0, 0, "cache_read_input_tokens")


def sampling(client, model):
    reply = ask(client, model, "Hello", system="Be brief.",
                extra_body={"temperature": 0, "top_p": 0.5, "top_k": 1})
    equal(reply.content[0].text, "Hello there!", "text")


def stream(client, model):
    events = list(ask(client, model, "Hello", stream=True))
    equal(events[0].type, "message_start", "first event")
    equal((events[0].message.content, events[0].message.usage.output_tokens), ([], 0), "start")
    text = "".join(e.delta.text for e in events if e.type == "content_block_delta")
    equal(text, "Hello there!", "text")
    equal([e.type for e in events[-2:]], ["message_delta", "message_stop"], "last events")
    equal(events[-2].delta.stop_reason, "end_turn", "stop_reason")
    equal(events[-2].usage.output_tokens, 4, "output_tokens")


def stream_helper(client, model):
    with client.messages.stream(model=model, max_tokens=100, messages=user("Hello")) as events:
        text = "".join(events.text_stream)
        final = events.get_final_message()
    equal(text, "Hello there!", "text_stream")
    equal(final.content[0].text, "Hello there!", "final message")
    equal((final.stop_reason, final.usage.output_tokens), ("end_turn", 4), "stop_reason, output_tokens")


def split_characters(client, model):
    with client.messages.stream(model=model, max_tokens=100, messages=user("Greet me in pieces")) as events:
        equal("".join(events.text_stream), "Grüße 🙂!", "text")


def called(reply):
    return [(b.name, b.input) for b in reply.content if b.type == "tool_use"]


def tools_auto(client, model):
    reply = ask(client, model, "What is the weather in Paris?", tools=[WEATHER])
    equal(called(reply), [("get_weather", {"city": "Paris"})], "calls")
    equal(reply.stop_reason, "tool_use", "stop_reason")
    holds(reply.content[-1].id, "the call has no id")


def tools_any(client, model):
    reply = ask(client, model, "What is the weather in Paris?", tools=[WEATHER], tool_choice={"type": "any"})
    equal(called(reply), [("get_weather", {"city": "Paris"})], "calls")


def tools_named(client, model):
    reply = ask(client, model, "What is the weather in Paris?", tools=[WEATHER],
                tool_choice={"type": "tool", "name": "get_weather", "disable_parallel_tool_use": True})
    equal(called(reply), [("get_weather", {"city": "Paris"})], "calls")


def tools_none(client, model):
    reply = ask(client, model, "Hello", tools=[WEATHER], tool_choice={"type": "none"})
    equal(reply.content[0].text, "Hello there!", "text")


def two_calls(client, model):
    reply = ask(client, model, "What is the weather in Paris and Rome?", tools=[WEATHER])
    equal([i["city"] for _, i in called(reply)], ["Paris", "Rome"], "cities")


def tools_stream(client, model):
    with client.messages.stream(model=model, max_tokens=100, tools=[WEATHER],
                                messages=user("What is the weather in Paris and Rome?")) as events:
        pieces = [e.partial_json for e in events if e.type == "input_json"]
        final = events.get_final_message()
    equal([i["city"] for _, i in called(final)], ["Paris", "Rome"], "cities")
    equal(final.stop_reason, "tool_use", "stop_reason")
    holds(len(pieces) > 2, "the arguments came whole")


def tool_loop(client, model):
    messages = user("What is the weather in Paris?")
    reply = ask(client, model, "", messages=messages, tools=[WEATHER])
    messages += [
        {"role": "assistant", "content": reply.content},
        {"role": "user", "content": [
            {"type": "tool_result", "tool_use_id": reply.content[-1].id, "content": [{"type": "text", "text": "18 degrees"}]},
        ]},
    ]
    reply = ask(client, model, "", messages=messages, tools=[WEATHER])
    equal(reply.content[0].text, "It is 18 degrees in Paris.", "text")


def failed_tool(client, model):
    reply = ask(client, model, "", tools=[WEATHER], messages=user("What is the weather in Paris?") + [
        {"role": "assistant", "content": [{"type": "tool_use", "id": "toolu_1", "name": "get_weather", "input": {"city": "Paris"}}]},
        {"role": "user", "content": [
            {"type": "tool_result", "tool_use_id": "toolu_1", "content": "no such city", "is_error": True},
            {"type": "text", "text": "Hello"},
        ]},
    ])
    equal(reply.content[0].text, "Hello there!", "text")


@beta_tool
def get_weather(city: str) -> str:
    """The weather in a city, now.

    Args:
        city: Name of the city
    """
    return "18 degrees"


def tool_runner(client, model):
    # The runner first asks for a thread, is refused in the way it knows, and
    # sends the whole history from then on.
    runner = client.beta.messages.tool_runner(
        model=model, max_tokens=100, tools=[get_weather], messages=user("What is the weather in Paris?"))
    final = runner.until_done()
    equal(final.content[0].text, "It is 18 degrees in Paris.", "text")


def tool_runner_without_thread(client, model):
    runner = client.beta.messages.tool_runner(
        model=model, max_tokens=100, tools=[get_weather], messages=user("What is the weather in Paris?"), thread=False)
    replies = list(runner)
    equal([r.stop_reason for r in replies], ["tool_use", "end_turn"], "stop reasons")


def tool_runner_stream(client, model):
    runner = client.beta.messages.tool_runner(
        model=model, max_tokens=100, tools=[get_weather], messages=user("What is the weather in Paris?"), stream=True)
    texts = [s.get_final_message().content[0] for s in runner]
    equal(texts[-1].text, "It is 18 degrees in Paris.", "text")


def parse(client, model):
    reply = client.messages.parse(
        model=model, max_tokens=100, messages=user("The weather as JSON"), output_format=Weather)
    equal(reply.parsed_output, Weather(city="Paris", degrees=18), "parsed_output")


def parse_stream(client, model):
    with client.messages.stream(
            model=model, max_tokens=100, messages=user("The weather as JSON"), output_format=Weather) as events:
        final = events.get_final_message()
    equal(final.parsed_output, Weather(city="Paris", degrees=18), "parsed_output")


def stop(client, model):
    reply = ask(client, model, "Please count to five", stop_sequences=["ee f"])
    equal(reply.content[0].text, "one two thr", "text")
    equal((reply.stop_reason, reply.stop_sequence), ("stop_sequence", "ee f"), "stop_reason, stop_sequence")


def length(client, model):
    reply = ask(client, model, "Please count to five", max_tokens=2)
    equal((reply.content[0].text, reply.stop_reason), ("one two", "max_tokens"), "text, stop_reason")


def thinking(client, model):
    reply = client.messages.create(
        model=model, max_tokens=2000, messages=user("Please think first"),
        thinking={"type": "enabled", "budget_tokens": 1024})
    first, second = reply.content
    equal((first.type, first.thinking.strip()), ("thinking", "Two and two make four."), "thinking")
    holds(isinstance(first.signature, str), "the signature is not a string")
    equal((second.type, second.text.strip()), ("text", "It is four."), "text")


def thinking_stream(client, model):
    with client.messages.stream(
            model=model, max_tokens=2000, messages=user("Please think first"),
            thinking={"type": "adaptive"}) as events:
        thoughts = "".join(e.thinking for e in events if e.type == "thinking")
        final = events.get_final_message()
    equal(thoughts.strip(), "Two and two make four.", "thinking")
    equal([b.type for b in final.content], ["thinking", "text"], "blocks")


def thinking_sent_back(client, model):
    reply = ask(client, model, "", messages=user("What is two and two?") + [
        {"role": "assistant", "content": [
            {"type": "thinking", "thinking": "Easy.", "signature": ""}, {"type": "text", "text": "Four."}]},
        {"role": "user", "content": "Hello"}])
    equal(reply.content[0].text, "Hello there!", "text")


def unknown_model(client, model):
    error = raised(anthropic.NotFoundError, lambda: ask(client, "nosuch", "Hello"))
    equal(error.body["error"]["type"], "not_found_error", "type")
    holds("nosuch" in str(error), f"the message does not name the model: {error}")
    holds(error.request_id, "the error has no request id")


def bad_request(client, **body):
    error = raised(anthropic.BadRequestError, lambda: client.messages.create(**body))
    equal(error.body["type"], "error", "type of the body")
    equal(error.body["error"]["type"], "invalid_request_error", "type")
    return error.body["error"]["message"]


def bad_temperature(client, model):
    message = bad_request(client, model=model, max_tokens=100, messages=user("Hello"), extra_body={"temperature": 3})
    holds("temperature" in message, f"the message does not name the field: {message}")


def bad_max_tokens(client, model):
    message = bad_request(client, model=model, max_tokens=0, messages=user("Hello"))
    holds("max_tokens" in message, f"the message does not name the field: {message}")


def bad_messages(client, model):
    message = bad_request(client, model=model, max_tokens=100, messages=[])
    holds("messages" in message, f"the message does not name the field: {message}")


def result_without_call(client, model):
    message = bad_request(client, model=model, max_tokens=100, messages=[{"role": "user", "content": [
        {"type": "tool_result", "tool_use_id": "toolu_nosuch", "content": "18 degrees"}]}])
    holds("tool_use_id" in message, f"the message does not name the field: {message}")


def refused_block(client, model):
    message = bad_request(client, model=model, max_tokens=100, messages=[{"role": "user", "content": [
        {"type": "document", "source": {"type": "text", "media_type": "text/plain", "data": "Hello"}}]}])
    holds("document" in message, f"the message does not name the block: {message}")


def image_without_vision(client, model):
    message = bad_request(client, model=model, max_tokens=100, messages=[{"role": "user", "content": [
        {"type": "image", "source": {"type": "base64", "media_type": "image/png", "data": "iVBORw0KGgo="}}]}])
    holds("image" in message.lower(), f"the message does not speak of images: {message}")


def too_long(client, model):
    message = bad_request(client, model="tiny", max_tokens=100, messages=user("a word " * 50))
    holds(message.startswith("prompt is too long: "), f"message is {message}")
    holds(message.endswith("> 16 maximum"), f"message is {message}")


def crash(client, model):
    error = raised(anthropic.InternalServerError, lambda: ask(client, model, "Please break down"))
    equal((error.status_code, error.body["error"]["type"]), (502, "api_error"), "status, type")


def crash_stream(client, model):
    text = []

    def read():
        for event in ask(client, model, "Please break down", stream=True):
            if event.type == "content_block_delta":
                text.append(event.delta.text)

    error = raised(anthropic.APIStatusError, read)
    equal("".join(text), "Hello", "text before the crash")
    equal(error.body["error"]["type"], "api_error", "type")


def models_list(client, model):
    names = [m.id for m in client.models.list()]
    holds({"scripted", "lib/sub:tag", "tiny"} <= set(names), f"models are {names}")


def models_retrieve(client, model):
    one = client.models.retrieve("lib/sub:tag")
    equal((one.id, one.type), ("lib/sub:tag", "model"), "id, type")
    holds(one.display_name and one.created_at.year >= 1970, "display_name or created_at is missing")


def models_unknown(client, model):
    error = raised(anthropic.NotFoundError, lambda: client.models.retrieve("nosuch"))
    equal(error.body["error"]["type"], "not_found_error", "type")


ONE_TRY = {"max_retries": 0}  # a crash is worth a retry, which is not the subject here

def image(client, model):
    body = vision.messages_body("seer", "red")
    reply = client.messages.create(**body)
    equal(reply.content[0].text, "It is red.", "text")
    counted = client.messages.count_tokens(model="seer", messages=body["messages"])
    equal(counted.input_tokens, reply.usage.input_tokens, "input_tokens")


def image_in_result(client, model):
    reply = client.messages.create(
        model="seer", max_tokens=100, tools=[WEATHER],
        messages=[
            {"role": "user", "content": "What colour has the sky in Paris?"},
            {"role": "assistant", "content": [{"type": "tool_use", "id": "toolu_1", "name": "get_weather", "input": {"city": "Paris"}}]},
            {"role": "user", "content": [{"type": "tool_result", "tool_use_id": "toolu_1", "content": [
                {"type": "text", "text": "What colour you see"}, vision.image_block("red")]}]},
        ])
    equal(reply.content[0].text, "It is red.", "text")


def bad_image(client, model):
    error = raised(anthropic.BadRequestError, lambda: client.messages.create(
        model="seer", max_tokens=100, messages=[{"role": "user", "content": [
            {"type": "image", "source": {"type": "base64", "media_type": "image/png", "data": "iVBORw0KGgo="}}]}]))
    holds("messages" in str(error), f"the error does not name the place: {error}")


def count(client, model):
    messages = [{"role": "user", "content": "Hello"}]
    counted = client.messages.count_tokens(model=model, messages=messages, system="Be brief.", tools=[WEATHER])
    used = client.messages.create(model=model, messages=messages, system="Be brief.", tools=[WEATHER], max_tokens=100)
    equal(counted.input_tokens, used.usage.input_tokens, "input_tokens")


def count_bad_messages(client, model):
    error = raised(anthropic.BadRequestError, lambda: client.messages.count_tokens(model=model, messages=[]))
    holds("messages" in str(error), f"the error does not name the place: {error}")


def count_unknown_model(client, model):
    error = raised(anthropic.NotFoundError, lambda: client.messages.count_tokens(
        model="nosuch", messages=[{"role": "user", "content": "Hello"}]))
    equal(error.body["error"]["type"], "not_found_error", "type")


def batches(client, model):
    error = raised(anthropic.NotFoundError, lambda: client.messages.batches.create(requests=[
        {"custom_id": "one", "params": {"model": model, "max_tokens": 100, "messages": [{"role": "user", "content": "Hello"}]}}]))
    equal(error.body["error"]["type"], "not_found_error", "type")


CASES = [
    ("messages/plain", plain),
    ("messages/system-blocks", system_blocks),
    ("messages/sampling", sampling),
    ("messages/stream", stream),
    ("messages/stream-helper", stream_helper),
    ("messages/split-characters", split_characters),
    ("messages/tools-auto", tools_auto),
    ("messages/tools-any", tools_any),
    ("messages/tools-named", tools_named),
    ("messages/tools-none", tools_none),
    ("messages/two-calls", two_calls),
    ("messages/tools-stream", tools_stream),
    ("messages/tool-loop", tool_loop),
    ("messages/failed-tool", failed_tool),
    ("messages/tool-runner", tool_runner),
    ("messages/tool-runner-without-thread", tool_runner_without_thread),
    ("messages/tool-runner-stream", tool_runner_stream),
    ("messages/parse", parse),
    ("messages/parse-stream", parse_stream),
    ("messages/stop", stop),
    ("messages/length", length),
    ("messages/thinking", thinking),
    ("messages/thinking-stream", thinking_stream),
    ("messages/thinking-sent-back", thinking_sent_back),
    ("messages/unknown-model", unknown_model),
    ("messages/bad-temperature", bad_temperature),
    ("messages/bad-max-tokens", bad_max_tokens),
    ("messages/bad-messages", bad_messages),
    ("messages/result-without-call", result_without_call),
    ("messages/refused-block", refused_block),
    ("messages/image-without-vision", image_without_vision),
    ("messages/too-long", too_long),
    ("messages/crash", crash, ONE_TRY),
    ("messages/crash-stream", crash_stream, ONE_TRY),
    ("messages/image", image),
    ("messages/image-in-result", image_in_result),
    ("messages/bad-image", bad_image),
    ("count_tokens/plain", count),
    ("count_tokens/bad-messages", count_bad_messages),
    ("count_tokens/unknown-model", count_unknown_model),
    ("messages/batches", batches),
    ("models/list", models_list),
    ("models/retrieve", models_retrieve),
    ("models/unknown", models_unknown),
]
