//go:build unix

package runner

import (
	"strings"
	"syscall"
	"testing"
	"time"
)

// TestStoppedProcessIsEnded has a process that does not even take requests.
// The request did not get there, so the next process answers it.
func TestStoppedProcessIsEnded(t *testing.T) {
	e, log := supervise(t, 50*time.Millisecond, puppetModel("m", "puppet"))
	stopped := pid(t, e)
	if err := syscall.Kill(stopped, syscall.SIGSTOP); err != nil {
		t.Fatal(err)
	}
	var status syscall.WaitStatus
	if _, err := syscall.Wait4(stopped, &status, syscall.WUNTRACED, nil); err != nil || !status.Stopped() {
		t.Fatalf("process %d: status %v, error %v", stopped, status, err)
	}
	if next := pid(t, e); next == stopped {
		t.Errorf("process %d answers while it is stopped", stopped)
	}
	if got := log.String(); !strings.Contains(got, "model process hangs") {
		t.Errorf("the log does not say so:\n%s", got)
	}
}
