// SPDX-License-Identifier: Apache-2.0

extension JSONSyntax {
  /// The value on one line, with a space after colons and commas.
  package var lineText: String {
    var text = ""
    write(to: &text)
    return text
  }

  /// The value on several lines, indented by two spaces a level.
  /// - Parameter isCompact: which objects and arrays stay on one line nevertheless; empty ones always do.
  package func prettyText(isCompact: (JSONSyntax) -> Bool = { _ in false }) -> String {
    var text = ""
    writePretty(to: &text, indent: "", isCompact: isCompact)
    return text
  }

  private func write(to text: inout String) {
    switch kind {
    case .null: text += "null"
    case .boolean(let value): text += value ? "true" : "false"
    case .integer(let value): text += String(value)
    // The shortest digits that read back as the same double; always with a point or an exponent.
    case .double(let value): text += value.description
    case .string(let value): Self.write(value, to: &text)
    case .array(let elements):
      text += "["
      for (index, element) in elements.enumerated() {
        if index > 0 { text += ", " }
        element.write(to: &text)
      }
      text += "]"
    case .object(let members):
      text += "{"
      for (index, member) in members.enumerated() {
        if index > 0 { text += ", " }
        Self.write(member.name, to: &text)
        text += ": "
        member.value.write(to: &text)
      }
      text += "}"
    }
  }

  private func writePretty(to text: inout String, indent: String, isCompact: (JSONSyntax) -> Bool) {
    let inner = indent + "  "
    switch kind {
    case .array(let elements) where !elements.isEmpty && !isCompact(self):
      text += "["
      for (index, element) in elements.enumerated() {
        text += (index > 0 ? ",\n" : "\n") + inner
        element.writePretty(to: &text, indent: inner, isCompact: isCompact)
      }
      text += "\n\(indent)]"
    case .object(let members) where !members.isEmpty && !isCompact(self):
      text += "{"
      for (index, member) in members.enumerated() {
        text += (index > 0 ? ",\n" : "\n") + inner
        Self.write(member.name, to: &text)
        text += ": "
        member.value.writePretty(to: &text, indent: inner, isCompact: isCompact)
      }
      text += "\n\(indent)}"
    default: write(to: &text)
    }
  }

  /// Control characters are written as escapes, those above ASCII too, so that the text can be shown on a terminal.
  private static func write(_ string: String, to text: inout String) {
    text += "\""
    for scalar in string.unicodeScalars {
      switch scalar {
      case "\"": text += "\\\""
      case "\\": text += "\\\\"
      case "\n": text += "\\n"
      case "\r": text += "\\r"
      case "\t": text += "\\t"
      case "\u{0}"..."\u{1f}", "\u{7f}"..."\u{9f}":
        let digits = String(scalar.value, radix: 16)
        text += "\\u" + String(repeating: "0", count: 4 - digits.utf8.count) + digits
      default: text.unicodeScalars.append(scalar)
      }
    }
    text += "\""
  }
}
