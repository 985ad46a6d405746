// SPDX-License-Identifier: Apache-2.0
import TerminalCanvas

/// Paths in narrow columns: the end tells documents apart, so the middle goes first, then the beginning. Of a single
/// long id the beginning, by which lists are sorted, and more of the end stay.
package enum PathText {
  /// `chat/lobby/messages/m0912` → `chat/lobby/…/m0912` → `chat/…/m0912` → `…/m0912` → `m0912` → `…912`; `1nb…uilkBJ`.
  package static func fitted(_ path: String, to width: Int, _ ellipsis: String) -> String {
    if SafeText.columns(of: path) <= width { return path }
    let segments = path.split(separator: "/", omittingEmptySubsequences: false)
    guard let last = segments.last, segments.count > 1 else { return end(of: path, to: width, ellipsis) }
    for kept in stride(from: segments.count - 2, through: 0, by: -1) {
      let head = segments.prefix(kept).map { $0 + "/" }.joined()
      let candidate = head + ellipsis + "/" + last
      if SafeText.columns(of: candidate) <= width { return candidate }
    }
    return end(of: String(last), to: width, ellipsis)
  }

  /// The last segment, or the end of it.
  package static func last(_ path: String, to width: Int, _ ellipsis: String) -> String {
    end(of: path.split(separator: "/").last.map(String.init) ?? path, to: width, ellipsis)
  }

  private static func end(of text: String, to width: Int, _ ellipsis: String) -> String {
    if SafeText.columns(of: text) <= width { return text }
    guard width > 1 else { return SafeText.truncated(text, to: width, ellipsis: ellipsis) }
    // The end of an identifier says more than its beginning: generated ones in a row share their beginnings.
    var head = ""
    var tail = ""
    var used = 1
    if width >= 8 {
      for character in text {
        let columns = SafeText.columns(of: String(character))
        if used + columns > 1 + (width - 1) / 3 { break }
        used += columns
        head.append(character)
      }
    }
    for character in text.reversed() {
      used += SafeText.columns(of: String(character))
      if used > width { break }
      tail.insert(character, at: tail.startIndex)
    }
    return head + ellipsis + tail
  }
}

/// Text broken between words.
package enum WrappedText {
  /// Lines of at most `width` columns; a longer word is cut.
  package static func lines(_ text: String, width: Int, _ ellipsis: String) -> [String] {
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
