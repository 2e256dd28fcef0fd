import { parseDocument } from 'yaml'
import { describe, expect, it } from 'vitest'
import { readQuickly } from '../../src/plugins/workflows/quick-yaml.js'

/** As the whole parser reads a text; undefined when it finds anything wrong. */
function whole(text: string): unknown {
  const document = parseDocument(text, { version: '1.2', schema: 'core', prettyErrors: false })
  if (document.errors.length + document.warnings.length > 0) return undefined
  try {
    return document.toJS()
  } catch {
    return undefined // an alias of nothing
  }
}

/** A sequence of numbers below 1 that is always the same. */
function numbersFrom(seed: number): () => number {
  let state = seed
  return () => {
    state = (Math.imul(state, 1_664_525) + 1_013_904_223) >>> 0
    return state / 2 ** 32
  }
}

const NAMES = [
  '__proto__',
  'constructor',
  '~',
  '12',
  '1.5',
  'true',
  'id',
  'name',
  'active',
  'schedule',
  'time',
  'permissions',
  'bash',
  'null',
  'True',
  'on',
  'a-b',
  'x_1',
  '"q"',
  '<<',
  '? k',
  '- ',
]
const VALUES = [
  'daily',
  'true',
  'FALSE',
  'Null',
  '~',
  '~/x',
  '/etc',
  '0',
  '007',
  '12',
  '-1',
  '1e3',
  '0x1f',
  '.5',
  '.nan',
  '09:00',
  '9:00:01',
  '2026-05-04',
  '2026-05-04T09:00:00Z',
  '2026-05-04T09:00:00+02:00',
  '"09:00"',
  "'it'",
  "'it''s'",
  '"a\\n"',
  '"a # b"',
  '"a: b"',
  'a # b',
  'a #b',
  'a: b',
  'a:b',
  'a - b',
  '- a',
  '[mon, thu]',
  '[ mon ,thu ]',
  '[]',
  '[a b, c]',
  '["x, y", z]',
  '[\'[\', "]"]',
  '[null, a]',
  '[1, 2]',
  '{a: b}',
  '|',
  '>-',
  '&a b',
  '*a',
  '!!str 1',
  '%x',
  '@x',
  '`x`',
  'Grüße',
  'a,b',
  'a  b',
  'a ',
  'x(1)',
  'yes',
  'no',
  'on',
  'inf',
  '+1',
  '0b1',
  '1_000',
  '1_0.5',
  '0_1',
  '.5_',
  '+0x1f',
  '-0o7',
  '0o7',
  '0o9',
  '1.',
  '1e',
  '.5e3',
  '-.inf',
  '12e03',
  '{null: 1}',
  '{? a}',
  '{~: a, b: c}',
  '[*x]',
  '<<',
  '"\\x41"',
  '"\\ud83d"',
  '__proto__',
  '{__proto__: 1}',
  '"\\u263A"',
  '99999999999999999999',
  '\u00a0x',
  'a\u2028b',
  'a"b',
  "a'b",
  '"open',
  '[open',
  '',
] // prettier-ignore
const SPACES = ['', '', '  ', '  ', '    ', ' ', '   ', '\t']
const LINES = ['', '# a comment', '  # another', ' ', '---', '...', 'word', '  more words', '- item', '\u00a0x: y', 'x: \u2028']

/** Mostly as people write it. */
function randomText(next: () => number): string {
  const pick = (of: readonly string[]): string => of[Math.floor(next() * of.length)] ?? ''
  const rarely = (odd: () => string, usual: () => string) => (next() < 0.08 ? odd() : usual())
  let indent = ''
  const line = () => {
    if (next() < 0.06) return pick(LINES)
    const at = rarely(
      () => pick(SPACES),
      () => indent,
    )
    const name = rarely(
      () => pick(NAMES),
      () => `${pick(['id', 'name', 'time', 'bash'])}${Math.floor(next() * 20)}`,
    )
    const opens = next() < 0.25
    indent = opens ? `${at}  ` : next() < 0.3 ? '' : at
    if (opens) return `${at}${name}:`
    const colon = rarely(
      () => pick([':', ' : ', ':  ']),
      () => ': ',
    )
    const value = next() < 0.5 ? pick(['daily', 'true', '12', '"09:00"', '[mon, thu]', '~/x']) : pick(VALUES)
    return `${at}${name}${colon}${value}`
  }
  return `${Array.from({ length: 1 + Math.floor(next() * 6) }, line).join('\n')}\n`
}

describe('the quicker parser', () => {
  it('reads what people write', () => {
    const text =
      'id: work-1\nname: Daily report\nactive: true\n# when\nschedule:\n  frequency: weekly\n  weekdays: [mon, "thu"]\n  interval: 2\n  time: 09:00\n\npermissions:\n  bash:\n    default: deny\n    allow: ["npm test*"]\n  edit: deny\ndirectory: ~/reports\n' // prettier-ignore
    expect(readQuickly(text)).toEqual({
      id: 'work-1',
      name: 'Daily report',
      active: true,
      schedule: { frequency: 'weekly', weekdays: ['mon', 'thu'], interval: 2, time: '09:00' },
      permissions: { bash: { default: 'deny', allow: ['npm test*'] }, edit: 'deny' },
      directory: '~/reports',
    })
    expect(readQuickly(text)).toEqual(whole(text))
  })

  it('agrees with the whole parser wherever it answers', () => {
    const next = numbersFrom(7)
    let answered = 0
    for (let round = 0; round < 20_000; round++) {
      const text = randomText(next)
      const plain = readQuickly(text)
      if (plain === undefined) continue
      answered++
      expect({ text, value: plain }).toEqual({ text, value: whole(text) })
    }
    expect(answered).toBeGreaterThan(2000)
  })

  it.each(VALUES)('agrees with the whole parser on the value %j', (value) => {
    const text = `x: ${value}\n`
    expect([undefined, whole(text)]).toContainEqual(readQuickly(text))
  })
})
