import { mkdirSync, writeFileSync } from 'node:fs'
import { join } from 'node:path'
import { describe, expect, it } from 'vitest'
import { TRUSTED_CALLER } from '../../../src/protocol/caller.js'
import { PLAYED_CONFIG } from '../../../src/published/testing/steps.js'
import { type PlayedStep, type PlayedTool, says, startTestService } from '../../fakes/service.js'

const echo: PlayedTool = {
  id: 'echo',
  needs: ({ value }) => [{ permission: 'echo', patterns: [value], title: `Echo ${value}` }],
  invoke: async ({ value }) => ({ title: 'Echo', output: value }),
}

/** A service whose model makes calls one after the other, and in between whatever a test does. */
async function begin(config: Record<string, unknown>) {
  const service = await startTestService({ tools: [echo], config })
  const id = await service.session()
  let calls = 0

  /** Writes the configuration of the installation anew, and sees to it that it is known. */
  const configure = (changed: Record<string, unknown>) => async () => {
    writeFileSync(join(service.effects.paths.config, 'config.json'), JSON.stringify({ ...PLAYED_CONFIG, ...changed }))
    await service.runtime.configs.show(service.directory)
  }

  const settled = (callId: string) =>
    service.until(({ type, data }) => {
      const { part } = data as { part?: { callId?: string; callID?: string; state?: { status: string } } }
      return (
        type === 'message.part.updated' && (part?.callId ?? part?.callID) === callId && /completed|error/.test(part?.state?.status ?? '')
      )
    })

  /** A step: words are said to `echo`, each when the one before has settled; functions are done in between. */
  const step =
    (...list: readonly (string | (() => Promise<unknown>))[]): PlayedStep =>
    async (push) => {
      for (const each of list) {
        if (typeof each !== 'string') await each()
        else {
          const callId = `call_${++calls}`
          push({ type: 'tool-call', callId, tool: 'echo', input: JSON.stringify({ value: each }) })
          await settled(callId)
        }
      }
      push({ type: 'finish', reason: 'tool-calls', usage: { input: 1, output: 1, reasoning: 0, cache: { read: 0, write: 0 } } })
    }

  /** Answers every request as it comes; tells what was asked for. */
  const asked: string[] = []
  const answering = async (reply: 'once' | 'always' | 'reject') => {
    const seen = new Set<unknown>()
    for (;;) {
      const { data } = await service.until((event) => event.type === 'permission.asked' && !seen.has(event.data['id']))
      seen.add(data['id'])
      asked.push(String(data['patterns']))
      service.runtime.interactions.replyPermission(String(data['id']), { reply })
    }
  }

  /** How each call ended, of the session or of another one: what it said, or why not. */
  const run = async (first: PlayedStep | string, ...rest: PlayedStep[]) => {
    const [session, steps] = typeof first === 'string' ? [first, rest] : [id, [first, ...rest]]
    service.steps.push(...steps, says('done'))
    await service.prompt(session, 'go')
    await service.idle(session)
    const parts = service.messages(session).flatMap((message) => message.parts)
    return parts.flatMap((part) => {
      if (part.type !== 'tool') return []
      return part.state.status === 'completed' ? [part.state.output] : [part.state.status]
    })
  }
  return { service, configure, step, answering, asked, run }
}

const permission = (echoed: Record<string, string>) => ({ permission: { '*': 'allow', echo: { '*': 'allow', ...echoed } } })

describe('what is taken away while a step lasts is gone for its next call', () => {
  it('a deny that is added', async () => {
    const { run, step, configure } = await begin(permission({}))
    const ended = await run(step('a', 'b', configure(permission({ b: 'deny' })), 'b', 'a'), step('a', 'b'))
    expect(ended).toEqual(['a', 'b', 'error', 'a', 'a', 'error'])
  })

  it('an allow that becomes an ask', async () => {
    const { run, step, configure, answering, asked } = await begin(permission({}))
    void answering('reject')
    expect(await run(step('a', configure(permission({ a: 'ask' })), 'a', 'b'))).toEqual(['a', 'error', 'b'])
    expect(asked).toEqual(['a'])
  })

  it('the bypass of all questions', async () => {
    const { run, step, configure, answering, asked } = await begin({ ...permission({ '*': 'ask' }), dangerouslySkipPermissions: true })
    void answering('reject')
    expect(await run(step('a', 'b', configure(permission({ '*': 'ask' })), 'b'))).toEqual(['a', 'b', 'error'])
    expect(asked).toEqual(['b'])
  })

  it('until it is given back', async () => {
    const { run, step, configure } = await begin(permission({}))
    const ended = await run(step(configure(permission({ a: 'deny' })), 'a', configure(permission({})), 'a'))
    expect(ended).toEqual(['error', 'a'])
  })
})

describe('what is given while a step lasts counts from the next step on', () => {
  it('an allow that takes the place of a deny', async () => {
    const { run, step, configure } = await begin(permission({ b: 'deny' }))
    expect(await run(step('a', configure(permission({})), 'b'), step('b'))).toEqual(['a', 'error', 'b'])
  })

  it('the bypass of all questions', async () => {
    const { run, step, configure, answering, asked } = await begin(permission({ '*': 'ask' }))
    void answering('once')
    const ended = await run(step(configure({ ...permission({ '*': 'ask' }), dangerouslySkipPermissions: true }), 'a'), step('b'))
    expect([ended, asked]).toEqual([['a', 'b'], ['a']])
  })

  it('but not an answer that somebody gives', async () => {
    const { run, step, answering, asked } = await begin(permission({ '*': 'ask' }))
    void answering('always')
    expect(await run(step('a', 'a', 'b'))).toEqual(['a', 'a', 'b'])
    expect(asked).toEqual(['a', 'b'])
  })
})

it('an answer "always" does not undo a deny that is added after it', async () => {
  const { run, step, configure, answering, asked } = await begin(permission({ '*': 'ask' }))
  void answering('always')
  expect(await run(step('a', configure(permission({ '*': 'ask', a: 'deny' })), 'a'))).toEqual(['a', 'error'])
  expect(asked).toEqual(['a'])
})

it('a deny that is added for the agent of a session above, in another directory', async () => {
  const { service, run, step } = await begin(permission({}))
  const other = join(service.effects.root, 'other')
  mkdirSync(other)
  const above = await service.runtime.sessions.create(TRUSTED_CALLER, other, { title: 'Above' })
  const task = await service.session({ parentId: above.id })
  service.store.transact('process', () =>
    service.store.sessions.update({
      ...service.runtime.sessions.get(task),
      directory: service.directory,
      delegation: { agent: 'build', refused: [] },
    }),
  )
  const deny = async () => {
    writeFileSync(join(other, 'svc.json'), JSON.stringify({ permission: { echo: { b: 'deny' } } }))
    await service.runtime.configs.show(other)
  }
  expect(await run(task, step('a', 'b', deny, 'b', 'a'), step('b'))).toEqual(['a', 'b', 'error', 'a', 'error'])
})
