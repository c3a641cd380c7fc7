#!/usr/bin/env bash
# Pull a model and ask it, through both styles.
. "$(dirname "$0")/common.sh"

registry "$(free_port)"
printf 'FROM %s\nPARAMETER temperature 0\n' "$MODEL" >"$work/Modelfile"
diglot create "$host/test/small:135m" -f "$work/Modelfile"
diglot push "$host/test/small:135m"
diglot rm "$host/test/small:135m"
[ -z "$(diglot list | tail -n +2)" ] || fail "the model is still there after rm"

serve
diglot pull "$host/test/small:135m" || fail "pull"
diglot list | grep -q "$host/test/small:135m" || fail "list does not show the model"

answer=$(curl -sS "$base/v1/chat/completions" -H 'Content-Type: application/json' \
  -d '{"model":"'"$host"'/test/small:135m","max_tokens":8,"messages":[{"role":"user","content":"Say hello."}]}')
echo "$answer" | grep -q '"finish_reason"' || fail "chat completions: $answer"
answer=$(curl -sS "$base/v1/messages" -H 'Content-Type: application/json' \
  -d '{"model":"'"$host"'/test/small:135m","max_tokens":8,"messages":[{"role":"user","content":"Say hello."}]}')
echo "$answer" | grep -q '"stop_reason"' || fail "messages: $answer"

diglot ps | grep -q "$host/test/small:135m" || fail "ps does not show the model: $(diglot ps)"
answer=$(diglot run "$host/test/small:135m" "Say hello.") || fail "run: $answer"
[ -n "$answer" ] || fail "run printed nothing"
diglot stop "$host/test/small:135m"
for _ in $(seq 100); do # its process takes a moment to end
  left=$(diglot ps | tail -n +2)
  [ -n "$left" ] || break
  sleep 0.1
done
[ -z "$left" ] || fail "ps shows the model after stop: $left"
echo ok
