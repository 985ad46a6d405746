// SPDX-License-Identifier: Apache-2.0

/// Finds the line of a key in a TOML file. The TOML parser reports positions only for syntax errors.
package struct SourceLines {
  private let lines: [Substring]

  package init(_ text: String) {
    lines = text.split(omittingEmptySubsequences: false) { $0.isNewline }
  }

  /// The line that sets a key, counted from 1. If `section` is `nil`, the key is before any section. Returns `nil` if
  /// no such line is found.
  package func line(of key: String, in section: String?) -> Int? {
    var current: String?
    for (index, line) in lines.enumerated() {
      let line = line.drop { $0 == " " || $0 == "\t" }
      if line.first == "[" {
        current = line.dropFirst().prefix { $0 != "]" }.trimmed
        if section == nil, current == key { return index + 1 }
        continue
      }
      guard current == section else { continue }
      for spelling in [key, "\"\(key)\"", "'\(key)'"] where line.hasPrefix(spelling) {
        if line.dropFirst(spelling.count).first(where: { $0 != " " && $0 != "\t" }).map({ "=.".contains($0) }) == true {
          return index + 1
        }
      }
    }
    return nil
  }
}

extension Substring {
  fileprivate var trimmed: String {
    let head = drop { $0 == " " }
    return String(head.prefix { $0 != " " })
  }
}
