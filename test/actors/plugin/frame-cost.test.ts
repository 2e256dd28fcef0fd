/** Frames within every other bound whose names of members alone take long to read: none of them is parsed. */
import { describe, expect, test } from 'vitest'
import { readFrame } from '../../../src/actors/plugin/link/frame-text.js'
import { LIMITS } from '../../../src/protocol/limits.js'

const { frameKeys, frameBytes } = LIMITS.plugins

const NAMES: Readonly<Record<string, (index: number) => string>> = {
  'different names': (index) => index.toString(36),
  'equal names': () => 'a',
  'halves of characters': (index) => `\\ud800${index.toString(36)}`,
  numbers: (index) => String(index * 7919),
  'names of the prototype': () => '__proto__',
}

/** A frame of so many members at each of these places. */
const PLACES: Readonly<Record<string, (members: readonly string[]) => string>> = {
  'in one object': (members) => `{"id":1,"result":{${members.join(',')}}}`,
  'in a frame itself': (members) => `{${members.join(',')}}`,
  'in objects of their own': (members) => `{"id":1,"result":[${members.map((member) => `{${member}}`).join(',')}]}`,
  'without an end': (members) => `{"id":1,"result":{${members.join(',')}`,
}

const CASES = Object.keys(PLACES).flatMap((place) => Object.keys(NAMES).map((name) => [name, place] as const))

describe('a frame of too many names is read no further', () => {
  test.each(CASES)('%s %s', (name, place) => {
    const frameOf = (count: number) => {
      const text = PLACES[place]?.(Array.from({ length: count }, (_, index) => `"${NAMES[name]?.(index)}":0`)) ?? ''
      expect(text.length).toBeLessThan(frameBytes)
      return readFrame(Buffer.from(text))
    }
    expect(frameOf(frameKeys + 1)).toMatchObject({ problem: `has more than ${frameKeys} names of members` })
    const { problem, frame } = { problem: undefined, frame: undefined, ...frameOf(1000) }
    expect([problem, frame === undefined]).toEqual(place === 'without an end' ? ['is not JSON', true] : [undefined, false])
  })
})
