// SPDX-License-Identifier: Apache-2.0
import FirestoreModel
import FirestoreTesting
import Testing

@Suite("Ordered code", .enabled(if: SpecFiles.areThere(for: "ordered code")))
struct OrderedCodeTests {
  private func check(
    _ list: String, _ append: (inout OrderedCode, [String: Any]) throws -> Void
  ) throws {
    let json = try SpecFiles.json("values/ordered_code.json")
    let items = try #require(json[list] as? [[String: Any]])
    #expect(!items.isEmpty)
    var previous: [UInt8] = []
    for item in items {
      var ascending = OrderedCode()
      var descending = OrderedCode(isDescending: true)
      try append(&ascending, item)
      try append(&descending, item)

      #expect(ascending.bytes == (try bytes(item["asc"])), "\(item)")
      #expect(descending.bytes == (try bytes(item["desc"])), "\(item)")
      #expect(previous.lexicographicallyPrecedes(ascending.bytes))
      previous = ascending.bytes
    }
  }

  private func bytes(_ hexadecimal: Any?) throws -> [UInt8] {
    let digits = Array(try #require(hexadecimal as? String))
    return try stride(from: 0, to: digits.count, by: 2).map {
      try #require(UInt8(String(digits[$0...($0 + 1)]), radix: 16))
    }
  }

  @Test("Ordered code encodes numbers as in the published examples")
  func numbers() throws {
    try check("numbers") { code, item in
      let bits = try #require(item["bits"] as? String)
      code.append(Double(bitPattern: try #require(UInt64(bits, radix: 16))))
    }
  }

  @Test("Ordered code encodes strings as in the published examples")
  func strings() throws {
    try check("strings") { code, item in code.append(try #require(item["text"] as? String)) }
  }

  @Test("Ordered code encodes bytes and prefix ends as in the published examples")
  func byteStrings() throws {
    try check("bytes") { code, item in code.append(try bytes(item["hex"])) }
    var infinity = OrderedCode()
    infinity.appendInfinity()
    #expect(infinity.bytes == [0xff, 0xff])
  }
}
