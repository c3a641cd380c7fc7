package scenario

import (
	"fmt"
	"slices"
	"strings"
	"unicode/utf8"

	"github.com/diglot/diglot/openapi/conformance"
	"github.com/diglot/diglot/openapi/conformance/dialect"
)

// stops is where an answer ends because of a stop string. Each takes the strings from the
// text of a first greedy answer, so that the second must meet them.
func stops() []conformance.Scenario {
	return slices.Concat(
		dialect.Each("stop/inside-a-token", "A stop string inside a token ends the answer, and shows neither plain nor streamed.", canStop, stopping(insideToken)),
		dialect.Each("stop/across-tokens", "A stop string that two tokens share ends the answer, and no part of it shows, plain or streamed.", canStop, stopping(acrossTokens)),
		dialect.Each("stop/longer-than-a-token", "A stop string of several tokens ends the answer, and no part of it shows, plain or streamed.", canStop, stopping(severalTokens)),
		dialect.Each("stop/at-the-beginning", "A stop string with which the answer would begin leaves it empty.", canStop, stopping(atBeginning)),
		dialect.Each("stop/first-of-several", "Of several stop strings the first to appear ends the answer.", canStop, stopping(firstOfSeveral)),
		dialect.Each("stop/overlapping", "Stop strings that begin alike do not hide each other.", canStop, stopping(overlapping)),
		dialect.Each("stop/near-miss", "Text that only begins like a stop string stays whole.", canStop, stopping(nearMiss)),
		dialect.Each("stop/multibyte", "A stop string of multi-byte characters ends the answer between whole characters.", func(d dialect.Dialect) bool { return d.Stops && d.Schemas }, stopMultibyte),
		dialect.Each("stop/usage", "An answer that a stop string ends counts no more tokens than without it.", canStop, stopUsage),
		[]conformance.Scenario{
			dialect.Chat().Scenario("stop/string-form", "One stop string may come without a list.", stopAsString),
			dialect.Completions().Scenario("stop/string-form", "One stop string may come without a list.", stopAsString),
		},
	)
}

func canStop(d dialect.Dialect) bool { return d.Stops }

// cut chooses stop strings from the pieces of a stream and the text that they join to; none
// where the text has no place for them.
type cut func(pieces []string, text string) []string

// stopping asks once without and then with the stop strings, plain and streamed.
func stopping(choose cut) func(*conformance.Trial, dialect.Dialect) {
	return func(t *conformance.Trial, d dialect.Dialect) {
		r, _ := spoken(t, d)
		whole := d.Ask(t, streamed(r))
		stop := choose(whole.Deltas, whole.First().Text)
		if len(stop) == 0 {
			t.Skipf("the text %q has no place for such a stop string", whole.First().Text)
		}
		checkStop(t, d, r, whole, stop)
	}
}

// checkStop asks plain and streamed, and compares with the text that comes without stop strings.
func checkStop(t *conformance.Trial, d dialect.Dialect, r dialect.Request, whole *dialect.Answer, stop []string) {
	stopped, told := r, told(t, d)
	stopped.Stop = stop
	for _, request := range []dialect.Request{stopped, streamed(stopped)} {
		alike(t, known(t, d, r, whole), asking(t, d, request), func(want, got *dialect.Answer) string {
			return differentStop(want.First(), got.First(), stop, told)
		})
	}
}

func differentStop(whole, got dialect.One, stop []string, told bool) string {
	want, by := before(whole.Text, stop)
	switch {
	case got.Text != want:
		return fmt.Sprintf("with the stop strings %q the text is %q, want %q", stop, got.Text, want)
	case by == "" && got.Finish != whole.Finish:
		return fmt.Sprintf("no stop string appears, and the answer ends with %q", got.Finish)
	case by != "" && got.Finish == dialect.FinishString && got.StopText != by:
		return fmt.Sprintf("the stop string %q ends the answer, and %q is told", by, got.StopText)
	case by != "" && got.Finish != dialect.FinishString && (got.Finish != dialect.FinishStop || told):
		return fmt.Sprintf("the stop string %q ends the answer, and the reason is %q", by, got.Finish)
	}
	return ""
}

// told reports whether the dialect tells which stop string ended an answer, in the server's
// profile.
func told(t *conformance.Trial, d dialect.Dialect) bool {
	if d.Style != conformance.Anthropic {
		return false
	}
	o, ok := t.Document(d.Style).Operation(d.Operation)
	if !ok {
		return false
	}
	reply, err := o.Reply(200, "application/json")
	return err == nil && strings.Contains(string(reply.Narrow([]byte(`{"stop_sequence":"x"}`))), `"x"`)
}

// before is the text before the first stop string, and that string.
func before(text string, stop []string) (string, string) {
	end, by := len(text), ""
	for _, s := range stop {
		if i := strings.Index(text, s); i >= 0 && i < end {
			end, by = i, s
		}
	}
	return text[:end], by
}

// usable reports whether an API takes a text as a stop string: Anthropic's wants more than
// white space.
func usable(s string) bool { return strings.TrimSpace(s) != "" && utf8.ValidString(s) }

func insideToken(pieces []string, text string) []string {
	offset := 0
	for _, p := range pieces {
		if len(p) >= 4 && offset > 0 && usable(p[1:len(p)-1]) && strings.Index(text, p[1:len(p)-1]) == offset+1 {
			return []string{p[1 : len(p)-1]}
		}
		offset += len(p)
	}
	return nil
}

func acrossTokens(pieces []string, text string) []string {
	for i := 1; i+1 < len(pieces); i++ {
		a, b := pieces[i], pieces[i+1]
		if len(a) < 2 || len(b) < 2 {
			continue
		}
		s := a[len(a)-1:] + b[:2]
		if usable(s) && strings.Index(text, s) > 0 {
			return []string{s}
		}
	}
	return nil
}

func severalTokens(pieces []string, _ string) []string {
	if len(pieces) < 6 {
		return nil
	}
	if s := strings.Join(pieces[2:6], ""); usable(s) {
		return []string{s}
	}
	return nil
}

// atBeginning skips leading white space, which some templates leave to the model.
func atBeginning(_ []string, text string) []string {
	trimmed := strings.TrimLeft(text, " \n")
	if len(text)-len(trimmed) > 1 || len(trimmed) < 4 || !usable(trimmed[:2]) {
		return nil
	}
	return []string{text[:len(text)-len(trimmed)+2]}
}

func firstOfSeveral(_ []string, text string) []string {
	third := len(text) / 3
	if len(text) < 18 || !usable(text[third:third+3]) || !usable(text[2*third:2*third+3]) {
		return nil
	}
	return []string{"never there \u2603", text[2*third : 2*third+3], text[third : third+3]}
}

// overlapping is a string that never comes, begins as the text does, and goes further than
// one inside it that comes.
func overlapping(_ []string, text string) []string {
	at := len(text) / 3
	if len(text) < 18 || !usable(text[at:at+6]) || !usable(text[at+2:at+5]) {
		return nil
	}
	return []string{text[at:at+6] + "\u2603", text[at+2 : at+5]}
}

func nearMiss(_ []string, text string) []string {
	at := len(text) / 3
	if len(text) < 18 || !usable(text[at:at+6]) || !usable(text[len(text)-4:]) {
		return nil
	}
	return []string{text[at:at+6] + "\u2603", text[len(text)-4:] + "\u2603"}
}

func stopMultibyte(t *conformance.Trial, d dialect.Dialect) {
	const value = "日本語と🙂と한국어"
	r := say(t, value)
	whole := d.Ask(t, r)
	for _, stop := range []string{"語", "🙂", "と한"} {
		if !strings.Contains(whole.First().Text, stop) {
			t.Skipf("the model cannot be made to say %q", value)
		}
		checkStop(t, d, r, whole, []string{stop})
	}
}

func stopUsage(t *conformance.Trial, d dialect.Dialect) {
	r, _ := spoken(t, d)
	whole := d.Ask(t, streamed(r))
	stopped := r
	if stopped.Stop = firstOfSeveral(nil, whole.First().Text); stopped.Stop == nil {
		t.Skipf("the text %q has no place for a stop string", whole.First().Text)
	}
	for _, request := range []dialect.Request{stopped, streamed(stopped)} {
		alike(t, known(t, d, r, whole), asking(t, d, request), func(want, got *dialect.Answer) string {
			if n := got.Usage.Output; n < 1 || n > want.Usage.Output || got.Usage.Input != want.Usage.Input {
				return fmt.Sprintf("the stopped answer counts %d in and %d out, and the whole one %d and %d", got.Usage.Input, n, want.Usage.Input, want.Usage.Output)
			}
			return ""
		})
	}
}

func stopAsString(t *conformance.Trial, d dialect.Dialect) {
	r, whole := spoken(t, d)
	stop := firstOfSeveral(nil, whole.First().Text)
	if stop == nil {
		t.Skipf("the text %q has no place for a stop string", whole.First().Text)
	}
	stopped := r
	stopped.Extra = map[string]any{"stop": stop[2]}
	alike(t, known(t, d, r, whole), asking(t, d, stopped), func(want, got *dialect.Answer) string {
		return differentStop(want.First(), got.First(), stop[2:], false)
	})
}
