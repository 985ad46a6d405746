// SPDX-License-Identifier: Apache-2.0

/// One row of what is measured.
struct BenchmarkCase: Sendable {
  let name: String
  let summary: String
  let run: @Sendable (Workbench) async throws -> [Reading]

  static let all =
    queryCases + indexCases + startCases + wireCases + remoteCases + writeCases + fanoutCases + garbageCollectionCases
    + memoryCases + scalingCases + endToEndCases

  /// The name that takes the fewest edits to get from this one.
  static func nearestName(to name: String) -> String {
    all.map(\.name).min { editDistance($0, name) < editDistance($1, name) } ?? ""
  }

  /// How many characters to insert, delete or replace (Levenshtein).
  private static func editDistance(_ left: String, _ right: String) -> Int {
    let right = Array(right)
    var row = Array(0...right.count)
    for (index, character) in left.enumerated() {
      var diagonal = row[0]
      row[0] = index + 1
      for (column, other) in right.enumerated() {
        let substituted = diagonal + (character == other ? 0 : 1)
        diagonal = row[column + 1]
        row[column + 1] = min(substituted, diagonal + 1, row[column] + 1)
      }
    }
    return row[right.count]
  }
}
