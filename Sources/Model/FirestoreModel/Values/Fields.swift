// SPDX-License-Identifier: Apache-2.0

/// The entries of a map or document, sorted by the UTF-8 bytes of their names. Each name occurs once.
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
      // Empties the storage, so that `entries` is uniquely referenced and a change does not copy it.
      storage = .decoded([])
      defer { storage = .decoded(entries) }
      yield &entries
    }
  }

  /// The maximum number of entries for which inserting them one by one is faster than sorting.
  private static let few = 64

  package init() { storage = .decoded([]) }

  /// Creates fields from entries.
  /// - Parameter entries: the entries, in any order. If several have the same name, the last one is used, as protobuf
  ///   requires for maps.
  package init(_ entries: some Sequence<Entry>) {
    self.init()
    self.entries.reserveCapacity(entries.underestimatedCount)
    if entries.underestimatedCount <= Self.few {
      for entry in entries { self[entry.name] = entry.value }
    } else {
      // The sort is stable, so the last of several entries with one name remains the last.
      for entry in entries.sorted(by: { $0.name.compareUTF8($1.name) == .ascending }) { self[entry.name] = entry.value }
    }
  }

  /// Creates fields from sorted entries.
  /// - Parameter entries: entries that are sorted by UTF-8 and have no duplicates, as the canonical encoding stores
  ///   them.
  package init(sorted entries: [Entry]) { storage = .decoded(entries) }

  init(_ fields: PlainFields) { storage = .plain(fields) }

  /// The encoded bytes of the fields. `nil` if the fields were not received in encoded form, are not known to be valid
  /// in a commit, or have changed since.
  var plain: EncodedFields? { if case .plain(let fields) = storage { fields.encoded } else { nil } }

  /// Creates fields from entries that are usually sorted.
  /// - Parameter entries: the entries, in any order. If they are already sorted, as in canonical bytes, they are not
  ///   sorted again.
  package init(unsorted entries: [Entry]) {
    let isSorted = entries.indices.dropFirst().allSatisfy { index in
      entries[index - 1].name.compareUTF8(entries[index].name) == .ascending
    }
    if isSorted { self.init(sorted: entries) } else { self.init(entries) }
  }

  package var count: Int { entries.count }
  package var isEmpty: Bool { entries.isEmpty }

  /// The value of one entry. Assigning `nil` removes the entry.
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

  /// The maximum number of entries for which a linear search is used.
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

  /// Sets a value. Creates missing maps along the path. If a value along the path is not a map, replaces it with one.
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

  /// Removes a value. Has no effect if a value on the path is not a map.
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

extension Fields {
  /// The fields after a patch. At each path of the mask, the result has the value from `new`, or no value if `new` has
  /// none. Missing maps along the paths are created, and values along the paths that are not maps are replaced. Takes
  /// time linear in the size of both fields and of the mask.
  package func patched(with new: Fields, at mask: FieldMask) -> Fields {
    patched(with: new, at: FieldMask.Branch.branches(of: Array(mask.paths)[...], depth: 0))
  }

  /// A copy that contains only the fields at the mask's paths, and the maps around them. Ignores paths without a field.
  /// Takes time linear in the size of the mask.
  package func projected(to mask: FieldMask) -> Fields {
    projected(to: FieldMask.Branch.branches(of: Array(mask.paths)[...], depth: 0))
  }

  private func patched(with new: Fields, at branches: [FieldMask.Branch]) -> Fields {
    var result: [Entry] = []
    result.reserveCapacity(count + branches.count)
    var old = entries[...]
    for branch in branches {
      while let entry = old.first, entry.name.compareUTF8(branch.name) == .ascending {
        result.append(entry)
        old = old.dropFirst()
      }
      var value: Value?
      if let entry = old.first, entry.name.equalsUTF8(branch.name) {
        value = entry.value
        old = old.dropFirst()
      }
      if let patched = Self.patched(value, with: new[branch.name], at: branch) { result.append((branch.name, patched)) }
    }
    return Fields(sorted: result + old)
  }

  private static func patched(_ old: Value?, with new: Value?, at branch: FieldMask.Branch) -> Value? {
    let value = branch.isPath ? new : old
    if branch.inner.isEmpty { return value }
    let (before, wasMap) = if case .map(let fields)? = value { (fields, true) } else { (Fields(), false) }
    let source = if case .map(let fields)? = new { fields } else { Fields() }
    let inner = before.patched(with: source, at: branch.branches())
    return wasMap || !inner.isEmpty ? .map(inner) : value
  }

  private func projected(to branches: [FieldMask.Branch]) -> Fields {
    var result: [Entry] = []
    for branch in branches {
      guard let value = self[branch.name] else { continue }
      if branch.isPath {
        result.append((branch.name, value))
      } else if case .map(let fields) = value {
        let inner = fields.projected(to: branch.branches())
        if !inner.isEmpty { result.append((branch.name, .map(inner))) }
      }
    }
    return Fields(sorted: result)
  }
}

extension FieldMask {
  /// Paths that have the same segments up to and including some depth.
  fileprivate struct Branch {
    /// The path segment at this depth, which all paths in this branch share.
    let name: String
    /// Whether one of the paths ends at this depth.
    let isPath: Bool
    /// The paths that have further segments below this depth.
    let inner: ArraySlice<FieldPath>
    private let depth: Int

    /// The branches of these paths at the next depth, in order.
    func branches() -> [Branch] { Self.branches(of: inner, depth: depth + 1) }

    /// Groups paths into branches. Sorts only by the segment at this depth. Comparing whole paths would compare the
    /// common part repeatedly.
    /// - Parameter paths: paths that have equal segments before `depth` and have a segment at `depth`.
    static func branches(of paths: ArraySlice<FieldPath>, depth: Int) -> [Branch] {
      guard let name = paths.first?.segments[depth] else { return [] }
      if paths.allSatisfy({ $0.segments[depth].equalsUTF8(name) }) { return [Branch(name, paths, depth)] }
      var rest = paths.sorted { $0.segments[depth].compareUTF8($1.segments[depth]) == .ascending }[...]
      var branches: [Branch] = []
      while let name = rest.first?.segments[depth] {
        let end = rest.firstIndex { !$0.segments[depth].equalsUTF8(name) } ?? rest.endIndex
        branches.append(Branch(name, rest[..<end], depth))
        rest = rest[end...]
      }
      return branches
    }

    private init(_ name: String, _ paths: ArraySlice<FieldPath>, _ depth: Int) {
      func ends(_ path: FieldPath) -> Bool { path.segments.count == depth + 1 }
      self.name = name
      self.depth = depth
      isPath = paths.contains(where: ends)
      inner = isPath ? paths.filter { !ends($0) }[...] : paths
    }
  }
}
