//go:build llamacpp && cgo

package llamacpp

/*
#cgo CXXFLAGS: -std=c++17
#include <stdlib.h>
#include "ggml-cpu.h"
#include "shim.h"
*/
import "C"

import (
	"errors"
	"fmt"
	"slices"
	"sync"
	"time"
	"unsafe"

	"github.com/diglot/diglot/engine/chat/prompt"

	// Links llama.cpp. Its Go package one level up needs headers that the module
	// lacks.
	"github.com/diglot/diglot/engine/local/decode"
	"github.com/diglot/diglot/engine/local/llamacpp/matrix"
	_ "github.com/ollama/ollama/llama/llama.cpp/src"
)

// flag is an atomic that Go and C share.
type flag struct{ p *C.int32_t }

func newFlag() flag { return flag{(*C.int32_t)(C.calloc(1, C.sizeof_int32_t))} }

func (f flag) raise() { C.shim_raise(f.p, 1) }
func (f flag) lower() { C.shim_raise(f.p, 0) }
func (f flag) free()  { C.free(unsafe.Pointer(f.p)) }

// weights is a loaded model file.
type weights struct {
	model    *C.struct_llama_model
	vocab    *C.struct_llama_vocab
	adapters []*C.struct_llama_adapter_lora
	turn     *sync.Mutex // held while computing: two computations would compete for cores
}

// loading holds the choice of kernels while a model is loaded.
var loading sync.Mutex

// loadWeights returns nil if llama.cpp fails or cancel is raised.
func loadWeights(path string, place placement, kernels kernels, cancel flag) *weights {
	loading.Lock()
	defer loading.Unlock()
	matrix.Choose(kernels.ours, kernels.tied, kernels.reads, kernels.threads)
	C.llama_backend_init()
	name := C.CString(path)
	defer C.free(unsafe.Pointer(name))
	model := C.shim_load(name, C.bool(place == mapped), cancel.p)
	if model == nil {
		return nil
	}
	return &weights{model: model, vocab: C.llama_model_get_vocab(model), turn: new(sync.Mutex)}
}

// loadVocabulary loads a file without its weights. It returns nil if llama.cpp
// fails.
func loadVocabulary(path string) *weights {
	C.llama_backend_init()
	name := C.CString(path)
	defer C.free(unsafe.Pointer(name))
	model := C.shim_load_vocabulary(name)
	if model == nil {
		return nil
	}
	return &weights{model: model, vocab: C.llama_model_get_vocab(model)}
}

func (w *weights) free() {
	w.freeAdapters()
	C.llama_model_free(w.model)
}

func (w *weights) trainedContext() int { return int(C.llama_model_n_ctx_train(w.model)) }

// recurrent reports whether layers keep a recurrent state, which rules out
// sharing prefixes.
func (w *weights) recurrent() bool {
	return bool(C.llama_model_is_recurrent(w.model)) || bool(C.llama_model_is_hybrid(w.model))
}

// generates reports whether the model is decoder-only.
func (w *weights) generates() bool {
	return bool(C.llama_model_has_decoder(w.model)) && !bool(C.llama_model_has_encoder(w.model))
}

// vocabulary copies the vocabulary.
func (w *weights) vocabulary() (*decode.Vocabulary, error) {
	n := int(C.llama_vocab_n_tokens(w.vocab))
	if n == 0 {
		return nil, errors.New("the file has no vocabulary")
	}
	v := &decode.Vocabulary{
		BOS:    int32(C.llama_vocab_bos(w.vocab)),
		EOS:    int32(C.llama_vocab_eos(w.vocab)),
		AddBOS: bool(C.llama_vocab_get_add_bos(w.vocab)),
	}
	var err error
	if v.Suffix, err = w.addedSuffix(); err != nil {
		return nil, err
	}
	buf := make([]byte, 256)
	for token := range n {
		text, err := w.piece(int32(token), &buf)
		if err != nil {
			return nil, err
		}
		v.Add(text, w.kind(int32(token)))
	}
	// llama.cpp finds these by their text if the metadata does not name them.
	v.FIM = prompt.FIM{
		Prefix: v.Text(int32(C.llama_vocab_fim_pre(w.vocab))),
		Suffix: v.Text(int32(C.llama_vocab_fim_suf(w.vocab))),
		Middle: v.Text(int32(C.llama_vocab_fim_mid(w.vocab))),
	}
	return v, nil
}

func (w *weights) kind(token int32) decode.Kind {
	var kind decode.Kind
	attributes := C.llama_vocab_get_attr(w.vocab, C.llama_token(token))
	if attributes&(C.LLAMA_TOKEN_ATTR_CONTROL|C.LLAMA_TOKEN_ATTR_UNKNOWN) != 0 {
		kind |= decode.KindControl
	}
	if attributes&C.LLAMA_TOKEN_ATTR_USER_DEFINED != 0 {
		kind |= decode.KindUser
	}
	if C.llama_vocab_is_eog(w.vocab, C.llama_token(token)) {
		kind |= decode.KindEndOfTurn
	}
	return kind
}

// piece returns the text of a token, in buf's memory, which grows.
func (w *weights) piece(token int32, buf *[]byte) ([]byte, error) {
	for {
		p := (*C.char)(unsafe.Pointer(unsafe.SliceData(*buf)))
		n := int32(C.shim_piece(w.vocab, C.llama_token(token), p, C.int32_t(len(*buf))))
		switch {
		case n == C.SHIM_THREW:
			return nil, fmt.Errorf("token %d has no text", token)
		case n >= 0:
			return (*buf)[:n], nil
		}
		*buf = make([]byte, -n)
	}
}

// addedSuffix finds the special tokens that the tokenizer appends.
func (w *weights) addedSuffix() ([]int32, error) {
	plain, err := w.tokenize("a", false, false)
	if err != nil {
		return nil, err
	}
	whole, err := w.tokenize("a", true, false)
	if err != nil {
		return nil, err
	}
	return decode.Suffix(whole, plain), nil
}

// tokenize is llama_tokenize.
func (w *weights) tokenize(text string, addSpecial, parseSpecial bool) ([]int32, error) {
	if text == "" {
		return nil, nil
	}
	tokens := make([]int32, len(text)/2+16)
	for {
		n := int32(C.shim_tokenize(w.vocab,
			(*C.char)(unsafe.Pointer(unsafe.StringData(text))), C.int32_t(len(text)),
			(*C.llama_token)(unsafe.Pointer(unsafe.SliceData(tokens))), C.int32_t(len(tokens)), C.bool(addSpecial), C.bool(parseSpecial)))
		switch {
		case n == C.SHIM_THREW:
			return nil, errors.New("llama.cpp failed to tokenize")
		case n >= 0:
			return tokens[:n], nil
		}
		tokens = make([]int32, -n)
	}
}

// session is a llama.cpp context with its threads.
type session struct {
	ctx            *C.struct_llama_context
	memory         C.llama_memory_t
	batch          C.struct_llama_batch
	pool           C.ggml_threadpool_t
	sharesPool     bool // with another session, whose threads wait for both
	worker         *worker
	interrupts     flag
	size           int         // of the vocabulary
	rows           int         // of the batch
	width          int         // length of an image embedding
	projector      *projector  // nil: no images
	imageBatch     *imageBatch // with it
	sharesPrefixes bool
	computed       bool // a batch of tokens
	governor       *governor
	turn           *sync.Mutex
	sink           *logSink
}

// sessionConfig configures a session.
type sessionConfig struct {
	cells, sequences, rows int
	vectors                bool // embeddings instead of logits
	pooling                pooling
	governor               *governor
	pool                   C.ggml_threadpool_t // of another session; nil: one of its own
	sink                   *logSink
}

// newSession returns nil if llama.cpp fails, mostly for lack of memory.
func newSession(w *weights, c sessionConfig) *session {
	params := C.llama_context_default_params()
	params.n_ctx = C.uint32_t(c.cells)
	params.n_batch = C.uint32_t(c.rows)
	params.n_ubatch = C.uint32_t(c.rows)
	params.n_seq_max = C.uint32_t(c.sequences)
	params.n_threads = C.int32_t(c.governor.max)
	params.n_threads_batch = C.int32_t(c.governor.max)
	// One pool of KV cells: without it, llama_memory_seq_cp of a part of a
	// sequence aborts the process.
	params.kv_unified = true
	// Keep all cells of layers with a sliding window, so that prefixes can be
	// shared.
	params.swa_full = true
	params.no_perf = true
	params.embeddings = C.bool(c.vectors)
	params.pooling_type = C.enum_llama_pooling_type(c.pooling)

	interrupts := newFlag()
	ctx := C.shim_context(w.model, params, interrupts.p)
	if ctx == nil {
		interrupts.free()
		return nil
	}
	w.applyAdapters(ctx)
	running := threadIDs()
	worker := newWorker(ctx)
	if worker == nil {
		C.llama_free(ctx)
		interrupts.free()
		return nil
	}
	pool, shares := c.pool, c.pool != nil
	if !shares {
		pool = newThreads(c.governor.max)
	}
	C.llama_attach_threadpool(ctx, pool, nil)
	c.governor.watch(running)
	return &session{
		worker:         worker,
		ctx:            ctx,
		memory:         C.llama_get_memory(ctx),
		batch:          C.llama_batch_init(C.int32_t(c.rows), 0, 1),
		pool:           pool,
		sharesPool:     shares,
		interrupts:     interrupts,
		size:           int(C.llama_vocab_n_tokens(w.vocab)),
		rows:           c.rows,
		width:          int(C.llama_model_n_embd_inp(w.model)),
		sharesPrefixes: !w.recurrent(),
		governor:       c.governor,
		turn:           w.turn,
		sink:           c.sink,
	}
}

// newThreads creates a thread pool for the session. llama.cpp's default is new
// threads for each decode, which the kernel often starts on the core of the
// thread that waits for them.
func newThreads(n int) C.ggml_threadpool_t {
	params := C.ggml_threadpool_params_default(C.int(n))
	// Between decodes, spin for some milliseconds, which is longer than sampling
	// takes, then sleep.
	params.poll = 1
	return C.ggml_threadpool_new(&params)
}

func (s *session) Free() {
	s.worker.free()
	if s.projector != nil {
		s.projector.free()
		s.imageBatch.free()
	}
	C.llama_batch_free(s.batch)
	C.llama_free(s.ctx)
	if !s.sharesPool {
		C.ggml_threadpool_free(s.pool)
	}
	s.interrupts.free()
}

func (s *session) Decode(batch []decode.Entry, sharedPrefix bool) decode.Outcome {
	tokens := unsafe.Slice(s.batch.token, s.rows)
	positions := unsafe.Slice(s.batch.pos, s.rows)
	counts := unsafe.Slice(s.batch.n_seq_id, s.rows)
	sequences := unsafe.Slice(s.batch.seq_id, s.rows)
	logits := unsafe.Slice(s.batch.logits, s.rows)
	for i, e := range batch {
		tokens[i] = C.llama_token(e.Token)
		positions[i] = C.llama_pos(e.Position)
		counts[i] = 1
		*sequences[i] = C.llama_seq_id(e.Sequence)
		logits[i] = 0
		if e.Logits {
			logits[i] = 1
		}
	}
	s.batch.n_tokens = C.int32_t(len(batch))
	outcome := s.compute(s.batch, sharedPrefix, wanted(batch))
	s.computed = s.computed || outcome == decode.Computed
	return outcome
}

// wanted is the rows of the output layer that each entry with logits wants; nil: all
// want all.
func wanted(batch []decode.Entry) [][]int32 {
	if !slices.ContainsFunc(batch, func(e decode.Entry) bool { return e.Logits && len(e.Only) > 0 }) {
		return nil
	}
	var rows [][]int32
	for _, e := range batch {
		if e.Logits {
			rows = append(rows, e.Only)
		}
	}
	return rows
}

// compute decodes a batch, with tiled attention or not, and the rows of the output layer
// that are wanted; nil: all.
func (s *session) compute(batch C.struct_llama_batch, tiles bool, rows [][]int32) decode.Outcome {
	s.turn.Lock()
	defer s.turn.Unlock()
	if rows != nil && s.sharesPrefixes { // other models compute tokens in another order
		matrix.Want(rows)
		defer matrix.WantAll()
	}
	threads := C.int32_t(s.governor.begin(time.Now()))
	defer func() { s.governor.end(time.Now()) }()
	C.llama_set_n_threads(s.ctx, threads, threads)
	switch s.worker.decode(batch, tiles) {
	case 0:
		return decode.Computed
	case 1:
		return decode.CacheFull
	case 2:
		if !s.sharesPrefixes {
			return decode.Failed // the recurrent state was overwritten
		}
		return decode.Interrupted
	}
	return decode.Failed
}

func (s *session) Logits(row int) []float32 {
	p := C.llama_get_logits_ith(s.ctx, C.int32_t(row))
	return unsafe.Slice((*float32)(unsafe.Pointer(p)), s.size)
}

func (s *session) CopySequence(src, dst, n int) {
	C.llama_memory_seq_cp(s.memory, C.llama_seq_id(src), C.llama_seq_id(dst), 0, C.llama_pos(n))
}

func (s *session) RemoveSequence(id int) {
	C.llama_memory_seq_rm(s.memory, C.llama_seq_id(id), -1, -1)
}

func (s *session) Truncate(id, n int) {
	C.llama_memory_seq_rm(s.memory, C.llama_seq_id(id), C.llama_pos(n), -1)
}

func (s *session) SharesPrefixes() bool { return s.sharesPrefixes }

// Independent knows operations that were left to ggml's kernels for the CPU. Those of other
// devices are not told.
func (s *session) Independent() bool {
	return s.computed && s.sharesPrefixes && !s.worker.leftToGGML() && bool(C.shim_only_cpu())
}

func (s *session) HasStart(id int) bool {
	return C.llama_memory_seq_pos_min(s.memory, C.llama_seq_id(id)) == 0
}

func (s *session) Interrupt() {
	s.sink.interrupting.Store(true)
	s.interrupts.raise()
}

func (s *session) Resume() {
	s.sink.interrupting.Store(false)
	s.interrupts.lower()
}
