// SPDX-License-Identifier: Apache-2.0
package import FirestoreModel

/// The fields of a document as lines that can be folded. Each line has the backend's value next to the local value.
package struct FieldTree {
  package struct Line: Hashable {
    package var path: [String]
    package var depth: Int
    package var name: String
    package var server: Value?
    package var local: Value?
    /// Whether the field is unfolded; `nil` for a field without subfields.
    package var isOpen: Bool?

    package enum Change: Hashable { case none, added, modified, removed }
    package var change: Change

    package init(
      path: [String], depth: Int, name: String, server: Value? = nil, local: Value? = nil, isOpen: Bool? = nil,
      change: Change
    ) {
      self.path = path
      self.depth = depth
      self.name = name
      self.server = server
      self.local = local
      self.isOpen = isOpen
      self.change = change
    }
  }

  package enum Folding: Hashable, Sendable { case automatic, open, folded }

  package var folding: Folding
  package var toggled: Set<[String]>

  package init(folding: Folding, toggled: Set<[String]>) {
    (self.folding, self.toggled) = (folding, toggled)
  }

  /// Containers with more entries than this start folded, unless one of their values changed.
  private static let smallContainer = 4

  package func lines(server: Fields?, local: Fields?) -> [Line] {
    var lines: [Line] = []
    collectMap(server ?? Fields(), local ?? Fields(), below: [], into: &lines)
    return lines
  }

  private func collectMap(_ server: Fields, _ local: Fields, below path: [String], into lines: inout [Line]) {
    for name in FieldChange.mergedNames(server, local) {
      collect(name, server[name], local[name], below: path, into: &lines)
    }
  }

  private func collect(
    _ name: String, _ server: Value?, _ local: Value?, below parent: [String], into lines: inout [Line]
  ) {
    let path = parent + [name]
    let change: Line.Change =
      server == nil ? .added : local == nil ? .removed : server == local ? .none : .modified
    let count = max(Self.count(server) ?? 0, Self.count(local) ?? 0)
    var line = Line(
      path: path, depth: parent.count, name: name, server: server, local: local, isOpen: nil, change: change)
    guard count > 0, Self.sameShape(server, local) else {
      lines.append(line)
      return
    }
    let isOpen = isOpen(path, count: count, isChanged: change != .none)
    line.isOpen = isOpen
    lines.append(line)
    guard isOpen else { return }
    switch (server, local) {
    case (.map(let a)?, .map(let b)?): collectMap(a, b, below: path, into: &lines)
    case (.map(let a)?, nil): collectMap(a, Fields(), below: path, into: &lines)
    case (nil, .map(let b)?): collectMap(Fields(), b, below: path, into: &lines)
    default:
      let (a, b) = (Self.elements(server), Self.elements(local))
      for index in 0..<max(a.count, b.count) {
        collect(
          "\(index)", index < a.count ? a[index] : nil, index < b.count ? b[index] : nil, below: path, into: &lines)
      }
    }
  }

  private func isOpen(_ path: [String], count: Int, isChanged: Bool) -> Bool {
    let byDefault =
      switch folding {
      case .open: true
      case .folded: false
      case .automatic: count <= Self.smallContainer || (isChanged && count <= 40)
      }
    return byDefault != toggled.contains(path)
  }

  private static func count(_ value: Value?) -> Int? {
    switch value {
    case .map(let fields)?: fields.count
    case .array(let values)?: values.count
    default: nil
    }
  }

  private static func elements(_ value: Value?) -> [Value] {
    if case .array(let values)? = value { values } else { [] }
  }

  /// Whether both values are maps or both are arrays. A missing value matches either.
  private static func sameShape(_ left: Value?, _ right: Value?) -> Bool {
    switch (left, right) {
    case (.map?, .map?), (.array?, .array?), (.map?, nil), (nil, .map?), (.array?, nil), (nil, .array?): true
    default: false
    }
  }
}

/// One field that differs between two versions of a document.
package struct FieldChange {
  package var path: FieldPath
  /// The old value; `nil` for an added field.
  package var old: Value?
  /// The new value; `nil` for a removed field.
  package var new: Value?

  /// The fields that changed, in field order. Maps are compared field by field. Arrays are compared as a whole.
  package static func between(_ old: Fields, _ new: Fields) -> [FieldChange] {
    var changes: [FieldChange] = []
    collect(old, new, below: nil, into: &changes)
    return changes
  }

  private static func collect(_ old: Fields, _ new: Fields, below parent: FieldPath?, into changes: inout [FieldChange])
  {
    for name in mergedNames(old, new) {
      let path = parent?.appending(name) ?? FieldPath(name)
      switch (old[name], new[name]) {
      case (.map(let before)?, .map(let after)?): collect(before, after, below: path, into: &changes)
      case (let before?, let after?) where before == after: break
      case (let before, let after): changes.append(FieldChange(path: path, old: before, new: after))
      }
    }
  }

  /// The names of all fields that either document has, in field order.
  package static func mergedNames(_ old: Fields, _ new: Fields) -> [String] {
    var names: [String] = []
    var left = old.entries[...]
    var right = new.entries[...]
    while let a = left.first, let b = right.first {
      let ordering = a.name.compareUTF8(b.name)
      names.append(ordering == .descending ? b.name : a.name)
      if ordering != .descending { left = left.dropFirst() }
      if ordering != .ascending { right = right.dropFirst() }
    }
    return names + left.map(\.name) + right.map(\.name)
  }

  /// The change as text: `status "paid"→"packed"`, `+ note "x"`, `- couponId`.
  package func text(arrow: String) -> String {
    let name = path.segments.joined(separator: ".")
    switch (old, new) {
    case (nil, .serverTimestamp?): return "+\(name) server time"
    case (nil, let new?): return "+\(name) \(ValueText.short(new))"
    case (_?, nil): return "-\(name)"
    case (let old?, let new?):
      if case .serverTimestamp = new { return "\(name)\(arrow)server time" }
      let (before, after) = (ValueText.short(old), ValueText.short(new))
      return before == after ? "\(name) changed" : "\(name) \(before)\(arrow)\(after)"
    case (nil, nil): return name
    }
  }
}
