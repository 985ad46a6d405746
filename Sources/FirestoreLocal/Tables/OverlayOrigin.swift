// SPDX-License-Identifier: Apache-2.0
import FirestoreModel

/// Which pending batches an overlay comes from, field by field.
///
/// With it, the batch at the front of the queue is taken out of the overlay when it leaves, and the overlay is put over
/// another version of the remote document, without applying the waiting batches again: both cost what the overlay
/// holds, however many batches wait for the document (S9).
///
/// It exists where the batches give the same overlay over every existing remote document: for sets, deletions and plain
/// patches. What a transform, a precondition that the remote document may fail, or the deletion of a field inside a map
/// leaves is found by applying the batches in order.
struct OverlayOrigin: Equatable {
  /// The last batch that set or deleted the whole document: what lies below it does not matter.
  private(set) var base: BatchID?
  /// The last batch that changed each path, after `base`.
  private(set) var fields: [FieldPath: BatchID] = [:]

  /// Of a document without pending batches.
  init() {}

  init(base: BatchID?, fields: [FieldPath: BatchID]) {
    self.base = base
    self.fields = fields
  }

  /// Whether the overlay holds over this remote document.
  func holds(over remote: Document?) -> Bool { base != nil || remote?.exists == true }

  /// The origin with one more mutation.
  /// - Parameters:
  ///   - origin: of the overlay so far; `nil` if it has none.
  ///   - document: the local view before the mutation.
  static func adding(
    _ mutation: Mutation, of batch: BatchID, to origin: OverlayOrigin?, over document: Document
  ) -> OverlayOrigin? {
    switch (mutation.operation, mutation.precondition) {
    case (.set, .none):
      // Its transforms see nothing but the set, except that a server timestamp shows the value from before.
      if mutation.transforms.contains(where: { $0.operation == .serverTimestamp }) { return nil }
      return OverlayOrigin(base: batch, fields: [:])
    case (.delete, .none): return OverlayOrigin(base: batch, fields: [:])
    case (.patch(let fields, let mask), .none), (.patch(let fields, let mask), .exists(true)):
      guard var origin, mutation.transforms.isEmpty, document.exists else { return nil }
      for path in mask.paths {
        if path.segments.count > 1, fields[path] == nil { return nil }
        origin.record(path, of: batch)
      }
      return origin
    case (.set, _), (.delete, _), (.patch, _), (.verify, _): return nil
    }
  }

  private mutating func record(_ path: FieldPath, of batch: BatchID) {
    // What is inside is replaced with it.
    for inner in fields.keys where path.isPrefix(of: inner) { fields[inner] = nil }
    fields[path] = batch
  }

  /// An overlay and its origin.
  struct Origined {
    var overlay: Mutation
    var origin: OverlayOrigin
  }

  /// Takes the oldest batch out of an overlay.
  /// - Precondition: another batch waits for the document.
  /// - Returns: `nil` if the overlay has to be computed anew.
  func removing(_ batch: BatchID, from overlay: Mutation) -> Origined? {
    var rest = self
    if let base {
      if base > batch { return Origined(overlay: overlay, origin: self) }
      guard case .set(let values) = overlay.operation else { return nil }
      rest.base = nil
      rest.fields = fields.filter { $0.value > batch }
      return Origined(overlay: rest.patch(of: overlay.key, values), origin: rest)
    }
    guard case .patch(let values, _) = overlay.operation else { return nil }
    rest.fields = fields.filter { $0.value > batch }
    if rest.fields.count == fields.count { return Origined(overlay: overlay, origin: self) }
    return Origined(overlay: rest.patch(of: overlay.key, values), origin: rest)
  }

  private func patch(of key: DocumentKey, _ values: Fields) -> Mutation {
    var changed = Fields()
    for path in fields.keys { changed[path] = values[path] }
    return Mutation(key: key, operation: .patch(changed, FieldMask(fields.keys)))
  }
}

// MARK: - Storage

extension OverlayOrigin {
  /// - Parameter largestBatch: the newest batch of the overlay. Where all of a patch comes from it, as most often, the
  ///   fields are left out.
  func encoded(_ overlay: Mutation, largestBatch: BatchID) -> [UInt8] {
    var writer = WireWriter()
    writer.field(1, integer: base?.rawValue ?? 0)
    if base == nil, case .patch(_, let mask) = overlay.operation, mask.paths.count == fields.count,
      fields.allSatisfy({ $0.value == largestBatch })
    {
      return writer.bytes
    }
    for (path, batch) in fields {
      writer.field(2) { writer in
        writer.field(1, integer: batch.rawValue)
        for segment in path.segments { writer.field(2, string: segment) }
      }
    }
    return writer.bytes
  }

  /// - Returns: `nil` for no bytes: the overlay has no origin.
  init?(decoding bytes: [UInt8], _ overlay: Mutation, largestBatch: BatchID) throws(ModelError) {
    if bytes.isEmpty { return nil }
    let (base, fields) = try decode(bytes, "overlay") { reader throws(WireError) in try reader.origin() }
    self.init(base: base, fields: fields)
    if base == nil, fields.isEmpty, case .patch(_, let mask) = overlay.operation {
      for path in mask.paths { self.fields[path] = largestBatch }
    }
  }
}

extension WireReader {
  fileprivate mutating func origin() throws(WireError) -> (base: BatchID?, fields: [FieldPath: BatchID]) {
    var base: BatchID?
    var fields: [FieldPath: BatchID] = [:]
    while let tag = try tag() {
      switch (tag.field, tag.type) {
      case (1, .varint):
        let number = try integer()
        base = number == 0 ? nil : BatchID(number)
      case (2, .lengthDelimited):
        var entry = try message()
        var batch: Int64 = 0
        var segments: [String] = []
        while let tag = try entry.tag() {
          switch (tag.field, tag.type) {
          case (1, .varint): batch = try entry.integer()
          case (2, .lengthDelimited): segments.append(try entry.string())
          default: try entry.skip(tag.type)
          }
        }
        if segments.isEmpty { throw WireError("a changed field has no path") }
        fields[FieldPath(segments: segments)] = BatchID(batch)
      default: try skip(tag.type)
      }
    }
    return (base, fields)
  }
}
