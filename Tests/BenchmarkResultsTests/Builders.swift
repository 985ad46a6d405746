// SPDX-License-Identifier: Apache-2.0
import BenchmarkResults

/// A line of one repetition.
/// - Parameters:
///   - seconds: the time of one operation.
///   - floor: the time of SQLite alone.
func line(
  _ name: String, _ variant: String? = nil, at documents: Int = 10_000, _ unit: FigureUnit = .milliseconds,
  seconds: Double,
  floor: Double? = nil, allocations: Double = 0, dimension: Dimension? = nil
) -> ReportLine {
  var reading = Reading(
    variant: variant, unit: unit, samples: [Sample(wall: seconds, cpu: seconds, allocations: allocations)],
    floor: floor.map { [Sample(wall: $0, cpu: $0)] } ?? [])
  reading.dimension = dimension
  return ReportLine(name, documents: documents, reading, load: 0.5)
}
