/** Which operations a program of an agent may ask for: those listed here, and no new one until somebody has looked at it. */
import type { Socket } from 'node:net'
import { describe, expect, it } from 'vitest'
import * as z from 'zod'
import { createAgentCheck, isOpenToAgents } from '../../src/http/admission/agents.js'
import { API } from '../../src/protocol/api.js'

const all = API.map(({ method, path }) => `${method} ${path}`)
const open = all.filter((each) => {
  const [method = '', path = ''] = each.split(' ')
  return isOpenToAgents(method, path)
})

const operationOf = (each: string) => all[API.findIndex(({ id }) => each.startsWith(`${id} `))] ?? ''

describe('what programs of agents may ask for', () => {
  it('answers nothing, configures nothing, trusts nothing and leads to no credential', () => {
    const closed =
      /\/(?:config|management|auth|oauth|connections|audit)(?:\/|$)|dev\.svc\.(?:mcp|workflows|pty)|\/plugins$|\/reply$|\/reject$|\/release$|\/shell$|\/import$|\/external\/|\/(?:undo|redo|revert|unrevert)$|remembered\/./
    expect(open.filter((each) => closed.test(each))).toEqual([])
    const used = [
      'GET /v2/providers',
      'POST /v2/sessions',
      'POST /v2/sessions/{session_id}/prompt',
      'POST /v2/sessions/{session_id}/queue/pop',
    ]
    expect(open).toEqual(expect.arrayContaining(used))
  })

  it('changes sessions and what belongs to them, and nothing else', () => {
    const changing = open.filter((each) => !each.startsWith('GET '))
    const places = new Set(
      changing.map((each) =>
        each
          .split('/')
          .slice(2, 4)
          .join('/')
          .replace(/\/\{.*$/, ''),
      ),
    )
    expect(
      [...places]
        .map((each) => each.replace(/^(sessions|artifacts)\/.*$/, '$1'))
        .filter((each, at, list) => list.indexOf(each) === at)
        .toSorted(),
    ).toEqual(['artifacts', 'plugins/dev.svc.goals', 'plugins/dev.svc.subagents', 'sessions'])
  })

  it('gives no session other rules or another place', () => {
    const fields = API.flatMap(({ id, personFields = [] }) => personFields.map((name) => `${id} ${name}`))
    expect(fields.toSorted()).toEqual([
      'v2.sessions.create externalProvider',
      'v2.sessions.create permission',
      'v2.sessions.update directory',
      'v2.sessions.update permission',
    ])
    const widening = API.flatMap(({ id, body, personFields = [] }) => {
      const shape = body?.schema instanceof z.ZodObject ? Object.keys(body.schema.shape) : []
      return shape.filter((name) => /^permissions?$/.test(name) && !personFields.includes(name)).map((name) => `${id} ${name}`)
    })
    expect(widening.filter((each) => open.includes(operationOf(each)))).toEqual([])
  })

  it.each(['127.0.0.1', '::1', '192.168.1.5', 'fe80::1'])('is refused at every address of this machine: %s', async (remoteAddress) => {
    const asked: unknown[] = []
    const check = createAgentCheck(async (peer) => asked.push(peer) > 0)
    const socket = { remoteAddress, remotePort: 5, localPort: 4 } as Socket
    expect(check.operation({ method: 'GET', socket }, '/v2/sessions')).toBeUndefined()
    expect(asked).toEqual([])
    await expect(check.operation({ method: 'PATCH', socket }, '/v2/config')).rejects.toThrow(/for the person/)
    await expect(check.person({ socket })).rejects.toThrow(/for the person/)
    expect(asked).toEqual([{ port: 5, ourPort: 4 }])
  })

  it.each([
    ['PATCH', '/v2/config'],
    ['POST', '/v2/plugins/some.plugin/act'],
    ['GET', '/v2/plugins/some.plugin/data'],
    ['POST', '/v2/%73essions'],
    ['GET', '/v2/management/agents'],
    ['POST', '/v2/new-operation'],
  ])('does not hold %s %s', (method, path) => {
    expect(isOpenToAgents(method, path)).toBe(false)
  })
})
