package conformance

import (
	"context"
	"errors"
	"net"
	"net/http"
	"strconv"
	"time"
)

const (
	maxTries = 5                // of one request
	maxDelay = 30 * time.Second // before one of them
)

// later reports whether the server asks to send the request again, and after which time. A
// rate limit need not say when; a server that is overloaded must, since its 503 may be an
// answer to stay.
func (x *Exchange) later(try int) (time.Duration, bool) {
	if x == nil || try+1 >= maxTries {
		return 0, false
	}
	after, told := retryAfter(x.Header.Get("Retry-After"))
	switch x.Status {
	case http.StatusTooManyRequests, 529:
		if !told {
			after = time.Second << try
		}
	case http.StatusServiceUnavailable:
		if !told {
			return 0, false
		}
	default:
		return 0, false
	}
	return after, after <= maxDelay
}

// retryAfter reads the header of that name: seconds, or a date.
func retryAfter(value string) (time.Duration, bool) {
	if n, err := strconv.ParseUint(value, 10, 31); err == nil {
		return time.Duration(n) * time.Second, true
	}
	if date, err := http.ParseTime(value); err == nil {
		return max(time.Until(date), 0), true
	}
	return 0, false
}

// sleep reports whether the time has passed before ctx ended.
func sleep(ctx context.Context, d time.Duration) bool {
	timer := time.NewTimer(d)
	defer timer.Stop()
	select {
	case <-timer.C:
		return true
	case <-ctx.Done():
		return false
	}
}

// unreachable tells the run that there is no server any more.
func (t *Target) unreachable(err error) {
	var network *net.OpError
	if t.lost != nil && errors.As(err, &network) && network.Op == "dial" {
		t.lost(err)
	}
}
