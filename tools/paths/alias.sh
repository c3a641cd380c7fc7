#!/usr/bin/env bash
# Copy a model to a name that clients expect, and ask it with both SDKs.
. "$(dirname "$0")/common.sh"

printf 'FROM %s\n' "$MODEL" >"$work/Modelfile"
diglot create small -f "$work/Modelfile"
serve
diglot cp small gpt-4o

"$PYTHON" - "$base" <<'PY' || fail "the SDKs"
import sys
from anthropic import Anthropic
from openai import OpenAI

base = sys.argv[1]
openai = OpenAI(base_url=base + "/v1", api_key="none")
turn = [{"role": "user", "content": "Say hello."}]

def equal(got, want, what):
    if got != want:
        sys.exit(f"{what}: {got!r}, want {want!r}")

equal([m.id for m in openai.models.list()], ["gpt-4o", "small"], "models")
equal(openai.models.retrieve("gpt-4o").owned_by, "library", "owned_by")
chat = openai.chat.completions.create(model="gpt-4o", max_tokens=8, messages=turn)
equal(chat.model, "gpt-4o", "model of a chat completion")
equal(openai.completions.create(model="gpt-4o", max_tokens=4, prompt="Hello").model, "gpt-4o", "model of a completion")
equal(openai.responses.create(model="gpt-4o", max_output_tokens=16, input="Say hello.").model, "gpt-4o", "model of a response")
equal(openai.embeddings.create(model="gpt-4o", input="Hello").model, "gpt-4o", "model of an embedding")
anthropic = Anthropic(base_url=base, api_key="none")
message = anthropic.messages.create(model="gpt-4o", max_tokens=8, messages=turn)
equal(message.model, "gpt-4o", "model of a message")
equal(message.usage.input_tokens, chat.usage.prompt_tokens, "tokens of the same prompt")
equal(anthropic.messages.count_tokens(model="gpt-4o", messages=turn).input_tokens, message.usage.input_tokens, "count_tokens")
PY
[ "$(diglot ps | tail -n +2 | wc -l)" = 1 ] || fail "aliases do not share a process: $(diglot ps)"
echo ok
