/**
 * One server for the tests of a file. Each test has a room in it: a repository, with a configuration of the workspace, and a model of its own.
 * What needs another start, another state directory or a count over the whole server opens a scene instead.
 */
import { type ScriptedModel, type Script, startModelServers } from '../../fixtures/model-server.js'
import { makePlace, type Place } from './place.js'
import { openScene, type Server } from './server.js'
import type { Stream } from './stream.js'

/** Models that the configuration names before anybody asks for a room. */
const ROOMS = 60

export interface Room {
  readonly place: Place
  /** Of the provider `test`. */
  readonly model: ScriptedModel & { readonly name: string }
  /** Of the repository of this room. */
  readonly server: Server
  /** Ends what runs in its sessions and its streams, and removes its files. */
  close(): Promise<void>
}

export interface House {
  /** Of the server: its home and its state. */
  readonly place: Place
  /** `config`: of the workspace, which may only narrow that of the installation; without one each session is given the model of the room. */
  room(script: Script, config?: object, files?: Readonly<Record<string, string>>): Promise<Room>
  close(): Promise<void>
}

/** `config`: of the installation, besides the models; `env`: of the server. */
export async function openHouse(config: object = {}, env: Readonly<Record<string, string>> = {}): Promise<House> {
  const models = await startModelServers()
  const scene = openScene(makePlace())
  const names = Array.from({ length: ROOMS }, (_, index) => `room${index}`)
  const rooms = Object.fromEntries(names.map((name) => [name, { name, limit: { context: 100_000, output: 4000 } }]))
  const provider = { test: { npm: '@ai-sdk/openai-compatible', auth: 'none', options: { baseURL: models.url }, models: rooms } }
  scene.place.configure({ model: `test/${names[0]}`, provider, ...config })
  const server = await scene.start(env)

  return {
    place: scene.place,
    async room(script, ofWorkspace, files = { 'README.md': 'hello\n' }) {
      const name = names.shift()
      if (name === undefined) throw new Error('the house has no more rooms')
      const model = `test/${name}`
      const own = ofWorkspace === undefined ? {} : { 'svc.json': JSON.stringify({ model, ...ofWorkspace }) }
      const place = makePlace({ ...files, ...own })
      const ours: string[] = []
      const streams: Stream[] = []
      const inside = server.in(place.repo)
      return {
        place,
        model: { ...models.add(name, script), name },
        server: {
          ...inside,
          async stream(query) {
            const stream = await inside.stream(query)
            streams.push(stream)
            return stream
          },
          async createSession(body) {
            const session = await inside.createSession({ ...(ofWorkspace === undefined && { model }), ...body })
            ours.push(session.id)
            return session
          },
        },
        async close() {
          for (const id of ours) {
            await inside.call('DELETE', `/v2/sessions/${id}/queue`)
            await inside.call('POST', `/v2/sessions/${id}/abort`)
            await inside.call('POST', `/v2/sessions/${id}/wait`)
          }
          for (const stream of streams) stream.close()
          place.remove()
        },
      }
    },
    async close() {
      await scene.close()
      await models.close()
    },
  }
}
