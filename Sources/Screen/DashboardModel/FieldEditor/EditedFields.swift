// SPDX-License-Identifier: Apache-2.0
package import FirestoreModel

/// A document's original and edited fields. The difference between them determines the write.
package struct EditedFields: Sendable {
  /// The fields before the edit.
  package let base: Fields
  package private(set) var fields: Fields
  /// The fields that the server computes, as transforms. In `fields`, such a field has its old value or is missing.
  package private(set) var transforms: [FieldTransform] = []
  /// The changes. An array counts as one value.
  package private(set) var changes: [FieldChange] = []

  package init(base: Fields) {
    self.base = base
    fields = base
  }

  package var isChanged: Bool { !changes.isEmpty || !transforms.isEmpty }
  package var changeCount: Int { changes.count + transforms.count }

  /// The part of a path that can be used in a write's mask. It ends at the first array, because a mask cannot contain
  /// array indices.
  package func fieldPath(of path: [String]) -> FieldPath {
    var value = Value.map(fields)
    for (depth, segment) in path.enumerated() {
      if case .array = value { return FieldPath(segments: Array(path[..<depth])) }
      guard let inner = value.child(segment) else { break }
      value = inner
    }
    return FieldPath(segments: path)
  }

  package func isInArray(_ path: [String]) -> Bool { fieldPath(of: path).segments.count < path.count }

  package func transform(at path: [String]) -> FieldTransform.Operation? {
    transforms.isEmpty ? nil : transforms.first { $0.path == FieldPath(segments: path) }?.operation
  }

  /// Sets the value at a path. `nil` deletes the value. An index after the last element of an array appends an element.
  package mutating func put(_ value: Value?, at path: [String]) {
    dropTransforms(touching: fieldPath(of: path))
    if case .map(let new)? = Value.map(fields).replacing(path[...], with: value) { fields = new }
    noteChanges(below: path.first)
  }

  /// Makes the server compute a field with a transform. The write then does not contain the field's value.
  package mutating func transform(_ operation: FieldTransform.Operation, at path: [String]) {
    put(base.value(at: path), at: path)
    transforms.append(FieldTransform(path: FieldPath(segments: path), operation: operation))
  }

  /// Restores the original value.
  package mutating func revert(_ path: [String]) { put(base.value(at: path), at: path) }

  /// The same changes, applied to fields that other clients have changed.
  func rebased(onto now: Fields) -> EditedFields {
    var result = EditedFields(base: now)
    for change in changes { result.put(change.new, at: change.path.segments) }
    for transform in transforms { result.transform(transform.operation, at: transform.path.segments) }
    return result
  }

  /// Updates the changes of only one top-level field, because a document can have very many fields.
  private mutating func noteChanges(below name: String?) {
    guard let name else { return }
    var (before, after) = (Fields(), Fields())
    before[name] = base[name]
    after[name] = fields[name]
    changes.removeAll { $0.path.first.equalsUTF8(name) }
    changes = (changes + FieldChange.written(before, after)).sorted { $0.path < $1.path }
  }

  private mutating func dropTransforms(touching path: FieldPath) {
    transforms.removeAll { $0.path.isPrefix(of: path) || path.isPrefix(of: $0.path) }
  }
}

extension FieldChange {
  /// The changes as the paths and values of a write. For a new map, the paths of its fields are used, so that the write
  /// does not replace a map that another client creates at the same time.
  package static func written(_ old: Fields, _ new: Fields) -> [FieldChange] {
    between(old, new).flatMap { change -> [FieldChange] in
      guard change.old == nil, case .map(let fields)? = change.new, !fields.isEmpty else { return [change] }
      return written(Fields(), fields).map { inner in
        FieldChange(path: FieldPath(segments: change.path.segments + inner.path.segments), old: nil, new: inner.new)
      }
    }
  }
}

extension Value {
  /// The field with this name in a map, or the element at this index in an array.
  func child(_ name: String) -> Value? {
    switch self {
    case .map(let fields): return fields[name]
    case .array(let values): return Int(name).flatMap { values.indices.contains($0) ? values[$0] : nil }
    default: return nil
    }
  }

  /// A copy of the value in which the value at a path is replaced; `nil` removes the value at the path. Missing maps on
  /// the path are created. A scalar value on the path is replaced by a map. If an array on the path does not have the
  /// index, nothing changes.
  fileprivate func replacing(_ path: ArraySlice<String>, with new: Value?) -> Value? {
    guard let name = path.first else { return new }
    switch self {
    case .map(var fields):
      let inner = fields[name] ?? (path.count > 1 && new != nil ? .map(Fields()) : nil)
      if path.count == 1 {
        fields[name] = new
      } else if let inner {
        fields[name] = inner.replacing(path.dropFirst(), with: new)
      }
      return .map(fields)
    case .array(var values):
      guard let index = Int(name), index >= 0, index <= values.count else { return self }
      if index < values.count {
        let replaced = values[index].replacing(path.dropFirst(), with: new)
        if let replaced { values[index] = replaced } else { values.remove(at: index) }
      } else if let new, path.count == 1 {
        values.append(new)
      }
      return .array(values)
    default: return new == nil ? self : Value.map(Fields()).replacing(path, with: new)
    }
  }
}

extension Fields {
  /// The value at a path. The path can contain array indices.
  package func value(at path: [String]) -> Value? {
    path.reduce(Value.map(self)) { value, name in value?.child(name) }
  }
}

/// One line of the field editor.
package struct EditedRow: Hashable, Sendable {
  /// The path of the field; empty for the line in which you add a field.
  package var path: [String]
  /// Whether the row is unfolded; `nil` for a field without subfields.
  package var isOpen: Bool?

  package var isAddition: Bool { path.isEmpty }
  package var depth: Int { max(0, path.count - 1) }
}

/// All lines of the field editor: existing fields, removed fields, and fields that the server computes.
struct EditedRows {
  let edited: EditedFields
  /// The arrays and maps that the user folded or unfolded. By default, their size determines whether they are folded.
  let toggled: Set<[String]>

  private static let smallContainer = 4

  var list: [EditedRow] {
    var rows: [EditedRow] = []
    collect(edited.base, edited.fields, below: [], into: &rows)
    rows.append(EditedRow(path: []))
    return rows
  }

  private func collect(_ base: Fields, _ now: Fields, below parent: [String], into rows: inout [EditedRow]) {
    // Both are sorted, so neither needs a search.
    var (old, new) = (base.entries[...], now.entries[...])
    while let name = [old.first?.name, new.first?.name].compactMap(\.self).min(by: { $0.compareUTF8($1) == .ascending })
    {
      var (before, after): (Value?, Value?)
      if let entry = old.first, entry.name.equalsUTF8(name) {
        before = entry.value
        old = old.dropFirst()
      }
      if let entry = new.first, entry.name.equalsUTF8(name) {
        after = entry.value
        new = new.dropFirst()
      }
      collect(before, after, parent + [name], into: &rows)
    }
    var computed: Set<String> = []
    for transform in edited.transforms {
      let path = transform.path.segments
      guard path.count > parent.count, path.starts(with: parent) else { continue }
      let name = path[parent.count]
      guard base[name] == nil, now[name] == nil, computed.insert(name).inserted else { continue }
      collect(nil, nil, parent + [name], into: &rows)
    }
  }

  private func collect(_ base: Value?, _ now: Value?, _ path: [String], into rows: inout [EditedRow]) {
    var row = EditedRow(path: path)
    switch now {
    case .map(let fields) where !fields.isEmpty || isComputedBelow(path):
      row.isOpen = isOpen(path, count: fields.count)
      rows.append(row)
      guard row.isOpen == true else { return }
      var before = Fields()
      if case .map(let old)? = base { before = old }
      collect(before, fields, below: path, into: &rows)
    case .array(let values) where !values.isEmpty:
      row.isOpen = isOpen(path, count: values.count)
      rows.append(row)
      guard row.isOpen == true else { return }
      for (index, value) in values.enumerated() {
        collect(base?.child("\(index)"), value, path + ["\(index)"], into: &rows)
      }
    case nil where isComputedBelow(path):
      row.isOpen = isOpen(path, count: 1)
      rows.append(row)
      if row.isOpen == true { collect(Fields(), Fields(), below: path, into: &rows) }
    default: rows.append(row)
    }
  }

  private func isOpen(_ path: [String], count: Int) -> Bool { (count <= Self.smallContainer) != toggled.contains(path) }

  private func isComputedBelow(_ path: [String]) -> Bool {
    edited.transforms.contains { $0.path.segments.count > path.count && $0.path.segments.starts(with: path) }
  }
}
