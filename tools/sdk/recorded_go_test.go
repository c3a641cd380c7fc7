package main

import (
	"encoding/json"
	"errors"
	"fmt"
	"maps"
	"reflect"
	"slices"
	"strings"
	"testing"

	"github.com/anthropics/anthropic-sdk-go"
	anthropicpages "github.com/anthropics/anthropic-sdk-go/packages/pagination"
	"github.com/openai/openai-go/v3"
	openaipages "github.com/openai/openai-go/v3/packages/pagination"
	"github.com/openai/openai-go/v3/responses"
	"github.com/openai/openai-go/v3/shared"
)

// goTypes are the types of the Go SDKs, by the names in testdata/types.yaml.
var goTypes = map[string]reflect.Type{
	"openai.ChatCompletion":                    reflect.TypeFor[openai.ChatCompletion](),
	"openai.ChatCompletionChunk":               reflect.TypeFor[openai.ChatCompletionChunk](),
	"openai.Completion":                        reflect.TypeFor[openai.Completion](),
	"openai.CreateEmbeddingResponse":           reflect.TypeFor[openai.CreateEmbeddingResponse](),
	"openai.ImagesResponse":                    reflect.TypeFor[openai.ImagesResponse](),
	"openai.ImageGenStreamEventUnion":          reflect.TypeFor[openai.ImageGenStreamEventUnion](),
	"openai.Model":                             reflect.TypeFor[openai.Model](),
	"Page[openai.Model]":                       reflect.TypeFor[openaipages.Page[openai.Model]](),
	"responses.Response":                       reflect.TypeFor[responses.Response](),
	"responses.ResponseStreamEventUnion":       reflect.TypeFor[responses.ResponseStreamEventUnion](),
	"shared.ErrorObject":                       reflect.TypeFor[shared.ErrorObject](),
	"anthropic.Message":                        reflect.TypeFor[anthropic.Message](),
	"anthropic.MessageStreamEventUnion":        reflect.TypeFor[anthropic.MessageStreamEventUnion](),
	"anthropic.BetaMessage":                    reflect.TypeFor[anthropic.BetaMessage](),
	"anthropic.BetaRawMessageStreamEventUnion": reflect.TypeFor[anthropic.BetaRawMessageStreamEventUnion](),
	"anthropic.MessageTokensCount":             reflect.TypeFor[anthropic.MessageTokensCount](),
	"anthropic.ModelInfo":                      reflect.TypeFor[anthropic.ModelInfo](),
	"Page[anthropic.ModelInfo]":                reflect.TypeFor[anthropicpages.Page[anthropic.ModelInfo]](),
	"anthropic.ErrorResponse":                  reflect.TypeFor[anthropic.ErrorResponse](),
}

// judgeGo unmarshals each value as the SDK does and walks over what came out.
func judgeGo(t *testing.T, cases []typedCase) map[int]string {
	t.Helper()
	problems := map[int]string{}
	for _, c := range cases {
		goType, ok := goTypes[c.Type]
		if !ok {
			t.Fatalf("goTypes has no %s", c.Type)
		}
		text, err := json.Marshal(c.Value)
		if err != nil {
			t.Fatal(err)
		}
		v := reflect.New(goType)
		err = json.Unmarshal(text, v.Interface())
		if err == nil {
			err = misfits(v.Elem(), "")
		}
		if err != nil {
			problems[c.ID] = err.Error()
		}
	}
	return problems
}

// field is what the SDKs' packages respjson, two with one interface, say of a
// field of a reply.
type field interface {
	Valid() bool
	Raw() string
}

// misfits says what of a value its type has no place for, lacks, or could not
// decode. Enums other than those of one value are open in Go.
func misfits(v reflect.Value, at string) error {
	var errs []error
	switch v.Kind() {
	case reflect.Slice:
		for i := range v.Len() {
			errs = append(errs, misfits(v.Index(i), fmt.Sprintf("%s/%d", at, i)))
		}
	case reflect.Map:
		for _, key := range v.MapKeys() {
			errs = append(errs, misfits(v.MapIndex(key), fmt.Sprintf("%s/%v", at, key)))
		}
	case reflect.String:
		if fixed := v.MethodByName("Default"); fixed.IsValid() && fixed.Call(nil)[0].String() != v.String() {
			return fmt.Errorf("%s is not %q", at, fixed.Call(nil)[0])
		}
	case reflect.Struct:
		known := v.FieldByName("JSON")
		if !known.IsValid() {
			return nil // a time
		}
		if extra := known.FieldByName("ExtraFields"); extra.IsValid() {
			return object(v, known, extra, at)
		}
		return union(v, at)
	}
	return errors.Join(errs...)
}

// object holds a struct to its fields and to none beside them.
func object(v, known, extra reflect.Value, at string) error {
	var errs []error
	for _, name := range extra.MapKeys() {
		errs = append(errs, fmt.Errorf("%s/%s is not in %s", at, name, v.Type()))
	}
	for i := range v.NumField() {
		declared := v.Type().Field(i)
		name, _, _ := strings.Cut(declared.Tag.Get("json"), ",")
		sent := known.FieldByName(declared.Name)
		if declared.Name == "JSON" || !declared.IsExported() || !sent.IsValid() {
			continue
		}
		at := at + "/" + name
		_, constant := declared.Tag.Lookup("default")
		required := constant || strings.Contains(declared.Tag.Get("api"), "required")
		switch state := sent.Interface().(field); {
		case state.Raw() == "" && required:
			errs = append(errs, fmt.Errorf("%s is missing in a %s", at, v.Type()))
		case state.Raw() == "" || state.Raw() == "null":
		case !state.Valid():
			errs = append(errs, fmt.Errorf("%s cannot be %s in a %s", at, state.Raw(), v.Type()))
		default:
			errs = append(errs, misfits(v.Field(i), at))
		}
	}
	return errors.Join(errs...)
}

// union holds a value to the member that its tag names, or to the one that
// fits where there is no tag.
func union(v reflect.Value, at string) error {
	if tagged := v.MethodByName("AsAny"); tagged.IsValid() {
		member := tagged.Call(nil)[0]
		if member.IsNil() {
			return fmt.Errorf("%s is no member of %s", at, v.Type())
		}
		return misfits(member.Elem(), at)
	}
	tried := map[string]error{}
	for i := range v.NumMethod() {
		name := v.Type().Method(i).Name
		if as := v.Method(i); strings.HasPrefix(name, "As") && as.Type().NumIn() == 0 && as.Type().NumOut() == 1 {
			err := misfits(as.Call(nil)[0], at)
			if err == nil {
				return nil
			}
			tried[name] = err
		}
	}
	return fmt.Errorf("%s fits no member of %s: %w", at, v.Type(), errors.Join(slices.Collect(maps.Values(tried))...))
}
