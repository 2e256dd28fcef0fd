/** A plugin crashes: its tool is gone, its program is started again after a pause, and nobody else notices. */
import { definePlugin } from 'svc/plugin'
import { startTestRuntime } from 'svc/testing'
import { expect, onTestFinished, test } from 'vitest'

const greeter = definePlugin({
  tools: [
    {
      id: 'greet',
      description: 'Greets somebody.',
      parameters: { type: 'object', properties: { name: { type: 'string' } } },
      execute: ({ name }: { name: string }) => `Hello ${name}!`,
    },
  ],
})
const bystander = definePlugin({ tools: [{ id: 'wait', description: 'Waits.', parameters: { type: 'object' }, execute: () => 'waited' }] })

test('a plugin that crashes is degraded, and serves again after a pause', async () => {
  const svc = await startTestRuntime()
  onTestFinished(() => svc.stop())
  const plugin = await svc.playPlugin(greeter, { id: 'dev.example.greeter' })
  const other = await svc.playPlugin(bystander, { id: 'dev.example.bystander' })
  const actor = { kind: 'package', id: plugin.id } as const
  await svc.state(actor, 'active')
  await svc.state({ kind: 'package', id: other.id }, 'active')

  await plugin.crash(7)
  expect(svc.actors.get(actor).state).toEqual(['running.degraded'])
  expect((await plugin.info()).diagnostics).toMatchObject([{ message: 'The plugin process exited with code 7.' }])

  // Its tool is not offered, and the model is told so.
  const session = await svc.sessions.create()
  svc.model.callsTool('greet', { name: 'Ada' }).says('It is gone.')
  await svc.sessions.ask(session, 'greet Ada')
  expect(svc.model.requests.at(-1)?.tools.map(({ id }) => id)).not.toContain('greet')

  await svc.clock.advance(249)
  expect(plugin.starts).toBe(1)
  await svc.clock.advance(1)
  await svc.state(actor, 'active')
  expect(plugin.starts).toBe(2)

  svc.model.callsTool('greet', { name: 'Ada' }).says('Greeted.')
  expect(await svc.sessions.ask(session, 'greet Ada again')).toBe('Greeted.')
  const results = svc.sessions.messages(session).flatMap(({ parts }) => parts.filter((part) => part.type === 'tool'))
  expect(results.map(({ state }) => state)).toMatchObject([{ status: 'error' }, { status: 'completed', output: 'Hello Ada!' }])

  expect(svc.actors.history(actor).slice(-4)).toEqual([
    'running.serving.active', 'running.degraded', 'running.starting.restoring', 'running.serving.active',
  ])
  expect(svc.actors.history({ kind: 'generation', id: plugin.id })).toEqual([
    'starting', 'publishing', 'serving', 'killing', 'ended', 'starting', 'publishing', 'serving',
  ])
  const became = (state: string) => ({ type: 'package.updated', data: { info: { packageId: plugin.id, state } } })
  svc.journal.expectOrder([became('active'), became('degraded'), 'session.created', became('active'), 'session.status'])

  expect(other.starts).toBe(1)
  expect(svc.actors.history({ kind: 'generation', id: other.id })).toEqual(['starting', 'publishing', 'serving'])
})
