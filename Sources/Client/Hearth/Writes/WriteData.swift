// SPDX-License-Identifier: Apache-2.0
import FirestoreModel

/// The data of one write, split into plain fields, removed fields, and transforms.
struct WriteData {
  private var fields = Fields()
  /// The paths of the plain fields and of the removed fields.
  private var mask: Set<FirestoreModel.FieldPath> = []
  private var removed: Set<FirestoreModel.FieldPath> = []
  private var transforms: [FieldTransform] = []

  // MARK: The three kinds of writes

  /// Converts the data of a write that replaces the document.
  static func set(_ data: [String: Any]) throws(FirestoreError) -> (Mutation.Operation, [FieldTransform]) {
    var parsed = WriteData()
    try parsed.addMap(data, at: [], deletes: .refused)
    return (.set(parsed.fields), parsed.transforms)
  }

  /// Converts the data of a write that merges every field of the data.
  static func merge(_ data: [String: Any]) throws(FirestoreError) -> (Mutation.Operation, [FieldTransform]) {
    var parsed = WriteData()
    try parsed.addMap(data, at: [], deletes: .allowed)
    return (.patch(parsed.fields, FieldMask(parsed.mask)), parsed.transforms)
  }

  /// Converts the data of a write that merges only the listed fields. The data must contain all of these fields.
  static func merge(
    _ data: [String: Any], only paths: [FirestoreModel.FieldPath]
  ) throws(FirestoreError) -> (Mutation.Operation, [FieldTransform]) {
    var parsed = WriteData()
    try parsed.addMap(data, at: [], deletes: .allowed)
    let mask = FieldMask(paths)
    for path in paths where !parsed.mentions(path) {
      throw .invalidArgument(
        "Field \(path.segments.joined(separator: ".")) is in mergeFields but not in the data.")
    }
    for path in parsed.removed where mask.covers(path) && !mask.paths.contains(path) {
      throw .invalidArgument(
        "A field with FieldValue.delete() must be listed in mergeFields itself; an enclosing field is not enough"
          + "\(ValueEncoder.place(path.segments)).")
    }
    let transforms = parsed.transforms.filter { mask.covers($0.path) }
    let transformed = Set(transforms.map(\.path))
    var fields = Fields()
    for path in mask.paths where !transformed.contains(path) {
      if let value = parsed.fields[path] { fields[path] = value }
    }
    return (.patch(fields, FieldMask(mask.paths.subtracting(transformed))), transforms)
  }

  /// Converts the data of a write that changes the fields at the given paths and keeps all others.
  static func update(_ data: [AnyHashable: Any]) throws(FirestoreError) -> (Mutation.Operation, [FieldTransform]) {
    var parsed = WriteData()
    var seen: [FirestoreModel.FieldPath] = []
    for (name, any) in data {
      let path = try Self.path(name)
      if let other = seen.first(where: { $0.isPrefix(of: path) || path.isPrefix(of: $0) }) {
        throw .invalidArgument(
          "updateData has both field \(other.segments.joined(separator: ".")) and "
            + "\(path.segments.joined(separator: ".")). One contains the other.")
      }
      seen.append(path)
      for (depth, segment) in path.segments.enumerated() {
        try ValueEncoder.check(segment, at: Array(path.segments[...depth]))
      }
      try parsed.add(any, at: path)
    }
    return (.patch(parsed.fields, FieldMask(parsed.mask)), parsed.transforms)
  }

  private static func path(_ name: AnyHashable) throws(FirestoreError) -> FirestoreModel.FieldPath {
    switch name.base {
    case let name as String: try name.modelPath()
    case let path as FieldPath: try path.modelPath()
    default: throw .invalidArgument("The keys of updateData must be String or FieldPath, not \(type(of: name.base)).")
    }
  }

  // MARK: Taking apart

  private enum Deletes { case allowed, refused }

  /// Adds one entry of an update. The entry replaces the value at the path. If the entry is a map, it may contain
  /// placeholders other than `FieldValue.delete()`.
  private mutating func add(_ any: Any, at path: FirestoreModel.FieldPath) throws(FirestoreError) {
    if let sentinel = any as? FieldValue {
      try add(sentinel, at: path, deletes: .allowed)
    } else if let map = any as? [String: Any] {
      mask.insert(path)
      var inner = WriteData()
      try inner.addMap(map, at: path.segments, deletes: .refused)
      // The plain value is missing if the map contains only transforms; the mask then removes the old value.
      fields[path] = inner.fields[path]
      transforms += inner.transforms
    } else {
      mask.insert(path)
      fields[path] = try ValueEncoder.value(any, at: path.segments)
    }
  }

  /// Adds the entries of a map. The paths of its leaves and empty maps are added to the mask.
  private mutating func addMap(_ map: [String: Any], at path: [String], deletes: Deletes) throws(FirestoreError) {
    if map.isEmpty, !path.isEmpty {
      let path = FirestoreModel.FieldPath(segments: path)
      mask.insert(path)
      fields[path] = .map(Fields())
    }
    for (name, any) in map {
      let inner = path + [name]
      try ValueEncoder.check(name, at: inner)
      let innerPath = FirestoreModel.FieldPath(segments: inner)
      if let sentinel = any as? FieldValue {
        try add(sentinel, at: innerPath, deletes: deletes)
      } else if let map = any as? [String: Any] {
        try addMap(map, at: inner, deletes: deletes)
      } else {
        mask.insert(innerPath)
        fields[innerPath] = try ValueEncoder.value(any, at: inner)
      }
    }
  }

  private mutating func add(
    _ sentinel: FieldValue, at path: FirestoreModel.FieldPath, deletes: Deletes
  ) throws(FirestoreError) {
    if let operation = try sentinel.transform() {
      transforms.append(FieldTransform(path: path, operation: operation))
    } else if deletes == .allowed {
      mask.insert(path)
      removed.insert(path)
    } else {
      throw .invalidArgument(
        "FieldValue.delete() can only be used at the top level of updateData or in a merging setData"
          + "\(ValueEncoder.place(path.segments)).")
    }
  }

  private func mentions(_ path: FirestoreModel.FieldPath) -> Bool {
    mask.contains { path.isPrefix(of: $0) } || transforms.contains { path.isPrefix(of: $0.path) }
  }
}
