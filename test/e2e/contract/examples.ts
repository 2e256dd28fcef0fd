/**
 * The examples of docs/http.md are the valid calls of the contract test, as they went over the wire: with `SVC_TEST_EXAMPLES` set, the test
 * writes them to scripts/http-examples.json, shortened and without anything of the machine. `npm run reference` shows them, and
 * test/http/examples.test.ts holds them to the contracts.
 */
import { readFileSync, writeFileSync } from 'node:fs'
import { fileURLToPath } from 'node:url'
import { API } from '../../../src/protocol/api.js'
import type { Answer } from '../server/server.js'
import type { Contract } from './document.js'
import { callValidly } from './valid-calls.js'
import type { World } from './world.js'

const FILE = fileURLToPath(new URL('../../../scripts/http-examples.json', import.meta.url))
const IS_WANTED = process.env['SVC_TEST_EXAMPLES'] !== undefined

interface Example {
  readonly method: string
  readonly path: string
  readonly headers?: Readonly<Record<string, string>>
  readonly body?: unknown
  readonly status: number
  /** A JSON value; a text where the answer is none; one record of a stream; absent where there is none, or it is long. */
  readonly answer?: unknown
}

/** As `callValidly`; what was sent and answered is an example. */
export async function callRecording(world: World, contract: Contract, id: string): Promise<void> {
  if (!IS_WANTED) return callValidly(world, contract, id)
  const asked: { readonly given: Parameters<World['server']['call']>; readonly answer: Answer }[] = []
  const server: World['server'] = {
    ...world.server,
    async call(...given) {
      const answer = await world.server.call(...given)
      asked.push({ given, answer })
      return answer
    },
  }
  let record: unknown
  let last: Pick<Answer, 'status' | 'headers' | 'body' | 'text'> | undefined
  const watching: Contract = {
    ...contract,
    success(operation, answer) {
      last = answer
      contract.success(operation, answer)
    },
    streamed(operation, value) {
      record = value
      contract.streamed(operation, value)
    },
  }
  await callValidly({ ...world, server }, watching, id)
  const given = asked.find(({ answer }) => answer === last)?.given
  const route = API.find((each) => each.id === id)
  const [method = route?.method ?? 'GET', path = route?.path ?? '', body, headers] = given ?? []
  const example = {
    method,
    path,
    ...(headers === undefined ? {} : { headers }),
    ...(body === undefined ? {} : { body }),
    status: last?.status ?? 0,
    ...(record === undefined ? answered(last) : { answer: record }),
  }
  write(id, neutral(example, world), (answer) => {
    if (last !== undefined && record === undefined && last.body !== undefined) contract.success(id, { ...last, body: answer })
  })
}

function answered(answer: Pick<Answer, 'body' | 'text'> | undefined): { readonly answer?: unknown } {
  if (answer === undefined || answer.text === '') return {}
  return { answer: answer.body ?? answer.text }
}

/** Shortened as far as it still is a valid answer. */
function write(id: string, { answer, ...request }: Example, check: (answer: unknown) => void): void {
  const examples = JSON.parse(readFileSync(FILE, 'utf8')) as Record<string, Example>
  const shortest = [2, 1, 0].map((degree) => shortened(answer, degree)).find((each) => holds(() => check(each)))
  const shown = shortest ?? answer
  const isShown = shown !== undefined && JSON.stringify(shown).length <= LONGEST_ANSWER
  examples[id] = { ...request, ...(isShown ? { answer: shown } : {}) }
  const sorted = Object.entries(examples).toSorted(([one], [other]) => one.localeCompare(other, 'en'))
  writeFileSync(FILE, `${JSON.stringify(Object.fromEntries(sorted), undefined, 2)}\n`)
}

function holds(check: () => void): boolean {
  try {
    check()
    return true
  } catch {
    return false
  }
}

const LONGEST = 120
/** Characters; what is longer is left out. */
const LONGEST_ANSWER = 4000
const MAP_ENTRIES = 4

/** Texts are cut, lists have one item; with degree 1 large maps have two entries, with degree 2 small ones have one. */
function shortened(value: unknown, degree: number): unknown {
  if (typeof value === 'string') return value.length > LONGEST ? `${value.slice(0, LONGEST)}…` : value
  if (Array.isArray(value)) return value.slice(0, 1).map((each) => shortened(each, degree))
  if (typeof value !== 'object' || value === null) return value
  const entries = Object.entries(value)
  const isMap = entries.every(([, each]) => typeof each === 'object' && each !== null)
  const kept =
    !isMap || degree === 0
      ? entries
      : degree === 1 && entries.length > MAP_ENTRIES
        ? entries.slice(0, 2)
        : degree === 2
          ? entries.slice(0, 1)
          : entries
  return Object.fromEntries(kept.map(([key, each]) => [key, shortened(each, degree)]))
}

const IDS = /\b([a-z]{3,4})_[0-9A-Za-z]{16,}\b/g
const UUIDS = /\b[0-9a-f]{8}-[0-9a-f]{4}-[0-9a-f]{4}-[0-9a-f]{4}-[0-9a-f]{12}\b/g
const MOMENT = 1_795_402_800_000
const MOMENT_TEXT = '2026-11-23T03:00:00.000Z'
const YEAR = 365 * 24 * 3600 * 1000

/** Without paths, ports, ids and moments of this run. */
function neutral<T>(value: T, { scene, server }: World): T {
  const ids = new Map<string, string>()
  const counted = (id: string, prefix: string) => {
    if (!ids.has(id))
      ids.set(id, `${prefix}_${String([...ids.values()].filter((each) => each.startsWith(`${prefix}_`)).length + 1).padStart(2, '0')}`)
    return ids.get(id) ?? id
  }
  const text = (given: string) =>
    given
      .replaceAll(encodeURIComponent(scene.place.repo), encodeURIComponent('/home/you/project'))
      .replaceAll(scene.place.repo, '/home/you/project')
      .replaceAll(scene.place.root, '/home/you')
      .replaceAll(process.execPath, '/usr/bin/node')
      .replaceAll(process.cwd(), '/opt/svc')
      .replaceAll(server.url, 'http://127.0.0.1:4096')
      .replaceAll(/127\.0\.0\.1:(?!4096)\d{4,5}/g, '127.0.0.1:8000')
      .replaceAll(IDS, counted)
      .replaceAll(UUIDS, '00000000-0000-4000-8000-000000000000')
      .replaceAll(/\b20\d\d-\d\d-\d\dT\d\d:\d\d:\d\d(?:\.\d+)?Z/g, MOMENT_TEXT)
  const walk = (node: unknown): unknown => {
    if (typeof node === 'string') return text(node)
    if (typeof node === 'number') return Math.abs(node - Date.now()) < 3 * YEAR ? MOMENT : node
    if (Array.isArray(node)) return node.map(walk)
    if (typeof node !== 'object' || node === null) return node
    return Object.fromEntries(
      Object.entries(node).map(([key, each]) => [text(key), key === 'pid' && typeof each === 'number' ? 4321 : walk(each)]),
    )
  }
  return walk(value) as T
}
