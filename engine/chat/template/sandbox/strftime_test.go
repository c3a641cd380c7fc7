package sandbox

import (
	"testing"
	"time"
)

func TestStrftime(t *testing.T) {
	at := time.Date(2026, 3, 5, 9, 4, 7, 123456789, time.FixedZone("CET", 3600))
	for _, tt := range []struct{ format, want string }{
		{"%Y-%m-%d", "2026-03-05"},
		{"%d %b %Y", "05 Mar 2026"},
		{"%B %d, %Y", "March 05, 2026"},
		{"%A %a %y %j", "Thursday Thu 26 064"},
		{"%H:%M:%S.%f %I %p", "09:04:07.123456 09 AM"},
		{"%-d.%-m. %-H", "5.3. 9"},
		{"%e|%z|%Z", " 5|+0100|CET"},
		{"%c", "Thu Mar  5 09:04:07 2026"},
		{"%F %T %D %R", "2026-03-05 09:04:07 03/05/26 09:04"},
		{"%u %w %U %W %V %G", "4 4 09 09 10 2026"},
		{"100%% %n%t", "100% \n\t"},
		{"%Q %-Q %", "%Q %-Q %"},
		{"Jan 2006 üñ", "Jan 2006 üñ"},
	} {
		if got := strftime(at, tt.format); got != tt.want {
			t.Errorf("%q gives %q, want %q", tt.format, got, tt.want)
		}
	}
}
