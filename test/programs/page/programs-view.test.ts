import { expect, test } from 'vitest'
import { mayBeTakenBack, ofCatalog, ofFormatters, ofServers, waitingFirst } from '../../../src/programs/page/views/programs-view.js'
import type { ProgramStanding } from '../../../src/protocol/acceptance/acceptance.js'
import type { FormatterStatus } from '../../../src/protocol/format/formatter-routes.js'
import type { LspStatus } from '../../../src/protocol/lsp/lsp.js'
import type { McpCatalogEntry } from '../../../src/protocol/mcp/mcp.js'

const standing = (state: ProgramStanding['state']): ProgramStanding => ({
  state,
  revision: `sha256:${state}`,
  commands: [['program', 'an argument']],
  also: [],
  message: state === 'waiting' ? 'it waits' : null,
})
// Of a row only these are looked at.
const server = (id: string, acceptance: ProgramStanding | null) => ({ id, acceptance }) as LspStatus
const formatter = (id: string, wanted: boolean, acceptance: ProgramStanding | null) => {
  const problem = acceptance?.state === 'named' ? null : 'it would run code'
  return { id, wanted, problem, acceptance } as FormatterStatus
}
const brought = (acceptance: ProgramStanding | null) => ({ acceptance }) as McpCatalogEntry

test('what is reached, cannot be used or is of the installation is no program of a workspace; a path names any id', () => {
  expect(ofServers([server('godot', null), server('a/b', standing('named'))])).toEqual([
    { kind: 'language server', id: 'a/b', standing: standing('named'), path: '/v2/plugins/dev.svc.lsp/a%2Fb' },
  ])
  expect(ofCatalog({ ours: brought(null), theirs: brought(standing('waiting')) })).toEqual([
    { kind: 'MCP server', id: 'theirs', standing: standing('waiting'), path: '/v2/plugins/dev.svc.mcp/theirs' },
  ])
})

test('a formatter is shown where it would run code of the workspace, or where somebody has accepted it', () => {
  const shown = ofFormatters([
    formatter('gone', true, null),
    formatter('biome', false, standing('named')),
    formatter('gofmt', true, standing('named')),
    formatter('ruff', false, standing('accepted')),
    formatter('prettier', true, standing('waiting')),
  ])
  expect(shown.map(({ id, path }) => [id, path])).toEqual([
    ['ruff', '/v2/plugins/dev.svc.files/formatters/ruff'],
    ['prettier', '/v2/plugins/dev.svc.files/formatters/prettier'],
  ])
})

test('what waits stands first, and what an act lets start can be taken back', () => {
  const states = ['named', 'waiting', 'accepted', 'confined', 'unavailable'] as const
  const programs = ofServers(states.map((state) => server(state, standing(state))))
  expect(waitingFirst(programs).map(({ id }) => id)).toEqual(['waiting', 'named', 'accepted', 'confined', 'unavailable'])
  expect(programs.filter(mayBeTakenBack).map(({ id }) => id)).toEqual(['accepted'])
  const servers = ofCatalog(Object.fromEntries(states.map((state) => [state, brought(standing(state))])))
  expect(servers.filter(mayBeTakenBack).map(({ id }) => id)).toEqual(['accepted', 'unavailable'])
})
