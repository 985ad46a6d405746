// SPDX-License-Identifier: Apache-2.0
import FirestoreModel
import FirestoreProtocol

extension WireWriter {
  /// The content of a `google.firestore.v1.Document`, with all fields or those that a mask picks.
  mutating func document(_ document: Document, in database: DatabaseID, mask: FieldMask? = nil) {
    self.document(document, DocumentNames(database), mask: mask)
  }

  /// A field that holds a value.
  mutating func field(_ number: Int, value: Value) { field(number) { $0.value(value) } }
}

/// Builds one message.
func message(_ write: (inout WireWriter) -> Void) -> [UInt8] {
  WireWriter.message(write)
}
