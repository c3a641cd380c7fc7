package main

import (
	"context"
	"errors"
	"fmt"
	"os"
	"os/exec"
	"slices"
)

// offline runs the suites with only loopback: in a network namespace or, if those are
// not allowed, with a dead proxy. A client may ignore the proxy, so the output tells
// that.
func offline(ctx context.Context, o options) error {
	if err := isolated(ctx, "-probe").Run(); err != nil {
		fmt.Printf("note: network namespaces are not to be had here (%v): the suites run behind a proxy that leads nowhere\n", err)
		for _, name := range []string{"http_proxy", "https_proxy", "all_proxy", "HTTP_PROXY", "HTTPS_PROXY", "ALL_PROXY"} {
			os.Setenv(name, "http://127.0.0.1:9") // the discard service, which nobody runs
		}
		os.Setenv("no_proxy", "127.0.0.1,localhost")
		os.Setenv("NO_PROXY", "127.0.0.1,localhost")
		return play(ctx, o)
	}
	args := []string{"-inside", o.inside, "-model", o.model, fmt.Sprintf("-record=%t", o.record), fmt.Sprintf("-images=%t", o.images), fmt.Sprintf("-skipped=%d", o.skipped)}
	err := isolated(ctx, slices.Concat(args, o.suites)...).Run()
	if exit := (*exec.ExitError)(nil); errors.As(err, &exit) {
		return errors.New("the run in a network namespace failed, see above")
	}
	return err
}
