// SPDX-License-Identifier: Apache-2.0

/// The entries of a map or document, sorted by the UTF-8 bytes of their names, each name once.
package struct Fields: Sendable {
  package typealias Entry = (name: String, value: Value)

  private enum Storage: Sendable {
    case decoded([Entry])
    case plain(PlainFields)
  }

  private var storage: Storage

  package private(set) var entries: [Entry] {
    get {
      switch storage {
      case .decoded(let entries): entries
      case .plain(let fields): fields.entries
      }
    }
    _modify {
      var entries = entries
      // Only one owner is left, so that a change copies nothing.
      storage = .decoded([])
      defer { storage = .decoded(entries) }
      yield &entries
    }
  }

  /// The number of entries up to which inserting them one by one is faster than sorting.
  private static let few = 64

  package init() { storage = .decoded([]) }

  /// Makes fields of entries.
  /// - Parameter entries: in any order; the last of several with one name wins (protobuf's rule for maps).
  package init(_ entries: some Sequence<Entry>) {
    self.init()
    self.entries.reserveCapacity(entries.underestimatedCount)
    if entries.underestimatedCount <= Self.few {
      for entry in entries { self[entry.name] = entry.value }
    } else {
      // The sort is stable: the last of several entries with one name stays the last.
      for entry in entries.sorted(by: { $0.name.compareUTF8($1.name) == .ascending }) { self[entry.name] = entry.value }
    }
  }

  /// Makes fields of sorted entries.
  /// - Parameter entries: already sorted by UTF-8 and without duplicates, as the canonical encoding stores them.
  package init(sorted entries: [Entry]) { storage = .decoded(entries) }

  init(_ fields: PlainFields) { storage = .plain(fields) }

  /// The bytes of fields that came encoded, are such as a commit may write, and were not changed since.
  var plain: EncodedFields? { if case .plain(let fields) = storage { fields.encoded } else { nil } }

  /// Makes fields of entries that are probably sorted.
  /// - Parameter entries: in any order; entries that are sorted already, as in canonical bytes, are kept.
  package init(unsorted entries: [Entry]) {
    let isSorted = entries.indices.dropFirst().allSatisfy { index in
      entries[index - 1].name.compareUTF8(entries[index].name) == .ascending
    }
    if isSorted { self.init(sorted: entries) } else { self.init(entries) }
  }

  package var count: Int { entries.count }
  package var isEmpty: Bool { entries.isEmpty }

  /// The value of one entry; assigning `nil` removes it.
  package subscript(name: String) -> Value? {
    get {
      let entries = entries
      if entries.count <= Self.fewest {
        for entry in entries where entry.name.equalsUTF8(name) { return entry.value }
        return nil
      }
      let (index, found) = position(of: name)
      return found ? entries[index].value : nil
    }
    set {
      let (index, found) = position(of: name)
      switch (found, newValue) {
      case (true, let value?): entries[index].value = value
      case (true, nil): entries.remove(at: index)
      case (false, let value?): entries.insert((name, value), at: index)
      case (false, nil): break
      }
    }
  }

  /// The number of entries up to which a linear search is the fastest.
  private static let fewest = 8

  private func position(of name: String) -> (index: Int, found: Bool) {
    let entries = entries
    var low = 0
    var high = entries.count
    if let last = entries.last, last.name.compareUTF8(name) == .ascending { return (high, false) }
    while low < high {
      let middle = (low + high) / 2
      switch entries[middle].name.compareUTF8(name) {
      case .ascending: low = middle + 1
      case .equal: return (middle, true)
      case .descending: high = middle
      }
    }
    return (low, false)
  }
}

extension Fields: ExpressibleByDictionaryLiteral {
  package init(dictionaryLiteral elements: (String, Value)...) { self.init(elements.map { ($0.0, $0.1) }) }
}

extension Fields {
  /// The value at a path; `nil` if a segment is absent or its parent is not a map.
  package subscript(path: FieldPath) -> Value? {
    get {
      if path.segments.count == 1 { return self[path.first] }
      var fields = self
      for segment in path.segments.dropLast() {
        guard case .map(let inner)? = fields[segment] else { return nil }
        fields = inner
      }
      return fields[path.last]
    }
    set {
      if let newValue { set(newValue, at: path.segments[...]) } else { remove(at: path.segments[...]) }
    }
  }

  /// Sets a value, making the maps on the way and replacing values that are no maps.
  private mutating func set(_ value: Value, at path: ArraySlice<String>) {
    guard let name = path.first else { return }
    if path.count == 1 {
      self[name] = value
      return
    }
    var inner = Fields()
    if case .map(let existing)? = self[name] { inner = existing }
    inner.set(value, at: path.dropFirst())
    self[name] = .map(inner)
  }

  /// Removes a value; a path through a value that is no map does nothing.
  private mutating func remove(at path: ArraySlice<String>) {
    guard let name = path.first else { return }
    if path.count == 1 {
      self[name] = nil
    } else if case .map(var inner)? = self[name] {
      inner.remove(at: path.dropFirst())
      self[name] = .map(inner)
    }
  }
}
