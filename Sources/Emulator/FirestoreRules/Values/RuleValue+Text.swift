// SPDX-License-Identifier: Apache-2.0
import FirestoreModel

extension RuleValue {
  /// The value as a literal, cut to some characters.
  func text(atMost limit: Int) -> String {
    var writer = ValueWriter(limit: limit)
    writer.add(self)
    return writer.text.cut(to: limit)
  }
}

extension String {
  /// The text with an ellipsis in place of what is longer than some characters.
  func cut(to limit: Int) -> String { count > limit ? prefix(limit - 1) + "…" : self }
}

/// Writes values, and stops soon after its limit.
private struct ValueWriter {
  let limit: Int
  var text = ""

  private var isFull: Bool { text.utf8.count > 4 * limit }

  mutating func add(_ value: RuleValue) {
    switch value {
    case .null: text += "null"
    case .bool(let value): text += String(value)
    case .int(let value): text += String(value)
    case .float(let value): text += FloatText.text(value)
    case .string(let value): add(value)
    case .bytes(let bytes): text += "\(bytes.count) byte\(bytes.count == 1 ? "" : "s")"
    case .timestamp(let time): text += time.rfc3339Text
    case .duration(let span): add(span)
    case .latlng(let point): text += "latlng(\(FloatText.text(point.latitude)), \(FloatText.text(point.longitude)))"
    case .path(let path): text += path.segments.isEmpty ? "/" : path.text
    case .list(let values): add(values, "[", "]") { $0.add($1) }
    case .vector(let values): add(values, "vector [", "]") { $0.add(.float($1)) }
    case .set(let set): add(set)
    case .map(let map): add(map)
    case .mapDiff: text += "a difference of maps"
    case .constraint: text += "any value that the query finds"
    case .oneOf(let values): add(values, "one of [", "]") { $0.add($1) }
    }
  }

  private mutating func add(_ string: String) {
    text += "\""
    for scalar in string.unicodeScalars.prefix(limit + 1) {
      switch scalar {
      case "\"": text += "\\\""
      case "\\": text += "\\\\"
      case "\n": text += "\\n"
      case "\t": text += "\\t"
      default: text.unicodeScalars.append(scalar)
      }
    }
    text += "\""
  }

  private mutating func add(_ span: RuleDuration) {
    let sign = span.seconds < 0 || span.nanoseconds < 0 ? "-" : ""
    let digits = String(span.nanoseconds.magnitude)
    let fraction = String(repeating: "0", count: max(0, 9 - digits.count)) + digits
    text += sign + "\(span.seconds.magnitude)" + (span.nanoseconds == 0 ? "" : "." + fraction) + "s"
  }

  private mutating func add<Element>(
    _ values: [Element], _ start: String, _ end: String, _ add: (inout ValueWriter, Element) -> Void
  ) {
    text += start
    for (place, value) in values.enumerated() {
      if isFull { return }
      if place > 0 { text += ", " }
      add(&self, value)
    }
    text += end
  }

  /// Sets have no order, and what is told is to be the same each time.
  private mutating func add(_ set: RuleSet) {
    guard set.elements.count <= Self.mostSorted else {
      text += "set of \(set.elements.count) values"
      return
    }
    add(set.elements.map { $0.value.text(atMost: limit) }.sorted(), "set [", "]") { writer, text in writer.text += text
    }
  }

  private static let mostSorted = 100

  private mutating func add(_ map: RuleMap) {
    add(map.entries.sorted, "{", "}") { writer, entry in
      writer.add(entry.name)
      writer.text += ": "
      writer.add(entry.value)
    }
  }
}
