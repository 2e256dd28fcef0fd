import { expect, test } from 'vitest'
import { formatterFindings, stateOf } from '../../../../src/cli/commands/doctor/formatter-checks.js'

test('the doctor says nothing of formatters where none is switched on', () => {
  expect(formatterFindings([])).toEqual([])
})

test('the doctor tells which formatters run, are missing, are not wanted, and may not run', () => {
  const findings = formatterFindings([
    { id: 'gofmt', state: 'missing' },
    { id: 'prettier', state: 'refused', reason: 'it would run code of the project, because of /project/prettier.config.mjs' },
    { id: 'biome', state: 'runs' },
    { id: 'ruff', state: 'unwanted' },
    { id: 'mine', state: 'runs' },
  ])
  expect(findings.map(({ level, detail }) => `${level}: ${detail}`)).toEqual([
    'ok: run after changes: biome, mine; not found outside of the project: gofmt; not wanted by a file here: ruff',
    'warning: prettier does not run: it would run code of the project, because of /project/prettier.config.mjs (docs/formatters.md)',
  ])
})

test('what the server tells of a formatter is what the doctor makes of it', () => {
  const standing = (state: 'named' | 'waiting' | 'accepted' | 'unavailable', message: string | null = null) => ({
    state,
    revision: 'sha256:1',
    commands: [['prettier']],
    also: [],
    message,
  })
  const problem = 'it would run code of the project'
  const of = (wanted: boolean, acceptance: ReturnType<typeof standing> | null, isThere = true) =>
    stateOf({ id: 'prettier', wanted, problem: acceptance === null || acceptance.state !== 'named' ? problem : null, acceptance }, isThere)
  expect([
    of(false, null),
    of(false, standing('named')),
    of(true, standing('named')),
    of(true, standing('named'), false),
    of(true, standing('accepted')),
    of(true, standing('waiting', 'it waits')),
    of(true, standing('unavailable', 'no sandbox')),
  ]).toEqual([
    { id: 'prettier', state: 'refused', reason: problem },
    { id: 'prettier', state: 'unwanted' },
    { id: 'prettier', state: 'runs' },
    { id: 'prettier', state: 'missing' },
    { id: 'prettier', state: 'runs' },
    { id: 'prettier', state: 'refused', reason: `${problem}; "svc formatter accept prettier" lets it` },
    { id: 'prettier', state: 'refused', reason: 'no sandbox' },
  ])
})
