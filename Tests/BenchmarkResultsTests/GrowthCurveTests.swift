// SPDX-License-Identifier: Apache-2.0
import BenchmarkResults
import Foundation
import Testing

@Suite struct GrowthCurveTests {
  private static let sizes = [1_000, 10_000, 100_000]

  private func lines(_ unit: FigureUnit = .milliseconds, _ seconds: (Double) -> Double) -> [ReportLine] {
    Self.sizes.map { line("case", at: $0, unit, seconds: seconds(Double($0))) }
  }

  @Test("n log n growth passes, and quadratic growth is reported per step with its factor")
  func fastSteps() throws {
    let allowed = try #require(GrowthCurve.all(lines { $0 * log2($0) / 1e6 }).first)
    #expect(allowed.points.count == 3 && allowed.fastSteps.isEmpty)
    let square = try #require(GrowthCurve.all(lines { $0 * $0 / 1e9 }).first)
    #expect(square.fastSteps.map(\.to.number) == [10_000, 100_000])
    #expect(square.fastSteps.map(\.factor) == [100, 100])
  }

  @Test("A benchmark's rate is converted to the time for all documents")
  func rates() throws {
    let lines = Self.sizes.map { size in
      ReportLine(
        "case", documents: size,
        Reading(unit: .documentsPerSecond, samples: [Sample(wall: 2, cpu: 2, count: 100)]), load: 0.5)
    }
    let curve = try #require(GrowthCurve.all(lines).first)
    #expect(curve.scale == .milliseconds && curve.points.map(\.value) == [20_000, 200_000, 2_000_000])
    #expect(curve.fastSteps.isEmpty)
  }

  @Test("Listeners and pending writes get separate growth curves at the largest size")
  func dimensions() throws {
    let lines = Self.sizes.flatMap { size in
      [1, 100].map {
        line(
          "write", "patch, \($0) pending", at: size, .microseconds, seconds: Double($0 * size) / 1e6,
          dimension: .pendingWrites($0, "patch"))
      }
    }
    let curves = GrowthCurve.all(lines)
    #expect(curves.filter { $0.dimension == "documents" }.count == 2)
    let own = try #require(curves.first { $0.dimension == "pending writes" })
    #expect(own.name == "write (patch)" && own.points.map(\.number) == [1, 100])
    #expect(own.points.map(\.value) == [100_000, 10_000_000])
  }

  @Test("A benchmark with a single size produces no growth curve")
  func oneSize() { #expect(GrowthCurve.all([line("case", seconds: 1)]).isEmpty) }

  @Test("The growth plot has one labeled line per curve and escapes the curves' names")
  func picture() throws {
    let curves = GrowthCurve.all(
      Self.sizes.flatMap { size in
        ["a < b & \"c\"", nil].map { line("case", $0, at: size, seconds: Double(size)) }
      })
    let svg = GrowthPlot(curves: curves, subtitle: "<&>").svg
    let document = try XMLCount.elements(Data(svg.utf8))
    #expect(document["polyline"] == 2)
    #expect(svg.contains("case (a &lt; b &amp; &quot;c&quot;)</text>") && svg.contains(">case</text>"))
    #expect(svg.contains("n log n</text>"))
  }
}

/// The elements of an XML document by their names, read by nothing but the rules that it has to keep.
private enum XMLCount {
  struct Failure: Error { let text: String }

  static func elements(_ data: Data) throws -> [String: Int] {
    var (counts, open): ([String: Int], [String]) = ([:], [])
    var rest = Substring(String(decoding: data, as: UTF8.self))
    while let start = rest.firstIndex(of: "<") {
      guard !rest[..<start].contains(">"), let end = rest[start...].firstIndex(of: ">") else {
        throw Failure(text: String(rest.prefix(80)))
      }
      let tag = rest[rest.index(after: start)..<end]
      guard !tag.contains("<") else { throw Failure(text: String(tag)) }
      let name = String(tag.drop { $0 == "/" }.prefix { $0.isLetter })
      if tag.hasPrefix("/") {
        guard open.popLast() == name else { throw Failure(text: String(tag)) }
      } else {
        counts[name, default: 0] += 1
        if !tag.hasSuffix("/") { open.append(name) }
      }
      rest = rest[rest.index(after: end)...]
    }
    guard open.isEmpty else { throw Failure(text: open.joined(separator: " ")) }
    return counts
  }
}
