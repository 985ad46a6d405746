// SPDX-License-Identifier: Apache-2.0
import FirestoreBackend
import FirestoreClientState
import FirestoreModel
import FirestoreProtocol
import FirestoreSQLite
import FirestoreServer
import FirestoreTesting
import Foundation
import Glibc
import LocalSockets
import Synchronization
import Testing

@testable import FirestoreSharing

@Suite("Data socket", .timeLimit(.minutes(10)))
struct SocketTests {
  private func mode(_ path: String) -> mode_t {
    var information = stat()
    return lstat(path, &information) == 0 ? information.st_mode & 0o7777 : 0
  }

  @Test("The socket is private to its user and removed when the data is closed")
  func isPrivate() throws {
    let folder = try Folder()
    var data: SharedData? = try SharedData.open(folder.path)
    #expect(mode(folder.path) == 0o700 && mode(folder.socket) == 0o600)
    data = nil
    #expect(data == nil && access(folder.socket, F_OK) != 0)
  }

  @Test("The socket trusts its user and root; if run as root, also the directory's owner")
  func trusted() {
    #expect(SocketPeer.trustedUsers(of: 1_000, owner: 2_000) == [1_000, 0])
    #expect(SocketPeer.trustedUsers(of: 0, owner: 1_000) == [0, 1_000])
    #expect(SocketPeer.trustedUsers(of: 0, owner: 0) == [0] && SocketPeer.trustedUsers(of: 0) == [0])
  }

  @Test("A socket left by a killed process is replaced")
  func stale() async throws {
    let folder = try Folder()
    close(try DataSocket(in: folder.path).listen())
    #expect(access(folder.socket, F_OK) == 0)
    let first = try SharedData.open(folder.path)
    let second = try SharedData.open(try folder.alias())
    _ = try await second.datastore(for: database).commit([increment("c/a")])
    #expect(try await first.datastore(for: database).count("c/a") == .integer(1))
  }

  @Test("A file in place of the socket is kept, and a notice says that data is not shared")
  func inTheWay() async throws {
    let folder = try Folder()
    try Data("mine".utf8).write(to: URL(filePath: folder.socket))
    let reports = Mutex<[String]>([])
    let first = try SharedData.open(folder.path) { report in reports.withLock { $0.append(report) } }
    #expect(reports.withLock { $0.contains { $0.contains(folder.socket) && $0.contains("Move it away") } })
    _ = try await first.datastore(for: database).commit([increment("c/a")])
    #expect(try String(contentsOfFile: folder.socket, encoding: .utf8) == "mine")
    let error = try #require(throws: StoreError.self) { try SharedData.open(try folder.alias()) }
    #expect(error.kind == .locked && error.message.contains("process \(getpid())"))
  }

  @Test("A directory that other users can write to is rejected")
  func openToOthers() throws {
    let folder = try Folder()
    try Data().write(to: URL(filePath: folder.path + "/something else"))
    chmod(folder.path, 0o777)
    let error = try #require(throws: StoreError.self) { try SharedData.open(folder.path) }
    #expect(error.kind == .notPrivate && error.message.contains("chmod"))
  }

  @Test("An owner or client of another version is reported with instructions")
  func versions() async throws {
    let folder = try Folder()
    let lock = try DirectoryLock(directory: folder.path, called: "data directory", own: [])
    let owner = try FakeOwner(in: folder)
    owner.answer("hearth\t2\tabcd\tnormal\t77\thearth of tomorrow\tand more\n")
    let error = try #require(throws: StoreError.self) { try SharedData.open(folder.path) }
    #expect(error.kind == .locked)
    #expect(error.message.contains("process 77 (hearth of tomorrow)") && error.message.contains("Use the same version"))
    withExtendedLifetime(lock) {}

    let other = try Folder()
    let data = try SharedData.open(other.path, as: "hearth of today")
    guard case .connected(let descriptor) = try DataSocket(in: other.path).connect() else {
      return #expect(Bool(false), "nobody listens")
    }
    let line = OwnerConnection(descriptor)
    line.send(.hello(version: 2, DataMember(process: 78, name: "hearth of tomorrow")))
    var received: [UInt8] = []
    guard case .line(.refusal(let reason)) = line.next(&received, within: 60_000) else {
      return #expect(Bool(false), "no refusal")
    }
    #expect(reason.contains("hearth of today") && reason.contains("(1, not 2)"))
    #expect(data.peers.others.isEmpty)
  }

  @Test("With a silent owner, opening returns at once and connects when the owner is gone")
  func withoutWaiting() async throws {
    let folder = try Folder()
    var lock: DirectoryLockHolder? = try DirectoryLockHolder(folder)
    var owner: FakeOwner? = try FakeOwner(in: folder)

    // With the patience of a test that would end in a timeout.
    let data = try SharedData.open(folder.path, grace: .milliseconds(10), patience: .seconds(3_600))
    #expect(data.instance == nil)
    let store = data.datastore(for: database)
    let status = await #expect(throws: RPCStatus.self) { try await store.commit([increment("c/a")]) }
    #expect(status?.code == .unavailable && status?.message.contains("does not answer") == true)
    (lock, owner) = (nil, nil)
    #expect(lock == nil && owner == nil)
    await data.wait { $0.role == .owner }
    _ = try await store.commit([increment("c/a")])
  }

  @Test("A silent owner is reported to waiting callers until its process is gone")
  func silent() async throws {
    let folder = try Folder()
    var lock: DirectoryLockHolder? = try DirectoryLockHolder(folder)
    var owner: FakeOwner? = try FakeOwner(in: folder)
    let patience = Duration.milliseconds(10)
    let error = try #require(throws: StoreError.self) { try SharedData.open(folder.path, patience: patience) }
    #expect(error.kind == .locked && error.message.contains("Process \(getpid())"))
    #expect(error.message.contains("does not answer"))

    let waiting = try SharedData.open(folder.path, waits: true, patience: patience)
    #expect(waiting.instance == nil)
    let store = waiting.datastore(for: database)
    let status = await #expect(throws: RPCStatus.self) { try await store.commit([increment("c/a")]) }
    #expect(status?.code == .unavailable && status?.message.contains("does not answer") == true)
    (lock, owner) = (nil, nil)
    #expect(lock == nil && owner == nil)
    await waiting.wait { $0.role == .owner }
    _ = try await store.commit([increment("c/a")])
    #expect(try await store.count("c/a") == .integer(1))
  }

  @Test("A peer that does not read or sends invalid data does not affect the owner")
  func hostile() async throws {
    let folder = try Folder()
    let data = try SharedData.open(folder.path)
    let socket = try DataSocket(in: folder.path)
    guard case .connected(let deaf) = socket.connect(), case .connected(let mad) = socket.connect() else {
      return #expect(Bool(false), "nobody listens")
    }
    let line = OwnerConnection(deaf)
    line.send(.hello(version: SharingLine.version, DataMember(process: 1, name: "deaf")))
    await data.wait { $0.others.count == 1 }
    for _ in 0..<200_000 { line.send(.question) }
    let junk = Array(repeating: UInt8(ascii: "h"), count: 64 << 10)
    for _ in 0..<10 { _ = Glibc.send(mad, junk, junk.count, CInt(MSG_NOSIGNAL) | CInt(MSG_DONTWAIT)) }
    var byte: UInt8 = 0
    #expect(recv(mad, &byte, 1, 0) <= 0)
    close(mad)
    let guest = try SharedData.open(try folder.alias())
    _ = try await guest.datastore(for: database).commit([increment("c/a")])
    #expect(try await data.datastore(for: database).count("c/a") == .integer(1))
  }

  @Test("Processes accept only gRPC, and HTTP/1 requests get no response")
  func grpcAlone() throws {
    let folder = try Folder()
    let data = try SharedData.open(folder.path)
    for request in [
      "GET /v1/projects/p/databases/(default)/documents/c", "POST /reset", "DELETE /emulator/v1/projects/p",
    ] {
      guard case .connected(let descriptor) = try DataSocket(in: folder.path).connect() else {
        return #expect(Bool(false), "nobody listens")
      }
      let bytes = Array("\(request) HTTP/1.1\r\nHost: localhost\r\nContent-Length: 0\r\n\r\n".utf8)
      #expect(Glibc.send(descriptor, bytes, bytes.count, CInt(MSG_NOSIGNAL)) == bytes.count)
      var (answer, piece) = ([UInt8](), [UInt8](repeating: 0, count: 256))
      while case let count = recv(descriptor, &piece, piece.count, 0), count > 0 { answer += piece[..<count] }
      close(descriptor)
      #expect(!String(decoding: answer, as: UTF8.self).contains("HTTP/1"), "\(request)")
    }
    withExtendedLifetime(data) {}
  }

  @Test("An owner that ignores a claim is reported as the process that has the data")
  func claimFromSilent() async throws {
    let folder = try Folder()
    let lock = try DirectoryLock(directory: folder.path, called: "data directory", own: [])
    let owner = try FakeOwner(in: folder)
    owner.welcome("hearth\t1\tabcd\tnormal\t77\thearth of somebody\n")
    let data = try SharedData.open(folder.path, patience: .seconds(60))
    let error = await #expect(throws: RPCStatus.self) { try await data.claim(within: .seconds(3)) }
    #expect(error?.code == .unavailable)
    #expect(error?.message.contains("process 77 (hearth of somebody)") == true, "\(error?.message ?? "")")
    #expect(error?.message.contains("does not release it") == true, "\(error?.message ?? "")")
    withExtendedLifetime(lock) {}
  }

  @Test("A protocol line round-trips for any program name")
  func lines() {
    let member = DataMember(process: 7, name: "a b\tc\nd\u{1B}[31m")
    let plain = DataMember(process: 7, name: "a bcd[31m")
    let welcome = SharingLine.Welcome(instance: [1, 255], durability: .full, owner: plain)
    for (line, read) in [
      (SharingLine.hello(version: 1, member), SharingLine.hello(version: 1, plain)),
      (.welcome(welcome), .welcome(welcome)), (.here([member, plain]), .here([plain, plain])), (.here([]), .here([])),
      (.refusal("no\nway"), .refusal("noway")), (.question, .question), (.answer, .answer),
    ] {
      #expect(SharingLine(line.text.utf8.dropLast()) == read)
      #expect(line.text.filter { $0 == "\n" }.count == 1)
    }
    for junk in ["", "hearth", "hearth\tx\t1\ty", "here\t1", "no", "\t\t\t"] {
      #expect(SharingLine(junk.utf8) == nil, "\(junk)")
    }
  }
}

/// The lock alone, as a process has it that opens the data or repairs it.
private final class DirectoryLockHolder {
  private let lock: DirectoryLock

  init(_ folder: Folder) throws {
    lock = try DirectoryLock(directory: folder.path, called: "data directory", own: [])
  }
}
