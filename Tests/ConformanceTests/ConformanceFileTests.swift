// SPDX-License-Identifier: Apache-2.0
import Testing

@Suite(.enabled(if: SpecFiles.directory != nil, SpecFiles.areMissing))
struct ConformanceFileTests {
  @Test("Every file is read, and the few that do not apply are among them")
  func isComplete() throws {
    let files = try ConformanceFile.all.get()

    #expect(files.count == 171)
    let tested = ConformanceFile.Kind.allCases.flatMap(ConformanceFile.applicable).map(\.name)
    let left = ConformanceFile.notApplicable.keys
    #expect(Set(tested).union(left) == Set(files.map(\.name)))
    #expect(tested.count + left.count == files.count)
    #expect(left.count <= 10)
  }
}
