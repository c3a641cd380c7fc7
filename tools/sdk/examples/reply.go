package main

import (
	"encoding/json/v2"
	"fmt"
	"maps"
	"regexp"
	"slices"
	"strings"
)

// sameReply compares a reply with a recorded one: a JSON value, or the frames of a stream.
func sameReply(got, want string) error {
	if strings.HasPrefix(strings.TrimSpace(want), "{") {
		return sameJSON(got, want)
	}
	gotLines, wantLines := strings.Split(strings.TrimSpace(got), "\n"), strings.Split(strings.TrimSpace(want), "\n")
	if len(gotLines) != len(wantLines) {
		return fmt.Errorf("the reply has %d lines, and the page shows %d:\n%s", len(gotLines), len(wantLines), got)
	}
	for i, line := range wantLines {
		data, ok := strings.CutPrefix(line, "data: {")
		if !ok {
			if gotLines[i] != line {
				return fmt.Errorf("line %d is %q, and the page shows %q", i+1, gotLines[i], line)
			}
			continue
		}
		if err := sameJSON(strings.TrimPrefix(gotLines[i], "data: "), "{"+data); err != nil {
			return fmt.Errorf("line %d: %w", i+1, err)
		}
	}
	return nil
}

func sameJSON(got, want string) error {
	var a, b any
	if err := json.Unmarshal([]byte(got), &a); err != nil {
		return fmt.Errorf("%w: %q", err, got)
	}
	if err := json.Unmarshal([]byte(want), &b); err != nil {
		return err
	}
	return same("", a, b)
}

var (
	// number is an id as recordings have it.
	number = regexp.MustCompile(`^(chatcmpl-|cmpl-|resp_|rs_|fc_|msg_|call_|toolu_|req_)\d+$`)
	times  = []string{"created", "created_at", "completed_at"}
)

// same compares values, apart from ids and times.
func same(path string, got, want any) error {
	switch want := want.(type) {
	case map[string]any:
		got, ok := got.(map[string]any)
		if !ok || !slices.Equal(slices.Sorted(maps.Keys(got)), slices.Sorted(maps.Keys(want))) {
			return fmt.Errorf("%s is %v, and the page shows %v", path, got, want)
		}
		for name, value := range want {
			if slices.Contains(times, name) && got[name] != nil {
				continue
			}
			if err := same(path+"."+name, got[name], value); err != nil {
				return err
			}
		}
		return nil
	case []any:
		got, ok := got.([]any)
		if !ok || len(got) != len(want) {
			return fmt.Errorf("%s is %v, and the page shows %v", path, got, want)
		}
		for i, value := range want {
			if err := same(fmt.Sprintf("%s[%d]", path, i), got[i], value); err != nil {
				return err
			}
		}
		return nil
	case string:
		text, ok := got.(string)
		if found := number.FindStringSubmatch(want); ok && found != nil && strings.HasPrefix(text, found[1]) {
			return nil
		}
	}
	if got != want {
		return fmt.Errorf("%s is %v, and the page shows %v", path, got, want)
	}
	return nil
}
