package registry

import (
	"bytes"
	"context"
	"errors"
	"io"
	"log/slog"
	"os"
	"time"

	"github.com/opencontainers/go-digest"
	ocispec "github.com/opencontainers/image-spec/specs-go/v1"
	"golang.org/x/sync/errgroup"

	"github.com/diglot/diglot/engine/models/store"
)

const (
	// uploads is the number of concurrent uploads.
	uploads = 4

	// hashRate is the minimum speed, in bytes per second, at which a registry is
	// expected to compute the digest of an upload before it answers.
	hashRate = 16 << 20
)

// Push uploads a model to the registry that its name begins with. Blobs that the
// registry has are skipped, and local paths are removed from the manifest. The
// manifest goes last, so that the name never refers to an incomplete model.
// progress and the error are as in [Client.Pull].
func (c *Client) Push(ctx context.Context, store *store.Store, n store.Name, progress func(Progress)) error {
	if err := n.Check(); err != nil {
		return err
	}
	if why := hostOf(n.Host).push; why != "" {
		return failure(ErrUnauthorized, "Pushing to %s is not possible: %s. Copy the model to a name at another registry, such as registry.example/you/%s, and push that.", n.Host, why, n.Model)
	}
	m, err := store.Model(n)
	if err != nil {
		return err
	}
	if err := store.Whole(m); err != nil {
		return err
	}
	s, err := c.open(ctx, n)
	if err != nil {
		return err
	}
	began := time.Now()
	if err := s.push(ctx, store, m, progress); err != nil {
		return s.explain(ctx, err)
	}
	c.config.Log.LogAttrs(ctx, slog.LevelInfo, "registry: pushed", slog.String("model", n.String()), slog.String("digest", m.Digest.String()),
		slog.Int64("bytes", m.Size), slog.Duration("took", time.Since(began)))
	return nil
}

func (s *session) push(ctx context.Context, store *store.Store, m *store.Model, progress func(Progress)) error {
	known, err := s.knownElsewhere(ctx, store)
	if err != nil {
		return local(err)
	}
	u := &upload{session: s, store: store, board: &board{report: progress}, known: known}
	group, inner := errgroup.WithContext(ctx)
	group.SetLimit(uploads)
	for _, l := range layersOf(m.Manifest) {
		group.Go(func() error { return u.blob(inner, l) })
	}
	if err := group.Wait(); err != nil {
		return err
	}
	again := s.retries()
	for {
		err := u.manifest(ctx, m)
		if err == nil {
			return nil
		}
		if err := again.wait(ctx, err); err != nil {
			return err
		}
	}
}

// upload sends the blobs of a model.
type upload struct {
	*session
	store *store.Store
	board *board
	known map[digest.Digest]string // another repository of the registry that likely has the blob
}

// knownElsewhere finds blobs that the registry likely has for other models, so
// that an alias or a derived model need not upload the weights again.
func (s *session) knownElsewhere(ctx context.Context, store *store.Store) (map[digest.Digest]string, error) {
	models, err := store.List(ctx)
	if err != nil {
		return nil, err
	}
	known := map[digest.Digest]string{}
	for _, m := range models {
		repository := repositoryOf(m.Name)
		if m.Name.Host != s.name.Host || repository == s.repository() {
			continue
		}
		for _, l := range m.Manifest.Layers {
			known[l.Digest] = repository
		}
	}
	return known, nil
}

// blob uploads one blob, with retries. An interrupted upload starts again:
// registries have no common way to resume.
func (u *upload) blob(ctx context.Context, l store.Layer) error {
	bar := u.board.meter(l)
	again := u.retries()
	for {
		err := u.attempt(ctx, l, bar)
		if err == nil {
			return nil
		}
		if err := again.wait(ctx, err); err != nil {
			return err
		}
	}
}

func (u *upload) attempt(ctx context.Context, l store.Layer, bar *meter) error {
	ctx, guard := watch(ctx, u.config.Stall)
	defer guard.stop()
	repository := u.remote().Blobs()
	target := ocispec.Descriptor{MediaType: l.MediaType, Digest: l.Digest, Size: l.Size}
	there, err := repository.Exists(ctx, target)
	if err != nil {
		return cause(ctx, err)
	}
	if there {
		bar.turn(StatusPresent, l.Size)
		return nil
	}
	if from := u.known[l.Digest]; from != "" && u.mount(ctx, target, from) {
		bar.turn(StatusPresent, l.Size)
		return nil
	}
	path, err := u.store.Find(l)
	if err != nil {
		return local(err)
	}
	f, err := os.Open(path)
	if err != nil {
		return local(err)
	}
	defer f.Close()
	bar.turn(StatusUpload, 0)
	guard.wind(u.config.Stall)
	if err := repository.Push(ctx, target, &outgoing{file: f, left: l.Size, bar: bar, guard: guard,
		settle: u.config.Stall + time.Duration(l.Size/hashRate)*time.Second}); err != nil {
		return cause(ctx, err)
	}
	bar.turn(StatusDone, l.Size)
	return nil
}

// errNoMount stops oras-go's fallback to an upload when a mount fails.
var errNoMount = errors.New("the registry does not mount the blob")

// mount makes the registry reuse a blob of another of its repositories. If that
// fails, for example without permission, the blob is uploaded.
func (u *upload) mount(ctx context.Context, target ocispec.Descriptor, from string) bool {
	err := u.remote().Mount(ctx, target, from, func() (io.ReadCloser, error) { return nil, errNoMount })
	if err != nil {
		u.config.Log.LogAttrs(ctx, slog.LevelDebug, "registry: blob not mounted", slog.String("model", u.name.String()),
			slog.String("from", from), slog.Any("error", err))
	}
	return err == nil
}

// manifest uploads the manifest.
func (u *upload) manifest(ctx context.Context, m *store.Model) error {
	ctx, cancel := context.WithTimeoutCause(ctx, u.config.Answer, errSlow)
	defer cancel()
	kind := m.Manifest.MediaType
	if kind == "" {
		kind = store.MediaTypeManifest
	}
	text, err := public(m)
	if err != nil {
		return local(err)
	}
	target := ocispec.Descriptor{MediaType: kind, Digest: digest.FromBytes(text), Size: int64(len(text))}
	return cause(ctx, u.remote().Manifests().PushReference(ctx, target, bytes.NewReader(text), m.Name.Tag))
}

// outgoing is the content of an upload. It hides the file's other methods.
type outgoing struct {
	file   io.Reader
	left   int64
	bar    *meter
	guard  *watchdog
	settle time.Duration // timeout for the answer after the last byte
}

func (o *outgoing) Read(p []byte) (int, error) {
	n, err := o.file.Read(p)
	o.bar.moved(int64(n))
	if o.left -= int64(n); o.left > 0 {
		o.guard.saw(n)
	} else {
		o.guard.wind(o.settle)
	}
	return n, err
}
