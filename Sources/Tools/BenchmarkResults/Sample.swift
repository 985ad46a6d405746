// SPDX-License-Identifier: Apache-2.0

/// One repetition: its duration, and the time that this process's threads were running meanwhile. On a busy machine
/// only the latter says something about the code, and the number of allocations, which is the same on every machine.
package struct Sample {
  /// The duration in seconds.
  package var wall: Double
  /// The processor time in seconds.
  package var cpu: Double
  /// The number of operations or documents in that time.
  package var count = 1.0
  /// The blocks that all threads took from the allocator in that time.
  package var allocations = 0.0

  package init(wall: Double, cpu: Double, count: Double = 1, allocations: Double = 0) {
    (self.wall, self.cpu, self.count, self.allocations) = (wall, cpu, count, allocations)
  }

  package mutating func add(_ other: Sample) {
    wall += other.wall
    cpu += other.cpu
    allocations += other.allocations
  }
}

package enum FigureUnit: String, Sendable {
  case milliseconds = "ms"
  case microseconds = "us"
  case documentsPerSecond = "docs/s"
  case megabytes = "MB"

  /// - Parameter seconds: the time of all `count` operations together.
  package func value(_ seconds: Double, _ count: Double) -> Double {
    switch self {
    case .milliseconds: seconds * 1e3 / count
    case .microseconds: seconds * 1e6 / count
    case .documentsPerSecond: seconds > 0 ? count / seconds : 0
    case .megabytes: count
    }
  }

  var isBetterWhenHigher: Bool { self == .documentsPerSecond }
}

extension Array where Element == Double {
  /// The middle value; of an even number the lower of the two in the middle. 0 for none.
  package var median: Double { percentile(50) }

  /// The value that so many of a hundred do not exceed. 0 for none.
  package func percentile(_ percent: Double) -> Double {
    if isEmpty { return 0 }
    let rank = Int((Double(count) * percent / 100).rounded(.up))
    return sorted()[Swift.min(Swift.max(rank, 1), count) - 1]
  }
}
