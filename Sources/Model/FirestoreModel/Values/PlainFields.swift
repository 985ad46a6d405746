// SPDX-License-Identifier: Apache-2.0
import Synchronization

/// Fields that came encoded and may be stored as they are. Decoded when they are looked at, which a server that stores
/// them does not do.
final class PlainFields: Sendable {
  let encoded: EncodedFields
  private let decoded = Mutex<[Fields.Entry]?>(nil)

  init(_ encoded: EncodedFields) { self.encoded = encoded }

  var entries: [Fields.Entry] {
    decoded.withLock { decoded in
      if let decoded { return decoded }
      let entries = encoded.decoded().entries
      decoded = entries
      return entries
    }
  }
}

extension Fields {
  /// Takes the fields of a whole `google.firestore.v1.Document` without decoding them.
  /// - Returns: `nil` if a look at the bytes does not show that a commit may write them, and would store these very bytes.
  package init?(plainDocument bytes: UnsafeRawBufferPointer) {
    guard let encoded = EncodedFields(plainDocument: bytes) else { return nil }
    self.init(PlainFields(encoded))
  }

  /// Whether the fields are known to be such as a commit may write, in the form in which it stores them.
  package var arePlain: Bool { plain != nil }
}

extension EncodedFields {
  /// The bytes from which on the size of a document has to be counted as Firestore counts it: that is at most eight bytes
  /// where the encoding has one.
  package static let uncountedBytes = WriteLimit.documentBytes / 8

  fileprivate init?(plainDocument bytes: UnsafeRawBufferPointer) {
    guard bytes.count <= Self.uncountedBytes, let canonical = Self.canonicalEntries(ofDocument: bytes, isStrict: true)
    else { return nil }
    self.init(trusted: canonical)
  }
}
