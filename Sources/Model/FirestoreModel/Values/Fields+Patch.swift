// SPDX-License-Identifier: Apache-2.0

extension Fields {
  /// The fields with the values of other fields at the mask's paths; a path without a value there is removed. Maps on
  /// the way are made, and replace values that are no maps. Costs as much as reading both and the mask once.
  package func patched(with new: Fields, at mask: FieldMask) -> Fields {
    patched(with: new, at: FieldMask.Branch.branches(of: Array(mask.paths)[...], depth: 0))
  }

  /// The fields at the mask's paths, with the maps on the way to them; paths that name nothing add nothing. Costs as
  /// much as reading the mask once.
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
  /// Paths that have the same segments up to some depth, that depth included.
  fileprivate struct Branch {
    /// The paths' segment at that depth.
    let name: String
    /// Whether one of the paths ends at that depth.
    let isPath: Bool
    /// The paths that go on below that depth.
    let inner: ArraySlice<FieldPath>
    private let depth: Int

    /// The branches of the paths that go on, in order.
    func branches() -> [Branch] { Self.branches(of: inner, depth: depth + 1) }

    /// Sorts by the segment at this depth alone: comparing whole paths would compare the shared part again and again.
    /// - Parameter paths: paths that agree before `depth` and reach it.
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
