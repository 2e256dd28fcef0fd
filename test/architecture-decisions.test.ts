import { describe, expect, test } from 'vitest'
import { indexed, lost, pages, written } from './architecture/decisions.js'
import { sources } from './architecture/source.js'

const sorted = (values: readonly string[]) => values.toSorted()

describe('docs/decisions', () => {
  test('the index names every decision once, with its page and subject', () => {
    expect(written().length).toBeGreaterThan(70)
    expect(indexed().map(({ number, page, subject }) => ({ number, page, subject }))).toEqual(
      written().toSorted((a, b) => Number(a.number) - Number(b.number)),
    )
  })

  test('every heading with a number has its anchor, and each decision holds or says what took its place', () => {
    expect(pages().length).toBeLessThanOrEqual(32)
    expect(indexed().filter(({ status }) => !/^(?:holds|overruled (?:in part )?by \[\d{3}\])/.test(status))).toEqual([])
  })

  test('links between decisions lead to one', () => {
    expect(lost()).toEqual([])
  })

  test('a decision that code points to is there', () => {
    const known = new Set(written().map(({ number }) => number))
    const cited = sources().flatMap(({ text }) => [...text.matchAll(/\bdecision (\d{3})\b/g)].map(([, number = '']) => number))
    expect(cited.length).toBeGreaterThan(4)
    expect(sorted(cited.filter((number) => !known.has(number)))).toEqual([])
  })
})
