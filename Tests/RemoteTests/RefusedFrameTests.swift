// SPDX-License-Identifier: Apache-2.0
import FirestoreEmulator
import FirestoreGRPC
import Testing

/// Connections and streams that a server ends because of a frame, over sockets.
@Suite(.timeLimit(.minutes(10)))
struct RefusedFrameTests {
  private static let settings: UInt8 = 4
  private static let ping = RawRequest.frame(RawConnection.Frame.ping, [UInt8](repeating: 0, count: 8))

  /// The reason that a GOAWAY gives: its code and its text.
  private static func reason(_ frame: RawConnection.Frame) -> (code: UInt8, text: String) {
    (frame.payload[7], String(decoding: frame.payload.dropFirst(8), as: UTF8.self))
  }

  @Test("A client that floods the server receives the reason for the disconnect", arguments: 0..<5)
  func flood(_: Int) async throws {
    try await Server.run { server in
      let connection = try await RawConnection(to: server)
      let flood = Array(repeatElement(Self.ping, count: 4_000).joined())
      // The writes fail once the server has closed the connection.
      for _ in 0..<20 { try? await connection.send(flood) }
      var goAway: RawConnection.Frame?
      for await frame in connection.frames where frame.type == RawConnection.Frame.goAway { goAway = frame }
      let reason = Self.reason(try #require(goAway))
      #expect(reason.code == 11 && reason.text.contains("pings"))
    }
  }

  @Test("A client that does not close its connection is disconnected after two seconds")
  func drained() async throws {
    try await Server.run { server in
      let connection = try await RawConnection(to: server, allowsHalfClosure: true)
      try await connection.send(RawRequest.frame(RawConnection.Frame.ping, stream: 1, [UInt8](repeating: 0, count: 8)))
      let clock = ContinuousClock()
      let start = clock.now
      for await frame in connection.frames where frame.type == RawConnection.Frame.goAway {
        #expect(Self.reason(frame).code == 1)
      }
      // The server drops these until it closes.
      while (try? await connection.send(Self.ping)) != nil {}
      #expect(start.duration(to: clock.now) > .seconds(1))
    }
  }

  #if HEARTH_ORACLES
    @Test("Invalid HTTP/2 frames are rejected over TLS too")
    func overTLS() async throws {
      let certificate = try TestCertificate(names: ["localhost"])
      let capital = RawRequest.call("GetDocument") + [("Abc", "d")]
      let rows: [(name: String, bytes: [UInt8], type: UInt8, code: UInt8)] = [
        ("PING on a stream", RawRequest.frame(6, stream: 1, [UInt8](repeating: 0, count: 8)), 7, 1),
        ("ENABLE_PUSH 2", RawRequest.frame(4, [0, 2, 0, 0, 0, 2]), 7, 1),
        ("DATA of 16 385 bytes", RawRequest.frame(0, stream: 1, [UInt8](repeating: 0, count: 16_385)), 7, 6),
        ("capital letter in a name", RawRequest.headers(capital), 3, 1),
      ]
      try await Server.run(tls: certificate.tls) { server in
        let endpoint = Endpoint(
          host: "localhost", port: server.port, security: .tls(trustRoots: certificate.certificate))
        for row in rows {
          let connection = try await RawConnection(to: endpoint)
          try await connection.send(row.bytes)
          let end = await connection.frames.first { [3, 7].contains($0.type) }
          #expect(end?.type == row.type && end?.payload[row.type == 7 ? 7 : 3] == row.code, "\(row.name)")
          try? await connection.close()
        }
      }
    }
  #endif
}
