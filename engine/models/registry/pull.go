package registry

import (
	"cmp"
	"context"
	"errors"
	"log/slog"
	"slices"
	"time"

	"github.com/opencontainers/go-digest"
	"golang.org/x/sync/errgroup"

	"github.com/diglot/diglot/engine/models/store"
)

// Pull downloads a model into the store and returns it. Existing blobs are
// reused, so an unchanged model costs one request, and a failed pull resumes.
// progress may be nil; calls of it do not overlap.
//
// The error is an [*Error], an error of the store or the name, or the cause of
// ctx.
func (c *Client) Pull(ctx context.Context, models *store.Store, n store.Name, progress func(Progress)) (*store.Model, error) {
	s, err := c.open(ctx, n)
	if err != nil {
		return nil, err
	}
	began := time.Now()
	m, err := s.pull(ctx, models, progress)
	if err != nil {
		err = s.explain(ctx, err)
		c.config.Log.LogAttrs(ctx, slog.LevelDebug, "registry: not pulled", slog.String("model", n.String()), slog.Any("error", err), slog.Any("cause", errors.Unwrap(err)))
		return nil, err
	}
	c.config.Log.LogAttrs(ctx, slog.LevelInfo, "registry: pulled", slog.String("model", n.String()), slog.String("digest", m.Digest.String()),
		slog.Int64("bytes", m.Size), slog.Duration("took", time.Since(began)))
	return m, nil
}

func (s *session) pull(ctx context.Context, models *store.Store, progress func(Progress)) (*store.Model, error) {
	// First, so that a read-only store fails at once.
	change, err := models.Begin(ctx)
	if err != nil {
		return nil, local(err)
	}
	defer change.Close()
	if err := change.CheckName(s.name); err != nil {
		return nil, local(err)
	}
	text, manifest, err := s.manifest(ctx)
	if err != nil {
		return nil, err
	}
	d := s.newDownload(change, progress)
	if !hasModel(manifest) {
		if err := d.servedElsewhere(ctx, models, manifest); err != nil {
			return nil, err
		}
	}
	if err := d.blobs(ctx, manifest); err != nil {
		return nil, err
	}
	if old, err := models.Model(s.name); err == nil && old.Digest == digest.FromBytes(text) {
		return old, nil
	}
	m, err := change.Put(ctx, s.name, text)
	if err != nil {
		return nil, local(err)
	}
	return m, nil
}

// servedElsewhere refuses a manifest without a model, unless its config names a
// remote server. It downloads only the config.
func (d *download) servedElsewhere(ctx context.Context, models *store.Store, m store.Manifest) error {
	if err := d.blob(ctx, m.Config); err != nil {
		return err
	}
	config, err := models.Config(&store.Model{Name: d.name, Manifest: m})
	if err != nil || config.RemoteHost == "" {
		return d.notModel(m)
	}
	return nil
}

// blobs downloads all blobs of a manifest, smallest first to fail early.
func (d *download) blobs(ctx context.Context, m store.Manifest) error {
	group, ctx := errgroup.WithContext(ctx)
	group.SetLimit(d.config.Connections)
	for _, l := range layersOf(m) {
		group.Go(func() error { return d.blob(ctx, l) })
	}
	return group.Wait()
}

// layersOf returns each blob of a manifest once, sorted by size.
func layersOf(m store.Manifest) []store.Layer {
	seen := map[digest.Digest]bool{}
	var layers []store.Layer
	for _, l := range append(slices.Clone(m.Layers), m.Config) {
		if !seen[l.Digest] {
			seen[l.Digest] = true
			layers = append(layers, l)
		}
	}
	slices.SortStableFunc(layers, func(a, b store.Layer) int { return cmp.Compare(a.Size, b.Size) })
	return layers
}
