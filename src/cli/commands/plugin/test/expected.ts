/** Whether an answer holds what is expected of it. Pure. */
import { isRecord } from '../../../../protocol/text/json.js'

/** Where it does not, as a sentence; undefined when it does. Members that are not named may be anything; lists have as many items. */
export function difference(expected: unknown, actual: unknown, at = 'the answer'): string | undefined {
  if (Array.isArray(expected)) {
    if (!Array.isArray(actual)) return `${at} is ${shown(actual)}, not a list`
    if (actual.length !== expected.length) return `${at} has ${actual.length} items, not ${expected.length}: ${shown(actual)}`
    return first(expected.map((each, index) => difference(each, actual[index], `${at}[${index}]`)))
  }
  if (isRecord(expected)) {
    if (!isRecord(actual)) return `${at} is ${shown(actual)}, not an object`
    return first(Object.entries(expected).map(([key, each]) => difference(each, actual[key], `${at}.${key}`)))
  }
  return Object.is(expected, actual) ? undefined : `${at} is ${shown(actual)}, not ${shown(expected)}`
}

const SHOWN = 200

export function shown(value: unknown): string {
  const text = JSON.stringify(value) ?? 'nothing'
  return text.length <= SHOWN ? text : `${text.slice(0, SHOWN)} and more`
}

function first(differences: readonly (string | undefined)[]): string | undefined {
  return differences.find((each) => each !== undefined)
}
