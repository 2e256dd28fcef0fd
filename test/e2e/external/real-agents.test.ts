// Holds subsystems l.1, l.2, q.9.
/** What may be chosen of agents of others as they come from their makers, on the built program. */
import { afterEach, expect, test } from 'vitest'
import type { ExternalOptionsPreview } from '../../../src/protocol/external/external.js'
import { REAL_AGENTS, whyNoAgent } from '../../fixtures/agents/real-agents.js'
import { finish, type ModelServer, reply, startModelServer, text } from '../../fixtures/model-server.js'
import { makePlace } from '../server/place.js'
import { descendants, mentioning, type Process, untilNone } from '../server/processes.js'
import { openScene, type Scene, type Server } from '../server/server.js'

let scene: Scene
let model: ModelServer
afterEach(async () => {
  await scene.close()
  await model.close()
})

interface Choice {
  readonly value: string
}
interface Option {
  readonly id: string
  readonly category?: string
  readonly currentValue: string
  readonly options: readonly (Choice | { readonly options: readonly Choice[] })[]
}

const isSaid = (answer: { readonly status: number; readonly body: unknown }) => answer as { status: number; body: ExternalOptionsPreview }

/** What runs below a server, and of an agent in its place, whoever has started it: other tests have theirs. */
function running(server: Server, folder: string): Process[] {
  const own = descendants(server.pid).filter(({ command }) => !command.includes('svc-reaper'))
  return [...own, ...mentioning(scene.place.root).filter(({ command }) => command.includes(folder))]
}

for (const { provider, folder, env } of REAL_AGENTS) {
  const why = whyNoAgent(provider)
  test.skipIf(why !== undefined)(
    `${provider} is looked at: what it offers is told, a choice is made, and nothing of it is left${why === undefined ? '' : ` (skipped: ${why})`}`,
    async () => {
      model = await startModelServer(() => reply(text('Nobody should ask.'), finish('stop')))
      scene = openScene(makePlace())
      const server = await scene.start(env(model.url, scene.place))
      const path = `/v2/external/options/preview?provider=${provider}`
      expect(running(server, folder)).toEqual([])

      const first = isSaid(await server.call('GET', path))
      expect(first).toMatchObject({ status: 200, body: { provider, externalSessionId: null } })
      const { selectedOptions } = first.body
      const configOptions = first.body.configOptions as unknown as readonly Option[]
      expect(configOptions.map(({ category }) => category)).toEqual(expect.arrayContaining(['model', 'mode']))
      expect(Object.keys(selectedOptions)).toEqual(configOptions.map(({ id }) => id))
      expect(first.body.availableCommands.length).toBeGreaterThan(0)
      expect(await untilNone(() => running(server, folder))).toEqual([])

      const mode = configOptions.find(({ category }) => category === 'mode')
      const other = mode?.options
        .flatMap((each) => ('options' in each ? each.options : [each]))
        .find(({ value }) => value !== mode.currentValue)
      const wanted = { [mode?.id ?? '']: other?.value ?? '' }
      const chosen = isSaid(await server.call('POST', path, { selectedOptions: wanted }))
      expect(chosen).toMatchObject({ status: 200, body: { selectedOptions: wanted } })
      expect(await untilNone(() => running(server, folder))).toEqual([])

      const refused = await server.call('POST', path, { selectedOptions: { [mode?.id ?? '']: 'not of this world' } })
      expect(refused).toMatchObject({ status: 400 })
      expect(await untilNone(() => running(server, folder))).toEqual([])
      expect(model.requests).toEqual([])
    },
  )
}
