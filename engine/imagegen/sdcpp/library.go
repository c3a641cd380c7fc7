//go:build (linux || darwin) && (amd64 || arm64)

package sdcpp

import (
	"errors"
	"fmt"
	"log/slog"
	"sync"
	"unsafe"

	"github.com/ebitengine/purego"
)

// Library is a loaded library. There is one in a process: it has one log and one
// progress callback.
type Library struct {
	load    func(files *paths, threads int64) uintptr
	free    func(context uintptr)
	draw    func(context uintptr, p *picture, step uintptr) *pixels
	discard func(*pixels)
	sampler func(int32) *byte // name of a number
	planner func(int32) *byte
	images  func(context uintptr) bool
	limit   func(threads int64)
	tokens  func(prompt *byte, encoder int64) int64

	counting sync.Mutex // held during tokens, whose tokenizers are shared

	preview func(callback uintptr, mode, interval int32, denoised, noisy bool, data uintptr)
	shown   uintptr // C function that calls show
	show    func(step int, unfinished *pixels)

	step uintptr // C function that calls each
	each func(step, steps int) (stop bool)
	log  *logSink
}

// The structs of tools/imagegen/native/diglot.cpp. Their fields have 8 bytes each, so
// that no compiler pads them.
type (
	paths struct {
		model, diffusion, clipL, clipG, t5xxl, llm, vae, tae *byte
	}
	lora struct {
		path     *byte
		strength float64
	}
	picture struct {
		loras                                          *lora
		loraCount                                      int64
		prompt, negative                               *byte
		width, height, seed, steps, sampler, scheduler int64
		guidance                                       float64
	}
)

// pixels is sd_image_t.
type pixels struct {
	width, height, channels uint32
	data                    *byte
}

// Open loads a library. It stays loaded: its threads may still run.
func Open(path string, log *slog.Logger) (*Library, error) {
	handle, err := purego.Dlopen(path, purego.RTLD_NOW|purego.RTLD_LOCAL)
	if err != nil {
		return nil, fmt.Errorf("the image engine cannot be loaded: %w", err)
	}
	if err := checkRelease(handle); err != nil {
		return nil, fmt.Errorf("the image engine %s: %w", path, err)
	}
	l := &Library{log: &logSink{log: log}}
	var logTo func(callback, data uintptr)
	for name, function := range map[string]any{
		"diglot_load":                      &l.load,
		"diglot_draw":                      &l.draw,
		"diglot_discard":                   &l.discard,
		"diglot_limit_threads":             &l.limit,
		"diglot_tokens":                    &l.tokens,
		"free_sd_ctx":                      &l.free,
		"sd_sample_method_name":            &l.sampler,
		"sd_scheduler_name":                &l.planner,
		"sd_ctx_supports_image_generation": &l.images,
		"sd_set_log_callback":              &logTo,
		"sd_set_preview_callback":          &l.preview,
	} {
		address, err := purego.Dlsym(handle, name)
		if err != nil {
			return nil, fmt.Errorf("the image engine %s: %w", path, err)
		}
		purego.RegisterFunc(function, address)
	}
	// Callbacks are never freed, so there is one of each.
	l.step = purego.NewCallback(func(step, steps int32) uintptr {
		if l.each(int(step), int(steps)) {
			return 1
		}
		return 0
	})
	l.shown = purego.NewCallback(func(step, count int32, frames *pixels, _, _ uintptr) uintptr {
		if count > 0 && frames != nil {
			l.show(int(step), frames)
		}
		return 0
	})
	logTo(purego.NewCallback(func(level int32, text *byte, _ uintptr) uintptr {
		l.log.write(int(level), goString(text))
		return 0
	}), 0)
	return l, nil
}

// checkRelease fails for a library of another release, or of someone else.
func checkRelease(handle uintptr) error {
	address, err := purego.Dlsym(handle, "diglot_release")
	if err != nil {
		return errors.New("it was not built by `make imagegen`")
	}
	var release func() *byte
	purego.RegisterFunc(&release, address)
	if got, want := goString(release()), Pinned().ID(); got != want {
		return fmt.Errorf("it is release %s, and this program needs %s; run `make imagegen`", got, want)
	}
	return nil
}

// cString returns the text with a NUL at its end; nil for an empty one. Go keeps it
// alive while it is in a struct that is passed.
func cString(text string) *byte {
	if text == "" {
		return nil
	}
	return &append([]byte(text), 0)[0]
}

func goString(text *byte) string {
	if text == nil {
		return ""
	}
	n := 0
	for *(*byte)(unsafe.Add(unsafe.Pointer(text), n)) != 0 {
		n++
	}
	return string(unsafe.Slice(text, n))
}
