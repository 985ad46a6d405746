// SPDX-License-Identifier: Apache-2.0
import FirestoreBackend
import FirestoreModel
import FirestoreServer
import FirestoreTesting
import NIOCore
import NIOEmbedded
import ServerTesting
import Testing

@testable import FirestoreEmulator

@Suite("Sessions of browsers that stop reading")
struct UnreadChannelTests {
  private static let documents = 100
  private static let text = String(repeating: "x", count: 20_000)

  @Test("Each unread session buffers limited data, and less if many sessions are unread")
  func channels() throws {
    let server = try BrowserFixture()
    for number in 0..<Self.documents { try server.backend.set("c/\(1_000 + number)", Self.text) }
    let query =
      #"{"database":"\#(database.name)","addTarget":{"query":{"parent":"\#(database.documentsName)","#
      + #""structuredQuery":{"from":[{"collectionId":"c"}]}},"targetId":2}}"#
    func listen(_ count: Int) throws -> [EmbeddedChannel] {
      try (0..<count).map { _ in
        try server.back("Listen", try server.open("Listen", server.form(0, query)), after: 0)
      }
    }
    var channels = try listen(1)
    server.loop.advanceTime(by: .seconds(1))
    #expect(
      (ChannelSession.keptBytes..<(ChannelSession.keptBytes + 2 * WatchDelivery.bytes)).contains(server.budget.total))

    // Each would hold a megabyte.
    channels += try listen(44)
    server.loop.advanceTime(by: .seconds(1))
    #expect(server.budget.total < 40 << 20)
    for channel in channels { channel.close(promise: nil) }
  }
}
