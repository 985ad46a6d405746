// SPDX-License-Identifier: Apache-2.0

/// The ids of documents that get no other: 20 letters and digits, about 119 bits, as in every SDK.
package enum AutomaticID {
  package static let letters = Array("ABCDEFGHIJKLMNOPQRSTUVWXYZabcdefghijklmnopqrstuvwxyz0123456789")

  package static func make(using generator: inout some RandomNumberGenerator) -> String {
    String((0..<20).map { _ in letters[Int.random(in: letters.indices, using: &generator)] })
  }

  package static func make() -> String {
    var generator = SystemRandomNumberGenerator()
    return make(using: &generator)
  }
}
