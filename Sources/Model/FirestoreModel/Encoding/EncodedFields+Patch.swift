// SPDX-License-Identifier: Apache-2.0

extension EncodedFields {
  /// The fields after a patch and its transforms. Only the values that change are encoded, and only those that a nested
  /// path or a transform needs are decoded; the bytes of all others are copied.
  /// - Parameters:
  ///   - new: the values at the mask's paths; a path without a value there is removed.
  ///   - transforms: applied after the patch, in order.
  ///   - result: the value that a transform gives, from the transform's index and the value that it finds.
  func patched(
    with new: Fields, at mask: FieldMask, _ transforms: [FieldTransform], result: (Int, Value?) -> Value
  ) -> EncodedFields {
    var changed = ChangedFields(of: self)
    for path in mask.paths { changed.set(path, new[path]) }
    for (index, transform) in transforms.enumerated() {
      changed.set(transform.path, result(index, changed[transform.path]))
    }
    return replacing(changed)
  }

  /// The fields with the values of some; a name without a value is removed.
  private func replacing(_ changed: ChangedFields) -> EncodedFields {
    let names = changed.names.sorted { $0.compareUTF8($1) == .ascending }
    var writer = WireWriter(capacity: bytes.count + 64 * names.count)
    let isWhole = bytes.withUnsafeBytes { writer.copyEntries($0, replacing: names, by: changed) }
    if isWhole { return EncodedFields(trusted: writer.bytes) }
    // Long names and values, and what another form of encoding left, are decoded with all the rest.
    var fields = decoded()
    for name in names { fields[name] = changed.value(of: name) }
    return EncodedFields(fields)
  }
}

extension WireWriter {
  /// Copies the entries of a document, but for those that change.
  /// - Parameter names: the names of the changed fields, ascending.
  /// - Returns: whether all entries have the form that is copied.
  fileprivate mutating func copyEntries(
    _ old: UnsafeRawBufferPointer, replacing names: [String], by changed: ChangedFields
  ) -> Bool {
    var reader = WireReader(old)
    var rest = names[...]
    var copied = 0
    while let next = rest.first {
      let start = old.count - reader.remaining
      guard let entry = reader.canonicalEntry(EncodedFields.tag) else { break }
      let length = Int(entry[1])
      guard length <= entry.count - 2 else { return false }
      let name = UnsafeRawBufferPointer(rebasing: entry[2..<(2 + length)])
      switch next.withUTF8Bytes({ Ordering.lexicographic($0, name.assumingMemoryBound(to: UInt8.self)) }) {
      case .descending: continue
      case .equal:
        raw(UnsafeRawBufferPointer(rebasing: old[copied..<start]))
        copied = old.count - reader.remaining
      case .ascending:
        raw(UnsafeRawBufferPointer(rebasing: old[copied..<start]))
        copied = start
        reader.move(to: start)
      }
      if let value = changed.value(of: next) { self.entry(EncodedFields.fieldNumber, next, value) }
      rest = rest.dropFirst()
    }
    if !rest.isEmpty, !reader.isAtEnd { return false }
    raw(UnsafeRawBufferPointer(rebasing: old[copied...]))
    for next in rest {
      if let value = changed.value(of: next) { self.entry(EncodedFields.fieldNumber, next, value) }
    }
    return true
  }
}

/// The top-level fields of a document that a patch changes.
private struct ChangedFields {
  private let old: EncodedFields
  /// The values now; `nil` for a field that is removed.
  private var values: [(name: String, value: Value?)] = []

  init(of old: EncodedFields) { self.old = old }

  var names: [String] { values.map(\.name) }

  func value(of name: String) -> Value? { values.first { $0.name.equalsUTF8(name) }?.value }

  subscript(path: FieldPath) -> Value? {
    guard let value = values.first(where: { $0.name.equalsUTF8(path.first) })?.value else {
      return values.contains { $0.name.equalsUTF8(path.first) } ? nil : old[path]
    }
    return path.segments.count == 1 ? value : Fields(sorted: [(path.first, value)])[path]
  }

  mutating func set(_ path: FieldPath, _ value: Value?) {
    let place = values.firstIndex { $0.name.equalsUTF8(path.first) }
    var changed: Value? = value
    if path.segments.count > 1 {
      var around = Fields()
      around[path.first] = if let place { values[place].value } else { old[FieldPath(path.first)] }
      around[path] = value
      changed = around[path.first]
    }
    if let place { values[place].value = changed } else { values.append((path.first, changed)) }
  }
}

extension EncodedFields {
  /// Whether an unresolved server timestamp may be among the values: whether its type's name, by its first bytes, is.
  var mayHoldServerTimestamp: Bool {
    let name = TypedMap.serverTimestamp.withUTF8Bytes { UnsafeRawBufferPointer($0).loadUnaligned(as: UInt64.self) }
    return bytes.withUnsafeBytes { bytes in
      var position = 0
      while position + 8 <= bytes.count {
        if bytes.loadUnaligned(fromByteOffset: position, as: UInt64.self) == name { return true }
        position += 1
      }
      return false
    }
  }
}
