package inspection

import (
	"fmt"
	"math"
	"slices"
	"strings"
)

// typeByte and the others are types of tokens.
const (
	typeNormal = 1
	typeByte   = 6
)

// checkSpelling wants tokens that stand for bytes to say which, and those that
// are spelled in another way than text not to be made too long by it.
func (v vocabulary) checkSpelling() error {
	types := v.arrays[typesKey].Numbers
	spelt := 0
	for i, token := range v.tokens() {
		kind := float64(typeNormal)
		if i < len(types) {
			kind = types[i]
		}
		if v.tokenizer.bytes && kind == typeByte && !isByteToken(token) {
			return fmt.Errorf("%s has %.40q as token %d, of the type of bytes; it must be written like <0x0A>", tokensKey, token, i)
		}
		if kind == typeByte && v.file.String(tokenizerKey) == "bert" {
			return fmt.Errorf("%s says that token %d, %.40q, is a byte; a tokenizer bert has none", typesKey, i, token)
		}
		if v.tokenizer.merges && kind == typeNormal {
			spelt += unspellable(token) * len(token)
		}
	}
	if spelt > maxSpelt {
		return fmt.Errorf("%s has tokens with so many letters that a tokenizer %s cannot spell that they would take %d bytes; %d are allowed",
			tokensKey, v.file.String(tokenizerKey), spelt, maxSpelt)
	}
	return v.checkBytes()
}

func isByteToken(token string) bool {
	if len(token) != 6 || !strings.HasPrefix(token, "<0x") || token[5] != '>' {
		return false
	}
	return strings.Trim(token[3:5], "0123456789ABCDEFabcdef") == ""
}

// unspellable counts the letters of a token that stand for no byte. A tokenizer
// gpt2 spells bytes as letters below U+0144.
func unspellable(token string) int {
	n := 0
	for _, r := range token {
		if r >= 0x144 {
			n++
		}
	}
	return n
}

// checkBytes wants a tokenizer rwkv to have a token for each byte: at a text that
// begins like a longer one, and goes on otherwise, it never ends without.
func (v vocabulary) checkBytes() error {
	if v.file.String(tokenizerKey) != "rwkv" {
		return nil
	}
	single := [256]bool{}
	for _, token := range v.tokens() {
		if raw := unescaped(token); len(raw) == 1 {
			single[raw[0]] = true
		}
	}
	if b := slices.Index(single[:], false); b >= 0 {
		return fmt.Errorf("%s has no token for the byte %#02x; a tokenizer rwkv has one for each", tokensKey, b)
	}
	return nil
}

// unescaped are the bytes of a token of a tokenizer rwkv.
func unescaped(token string) []byte {
	var raw []byte
	for i := 0; i < len(token); i++ {
		if token[i] != '\\' || i+1 == len(token) {
			raw = append(raw, token[i])
			continue
		}
		i++
		switch token[i] {
		case 't':
			raw = append(raw, '\t')
		case 'n':
			raw = append(raw, '\n')
		case 'r':
			raw = append(raw, '\r')
		case 'x':
			if i+2 < len(token) {
				raw = append(raw, hex(token[i+1])<<4+hex(token[i+2]))
				i += 2
			}
		default:
			raw = append(raw, token[i])
		}
	}
	return raw
}

func hex(c byte) byte {
	if c >= 'a' {
		return c - 'a' + 10
	}
	return c - '0'
}

// checkCharsmap wants the table of normalization to end where llama.cpp stops
// reading: a number of bytes, so many bytes, and texts that end in NUL.
func (v vocabulary) checkCharsmap() error {
	table, ok := v.arrays[charsmapKey]
	if !ok || v.file.String(tokenizerKey) != "t5" {
		return nil
	}
	n := len(table.Numbers)
	size := float64(0)
	for i := range min(n, 4) {
		size += math.Mod(table.Numbers[i]+256, 256) * float64(int64(1)<<(8*i))
	}
	if n < 6 || size+4 >= float64(n) || table.Numbers[n-1] != 0 {
		return fmt.Errorf("%s has %d bytes, and says that its first part has %.0f; there must be more behind it, and the last must be 0", charsmapKey, n, size)
	}
	return nil
}
