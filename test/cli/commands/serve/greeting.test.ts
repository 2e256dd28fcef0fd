import { expect, test } from 'vitest'
import { greeting } from '../../../../src/cli/commands/serve/greeting.js'
import { readLogLine, shownLine } from '../../../../src/cli/log-line.js'

const text = (given: Parameters<typeof greeting>[0]) => greeting(given).map((line) => line.map((span) => span.text).join(''))
const url = 'http://127.0.0.1:4096'

test('a person at a terminal is told what a server is, and for whom', () => {
  const options = { hostname: '127.0.0.1', origins: ['https://app.example'], hosts: [] }
  expect(text({ url, options, model: 'acme/one', hasToken: true, state: '/s' })).toEqual([
    '  inspector  http://127.0.0.1:4096/v2/inspector',
    '  model      acme/one',
    '  open to    programs of this machine, with the token',
    '             pages of https://app.example',
    '  state      /s',
    '  log        svc logs -f',
    '  ends with  Ctrl-C',
  ])
  expect(
    text({ url, options: { hostname: '0.0.0.0', origins: [], hosts: [] }, model: null, hasToken: false, state: '/s' }).slice(1, 3),
  ).toEqual(['  model      none; svc doctor tells why', '  open to    whoever reaches this address, without a token'])
})

test('lines of the log are told in one line each, and what is none is left out', () => {
  const line = { time: '2026-05-04T10:20:30.000Z', level: 'warn', message: 'a\u001b[2Jb', pluginId: 'x.y', count: 2 }
  const record = readLogLine(JSON.stringify(line))
  expect(record && shownLine(record)).toMatch(/^\d\d:20:30 warn {2}a.*b {2}pluginId=x\.y {2}count=2$/)
  expect(record && shownLine(record)).not.toContain('\u001b')
  expect([readLogLine('{"time":"20'), readLogLine('{}')]).toEqual([undefined, undefined])
})
