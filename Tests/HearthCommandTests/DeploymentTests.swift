// SPDX-License-Identifier: Apache-2.0
import FirestoreJSON
import FirestoreModel
import Testing

@testable import CommandTransfer

@Suite("What a server has deployed") struct DeploymentTests {
  private func index(_ json: String) throws -> DeployedIndex? { DeployedIndex(try JSONSyntax(parsing: json)) }

  @Test("An index as the server tells it is the one of the file, whose name at the end is left out")
  func same() throws {
    let told = try index(
      #"""
      {"name": "projects/p/databases/(default)/collectionGroups/orders/indexes/CICAgOjXh4EK", "queryScope": "COLLECTION",
       "state": "READY", "density": "SPARSE_ALL", "fields": [{"fieldPath": "a", "order": "ASCENDING"},
       {"fieldPath": "b", "order": "DESCENDING"}, {"fieldPath": "__name__", "order": "DESCENDING"}]}
      """#)
    let written = try index(
      #"{"collectionGroup": "orders", "fields": [{"fieldPath": "a", "order": "ASCENDING"}, "#
        + #"{"fieldPath": "b", "order": "DESCENDING"}]}"#)
    #expect(told != nil && told == written)
    #expect(told?.text == "orders: a ASC, b DESC")
  }

  @Test("A name in another direction than the last field is part of the index, and vectors keep their dimension")
  func other() throws {
    let turned = try index(
      #"{"collectionGroup": "o", "fields": [{"fieldPath": "a", "order": "ASCENDING"}, "#
        + #"{"fieldPath": "__name__", "order": "DESCENDING"}]}"#)
    #expect(turned?.fields.count == 2)
    let vector = try index(
      #"{"collectionGroup": "o", "fields": [{"fieldPath": "v", "vectorConfig": {"dimension": 3, "flat": {}}}]}"#)
    #expect(vector?.definition.contains(#""vectorConfig": {"dimension": 3, "flat": {}}"#) == true)
    #expect(try index(#"{"fields": []}"#) == nil)
    #expect(try index(#"{"collectionGroup": "o", "fields": [{"fieldPath": "a"}]}"#) == nil)
  }

  @Test("A field by which documents expire is the same in any state of its lifetime; that of all fields is none")
  func overrides() throws {
    func field(_ name: String, _ rest: String) throws -> FieldOverride? {
      FieldOverride(
        deployed: try JSONSyntax(parsing: "{\"name\": \"projects/p/databases/d/collectionGroups/\(name)\", \(rest)}"))
    }
    let ttl = #""ttlConfig": {"state": "CREATING"}, "indexConfig": {"indexes": []}"#
    let creating = try field("orders/fields/expires", ttl)
    let active = try field("orders/fields/expires", ttl.replacing("CREATING", with: "ACTIVE"))
    #expect(creating != nil && creating == active && active?.lifetimeState == "ACTIVE")
    let written = FieldOverride(
      entry: try JSONSyntax(
        parsing: #"{"collectionGroup": "orders", "fieldPath": "expires", "ttl": true, "indexes": []}"#))
    #expect(written == active)
    #expect(try field("__default__/fields/*", ttl) == nil)
    #expect(try field("orders/fields/expires", #""indexConfig": {"indexes": []}"#) != active)
  }

  @Test("Text of rules stays one word of the shell, whatever quotes it has")
  func quotes() {
    let request = DeploymentRequest(method: "POST", url: "https://h/v1/a'b", body: "it's {\"a\": 1}")
    #expect(request.curl.contains(#"'https://h/v1/a'\''b'"#) && request.curl.hasSuffix(#"-d 'it'\''s {"a": 1}'"#))
  }
}
