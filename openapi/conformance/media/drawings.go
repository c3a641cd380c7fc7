package media

import (
	"bytes"
	"encoding/base64"
	"fmt"
	"image"
	_ "image/jpeg" // formats of replies
	_ "image/png"
	"slices"

	"github.com/diglot/diglot/openapi/conformance"
)

type imageList struct {
	Created int `json:"created"`
	Data    []struct {
		B64 string `json:"b64_json"`
		URL string `json:"url"`
	} `json:"data"`
}

// drawing is a request for images.
func drawing(t *conformance.Trial, fields map[string]any) conformance.Request {
	body := map[string]any{"model": t.Models.Image, "prompt": "A lighthouse at dusk"}
	for name, value := range fields {
		body[name] = value
	}
	return conformance.Request{Path: "/v1/images/generations", Body: body}
}

// draw asks for images and decodes them.
func draw(t *conformance.Trial, fields map[string]any) ([]image.Config, [][]byte, *conformance.Exchange) {
	x := t.OK(drawing(t, fields))
	configs, files := decode(t, x)
	return configs, files, x
}

// decode reads the images of a reply.
func decode(t *conformance.Trial, x *conformance.Exchange) ([]image.Config, [][]byte) {
	var reply imageList
	if err := x.JSON(&reply); err != nil {
		t.Fatalf(x, "%v", err)
	}
	var configs []image.Config
	var files [][]byte
	for i, d := range reply.Data {
		if d.B64 == "" && d.URL != "" {
			t.Skipf("the server answers with addresses of images")
		}
		config, file := decodeFile(t, x, fmt.Sprintf("image %d", i), d.B64)
		configs, files = append(configs, config), append(files, file)
	}
	return configs, files
}

// decodeFile reads a file in base64 and the head of the image in it.
func decodeFile(t *conformance.Trial, x *conformance.Exchange, name, text string) (image.Config, []byte) {
	file, err := base64.StdEncoding.DecodeString(text)
	if err != nil {
		t.Fatalf(x, "%s is not base64: %v", name, err)
	}
	config, _, err := image.DecodeConfig(bytes.NewReader(file))
	if err != nil {
		t.Fatalf(x, "%s is no PNG or JPEG: %v", name, err)
	}
	return config, file
}

// drawn is a scenario of a model that draws.
func drawn(promise, about string, run func(*conformance.Trial)) conformance.Scenario {
	return conformance.Scenario{
		Name: "openai/images/" + promise, About: about,
		Operation: "createImage", Needs: conformance.NeedImage, Run: run,
	}
}

func drawings() []conformance.Scenario {
	return []conformance.Scenario{
		drawn("one-image", "One image is drawn where the request does not say how many.", func(t *conformance.Trial) {
			if all, _, x := draw(t, nil); len(all) != 1 {
				t.Errorf(x, "%d images, want 1", len(all))
			}
		}),
		drawn("n-images", "n images are drawn, and they differ.", func(t *conformance.Trial) {
			_, files, x := draw(t, map[string]any{"n": 2})
			if len(files) != 2 || slices.Equal(files[0], files[1]) {
				t.Errorf(x, "%d images, want 2 that differ", len(files))
			}
		}),
		drawn("asked-size", "An image has the size that was asked for, or the size is a 400.", func(t *conformance.Trial) {
			for _, size := range []string{"256x256", "512x512"} {
				x := t.Do(drawing(t, map[string]any{"size": size}))
				switch x.Status {
				case 400:
					continue
				case 200:
				default:
					t.Fatalf(x, "status %d, want 200 or 400", x.Status)
				}
				all, _ := decode(t, x)
				for _, c := range all {
					if got := fmt.Sprintf("%dx%d", c.Width, c.Height); got != size {
						t.Errorf(x, "an image of %s, want %s", got, size)
					}
				}
			}
		}),
		drawn("b64-json", "response_format b64_json is obeyed, by a model that has it.", func(t *conformance.Trial) {
			x := t.Do(drawing(t, map[string]any{"response_format": "b64_json"}))
			switch {
			case x.Status == 400 && !t.Marks && bytes.Contains(x.Body, []byte("response_format")): // as the vendor's GPT image models
				t.NotOfferedf("the server refuses response_format: %s", x.Body)
			case x.Status != 200:
				t.Fatalf(x, "status %d, want 200", x.Status)
			}
			decode(t, x)
		}),
		drawn("bad-size", "A size that is none is a 400.", func(t *conformance.Trial) {
			for _, size := range []string{"0x0", "axb", "-1x5", "100000000x100000000"} {
				if x := t.Do(drawing(t, map[string]any{"size": size})); x.Status != 400 {
					t.Errorf(x, "status %d for the size %q, want 400", x.Status, size)
				}
			}
		}),
	}
}
