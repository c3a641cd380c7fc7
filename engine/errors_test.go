package engine_test

import (
	"context"
	"errors"
	"fmt"
	"io"
	"strings"
	"testing"
	"unicode/utf8"

	"github.com/diglot/diglot/engine"
)

func TestAsError(t *testing.T) {
	coded := engine.Errorf(engine.CodeContextLength, "too long")
	tests := []struct {
		name    string
		err     error
		code    engine.Code
		message string
	}{
		{"coded", coded, engine.CodeContextLength, "too long"},
		{"coded, wrapped", fmt.Errorf("load: %w", coded), engine.CodeContextLength, "too long"},
		{"canceled", context.Canceled, engine.CodeCanceled, "The request was canceled."},
		{"deadline, wrapped", fmt.Errorf("read: %w", context.DeadlineExceeded), engine.CodeDeadline, "The request took too long."},
		{"anything else keeps its text to the log", io.ErrUnexpectedEOF, engine.CodeInternal, "Internal error."},
	}
	for _, tt := range tests {
		t.Run(tt.name, func(t *testing.T) {
			got := engine.AsError(tt.err)
			if got.Code != tt.code || got.Message != tt.message {
				t.Errorf("AsError = %s %q, want %s %q", got.Code, got.Message, tt.code, tt.message)
			}
			if !errors.Is(got, tt.err) && !errors.Is(tt.err, got) {
				t.Errorf("AsError lost the cause of %v", tt.err)
			}
		})
	}
	if engine.AsError(nil) != nil {
		t.Error("AsError(nil) is not nil")
	}
}

func TestErrorfCuts(t *testing.T) {
	for _, name := range []string{strings.Repeat("a", 1<<20), strings.Repeat("ä", 1<<20)} {
		got := engine.Errorf(engine.CodeModelNotFound, "No %s.", name).Message
		if len(got) > 1010 || !utf8.ValidString(got) || !strings.HasSuffix(got, "…") {
			t.Errorf("a message of %d bytes, ending with %q", len(got), got[len(got)-10:])
		}
	}
}
