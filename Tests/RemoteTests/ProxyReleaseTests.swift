// SPDX-License-Identifier: Apache-2.0
import FirestoreBackend
import FirestoreGRPC
import FirestoreServer
import NIOCore
import NIOPosix
import Testing

@testable import FirestoreProxy

/// Memory of the proxy after its clients have left.
@Suite(.timeLimit(.minutes(10))) struct ProxyReleaseTests {
  private final class Reference {
    private(set) weak var bridge: HTTP2Bridge?
    init(_ bridge: HTTP2Bridge) { self.bridge = bridge }
  }

  @Test("The proxy frees clients that disconnect before their server connection opens")
  func earlyLeave() async throws {
    let (loop, count) = (ServerThread.loop, 50)
    try await RawServer.run { server in
      let references = NIOLoopBoundBox<[Reference]>.makeBoxSendingValue([], eventLoop: loop)
      let listener = try await loop.flatSubmit {
        let core = ProxyCore(
          on: loop, to: server.endpoint, nil, FaultInjector(seed: 0, clock: ContinuousClock()) { _, _ in },
          handshake: (.seconds(30), .seconds(30)), silence: .seconds(13), contentLimit: 0, nil)
        let bound = NIOLoopBound(core, eventLoop: loop)
        return ServerBootstrap(group: loop)
          .childChannelInitializer { channel in
            channel.eventLoop.makeCompletedFuture {
              let bridge = HTTP2Bridge(bound.value)
              references.value.append(Reference(bridge))
              try bridge.begin(on: channel)
            }
          }
          .bind(host: "127.0.0.1", port: 0)
      }.get()
      let port = listener.localAddress?.port ?? 0
      let proxy = FirestoreGRPC.Endpoint(host: "127.0.0.1", port: port, security: .plaintext)
      let opening = RawRequest.preface + RawRequest.settings + RawRequest.headers(RawRequest.call("Commit"))
      for _ in 0..<count { try await RawRequest.send(opening, to: proxy) }
      var left = count
      while left > 0 {
        left = try await loop.submit {
          references.value.count < count ? count : references.value.count { $0.bridge != nil }
        }.get()
      }
      try await listener.close()
    }
  }
}
