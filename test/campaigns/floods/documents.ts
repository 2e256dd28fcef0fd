/** Patches, prompts and histories as large as they may be. */
import { createGate, finish, hold, reply, text, toolCall } from '../../fixtures/model-server.js'
import type { Flood, Flooded } from './scene.js'

const KiB = 1024
const MiB = 1024 * KiB

const table = <T>(count: number, value: (index: number) => T) =>
  Object.fromEntries(Array.from({ length: count }, (_, index) => [`key-${index}`, value(index)]))
const patch = (name: string, make: () => object): Flood => ({
  name,
  async run({ send, place }) {
    const body = make()
    for (const directory of [place.repo, place.home]) {
      const path = `/v2/config?directory=${encodeURIComponent(directory)}`
      await send('PATCH', path, body)
      await send('PATCH', path, body)
      await send('GET', path)
      await send('PATCH', path, Object.fromEntries(Object.keys(body).map((key) => [key, null])))
    }
  },
})

export const PATCHES: readonly Flood[] = [
  patch('a permission of thousands of patterns', () => ({ permission: { bash: table(8000, () => 'ask') } })),
  patch('thousands of groups', () => ({ permission: table(8000, () => 'deny') })),
  patch('thousands of agents', () => ({ agent: table(4000, () => ({ description: 'a', mode: 'subagent' })) })),
  patch('thousands of commands', () => ({ command: table(4000, () => ({ template: 'a' })) })),
  patch('thousands of providers', () => ({ provider: table(3000, () => ({ name: 'a', models: { a: {} } })) })),
  patch('thousands of keys of nobody', () => ({ client: table(8000, (index) => ({ index })) })),
  patch('thousands of instructions', () => ({
    instructions: Array.from({ length: 10_000 }, (_, index) => `docs/${index}.md`),
  })),
  patch('a long text', () => ({ username: 'x'.repeat(900 * KiB) })),
]

const attachment = (bytes: number) => ({
  type: 'file',
  mime: 'image/png',
  filename: 'a.png',
  url: `data:image/png;base64,${'A'.repeat(4 * Math.floor(bytes / 4))}`,
})
const share = ({ size }: Flooded) => (size === 'whole' ? 1 : 0.1)
const looks = Array.from({ length: 6 }, (_, index) =>
  reply(toolCall({ id: `c${index}`, name: 'glob', input: { pattern: `*.${index}` } }), finish('tool_calls')),
)

export const PROMPTS: readonly Flood[] = [
  { name: 'an attachment of nearly 3 MiB', run: (flooded) => flooded.ask([], { parts: [attachment((3 * MiB - 4096) * share(flooded))] }) },
  {
    name: 'many attachments of nearly 3 MiB',
    run: (flooded) => flooded.ask([], { parts: Array.from({ length: 900 }, () => attachment(3000 * share(flooded))) }),
  },
  { name: 'a text of nearly 1 MiB', run: (flooded) => flooded.ask([], { prompt: 'x\n'.repeat((MiB / 4) * share(flooded)) }) },
  { name: 'a text of emoji', run: (flooded) => flooded.ask([], { prompt: '😀'.repeat(200 * KiB * share(flooded)) }) },
  {
    name: 'a thousand parts',
    run: (flooded) => flooded.ask([], { parts: Array.from({ length: 1000 }, () => ({ type: 'text', text: 'a'.repeat(900) })) }),
  },
  {
    name: 'a queue of large prompts',
    async run(flooded) {
      const { id } = await flooded.server.createSession()
      const parts = [attachment(2.9 * MiB * share(flooded))]
      for (let index = 0; index < 20; index++)
        await flooded.send('POST', `/v2/sessions/${id}/prompt-async`, { parts, noReply: index % 2 === 0 })
      await flooded.send('GET', `/v2/sessions/${id}/queue`)
      await flooded.send('POST', `/v2/sessions/${id}/abort`)
      await flooded.send('DELETE', `/v2/sessions/${id}/queue`)
      await flooded.ask([], { prompt: 'a' }, id)
    },
  },
  {
    name: 'a thousand prompts that join a run',
    async run(flooded) {
      const gate = createGate()
      const held = flooded.ask([reply(text('a'), hold(gate), finish('stop'))], { prompt: 'begin' })
      const { id } = await flooded.begun(held)
      const send = (index: number) => flooded.send('POST', `/v2/sessions/${id}/prompt-async`, { prompt: `${index}`, delivery: 'steer' })
      for (let index = 0; index < 990 * share(flooded); index++) await send(index)
      gate.open()
      await held
    },
  },
  {
    name: 'large prompts that join a run',
    async run(flooded) {
      const gate = createGate()
      const held = flooded.ask([reply(text('a'), hold(gate), finish('stop'))], { prompt: 'begin' })
      const { id } = await flooded.begun(held)
      const parts = [attachment(2.9 * MiB * share(flooded))]
      for (let index = 0; index < 10; index++)
        await flooded.send('POST', `/v2/sessions/${id}/prompt-async`, { parts, delivery: 'steer', noReply: true })
      gate.open()
      await held
    },
  },
  {
    name: 'a history of large attachments',
    async prepare(flooded) {
      const { id } = await flooded.server.createSession()
      for (let index = 0; index < 12; index++)
        await flooded.server.prompt(id, { parts: [attachment(2.9 * MiB * share(flooded))], noReply: true })
      return id
    },
    run: async (flooded, id) => flooded.ask(looks, { prompt: 'look at it' }, String(id)),
  },
  {
    name: 'a long history',
    async prepare(flooded) {
      const { id } = await flooded.server.createSession()
      for (let index = 0; index < 1500 * share(flooded); index++)
        await flooded.server.prompt(id, { prompt: `${index} ${'words '.repeat(800)}`, noReply: true })
      return id
    },
    async run(flooded, id) {
      await flooded.ask(looks, { prompt: 'go on' }, String(id))
      await flooded.send('GET', `/v2/sessions/${String(id)}/context`)
      await flooded.send('GET', `/v2/sessions/${String(id)}/messages?limit=200&slim=true`)
    },
  },
  {
    name: 'pictures read again and again',
    prepare: async ({ place, callTool, size }) => {
      place.write('a.png', '')
      const png = Buffer.concat([
        Buffer.from([0x89, 0x50, 0x4e, 0x47, 0x0d, 0x0a, 0x1a, 0x0a]),
        Buffer.alloc((size === 'whole' ? 15 : 1) * MiB),
      ])
      const { writeFileSync } = await import('node:fs')
      writeFileSync(`${place.repo}/a.png`, png)
      return callTool('glob', [{ pattern: '*' }])
    },
    run: ({ ask }) =>
      ask(
        [0, 1, 2].map((index) => reply(toolCall({ id: `p${index}`, name: 'read', input: { filePath: 'a.png' } }), finish('tool_calls'))),
        { prompt: 'look' },
      ),
  },
  {
    name: 'a long answer, told again',
    run: async ({ ask }) => {
      const id = await ask([reply(text('x'.repeat(500 * KiB)), finish('stop'))])
      await ask([reply(text('x'.repeat(500 * KiB)), finish('stop'))], { prompt: 'b' }, id)
    },
  },
]
const SAMPLE = [
  'a permission of thousands of patterns',
  'thousands of agents',
  'an attachment of nearly 3 MiB',
  'a queue of large prompts',
  'a history of large attachments',
]
export const SAMPLED_PATCHES = PATCHES.filter(({ name }) => SAMPLE.includes(name))
export const SAMPLED_PROMPTS = PROMPTS.filter(({ name }) => SAMPLE.includes(name))
