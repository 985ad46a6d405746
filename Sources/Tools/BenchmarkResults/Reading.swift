// SPDX-License-Identifier: Apache-2.0

/// The values measured for one variant of a benchmark case.
package struct Reading {
  /// The name of the variant; `nil` if the case has only one variant.
  package var variant: String?
  package var unit: FigureUnit
  /// The maximum value that is acceptable with 100 000 documents on a quiet machine.
  package var goal: Double?
  package var samples: [Sample]
  /// The samples of the same work done with only SQLite, measured in the same run.
  package var floor: [Sample]
  /// The number that differs between readings of the same family; `nil` if this is the document count.
  package var dimension: Dimension?
  /// The durations of single operations in seconds.
  package var latencies: [Double] = []
  /// The growth of memory from the start to the peak, in MB. For a separate process, this is its peak memory.
  package var peak: Double?

  package init(variant: String? = nil, unit: FigureUnit, goal: Double? = nil, samples: [Sample], floor: [Sample] = []) {
    (self.variant, self.unit, self.goal, self.samples, self.floor) = (variant, unit, goal, samples, floor)
  }

  package func wall(_ samples: [Sample]) -> Double { samples.map { unit.value($0.wall, $0.count) }.median }
  package func cpu(_ samples: [Sample]) -> Double { samples.map { unit.value($0.cpu, $0.count) }.median }

  /// The processor time of one operation in the fastest repetition, in seconds; 0 if the figure is not a time.
  package func best(_ samples: [Sample]) -> Double {
    unit == .megabytes ? 0 : samples.map { $0.cpu / $0.count }.min() ?? 0
  }
}

/// A number that varies between readings, other than the document count.
package struct Dimension: Hashable, Sendable {
  /// The things that are counted.
  package let name: String
  package let number: Int
  /// The name that readings with different numbers have in common; `nil` for none.
  package let family: String?

  package static func pendingWrites(_ number: Int, _ family: String? = nil) -> Dimension {
    Dimension(name: "pending writes", number: number, family: family)
  }

  package static func listeners(_ number: Int, _ family: String? = nil) -> Dimension {
    Dimension(name: "listeners", number: number, family: family)
  }
}

extension Reading {
  /// A reading that contains the repetitions of this reading and of another.
  package func joined(with other: Reading) -> Reading {
    var joined = self
    joined.samples += other.samples
    joined.floor += other.floor
    joined.latencies += other.latencies
    return joined
  }
}

/// A repetition, with its wall time, processor time and allocation count. On a busy machine, the wall time is not
/// meaningful. The allocation count is the same on every machine.
package struct Sample {
  /// The wall time in seconds.
  package var wall: Double
  /// The processor time of all threads of this process in seconds.
  package var cpu: Double
  /// The number of operations or documents in that time.
  package var count = 1.0
  /// The number of blocks that all threads allocated in that time.
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

  /// - Parameter seconds: the total time of all `count` operations.
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
  /// The median. For an even number of values, this is the smaller of the two middle values. It is 0 if there are no
  /// values.
  package var median: Double { percentile(50) }

  /// The smallest value such that at least `percent` percent of the values are not larger; 0 if there are no values.
  package func percentile(_ percent: Double) -> Double {
    if isEmpty { return 0 }
    let rank = Int((Double(count) * percent / 100).rounded(.up))
    return sorted()[Swift.min(Swift.max(rank, 1), count) - 1]
  }
}
