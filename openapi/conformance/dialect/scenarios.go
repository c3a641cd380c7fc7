package dialect

import "github.com/diglot/diglot/openapi/conformance"

// Each makes a scenario for each dialect that can; a nil can stands for all of them.
func Each(promise, about string, can func(Dialect) bool, run func(*conformance.Trial, Dialect)) []conformance.Scenario {
	var all []conformance.Scenario
	for _, d := range All() {
		if can == nil || can(d) {
			all = append(all, d.Scenario(promise, about, run))
		}
	}
	return all
}

// Scenario makes a scenario for one dialect.
func (d Dialect) Scenario(promise, about string, run func(*conformance.Trial, Dialect)) conformance.Scenario {
	return conformance.Scenario{
		Name:      string(d.Style) + "/" + d.Name + "/" + promise,
		About:     about,
		Operation: d.Operation,
		Needs:     conformance.NeedText,
		Run:       func(t *conformance.Trial) { run(t, d) },
	}
}

// Closed is the JSON Schema of an object that has no other members.
func Closed(members map[string]any, required ...string) map[string]any {
	return map[string]any{"type": "object", "properties": members, "required": required, "additionalProperties": false}
}
