// SPDX-License-Identifier: Apache-2.0
import FirestoreModel
import FirestoreQuery
import Testing

@Suite("Aggregations")
struct AggregationTests {
  private func figures(_ values: [Value?], _ functions: [Aggregation.Function]) -> [Value?] {
    let documents = values.enumerated().map { index, value in
      doc("c/\(index)", Fields(value.map { [("v", $0)] } ?? []), encoded: index.isMultiple(of: 2))
    }
    let aggregations = functions.enumerated().map { Aggregation(alias: "f\($0)", function: $1) }
    let figures = Aggregation.evaluate(aggregations, over: documents)
    return aggregations.map { figures[$0.alias] }
  }

  @Test(
    "Sums stay integers until they overflow, and averages are doubles (PROTOCOL §3.9)",
    arguments: [
      ([], .integer(0), .null), ([.string("x"), .null], .integer(0), .null),
      ([.integer(1), .integer(2), .string("x")], .integer(3), .double(1.5)),
      ([.integer(1), .double(2)], .double(3), .double(1.5)), ([.double(-0.0)], .double(0), .double(0)),
      ([.integer(.max), .integer(1)], .double(0x1p63), .double(0x1p62)),
      ([.integer(.max), .integer(1), .integer(-1)], .integer(.max), .double(Double(Int64.max) / 3)),
      ([.double(.nan), .integer(1)], .double(.nan), .double(.nan)),
      ([.double(.infinity), .integer(1)], .double(.infinity), .double(.infinity)),
    ] as [([Value], Value, Value)])
  func sums(values: [Value], sum: Value, average: Value) {
    #expect(figures(values, [.sum(path("v")), .average(path("v"))]) == [sum, average])
  }

  @Test("Every aggregate excludes documents that lack an aggregated field")
  func implicitRequirement() {
    let values: [Value?] = [.integer(1), nil, .string("x"), .null]

    #expect(figures(values, [.count]) == [.integer(4)])
    #expect(figures(values, [.count, .sum(path("v"))]) == [.integer(3), .integer(1)])
    #expect(figures(values, [.count, .sum(path("v")), .sum(path("w"))]) == [.integer(0), .integer(0), .integer(0)])
  }

  @Test("An aggregation's implied order has the aggregated fields before the document id")
  func implicitOrder() {
    let target = Query.c(order: order("a")).target

    #expect(
      target.implyingOrder(of: [
        Aggregation(alias: "n", function: .count), Aggregation(alias: "s", function: .sum(path("b"))),
        Aggregation(alias: "a", function: .average(path("a"))),
      ]).orderBy == order("a", "b", "__name__"))
  }
}
