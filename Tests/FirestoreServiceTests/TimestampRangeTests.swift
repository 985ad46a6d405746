// SPDX-License-Identifier: Apache-2.0
import FirestoreModel
import Testing

@testable import FirestoreService

@Suite struct TimestampRangeTests {
  private static let impossible = [Timestamp(seconds: .min), Timestamp(seconds: 253_402_300_800)]

  private func read(_ body: (inout WireWriter) -> Void) throws(RPCStatus) -> Value {
    try RequestReader.read(bytes(body)) { reader throws(RPCStatus) in try reader.value() }
  }

  @Test("A time that Firestore does not know is refused wherever a request holds one", arguments: impossible)
  func refused(_ time: Timestamp) {
    let status = RPCStatus(.invalidArgument, time.objection)
    #expect(throws: status) { _ = try read { $0.field(10, timestamp: time) } }
    #expect(throws: status) { _ = try read { $0.field(9) { $0.field(1) { $0.field(10, timestamp: time) } } } }
    #expect(throws: status) {
      _ = try RequestReader.read(bytes { $0.field(5, timestamp: time) }) { reader throws(RPCStatus) in
        try reader.fields { _, field throws(RPCStatus) in _ = try field.timestamp() }
      }
    }
  }

  @Test("The first and the last time there is are taken")
  func limits() throws {
    for time in [Timestamp.earliest, .latest] {
      #expect(try read { $0.field(10, timestamp: time) } == .timestamp(time))
    }
  }
}
