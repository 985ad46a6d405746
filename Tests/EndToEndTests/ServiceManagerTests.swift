// SPDX-License-Identifier: Apache-2.0
import ChildProcesses
import Foundation
import Glibc
import Testing

extension EndToEndTests.InPipes {
  /// `hearth serve` as a unit of `Type=notify`, with a socket of the test in the place of systemd's.
  @Suite(.serialized) struct ServiceManagerTests {
    private let surroundings: Surroundings

    init() throws { surroundings = try Surroundings() }

    private var path: String { surroundings.folder.appending(path: "notify").path }

    private func serve(_ arguments: String..., notifying address: String) throws -> ChildProcess {
      try ChildProcess(
        [Surroundings.hearth, "serve", "--in-memory"] + arguments,
        environment: surroundings.environment.merging(["NOTIFY_SOCKET": address]) { $1 }, streams: .pipes)
    }

    @Test("systemd gets READY when the port accepts connections, and STOPPING on SIGTERM", arguments: [false, true])
    func told(isAbstract: Bool) async throws {
      let address = isAbstract ? "@hearth-test-\(getpid())-\(UInt32.random(in: 0 ... .max))" : path
      let socket = try NotificationSocket(address)
      let server = try serve("--port", "0", notifying: address)
      let ready = try await socket.datagram()
      #expect(ready.hasPrefix("READY=1\nSTATUS=Serving google.firestore.v1 on 127.0.0.1:"), "\(ready)")
      let port = try #require(ready.split(separator: ":").last.flatMap { UInt16($0) })
      #expect(try await answer(ofPort: port).hasPrefix("HTTP/1.1 200"))
      kill(server.id, SIGTERM)
      #expect(try await socket.datagram().hasPrefix("STOPPING=1\n"))
      #expect(try await server.exitStatus() == 0)
      #expect(try await ChildProcess.all(server.errors) == "")
      #expect(socket.isEmpty)
    }

    @Test("A server that cannot listen never reports READY")
    func neverReady() async throws {
      let first = try await ServeProcess(surroundings)
      let socket = try NotificationSocket(path)
      let second = try serve("--port", "\(first.port)", notifying: path)
      #expect(try await second.exitStatus() == 69)
      #expect(socket.isEmpty)
    }

    @Test(
      "An unreachable NOTIFY_SOCKET is reported, and serving continues",
      arguments: [("vsock:2:1", "neither a path nor an abstract name"), ("/nowhere/notify", "No such file")])
    func bad(address: String, reason: String) async throws {
      let server = try serve("--port", "0", notifying: address)
      let line = try await server.errorLine()
      #expect(line.hasPrefix("hearth: NOTIFY_SOCKET=\(address) ") && line.contains(reason), "\(line)")
      let first = try await server.line()
      let port = try #require(first.split(separator: ":").last.flatMap { UInt16($0.prefix(while: \.isNumber)) })
      #expect(try await answer(ofPort: port).hasPrefix("HTTP/1.1 200"))
      kill(server.id, SIGTERM)
      #expect(try await server.exitStatus() == 0)
    }

    /// The head of what `GET /` is answered with.
    private func answer(ofPort port: UInt16) async throws -> String {
      let descriptor = socket(AF_INET, CInt(SOCK_STREAM.rawValue) | CInt(SOCK_CLOEXEC.rawValue), 0)
      defer { close(descriptor) }
      var address = sockaddr_in()
      address.sin_family = sa_family_t(AF_INET)
      address.sin_port = port.bigEndian
      address.sin_addr.s_addr = inet_addr("127.0.0.1")
      let isConnected = withUnsafePointer(to: &address) { address in
        address.withMemoryRebound(to: sockaddr.self, capacity: 1) {
          connect(descriptor, $0, socklen_t(MemoryLayout<sockaddr_in>.size)) == 0
        }
      }
      guard isConnected else { throw Failure("nobody listens on port \(port)") }
      let request = Array("GET / HTTP/1.1\r\nHost: localhost\r\n\r\n".utf8)
      guard send(descriptor, request, request.count, CInt(MSG_NOSIGNAL)) == request.count,
        await Waiting.isReadable(descriptor, by: .now + Waiting.limit)
      else { throw Failure("port \(port) does not answer") }
      return String(decoding: Waiting.read(descriptor), as: UTF8.self)
    }
  }
}

/// The socket on which a service manager is told. It goes with the value.
private final class NotificationSocket {
  private let descriptor: CInt

  /// - Parameter address: as `NOTIFY_SOCKET` has it; `@` begins an abstract name.
  init(_ address: String) throws {
    descriptor = socket(AF_UNIX, CInt(SOCK_DGRAM.rawValue) | CInt(SOCK_CLOEXEC.rawValue), 0)
    var name = sockaddr_un()
    name.sun_family = sa_family_t(AF_UNIX)
    let bytes = address.utf8.map { $0 == UInt8(ascii: "@") ? 0 : $0 }
    withUnsafeMutableBytes(of: &name.sun_path) { $0.copyBytes(from: bytes) }
    let size = MemoryLayout<sa_family_t>.size + bytes.count
    let isBound = withUnsafePointer(to: &name) { name in
      name.withMemoryRebound(to: sockaddr.self, capacity: 1) { bind(descriptor, $0, socklen_t(size)) == 0 }
    }
    guard isBound else { throw Failure("\(address) cannot be bound: \(String(cString: strerror(errno)))") }
  }

  deinit { close(descriptor) }

  /// The next datagram.
  func datagram() async throws -> String {
    guard await Waiting.isReadable(descriptor, by: .now + Waiting.limit) else { throw Failure("nothing was told") }
    return String(decoding: Waiting.read(descriptor), as: UTF8.self)
  }

  /// Whether nothing waits to be read.
  var isEmpty: Bool {
    var entry = pollfd(fd: descriptor, events: Int16(POLLIN), revents: 0)
    return poll(&entry, 1, 0) == 0
  }
}
