package runner

import (
	"encoding/binary"
	"hash/maphash"
	"math"
	"reflect"
)

// requestKey identifies equal requests within one server process.
type requestKey uint64

// keyOf hashes req, any of the requests of the engine package. It hashes by
// reflection instead of encoding, to allocate no copy: after a crash, each request
// is hashed for an hour.
func keyOf(seed maphash.Seed, req any) requestKey {
	var hash maphash.Hash
	hash.SetSeed(seed)
	write(&hash, reflect.ValueOf(req))
	return requestKey(hash.Sum64())
}

// write hashes a value with all that it points to. Lengths and types come first, so
// that the encoding is unambiguous.
func write(hash *maphash.Hash, v reflect.Value) {
	switch v.Kind() {
	case reflect.Interface, reflect.Pointer:
		writeElement(hash, v)
	case reflect.Struct:
		for i := range v.NumField() {
			write(hash, v.Field(i))
		}
	case reflect.String:
		writeText(hash, v.String())
	case reflect.Slice:
		writeSlice(hash, v)
	case reflect.Map:
		writeNumber(hash, digestMap(hash.Seed(), v))
	case reflect.Int, reflect.Int32, reflect.Int64:
		writeNumber(hash, uint64(v.Int()))
	case reflect.Float64:
		writeNumber(hash, math.Float64bits(v.Float()))
	default:
		maphash.WriteComparable(hash, v.Interface())
	}
}

func writeNumber(hash *maphash.Hash, n uint64) {
	var b [8]byte
	_, _ = hash.Write(binary.LittleEndian.AppendUint64(b[:0], n))
}

func writeText(hash *maphash.Hash, s string) {
	writeNumber(hash, uint64(len(s)))
	_, _ = hash.WriteString(s)
}

func writeElement(hash *maphash.Hash, v reflect.Value) {
	if v.IsNil() {
		_ = hash.WriteByte(0)
		return
	}
	_ = hash.WriteByte(1)
	writeText(hash, v.Elem().Type().Name())
	write(hash, v.Elem())
}

func writeSlice(hash *maphash.Hash, v reflect.Value) {
	writeNumber(hash, uint64(v.Len()))
	if v.Type().Elem().Kind() == reflect.Uint8 {
		_, _ = hash.Write(v.Bytes())
		return
	}
	for i := range v.Len() {
		write(hash, v.Index(i))
	}
}

// digestMap is independent of the order of entries.
func digestMap(seed maphash.Seed, v reflect.Value) uint64 {
	sum := uint64(v.Len())
	for key, value := range v.Seq2() {
		var hash maphash.Hash
		hash.SetSeed(seed)
		write(&hash, key)
		write(&hash, value)
		sum += hash.Sum64()
	}
	return sum
}
