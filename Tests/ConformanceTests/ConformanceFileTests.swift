// SPDX-License-Identifier: Apache-2.0
import FirestoreTesting
import Testing

@Suite(.enabled(if: SpecFiles.areThere(for: "the set of conformance files")))
struct ConformanceFileTests {
  @Test("Every conformance file is tested, adapted or listed as not applicable")
  func isComplete() throws {
    let files = try ConformanceFile.all.get()

    #expect(files.count == 171)
    let tested = ConformanceFile.Kind.allCases.flatMap(ConformanceFile.applicable).map(\.name)
    let left = ConformanceFile.notApplicable.keys
    #expect(Set(tested).union(left) == Set(files.map(\.name)))
    #expect(tested.count + left.count == files.count)
    #expect(left.count == 10)
    #expect(ConformanceFile.adapted.count == 17)
    #expect(Set(tested).isSuperset(of: ConformanceFile.adapted.keys))
  }
}
