import { expect, test } from 'vitest'
import { renderPrompt } from '../../../src/plugins/mcp/offer/prompts.js'
import { askPerson } from '../../../src/plugins/mcp/offer/questions.js'
import type { Connection } from '../../../src/plugins/mcp/servers/connection.js'

/** Names that a server may give, and that every object has something behind. */
const NAMES = ['plain', '__proto__', 'constructor', 'toString', 'hasOwnProperty']

const record = (name: string, value: string) => Object.fromEntries([[name, value]])

test.each(NAMES)('a prompt gets its argument "%s", and misses it where it is required', async (name) => {
  const asked: unknown[] = []
  const client = {
    getPrompt(request: { readonly arguments: unknown }) {
      asked.push(request.arguments)
      return Promise.resolve({ messages: [] })
    },
  }
  const connection = { server: 's', config: { timeout: 1 }, use: (work: (by: typeof client) => unknown) => work(client) }
  const prompt = { name: 'p', arguments: [{ name, required: true }] }
  // Of a connection only this is used.
  const render = (written: string) => renderPrompt(connection as unknown as Connection, prompt, written, new AbortController().signal)
  await expect(render('')).rejects.toThrow(`needs "${name}"`)
  await render(`${name}=a`)
  await render('b')
  expect(asked.map((given) => JSON.stringify(given))).toEqual(['a', 'b'].map((value) => JSON.stringify(record(name, value))))
})

test.each(NAMES)('what a person says of the field "%s" comes to the server that asked for it', async (name) => {
  const request = {
    mode: 'form' as const,
    message: 'Say it.',
    requestedSchema: { type: 'object' as const, properties: Object.fromEntries([[name, { type: 'string' as const }]]), required: [name] },
  }
  type Arguments = Parameters<typeof askPerson>
  const said = (answer: readonly string[]) => askPerson({ ask: () => Promise.resolve([answer]) }, 's', request, {} as Arguments[3])
  expect(JSON.stringify(await said(['yes']))).toBe(JSON.stringify({ action: 'accept', content: record(name, 'yes') }))
  expect(await said([])).toEqual({ action: 'decline' })
})
