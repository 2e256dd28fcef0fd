import { expect, test } from 'vitest'
import { formatterFindings } from '../../src/cli/doctor/formatter-checks.js'

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
