package replay

import (
	"crypto/rand"
	"hash/crc32"
	"regexp"
	"strconv"
	"strings"
	"time"
)

// Ids of recordings are numbers behind a prefix (package cassette). A renewed id has the
// number in its first letters, random ones, and a checksum of both, by which the number is
// found again. No state is kept.
const (
	numberLetters = 4
	randomLetters = 18
	sumLetters    = 4
)

const alphabet = "ABCDEFGHIJKLMNOPQRSTUVWXYZ234567"

const prefixes = `chatcmpl-|cmpl-|resp_|rs_|fc_|msg_|call_|toolu_|id_`

var (
	recordedID = regexp.MustCompile(`"(` + prefixes + `|req_)([0-9]{1,6})"`)
	renewedID  = regexp.MustCompile(`"(` + prefixes + `)([A-Z2-7]{26})"`)

	unixTime   = regexp.MustCompile(`("(?:created|created_at|completed_at)":\s*)0\b`)
	timeOfDate = regexp.MustCompile(`("\w+_at":\s*)"1970-01-01T00:00:00Z"`)
)

// renew gives a recorded reply new ids and the time of now. Its request id becomes that of
// the request.
func renew(body, requestID string, now time.Time) string {
	names := map[string]string{}
	body = recordedID.ReplaceAllStringFunc(body, func(found string) string {
		parts := recordedID.FindStringSubmatch(found)
		if parts[1] == "req_" {
			return `"` + requestID + `"`
		}
		if names[found] == "" {
			n, _ := strconv.Atoi(parts[2]) // digits
			names[found] = `"` + newID(parts[1], n) + `"`
		}
		return names[found]
	})
	body = unixTime.ReplaceAllString(body, "${1}"+strconv.FormatInt(now.Unix(), 10))
	return timeOfDate.ReplaceAllString(body, `${1}"`+now.UTC().Format(time.RFC3339)+`"`)
}

// restore gives a request the ids of the recording in place of renewed ones.
func restore(body string) string {
	return renewedID.ReplaceAllStringFunc(body, func(found string) string {
		parts := renewedID.FindStringSubmatch(found)
		prefix, letters := parts[1], parts[2]
		known := letters[:numberLetters+randomLetters]
		if letters[len(known):] != sum(prefix+known) {
			return found
		}
		n := 0
		for _, c := range known[:numberLetters] {
			n = n<<5 | strings.IndexRune(alphabet, c)
		}
		return `"` + prefix + strconv.Itoa(n) + `"`
	})
}

// newID is a new id for number n of a recording.
func newID(prefix string, n int) string {
	known := code(uint32(n), numberLetters) + rand.Text()[:randomLetters]
	return prefix + known + sum(prefix+known)
}

// sum is a checksum.
func sum(s string) string { return code(crc32.ChecksumIEEE([]byte(s)), sumLetters) }

// code writes the lowest bits of x as letters.
func code(x uint32, letters int) string {
	b := make([]byte, letters)
	for i := letters - 1; i >= 0; i-- {
		b[i] = alphabet[x&31]
		x >>= 5
	}
	return string(b)
}
