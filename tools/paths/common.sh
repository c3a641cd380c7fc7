# What the paths share. A path is a script that does what a user does, from
# the first command to the answer, and fails where the user would be let down.
# It is given by its environment:
#
#   DIGLOT    the program
#   MODEL     a GGUF file of a small chat model
#   REGISTRY  the program of a container registry (distribution)
#   PYTHON    a Python that has the packages openai and anthropic
set -euo pipefail

work=$(mktemp -d)
export DIGLOT_MODELS=$work/models DIGLOT_SOCKET=$work/socket/diglot.sock HOME=$work
cleanup() {
  local pids
  pids=$(jobs -p)
  [ -z "$pids" ] || { kill $pids 2>/dev/null || true; wait $pids 2>/dev/null || true; }
  rm -rf "$work"
}
trap cleanup EXIT

fail() {
  echo "FAIL: $*" >&2
  for log in "$work"/*.log; do
    [ -f "$log" ] && { echo "--- $(basename "$log")"; cat "$log"; } >&2
  done
  exit 1
}

diglot() { "$DIGLOT" "$@"; }

# wait_for FILE PATTERN prints the first line of FILE with PATTERN, once there is one.
wait_for() {
  for _ in $(seq 300); do
    if grep -m1 -e "$2" "$1" 2>/dev/null; then return; fi
    sleep 0.1
  done
  fail "no line with $2 in $(basename "$1")"
}

# serve starts the server with these flags and sets base to its URL.
serve() {
  "$DIGLOT" serve --listen 127.0.0.1:0 --drain 0s "$@" >"$work/serve.log" 2>&1 &
  base=$(wait_for "$work/serve.log" 'listening on http' | sed 's/.*listening on //; s/[" ].*//')
}

# registry starts an empty registry and sets host to its address.
registry() {
  cat >"$work/registry.yml" <<YAML
version: 0.1
storage: {filesystem: {rootdirectory: $work/registry}}
http: {addr: "127.0.0.1:$1"}
YAML
  "$REGISTRY" serve "$work/registry.yml" >"$work/registry.log" 2>&1 &
  host=127.0.0.1:$1
  wait_for "$work/registry.log" "listening on" >/dev/null
}

# free_port prints a port that nothing listens on.
free_port() { "$PYTHON" -c 'import socket; s = socket.socket(); s.bind(("127.0.0.1", 0)); print(s.getsockname()[1])'; }
