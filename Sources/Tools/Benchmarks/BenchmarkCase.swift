// SPDX-License-Identifier: Apache-2.0
import BenchmarkResults
import Foundation

/// One benchmark. All benchmarks run on the main thread, because the system's allocator treats memory of other threads
/// differently.
struct BenchmarkCase: Sendable {
  private enum Work: Sendable {
    case synchronous(@MainActor @Sendable (Workbench) throws -> [Reading])
    case asynchronous(@MainActor @Sendable (Workbench) async throws -> [Reading])
  }

  let name: String
  let summary: String
  private let work: Work

  init(name: String, summary: String, run: @escaping @MainActor @Sendable (Workbench) throws -> [Reading]) {
    self.name = name
    self.summary = summary
    work = .synchronous(run)
  }

  init(name: String, summary: String, run: @escaping @MainActor @Sendable (Workbench) async throws -> [Reading]) {
    self.name = name
    self.summary = summary
    work = .asynchronous(run)
  }

  @MainActor func readings(_ bench: Workbench) throws -> [Reading] {
    switch work {
    case .synchronous(let run): return try run(bench)
    case .asynchronous(let run): return try Self.wait { try await run(bench) }
    }
  }

  /// Runs an asynchronous function and processes the main queue until it ends.
  @MainActor static func wait<Output>(_ body: @escaping @MainActor () async throws -> Output) throws -> Output {
    var result: Result<Output, any Error>?
    Task { @MainActor in
      do { result = .success(try await body()) } catch { result = .failure(error) }
    }
    while true {
      if let result { return try result.get() }
      _ = RunLoop.main.run(mode: .default, before: .distantFuture)
    }
  }

  static let all =
    queryCases + indexCases + startCases + wireCases + remoteCases + writeCases + fanoutCases + garbageCollectionCases
    + memoryCases + scalingCases + screenCases + firstFrameCases + endToEndCases + listenerCases + decodeCases
    + servedCases + inspectionCases

  static func named(_ names: [String]) -> [BenchmarkCase] { all.filter { names.contains($0.name) } }
}
