// SPDX-License-Identifier: Apache-2.0
import BenchmarkResults
import CAllocationCount
import Foundation

/// The state of the clocks and of the allocator at the start of what is measured.
struct Start {
  private let instant = ContinuousClock.now
  private let processor = processorSeconds()
  private let allocations = allocation_count()

  /// - Parameter count: the number of operations since the start.
  func sample(count: Int = 1) -> Sample {
    let wall = instant.duration(to: .now) / .seconds(1)
    return Sample(
      wall: wall, cpu: processorSeconds() - processor, count: Double(count),
      allocations: Double(allocation_count() &- allocations))
  }
}

/// Measures `body` once.
func measure<R>(count: Int = 1, _ body: () throws -> R) rethrows -> (sample: Sample, result: R) {
  let start = Start()
  let result = try body()
  return (start.sample(count: count), result)
}

/// Measures `body` once, and all that it waits for.
@MainActor func measureAsync(count: Int = 1, _ body: () async throws -> Void) async rethrows -> Sample {
  let start = Start()
  try await body()
  return start.sample(count: count)
}

private func processorSeconds() -> Double {
  var time = timespec()
  clock_gettime(CLOCK_PROCESS_CPUTIME_ID, &time)
  return Double(time.tv_sec) + Double(time.tv_nsec) / 1e9
}

/// The number of processes that want to run, averaged over a minute.
func machineLoad() -> Double {
  var loads = [0.0]
  return getloadavg(&loads, 1) == 1 ? loads[0] : 0
}
