package contract

import (
	"cmp"
	"context"
	"errors"
	"net/http"
	"net/url"
	"slices"
	"time"

	"github.com/spf13/cobra"
	"github.com/spf13/pflag"

	"github.com/diglot/diglot/cmd/diglot/internal/exit"
	"github.com/diglot/diglot/cmd/diglot/internal/flagvalue"
	"github.com/diglot/diglot/openapi"
	"github.com/diglot/diglot/openapi/conformance"
	"github.com/diglot/diglot/openapi/conformance/media"
	"github.com/diglot/diglot/openapi/conformance/protocol"
	"github.com/diglot/diglot/openapi/conformance/report"
	"github.com/diglot/diglot/openapi/conformance/scenario"
	"github.com/diglot/diglot/openapi/conformance/structure"
)

// verifyOptions are the flags of verify.
type verifyOptions struct {
	baseURL  string
	models   conformance.Models
	style    string
	profile  string
	marks    bool
	only     selection
	list     bool
	dryRun   bool
	timeout  time.Duration
	parallel flagvalue.Number
	header   flagvalue.Headers
	keyEnv   string
	docs     string

	outputs       outputs
	baseline      string
	writeBaseline bool
	minScore      flagvalue.Percent
}

const verifyHelp = `Check a server that claims to speak the OpenAI-style or the Anthropic-style API:
vLLM, SGLang, llama-server, Ollama, a gateway, a cloud, or diglot itself.

Each check is a scenario: one promise of the server. Most are made from the two OpenAPI
documents: each field of each request takes what the document says and nothing else, and
each reply, event, header and error fits its schema and its place. Others are behaviour,
such as stop strings, counts of tokens, log probabilities and tools. A scenario passes,
fails, is skipped if it cannot be tested on this model (with the reason), or is not
offered, if the server itself says that it does not have the operation. A small model is
enough: what needs a certain answer forces it.

A failure comes with the request as a curl command, with what came, and with what the
document says. In the command, $API_KEY and other variables stand for your keys.

The documents mark fields that diglot ignores or refuses, and promise what the vendors leave
open: the form of request ids, the kinds of errors, sizes of lists, no other field in a
reply. Other servers may do more, so this binds nobody else, and is skipped; --marks holds
a server to it as well, which is meant for diglot.

A request that is answered with 429, 529, or 503 and Retry-After, is sent again, at most
4 times: when the server says, if that is within 30 seconds, or after 1, 2, 4 and 8
seconds if it says nothing. --dry-run tells beforehand about what a run costs.

--only chooses scenarios by name: a whole name, the beginning of one up to a slash, a
glob (* also matches slashes), or a regular expression between slashes.

The exit code is 1 if a scenario fails. With --baseline, it is 1 only if one fails that the
file does not name. With --min-score N, it is 1 if under N % of the tested scenarios pass.
Both may be combined. It is 4 if no server answers.

--write-baseline writes the names of what fails to the file, and then the exit code is 0. A
scenario in the file is known as a whole: what else fails in it is not told apart.`

const verifyExamples = `  diglot verify --base-url http://127.0.0.1:8484 --model smollm2-135m
  diglot verify --base-url http://127.0.0.1:11434 --model qwen2.5:0.5b --style openai --only openai/chat
  diglot verify --base-url https://host.example --model NAME --api-key-env KEY --dry-run
  diglot verify --base-url http://127.0.0.1:8000 --model NAME --baseline known.yaml --write-baseline
  diglot verify --base-url http://127.0.0.1:8000 --model NAME --baseline known.yaml --junit verify.xml`

func newVerify(env Environment) *cobra.Command {
	var o verifyOptions
	c := &cobra.Command{
		Use:     "verify",
		Short:   "Check a server against the API documents",
		Long:    verifyHelp,
		Example: verifyExamples,
		GroupID: Group,
		Args:    noArguments,
		RunE: func(c *cobra.Command, _ []string) error {
			if err := o.check(c.Flags().Changed("min-score")); err != nil {
				return err
			}
			return o.run(c.Context(), env)
		},
	}
	o.register(c.Flags())
	for flag, values := range map[string][]cobra.Completion{
		"style":   {"both", string(conformance.OpenAI), string(conformance.Anthropic)},
		"profile": {string(openapi.ProfileDefault), string(openapi.ProfileDocument)},
	} {
		_ = c.RegisterFlagCompletionFunc(flag, cobra.FixedCompletions(values, cobra.ShellCompDirectiveNoFileComp))
	}
	return c
}

func (o *verifyOptions) register(flags *pflag.FlagSet) {
	flags.StringVar(&o.baseURL, "base-url", "", "`URL` of the server, with or without /v1")
	flags.StringVar(&o.models.Text, "model", "", "`NAME` of the model that answers with text")
	flags.StringVar(&o.models.Embedding, "embedding-model", "", "`NAME` of a model for embeddings (default none)")
	flags.StringVar(&o.models.Image, "image-model", "", "`NAME` of a model that draws (default none)")
	flags.StringVar(&o.models.Vision, "vision-model", "", "`NAME` of a model that sees images (default none)")
	flags.StringVar(&o.style, "style", "both", "check only this API `STYLE`: openai, anthropic, or both")
	flags.StringVar(&o.profile, "profile", string(openapi.ProfileDefault), "`PROFILE` that the server claims to follow: default, or document for the letter of the interface document")
	flags.BoolVar(&o.marks, "marks", false, "hold the server to the support marks as well: what is marked as ignored or refused must be so; for diglot")
	flags.Var(&o.only, "only", "run scenarios whose name matches `PATTERN`; repeatable")
	flags.BoolVar(&o.list, "list", false, "list the scenarios, and send nothing")
	flags.BoolVar(&o.dryRun, "dry-run", false, "estimate how many requests and tokens a run takes, and send nothing")
	o.timeout = time.Minute
	flags.Var(flagvalue.Span{To: &o.timeout, Least: time.Second, Most: time.Hour}, "timeout", "`TIME` for one request")
	flags.Var(flagvalue.Within{To: &o.parallel, Least: 1, Most: 64}, "parallel", "run `N` scenarios at a time (default 4)")
	flags.Var(&o.header, "header", "send header `NAME: VALUE` with each request; its value is never printed if it has 8 bytes, or 4 where NAME is that of a secret, such as Authorization; repeatable")
	flags.StringVar(&o.keyEnv, "api-key-env", "", "send the API key in environment variable `NAME` (default none)")
	flags.StringVar(&o.docs, "docs", "/docs/", "`URL` of the reference, for links; each diglot serves it at /docs/")
	o.outputs.register(flags)
	flags.StringVar(&o.baseline, "baseline", "", "`FILE` of the scenarios that are known to fail; it need not exist with --write-baseline")
	flags.BoolVar(&o.writeBaseline, "write-baseline", false, "write what fails now to the file of --baseline, which keeps the reasons in it")
	flags.Var(&o.minScore, "min-score", "fail if under `N` % of the tested scenarios pass; known and new failures count alike")
}

// check finds what cannot be meant.
func (o *verifyOptions) check(minScore bool) error {
	u, err := url.Parse(o.baseURL)
	switch {
	case o.style != "both" && o.style != string(conformance.OpenAI) && o.style != string(conformance.Anthropic):
		return exit.Usage("verify: --style is %q, not openai, anthropic or both", o.style)
	case o.profile != string(openapi.ProfileDefault) && o.profile != string(openapi.ProfileDocument):
		return exit.Usage("verify: --profile is %q, not %s or %s", o.profile, openapi.ProfileDefault, openapi.ProfileDocument)
	case o.writeBaseline && o.baseline == "":
		return exit.Usage("verify: --write-baseline needs --baseline")
	case o.list:
		return nil
	case o.models == conformance.Models{}:
		return exit.Usage("verify: missing --model")
	case o.dryRun:
		return nil
	case err != nil || o.baseURL == "" || u.Host == "" || u.Scheme != "http" && u.Scheme != "https":
		return exit.Usage("verify: --base-url is %q, not a URL such as http://127.0.0.1:8484", o.baseURL)
	}
	if !minScore {
		o.minScore = -1 // none
	}
	return nil
}

func (o *verifyOptions) run(ctx context.Context, env Environment) error {
	target, err := o.target(env)
	if err != nil {
		return err
	}
	all, err := scenarios(target)
	if err != nil {
		return err
	}
	chosen := o.choose(all)
	if len(chosen) == 0 {
		return exit.Usage("verify: no scenario has a name like %s; see --list", o.only.String())
	}
	switch {
	case o.list:
		return o.outputs.list(env, chosen)
	case o.dryRun:
		return estimate(ctx, env.Stdout, target, chosen, openapi.Profile(o.profile))
	}
	known, err := o.known()
	if err == nil {
		err = o.writable()
	}
	if err != nil {
		return err
	}
	if err := reach(ctx, env.Stderr, target, o.styles()); err != nil {
		return err
	}
	began := time.Now()
	progress := newProgress(env.Stderr, len(chosen))
	found := conformance.Run(ctx, target, chosen, conformance.Options{Parallel: parallel(o.parallel), Progress: progress.add})
	progress.end()
	summary := report.Summary{
		Report: found, Server: redacted(o.baseURL), Models: o.models, Profile: openapi.Profile(o.profile), Marks: o.marks,
		Date: began, Docs: o.docs, Baseline: known, Secrets: o.secrets(target),
	}
	if err := o.outputs.write(env, summary); err != nil {
		return err
	}
	return o.verdict(ctx, env, summary, names(all))
}

// parallel is a few at a time, if nothing is said.
func parallel(n flagvalue.Number) int { return cmp.Or(int(n), 4) }

// target makes the target of the flags.
func (o *verifyOptions) target(env Environment) (*conformance.Target, error) {
	documents, err := openapi.Embedded()
	if err != nil {
		return nil, err
	}
	if documents, err = documents.Narrow(openapi.Profile(o.profile)); err != nil {
		return nil, err
	}
	key := ""
	if o.keyEnv != "" {
		if key = env.Getenv(o.keyEnv); key == "" {
			return nil, exit.Usage("verify: --api-key-env names %s, which is not set", o.keyEnv)
		}
	}
	return &conformance.Target{
		BaseURL: o.baseURL, Models: o.models, Key: key, Header: http.Header(o.header), Timeout: o.timeout,
		Documents: documents, Marks: o.marks, Client: client(parallel(o.parallel)),
	}, nil
}

// client keeps its connections, and does not follow a redirect, which a reply is too.
func client(connections int) *http.Client {
	transport := http.DefaultTransport.(*http.Transport).Clone()
	transport.MaxIdleConnsPerHost = 2 * connections
	return &http.Client{
		Transport:     transport,
		CheckRedirect: func(*http.Request, []*http.Request) error { return http.ErrUseLastResponse },
	}
}

// scenarios are all of them.
func scenarios(target *conformance.Target) ([]conformance.Scenario, error) {
	generated, err := target.Generated()
	if err != nil {
		return nil, err
	}
	all := slices.Concat(generated, protocol.All(target.Documents), scenario.All(), structure.All(), media.All())
	slices.SortStableFunc(all, func(a, b conformance.Scenario) int { return cmp.Compare(b.Style(), a.Style()) }) // openai first
	return all, nil
}

func names(all []conformance.Scenario) []string {
	var list []string
	for _, s := range all {
		list = append(list, s.Name)
	}
	return list
}

func (o *verifyOptions) styles() []conformance.Style {
	if o.style == "both" {
		return []conformance.Style{conformance.OpenAI, conformance.Anthropic}
	}
	return []conformance.Style{conformance.Style(o.style)}
}

func (o *verifyOptions) choose(all []conformance.Scenario) []conformance.Scenario {
	var chosen []conformance.Scenario
	for _, s := range all {
		if slices.Contains(o.styles(), s.Style()) && o.only.match(s.Name) {
			chosen = append(chosen, s)
		}
	}
	return chosen
}

// redacted is a URL without its password.
func redacted(base string) string {
	u, err := url.Parse(base)
	if err != nil {
		return base
	}
	return u.Redacted()
}

var errFailed = errors.New("verify: the server does not keep to the documents")
