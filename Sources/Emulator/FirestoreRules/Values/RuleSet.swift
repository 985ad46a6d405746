// SPDX-License-Identifier: Apache-2.0
import FirestoreModel

/// Values without order or duplicates. Unlike in lists, numbers with the same value are one element.
struct RuleSet {
  private(set) var elements: Set<RuleElement>

  init(_ values: [RuleValue]) { elements = Set(values.map { RuleElement($0, .numeric) }) }
  init(_ elements: Set<RuleElement>) { self.elements = elements }
  init(names: [String]) { self.init(names.map { RuleValue.string($0) }) }

  func contains(_ value: RuleValue) -> Bool { elements.contains(RuleElement(value, .numeric)) }
}

/// The names of entries that were added, removed, changed or unchanged between two maps.
struct RuleMapDiff {
  var added: [String] = []
  var removed: [String] = []
  var changed: [String] = []
  var unchanged: [String] = []

  /// - Parameter after: the map on which the method was called.
  init(_ after: RuleEntries, from before: RuleEntries) {
    var old = before.sorted[...]
    for entry in after.sorted {
      let (name, value) = (entry.name, entry.value)
      while let first = old.first, first.name.compareUTF8(name) == .ascending {
        removed.append(first.name)
        old.removeFirst()
      }
      guard let first = old.first, first.name.equalsUTF8(name) else {
        added.append(name)
        continue
      }
      old.removeFirst()
      if first.value.isEqual(to: value) { unchanged.append(name) } else { changed.append(name) }
    }
    removed += old.map(\.name)
  }
}

/// The rule that decides whether two numbers are equal.
enum NumberEquality {
  /// The equality in lists and maps: 1 is not 1.0, and 0.0 is not -0.0.
  case strict
  /// The equality in sets: 1 is 1.0.
  case numeric
}

/// A value as a key of a dictionary.
struct RuleElement: Hashable {
  let value: RuleValue
  let equality: NumberEquality

  init(_ value: RuleValue, _ equality: NumberEquality) {
    self.value = value
    self.equality = equality
  }

  static func == (left: RuleElement, right: RuleElement) -> Bool {
    left.value.isIdentical(to: right.value, left.equality)
  }

  func hash(into hasher: inout Hasher) { value.hash(into: &hasher) }
}

extension RuleValue {
  /// Whether the operator `==` is true. Values of different types differ, but an integer and a float are compared as
  /// floats.
  func isEqual(to other: RuleValue) -> Bool {
    switch (self, other) {
    case (.int(let left), .float(let right)): Double(left) == right
    case (.float(let left), .int(let right)): left == Double(right)
    case (.float(let left), .float(let right)): left == right
    default: isIdentical(to: other, .strict)
    }
  }

  /// Whether two elements of a list, a map or a set are equal. NaN equals no value.
  func isIdentical(to other: RuleValue, _ equality: NumberEquality) -> Bool {
    switch (self, other) {
    case (.null, .null): return true
    case (.bool(let left), .bool(let right)): return left == right
    case (.int(let left), .int(let right)): return left == right
    case (.float(let left), .float(let right)):
      return left == right && (equality == .numeric || left.sign == right.sign)
    case (.int(let left), .float(let right)): return equality == .numeric && Double(left) == right
    case (.float(let left), .int(let right)): return equality == .numeric && left == Double(right)
    case (.string(let left), .string(let right)): return left.equalsUTF8(right)
    case (.bytes(let left), .bytes(let right)): return left == right
    case (.timestamp(let left), .timestamp(let right)): return left == right
    case (.duration(let left), .duration(let right)): return left == right
    case (.latlng(let left), .latlng(let right)):
      return left.latitude == right.latitude && left.longitude == right.longitude
    case (.path(let left), .path(let right)): return left == right
    case (.vector(let left), .vector(let right)): return left == right
    case (.list(let left), .list(let right)):
      return left.count == right.count && zip(left, right).allSatisfy { $0.isIdentical(to: $1, equality) }
    case (.set(let left), .set(let right)): return left.elements == right.elements
    case (.map(let left), .map(let right)):
      guard left.count == right.count else { return false }
      return zip(left.entries.sorted, right.entries.sorted).allSatisfy { left, right in
        left.name.equalsUTF8(right.name) && left.value.isIdentical(to: right.value, equality)
      }
    default: return false
    }
  }

  /// Hashes an element. Equal numbers have equal hashes.
  func hash(into hasher: inout Hasher) {
    switch self {
    case .null: hasher.combine(0)
    case .bool(let value): hasher.combine(value)
    case .int(let value): hasher.combine(Double(value))
    case .float(let value): hasher.combine(value)
    case .string(let value): value.hashUTF8(into: &hasher)
    case .bytes(let value): hasher.combine(value)
    case .timestamp(let value): hasher.combine(value)
    case .duration(let value): hasher.combine(value)
    case .latlng(let value):
      hasher.combine(value.latitude)
      hasher.combine(value.longitude)
    case .path(let value): hasher.combine(value)
    case .vector(let values): hasher.combine(values)
    case .list(let values):
      hasher.combine(values.count)
      for value in values { value.hash(into: &hasher) }
    case .set(let set): hasher.combine(set.elements)
    case .map(let map):
      for entry in map.entries.sorted {
        entry.name.hashUTF8(into: &hasher)
        entry.value.hash(into: &hasher)
      }
    case .mapDiff, .constraint, .oneOf: break
    }
  }
}
