package runner

import (
	"encoding/binary"
	"hash/maphash"
	"math"
	"reflect"
)

// requestKey tells requests apart, within one process of the server.
type requestKey uint64

// keyOf is the key of req, any of the requests of the engine package: the same
// for equal ones. It takes the time to read the memory of req, and no memory of
// its own, since each request needs one for an hour after a crash.
func keyOf(seed maphash.Seed, req any) requestKey {
	var hash maphash.Hash
	hash.SetSeed(seed)
	write(&hash, reflect.ValueOf(req))
	return requestKey(hash.Sum64())
}

// write writes a value to a hash, with all that it points to. Lengths and types
// go first, so that no two values write the same.
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

// digestMap is the same in whatever order the entries come.
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
