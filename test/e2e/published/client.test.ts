/** The built client, `dist/client.js`, against the built program; and its declarations against the types of its sources. */
import { execFileSync } from 'node:child_process'
import { copyFileSync, mkdirSync, readFileSync, writeFileSync } from 'node:fs'
import { join } from 'node:path'
import { fileURLToPath, pathToFileURL } from 'node:url'
import { afterEach, beforeEach, expect, test } from 'vitest'
import type { PromptEvent } from '../../../src/published/client/client-types.js'
import type * as ClientModule from '../../../src/published/client/client.js'
import { finish, type ModelServer, type Reply, reply, startModelServer, stay, text } from '../../fixtures/model-server.js'
import { makePlace, withModel } from '../server/place.js'
import { openScene, type Scene, type Server } from '../server/server.js'

const ROOT = fileURLToPath(new URL('../../..', import.meta.url))
const BUILT = join(ROOT, 'dist/client.js')

let scene: Scene
let model: ModelServer | undefined
beforeEach(() => {
  scene = openScene(makePlace())
})
afterEach(async () => {
  await scene.close()
  await model?.close()
})

async function load(): Promise<typeof ClientModule> {
  return (await import(pathToFileURL(BUILT).href)) as typeof ClientModule
}

/** Follows a prompt of a new session; in the middle of the answer the server is ended so, and another one takes its place. */
async function followAcross(end: (server: Server) => Promise<unknown>, replies: readonly Reply[]) {
  model = await startModelServer(replies)
  scene.place.configure(withModel(model.url))
  const server = await scene.start()
  const { createClient } = await load()
  const client = createClient({ baseUrl: server.url, directory: scene.place.repo })
  const { id } = await client.sessions.create({ body: { title: 'a test' } })
  const events: PromptEvent[] = []
  for await (const event of client.prompt(id, 'go on')) {
    events.push(event)
    if (event.type !== 'text') continue
    await end(server)
    await scene.start({}, Number(new URL(server.url).port))
  }
  return { client, id, events }
}

test('follows a prompt across a killed server, and goes on with the next one', async () => {
  const answers = [reply(text('Half an '), stay), reply(text('Back '), text('again.'), finish('stop'))]
  const { client, id, events } = await followAcross((server) => server.kill(), answers)
  expect(events).toMatchObject([
    { type: 'text', delta: 'Half an ' },
    { type: 'end', error: { message: 'The server was stopped before the answer was complete.', interrupted: true } },
  ])
  expect(await client.prompt(id, 'and now?').result()).toMatchObject({ text: 'Back again.', error: undefined })
})

test('tells an orderly stop as an interruption, too', async () => {
  const { events } = await followAcross((server) => server.stop(), [reply(text('Half an '), stay)])
  expect(events.at(-1)).toMatchObject({ type: 'end', text: 'Half an ', error: { interrupted: true } })
})

test('needs a token where the server wants one', async () => {
  const server = await scene.start({ SVC_AGENT_TOKEN: 'correct-horse' })
  const { createClient, SvcClientError } = await load()
  const refused: unknown = await createClient({ baseUrl: server.url })
    .meta.get()
    .catch((error: unknown) => error)
  expect(refused).toBeInstanceOf(SvcClientError)
  expect(refused).toMatchObject({ code: 'auth.invalid_token', status: 401, retryable: false })
  const meta = await createClient({ baseUrl: server.url, token: 'correct-horse' }).meta.get()
  expect(meta.apiVersion).toMatch(/^2\./)
})

test('is small, needs nothing of Node and carries no schemas', () => {
  const source = readFileSync(BUILT, 'utf8')
  expect(source.length).toBeLessThan(83_000)
  expect(source).not.toMatch(/(?<![./\w])(?:from|import|require)\s*\(?\s*["']/)
  expect(source).not.toMatch(/\b(?:process|Buffer|__dirname|ZodType)\b/)
})

/** Arguments and answers fit in both directions. */
const COMPARISON = `
import type * as Built from './declared.js'
import type * as Source from '../../../../src/published/client/client.js'
import type { Client } from '../../../../src/published/client/client-types.js'

type Names<T, Path extends string> = (T extends (...args: never[]) => unknown ? Path : never) |
  { [K in keyof T & string]: Names<T[K], \`\${Path}.\${K}\`> }[keyof T & string]
type At<T, Path> = Path extends \`\${infer Head}.\${infer Rest}\` ? (Head extends keyof T ? At<T[Head], Rest> : never) : Path extends keyof T ? T[Path] : never
type Arguments<F> = F extends (...args: infer A) => unknown ? A : never
type Answer<F> = F extends (...args: never[]) => infer A ? Plain<A extends Promise<infer V> ? ['once', V] : A extends AsyncIterable<infer V> ? ['many', V] : A> : never
// Types that sources write by hand say readonly, schemas do not.
type Plain<T> = unknown extends T ? T : T extends Blob ? T : T extends readonly (infer E)[] & { length: infer L }
  ? number extends L ? Plain<E>[] : { -readonly [K in keyof T]: Plain<T[K]> }
  : T extends object ? { -readonly [K in keyof T]: Plain<T[K]> } : T
/** Declared more narrowly than parsed: fields that the operation itself demands, and values that are rewritten before they are parsed. */
type Narrower = \`client.plugins.\${'pty.connect' | 'pty.connectToken' | 'workflows.create' | 'workflows.update' | 'workflows.patch'}\`
type Takes<K, A, B> = K extends Narrower ? ([A] extends [B] ? true : false) : Fits<A, B>
type Fits<A, B> = [A] extends [B] ? ([B] extends [A] ? true : false) : false

type Theirs = { [K in Names<Built.Client, 'client'>]: At<{ client: Built.Client }, K> }
type Ours = { [K in Names<Client, 'client'>]: At<{ client: Client }, K> }
type Differences = {
  [K in keyof Theirs | keyof Ours]: K extends keyof Theirs & keyof Ours
    ? [Takes<K, Arguments<Theirs[K]>, Arguments<Ours[K]>>, Fits<Answer<Theirs[K]>, Answer<Ours[K]>>] extends [true, true]
      ? never
      : K
    : K
}[keyof Theirs | keyof Ours]

const none: { [K in Differences]: true } = {}
type Looked = 'client.sessions.create' | 'client.sessions.messages' | 'client.sessions.messages.get' | 'client.events.subscribe'
const some: Looked extends keyof Theirs & keyof Ours ? true : false = true
const options: Fits<Parameters<typeof Built.createClient>, Parameters<typeof Source.createClient>> = true
const failure: Fits<keyof Built.SvcClientError, keyof Source.SvcClientError> = true
const parts: Fits<Built.SvcClientError['details'], Source.SvcClientError['details']> = true
export { none, some, options, failure, parts }
`

test('is declared as its sources are, operation by operation', () => {
  const directory = join(ROOT, 'node_modules/.cache/svc/client-types')
  mkdirSync(directory, { recursive: true })
  writeFileSync(join(directory, 'comparison.ts'), COMPARISON)
  // As a source, so that it is checked like one.
  copyFileSync(join(ROOT, 'dist/client.d.ts'), join(directory, 'declared.ts'))
  const compilerOptions = { incremental: false, tsBuildInfoFile: null, types: ['node'] }
  writeFileSync(
    join(directory, 'tsconfig.json'),
    JSON.stringify({ extends: '../../../../tsconfig.json', compilerOptions, include: [], files: ['comparison.ts'] }),
  )
  const compiler = join(ROOT, 'node_modules/typescript/bin/tsc')
  expect(compile(compiler, directory)).toBe('')
})

function compile(compiler: string, directory: string): string {
  try {
    return execFileSync(process.execPath, [compiler, '-p', directory], { encoding: 'utf8', timeout: 50_000 })
  } catch (error) {
    return String(error instanceof Error && 'stdout' in error ? error.stdout : error)
  }
}
