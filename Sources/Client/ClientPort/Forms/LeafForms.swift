// SPDX-License-Identifier: Apache-2.0
package import FirestoreJSON
package import FirestoreModel

// Numbers, times and names. Times are RFC 3339 texts, and durations are milliseconds.

/// A count, size or number. Rejects very large values: values from other programs are added, and the sum could
/// overflow.
extension Int: JSONFormed {
  private static let largest: Int64 = 1 << 42

  package func json(_ context: JSONContext) -> JSONSyntax { JSONSyntax(.integer(Int64(self))) }

  package init(json: JSONSyntax, _ context: JSONContext) throws(JSONError) {
    let number = try Int64(json: json, context)
    guard (0...Self.largest).contains(number) else {
      throw json.error("\(number) is out of range. Use a number from 0 to \(Self.largest).")
    }
    self = Int(number)
  }
}

extension Int64: JSONFormed {
  package func json(_ context: JSONContext) -> JSONSyntax { JSONSyntax(.integer(self)) }

  package init(json: JSONSyntax, _ context: JSONContext) throws(JSONError) {
    guard case .integer(let number) = json.kind else {
      throw json.error("Expected an integer, found \(json.kindName).")
    }
    self = number
  }
}

extension Int32: JSONFormed {
  package func json(_ context: JSONContext) -> JSONSyntax { JSONSyntax(.integer(Int64(self))) }

  package init(json: JSONSyntax, _ context: JSONContext) throws(JSONError) {
    guard let number = Int32(exactly: try Int64(json: json, context)) else {
      throw json.error("The number is too large.")
    }
    self = number
  }
}

extension Bool: JSONFormed {
  package func json(_ context: JSONContext) -> JSONSyntax { JSONSyntax(.boolean(self)) }

  package init(json: JSONSyntax, _ context: JSONContext) throws(JSONError) {
    guard case .boolean(let flag) = json.kind else { throw json.error("Expected a boolean, found \(json.kindName).") }
    self = flag
  }
}

extension Double: JSONFormed {
  package func json(_ context: JSONContext) -> JSONSyntax { JSONSyntax(isFinite ? .double(self) : .null) }

  package init(json: JSONSyntax, _ context: JSONContext) throws(JSONError) {
    switch json.kind {
    case .double(let number): self = number
    case .integer(let number): self = Double(number)
    default: throw json.error("Expected a number, found \(json.kindName).")
    }
  }
}

/// The form of a duration: milliseconds with nanosecond precision. Durations that exceed 64 bits are clamped.
extension Duration: JSONFormed {
  package func json(_ context: JSONContext) -> JSONSyntax {
    let (seconds, attoseconds) = components
    if attoseconds.isMultiple(of: 1_000_000_000_000_000) {
      let (product, isTooLong) = seconds.multipliedReportingOverflow(by: 1000)
      let (sum, overflows) = product.addingReportingOverflow(attoseconds / 1_000_000_000_000_000)
      return (isTooLong || overflows ? (seconds < 0 ? Int64.min : .max) : sum).json(context)
    }
    return (Double(seconds) * 1000 + Double(attoseconds / 1_000_000_000) / 1e6).json(context)
  }

  package init(json: JSONSyntax, _ context: JSONContext) throws(JSONError) {
    if case .integer(let milliseconds) = json.kind {
      self = .milliseconds(milliseconds)
      return
    }
    let nanoseconds = (try Double(json: json, context) * 1e6).rounded()
    self = Int64(exactly: nanoseconds).map { .nanoseconds($0) } ?? .milliseconds(nanoseconds < 0 ? Int64.min : .max)
  }
}

/// The form of a time: RFC 3339 text, or seconds and nanoseconds if the time is outside of Firestore's range.
extension Timestamp: JSONFormed {
  package func json(_ context: JSONContext) -> JSONSyntax {
    if isValid { return JSONSyntax(.string(rfc3339Text)) }
    return JSONSyntax(.array([seconds.json(context), nanoseconds.json(context)]))
  }

  package init(json: JSONSyntax, _ context: JSONContext) throws(JSONError) {
    if case .array(let parts) = json.kind, parts.count == 2 {
      self.init(seconds: try Int64(json: parts[0], context), nanoseconds: try Int32(json: parts[1], context))
      return
    }
    guard let time = Timestamp(rfc3339: try json.text()) else {
      throw json.error("Invalid time \"\(try json.text())\". Use RFC 3339, such as 2026-03-02T11:58:03Z.")
    }
    self = time
  }
}

extension SnapshotVersion: JSONFormed {
  package func json(_ context: JSONContext) -> JSONSyntax { timestamp.json(context) }
  package init(json: JSONSyntax, _ context: JSONContext) throws(JSONError) {
    self.init(try Timestamp(json: json, context))
  }
}

extension BatchID: JSONFormed {
  package func json(_ context: JSONContext) -> JSONSyntax { rawValue.json(context) }
  package init(json: JSONSyntax, _ context: JSONContext) throws(JSONError) {
    self.init(try Int64(json: json, context))
  }
}

/// An enumeration that is written by name, although its raw values are not its names.
protocol JSONNamed: JSONFormed, Equatable {
  static var names: [(Self, String)] { get }
}

extension JSONNamed {
  package func json(_ context: JSONContext) -> JSONSyntax {
    JSONSyntax(.string(Self.names.first { $0.0 == self }?.1 ?? ""))
  }

  package init(json: JSONSyntax, _ context: JSONContext) throws(JSONError) {
    let text = try json.text()
    guard let found = Self.names.first(where: { $0.1 == text }) else { throw json.error("Unknown value \"\(text)\".") }
    self = found.0
  }
}

/// The form of an enumeration without values is its name.
extension JSONFormed where Self: RawRepresentable, RawValue == String {
  package func json(_ context: JSONContext) -> JSONSyntax { JSONSyntax(.string(rawValue)) }

  package init(json: JSONSyntax, _ context: JSONContext) throws(JSONError) {
    guard let value = Self(rawValue: try json.text()) else { throw json.error("Unknown value \"\(try json.text())\".") }
    self = value
  }
}

extension Array: JSONFormed where Element: JSONFormed {
  package func json(_ context: JSONContext) -> JSONSyntax { JSONSyntax(.array(map { $0.json(context) })) }

  package init(json: JSONSyntax, _ context: JSONContext) throws(JSONError) {
    guard case .array(let elements) = json.kind else { throw json.error("Expected a list, found \(json.kindName).") }
    self = try elements.map { element throws(JSONError) in try Element(json: element, context) }
  }
}

/// The name as the Firestore documentation spells it: `permission-denied`.
extension StatusCode: JSONFormed {
  package func json(_ context: JSONContext) -> JSONSyntax { JSONSyntax(.string(name)) }

  package init(json: JSONSyntax, _ context: JSONContext) throws(JSONError) {
    let name = try json.text()
    guard let code = Self.allCases.first(where: { $0.name == name }) else {
      throw json.error("Unknown status \"\(name)\".")
    }
    self = code
  }
}

extension RPCStatus: JSONRecord {
  package static func form(_ form: inout JSONForm, _ it: Self?) throws(JSONError) -> Self {
    Self(
      try form("code", it?.code), try form.text("message", it?.message),
      isForeign: try form.optional("foreign", it?.isForeign))
  }
}

extension DatabaseID: JSONRecord {
  package static func form(_ form: inout JSONForm, _ it: Self?) throws(JSONError) -> Self {
    Self(project: try form.word("project", it?.project), database: try form.word("database", it?.database))
  }
}

extension ResourcePath: JSONFormed {
  package func json(_ context: JSONContext) -> JSONSyntax {
    JSONSyntax(.string((context.redaction?.path(self) ?? self).text))
  }

  package init(json: JSONSyntax, _ context: JSONContext) throws(JSONError) { self.init(try json.text()) }
}

extension DocumentKey: JSONFormed {
  package func json(_ context: JSONContext) -> JSONSyntax { path.json(context) }

  package init(json: JSONSyntax, _ context: JSONContext) throws(JSONError) {
    guard let key = DocumentKey(try ResourcePath(json: json, context)) else {
      throw json.error("\"\(try json.text())\" is not the path of a document.")
    }
    self = key
  }
}

extension FieldPath: JSONFormed {
  package func json(_ context: JSONContext) -> JSONSyntax { JSONSyntax(.string(canonicalText)) }

  package init(json: JSONSyntax, _ context: JSONContext) throws(JSONError) {
    let text = try json.text()
    do throws(ModelError) { self = try FieldPath(canonicalText: text) } catch { throw json.error(error.message) }
  }
}
