// SPDX-License-Identifier: Apache-2.0
import FirestoreJSON
import Testing

@testable import CommandTransfer

@Suite("A server's indexes and lifetimes in a backup") struct DeploymentTests {
  private func index(_ fields: String) throws -> DeployedIndex? {
    let name = "projects/p/databases/(default)/collectionGroups/orders/indexes/CICAgOjXh4EK"
    return DeployedIndex(try JSONSyntax(parsing: "{\"name\": \"\(name)\", \"fields\": [\(fields)]}"))
  }

  @Test("A backup omits a trailing __name__ field from an index definition")
  func name() throws {
    let index = try index(
      #"{"fieldPath": "a", "order": "ASCENDING"}, {"fieldPath": "b", "order": "DESCENDING"}, "#
        + #"{"fieldPath": "__name__", "order": "DESCENDING"}"#)
    #expect(index?.collectionGroup == "orders" && index?.fields.map(\.path) == ["a", "b"])
    #expect(
      index?.definition
        == #"{"collectionGroup": "orders", "queryScope": "COLLECTION", "fields": [{"fieldPath": "a", "order": "ASCENDING"}, "#
        + #"{"fieldPath": "b", "order": "DESCENDING"}]}"#)
  }

  @Test("A backup keeps vector dimensions and a __name__ field of the opposite direction")
  func other() throws {
    let turned = try index(
      #"{"fieldPath": "a", "order": "ASCENDING"}, {"fieldPath": "__name__", "order": "DESCENDING"}"#)
    #expect(turned?.fields.count == 2)
    let vector = try index(#"{"fieldPath": "v", "vectorConfig": {"dimension": 3, "flat": {}}}"#)
    #expect(vector?.definition.contains(#""vectorConfig": {"dimension": 3, "flat": {}}"#) == true)
    #expect(try index(#"{"fieldPath": "a"}"#) == nil)
    #expect(DeployedIndex(try JSONSyntax(parsing: #"{"fields": []}"#)) == nil)
  }

  @Test("A backup includes a TTL policy in any state and skips the wildcard field")
  func overrides() throws {
    func field(_ name: String, _ rest: String) throws -> FieldOverride? {
      FieldOverride(
        deployed: try JSONSyntax(parsing: "{\"name\": \"projects/p/databases/d/collectionGroups/\(name)\", \(rest)}"))
    }
    let ttl = #""ttlConfig": {"state": "CREATING"}, "indexConfig": {"indexes": []}"#
    let creating = try field("orders/fields/expires", ttl)
    let active = try field("orders/fields/expires", ttl.replacing("CREATING", with: "ACTIVE"))
    #expect(creating != nil && creating == active && active?.isLifetime == true)
    #expect(active?.definition.contains(#""ttl": true"#) == true)
    #expect(try field("__default__/fields/*", ttl) == nil)
    #expect(try field("orders/fields/expires", #""indexConfig": {"indexes": []}"#) != active)
  }
}
