// SPDX-License-Identifier: Apache-2.0
import FirestoreModel

/// Reads a request's fields in place; whatever the bytes, the outcome is a request or `invalid-argument`.
struct RequestReader {
  private var wire: WireReader

  init(_ bytes: UnsafeRawBufferPointer) { wire = WireReader(bytes) }
  private init(_ wire: WireReader) { self.wire = wire }

  /// Reads a whole message.
  static func read<Result>(
    _ bytes: [UInt8], _ body: (inout RequestReader) throws(RPCStatus) -> Result
  ) throws(RPCStatus) -> Result {
    let result: Swift.Result<Result, RPCStatus> = bytes.withUnsafeBytes { buffer in
      var reader = RequestReader(buffer)
      do throws(RPCStatus) { return .success(try body(&reader)) } catch { return .failure(error) }
    }
    return try result.get()
  }

  private static func status(_ error: WireError) -> RPCStatus {
    if error == .untypedValue {
      return RPCStatus(.invalidArgument, "Cannot convert firestore.v1.Value with type unset.")
    }
    if let name = error.referenceName {
      do throws(RPCStatus) { _ = try ResourceName.document(name, "Resource name") } catch { return error }
    }
    return RPCStatus(.invalidArgument, "The request cannot be read: \(error.reason).")
  }

  private mutating func get<Result>(
    _ body: (inout WireReader) throws(WireError) -> Result
  ) throws(RPCStatus) -> Result {
    do throws(WireError) { return try body(&wire) } catch { throw Self.status(error) }
  }

  /// Visits every field in order; fields that `visit` does not take are skipped, as are known numbers of another type.
  mutating func fields(_ visit: (Int, inout RequestField) throws(RPCStatus) -> Void) throws(RPCStatus) {
    while let tag = try get({ wire throws(WireError) in try wire.tag() }) {
      var field = RequestField(type: tag.type, reader: self)
      try visit(tag.field, &field)
      self = field.reader
      if !field.isTaken { try get { wire throws(WireError) in try wire.skip(tag.type) } }
    }
  }

  fileprivate mutating func take<Result>(
    _ body: (inout WireReader) throws(WireError) -> Result
  ) throws(RPCStatus) -> Result { try get(body) }

  fileprivate mutating func inner() throws(RPCStatus) -> RequestReader {
    RequestReader(try get { wire throws(WireError) in try wire.message() })
  }

  /// The content of a `Value`.
  mutating func value() throws(RPCStatus) -> Value {
    let value = try get { wire throws(WireError) in try wire.value() }
    try Self.check(value)
    return value
  }

  /// - Throws: `invalid-argument` for a value that holds a time that Firestore does not know.
  static func check(_ value: Value) throws(RPCStatus) {
    if let time = value.invalidTimestamp { try check(time) }
  }

  /// - Throws: `invalid-argument` for a time that Firestore does not know.
  static func check(_ time: Timestamp) throws(RPCStatus) {
    if time.isValid { return }
    throw RPCStatus(.invalidArgument, time.objection)
  }
}

/// One field of a request, to be taken as what its number says. A field of another wire type than asked for is not
/// taken: it counts as unknown.
struct RequestField {
  let type: WireType
  fileprivate var reader: RequestReader
  fileprivate var isTaken = false

  private mutating func take<Result>(
    _ expected: WireType, _ body: (inout WireReader) throws(WireError) -> Result
  ) throws(RPCStatus) -> Result? {
    guard type == expected, !isTaken else { return nil }
    isTaken = true
    return try reader.take(body)
  }

  mutating func string() throws(RPCStatus) -> String? {
    try take(.lengthDelimited) { wire throws(WireError) in try wire.string() }
  }

  mutating func bytes() throws(RPCStatus) -> [UInt8]? {
    try take(.lengthDelimited) { wire throws(WireError) in try wire.byteArray() }
  }

  mutating func integer() throws(RPCStatus) -> Int64? {
    try take(.varint) { wire throws(WireError) in try wire.integer() }
  }

  mutating func boolean() throws(RPCStatus) -> Bool? {
    try take(.varint) { wire throws(WireError) in try wire.boolean() }
  }

  mutating func timestamp() throws(RPCStatus) -> Timestamp? {
    let time = try take(.lengthDelimited) { wire throws(WireError) in try wire.timestamp() }
    if let time { try RequestReader.check(time) }
    return time
  }

  mutating func message<Result>(
    _ body: (inout RequestReader) throws(RPCStatus) -> Result
  ) throws(RPCStatus) -> Result? {
    guard type == .lengthDelimited, !isTaken else { return nil }
    isTaken = true
    var inner = try reader.inner()
    return try body(&inner)
  }

  mutating func value() throws(RPCStatus) -> Value? {
    try message { inner throws(RPCStatus) in try inner.value() }
  }

  /// The content of a message that both ends read alike.
  mutating func content<Result>(
    _ read: (inout WireReader) throws(WireError) -> Result
  ) throws(RPCStatus) -> Result? {
    try take(.lengthDelimited) { wire throws(WireError) in
      var inner = try wire.message()
      return try read(&inner)
    }
  }

  /// A `pb.Int32Value` or `pb.Int64Value`; without content it is 0.
  mutating func wrappedInteger() throws(RPCStatus) -> Int64? {
    try message { inner throws(RPCStatus) in
      var result: Int64 = 0
      try inner.fields { number, field throws(RPCStatus) in
        if number == 1 { result = try field.integer() ?? result }
      }
      return result
    }
  }
}
