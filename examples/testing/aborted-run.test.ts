/** A run is aborted while it waits for a tool: the call ends, the session is idle, and the next prompt runs. */
import { startTestRuntime } from 'svc/testing'
import { expect, onTestFinished, test } from 'vitest'

test('a run that is aborted in a tool call leaves an idle session and a call that tells', async () => {
  const svc = await startTestRuntime({ tools: ['deploy'] })
  onTestFinished(() => svc.stop())
  const session = await svc.sessions.create()
  svc.model.callsTool('deploy', { to: 'production' }).says('Good morning.')

  await svc.sessions.prompt(session, 'deploy it')
  const call = await svc.tool('deploy').called()
  expect(call.input).toEqual({ to: 'production' })
  await svc.state({ kind: 'tool-call', id: call.callId }, 'executing.working')
  await svc.state({ kind: 'run', id: session.id }, 'working.settling')

  expect(await svc.sessions.abort(session)).toBe(true)
  expect(call.signal.aborted).toBe(true)
  await svc.sessions.idle(session)

  expect(svc.actors.history({ kind: 'tool-call', id: call.callId })).toEqual([
    'judging',
    'executing.working',
    'executing.aborting',
    'settled',
  ])
  expect(svc.actors.history({ kind: 'run', id: session.id }).slice(-3)).toEqual(['ending.aborting', 'ending.recording', 'aborted'])
  expect(svc.actors.get({ kind: 'session', id: session.id }).state).toEqual(['idle'])

  const [part] = svc.sessions.messages(session).flatMap(({ parts }) => parts.filter(({ type }) => type === 'tool'))
  expect(part).toMatchObject({ tool: 'deploy', state: { status: 'error', input: { to: 'production' } } })
  const told = (status: string) => ({ type: 'message.part.updated', data: { part: { callId: call.callId, state: { status } } } })
  svc.journal.expectOrder(['session.prompt.admitted', told('running'), told('error'), 'session.status'])
  expect(svc.journal.of('session.status').at(-1)?.data).toMatchObject({ status: { type: 'idle' } })
  svc.journal.expectNone(told('completed'))

  expect(await svc.sessions.ask(session, 'good morning')).toBe('Good morning.')
})

test('a tool that goes on is left behind', async () => {
  const svc = await startTestRuntime({ tools: [{ id: 'deploy', ignoresAbort: true }] })
  onTestFinished(() => svc.stop())
  const session = await svc.sessions.create()
  svc.model.callsTool('deploy')
  await svc.sessions.prompt(session, 'deploy it')
  await svc.tool('deploy').called()

  const aborted = svc.sessions.abort(session)
  await svc.clock.advance(899)
  expect(svc.actors.get({ kind: 'run' }).state).toEqual(['ending.aborting'])
  await svc.clock.advance(1)
  expect(await aborted).toBe(true)
  expect(svc.actors.history({ kind: 'run' }).at(-1)).toBe('aborted')
})
