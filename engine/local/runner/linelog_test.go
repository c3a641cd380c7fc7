package runner

import (
	"log/slog"
	"strings"
	"testing"
	"testing/synctest"
	"time"
)

// TestTalkativeProcess: a process cannot fill the disk through the log.
func TestTalkativeProcess(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		log := &logBuffer{}
		l := &lineLog{log: slog.New(slog.NewTextHandler(log, nil))}
		say := func(line string, times int) int {
			before := len(log.String())
			for range times {
				if n, err := l.Write([]byte(line)); n != len(line) || err != nil {
					t.Fatalf("wrote %d of %d bytes, error %v", n, len(line), err)
				}
			}
			return len(log.String()) - before
		}
		for _, line := range []string{"x\n", strings.Repeat("x", 4000) + "\n"} {
			time.Sleep(2 * time.Minute)
			if said := say(line, 20_000); said > 2*maxLogged {
				t.Errorf("lines of %d bytes: %d bytes of log in no time", len(line), said)
			}
			if said := say(line, 1000); said != 0 {
				t.Errorf("lines of %d bytes: %d bytes of log beyond the bound", len(line), said)
			}
			time.Sleep(time.Minute)
			if said := say("again\n", 1); said == 0 {
				t.Error("nothing is logged in the next minute")
			}
			if !strings.Contains(log.String(), "dropped output") {
				t.Errorf("the log does not say how much was dropped: %s", log)
			}
		}
	})
}
