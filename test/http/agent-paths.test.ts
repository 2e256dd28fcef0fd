/** Which operations a program of an agent may ask for: those listed here, and no new one until somebody has looked at it. */
import { describe, expect, it } from 'vitest'
import { isOpenToAgents } from '../../src/http/admission/agents.js'
import { API } from '../../src/protocol/api.js'

const all = API.map(({ method, path }) => `${method} ${path}`)
const open = all.filter((each) => {
  const [method = '', path = ''] = each.split(' ')
  return isOpenToAgents(method, path)
})

describe('what programs of agents may ask for', () => {
  it('answers nothing, configures nothing, trusts nothing and leads to no credential', () => {
    const closed =
      /\/(?:config|management|auth|oauth|connections|audit)(?:\/|$)|dev\.svc\.(?:mcp|workflows|pty)|\/plugins$|\/reply$|\/reject$|\/release$|\/shell$|\/import$|remembered\/./
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
