// SPDX-License-Identifier: Apache-2.0

// Command patterns prints random regular expressions with texts, and what package regexp, which is RE2, says of them: one
// JSON object a line, the same ones for the same seed.
package main

import (
	"bufio"
	"encoding/json"
	"flag"
	"fmt"
	"math/rand"
	"os"
	"regexp"
	"strings"
)

// A sample is a pattern, a text and the answers of RE2. Without an error all of them are there.
type sample struct {
	Pattern string `json:"pattern"`
	Text    string `json:"text"`
	Error   string `json:"error,omitempty"`
	// Whole says that the pattern matches all of the text.
	Whole bool `json:"whole"`
	// Some says that it matches somewhere.
	Some bool `json:"some"`
	// Matches are what it matches from left to right, without empty ones right behind another.
	Matches []string `json:"matches"`
	// Replaced is the text with each match replaced by Template, which names every group.
	Replaced string `json:"replaced"`
	Template string `json:"template"`
}

// Scalars of both cases, beyond ASCII, signs, and those whose case is a matter of its own.
const alphabet = "aaabbbABc1_ -.\n\txyzZ09éÉßſKk\u212aσςΣµ😀ǅ\u00a0/[]"

type maker struct {
	*rand.Rand
	names int
}

func (m *maker) pick(choices ...string) string { return choices[m.Intn(len(choices))] }

func (m *maker) letter() string {
	if m.Intn(4) > 0 {
		return m.pick("a", "b", "A", "c")
	}
	letters := []rune(alphabet)
	return string(letters[m.Intn(len(letters))])
}

func (m *maker) text() string {
	var text strings.Builder
	for n := m.Intn(9); n > 0; n-- {
		text.WriteString(m.letter())
	}
	return text.String()
}

func (m *maker) literal() string { return regexp.QuoteMeta(m.letter()) }

func (m *maker) class() string {
	var class strings.Builder
	class.WriteString(m.pick("[", "[", "[^"))
	for n := 1 + m.Intn(3); n > 0; n-- {
		class.WriteString(m.pick(
			"a", "b", "ab", "a-c", "A-Z", "0-9", "x-z", "é", "É", "K", "\\d", "\\w", "\\s", "\\D", "\\W", "\\S", "\\-", "\\]",
			"[:alpha:]", "[:^digit:]", "[:space:]", "[:word:]", "[:punct:]", "\\pL", "\\P{Lu}", "\\p{^Ll}", "\\x41", "\\n", ".",
			"σ-ω", "_", "\\x{1F600}"))
	}
	return class.String() + "]"
}

func (m *maker) atom(depth int) string {
	switch n := m.Intn(20); {
	case n < 8 || depth == 0:
		return m.literal()
	case n < 10:
		return m.class()
	case n < 11:
		return m.pick(".", ".", "\\d", "\\w", "\\s", "\\D", "\\W", "\\S", "\\pL", "\\p{Lu}", "\\PL", "\\p{Zs}", "\\x61")
	case n < 12:
		return m.pick("^", "$", "\\b", "\\B", "\\A", "\\z", "(?m:^)", "(?m:$)")
	case n < 13:
		return m.pick("(?i)", "(?s)", "(?U)", "(?m)", "(?-i)", "(?is)", "(?i-s)", "\\Qa.b\\E", "\\Qab", "")
	case n < 16:
		return "(" + m.choice(depth-1) + ")"
	case n < 17:
		// Two of one name are refused by RE2 itself, and read by Go.
		m.names++
		return fmt.Sprintf("(?P<n%d>", m.names) + m.choice(depth-1) + ")"
	default:
		return m.pick("(?:", "(?:", "(?i:", "(?s:", "(?U:", "(?m:", "(?i-m:") + m.choice(depth-1) + ")"
	}
}

func (m *maker) quantifier() string {
	if m.Intn(3) > 0 {
		return ""
	}
	if m.Intn(40) == 0 {
		return m.pick("**", "+{2}", "{30}", "{300}", "{1000}", "{1001}", "{2,1}")
	}
	return m.pick("*", "+", "?", "*?", "+?", "??", "{2}", "{0,2}", "{1,}", "{2,3}?", "{0}", "{,2}", "{2")
}

func (m *maker) choice(depth int) string {
	var pattern strings.Builder
	for branches := 0; ; branches++ {
		for n := m.Intn(3 + depth/3); n > 0; n-- {
			pattern.WriteString(m.atom(depth) + m.quantifier())
		}
		if branches == 2 || m.Intn(3) > 0 {
			return pattern.String()
		}
		pattern.WriteString("|")
	}
}

// Mutated is a pattern with some of it changed, which often makes it none.
func (m *maker) mutated(pattern string) string {
	letters := []rune(pattern)
	for n := 1 + m.Intn(2); n > 0; n-- {
		start := m.Intn(len(letters) + 1)
		end := start + m.Intn(len(letters)-start+1)
		if end > start+2 {
			end = start + 2
		}
		part := []rune(m.pick(
			"(", ")", "[", "]", "{", "}", "*", "+", "?", "|", "\\", "^", "$", "-", "1", "(?", ":", "\\p{", "[:", ",", "\\Q", "\\E",
			"(?i", "(?P<", ">", "&", "\\x", "\\8", "\\1", "\\07", "\\u", "\\/", "\\é", "\\_"))
		letters = append(append(append([]rune{}, letters[:start]...), part...), letters[end:]...)
	}
	return string(letters)
}

func (m *maker) sample() sample {
	s := sample{Pattern: m.choice(3), Text: m.text()}
	if m.Intn(4) == 0 {
		s.Pattern = m.mutated(s.Pattern)
	}
	if strings.Contains(s.Pattern, "(?<") {
		// RE2 reads it since 2023, Go since 1.22.
		return m.sample()
	}
	pattern, err := regexp.Compile(s.Pattern)
	if err != nil {
		s.Error = err.Error()
		return s
	}
	whole, err := regexp.Compile(`\A(?:` + s.Pattern + `)\z`)
	if err != nil {
		// A quotation that nothing ends.
		whole = regexp.MustCompile(`\A(?:` + s.Pattern + `\E)\z`)
	}
	s.Whole, s.Some = whole.MatchString(s.Text), pattern.MatchString(s.Text)
	s.Matches = pattern.FindAllString(s.Text, -1)
	if s.Matches == nil {
		s.Matches = []string{}
	}
	for group := 0; group <= pattern.NumSubexp(); group++ {
		s.Template += fmt.Sprintf("<${%d}>", group)
	}
	s.Replaced = pattern.ReplaceAllString(s.Text, s.Template)
	s.Template = strings.NewReplacer("{", "", "}", "").Replace(s.Template)
	return s
}

func main() {
	count := flag.Int("count", 10000, "how many")
	seed := flag.Int64("seed", 1, "of the random numbers")
	flag.Parse()
	out := bufio.NewWriter(os.Stdout)
	defer out.Flush()
	encoder := json.NewEncoder(out)
	encoder.SetEscapeHTML(false)
	m := &maker{Rand: rand.New(rand.NewSource(*seed))}
	for ; *count > 0; *count-- {
		if err := encoder.Encode(m.sample()); err != nil {
			panic(err)
		}
	}
}
