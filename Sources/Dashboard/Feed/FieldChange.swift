// SPDX-License-Identifier: Apache-2.0
import FirestoreModel

/// One field that differs between two versions of a document.
struct FieldChange {
  var path: FieldPath
  /// `nil` for an added field.
  var old: Value?
  /// `nil` for a removed field.
  var new: Value?

  /// The changed leaves in field order; maps are compared field by field, arrays as a whole.
  static func between(_ old: Fields, _ new: Fields) -> [FieldChange] {
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

  /// The names of both, each once, in field order.
  static func mergedNames(_ old: Fields, _ new: Fields) -> [String] {
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

  /// `status "paid"→"packed"`, `+ note "x"`, `- couponId`.
  func text(arrow: String) -> String {
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
