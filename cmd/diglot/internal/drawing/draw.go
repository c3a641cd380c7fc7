package drawing

import (
	"bytes"
	"context"
	"errors"
	"fmt"
	"image"
	_ "image/png" // the engine draws PNG files
	"io"
	"os"
	"sync"
	"time"

	"github.com/diglot/diglot/cmd/diglot/internal/terminal"
	"github.com/diglot/diglot/engine"
	"github.com/diglot/diglot/internal/atomicfile"
)

// Options say what to draw, and where to.
type Options struct {
	Engine  engine.Engine
	Request engine.ImageRequest
	Path    string // of the file; empty: a name from prompt and seed; "-": Out

	// Step is how far the image is; 0 of 0: unknown.
	Step func(context.Context) (step, of int)

	Out, Notes io.Writer
	Getenv     func(string) string // of the terminal
	Sixel      func() bool         // asks the terminal whether it can show sixels
}

// StandardOutput is the path of no file.
const StandardOutput = "-"

// Run draws one image, and prints the path of its file.
func Run(ctx context.Context, o Options) error {
	o.Request.Choices = 1
	drawn, err := o.draw(ctx)
	if err != nil {
		return err
	}
	if o.Path == StandardOutput {
		_, err := o.Out.Write(drawn.Data)
		return err
	}
	path := o.Path
	if path == "" {
		if path, err = freeName(o.Request.Prompt, seedOf(drawn.Data)); err != nil {
			return err
		}
	}
	if err := atomicfile.Write(path, 0o644, bytes.NewReader(drawn.Data)); err != nil {
		return err
	}
	if terminal.Is(o.Out) {
		if decoded, _, err := image.Decode(bytes.NewReader(drawn.Data)); err == nil {
			if _, err := io.WriteString(o.Out, preview(decoded, drawn.Data, o.Getenv, o.Sixel)); err != nil {
				return err
			}
		}
	}
	_, err = fmt.Fprintln(o.Out, path)
	return err
}

// draw shows the steps meanwhile, in a terminal.
func (o Options) draw(ctx context.Context) (engine.Image, error) {
	if terminal.Is(o.Notes) {
		defer o.show(ctx)()
	}
	images, err := engine.CollectImages(o.Engine.GenerateImages(ctx, &o.Request))
	if err != nil {
		return engine.Image{}, err
	}
	if len(images) == 0 || len(images[0].Image.Data) == 0 {
		return engine.Image{}, errors.New("the model's server sent no image data")
	}
	return images[0].Image, nil
}

// refresh is how often the steps are shown.
const refresh = 500 * time.Millisecond

// clearLine clears the line of a terminal.
const clearLine = "\r\x1b[K"

// show shows the steps until the returned function is called.
func (o Options) show(ctx context.Context) (stop func()) {
	ctx, cancel := context.WithCancel(ctx)
	var showing sync.WaitGroup
	fmt.Fprint(o.Notes, "drawing ...")
	showing.Go(func() {
		ticker := time.NewTicker(refresh)
		defer ticker.Stop()
		for {
			select {
			case <-ctx.Done():
				return
			case <-ticker.C:
			}
			if step, of := o.Step(ctx); of > 0 {
				fmt.Fprintf(o.Notes, "%sdrawing ... step %d of %d", clearLine, step, of)
			}
		}
	})
	return func() {
		cancel()
		showing.Wait()
		fmt.Fprint(o.Notes, clearLine)
	}
}

// freeName is the name of a file that does not exist.
func freeName(prompt, seed string) (string, error) {
	name := fileName(prompt, seed)
	for n := 1; n < 1000; n++ {
		path := name + ".png"
		if n > 1 {
			path = fmt.Sprintf("%s-%d.png", name, n)
		}
		if _, err := os.Lstat(path); os.IsNotExist(err) {
			return path, nil
		} else if err != nil {
			return "", err
		}
	}
	return "", fmt.Errorf("there are too many files %s-*.png; name one with -o", name)
}
