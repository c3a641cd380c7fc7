package conformance

import "sync"

// Once asks a question about the server once for all scenarios, such as whether it takes a
// field. It is for any goroutine, and so ask ends no run.
func (t *Target) Once(question string, ask func() bool) bool {
	answer, _ := t.asked.LoadOrStore(question, sync.OnceValue(ask))
	return answer.(func() bool)()
}
