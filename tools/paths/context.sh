#!/usr/bin/env bash
# Create a model with a context of 2,048 tokens: 2,049 are context_length, in
# both styles, and no request can ask for more.
. "$(dirname "$0")/common.sh"

printf 'FROM %s\nPARAMETER num_ctx 2048\n' "$MODEL" >"$work/Modelfile"
diglot create short -f "$work/Modelfile"
diglot show short --modelfile | grep -q 'PARAMETER num_ctx 2048' || fail "show --modelfile: $(diglot show short --modelfile)"
serve

"$PYTHON" - "$base" <<'PY' || fail "the limit"
import json, sys, urllib.error, urllib.request

base = sys.argv[1]

def ask(path, **body):
    request = urllib.request.Request(base + path, json.dumps({"model": "short", **body}).encode(), {"Content-Type": "application/json"})
    try:
        return 200, json.load(urllib.request.urlopen(request))
    except urllib.error.HTTPError as e:
        return e.code, json.load(e)

def turn(words):
    return [{"role": "user", "content": "a" + " a" * (words - 1)}]

def count(words):
    return ask("/v1/messages/count_tokens", messages=turn(words))[1]["input_tokens"]

def holds(what, said):
    if not what:
        sys.exit(f"{said}")

# One more word is one more token, so the word count of any length is known.
frame = count(1) - 1
holds(count(10) == frame + 10, "a word is not a token")
too_long, longest = turn(2049 - frame), turn(2047 - frame)
status, reply = ask("/v1/chat/completions", messages=too_long, max_tokens=1)
holds(status == 400 and reply["error"]["code"] == "context_length_exceeded", f"chat: {status} {reply}")
holds("2049" in reply["error"]["message"] and "2048" in reply["error"]["message"], f"both numbers: {reply}")
status, reply = ask("/v1/messages", messages=too_long, max_tokens=1)
holds(status == 400 and reply["error"]["message"].startswith("prompt is too long: 2049 tokens > 2048"), f"messages: {status} {reply}")
status, reply = ask("/v1/chat/completions", messages=longest, max_tokens=8, options={"num_ctx": 8192}, num_ctx=8192)
holds(status == 200 and reply["usage"]["total_tokens"] <= 2048, f"the longest prompt: {status} {reply}")
PY
diglot ps | grep -q 2048 || fail "ps does not show the context: $(diglot ps)"
echo ok
