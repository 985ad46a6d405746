// SPDX-License-Identifier: Apache-2.0
import Dispatch
import FirestoreBackend
import FirestoreModel
import FirestoreService
import FirestoreTesting
import NIOCore
import NIOEmbedded
import NIOHPACK
import ServerTesting

@testable import FirestoreGRPC
@testable import FirestoreServer
@testable import HTTP2Frames

private let head = [
  (":method", "POST"), (":scheme", "http"), (":path", "/google.firestore.v1.Firestore/GetDocument"),
  (":authority", "localhost"), ("content-type", "application/grpc"),
]

/// The document that the seeds name.
private let request = framed { $0.field(1, string: "projects/p/databases/(default)/documents/c/a") }

private func pieces(_ bytes: [UInt8]) -> [ArraySlice<UInt8>] {
  // The first byte cuts the rest in two, so that frames arrive in parts.
  guard let first = bytes.first else { return [] }
  let cut = min(bytes.count, 1 + Int(first))
  return [bytes[1..<cut], bytes[cut...]]
}

/// The bytes of a client after its preface and SETTINGS.
struct ServerFrames: FuzzTarget {
  private let service: FirestoreService

  init() throws {
    let backend = try makeBackend()
    try backend.set("c/a", "here")
    service = FirestoreService(backend: backend)
  }

  var seeds: [[UInt8]] {
    let call = TestFrame.headers(1, head) + TestFrame.bytes(.data, flags: 1, stream: 1, request)
    let listen = head.map { $0.0 == ":path" ? ($0.0, "/google.firestore.v1.Firestore/Listen") : $0 }
    return TestFrame.Kind.allCases.map { [9] + TestFrame.bytes($0, flags: 4, stream: 1, [0, 0, 0, 1, 2, 3, 4, 5]) }
      + TestFrame.Kind.allCases.map { [0] + TestFrame.bytes($0, [0, 4, 0, 0, 0, 9]) }
      + [
        [3] + call, [200] + call + call,
        [7] + TestFrame.headers(1, listen) + TestFrame.bytes(.data, stream: 1, request),
      ]
  }

  func run(_ bytes: [UInt8]) {
    let loop = EmbeddedEventLoop()
    guard let connection = try? TestConnection(CallPipeline(service, on: loop, .network), on: loop) else { return }
    for piece in pieces(bytes) { try? connection.send(Array(piece)) }
    loop.run()
    loop.advanceTime(by: .seconds(30))
    while (try? connection.channel.readOutbound(as: ByteBuffer.self)) != nil {}
    _ = try? connection.channel.finish()
  }
}

/// One request of any method, which the first byte chooses.
struct ServerCalls: FuzzTarget {
  private let service: FirestoreService

  init() throws {
    let backend = try makeBackend()
    try backend.set("c/a", "here")
    service = FirestoreService(backend: backend)
  }

  var seeds: [[UInt8]] {
    let database = WireWriter.message { $0.field(1, string: "projects/p/databases/(default)") }
    let parent = WireWriter.message { writer in
      writer.field(1, string: "projects/p/databases/(default)/documents")
      writer.field(2) { writer in writer.field(2) { $0.field(2, string: "c") } }
    }
    return (0...FirestoreService.Method.allCases.count).flatMap { index in
      [database, parent, Array(request.dropFirst(5))].map { [UInt8(index)] + $0 }
    }
  }

  func run(_ bytes: [UInt8]) {
    guard let first = bytes.first else { return }
    let (service, message) = (service, Array(bytes.dropFirst()))
    let number = Int(first) % (FirestoreService.Method.allCases.count + 1)
    guard number < FirestoreService.Method.allCases.count else {
      var stream = ListenStream(service) {}
      if (try? stream.receive(message)) != nil { _ = try? stream.take() }
      return stream.close()
    }
    // A method may leave this thread for a part of its work.
    let isDone = DispatchSemaphore(value: 0)
    Task.detached {
      try? await service.answer(FirestoreService.Method.allCases[number], message) { _ in }
      isDone.signal()
    }
    isDone.wait()
  }
}

/// The bytes of a server after its SETTINGS, for a client with two calls.
struct ClientFrames: FuzzTarget {
  var seeds: [[UInt8]] {
    let begin = TestFrame.headers(1, [(":status", "200"), ("content-type", "application/grpc")])
    let message = TestFrame.bytes(.data, stream: 1, [0, 0, 0, 0, 3, 1, 2, 3])
    let end = TestFrame.headers(1, [("grpc-status", "0")], isLast: true)
    let failure = TestFrame.headers(
      1, [(":status", "200"), ("grpc-status", "5"), ("grpc-message", "a%21")], isLast: true)
    let foreign = TestFrame.headers(1, [(":status", "404"), ("content-type", "text/html")])
    return [[5] + begin + message + end, [40] + begin + message + message + end, [1] + failure, [1] + foreign]
      + TestFrame.Kind.allCases.map { [9] + TestFrame.bytes($0, flags: 4, stream: 1, [0, 0, 0, 1, 2, 3, 4, 5]) }
  }

  func run(_ bytes: [UInt8]) {
    let loop = EmbeddedEventLoop()
    let channel = EmbeddedChannel(loop: loop)
    let endpoint = Endpoint(host: "localhost", port: 80, security: .plaintext)
    let connection = CallConnection(
      RequestHeads(database: database, at: endpoint), Connection.Keepalive(), on: loop)
    guard let address = try? SocketAddress(ipAddress: "127.0.0.1", port: 1) else { return }
    channel.connect(to: address, promise: nil)
    _ = try? channel.pipeline.syncOperations.addHandlers([connection.signs, connection.frames])
    connection.greeting {}.whenComplete { _ in }
    _ = try? channel.writeInbound(ByteBuffer(bytes: TestFrame.bytes(.settings)))
    let none: [UInt8]? = nil
    let calls = [
      try? connection.begin(RequestHead(method: .runQuery, timeout: .seconds(300)), []),
      try? connection.begin(RequestHead(method: .listen), none),
    ]
    for piece in pieces(bytes) {
      _ = try? channel.writeInbound(ByteBuffer(bytes: piece))
      for case let call? in calls { end(of: call, at: endpoint) }
    }
    loop.run()
    loop.advanceTime(by: .seconds(60))
    for case let call? in calls {
      end(of: call, at: endpoint)
      call.abandon()
    }
    while (try? channel.readOutbound(as: ByteBuffer.self)) != nil {}
    _ = try? channel.finish()
  }

  private func end(of call: CallStream, at endpoint: Endpoint) {
    if let taken = call.inbox.takeWaiting().0, taken.isReadOwed { call.settle() }
    if case .failure(let error)? = call.inbox.takeWaiting().1 {
      _ = CallFailure.status(of: error, at: endpoint, .emulatorOwner)
    }
  }
}

/// Blocks of headers, one after another, each after its length: for a reader of both ends.
struct HeaderBlocks: FuzzTarget {
  var seeds: [[UInt8]] {
    let blocks = [
      literals(head), literals([(":status", "200"), ("grpc-status", "0")]), [0x82, 0x86, 0x84], [0x20, 0x82],
      [0x40, 1, 0x61, 1, 0x62, 0xbe], [0x3f, 0xe1, 0x1f, 0x88], [0x00, 0x82, 0x1c, 0x7f, 1, 0x61],
    ]
    return blocks.map { [UInt8($0.count)] + $0 + [UInt8($0.count)] + $0 }
  }

  func run(_ bytes: [UInt8]) {
    var reader = HeaderReader(mostBytes: 64 << 10)
    var rest = bytes[...]
    while let length = rest.popFirst() {
      let block = ByteBuffer(bytes: rest.prefix(Int(length)))
      rest = rest.dropFirst(Int(length))
      guard let fields = try? reader.read(block) else { return }
      _ = fields.call
      _ = ResponseHead(fields.headers)
      var writer = HeaderWriter()
      _ = try? writer.bytes(of: HeaderBlock(fields.headers))
    }
  }
}
