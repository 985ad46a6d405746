// SPDX-License-Identifier: Apache-2.0
import ChildProcesses
import Foundation
import Testing

/// A disk whose k-th call fails, for each k: SQLite's and Hearth's own calls on the files of a backend and of a cache.
///
/// The default run tries a few k of each kind; `HEARTH_FAILING_CALLS=400` tries the first 400.
@Suite(.besideOthers, .serialized, .timeLimit(.minutes(120))) struct FailingCallTests {
  struct Kind: CustomStringConvertible, Sendable {
    var store: String
    var calls: String
    /// 0 kills the process in the middle of the call.
    var error: CInt
    /// Whether all later calls fail too.
    var isLasting = false

    var description: String {
      let how = error == 0 ? "killed" : String(cString: strerror(error))
      return "\(store), \(calls): \(how)\(isLasting ? ", lasting" : "")"
    }
  }

  private static let kinds: [Kind] = ["normal", "full", "cache"].flatMap { store in
    [
      Kind(store: store, calls: "write", error: EIO),
      Kind(store: store, calls: "write", error: ENOSPC, isLasting: true),
      Kind(store: store, calls: "write", error: EDQUOT), Kind(store: store, calls: "write", error: 0),
      Kind(store: store, calls: "fsync", error: EIO), Kind(store: store, calls: "fsync", error: EIO, isLasting: true),
      Kind(store: store, calls: "ftruncate", error: ENOSPC), Kind(store: store, calls: "rename", error: EIO),
      Kind(store: store, calls: "open", error: EIO), Kind(store: store, calls: "mmap", error: ENOMEM),
    ]
  }

  private static let tries: [Int] = {
    guard let all = ProcessInfo.processInfo.environment["HEARTH_FAILING_CALLS"].flatMap({ Int($0) }) else {
      return [1, 8, 40]
    }
    return Array(1...all)
  }()

  @Test("A failing system call loses no stored commit and stores no rejected commit", arguments: kinds)
  func failing(_ kind: Kind) async throws {
    var violations = 0
    for k in Self.tries {
      let folder = try ClientFolder()
      // The data exists already, and its log if the process was killed.
      var reported = try await run(kind.store, folder, from: 0, isKilled: k.isMultiple(of: 2))
      #expect(reported.stored.count == Self.commits)
      reported += try await run(
        kind.store, folder, from: 100, isKilled: k.isMultiple(of: 3),
        environment: [
          "FAIL_PATH": "/\(kind.store == "cache" ? "cache" : "backend")/", "FAIL_CALLS": kind.calls, "FAIL_AT": "\(k)",
          "FAIL_COUNT": kind.isLasting ? "0" : "1", "FAIL_ERROR": "\(kind.error)",
        ])

      let found: [String]
      do {
        let commits =
          kind.store == "cache"
          ? try FoundCommits(cacheIn: folder) : try await FoundCommits(backendIn: folder.path)
        found = commits.violations(reported)
      } catch {
        found = ["does not open: \(error)"]
      }
      violations += found.count
      #expect(found == [], "\(kind), call \(k): \(reported)")
    }
    if Self.tries.count > 100 { print("FAILING CALLS \(kind): \(Self.tries.count) runs, \(violations) violations") }
  }

  @Test(
    "A failing system call during creation leaves the data complete or absent",
    arguments: kindsWhileMade)
  func failingWhileMade(_ kind: Kind) async throws {
    for k in Self.triesWhileMade {
      let folder = try ClientFolder()
      var reported = try await run(
        kind.store, folder, from: 0, isKilled: false,
        environment: [
          "FAIL_PATH": "/\(kind.store == "cache" ? "cache" : "backend")/", "FAIL_CALLS": kind.calls, "FAIL_AT": "\(k)",
          "FAIL_COUNT": kind.isLasting ? "0" : "1", "FAIL_ERROR": "\(kind.error)",
        ])
      let next = try await run(kind.store, folder, from: 100, isKilled: false)
      #expect(next.stored.count == Self.commits, "\(kind), call \(k)")
      reported += next
      let commits =
        kind.store == "cache"
        ? try FoundCommits(cacheIn: folder) : try await FoundCommits(backendIn: folder.path)
      #expect(commits.violations(reported) == [], "\(kind), call \(k): \(reported)")
    }
  }

  private static let (kindsWhileMade, triesWhileMade) =
    tries.count > 100
    ? (kinds, Array(1...60)) : (kinds.filter { $0.error == ENOSPC && $0.calls == "write" }, [5, 12, 16, 21])

  private static let commits = 14

  private func run(
    _ store: String, _ folder: ClientFolder, from first: Int, isKilled: Bool, environment: [String: String] = [:]
  ) async throws -> ReportedCommits {
    let process = try folder.start(
      store, "\(first)", "\(Self.commits)", isKilled ? "1" : "0", environment: environment)
    let output = try await ChildProcess.all(process.output)
    let errors = try await ChildProcess.all(process.errors)
    let status = try await process.exitStatus()
    #expect([0, 1, 128 + SIGKILL].contains(status), "\(output) \(errors)")
    return ReportedCommits(output: output)
  }
}
