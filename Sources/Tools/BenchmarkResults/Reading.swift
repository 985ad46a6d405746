// SPDX-License-Identifier: Apache-2.0

/// The measured values of one case under one of its conditions.
package struct Reading {
  /// The condition that distinguishes this reading from the case's others.
  package var variant: String?
  package var unit: FigureUnit
  /// The goal at 100 000 documents on a quiet machine.
  package var goal: Double?
  package var samples: [Sample]
  /// The same work done with SQLite alone, in the same run.
  package var floor: [Sample]
  /// The number that distinguishes this reading from others of its family, if it is not that of the documents.
  package var dimension: Dimension?
  /// The durations of single operations in seconds.
  package var latencies: [Double] = []
  /// The most memory above that of the start, in MB; of a process of its own, all that it had.
  package var peak: Double?

  package init(variant: String? = nil, unit: FigureUnit, goal: Double? = nil, samples: [Sample], floor: [Sample] = []) {
    (self.variant, self.unit, self.goal, self.samples, self.floor) = (variant, unit, goal, samples, floor)
  }

  package func wall(_ samples: [Sample]) -> Double { samples.map { unit.value($0.wall, $0.count) }.median }
  package func cpu(_ samples: [Sample]) -> Double { samples.map { unit.value($0.cpu, $0.count) }.median }

  /// The processor time of one operation in the best repetition, in seconds; 0 for figures that are no times.
  package func best(_ samples: [Sample]) -> Double {
    unit == .megabytes ? 0 : samples.map { $0.cpu / $0.count }.min() ?? 0
  }
}

/// A number that a case is measured for, other than that of the documents.
package struct Dimension: Hashable, Sendable {
  /// The things that are counted.
  package let name: String
  package let number: Int
  /// The condition that the readings of different numbers share; `nil` for none.
  package let family: String?

  package static func pendingWrites(_ number: Int, _ family: String? = nil) -> Dimension {
    Dimension(name: "pending writes", number: number, family: family)
  }

  package static func listeners(_ number: Int, _ family: String? = nil) -> Dimension {
    Dimension(name: "listeners", number: number, family: family)
  }
}

extension Reading {
  /// The same reading with more repetitions.
  package func joined(with other: Reading) -> Reading {
    var joined = self
    joined.samples += other.samples
    joined.floor += other.floor
    joined.latencies += other.latencies
    return joined
  }
}
