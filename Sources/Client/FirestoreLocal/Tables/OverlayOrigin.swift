// SPDX-License-Identifier: Apache-2.0
import FirestoreModel

/// The pending batches that determine an overlay, field by field.
///
/// With the origin, the overlay can be updated without applying the pending batches again. This works for removing the
/// oldest batch, and for applying the overlay to another version of the remote document. The cost depends on the
/// overlay's size, but not on the number of pending batches (S9).
///
/// An origin exists only if the batches change the same fields, whatever the existing remote document contains. This
/// holds for sets, deletions and patches, provided that the result of each transform is one of the following:
/// - Fixed, like an increment that adds to the value of its batch's base mutation.
/// - A server timestamp, which shows the previous value. That value comes from the remote document or from an older
///   batch.
/// - Dependent on the underlying value, like the array of an array union. The result remains valid as long as the
///   underlying value does not change.
///
/// There is no origin if a precondition may fail, or if a field inside a map is deleted. Then all batches have to be
/// applied in order.
struct OverlayOrigin: Equatable {
  /// The source of the previous value that a server timestamp shows until the backend has set the time.
  enum Before: Equatable {
    case remote
    case batch(BatchID)
  }

  /// The last batch that set or deleted the whole document. Earlier batches have no effect any more.
  fileprivate(set) var base: BatchID?
  /// The last batch after `base` that changed each path. For a server timestamp that `base` set, this is `base` itself.
  fileprivate(set) var fields: [FieldPath: BatchID] = [:]
  /// The fields with a server timestamp, and for each of them the source of the previous value that it shows.
  fileprivate(set) var timestamps: [FieldPath: Before] = [:]
  /// The fields whose new values depend on the underlying values.
  fileprivate(set) var dependent: Set<FieldPath> = []

  /// The origin of a document without pending batches.
  init() {}

  init(
    base: BatchID?, fields: [FieldPath: BatchID], timestamps: [FieldPath: Before] = [:], dependent: Set<FieldPath> = []
  ) {
    self.base = base
    self.fields = fields
    self.timestamps = timestamps
    self.dependent = dependent
  }

  /// Whether the overlay is valid for this remote document after `showing` has updated its server timestamps.
  func holds(over remote: Document?) -> Bool { dependent.isEmpty && stands(over: remote) }

  /// Whether all batches have the same effect on this remote document as on the previous one. Always true if the
  /// document exists. If the document is missing, a patch without a `base` may fail, and a server timestamp may show a
  /// value from a batch before `base`.
  func stands(over remote: Document?) -> Bool {
    if remote?.exists == true { return true }
    guard let base else { return false }
    return !timestamps.values.contains { if case .batch(let batch) = $0 { batch < base } else { false } }
  }

  /// A copy of the overlay in which server timestamps show the values of this remote document.
  func showing(_ remote: Document?, in overlay: Mutation) -> Mutation {
    var overlay = overlay
    for (path, before) in timestamps where before == .remote {
      func shown(_ values: Fields) -> Fields {
        guard case .serverTimestamp(var timestamp)? = values[path] else { return values }
        timestamp.previous = remote?[path]
        var values = values
        values[path] = .serverTimestamp(timestamp)
        return values
      }
      switch overlay.operation {
      case .set(let values): overlay.operation = .set(shown(values))
      case .patch(let values, let mask): overlay.operation = .patch(shown(values), mask)
      case .delete, .verify: break
      }
    }
    return overlay
  }

  /// Whether the result of `showing` depends on the remote document.
  var showsRemote: Bool { timestamps.values.contains(.remote) }

  /// The origin of the overlay after one more mutation.
  /// - Parameters:
  ///   - origin: the previous origin of the overlay; `nil` if the overlay has none.
  ///   - document: the local view before the mutation.
  static func adding(
    _ mutation: Mutation, of batch: BatchID, to origin: OverlayOrigin?, over document: Document
  ) -> OverlayOrigin? {
    switch (mutation.operation, mutation.precondition) {
    case (.set, .none):
      // The transforms of a set only depend on the set. The exception is a server timestamp, which shows the previous
      // value.
      var new = OverlayOrigin(base: batch, fields: [:])
      for transform in mutation.transforms where transform.operation == .serverTimestamp {
        guard let before = origin?.before(transform.path) else { return nil }
        new.record(transform.path, of: batch)
        new.timestamps[transform.path] = before
      }
      return new
    case (.delete, .none): return OverlayOrigin(base: batch, fields: [:])
    case (.patch(let fields, let mask), .none), (.patch(let fields, let mask), .exists(true)):
      guard var new = origin, document.exists, !mutation.hasNestedTransforms else { return nil }
      for path in mask.paths {
        if path.segments.count > 1, fields[path] == nil { return nil }
        new.record(path, of: batch)
      }
      for transform in mutation.transforms {
        if !new.record(transform, of: batch, before: origin?.before(transform.path)) { return nil }
      }
      return new
    case (.set, _), (.delete, _), (.patch, _), (.verify, _): return nil
    }
  }

  private mutating func record(_ path: FieldPath, of batch: BatchID) {
    // Replaces fields inside the path.
    for inner in fields.keys where path.isPrefix(of: inner) {
      fields[inner] = nil
      timestamps[inner] = nil
      dependent.remove(inner)
    }
    // Turns fields around the path into maps that contain it.
    for outer in fields.keys where outer.isPrefix(of: path) {
      timestamps[outer] = nil
      dependent.remove(outer)
    }
    fields[path] = batch
  }

  /// - Parameter before: the source of the value before the mutation.
  /// - Returns: whether the origin can describe the transform's result.
  private mutating func record(_ transform: FieldTransform, of batch: BatchID, before: Before?) -> Bool {
    let path = transform.path
    let isFixed = isFixed(path, by: batch)
    switch transform.operation {
    case .increment:
      // The sum depends on the underlying value if there is no base mutation.
      if !isFixed { return false }
      record(path, of: batch)
    case .serverTimestamp:
      record(path, of: batch)
      if let before { timestamps[path] = before } else { dependent.insert(path) }
    case .minimum, .maximum, .arrayUnion, .arrayRemove:
      record(path, of: batch)
      if !isFixed { dependent.insert(path) }
    }
    return true
  }

  /// Whether a batch has set this path to a value that does not depend on the underlying value.
  private func isFixed(_ path: FieldPath, by batch: BatchID) -> Bool {
    if dependent.contains(path) || timestamps[path] != nil { return false }
    return fields.contains { $0.value == batch && $0.key.isPrefix(of: path) }
  }

  /// The source of the value at a path, ignoring server timestamps; `nil` if there are several.
  private func before(_ path: FieldPath) -> Before? {
    if let timestamp = timestamps[path] { return timestamp }
    if dependent.contains(path) { return nil }
    if let batch = fields[path] { return .batch(batch) }
    if fields.keys.contains(where: { path.isPrefix(of: $0) }) { return nil }
    let outer = fields.filter { $0.key.isPrefix(of: path) }
    if outer.count > 1 || outer.keys.contains(where: { timestamps[$0] != nil || dependent.contains($0) }) { return nil }
    return (outer.first?.value ?? base).map { .batch($0) } ?? .remote
  }

  /// An overlay and its origin.
  struct Origined {
    var overlay: Mutation
    var origin: OverlayOrigin
  }

  /// Removes the oldest batch from an overlay.
  /// - Precondition: another batch is pending for the document.
  /// - Returns: `nil` if the overlay has to be recomputed.
  func removing(_ batch: BatchID, from overlay: Mutation) -> Origined? {
    var rest = self
    // The batch's values are now in the remote document, or were undone.
    for (path, before) in timestamps where before == .batch(batch) { rest.timestamps[path] = .remote }
    if let base, base > batch { return Origined(overlay: overlay, origin: rest) }
    rest.base = nil
    rest.fields = fields.filter { $0.value > batch }
    rest.timestamps = rest.timestamps.filter { rest.fields[$0.key] != nil }
    rest.dependent = dependent.filter { rest.fields[$0] != nil }
    if base == nil, rest.fields.count == fields.count { return Origined(overlay: overlay, origin: rest) }
    switch (overlay.operation, base) {
    case (.set(let values), .some), (.patch(let values, _), nil):
      return Origined(overlay: rest.patch(of: overlay.key, values), origin: rest)
    default: return nil
    }
  }

  private func patch(of key: DocumentKey, _ values: Fields) -> Mutation {
    var changed = Fields()
    for path in fields.keys { changed[path] = values[path] }
    return Mutation(key: key, operation: .patch(changed, FieldMask(fields.keys)))
  }
}

extension Mutation {
  /// Whether two of the transforms affect each other's result, because they have the same field or one field contains
  /// the other.
  fileprivate var hasNestedTransforms: Bool {
    transforms.indices.contains { index in
      transforms[..<index].contains {
        $0.path.isPrefix(of: transforms[index].path) || transforms[index].path.isPrefix(of: $0.path)
      }
    }
  }
}

// MARK: - Storage

extension OverlayOrigin {
  /// - Parameter largestBatch: the newest batch of the overlay. Usually the whole patch comes from this batch, and the
  ///   encoding then omits the fields.
  func encoded(_ overlay: Mutation, largestBatch: BatchID) -> [UInt8] {
    var writer = WireWriter()
    writer.field(1, integer: base?.rawValue ?? 0)
    if base == nil, timestamps.isEmpty, dependent.isEmpty, case .patch(_, let mask) = overlay.operation,
      mask.paths.count == fields.count, fields.allSatisfy({ $0.value == largestBatch })
    {
      return writer.bytes
    }
    for (path, batch) in fields {
      writer.field(2) { writer in
        writer.field(1, integer: batch.rawValue)
        for segment in path.segments { writer.field(2, string: segment) }
        switch timestamps[path] {
        case nil: break
        case .remote: writer.field(3, integer: 0)
        case .batch(let batch): writer.field(3, integer: batch.rawValue)
        }
        if dependent.contains(path) { writer.field(4, boolean: true) }
      }
    }
    return writer.bytes
  }

  /// - Returns: `nil` if the bytes are empty, which means that the overlay has no origin.
  init?(decoding bytes: [UInt8], _ overlay: Mutation, largestBatch: BatchID) throws(ModelError) {
    if bytes.isEmpty { return nil }
    self = try decode(bytes, "overlay") { reader throws(WireError) in try reader.origin() }
    if base == nil, fields.isEmpty, case .patch(_, let mask) = overlay.operation {
      for path in mask.paths { self.fields[path] = largestBatch }
    }
  }
}

extension WireReader {
  fileprivate mutating func origin() throws(WireError) -> OverlayOrigin {
    var origin = OverlayOrigin()
    while let tag = try tag() {
      switch (tag.field, tag.type) {
      case (1, .varint):
        let number = try integer()
        origin.base = number == 0 ? nil : BatchID(number)
      case (2, .lengthDelimited):
        var entry = try message()
        var batch: Int64 = 0
        var segments: [String] = []
        var before: Int64?
        var isDependent = false
        while let tag = try entry.tag() {
          switch (tag.field, tag.type) {
          case (1, .varint): batch = try entry.integer()
          case (2, .lengthDelimited): segments.append(try entry.string())
          case (3, .varint): before = try entry.integer()
          case (4, .varint): isDependent = try entry.boolean()
          default: try entry.skip(tag.type)
          }
        }
        if segments.isEmpty { throw WireError("a changed field has no path") }
        let path = FieldPath(segments: segments)
        origin.fields[path] = BatchID(batch)
        origin.timestamps[path] = before.map { $0 == 0 ? .remote : .batch(BatchID($0)) }
        if isDependent { origin.dependent.insert(path) }
      default: try skip(tag.type)
      }
    }
    return origin
  }
}
