// SPDX-License-Identifier: Apache-2.0
import TerminalCanvas

/// Text broken between words.
enum WrappedText {
  /// Lines of at most `width` columns; a longer word is cut.
  static func lines(_ text: String, width: Int, _ ellipsis: String) -> [String] {
    var lines: [String] = []
    var line = ""
    for word in text.split(separator: " ") {
      let candidate = line.isEmpty ? String(word) : line + " " + word
      if SafeText.columns(of: candidate) <= width {
        line = candidate
      } else {
        if !line.isEmpty { lines.append(line) }
        line = SafeText.truncated(String(word), to: width, ellipsis: ellipsis)
      }
    }
    return line.isEmpty ? lines : lines + [line]
  }
}
