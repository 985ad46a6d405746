// SPDX-License-Identifier: Apache-2.0
import Foundation
import Hearth
import Testing

extension ArticleTests {
  @Test("The code in the article 'Types' runs")
  func types() async throws {
    try await ArticleDatabase.run { db async throws in
      // Shown in Types.md:
      try await db.document("cities/SF").setData([
        "name": "San Francisco", "population": 873_965, "area": 121.5, "coastal": true, "mayor": NSNull(),
        "founded": Timestamp(seconds: -6_106_060_800, nanoseconds: 0),
        "place": GeoPoint(latitude: 37.77, longitude: -122.42),
        "sister": db.document("cities/SYD"), "tags": ["west", "bay"], "taste": FieldValue.vector([0.1, 0.9]),
      ])
      let city = try await db.document("cities/SF").getDocument()
      print(city.get("population") as? Int ?? 0, city.get("population") as? Double ?? 0)
      print(
        (city.get("sister") as? DocumentReference)?.path ?? "", (city.get("founded") as? Timestamp)?.dateValue() ?? .now
      )
      // Until here.
      #expect(city.get("population") as? Int == 873_965 && city.get("area") as? Double == 121.5)
      #expect(city.get("mayor") is NSNull && city.get("tags") as? [String] == ["west", "bay"])
      #expect((city.get("sister") as? DocumentReference)?.path == "cities/SYD")
      #expect((city.get("founded") as? Timestamp)?.seconds == -6_106_060_800)
      #expect((city.get("taste") as? VectorValue)?.array == [0.1, 0.9])
      // Shown in Types.md:
      enum Status: String, Codable { case new, paid }
      struct Order: Codable {
        @DocumentID var id: String?
        @ServerTimestamp var placed: Date?
        @ExplicitNull var note: String?
        var status = Status.new
        var total: Double
        var lines: [String: Int] = [:]
        var discount: Double?
      }

      let order = db.document("orders/1")
      try await order.enqueueData(from: Order(total: 12.5, lines: ["tea": 2])).acknowledged
      let stored = try await order.getDocument(as: Order.self)
      print(stored.id ?? "", stored.status, stored.placed ?? .now)
      // Until here.
      #expect(stored.id == "1" && stored.placed != nil && stored.lines == ["tea": 2])
      let fields = try #require(try await order.getDocument().data())
      #expect(
        fields.keys.sorted() == ["lines", "note", "placed", "status", "total"] && fields["status"] as? String == "new")
      #expect(fields["note"] is NSNull)
      // Shown in Types.md:
      try await db.disableNetwork()
      try await order.enqueueUpdate(["seen": FieldValue.serverTimestamp()]).local
      let waiting = try await order.getDocument(source: .cache)
      print(waiting.get("seen") is NSNull)
      print(waiting.get("seen", serverTimestampBehavior: .estimate) is Timestamp)
      try await db.enableNetwork()
      // Until here.
      #expect(waiting.get("seen") is NSNull)
      #expect(waiting.get("seen", serverTimestampBehavior: .estimate) is Timestamp)
      await #expect { try await order.setData(["a": [[1]]]) } throws: {
        ($0 as? FirestoreError)?.code == .invalidArgument
      }
    }
  }
}
