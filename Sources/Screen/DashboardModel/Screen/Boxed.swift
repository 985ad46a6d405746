// SPDX-License-Identifier: Apache-2.0

/// Stores a large value behind a reference. The value is copied on write.
///
/// For every type that contains a value, the compiler generates code that copies each field of the value. For a state
/// with hundreds of fields, this code has 60 KB per type. A reference needs only a retain.
@propertyWrapper package struct Boxed<Value: Sendable>: Sendable {
  /// Sendability is unchecked, as for the standard library's buffers. `value` changes only through a unique reference,
  /// so no other thread can read it at that time.
  private final class Storage: @unchecked Sendable {
    var value: Value

    init(_ value: Value) { self.value = value }
  }

  private var storage: Storage

  package init(wrappedValue: Value) { storage = Storage(wrappedValue) }

  package var wrappedValue: Value {
    get { storage.value }
    _modify {
      if !isKnownUniquelyReferenced(&storage) { storage = Storage(storage.value) }
      yield &storage.value
    }
  }
}
