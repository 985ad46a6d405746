// SPDX-License-Identifier: Apache-2.0
import ArgumentParser
import Foundation
import Spelling

/// Measures the cache and the sync core on sample data, beside the same work done with SQLite alone.
@main
struct HearthBench: ParsableCommand {
  static let configuration = CommandConfiguration(
    commandName: "hearth-bench",
    abstract: "Measure the offline cache and the sync core.",
    discussion: """
      Each case runs several times on sample data (documents of 12 fields, about 460 bytes) and reports the median: \
      wall time if the machine is quiet (load below 1.5), processor time otherwise. The floor is the same work done \
      with SQLite alone in the same run; goals hold for 100000 documents. Measure release builds: \
      swift run -c release hearth-bench.

      Cases:
      \(BenchmarkCase.all.map { "  \($0.name.padding(toLength: 26, withPad: " ", startingAt: 0)) \($0.summary)" }
        .joined(separator: "\n"))
      """)

  @Argument(help: "The cases to run; all if none is named.")
  var cases: [String] = []

  @Option(help: "How many documents the cache holds; may be repeated (default: 1000, 10000 and 100000).")
  var documents: [Int] = []

  @Flag(help: "Print one JSON object per line.")
  var json = false

  @Option(help: "How often each case runs, where it is not bound to a number (default: 5 to 9 times).")
  var repetitions: Int?

  @Option(help: .hidden)
  var residentProbe: String?

  @Option(help: .hidden)
  var cache: String?

  func validate() throws {
    for name in cases where !BenchmarkCase.all.contains(where: { $0.name == name }) {
      let nearest = NearestName.closest(to: name, among: BenchmarkCase.all.map(\.name))?.name ?? ""
      throw ValidationError("There is no case “\(name)”; did you mean “\(nearest)”?")
    }
    if let count = documents.first(where: { !(100...10_000_000).contains($0) }) {
      throw ValidationError("--documents \(count): give a number from 100 to 10000000.")
    }
    if let repetitions, !(1...1_000_000).contains(repetitions) {
      throw ValidationError("--repetitions \(repetitions): give a number from 1 to 1000000.")
    }
  }

  func run() throws { try MainActor.assumeIsolated { try measure() } }

  @MainActor private func measure() throws {
    if let residentProbe, let cache { return try ResidentProbe.run(residentProbe, cache) }
    let chosen = cases.isEmpty ? BenchmarkCase.all : BenchmarkCase.all.filter { cases.contains($0.name) }
    let sizes = documents.isEmpty ? [1_000, 10_000, 100_000] : documents
    var progress = Progress(total: chosen.count * sizes.count)
    if !json { print(ReportLine.tableHeader) }
    for size in sizes {
      let workbench = try Workbench(documents: size, repetitions: repetitions)
      for benchmark in chosen {
        progress.begin("\(benchmark.name), \(size) documents")
        let readings = try benchmark.readings(workbench)
        progress.clear()
        for reading in readings {
          let line = ReportLine(benchmark.name, documents: size, reading)
          print(json ? line.json : line.tableRow)
        }
        fflush(nil)
      }
    }
  }
}

/// The display of the running case, on standard error if that is a terminal.
private struct Progress {
  let total: Int
  private var done = 0
  private let isShown = isatty(2) == 1

  init(total: Int) { self.total = total }

  mutating func begin(_ text: String) {
    done += 1
    show("[\(done)/\(total)] \(text)")
  }

  func clear() { show("") }

  private func show(_ text: String) {
    if isShown { FileHandle.standardError.write(Data("\r\u{1b}[K\(text)".utf8)) }
  }
}

/// One benchmark. All of them run on the process's first thread, whose memory the system's allocator manages in another
/// way than that of other threads.
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

  /// Runs the case; an asynchronous one while the main queue is served from here.
  @MainActor func readings(_ bench: Workbench) throws -> [Reading] {
    switch work {
    case .synchronous(let run): return try run(bench)
    case .asynchronous(let run):
      var result: Result<[Reading], any Error>?
      Task { @MainActor in
        do { result = .success(try await run(bench)) } catch { result = .failure(error) }
      }
      while result == nil { _ = RunLoop.main.run(mode: .default, before: .distantFuture) }
      return try result?.get() ?? []
    }
  }

  static let all =
    queryCases + indexCases + startCases + wireCases + remoteCases + writeCases + fanoutCases + garbageCollectionCases
    + memoryCases + scalingCases + screenCases + firstFrameCases + endToEndCases + inspectionCases
}
