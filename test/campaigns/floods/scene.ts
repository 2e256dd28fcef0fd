/** A server that is being flooded, and what a flood may do: prompt it, play its model, answer what it asks. */
import { setTimeout as delay } from 'node:timers/promises'
import { makePlace, type Place, withModel } from '../../e2e/server/place.js'
import { TIMED } from '../../e2e/server/probe.js'
import { openScene, type Server } from '../../e2e/server/server.js'
import { finish, type Reply, reply, startModelServer, text, toolCall } from '../../fixtures/model-server.js'

/** How much of everything: a sample, or as much as the limits let through. */
export type Size = 'sample' | 'whole'

export interface Flooded {
  readonly server: Server
  readonly place: Place
  readonly size: Size
  /** A new session takes a prompt; the model answers these in turn, and then that it is done. Waits until the session rests. */
  ask(replies: readonly Reply[], body?: object, session?: string): Promise<string>
  /** The session whose run has begun last, while `asked` is under way. */
  begun(asked: Promise<unknown>): Promise<{ readonly id: string }>
  /** The model calls a tool once with each input. */
  callTool(name: string, inputs: readonly object[]): Promise<string>
  /** Everything that is sent is answered, whatever it says. */
  send(method: string, path: string, body?: unknown): Promise<number>
  close(): Promise<void>
}

export interface Flood {
  readonly name: string
  /** Made before it is looked at. */
  prepare?(flooded: Flooded): Promise<unknown>
  run(flooded: Flooded, prepared: unknown): Promise<unknown>
}

/** Permissions asked are answered with `answer`. */
export async function openFlooded(size: Size, configuration: object = {}, answer = 'reject'): Promise<Flooded> {
  const replies: Reply[] = []
  const model = await startModelServer(() => replies.shift() ?? reply(text('done'), finish('stop')))
  const scene = openScene(makePlace())
  scene.place.configure(withModel(model.url, configuration, { attachment: true, modalities: { input: ['text', 'image'] } }))
  const server = await scene.start(TIMED)

  const settled = async (id: string): Promise<void> => {
    for (;;) {
      const pending = await server.get<{ readonly id: string }[]>(`/v2/interactions/permissions?sessionId=${id}`)
      for (const { id: request } of pending) await server.call('POST', `/v2/interactions/permissions/${request}/reply`, { reply: answer })
      const { [id]: status } = await server.statuses()
      if (status === undefined || status.type === 'idle') return
      await delay(30)
    }
  }

  async function ask(answers: readonly Reply[], body: object = { prompt: 'go on' }, session?: string): Promise<string> {
    const id = session ?? (await server.createSession()).id
    replies.push(...answers)
    await server.prompt(id, body, 'prompt-async')
    await settled(id)
    replies.length = 0
    return id
  }

  return {
    server,
    place: scene.place,
    size,
    ask,
    async begun(asked) {
      for (let isOver = false; !isOver; ) {
        const running = Object.entries(await server.statuses()).find(([, status]) => status.type === 'busy')
        if (running !== undefined) return { id: running[0] }
        isOver = await Promise.race([asked.then(() => true), delay(30, false)])
      }
      throw new Error('the run was over before it was seen')
    },
    callTool(name, inputs) {
      const calls = inputs.map((input, index) => toolCall({ id: `call${index}`, name, input, index }))
      return ask([{ ...reply(...calls, finish('tool_calls')), joined: true }])
    },
    send: async (method, path, body) => (await server.call(method, path, body)).status,
    async close() {
      await scene.close()
      await model.close()
    },
  }
}
