// SPDX-License-Identifier: Apache-2.0
import FirestoreBackend
import FirestoreModel
import FirestoreProtocol
import ServiceTesting
import Testing

@testable import FirestoreService

@Suite("Writes that wait for locks")
struct LockWaitTests {
  private let write = bytes { writer in
    writer.field(1, string: database)
    writer.set("c/a", ["n": .integer(2)])
  }

  /// Begins a transaction that has read `c/a`.
  /// - Parameter mode: the mode in the request; 0 for none.
  private func begin(_ service: FirestoreService, mode: UInt64) async throws -> [UInt8] {
    let request = bytes { writer in
      writer.field(1, string: database)
      writer.field(2) { $0.field(3) { $0.field(2, varint: mode) } }
    }
    let id = try Message(await service.answer(.beginTransaction, request)).bytes(1) ?? []
    let read = bytes { writer in
      writer.field(1, string: root + "/c/a")
      writer.field(3, bytes: id)
    }
    _ = try? await service.answer(.getDocument, read)
    return id
  }

  private func commit(_ id: [UInt8]) -> [UInt8] {
    bytes { writer in
      writer.field(1, string: database)
      writer.field(3, bytes: id)
    }
  }

  private func service(
    _ concurrency: ConcurrencyMode, patience: Duration = LocalBackend.lockPatience
  ) throws -> FirestoreService {
    var service = FirestoreService(backend: try makeService().backend, concurrency: concurrency)
    service.lockPatience = patience
    return service
  }

  @Test("A request's concurrency mode takes precedence over the server's", arguments: [0, 1, 2] as [UInt64])
  func mode(named: UInt64) async throws {
    for server in [ConcurrencyMode.optimistic, .pessimistic] {
      let service = try service(server, patience: .zero)
      _ = try await begin(service, mode: named)
      let isPessimistic = named == 2 || named == 0 && server == .pessimistic
      do {
        _ = try await service.answer(.commit, write)
        #expect(!isPessimistic)
      } catch { #expect(isPessimistic && error.code == .aborted) }
    }
  }

  @Test("A write to a locked document waits until the transaction ends")
  func waits() async throws {
    let service = try service(.pessimistic)
    let id = try await begin(service, mode: 0)
    let atOnce = try await service.backend.run { try service.answerAtOnce(.commit, write) }
    #expect(atOnce == nil)
    let waiting = Task { try await service.answer(.commit, write) }
    while await service.backend.lockWaitCount == 0 { await Task.yield() }

    _ = try await service.answer(.commit, commit(id))

    #expect(try Message(await waiting.value).has(2))
    #expect(await service.backend.lockWaitCount == 0)
  }

  @Test("A batch waits for the locks of all its documents, then writes them")
  func batch() async throws {
    let service = try service(.pessimistic)
    let id = try await begin(service, mode: 0)
    let batch = write + bytes { $0.set("c/b", [:]) }
    let waiting = Task { try await service.answer(.batchWrite, batch) }
    while await service.backend.lockWaitCount == 0 { await Task.yield() }
    #expect(
      try await service.backend.documents([DocumentKey("c/b")!], in: DatabaseID(project: "p")).documents[0].exists
        == false)

    _ = try await service.answer(.commit, commit(id))

    #expect(try Message(await waiting.value).all(2).count == 2)
  }

  @Test("A transaction whose wait for a lock times out is aborted and frees its locks")
  func inVain() async throws {
    let service = try service(.pessimistic, patience: .zero)
    let (first, second) = (try await begin(service, mode: 0), try await begin(service, mode: 0))

    await #expect(throws: RPCStatus(.aborted, "Transaction lock timeout.")) {
      _ = try await service.answer(.commit, commit(second) + bytes { $0.set("c/a", [:]) })
    }
    _ = try await service.answer(.commit, commit(first) + bytes { $0.set("c/a", [:]) })
  }

  @Test("A canceled call stops waiting for a lock")
  func cancelled() async throws {
    let service = try service(.pessimistic)
    _ = try await begin(service, mode: 0)
    let waiting = Task { try await service.answer(.commit, write) }
    while await service.backend.lockWaitCount == 0 { await Task.yield() }

    waiting.cancel()

    await #expect(throws: RPCStatus.self) { _ = try await waiting.value }
    #expect(await service.backend.lockWaitCount == 0)
  }
}
