// SPDX-License-Identifier: Apache-2.0
import FailingCalls
import FirestoreBackend
import FirestoreLocal
import FirestoreModel
import FirestoreSQLite
import Glibc

/// Stores numbered commits, and prints the outcome of each: `stored NUMBER`, `refused NUMBER`, or `unknown NUMBER` if the
/// store said that the commit may have been stored. Then ends, or kills itself.
///
/// A commit writes three documents and adds one to a counter, so a commit that is half there, or there twice, shows.
struct StorageRun {
  let folder: String
  let first: Int
  let commits: Int
  let isKilled: Bool

  func runBackend(_ durability: BackendConfiguration.Durability) async throws {
    let backend = try LocalBackend(
      BackendConfiguration(
        location: .directory(folder + "/backend"), durability: durability, now: RunningClient.now))
    for number in first..<first + commits {
      do throws(RPCStatus) {
        try await backend.commit(Self.mutations(number), in: RunningClient.database)
        report("stored", number)
      } catch {
        report(error.code == .unavailable ? "unknown" : "refused", number)
      }
    }
    finish()
  }

  func runCache() throws {
    var store = try LocalStore(
      LocalStoreConfiguration(
        location: .directory(folder + "/cache"), policy: .leastRecentlyUsed(thresholdBytes: 1 << 20),
        database: RunningClient.database))
    for number in first..<first + commits {
      do throws(StoreError) {
        _ = try store.write(Self.mutations(number), at: RunningClient.now())
        report("stored", number)
      } catch {
        report(error.kind == .uncertain ? "unknown" : "refused", number)
      }
    }
    finish()
    store.close()
  }

  private static func mutations(_ number: Int) -> [Mutation] {
    let text = Value.string(String(repeating: "q", count: number.isMultiple(of: 3) ? 9_000 : 700))
    var writes = (0..<3).map { part in
      Mutation(key: key("c/\(number)-\(part)"), operation: .set(["n": .integer(Int64(number)), "text": text]))
    }
    var counter = Mutation(key: key("counters/c"), operation: .patch(Fields(), FieldMask([])))
    counter.transforms = [FieldTransform(path: FieldPath("n"), operation: .increment(.integer(1)))]
    writes.append(counter)
    return writes
  }

  private func report(_ outcome: String, _ number: Int) {
    if outcome == "stored" { failing_calls_mark(UInt64(number)) }
    CrashClient.say("\(outcome) \(number)")
  }

  private func finish() {
    if isKilled { kill(getpid(), SIGKILL) }
  }
}
