/**
 * Signals that a plugin sends to programs that the host runs for it, in the sandbox of commands and without it: they reach the program and its
 * group, and how the program ended is told as it was. Holds plugin-protocol §4.8.
 */
import { afterAll, beforeAll, describe, expect, test } from 'vitest'
import type { ModelServer } from '../../fixtures/model-server.js'
import { whyNoBubblewrap } from '../server/bubblewrap.js'
import { makePlace, withModel } from '../server/place.js'
import { configurePlugin, lifecycleOf, untilState } from '../server/plugins.js'
import { descendants, type Process, untilNone } from '../server/processes.js'
import { openScene, type Scene, type Server } from '../server/server.js'
import { type Ask, asking, ID, serveHost, startHostModel } from './host.js'

const NO_SANDBOX = whyNoBubblewrap()
const PLACES = [
  { where: 'in the sandbox', sandbox: 'on', why: NO_SANDBOX },
  { where: 'without a sandbox', sandbox: 'off', why: undefined },
] as const

interface Ended {
  readonly exitCode: number | null
  readonly signal: string | null
}

const of = (operation: string, input: object = {}): Ask => ({
  method: 'process.spawn',
  operation,
  input: { ...(operation === 'spawn' ? {} : { opaqueId: '$.opaqueId' }), ...input },
})
const spawning = (line: string) => of('spawn', { command: ['sh', '-c', line] })
const STUBBORN = "trap '' TERM HUP USR1; sleep 600 & echo up; wait; sleep 600"

describe.each(PLACES)('$where', ({ sandbox, why }) => {
  const skipped = why === undefined ? '' : ` (skipped: ${why})`
  let scene: Scene
  let server: Server
  let model: ModelServer

  beforeAll(async () => {
    if (why !== undefined) return
    model = await startHostModel()
    scene = openScene(makePlace())
    scene.place.configure(withModel(model.url, { permission: { sandbox } }))
    server = await scene.start({ SVC_AGENT_PLUGIN_SANDBOX: 'off' })
    await serveHost(server, scene.place, { capabilities: ['process-spawn'] })
  })
  afterAll(async () => {
    if (why !== undefined) return
    await scene.close()
    await model.close()
  })

  async function ended(line: string, signal: string): Promise<Ended & { readonly said: string }> {
    const { id } = await server.createSession()
    const answers = await asking(server, id, [
      spawning(line),
      of('read', { waitMs: 20_000 }),
      of('signal', { signal }),
      of('wait', { waitMs: 20_000 }),
      of('read'),
    ])
    const [spawned, , , { exitCode, signal: by }, { output }] = answers as [
      { sandboxed: boolean },
      unknown,
      unknown,
      Ended,
      { output: readonly { text: string }[] },
    ]
    expect(spawned.sandboxed).toBe(sandbox === 'on')
    return { exitCode, signal: by, said: output.map(({ text }) => text).join('') }
  }

  test.skipIf(why !== undefined)(`a program that takes a signal says how it ends${skipped}`, async () => {
    const trapping = 'trap "echo taken; exit 7" USR1; echo up; while :; do sleep 0.05; done'
    expect(await ended(trapping, 'SIGUSR1')).toEqual({
      exitCode: 7,
      signal: null,
      said: expect.stringMatching(/^up\n[^]*taken\n$/) as string,
    })
    const tidy = 'trap "echo tidied; exit 0" TERM; echo up; while :; do sleep 0.05; done'
    expect(await ended(tidy, 'SIGTERM')).toEqual({ exitCode: 0, signal: null, said: expect.stringMatching(/^up\n[^]*tidied\n$/) as string })
  })

  test.skipIf(why !== undefined)(`a program that takes none has ended by it${skipped}`, async () => {
    for (const signal of ['SIGUSR1', 'SIGTERM', 'SIGINT', 'SIGHUP', 'SIGKILL'])
      expect(await ended('echo up; exec sleep 600', signal)).toEqual({ exitCode: null, signal, said: 'up\n' })
  })

  test.skipIf(why !== undefined)(`a signal reaches what the program has started${skipped}`, async () => {
    const child = `sh -c 'trap "echo heard; exit 0" USR1; echo up; while :; do sleep 0.05; done'`
    expect(await ended(`${child} & trap : USR1; wait; wait; exit 3`, 'SIGUSR1')).toEqual({
      exitCode: 3,
      signal: null,
      said: expect.stringMatching(/^up\n[^]*heard\n$/) as string,
    })
  })

  test.skipIf(why !== undefined)(
    `a program that no signal ends is gone when it is closed, and when its plugin ends${skipped}`,
    async () => {
      const { id } = await server.createSession()
      const own = descendants(server.pid).map(({ pid }) => pid)
      const sleepers = (): Process[] =>
        descendants(server.pid).filter(({ pid, command }) => !own.includes(pid) && command.includes('sleep 600'))
      const begin = [spawning(STUBBORN), of('read', { waitMs: 20_000 }), of('signal', { signal: 'SIGTERM' })]
      expect(await asking(server, id, begin)).toMatchObject([{ sandboxed: sandbox === 'on' }, {}, { sent: true }])
      expect(sleepers().length).toBeGreaterThanOrEqual(2)
      expect(await asking(server, id, [spawning(STUBBORN), of('close')])).toMatchObject([{}, { closed: true }])
      const stream = await server.stream({ tail: true })
      configurePlugin(scene.place, ID, (entry) => ({ ...entry, enabled: false }))
      await lifecycleOf(server, ID)
      await untilState(stream, ID, 'disabled')
      stream.close()
      expect(await untilNone(sleepers)).toEqual([])
    },
  )
})
