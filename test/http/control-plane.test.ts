// Holds subsystems d.9: what a shared control plane refuses, operation by operation.
import { afterAll, expect, test } from 'vitest'
import { EXECUTING_HERE, refuseExecution } from '../../src/http/admission/execution.js'
import { EXECUTING } from '../../src/http/admission/hosted.js'
import { SCOPED } from '../../src/http/admission/scopes.js'
import { API } from '../../src/protocol/api.js'
import type { RouteContract } from '../../src/protocol/route.js'
import { BEARER, createTestServer, requestOf, withToken } from './setup.js'

const shared = createTestServer({ ...withToken, operations: refuseExecution })
const local = createTestServer(withToken)
afterAll(async () => {
  await shared.close(0)
  await local.close(0)
})

/** Streams are left open, and sockets need a connection. */
const ASKED = API.filter(({ success }) => success.mediaType !== 'text/event-stream' && success.status !== 101)

async function statusOf(server: typeof shared, contract: RouteContract): Promise<string> {
  const { headers, ...request } = requestOf(contract)
  const answer = await server.inject({ ...request, headers: { ...headers, ...BEARER } })
  if (answer.statusCode < 300) return 'answered'
  return `${answer.statusCode} ${answer.json<{ code: string }>().code}`
}

test('what is listed is in the contract, and holds all that hosted callers are refused for the same reason', () => {
  const ids = new Set<string>(API.map(({ id }) => id))
  expect([...EXECUTING_HERE].filter((id) => !ids.has(id))).toEqual([])
  expect([...EXECUTING].filter((id) => !EXECUTING_HERE.has(id))).toEqual([])
})

test('what writes to a conversation for an agent, or calls a plugin that starts programs, is listed or is known to run nothing', () => {
  const plugins = API.filter(({ path }) =>
    /^\/v2\/(?:plugins\/dev\.svc\.(?:pty|vcs|lsp|mcp|goals|workflows)|external|sessions\/\{session_id\}\/external)(?:\/|$)/.test(path),
  )
  expect(plugins.map(({ id }) => id).filter((id) => !EXECUTING_HERE.has(id))).toEqual([])
  const quiet = API.filter(({ id }) => SCOPED['agent:use'].has(id) && !EXECUTING_HERE.has(id)).map(({ id }) => id)
  expect(quiet.toSorted()).toEqual(
    [
      'v2.artifacts.create',
      'v2.artifacts.delete',
      'v2.interactions.permissions.reply',
      'v2.interactions.questions.reject',
      'v2.interactions.questions.reply',
      'v2.interactions.remembered.forget',
      'v2.sessions.abort',
      'v2.sessions.control.claim',
      'v2.sessions.control.release',
      'v2.sessions.create',
      'v2.sessions.delete',
      'v2.sessions.export',
      'v2.sessions.fork',
      'v2.sessions.import',
      'v2.sessions.jobs.cancel',
      'v2.sessions.messages.delete',
      'v2.sessions.parts.delete',
      'v2.sessions.parts.update',
      'v2.sessions.pin',
      'v2.sessions.queue.clear',
      'v2.sessions.queue.pop',
      'v2.sessions.update',
      'v2.sessions.wait',
      'v2.subagents.tasks.stop',
    ].toSorted(),
  )
})

test('every operation that would execute is 501 there and answered elsewhere; every other is answered on both', async () => {
  for (const contract of ASKED) {
    const expected = EXECUTING_HERE.has(contract.id) ? '501 feature.not_implemented' : 'answered'
    expect([contract.id, await statusOf(shared, contract)]).toEqual([contract.id, expected])
    expect([contract.id, await statusOf(local, contract)]).toEqual([contract.id, 'answered'])
  }
})

test('a terminal is not connected, and nothing that a plugin contributes is called', async () => {
  for (const url of ['/v2/plugins/dev.svc.pty/pty/pty_1/connect?ticket=t', '/v2/plugins/dev.example.notes/list']) {
    const answer = await shared.inject({ url, headers: BEARER })
    expect([url, answer.statusCode >= 400]).toEqual([url, true])
  }
  const notes = await shared.inject({ url: '/v2/plugins/dev.example.notes/list', headers: BEARER })
  expect([notes.statusCode, notes.json<{ code: string }>().code]).toEqual([501, 'feature.not_implemented'])
})
