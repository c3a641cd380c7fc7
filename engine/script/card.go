package script

import (
	"context"
	"image"

	"github.com/diglot/diglot/engine"
	"github.com/diglot/diglot/engine/imagegen"
	"github.com/diglot/diglot/engine/imagegen/testcard"
)

// imageModel adapts a model with `image: true` to package imagegen.
type imageModel struct{ model *Model }

var _ imagegen.Model = imageModel{}

// Info implements [imagegen.Model].
func (p imageModel) Info() imagegen.Info {
	info := p.model.info
	return imagegen.Info{Name: info.Name, Owner: info.Owner, Changed: info.Changed, Sizes: testcard.Sizes()}
}

// Close implements [imagegen.Model].
func (p imageModel) Close() error { return p.model.Close() }

// Draw implements [imagegen.Model] with a test card.
func (p imageModel) Draw(ctx context.Context, job imagegen.Job) (image.Image, error) {
	select {
	case <-ctx.Done():
		return nil, engine.AsError(ctx.Err())
	case <-p.model.closed:
		return nil, engine.Errorf(engine.CodeInternal, "Model %q was closed.", p.model.info.Name)
	default:
	}
	return testcard.DrawSteps(job), nil
}
