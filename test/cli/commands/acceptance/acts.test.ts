import { afterEach, expect, test, vi } from 'vitest'
import { actOn, type Acts } from '../../../../src/cli/commands/acceptance/acts.js'
import type { ProgramStanding } from '../../../../src/protocol/acceptance/acceptance.js'

afterEach(() => vi.restoreAllMocks())

const STANDING = {
  state: 'waiting',
  revision: 'r1',
  commands: [['serve', '--stdio']],
  also: ['variables: A'],
} as unknown as ProgramStanding

function played(standing: ProgramStanding | null | undefined, removed = true) {
  const told: unknown[] = []
  const printed: string[] = []
  vi.spyOn(process.stdout, 'write').mockImplementation((text) => printed.push(String(text)) > 0)
  const acts: Acts = {
    standing: () => Promise.resolve(standing),
    accept: (body) => {
      told.push(body)
      return Promise.resolve({ id: 'x', directory: '/w', commands: [['serve', '--stdio']], acceptedAt: 1, acceptedBy: 'me' } as never)
    },
    takeBack: () => Promise.resolve({ removed }),
    said: (directory) => `may start in ${directory}`,
  }
  return { acts, told, printed }
}

test.each<readonly [what: string, standing: ProgramStanding | null | undefined, body: object]>([
  ['what was read, and nothing that came since', STANDING, { body: { revision: 'r1' } }],
  ['what needs no acceptance, as the server says of it', null, {}],
  ['a program that nobody knows, as the server says of it', undefined, {}],
])('accepts %s', async (_, standing, body) => {
  const { acts, told, printed } = played(standing)
  expect(await actOn('accept', false, acts)).toBe(0)
  expect(told).toEqual([body])
  expect(printed.join('')).toBe(`may start in /w:\n  serve --stdio\n${standing == null ? '' : '  variables: A\n'}`)
})

test.each([
  [true, 0, 'taken back\n'],
  [false, 1, 'nothing was accepted\n'],
])('takes back: %s', async (removed, code, text) => {
  const { acts, printed } = played(STANDING, removed)
  expect([await actOn('revoke', false, acts), printed.join('')]).toEqual([code, text])
})
