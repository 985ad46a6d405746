// SPDX-License-Identifier: Apache-2.0

extension Fields {
  /// The fields with the values of others at the mask's paths; a path at which those have none is removed. Maps on the
  /// way are made, and replace what is not a map. Costs as much as reading both once, however long the mask.
  package func patched(with new: Fields, at mask: FieldMask) -> Fields {
    patched(with: new, at: mask.paths.sorted()[...], depth: 0)
  }

  /// - Parameters:
  ///   - paths: sorted, each once; all agree in their first `depth` segments, below which this is.
  private func patched(with new: Fields, at paths: ArraySlice<FieldPath>, depth: Int) -> Fields {
    var result: [Entry] = []
    result.reserveCapacity(count + paths.count)
    var old = entries[...]
    var rest = paths
    while let name = rest.first?.segments[depth] {
      let group = rest.prefix { $0.segments[depth].equalsUTF8(name) }
      rest = rest.dropFirst(group.count)
      while let entry = old.first, entry.name.compareUTF8(name) == .ascending {
        result.append(entry)
        old = old.dropFirst()
      }
      var value: Value?
      if let entry = old.first, entry.name.equalsUTF8(name) {
        value = entry.value
        old = old.dropFirst()
      }
      if let patched = Self.patched(value, with: new[name], at: group, depth: depth) { result.append((name, patched)) }
    }
    return Fields(sorted: result + old)
  }

  /// - Parameter group: the paths that agree up to `depth` and there too.
  private static func patched(
    _ old: Value?, with new: Value?, at group: ArraySlice<FieldPath>, depth: Int
  ) -> Value? {
    var (value, rest) = (old, group)
    if group.first?.segments.count == depth + 1 {
      value = new
      rest = rest.dropFirst()
    }
    if rest.isEmpty { return value }
    let (before, wasMap) = if case .map(let fields)? = value { (fields, true) } else { (Fields(), false) }
    let source = if case .map(let fields)? = new { fields } else { Fields() }
    let inner = before.patched(with: source, at: rest, depth: depth + 1)
    return wasMap || !inner.isEmpty ? .map(inner) : value
  }
}
