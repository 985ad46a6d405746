// SPDX-License-Identifier: Apache-2.0
import LinearPatterns
import Testing

@Suite struct PatternSyntaxTests {
  @Test func placeholder() throws { #expect(try Pattern(re2: "a").matchesWhole("a")) }
}
