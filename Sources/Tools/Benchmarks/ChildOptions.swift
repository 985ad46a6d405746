// SPDX-License-Identifier: Apache-2.0
import ArgumentParser

/// The options with which this program starts itself, to measure in a process of its own.
struct ChildOptions: ParsableArguments {
  @Option(help: "Print the resident memory after this work on --cache.")
  var residentProbe: String?

  @Option(help: "The directory of a cache; for --served-client memory or disk.")
  var cache: String?

  @Option(help: "Be a client at a server: listen, change or write.")
  var servedClient: String?

  @Option(help: "The server of --served-client, HOST:PORT.")
  var servedAt: String?

  /// Does the work of a child.
  /// - Returns: whether there was any.
  @MainActor func run() throws -> Bool {
    if let residentProbe, let cache {
      try ResidentProbe.run(residentProbe, cache)
      return true
    }
    guard let servedClient else { return false }
    #if HEARTH_CORE
      throw ValidationError("--served-client \(servedClient): this build has no public API.")
    #else
      let client = try ServedClient(work: servedClient, at: servedAt ?? "", cache: cache ?? "")
      try BenchmarkCase.wait { try await client.run() }
      return true
    #endif
  }
}
