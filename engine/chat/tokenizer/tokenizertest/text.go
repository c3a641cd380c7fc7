package tokenizertest

import (
	"math/rand/v2"
	"strings"
)

// scraps are what pre-tokenizers tell apart.
var scraps = []string{
	"a", "b", "e", "word", "Word", "WORD", "mixedCase", "XMLHttp", "don't", "WE'RE", "'s", "'S", "'ll", "'Ve", "'", "'x",
	"0", "1", "12", "123", "1234", "12345", "1234567", "²", "½", "٣٤٥", "１２３",
	" ", " ", " ", "  ", "   ", "\t", "\n", "\n\n", "\r\n", " \n", "\n ", "\v", "\f", "\u0085", "\u00a0", "\u2003", "\u3000", "\u2028",
	".", ",", "!", "?", "...", "…", "。", "、", "،", "۔", "(", ")", "[", "]", "{", "}", "<", ">", "=", "==", "+", "-", "_", "/", "//", "\\", "|", "~", "~~", "`",
	"^", "$", "€", "£", "©", "°", "#", "@", "&", "%", "*", "\"", ";", ":", "～", "！", "（", "「", "«", "—", "‘",
	"é", "É", "ß", "Ω", "ω", "Ж", "ж", "ǅ", "ʰ", "ª", "ſ", "K", "İ", "ı", "\u0301", "e\u0301", "\u20dd", "Ａ", "ａ",
	"一", "二三", "龥", "㐀", "豈", "ひ", "カタ", "ｶ", "가", "힣", "ᄀ", "ไทย", "ລາວ", "ក", "မ", "अ", "हिं", "ا", "ש", "𠀀", "𝐀", "𐐀", "𞤀",
	"🙂", "👩‍💻", "🇫🇷", "\u200b", "\u200d", "\ufeff", "\u00ad", "\x00", "\x01", "\x1c", "\x7f", "\ue000", "\U000e0041", "\U00100000", "\u0378", "\u1c8a", "\ufffd",
	"<sentinel:12>", "<sentinel:>", "IMGIMGABZ", "IMGIMGABCDEZ", "http://", "foo_bar", "<b>", "</b>", "{\"a\": 1}",
}

// Text is a text at random: scraps of many alphabets, signs and spaces, some of
// them several times.
func Text(r *rand.Rand, length int) string {
	var b strings.Builder
	for range length {
		s := scraps[r.IntN(len(scraps))]
		n := 1
		if r.IntN(12) == 0 {
			n = 2 + r.IntN(6)
		}
		b.WriteString(strings.Repeat(s, n))
	}
	return b.String()
}

// Prose is a text as people and programs write it.
const Prose = "The quick brown fox, aged 12, didn't jump over 3,141.59 lazy dogs — it'd rather nap. " +
	"He said: \"We'll see!\" (and laughed)... L'été à Zürich coûte 25 €.\n\n" +
	"func main() {\n\tfor i := 0; i < 10; i++ {\n\t\tfmt.Println(\"héllo\", i) // wörld\n\t}\n}\n" +
	"{\"name\": \"get_weather\", \"arguments\": {\"city\": \"São Paulo\", \"days\": 3}}\n" +
	"今天天气很好，我们去公园吧。日本語のテキストと한국어 문장도 있습니다。 Привет, мир! Γειά σου Κόσμε. مرحبا بالعالم ١٢٣ नमस्ते दुनिया\n" +
	"    indented   with   blanks\t\ttabs\r\nand CRLF 🙂👩‍💻🇫🇷 end_of_text <b>bold</b> a<b && c>d || e~f\n"
