// SPDX-License-Identifier: Apache-2.0
import FirestoreModel

enum RegularExpressions {
  static let functions: [Function] = []
}
