// SPDX-License-Identifier: Apache-2.0
import FirestoreProtocol
import Synchronization

/// Counts the bytes of the streams' messages.
final class TrafficMeter: Sendable {
  /// The five bytes in front of each message (gRPC over HTTP/2, "Length-Prefixed-Message").
  static let prefix = 5

  /// The bytes of one kind of stream.
  final class Direction: Sendable {
    private let sum = Atomic<Int>(0)

    /// Counts a message of so many bytes.
    func add(_ count: Int) { sum.wrappingAdd(count + TrafficMeter.prefix, ordering: .relaxed) }

    var total: Int { sum.load(ordering: .relaxed) }
  }

  let watchSent = Direction(), watchReceived = Direction(), writeSent = Direction(), writeReceived = Direction()

  var traffic: DatastoreTraffic {
    DatastoreTraffic(
      watch: DatastoreTraffic.Bytes(sent: watchSent.total, received: watchReceived.total),
      write: DatastoreTraffic.Bytes(sent: writeSent.total, received: writeReceived.total))
  }
}
