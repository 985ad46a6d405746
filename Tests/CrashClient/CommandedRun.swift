// SPDX-License-Identifier: Apache-2.0
import Dispatch
import FirestoreBackend
import FirestoreClientState
import FirestoreLocal
import FirestoreModel
import FirestoreQuery
import FirestoreSQLite
import FirestoreSync
import Glibc

/// Does what standard input says, a line at a time, and answers each with a line: `ok`, `count N`, `status …`, or
/// `failed CODE MESSAGE`.
///
///     write PATH BYTES     a document of about that size, by this client
///     remote PATH BYTES    the same, by somebody else at the backend
///     listen COLLECTION    from then on `snapshot COLLECTION DOCUMENTS cache|server`, or `ended COLLECTION CODE`
///     count COLLECTION     of documents in the cache, pending writes included
///     limit BYTES|none     how large a file this process may write: `setrlimit`, without the signal
///     retry                now, whatever waits for another attempt
///     sent                 answered when every pending write is
///     status               the code and words with which the durable cache was refused, then those of its last failure
struct CommandedRun {
  let client: RunningClient

  func run() async {
    signal(SIGXFSZ, SIG_IGN)
    await withDiscardingTaskGroup { group in
      for await line in Self.lines() {
        let words = line.split(separator: " ").map(String.init)
        if words.count == 2, words[0] == "listen" {
          let mailbox = SnapshotMailbox()
          var options = ListenerOptions()
          options.includeMetadataChanges = true
          _ = client.engine.listen(to: query(words[1]), options: options, into: mailbox)
          group.addTask { await Self.report(words[1], mailbox) }
          CrashClient.say("ok")
        } else {
          CrashClient.say(await answer(words))
        }
      }
      group.cancelAll()
    }
  }

  /// Of standard input, read where waiting for them holds nobody up.
  private static func lines() -> AsyncStream<String> {
    AsyncStream { continuation in
      DispatchQueue(label: "commands").async {
        while let line = readLine() { continuation.yield(line) }
        continuation.finish()
      }
    }
  }

  private func answer(_ words: [String]) async -> String {
    do throws(RPCStatus) {
      switch (words.first ?? "", Array(words.dropFirst())) {
      case ("write", let operands) where operands.count == 2:
        _ = try await client.engine.write([document(operands[0], operands[1])]).local
      case ("remote", let operands) where operands.count == 2:
        try await client.backend.commit([document(operands[0], operands[1])], in: RunningClient.database)
      case ("count", let operands) where operands.count == 1:
        return "count \(try await client.engine.cachedDocuments(query(operands[0])).count)"
      case ("limit", let operands) where operands.count == 1: try limitFiles(operands[0])
      case ("retry", _): await client.engine.retryNow()
      case ("sent", _): try await client.engine.waitForPendingWrites()
      case ("status", _): return "status \(await status())"
      default: throw RPCStatus(.invalidArgument, "unknown command \(words)")
      }
      return "ok"
    } catch {
      return "failed \(error.code.name) \(error.message)"
    }
  }

  private func status() async -> String {
    guard let status = await client.engine.status().first(where: { _ in true }) else { return "terminated" }
    let refusal = client.engine.cacheProblem.map { "\($0.error.code.name) \($0.notice)" }
    return "\(refusal ?? "durable") / \(status.storeFailure.map { "\($0)" } ?? "works")"
  }

  private static func report(_ collection: String, _ mailbox: SnapshotMailbox) async {
    while let element = await mailbox.next() {
      switch element {
      case .snapshot(let snapshot):
        let source = snapshot.isFromCache ? "cache" : "server"
        CrashClient.say("snapshot \(collection) \(snapshot.documents.count) \(source)")
      case .failed(let status): CrashClient.say("ended \(collection) \(status.code.name) \(status.message)")
      }
    }
  }

  private func query(_ collection: String) -> Query { Query(path: ResourcePath(collection)) }

  private func document(_ path: String, _ size: String) -> Mutation {
    Mutation(key: key(path), operation: .set(["text": .string(String(repeating: "x", count: Int(size) ?? 0))]))
  }

  private func limitFiles(_ size: String) throws(RPCStatus) {
    var limit = rlimit()
    getrlimit(__rlimit_resource_t(RLIMIT_FSIZE.rawValue), &limit)
    limit.rlim_cur = rlim_t(size) ?? limit.rlim_max
    guard setrlimit(__rlimit_resource_t(RLIMIT_FSIZE.rawValue), &limit) == 0 else {
      throw RPCStatus(.internal, "setrlimit: \(String(cString: strerror(errno)))")
    }
  }
}
