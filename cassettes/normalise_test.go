package cassettes_test

import (
	"testing"

	"github.com/diglot/diglot/cassettes"
)

func TestNormaliser(t *testing.T) {
	var n cassettes.Normaliser
	for _, tt := range []struct {
		name, in, want string
		normalise      func(string) string
	}{
		{"ids are numbered by kind", `{"id":"chatcmpl-AB12AB12AB12AB12","tool":"call_X9X9X9X9X9X9X9X9"}`, `{"id":"chatcmpl-1","tool":"call_1"}`, n.Reply},
		{"an id keeps its number", `{"tool":"call_X9X9X9X9X9X9X9X9"}`, `{"tool":"call_1"}`, n.Reply},
		{"another id gets the next", `{"tool":"call_Y1Y1Y1Y1Y1Y1Y1Y1"}`, `{"tool":"call_2"}`, n.Reply},
		{"a key is no id", `{"call_id":"call_X9X9X9X9X9X9X9X9"}`, `{"call_id":"call_1"}`, n.Reply},
		{"times are zero", `{"created": 1795832545,"created_at":"2026-11-28T02:00:00Z"}`, `{"created": 0,"created_at":"1970-01-01T00:00:00Z"}`, n.Reply},
		{"times of responses are zero", `{"id":"resp_Z9Z9Z9Z9Z9Z9Z9Z9","created_at":1795832545,"completed_at": 1795832546}`, `{"id":"resp_1","created_at":0,"completed_at": 0}`, n.Reply},
		{"a request has the ids of replies", `{"tool_call_id":"call_Y1Y1Y1Y1Y1Y1Y1Y1"}`, `{"tool_call_id":"call_2"}`, n.Request},
		{"a client's own id stays", `{"tool_use_id":"toolu_mine"}`, `{"tool_use_id":"toolu_mine"}`, n.Request},
	} {
		if got := tt.normalise(tt.in); got != tt.want {
			t.Errorf("%s: got %s, want %s", tt.name, got, tt.want)
		}
	}
}
