// SPDX-License-Identifier: Apache-2.0
package import FirestoreModel

extension Value: ExpressibleByIntegerLiteral, ExpressibleByFloatLiteral, ExpressibleByStringLiteral,
  ExpressibleByBooleanLiteral, ExpressibleByArrayLiteral, ExpressibleByDictionaryLiteral
{
  package init(integerLiteral value: Int64) { self = .integer(value) }
  package init(floatLiteral value: Double) { self = .double(value) }
  package init(stringLiteral value: String) { self = .string(value) }
  package init(booleanLiteral value: Bool) { self = .boolean(value) }
  package init(arrayLiteral elements: Value...) { self = .array(elements) }
  package init(dictionaryLiteral elements: (String, Value)...) { self = .map(Fields(elements.map { ($0.0, $0.1) })) }
}
