// SPDX-License-Identifier: Apache-2.0
package import CommandOutput
package import FirestoreClientState
package import FirestoreModel
import Foundation
import Synchronization

/// Runs a scenario several times in simulated environments. All runs must have identical output.
package struct ScenarioRepetition: Sendable {
  private let scenario: Scenario
  private let database: DatabaseID
  private let faults: [FaultChange]

  /// - Parameter faults: the faults of each client at the start.
  package init(_ scenario: Scenario, in database: DatabaseID, faults: [FaultChange] = []) {
    (self.scenario, self.database, self.faults) = (scenario, database, faults)
  }

  /// Runs the scenario several times. There are as many concurrent runs as processors.
  /// - Returns: the lines of each run, which are identical.
  /// - Throws: the failure of the first run, or the first difference between it and a later run.
  package func play(_ times: Int) async throws(CommandFailure) -> [String] {
    let (first, failure) = try await play()
    if let failure { throw failure }
    let width = max(1, min(ProcessInfo.processInfo.activeProcessorCount, times - 1))
    let difference = await withTaskGroup(of: CommandFailure?.self) { group in
      for worker in 0..<width {
        group.addTask {
          for run in stride(from: 2 + worker, through: times, by: width) where !Task.isCancelled {
            if let difference = await self.difference(of: run, among: times, from: first) { return difference }
          }
          return nil
        }
      }
      for await difference in group where difference != nil {
        group.cancelAll()
        return difference
      }
      return nil
    }
    if let difference { throw difference }
    return first
  }

  private func difference(of run: Int, among times: Int, from first: [String]) async -> CommandFailure? {
    let head = "\(scenario.name), run \(run) of \(times) with seed \(scenario.seed): "
    let lines: [String]
    do throws(CommandFailure) {
      let (seen, failure) = try await play()
      if let failure { return CommandFailure(failure.status, head + failure.message) }
      lines = seen
    } catch { return error }
    if lines == first { return nil }
    let place = zip(lines, first).enumerated().first { $1.0 != $1.1 }?.offset ?? min(lines.count, first.count)
    func line(_ lines: [String]) -> String { place < lines.count ? lines[place] : "nothing" }
    return CommandFailure(
      .failure, "\(head)line \(place + 1) is \(line(lines)), but it was \(line(first)) in the first run.")
  }

  /// Runs the scenario once.
  /// - Returns: the JSON output including notes, and the failure.
  private func play() async throws(CommandFailure) -> ([String], CommandFailure?) {
    let lines = Mutex<[String]>([])
    let (report, scenario) = (ScenarioReport(.json), scenario)
    let world = try ScenarioWorld(simulating: database, seed: scenario.seed, faults: faults)
    let run = ScenarioRun(scenario, in: world) { done in
      lines.withLock { $0 += report.lines(done, of: scenario) }
    } note: { note in
      lines.withLock { $0.append(note) }
    }
    do { try await run.run() } catch {
      let failure = error as? CommandFailure ?? CommandFailure(.failure, "\(scenario.name): \(error)")
      return (lines.withLock { $0 }, failure)
    }
    return (lines.withLock { $0 }, nil)
  }
}
